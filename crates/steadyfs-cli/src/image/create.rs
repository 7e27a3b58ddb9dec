//! A new image, which replaces an old one only when it is complete; or a chip or card of this
//! machine.

use super::chip::{Chip, is_block_device, is_mtd, profile, refuse_profile};
use super::lock::Lock;
use super::part::Part;
use super::settings::Settings;
use super::volume::Memory;
use super::{DiskVolume, Volume};
use crate::Failure;
use crate::host::{directory_of, refuse_missing_device};
use crate::progress::Progress;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use steadyfs::disk::Disk;
use steadyfs::media::Flash;
use steadyfs::media::sectors::SectorDevice;
use steadyfs::{Access, FileSystem};
use steadyfs_host::block::{self, BlockFile};
#[cfg(target_os = "linux")]
use steadyfs_lab::evaluate::Found;

/// An image that is being made, under a name of its own. It is removed unless it is finished.
#[derive(Debug)]
pub struct Draft {
    /// The image, which the chip locks; `None` if a device of this machine, or a file of zeros,
    /// is formatted in place.
    part: Option<Part>,
    target: PathBuf,
    /// Held while the image takes the place of an old one.
    _old: Option<Lock>,
    /// True if the format erases the chip: on request, and always on an MTD chip of this machine.
    /// There nothing of an older volume must be left.
    erases: bool,
}

impl Draft {
    /// Makes an erased chip for an image at `target`, with its bad blocks marked.
    ///
    /// # Errors
    /// The target exists, is not blank, and is not to be replaced.
    pub fn start(target: &Path, settings: &Settings) -> Result<(Self, Chip), Failure> {
        refuse_missing_device(target)?;
        let exists = fs::symlink_metadata(target).is_ok();
        let blank = if settings.force { None } else { blank_bytes(target) };
        if exists && !settings.force && blank.is_none() {
            return Err(Failure::at(
                target.display(),
                "exists already; --force replaces it, and all that it holds is lost",
            ));
        }
        let erases_itself = "--erase is for raw chips; a card or disk erases by itself";
        if settings.erase && settings.block {
            return Err(Failure::usage(erases_itself));
        }
        if settings.erase && is_block_device(target) {
            return Err(Failure::at(target.display(), erases_itself));
        }
        let (draft, mut chip) = match () {
            () if is_mtd(target) => Self::device(target, settings)?,
            () if is_block_device(target) => Self::block_device(target, settings)?,
            () if settings.block
                && blank.is_some_and(|bytes| {
                    bytes > 0 && settings.size.is_none_or(|size| size == bytes)
                }) =>
            {
                Self::sectors(target, settings)?
            }
            () => Self::image(target, settings, exists)?,
        };
        for &block in &settings.bad_block {
            let marked = chip.mark_bad(block).map_err(|_| chip.reason().unwrap_or_default());
            marked.map_err(|reason| {
                draft.at_medium(Failure::usage(format!("--bad-block {block}: {reason}")))
            })?;
        }
        Ok((draft, chip))
    }

    fn image(target: &Path, settings: &Settings, exists: bool) -> Result<(Self, Chip), Failure> {
        let chip = if settings.block { None } else { Some(settings.chip()?) };
        if exists && !target.is_file() {
            return Err(Failure::at(
                target.display(),
                "is not a file; expected the place for an image",
            ));
        }
        let old = if exists { Some(Lock::take(target, Access::ReadWrite)?) } else { None };
        // Replace the file that a link names, not the link.
        let target = if exists {
            target.canonicalize().unwrap_or_else(|_| target.into())
        } else {
            target.to_path_buf()
        };
        let part = Part::named(directory_of(&target));
        let made = match chip {
            Some((profile, shape)) => Chip::create(part.path(), &shape, &profile),
            None => Self::card(part.path(), settings),
        };
        let (hidden, shown) = (part.path().display().to_string(), target.display().to_string());
        let chip = made.map_err(|failure| Failure {
            sentence: failure.sentence.replacen(&hidden, &shown, 1),
            ..failure
        })?;
        Ok((Self { part: Some(part), target, _old: old, erases: settings.erase }, chip))
    }

    /// Makes a file with the content of a card or disk.
    fn card(path: &Path, settings: &Settings) -> Result<Chip, Failure> {
        let bytes = settings.size.ok_or_else(|| {
            Failure::usage(
                "--size is missing; expected the size of the card or disk, such as 4GiB, or a file \
                 of that size",
            )
        })?;
        let file =
            block::create(path, bytes).map_err(|error| Failure::at(path.display(), error))?;
        let layout = settings.sector_layout(file.sector_count(), None);
        Chip::blank_block(path, file, layout)
    }

    /// Opens a card or disk of this machine.
    fn block_device(target: &Path, settings: &Settings) -> Result<(Self, Chip), Failure> {
        let wrong = [("--device", settings.device.is_some()), ("--size", settings.size.is_some())];
        if let Some((name, _)) = wrong.iter().find(|(_, is_set)| *is_set) {
            return Err(Failure::at(
                target.display(),
                format!("is a device of this machine, with a fixed size; {name} is for images"),
            ));
        }
        Self::sectors(target, settings)
    }

    /// Opens a card, a disk, or a file of zeros in place of one. It is used as it is.
    fn sectors(target: &Path, settings: &Settings) -> Result<(Self, Chip), Failure> {
        let mut file = BlockFile::open(target, Access::ReadWrite)
            .map_err(|error| Failure::at(target.display(), error))?;
        let layout = settings.sector_layout(file.sector_count(), block::unit_bytes(target));
        let layout =
            layout.renewed(&mut file).map_err(|failure| Failure::at(target.display(), failure))?;
        let chip = Chip::blank_block(target, file, layout)?;
        Ok((Self { part: None, target: target.into(), _old: None, erases: settings.erase }, chip))
    }

    #[cfg(target_os = "linux")]
    fn device(target: &Path, settings: &Settings) -> Result<(Self, Chip), Failure> {
        let chip = Chip::open_blank_mtd(target, |bytes, count| settings.divide(bytes, count))?;
        let device = settings.device.as_deref().map(profile).transpose()?.map(Found::Raw);
        refuse_profile(target, device.as_ref())?;
        let wrong = [
            ("--block-bytes", settings.block_bytes.is_some()),
            ("--size", settings.size.is_some()),
        ];
        if let Some((name, _)) = wrong.iter().find(|(_, is_set)| *is_set) {
            return Err(Failure::at(
                target.display(),
                format!(
                    "is a chip of this machine, with a fixed size and blocks; {name} is for images"
                ),
            ));
        }
        if settings.page_bytes.is_some() && !chip.geometry().programs_bytes {
            return Err(Failure::at(
                target.display(),
                "is NAND, with fixed pages; --page-bytes is for NOR",
            ));
        }
        Ok((Self { part: None, target: target.into(), _old: None, erases: true }, chip))
    }

    #[cfg(not(target_os = "linux"))]
    fn device(target: &Path, _settings: &Settings) -> Result<(Self, Chip), Failure> {
        let _ = (refuse_profile, profile);
        Err(Failure::at(target.display(), "is a device; MTD devices work on Linux only"))
    }

    /// Formats the chip as a disk, and mounts it.
    pub fn format_disk<'m>(
        &self,
        chip: Chip,
        settings: &Settings,
        memory: &'m mut Memory,
    ) -> Result<DiskVolume<'m>, Failure> {
        let geometry = chip.geometry();
        let config = settings
            .disk_config(&geometry, chip.sector_layout())
            .map_err(|failure| self.at_medium(failure))?;
        let mut bytes = vec![0; config.memory_bytes(&geometry)];
        let made = if self.erases {
            Disk::format_erased(chip, &config, &mut bytes, &mut progress())
        } else {
            Disk::format(chip, &config, &mut bytes)
        };
        let chip = made.map_err(|error| Failure::at(self.target.display(), error))?;
        DiskVolume::mount(chip, &self.target, Access::ReadWrite, memory)
    }

    /// Formats the chip and mounts the new volume.
    pub fn format<'m>(
        &self,
        chip: Chip,
        settings: &Settings,
        memory: &'m mut Memory,
    ) -> Result<Volume<'m>, Failure> {
        let geometry = chip.geometry();
        let config = settings
            .config(&geometry, chip.sector_layout())
            .map_err(|failure| self.at_medium(failure))?;
        let mut bytes = vec![0; config.memory_bytes(&geometry)];
        let made = if self.erases {
            FileSystem::format_erased(chip, &config, &mut bytes, &mut progress())
        } else {
            FileSystem::format(chip, &config, &mut bytes)
        };
        let chip = made.map_err(|error| Failure::at(self.target.display(), error))?;
        Volume::mount(chip, &self.target, Access::ReadWrite, memory)
    }

    /// Returns the failure of settings that do not fit the medium. The medium of a new image is
    /// on the command line.
    fn at_medium(&self, failure: Failure) -> Failure {
        Failure { is_usage: self.part.is_some(), ..failure }
    }

    /// Moves the image of a chip to its place. Its volume is unmounted.
    pub fn finish(self, chip: Chip) -> Result<(), Failure> {
        chip.sync_file().map_err(|reason| Failure::at(self.target.display(), reason))?;
        drop(chip);
        self.part.map_or(Ok(()), |part| part.rename(&self.target))
    }
}

/// Returns the size of a blank file: it has no bytes, or only zeros. An unreadable file is not
/// blank.
fn blank_bytes(path: &Path) -> Option<u64> {
    let mut file = fs::File::open(path).ok().filter(|_| path.is_file())?;
    let (mut piece, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(bytes),
            count if piece[..count].iter().any(|byte| *byte != 0) => return None,
            count => bytes += count as u64,
        }
    }
}

/// Shows how much of the chip is erased.
fn progress() -> impl FnMut(u32, u32) {
    let mut bar = Progress::of(1, "erase");
    move |done, all| bar.set(f64::from(done) / f64::from(all), "erase")
}
