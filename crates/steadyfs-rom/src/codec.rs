//! The methods that images are compressed by.

use crate::error::Error;
use crate::lzo;
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

/// Decodes blocks of one method, and has the state that it needs.
pub struct Decoder {
    method: Compressor,
    #[cfg(feature = "deflate")]
    inflate: miniz_oxide::inflate::core::DecompressorOxide,
}

impl Decoder {
    /// The decoder of a method.
    ///
    /// # Errors
    /// [`Error::Method`] where this build has none.
    pub fn new(id: u16) -> Result<Self, Error> {
        let method = Compressor::of(id).filter(|method| method.is_known()).ok_or(Error::Method(id))?;
        Ok(Self {
            method,
            #[cfg(feature = "deflate")]
            inflate: miniz_oxide::inflate::core::DecompressorOxide::new(),
        })
    }

    /// The method.
    pub const fn method(&self) -> Compressor {
        self.method
    }

    /// Decodes the last `stored` bytes of a room to its beginning. Returns how many bytes that makes, at most `limit`; `None`: the block is none, or makes more.
    ///
    /// The room has [`Compressor::room_bytes`] of `limit`, and `stored` is at most `limit`.
    pub fn decode(&mut self, room: &mut [u8], stored: usize, limit: usize) -> Option<usize> {
        if self.method == Compressor::Lz4 {
            return lz4::decode(room, stored, limit);
        }
        self.decode_apart(room, stored, limit)
    }

    fn decode_apart(&mut self, room: &mut [u8], stored: usize, limit: usize) -> Option<usize> {
        let (content, rest) = room.split_at_mut(limit);
        let stored = &rest[rest.len().checked_sub(stored)?..];
        match self.method {
            #[cfg(feature = "deflate")]
            Compressor::Gzip => self.inflate(stored, content),
            #[cfg(feature = "host")]
            Compressor::Zstd => zstd::bulk::decompress_to_buffer(stored, content).ok(),
            #[cfg(feature = "host")]
            Compressor::Xz => heap::decode_xz(stored, content),
            Compressor::Lzo => lzo::decode(stored, content),
            _ => None,
        }
    }

    #[cfg(feature = "deflate")]
    fn inflate(&mut self, stored: &[u8], content: &mut [u8]) -> Option<usize> {
        use miniz_oxide::inflate::TINFLStatus;
        use miniz_oxide::inflate::core::{decompress, inflate_flags};
        self.inflate.init();
        let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, _, made) = decompress(&mut self.inflate, stored, content, 0, flags);
        (status == TINFLStatus::Done).then_some(made)
    }
}

/// Methods that need a heap.
#[cfg(feature = "host")]
mod heap {
    use liblzma::stream::{Action, Status, Stream};

    /// Most memory that a decoder may take: dictionaries are at most as long as a block, 1 MiB.
    const MEMORY_MAX: u64 = 64 << 20;

    pub fn decode_xz(stored: &[u8], content: &mut [u8]) -> Option<usize> {
        let mut stream = Stream::new_stream_decoder(MEMORY_MAX, 0).ok()?;
        let status = stream.process(stored, content, Action::Finish).ok()?;
        (status == Status::StreamEnd).then_some(stream.total_out() as usize)
    }
}
