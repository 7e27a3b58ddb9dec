//! The chip: it is found by name or in a file, and made with the requested times.

use super::drive::{Drive, drive};
use super::{EvaluateError, Options, Outcome, Timing};
use crate::blocks;
use std::path::Path;
use steadyfs::media::Flash;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs_sim::managed::{Kind, ManagedProfile};
use steadyfs_sim::{Chip, Metered, Nand, Nor, Profile, ProfileError};

/// Finds the profile of a raw chip. `device` is a file if it ends in `.toml` or if a file has
/// this name. Otherwise it is the name of a built-in profile.
///
/// # Errors
/// [`EvaluateError::Device`], which lists the known names; [`EvaluateError::OtherKind`] and
/// [`EvaluateError::Unreadable`].
pub fn find_profile(device: &str) -> Result<Profile, EvaluateError> {
    let is = match find(device).map_err(|error| offering(error, chip_names()))? {
        Found::Raw(profile) if has_lines(&profile) => {
            "flash with lines that are programmed once; only drivers are tested on it"
        }
        Found::Raw(profile) => return Ok(profile),
        Found::Managed(profile) => of_managed(&profile),
    };
    Err(other_kind(device, is, "raw flash", chip_names()))
}

/// Returns true if a chip programs whole lines once. The file system on such a chip runs on an
/// adapter.
fn has_lines(profile: &Profile) -> bool {
    profile.nor().is_some_and(|nor| nor.has_lines())
}

/// Finds the profile of a raw NAND chip, like [`find_profile`].
///
/// # Errors
/// The errors of [`find_profile`].
pub fn find_nand(device: &str) -> Result<Profile, EvaluateError> {
    let known = || names(|profile| profile.nand().is_some());
    let is = match find(device).map_err(|error| offering(error, known()))? {
        Found::Raw(profile) if profile.nand().is_some() => return Ok(profile),
        Found::Raw(_) => "NOR",
        Found::Managed(profile) => of_managed(&profile),
    };
    Err(other_kind(device, is, "raw NAND", known()))
}

/// Finds the profile of a managed device, like [`find_profile`].
///
/// # Errors
/// The errors of [`find_profile`].
pub fn find_managed(device: &str) -> Result<ManagedProfile, EvaluateError> {
    let known = || ManagedProfile::all().into_iter().map(|profile| profile.name).collect();
    let is = match find(device).map_err(|error| offering(error, known()))? {
        Found::Managed(profile) => return Ok(profile),
        Found::Raw(profile) if profile.nand().is_some() => "raw NAND",
        Found::Raw(_) => "raw NOR",
    };
    Err(other_kind(device, is, "managed flash", known()))
}

/// The device of a name or a file.
pub enum Found {
    /// A raw chip.
    Raw(Profile),
    /// A card, an eMMC or a disk.
    Managed(ManagedProfile),
}

impl Found {
    /// Returns the name of the device.
    pub fn name(&self) -> &str {
        match self {
            Found::Raw(profile) => &profile.name,
            Found::Managed(profile) => &profile.name,
        }
    }
}

fn of_managed(profile: &ManagedProfile) -> &'static str {
    match profile.kind {
        Kind::Sd => "a card",
        Kind::Emmc => "an eMMC",
        Kind::Ssd => "an SSD",
    }
}

/// Returns the names of the built-in raw chips that [`find_profile`] finds.
pub fn chip_names() -> Vec<String> {
    names(|profile| !has_lines(profile))
}

/// Returns the names of the built-in raw chips for which `is_meant` is true.
fn names(is_meant: impl Fn(&Profile) -> bool) -> Vec<String> {
    Profile::all().into_iter().filter(is_meant).map(|profile| profile.name).collect()
}

/// Returns the error of an unknown name with the names that the caller takes.
fn offering(error: EvaluateError, known: Vec<String>) -> EvaluateError {
    match error {
        EvaluateError::Device { device, reason: ProfileError::Unknown { name, .. } } => {
            let reason = ProfileError::Unknown { name, known: known.join(", ") };
            EvaluateError::Device { device, reason }
        }
        error => error,
    }
}

fn other_kind(
    device: &str,
    is: &'static str,
    takes: &'static str,
    known: Vec<String>,
) -> EvaluateError {
    EvaluateError::OtherKind { device: device.to_string(), is, takes, known: known.join(", ") }
}

/// Finds the device of a name or a file, of any kind.
///
/// # Errors
/// [`EvaluateError::Device`] and [`EvaluateError::Unreadable`].
pub fn find(device: &str) -> Result<Found, EvaluateError> {
    let path = Path::new(device);
    if path.extension().is_none_or(|extension| extension != "toml") && !path.is_file() {
        let named = either(device, Profile::named, ManagedProfile::named);
        return named
            .map_err(|reason| EvaluateError::Device { device: "device".to_string(), reason });
    }
    let text = std::fs::read_to_string(path).map_err(|error| EvaluateError::Unreadable {
        path: device.to_string(),
        reason: error.to_string(),
    })?;
    let read = either(&text, Profile::from_toml, ManagedProfile::from_toml);
    read.map_err(|reason| EvaluateError::Device { device: device.to_string(), reason })
}

/// Finds a raw chip or a managed device. If the text is neither, the error is that of a raw
/// chip, unless the text has the kind of a managed device.
fn either(
    text: &str,
    raw: impl Fn(&str) -> Result<Profile, ProfileError>,
    managed: impl Fn(&str) -> Result<ManagedProfile, ProfileError>,
) -> Result<Found, ProfileError> {
    let wrong = match raw(text) {
        Ok(profile) => return Ok(Found::Raw(profile)),
        Err(wrong) => wrong,
    };
    match managed(text) {
        Ok(profile) => Ok(Found::Managed(profile)),
        Err(ProfileError::Unknown { name, known }) => Err(match wrong {
            ProfileError::Unknown { known: raw, .. } => {
                ProfileError::Unknown { name, known: format!("{raw}, {known}") }
            }
            wrong => wrong,
        }),
        // If no raw chip has this kind, it is the kind of a managed device with wrong keys.
        Err(of_managed) if matches!(&wrong, ProfileError::Key { key, .. } if key == "kind") => {
            Err(if matches!(&of_managed, ProfileError::Key { key, .. } if key == "kind") {
                wrong
            } else {
                of_managed
            })
        }
        Err(_) => Err(wrong),
    }
}

/// A task on a chip of any kind.
pub trait OnChip {
    /// Result of the task.
    type Output;

    /// Runs the task on an erased chip.
    fn run<C: Flash + Metered>(self, chip: C) -> Self::Output;
}

/// Makes the chip of a profile and runs a task on it.
pub fn on_chip<T: OnChip>(profile: &Profile, timing: Timing, seed: u64, task: T) -> T::Output {
    let choice = timing.choice();
    match &profile.chip {
        Chip::Nand(nand) => {
            let (geometry, timing) = blocks::nand(nand, choice);
            task.run(
                Nand::with_geometry(geometry, timing, seed).with_on_chip_copy(nand.on_chip_copy),
            )
        }
        Chip::Nor(nor) => {
            let (block_bytes, block_count, timing) = blocks::nor(nor, choice);
            let chip = Nor::with_geometry(block_bytes, block_count, timing, seed)
                .with_lines(nor.program_line_bytes);
            task.run(NorPages::new(chip, page_bytes_for(block_bytes)))
        }
    }
}

/// An evaluation that has no chip yet.
struct Evaluate<'r, 'o> {
    run: Drive<'o>,
    progress: &'r mut dyn FnMut(f64, &str),
}

impl OnChip for Evaluate<'_, '_> {
    type Output = Result<Outcome, EvaluateError>;

    fn run<C: Flash + Metered>(self, chip: C) -> Self::Output {
        drive(chip, &self.run, self.progress)
    }
}

/// Makes the chip of a profile and runs the evaluation on it. It does not use `options.device`.
/// `progress` is called as in [`run`](super::run).
///
/// # Errors
/// [`EvaluateError`] if the options are not possible on that chip, if the volume refused a call,
/// or if a bound was broken.
pub fn run_on(
    profile: &Profile,
    options: &Options,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Outcome, EvaluateError> {
    options.check()?;
    let run = Drive { device: &profile.name, options, promise: |bound| bound };
    on_chip(profile, options.part.timing, options.seed, Evaluate { run, progress })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call for raw chips must not offer cards.
    #[test]
    fn unknown_names_are_answered_with_the_names_that_the_caller_takes() {
        let error = |found: Result<(), EvaluateError>| found.unwrap_err().to_string();
        let raw = error(find_profile("mt29").map(drop));
        assert!(raw.contains("mt29f1g01abafd") && raw.contains("w25q128jv"), "{raw}");
        assert!(!raw.contains("sd-industrial") && !raw.contains("stm32g0b1"), "{raw}");
        let nand = error(find_nand("mt29").map(drop));
        assert!(nand.contains("mt29f1g01abafd") && !nand.contains("w25q128jv"), "{nand}");
        let cards = error(find_managed("sd").map(drop));
        assert!(cards.contains("sd-industrial") && !cards.contains("mt29f1g01abafd"), "{cards}");
    }

    #[test]
    fn profiles_are_found_by_name_and_in_files() {
        assert_eq!(find_profile("w25q128jv").unwrap().name, "w25q128jv");
        let path =
            std::env::temp_dir().join(format!("steadyfs-device-{}.toml", std::process::id()));
        let text = include_str!("../../../steadyfs-sim/profiles/w25n01gv.toml")
            .replace("\"w25n01gv\"", "\"mine\"");
        std::fs::write(&path, text).unwrap();
        assert_eq!(find_profile(path.to_str().unwrap()).unwrap().name, "mine");
        std::fs::write(&path, "name = 1").unwrap();
        let error = find_profile(path.to_str().unwrap()).unwrap_err();
        assert!(matches!(error, EvaluateError::Device { .. }), "{error}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn devices_of_another_kind_are_told_from_unknown_ones() {
        let is = |result: Result<(), EvaluateError>| result.unwrap_err().to_string();
        let card = is(find_profile("sd-industrial").map(drop));
        assert!(
            card.starts_with("sd-industrial: is a card; this command takes raw flash: ")
                && card.contains("w25n01gv"),
            "{card}"
        );
        let nor = is(find_nand("w25q128jv").map(drop));
        assert!(
            nor.starts_with("w25q128jv: is NOR; this command takes raw NAND: ")
                && !nor.contains("mx25"),
            "{nor}"
        );
        let raw = is(find_managed("mt29f1g01abafd").map(drop));
        assert!(
            raw.starts_with("mt29f1g01abafd: is raw NAND; this command takes managed flash: ")
                && raw.contains("ssd-sata"),
            "{raw}"
        );
    }

    #[test]
    fn unknown_devices_are_answered_with_the_known_ones() {
        let error = find_profile("mt29").unwrap_err().to_string();
        assert!(error.contains("`mt29`") && error.contains("w25q128jv"), "{error}");
        assert!(
            find_profile("missing.toml").unwrap_err().to_string().starts_with("missing.toml: ")
        );
    }
}
