//! The properties and files that a target could not keep, in one line on standard error.

use super::names::for_terminal;
use super::tree::{Item, Kind};
use crate::commands::tree::counted;
use steadyfs::Permissions;

/// The reason why a volume leaves something out.
pub const CANNOT_HOLD: &str = "a volume cannot hold them";

/// Number of things of each kind that were left out, or became something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub devices: u64,
    pub pipes: u64,
    pub sockets: u64,
    /// Attributes of files.
    pub attributes: u64,
    /// Further names of files, which are files of their own now.
    pub hard_links: u64,
    /// Times of files.
    pub times: u64,
    /// Groups of files, which belong to group 0 now.
    pub groups: u64,
    /// Owners of files, which belong to the user of the command now.
    pub owners: u64,
    /// Files that run with the rights of their owner or group no longer.
    pub rights: u64,
}

impl LeftOut {
    /// Counts the items that are neither a file nor a directory nor a link.
    pub fn of_items(items: &[Item]) -> Self {
        let mut left = Self::default();
        items.iter().for_each(|item| left.count(item.stat.kind));
        left
    }

    /// Counts one item, unless it is a file, a directory or a link.
    pub fn count(&mut self, kind: Kind) {
        match kind {
            Kind::BlockDevice | Kind::CharacterDevice => self.devices += 1,
            Kind::Fifo => self.pipes += 1,
            Kind::Socket => self.sockets += 1,
            Kind::Directory | Kind::File | Kind::Symlink => {}
        }
    }

    /// Counts the owner of a file, unless it is the user of the command, or root as on files
    /// without an owner of their own.
    pub fn count_owner(&mut self, Permissions { uid, gid, .. }: Permissions) {
        #[cfg(unix)]
        let is_ours = (uid, gid)
            == (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        #[cfg(not(unix))]
        let is_ours = false;
        self.owners += u64::from(!is_ours && (uid, gid) != (0, 0));
    }

    /// Prints the things that were left out because of `why`, if there are any.
    pub fn tell(&self, why: &str) {
        if let Some(line) = self.line(why) {
            eprintln!("{}", for_terminal(&line));
        }
    }

    fn line(&self, why: &str) -> Option<String> {
        let counts = [
            (self.devices, "device", "devices"),
            (self.pipes, "pipe", "pipes"),
            (self.sockets, "socket", "sockets"),
            (self.attributes, "attribute", "attributes"),
            (self.times, "time", "times"),
            (self.groups, "group above 255", "groups above 255"),
            (self.owners, "owner", "owners"),
            (self.rights, "set-user or set-group right", "set-user or set-group rights"),
        ];
        let gone = counts.into_iter().filter(|(count, ..)| *count > 0);
        let gone: Vec<_> = gone.map(|(count, one, many)| counted(count, one, many)).collect();
        let gone =
            (!gone.is_empty()).then(|| format!("left out, because {why}: {}", gone.join(", ")));
        let copies = (self.hard_links > 0).then(|| {
            format!("{} became separate files", counted(self.hard_links, "hard link", "hard links"))
        });
        let said: Vec<_> = gone.into_iter().chain(copies).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_in_one_line() {
        assert_eq!(LeftOut::default().line("they are no files"), None);
        let left = LeftOut { devices: 2, sockets: 1, hard_links: 3, ..LeftOut::default() };
        let line = "left out, because they are no files: 2 devices, 1 socket; \
                    3 hard links became separate files";
        assert_eq!(left.line("they are no files").as_deref(), Some(line));
    }
}
