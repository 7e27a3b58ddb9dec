//! The errors of settings, mounts and calls.

use core::fmt;

use crate::format::VERSION;
use crate::media::{Failure, Geometry};

/// The reason for the failure of an operation on a mounted volume. The type has one byte, so
/// results travel in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// The medium does not answer. All committed data is safe; mount again.
    Device,
    /// More programs failed in one call than the volume's `failures` setting tolerates.
    MediaFailing,
    /// The data read is not the written data: the checksum of a page does not match, or the tag of
    /// the page names another page.
    Corrupt,
    /// The volume is read-only, for one of these reasons:
    ///
    /// - It was mounted read-only.
    /// - Its spare blocks are used up.
    /// - Fewer than five blocks of its ring of roots are good.
    /// - The chip has locked itself.
    /// - The device refused two programs of a root in one call, or it refused the erase before such
    ///   a program.
    /// - An earlier call returned [`Unknown`](Self::Unknown).
    ///
    /// In the last two cases, the next mount may write again.
    ReadOnly,
    /// It is unknown if the change took effect, or if a [flush](crate::media::Flash::sync) made
    /// earlier data durable. The volume is read-only until the next mount.
    Unknown,
    /// No room is left: every logical page of the volume is in use.
    NoSpace,
    /// The volume holds as many files as its settings allow. A removed file counts until all its
    /// pages are free. Each call that changes something frees a few of them, and idle work frees
    /// the rest.
    TooManyFiles,
    /// The open transaction has no room for all changes of the call. Commit more often, or choose
    /// the event [`CommitOn::FULL`](crate::CommitOn::FULL).
    TransactionTooLarge,
    /// No file or directory has this name or number, or the file does not have the attribute.
    NotFound,
    /// A file or directory of this name exists already.
    Exists,
    /// A name is empty, `.` or `..`, or holds `/` or a NUL.
    InvalidName,
    /// A name is longer than 255 bytes, or longer than the volume's `name_bytes_max`.
    NameTooLong,
    /// The [disk](crate::disk::Disk) does not have these sectors, or the number of bytes is not a
    /// multiple of the sector size.
    NoSuchSector,
    /// The file would grow beyond [`FileSystem::size_max`](crate::FileSystem::size_max).
    FileTooLarge,
    /// The file of this handle no longer exists: its creation was rolled back.
    Stale,
    /// The handle belongs to another volume, or to an earlier mount of this volume. Or
    /// [`close_all`](crate::FileSystem::close_all) has closed it. Nothing has changed.
    WrongMount,
    /// A call that needs a file was given a directory.
    IsADirectory,
    /// A call that needs a directory was given a file.
    NotADirectory,
    /// The directory has entries.
    NotEmpty,
    /// A call that needs a file was given a symbolic link: calls do not follow links.
    IsALink,
    /// A call that needs a symbolic link was given a file or directory.
    NotALink,
    /// A directory would move into itself.
    IntoItself,
    /// The handle was not opened for reading.
    NotReadable,
    /// The handle was not opened for writing, or the options contradict each other: `truncate`
    /// needs `write`, and `create` needs `write` or `append`.
    NotWritable,
    /// The table of open files is full. Close some, or lend the volume more memory.
    TooManyOpenFiles,
    /// The attributes of one file take more than 248 bytes.
    AttributesTooLarge,
    /// The memory lent for a check has fewer bytes than
    /// [`Config::check_bytes`](crate::Config::check_bytes).
    ScratchTooSmall,
    /// The call or the volume needs a cargo feature that this build does not have, for a long name
    /// or for truncating a file. Or the call needs [permissions](crate::Config::permissions), and
    /// the volume was formatted without them.
    Unsupported,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Error::Device => "the medium does not answer",
            Error::MediaFailing => "more programs failed in one call than the volume tolerates",
            Error::Corrupt => "the data read is not the written data",
            Error::ReadOnly => {
                "the volume is read-only: it was mounted so, it is worn out, the chip has locked \
                 itself, or the outcome of an earlier call is unknown; mount it again"
            }
            Error::Unknown => {
                "the change may or may not have taken effect; the volume is read-only until the \
                 next mount"
            }
            Error::NoSpace => "no room left on the volume",
            Error::TooManyFiles => "the volume holds as many files as its settings allow",
            Error::TransactionTooLarge => {
                "the open transaction has no room for this call; commit more often"
            }
            Error::NotFound => "no such file, directory or attribute",
            Error::Exists => "a file or directory of this name exists already",
            Error::InvalidName => "the name is empty, '.' or '..', or holds '/' or NUL",
            Error::NameTooLong => "the name is longer than the volume allows",
            Error::NoSuchSector => {
                "the disk does not have these sectors, or the bytes are not whole sectors of 512 \
                 bytes"
            }
            Error::FileTooLarge => "the file would grow beyond the volume's size_max",
            Error::Stale => {
                "the file of this handle no longer exists: its creation was rolled back"
            }
            Error::WrongMount => {
                "the handle belongs to another volume, or to an earlier mount of this volume; open \
                 the file again"
            }
            Error::IsADirectory => "found a directory; expected a file",
            Error::NotADirectory => "found a file; expected a directory",
            Error::NotEmpty => "the directory is not empty",
            Error::IsALink => "found a symbolic link; expected a file",
            Error::NotALink => "found no symbolic link; expected one",
            Error::IntoItself => "a directory cannot move into itself",
            Error::NotReadable => "the file was not opened for reading",
            Error::NotWritable => {
                "the file was not opened for writing, or an option requires `write`"
            }
            Error::TooManyOpenFiles => "the table of open files is full",
            Error::ScratchTooSmall => {
                "the memory lent for the check is smaller than Config::check_bytes"
            }
            Error::Unsupported => {
                "the call needs a cargo feature that this build lacks (long-names, truncate), or \
                 permissions, which the volume does not store"
            }
            Error::AttributesTooLarge => "the attributes of one file take more than 248 bytes",
        };
        f.write_str(text)
    }
}

impl core::error::Error for Error {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Uncorrectable => Error::Corrupt,
            Failure::BadBlock => Error::MediaFailing,
            Failure::WriteProtected => Error::ReadOnly,
            Failure::Device => Error::Device,
        }
    }
}

/// The rule that the settings break. `Display` prints the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ConfigError {
    /// `page_bytes` must be a power of two from 256 to 16,384. If tags lie inside the pages, it may
    /// also be 32 less than a power of two, but not on media that program bytes.
    PageBytes,
    /// `pages_per_block` must be 4 to 4,096 and `block_count` 16 to 1,048,576.
    Blocks,
    /// `pages_per_logical_page` must be a power of two up to 32, and a block must hold at least 4
    /// logical pages.
    UnitPages,
    /// `transaction_pages` must be 2 to 1,024.
    TransactionPages,
    /// `overlay_entries` must be at least 40 more than `transaction_pages`, and at most 8,192.
    OverlayEntries,
    /// `checkpoint_programs` must be 16 to 4,096.
    CheckpointPrograms,
    /// `wear_spread` must be 8 to 200, or 0 if the device levels wear by itself.
    WearSpread,
    /// `files_max` must be 1 to 1,048,576, or 0 for a disk. `failures` must be at most 8.
    FilesOrFailures,
    /// A logical page of a disk must consist of whole sectors of 512 bytes: choose more
    /// `pages_per_logical_page`, or store tags outside the pages.
    SectorBytes,
    /// `name_bytes_max` must be 1 to 255.
    NameBytesMax,
    /// `streams` must be 1 to 4.
    Streams,
    /// The volume has more than one stream, and this build does not have the feature `streams`.
    NoStreams,
    /// The settings move pages in groups, and this build does not have the feature `groups`.
    NoGroups,
    /// `move_group` must be 1 to 64. It must be 1 unless the device levels wear by itself.
    MoveGroup,
    /// `leaf_log_bytes` must be 48 to 240, and at most three quarters of a page.
    LeafLogBytes,
    /// `journal_pages` must be 1 to 16. On media that program bytes, two or more journal pages must
    /// have at most 4,096 bytes together.
    JournalPages,
    /// The medium programs bytes, and this build does not have the feature `nor`.
    ProgramsBytes,
    /// The volume stores permissions, and this build does not have the feature `permissions`.
    Permissions,
    /// A logical page must not be larger than 128 KiB, and the limit is lower if `page_bytes` is
    /// more than 4,096.
    LogicalPageTooLarge,
    /// `files_max` needs more logical pages than a map entry can name.
    TooManyLogicalPages,
    /// A block must have room for a root with its copies, three logical pages and a journal page. A
    /// root must have at most 64 pages. Choose fewer `overlay_entries`, or larger blocks.
    BlockTooSmall,
    /// `checkpoint_programs` must not be more than the pages of 24 blocks. Each of `failures`
    /// reduces this number of blocks by one. NOR does not have this limit.
    CheckpointTooRare,
    /// Too few blocks: after `bad_blocks_max`, the ring of roots and the reserve, no room is left
    /// for data.
    TooFewBlocks,
    /// Reclamation of a block would not gain a free frame: choose more `overlay_entries`, or larger
    /// blocks.
    NoGain,
}

impl ConfigError {
    /// The text of the rule, also for errors of the compiler.
    pub(crate) const fn rule(self) -> &'static str {
        match self {
            Self::ProgramsBytes => {
                "the medium programs bytes (NOR), and this build lacks the feature `nor`"
            }
            Self::Permissions => {
                "the volume stores permissions, and this build lacks the feature `permissions`"
            }
            Self::PageBytes => {
                "page_bytes must be a power of two from 256 to 16,384, or 32 bytes less, for a tag \
                 in the page"
            }
            Self::Blocks => "pages_per_block must be 4 to 4,096 and block_count 16 to 1,048,576",
            Self::UnitPages => {
                "pages_per_logical_page must be a power of two up to 32, and a block must hold at \
                 least 4 logical pages"
            }
            Self::TransactionPages => "transaction_pages must be 2 to 1,024",
            Self::OverlayEntries => {
                "overlay_entries must be at least 40 more than transaction_pages, and at most 8,192"
            }
            Self::CheckpointPrograms => "checkpoint_programs must be 16 to 4,096",
            Self::WearSpread => {
                "wear_spread must be 8 to 200, or 0 if the device levels wear by itself"
            }
            Self::FilesOrFailures => {
                "files_max must be 1 to 1,048,576, or 0 for a disk, and failures at most 8"
            }
            Self::SectorBytes => {
                "a logical page of a disk must have whole sectors of 512 bytes: choose more \
                 pages_per_logical_page, or tags outside the pages"
            }
            Self::NameBytesMax => "name_bytes_max must be 1 to 255",
            Self::Streams => "streams must be 1 to 4",
            Self::NoStreams => {
                "the volume has more than one stream, and this build lacks the feature `streams`"
            }
            Self::NoGroups => {
                "pages of the volume move in groups, and this build lacks the feature `groups`"
            }
            Self::MoveGroup => {
                "move_group must be 1 to 64, and 1 unless the device levels wear by itself"
            }
            Self::LeafLogBytes => {
                "leaf_log_bytes must be 48 to 240, and at most three quarters of page_bytes"
            }
            Self::JournalPages => {
                "journal_pages must be 1 to 16, and on NOR two or more must have at most 4,096 \
                 bytes together"
            }
            Self::LogicalPageTooLarge => {
                "a logical page must have at most 128 KiB, or 32 KiB with pages of 16 KiB"
            }
            Self::TooManyLogicalPages => {
                "files_max needs more logical pages than a map entry can name"
            }
            Self::BlockTooSmall => {
                "a block must hold a root with its copies, three logical pages and a journal page, \
                 and a root has at most 64 pages: choose fewer overlay_entries, larger blocks, or \
                 on NOR groups of sectors"
            }
            Self::CheckpointTooRare => {
                "checkpoint_programs must not exceed the pages of 24 blocks, less one block for \
                 each of `failures`; NOR has no such limit"
            }
            Self::TooFewBlocks => {
                "too few blocks: bad_blocks_max, ring and reserve leave no room for data"
            }
            Self::NoGain => {
                "a reclaimed block would not gain a frame: choose more overlay_entries or larger \
                 blocks"
            }
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())
    }
}

impl core::error::Error for ConfigError {}

/// The reason for which a volume could not be formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MountError {
    /// No superblock was found: the device was never formatted, or both copies of the superblock
    /// are damaged. Or a power cut has interrupted a format.
    NotFormatted,
    /// The superblock was written with another version of the format.
    Version {
        /// Version found.
        on_flash: u16,
    },
    /// The volume was formatted for another chip.
    GeometryMismatch {
        /// Geometry in the superblock.
        on_flash: Geometry,
        /// Geometry of the device.
        device: Geometry,
    },
    /// The buffer lent for tables is too small.
    MemoryTooSmall {
        /// Bytes needed for a mount without open files. [`Config::memory_bytes`] has room for
        /// eight open files in addition.
        ///
        /// [`Config::memory_bytes`]: crate::Config::memory_bytes
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The settings contradict each other or the chip.
    Config(ConfigError),
    /// More blocks are bad than `bad_blocks_max` allows. If the device levels wear by itself, the
    /// volume still mounts as long as the other blocks have room for a file.
    TooManyBadBlocks {
        /// Bad blocks found.
        found: u32,
        /// Bad blocks allowed.
        allowed: u32,
    },
    /// Blocks that the volume needs for its own structures are bad: the first block, or too many of
    /// the first 65 blocks.
    OwnBlocksBad {
        /// Number of good blocks among the blocks for the ring of roots.
        found: u32,
        /// Number of good blocks that the ring needs.
        needed: u32,
        /// True if the first block is good.
        first_is_good: bool,
    },
    /// The volume holds a file system, but a [disk](crate::disk::Disk) was mounted.
    IsFileSystem,
    /// The volume is a [disk](crate::disk::Disk), but a file system was mounted.
    IsDisk,
    /// A superblock was found, but no root can be read.
    NoRoot,
    /// The volume was changed after its last [unmount](crate::FileSystem::unmount), was never
    /// unmounted, or its state cannot be determined. A [`CleanReader`](crate::CleanReader) reads
    /// only volumes that were unmounted cleanly.
    NeedsRecovery,
    /// A read, a program or an erase failed.
    Volume(Error),
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountError::NotFormatted => f.write_str(
                "no superblock found: the device was never formatted, a format was interrupted, or \
                 both copies are damaged",
            ),
            MountError::Version { on_flash } => write!(
                f,
                "the volume has format version {on_flash}; this library reads version {VERSION}: \
                 copy the files with a release that reads {on_flash}, or format the volume again"
            ),
            MountError::GeometryMismatch { on_flash, device } => {
                write!(f, "the volume was formatted for {on_flash:?}, the device is {device:?}")
            }
            MountError::MemoryTooSmall { needed, given } => {
                write!(f, "the buffer has {given} bytes; expected at least {needed}")
            }
            MountError::Config(rule) => rule.fmt(f),
            MountError::TooManyBadBlocks { found, allowed } => {
                write!(f, "{found} blocks are bad; bad_blocks_max allows {allowed}")
            }
            MountError::OwnBlocksBad { first_is_good: false, .. } => {
                f.write_str("the first block is bad; a volume needs it for its superblock")
            }
            MountError::OwnBlocksBad { found, needed, .. } => {
                write!(
                    f,
                    "{found} of the first 65 blocks are good, superblocks not counted; the ring of \
                     roots needs {needed}"
                )
            }
            MountError::IsFileSystem => f.write_str(
                "the volume holds a file system, not a disk: mount it with FileSystem::mount",
            ),
            MountError::IsDisk => {
                f.write_str("the volume is a disk, not a file system: mount it with Disk::mount")
            }
            MountError::NoRoot => f.write_str("a superblock was found, but no root can be read"),
            MountError::NeedsRecovery => f.write_str(
                "the volume was not unmounted cleanly, or was changed since; mount it with \
                 recovery",
            ),
            MountError::Volume(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MountError {}

impl From<Error> for MountError {
    fn from(error: Error) -> Self {
        MountError::Volume(match error {
            // The next mount or format resolves the doubt about a failed flush.
            Error::Unknown => Error::Device,
            error => error,
        })
    }
}

impl From<ConfigError> for MountError {
    fn from(rule: ConfigError) -> Self {
        MountError::Config(rule)
    }
}

impl From<Failure> for MountError {
    fn from(failure: Failure) -> Self {
        MountError::Volume(failure.into())
    }
}
