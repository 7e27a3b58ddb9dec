//! File systems of Linux on a disk whose power is cut. Their own tools repair the remains. After
//! that, every file that `fsync` acknowledged is there.
//!
//! The test needs root, its own mount namespace, loop devices and minutes: `tools/disk-cuts.sh`
//! runs it. Environment: `STEADYFS_ON` (a file system; all by default), `STEADYFS_CUTS`,
//! `STEADYFS_FILES`, `STEADYFS_BEFORE` (files that are written before power may fail) and
//! `STEADYFS_SEED`.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod on_disk;

use common::{Chip, MountedDisk};
use fastrand::Rng;
use on_disk::{KINDS, Kind};
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};
use steadyfs_fuse::Options;

/// Number of directories that contain the files.
const DIRECTORIES: u32 = 20;

/// Returns a number from the environment.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"))
    })
}

/// Returns the content of a file.
fn content(file: u32) -> Vec<u8> {
    let mut rng = Rng::with_seed(file.into());
    let length = rng.usize(100..8_000);
    (0..length).map(|_| rng.u8(..)).collect()
}

fn path_of(root: &Path, file: u32) -> std::path::PathBuf {
    root.join(format!("directory-{}", file % DIRECTORIES)).join(format!("file-{file}"))
}

/// Writes a file and makes it durable, as programs do: the file, and the directory that names it.
fn write_file(root: &Path, file: u32) -> io::Result<()> {
    let path = path_of(root, file);
    let mut open = File::create(&path)?;
    open.write_all(&content(file))?;
    open.sync_all()?;
    File::open(path.parent().expect("a directory"))?.sync_all()
}

/// Writes files until all are there, or one is refused. Returns the first one that was not
/// acknowledged.
fn write_files(root: &Path, files: Range<u32>) -> u32 {
    let end = files.end;
    files.into_iter().find(|&file| write_file(root, file).is_err()).unwrap_or(end)
}

/// Returns the acknowledged files whose content differs from the written one.
fn lost(root: &Path, acknowledged: u32) -> Vec<u32> {
    (0..acknowledged)
        .filter(|&file| fs::read(path_of(root, file)).ok().as_ref() != Some(&content(file)))
        .collect()
}

/// Makes a disk with a file system, its directories, and the files that are written before power
/// may fail.
fn prepare(kind: &Kind, before: u32, seed: u64) -> Option<Chip> {
    let disk = MountedDisk::new(Chip::disk(kind.blocks, seed), options())?;
    kind.make(&disk.file());
    {
        let mounted = kind.mount(&disk.file());
        for directory in 0..DIRECTORIES {
            fs::create_dir(mounted.path().join(format!("directory-{directory}"))).unwrap();
        }
        assert_eq!(
            write_files(mounted.path(), 0..before),
            before,
            "{}: there is room for all files",
            kind.name
        );
    }
    let chip = disk.chip.clone();
    disk.unmount().unwrap();
    Some(chip)
}

/// Returns options with which only flushes make data durable.
fn options() -> Options {
    Options { commit_interval: Duration::from_secs(3600), ..Options::default() }
}

/// Returns the number of programs and erases for writing the files.
fn operations(kind: &Kind, base: &Chip, files: Range<u32>) -> u64 {
    let disk = MountedDisk::new(base.snapshot(), options()).expect("it was mounted before");
    let before = disk.chip.lock().operations();
    let mounted = kind.mount(&disk.file());
    assert_eq!(
        write_files(mounted.path(), files.clone()),
        files.end,
        "{}: there is room for all files",
        kind.name
    );
    let spent = disk.chip.lock().operations() - before;
    drop(mounted);
    disk.unmount().unwrap();
    spent
}

/// Cuts power in an operation. Returns the number of acknowledged files, and the lost ones among
/// them.
fn cut(kind: &Kind, base: &Chip, files: Range<u32>, operation: u64) -> (u32, Vec<u32>) {
    let disk = MountedDisk::new(base.snapshot(), options()).expect("it was mounted before");
    disk.chip.lock().cut_at(operation);
    // The cut may meet the mount of the file system as well.
    let acknowledged = kind
        .try_mount(&disk.file())
        .map_or(files.start, |mounted| write_files(mounted.path(), files.clone()));
    let chip = disk.chip.clone();
    // If idle work was spared, the operation has not come yet.
    chip.lock().cut_now();
    // Without power no commit succeeds.
    let _ = disk.unmount();
    chip.lock().power_on();
    let disk = MountedDisk::new(chip, options()).expect("it was mounted before");
    kind.repair(&disk.file());
    kind.check(&disk.file());
    let lost = lost(kind.mount(&disk.file()).path(), acknowledged);
    disk.unmount().unwrap();
    (acknowledged, lost)
}

fn campaign(kind: &Kind, cuts: u64, files: Range<u32>, seed: u64) {
    if let Err(reason) = kind.is_possible() {
        println!("{}: skipped: {reason}", kind.name);
        return;
    }
    let Some(base) = prepare(kind, files.start, seed) else { return };
    let operations = operations(kind, &base, files.clone());
    println!("{}: files {files:?} take {operations} programs and erases", kind.name);
    let (mut rng, start, mut sum) = (Rng::with_seed(seed), Instant::now(), 0);
    for number in 1..=cuts {
        let operation = rng.u64(1..=operations);
        let (acknowledged, lost) = cut(kind, &base, files.clone(), operation);
        assert!(
            lost.is_empty(),
            "{}, seed {seed}, cut {number} in operation {operation}: of {acknowledged} \
             acknowledged files these are lost: {lost:?}",
            kind.name
        );
        sum += u64::from(acknowledged);
        if number % 10 == 0 {
            println!(
                "{}: {number} cuts, {sum} acknowledged files, none lost, {} s",
                kind.name,
                start.elapsed().as_secs()
            );
        }
    }
}

#[test]
#[ignore = "takes minutes and mounts loop devices: tools/disk-cuts.sh"]
fn no_acknowledged_file_is_lost_in_a_cut() {
    let only = std::env::var("STEADYFS_ON").ok();
    let files = setting("STEADYFS_BEFORE", 0) as u32..setting("STEADYFS_FILES", 2000) as u32;
    for kind in KINDS.iter().filter(|kind| only.as_deref().is_none_or(|only| only == kind.name)) {
        campaign(kind, setting("STEADYFS_CUTS", 200), files.clone(), setting("STEADYFS_SEED", 1));
    }
}
