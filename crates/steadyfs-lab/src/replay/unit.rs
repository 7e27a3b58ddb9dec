//! Units of time, with the names that traces use.

use std::fmt;
use std::str::FromStr;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds: `ns`.
    Nanoseconds,
    /// Microseconds: `us` or `µs`.
    Microseconds,
    /// Milliseconds: `ms`.
    Milliseconds,
    /// Seconds: `s`.
    Seconds,
}

impl TimeUnit {
    /// Returns the nanoseconds in one unit.
    pub fn ns(self) -> u32 {
        match self {
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Seconds => 1_000_000_000,
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "µs",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
        })
    }
}

/// The text is not the name of a unit of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTimeUnit(
    /// The text as given.
    pub String,
);

impl fmt::Display for UnknownTimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found the unit `{}`, expected one of ns, us, ms or s", self.0)
    }
}

impl std::error::Error for UnknownTimeUnit {}

impl FromStr for TimeUnit {
    type Err = UnknownTimeUnit;

    fn from_str(text: &str) -> Result<TimeUnit, UnknownTimeUnit> {
        Ok(match text.trim().to_lowercase().as_str() {
            "ns" | "nsec" | "nanosecond" | "nanoseconds" => TimeUnit::Nanoseconds,
            // The two Greek characters in use for micro, and the Latin letter in their place.
            "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "microsecond" | "microseconds" => {
                TimeUnit::Microseconds
            }
            "ms" | "msec" | "millisecond" | "milliseconds" => TimeUnit::Milliseconds,
            "s" | "sec" | "second" | "seconds" => TimeUnit::Seconds,
            _ => return Err(UnknownTimeUnit(text.trim().to_string())),
        })
    }
}
