//! Random numbers.

/// A small generator of numbers. Every run uses the same sequence.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }

    pub fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }
}
