//! Files and directories of the host: removal, and the directory that contains a path.

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
