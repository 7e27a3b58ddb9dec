//! Decoding of blocks by the method of their image.

use crate::compressor::Compressor;
use crate::error::Error;
use crate::lzo;
use steadyfs_compress::lz4;

/// Decoder for blocks of one method, with the state of the method.
pub struct Decoder {
    method: Compressor,
    /// Number of decoded bytes of all blocks so far.
    decoded_bytes: u64,
    #[cfg(feature = "deflate")]
    inflate: miniz_oxide::inflate::core::DecompressorOxide,
}

impl Decoder {
    /// Makes the decoder of a method.
    ///
    /// # Errors
    /// [`Error::Method`] if this build does not decode the method.
    pub fn new(id: u16) -> Result<Self, Error> {
        let method =
            Compressor::of(id).filter(|method| method.is_known()).ok_or(Error::Method(id))?;
        Ok(Self {
            method,
            decoded_bytes: 0,
            #[cfg(feature = "deflate")]
            inflate: miniz_oxide::inflate::core::DecompressorOxide::new(),
        })
    }

    /// Returns the method.
    pub const fn method(&self) -> Compressor {
        self.method
    }

    /// Decodes the last `stored` bytes of `room`, and writes the result at the beginning of `room`.
    /// Returns the number of decoded bytes, at most `limit`. Returns `None` if the block is
    /// invalid, or decodes to more than `limit` bytes.
    ///
    /// `room` has [`Compressor::room_bytes`]`(limit)` bytes, and `stored` is at most `limit`.
    pub fn decode(&mut self, room: &mut [u8], stored: usize, limit: usize) -> Option<usize> {
        let made = match self.method {
            Compressor::Lz4 => lz4::decode(room, stored, limit),
            _ => self.decode_apart(room, stored, limit),
        }?;
        self.decoded_bytes = self.decoded_bytes.saturating_add(made as u64);
        Some(made)
    }

    /// Returns the number of decoded bytes of all blocks so far.
    pub const fn decoded_bytes(&self) -> u64 {
        self.decoded_bytes
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
        let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
            | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, _, made) = decompress(&mut self.inflate, stored, content, 0, flags);
        (status == TINFLStatus::Done).then_some(made)
    }
}

/// Methods that need a heap.
#[cfg(feature = "host")]
mod heap {
    use liblzma::stream::{Action, Status, Stream};

    /// Maximum memory of a decoder. Dictionaries are at most as long as a block, which has at most
    /// 1 MiB.
    const MEMORY_MAX: u64 = 64 << 20;

    pub fn decode_xz(stored: &[u8], content: &mut [u8]) -> Option<usize> {
        let mut stream = Stream::new_stream_decoder(MEMORY_MAX, 0).ok()?;
        let status = stream.process(stored, content, Action::Finish).ok()?;
        (status == Status::StreamEnd).then_some(stream.total_out() as usize)
    }
}
