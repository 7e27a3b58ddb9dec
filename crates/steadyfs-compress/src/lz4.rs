//! LZ4 blocks, without a heap: a decoder that works within one buffer, and a greedy encoder.
//!
//! ```text
//! sequence:  | token | length of literals … | literals … | offset (16 bits) | length of match … |
//!            the last one ends with its literals
//! token:     literals (high 4 bits), match − 4 (low 4 bits)
//!            15: bytes follow, and are added, up to one that is not 255
//! ```
//!
//! Source: `lz4_Block_format.md` of the LZ4 project.

/// The shortest match.
const MATCH_MIN: usize = 4;
/// Number of bytes at the end of a block in which no match begins.
const MATCH_END: usize = 12;
/// Number of bytes at the end of a block that are always literals.
const LITERALS_END: usize = 5;
/// After each `1 << PATIENCE` positions without a match, the step of the search grows by one.
const PATIENCE: u32 = 6;

/// Returns the number of bytes that [`decode`] needs beyond content of at most `bytes` bytes. They
/// keep the source ahead of the bytes that are written.
pub const fn margin(bytes: usize) -> usize {
    (bytes >> 8) + 32
}

/// Decodes the block in the last `stored` bytes of `room`. Writes the result at the beginning of
/// `room`. Returns the number of decoded bytes, at most `limit`.
///
/// Returns `None` in any of these cases:
/// - The block is invalid.
/// - The block decodes to more than `limit` bytes.
/// - The block does not fit: `room` is shorter than the sum of `limit` and its [`margin`].
///
/// # Cost
/// No access to the medium. Each byte is copied at most twice.
pub fn decode(room: &mut [u8], stored: usize, limit: usize) -> Option<usize> {
    let end = room.len();
    let mut from = end.checked_sub(stored)?;
    let mut to = 0;
    loop {
        let token = *room.get(from)?;
        from += 1;
        let literals = length(room, &mut from, token >> 4)?;
        if literals > end - from || literals > limit - to {
            return None;
        }
        room.copy_within(from..from + literals, to);
        (from, to) = (from + literals, to + literals);
        if from == end {
            return Some(to);
        }
        let offset = usize::from(u16::from_le_bytes(*room.get(from..)?.first_chunk()?));
        from += 2;
        let count = length(room, &mut from, token & 15)?.checked_add(MATCH_MIN)?;
        // Source bytes that are not read yet must not be overwritten.
        if offset == 0 || offset > to || count > limit - to || to + count > from {
            return None;
        }
        let (start, end) = (to - offset, to + count);
        // A match may overlap its own output.
        while to < end {
            let step = (to - start).min(end - to);
            room.copy_within(start..start + step, to);
            to += step;
        }
    }
}

/// Reads a length whose first four bits are `first`.
fn length(room: &[u8], from: &mut usize, first: u8) -> Option<usize> {
    let mut sum = usize::from(first);
    let mut last = first | 240;
    while last == 255 {
        last = *room.get(*from)?;
        *from += 1;
        sum = sum.checked_add(usize::from(last))?;
    }
    Some(sum)
}

/// Encodes at most 64 KiB. Returns the number of bytes of `out` that the block takes, or `None`
/// if the block is longer than `out`.
///
/// `table` stores the positions at which four bytes were seen. An entry takes two bytes, and the
/// number of used entries is a power of two. With more entries the encoder finds more matches.
///
/// # Panics
/// If `plain` has more than 65,536 bytes, or if `table` has fewer than 4 bytes.
pub fn encode(plain: &[u8], out: &mut [u8], table: &mut [u8]) -> Option<usize> {
    assert!(plain.len() <= 1 << 16 && table.len() >= 4, "at most 64 KiB, and a table");
    table.fill(0);
    let table = table.as_chunks_mut::<2>().0;
    let shift = (table.len() as u32).leading_zeros() + 1;
    let mut out = Output { bytes: out, count: 0 };
    let (mut literals, mut at, mut misses) = (0, 0, 1u32 << PATIENCE);
    let last = plain.len().saturating_sub(MATCH_END);
    while at < last {
        let four = four(plain, at);
        let place = &mut table[(four.wrapping_mul(0x9E37_79B1) >> shift) as usize];
        let seen = usize::from(u16::from_le_bytes(*place));
        *place = (at as u16).to_le_bytes();
        if seen >= at || self::four(plain, seen) != four {
            at += (misses >> PATIENCE) as usize;
            misses += 1;
            continue;
        }
        let before = same(plain[literals..at].iter().rev(), plain[..seen].iter().rev());
        let behind = same(plain[at..plain.len() - LITERALS_END].iter(), plain[seen..].iter());
        let start = at - before;
        let count = before + behind;
        out.sequence(&plain[literals..start], Some((at - seen, count)));
        (at, literals, misses) = (start + count, start + count, 1 << PATIENCE);
    }
    out.sequence(&plain[literals..], None);
    (out.count <= out.bytes.len()).then_some(out.count)
}

/// Returns the number of equal bytes at the beginning of both iterators.
fn same<'p>(one: impl Iterator<Item = &'p u8>, other: impl Iterator<Item = &'p u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

fn four(plain: &[u8], at: usize) -> u32 {
    plain[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The encoded bytes so far. If the output is full, their number is still counted.
struct Output<'o> {
    bytes: &'o mut [u8],
    count: usize,
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let end = self.count + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.count..end) {
            room.copy_from_slice(bytes);
        }
        self.count = end;
    }

    /// Appends the bytes of a length that follow its first four bits.
    fn length(&mut self, length: usize) {
        let Some(mut rest) = length.checked_sub(15) else { return };
        while rest >= 255 {
            self.put(&[255]);
            rest -= 255;
        }
        self.put(&[rest as u8]);
    }

    /// Appends literals and a match. `found` is the match's distance back and its number of bytes.
    fn sequence(&mut self, literals: &[u8], found: Option<(usize, usize)>) {
        let beyond = found.map_or(0, |(_, count)| count - MATCH_MIN);
        self.put(&[(literals.len().min(15) << 4) as u8 | beyond.min(15) as u8]);
        self.length(literals.len());
        self.put(literals);
        if let Some((offset, _)) = found {
            self.put(&(offset as u16).to_le_bytes());
            self.length(beyond);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    /// Text-like bytes: pieces of earlier bytes, and new random bytes.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            (proptest::collection::vec(any::<u8>(), 1..60))
                .prop_map(|bytes| (0usize, 0usize, bytes)),
            (1usize..4000, 1usize..600).prop_map(|(back, count)| (back, count, Vec::new())),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| {
            let mut all = Vec::new();
            for (back, count, bytes) in pieces {
                all.extend(bytes);
                for _ in 0..count {
                    let byte = if back <= all.len() { all[all.len() - back] } else { 7 };
                    all.push(byte);
                }
            }
            all.truncate(1 << 16);
            all
        })
    }

    fn encoded(plain: &[u8], table_bytes: usize) -> Vec<u8> {
        let mut out = vec![0; plain.len() + plain.len() / 255 + 16];
        let count =
            encode(plain, &mut out, &mut vec![0; table_bytes]).expect("room for the worst case");
        out.truncate(count);
        out
    }

    /// Decodes in the smallest room that the documentation promises to suffice.
    fn decoded(block: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut room = vec![0xA5; (limit + margin(limit)).max(block.len())];
        let start = room.len() - block.len();
        room[start..].copy_from_slice(block);
        let count = decode(&mut room, block.len(), limit)?;
        room.truncate(count);
        Some(room)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_encoded_decodes_here_and_elsewhere(plain in content(), bits in 1u32..14) {
            let block = encoded(&plain, 2 << bits);
            prop_assert_eq!(
                lz4_flex::block::decompress(&block, plain.len()).expect("a sound block"),
                &plain[..]
            );
            if block.len() < plain.len() {
                prop_assert_eq!(decoded(&block, plain.len()).expect("a sound block"), plain);
            }
        }

        #[test]
        fn what_another_encoder_made_decodes_within_the_margin(plain in content()) {
            let block = lz4_flex::block::compress(&plain);
            if block.len() < plain.len() {
                prop_assert_eq!(decoded(&block, plain.len()).expect("a sound block"), plain);
            }
        }

        #[test]
        fn hostile_blocks_make_no_more_than_the_limit(
            block in proptest::collection::vec(any::<u8>(), 0..300),
            limit in 0usize..5000,
        ) {
            if let Some(made) = decoded(&block, limit) {
                prop_assert!(made.len() <= limit);
            }
        }
    }

    #[test]
    fn content_that_does_not_shrink_is_told() {
        let mut state = 1u32;
        let noise: Vec<u8> = (0..4096)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        assert_eq!(encode(&noise, &mut vec![0; noise.len() - 1], &mut [0; 2048]), None);
    }
}
