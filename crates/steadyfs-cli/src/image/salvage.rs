//! Copies the readable files off a damaged volume.

use super::names::for_terminal;
use super::tree::{Files, Item, walk, walk_readable};
use crate::Failure;
use clap::Args;
use std::path::Path;
use steadyfs::{Damage, InodeNumber};
use steadyfs_host::damage;

/// Treatment of unreadable files.
#[derive(Args, Debug, Clone, Default)]
pub struct SalvageOptions {
    /// Leave out unreadable files, name them, and end with 1; without this, nothing is made if a
    /// file is unreadable
    #[arg(long)]
    keep_going: bool,
}

/// Unreadable files, and files that may be missing.
pub struct Lost {
    damage: Option<Damage>,
    left_out: Vec<Failure>,
}

impl SalvageOptions {
    /// Returns everything below a directory, and the losses. `damage` is the damage that the
    /// mount found, if any.
    pub fn walk(
        &self,
        files: &mut dyn Files,
        directory: InodeNumber,
        path: &str,
        damage: Option<Damage>,
    ) -> Result<(Vec<Item>, Lost), Failure> {
        let (items, left_out) = if self.keep_going {
            walk_readable(files, directory, path)?
        } else {
            (walk(files, directory, path)?, Vec::new())
        };
        Ok((items, Lost { damage, left_out }))
    }
}

impl Lost {
    /// Returns the losses of a volume of which every file was read.
    pub fn of(damage: Option<Damage>) -> Self {
        Self { damage, left_out: Vec::new() }
    }

    /// Fails if files of an image were left out, or may be missing. Runs after the other files
    /// were copied.
    pub fn tell(self, image: &Path) -> Result<(), Failure> {
        for failure in &self.left_out {
            eprintln!("{}", for_terminal(&format!("left out: {}", failure.sentence)));
        }
        match (self.left_out.len(), self.damage) {
            (0, None) => Ok(()),
            (0, Some(lost)) => {
                let text = format!(
                    "all readable files were copied, but files may be missing: {}",
                    damage::describe(lost)
                );
                Err(Failure::at(image.display(), text))
            }
            (1, _) => Err(Failure::at(
                image.display(),
                "1 file or directory cannot be read and was left out",
            )),
            (count, _) => Err(Failure::at(
                image.display(),
                format!("{count} files and directories cannot be read and were left out"),
            )),
        }
    }
}
