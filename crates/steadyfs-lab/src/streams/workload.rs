//! The workloads: the written pages, and the jobs that write them.

use super::f2fs::{F2fs, SEGMENT_PAGES, SEGMENTS_MIN};
use super::sqlite::{Replay, Touch};
use super::step::Step;
use crate::evaluate::UnknownName;
use fastrand::Rng;
use std::fmt;
use std::str::FromStr;
use steadyfs::streams::sqlite_stream;

/// The regions of the three jobs, in parts of the whole.
const SHARES: [f64; 3] = [2.0, 101.0, 709.0];
/// Rates of the three jobs if their regions have one size, in parts of the whole. This is the other
/// reading of the same numbers.
const RATES: [f64; 3] = [709.0, 101.0, 2.0];
/// Maximum number of jobs.
pub(super) const JOBS_MAX: usize = 8;
/// Skew of the Zipf distribution, as in YCSB.
const ZIPF_SKEW: f64 = 0.99;
/// Parts of a mix of a database, a log, and media: shares of the database and of the log, in the
/// pages and in the writes.
const MIX_PAGES: [f64; 2] = [0.02, 0.08];
const MIX_WRITES: [f64; 2] = [0.4, 0.3];
/// Logical pages of a media file.
const FILE_PAGES: u32 = 64;

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writes {
    /// Three jobs. Each writes in order and around in a region of its own.
    Sequential,
    /// Three jobs. Each writes at random in a region of its own.
    Random,
    /// Single pages, of which a few are hot.
    Zipf,
    /// All pages in order and around, as a log. Streams gain nothing.
    Log,
    /// A database at random, a log in order, media files replaced whole.
    Mix,
    /// Two recorded SQLite databases, beside data at rest.
    Sqlite,
    /// Three jobs at random in regions of one size. Their rates are 709 : 101 : 2. For the study
    /// only.
    Rates,
    /// Eight jobs, equally often, at random. Each region is twice as large as the one before. For
    /// the study only.
    Lives,
    /// The six logs of a file system like F2FS. For the study only.
    F2fs,
}

impl Writes {
    /// All workloads that can be chosen by name.
    pub const ALL: [Writes; 6] = [
        Writes::Sequential,
        Writes::Random,
        Writes::Zipf,
        Writes::Log,
        Writes::Mix,
        Writes::Sqlite,
    ];

    /// Returns the name, as on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Writes::Sequential => "sequential",
            Writes::Random => "random",
            Writes::Zipf => "zipf",
            Writes::Log => "log",
            Writes::Mix => "mix",
            Writes::Sqlite => "sqlite",
            Writes::Rates => "rates",
            Writes::Lives => "lives",
            Writes::F2fs => "f2fs",
        }
    }

    /// Returns true if the job of each write is defined.
    pub fn has_jobs(self) -> bool {
        !matches!(self, Writes::Zipf | Writes::Log)
    }

    /// Returns the minimum number of logical pages.
    pub(super) fn pages_min(self) -> u32 {
        match self {
            Writes::Sequential | Writes::Random => {
                2 * (SHARES.iter().sum::<f64>() / SHARES[0]) as u32
            }
            Writes::Zipf | Writes::Log => 2,
            Writes::Mix => {
                (f64::from(2 * FILE_PAGES) / (1.0 - MIX_PAGES[0] - MIX_PAGES[1])) as u32 + 1
            }
            Writes::Sqlite => Replay::pages() + 1,
            Writes::Rates => 6,
            Writes::Lives => 2 << JOBS_MAX,
            Writes::F2fs => SEGMENTS_MIN * SEGMENT_PAGES,
        }
    }
}

impl fmt::Display for Writes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Writes {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName {
            found: text.to_string(),
            expected: Writes::ALL.map(Writes::name).join(", "),
        };
        Writes::ALL.into_iter().find(|writes| writes.name() == text).ok_or_else(unknown)
    }
}

/// The state of a workload.
pub struct Workload {
    writes: Writes,
    rng: Rng,
    /// Start of the region of each job, and end of the last region.
    regions: Vec<u32>,
    cursors: [u32; 3],
    /// Pages that are left of the file being replaced.
    file_left: u32,
    /// For Zipf: the share of each rank and the ranks before it, and the place of each rank.
    zipf: Vec<(f64, u32)>,
    replay: Replay,
    f2fs: Option<F2fs>,
}

impl Workload {
    /// Begins a workload over `pages` logical pages.
    pub fn new(writes: Writes, pages: u32, seed: u64) -> Workload {
        let mut rng = Rng::with_seed(seed);
        let part = |share: f64| (f64::from(pages) * share) as u32;
        let parts = SHARES.iter().sum::<f64>();
        let regions = match writes {
            Writes::Sequential | Writes::Random => {
                vec![0, part(SHARES[0] / parts), part((SHARES[0] + SHARES[1]) / parts), pages]
            }
            Writes::Mix => vec![0, part(MIX_PAGES[0]), part(MIX_PAGES[0] + MIX_PAGES[1]), pages],
            Writes::Rates => vec![0, pages / 3, pages / 3 * 2, pages],
            Writes::Lives => {
                let ends = (1..=JOBS_MAX)
                    .map(|jobs| part(f64::from((1 << jobs) - 1) / f64::from((1 << JOBS_MAX) - 1)));
                std::iter::once(0).chain(ends).collect()
            }
            Writes::Zipf | Writes::Log | Writes::Sqlite | Writes::F2fs => {
                vec![0, pages, pages, pages]
            }
        };
        let zipf = if writes == Writes::Zipf { zipf_of(pages, &mut rng) } else { Vec::new() };
        let f2fs = (writes == Writes::F2fs).then(|| F2fs::new(pages));
        Workload {
            writes,
            rng,
            regions,
            cursors: [0; 3],
            file_left: 0,
            zipf,
            replay: Replay::new(),
            f2fs,
        }
    }

    /// Returns the job of a page. For SQLite it is the file's stream of three. For F2FS it is the
    /// temperature of the page's log.
    pub fn job_of(&self, page: u32) -> u8 {
        match self.writes {
            Writes::F2fs => self.f2fs.as_ref().map_or(0, |f2fs| f2fs.job_of(page)),
            Writes::Sqlite => {
                self.replay.file_of(page).map_or(0, |name| sqlite_stream(name.as_bytes(), 3))
            }
            _ => (1..self.regions.len() - 1).filter(|&job| page >= self.regions[job]).count() as u8,
        }
    }

    /// Returns the next step.
    pub fn next(&mut self) -> Step {
        let page = match self.writes {
            Writes::Sequential => {
                let job = self.rng.usize(..3);
                self.in_order(job)
            }
            Writes::Random => {
                let job = self.rng.usize(..3);
                self.rng.u32(self.regions[job]..self.regions[job + 1])
            }
            Writes::Zipf => {
                let drawn = self.rng.f64();
                let rank = self.zipf.partition_point(|&(share, _)| share < drawn);
                self.zipf[rank.min(self.zipf.len() - 1)].1
            }
            Writes::Log => self.in_order(0),
            Writes::Mix => self.mixed(),
            Writes::Rates => {
                let drawn = self.rng.f64() * RATES.iter().sum::<f64>();
                let job =
                    usize::from(drawn >= RATES[0]) + usize::from(drawn >= RATES[0] + RATES[1]);
                self.rng.u32(self.regions[job]..self.regions[job + 1])
            }
            Writes::Lives => {
                let job = self.rng.usize(..JOBS_MAX);
                self.rng.u32(self.regions[job]..self.regions[job + 1])
            }
            Writes::F2fs => match &mut self.f2fs {
                Some(f2fs) => return f2fs.next(&mut self.rng),
                None => 0,
            },
            Writes::Sqlite => match self.replay.next() {
                Touch::Write(page) => page,
                Touch::Cut { page, count } => return Step::Trim { page, count },
            },
        };
        Step::Write { page, job: self.job_of(page) }
    }

    /// Returns the next page of a job that writes in order and around.
    fn in_order(&mut self, job: usize) -> u32 {
        let size = self.regions[job + 1] - self.regions[job];
        let at = self.cursors[job];
        self.cursors[job] = (at + 1) % size;
        self.regions[job] + at
    }

    fn mixed(&mut self) -> u32 {
        let drawn = self.rng.f64();
        if drawn < MIX_WRITES[0] {
            return self.rng.u32(..self.regions[1]);
        }
        if drawn < MIX_WRITES[0] + MIX_WRITES[1] {
            return self.in_order(1);
        }
        if self.file_left == 0 {
            let files = (self.regions[3] - self.regions[2]) / FILE_PAGES;
            self.cursors[2] = FILE_PAGES * self.rng.u32(..files);
            self.file_left = FILE_PAGES;
        }
        self.file_left -= 1;
        self.in_order(2)
    }
}

/// Returns the distribution over ranks. The places of the ranks are scattered.
fn zipf_of(pages: u32, rng: &mut Rng) -> Vec<(f64, u32)> {
    let mut places: Vec<u32> = (0..pages).collect();
    rng.shuffle(&mut places);
    let mut sum = 0.0;
    let mut ranks: Vec<(f64, u32)> = (1..)
        .zip(places)
        .map(|(rank, place)| {
            sum += f64::from(rank).powf(-ZIPF_SKEW);
            (sum, place)
        })
        .collect();
    ranks.iter_mut().for_each(|(share, _)| *share /= sum);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(writes: Writes, count: usize) -> Vec<(u32, u8)> {
        let mut workload = Workload::new(writes, 8120, 1);
        std::iter::repeat_with(|| workload.next())
            .filter_map(|step| match step {
                Step::Write { page, job } => Some((page, job)),
                Step::Trim { .. } => None,
            })
            .take(count)
            .collect()
    }

    #[test]
    fn jobs_write_alike_often_in_regions_of_2_101_709() {
        for writes in [Writes::Sequential, Writes::Random] {
            let written = pages(writes, 30_000);
            for (job, (begin, end)) in [(0, 20), (20, 1030), (1030, 8120)].into_iter().enumerate() {
                let of: Vec<u32> = written
                    .iter()
                    .filter(|(_, by)| usize::from(*by) == job)
                    .map(|(page, _)| *page)
                    .collect();
                assert!(
                    (9_000..11_000).contains(&of.len()),
                    "{writes}: {} of 30,000 by job {job}",
                    of.len()
                );
                assert!(of.iter().all(|page| (begin..end).contains(page)));
                let in_order =
                    of.windows(2).filter(|pair| pair[1] == pair[0] + 1 || pair[1] == begin).count();
                assert_eq!(in_order == of.len() - 1, writes == Writes::Sequential);
            }
        }
    }

    #[test]
    fn zipf_has_few_hot_pages() {
        let mut counts = vec![0; 8120];
        pages(Writes::Zipf, 50_000).iter().for_each(|&(page, _)| counts[page as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let tenth: u32 = counts[..812].iter().sum();
        assert!(
            (36_000..40_000).contains(&tenth),
            "a tenth of the pages took {tenth} of 50,000 writes"
        );
    }

    #[test]
    fn media_files_are_replaced_whole() {
        let media: Vec<u32> = pages(Writes::Mix, 50_000)
            .iter()
            .filter(|(_, job)| *job == 2)
            .map(|(page, _)| page - 812)
            .collect();
        assert!(media.len() > 14_000);
        let whole = media.chunks_exact(FILE_PAGES as usize);
        assert!(whole.clone().count() > 200);
        for file in whole {
            assert!(
                file[0] % FILE_PAGES == 0 && file.windows(2).all(|pair| pair[1] == pair[0] + 1),
                "{file:?}"
            );
        }
    }

    #[test]
    fn sqlite_writes_within_its_files_and_trims_what_it_removes() {
        let mut workload = Workload::new(Writes::Sqlite, 8120, 1);
        let mut jobs = [0; 4];
        let mut trims = 0;
        for _ in 0..20_000 {
            match workload.next() {
                Step::Write { page, job } => {
                    assert!(page < Replay::pages());
                    jobs[usize::from(job)] += 1;
                }
                Step::Trim { page, count } => {
                    assert!(count > 0 && page + count <= Replay::pages());
                    trims += 1;
                }
            }
        }
        assert!(
            jobs[..3].iter().all(|&count| count > 1_000) && jobs[3] == 0 && trims > 500,
            "{jobs:?}, {trims} trims"
        );
    }
}
