//! The guard of a tag: two bytes behind the tag. The guard corrects one flipped bit in these
//! eighteen bytes, and detects two flipped bits.
//!
//! ```text
//! 0     16      17       18
//! | tag | check | parity |
//! ```
//!
//! The guard is an extended Hamming code. Each bit of the tag has a place: a number that is not a
//! power of two. `check` is the exclusive or of the places of all set bits. So one flipped bit
//! changes `check` by the place of this bit. Bit 0 of `parity` makes the number of set bits in tag,
//! check and parity even. The other bits of `parity` are 0.
//!
//! A tag without a guard, for example from an image of another tool, is accepted unchanged. In such
//! a tag the upper bits of `parity` are set.

use steadyfs::media::TAG_BYTES;

/// Bytes of a tag and its guard.
pub(super) const GUARDED_BYTES: usize = TAG_BYTES + 2;

/// A tag has more flipped bits than the guard can correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Largest number of clear bits in an erased tag without a guard. In a programmed tag, the field
/// for the kind alone has four clear bits.
const ERASED_CLEAR_BITS_MAX: u32 = 3;

/// Returns a tag followed by its guard.
pub(super) fn guard(tag: &[u8; TAG_BYTES]) -> [u8; GUARDED_BYTES] {
    let mut guarded = [0; GUARDED_BYTES];
    guarded[..TAG_BYTES].copy_from_slice(tag);
    if is_erased(tag) {
        guarded.fill(0xFF);
        return guarded;
    }
    let check = check(tag);
    guarded[TAG_BYTES] = check;
    guarded[TAG_BYTES + 1] = ((ones(tag) + check.count_ones()) % 2) as u8;
    guarded
}

/// Returns the tag, with a flipped bit corrected, and true if a bit was flipped.
pub(super) fn tag(guarded: &[u8; GUARDED_BYTES]) -> Result<([u8; TAG_BYTES], bool), Unreadable> {
    let mut tag = [0; TAG_BYTES];
    tag.copy_from_slice(&guarded[..TAG_BYTES]);
    let [.., stored_check, stored_parity] = *guarded;
    // One flipped bit cannot set a majority of the upper bits.
    if (stored_parity >> 1).count_ones() >= 4 {
        return Ok((if is_erased(&tag) { [0xFF; TAG_BYTES] } else { tag }, false));
    }
    let odd = (ones(&tag) + stored_check.count_ones() + u32::from(stored_parity & 1)) % 2 == 1;
    let place = check(&tag) ^ stored_check;
    match place {
        0 => {}
        // The number of flipped bits is even and not 0, so it cannot be corrected.
        _ if !odd => return Err(Unreadable),
        // The flipped bit is in the check itself.
        _ if place.is_power_of_two() => {}
        _ => {
            let bit = places().position(|candidate| candidate == place).ok_or(Unreadable)?;
            tag[bit / 8] ^= 1 << (bit % 8);
        }
    }
    Ok((tag, odd))
}

/// Returns the places of the 128 bits: the numbers from 3 on that are not powers of two.
fn places() -> impl Iterator<Item = u8> {
    (3..=u8::MAX).filter(|place| !place.is_power_of_two()).take(8 * TAG_BYTES)
}

fn check(tag: &[u8; TAG_BYTES]) -> u8 {
    let set = |&(bit, _): &(usize, u8)| tag[bit / 8] >> (bit % 8) & 1 == 1;
    places().enumerate().filter(set).fold(0, |check, (_, place)| check ^ place)
}

fn ones(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| byte.count_ones()).sum()
}

fn is_erased(tag: &[u8; TAG_BYTES]) -> bool {
    8 * TAG_BYTES as u32 - ones(tag) <= ERASED_CLEAR_BITS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: [[u8; TAG_BYTES]; 4] = [
        *b"\x01\0\0\0\0\x07\0\0\x03\x01\0\0\xDE\xAD\xBE\xEF",
        [0; TAG_BYTES],
        [0x5A; TAG_BYTES],
        [0xF0; TAG_BYTES],
    ];

    fn flip(bytes: &mut [u8], bit: usize) {
        bytes[bit / 8] ^= 1 << (bit % 8);
    }

    #[test]
    fn every_single_flipped_bit_is_corrected() {
        for original in TAGS {
            assert_eq!(tag(&guard(&original)), Ok((original, false)));
            for bit in 0..8 * GUARDED_BYTES {
                let mut guarded = guard(&original);
                flip(&mut guarded, bit);
                // The upper bits of the parity have no effect.
                let counts = bit <= 8 * (GUARDED_BYTES - 1);
                assert_eq!(tag(&guarded), Ok((original, counts)), "bit {bit}");
            }
        }
    }

    #[test]
    fn every_two_flipped_bits_are_detected_or_harmless() {
        for original in TAGS {
            for first in 0..8 * GUARDED_BYTES {
                for second in 0..first {
                    let mut guarded = guard(&original);
                    flip(&mut guarded, first);
                    flip(&mut guarded, second);
                    let harmless = tag(&guarded).is_ok_and(|(found, _)| found == original);
                    assert!(harmless || tag(&guarded) == Err(Unreadable), "{first}, {second}");
                }
            }
        }
    }

    #[test]
    fn an_erased_tag_stays_erased_with_a_flipped_bit() {
        for bit in 0..8 * GUARDED_BYTES {
            let mut guarded = [0xFF; GUARDED_BYTES];
            flip(&mut guarded, bit);
            assert_eq!(tag(&guarded), Ok(([0xFF; TAG_BYTES], false)));
        }
        assert_eq!(guard(&[0xFF; TAG_BYTES]), [0xFF; GUARDED_BYTES]);
    }

    #[test]
    fn a_tag_without_a_guard_is_taken_as_it_is() {
        for original in TAGS {
            let mut guarded = [0xFF; GUARDED_BYTES];
            guarded[..TAG_BYTES].copy_from_slice(&original);
            assert_eq!(tag(&guarded), Ok((original, false)));
        }
    }
}
