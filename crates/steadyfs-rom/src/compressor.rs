//! Compression methods of images.

use core::fmt;
use steadyfs_compress::lz4;

/// Compression method of an image, with its number in squashfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Deflate with the header of zlib. Decoding requires the feature `deflate`.
    Gzip = 1,
    /// LZO1X.
    Lzo = 3,
    /// XZ. Decoding requires the feature `host`.
    Xz = 4,
    /// LZ4.
    Lz4 = 5,
    /// Zstandard. Decoding requires the feature `host`.
    Zstd = 6,
}

impl Compressor {
    /// Returns the method with a number.
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

    /// Returns the number of bytes of the buffer in which content of at most `content` bytes is
    /// decoded.
    pub const fn room_bytes(self, content: usize) -> usize {
        content + self.stored_beyond(content)
    }

    /// Returns the number of bytes that the buffer needs behind the content, for the stored bytes.
    /// LZ4 decodes in place. The other methods need separate bytes for the stored block.
    const fn stored_beyond(self, content: usize) -> usize {
        match self {
            Self::Lz4 => lz4::margin(content),
            _ => content,
        }
    }

    /// Returns true if this build decodes the method.
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
