//! Verifying a whole volume, and mending what can be mended.
//!
//! The walk goes by inodes: every directory names its entries once, every extension has an owner, everything else is on a list; every
//! page that is taken belongs to one file. Two rows of bits, in memory that the caller lends, note which inodes were named and
//! which pages were found. The volume needs none of this after a power cut: what it finds is damage.
//!
//! A repair goes in rounds ([`rounds`]) until one of them changes nothing; a look at everything ends it.
//!
//! | file | idea |
//! |---|---|
//! | [`rounds`] | what is mended before what, and when that ends |
//! | [`tables`] | the root page, its lists, the allocation map |
//! | [`owners`] | inodes, their extensions and pages: everything has one owner |
//! | [`entries`] | names: directories, and what none of them names |
//! | [`marks`] | what was met |

mod entries;
mod marks;
mod owners;
mod rounds;
mod tables;

use core::fmt;

use super::{FileSystem, InodeNumber};
use crate::config::{Config, Layout, SPARE_INODES};
use crate::error::Error;
use crate::media::{Flash, Geometry};
use rounds::Checker;

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
    /// A directory's counts are wrong. Mended.
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
enum Count {
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
    const fn has_emptied_since(&self, before: Self) -> bool {
        self.emptied != before.emptied || self.directories != before.directories
    }

    fn counter(&mut self, count: Count) -> &mut u32 {
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

impl Config {
    /// Bytes that [`FileSystem::check`] needs to be lent.
    pub const fn check_bytes(&self, geometry: &Geometry) -> usize {
        let frames = geometry.pages_per_block / self.unit_pages as u32 * geometry.block_count;
        ((self.files_max + SPARE_INODES).div_ceil(8) + Layout::data_pages(frames, self).div_ceil(8)) as usize
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Verifies every page and every reference of the volume, and calls `report` for each fault; with `repair`, mends those that
    /// can be mended, each in a transaction of its own, and commits what was open before. What is left then are pages of files that cannot be read:
    /// a second repair finds and changes nothing else. Close all files first.
    ///
    /// # Power loss
    /// What was mended stays mended.
    ///
    /// # Cost
    /// Reads the whole volume, with `repair` all but the files' data once more in each round; it has no bound of its own.
    ///
    /// # Errors
    /// [`Error::ScratchTooSmall`] when `scratch` has fewer than [`Config::check_bytes`]; [`Error::Device`]; with `repair` those of every
    /// call that changes something. Damage is a finding, not an error.
    pub fn check(&mut self, scratch: &mut [u8], repair: bool, report: &mut dyn FnMut(Finding)) -> Result<Checked, Error> {
        self.check_scratch(scratch)?;
        let mut checker = Checker::new(self, scratch, report);
        if repair {
            checker.mend()?;
        }
        checker.look()
    }

    /// Accepts what the mount found missing as lost, [checks](Self::check) the volume and mends what the loss has left, so that it can be
    /// changed again: an allocation map with the content of before must not give away pages that are in use. Does nothing where nothing is
    /// missing. Says what it [did](Mended).
    ///
    /// # Power loss
    /// The volume can only be read until a repair ends; one that was cut is begun again.
    ///
    /// # Cost
    /// [`mount_bound`](Self::mount_bound), a frame for each lost leaf of the map, and that of a check with `repair`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where a lost leaf maps the tables of the file system, and nothing has changed; or where something was found that could not be
    /// mended, and the volume can still only be read. [`Error::ReadOnly`] when the volume was
    /// mounted for reading, or the damage was found since the mount; those of [`check`](Self::check).
    pub fn repair(&mut self, scratch: &mut [u8], report: &mut dyn FnMut(Finding)) -> Result<Checked, Error> {
        if self.damage().is_none() {
            return Ok(Checked::default());
        }
        self.check_scratch(scratch)?;
        // Handles and the directory that was used last look again.
        self.stamp = self.stamp.wrapping_add(1);
        self.dir = None;
        self.store.begin_repair(self.plan.data)?;
        let checked = self.check(scratch, true, report);
        // Only content may still be missing: what else is wrong may let a call take what belongs to another file.
        let is_safe = checked.is_ok_and(|checked| checked.findings == checked.mended.total() + checked.unreadable);
        self.store.end_repair(is_safe)?;
        checked.and_then(|checked| if is_safe { Ok(checked) } else { Err(Error::Corrupt) })
    }

    /// Refuses memory that is too small for a check.
    fn check_scratch(&self, scratch: &[u8]) -> Result<(), Error> {
        if scratch.len() < self.scratch_bytes().iter().sum() { Err(Error::ScratchTooSmall) } else { Ok(()) }
    }

    /// Bytes of a bit for each inode, and for each data page.
    fn scratch_bytes(&self) -> [usize; 2] {
        [self.plan.inode_count, self.plan.data_count].map(|count| count.div_ceil(8) as usize)
    }
}
