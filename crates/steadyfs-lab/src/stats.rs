//! Statistics of access times: mean, percentiles, greatest, and histograms.
//!
//! [`Stats::of`] and [`histogram`] take durations in nanoseconds, as [`replay`](crate::replay) and
//! [`evaluate`](crate::evaluate) return them.

use serde::{Deserialize, Serialize};

/// A summary of a set of access times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of accesses, at least one.
    pub count: usize,
    /// Mean access time in nanoseconds.
    pub mean_ns: f64,
    /// Shortest access time in nanoseconds.
    pub min_ns: u64,
    /// Access time in nanoseconds that half of the accesses do not exceed.
    pub p50_ns: u64,
    /// Access time in nanoseconds that 99 % of the accesses do not exceed.
    pub p99_ns: u64,
    /// Access time in nanoseconds that 99.9 % of the accesses do not exceed.
    pub p999_ns: u64,
    /// Longest access time in nanoseconds.
    pub max_ns: u64,
}

impl Stats {
    /// Summarizes access times in nanoseconds. Returns `None` if there are none.
    ///
    /// # Example
    /// ```
    /// let stats = steadyfs_lab::stats::Stats::of(&[4, 1, 3, 2]).unwrap();
    /// assert_eq!((stats.mean_ns, stats.p50_ns, stats.max_ns), (2.5, 2, 4));
    /// ```
    pub fn of(access_ns: &[u64]) -> Option<Stats> {
        let mut sorted = access_ns.to_vec();
        sorted.sort_unstable();
        let total: u128 = sorted.iter().map(|&ns| u128::from(ns)).sum();
        Some(Stats {
            count: sorted.len(),
            mean_ns: total as f64 / sorted.len() as f64,
            min_ns: *sorted.first()?,
            p50_ns: percentile(&sorted, 500),
            p99_ns: percentile(&sorted, 990),
            p999_ns: percentile(&sorted, 999),
            max_ns: *sorted.last()?,
        })
    }

    /// Returns the mean throughput in bytes per second if each access writes `write_bytes`;
    /// infinite if no access takes time.
    pub fn throughput_bytes_per_s(&self, write_bytes: u64) -> f64 {
        write_bytes as f64 * 1e9 / self.mean_ns
    }
}

/// Returns the nearest-rank percentile: the smallest value that at least `per_mille` thousandths do
/// not exceed.
fn percentile(sorted: &[u64], per_mille: usize) -> u64 {
    sorted[(sorted.len() * per_mille).div_ceil(1000).max(1) - 1]
}

/// Division of the range of a histogram, from the smallest value to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Bins of equal width.
    Linear,
    /// Bins of equal ratio. Values below one are counted in the first bin.
    Logarithmic,
}

/// One bin of a histogram: `from <= value < to`, the last bin includes `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower edge, in the unit of the values.
    pub from: f64,
    /// Upper edge, in the unit of the values.
    pub to: f64,
    /// Number of values in the bin.
    pub count: u64,
}

/// Counts values in `bins` bins (at least one) between the smallest and the greatest value.
///
/// Every value is counted exactly once. A single distinct value gives one bin around it. No values
/// give no bins.
pub fn histogram(values: &[u64], bins: usize, scale: Scale) -> Vec<Bin> {
    let (Some(&min), Some(&max)) = (values.iter().min(), values.iter().max()) else {
        return Vec::new();
    };
    if min == max {
        return vec![Bin {
            from: min as f64 - 0.5,
            to: max as f64 + 0.5,
            count: values.len() as u64,
        }];
    }
    let bins = bins.max(1);
    let place = |value: f64| if scale == Scale::Linear { value } else { value.max(1.0).ln() };
    let value_at = |place: f64| if scale == Scale::Linear { place } else { place.exp() };
    let (low, high) = (place(min as f64), place(max as f64));
    let width = (high - low) / bins as f64;
    let edge = |index: usize| match index {
        0 => min as f64,
        index if index == bins => max as f64,
        index => value_at(low + width * index as f64),
    };
    let mut counted: Vec<Bin> =
        (0..bins).map(|index| Bin { from: edge(index), to: edge(index + 1), count: 0 }).collect();
    for &value in values {
        let index = ((place(value as f64) - low) / width) as usize;
        counted[index.min(bins - 1)].count += 1;
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let thousand: Vec<u64> = (1..=1000).rev().collect();
        let stats = Stats::of(&thousand).unwrap();
        assert_eq!(
            (stats.p50_ns, stats.p99_ns, stats.p999_ns, stats.max_ns),
            (500, 990, 999, 1000)
        );
        assert_eq!((stats.min_ns, stats.mean_ns), (1, 500.5));
    }

    #[test]
    fn one_access_is_all_of_its_percentiles() {
        let stats = Stats::of(&[7]).unwrap();
        assert_eq!(
            (stats.min_ns, stats.p50_ns, stats.p99_ns, stats.p999_ns, stats.max_ns),
            (7, 7, 7, 7, 7)
        );
        assert_eq!(Stats::of(&[]), None);
    }

    #[test]
    fn throughput_is_bytes_over_mean_time() {
        let stats = Stats::of(&[1_000_000, 3_096_000]).unwrap();
        assert_eq!(stats.throughput_bytes_per_s(4096), 2e6);
    }

    #[test]
    fn linear_bins_are_equally_wide_and_include_the_greatest() {
        let bins = histogram(&[0, 1, 2, 3, 10], 5, Scale::Linear);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [2, 2, 0, 0, 1]);
        assert_eq!((bins[0].from, bins[0].to, bins[4].to), (0.0, 2.0, 10.0));
    }

    #[test]
    fn logarithmic_bins_have_equal_ratios() {
        let bins = histogram(&[1, 9, 11, 999, 1000], 3, Scale::Logarithmic);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [2, 1, 2]);
        assert!((bins[1].from - 10.0).abs() < 1e-9 && (bins[2].from - 100.0).abs() < 1e-9);
    }

    #[test]
    fn equal_values_share_one_bin() {
        assert_eq!(histogram(&[5, 5], 10, Scale::Linear), [Bin { from: 4.5, to: 5.5, count: 2 }]);
        assert_eq!(histogram(&[], 10, Scale::Linear), []);
    }

    proptest! {
        #[test]
        fn histogram_counts_every_value_once(
            values in prop::collection::vec(0_u64..u64::MAX, 1..100), bins in 1_usize..50, log in any::<bool>()
        ) {
            let scale = if log { Scale::Logarithmic } else { Scale::Linear };
            let counted: u64 = histogram(&values, bins, scale).iter().map(|bin| bin.count).sum();
            prop_assert_eq!(counted, values.len() as u64);
        }
    }
}
