//! Rates, sizes, shares and durations as text, read and printed.
//!
//! Rates are decimal (1 kB/s is 1,000 bytes per second), memory is binary (1 KiB is 1,024 bytes);
//! both notations are read everywhere.
//!
//! [`parse_size`], [`parse_rate`] and the other parsers read text. [`format_size`], [`format_rate`]
//! and the other formatters print it.

use std::fmt;

/// Converts nanoseconds to microseconds.
pub(crate) fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// Reason why a quantity could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnitError {
    /// The text does not start with a decimal number that is zero or more.
    NoNumber {
        /// The text as given.
        found: String,
        /// Examples of accepted text.
        expected: &'static str,
    },
    /// The text after the number is not a unit of this kind.
    UnknownUnit {
        /// The unit as given; empty if it is missing.
        found: String,
        /// Examples of accepted text.
        expected: &'static str,
    },
    /// The value is outside of the range for this kind.
    OutOfRange {
        /// The text as given.
        found: String,
        /// The range in words.
        expected: &'static str,
    },
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitError::NoNumber { found, expected } => {
                write!(f, "found `{found}`, expected {expected}")
            }
            UnitError::UnknownUnit { found, expected } if found.is_empty() => {
                write!(f, "the unit is missing, expected {expected}")
            }
            UnitError::UnknownUnit { found, expected } => {
                write!(f, "found the unit `{found}`, expected {expected}")
            }
            UnitError::OutOfRange { found, expected } => {
                write!(f, "found `{found}`, expected {expected}")
            }
        }
    }
}

impl std::error::Error for UnitError {}

/// Splits a number from the unit behind it.
fn split<'a>(text: &'a str, expected: &'static str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    match text[..end].parse::<f64>() {
        Ok(number) => Ok((number, text[end..].trim())),
        Err(_) => Err(UnitError::NoNumber { found: text.to_string(), expected }),
    }
}

/// Returns the bytes in a unit of size, by its prefix: decimal for `kB`, binary for `KiB`.
fn bytes_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" | "kiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

/// Reads an input rate in bytes per second: `500kB/s`, `2.5 MB/s`, `1MiB/s`, `2048B/s`.
///
/// # Errors
/// [`UnitError`] if the text is not a number with a unit of rate. The rate must be from one byte
/// per second to 10¹² bytes per second.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    const EXPECTED: &str = "a rate such as 500kB/s, 2.5MB/s or 1MiB/s";
    let (number, unit) = split(text, EXPECTED)?;
    let scale = unit.strip_suffix("/s").and_then(|size| bytes_in(size.trim_end()));
    let scale = scale
        .ok_or_else(|| UnitError::UnknownUnit { found: unit.to_string(), expected: EXPECTED })?;
    let rate = (number * scale).round();
    if (1.0..=1e12).contains(&rate) {
        Ok(rate as u64)
    } else {
        Err(UnitError::OutOfRange {
            found: text.trim().to_string(),
            expected: "a rate from 1 B/s to 1000 GB/s",
        })
    }
}

/// Reads a size in bytes: `4KiB`, `4096`, `64B`, `1.5 MiB`.
///
/// # Errors
/// [`UnitError`] if the text is not a number of bytes, with or without a unit. The number must be
/// whole and at most 2⁴⁸ bytes.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    const EXPECTED: &str = "a size such as 4KiB, 4096 or 64B";
    let (number, unit) = split(text, EXPECTED)?;
    let scale = if unit.is_empty() { Some(1.0) } else { bytes_in(unit) };
    let scale = scale
        .ok_or_else(|| UnitError::UnknownUnit { found: unit.to_string(), expected: EXPECTED })?;
    let bytes = number * scale;
    if bytes.fract() == 0.0 && bytes <= (1_u64 << 48) as f64 {
        Ok(bytes as u64)
    } else {
        Err(UnitError::OutOfRange {
            found: text.trim().to_string(),
            expected: "a whole number of bytes up to 256 TiB",
        })
    }
}

/// Reads the size of a write in bytes, as [`parse_size`] does. Refuses zero, because a write that
/// takes nothing out of the buffer sustains no rate.
///
/// # Errors
/// As [`parse_size`], and [`UnitError::OutOfRange`] for zero.
pub fn parse_write_size(text: &str) -> Result<u64, UnitError> {
    match parse_size(text)? {
        0 => Err(UnitError::OutOfRange {
            found: text.trim().to_string(),
            expected: "at least one byte",
        }),
        bytes => Ok(bytes),
    }
}

/// Reads a share: `80%`, `80 %`, `80` or `0.8`. A number above 1 is a percentage.
///
/// # Errors
/// [`UnitError`] if the text is not a number, or if the number is not a share from 0 % to
/// 100 %.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    const EXPECTED: &str = "a share such as 80%, 80 or 0.8";
    let (number, unit) = split(text, EXPECTED)?;
    let share = match unit {
        "%" => number / 100.0,
        "" if number > 1.0 => number / 100.0,
        "" => number,
        _ => return Err(UnitError::UnknownUnit { found: unit.to_string(), expected: EXPECTED }),
    };
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(UnitError::OutOfRange {
            found: text.trim().to_string(),
            expected: "a share from 0% to 100%",
        })
    }
}

/// Reads a duration in nanoseconds: `20ms`, `250us`, `250 µs`, `1.5 s`.
///
/// # Errors
/// [`UnitError`] if the text is not a number with a unit of time. It must be a whole number of
/// nanoseconds and at most a day.
pub fn parse_duration(text: &str) -> Result<u64, UnitError> {
    const EXPECTED: &str = "a duration such as 20ms, 250us or 1.5s";
    let (number, unit) = split(text, EXPECTED)?;
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(UnitError::UnknownUnit { found: unit.to_string(), expected: EXPECTED }),
    };
    // Decimal fractions of a unit are whole nanoseconds up to rounding.
    let ns = (number * scale).round();
    if (ns - number * scale).abs() < 1e-3 && ns <= 86_400e9 {
        Ok(ns as u64)
    } else {
        Err(UnitError::OutOfRange {
            found: text.trim().to_string(),
            expected: "whole nanoseconds, up to a day",
        })
    }
}

/// Prints a number with at most `decimals` decimals and without trailing zeros.
fn plain(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// Prints a rate in decimal units: `500 kB/s`, `2.5 MB/s`.
pub fn format_rate(bytes_per_s: f64) -> String {
    match bytes_per_s {
        rate if !rate.is_finite() => "∞".to_string(),
        rate if rate < 999.5 => format!("{} B/s", plain(rate, 0)),
        rate if rate < 999_950.0 => format!("{} kB/s", plain(rate / 1e3, 1)),
        rate => format!("{} MB/s", plain(rate / 1e6, 2)),
    }
}

/// Prints a size in binary units: `914 B`, `4 KiB`, `7.1 KiB`, `115.2 MiB`.
pub fn format_size(bytes: u64) -> String {
    let size = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_525 => format!("{} KiB", plain(size / 1024.0, 1)),
        1_048_525..1_073_689_396 => format!("{} MiB", plain(size / 1_048_576.0, 1)),
        _ => format!("{} GiB", plain(size / 1_073_741_824.0, 2)),
    }
}

/// Prints a share as a percentage with at most one decimal: `80 %`, `92.5 %`.
pub fn format_percent(share: f64) -> String {
    format!("{} %", plain(share * 100.0, 1))
}

/// Prints a duration given in nanoseconds, to the microsecond: `252 µs`, `2.505 ms`, `1.25 s`;
/// below 10 µs in full.
pub fn format_duration(ns: f64) -> String {
    match ns {
        ns if ns < 10_000.0 => format!("{} µs", plain(ns / 1e3, 3)),
        ns if ns < 999_500.0 => format!("{} µs", plain(ns / 1e3, 0)),
        ns if ns < 999_999_500.0 => format!("{:.3} ms", ns / 1e6),
        ns => format!("{} s", plain(ns / 1e9, 3)),
    }
}

/// Prints a whole number with commas between groups of three digits: `20,000`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns true for zero, which JSON leaves out.
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_are_decimal_unless_written_binary() {
        assert_eq!(parse_rate("500kB/s"), Ok(500_000));
        assert_eq!(parse_rate("1MB/s"), Ok(1_000_000));
        assert_eq!(parse_rate(" 2.5 MB/s "), Ok(2_500_000));
        assert_eq!(parse_rate("1MiB/s"), Ok(1_048_576));
        assert_eq!(parse_rate("2 KiB/s"), Ok(2_048));
        assert_eq!(parse_rate("7B/s"), Ok(7));
    }

    #[test]
    fn sizes_are_bytes_without_a_unit() {
        assert_eq!(parse_size("4KiB"), Ok(4096));
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("64B"), Ok(64));
        assert_eq!(parse_size("1.5 MiB"), Ok(1_572_864));
        assert_eq!(parse_size("10kB"), Ok(10_000));
        assert_eq!((parse_size("0"), parse_write_size("4KiB")), (Ok(0), Ok(4096)));
        assert!(matches!(parse_write_size("0B"), Err(UnitError::OutOfRange { .. })));
    }

    #[test]
    fn shares_are_percentages_or_fractions() {
        assert_eq!(parse_percent("80%"), Ok(0.8));
        assert_eq!(parse_percent("0.8"), Ok(0.8));
        assert_eq!(parse_percent("100 %"), Ok(1.0));
        assert_eq!((parse_percent("80"), parse_percent("1")), (Ok(0.8), Ok(1.0)));
        assert!(matches!(parse_percent("101"), Err(UnitError::OutOfRange { .. })));
        assert!(matches!(parse_percent("120%"), Err(UnitError::OutOfRange { .. })));
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration("20ms"), Ok(20_000_000));
        assert_eq!(parse_duration("0.1 ms"), Ok(100_000));
        assert_eq!(parse_duration("250us"), parse_duration("250 µs"));
        assert_eq!((parse_duration("1.5s"), parse_duration("0s")), (Ok(1_500_000_000), Ok(0)));
        for text in ["20", "ms", "0.5ns", "-1s", "2d", "90000s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_was_expected() {
        for text in [
            "",
            "fast",
            "-1MB/s",
            "nanMB/s",
            "infkB/s",
            "1.2.3MB/s",
            "500",
            "500k",
            "500kB",
            "0B/s",
            "9999GB/s",
        ] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        for text in ["", "x", "-4", "4KiB/s", "0.5", "4 pages", "1e9"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        let message = parse_rate("500").unwrap_err().to_string();
        assert_eq!(
            message,
            "the unit is missing, expected a rate such as 500kB/s, 2.5MB/s or 1MiB/s"
        );
        assert!(parse_size("4 pages").unwrap_err().to_string().contains("`pages`"));
    }

    #[test]
    fn printed_quantities_are_short_and_have_units() {
        assert_eq!(format_rate(500_000.0), "500 kB/s");
        assert_eq!(format_rate(3_654_321.0), "3.65 MB/s");
        assert_eq!(format_rate(999_999.0), "1 MB/s");
        assert_eq!(format_rate(20.0), "20 B/s");
        assert_eq!(format_size(914), "914 B");
        assert_eq!(format_size(4096), "4 KiB");
        assert_eq!(format_size(1_048_575), "1 MiB");
        assert_eq!(format_percent(0.925), "92.5 %");
        assert_eq!(format_duration(252_000.0), "252 µs");
        assert_eq!(format_duration(2_505_000.0), "2.505 ms");
        assert_eq!(format_duration(1_250_000_000.0), "1.25 s");
        assert_eq!(format_duration(88.0), "0.088 µs");
        assert_eq!(format_count(1_234_567), "1,234,567");
        assert_eq!(format_count(20), "20");
    }

    proptest! {
        #[test]
        fn parsers_accept_or_refuse_any_text_without_panicking(text in ".*") {
            let _ = (parse_rate(&text), parse_size(&text), parse_percent(&text), parse_duration(&text));
        }

        #[test]
        fn printed_rates_are_read_back_within_their_rounding(rate in 1_u64..1_000_000_000) {
            let back = parse_rate(&format_rate(rate as f64)).unwrap() as f64;
            prop_assert!((back - rate as f64).abs() <= rate as f64 * 0.006 + 1.0);
        }
    }
}
