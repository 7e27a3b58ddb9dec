//! Files and directories of the host: where one is, and its removal.

use std::fs;
use std::path::Path;

/// Removes a file or directory that may be there.
pub fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// The directory that something of the host is in.
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
