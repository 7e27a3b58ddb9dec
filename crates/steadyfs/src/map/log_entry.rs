//! Layout of a change in the log of a leaf.
//!
//! ```text
//! | entry 16 | frame 16 or 32 | check 16 |
//! ```
//!
//! The check is the low half of a CRC-32 over leaf, entry and frame, padded with zeros to 12 bytes.
//! Any two changes differ in at least four bits. So one flipped bit is found and corrected, and two
//! flipped bits never turn a change into another change.
//!
//! A place with at most one zero bit counts as blank, because one bit of a blank place may have
//! flipped. No change has so few zero bits, because no entry has a number that high.

use crate::space::Frame;
use crate::table::{read_word, write_word};

/// Bytes of the check.
const CHECK_BYTES: usize = 2;
/// Bytes of the longest change.
pub(crate) const CHANGE_BYTES_MAX: usize = 8;

/// An entry of a page of a leaf, and the new frame of that entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafChange {
    pub entry: u32,
    pub frame: Frame,
}

/// The content of a change's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Blank,
    Change(LeafChange),
    /// A change that cannot be read: it was damaged, or a power cut interrupted its program.
    Unreadable,
}

/// Properties that all changes of a leaf's page have in common.
#[derive(Clone, Copy)]
pub(crate) struct LeafChanges {
    pub leaf: u32,
    /// Number of bytes of a frame's number.
    pub width: usize,
    /// Number of entries of the page.
    pub entries: u32,
    /// Number of frames of the volume.
    pub frames: u32,
}

impl LeafChanges {
    /// Returns the number of bytes of a change.
    pub fn bytes(&self) -> usize {
        2 + self.width + CHECK_BYTES
    }

    /// Writes a change. `checksum` is the checksum function of the device.
    pub fn emit(
        &self,
        change: LeafChange,
        bytes: &mut [u8],
        checksum: &mut impl FnMut(&[u8]) -> u32,
    ) {
        write_word(bytes, 0, 2, change.entry);
        write_word(bytes, 2, self.width, change.frame);
        let check = self.check(bytes, checksum);
        write_word(bytes, 2 + self.width, CHECK_BYTES, check);
    }

    /// Reads the place of a change, and corrects one flipped bit. `checksum` is the checksum
    /// function of the device.
    pub fn read(&self, bytes: &[u8], checksum: &mut impl FnMut(&[u8]) -> u32) -> Place {
        let is_blank = bytes.iter().all(|&byte| byte == 0xFF);
        if is_blank || bytes.iter().map(|byte| byte.count_zeros()).sum::<u32>() <= 1 {
            return Place::Blank;
        }
        let mut near = [0; CHANGE_BYTES_MAX];
        let near = &mut near[..bytes.len()];
        near.copy_from_slice(bytes);
        // To correct one flipped bit, each bit is inverted in turn until the check is right.
        let mut found = self.parse(near, checksum);
        for bit in 0..8 * bytes.len() {
            if found.is_some() {
                break;
            }
            near[bit / 8] ^= 1 << (bit % 8);
            found = self.parse(near, checksum);
            near[bit / 8] ^= 1 << (bit % 8);
        }
        found.map_or(Place::Unreadable, Place::Change)
    }

    fn parse(&self, bytes: &[u8], checksum: &mut impl FnMut(&[u8]) -> u32) -> Option<LeafChange> {
        let change =
            LeafChange { entry: read_word(bytes, 0, 2), frame: read_word(bytes, 2, self.width) };
        let may_be = change.entry < self.entries && change.frame < self.frames;
        let check = read_word(bytes, 2 + self.width, CHECK_BYTES);
        (may_be && check == self.check(bytes, checksum)).then_some(change)
    }

    fn check(&self, bytes: &[u8], checksum: &mut impl FnMut(&[u8]) -> u32) -> u32 {
        let (mut input, fields) = ([0; 12], 2 + self.width);
        input[..4].copy_from_slice(&self.leaf.to_le_bytes());
        input[4..4 + fields].copy_from_slice(&bytes[..fields]);
        checksum(&input) & 0xFFFF
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    const WIDTHS: [usize; 2] = [2, 4];

    /// CRC-32, bit by bit.
    fn checksum(bytes: &[u8]) -> u32 {
        let step = |crc: u32| crc >> 1 ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1));
        let byte = |crc: u32, &byte: &u8| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc));
        !bytes.iter().fold(!0, byte)
    }

    fn changes(leaf: u32, width: usize) -> LeafChanges {
        LeafChanges {
            leaf,
            width,
            entries: 976,
            frames: if width == 2 { 0x8000 } else { 0x8000_0000 },
        }
    }

    /// Returns changes of several leaves, with their bytes.
    fn examples(width: usize) -> Vec<(LeafChanges, LeafChange, Vec<u8>)> {
        let numbers = (1..60u32).map(|number| number.wrapping_mul(0x9E37_79B9));
        let example = |number: u32| {
            let changes = changes(number % 40, width);
            let change =
                LeafChange { entry: number >> 8 & 0x1FF, frame: (number >> 3) % changes.frames };
            let mut bytes = std::vec![0; changes.bytes()];
            changes.emit(change, &mut bytes, &mut checksum);
            (changes, change, bytes)
        };
        numbers.map(example).collect()
    }

    /// A change with one flipped bit was ignored. Its page then read as it was before the
    /// change.
    #[test]
    fn one_flipped_bit_is_put_right() {
        for (changes, change, bytes) in WIDTHS.into_iter().flat_map(examples) {
            assert_eq!(changes.read(&bytes, &mut checksum), Place::Change(change));
            for bit in 0..8 * bytes.len() {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(
                    changes.read(&flipped, &mut checksum),
                    Place::Change(change),
                    "bit {bit} of {bytes:x?}"
                );
            }
        }
    }

    #[test]
    fn two_flipped_bits_are_never_taken_for_another_change() {
        for (changes, _, bytes) in WIDTHS.into_iter().flat_map(examples) {
            for (one, two) in
                (0..8 * bytes.len()).flat_map(|two| (0..two).map(move |one| (one, two)))
            {
                let mut flipped = bytes.clone();
                flipped[one / 8] ^= 1 << (one % 8);
                flipped[two / 8] ^= 1 << (two % 8);
                assert_eq!(
                    changes.read(&flipped, &mut checksum),
                    Place::Unreadable,
                    "bits {one}, {two} of {bytes:x?}"
                );
            }
        }
    }

    #[test]
    fn blank_place_of_which_a_bit_has_flipped_is_blank() {
        for width in WIDTHS {
            let changes = changes(3, width);
            let blank = std::vec![0xFF; changes.bytes()];
            assert_eq!(changes.read(&blank, &mut checksum), Place::Blank);
            for bit in 0..8 * blank.len() {
                let mut flipped = blank.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(changes.read(&flipped, &mut checksum), Place::Blank);
                flipped[0] ^= 0x10;
                flipped[1] ^= 0x21;
                assert_eq!(changes.read(&flipped, &mut checksum), Place::Unreadable);
            }
        }
    }
}
