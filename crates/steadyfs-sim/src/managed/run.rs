//! Runs of accesses, and summaries of their durations.

use super::Translation;

/// Makes `count` writes of `bytes` bytes at random offsets that are multiples of `bytes`, without a
/// pause. Returns the duration of each, in nanoseconds.
pub fn random_writes(device: &mut Translation, bytes: u32, count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (size, places) = (bytes / 512, device.sector_count() / (bytes / 512));
    (0..count).map(|_| device.write(random.u32(0..places) * size, size)).collect()
}

/// Returns the `length` consecutive accesses that took longest together.
pub fn longest_window(access_ns: &[u64], length: usize) -> &[u64] {
    if access_ns.len() <= length {
        return access_ns;
    }
    let mut sum: u64 = access_ns[..length].iter().sum();
    let (mut longest, mut first) = (sum, 0);
    for at in length..access_ns.len() {
        sum = sum + access_ns[at] - access_ns[at - length];
        if sum > longest {
            (longest, first) = (sum, at + 1 - length);
        }
    }
    &access_ns[first..first + length]
}

/// Returns the greatest `B = max(0, B + δ·ω − S)` of a sequence that begins with an empty buffer.
/// The result is in bytes.
pub fn backlog_bytes(access_ns: &[u64], write_bytes: u32, rate_bytes_per_s: u64) -> u64 {
    let (mut level, mut greatest) = (0_u128, 0);
    for &ns in access_ns {
        let peak = level + u128::from(ns) * u128::from(rate_bytes_per_s);
        level = peak.saturating_sub(u128::from(write_bytes) * 1_000_000_000);
        greatest = greatest.max(level);
    }
    (greatest / 1_000_000_000) as u64
}

/// A summary of the durations of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Percentiles 10, 25, 50, 75, 90, 99, 99.9 and the maximum, in nanoseconds.
    pub percentile_ns: [u64; 8],
    /// Backlog, in bytes, of the 4,000 consecutive accesses that took longest together, at each
    /// of the requested rates.
    pub backlog_bytes: [u64; 2],
}

impl Summary {
    /// Names of the percentiles.
    pub const PERCENTILES: [&'static str; 8] =
        ["10 %", "25 %", "50 %", "75 %", "90 %", "99 %", "99.9 %", "max"];
    /// Indices of the median and of 99 % in the list of percentiles.
    pub(super) const MEDIAN: usize = 2;
    pub(super) const HIGH: usize = 5;

    /// Summarises a sequence.
    pub fn of(access_ns: &[u64], write_bytes: u32, rates_bytes_per_s: [u64; 2]) -> Self {
        if access_ns.is_empty() {
            return Self::default();
        }
        let mut sorted = access_ns.to_vec();
        sorted.sort_unstable();
        let at = |permille: usize| sorted[(sorted.len() * permille / 1000).min(sorted.len() - 1)];
        let window = longest_window(access_ns, 4000);
        Self {
            mean_ns: access_ns.iter().map(|&ns| ns as f64).sum::<f64>() / access_ns.len() as f64,
            percentile_ns: [100, 250, 500, 750, 900, 990, 999, 1000].map(at),
            backlog_bytes: rates_bytes_per_s.map(|rate| backlog_bytes(window, write_bytes, rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stall_of_141_ms_leaves_10_kb_at_100_kb_per_second() {
        let trace = [1_000_000, 141_000_000, 1_000_000, 1_000_000];
        assert_eq!(backlog_bytes(&trace, 4096, 100_000), 10_004);
    }

    #[test]
    fn the_window_is_the_slowest_stretch() {
        assert_eq!(longest_window(&[1, 5, 1, 9, 2, 1], 2), [9, 2]);
        assert_eq!(longest_window(&[1, 2], 4), [1, 2]);
    }
}
