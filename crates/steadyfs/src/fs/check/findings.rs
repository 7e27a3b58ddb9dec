//! The results of a check: its findings, and the counts of checked and mended items.

#[cfg(doc)]
use crate::fs::FileSystem;
use crate::fs::InodeNumber;
use core::fmt;
/// A fault that a [check](FileSystem::check) found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Finding {
    /// A page of the file system's tables cannot be read, or does not hold the written data.
    ///
    /// The repair rewrites the page without the unreadable parts. Inodes in these parts are lost.
    /// The repair restores the marks of pages in use.
    UnreadableTable {
        /// The logical page.
        logical: u32,
    },
    /// A page of a file or directory cannot be read, or does not hold the written data.
    ///
    /// - A page of a directory is mended, because the inodes also hold the names.
    /// - A page of an index is mended. The pages of the file that it named are unreadable
    ///   afterwards.
    /// - A page of a file's data stays unreadable until it is rewritten.
    UnreadablePage {
        /// The file or directory of the page.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// An inode in use is invalid. The repair makes a file empty, unless its pages can be
    /// determined. A directory gets its entries again from the inodes of its files.
    BadInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// The rest of a long name, or the attributes of a file, are missing. After the repair the file
    /// has another name, or no attributes.
    LostExtension {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// A directory names an inode that is missing, that belongs to another directory, or that
    /// already has an entry. The repair removes the entry.
    BadEntry {
        /// The directory.
        directory: InodeNumber,
        /// The inode that the entry names.
        inode: InodeNumber,
    },
    /// The counts of a directory are wrong. Or the directory has more overflow pages or more names
    /// of equal hash than the volume's counts allow. The repair corrects the counts.
    WrongCount {
        /// The directory.
        directory: InodeNumber,
    },
    /// A file or directory has no entry in any directory. The repair adds an entry with the name
    /// and the directory that the inode stores. If this is impossible, the repair adds an entry to
    /// the root directory. The name is then `lost-` and the number of the file or directory.
    Lost {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// An inode in use is marked as free. The repair marks it as in use.
    UnmarkedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// An inode is marked as in use, but has no content, and nothing names it. The repair frees it.
    LeakedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// A page is marked as in use, or has content, but belongs to no file or directory. The repair
    /// frees it.
    LeakedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to a file, but is marked as free. The repair marks it as in use.
    UnmarkedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to two files, and the file that it really belongs to cannot be determined.
    /// The repair makes the second file empty, and the page becomes unreadable in the first file.
    SharedPage {
        /// The second file.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// Old content lies behind the end of a file. If the file grew, the content would become part
    /// of the file. The repair truncates the content.
    DirtyEnd {
        /// The file.
        inode: InodeNumber,
    },
    /// A list of removed files has no end, or names an inode of another kind. The repair clears the
    /// list, and frees its inodes and pages.
    BadList,
    /// A repair accepted the loss of small changes, and it is unknown which files these changes
    /// belonged to. This file or directory may be in an earlier state.
    ///
    /// If the whole content of a page is lost, the page is an [unreadable
    /// page](Self::UnreadablePage).
    InDoubt {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// A repair accepted the loss of small changes. Files and directories may be missing,
    /// together with their names.
    LostChanges {
        /// Number of inodes that are empty now. Each of them may have been a file or a directory.
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
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CheckReport {
    /// Number of files.
    pub files: u32,
    /// Number of directories, the root included.
    pub directories: u32,
    /// Number of logical pages of files and directories.
    pub pages: u32,
    /// Number of pages of files' data that cannot be read.
    pub unreadable: u32,
    /// Number of findings, including the mended findings.
    pub findings: u32,
    /// Numbers of the changes that the repair made.
    pub mended: Repairs,
}

/// The numbers of changes of a repair, by kind. Each change is one finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Repairs {
    /// Number of pages of the file system's tables, of directories and of indexes that were
    /// rewritten without their unreadable parts.
    pub tables: u32,
    /// Number of files that are empty now, including removed files, and of inodes that were
    /// cleared.
    pub emptied: u32,
    /// Number of files whose content behind the end was truncated.
    pub ends: u32,
    /// Number of directories that were emptied and get their entries again from the inodes.
    pub directories: u32,
    /// Number of sets of attributes and ends of long names that were removed.
    pub extensions: u32,
    /// Number of entries that were removed from directories.
    pub entries: u32,
    /// Number of corrected counts of directories and of files' pages, and of cleared lists.
    pub counts: u32,
    /// Number of files and directories that got a name again.
    pub names: u32,
    /// Number of inodes that were marked as in use.
    pub inodes_marked: u32,
    /// Number of inodes that were freed.
    pub inodes_freed: u32,
    /// Number of pages that were marked as in use.
    pub pages_marked: u32,
    /// Number of pages that were freed.
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
    /// Returns the sum of all counters.
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
