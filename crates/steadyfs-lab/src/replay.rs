//! Traces of access times measured on a board, read from CSV.
//!
//! A trace is text with one access per line: a column of durations, or a column of starts and one of ends. Columns are
//! separated by commas, semicolons or tabs; empty lines and lines that start with `#` are skipped; a header is optional
//! for a single column. Where a semicolon or a tab separates, a comma within a number is a decimal point.
//!
//! A latency log of fio (`write_lat_log`) is known by its four to six columns of whole numbers; its writes count, in nanoseconds unless the caller gives another unit.
//!
//! The unit stands in the header (`duration_us`, `time [ns]`, `start (ms),end (ms)`) or is given by the caller. It is
//! never guessed. `csv` in general allows quoted line breaks; a trace has no use for them, and without them every
//! error names the line where it stands.
//!
//! [`read_trace_file`] gives a [`Trace`], of which [`Summary::of`](crate::summary::Summary::of) tells the rest.

mod error;
mod header;
mod unit;

pub use error::{Problem, TraceError};
pub use unit::TimeUnit;

use header::{Columns, columns_of};
use std::io::{self, BufRead, Write};
use std::path::Path;

/// A trace of access times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name of the file, as given.
    pub name: String,
    /// Access times in nanoseconds, in order; at least one.
    pub access_ns: Vec<u64>,
}

/// Reads a trace from a file. `unit` is the unit of its times, needed when its header names none.
///
/// # Errors
/// [`TraceError`] names the file, the line, what was found and what was expected.
pub fn read_trace_file(path: &Path, unit: Option<TimeUnit>) -> Result<Trace, TraceError> {
    let name = path.display().to_string();
    match std::fs::File::open(path) {
        Ok(file) => read_trace(&name, io::BufReader::new(file), unit),
        Err(error) => Err(TraceError { file: name, line: None, problem: Problem::Unreadable(error) }),
    }
}

/// Reads a trace from text. `name` stands for the file in errors.
///
/// # Errors
/// As [`read_trace_file`].
///
/// # Example
/// ```
/// use steadyfs_lab::replay::read_trace;
/// let trace = read_trace("board.csv", "start_ms;end_ms\n0;1,5\n2;2,25\n".as_bytes(), None).unwrap();
/// assert_eq!(trace.access_ns, [1_500_000, 250_000]);
/// ```
pub fn read_trace(name: &str, text: impl BufRead, unit: Option<TimeUnit>) -> Result<Trace, TraceError> {
    let mut reader = Reader { unit, layout: None, access_ns: Vec::new() };
    let error = |line, problem| TraceError { file: name.to_string(), line, problem };
    for (index, line) in text.split(b'\n').enumerate() {
        let number = Some(index as u64 + 1);
        let line = line.map_err(|failure| error(None, Problem::Unreadable(failure)))?;
        let line = std::str::from_utf8(&line).map_err(|_| error(number, Problem::NotText))?;
        let line = if index == 0 { line.trim_start_matches('\u{feff}') } else { line };
        reader.line(line.trim_end_matches('\r')).map_err(|problem| error(number, problem))?;
    }
    if reader.access_ns.is_empty() {
        return Err(error(None, Problem::Empty));
    }
    Ok(Trace { name: name.to_string(), access_ns: reader.access_ns })
}

/// Writes access times as a trace that [`read_trace`] reads back exactly: one column, `duration_us`.
///
/// # Errors
/// Those of the writer.
pub fn write_trace(mut to: impl Write, access_ns: &[u64]) -> io::Result<()> {
    writeln!(to, "duration_us")?;
    for ns in access_ns {
        writeln!(to, "{}.{:03}", ns / 1000, ns % 1000)?;
    }
    to.flush()
}

/// How the lines of a trace are laid out, known from its first line.
struct Layout {
    separator: char,
    columns: Columns,
    unit: TimeUnit,
    /// Columns that a line must have.
    least: usize,
}

/// The direction of a write in a log of fio.
const FIO_WRITE: &str = "1";

/// The state of reading: the layout once it is known, and the accesses so far.
struct Reader {
    unit: Option<TimeUnit>,
    layout: Option<Layout>,
    access_ns: Vec<u64>,
}

impl Reader {
    /// Takes one line: skips it, learns the layout from it, or adds an access.
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            return Ok(());
        }
        let Some(layout) = &self.layout else {
            let separator = separator_of(line);
            let fields = fields_of(line, separator);
            let (columns, unit, has_header) = columns_of(&fields, self.unit)?;
            let least = if has_header || columns == Columns::Fio { fields.len() } else { 1 };
            self.layout = Some(Layout { separator, columns, unit, least });
            return if has_header { Ok(()) } else { self.line(line) };
        };
        let fields = fields_of(line, layout.separator);
        if fields.len() < layout.least {
            return Err(Problem::ShortLine { found: fields.len(), expected: layout.least });
        }
        let access = match layout.columns {
            Columns::Duration(column) => layout.time(fields[column])?,
            Columns::StartEnd(start, end) => layout.span(fields[start], fields[end])?,
            Columns::Fio if fields[2] != FIO_WRITE => return Ok(()),
            Columns::Fio => layout.time(fields[1])?,
        };
        self.access_ns.push(access);
        Ok(())
    }
}

/// The separator of a line: whichever it contains of semicolon, tab and comma, in this order.
fn separator_of(line: &str) -> char {
    [';', '\t'].into_iter().find(|&separator| line.contains(separator)).unwrap_or(',')
}

/// The fields of a line, without spaces and quotes around them.
fn fields_of(line: &str, separator: char) -> Vec<&str> {
    line.split(separator).map(|field| field.trim().trim_matches('"').trim()).collect()
}

/// Times longer than this are refused: 30 years in nanoseconds. Smaller ones are exact to a nanosecond when given with
/// fewer than 16 digits.
const LONGEST_NS: f64 = 9.5e17;

impl Layout {
    /// Reads a time that may not be negative, in nanoseconds.
    fn time(&self, field: &str) -> Result<u64, Problem> {
        let ns = self.number(field)?;
        if ns < 0 {
            return Err(Problem::Negative { found: field.to_string() });
        }
        Ok(ns as u64)
    }

    /// Reads the time from a start to an end, in nanoseconds. Both may count from any origin.
    fn span(&self, start: &str, end: &str) -> Result<u64, Problem> {
        let (from, to) = (self.number(start)?, self.number(end)?);
        u64::try_from(to - from).map_err(|_| Problem::EndBeforeStart { start: start.to_string(), end: end.to_string() })
    }

    /// Reads a number in the unit of the trace, in nanoseconds, rounded.
    fn number(&self, field: &str) -> Result<i64, Problem> {
        let pointed = if self.separator == ',' { field.to_string() } else { field.replace(',', ".") };
        let found = || field.to_string();
        if let Ok(whole) = pointed.parse::<i64>() {
            let ns = whole.checked_mul(i64::from(self.unit.ns())).filter(|ns| ns.unsigned_abs() as f64 <= LONGEST_NS);
            return ns.ok_or_else(|| Problem::TooLong { found: found(), unit: self.unit });
        }
        let number: f64 = pointed.parse().map_err(|_| Problem::NotANumber { found: found() })?;
        if !number.is_finite() {
            return Err(Problem::NotFinite { found: found() });
        }
        let ns = number * f64::from(self.unit.ns());
        if ns.abs() > LONGEST_NS {
            return Err(Problem::TooLong { found: found(), unit: self.unit });
        }
        Ok(ns.round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Vec<u64>, String> {
        read_with(text, None)
    }

    fn read_with(text: &str, unit: Option<TimeUnit>) -> Result<Vec<u64>, String> {
        read_trace("t.csv", text.as_bytes(), unit).map(|trace| trace.access_ns).map_err(|error| error.to_string())
    }

    #[test]
    fn header_states_column_and_unit() {
        for header in ["duration_us", "us", "Time [us]", "latency (µs)", "access time/us", "\"elapsed µs\"", "durationUs"] {
            assert_eq!(read(&format!("{header}\n252\n2505.5\n")), Ok(vec![252_000, 2_505_500]), "{header}");
        }
        assert_eq!(read("time [ns]\n7\n"), Ok(vec![7]));
        assert_eq!(read("seconds\n0.25\n"), Ok(vec![250_000_000]));
    }

    #[test]
    fn a_latency_log_of_fio_is_read_and_only_its_writes_count() {
        assert_eq!(
            read("1, 1533441, 1, 4096, 0\n2, 70, 0, 4096, 8192\n3, 23000000, 1, 4096, 0\n"),
            Ok(vec![1_533_441, 23_000_000])
        );
        assert_eq!(read("12, 1500, 1, 4096, 0x100, 0\n"), Ok(vec![1_500]));
        assert_eq!(read_with("0,1500,1,4096\n", Some(TimeUnit::Microseconds)), Ok(vec![1_500_000]), "of fio 2");
        assert!(read("1, 1533441, 1, 4096, 0\n2, 70\n").unwrap_err().contains("line 2"));
        assert!(read("1, 2, 3, 4\n").is_err(), "no direction");
    }

    #[test]
    fn unit_of_the_caller_serves_files_without_one() {
        assert_eq!(read_with("1.5\n2\n", Some(TimeUnit::Milliseconds)), Ok(vec![1_500_000, 2_000_000]));
        assert_eq!(read_with("duration\n3\n", Some(TimeUnit::Microseconds)), Ok(vec![3_000]));
        assert_eq!(read_with("duration_us\n3\n", Some(TimeUnit::Microseconds)), Ok(vec![3_000]));
    }

    #[test]
    fn starts_and_ends_give_durations_from_any_origin() {
        assert_eq!(read("start_us,end_us\n-5,10\n10,10\n"), Ok(vec![15_000, 0]));
        assert_eq!(read("n,op,begin [ms],finish [ms]\n1,write,1,2.5\n"), Ok(vec![1_500_000]));
        // Nanoseconds of a wall clock do not fit into a double; the difference is exact all the same.
        let (start, end) = (900_000_000_000_000_001_u64, 900_000_000_000_252_002_u64);
        assert_eq!(read(&format!("start_ns,end_ns\n{start},{end}\n")), Ok(vec![252_001]));
    }

    #[test]
    fn column_of_durations_is_found_among_others() {
        assert_eq!(read("timestamp_ms,op,duration_us,bytes\n12,w,252,4096\n13,w,253,4096\n"), Ok(vec![252_000, 253_000]));
        assert_eq!(read("index\tlatency_us\n0\t1,5\n"), Ok(vec![1_500]));
        assert_eq!(read("time_ms;duration_us\n9;1\n"), Ok(vec![1_000]));
    }

    #[test]
    fn comments_blank_lines_and_foreign_line_ends_are_skipped() {
        assert_eq!(read("\u{feff}# board 7\r\n\r\nduration_us\r\n1\r\n# pause\r\n\r\n2\r\n"), Ok(vec![1_000, 2_000]));
    }

    #[test]
    fn errors_name_file_line_found_and_expected() {
        let cases = [
            ("", "t.csv: found no access, expected at least one line with a duration"),
            ("duration_us\n", "t.csv: found no access, expected at least one line with a duration"),
            ("duration_us\n1\n-2\n", "t.csv, line 3: found `-2`, expected a time that is not negative"),
            ("duration_us\n# a\n\n1\nfast\n", "t.csv, line 5: found `fast`, expected a number"),
            ("duration_us\n1,\n,\n", "t.csv, line 3: found ``, expected a number"),
            ("duration_us\nNaN\n", "t.csv, line 2: found `NaN`, expected a finite number"),
            ("duration_us\ninf\n", "t.csv, line 2: found `inf`, expected a finite number"),
            ("duration_us\n1e400\n", "t.csv, line 2: found `1e400`, expected a finite number"),
            ("duration_s\n1e12\n", "t.csv, line 2: found `1e12` s, expected less than 30 years; is the unit right?"),
            ("duration_s\n9223372036854775807\n", "t.csv, line 2: found `9223372036854775807` s, expected less than"),
            ("start_us,end_us\n5,4\n", "t.csv, line 2: found the end `4`, expected one that is not before the start `5`"),
            ("start_us,end_us\n1,2\n3\n", "t.csv, line 3: found 1 column, expected 2"),
            ("a_us,duration_us,b\n1,2,3\n3,4\n", "t.csv, line 3: found 2 columns, expected 3"),
            ("start_us,end_ms\n1,2\n", "t.csv, line 1: found starts in µs and ends in ms, expected the same unit"),
            ("1\n2\n", "t.csv, line 1: found numbers without a unit, expected a header"),
            ("duration\n2\n", "t.csv, line 1: found the column `duration` without a known unit"),
            ("duration_fortnights\n2\n", "t.csv, line 1: found the column `duration_fortnights` without a known unit"),
            ("op,size\nw,2\n", "t.csv, line 1: found the columns `op`, `size`, expected a column of durations"),
            ("1,2\n3,4\n", "t.csv, line 1: found the columns `1`, `2`, expected a column of durations"),
        ];
        for (text, expected) in cases {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
        let conflict = read_with("duration_us\n1\n", Some(TimeUnit::Milliseconds)).unwrap_err();
        assert_eq!(conflict, "t.csv, line 1: found the unit µs in the header, expected ms as given by --unit");
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        let error = read_trace("t.csv", &b"duration_us\n1\n\xff\xfe\n"[..], None).unwrap_err();
        assert_eq!((error.line, error.to_string().contains("UTF-8")), (Some(3), true));
    }

    #[test]
    fn missing_file_is_named() {
        let error = read_trace_file(Path::new("no/such/trace.csv"), None).unwrap_err().to_string();
        assert!(error.starts_with("no/such/trace.csv: cannot be read: "), "{error}");
    }

    proptest! {
        #[test]
        fn written_traces_are_read_back_exactly(access_ns in prop::collection::vec(0_u64..10_000_000_000_000, 1..50)) {
            let mut text = Vec::new();
            write_trace(&mut text, &access_ns).unwrap();
            prop_assert_eq!(read_trace("t", text.as_slice(), None).unwrap().access_ns, access_ns);
        }

        #[test]
        fn any_bytes_are_read_or_refused_without_panicking(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_trace("t", bytes.as_slice(), Some(TimeUnit::Microseconds));
        }

        #[test]
        fn any_lines_are_read_or_refused_without_panicking(text in "(start_us|end_us|[0-9,;.#a-z_\n-]){0,60}") {
            let _ = read_trace("t", text.as_bytes(), None);
        }
    }
}
