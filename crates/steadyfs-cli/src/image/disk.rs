//! A mounted disk, whose errors name the image.

use super::chip::{Chip, ChipOptions};
use super::volume::{Memory, common_failure, memory_bytes, mount_failure};
use crate::Failure;
use std::path::Path;
use steadyfs::disk::Disk;
use steadyfs::{Access, Error, MountError};

/// A mounted disk and the name of its image or device.
pub struct DiskVolume<'m> {
    /// The disk.
    pub disk: Disk<'m, Chip>,
    label: String,
}

impl<'m> DiskVolume<'m> {
    /// Mounts the disk on a chip.
    pub fn mount(
        mut chip: Chip,
        path: &Path,
        access: Access,
        memory: &'m mut Memory,
    ) -> Result<Self, Failure> {
        let label = path.display().to_string();
        memory.fit(&mut chip).map_err(|error| mount_failure(&label, error, chip.reason()))?;
        let disk = Disk::mount(chip, access, memory.bytes())
            .map_err(|error| mount_failure(&label, error, None))?;
        Ok(Self { disk, label })
    }

    /// Returns the meaning of a disk error, in one sentence.
    pub fn fail(&self, error: Error) -> Failure {
        common_failure(&self.label, error, self.disk.flash().reason(), self.disk.damage())
    }

    /// Flushes, unmounts, and reports the work of the chip, if `--stats` is set.
    pub fn close(self, options: &ChipOptions) -> Result<Chip, Failure> {
        let label = self.label;
        let chip = self.disk.unmount().map_err(|error| Failure::at(&label, error))?;
        options.report(&chip);
        Ok(chip)
    }
}

/// Returns true if a chip holds a disk. A chip without a volume that can be mounted holds none.
pub fn is_disk(chip: &mut Chip) -> bool {
    let Ok(bytes) = memory_bytes(chip) else { return false };
    let mut memory = vec![0; bytes];
    // The superblock alone identifies a file system.
    !matches!(Disk::mount(chip, Access::ReadOnly, &mut memory), Err(MountError::IsFileSystem))
}
