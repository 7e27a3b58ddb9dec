//! Envelopes: any *n* consecutive accesses take at most `burst + n · rate`. A buffer size
//! follows from it.
//!
//! An envelope describes every run of a system and not one trace, so the backlog that follows
//! from it is a guarantee. The tightest envelopes of a measured trace are the other direction:
//! they describe that trace and nothing more.
//!
//! An [`Envelope`] comes from a trace, or from a volume's
//! [promise](steadyfs::CallBounds::envelopes). [`guaranteed_left_bytes`] returns the buffer.

use crate::backlog::{NANO, whole_bytes};
use serde::{Deserialize, Serialize};

/// A latency–rate envelope: any *n* ≥ 1 consecutive accesses take at most
/// `burst_ns + n · rate_ns` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Nanoseconds that any run of accesses may take once, beyond the rate.
    pub burst_ns: u64,
    /// Nanoseconds per access in the long run. (The reciprocal of a data rate: smaller is faster.)
    pub rate_ns: u64,
}

impl Envelope {
    /// Returns the longest time that `accesses` consecutive accesses may take, in nanoseconds.
    pub fn most_ns(&self, accesses: u64) -> u128 {
        u128::from(self.burst_ns) + u128::from(accesses) * u128::from(self.rate_ns)
    }

    /// Returns the tightest envelope of a trace for a given rate: the one with the smallest
    /// burst.
    ///
    /// The burst is `max(0, max over windows of Σδ − n·rate_ns)`. The largest sum of a window
    /// that ends at an access is either that access alone, or that access appended to the
    /// largest window before. So one pass finds it.
    ///
    /// # Example
    /// ```
    /// use steadyfs_lab::envelope::Envelope;
    /// let envelope = Envelope::tightest(&[1_000, 9_000, 7_000, 1_000], 3_000);
    /// assert_eq!(envelope.burst_ns, (9_000 - 3_000) + (7_000 - 3_000));
    /// ```
    pub fn tightest(access_ns: &[u64], rate_ns: u64) -> Envelope {
        let (mut excess_ns, mut burst_ns) = (0_u64, 0);
        for &access in access_ns {
            excess_ns = excess_ns.saturating_add(access).saturating_sub(rate_ns);
            burst_ns = burst_ns.max(excess_ns);
        }
        Envelope { burst_ns, rate_ns }
    }

    /// Returns up to `points` of the tightest envelopes of a trace, from its mean access time to
    /// its longest.
    ///
    /// It tries at least two rates. They lie closer together near the mean, where bursts change
    /// most. It leaves out envelopes that another one dominates (no larger burst at a smaller
    /// rate). So bursts fall strictly while rates rise. The result is empty for an empty trace.
    pub fn pareto(access_ns: &[u64], points: usize) -> Vec<Envelope> {
        let Some(&longest) = access_ns.iter().max() else { return Vec::new() };
        let total: u128 = access_ns.iter().map(|&ns| u128::from(ns)).sum();
        let mean = u64::try_from(total.div_ceil(access_ns.len() as u128)).unwrap_or(u64::MAX);
        let steps = points.max(2) as u128 - 1;
        let mut curve: Vec<Envelope> = Vec::new();
        for step in 0..=steps {
            let rate_ns =
                u128::from(mean) + u128::from(longest - mean) * (step * step) / (steps * steps);
            let next = Envelope::tightest(access_ns, u64::try_from(rate_ns).unwrap_or(u64::MAX));
            if curve.last().is_none_or(|last| next.burst_ns < last.burst_ns) {
                curve.push(next);
            }
        }
        curve
    }

    /// Returns true if every window of a trace stays within this envelope.
    pub fn holds_for(&self, access_ns: &[u64]) -> bool {
        Envelope::tightest(access_ns, self.rate_ns).burst_ns <= self.burst_ns
    }
}

/// Returns the most bytes that can be left in the buffer when an access ends, for every trace
/// within all the envelopes.
///
/// `max_access_ns` is the longest single access (an envelope without a burst). `write_bytes` are
/// the bytes `S` that each access writes. `rate_bytes_per_s` is the input rate ω. Returns `None`
/// if neither an envelope nor the longest access has `rate_ns · ω ≤ S`: then some trace within
/// them has no bound.
///
/// # Proof
/// Unroll `B_k = max(0, B_{k-1} + δ_k·ω − S)` from an empty buffer. `B_k` is zero or the sum of
/// `δ_i·ω − S` over some window of `n ≥ 1` accesses that ends at *k*. A window of *n* accesses
/// takes at most `c(n)`, the least of `n · max_access` and all `burst + n · rate`. So
/// `B_k ≤ max(0, max over n ≥ 1 of c(n)·ω − n·S)` for every trace.
///
/// `c` is the least of several straight lines and therefore concave. So its maximum over whole
/// *n* stands at `n = 1` or beside a crossing of two lines. Only these numbers are evaluated.
///
/// If a line has `rate · ω ≤ S`, then it alone gives `n = 1`, that is
/// `B_k ≤ max(0, (burst + rate)·ω − S) ≤ burst · ω`. If no line has it, `c(n)·ω − n·S` grows for
/// ever with *n*. ∎
///
/// # Example
/// ```
/// use steadyfs_lab::envelope::{Envelope, guaranteed_left_bytes};
/// let envelope = Envelope { burst_ns: 3_000_000, rate_ns: 1_500_000 };
/// // At 2 MB/s, when one access may take the whole burst: 4.5 ms · 2 B/µs − 4,096 B.
/// assert_eq!(guaranteed_left_bytes(&[envelope], 4_500_000, 4096, 2_000_000), Some(4_904));
/// // When none takes more than 2.5 ms, three accesses are the worst: 7.5 ms · 2 B/µs − 3 · 4,096 B.
/// assert_eq!(guaranteed_left_bytes(&[envelope], 2_500_000, 4096, 2_000_000), Some(2_712));
/// assert_eq!(guaranteed_left_bytes(&[envelope], 2_500_000, 4096, 4_000_000), None);
/// ```
pub fn guaranteed_left_bytes(
    envelopes: &[Envelope],
    max_access_ns: u64,
    write_bytes: u64,
    rate_bytes_per_s: u64,
) -> Option<u64> {
    let excess = greatest_excess(envelopes, max_access_ns, write_bytes, rate_bytes_per_s)?;
    Some(whole_bytes(u128::try_from(excess).unwrap_or(0)))
}

/// Returns the most bytes that can be in the buffer within an access, for every trace within all
/// the envelopes.
///
/// The peak `B_{k-1} + δ_k·ω` is the sum behind [`guaranteed_left_bytes`] before the last `S` is
/// subtracted. So its bound is that sum plus `S`. Arguments and `None` are the same as there.
pub fn guaranteed_peak_bytes(
    envelopes: &[Envelope],
    max_access_ns: u64,
    write_bytes: u64,
    rate_bytes_per_s: u64,
) -> Option<u64> {
    let excess = greatest_excess(envelopes, max_access_ns, write_bytes, rate_bytes_per_s)?;
    let peak = excess.checked_add(i128::from(write_bytes) * NANO as i128)?;
    Some(whole_bytes(u128::try_from(peak).unwrap_or(0)))
}

/// Returns `max over n ≥ 1 of c(n)·ω − n·S` in billionths of a byte; `None` if it has no bound
/// (or passes 10²⁹ bytes).
fn greatest_excess(
    envelopes: &[Envelope],
    max_access_ns: u64,
    write_bytes: u64,
    rate: u64,
) -> Option<i128> {
    let mut lines = envelopes.to_vec();
    lines.push(Envelope { burst_ns: 0, rate_ns: max_access_ns });
    let written = i128::from(write_bytes) * NANO as i128;
    lines.iter().find(|line| u128::from(line.rate_ns) * u128::from(rate) <= written as u128)?;
    let mut greatest = i128::MIN;
    for accesses in turning_points(&lines) {
        let longest_ns = lines.iter().map(|line| line.most_ns(accesses)).min()?;
        let arrived = i128::try_from(longest_ns).ok()?.checked_mul(i128::from(rate))?;
        greatest = greatest.max(arrived.checked_sub(written.checked_mul(i128::from(accesses))?)?);
    }
    Some(greatest)
}

/// Returns the numbers of accesses beside the crossings of any two lines, and one access.
fn turning_points(lines: &[Envelope]) -> Vec<u64> {
    let mut points = vec![1];
    for steep in lines {
        for flat in lines
            .iter()
            .filter(|flat| flat.rate_ns < steep.rate_ns && flat.burst_ns > steep.burst_ns)
        {
            let crossing = (flat.burst_ns - steep.burst_ns) / (steep.rate_ns - flat.rate_ns);
            points.extend([crossing.max(1), crossing.saturating_add(1)]);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::{backlog, backlog_repeated};
    use proptest::prelude::*;

    #[test]
    fn one_envelope_alone_is_met_by_its_worst_trace() {
        // The whole burst comes in the first access, then the rate for ever. The bound is
        // reached and not passed.
        let envelope = Envelope { burst_ns: 5_000_000, rate_ns: 1_000_000 };
        let mut worst = vec![envelope.rate_ns; 50];
        worst[0] += envelope.burst_ns;
        assert!(envelope.holds_for(&worst));
        let guaranteed = guaranteed_left_bytes(&[envelope], u64::MAX, 4096, 2_000_000);
        assert_eq!(guaranteed, Some((6_000 * 2) - 4096));
        assert_eq!(backlog(&worst, 4096, 2_000_000).map(|b| b.left_bytes), guaranteed);
        assert!(guaranteed.unwrap() <= 5_000 * 2);
    }

    #[test]
    fn longest_access_spreads_the_burst_over_several() {
        // At most 2.5 ms: 6 ms of burst and rate need three accesses, and two writes leave
        // meanwhile.
        let envelope = Envelope { burst_ns: 5_000_000, rate_ns: 1_000_000 };
        // n = 3: min(7.5, 8) ms · 2 − 3 · 4096 = 2712; n = 4: min(10, 9) · 2 − 16384 = 1616.
        assert_eq!(guaranteed_left_bytes(&[envelope], 2_500_000, 4096, 2_000_000), Some(2_712));
        assert_eq!(
            guaranteed_peak_bytes(&[envelope], 2_500_000, 4096, 2_000_000),
            Some(2_712 + 4_096)
        );
    }

    #[test]
    fn short_accesses_guarantee_no_backlog_without_any_envelope() {
        assert_eq!(guaranteed_left_bytes(&[], 8_192_000, 4096, 500_000), Some(0));
        assert_eq!(guaranteed_peak_bytes(&[], 4_000_000, 4096, 500_000), Some(2_000));
        assert_eq!(guaranteed_left_bytes(&[], 8_192_001, 4096, 500_000), None);
    }

    #[test]
    fn guarantee_exists_exactly_up_to_the_rate_of_the_best_envelope() {
        let envelopes = [
            Envelope { burst_ns: 9, rate_ns: 4_096_000 },
            Envelope { burst_ns: 7, rate_ns: 5_000_000 },
        ];
        assert!(guaranteed_left_bytes(&envelopes, 10_000_000, 4096, 1_000_000).is_some());
        assert_eq!(guaranteed_left_bytes(&envelopes, 10_000_000, 4096, 1_000_001), None);
    }

    #[test]
    fn several_envelopes_guarantee_no_more_than_each_alone() {
        let envelopes = [
            Envelope { burst_ns: 20_000_000, rate_ns: 1_000_000 },
            Envelope { burst_ns: 6_000_000, rate_ns: 1_700_000 },
            Envelope { burst_ns: 1_000_000, rate_ns: 2_000_000 },
        ];
        let together = guaranteed_left_bytes(&envelopes, 2_600_000, 4096, 2_100_000).unwrap();
        for envelope in envelopes {
            let alone = guaranteed_left_bytes(&[envelope], 2_600_000, 4096, 2_100_000);
            assert!(alone.is_none_or(|bytes| together <= bytes));
        }
    }

    #[test]
    fn absurd_values_give_no_guarantee_instead_of_wrapping() {
        let envelope = Envelope { burst_ns: u64::MAX, rate_ns: 0 };
        assert_eq!(guaranteed_left_bytes(&[envelope], u64::MAX, 4096, u64::MAX), None);
    }

    #[test]
    fn pareto_runs_from_the_mean_to_a_burst_of_nothing() {
        let trace = [1_000, 1_000, 9_000, 1_000, 1_000, 9_000, 1_000, 1_000];
        let curve = Envelope::pareto(&trace, 5);
        assert_eq!(curve.first().unwrap().rate_ns, 3_000);
        assert_eq!(curve.last(), Some(&Envelope { burst_ns: 0, rate_ns: 9_000 }));
        assert!(curve.windows(2).all(|pair| pair[0].burst_ns > pair[1].burst_ns));
        assert_eq!(Envelope::pareto(&[], 5), []);
        assert_eq!(Envelope::pareto(&[7, 7], 5), [Envelope { burst_ns: 0, rate_ns: 7 }]);
    }

    /// Returns the sums of all windows, in the slow and obvious way.
    fn windows(trace: &[u64]) -> impl Iterator<Item = (u64, u128)> {
        (0..trace.len()).flat_map(move |from| {
            trace[from..].iter().enumerate().scan(0_u128, |sum, (index, &ns)| {
                *sum += u128::from(ns);
                Some((index as u64 + 1, *sum))
            })
        })
    }

    proptest! {
        #[test]
        fn tightest_envelope_covers_all_windows_and_is_tight(
            trace in prop::collection::vec(0_u64..10_000_000, 1..50), rate_ns in 0_u64..12_000_000
        ) {
            let envelope = Envelope::tightest(&trace, rate_ns);
            prop_assert!(windows(&trace).all(|(n, sum)| sum <= envelope.most_ns(n)));
            prop_assert!(envelope.burst_ns == 0 || windows(&trace).any(|(n, sum)| sum == envelope.most_ns(n)));
        }

        #[test]
        fn guarantee_holds_for_every_trace_within_its_envelopes(
            trace in prop::collection::vec(0_u64..10_000_000, 1..50),
            rates_ns in prop::collection::vec(0_u64..12_000_000, 0..5),
            slack_ns in 0_u64..100_000, write_bytes in 1_u64..9000, rate in 1_u64..3_000_000
        ) {
            let envelopes: Vec<_> = rates_ns.iter().map(|&rate_ns| {
                let tight = Envelope::tightest(&trace, rate_ns);
                Envelope { burst_ns: tight.burst_ns + slack_ns, ..tight }
            }).collect();
            let longest = trace.iter().max().unwrap() + slack_ns;
            let left = guaranteed_left_bytes(&envelopes, longest, write_bytes, rate);
            let peak = guaranteed_peak_bytes(&envelopes, longest, write_bytes, rate);
            if let (Some(left), Some(seen)) = (left, backlog(&trace, write_bytes, rate)) {
                prop_assert!(seen.left_bytes <= left);
                prop_assert!(seen.peak_bytes <= peak.unwrap());
            }
        }

        #[test]
        fn guarantee_holds_when_traces_within_the_envelope_repeat(
            trace in prop::collection::vec(0_u64..10_000_000, 1..20), rate_ns in 0_u64..12_000_000,
            write_bytes in 1_u64..9000, rate in 1_u64..3_000_000
        ) {
            let turns = trace.repeat(3);
            let envelope = Envelope::tightest(&turns, rate_ns);
            let left = guaranteed_left_bytes(&[envelope], *trace.iter().max().unwrap(), write_bytes, rate);
            if let (Some(left), Some(seen)) = (left, backlog_repeated(&trace, write_bytes, rate)) {
                prop_assert!(seen.left_bytes <= left);
            }
        }

        #[test]
        fn turning_points_find_the_greatest_excess_of_all_lengths(
            lines in prop::collection::vec((0_u64..3000, 0_u64..300), 0..5), longest in 1_u64..400, write_bytes in 1_u64..300
        ) {
            let envelopes: Vec<_> = lines.iter().map(|&(burst_ns, rate_ns)| Envelope { burst_ns, rate_ns }).collect();
            // A rate of 10⁹ B/s is one byte a nanosecond, so levels are whole bytes.
            if let Some(left) = guaranteed_left_bytes(&envelopes, longest, write_bytes, 1_000_000_000) {
                let slow = (1..5000_u64).map(|n| {
                    let most = envelopes.iter().map(|e| e.most_ns(n)).min().unwrap_or(u128::MAX);
                    most.min(u128::from(n * longest)) as i128 - i128::from(n * write_bytes)
                }).max().unwrap();
                prop_assert_eq!(i128::from(left), slow.max(0));
            }
        }
    }
}
