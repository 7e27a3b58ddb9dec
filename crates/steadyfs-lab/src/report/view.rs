//! The axis of access times: its end, and the place of the promised longest access on it.

/// The axis breaks if the promise is more than this many times the longest access. Without a break,
/// the accesses would fill less than half of the figure.
const FAR: f64 = 2.0;

/// An axis of access times that begins at zero; all in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// End of the axis.
    pub(super) end_ms: f64,
    /// Place of the promise; `None` if nothing is promised.
    pub(super) bound_at_ms: Option<f64>,
    /// Place of the break; `None` if the axis does not break. Beyond the break there is only the
    /// promise, not to scale.
    pub(super) break_ms: Option<f64>,
}

impl View {
    /// Returns the axis for a longest access and a promise, in nanoseconds.
    pub(super) fn of(longest_ns: u64, bound_ns: Option<u64>) -> View {
        let longest_ms = longest_ns.max(1) as f64 / 1e6;
        let bound_ms = bound_ns.map(|ns| ns as f64 / 1e6);
        match bound_ms {
            Some(bound_ms) if bound_ms > FAR * longest_ms => View {
                end_ms: 1.26 * longest_ms,
                bound_at_ms: Some(1.17 * longest_ms),
                break_ms: Some(1.1 * longest_ms),
            },
            _ => View {
                end_ms: 1.1 * bound_ms.unwrap_or(0.0).max(longest_ms),
                bound_at_ms: bound_ms,
                break_ms: None,
            },
        }
    }

    /// Returns the end of the scale: the break, or the end of the axis.
    pub(super) fn scale_end_ms(&self) -> f64 {
        self.break_ms.unwrap_or(self.end_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn near_promise_stands_at_its_value() {
        let view = View::of(10 * MS, Some(20 * MS));
        assert_eq!((view.bound_at_ms, view.break_ms), (Some(20.0), None));
        assert!(view.end_ms > 20.0 && view.scale_end_ms() == view.end_ms);
        let none = View::of(10 * MS, None);
        assert_eq!((none.bound_at_ms, none.break_ms, none.end_ms), (None, None, 11.0));
    }

    #[test]
    fn far_promise_stands_beyond_a_break_and_the_accesses_fill_the_figure() {
        for bound_ms in [21, 100, 1_000_000] {
            let view = View::of(10 * MS, Some(bound_ms * MS));
            let (bound_at, broken) = (view.bound_at_ms.unwrap(), view.break_ms.unwrap());
            assert!(10.0 < broken && broken < bound_at && bound_at < view.end_ms, "{view:?}");
            assert!(10.0 / view.end_ms > 0.75, "{view:?}");
        }
    }
}
