//! A volume of either kind, for commands that need neither files nor sectors.

use super::chip::{Chip, ChipOptions};
use super::disk::{DiskVolume, is_disk};
use super::open::warn;
use super::volume::{Memory, Volume};
use crate::Failure;
use std::path::Path;
use steadyfs::media::BlockIndex;
use steadyfs::{Access, BlockInfo, Budget, Damage, Description, Error, Health};

/// A mounted volume.
#[allow(clippy::large_enum_variant, reason = "a command has one of them")]
pub enum Mounted<'m> {
    /// A file system.
    Files(Volume<'m>),
    /// A disk.
    Disk(DiskVolume<'m>),
}

/// Makes the same call on either kind.
macro_rules! either {
    ($volume:expr, $name:ident => $call:expr) => {
        match $volume {
            Mounted::Files(Volume { fs: $name, .. }) => $call,
            Mounted::Disk(DiskVolume { disk: $name, .. }) => $call,
        }
    };
}

impl<'m> Mounted<'m> {
    /// Opens and mounts an image or device. Warns on standard error if something is lost or
    /// unsettled. For writing, removes the leftovers of an interrupted command.
    pub fn open(
        path: &Path,
        options: &ChipOptions,
        access: Access,
        memory: &'m mut Memory,
    ) -> Result<Self, Failure> {
        let mut volume = Self::examine(path, options, access, memory)?;
        warn(path, volume.damage(), volume.is_unsettled());
        if let (Self::Files(files), Access::ReadWrite) = (&mut volume, access) {
            files.remove_left()?;
        }
        Ok(volume)
    }

    /// Opens and mounts an image or device, for a command that reports losses itself.
    pub fn examine(
        path: &Path,
        options: &ChipOptions,
        access: Access,
        memory: &'m mut Memory,
    ) -> Result<Self, Failure> {
        let mut chip = options.open(path, access)?;
        if is_disk(&mut chip) {
            DiskVolume::mount(chip, path, access, memory).map(Self::Disk)
        } else {
            Volume::mount(chip, path, access, memory).map(Self::Files)
        }
    }

    /// Lends memory for pages that are read repeatedly.
    pub fn lend_read_cache(&mut self, memory: &'m mut [u8]) {
        either!(self, volume => volume.lend_read_cache(memory));
    }

    /// Returns the health of the medium.
    pub fn health(&self) -> Health {
        either!(self, volume => volume.health())
    }

    /// Returns the damage that the mount found.
    pub fn damage(&self) -> Option<Damage> {
        either!(self, volume => volume.damage())
    }

    /// Returns true if a mount for writing may decide otherwise about the last commit.
    pub fn is_unsettled(&self) -> bool {
        let is_settled = either!(self, volume => volume.is_settled());
        !is_settled && self.damage().is_none() && !self.health().worn_out
    }

    /// Returns the places of the parts of the volume on the medium.
    pub fn describe(&self) -> Description {
        either!(self, volume => volume.describe())
    }

    /// Returns the data about a block.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        either!(self, volume => volume.block(block))
    }

    /// Returns the chip.
    pub fn chip(&self) -> &Chip {
        either!(self, volume => volume.flash())
    }

    /// Returns the chip, for its clock.
    pub fn chip_mut(&mut self) -> &mut Chip {
        either!(self, volume => volume.flash_mut())
    }

    /// Reads data at rest. Returns true if a round ended.
    pub fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        either!(self, volume => volume.scrub(budget))
    }

    /// Does idle work. Returns true if none is left.
    pub fn maintain(&mut self, budget: Budget) -> Result<bool, Error> {
        either!(self, volume => volume.maintain(budget, 0))
    }

    /// Returns the meaning of a volume error, in one sentence.
    pub fn fail(&self, error: Error) -> Failure {
        match self {
            Self::Files(volume) => volume.fail("", error),
            Self::Disk(disk) => disk.fail(error),
        }
    }

    /// Commits, unmounts, and reports the work of the chip, if `--stats` is set.
    pub fn close(self, options: &ChipOptions) -> Result<Chip, Failure> {
        match self {
            Self::Files(volume) => volume.close(options),
            Self::Disk(disk) => disk.close(options),
        }
    }
}
