//! Writes like those of a file system like F2FS: six logs of segments, cleaned by the file system
//! itself.
//!
//! The file system is a log of its own above the device. A page goes to the segment that its log
//! fills, never to its old place. A segment without needed pages is discarded. To clean its
//! segments, the file system moves pages to the cold logs, as F2FS does. For the device these are
//! ordinary writes.

use super::layer::{Event, Layer};
use super::step::Step;
use fastrand::Rng;
use std::collections::VecDeque;
use steadyfs::streams::{F2fsLog, f2fs_stream};

/// Pages of a segment. They stand for 2 MiB of a device of 64 GB, scaled so that a superblock of
/// the simulated chip also has several segments.
pub(super) const SEGMENT_PAGES: u32 = 8;
/// Minimum number of segments in the main area.
pub(super) const SEGMENTS_MIN: u32 = 160;
/// Share of the main area that files use.
const UTILIZATION: f64 = 0.85;
/// The logs with their shares of the pages and of the updates. They stand for a device with a few
/// busy directories and databases, and much data at rest.
const LOGS: [(F2fsLog, f64, f64); 6] = [
    (F2fsLog::HotNode, 0.01, 0.15),
    (F2fsLog::WarmNode, 0.04, 0.20),
    (F2fsLog::ColdNode, 0.01, 0.01),
    (F2fsLog::HotData, 0.01, 0.10),
    (F2fsLog::WarmData, 0.23, 0.34),
    (F2fsLog::ColdData, 0.70, 0.20),
];

/// The file system.
pub(super) struct F2fs {
    layer: Layer,
    /// First page of each log's content, and the end of the last log.
    begins: [u32; 7],
    /// The job of each segment: its log's temperature.
    jobs: Vec<u8>,
    /// Next steps for the device.
    queue: VecDeque<Step>,
}

impl F2fs {
    /// Returns a file system on a device of `pages` pages, with its files written once.
    pub(super) fn new(pages: u32) -> F2fs {
        let segments = pages / SEGMENT_PAGES;
        let content = f64::from(segments * SEGMENT_PAGES) * UTILIZATION;
        let mut begins = [0; 7];
        let mut end = 0.0;
        for (begin, (_, share, _)) in begins[1..].iter_mut().zip(LOGS) {
            end += share;
            *begin = (content * end) as u32;
        }
        let layer = Layer::new(segments, SEGMENT_PAGES, begins[6], LOGS.len(), 2);
        let mut f2fs =
            F2fs { layer, begins, jobs: vec![0; segments as usize], queue: VecDeque::new() };
        (0..begins[6]).for_each(|page| f2fs.update(page));
        f2fs.queue.clear();
        f2fs
    }

    /// Returns the job of a page of the device.
    pub(super) fn job_of(&self, page: u32) -> u8 {
        self.jobs.get((page / SEGMENT_PAGES) as usize).copied().unwrap_or(0)
    }

    /// Returns the next step for the device.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Step {
        loop {
            if let Some(step) = self.queue.pop_front() {
                return step;
            }
            let mut drawn = rng.f64();
            let log = LOGS.iter().position(|(_, _, share)| {
                drawn -= share;
                drawn < 0.0
            });
            let log = log.unwrap_or(LOGS.len() - 1);
            self.update(rng.u32(self.begins[log]..self.begins[log + 1]));
        }
    }

    /// Writes a page of the content.
    fn update(&mut self, page: u32) {
        let F2fs { layer, begins, jobs, queue } = self;
        let log = log_of(begins, page);
        let moved_to = |page: u32| usize::from(log_of(begins, page) >= 3);
        let mut tell = |event| match event {
            Event::Program { place, head, .. } => {
                let job = job_of_head(head);
                jobs[(place / SEGMENT_PAGES) as usize] = job;
                queue.push_back(Step::Write { page: place, job });
            }
            Event::Freed { block } => {
                queue.push_back(Step::Trim { page: block * SEGMENT_PAGES, count: SEGMENT_PAGES })
            }
        };
        layer.write(page, log, &moved_to, &mut tell);
    }
}

/// Returns the log of a page of the content.
fn log_of(begins: &[u32; 7], page: u32) -> usize {
    begins[1..6].iter().filter(|&&begin| page >= begin).count()
}

/// Returns the job of a head: hot, warm or cold. The last two heads are for moved pages, which go
/// to the cold logs.
fn job_of_head(head: usize) -> u8 {
    LOGS.get(head).map_or(2, |&(log, _, _)| f2fs_stream(log, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_log_is_written_where_a_segment_is_free() {
        let mut f2fs = F2fs::new(SEGMENTS_MIN * SEGMENT_PAGES);
        let mut rng = Rng::with_seed(1);
        let (mut jobs, mut trims) = ([0; 3], 0);
        let mut written = vec![false; (SEGMENTS_MIN * SEGMENT_PAGES) as usize];
        for _ in 0..20_000 {
            match f2fs.next(&mut rng) {
                Step::Write { page, job } => {
                    assert!(page < SEGMENTS_MIN * SEGMENT_PAGES && f2fs.job_of(page) < 3);
                    assert!(
                        !std::mem::replace(&mut written[page as usize], true),
                        "page {page} is written over"
                    );
                    jobs[usize::from(job)] += 1;
                }
                Step::Trim { page, count } => {
                    written[page as usize..(page + count) as usize].fill(false);
                    trims += 1;
                }
            }
        }
        // Hot and warm logs each have a quarter of the updates or more. An update writes at
        // most 1 / (1 - 0.85) pages.
        assert!(jobs.iter().all(|&count| count > 700) && trims > 1_000, "{jobs:?}, {trims} trims");
    }
}
