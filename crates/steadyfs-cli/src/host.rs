//! Files and directories of the host: removal, the directory of a path, and paths to refuse.

use crate::Failure;
use std::fs;
use std::path::Path;

/// Removes a file or directory, if it exists.
pub fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Returns the directory that contains a path of the host.
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns true if two paths name the same existing file or directory.
pub fn is_same(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// Refuses a new regular file among the devices: its name is that of a missing device.
pub fn refuse_missing_device(path: &Path) -> Result<(), Failure> {
    let directory = directory_of(path);
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.into());
    // The shared memory is a file system of its own.
    let is_among_devices = directory.starts_with("/dev") && !directory.starts_with("/dev/shm");
    if is_among_devices && !path.exists() {
        return Err(Failure::at(
            path.display(),
            "no such device; expected one that its driver has made",
        ));
    }
    Ok(())
}
