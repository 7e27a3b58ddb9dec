//! SQLite keeps its promises on a mounted volume, in each journal mode, also when power is cut.
//!
//! SQLite runs in its own process. A process that serves a file system must not map files of it.
//! The kernel writes mapped pages back while it holds the address space, and waits for a server
//! that may need it.
//!
//! `STEADYFS_FUSE_CUTS` sets the number of cuts per mode, and `STEADYFS_FUSE_SEED` their places.
//! A failure prints the command that repeats it.

#![cfg(target_os = "linux")]

mod common;

use common::{Chip, Mounted};
use rusqlite::{Connection, params};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use steadyfs_fuse::Options;

/// Number of cuts per mode in the usual tests.
const CUTS: u64 = 30;
/// Number of transactions until the last cut.
const TRANSACTIONS: i64 = 40;

/// A journal mode, and the setting that makes an acknowledged transaction durable in it on any
/// file system. In mode DELETE the removal of the journal commits a transaction, and only EXTRA
/// syncs the directory after that.
#[derive(Clone, Copy, Debug)]
struct Mode {
    journal: &'static str,
    synchronous: &'static str,
}

const DELETE: Mode = Mode { journal: "DELETE", synchronous: "EXTRA" };
const TRUNCATE: Mode = Mode { journal: "TRUNCATE", synchronous: "FULL" };
const PERSIST: Mode = Mode { journal: "PERSIST", synchronous: "FULL" };
const WAL: Mode = Mode { journal: "WAL", synchronous: "FULL" };

fn connect(path: &Path, mode: Mode) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.busy_timeout(Duration::from_secs(5))?;
    let chosen: String =
        database
            .query_row(&format!("PRAGMA journal_mode={}", mode.journal), [], |row| row.get(0))?;
    assert_eq!(chosen.to_uppercase(), mode.journal);
    database.pragma_update(None, "synchronous", mode.synchronous)?;
    Ok(database)
}

fn create(path: &Path, mode: Mode) -> Connection {
    let database = connect(path, mode).unwrap();
    database
        .execute_batch(
            "CREATE TABLE entry (number INTEGER PRIMARY KEY, text TEXT, bytes BLOB);
             CREATE INDEX by_text ON entry (text);
             CREATE TABLE total (count INTEGER);
             INSERT INTO total VALUES (0);",
        )
        .unwrap();
    database
}

fn text(number: i64) -> String {
    format!("entry {}", number.wrapping_mul(0x9E37_79B9) % 100_003)
}

/// Makes one transaction: one more entry, of up to three pages, and the count.
fn add(database: &mut Connection, number: i64) -> rusqlite::Result<()> {
    let transaction = database.transaction()?;
    let bytes = vec![number as u8; (number * 997 % 12_000) as usize];
    transaction
        .execute("INSERT INTO entry VALUES (?, ?, ?)", params![number, text(number), bytes])?;
    transaction.execute("UPDATE total SET count = count + 1", [])?;
    transaction.commit()
}

/// Checks the database, and returns the number of its entries.
fn check(database: &Connection) -> i64 {
    let verdict: String =
        database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let count: i64 = database.query_row("SELECT count FROM total", [], |row| row.get(0)).unwrap();
    let mut statement =
        database.prepare("SELECT number, text, bytes FROM entry ORDER BY number").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut entries = 0;
    for row in rows {
        let (number, found, bytes): (i64, String, Vec<u8>) = row.unwrap();
        entries += 1;
        assert_eq!((number, found), (entries, text(entries)));
        assert!(
            bytes.len() as i64 == number * 997 % 12_000
                && bytes.iter().all(|&byte| byte == number as u8)
        );
    }
    assert_eq!(entries, count, "a transaction is there in part");
    count
}

/// Variable with the task of SQLite's process.
const TASK: &str = "STEADYFS_FUSE_TASK";
const DATABASE: &str = "STEADYFS_FUSE_DATABASE";
const MODE: &str = "STEADYFS_FUSE_MODE";
/// Text that the process prints before a number: the number of acknowledged or of present
/// transactions.
const COUNT: &str = "count: ";

/// Runs this test binary as SQLite's process. Returns the last number that it printed.
fn in_process(task: &str, database: &Path, mode: Mode) -> i64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "sqlite_process", "--nocapture"]);
    command.env(TASK, task).env(DATABASE, database).env(MODE, mode.journal);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let mut numbers = text.lines().filter_map(|line| line.strip_prefix(COUNT)?.parse().ok());
    numbers.next_back().unwrap_or(0)
}

/// Runs as SQLite's process. It is not a test.
#[test]
fn sqlite_process() {
    let (Ok(task), Ok(path), Ok(journal)) =
        (std::env::var(TASK), std::env::var(DATABASE), std::env::var(MODE))
    else {
        return;
    };
    let mode =
        [DELETE, TRUNCATE, PERSIST, WAL].into_iter().find(|mode| mode.journal == journal).unwrap();
    let path = Path::new(&path);
    // The harness has begun a line.
    println!();
    match task.as_str() {
        "create" => drop(create(path, mode)),
        "work" => work(path, mode),
        "add" => add_until_cut(path, mode),
        _ => {
            let database = connect(path, mode).unwrap();
            println!("{COUNT}{}", check(&database));
            database.execute_batch("VACUUM").unwrap();
            check(&database);
        }
    }
}

fn work(path: &Path, mode: Mode) {
    let mut database = create(path, mode);
    // A second connection, so that locks and the shared memory of WAL are used.
    let reader = connect(path, mode).unwrap();
    for number in 1..=100 {
        add(&mut database, number).unwrap();
        if number % 10 == 0 {
            assert_eq!(check(&reader), number);
        }
    }
    let rolled_back = database.transaction().unwrap();
    rolled_back.execute("DELETE FROM entry", []).unwrap();
    rolled_back.rollback().unwrap();
}

fn works_and_survives_a_remount(mode: Mode) {
    let Some(mut m) = Mounted::new(Chip::small(2)) else { return };
    in_process("work", &m.path("database"), mode);
    m.remount();
    assert_eq!(in_process("check", &m.path("database"), mode), 100);
}

#[test]
fn rollback_journal_that_is_deleted() {
    works_and_survives_a_remount(DELETE);
}

#[test]
fn rollback_journal_that_is_truncated() {
    works_and_survives_a_remount(TRUNCATE);
}

#[test]
fn rollback_journal_that_persists() {
    works_and_survives_a_remount(PERSIST);
}

#[test]
fn write_ahead_log() {
    works_and_survives_a_remount(WAL);
}

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Adds entries until power fails or all are there. Prints the number of each acknowledged one.
fn add_until_cut(path: &Path, mode: Mode) {
    let Ok(mut database) = connect(path, mode) else { return };
    for number in 1..=TRANSACTIONS {
        if add(&mut database, number).is_err() {
            return;
        }
        println!("{COUNT}{number}");
    }
}

/// Cuts power at operations all over a run. Afterwards the database is whole, and every
/// acknowledged transaction is there.
fn survives_power_cuts(mode: Mode) {
    let options = Options { commit_interval: Duration::from_millis(20), ..Options::default() };
    let Some(mut m) = Mounted::with_options(Chip::small(3), options.clone()) else { return };
    in_process("create", &m.path("database"), mode);
    m.unmount().unwrap();
    let start = m.chip;

    let (seed, cuts) = (from_env("STEADYFS_FUSE_SEED", 1), from_env("STEADYFS_FUSE_CUTS", CUTS));
    let mut rng = fastrand::Rng::with_seed(seed);
    let run = |cut: Option<u64>| {
        let chip = start.snapshot();
        let before = chip.lock().operations();
        let mut m = Mounted::with_options(chip, options.clone()).unwrap();
        if let Some(cut) = cut {
            m.chip.lock().cut_at(cut);
        }
        let acknowledged = in_process("add", &m.path("database"), mode);
        let operations = m.chip.lock().operations() - before;
        m.cut_and_remount();
        let count = in_process("check", &m.path("database"), mode);
        // The transaction in progress may be there too.
        let range = acknowledged..=(acknowledged + 1).min(TRANSACTIONS);
        assert!(
            range.contains(&count),
            "{mode:?}: {acknowledged} acknowledged, {count} there; cut {cut:?}, seed {seed}"
        );
        operations
    };
    let operations = run(None);
    println!("{mode:?}: {cuts} cuts in {operations} operations of the chip, seed {seed}");
    for _ in 0..cuts {
        run(Some(rng.u64(1..=operations)));
    }
}

#[test]
fn power_cuts_with_a_journal_that_is_deleted() {
    survives_power_cuts(DELETE);
}

#[test]
fn power_cuts_with_a_journal_that_is_truncated() {
    survives_power_cuts(TRUNCATE);
}

#[test]
fn power_cuts_with_a_journal_that_persists() {
    survives_power_cuts(PERSIST);
}

#[test]
fn power_cuts_with_a_write_ahead_log() {
    survives_power_cuts(WAL);
}
