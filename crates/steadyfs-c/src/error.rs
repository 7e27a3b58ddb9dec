//! Error codes and their texts.

use core::ffi::{CStr, c_char, c_int};
use steadyfs::media::Failure as MediaFailure;
use steadyfs::{ConfigError, Error, MountError};

/// Result of a driver's callback.
///
/// Any other number is treated as STEADYFS_FAIL_DEVICE.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The operation succeeded.
    FailNone = 0,
    /// The page cannot be read: more bits flipped than the ECC can correct. Only callbacks that
    /// read return this value.
    FailUncorrectable = -1,
    /// The chip reports that a program or an erase failed: the block has gone bad.
    FailBadBlock = -2,
    /// The chip has locked itself. It no longer accepts programs and erases, but can still be read.
    FailWriteProtected = -3,
    /// The device does not answer: bus fault, timeout, power lost.
    FailDevice = -4,
}

/// The reason why a call failed. A call that succeeds returns 0, or a number that its documentation
/// describes. A call that fails returns one of these codes.
///
/// If littlefs has a code with the same meaning, the numbers are equal. After every error except
/// STEADYFS_ERR_UNKNOWN, the call has changed nothing, and the open transaction can continue. A
/// long write consists of several writes (steadyfs_file_write). The writes before the failed one
/// have taken effect.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// No error.
    ErrOk = 0,
    /// The medium does not answer. Committed data is not lost. Mount the volume again.
    ErrIo = -5,
    /// The data that was read is not the data that was written. The checksum of a page is wrong, or
    /// its tag belongs to another page.
    ErrCorrupt = -84,
    /// There is no file or directory with this name or number.
    ErrNoent = -2,
    /// A file or directory of this name exists already.
    ErrExist = -17,
    /// The path leads to a file, but the call needs a directory.
    ErrNotdir = -20,
    /// The path leads to a directory, but the call needs a file.
    ErrIsdir = -21,
    /// The directory has entries.
    ErrNotempty = -39,
    /// The file or directory is not open on this volume, or was opened before the mount.
    ErrBadf = -9,
    /// The file would become larger than the volume allows.
    ErrFbig = -27,
    /// An argument is invalid: a null pointer, an unknown flag, a position before the start of
    /// the file, or a name that is empty, `.` or `..`.
    ErrInval = -22,
    /// The volume is full: every logical page is in use.
    ErrNospc = -28,
    /// The lent memory is too small: see steadyfs_memory_bytes, or steadyfs_check_bytes for a
    /// check.
    ErrNomem = -12,
    /// The file has no such attribute.
    ErrNoattr = -61,
    /// A name is longer than 255 bytes, or longer than the volume's name_bytes_max.
    ErrNametoolong = -36,
    /// A path or a key is not UTF-8.
    ErrNotutf8 = -200,
    /// The object contains no mounted volume or image, or no installation has begun.
    ErrNotmounted = -201,
    /// Another call of this volume is in progress. A callback or another thread made this call.
    ErrBusy = -202,
    /// More programs failed in one call than the volume's `failures` setting tolerates.
    ErrMediafailing = -203,
    /// The volume can only be read. It was mounted for reading, it is worn out, the chip has locked
    /// itself, or the result of an earlier call is unknown. If a result is unknown, mount the
    /// volume again.
    ErrReadonly = -204,
    /// The library cannot determine if the change took effect. The volume can only be read until it
    /// is mounted again.
    ErrUnknown = -205,
    /// The volume holds as many files as its settings allow.
    ErrToomanyfiles = -206,
    /// The call does not fit into the open transaction. Commit more often.
    ErrTransaction = -207,
    /// The file of this handle no longer exists, because its creation was rolled back.
    ErrStale = -209,
    /// The path leads to a symbolic link, but the call needs a file.
    ErrIsalink = -210,
    /// The path does not lead to a symbolic link, but the call needs one.
    ErrNotalink = -211,
    /// A directory would move into itself.
    ErrIntoitself = -212,
    /// The handle was not opened for reading.
    ErrNotreadable = -213,
    /// The handle was not opened for writing. Or an open has flags that change the file, but not
    /// STEADYFS_O_WRONLY.
    ErrNotwritable = -214,
    /// The table of open files in the lent memory is full: see open_files.
    ErrToomanyopen = -215,
    /// The attributes of one file take more than 248 bytes.
    ErrAttributes = -216,
    /// The build, or the volume, lacks a requirement of the call: a feature of the library, or
    /// permissions.
    ErrUnsupported = -217,
    /// No superblock was found. There are three possible reasons. The device was never formatted.
    /// Or the driver and the settings divide the device in another way than its format (see
    /// steadyfs_mount). Or the device contains no image.
    ErrNotformatted = -220,
    /// The volume has a version of the format that this library does not support.
    ErrVersion = -221,
    /// The volume was formatted for another chip, or with another division of the chip
    /// (erase_bytes, group_sectors).
    ErrGeometry = -222,
    /// More blocks are bad than bad_blocks_max allows, or a block is bad that must hold tables of
    /// the volume itself.
    ErrBadblocks = -223,
    /// The volume is a disk of sectors, which this API does not mount.
    ErrIsdisk = -224,
    /// The volume has a superblock, but no root of it can be read.
    ErrNoroot = -225,
    /// The image has no hash tree, or no signature that matches the key.
    ErrNotsigned = -226,
    /// The data that was read from the image is not the signed data.
    ErrNotauthentic = -227,
    /// No driver or more than one driver was set. Or the driver lacks a callback, or contains a
    /// time of more than 100 s.
    ErrDriver = -230,
    /// page_bytes must be a power of two from 256 to 16,384. On sectors it must be at least 512.
    ErrConfigPageBytes = -231,
    /// A block must have 4 to 4,096 pages, and a medium 16 to 1,048,576 blocks.
    ErrConfigBlocks = -232,
    /// pages_per_logical_page must be a power of two up to 32, and a block must hold at least 4
    /// logical pages. Decrease pages_per_logical_page or, on NOR, increase group_sectors.
    ErrConfigUnitPages = -233,
    /// transaction_pages must be 2 to 1,024.
    ErrConfigTransactionPages = -234,
    /// overlay_entries must be at least 40 more than transaction_pages, and at most 8,192.
    ErrConfigOverlayEntries = -235,
    /// checkpoint_programs must be 16 to 4,096. Except on NOR it must also be at most the number of
    /// pages in (24 - failures) blocks.
    ErrConfigCheckpointPrograms = -236,
    /// wear_spread must be 8 to 200, or STEADYFS_NONE if the device levels wear itself.
    ErrConfigWearSpread = -237,
    /// files_max must be at most 1,048,576, and failures at most 8.
    ErrConfigFiles = -238,
    /// streams must be 1 to 4.
    ErrConfigStreams = -239,
    /// move_group must be 1 to 64. It must be 1 if the device does not level wear itself.
    ErrConfigMoveGroup = -240,
    /// A logical page must not be larger than 128 KiB. It must be smaller if page_bytes is more
    /// than 4,096.
    ErrConfigLogicalPage = -241,
    /// files_max requires more logical pages than a map entry can address.
    ErrConfigTooManyPages = -242,
    /// A block must hold a root with its copies, three logical pages and a journal page. Decrease
    /// overlay_entries or make blocks larger. On NOR, increase group_sectors.
    ErrConfigBlockTooSmall = -243,
    /// The medium has too few blocks: the blocks for bad_blocks_max, root ring and reserve leave no
    /// space for data.
    ErrConfigTooFewBlocks = -244,
    /// Garbage collection of a block would not gain space for a page. Increase overlay_entries or
    /// make blocks larger.
    ErrConfigNoGain = -245,
    /// leaf_log_bytes must be 48 to 240, and at most three quarters of a page.
    ErrConfigLeafLog = -246,
    /// journal_pages must be 1 to 16. If there is more than one page, these pages must have at most
    /// 4,096 bytes together.
    ErrConfigJournal = -247,
    /// A setting breaks a rule for which this version of the library has no code.
    ErrConfig = -249,
}

impl Code {
    /// Returns the number that a call returns.
    pub(crate) const fn number(self) -> c_int {
        self as c_int
    }

    /// Returns the text of a number. For a number without a code, returns the last text.
    fn text(number: c_int) -> &'static CStr {
        let index = CODES.iter().position(|code| code.number() == number).unwrap_or(CODES.len());
        let mut texts = TEXTS;
        for _ in 0..index {
            let end = texts.iter().position(|byte| *byte == 0).map_or(0, |nul| nul + 1);
            texts = texts.get(end..).unwrap_or_default();
        }
        CStr::from_bytes_until_nul(texts).unwrap_or_default()
    }
}

/// Defines a table of the codes, and one string of all their texts. If the program never uses a
/// text, a linker drops the single string. Separate strings would remain.
macro_rules! texts {
    ($($code:ident $text:literal)*) => {
        static CODES: [Code; [$($text),*].len()] = [$(Code::$code),*];
        static TEXTS: &[u8] = concat!($($text, "\0",)* "no error of SteadyFS\0").as_bytes();
    };
}

texts! {
    ErrOk "no error"
    ErrIo "the medium does not answer"
    ErrCorrupt "the data read is not the written data"
    ErrNoent "no such file or directory"
    ErrExist "a file or directory of this name exists already"
    ErrNotdir "found a file; expected a directory"
    ErrIsdir "found a directory; expected a file"
    ErrNotempty "the directory is not empty"
    ErrBadf "the file or directory is not open on this volume"
    ErrFbig "the file would grow beyond the limit of the volume"
    ErrInval "an argument is invalid"
    ErrNospc "no room left on the volume"
    ErrNomem "the lent memory is too small"
    ErrNoattr "the file has no such attribute"
    ErrNametoolong "the name is longer than the volume allows"
    ErrNotutf8 "a path or a key is not UTF-8"
    ErrNotmounted "the object does not hold a mounted volume or image"
    ErrBusy "a call of this volume is in progress"
    ErrMediafailing "more programs failed in one call than the volume tolerates"
    ErrReadonly "the volume is read-only: it was mounted so, it is worn out, the chip has locked \
                 itself, or the outcome of an earlier call is unknown; mount it again"
    ErrUnknown "the change may or may not have taken effect; mount again"
    ErrToomanyfiles "the volume holds as many files as its settings allow"
    ErrTransaction "the open transaction has no room for this call; commit more often"
    ErrStale "the file no longer exists: its creation was rolled back"
    ErrIsalink "found a symbolic link; expected a file"
    ErrNotalink "found no symbolic link; expected one"
    ErrIntoitself "a directory cannot move into itself"
    ErrNotreadable "the file was not opened for reading"
    ErrNotwritable "the file was not opened for writing, or a flag requires STEADYFS_O_WRONLY"
    ErrToomanyopen "the memory has no room for another open file"
    ErrAttributes "the attributes of one file take more than 248 bytes"
    ErrUnsupported "the call needs a feature that the build or the volume lacks"
    ErrNotformatted "no superblock found: the device was never formatted, or with another division \
                     into blocks"
    ErrVersion "the volume has another version of the format"
    ErrGeometry "the volume was formatted for another chip, or with another erase_bytes or \
                 group_sectors"
    ErrBadblocks "too many blocks are bad, or a block that the volume needs for itself is bad"
    ErrIsdisk "the volume is a disk of sectors, not a file system"
    ErrNoroot "a superblock was found, but no root can be read"
    ErrNotsigned "the image has no hash tree, or no signature by the key"
    ErrNotauthentic "the image data is not the signed data"
    ErrDriver "the driver is missing, is one of several, lacks a callback, or has a time above 100 \
               s; expected one driver"
    ErrConfigPageBytes "page_bytes must be a power of two from 256 to 16,384, and on sectors at \
                        least 512"
    ErrConfigBlocks "a block must have 4 to 4,096 pages, a medium 16 to 1,048,576 blocks"
    ErrConfigUnitPages "pages_per_logical_page must be a power of two up to 32, and a block must \
                        hold at least 4 logical pages: choose fewer, or on NOR more group_sectors"
    ErrConfigTransactionPages "transaction_pages must be 2 to 1,024"
    ErrConfigOverlayEntries "overlay_entries must be at least 40 more than transaction_pages, and \
                             at most 8,192"
    ErrConfigCheckpointPrograms "checkpoint_programs must be 16 to 4,096, and except on NOR must \
                                 not exceed the pages of 24 blocks, less one block for each of \
                                 failures"
    ErrConfigWearSpread "wear_spread must be 8 to 200, or STEADYFS_NONE if the device levels wear \
                         by itself"
    ErrConfigFiles "files_max must be at most 1,048,576, and failures at most 8"
    ErrConfigStreams "streams must be 1 to 4"
    ErrConfigMoveGroup "move_group must be 1 to 64, and 1 unless the device levels wear by itself"
    ErrConfigLogicalPage "a logical page must have at most 128 KiB, or 32 KiB with pages of 16 KiB"
    ErrConfigTooManyPages "files_max needs more logical pages than a map entry can name"
    ErrConfigBlockTooSmall "a block must hold a root with its copies, three logical pages and a \
                            journal page, and a root has at most 64 pages: choose fewer \
                            overlay_entries, or on NOR more group_sectors"
    ErrConfigTooFewBlocks "too few blocks: bad_blocks_max, ring and reserve leave no room for data"
    ErrConfigNoGain "a reclaimed block would not gain a frame: choose more overlay_entries or \
                     larger blocks"
    ErrConfigLeafLog "leaf_log_bytes must be 48 to 240, and at most three quarters of page_bytes"
    ErrConfigJournal "journal_pages must be 1 to 16, and on NOR two or more must have at most \
                      4,096 bytes together"
    ErrConfig "a setting is wrong"
}

/// Returns the English text of an error code. The text stays valid for ever.
///
/// `code` is the result of a call. For a number that is not an error, the text is "no error".
#[unsafe(no_mangle)]
pub extern "C" fn steadyfs_error_string(code: c_int) -> *const c_char {
    Code::text(code.min(0)).as_ptr()
}

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        match error {
            Error::Device => Self::ErrIo,
            Error::MediaFailing => Self::ErrMediafailing,
            Error::Corrupt => Self::ErrCorrupt,
            Error::ReadOnly => Self::ErrReadonly,
            Error::NoSpace => Self::ErrNospc,
            Error::TooManyFiles => Self::ErrToomanyfiles,
            Error::TransactionTooLarge => Self::ErrTransaction,
            Error::NotFound => Self::ErrNoent,
            Error::Exists => Self::ErrExist,
            Error::InvalidName | Error::NoSuchSector => Self::ErrInval,
            Error::NameTooLong => Self::ErrNametoolong,
            Error::FileTooLarge => Self::ErrFbig,
            Error::Stale => Self::ErrStale,
            Error::WrongMount => Self::ErrBadf,
            Error::IsADirectory => Self::ErrIsdir,
            Error::NotADirectory => Self::ErrNotdir,
            Error::NotEmpty => Self::ErrNotempty,
            Error::IsALink => Self::ErrIsalink,
            Error::NotALink => Self::ErrNotalink,
            Error::IntoItself => Self::ErrIntoitself,
            Error::NotReadable => Self::ErrNotreadable,
            Error::NotWritable => Self::ErrNotwritable,
            Error::TooManyOpenFiles => Self::ErrToomanyopen,
            Error::AttributesTooLarge => Self::ErrAttributes,
            Error::ScratchTooSmall => Self::ErrNomem,
            Error::Unsupported => Self::ErrUnsupported,
            // An error that this version does not list becomes the code that promises the least.
            _ => Self::ErrUnknown,
        }
    }
}

impl From<ConfigError> for Code {
    fn from(rule: ConfigError) -> Self {
        match rule {
            ConfigError::PageBytes => Self::ErrConfigPageBytes,
            ConfigError::Blocks => Self::ErrConfigBlocks,
            ConfigError::UnitPages => Self::ErrConfigUnitPages,
            ConfigError::TransactionPages => Self::ErrConfigTransactionPages,
            ConfigError::OverlayEntries => Self::ErrConfigOverlayEntries,
            ConfigError::CheckpointPrograms | ConfigError::CheckpointTooRare => {
                Self::ErrConfigCheckpointPrograms
            }
            ConfigError::WearSpread => Self::ErrConfigWearSpread,
            ConfigError::FilesOrFailures => Self::ErrConfigFiles,
            ConfigError::Streams => Self::ErrConfigStreams,
            ConfigError::MoveGroup => Self::ErrConfigMoveGroup,
            ConfigError::LogicalPageTooLarge => Self::ErrConfigLogicalPage,
            ConfigError::TooManyLogicalPages => Self::ErrConfigTooManyPages,
            ConfigError::BlockTooSmall => Self::ErrConfigBlockTooSmall,
            ConfigError::TooFewBlocks => Self::ErrConfigTooFewBlocks,
            ConfigError::NoGain => Self::ErrConfigNoGain,
            ConfigError::LeafLogBytes => Self::ErrConfigLeafLog,
            ConfigError::JournalPages => Self::ErrConfigJournal,
            ConfigError::NoStreams
            | ConfigError::NoGroups
            | ConfigError::ProgramsBytes
            | ConfigError::Permissions => Self::ErrUnsupported,
            _ => Self::ErrConfig,
        }
    }
}

impl From<MountError> for Code {
    fn from(error: MountError) -> Self {
        match error {
            MountError::NotFormatted => Self::ErrNotformatted,
            MountError::Version { .. } => Self::ErrVersion,
            MountError::GeometryMismatch { .. } => Self::ErrGeometry,
            MountError::MemoryTooSmall { .. } => Self::ErrNomem,
            MountError::Config(rule) => rule.into(),
            MountError::TooManyBadBlocks { .. } | MountError::OwnBlocksBad { .. } => {
                Self::ErrBadblocks
            }
            MountError::IsDisk => Self::ErrIsdisk,
            MountError::NoRoot => Self::ErrNoroot,
            MountError::Volume(error) => error.into(),
            _ => Self::ErrUnknown,
        }
    }
}

impl From<MediaFailure> for Code {
    fn from(failure: MediaFailure) -> Self {
        Error::from(failure).into()
    }
}

/// Returns the result of a call without a value: 0 or an error.
pub(crate) fn status(result: Result<(), Code>) -> c_int {
    result.map_or_else(Code::number, |()| 0)
}

/// Returns the result of a call that answers yes or no: 1, 0, or an error.
pub(crate) fn yes_or_no(result: Result<bool, Code>) -> c_int {
    result.map_or_else(Code::number, c_int::from)
}

/// Returns the result of a call that returns a number of bytes of memory, or an error.
pub(crate) fn length(result: Result<usize, Code>) -> isize {
    result.map_or_else(|code| code.number() as isize, |bytes| bytes.cast_signed())
}

/// Returns the result of a call that returns a position or a number of bytes on the medium, or an
/// error.
pub(crate) fn wide(result: Result<u64, Code>) -> i64 {
    result.map_or_else(
        |code| i64::from(code.number()),
        |bytes| i64::try_from(bytes).unwrap_or(i64::MAX),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_text_of_its_own() {
        let mut texts = std::collections::BTreeSet::new();
        let known = (-400..=0).map(Code::text).filter(|text| *text != c"no error of SteadyFS");
        let count = known.map(|text| assert!(texts.insert(text), "{text:?} twice")).count();
        let is_variant = |line: &&str| line.starts_with("    Err") && line.contains(" = ");
        assert_eq!(count, include_str!("error.rs").lines().filter(is_variant).count());
    }
}
