//! The checksums of the format. Tests have their own implementation, so that a wrong checksum in
//! the core shows.

/// Bytes that a checksum processes at once.
const AT_ONCE: usize = 16;

/// The share of each byte in a checksum, by the number of bytes that follow it.
static TABLES: [[u32; 256]; AT_ONCE] = {
    let mut tables = [[0; 256]; AT_ONCE];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut following) = (byte as u32, 0);
        while following < AT_ONCE {
            let mut bit = 0;
            while bit < 8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
                bit += 1;
            }
            tables[following][byte] = crc;
            following += 1;
        }
        byte += 1;
    }
    tables
};

/// Returns the CRC-32 (ISO-HDLC). It processes 16 bytes at once, because half of a campaign's
/// time went into checksums.
pub fn crc(bytes: &[u8]) -> u32 {
    !add(!0, bytes)
}

/// Returns the checksum of `bytes` followed by `missing` bytes of `0xFF`.
pub fn crc_with(bytes: &[u8], missing: usize) -> u32 {
    let whole = add(!0, bytes);
    !(0..missing).fold(whole, |crc, _| add(crc, &[0xFF]))
}

fn add(crc: u32, bytes: &[u8]) -> u32 {
    let (parts, rest) = bytes.as_chunks::<AT_ONCE>();
    let crc = parts.iter().fold(crc, |crc, part| {
        let mut part = *part;
        part.iter_mut().zip(crc.to_le_bytes()).for_each(|(byte, crc)| *byte ^= crc);
        part.iter()
            .zip(TABLES.iter().rev())
            .fold(0, |crc, (&byte, table)| crc ^ table[usize::from(byte)])
    });
    rest.iter().fold(crc, |crc, &byte| crc >> 8 ^ TABLES[0][(crc as u8 ^ byte) as usize])
}

/// Returns the CRC-8 (AUTOSAR).
pub fn short_crc(bytes: &[u8]) -> u8 {
    !bytes.iter().fold(!0u8, |crc, &byte| {
        (0..8).fold(crc ^ byte, |crc, _| (crc << 1) ^ (0x2F & (crc >> 7).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksums_are_those_of_the_catalogue() {
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
        assert_eq!(
            crc(&[b'a'; 40]),
            !(0..40).fold(!0, |crc, _| add(crc, b"a")),
            "many at once, and one by one"
        );
        assert_eq!(crc_with(b"1", 20), crc(&[&b"1"[..], &[0xFF; 20]].concat()));
        assert_eq!(short_crc(b"123456789"), 0xDF);
    }
}
