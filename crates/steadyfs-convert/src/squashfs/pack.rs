//! Compression of single blocks.

use super::{Compressor, WriteError};
use liblzma::stream::{Action, Check, Filters, LzmaOptions, Status, Stream};
use lz4::block::CompressionMode;
use std::fmt::Display;
use steadyfs_rom::squash::format::PLAIN_DATA;

/// Level of LZ4's high compression: the highest level.
const LZ4_LEVEL: i32 = 12;
/// Preset of XZ: the greatest effort. The memory of a decoder depends only on the size of the
/// dictionary.
const XZ_PRESET: u32 = 9 | 1 << 31;

/// Compressor of blocks, with its state between blocks.
pub(super) struct Packer {
    compressor: Compressor,
    state: State,
}

enum State {
    Lz4(CompressionMode),
    Gzip(u8),
    Zstd(Box<zstd::bulk::Compressor<'static>>),
    Xz { dictionary_bytes: u32 },
    Lzo(Box<lzokay_native::Dict>),
}

impl Packer {
    /// Creates a packer for blocks of up to `block_bytes` bytes, and for metadata.
    pub(super) fn new(compressor: Compressor, block_bytes: u32) -> Result<Self, WriteError> {
        let state = match compressor {
            Compressor::Lz4 { high: true } => {
                State::Lz4(CompressionMode::HIGHCOMPRESSION(LZ4_LEVEL))
            }
            Compressor::Lz4 { high: false } => State::Lz4(CompressionMode::DEFAULT),
            Compressor::Gzip { level } => State::Gzip(level),
            Compressor::Zstd { level } => State::Zstd(Box::new(
                zstd::bulk::Compressor::new(level).map_err(|reason| failed(compressor, reason))?,
            )),
            // Linux assumes a dictionary of one block, but at least 8 KiB because of the metadata.
            Compressor::Xz => State::Xz { dictionary_bytes: block_bytes.max(8192) },
            Compressor::Lzo => State::Lzo(Box::new(lzokay_native::Dict::new())),
        };
        Ok(Self { compressor, state })
    }

    /// Compresses one block. Returns `None` if it does not become smaller.
    pub(super) fn pack(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, WriteError> {
        let compressor = self.compressor;
        let packed = match &mut self.state {
            State::Lz4(mode) => lz4::block::compress(data, Some(*mode), false)
                .map_err(|reason| failed(compressor, reason))?,
            State::Gzip(level) => miniz_oxide::deflate::compress_to_vec_zlib(data, *level),
            State::Zstd(state) => {
                state.compress(data).map_err(|reason| failed(compressor, reason))?
            }
            State::Xz { dictionary_bytes } => {
                xz(data, *dictionary_bytes).map_err(|reason| failed(compressor, reason))?
            }
            State::Lzo(state) => lzokay_native::compress_with_dict(data, state)
                .map_err(|reason| failed(compressor, format!("{reason:?}")))?,
        };
        Ok((packed.len() < data.len()).then_some(packed))
    }

    /// Appends a block to the image. The block is compressed if this makes it smaller. Returns the
    /// stored size. If the block is uncompressed, the size has the bit [`PLAIN_DATA`].
    pub(super) fn append(&mut self, image: &mut Vec<u8>, block: &[u8]) -> Result<u32, WriteError> {
        match self.pack(block)? {
            Some(packed) => {
                image.extend(&packed);
                Ok(packed.len() as u32)
            }
            None => {
                image.extend(block);
                Ok(block.len() as u32 | PLAIN_DATA)
            }
        }
    }
}

fn failed(compressor: Compressor, reason: impl Display) -> WriteError {
    WriteError::Compressor { compressor: compressor.name(), reason: reason.to_string() }
}

/// Makes a stream of XZ with a check that Linux supports. Returns a copy of `data` if the stream
/// would be longer.
fn xz(data: &[u8], dictionary_bytes: u32) -> Result<Vec<u8>, liblzma::stream::Error> {
    let mut options = LzmaOptions::new_preset(XZ_PRESET)?;
    options.dict_size(dictionary_bytes);
    let mut filters = Filters::new();
    filters.lzma2(&options);
    let mut stream = Stream::new_stream_encoder(&filters, Check::Crc32)?;
    let mut packed = Vec::with_capacity(data.len());
    while packed.len() < packed.capacity() {
        let read = stream.total_in() as usize;
        if stream.process_vec(&data[read..], &mut packed, Action::Finish)? == Status::StreamEnd {
            return Ok(packed);
        }
    }
    Ok(data.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 6] = ["lz4", "lz4:fast", "gzip", "zstd", "xz", "lzo"];

    fn packer(text: &str) -> Packer {
        Packer::new(text.parse().expect("a compressor"), 4096).expect("memory")
    }

    #[test]
    fn what_does_not_become_smaller_is_not_packed() {
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<u8> = (0..4096).map(|_| random.u8(..)).collect();
        for text in ALL {
            let mut packer = packer(text);
            for bytes in [0, 1, 2, 17, 4096] {
                assert_eq!(packer.pack(&noise[..bytes]).expect("memory"), None, "{text}, {bytes}");
            }
        }
    }

    #[test]
    fn what_is_packed_depends_on_nothing_before_it() {
        let text = "one word and another word, ".repeat(100);
        for name in ALL {
            let first = packer(name).pack(text.as_bytes()).expect("memory").expect("is smaller");
            let mut used = packer(name);
            used.pack(&[7; 4096]).expect("memory");
            assert_eq!(
                used.pack(text.as_bytes()).expect("memory").expect("is smaller"),
                first,
                "{name}"
            );
            assert!(first.len() < 200, "{name}: {}", first.len());
        }
    }
}
