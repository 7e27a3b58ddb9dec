//! Unpacks LZO1X streams to memory.

/// Unpacks a stream to exactly `unpacked_bytes` bytes. The caller has checked that this number is
/// within its limit.
///
/// Returns `None` if the stream is invalid or incomplete, or unpacks to another number of bytes.
pub(crate) fn unpack(packed: &[u8], unpacked_bytes: usize) -> Option<Vec<u8>> {
    // Each byte of a stream unpacks to at most 255 bytes.
    let mut content = vec![0; unpacked_bytes.min(packed.len().saturating_mul(256))];
    (steadyfs_rom::lzo::decode(packed, &mut content) == Some(unpacked_bytes)).then_some(content)
}
