//! What a check tells: what it found, looked at and mended.

#[cfg(doc)]
use crate::fs::FileSystem;
use crate::fs::InodeNumber;
use core::fmt;
/// Something that a [check](FileSystem::check) found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A page of the file system's own tables cannot be read, or is not what was written. Mended by writing it anew without what cannot be read: inodes
    /// in it are lost; what it said of free pages is found again.
    UnreadableTable {
        /// The logical page.
        logical: u32,
    },
    /// A page of a file or directory cannot be read, or is not what was written. One of a directory is mended: names are in the inodes as well. One of an index
    /// is mended: the pages of the file that it named cannot be read any more. One of a file's data stays so until it is written anew.
    UnreadablePage {
        /// Whose page.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// An inode that is in use makes no sense. Mended: a file is empty then, unless its pages can be told; a directory gets its entries again from their
    /// inodes.
    BadInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// The rest of a long name, or the attributes of a file, are not there. Mended: the file has no attributes then, or another name.
    LostExtension {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// A directory names something that is not there, is in another directory, or is named twice. Mended by removing the entry.
    BadEntry {
        /// The directory.
        directory: InodeNumber,
        /// What the entry names.
        inode: InodeNumber,
    },
    /// A directory's counts are wrong, or the volume counts fewer overflow pages or names of equal hash than the directory has. Mended.
    WrongCount {
        /// The directory.
        directory: InodeNumber,
    },
    /// Nothing names a file or directory. Mended by naming it in its directory as its inode says, or, where that cannot be, `lost-` and its
    /// number in the root.
    Lost {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// An inode is in use and is marked as free. Mended.
    UnmarkedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// An inode is taken and holds nothing that anything refers to. Mended by giving it back.
    LeakedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// A page is taken, or holds something, and belongs to nothing. Mended by giving it back.
    LeakedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to a file and is marked as free. Mended.
    UnmarkedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to two files, and nobody can tell whose it is. Mended: the second file is empty then, and in the first one the page cannot be read.
    SharedPage {
        /// The second one.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// Behind the end of a file is what was there before, and would be in it when it grows. Mended by cutting that off.
    DirtyEnd {
        /// The file.
        inode: InodeNumber,
    },
    /// A list of removed files does not end, or names something else. Mended by forgetting the list; what was on it is given back.
    BadList,
    /// A repair accepted the loss of small changes, and no page names the files that they were of.
    /// This file or directory may be in an earlier state.
    /// A page whose whole content is lost is an [unreadable page](Self::UnreadablePage).
    InDoubt {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// A repair accepted the loss of small changes. Files and directories may be missing with their
    /// names.
    LostChanges {
        /// Inodes that are empty now. Each may have been a file or a directory.
        inodes: u32,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableTable { logical } => write!(f, "logical page {logical}, a table of the file system, cannot be read"),
            Self::UnreadablePage { inode, logical } => write!(f, "inode {inode}: logical page {logical} cannot be read"),
            Self::BadInode { inode } => write!(f, "inode {inode} is in use and makes no sense"),
            Self::LostExtension { inode } => write!(f, "inode {inode}: the rest of its name, or its attributes, are not there"),
            Self::BadEntry { directory, inode } => {
                write!(f, "directory {directory} names inode {inode}, which is not there, elsewhere, or named twice")
            }
            Self::WrongCount { directory } => write!(f, "directory {directory} has another number of entries than it says"),
            Self::Lost { inode } => write!(f, "no directory names inode {inode}"),
            Self::UnmarkedInode { inode } => write!(f, "inode {inode} is in use and is marked as free"),
            Self::LeakedInode { inode } => write!(f, "inode {inode} is taken and holds nothing"),
            Self::LeakedPage { logical } => {
                write!(f, "logical page {logical} is taken, or holds something, and belongs to no file")
            }
            Self::UnmarkedPage { logical } => write!(f, "logical page {logical} belongs to a file and is marked as free"),
            Self::SharedPage { inode, logical } => {
                write!(f, "logical page {logical} of inode {inode} belongs to another file as well")
            }
            Self::DirtyEnd { inode } => write!(f, "inode {inode}: behind its end is what was there before"),
            Self::BadList => f.write_str("a list of removed files is damaged"),
            Self::InDoubt { inode } => write!(f, "inode {inode} may be in an earlier state, for small changes are lost"),
            Self::LostChanges { inodes } => write!(
                f,
                "small changes are lost: files may be missing with their names, at most {inodes}, which is the number of empty inodes"
            ),
        }
    }
}

/// What a [check](FileSystem::check) looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Files.
    pub files: u32,
    /// Directories, the root included.
    pub directories: u32,
    /// Logical pages of files and directories.
    pub pages: u32,
    /// Pages of files' data that cannot be read.
    pub unreadable: u32,
    /// Findings, those that were mended included.
    pub findings: u32,
    /// What was mended.
    pub mended: Mended,
}

/// What a repair has changed; one finding each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Pages of the file system's tables, of directories and of indexes that were written anew without what cannot be read.
    pub tables: u32,
    /// Files that are empty now, removed ones included, and inodes that are none any more.
    pub emptied: u32,
    /// Files of which something was cut off that was behind their end.
    pub ends: u32,
    /// Directories that were emptied, to get their entries again from their inodes.
    pub directories: u32,
    /// Attributes that are gone, and names that are.
    pub extensions: u32,
    /// Entries of directories that were removed.
    pub entries: u32,
    /// Counts of directories and of files' pages, and lists, that were put right.
    pub counts: u32,
    /// Files and directories that got a name again.
    pub names: u32,
    /// Inodes that were marked as taken.
    pub inodes_marked: u32,
    /// Inodes that were given back.
    pub inodes_freed: u32,
    /// Pages that were marked as taken.
    pub pages_marked: u32,
    /// Pages that were given back.
    pub pages_freed: u32,
}

/// Which number of [`Mended`].
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

impl Mended {
    /// All of them.
    pub const fn total(&self) -> u32 {
        let Self { tables, emptied, ends, directories, extensions, entries, counts, names, .. } = *self;
        let Self { inodes_marked, inodes_freed, pages_marked, pages_freed, .. } = *self;
        let changed = tables + emptied + ends + directories + extensions + entries + counts + names;
        changed + inodes_marked + inodes_freed + pages_marked + pages_freed
    }

    /// Whether anything lost its pages since.
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
