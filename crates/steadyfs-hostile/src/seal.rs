//! Checksums that are right around content that is not.

/// CRC-32 (ISO-HDLC), bit by bit: tests have their own, so that a wrong one in the core shows.
pub fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// Bytes of a tag that its checksum covers.
pub const TAG_CONTENT_BYTES: usize = 12;

/// Makes the checksum in the tag of a page right.
pub fn seal((data, tag): (&mut [u8], &mut [u8])) {
    let check = crc(data) ^ crc(&tag[..TAG_CONTENT_BYTES]);
    tag[TAG_CONTENT_BYTES..].copy_from_slice(&check.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_catalogue() {
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
    }
}
