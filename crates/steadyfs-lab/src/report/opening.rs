//! The opening of a report: one sentence, and the first rate of the slider.

use super::Report;
use crate::backlog::{LOAD_MAX_PERCENT, Load};
use crate::units::format_duration;

/// First rate of the slider if nothing limits it, in bytes per second.
const ANY_RATE: u64 = 1_000_000;

/// Returns the sentence about the longest access and the promise.
pub(super) fn sentence(report: &Report) -> String {
    let longest_ns = report.longest_ns();
    let longest = format_duration(longest_ns as f64);
    let Some(bound_ns) = report.bound_ns else {
        return format!("Longest {longest}; no bound is promised.");
    };
    let verdict = if longest_ns <= bound_ns { "the bound held" } else { "the bound was broken" };
    format!("Promised {}, longest {longest}: {verdict}.", format_duration(bound_ns as f64))
}

/// Returns the highest offered rate, in bytes per second, for which a buffer is guaranteed. If none
/// is guaranteed, returns the highest rate for which the run has a buffer. If no rate has one,
/// returns 95 % of the mean rate of the accesses, rounded down to three digits.
pub(super) fn opening_rate(report: &Report) -> u64 {
    let has_buffer =
        |rate: u64| Load::of(&report.access_ns, report.write_bytes, rate) == Load::Below;
    let highest = |is_kept: &dyn Fn(u64) -> bool| {
        report.rates.iter().copied().filter(|&at| is_kept(at)).max()
    };
    let guaranteed = highest(&|rate| has_buffer(rate) && report.guaranteed_bytes(rate).is_some());
    if let Some(offered) = guaranteed.or_else(|| highest(&has_buffer)) {
        return offered;
    }
    let total_ns: u128 = report.access_ns.iter().map(|&ns| u128::from(ns)).sum();
    if total_ns == 0 {
        return ANY_RATE;
    }
    let mean =
        report.access_ns.len() as u128 * u128::from(report.write_bytes) * 1_000_000_000 / total_ns;
    three_digits(u64::try_from(mean * u128::from(LOAD_MAX_PERCENT) / 100).unwrap_or(u64::MAX))
        .max(1)
}

/// Rounds down to three digits.
fn three_digits(value: u64) -> u64 {
    let unit = 10_u64.pow(value.max(1).ilog10().saturating_sub(2));
    value / unit * unit
}

#[cfg(test)]
mod tests {
    use super::super::times::tests::report;
    use super::*;

    #[test]
    fn sentence_says_whether_the_bound_held() {
        let report = report();
        assert_eq!(sentence(&report), "Promised 10.000 ms, longest 9.000 ms: the bound held.");
        let broken = Report { bound_ns: Some(8_000_000), ..report.clone() };
        assert_eq!(sentence(&broken), "Promised 8.000 ms, longest 9.000 ms: the bound was broken.");
        assert_eq!(
            sentence(&Report { bound_ns: None, ..report }),
            "Longest 9.000 ms; no bound is promised."
        );
    }

    #[test]
    fn slider_opens_at_the_highest_rate_with_a_guaranteed_buffer() {
        let report = report();
        let guaranteed = |rate| report.guaranteed_bytes(rate).is_some();
        assert!(guaranteed(1_000_000) && !guaranteed(3_860_000));
        let offering = Report { rates: vec![500_000, 3_860_000, 1_000_000], ..report.clone() };
        assert_eq!(opening_rate(&offering), 1_000_000);
    }

    #[test]
    fn slider_opens_at_the_highest_rate_that_a_finite_buffer_sustains() {
        // A write of 4,096 B takes 1.008 ms on average: 4,063,492 B/s.
        let report = report();
        assert_eq!(opening_rate(&report), 1_000_000);
        let offering = |rates: &[u64]| Report { rates: rates.to_vec(), ..report.clone() };
        assert_eq!(
            opening_rate(&offering(&[3_860_000, 3_800_000, 4_063_000, 5_000_000])),
            3_860_000,
            "in whatever order"
        );
        for rates in [[].as_slice(), &[5_000_000, 6_000_000]] {
            assert_eq!(opening_rate(&offering(rates)), 3_860_000, "95 % of the mean");
        }
        let slow = Report { access_ns: vec![u64::MAX / 4; 3], ..report.clone() };
        assert_eq!(opening_rate(&slow), 1);
        let instant = Report { access_ns: vec![0, 0], rates: vec![], ..report };
        assert_eq!(opening_rate(&instant), ANY_RATE);
    }
}
