//! The chip: found by name or in a file, made with the times asked for.

use super::drive::{Drive, drive};
use super::{EvaluateError, Options, Outcome, Timing};
use std::path::Path;
use steadyfs::media::Flash;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs_sim::managed::ManagedProfile;
use steadyfs_sim::{Chip, Metered, Nand, Nor, Profile, ProfileError};

/// Finds a profile: a file when the name ends in `.toml` or names one, else one that is built in.
///
/// # Errors
/// [`EvaluateError::Device`], which lists the names there are, and [`EvaluateError::Unreadable`].
pub fn find_profile(device: &str) -> Result<Profile, EvaluateError> {
    find(device, Profile::named, Profile::from_toml)
}

/// The same of a managed device.
///
/// # Errors
/// As [`find_profile`].
pub fn find_managed(device: &str) -> Result<ManagedProfile, EvaluateError> {
    find(device, ManagedProfile::named, ManagedProfile::from_toml)
}

/// Finds what a name or a file stands for.
fn find<P>(
    device: &str,
    named: impl Fn(&str) -> Result<P, ProfileError>,
    from_toml: impl Fn(&str) -> Result<P, ProfileError>,
) -> Result<P, EvaluateError> {
    let path = Path::new(device);
    let refuse = |reason| EvaluateError::Device { device: device.to_string(), reason };
    if path.extension().is_none_or(|extension| extension != "toml") && !path.is_file() {
        return named(device).map_err(|reason| EvaluateError::Device { device: "device".to_string(), reason });
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| EvaluateError::Unreadable { path: device.to_string(), reason: error.to_string() })?;
    from_toml(&text).map_err(refuse)
}

/// Something to do on a chip of any kind.
pub trait OnChip {
    /// What comes of it.
    type Output;

    /// Does it on an erased chip.
    fn run<C: Flash + Metered>(self, chip: C) -> Self::Output;
}

/// Makes the chip of a profile and does something on it.
pub fn on_chip<T: OnChip>(profile: &Profile, timing: Timing, seed: u64, task: T) -> T::Output {
    let choice = timing.choice();
    match &profile.chip {
        Chip::Nand(_) => task.run(Nand::new(profile, choice, seed)),
        Chip::Nor(nor) => {
            let chip = Nor::new(profile, nor.size_bytes, nor.default_erase_bytes, choice, seed);
            task.run(NorPages::new(chip, page_bytes_for(nor.default_erase_bytes)))
        }
    }
}

/// An evaluation, waiting for its chip.
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

/// Makes the chip and runs the evaluation on it.
pub fn run_on(profile: &Profile, options: &Options, progress: &mut dyn FnMut(f64, &str)) -> Result<Outcome, EvaluateError> {
    let run = Drive { device: &profile.name, options, promise: |bound| bound };
    on_chip(profile, options.timing, options.seed, Evaluate { run, progress })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_found_by_name_and_in_files() {
        assert_eq!(find_profile("w25q128jv").unwrap().name, "w25q128jv");
        let path = std::env::temp_dir().join(format!("steadyfs-device-{}.toml", std::process::id()));
        let text = include_str!("../../../steadyfs-sim/profiles/w25n01gv.toml").replace("\"w25n01gv\"", "\"mine\"");
        std::fs::write(&path, text).unwrap();
        assert_eq!(find_profile(path.to_str().unwrap()).unwrap().name, "mine");
        std::fs::write(&path, "name = 1").unwrap();
        let error = find_profile(path.to_str().unwrap()).unwrap_err();
        assert!(matches!(error, EvaluateError::Device { .. }), "{error}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn unknown_devices_are_answered_with_the_known_ones() {
        let error = find_profile("mt29").unwrap_err().to_string();
        assert!(error.contains("`mt29`") && error.contains("w25q128jv"), "{error}");
        assert!(find_profile("missing.toml").unwrap_err().to_string().starts_with("missing.toml: "));
    }
}
