//! LZO1X streams, unpacked.
//!
//! Source of the format: Documentation/staging/lzo.rst of Linux, version 0 of its two. Every length and distance is checked, because a stream may
//! be made to do harm; a stream gives at most 255 bytes for one of its own.

/// Unpacks a stream that gives exactly `unpacked_bytes`, which the caller has checked to be within its limit.
///
/// `None` when the stream is none, is cut off, or gives another number of bytes.
pub(crate) fn unpack(packed: &[u8], unpacked_bytes: usize) -> Option<Vec<u8>> {
    let room = unpacked_bytes.min(packed.len().saturating_mul(256));
    let mut stream = Stream { packed, at: 0, out: Vec::with_capacity(room), unpacked_bytes };
    stream.run()?;
    (stream.at == packed.len() && stream.out.len() == unpacked_bytes).then_some(stream.out)
}

struct Stream<'a> {
    packed: &'a [u8],
    at: usize,
    out: Vec<u8>,
    unpacked_bytes: usize,
}

/// A copy from what was unpacked before: how far back, how long, and how many literals follow.
struct Copy {
    distance: usize,
    length: usize,
    literals: usize,
}

/// Distance of the copy that ends a stream.
const END: usize = 0x4000;

/// What `literals` of the last instruction is called when it was a long run.
const LONG_RUN: usize = 4;

impl Stream<'_> {
    /// Goes through all instructions up to the end mark.
    fn run(&mut self) -> Option<()> {
        let mut before = self.first()?;
        loop {
            let code = usize::from(self.byte()?);
            let copy = match code {
                0..=15 if before == 0 => {
                    let length = self.length(code, 15)? + 3;
                    self.literals(length)?;
                    before = LONG_RUN;
                    continue;
                }
                0..=15 if before == LONG_RUN => Copy { length: 3, ..self.near(code, 2, 2049)? },
                0..=15 => Copy { length: 2, ..self.near(code, 2, 1)? },
                16..=31 => self.far(code & 7, 7, END + ((code & 8) << 11))?,
                32..=63 => self.far(code & 31, 31, 1)?,
                64..=127 => Copy { length: 3 + (code >> 5 & 1), ..self.near(code, 3, 1)? },
                _ => Copy { length: 5 + (code >> 5 & 3), ..self.near(code, 3, 1)? },
            };
            if (16..=31).contains(&code) && copy.distance == END {
                return (copy.length == 3 && copy.literals == 0).then_some(());
            }
            self.copy(&copy)?;
            self.literals(copy.literals)?;
            before = copy.literals;
        }
    }

    /// Takes the first byte when it stands for literals, which it does from 18 on.
    fn first(&mut self) -> Option<usize> {
        match usize::from(*self.packed.first()?) {
            17 if self.packed.len() >= 5 => None,
            code @ 18..=255 => {
                self.at = 1;
                self.literals(code - 17)?;
                Some((code - 17).min(LONG_RUN))
            }
            _ => Some(0),
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.packed.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// A length that stands in the low bits of its code, or, when these are zero, in the bytes that follow.
    fn length(&mut self, bits: usize, bits_max: usize) -> Option<usize> {
        if bits != 0 {
            return Some(bits);
        }
        let mut length = bits_max;
        loop {
            match self.byte()? {
                0 => length += 255,
                last => return Some(length + usize::from(last)),
            }
        }
    }

    /// A copy with one byte of distance above the two or three bits in the code.
    fn near(&mut self, code: usize, bits: usize, distance_min: usize) -> Option<Copy> {
        let low = code >> 2 & ((1 << bits) - 1);
        let distance = (usize::from(self.byte()?) << bits) + low + distance_min;
        Some(Copy { distance, length: 0, literals: code & 3 })
    }

    /// A copy with a length of its own and two bytes of distance.
    fn far(&mut self, bits: usize, bits_max: usize, distance_min: usize) -> Option<Copy> {
        let length = self.length(bits, bits_max)? + 2;
        let word = usize::from(self.byte()?) | usize::from(self.byte()?) << 8;
        Some(Copy { distance: (word >> 2) + distance_min, length, literals: word & 3 })
    }

    fn literals(&mut self, length: usize) -> Option<()> {
        let bytes = self.packed.get(self.at..self.at.checked_add(length)?)?;
        if length > self.unpacked_bytes - self.out.len() {
            return None;
        }
        self.out.extend_from_slice(bytes);
        self.at += length;
        Some(())
    }

    fn copy(&mut self, copy: &Copy) -> Option<()> {
        let from = self.out.len().checked_sub(copy.distance)?;
        if copy.length > self.unpacked_bytes - self.out.len() {
            return None;
        }
        for index in from..from + copy.length {
            let byte = self.out[index];
            self.out.push(byte);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..100usize {
            let letters = 1 + round % 40;
            let mut data: Vec<u8> = (0..random.usize(1..60_000)).map(|_| random.usize(0..letters) as u8).collect();
            let (from, to) = (random.usize(0..data.len()), random.usize(0..data.len()));
            data.extend_from_within(from.min(to)..from.max(to));
            let packed = lzokay_native::compress(&data).expect("packs");
            assert_eq!(unpack(&packed, data.len()).as_ref(), Some(&data), "round {round}");
            assert_eq!(unpack(&packed, data.len() - 1), None, "round {round}");
            assert_eq!(unpack(&packed[..packed.len() - 1], data.len()), None, "round {round}");
        }
    }

    #[test]
    fn harmful_streams_are_refused_without_panic() {
        let mut random = fastrand::Rng::with_seed(8);
        let data: Vec<u8> = (0..5000u32).map(|at| ((at * at) >> 7) as u8).collect();
        let sound = lzokay_native::compress(&data).expect("packs");
        for _ in 0..20_000 {
            let mut packed = sound.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(0..packed.len());
                packed[at] = random.u8(..);
            }
            if let Some(out) = unpack(&packed, data.len()) {
                assert_eq!(out.len(), data.len());
            }
            let noise: Vec<u8> = (0..random.usize(0..40)).map(|_| random.u8(..)).collect();
            unpack(&noise, 300);
        }
    }
}
