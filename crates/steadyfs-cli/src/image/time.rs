//! Times of modification: nanoseconds since 1970; 0 if there is none.

use std::fs::File;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

const NS_PER_S: u64 = 1_000_000_000;

/// Returns the time of the last change of a host file.
pub fn of_file(metadata: &std::fs::Metadata) -> u64 {
    metadata.modified().map_or(0, of_system)
}

/// Returns the current time.
pub fn now() -> u64 {
    of_system(SystemTime::now())
}

fn of_system(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}

/// Gives an open file or directory of the host its time on the volume. Ignores failures.
pub fn set_on_host(file: &File, modified_ns: u64) {
    if modified_ns != 0 {
        let _ = file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(modified_ns));
    }
}

/// Formats a time as text, in UTC to the second; `-` if there is none.
pub fn format(modified_ns: u64) -> String {
    if modified_ns == 0 {
        return "-".to_string();
    }
    let seconds = modified_ns / NS_PER_S;
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Returns year, month and day of a number of days since 1970. Years begin in March here, so that
/// the leap day is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (
        era * 400 + year_of_era + u64::from(month <= 2),
        month,
        day_of_year - (153 * from_march + 2) / 5 + 1,
    )
}

/// The times that packed files get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// One time for all, in nanoseconds; 0 for none.
    Fixed(u64),
    /// Each file keeps its own.
    OfFiles,
}

impl FromStr for Stamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "files" {
            return Ok(Self::OfFiles);
        }
        let ns = text.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(NS_PER_S));
        ns.map(Self::Fixed)
            .ok_or_else(|| "expected whole seconds since 1970, or `files`".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_utc() {
        for (seconds, text) in [
            (1, "1970-01-01 00:00:01"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_700_000_000, "2023-11-14 22:13:20"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            assert_eq!(format(seconds * NS_PER_S), text);
        }
        assert_eq!(format(0), "-");
        assert!(format(u64::MAX).starts_with("2554-"));
    }

    #[test]
    fn stamps_are_seconds_or_those_of_the_files() {
        assert_eq!("files".parse(), Ok(Stamp::OfFiles));
        assert_eq!("7".parse(), Ok(Stamp::Fixed(7_000_000_000)));
        for text in ["", "now", "-1", "1.5", "99999999999999"] {
            assert!(text.parse::<Stamp>().is_err(), "{text}");
        }
    }
}
