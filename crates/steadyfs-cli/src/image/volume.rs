//! A mounted volume, whose errors name the path and the image.

use super::chip::{Chip, ChipOptions};
use super::mark::Mark;
use super::names::printable;
use crate::Failure;
use std::path::Path;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{
    Access, Budget, Damage, Error, FileSystem, InodeNumber, Kind, MountError, OPEN_FILE_BYTES, Stat,
};
use steadyfs_host::damage;
use steadyfs_host::plain::{self, PlainFile};

/// Files that may be open at once: enough for programs that work on a volume mounted on a
/// directory.
const OPEN_FILES: usize = 1024;
/// The meaning of a worn-out volume, in half a sentence.
pub const WORN_OUT: &str = "more blocks are bad than the volume can spare; it can only be read";

/// The memory of a volume, sized when it is mounted.
#[derive(Debug, Default)]
pub struct Memory(Vec<u8>);

impl Memory {
    /// Takes the size that the volume on a chip needs.
    pub(super) fn fit(&mut self, chip: &mut Chip) -> Result<(), MountError> {
        self.0 = vec![0; memory_bytes(chip)?];
        Ok(())
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// A mounted volume and the name of its image or device.
pub struct Volume<'m> {
    /// The volume.
    pub fs: FileSystem<'m, Chip>,
    pub(super) label: String,
    /// The mark of the drafts of this command, after it wrote one.
    pub(super) draft: Option<Mark>,
}

impl<'m> Volume<'m> {
    /// Mounts the volume on a chip.
    pub fn mount(
        mut chip: Chip,
        path: &Path,
        access: Access,
        memory: &'m mut Memory,
    ) -> Result<Self, Failure> {
        let label = path.display().to_string();
        memory.fit(&mut chip).map_err(|error| mount_failure(&label, error, chip.reason()))?;
        // A failure here consumes the chip and its reason. The look above has made the same
        // steps, as far as the tables.
        let fs = FileSystem::mount(chip, access, &mut memory.0)
            .map_err(|error| mount_failure(&label, error, None))?;
        Ok(Self { fs, label, draft: None })
    }

    /// Returns true if so many blocks are bad that the volume can only be read.
    pub fn is_worn_out(&self) -> bool {
        self.fs.health().worn_out
    }

    /// Returns true if a mount for writing may decide otherwise about the last commit.
    pub fn is_unsettled(&self) -> bool {
        !self.fs.is_settled() && self.fs.damage().is_none() && !self.is_worn_out()
    }

    /// Returns the meaning of a volume error, in one sentence.
    pub fn fail(&self, path: &str, error: Error) -> Failure {
        let place = self.place(path);
        match error {
            Error::NotFound => Failure::at(place, "no such file or directory"),
            Error::Corrupt => Failure::at(place, format!("{error}; `steady check` gives details")),
            Error::NoSpace => Failure::at(place, format!("{error}: {} are taken", self.room())),
            Error::TooManyFiles => {
                let inline = if self.fs.config().permissions { 52 } else { 64 };
                let most = self.fs.usage().files_max;
                Failure::at(
                    place,
                    format!(
                        "{error}: {most}, names above {inline} bytes counted twice; `steady format \
                         --files-max` sets the maximum"
                    ),
                )
            }
            Error::NameTooLong => {
                Failure::at(place, format!("{error}: {} bytes", self.fs.config().name_bytes_max))
            }
            _ => common_failure(place, error, self.fs.flash().reason(), self.fs.damage()),
        }
    }

    /// Returns the meaning of an error about the content of a file.
    pub fn fail_content(&self, path: &str, error: plain::Error) -> Failure {
        match error {
            plain::Error::Volume(error) => self.fail(path, error),
            error => self.refuse(path, error),
        }
    }

    /// Returns the failure of a file of `size` bytes of which `written` found room.
    pub fn no_room(&mut self, path: &str, size: u64, written: u64) -> Failure {
        let usable = self.fs.usage().usable_bytes;
        let free = self.fs.free_bytes().unwrap_or(0).saturating_add(written).min(usable);
        let [size, free, usable] = [size, free, usable].map(steadyfs_lab::units::format_size);
        self.refuse(
            path,
            format!(
                "no room left on the volume: the file has {size}, and {free} of {usable} are free"
            ),
        )
    }

    /// Returns a failure at a path of the volume.
    pub fn refuse(&self, path: &str, what: impl std::fmt::Display) -> Failure {
        Failure::at(self.place(path), what)
    }

    /// Returns a path as errors name it.
    fn place(&self, path: &str) -> String {
        format!("{}:/{}", self.label, printable(path.trim_matches('/')))
    }

    fn room(&self) -> String {
        let usage = self.fs.usage();
        let size = steadyfs_lab::units::format_size;
        format!("{} of {}", size(usage.used_bytes), size(usage.usable_bytes))
    }

    /// Returns the properties of the file or directory at a path.
    pub fn stat(&mut self, path: &str) -> Result<Stat, Failure> {
        let stat = self.fs.stat(path).map_err(|error| self.fail(path, error))?;
        Ok(plain::stat(&mut self.fs, stat))
    }

    /// Returns the properties of the file or directory at a path, if there is one.
    pub fn find(&mut self, path: &str) -> Result<Option<Stat>, Failure> {
        match self.fs.stat(path) {
            Ok(stat) => Ok(Some(plain::stat(&mut self.fs, stat))),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(self.fail(path, error)),
        }
    }

    /// Reads a whole file, a piece at a time.
    pub fn read_file(
        &mut self,
        inode: InodeNumber,
        path: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut file = PlainFile::open(&mut self.fs, inode, false)
            .map_err(|error| self.fail_content(path, error))?;
        let mut buffer = vec![0; PIECE_BYTES];
        let mut offset = 0;
        loop {
            let count = file
                .read(&mut self.fs, offset, &mut buffer)
                .map_err(|error| self.fail_content(path, error))?;
            if count == 0 {
                break;
            }
            take(&buffer[..count])?;
            offset += count as u64;
        }
        file.close(&mut self.fs).map_err(|error| self.fail_content(path, error))
    }

    /// Returns the target of a symbolic link.
    pub fn read_link(&mut self, inode: InodeNumber, path: &str) -> Result<String, Failure> {
        let mut target = vec![0; self.fs.usage().logical_bytes as usize];
        let bytes =
            self.fs.read_link(inode, &mut target).map_err(|error| self.fail(path, error))?;
        target.truncate(bytes);
        String::from_utf8(target)
            .map_err(|_| self.refuse(path, "is a symbolic link to something that is not UTF-8"))
    }

    /// Commits, and frees the space of removed files at once, so that the next figures include
    /// it. On a chip this is work for idle time.
    pub fn free_removed(&mut self) -> Result<(), Failure> {
        self.fs.commit().map_err(|error| self.fail("", error))?;
        // Far more than eight pages at a time can cost, with each step at its bound. Only an
        // endless list of removed files reaches this limit.
        let Geometry { pages_per_block, block_count, .. } = self.fs.flash().geometry();
        let budget =
            Budget::Operations(pages_per_block.saturating_mul(block_count).saturating_mul(128));
        self.fs.maintain(budget, 0).map(drop).map_err(|error| self.fail("", error))
    }

    /// Commits, unmounts, and reports the work of the chip, if `--stats` is set.
    pub fn close(self, options: &ChipOptions) -> Result<Chip, Failure> {
        let label = self.label;
        let chip = self.fs.unmount().map_err(|error| Failure::at(&label, error))?;
        options.report(&chip);
        Ok(chip)
    }
}

/// Bytes of one transfer between volume and host: whole logical pages of every size.
pub const PIECE_BYTES: usize = 1 << 16;

/// Returns true for a directory.
pub fn is_directory(stat: &Stat) -> bool {
    stat.kind == Kind::Directory
}

/// Returns the RAM for the volume on a chip, as the superblock requires.
pub(super) fn memory_bytes(chip: &mut Chip) -> Result<usize, MountError> {
    let mut page = vec![0; chip.geometry().page_bytes as usize];
    match FileSystem::mount(&mut *chip, Access::ReadOnly, &mut page).map(drop) {
        Ok(()) | Err(MountError::IsDisk) => Ok(page.len() + OPEN_FILE_BYTES * OPEN_FILES),
        Err(MountError::MemoryTooSmall { needed, .. }) => Ok(needed + OPEN_FILE_BYTES * OPEN_FILES),
        Err(error) => Err(error),
    }
}

/// Returns the meaning of an error that files and disks share, in one sentence. `reason` comes
/// from the chip.
pub(super) fn common_failure(
    place: impl std::fmt::Display,
    error: Error,
    reason: Option<String>,
    damage: Option<Damage>,
) -> Failure {
    match (error, reason) {
        (Error::Device | Error::MediaFailing, Some(reason)) => {
            Failure::at(place, format!("{error}: {reason}"))
        }
        (Error::ReadOnly, _) => {
            let more = damage.map_or("`steady health` gives details", |_| damage::REMEDY);
            Failure::at(place, format!("{error}; {more}"))
        }
        _ => Failure::at(place, error),
    }
}

/// Returns the failure of a mount.
pub(super) fn mount_failure(label: &str, error: MountError, reason: Option<String>) -> Failure {
    match (error, reason) {
        (MountError::IsDisk, _) => Failure::at(
            label,
            "is a disk, which holds sectors and no files; `steady mount` shows it as one file",
        ),
        (MountError::Volume(Error::Device | Error::MediaFailing), Some(reason)) => {
            Failure::at(label, format!("{error}: {reason}"))
        }
        _ => Failure::at(label, error),
    }
}
