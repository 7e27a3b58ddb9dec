//! The registers of a card: CID, CSD and SD status.
//!
//! ```text
//! CID    127-120 maker | 119-104 OEM | 103-64 name | 63-56 revision | 55-24 serial | 19-8 date
//! CSD 1  127-126 0 | 95-84 classes | 83-80 log2 of block bytes | 73-62 size | 49-47 multiplier
//!        | 46 erases blocks | 45-39 erase sector
//! CSD 2  127-126 1 | 95-84 classes | 69-48 size
//! both   13, 12 write protection | 7-1 CRC7
//! SSR    447-440 speed class | 431-428 allocation unit | 423-408 units of an erase
//!        | 407-402 its seconds | 401-400 offset
//! ```
//! Specification: 5.2, 5.3, 4.10.2.

use super::SdError;
use super::crc::crc7;

/// Number of bytes of the CID, and of the CSD.
pub(super) const REGISTER_BYTES: usize = 16;

/// Kind of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// SDSC, up to 2 GB: addressed by bytes.
    Standard,
    /// SDHC, up to 32 GB.
    High,
    /// SDXC, up to 2 TB.
    Extended,
}

/// Longest time of an erase, as the card reports it (specification, 4.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseTime {
    /// Number of allocation units that take `seconds` seconds.
    pub units: u16,
    /// Number of seconds that `units` allocation units take.
    pub seconds: u8,
    /// Number of seconds that are added for any number of units.
    pub offset_seconds: u8,
}

/// Description of a card, from its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardInfo {
    /// Kind of card.
    pub kind: Kind,
    /// Number of sectors of 512 bytes.
    pub sectors: u32,
    /// Number of bytes of an allocation unit. The card prefers writes of whole units. If the card
    /// does not report the size, this is the largest size that the specification allows (4.10.2).
    pub unit_bytes: u32,
    /// Speed class: 0, 2, 4, 6 or 10 MB/s. The class applies only to writes of whole allocation
    /// units.
    pub speed_class: u8,
    /// Longest time of an erase, if the card reports it.
    pub erase_time: Option<EraseTime>,
    /// Number of sectors that can only be erased together. It is 0 if the card cannot erase.
    pub erase_sectors: u32,
    /// True if the CSD of the card forbids writes.
    pub is_write_protected: bool,
    /// Number of the maker, as assigned by the SD Association.
    pub maker: u8,
    /// Product name, ASCII.
    pub name: [u8; 5],
    /// Revision of the product: two decimal digits.
    pub revision: u8,
    /// Serial number.
    pub serial: u32,
    /// Year and month of manufacture.
    pub date: (u16, u8),
    /// Clock of the bus that was set, in hertz.
    pub clock_hz: u32,
}

impl CardInfo {
    /// Combines the registers into a description.
    pub(super) fn parse(
        cid: &[u8; 16],
        csd: &[u8; 16],
        status: &[u8; 64],
        clock_hz: u32,
    ) -> Result<Self, SdError> {
        let (kind, sectors) = capacity(csd)?;
        let csd_bits = u128::from_be_bytes(*csd);
        let cid_bits = u128::from_be_bytes(*cid);
        let unit_bytes = match UNIT_KIB[usize::from(status[10] >> 4)] {
            0 => unit_bytes_max(sectors),
            kib => kib * 1024,
        };
        let units = u16::from_be_bytes([status[11], status[12]]);
        let erase_time =
            EraseTime { units, seconds: status[13] >> 2, offset_seconds: status[13] & 3 };
        Ok(Self {
            kind,
            sectors,
            unit_bytes,
            speed_class: SPEED_CLASSES.get(usize::from(status[8])).copied().unwrap_or(0),
            erase_time: Some(erase_time).filter(|time| time.units > 0 && time.seconds > 0),
            erase_sectors: erase_sectors(csd_bits),
            is_write_protected: csd_bits >> 12 & 3 != 0,
            maker: cid[0],
            name: [cid[3], cid[4], cid[5], cid[6], cid[7]],
            revision: cid[8],
            serial: (cid_bits >> 24) as u32,
            date: (2000 + (cid_bits >> 12 & 0xFF) as u16, (cid_bits >> 8 & 0xF) as u8),
            clock_hz,
        })
    }

    /// Returns the product name. The result is empty if the name is not valid text.
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name).unwrap_or_default().trim_end_matches(['\0', ' '])
    }
}

/// Size of an allocation unit in KiB, indexed by its code (4.10.2, table 4-46).
const UNIT_KIB: [u32; 16] =
    [0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 24576, 32768, 65536];
const SPEED_CLASSES: [u8; 5] = [0, 2, 4, 6, 10];

/// Returns the bytes of the largest allocation unit that a card of `sectors` sectors may have
/// (4.10.2, table 4-47). The result is at most 4 MiB. Units of SDXC cards may be larger.
const fn unit_bytes_max(sectors: u32) -> u32 {
    match sectors / 2048 {
        0..=64 => 512 << 10,
        65..=256 => 1 << 20,
        257..=512 => 2 << 20,
        _ => 4 << 20,
    }
}

/// Returns true if the checksum at the end of a register is right.
pub(super) fn is_sound(register: &[u8; REGISTER_BYTES]) -> bool {
    register[15] >> 1 == crc7(&register[..15])
}

/// Returns the kind and the number of sectors of a card, from its CSD.
fn capacity(csd: &[u8; REGISTER_BYTES]) -> Result<(Kind, u32), SdError> {
    let bits = u128::from_be_bytes(*csd);
    let sectors = match csd[0] >> 6 {
        0 => {
            let (size, multiplier, length) = (bits >> 62 & 0xFFF, bits >> 47 & 7, bits >> 80 & 0xF);
            if !(9..=11).contains(&length) {
                return Err(SdError::UnknownRegister);
            }
            ((size + 1) << (multiplier + 2 + length)) >> 9
        }
        1 => ((bits >> 48 & 0x3F_FFFF) + 1) * 1024,
        _ => return Err(SdError::UnknownRegister),
    };
    // The number of sectors must fit into a `u32`. If a card has 2^32 sectors, the last sector is
    // not used.
    let sectors = sectors.min(u128::from(u32::MAX)) as u32;
    let kind = match csd[0] >> 6 {
        0 => Kind::Standard,
        // SDXC cards have more than 32 GiB.
        _ if sectors > 32 << 21 => Kind::Extended,
        _ => Kind::High,
    };
    if sectors == 0 { Err(SdError::UnknownRegister) } else { Ok((kind, sectors)) }
}

/// Returns the number of sectors that can only be erased together. Returns 0 if the card cannot
/// erase.
fn erase_sectors(csd: u128) -> u32 {
    const CLASS_ERASE: u128 = 1 << 5;
    if csd >> 84 & CLASS_ERASE == 0 {
        return 0;
    }
    if csd >> 126 != 0 || csd >> 46 & 1 == 1 {
        return 1;
    }
    // The unit of the field is a write block, which is longer than a sector on cards of 2 and 4 GB.
    let blocks = (csd >> 39 & 0x7F) as u32 + 1;
    blocks << ((csd >> 22 & 0xF) as u32).saturating_sub(9).min(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CSD 1 of a card of 60 MiB, and CSD 2 of a card of 7.5 GiB.
    const SDSC: [u8; 16] = [
        0x00, 0x2D, 0x00, 0x32, 0x13, 0x59, 0x83, 0xB1, 0xF6, 0xD9, 0xCF, 0x80, 0x16, 0x40, 0x00,
        0x00,
    ];
    const SDHC: [u8; 16] = [
        0x40, 0x0E, 0x00, 0x32, 0x5B, 0x59, 0x00, 0x00, 0x3C, 0x01, 0x7F, 0x80, 0x0A, 0x40, 0x00,
        0x00,
    ];

    #[test]
    fn capacities_are_read_from_both_layouts() {
        // 2^(3 + 2) blocks of 2^9 bytes.
        assert_eq!(capacity(&SDSC), Ok((Kind::Standard, (3783 + 1) * 32)));
        assert_eq!(erase_sectors(u128::from_be_bytes(SDSC)), 1);
        assert_eq!(capacity(&SDHC), Ok((Kind::High, (0x3C01 + 1) * 1024)));
        let mut large = SDHC;
        large[7] = 1;
        assert_eq!(capacity(&large).map(|(kind, _)| kind), Ok(Kind::Extended));
        large[0] = 0x80;
        assert_eq!(capacity(&large), Err(SdError::UnknownRegister));
    }

    #[test]
    fn a_status_of_zeros_has_a_unit_and_no_erase_time() {
        let info = CardInfo::parse(&[0; 16], &SDHC, &[0; 64], 1).unwrap();
        assert_eq!((info.unit_bytes, info.erase_time, info.erase_sectors), (4 << 20, None, 1));
    }

    #[test]
    fn hostile_registers_do_not_panic() {
        for byte in 0..=255 {
            let _ = CardInfo::parse(&[byte; 16], &[byte; 16], &[byte; 64], 0)
                .map(|info| info.name().len());
        }
    }
}
