//! The two checksums of the bus (Physical Layer Simplified Specification, 4.5).

/// Computes the CRC7 of a command or a register: with the polynomial x^7 + x^3 + 1 and the initial
/// value zero.
pub(super) fn crc7(bytes: &[u8]) -> u8 {
    let shift = |crc: u8, bit: u8| {
        let feedback = (crc >> 6 ^ bit) & 1;
        (crc << 1 & 0x7F) ^ (feedback * 0x09)
    };
    bytes.iter().fold(0, |crc, byte| (0..8).rev().fold(crc, |crc, bit| shift(crc, byte >> bit)))
}

/// Continues the CRC16 of data, with the polynomial x^16 + x^12 + x^5 + 1. `before` is the CRC of
/// the earlier bytes, and zero for the first byte. The code needs a few shifts for each byte, and
/// no table.
pub(super) fn crc16(before: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(before, |crc, &byte| {
        let mut crc = crc.swap_bytes() ^ u16::from(byte);
        crc ^= (crc & 0xFF) >> 4;
        crc ^= crc << 12;
        crc ^ (crc & 0xFF) << 5
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification, 4.5.
    #[test]
    fn sums_are_those_of_the_specification() {
        assert_eq!(crc7(&[0x40, 0, 0, 0, 0]), 0b100_1010);
        assert_eq!(crc7(&[0x51, 0, 0, 0, 0]), 0b010_1010);
        assert_eq!(crc7(&[0x11, 0, 0, 0x09, 0]), 0b011_0011);
        assert_eq!(crc16(0, &[0xFF; 512]), 0x7FA1);
    }

    #[test]
    fn a_sum_goes_on_over_parts() {
        let bytes = *b"123456789";
        assert_eq!(crc16(0, &bytes), 0x31C3);
        assert_eq!(crc16(crc16(0, &bytes[..4]), &bytes[4..]), 0x31C3);
    }
}
