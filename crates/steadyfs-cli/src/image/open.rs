//! Opens a volume for a command: warns of losses, and removes the leftovers of an interrupted
//! command.

use super::chip::ChipOptions;
use super::draft;
use super::names::for_terminal;
use super::volume::{Memory, Volume};
use crate::Failure;
use std::path::Path;
use steadyfs::{Access, Damage};
use steadyfs_host::damage;

impl<'m> Volume<'m> {
    /// Opens and mounts an image or device. Warns on standard error if something is lost or
    /// unsettled. For writing, removes the leftovers of an interrupted command.
    pub fn open(
        path: &Path,
        options: &ChipOptions,
        access: Access,
        memory: &'m mut Memory,
    ) -> Result<Self, Failure> {
        let mut volume = Self::mount(options.open(path, access)?, path, access, memory)?;
        warn(path, volume.fs.damage(), volume.is_unsettled());
        if access == Access::ReadWrite {
            volume.remove_left()?;
        }
        Ok(volume)
    }

    /// Removes the leftovers of an interrupted command, if the volume can be changed. Prints a
    /// line on standard error if there are any.
    pub fn remove_left(&mut self) -> Result<(), Failure> {
        let can_change = !self.fs.health().read_only && self.fs.damage().is_none();
        if can_change && let Some(name) = draft::remove_left(self)? {
            let text = format!("{}: removed /{name}, which an interrupted `put` left", self.label);
            eprintln!("{}", for_terminal(&text));
        }
        Ok(())
    }
}

/// Warns on standard error if something is lost or unsettled.
pub fn warn(path: &Path, lost: Option<Damage>, is_unsettled: bool) {
    let what = match lost {
        Some(lost) => format!("{}; {}", damage::describe(lost), damage::REMEDY),
        None if is_unsettled => damage::UNSETTLED.to_string(),
        None => return,
    };
    eprintln!("warning: {}", for_terminal(&format!("{}: {what}", path.display())));
}
