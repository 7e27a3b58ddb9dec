//! The bench as the author of another kind of file system uses it. Here that is a map in RAM that
//! takes a microsecond a byte.

use std::collections::BTreeMap;
use steadyfs::media::Geometry;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs_lab::bench::{
    Case, Contender, Fault, Figures, Medium, Mode, Operation, Options, Report, Room, Row, Steady,
    Volume, measure, run,
};
use steadyfs_sim::{Counters, Nand, NandTiming, Nor, NorTiming};

/// Fault of the map.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    Nothing,
    LosesWhatItIsAsked,
    PromisesTooMuch,
}

struct Map {
    files: BTreeMap<String, Vec<u8>>,
    counters: Counters,
    lie: Lie,
}

impl Map {
    fn new(lie: Lie) -> Map {
        Map { files: BTreeMap::new(), counters: Counters::default(), lie }
    }

    fn program(&mut self, bytes: usize) {
        self.counters.programs += 1;
        self.counters.bytes_programmed += bytes as u64;
        self.counters.time_ns += bytes as u64 * 1_000;
    }
}

impl Contender for Map {
    type File = String;
    type Volume<'a> = &'a mut Map;

    fn system(&self) -> String {
        "a map".to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        self.files.clear();
        Ok(())
    }

    fn mount(&mut self) -> Result<&mut Map, Fault> {
        Ok(self)
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn erase_counts(&self) -> Vec<u32> {
        vec![3; 4]
    }
}

impl Volume for &mut Map {
    type File = String;

    fn open(&mut self, path: &str, mode: Mode) -> Result<String, Fault> {
        match mode {
            Mode::Read | Mode::Write if !self.files.contains_key(path) => {
                Err(Fault::Failed(format!("no {path}")))
            }
            _ => {
                let bytes = self.files.entry(path.to_string()).or_default();
                if mode == Mode::Replace {
                    bytes.clear();
                }
                Ok(path.to_string())
            }
        }
    }

    fn close(&mut self, _file: String) -> Result<(), Fault> {
        Ok(())
    }

    fn read(&mut self, file: &mut String, offset: u64, data: &mut [u8]) -> Result<usize, Fault> {
        let bytes = &self.files[file.as_str()][offset as usize..];
        let length = bytes.len().min(data.len());
        data[..length].copy_from_slice(&bytes[..length]);
        if self.lie == Lie::LosesWhatItIsAsked && length > 0 {
            data[0] ^= 1;
        }
        self.counters.reads += 1;
        self.counters.time_ns += length as u64 * 100;
        Ok(length)
    }

    fn write(&mut self, file: &mut String, offset: u64, data: &[u8]) -> Result<(), Fault> {
        let bytes = self.files.entry(file.clone()).or_default();
        let end = offset as usize + data.len();
        bytes.resize(bytes.len().max(end), 0);
        bytes[offset as usize..end].copy_from_slice(data);
        self.program(data.len());
        Ok(())
    }

    fn sync(&mut self, _file: &mut String) -> Result<(), Fault> {
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        self.files.remove(path);
        self.program(1);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        let bytes = self.files.remove(from).unwrap_or_default();
        self.files.insert(to.to_string(), bytes);
        self.program(1);
        Ok(())
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        self.files
            .get(path)
            .map(|bytes| bytes.len() as u64)
            .ok_or_else(|| Fault::Failed(format!("no {path}")))
    }

    fn unmount(self) -> Result<(), Fault> {
        Ok(())
    }

    fn room(&mut self) -> Result<Room, Fault> {
        let used: usize = self.files.values().map(Vec::len).sum();
        let usable_bytes = 1 << 20;
        Ok(Room {
            usable_bytes,
            free_bytes: usable_bytes.saturating_sub(used as u64),
            unit_bytes: 1,
            files_max: 1_000,
            file_bytes_max: usable_bytes,
        })
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn bound_ns(&self, operation: &Operation<'_, String>) -> Option<u64> {
        let is_write = matches!(operation, Operation::Write { .. });
        (self.lie == Lie::PromisesTooMuch).then_some(if is_write { 1 } else { u64::MAX / 8 })
    }
}

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 32, block_count: 128, programs_bytes: false };
const SMALL_NAND: Medium =
    Medium::Nand { geometry: GEOMETRY, timing: NandTiming::ROUND, on_chip_copy: true };

fn map(lie: Lie, cases: &[&str]) -> Report {
    let cases = cases.iter().map(|name| Case::named(name).unwrap()).collect();
    let options = Options { cases, ..Options::default() };
    measure(&SMALL_NAND, &options, || Map::new(lie), &|_, _| {}).unwrap()
}

#[test]
fn bench_measures_a_file_system_of_another_kind() {
    let report = map(Lie::Nothing, &Case::names());
    assert_eq!(
        (report.system.as_str(), report.usable_bytes, report.rows.len()),
        ("a map", 1 << 20, 30)
    );
    let names: Vec<_> = report.rows.iter().map(|row| row.case.as_str()).collect();
    assert_eq!(names, Case::names());
    assert!(report.failures().is_empty(), "{report}");
    let figures =
        |case: &str| report.rows.iter().find(|row| row.case == case).unwrap().figures.unwrap();
    let append = figures("append-64");
    assert_eq!(
        (append.calls, append.mean_us, append.max_us, append.bound_us),
        (2_500, 64.0, 64.0, None)
    );
    assert_eq!(
        (append.programs, append.programmed_bytes, append.bytes_per_s),
        (2_500, 160_000, None)
    );
    assert_eq!((figures("read-256").bytes_per_s, figures("open").mean_us), (Some(1e7), 0.0));
    let served = figures("web-server");
    assert_eq!((served.calls, served.reads), (20_000, 186_800));
    assert!((served.mean_us - 233.5).abs() < 1e-6, "46.7 MB: {served:?}");
}

#[test]
fn bench_says_why_a_case_was_not_measured() {
    let report = map(Lie::Nothing, &["rename-10000", "copy-10mb"]);
    let skipped: Vec<_> = report.rows.iter().map(|row| row.skipped.as_deref().unwrap()).collect();
    assert_eq!(
        skipped,
        [
            "needs 10,000 files, the volume holds 1,000",
            "needs files of 10,000,000 bytes, one has 1,048,576 at most"
        ]
    );
}

#[test]
fn bench_finds_bytes_that_are_not_those_written_and_bounds_that_do_not_hold() {
    for case in Case::names()
        .into_iter()
        .filter(|&case| !["rename-10000", "copy-10mb", "copy-35", "remove"].contains(&case))
    {
        let failures = map(Lie::LosesWhatItIsAsked, &[case]).failures();
        assert!(
            failures.concat().ends_with("the read bytes differ from the written bytes"),
            "{case}: {failures:?}"
        );
    }
    let report = map(Lie::PromisesTooMuch, &["seq-512", "append-64"]);
    let failures = [
        "seq-512: write took 512 µs, but its bound was 0.001 µs",
        "append-64: write took 4.096 ms, but its bound was 0.001 µs",
    ];
    assert_eq!(report.failures(), failures);
    assert_eq!(
        report.rows.iter().map(|row| row.figures.is_some()).collect::<Vec<_>>(),
        [true, false],
        "{report}"
    );
}

/// Cases that have no room on the first 2 MiB of a chip.
const TOO_LARGE: [&str; 3] = ["rename-10000", "copy-10mb", "copy-35"];

fn check(row: &Row, too_large: &[&str]) {
    let Row { case, figures, skipped, failed } = row;
    assert_eq!((skipped.is_some(), failed), (too_large.contains(&case.as_str()), &None), "{row:?}");
    let Some(Figures {
        mean_us,
        p99_us,
        max_us,
        bound_us,
        limit_us,
        programs,
        erases,
        wear,
        data_wear,
        ..
    }) = *figures
    else {
        return;
    };
    assert!(
        mean_us <= max_us && p99_us <= max_us && bound_us.is_none_or(|bound_us| max_us <= bound_us),
        "{row:?}"
    );
    // Names in the journal's buffer are not read. The limit contains a share of an erase, even if a
    // few calls need none.
    let is_less = ["open", "stat"].contains(&case.as_str()) || (programs > 0 && erases == 0);
    assert!(
        is_less || limit_us.is_none_or(|limit_us| limit_us <= mean_us),
        "faster than the chip: {row:?}"
    );
    assert!(wear.min <= data_wear.min && data_wear.max <= wear.max, "{row:?}");
}

#[test]
fn bench_measures_every_case_on_small_nand_and_the_same_again() {
    let options = Options { files: 100, ..Options::default() };
    let make = || Steady::new(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1));
    let report = measure(&SMALL_NAND, &options, make, &|_, _| {}).unwrap();
    report.rows.iter().for_each(|row| check(row, &TOO_LARGE));
    let some = Options {
        cases: ["append-64", "create", "wear-random"]
            .map(|name| Case::named(name).unwrap())
            .to_vec(),
        ..options
    };
    let again = measure(&SMALL_NAND, &some, make, &|_, _| {}).unwrap();
    assert!(again.rows.iter().all(|row| report.rows.contains(row)), "{again}");
}

#[test]
fn bench_measures_every_case_on_small_nor() {
    let (block_bytes, block_count, timing) = (16_384, 128, NorTiming::ROUND);
    let medium = Medium::Nor { block_bytes, block_count, timing };
    let make = || {
        Steady::new(NorPages::new(
            Nor::with_geometry(block_bytes, block_count, timing, 1),
            page_bytes_for(block_bytes),
        ))
    };
    let options = Options { files: 100, ..Options::default() };
    let report = measure(&medium, &options, make, &|_, _| {}).unwrap();
    report.rows.iter().for_each(|row| check(row, &TOO_LARGE));
}

#[test]
fn bench_copies_and_renames_many_files_on_a_whole_chip() {
    let cases = TOO_LARGE.map(|name| Case::named(name).unwrap()).to_vec();
    let report = run(&Options { cases, ..Options::default() }, &|_, _| {}).unwrap();
    report.rows.iter().for_each(|row| check(row, &[]));
    let copy = report.rows[1].figures.unwrap();
    assert!(copy.mean_us < 1.1 * copy.limit_us.unwrap(), "{copy:?}");
}

#[test]
fn bench_progress_comes_to_its_end() {
    let shares = std::sync::Mutex::new(Vec::new());
    let cases = ["open", "stat"].map(|name| Case::named(name).unwrap()).to_vec();
    let options = Options { cases, ..Options::default() };
    measure(&SMALL_NAND, &options, || Map::new(Lie::Nothing), &|share, _| {
        shares.lock().unwrap().push(share)
    })
    .unwrap();
    assert_eq!(shares.into_inner().unwrap().last(), Some(&1.0));
}
