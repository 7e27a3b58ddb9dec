//! A pattern whose bytes reveal their address, and the search for the mistake that explains wrong
//! bytes.

use super::{Mistake, MistakeKind};
use steadyfs::media::BlockIndex;

/// Returns the byte at an offset of a block. All pages of all blocks differ, and no two
/// neighbouring bytes are equal.
pub(super) const fn byte(block: BlockIndex, offset: u32) -> u8 {
    let mut mixed = block.wrapping_mul(0x9E37_79B9) ^ offset.wrapping_mul(0x85EB_CA6B);
    mixed ^= mixed >> 15;
    mixed = mixed.wrapping_mul(0x2C1B_3C6D);
    mixed ^= mixed >> 13;
    // The byte is neither `0xFF` nor zero, and its low bit alternates.
    let top = if mixed & 0x40 == 0 { 0x40 } else { 0x80 };
    top | (mixed as u8 & 0x3E) | (offset as u8 & 1)
}

/// Fills a buffer with the pattern of an offset.
pub(super) fn fill(block: BlockIndex, offset: u32, data: &mut [u8]) {
    data.iter_mut().zip(offset..).for_each(|(found, at)| *found = byte(block, at));
}

/// Compares the bytes that were read at an offset with the expected bytes. If they differ, returns
/// the kind of mistake that explains the bytes best. `others` contains offsets and blocks from
/// which the bytes may have come.
pub(super) fn compare(
    block: BlockIndex,
    offset: u32,
    data: &[u8],
    others: impl Iterator<Item = (BlockIndex, u32)>,
) -> Result<(), Mistake> {
    let Some(at) = data.iter().zip(offset..).position(|(found, at)| *found != byte(block, at))
    else {
        return Ok(());
    };
    let expected = byte(block, offset + at as u32).into();
    let kind = name(block, offset, data, others);
    Err(Mistake { kind, block, offset: offset + at as u32, expected, found: data[at].into() })
}

fn name(
    block: BlockIndex,
    offset: u32,
    data: &[u8],
    others: impl Iterator<Item = (BlockIndex, u32)>,
) -> MistakeKind {
    // The expected byte at an index, counted from `offset`.
    let right = |index: u32| byte(block, offset.wrapping_add(index));
    let all = |wanted: &dyn Fn(u32) -> u8, from: usize, to: usize| {
        to > from
            && data[from..to]
                .iter()
                .zip(from as u32..)
                .all(|(found, index)| *found == wanted(index))
    };
    let length = data.len();
    if data.iter().all(|found| *found == 0xFF) {
        return MistakeKind::NotProgrammed;
    }
    if [1, 3].into_iter().any(|mask| all(&|index| right(index ^ mask), 0, length & !3)) {
        return MistakeKind::ByteOrder;
    }
    if all(&|index| right(index).reverse_bits(), 0, length) {
        return MistakeKind::BitOrder;
    }
    // The bytes at both ends may have any value.
    let is_shifted = |by: u32| {
        all(&|index| right(index.wrapping_add(by)), 4.min(length), length.saturating_sub(4))
    };
    if [1, 2, 1u32.wrapping_neg(), 2u32.wrapping_neg()].into_iter().any(is_shifted) {
        return MistakeKind::Shifted;
    }
    for (other, start) in others {
        if all(&|index| byte(other, start.wrapping_add(index)), 0, length) {
            return MistakeKind::AnotherPage;
        }
    }
    MistakeKind::DataDiffers
}

/// Returns a mistake if a byte is not erased.
pub(super) fn blank(
    block: BlockIndex,
    offset: u32,
    data: &[u8],
    kind: MistakeKind,
) -> Result<(), Mistake> {
    match data.iter().position(|found| *found != 0xFF) {
        None => Ok(()),
        Some(at) => Err(Mistake {
            kind,
            block,
            offset: offset + at as u32,
            expected: 0xFF,
            found: data[at].into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_differ_and_no_byte_is_erased() {
        let page = |block, page: u32| -> std::vec::Vec<u8> {
            (page * 256..page * 256 + 256).map(|at| byte(block, at)).collect()
        };
        for (one, other) in [
            ((0, 0), (0, 1)),
            ((0, 0), (1, 0)),
            ((1, 0), (256, 0)),
            ((0, 3), (0, 19)),
            ((5, 1), (6, 0)),
        ] {
            assert_ne!(page(one.0, one.1), page(other.0, other.1), "{one:?} {other:?}");
        }
        assert!(
            (0..70_000).all(|at| byte(3, at) != 0xFF
                && byte(3, at) != 0
                && byte(3, at) != byte(3, at + 1))
        );
    }
}
