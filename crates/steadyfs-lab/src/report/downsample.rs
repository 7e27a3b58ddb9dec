//! Thinning of a sequence for drawing. It keeps the smallest and the greatest value of every
//! stretch.

/// Picks at most `points` (at least two) of the values, with their indices in ascending order.
///
/// The sequence is cut into equal stretches. Each stretch contributes its first minimum and its
/// first maximum, so peaks survive any thinning. A sequence that fits is returned whole.
pub fn downsample(values: &[u64], points: usize) -> Vec<(usize, u64)> {
    if values.len() <= points.max(2) {
        return values.iter().copied().enumerate().collect();
    }
    let stretches = (points / 2).max(1);
    let mut picked = Vec::with_capacity(2 * stretches);
    for stretch in 0..stretches {
        let (from, to) =
            (values.len() * stretch / stretches, values.len() * (stretch + 1) / stretches);
        let indices = from..to;
        let lowest = indices.clone().min_by_key(|&index| values[index]);
        let highest = indices.min_by_key(|&index| std::cmp::Reverse(values[index]));
        let (Some(lowest), Some(highest)) = (lowest, highest) else { continue };
        picked.push((lowest.min(highest), values[lowest.min(highest)]));
        if lowest != highest {
            picked.push((lowest.max(highest), values[lowest.max(highest)]));
        }
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_sequences_stay_whole() {
        assert_eq!(downsample(&[3, 1, 2], 3), [(0, 3), (1, 1), (2, 2)]);
        assert_eq!(downsample(&[], 3), []);
    }

    #[test]
    fn a_single_peak_survives() {
        let mut values = vec![5; 1_000_000];
        values[777_777] = 900;
        let picked = downsample(&values, 1_000);
        assert!(picked.len() <= 1_000 && picked.contains(&(777_777, 900)));
    }

    proptest! {
        #[test]
        fn extremes_are_kept_and_order_is_ascending(
            values in prop::collection::vec(0_u64..1000, 1..500), points in 0_usize..100
        ) {
            let picked = downsample(&values, points);
            prop_assert!(picked.len() <= points.max(2));
            prop_assert!(picked.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert!(picked.iter().all(|&(index, value)| values[index] == value));
            prop_assert_eq!(picked.iter().map(|p| p.1).max(), values.iter().copied().max());
            prop_assert_eq!(picked.iter().map(|p| p.1).min(), values.iter().copied().min());
        }
    }
}
