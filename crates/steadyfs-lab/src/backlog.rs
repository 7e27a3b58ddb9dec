//! The backlog equation: the RAM that a fixed input rate needs in front of accesses of varying
//! duration.
//!
//! Data arrives at ω bytes per second and leaves `S` bytes (`write_bytes`) per access. At the
//! end of access *k*, of duration δ_k, the buffer still contains
//!
//! `B_k = max(0, B_{k-1} + δ_k·ω − S)`, with `B_0 = 0`.
//!
//! (Other publications print `min` in place of `max`. A backlog cannot be negative, so it is
//! `max`.) Within the access, before its `S` bytes leave, the level reaches `B_{k-1} + δ_k·ω`.
//! The two levels have two names: [`Backlog::left_bytes`] and [`Backlog::peak_bytes`]. The first
//! counts the RAM beside the `S` bytes that are being written. The second counts all of it.
//!
//! All arithmetic is exact. Durations are whole nanoseconds, and rates are whole bytes per
//! second. Levels are kept in billionths of a byte and rounded up to whole bytes at the end.
//!
//! Begin with [`need`] for a rate, or with [`highest_rate`] for a buffer.
//! [`envelope`](crate::envelope) has the numbers that hold for every run.

use crate::units::format_size;
use serde::{Deserialize, Serialize};

/// Billionths in one byte; nanoseconds times bytes per second are billionths of a byte.
pub(crate) const NANO: u128 = 1_000_000_000;

/// The level of an input buffer, in bytes, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Bytes left in the buffer when an access ends: `max(0, B_{k-1} + δ_k·ω − S)`.
    pub left_bytes: u64,
    /// Bytes in the buffer just before the access ends and its `S` bytes leave: `B_{k-1} + δ_k·ω`.
    pub peak_bytes: u64,
}

/// Rounds billionths of a byte up to whole bytes.
pub(crate) fn whole_bytes(nano: u128) -> u64 {
    u64::try_from(nano.div_ceil(NANO)).unwrap_or(u64::MAX)
}

/// Returns the level after and within each access, in billionths of a byte.
fn levels(
    access_ns: impl Iterator<Item = u64>,
    write_bytes: u64,
    rate_bytes_per_s: u64,
) -> impl Iterator<Item = (u128, u128)> {
    let written = u128::from(write_bytes) * NANO;
    let rate = u128::from(rate_bytes_per_s);
    access_ns.scan(0_u128, move |left, access| {
        let peak = left.saturating_add(u128::from(access) * rate);
        *left = peak.saturating_sub(written);
        Some((*left, peak))
    })
}

/// Returns the greatest level of a sequence after and within an access.
fn greatest(levels: impl Iterator<Item = (u128, u128)>) -> Backlog {
    let (left, peak) = levels.fold((0, 0), |(left, peak), (l, p)| (left.max(l), peak.max(p)));
    Backlog { left_bytes: whole_bytes(left), peak_bytes: whole_bytes(peak) }
}

/// Returns true if a finite buffer suffices when the sequence repeats for ever: mean access time
/// times rate ≤ `write_bytes`.
///
/// An empty sequence needs nothing and is sustained at any rate.
pub fn is_sustained(access_ns: &[u64], write_bytes: u64, rate_bytes_per_s: u64) -> bool {
    let total_ns: u128 = access_ns.iter().map(|&ns| u128::from(ns)).sum();
    let written = access_ns.len() as u128 * u128::from(write_bytes) * NANO;
    total_ns.saturating_mul(u128::from(rate_bytes_per_s)) <= written
}

/// Percent of the mean rate up to which a run gives a buffer. Nearer to the mean, the number
/// grows with the length of the run.
pub const LOAD_MAX_PERCENT: u64 = 95;

/// The relation of an input rate to the mean rate of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// At most [`LOAD_MAX_PERCENT`] of the mean rate.
    Below,
    /// Above [`LOAD_MAX_PERCENT`] of the mean rate, and at most the mean rate.
    NearMean,
    /// Above the mean rate: the backlog grows without bound.
    AboveMean,
}

impl Load {
    /// Computes the load from the accesses of a run.
    pub fn of(access_ns: &[u64], write_bytes: u64, rate_bytes_per_s: u64) -> Load {
        let raised = rate_bytes_per_s.saturating_mul(100).div_ceil(LOAD_MAX_PERCENT);
        match rate_bytes_per_s {
            rate if !is_sustained(access_ns, write_bytes, rate) => Load::AboveMean,
            _ if !is_sustained(access_ns, write_bytes, raised) => Load::NearMean,
            _ => Load::Below,
        }
    }

    /// Computes the load from the mean rate of a run.
    pub fn of_mean(mean_bytes_per_s: f64, rate_bytes_per_s: u64) -> Load {
        match rate_bytes_per_s as f64 {
            rate if rate > mean_bytes_per_s => Load::AboveMean,
            rate if rate * 100.0 > mean_bytes_per_s * LOAD_MAX_PERCENT as f64 => Load::NearMean,
            _ => Load::Below,
        }
    }
}

/// The buffer that a run needs for an input rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The greatest backlog of the run.
    pub worst: Backlog,
    /// True if the level had not settled. In the second half of the run, both its most and its mean
    /// are higher by more than a quarter and a write.
    pub grows: bool,
}

/// Returns the buffer that a run needs for an input rate. `None` if the rate is above
/// [`LOAD_MAX_PERCENT`] of the mean rate: [`Load`] has the reason.
///
/// # Example
/// ```
/// use steadyfs_lab::backlog::{Load, need};
/// let run = [1_000_000; 100]; // 4,096 bytes in a millisecond: 4.096 MB/s
/// assert_eq!(need(&run, 4096, 3_000_000).map(|need| need.worst.left_bytes), Some(0));
/// assert_eq!((need(&run, 4096, 4_000_000), Load::of(&run, 4096, 4_000_000)), (None, Load::NearMean));
/// ```
pub fn need(access_ns: &[u64], write_bytes: u64, rate_bytes_per_s: u64) -> Option<Need> {
    if Load::of(access_ns, write_bytes, rate_bytes_per_s) != Load::Below {
        return None;
    }
    let mut levels = levels(access_ns.iter().copied(), write_bytes, rate_bytes_per_s);
    let [first, second] =
        [access_ns.len() / 2, access_ns.len()].map(|count| Half::of(levels.by_ref().take(count)));
    let [left_bytes, peak_bytes] =
        [first.left.max(second.left), first.peak.max(second.peak)].map(whole_bytes);
    let grows = second.is_above(&first, u128::from(write_bytes) * NANO);
    Some(Need { worst: Backlog { left_bytes, peak_bytes }, grows })
}

/// The levels of half a run, in billionths of a byte: most and mean after an access, most within.
struct Half {
    left: u128,
    mean: u128,
    peak: u128,
}

impl Half {
    fn of(levels: impl Iterator<Item = (u128, u128)>) -> Half {
        let (mut most, mut sum, mut count) = ((0, 0), 0_u128, 0);
        for (left, peak) in levels {
            most = (left.max(most.0), peak.max(most.1));
            (sum, count) = (sum.saturating_add(left), count + 1);
        }
        Half { left: most.0, mean: sum / count.max(1), peak: most.1 }
    }

    /// Returns true if most and mean are a quarter and a write above another half. A rare long
    /// access raises the most alone.
    fn is_above(&self, other: &Half, write: u128) -> bool {
        let above = |one: u128, other: u128| one > other.saturating_mul(5) / 4 + write;
        above(self.left, other.left) && above(self.mean, other.mean)
    }
}

/// Returns the text of a buffer in a table, in the words of [`BUFFER_LEGEND`].
pub fn buffer_text(bytes: Option<u64>, grows: bool, load: Load) -> String {
    match bytes {
        Some(bytes) if grows => format!("≥ {}", format_size(bytes)),
        Some(bytes) => format_size(bytes),
        None if load == Load::NearMean => "near mean".to_string(),
        None => "above mean".to_string(),
    }
}

/// The meaning of the words of [`buffer_text`].
pub const BUFFER_LEGEND: &str =
    "≥: the buffer still grew at the end. Near mean: above 95 % of the mean rate.";

/// Returns the greatest backlog of a sequence of accesses that starts with an empty buffer and
/// runs once.
///
/// `access_ns` are the durations in nanoseconds, in order. Each access takes `write_bytes` out
/// of the buffer, and `rate_bytes_per_s` bytes come in per second. Returns `None` if the backlog
/// grows without bound when the sequence repeats for ever (see [`is_sustained`]).
///
/// # Example
/// ```
/// use steadyfs_lab::backlog::backlog;
/// // 1 MB/s is one byte a microsecond: a stall of 10 ms brings 10,000 bytes and takes 4,096 away.
/// let worst = backlog(&[1_000_000, 10_000_000, 1_000_000, 1_000_000], 4096, 1_000_000).unwrap();
/// assert_eq!((worst.left_bytes, worst.peak_bytes), (5_904, 10_000));
/// ```
pub fn backlog(access_ns: &[u64], write_bytes: u64, rate_bytes_per_s: u64) -> Option<Backlog> {
    is_sustained(access_ns, write_bytes, rate_bytes_per_s)
        .then(|| greatest(levels(access_ns.iter().copied(), write_bytes, rate_bytes_per_s)))
}

/// Returns the greatest backlog of a sequence that repeats for ever.
///
/// A sustained sequence adds nothing over a whole turn. So the worst window of accesses is never
/// longer than one turn, and two turns contain it. The result differs from [`backlog`] if a
/// sequence ends with a backlog that meets the peaks of its beginning. Returns `None` as
/// [`backlog`] does.
pub fn backlog_repeated(
    access_ns: &[u64],
    write_bytes: u64,
    rate_bytes_per_s: u64,
) -> Option<Backlog> {
    let twice = access_ns.iter().chain(access_ns).copied();
    is_sustained(access_ns, write_bytes, rate_bytes_per_s)
        .then(|| greatest(levels(twice, write_bytes, rate_bytes_per_s)))
}

/// Returns the level after and within each access, in order, starting with an empty buffer.
///
/// It is defined for rates that are not sustained too. For these it shows this one run of the
/// sequence.
pub fn backlog_series(access_ns: &[u64], write_bytes: u64, rate_bytes_per_s: u64) -> Vec<Backlog> {
    levels(access_ns.iter().copied(), write_bytes, rate_bytes_per_s)
        .map(|(left, peak)| Backlog {
            left_bytes: whole_bytes(left),
            peak_bytes: whole_bytes(peak),
        })
        .collect()
}

/// Returns the smallest buffer that never overflows in one run, in bytes beside the
/// `write_bytes` being written.
///
/// It is the `left_bytes` of [`backlog`]. Returns `None` if no finite buffer suffices when the
/// sequence repeats for ever.
pub fn smallest_buffer_bytes(
    access_ns: &[u64],
    write_bytes: u64,
    rate_bytes_per_s: u64,
) -> Option<u64> {
    backlog(access_ns, write_bytes, rate_bytes_per_s).map(|worst| worst.left_bytes)
}

/// The contents of a buffer, for [`highest_rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferHolds {
    /// Only the bytes that are left when an access ends. The `write_bytes` being written have
    /// RAM of their own.
    Left,
    /// All data that has arrived and is not yet written, including the access in progress.
    Peak,
}

/// Returns the highest whole rate, in bytes per second, whose backlog fits into `buffer_bytes`
/// and is sustained.
///
/// Bisection over whole rates finds it. The backlog never falls when the rate rises, so the
/// result is exact to one byte per second. Returns zero if even one byte per second overflows.
/// Returns `None` if there is no limit, because the sequence is empty or takes no time at all.
///
/// # Example
/// ```
/// use steadyfs_lab::backlog::{BufferHolds, highest_rate};
/// // An SD card may be busy for 250 ms per 512 bytes: without a buffer that is 2,048 B/s.
/// assert_eq!(highest_rate(&[250_000_000], 512, 0, BufferHolds::Left), Some(2048));
/// ```
pub fn highest_rate(
    access_ns: &[u64],
    write_bytes: u64,
    buffer_bytes: u64,
    holds: BufferHolds,
) -> Option<u64> {
    let total_ns: u128 = access_ns.iter().map(|&ns| u128::from(ns)).sum();
    if total_ns == 0 {
        return None;
    }
    let sustained = access_ns.len() as u128 * u128::from(write_bytes) * NANO / total_ns;
    let room = u128::from(buffer_bytes) * NANO;
    let fits = |rate| {
        levels(access_ns.iter().copied(), write_bytes, rate).all(|(left, peak)| {
            if holds == BufferHolds::Left { left <= room } else { peak <= room }
        })
    };
    let (mut fitting, mut limit) = (0, u64::try_from(sustained).unwrap_or(u64::MAX));
    while fitting < limit {
        let middle = limit - (limit - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            limit = middle - 1;
        }
    }
    Some(fitting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;
    const MB: u64 = 1_000_000;

    /// Two sequences with the same maximum and the same number of maxima, apart and adjacent.
    fn apart_and_adjacent() -> ([u64; 10], [u64; 10]) {
        let apart = [2, 10, 2, 2, 2, 2, 10, 2, 2, 2].map(|ms| ms * MS);
        let adjacent = [2, 2, 10, 10, 2, 2, 2, 2, 2, 2].map(|ms| ms * MS);
        (apart, adjacent)
    }

    #[test]
    fn adjacent_peaks_double_the_backlog_of_peaks_apart() {
        let (apart, adjacent) = apart_and_adjacent();
        assert_eq!(apart.iter().max(), adjacent.iter().max());
        assert_eq!(apart.iter().sum::<u64>(), adjacent.iter().sum::<u64>());
        assert_eq!(
            backlog(&apart, 4000, MB),
            Some(Backlog { left_bytes: 6_000, peak_bytes: 10_000 })
        );
        assert_eq!(
            backlog(&adjacent, 4000, MB),
            Some(Backlog { left_bytes: 12_000, peak_bytes: 16_000 })
        );
    }

    #[test]
    fn series_follows_the_hand_computed_levels() {
        let (apart, adjacent) = apart_and_adjacent();
        let left = |trace: &[u64]| {
            backlog_series(trace, 4000, MB).iter().map(|b| b.left_bytes).collect::<Vec<_>>()
        };
        assert_eq!(left(&apart), [0, 6000, 4000, 2000, 0, 0, 6000, 4000, 2000, 0]);
        assert_eq!(left(&adjacent), [0, 0, 6000, 12000, 10000, 8000, 6000, 4000, 2000, 0]);
        let peak: Vec<_> =
            backlog_series(&adjacent, 4000, MB).iter().map(|b| b.peak_bytes).collect();
        assert_eq!(peak, [2000, 2000, 10000, 16000, 14000, 12000, 10000, 8000, 6000, 4000]);
    }

    #[test]
    fn single_peak_from_an_empty_buffer_leaves_its_excess() {
        let calm = 0;
        for (peak_ns, rate, left) in [
            (8_192_000, 500_000, 0),
            (5_120_000, MB, 1_024),
            (7_168_000, 2 * MB, 10_240),
            (8_192_002, 500_000, 1),
        ] {
            assert_eq!(
                smallest_buffer_bytes(&[calm, peak_ns, calm, calm], 4096, rate),
                Some(left),
                "{peak_ns} ns"
            );
        }
    }

    /// The same question once had four answers by the length of the run: 57.5 KiB, 848 KiB, 2
    /// MiB, or none.
    #[test]
    fn rate_near_the_mean_has_no_buffer_and_one_that_grows_is_marked() {
        let calm = [MS; 1000];
        assert_eq!(
            need(&calm, 1000, 950_000),
            Some(Need { worst: Backlog { left_bytes: 0, peak_bytes: 950 }, grows: false })
        );
        for (rate, load) in
            [(950_001, Load::NearMean), (MB, Load::NearMean), (MB + 1, Load::AboveMean)]
        {
            assert_eq!((need(&calm, 1000, rate), Load::of(&calm, 1000, rate)), (None, load));
            assert_eq!(Load::of_mean(1e6, rate), load);
        }
        // The second half of the run is slow.
        let growing: Vec<u64> =
            (0..1000).map(|access| if access < 500 { MS / 2 } else { MS }).collect();
        let needed = need(&growing, 1000, 1_100_000).unwrap();
        assert_eq!((needed.worst.left_bytes, needed.grows), (50_000, true));
        let texts = [Some(2048), None].map(|bytes| buffer_text(bytes, true, Load::NearMean));
        assert_eq!(texts, ["≥ 2 KiB", "near mean"]);
    }

    #[test]
    fn mean_above_the_period_of_an_access_is_unbounded() {
        // 4,096 bytes at 1 MB/s arrive in 4.096 ms. Exactly that is sustained, and a nanosecond
        // more is not.
        assert_eq!(backlog(&[4_096_000; 3], 4096, MB).map(|b| b.left_bytes), Some(0));
        assert_eq!(backlog(&[4_096_000, 4_096_001, 4_096_000], 4096, MB), None);
        assert_eq!(highest_rate(&[4_096_000; 3], 4096, 0, BufferHolds::Left), Some(MB));
        assert_eq!(highest_rate(&[4_096_000; 3], 4096, 1 << 30, BufferHolds::Left), Some(MB));
    }

    #[test]
    fn empty_and_instant_sequences_need_nothing() {
        assert_eq!(backlog(&[], 4096, MB), Some(Backlog::default()));
        assert_eq!(backlog(&[0, 0], 4096, u64::MAX), Some(Backlog::default()));
        assert_eq!(backlog(&[5, 5], 4096, 0), Some(Backlog::default()));
        assert_eq!(highest_rate(&[], 4096, 0, BufferHolds::Left), None);
        assert_eq!(highest_rate(&[0, 0], 4096, 0, BufferHolds::Left), None);
    }

    #[test]
    fn huge_values_saturate_instead_of_wrapping() {
        assert_eq!(backlog(&[u64::MAX; 3], 4096, u64::MAX), None);
        assert_eq!(backlog_series(&[u64::MAX; 3], 1, u64::MAX)[2].left_bytes, u64::MAX);
    }

    #[test]
    fn repeating_a_sequence_joins_its_end_to_its_beginning() {
        let trace = [10 * MS, 2 * MS, 2 * MS, 2 * MS, 2 * MS, 2 * MS, 10 * MS];
        assert_eq!(smallest_buffer_bytes(&trace, 4500, MB), Some(5_500));
        assert_eq!(backlog_repeated(&trace, 4500, MB).map(|b| b.left_bytes), Some(11_000));
    }

    #[test]
    fn buffer_for_the_peak_allows_a_lower_rate_than_for_what_is_left() {
        let trace = [MS, 10 * MS, MS, MS, MS, MS];
        assert_eq!(highest_rate(&trace, 4096, 5_904, BufferHolds::Left), Some(MB));
        assert_eq!(highest_rate(&trace, 4096, 10_000, BufferHolds::Peak), Some(MB));
        assert_eq!(highest_rate(&trace, 4096, 9_999, BufferHolds::Peak), Some(999_900));
    }

    /// Returns true if a buffer overflows that drops the data that does not fit, as a device
    /// would.
    fn overflows(trace: &[u64], write_bytes: u64, rate: u64, buffer_bytes: u64) -> bool {
        let (mut level, room) = (0_i128, i128::from(buffer_bytes) * 1_000_000_000);
        trace.iter().any(|&ns| {
            level = (level + i128::from(ns) * i128::from(rate)
                - i128::from(write_bytes) * 1_000_000_000)
                .max(0);
            level > room
        })
    }

    proptest! {
        #[test]
        fn smallest_buffer_is_smallest(
            trace in prop::collection::vec(0_u64..20_000_000, 1..60), write_bytes in 1_u64..9000, rate in 1_u64..3_000_000
        ) {
            if let Some(bytes) = smallest_buffer_bytes(&trace, write_bytes, rate) {
                prop_assert!(!overflows(&trace, write_bytes, rate, bytes));
                prop_assert!(bytes == 0 || overflows(&trace, write_bytes, rate, bytes - 1));
            }
        }

        #[test]
        fn highest_rate_is_highest(
            trace in prop::collection::vec(1_u64..20_000_000, 1..60), write_bytes in 1_u64..9000, buffer in 0_u64..50_000
        ) {
            let rate = highest_rate(&trace, write_bytes, buffer, BufferHolds::Left).unwrap();
            prop_assert!(smallest_buffer_bytes(&trace, write_bytes, rate).is_some_and(|bytes| bytes <= buffer));
            prop_assert!(smallest_buffer_bytes(&trace, write_bytes, rate + 1).is_none_or(|bytes| bytes > buffer));
        }

        #[test]
        fn repeated_backlog_equals_many_turns(
            trace in prop::collection::vec(0_u64..20_000_000, 1..20), write_bytes in 1_u64..9000, rate in 1_u64..3_000_000
        ) {
            let turns = trace.repeat(7);
            prop_assert_eq!(backlog_repeated(&trace, write_bytes, rate), backlog(&turns, write_bytes, rate));
        }

        #[test]
        fn peak_is_left_plus_one_write_once_anything_is_left(
            trace in prop::collection::vec(0_u64..20_000_000, 1..60), write_bytes in 1_u64..9000, rate in 1_u64..3_000_000
        ) {
            if let Some(worst) = backlog(&trace, write_bytes, rate) {
                prop_assert!(worst.peak_bytes <= worst.left_bytes + write_bytes);
                prop_assert!(worst.left_bytes == 0 || worst.peak_bytes == worst.left_bytes + write_bytes);
            }
        }
    }
}
