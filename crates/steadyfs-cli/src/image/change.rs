//! A command that changes a volume, from the mount to the unmount.

use super::chip::ChipOptions;
use super::draft;
use super::time;
use super::volume::{Memory, Volume};
use crate::Failure;
use crate::interrupt;
use std::path::Path;
use steadyfs::Access;

/// Mounts a volume, changes it, frees the space of removed files, and unmounts.
///
/// A change that fails, or is interrupted, also leaves the volume unmounted. Its earlier work is
/// there as a whole.
pub fn change(
    image: &Path,
    options: &ChipOptions,
    work: impl FnOnce(&mut Volume<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut volume = Volume::open(image, options, Access::ReadWrite, &mut memory)?;
    volume.fs.set_time(time::now());
    interrupt::ends_itself();
    let done = work(&mut volume);
    let ended = draft::end(&mut volume).map_err(|error| volume.fail("", error));
    let freed = volume.free_removed();
    let closed = volume.close(options).map(drop);
    done.and(ended).and(freed).and(closed)
}
