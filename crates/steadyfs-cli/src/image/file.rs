//! A new file of the host, which replaces an old one only when it is complete.

use super::lock::Lock;
use super::part::Part;
use crate::Failure;
use crate::host::{directory_of, refuse_missing_device};
use crate::interrupt;
use std::fs;
use std::io::Write;
use std::path::Path;
use steadyfs::Access;

/// Writes a file. With `force`, replaces an existing file. Replaces the file that a link names,
/// not the link.
pub fn write(target: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    let exists = fs::symlink_metadata(target).is_ok();
    check(target, force)?;
    let _old = if exists { Some(Lock::take(target, Access::ReadWrite)?) } else { None };
    let target = if exists {
        target.canonicalize().unwrap_or_else(|_| target.into())
    } else {
        target.to_path_buf()
    };
    interrupt::ends_itself();
    let (part, mut file) = Part::file(directory_of(&target), &target)?;
    let unwritable = |error: std::io::Error| Failure::writing(target.display(), &error);
    for piece in bytes.chunks(1 << 20) {
        interrupt::check()?;
        file.write_all(piece).map_err(unwritable)?;
    }
    file.sync_all().map_err(unwritable)?;
    part.rename(&target)
}

/// Refuses a place with something that is not to be replaced.
pub fn check(target: &Path, force: bool) -> Result<(), Failure> {
    refuse_missing_device(target)?;
    let exists = fs::symlink_metadata(target).is_ok();
    if exists && !force {
        return Err(Failure::at(
            target.display(),
            "exists already; --force replaces it, and all that it holds is lost",
        ));
    }
    if exists && !target.is_file() {
        return Err(Failure::at(
            target.display(),
            "is not a file; expected the place for an image",
        ));
    }
    Ok(())
}
