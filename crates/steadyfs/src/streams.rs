//! Streams for data: maps for hosts that already sort their data by its lifetime.
//!
//! A [volume](crate::Config::streams) has one to four streams. It gains most if data that is
//! rewritten about equally often has a separate stream. Some hosts already sort their data in this
//! way. The maps below turn such a sorting into a number for
//! [`WriteOptions::stream`](crate::disk::WriteOptions::stream) or
//! [`OpenOptions::stream`](crate::OpenOptions::stream):
//!
//! | host | input | map |
//! |---|---|---|
//! | a host of an eMMC | the number with the command, 0 to 15 | [`context_stream`] |
//! | F2FS | its six logs | [`f2fs_stream`] |
//! | SQLite | its nine kinds of temporary files | [`SqliteFile::stream`], by name [`sqlite_stream`] |
//!
//! On a volume with four streams, data with a stream has the numbers 1 to 3, and other data has 0.
//! These are the numbers of Vishwakarma, Sharma and Kodase, *Enhancing eMMC using Multi-Stream
//! technique* (2019), tables 2 and 3. Each map describes the numbers for fewer streams. No map uses
//! RAM, and a map that is never called takes no code.
//!
//! ```
//! use steadyfs::OpenOptions;
//! use steadyfs::streams::{F2fsLog, context_stream, f2fs_stream, sqlite_stream};
//!
//! let streams = 4; // Config::streams of the volume
//! assert_eq!(f2fs_stream(F2fsLog::ColdData, streams), 3);
//! assert_eq!(sqlite_stream(b"mail.db-wal", streams), 2);
//! assert_eq!(context_stream(15, streams), 3);
//!
//! let stream = sqlite_stream(b"mail.db-journal", streams);
//! let options = OpenOptions { stream, ..OpenOptions::CREATE };
//! assert_eq!(options.stream, 3);
//! ```

use crate::config::STREAMS_MAX;

/// Number of digits of the random number in a super-journal's name: nine, or eight in old versions
/// of SQLite.
const SUPER_JOURNAL_DIGITS: [usize; 2] = [8, 9];

/// Returns the stream for a number that a host sends with its data, 0 to 15. The context field of
/// the eMMC command SET_BLOCK_COUNT is such a number.
///
/// 0 is data without a stream, and stays 0. A number that is a stream of the volume stays the same.
/// All greater numbers become the last stream. So the order of the numbers is kept: if a host
/// numbers its data by lifetime, only neighbouring numbers share a stream. On a volume with one
/// stream all numbers become 0.
///
/// ```
/// use steadyfs::streams::context_stream;
///
/// assert_eq!([0, 1, 2, 3, 4, 15].map(|number| context_stream(number, 3)), [0, 1, 2, 2, 2, 2]);
/// ```
pub const fn context_stream(number: u8, streams: u8) -> u8 {
    let last = valid(streams) - 1;
    if number < last { number } else { last }
}

/// The six logs of F2FS. Each log holds nodes or data, sorted by the time until they are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum F2fsLog {
    /// Inodes and direct nodes of directories.
    HotNode,
    /// Inodes and direct nodes of files.
    WarmNode,
    /// Indirect nodes.
    ColdNode,
    /// Entries of directories.
    HotData,
    /// Data of files that is overwritten.
    WarmData,
    /// Data of files that is appended, data that F2FS's cleaning has moved, and data of media
    /// files.
    ColdData,
}

/// Returns the stream of a log of F2FS. The nodes and the data of one temperature share a stream.
///
/// | streams | hot | warm | cold | data that F2FS writes in place (checkpoints, tables) |
/// |---|---|---|---|---|
/// | 4 | 1 | 2 | 3 | 0 |
/// | 3 | 0 | 1 | 2 | 0 |
/// | 2 | 0 | 0 | 1 | 0 |
///
/// With three streams, the hot logs share a stream with the data that F2FS writes in place. Every
/// checkpoint rewrites that data. With two streams, only cold data has a separate stream.
///
/// ```
/// use steadyfs::streams::{F2fsLog, f2fs_stream};
///
/// assert_eq!(f2fs_stream(F2fsLog::HotNode, 4), f2fs_stream(F2fsLog::HotData, 4));
/// assert_eq!(f2fs_stream(F2fsLog::ColdData, 2), 1);
/// ```
pub const fn f2fs_stream(log: F2fsLog, streams: u8) -> u8 {
    let number: u8 = match log {
        F2fsLog::HotNode | F2fsLog::HotData => 1,
        F2fsLog::WarmNode | F2fsLog::WarmData => 2,
        F2fsLog::ColdNode | F2fsLog::ColdData => 3,
    };
    number.saturating_sub(STREAMS_MAX - valid(streams))
}

/// The nine kinds of temporary files that SQLite makes beside a database. The flags of `xOpen` name
/// the kind for most of these files, so a VFS can choose the stream by the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SqliteFile {
    /// The old content of the pages that a transaction changes: `DATABASE-journal`. It lives as
    /// long as the transaction.
    RollbackJournal,
    /// The names of the rollback journals of a transaction over several databases: `DATABASE-mj`
    /// and hexadecimal digits. It lives while the transaction commits.
    SuperJournal,
    /// The new content of pages: `DATABASE-wal`. It lives from the first connection to the last
    /// one.
    Wal,
    /// The index of the WAL, with the same lifetime: `DATABASE-shm`.
    SharedMemory,
    /// The undo data of one statement among several. It lives as long as the statement.
    StatementJournal,
    /// Tables made with `CREATE TEMP TABLE`. They live as long as the connection.
    TempDatabase,
    /// The result of a view or subquery. It lives as long as the query.
    Materialization,
    /// An index that one statement makes for its own use.
    TransientIndex,
    /// The new database that `VACUUM` writes. It lives as long as this statement.
    VacuumDatabase,
}

impl SqliteFile {
    /// Returns the stream of a kind of file.
    ///
    /// | streams | the database, and files of other programs | WAL, its index, TEMP databases, materializations | journals, transient indices, `VACUUM` |
    /// |---|---|---|---|
    /// | 4 | 0 | 2 | 3 |
    /// | 3 | 0 | 1 | 2 |
    /// | 2 | 0 | 1 | 1 |
    ///
    /// Databases have no separate stream. With four streams, the program may use stream 1 for other
    /// data. With two streams, all temporary files share one stream.
    ///
    /// ```
    /// use steadyfs::streams::SqliteFile;
    ///
    /// assert_eq!(SqliteFile::TempDatabase.stream(4), 2);
    /// assert_eq!(SqliteFile::VacuumDatabase.stream(4), 3);
    /// assert_eq!(SqliteFile::VacuumDatabase.stream(2), 1);
    /// ```
    pub const fn stream(self, streams: u8) -> u8 {
        let ends_soon = match self {
            Self::Wal | Self::SharedMemory | Self::TempDatabase | Self::Materialization => 0,
            _ => 1,
        };
        match valid(streams) {
            1 => 0,
            2 => 1,
            streams => streams - 2 + ends_soon,
        }
    }

    /// Returns the kind of a file with this name, or `None` if no temporary file has such a name.
    fn of_name(name: &[u8]) -> Option<Self> {
        if name.starts_with(b"etilqs_") && !name.ends_with(b"-journal") {
            return Some(Self::StatementJournal);
        }
        let dash = name.iter().rposition(|&byte| byte == b'-').filter(|&dash| dash > 0)?;
        match &name[dash + 1..] {
            b"journal" => Some(Self::RollbackJournal),
            b"wal" => Some(Self::Wal),
            b"shm" => Some(Self::SharedMemory),
            [b'm', b'j', digits @ ..] if is_super_journal(digits) => Some(Self::SuperJournal),
            _ => None,
        }
    }
}

/// Returns the stream for a file with this name. If SQLite gives names of this form to a kind of
/// temporary file, the function returns the [stream](SqliteFile::stream) of that kind. For all
/// other names, it returns 0. The name is the last part of a path.
///
/// | name | kinds | streams 4, 3, 2 |
/// |---|---|---|
/// | `…-journal` | rollback journal, also of a TEMP database | 3, 2, 1 |
/// | `…-mj` and eight or nine hexadecimal digits | super-journal | 3, 2, 1 |
/// | `…-wal` | WAL | 2, 1, 1 |
/// | `…-shm` | shared memory | 2, 1, 1 |
/// | `etilqs_…` | five kinds: see below | 3, 2, 1 |
/// | any other | databases, and files of other programs | 0 |
///
/// Five kinds share one pattern, `etilqs_` with a random number: statement journal, TEMP database,
/// materialization, transient index and the database of `VACUUM`. The name does not show which kind
/// it is, so the file gets the stream that three of the five kinds have. If the caller has the
/// kind, it should use [`SqliteFile::stream`].
///
/// A file of another program may have such a name too. Then its pages are only written to other
/// blocks. SQLite has a setting for short names (8.3). These names are not recognized.
///
/// ```
/// use steadyfs::streams::sqlite_stream;
///
/// let names = [&b"x.db"[..], b"x.db-wal", b"x.db-journal", b"/var/tmp/etilqs_7a1f"];
/// assert_eq!(names.map(|name| sqlite_stream(name, 4)), [0, 2, 3, 3]);
/// ```
pub fn sqlite_stream(name: &[u8], streams: u8) -> u8 {
    let begin = name.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    SqliteFile::of_name(&name[begin..]).map_or(0, |file| file.stream(streams))
}

/// Returns true if the text behind `-mj` is the number of a super-journal.
fn is_super_journal(digits: &[u8]) -> bool {
    SUPER_JOURNAL_DIGITS.contains(&digits.len())
        && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'))
}

/// Limits a number of streams to the range of a volume, 1 to 4.
const fn valid(streams: u8) -> u8 {
    match streams {
        0 => 1,
        1..=STREAMS_MAX => streams,
        _ => STREAMS_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGS: [(F2fsLog, u8); 6] = [
        (F2fsLog::HotNode, 1),
        (F2fsLog::WarmNode, 2),
        (F2fsLog::ColdNode, 3),
        (F2fsLog::HotData, 1),
        (F2fsLog::WarmData, 2),
        (F2fsLog::ColdData, 3),
    ];
    const FILES: [(SqliteFile, u8); 9] = [
        (SqliteFile::RollbackJournal, 3),
        (SqliteFile::SuperJournal, 3),
        (SqliteFile::Wal, 2),
        (SqliteFile::SharedMemory, 2),
        (SqliteFile::StatementJournal, 3),
        (SqliteFile::TempDatabase, 2),
        (SqliteFile::Materialization, 2),
        (SqliteFile::TransientIndex, 3),
        (SqliteFile::VacuumDatabase, 3),
    ];

    #[test]
    fn with_four_streams_the_maps_are_those_of_the_paper() {
        LOGS.iter().for_each(|&(log, stream)| assert_eq!(f2fs_stream(log, 4), stream, "{log:?}"));
        FILES.iter().for_each(|&(file, stream)| assert_eq!(file.stream(4), stream, "{file:?}"));
        (0..=3).for_each(|number| assert_eq!(context_stream(number, 4), number));
    }

    #[test]
    fn every_map_gives_a_stream_that_the_volume_has_and_keeps_the_order() {
        for streams in 0..=u8::MAX {
            let has = |stream: u8| stream < streams.clamp(1, 4);
            let in_order = |a: (u8, u8), b: (u8, u8)| a.1 > b.1 || a.0 <= b.0;
            for (log, number) in LOGS {
                let stream = f2fs_stream(log, streams);
                assert!(has(stream), "{log:?} of {streams}: {stream}");
                assert!(LOGS.iter().all(|&(other, its)| in_order(
                    (stream, number),
                    (f2fs_stream(other, streams), its)
                )));
            }
            for (file, number) in FILES {
                let stream = file.stream(streams);
                assert!(has(stream), "{file:?} of {streams}: {stream}");
                assert!(
                    stream > 0 || streams < 2,
                    "what is temporary lies apart where there is another stream"
                );
                assert!(
                    FILES.iter().all(|&(other, its)| in_order(
                        (stream, number),
                        (other.stream(streams), its)
                    ))
                );
            }
            (0..=u8::MAX).for_each(|number| assert!(has(context_stream(number, streams))));
            assert!((1..=u8::MAX).all(
                |number| context_stream(number - 1, streams) <= context_stream(number, streams)
            ));
            assert_eq!(context_stream(0, streams), 0);
        }
    }

    #[test]
    fn fewer_streams_part_what_they_can() {
        let logs = |streams| {
            [F2fsLog::HotData, F2fsLog::WarmData, F2fsLog::ColdData]
                .map(|log| f2fs_stream(log, streams))
        };
        assert_eq!([logs(3), logs(2), logs(1)], [[0, 1, 2], [0, 0, 1], [0; 3]]);
        let files = |streams| {
            [SqliteFile::Wal, SqliteFile::RollbackJournal].map(|file| file.stream(streams))
        };
        assert_eq!([files(3), files(2), files(1)], [[1, 2], [1, 1], [0; 2]]);
    }

    #[test]
    fn a_name_tells_what_it_can() {
        let journals: [&[u8]; 6] = [
            b"x.db-journal",
            b"dir-wal/x.db-journal",
            b"x.db-mj0A1B2C9FF",
            b"x.db-mj0A1B2C3D",
            b"etilqs_0123456789abcdef",
            b"etilqs_0123456789abcdef-journal",
        ];
        let logs: [&[u8]; 4] = [b"x.db-wal", b"a-b-wal", b"/var/x.db-shm", b"etilqs_dir/x-wal"];
        let others: [&[u8]; 14] = [
            b"",
            b"/",
            b"x.db",
            b"-journal",
            b"-wal",
            b"journal",
            b"x.db-",
            b"x.db-journals",
            b"x.db-JOURNAL",
            b"x.db-mj",
            b"x.db-mj0A1B2C9F0F",
            b"x.db-mj0a1b2c9ff",
            b"x.db-journal/notes",
            b"an_etilqs_0",
        ];
        for (names, streams) in
            [(&journals[..], [3, 2, 1, 0]), (&logs, [2, 1, 1, 0]), (&others, [0; 4])]
        {
            for name in names {
                let found = [4, 3, 2, 1].map(|streams| sqlite_stream(name, streams));
                assert_eq!(found, streams, "{}", name.escape_ascii());
            }
        }
    }
}
