//! The first line of a trace: the columns with times, and their unit.

use super::error::Problem;
use super::fio::is_fio;
use super::unit::TimeUnit;

/// The columns with the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// One column of durations.
    Duration(usize),
    /// A column of starts and a column of ends.
    StartEnd(usize, usize),
    /// A latency log of fio. The module `fio` has the columns. Only writes count.
    Fio,
}

/// Words for a column of durations. An earlier word is preferred, because `time` may also be a time
/// of day.
const DURATION_WORDS: [&str; 9] =
    ["duration", "latency", "elapsed", "access", "delta", "dt", "busy", "response", "time"];
const START_WORDS: [&str; 3] = ["start", "begin", "from"];
const END_WORDS: [&str; 5] = ["end", "stop", "finish", "finished", "to"];

/// Finds the columns and their unit, from the fields of the first line. The third value is true if
/// these fields are a header.
pub(super) fn columns_of(
    fields: &[&str],
    given: Option<TimeUnit>,
) -> Result<(Columns, TimeUnit, bool), Problem> {
    let numbers =
        fields.iter().filter(|field| field.replace(',', ".").parse::<f64>().is_ok()).count();
    let named: Vec<Vec<String>> = fields.iter().map(|field| words(field)).collect();
    // One number and nothing else is a column of durations without a header, even if a separator
    // follows.
    let filled = fields.iter().filter(|field| !field.is_empty()).count();
    if numbers == 1 && filled == 1 && !fields[0].is_empty() {
        let unit = given.ok_or(Problem::UnitMissing { column: String::new() })?;
        return Ok((Columns::Duration(0), unit, false));
    }
    if is_fio(fields) {
        return Ok((Columns::Fio, given.unwrap_or(TimeUnit::Nanoseconds), false));
    }
    let columns = (numbers == 0).then(|| named_columns(&named)).flatten();
    let columns = columns.ok_or_else(|| Problem::NoColumn {
        found: fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", "),
    })?;
    let unit = match columns {
        Columns::Duration(column) => unit_of(&named[column]),
        Columns::Fio => None,
        Columns::StartEnd(start, end) => match (unit_of(&named[start]), unit_of(&named[end])) {
            (Some(start), Some(end)) if start != end => {
                return Err(Problem::UnitsDiffer { start, end });
            }
            (start, end) => start.or(end),
        },
    };
    let first = if let Columns::Duration(first) | Columns::StartEnd(first, _) = columns {
        first
    } else {
        0
    };
    match (unit, given) {
        (Some(header), Some(given)) if header != given => {
            Err(Problem::UnitConflict { header, given })
        }
        (None, None) => Err(Problem::UnitMissing { column: fields[first].to_string() }),
        (header, given) => Ok((columns, header.or(given).unwrap_or(TimeUnit::Microseconds), true)),
    }
}

/// Finds columns by the words in their names.
fn named_columns(named: &[Vec<String>]) -> Option<Columns> {
    let with = |wanted: &[&str]| {
        named.iter().position(|words| words.iter().any(|word| wanted.contains(&word.as_str())))
    };
    // "time" may be a time of day, so starts and ends come before it.
    let (last, certain) = DURATION_WORDS.split_last()?;
    let duration = certain.iter().find_map(|word| with(&[word]));
    let span = || Some(Columns::StartEnd(with(&START_WORDS)?, with(&END_WORDS)?));
    let sole_with_unit = || {
        let mut units = named.iter().enumerate().filter(|(_, words)| unit_of(words).is_some());
        units.next().filter(|_| units.next().is_none()).map(|(column, _)| column)
    };
    let named_time = || with(&[last]).or_else(sole_with_unit).or((named.len() == 1).then_some(0));
    duration.map(Columns::Duration).or_else(span).or_else(|| named_time().map(Columns::Duration))
}

/// Returns the unit in a column's name: the last of its words that is a unit.
fn unit_of(words: &[String]) -> Option<TimeUnit> {
    words.iter().rev().find_map(|word| word.parse().ok())
}

/// Returns the words of a name, in lower case. They end at everything but letters, and before
/// capitals (`durationUs`).
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || (was_lower && letter.is_uppercase()) {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("it starts with one word").extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_in_all_their_spellings() {
        for (text, unit) in [
            ("ns", TimeUnit::Nanoseconds),
            ("us", TimeUnit::Microseconds),
            ("\u{b5}s", TimeUnit::Microseconds),
            ("\u{3bc}s", TimeUnit::Microseconds),
            (" Msec ", TimeUnit::Milliseconds),
            ("s", TimeUnit::Seconds),
        ] {
            assert_eq!(text.parse(), Ok(unit));
        }
        let error = "minutes".parse::<TimeUnit>().unwrap_err().to_string();
        assert_eq!(error, "found the unit `minutes`, expected one of ns, us, ms or s");
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("access_time[us]"), ["access", "time", "us"]);
        assert_eq!(words("durationUs"), ["duration", "us"]);
        assert_eq!(words("Write latency (ms)"), ["write", "latency", "ms"]);
    }

    #[test]
    fn timestamps_are_not_durations() {
        let columns = columns_of(&["timestamp_us", "op", "duration_us"], None).unwrap();
        assert_eq!(columns, (Columns::Duration(2), TimeUnit::Microseconds, true));
        let columns = columns_of(&["time", "start_us", "end_us"], None).unwrap();
        assert_eq!(columns, (Columns::StartEnd(1, 2), TimeUnit::Microseconds, true));
    }

    #[test]
    fn a_sole_column_or_a_sole_unit_is_taken() {
        assert_eq!(
            columns_of(&["write_us", "op"], None),
            Ok((Columns::Duration(0), TimeUnit::Microseconds, true))
        );
        assert_eq!(
            columns_of(&["foo"], Some(TimeUnit::Seconds)),
            Ok((Columns::Duration(0), TimeUnit::Seconds, true))
        );
    }

    impl PartialEq for Problem {
        fn eq(&self, other: &Problem) -> bool {
            self.to_string() == other.to_string()
        }
    }
}
