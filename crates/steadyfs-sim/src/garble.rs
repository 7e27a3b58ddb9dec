//! Random damage to bytes: bits that a program or an erase did not change.

use fastrand::Rng;

/// A source of random bytes whose bits are set with one probability, which is drawn once. So in
/// some cases only a few bits are damaged, and in others nearly all bits.
pub(crate) struct Noise(u8);

impl Noise {
    /// Draws the density of the noise: either 1/32 of the bytes have one bit set, or each bit is
    /// set with a probability of 1/4, 1/2, 3/4 or 15/16.
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self(rng.u8(0..5))
    }

    /// Returns the next random byte.
    pub(crate) fn byte(&self, rng: &mut Rng) -> u8 {
        let bits = rng.u32(..).to_le_bytes();
        match self.0 {
            0 if bits[0] < 8 => 1 << (bits[1] % 8),
            0 => 0,
            1 => bits[0] & bits[1],
            2 => bits[0],
            3 => bits[0] | bits[1],
            _ => bits[0] | bits[1] | bits[2] | bits[3],
        }
    }
}

/// Programs `new` into `cells`, but leaves some of the bits unchanged.
pub(crate) fn program_partly(cells: &mut [u8], new: &[u8], rng: &mut Rng) {
    let failing = Noise::draw(rng);
    for (cell, new) in cells.iter_mut().zip(new) {
        *cell &= new | failing.byte(rng);
    }
}

/// Erases `cells`, but sets only some of the bits to 1.
pub(crate) fn erase_partly(cells: &mut [u8], rng: &mut Rng) {
    let rising = Noise::draw(rng);
    for cell in cells {
        *cell |= rising.byte(rng);
    }
}

/// Replaces the content of a metastable page by the bytes that this read returns. These are erased
/// bytes, other random bytes, or the content with some more bits set.
pub(crate) fn misread(bytes: &mut [u8], rng: &mut Rng) {
    match rng.u8(0..4) {
        0 => bytes.fill(0xFF),
        1 => rng.fill(bytes),
        _ => erase_partly(bytes, rng),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_program_only_clears_bits_that_the_data_clears() {
        for seed in 0..50 {
            let mut rng = Rng::with_seed(seed);
            let mut cells = [0xFF; 64];
            program_partly(&mut cells, &[0xA5; 64], &mut rng);
            assert!(cells.iter().all(|cell| cell & 0xA5 == 0xA5), "seed {seed}");
        }
    }

    #[test]
    fn partial_erase_only_sets_bits() {
        for seed in 0..50 {
            let mut rng = Rng::with_seed(seed);
            let mut cells = [0x3C; 64];
            erase_partly(&mut cells, &mut rng);
            assert!(cells.iter().all(|cell| cell & 0x3C == 0x3C), "seed {seed}");
        }
    }
}
