//! `--opened`: lists the files that were opened during the mount, in a file.

use crate::Failure;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use steadyfs_fuse::Opened;

/// A file that exists from the beginning, and is filled at the end.
pub struct Order {
    /// The opened files.
    pub opened: Opened,
    file: File,
    path: PathBuf,
}

impl Order {
    /// Makes the file, or opens an existing file, which keeps its content until the end.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| Failure::at(path.display(), error))?;
        Ok(Self { opened: Opened::default(), file, path: path.into() })
    }

    /// Writes the paths, one a line. Leaves out names with a line break, because no list can have
    /// them.
    pub fn finish(mut self) -> Result<(), Failure> {
        let mut text = Vec::new();
        for path in self.opened.paths().iter().filter(|path| !path.contains(&b'\n')) {
            text.extend([&path[..], b"\n"].concat());
        }
        self.file
            .set_len(0)
            .and_then(|()| self.file.write_all(&text))
            .map_err(|error| Failure::at(self.path.display(), error))
    }
}
