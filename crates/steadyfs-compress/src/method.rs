//! Ways to compress a chunk.

use core::fmt;

/// The way chunks are compressed. Each discriminant is the number of the method in
/// [entries](crate::format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// LZ4: it needs little code, no heap, and a few cycles for each byte.
    Lz4 = 1,
    /// Deflate, without a header. Reads and writes need the feature `deflate`.
    Deflate = 2,
    /// Zstandard. Reads and writes need the feature `zstd`.
    Zstd = 3,
}

impl Method {
    /// Returns the name of the method, as texts contain it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lz4 => "lz4",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
