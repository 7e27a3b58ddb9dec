//! What an image is to be like: compressor, block size, order of the data.

use super::{ParseCompressorError, WriteError};
use std::fmt;
use std::str::FromStr;

/// How blocks are compressed.
///
/// As text: `lz4`, `lz4:fast`, `gzip` or `gzip:6` (`deflate` is another name of it), `zstd` or `zstd:19`, `xz`, `lzo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compressor {
    /// LZ4: read the fastest.
    Lz4 {
        /// Smaller images in more time; they are read as fast. Default true.
        high: bool,
    },
    /// Deflate in zlib's frame, what the format calls gzip.
    Gzip {
        /// 1 to 10, default 9: more is smaller and slower. 10 is what zlib itself does not have; each reader takes it.
        level: u8,
    },
    /// Zstandard.
    Zstd {
        /// 1 to 22, default 19: more is smaller and slower.
        level: i32,
    },
    /// LZMA2 in the frame of XZ: the smallest, read the slowest.
    Xz,
    /// LZO 1X.
    Lzo,
}

impl Compressor {
    /// The number of the compressor in the superblock, as fs/squashfs/squashfs_fs.h of Linux has it.
    pub(super) fn id(self) -> u16 {
        match self {
            Self::Gzip { .. } => 1,
            Self::Lzo => 3,
            Self::Xz => 4,
            Self::Lz4 { .. } => 5,
            Self::Zstd { .. } => 6,
        }
    }

    /// The name without a level.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip { .. } => "gzip",
            Self::Lzo => "lzo",
            Self::Xz => "xz",
            Self::Lz4 { .. } => "lz4",
            Self::Zstd { .. } => "zstd",
        }
    }

    /// What the block of compressor options holds, if the image needs one: LZ4 always does, others when they differ from
    /// what the format takes for granted.
    pub(super) fn options(self) -> Option<Vec<u8>> {
        let words = |words: &[u32]| Some(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        match self {
            Self::Lz4 { high } => words(&[1, u32::from(high)]),
            // A window of 2^15 bytes in the low half of the second word, no strategies in the high one.
            Self::Gzip { level } if level < 9 => words(&[u32::from(level), 15]),
            Self::Zstd { level } if level != 15 => words(&[level.unsigned_abs()]),
            _ => None,
        }
    }

    fn check(self) -> Result<(), WriteError> {
        let level = |level, expected| Err(WriteError::Level { compressor: self.name(), level, expected });
        match self {
            Self::Gzip { level: wrong } if !(1..=10).contains(&wrong) => level(wrong.into(), "1 to 10"),
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
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
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

/// What an image is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How blocks are compressed. Default: LZ4, high.
    pub compressor: Compressor,
    /// Bytes of a block of data before it is compressed: a power of two from 4096 to 1048576. More makes the image smaller
    /// and its reader hungrier: a reader holds one block at least. Default 131072.
    pub block_bytes: u32,
    /// Stores inodes, directories and tables uncompressed, so that a reader needs no buffer for them. The image becomes
    /// larger by some per cent. Default false.
    pub plain_metadata: bool,
    /// Packs the ends of files that are longer than a block together with other ends, not only files shorter than a block.
    /// The image is smaller, and the end of such a file needs the decoding of a block that it shares. Default true.
    pub tails: bool,
    /// How many shared blocks are filled at a time, 0 as 1: half of them with texts, the others with other content. An end goes into the one that it fills best, which
    /// makes the image smaller: two of each kind by up to 0.25 % at 64 and 128 KiB. But ends that follow each other lie in different blocks then, and a reader that
    /// keeps one decodes each several times. 1 keeps all ends in their order, as `mksquashfs` does. Default 4.
    pub open_fragments: u8,
    /// Paths in the order in which their data is laid out: what is read together when a device starts lies together. A
    /// directory stands for all files below it. A path that names nothing is passed over; what is not named follows in the
    /// order of names. Default empty.
    pub order: Vec<Vec<u8>>,
    /// When the image was made, in seconds since 1970. Default 0, so that the same tree makes the same bytes.
    pub time: u32,
    /// The image's length is made a multiple of it with zeros: a power of two up to 1048576. Linux wants 4096 of a loop
    /// device, nothing of flash. Default 4096.
    pub pad_bytes: u32,
    /// Leaves out attributes whose names the format does not hold, as `system.posix_acl_access`; else they are an error.
    /// Default false.
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
    /// Checks all numbers against what the format has.
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
        for text in ["lz4", "lz4:fast", "gzip", "gzip:1", "gzip:10", "zstd:1", "zstd:22", "xz", "lzo"] {
            assert_eq!(text.parse::<Compressor>().expect("a compressor").to_string(), text);
        }
        assert_eq!("deflate".parse(), Ok(Compressor::Gzip { level: 9 }));
        assert_eq!("zstd".parse(), Ok(Compressor::Zstd { level: 19 }));
        for text in ["", "lz4:9", "gzip:0", "gzip:11", "zstd:-1", "zstd:23", "xz:6", "lzma", "zstd:"] {
            assert_eq!(text.parse::<Compressor>(), Err(ParseCompressorError(text.into())));
        }
    }

    #[test]
    fn numbers_that_the_format_has_not_are_refused() {
        for block_bytes in [0, 2048, 4097, 12288, 2 << 20] {
            assert_eq!(Settings { block_bytes, ..Settings::default() }.check(), Err(WriteError::BlockBytes(block_bytes)));
        }
        for pad_bytes in [0, 3, 2 << 20] {
            assert_eq!(Settings { pad_bytes, ..Settings::default() }.check(), Err(WriteError::PadBytes(pad_bytes)));
        }
        let compressor = Compressor::Zstd { level: 0 };
        assert!(matches!(Settings { compressor, ..Settings::default() }.check(), Err(WriteError::Level { level: 0, .. })));
    }
}
