//! The methods that images are compressed by.

use core::fmt;
use steadyfs_compress::lz4;

/// How an image is compressed. The numbers are those of squashfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Deflate with the header of zlib; to read it takes the feature `deflate`.
    Gzip = 1,
    /// LZO1X.
    Lzo = 3,
    /// XZ; to read it takes the feature `host`.
    Xz = 4,
    /// LZ4.
    Lz4 = 5,
    /// Zstandard; to read it takes the feature `host`.
    Zstd = 6,
}

impl Compressor {
    /// The method of a number.
    pub const fn of(id: u16) -> Option<Self> {
        Some(match id {
            1 => Self::Gzip,
            3 => Self::Lzo,
            4 => Self::Xz,
            5 => Self::Lz4,
            6 => Self::Zstd,
            _ => return None,
        })
    }

    /// Bytes of a room in which content of at most so many bytes is decoded.
    pub const fn room_bytes(self, content: usize) -> usize {
        content + self.stored_beyond(content)
    }

    /// Bytes behind the content where stored ones may lie. LZ4 is decoded in place, the others from a place of their own.
    const fn stored_beyond(self, content: usize) -> usize {
        match self {
            Self::Lz4 => lz4::margin(content),
            _ => content,
        }
    }

    /// Whether this build decodes it.
    #[allow(clippy::match_like_matches_macro, reason = "what the features leave")]
    pub const fn is_known(self) -> bool {
        match self {
            Self::Lz4 | Self::Lzo => true,
            Self::Gzip => cfg!(feature = "deflate"),
            _ => cfg!(feature = "host"),
        }
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Lzo => "lzo",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        })
    }
}
