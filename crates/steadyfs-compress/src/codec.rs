//! Compresses and decodes chunks, by each method.

use crate::lz4;
use crate::method::Method;

/// The default level of a method that has levels: 9 for deflate, 3 for Zstandard.
pub const LEVEL_DEFAULT: i32 = 0;

/// The reason why a chunk was not decoded.
pub(crate) enum Refusal {
    /// The chunk is damaged.
    Damaged,
    /// This build does not contain the method.
    #[cfg_attr(
        all(feature = "deflate", feature = "zstd"),
        allow(dead_code, reason = "such a build knows all methods")
    )]
    Unknown,
}

/// Decodes the last `stored` bytes of `room`, and writes the result at the beginning of `room`.
/// Returns the number of decoded bytes, at most `limit`.
pub(crate) fn decode(
    method: Method,
    room: &mut [u8],
    stored: usize,
    limit: usize,
) -> Result<usize, Refusal> {
    match method {
        Method::Lz4 => lz4::decode(room, stored, limit).ok_or(Refusal::Damaged),
        #[cfg(feature = "deflate")]
        Method::Deflate => apart(room, stored, limit, heap::inflate),
        #[cfg(feature = "zstd")]
        Method::Zstd => apart(room, stored, limit, heap::decode_zstd),
        #[allow(unreachable_patterns, reason = "what the features leave")]
        _ => Err(Refusal::Unknown),
    }
}

/// Decodes with a method whose output must not lie in the same buffer as its input.
#[cfg(any(feature = "deflate", feature = "zstd"))]
fn apart(
    room: &mut [u8],
    stored: usize,
    limit: usize,
    decode: impl FnOnce(&[u8], &mut [u8]) -> Option<usize>,
) -> Result<usize, Refusal> {
    let stored = room[room.len() - stored..].to_vec();
    decode(&stored, &mut room[..limit]).ok_or(Refusal::Damaged)
}

/// Compresses a chunk. Uses LZ4 if this build does not contain the method.
///
/// Returns the method and the number of bytes of `out` that the result takes. Returns `None` if
/// the result is longer than `out`.
///
/// `table` is passed to [`lz4::encode`].
///
/// # Panics
/// The panics of [`lz4::encode`].
pub fn encode(
    method: Method,
    level: i32,
    plain: &[u8],
    out: &mut [u8],
    table: &mut [u8],
) -> Option<(Method, usize)> {
    let _ = level;
    match method {
        #[cfg(feature = "deflate")]
        Method::Deflate => heap::deflate(plain, level, out).map(|count| (method, count)),
        #[cfg(feature = "zstd")]
        Method::Zstd => heap::encode_zstd(plain, level, out).map(|count| (method, count)),
        _ => lz4::encode(plain, out, table).map(|count| (Method::Lz4, count)),
    }
}

/// Methods that need a heap.
#[cfg(any(feature = "deflate", feature = "zstd"))]
mod heap {
    #[cfg(feature = "deflate")]
    pub fn inflate(stored: &[u8], out: &mut [u8]) -> Option<usize> {
        use miniz_oxide::inflate::TINFLStatus;
        use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
        let mut state = std::boxed::Box::new(DecompressorOxide::new());
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, read, made) = decompress(&mut state, stored, out, 0, flags);
        (status == TINFLStatus::Done && read == stored.len()).then_some(made)
    }

    #[cfg(feature = "deflate")]
    pub fn deflate(plain: &[u8], level: i32, out: &mut [u8]) -> Option<usize> {
        let level = if level == super::LEVEL_DEFAULT { 9 } else { level.clamp(1, 10) as u8 };
        fit(&miniz_oxide::deflate::compress_to_vec(plain, level), out)
    }

    #[cfg(feature = "zstd")]
    pub fn decode_zstd(stored: &[u8], out: &mut [u8]) -> Option<usize> {
        zstd::bulk::decompress_to_buffer(stored, out).ok()
    }

    #[cfg(feature = "zstd")]
    pub fn encode_zstd(plain: &[u8], level: i32, out: &mut [u8]) -> Option<usize> {
        fit(&zstd::bulk::compress(plain, level).ok()?, out)
    }

    fn fit(made: &[u8], out: &mut [u8]) -> Option<usize> {
        out.get_mut(..made.len())?.copy_from_slice(made);
        Some(made.len())
    }
}
