//! Traces of access times measured on a board, read from CSV.
//!
//! A trace is text with one access per line. It has a column of durations, or a column of starts
//! and a column of ends. Columns are separated by commas, semicolons or tabs. Empty lines and lines
//! that start with `#` are skipped. A header is optional for a single column. If a semicolon or a
//! tab separates the columns, a comma in a number is a decimal point.
//!
//! A latency log of fio (`write_lat_log`) is recognised by its columns of whole numbers. Only its
//! writes count. All writes must have one size, which the trace stores. In other traces a comment
//! `# write bytes: N` states this size. A log of windows
//! (`log_avg_msec`) is refused, because its lines are no accesses. The times are in nanoseconds; a
//! log that may be of fio 2 needs the unit from the caller.
//!
//! The header contains the unit (`duration_us`, `time [ns]`, `start (ms),end (ms)`), or the caller
//! gives it. The unit is never guessed. `csv` in general allows quoted line breaks. A trace does
//! not need them, and without them every error has the number of its line.
//!
//! [`read_trace_file`] returns a [`Trace`]; [`Summary::of`](crate::summary::Summary::of) summarizes
//! it.

mod error;
mod fio;
mod header;
mod unit;

pub use error::{Problem, TraceError};
pub use fio::Fio;
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
    /// The bytes of each write, and the rest of a log of fio. `None` if neither a log nor a comment
    /// `# write bytes: N` states these bytes.
    pub fio: Option<Fio>,
    /// Number of calls that the file system refused, from a comment `# refused: N`. They have no
    /// access time.
    pub refused: u64,
}

/// Bytes of each write, if neither the trace nor the caller gives them.
const USUAL_WRITE_BYTES: u64 = 4096;

impl Trace {
    /// Returns the bytes of each write: the size in the log or comment, else the size that the
    /// caller gives, else 4,096.
    ///
    /// # Errors
    /// [`Problem::WriteSize`] if trace and caller differ.
    pub fn write_bytes(&self, given: Option<u64>) -> Result<u64, TraceError> {
        match (self.fio, given) {
            (Some(Fio { write_bytes: found, .. }), Some(given)) if given != found => {
                Err(TraceError {
                    file: self.name.clone(),
                    line: None,
                    problem: Problem::WriteSize { found, given },
                })
            }
            (Some(fio), _) => Ok(fio.write_bytes),
            (None, given) => Ok(given.unwrap_or(USUAL_WRITE_BYTES)),
        }
    }
}

/// Reads a trace from a file. `unit` is the unit of its times; it is required if the header
/// contains none.
///
/// # Errors
/// [`TraceError`] names the file and the line, with the found and the expected text.
pub fn read_trace_file(path: &Path, unit: Option<TimeUnit>) -> Result<Trace, TraceError> {
    let name = path.display().to_string();
    match std::fs::File::open(path) {
        Ok(file) => read_trace(&name, io::BufReader::new(file), unit),
        Err(error) => {
            Err(TraceError { file: name, line: None, problem: Problem::Unreadable(error) })
        }
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
pub fn read_trace(
    name: &str,
    text: impl BufRead,
    unit: Option<TimeUnit>,
) -> Result<Trace, TraceError> {
    let mut reader = Reader {
        unit,
        layout: None,
        fio: Fio::EMPTY,
        access_ns: Vec::new(),
        refused: 0,
        write_bytes: None,
    };
    let error = |line, problem| TraceError { file: name.to_string(), line, problem };
    for (index, line) in text.split(b'\n').enumerate() {
        let number = Some(index as u64 + 1);
        let line = line.map_err(|failure| error(None, Problem::Unreadable(failure)))?;
        let line = std::str::from_utf8(&line).map_err(|_| error(number, Problem::NotText))?;
        let line = if index == 0 { line.trim_start_matches('\u{feff}') } else { line };
        reader.line(line.trim_end_matches('\r')).map_err(|problem| error(number, problem))?;
    }
    let Reader { fio, layout, access_ns, refused, write_bytes, .. } = reader;
    if access_ns.is_empty() {
        let Fio { reads, trims, .. } = fio;
        return Err(error(
            None,
            if reads + trims > 0 { Problem::NoWrite { reads, trims } } else { Problem::Empty },
        ));
    }
    let is_fio = layout.is_some_and(|layout| layout.columns == Columns::Fio);
    let stated = write_bytes.map(|write_bytes| Fio { write_bytes, ..Fio::EMPTY });
    let fio = if is_fio { Some(fio) } else { stated };
    Ok(Trace { name: name.to_string(), access_ns, fio, refused })
}

/// Writes access times as a trace that [`read_trace`] reads back exactly: a comment with the bytes
/// of each write, and one column, `duration_us`.
///
/// # Errors
/// The errors of the writer.
pub fn write_trace(mut to: impl Write, access_ns: &[u64], write_bytes: u64) -> io::Result<()> {
    writeln!(to, "# {WRITE_BYTES} {write_bytes}")?;
    writeln!(to, "duration_us")?;
    for ns in access_ns {
        writeln!(to, "{}.{:03}", ns / 1000, ns % 1000)?;
    }
    to.flush()
}

/// Beginning of the comment with the number of refused calls.
const REFUSED: &str = "refused:";
/// Beginning of the comment with the bytes of each write.
const WRITE_BYTES: &str = "write bytes:";

/// Layout of the lines of a trace, derived from its first line.
struct Layout {
    separator: char,
    columns: Columns,
    unit: TimeUnit,
    /// Minimum number of columns in a line.
    least: usize,
}

/// State of a reader: the layout, once it is derived, and the accesses so far.
struct Reader {
    unit: Option<TimeUnit>,
    layout: Option<Layout>,
    fio: Fio,
    access_ns: Vec<u64>,
    refused: u64,
    write_bytes: Option<u64>,
}

impl Reader {
    /// Takes one line: skips it, derives the layout from it, or adds an access.
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        if let Some(comment) = line.trim_start().strip_prefix('#') {
            let number = |key| comment.trim().strip_prefix(key)?.trim().parse::<u64>().ok();
            self.refused = number(REFUSED).unwrap_or(self.refused);
            self.write_bytes = number(WRITE_BYTES).filter(|&bytes| bytes > 0).or(self.write_bytes);
            return Ok(());
        }
        if line.trim().is_empty() {
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
            Columns::Fio => match self.fio.take(&fields, self.unit)? {
                Some(column) => layout.time(fields[column])?,
                None => return Ok(()),
            },
        };
        self.access_ns.push(access);
        Ok(())
    }
}

/// Returns the separator of a line: the first of semicolon, tab and comma that it contains.
fn separator_of(line: &str) -> char {
    [';', '\t'].into_iter().find(|&separator| line.contains(separator)).unwrap_or(',')
}

/// Returns the fields of a line, without spaces and quotes around them.
fn fields_of(line: &str, separator: char) -> Vec<&str> {
    line.split(separator).map(|field| field.trim().trim_matches('"').trim()).collect()
}

/// Longest accepted time: 30 years in nanoseconds. A shorter time is exact to a nanosecond if it
/// has fewer than 16 digits.
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
        u64::try_from(to - from)
            .map_err(|_| Problem::EndBeforeStart { start: start.to_string(), end: end.to_string() })
    }

    /// Reads a number in the unit of the trace, in nanoseconds, rounded.
    fn number(&self, field: &str) -> Result<i64, Problem> {
        let pointed =
            if self.separator == ',' { field.to_string() } else { field.replace(',', ".") };
        let found = || field.to_string();
        if let Ok(whole) = pointed.parse::<i64>() {
            let ns = whole
                .checked_mul(i64::from(self.unit.ns()))
                .filter(|ns| ns.unsigned_abs() as f64 <= LONGEST_NS);
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
        read_trace("t.csv", text.as_bytes(), unit)
            .map(|trace| trace.access_ns)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn header_states_column_and_unit() {
        for header in [
            "duration_us",
            "us",
            "Time [us]",
            "latency (µs)",
            "access time/us",
            "\"elapsed µs\"",
            "durationUs",
        ] {
            assert_eq!(
                read(&format!("{header}\n252\n2505.5\n")),
                Ok(vec![252_000, 2_505_500]),
                "{header}"
            );
        }
        assert_eq!(read("time [ns]\n7\n"), Ok(vec![7]));
        assert_eq!(read("seconds\n0.25\n"), Ok(vec![250_000_000]));
    }

    fn fio(text: &str) -> Result<(Vec<u64>, Option<Fio>), String> {
        read_trace("t", text.as_bytes(), None)
            .map(|trace| (trace.access_ns, trace.fio))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_latency_log_of_fio_is_read_and_only_its_writes_count() {
        let log = "1, 1533441, 1, 4096, 0, 0\n\
            2, 70, 0, 512, 8192, 0\n\
            3, 23000000, 1, 4096, 12288, 0\n\
            4, 9, 2, 65536, 0, 0\n";
        let (access_ns, found) = fio(log).unwrap();
        assert_eq!(access_ns, [1_533_441, 23_000_000]);
        assert_eq!(found, Some(Fio { write_bytes: 4096, reads: 1, trims: 1 }));
        assert_eq!(
            found.unwrap().left_out().unwrap(),
            "1 read and 1 trim left out: only writes count"
        );
        let columns = [
            "12, 1500, 1, 4096, 0",
            "12, 1500, 1, 4096, 0x400a",
            "12, 1500, 1, 4096, 0x100, 0",
            "12, 1500, 1, 4096, 8192, 0x0000",
            "12, 1500, 1, 4096, 0, 123456789",
            "12, 1500, 1, 4096, 8192, 0, 123456789",
        ];
        for line in columns {
            assert_eq!(
                fio(line),
                Ok((vec![1_500], Some(Fio { write_bytes: 4096, reads: 0, trims: 0 }))),
                "{line}"
            );
        }
        assert!(read("1, 1533441, 1, 4096, 0\n2, 70\n").unwrap_err().contains("line 2"));
        assert!(read("1, 2, 3, 4\n").is_err(), "no direction");
    }

    /// A log with `log_avg_msec` was taken for accesses. The longest access was gone: the result
    /// was no buffer where 240 KiB were needed.
    #[test]
    fn a_log_of_windows_is_refused_with_means_with_maxima_and_with_both() {
        for log in [
            "1000, 2000000, 1, 0, 0\n2000, 2100000, 1, 0, 0\n",
            "1000, 2000000, 1, 0\n",
            "1000, 2000000, 1, 0, 0, 0\n",
            "1000, 2000000, 250000000, 1, 0, 0\n",
            "1000, 2000000, 250000000, 1, 0, 0, 0, 0\n",
        ] {
            let error = fio(log).unwrap_err();
            assert!(
                error.starts_with(
                    "t, line 1: found the mean or the maximum of a window of time (`log_avg_msec`)"
                ),
                "{error}"
            );
        }
        assert!(
            fio("1, 5, 1, 4096, 0\n2, 7, 1, 0, 0\n")
                .unwrap_err()
                .starts_with("t, line 2: found the mean")
        );
    }

    /// The microseconds of fio 2 were taken for nanoseconds without an error.
    #[test]
    fn a_log_that_may_be_of_fio_2_needs_its_unit() {
        let logs = ["0,1500,1,4096\n", "0, 1500, 1, 4096, 0\n1, 1500, 1, 4096, 4096\n"];
        for (log, line) in logs.into_iter().zip(1..) {
            let error = read(log).unwrap_err();
            assert!(
                error.starts_with(&format!(
                    "t.csv, line {line}: found a log of fio without a priority"
                )),
                "{error}"
            );
            assert!(
                read_with(log, Some(TimeUnit::Microseconds))
                    .unwrap()
                    .iter()
                    .all(|&ns| ns == 1_500_000)
            );
            assert!(
                read_with(log, Some(TimeUnit::Nanoseconds)).unwrap().iter().all(|&ns| ns == 1_500)
            );
        }
    }

    /// Writes of 65,536 bytes were reported as 4 KiB. The block size of the log was not read.
    #[test]
    fn the_size_of_writes_is_that_of_the_log() {
        let trace =
            read_trace("t", "1, 5, 1, 65536, 0\n2, 6, 1, 65536, 0\n".as_bytes(), None).unwrap();
        assert_eq!(
            (trace.write_bytes(None).unwrap(), trace.write_bytes(Some(65_536)).unwrap()),
            (65_536, 65_536)
        );
        let error = trace.write_bytes(Some(4096)).unwrap_err().to_string();
        assert_eq!(error, "t: found writes of 65536 bytes, expected 4096 as given for each write");
        let error = fio("1, 5, 1, 4096, 0\n2, 6, 0, 512, 0\n3, 6, 1, 8192, 0\n").unwrap_err();
        assert_eq!(
            error,
            "t, line 3: found a write of 8192 bytes after writes of 4096, expected writes of one \
             size"
        );
        let plain = read_trace("t", "us\n1\n".as_bytes(), None).unwrap();
        assert_eq!(
            (plain.write_bytes(None).unwrap(), plain.write_bytes(Some(512)).unwrap()),
            (4096, 512)
        );
    }

    #[test]
    fn a_log_of_fio_without_writes_and_an_unknown_direction_are_named() {
        let error = fio("1, 5, 0, 4096, 0\n2, 6, 0, 512, 0\n3, 6, 2, 8192, 0\n").unwrap_err();
        assert_eq!(error, "t: found 2 reads and 1 trim, expected at least one write");
        let error = fio("1, 5, 0, 4096, 0\n2, 6, 7, 512, 0\n").unwrap_err();
        assert_eq!(
            error,
            "t, line 2: found the direction `7`, expected 0 (read), 1 (write) or 2 (trim)"
        );
    }

    #[test]
    fn unit_of_the_caller_serves_files_without_one() {
        assert_eq!(
            read_with("1.5\n2\n", Some(TimeUnit::Milliseconds)),
            Ok(vec![1_500_000, 2_000_000])
        );
        assert_eq!(read_with("duration\n3\n", Some(TimeUnit::Microseconds)), Ok(vec![3_000]));
        assert_eq!(read_with("duration_us\n3\n", Some(TimeUnit::Microseconds)), Ok(vec![3_000]));
    }

    #[test]
    fn starts_and_ends_give_durations_from_any_origin() {
        assert_eq!(read("start_us,end_us\n-5,10\n10,10\n"), Ok(vec![15_000, 0]));
        assert_eq!(read("n,op,begin [ms],finish [ms]\n1,write,1,2.5\n"), Ok(vec![1_500_000]));
        // Nanoseconds of a wall clock do not fit into a double; the difference is exact all the
        // same.
        let (start, end) = (900_000_000_000_000_001_u64, 900_000_000_000_252_002_u64);
        assert_eq!(read(&format!("start_ns,end_ns\n{start},{end}\n")), Ok(vec![252_001]));
    }

    #[test]
    fn column_of_durations_is_found_among_others() {
        assert_eq!(
            read("timestamp_ms,op,duration_us,bytes\n12,w,252,4096\n13,w,253,4096\n"),
            Ok(vec![252_000, 253_000])
        );
        assert_eq!(read("index\tlatency_us\n0\t1,5\n"), Ok(vec![1_500]));
        assert_eq!(read("time_ms;duration_us\n9;1\n"), Ok(vec![1_000]));
    }

    /// A trace of 64-byte writes did not contain their size. `steady replay` computed with 4 KiB.
    #[test]
    fn comment_states_the_bytes_of_each_write() {
        let stated = |text: &str| read_trace("t.csv", text.as_bytes(), None).unwrap();
        let mut text = Vec::new();
        write_trace(&mut text, &[7], 64).unwrap();
        let trace = stated(std::str::from_utf8(&text).unwrap());
        assert_eq!(trace.write_bytes(None).unwrap(), 64);
        let error = trace.write_bytes(Some(512)).unwrap_err().to_string();
        assert!(error.contains("found writes of 64 bytes, expected 512"), "{error}");
        for text in ["# write bytes: 0\nus\n1\n", "# write bytes: some\nus\n1\n", "us\n1\n"] {
            assert_eq!(stated(text).write_bytes(None).unwrap(), USUAL_WRITE_BYTES, "{text}");
        }
    }

    #[test]
    fn comment_names_the_refused_calls() {
        let refused = |comment: &str| {
            read_trace("x", format!("{comment}\nduration_us\n1\n").as_bytes(), None)
                .unwrap()
                .refused
        };
        assert_eq!(
            ["# refused: 85", "#refused:85", "# refused: many", "# none"].map(refused),
            [85, 85, 0, 0]
        );
    }

    #[test]
    fn comments_blank_lines_and_foreign_line_ends_are_skipped() {
        assert_eq!(
            read("\u{feff}# board 7\r\n\r\nduration_us\r\n1\r\n# pause\r\n\r\n2\r\n"),
            Ok(vec![1_000, 2_000])
        );
    }

    #[test]
    fn errors_name_file_line_found_and_expected() {
        let cases = [
            ("", "t.csv: found no access, expected at least one line with a duration"),
            ("duration_us\n", "t.csv: found no access, expected at least one line with a duration"),
            (
                "duration_us\n1\n-2\n",
                "t.csv, line 3: found `-2`, expected a time that is not negative",
            ),
            ("duration_us\n# a\n\n1\nfast\n", "t.csv, line 5: found `fast`, expected a number"),
            ("duration_us\n1,\n,\n", "t.csv, line 3: found ``, expected a number"),
            ("duration_us\nNaN\n", "t.csv, line 2: found `NaN`, expected a finite number"),
            ("duration_us\ninf\n", "t.csv, line 2: found `inf`, expected a finite number"),
            ("duration_us\n1e400\n", "t.csv, line 2: found `1e400`, expected a finite number"),
            (
                "duration_s\n1e12\n",
                "t.csv, line 2: found `1e12` s, expected less than 30 years; check the unit",
            ),
            (
                "duration_s\n9223372036854775807\n",
                "t.csv, line 2: found `9223372036854775807` s, expected less than",
            ),
            (
                "start_us,end_us\n5,4\n",
                "t.csv, line 2: found the end `4`, expected no end before the start `5`",
            ),
            ("start_us,end_us\n1,2\n3\n", "t.csv, line 3: found 1 column, expected 2"),
            ("a_us,duration_us,b\n1,2,3\n3,4\n", "t.csv, line 3: found 2 columns, expected 3"),
            (
                "start_us,end_ms\n1,2\n",
                "t.csv, line 1: found starts in µs and ends in ms, expected the same unit",
            ),
            ("1\n2\n", "t.csv, line 1: found numbers without a unit, expected a header"),
            ("duration\n2\n", "t.csv, line 1: found the column `duration` without a known unit"),
            (
                "duration_fortnights\n2\n",
                "t.csv, line 1: found the column `duration_fortnights` without a known unit",
            ),
            (
                "op,size\nw,2\n",
                "t.csv, line 1: found the columns `op`, `size`, expected a column of durations",
            ),
            (
                "1,2\n3,4\n",
                "t.csv, line 1: found the columns `1`, `2`, expected a column of durations",
            ),
        ];
        for (text, expected) in cases {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
        let conflict = read_with("duration_us\n1\n", Some(TimeUnit::Milliseconds)).unwrap_err();
        assert_eq!(
            conflict,
            "t.csv, line 1: found the unit µs in the header, expected ms as given by --unit"
        );
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
            write_trace(&mut text, &access_ns, 64).unwrap();
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
