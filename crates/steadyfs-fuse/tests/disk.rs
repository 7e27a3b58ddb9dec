//! A disk that is mounted as a file, on a chip whose power fails in the middle of an operation.

#![cfg(target_os = "linux")]

mod common;

use common::{Chip, MountedDisk};
use fastrand::Rng;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;
use steadyfs_fuse::Options;

/// Bytes of a logical page, and number of pages in the part of the disk that the test writes.
const PAGE_BYTES: usize = 4096;
const PAGES: usize = 60;

/// The part of the disk in all states that a power cut may leave: one for each write since the
/// last acknowledged flush.
struct Oracle(Vec<Vec<u8>>);

impl Oracle {
    /// Notes a write that may be there from now on.
    fn write(&mut self, offset: usize, data: &[u8]) {
        let mut state = self.0.last().unwrap().clone();
        state[offset..][..data.len()].copy_from_slice(data);
        self.0.push(state);
    }

    fn flushed(&mut self) {
        self.0.drain(..self.0.len() - 1);
    }
}

/// Writes and flushes at random until power fails. Each write stays within a logical page.
fn write_until_the_cut(disk: &File, oracle: &mut Oracle, rng: &mut Rng) {
    loop {
        let (page, within) = (rng.usize(..PAGES), rng.usize(..PAGE_BYTES));
        let (offset, length) = (page * PAGE_BYTES + within, rng.usize(1..=PAGE_BYTES - within));
        let data = vec![rng.u8(..); length];
        oracle.write(offset, &data);
        if disk.write_all_at(&data, offset as u64).is_err() {
            return;
        }
        if rng.u32(..6) == 0 {
            match disk.sync_all() {
                Ok(()) => oracle.flushed(),
                Err(_) => return,
            }
        }
    }
}

#[test]
fn power_cut_leaves_what_was_synced_and_never_a_later_write_without_an_earlier_one() {
    let options = Options { commit_interval: Duration::from_secs(3600), ..Options::default() };
    let mut rng = Rng::with_seed(1);
    let mut oracle = Oracle(vec![vec![0; PAGES * PAGE_BYTES]]);
    let chip = Chip::disk(64, 1);
    for round in 0..60 {
        let Some(disk) = MountedDisk::new(chip.clone(), options.clone()) else { return };
        let found = fs::read(disk.file()).unwrap();
        let found = &found[..PAGES * PAGE_BYTES];
        assert!(
            oracle.0.iter().any(|state| state == found),
            "round {round}: none of {} states",
            oracle.0.len()
        );
        // The mount has settled the state.
        oracle.0 = vec![found.to_vec()];
        chip.lock().cut_at(rng.u64(1..400));
        write_until_the_cut(
            &File::options().write(true).open(disk.file()).unwrap(),
            &mut oracle,
            &mut rng,
        );
        // Without power no flush succeeds.
        let _ = disk.unmount();
        chip.lock().power_on();
    }
}
