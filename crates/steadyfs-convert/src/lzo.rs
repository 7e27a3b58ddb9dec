//! LZO1X streams, unpacked to memory.

/// Unpacks a stream that gives exactly `unpacked_bytes`, which the caller has checked to be within its limit.
///
/// `None` when the stream is none, is cut off, or gives another number of bytes.
pub(crate) fn unpack(packed: &[u8], unpacked_bytes: usize) -> Option<Vec<u8>> {
    // A stream gives at most 255 bytes for one of its own.
    let mut content = vec![0; unpacked_bytes.min(packed.len().saturating_mul(256))];
    (steadyfs_rom::lzo::decode(packed, &mut content) == Some(unpacked_bytes)).then_some(content)
}
