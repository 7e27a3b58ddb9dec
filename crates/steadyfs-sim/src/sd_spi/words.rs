//! Registers, and the checksums of the bus. They are a second implementation, bit by bit.

use super::profile::{SdKind, SdProfile};

/// Sets the bits `high` to `low` of a register of 128 bits.
fn set(register: &mut u128, high: u32, low: u32, value: u32) {
    assert!(u64::from(value) < 1 << (high - low + 1), "the register has no room for {value}");
    *register |= u128::from(value) << low;
}

/// Returns the register with its checksum.
fn sealed(register: u128) -> [u8; 16] {
    let mut bytes = register.to_be_bytes();
    bytes[15] = crc7(&bytes[..15]) << 1 | 1;
    bytes
}

/// Returns the CID: maker 0x5D, "STEAD", revision 1.0, serial 0x12345678, July 2026.
pub(super) fn cid() -> [u8; 16] {
    let mut bytes = *b"\x5DSFSTEAD\x10\x12\x34\x56\x78\x01\xA7\0";
    bytes[15] = crc7(&bytes[..15]) << 1 | 1;
    bytes
}

/// Returns the CSD.
pub(super) fn csd(profile: &SdProfile) -> [u8; 16] {
    let mut csd = 0;
    set(&mut csd, 103, 96, 0x32); // 25 MHz
    set(&mut csd, 95, 84, if profile.erase_sectors > 0 { 0x5B5 } else { 0x595 });
    set(&mut csd, 83, 80, 9);
    set(&mut csd, 25, 22, 9);
    set(&mut csd, 12, 12, u32::from(profile.is_write_protected));
    if profile.kind == SdKind::High {
        assert!(profile.sectors.is_multiple_of(1024), "SDHC has whole units of 512 KiB");
        set(&mut csd, 127, 126, 1);
        set(&mut csd, 69, 48, profile.sectors / 1024 - 1);
        set(&mut csd, 46, 46, 1);
        set(&mut csd, 45, 39, 0x7F);
    } else {
        assert!(profile.sectors.is_multiple_of(4), "SDSC has whole units of 2 KiB");
        set(&mut csd, 73, 62, profile.sectors / 4 - 1);
        set(&mut csd, 46, 46, u32::from(profile.erase_sectors == 1));
        set(&mut csd, 45, 39, profile.erase_sectors.max(1) - 1);
    }
    sealed(csd)
}

/// Returns the SD status.
pub(super) fn status(profile: &SdProfile) -> [u8; 64] {
    let mut status = [0; 64];
    let (units, seconds, offset) = profile.erase_time;
    status[8] = 4; // class 10
    status[10] =
        if profile.unit_bytes == 0 { 0 } else { (profile.unit_bytes.ilog2() - 13) as u8 } << 4;
    status[11..13].copy_from_slice(&units.to_be_bytes());
    status[13] = seconds << 2 | offset;
    status
}

pub(super) fn crc7(bytes: &[u8]) -> u8 {
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    // The remainder of a long division.
    bits.chain([0; 7]).fold(0, |rest, bit| {
        let rest = rest << 1 | bit;
        if rest & 0x80 != 0 { rest ^ 0x89 } else { rest }
    })
}

pub(super) fn crc16(bytes: &[u8]) -> u16 {
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    let rest = bits.chain([0; 16]).fold(0u32, |rest, bit| {
        let rest = rest << 1 | u32::from(bit);
        if rest & 0x1_0000 != 0 { rest ^ 0x1_1021 } else { rest }
    });
    rest as u16
}
