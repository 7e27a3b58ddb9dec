//! The kinds of calls.

/// A kind of call. The search looks for the longest call of each kind. Writes are durable,
/// except those that wait for a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Opens a file that exists.
    Open,
    /// Reads a logical page.
    Read,
    /// Makes a file.
    Create,
    /// Appends 64 bytes to a small file.
    Append,
    /// Writes a few bytes within a large file.
    Patch,
    /// Writes a whole logical page of a large file.
    Overwrite,
    /// Writes 4,096 bytes of a large file, in place: a row of overwrites.
    Write4096,
    /// Writes 4,096 bytes of a large file, in place and not durably.
    Buffered4096,
    /// Shortens or lengthens a small file.
    Truncate,
    /// Renames a file so that it replaces another one.
    Rename,
    /// Removes a file.
    Remove,
    /// Sets an attribute.
    SetAttribute,
    /// Makes the waiting changes durable.
    Sync,
    /// Unmounts the volume.
    Unmount,
    /// Mounts the volume after an unmount.
    MountClean,
    /// Mounts the volume after a power cut between two calls.
    MountCut,
}

impl Kind {
    /// All kinds, in the order of rows.
    pub const ALL: [Kind; 16] = [
        Kind::Open,
        Kind::Read,
        Kind::Create,
        Kind::Append,
        Kind::Patch,
        Kind::Overwrite,
        Kind::Write4096,
        Kind::Buffered4096,
        Kind::Truncate,
        Kind::Rename,
        Kind::Remove,
        Kind::SetAttribute,
        Kind::Sync,
        Kind::Unmount,
        Kind::MountClean,
        Kind::MountCut,
    ];
    /// Number of kinds that are calls of a mounted volume. They come first in [`Kind::ALL`].
    pub(super) const CALLS: usize = 13;

    /// Returns the name of the kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Read => "read",
            Kind::Create => "create",
            Kind::Append => "append-64",
            Kind::Patch => "patch",
            Kind::Overwrite => "overwrite",
            Kind::Write4096 => "write-4096",
            Kind::Buffered4096 => "buffered-4096",
            Kind::Truncate => "truncate",
            Kind::Rename => "rename",
            Kind::Remove => "remove",
            Kind::SetAttribute => "set-attribute",
            Kind::Sync => "sync",
            Kind::Unmount => "unmount",
            Kind::MountClean => "mount-clean",
            Kind::MountCut => "mount-cut",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_their_rows() {
        assert!(Kind::ALL.iter().enumerate().all(|(at, &kind)| kind as usize == at));
        assert_eq!(Kind::ALL[Kind::CALLS], Kind::Unmount);
    }
}
