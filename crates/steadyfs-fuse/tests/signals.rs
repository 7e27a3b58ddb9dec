//! A volume that is mounted in the foreground, and signals that end it.
//!
//! There is only one test, because signals are for the whole process.

#![cfg(target_os = "linux")]

mod common;

use common::{Chip, Mounted};
use rustix::process::{Signal, getpid, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;
use steadyfs::{Access, FileSystem};
use steadyfs_fuse::{Options, mount};

/// Mounts in a thread that waits for the end and unmounts the volume. Its result is the number of
/// programs of the chip.
fn in_foreground(chip: Chip, directory: PathBuf) -> JoinHandle<u64> {
    let before = fs::metadata(&directory).unwrap();
    let mounted = directory.clone();
    let thread = thread::spawn(move || {
        let mut memory = chip.memory();
        let mut volume = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
        mount(&mut volume, &directory, &Options::default()).unwrap();
        volume.unmount().unwrap().programs()
    });
    while !is_mounted(&mounted, &before) {
        assert!(!thread.is_finished(), "it was not mounted");
        sleep(Duration::from_millis(1));
    }
    thread
}

fn is_mounted(directory: &Path, before: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(directory).is_ok_and(|now| now.dev() != before.dev())
}

#[test]
fn the_first_signal_unmounts_and_the_second_does_not_wait() {
    // This shows if the machine lets the test mount.
    if Mounted::new(Chip::small(1)).is_none() {
        return;
    }
    let chip = Chip::small(1);
    let directory = tempfile::tempdir().unwrap();

    let thread = in_foreground(chip.clone(), directory.path().into());
    fs::write(directory.path().join("file"), b"content").unwrap();
    kill_process(getpid(), Signal::TERM).unwrap();
    let programs = thread.join().unwrap();
    assert!(programs > 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the mount is gone");

    let thread = in_foreground(chip.clone(), directory.path().into());
    let open = File::open(directory.path().join("file")).unwrap();
    kill_process(getpid(), Signal::INT).unwrap();
    while directory.path().join("file").exists() {
        sleep(Duration::from_millis(1));
    }
    assert_eq!(std::io::read_to_string(&open).unwrap(), "content", "who has it open goes on");
    assert!(!thread.is_finished());
    kill_process(getpid(), Signal::INT).unwrap();
    thread.join().unwrap();
    assert_eq!(
        open.sync_all().unwrap_err().raw_os_error(),
        Some(rustix::io::Errno::IO.raw_os_error())
    );
}
