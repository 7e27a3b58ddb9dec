//! Random draws that are the same on processors of 32 and of 64 bits. Draws of a `usize` differ
//! there. So a page in a browser shows the same numbers as the command.

use fastrand::Rng;

/// Draws a number below `count`.
pub fn below(rng: &mut Rng, count: usize) -> usize {
    rng.u64(..count as u64) as usize
}

/// Draws one of several values, if there are any.
pub fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> Option<T> {
    (!all.is_empty()).then(|| all[below(rng, all.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_a_seed() {
        let mut rng = Rng::with_seed(1);
        let drawn: Vec<_> = (0..6).map(|_| below(&mut rng, 1000)).collect();
        let mut wide = Rng::with_seed(1);
        assert_eq!(drawn, (0..6).map(|_| wide.u64(..1000) as usize).collect::<Vec<_>>());
        assert!(drawn.iter().any(|&number| number != drawn[0]));
        assert_eq!((one_of::<u8>(&mut rng, &[]), one_of(&mut rng, &[7])), (None, Some(7)));
    }
}
