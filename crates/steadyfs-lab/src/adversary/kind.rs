//! The kinds of calls.

/// A kind of call, for which the longest one is looked for. Writes are durable, save what waits for a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file that exists is opened.
    Open,
    /// A read of a logical page.
    Read,
    /// A file is made.
    Create,
    /// 64 bytes at the end of a small file.
    Append,
    /// A few bytes within a large file.
    Patch,
    /// A whole logical page of a large file.
    Overwrite,
    /// 4,096 bytes of a large file, in place: a row of overwrites.
    Write4096,
    /// The same, not durable.
    Buffered4096,
    /// A small file is cut or made longer.
    Truncate,
    /// A file replaces another one.
    Rename,
    /// A file is removed.
    Remove,
    /// An attribute is set.
    SetAttribute,
    /// What waits is made durable.
    Sync,
    /// The volume is unmounted.
    Unmount,
    /// It is mounted after that.
    MountClean,
    /// It is mounted after its power was cut between two calls.
    MountCut,
}

impl Kind {
    /// All of them, in the order of rows.
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
    /// Those that are calls of a volume that is mounted.
    pub(super) const CALLS: usize = 13;

    /// Its name in reports.
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
