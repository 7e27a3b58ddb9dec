//! Decoder of LZO1X without a heap.
//!
//! Each instruction copies a match, then up to three literals. The last two bits of an instruction
//! are the number of these literals. The meaning of instructions 0 to 15 depends on the number of
//! literals before them. Source: `Documentation/staging/lzo.rst` of Linux.

/// Distance that marks the end of a block.
const END: usize = 16_384;
/// A match of three bytes directly behind a run of literals has a distance greater than this
/// number.
const FAR: usize = 2_048;

/// The data before an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A match that is followed by no literals.
    Match,
    /// A match that is followed by up to three literals.
    Few,
    /// A run of literals.
    Run,
}

/// Decodes a block. Returns the number of bytes written to `content`. Returns `None` if the block
/// is invalid, or decodes to more bytes than `content` has.
///
/// # Cost
/// The call does not access the medium.
pub fn decode(stored: &[u8], content: &mut [u8]) -> Option<usize> {
    let mut state = State { stored, from: 0, content, to: 0 };
    let mut before = state.first()?;
    loop {
        let code = state.byte()?;
        let (distance, length, literals) = match code {
            0..=15 if before == Before::Match => {
                let length = 3 + state.length(code, 15)?;
                state.literals(length)?;
                before = Before::Run;
                continue;
            }
            0..=15 => {
                let (base, length) = if before == Before::Few { (1, 2) } else { (FAR + 1, 3) };
                (
                    base + (usize::from(state.byte()?) << 2) + usize::from(code >> 2),
                    length,
                    code & 3,
                )
            }
            16..=31 => {
                let length = 2 + state.length(code & 7, 7)?;
                let pair = state.pair()?;
                let distance = END + (usize::from(code & 8) << 11) + usize::from(pair >> 2);
                if distance == END {
                    return (length == 3 && pair & 3 == 0 && state.from == stored.len())
                        .then_some(state.to);
                }
                (distance, length, pair as u8 & 3)
            }
            32..=63 => {
                let length = 2 + state.length(code & 31, 31)?;
                let pair = state.pair()?;
                (usize::from(pair >> 2) + 1, length, pair as u8 & 3)
            }
            _ => {
                let length = if code < 128 {
                    3 + usize::from(code >> 5 & 1)
                } else {
                    5 + usize::from(code >> 5 & 3)
                };
                (
                    (usize::from(state.byte()?) << 3) + usize::from(code >> 2 & 7) + 1,
                    length,
                    code & 3,
                )
            }
        };
        state.repeat(distance, length)?;
        state.literals(usize::from(literals))?;
        before = if literals == 0 { Before::Match } else { Before::Few };
    }
}

/// State of a decoding: the stored bytes, the content, and the position in each.
struct State<'s, 'c> {
    stored: &'s [u8],
    from: usize,
    content: &'c mut [u8],
    to: usize,
}

impl State<'_, '_> {
    /// Copies the literals with which a block may begin.
    fn first(&mut self) -> Option<Before> {
        let code = *self.stored.first()?;
        match code {
            // The second version of the format is refused: no file system uses it.
            17 if self.stored.len() >= 5 => return None,
            0..=17 => return Some(Before::Match),
            _ => {}
        }
        self.from = 1;
        let count = usize::from(code) - 17;
        self.literals(count)?;
        Some(if count < 4 { Before::Few } else { Before::Run })
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.stored.get(self.from)?;
        self.from += 1;
        Some(byte)
    }

    fn pair(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte()?, self.byte()?]))
    }

    /// Reads a length. If `bits` is zero, the length is greater than `most`, and the next bytes
    /// contain the difference.
    fn length(&mut self, bits: u8, most: usize) -> Option<usize> {
        if bits != 0 {
            return Some(usize::from(bits));
        }
        let mut sum = most;
        loop {
            match self.byte()? {
                0 => sum = sum.checked_add(255)?,
                byte => return sum.checked_add(usize::from(byte)),
            }
        }
    }

    fn literals(&mut self, count: usize) -> Option<()> {
        let bytes = self.stored.get(self.from..self.from.checked_add(count)?)?;
        self.content.get_mut(self.to..self.to.checked_add(count)?)?.copy_from_slice(bytes);
        (self.from, self.to) = (self.from + count, self.to + count);
        Some(())
    }

    /// Copies a match, which may overlap its own copy.
    fn repeat(&mut self, distance: usize, count: usize) -> Option<()> {
        let start = self.to.checked_sub(distance)?;
        if count > self.content.len() - self.to {
            return None;
        }
        let mut done = 0;
        while done < count {
            let step = (distance + done).min(count - done);
            self.content.copy_within(start..start + step, self.to + done);
            done += step;
        }
        self.to += count;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn content() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            (proptest::collection::vec(any::<u8>(), 1..400))
                .prop_map(|bytes| (0usize, 0usize, bytes)),
            (1usize..40_000, 1usize..3000).prop_map(|(back, count)| (back, count, Vec::new())),
        ];
        proptest::collection::vec(piece, 1..60).prop_map(|pieces| {
            let mut all = Vec::new();
            for (back, count, bytes) in pieces {
                all.extend(bytes);
                for _ in 0..count {
                    let byte = if back <= all.len() { all[all.len() - back] } else { 7 };
                    all.push(byte);
                }
            }
            all
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_another_encoder_made_decodes(plain in content()) {
            let stored = lzokay_native::compress(&plain).expect("room on the heap");
            let mut made = vec![0; plain.len()];
            prop_assert_eq!(decode(&stored, &mut made), Some(plain.len()));
            prop_assert_eq!(made, plain);
        }

        #[test]
        fn hostile_blocks_make_no_more_than_there_is_room_for(
            stored in proptest::collection::vec(any::<u8>(), 0..300),
            room in 0usize..5000,
        ) {
            decode(&stored, &mut vec![0; room]);
        }
    }
}
