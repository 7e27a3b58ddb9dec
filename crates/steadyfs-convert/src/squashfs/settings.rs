//! Settings of an image: compressor, block size, order of the data.

use super::{ParseCompressorError, WriteError};
use std::fmt;
use std::str::FromStr;

/// Compression method of blocks.
///
/// The text forms are `lz4`, `lz4:fast`, `gzip` or `gzip:6` (`deflate` is another name for it),
/// `zstd` or `zstd:19`, `xz`, `lzo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compressor {
    /// LZ4, which is the fastest to read.
    Lz4 {
        /// True for smaller images, which take more time to write. The speed of reading is the
        /// same. Default: true.
        high: bool,
    },
    /// Deflate in zlib's frame, which the format calls gzip.
    Gzip {
        /// Level, 1 to 10. A higher level makes smaller images, and takes longer to write. zlib
        /// itself does not have level 10, but each reader can read the result. Default: 9.
        level: u8,
    },
    /// Zstandard.
    Zstd {
        /// Level, 1 to 22. A higher level makes smaller images, and takes longer to write. Default:
        /// 19.
        level: i32,
    },
    /// LZMA2 in the frame of XZ: the smallest images, and the slowest to read.
    Xz,
    /// LZO 1X.
    Lzo,
}

impl Compressor {
    /// Returns the number of the compressor in the superblock, as in fs/squashfs/squashfs_fs.h of
    /// Linux.
    pub(super) fn id(self) -> u16 {
        match self {
            Self::Gzip { .. } => 1,
            Self::Lzo => 3,
            Self::Xz => 4,
            Self::Lz4 { .. } => 5,
            Self::Zstd { .. } => 6,
        }
    }

    /// Returns the name without a level.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip { .. } => "gzip",
            Self::Lzo => "lzo",
            Self::Xz => "xz",
            Self::Lz4 { .. } => "lz4",
            Self::Zstd { .. } => "zstd",
        }
    }

    /// Returns the content of the block of compressor options, if the image needs one. LZ4 always
    /// needs this block. The other methods need it if their options differ from the defaults of the
    /// format.
    pub(super) fn options(self) -> Option<Vec<u8>> {
        let words =
            |words: &[u32]| Some(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        match self {
            Self::Lz4 { high } => words(&[1, u32::from(high)]),
            // The low half of the second word selects a window of 2^15 bytes. The high half selects
            // no strategies.
            Self::Gzip { level } if level < 9 => words(&[u32::from(level), 15]),
            Self::Zstd { level } if level != 15 => words(&[level.unsigned_abs()]),
            _ => None,
        }
    }

    fn check(self) -> Result<(), WriteError> {
        let level =
            |level, expected| Err(WriteError::Level { compressor: self.name(), level, expected });
        match self {
            Self::Gzip { level: wrong } if !(1..=10).contains(&wrong) => {
                level(wrong.into(), "1 to 10")
            }
            Self::Zstd { level: wrong } if !(1..=22).contains(&wrong) => level(wrong, "1 to 22"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lz4 { high: false } => f.write_str("lz4:fast"),
            Self::Gzip { level } if *level != 9 => write!(f, "gzip:{level}"),
            Self::Zstd { level } => write!(f, "zstd:{level}"),
            other => f.write_str(other.name()),
        }
    }
}

impl FromStr for Compressor {
    type Err = ParseCompressorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseCompressorError(text.to_owned());
        let (name, level) =
            text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let number = |or: u8| level.map_or(Ok(or), |level| level.parse().map_err(|_| wrong()));
        let compressor = match (name, level) {
            ("lz4", None) => Self::Lz4 { high: true },
            ("lz4", Some("fast")) => Self::Lz4 { high: false },
            ("gzip" | "deflate", _) => Self::Gzip { level: number(9)? },
            ("zstd", _) => Self::Zstd { level: number(19)?.into() },
            ("xz", None) => Self::Xz,
            ("lzo", None) => Self::Lzo,
            _ => return Err(wrong()),
        };
        compressor.check().map_err(|_| wrong())?;
        Ok(compressor)
    }
}

/// Settings of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Compression method of blocks. Default: LZ4 with `high`.
    pub compressor: Compressor,
    /// Bytes of a block of data before compression: a power of two from 4096 to 1048576. Larger
    /// blocks make the image smaller, but a reader needs more memory, because it must hold at least
    /// one block. Default: 131072.
    pub block_bytes: u32,
    /// True to store inodes, directories and tables uncompressed. A reader then needs no buffer for
    /// them, but the image becomes some per cent larger. Default: false.
    pub plain_metadata: bool,
    /// True to pack also the ends of files that are longer than a block into shared blocks. If
    /// false, only files shorter than a block are packed into shared blocks. If true, the image is
    /// smaller, but a read of such an end decodes a shared block. Default: true.
    pub tails: bool,
    /// Number of shared blocks that are open at the same time. 0 stands for 1. Half of these blocks
    /// receive texts, and the other half receive other content. The end of a file is added to the
    /// block in which it leaves the fewest free bytes. More blocks make the image smaller: two
    /// blocks of each kind save up to 0.25 % at block sizes of 64 and 128 KiB. But consecutive ends
    /// then lie in different blocks. So a reader that caches only one block decodes each block
    /// several times. With 1, all ends stay in their order, as in `mksquashfs`. Default: 4.
    pub open_fragments: u8,
    /// Paths in the order in which their data is written. So files that are read together when a
    /// device starts can lie together. A directory stands for all files below it. A path that does
    /// not exist is skipped. All other files follow in the order of their names. Default: empty.
    pub order: Vec<Vec<u8>>,
    /// Time when the image was made, in seconds since 1970. Default: 0, so that the same tree
    /// always produces the same bytes.
    pub time: u32,
    /// Zeros extend the image to a multiple of this length: a power of two up to 1048576. Linux
    /// requires 4096 for a loop device, and nothing for flash. Default: 4096.
    pub pad_bytes: u32,
    /// True to leave out attributes with unsupported names, such as `system.posix_acl_access`. If
    /// false, such an attribute is an error. Default: false.
    pub drop_other_attributes: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            compressor: Compressor::Lz4 { high: true },
            block_bytes: 128 << 10,
            plain_metadata: false,
            tails: true,
            open_fragments: 4,
            order: Vec::new(),
            time: 0,
            pad_bytes: 4096,
            drop_other_attributes: false,
        }
    }
}

impl Settings {
    /// Checks that the format supports all numbers of these settings.
    pub(super) fn check(&self) -> Result<(), WriteError> {
        if !self.block_bytes.is_power_of_two() || !(4096..=1 << 20).contains(&self.block_bytes) {
            return Err(WriteError::BlockBytes(self.block_bytes));
        }
        if !self.pad_bytes.is_power_of_two() || self.pad_bytes > 1 << 20 {
            return Err(WriteError::PadBytes(self.pad_bytes));
        }
        self.compressor.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressor_is_what_its_text_says() {
        for text in
            ["lz4", "lz4:fast", "gzip", "gzip:1", "gzip:10", "zstd:1", "zstd:22", "xz", "lzo"]
        {
            assert_eq!(text.parse::<Compressor>().expect("a compressor").to_string(), text);
        }
        assert_eq!("deflate".parse(), Ok(Compressor::Gzip { level: 9 }));
        assert_eq!("zstd".parse(), Ok(Compressor::Zstd { level: 19 }));
        for text in
            ["", "lz4:9", "gzip:0", "gzip:11", "zstd:-1", "zstd:23", "xz:6", "lzma", "zstd:"]
        {
            assert_eq!(text.parse::<Compressor>(), Err(ParseCompressorError(text.into())));
        }
    }

    #[test]
    fn numbers_that_the_format_has_not_are_refused() {
        for block_bytes in [0, 2048, 4097, 12288, 2 << 20] {
            assert_eq!(
                Settings { block_bytes, ..Settings::default() }.check(),
                Err(WriteError::BlockBytes(block_bytes))
            );
        }
        for pad_bytes in [0, 3, 2 << 20] {
            assert_eq!(
                Settings { pad_bytes, ..Settings::default() }.check(),
                Err(WriteError::PadBytes(pad_bytes))
            );
        }
        let compressor = Compressor::Zstd { level: 0 };
        assert!(matches!(
            Settings { compressor, ..Settings::default() }.check(),
            Err(WriteError::Level { level: 0, .. })
        ));
    }
}
