//! The results of a check: its findings, and the counts of checked and mended items.

#[cfg(doc)]
use crate::fs::FileSystem;
use crate::fs::InodeNumber;
use core::fmt;
/// A fault that a [check](FileSystem::check) found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A page of the file system's tables cannot be read, or does not hold the written data.
    ///
    /// Mended by rewriting it without the unreadable parts. Inodes in these parts are lost. The
    /// repair restores the marks of free pages.
    UnreadableTable {
        /// The logical page.
        logical: u32,
    },
    /// A page of a file or directory cannot be read, or does not hold the written data.
    ///
    /// - A page of a directory is mended, because the inodes hold the names as well.
    /// - A page of an index is mended: the pages of the file that it named are unreadable then.
    /// - A page of a file's data stays unreadable until it is rewritten.
    UnreadablePage {
        /// The file or directory of the page.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// An inode in use is invalid. Mended: a file becomes empty, unless its pages can be
    /// determined; a directory gets its entries again from their inodes.
    BadInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// The rest of a long name, or the attributes of a file, are missing. Mended: the file then
    /// has no attributes, or another name.
    LostExtension {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// A directory names an inode that is missing, belongs to another directory, or is named
    /// twice. Mended by removing the entry.
    BadEntry {
        /// The directory.
        directory: InodeNumber,
        /// The inode that the entry names.
        inode: InodeNumber,
    },
    /// A directory's counts are wrong. Or the volume's counts of overflow pages or of names of
    /// equal hash are lower than the directory's. Mended.
    WrongCount {
        /// The directory.
        directory: InodeNumber,
    },
    /// A file or directory has no entry in any directory. Mended by adding an entry with the name
    /// and the directory in its inode. If this is impossible, the root names it `lost-` and its
    /// number.
    Lost {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// An inode in use is marked as free. Mended.
    UnmarkedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// An inode is marked as in use, but has no content and no reference. Mended by freeing it.
    LeakedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// A page is marked as in use, or has content, but belongs to no file or directory. Mended by
    /// freeing it.
    LeakedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to a file and is marked as free. Mended.
    UnmarkedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to two files, and its true owner cannot be determined. Mended: the second
    /// file becomes empty, and the page becomes unreadable in the first file.
    SharedPage {
        /// The second file.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// Old content lies behind the end of a file. It would become part of the file when the file
    /// grows. Mended by cutting it off.
    DirtyEnd {
        /// The file.
        inode: InodeNumber,
    },
    /// A list of removed files has no end, or names an inode of another kind. Mended by clearing
    /// the list, and freeing its inodes and pages.
    BadList,
    /// A repair accepted the loss of small changes, and no page names the files of these changes.
    /// This file or directory may be in an earlier state.
    ///
    /// A page whose whole content is lost is an [unreadable page](Self::UnreadablePage).
    InDoubt {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// A repair accepted the loss of small changes. Files and directories may be missing,
    /// together with their names.
    LostChanges {
        /// Inodes that are empty now. Each of them may have been a file or a directory.
        inodes: u32,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableTable { logical } => {
                write!(f, "logical page {logical}, a table of the file system, cannot be read")
            }
            Self::UnreadablePage { inode, logical } => {
                write!(f, "inode {inode}: logical page {logical} cannot be read")
            }
            Self::BadInode { inode } => {
                write!(f, "inode {inode} is in use, and its content is invalid")
            }
            Self::LostExtension { inode } => {
                write!(f, "inode {inode}: the rest of its name, or its attributes, are missing")
            }
            Self::BadEntry { directory, inode } => {
                write!(
                    f,
                    "directory {directory} names inode {inode}, which is missing, in another \
                     directory, or named twice"
                )
            }
            Self::WrongCount { directory } => {
                write!(f, "directory {directory} has a wrong count of its entries")
            }
            Self::Lost { inode } => write!(f, "no directory names inode {inode}"),
            Self::UnmarkedInode { inode } => {
                write!(f, "inode {inode} is in use and is marked as free")
            }
            Self::LeakedInode { inode } => write!(f, "inode {inode} is taken and empty"),
            Self::LeakedPage { logical } => {
                write!(f, "logical page {logical} is taken or holds data, and belongs to no file")
            }
            Self::UnmarkedPage { logical } => {
                write!(f, "logical page {logical} belongs to a file and is marked as free")
            }
            Self::SharedPage { inode, logical } => {
                write!(f, "logical page {logical} of inode {inode} belongs to another file as well")
            }
            Self::DirtyEnd { inode } => {
                write!(f, "inode {inode}: old data lies behind the end of the file")
            }
            Self::BadList => f.write_str("a list of removed files is damaged"),
            Self::InDoubt { inode } => {
                write!(
                    f,
                    "inode {inode} may be in an earlier state, because small changes are lost"
                )
            }
            Self::LostChanges { inodes } => write!(
                f,
                "small changes are lost: at most {inodes} files, the number of empty inodes, may \
                 be missing with their names"
            ),
        }
    }
}

/// The counts of a [check](FileSystem::check).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Files.
    pub files: u32,
    /// Directories, the root included.
    pub directories: u32,
    /// Logical pages of files and directories.
    pub pages: u32,
    /// Pages of files' data that cannot be read.
    pub unreadable: u32,
    /// Findings, including the mended ones.
    pub findings: u32,
    /// The changes of the repair.
    pub mended: Repairs,
}

/// The changes of a repair, by kind. Each change is one finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Pages of the file system's tables, of directories and of indexes, rewritten without their
    /// unreadable parts.
    pub tables: u32,
    /// Files that are empty now, including removed files, and inodes that were cleared.
    pub emptied: u32,
    /// Files whose content behind the end was cut off.
    pub ends: u32,
    /// Directories that were emptied, and get their entries again from their inodes.
    pub directories: u32,
    /// Attributes and ends of long names that were removed.
    pub extensions: u32,
    /// Entries that were removed from directories.
    pub entries: u32,
    /// Corrected counts of directories and of files' pages, and cleared lists.
    pub counts: u32,
    /// Files and directories that got a name again.
    pub names: u32,
    /// Inodes that were marked as in use.
    pub inodes_marked: u32,
    /// Inodes that were freed.
    pub inodes_freed: u32,
    /// Pages that were marked as in use.
    pub pages_marked: u32,
    /// Pages that were freed.
    pub pages_freed: u32,
}

/// Selects a counter of [`Repairs`].
#[derive(Clone, Copy)]
pub(super) enum Count {
    Tables,
    Emptied,
    Ends,
    Directories,
    Extensions,
    Entries,
    Counts,
    Names,
    InodesMarked,
    InodesFreed,
    PagesMarked,
    PagesFreed,
}

impl Repairs {
    /// The sum of all counters.
    pub const fn total(&self) -> u32 {
        let Self { tables, emptied, ends, directories, extensions, entries, counts, names, .. } =
            *self;
        let Self { inodes_marked, inodes_freed, pages_marked, pages_freed, .. } = *self;
        let changed = tables + emptied + ends + directories + extensions + entries + counts + names;
        changed + inodes_marked + inodes_freed + pages_marked + pages_freed
    }

    /// Returns true if a file or directory has lost its pages since `before`.
    pub(super) const fn has_emptied_since(&self, before: Self) -> bool {
        self.emptied != before.emptied || self.directories != before.directories
    }

    pub(super) fn counter(&mut self, count: Count) -> &mut u32 {
        match count {
            Count::Tables => &mut self.tables,
            Count::Emptied => &mut self.emptied,
            Count::Ends => &mut self.ends,
            Count::Directories => &mut self.directories,
            Count::Extensions => &mut self.extensions,
            Count::Entries => &mut self.entries,
            Count::Counts => &mut self.counts,
            Count::Names => &mut self.names,
            Count::InodesMarked => &mut self.inodes_marked,
            Count::InodesFreed => &mut self.inodes_freed,
            Count::PagesMarked => &mut self.pages_marked,
            Count::PagesFreed => &mut self.pages_freed,
        }
    }
}
