//! Measures contenders on boards, case by case, on all processors.

use crate::any_entrant::{AnyEntrant, Extent};
use crate::chip::Chip;
use crate::result::{Board, Comparison, Entry, Outcome, Standing};
use std::fmt;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use steadyfs_lab::bench::{BenchChip, BenchError, Case, Ground, Medium, OnChips, Part, Terms};
use steadyfs_lab::evaluate::{find_profile, times_of};
use steadyfs_sim::{Chip as ChipKind, PowerCut, Profile, Tearable};

/// Number of files in the cases with many files.
const FILES: u32 = 500;

/// The options of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The boards. Default all.
    pub boards: Vec<Board>,
    /// The cases. Default all.
    pub cases: Vec<Case>,
    /// Power cuts for each contender on each board; 0 for none. Default 1,000.
    pub cuts: u32,
    /// Chip time in seconds after which warming up, or measuring, ends before its last step.
    /// Default 600.
    pub patience_s: u64,
    /// Seed of places, orders and cuts: the same seed gives the same numbers. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { boards: Board::all(), cases: Case::all(), cuts: 1_000, patience_s: 600, seed: 1 }
    }
}

/// The reason why nothing was measured.
#[derive(Debug)]
pub struct CompareError {
    board: String,
    error: Box<BenchError>,
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "board {}: {}", self.board, self.error)
    }
}

impl std::error::Error for CompareError {}

impl Board {
    /// Returns the boards, in the order of tables.
    pub fn all() -> Vec<Board> {
        const MIB: u64 = 1 << 20;
        let board =
            |id: &str, title: &str, device: &str, size: u64, block: u32, wear: u64, cut: u64| {
                Board {
                    id: id.to_string(),
                    title: title.to_string(),
                    device: device.to_string(),
                    size_bytes: size * MIB,
                    erase_block_bytes: block,
                    wear_bytes: wear * MIB,
                    cut_bytes: cut,
                    endurance_erases: endurance(device),
                    call_us: 0,
                    options: None,
                }
            };
        vec![
            board(
                "nor",
                "NOR, 1 MiB of a W25Q128JV in sectors of 4 KiB",
                "w25q128jv",
                1,
                4096,
                1,
                MIB / 4,
            ),
            board(
                "nor-16",
                "NOR, 16 MiB, a W25Q128JV in blocks of 64 KiB",
                "w25q128jv",
                16,
                65_536,
                4,
                MIB * 2,
            ),
            board(
                "nand",
                "NAND, 128 MiB, an MT29F1G01ABAFD in blocks of 128 KiB",
                "mt29f1g01abafd",
                128,
                131_072,
                16,
                MIB * 8,
            ),
        ]
    }

    /// Returns the board of a device: its name or the file of its profile, and the bytes in use.
    ///
    /// The cases of wear use at most 4 MiB of NOR and 16 MiB of NAND, and the power cuts an eighth
    /// of the bytes, as on the usual boards.
    ///
    /// # Errors
    /// [`BenchError`]: there is no such chip.
    pub fn of_device(device: &str, size_bytes: Option<u64>) -> Result<Board, BenchError> {
        let profile = find_profile(device)?;
        let part = Part { size_bytes, ..Part::default() };
        let medium = Medium::of(&profile, &part)?.with_volume()?;
        let (size_bytes, block) = (medium.size_bytes(), u64::from(medium.block_bytes()));
        let whole = |bytes: u64| bytes.next_multiple_of(block).min(size_bytes);
        let (wear, endurance_erases) = match &profile.chip {
            ChipKind::Nand(nand) => (16 << 20, nand.endurance_erases),
            ChipKind::Nor(nor) => (4 << 20, nor.endurance_erases),
        };
        let options = match part.size_bytes {
            Some(bytes) => format!("--device {device} --size {bytes}"),
            None => format!("--device {device}"),
        };
        Ok(Board {
            id: part.name(&profile.name),
            title: format!("{}: {}", part.name(&profile.name), profile.title),
            device: device.to_string(),
            size_bytes,
            erase_block_bytes: erase_block(&part.of(&profile)?),
            wear_bytes: whole(wear),
            cut_bytes: whole((size_bytes / 8).max(32 * block)),
            endurance_erases,
            call_us: 0,
            options: Some(options),
        })
    }

    /// Returns the same board with other bytes in use.
    ///
    /// # Errors
    /// As for [`Board::of_device`].
    pub fn with_size(&self, size_bytes: u64) -> Result<Board, BenchError> {
        let part = Part {
            size_bytes: Some(size_bytes),
            erase_block_bytes: Some(self.erase_block_bytes),
            ..Part::default()
        };
        Medium::of(&find_profile(&self.device)?, &part)?.with_volume()?;
        Ok(Board {
            id: part.name(&self.id),
            title: part.name(&self.title),
            size_bytes,
            wear_bytes: self.wear_bytes.min(size_bytes),
            cut_bytes: self.cut_bytes.min(size_bytes),
            options: Some(format!("--device {} --size {size_bytes}", self.id)),
            ..self.clone()
        })
    }

    /// Returns the options that choose the board.
    pub fn options(&self) -> String {
        self.options.clone().unwrap_or_else(|| format!("--device {}", self.id))
    }

    /// Returns the names of the boards.
    pub fn names() -> Vec<String> {
        Board::all().into_iter().map(|board| board.id).collect()
    }

    /// Returns the title, with the times of the board behind it.
    pub fn title_with_times(&self) -> String {
        format!("{}; {}", self.title, times_of("typical", self.call_us))
    }

    /// Returns the chip with this number of bytes.
    ///
    /// # Errors
    /// [`BenchError`]: there is no such chip.
    pub fn medium(&self, size_bytes: u64) -> Result<Medium, BenchError> {
        let profile = find_profile(&self.device)?;
        let (size_bytes, erase_block_bytes) = (Some(size_bytes), Some(self.erase_block_bytes));
        let call_us = self.call_us;
        Medium::of(&profile, &Part { size_bytes, erase_block_bytes, call_us, ..Part::default() })
    }
}

impl Board {
    /// Returns the whole, the part for wear, and the part for cuts.
    fn media(&self) -> Result<[Medium; 3], BenchError> {
        Ok([
            self.medium(self.size_bytes)?,
            self.medium(self.wear_bytes)?,
            self.medium(self.cut_bytes)?,
        ])
    }

    /// Returns the same board in the smallest sectors of its chip, if these are smaller.
    fn in_sectors(&self) -> Option<Board> {
        let profile = find_profile(&self.device).ok()?;
        let sectors = profile.nor()?.erases.iter().map(|erase| erase.bytes);
        let erase_block_bytes = sectors.min().filter(|&bytes| bytes < self.erase_block_bytes)?;
        Some(Board { erase_block_bytes, ..self.clone() })
    }
}

/// Returns the bytes of an erase block of a part.
fn erase_block(part: &Profile) -> u32 {
    match &part.chip {
        ChipKind::Nand(nand) => nand.page_bytes * nand.pages_per_block,
        ChipKind::Nor(nor) => nor.default_erase_bytes,
    }
}

/// Returns the erases that a block of a chip takes.
fn endurance(device: &str) -> u32 {
    Profile::named(device).map_or(0, |profile| match profile.chip {
        ChipKind::Nand(nand) => nand.endurance_erases,
        ChipKind::Nor(nor) => nor.endurance_erases,
    })
}

/// A maker of a chip's handle.
struct MakeChip;

impl OnChips for MakeChip {
    type Output = Chip;

    fn run<C>(self, make: impl Fn() -> C + Sync) -> Chip
    where
        C: BenchChip + Tearable + Clone + 'static,
        PowerCut<C>: BenchChip,
    {
        Chip::new(make())
    }
}

/// Returns an erased chip.
pub(crate) fn chip_of(medium: &Medium, seed: u64) -> Chip {
    medium.with_chips(seed, MakeChip)
}

/// A piece of work for a contender on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Job {
    /// Cases with the same beginning.
    Cases(Vec<Case>),
    Cuts,
}

impl Job {
    fn weight(&self) -> u32 {
        match self {
            Job::Cases(cases) => cases.iter().map(|case| case.weight()).sum(),
            Job::Cuts => 20,
        }
    }

    /// Returns the jobs for some cases. An empty volume is made for each case, an aged one for
    /// all cases that begin with it.
    fn of(cases: &[Case]) -> Vec<Job> {
        let mut jobs: Vec<Vec<Case>> = Vec::new();
        for &case in cases {
            let is_of = |job: &&mut Vec<Case>| {
                case.ground() != Ground::Empty && job[0].ground() == case.ground()
            };
            match jobs.iter_mut().find(is_of) {
                Some(job) => job.push(case),
                None => jobs.push(vec![case]),
            }
        }
        jobs.into_iter().map(Job::Cases).collect()
    }
}

/// The media of a board: the whole, the part for wear, the part for cuts.
struct Media {
    usual: [Medium; 3],
    /// In the smallest sectors of the chip, if these are smaller.
    in_sectors: Option<[Medium; 3]>,
}

impl Media {
    /// Returns the media for a contender, or the reason why there are none.
    fn of(&self, entrant: &dyn AnyEntrant) -> Result<&[Medium; 3], String> {
        match (entrant.takes_sectors(), &self.in_sectors) {
            (false, _) => Ok(&self.usual),
            (true, Some(media)) => Ok(media),
            (true, None) => Err("the board has no smaller sectors than its blocks".to_string()),
        }
    }
}

/// The result of a job.
enum Done {
    Cases(Vec<Outcome>),
    Cuts(Option<crate::result::Cuts>),
}

/// The extent of each contender on each board, or the reason why it is absent.
type Extents = Vec<Vec<Result<Extent, String>>>;

/// A job, with its contender and its board.
type Place = (usize, usize, Job);

/// Measures. Calls `progress` from time to time with the finished share, from 0 to 1, and the
/// name of the current contender.
///
/// # Errors
/// [`CompareError`]: a board is not possible.
pub fn run(
    entrants: &[Box<dyn AnyEntrant>],
    options: &Options,
    progress: &(dyn Fn(f64, &str) + Sync),
) -> Result<Comparison, CompareError> {
    let mut media = Vec::new();
    for board in &options.boards {
        let media_of = |board: &Board| {
            board
                .media()
                .map_err(|error| CompareError { board: board.id.clone(), error: Box::new(error) })
        };
        let in_sectors = board.in_sectors().as_ref().map(media_of).transpose()?;
        media.push(Media { usual: media_of(board)?, in_sectors });
    }
    let work = Work { entrants, options, media: &media, progress, finished: Mutex::new(0) };
    let (extents, mut results) = work.all();
    let entries = entrants.iter().enumerate().map(|(index, entrant)| {
        let standings = options.boards.iter().enumerate().map(|(place, board)| {
            let mut standing = Standing::new(board, &extents[index][place]);
            for (_, done) in
                results.extract_if(.., |((who, at, _), _)| (*who, *at) == (index, place))
            {
                match done {
                    Done::Cases(outcomes) => standing.outcomes.extend(outcomes),
                    Done::Cuts(cuts) => standing.cuts = cuts,
                }
            }
            standing.outcomes.sort_by_key(|outcome| {
                options.cases.iter().position(|case| case.name() == outcome.row.case)
            });
            standing
        });
        Entry { facts: entrant.facts(), kept: false, standings: standings.collect() }
    });
    let entries = entries.collect();
    let version = env!("CARGO_PKG_VERSION").to_string();
    Ok(Comparison {
        version,
        seed: options.seed,
        patience_s: options.patience_s,
        boards: options.boards.clone(),
        cpu: None,
        entries,
    })
}

impl Standing {
    /// Returns the standing of a contender whose cases follow later.
    fn new(board: &Board, extent: &Result<Extent, String>) -> Standing {
        let (found, absent) = match extent {
            Ok(extent) => (*extent, None),
            Err(reason) => (Extent { usable_bytes: 0, ram_bytes: 0 }, Some(reason.clone())),
        };
        let Extent { usable_bytes, ram_bytes } = found;
        Standing {
            board: board.id.clone(),
            absent,
            usable_bytes,
            ram_bytes,
            outcomes: Vec::new(),
            cuts: None,
        }
    }
}

struct Work<'w> {
    entrants: &'w [Box<dyn AnyEntrant>],
    options: &'w Options,
    /// The media of each board.
    media: &'w [Media],
    progress: &'w (dyn Fn(f64, &str) + Sync),
    finished: Mutex<u32>,
}

impl Work<'_> {
    /// Returns the extents of each contender on each board, and the results of all jobs, in
    /// order.
    fn all(&self) -> (Extents, Vec<(Place, Done)>) {
        let extent = |entrant: &dyn AnyEntrant, media: &Media| {
            entrant.extent(chip_of(&media.of(entrant)?[0], self.options.seed))
        };
        let extents: Vec<Vec<_>> = self
            .entrants
            .iter()
            .map(|entrant| self.media.iter().map(|media| extent(entrant.as_ref(), media)).collect())
            .collect();
        let jobs = self.jobs(&extents);
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(jobs[index].2.weight()));
        let total: u32 = jobs.iter().map(|(_, _, job)| job.weight()).sum();
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let done = self.done(&jobs[index], f64::from(total.max(1)));
                results.lock().expect("no job panics with it").push((index, done));
            }
        };
        let threads =
            std::thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len().max(1));
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        let mut results = results.into_inner().expect("no job panics with it");
        results.sort_by_key(|(index, _)| *index);
        (extents, jobs.into_iter().zip(results).map(|(job, (_, done))| (job, done)).collect())
    }

    fn jobs(&self, extents: &[Vec<Result<Extent, String>>]) -> Vec<Place> {
        let mut jobs = Vec::new();
        for (who, on) in extents.iter().enumerate() {
            for (at, _) in on.iter().enumerate().filter(|(_, extent)| extent.is_ok()) {
                jobs.extend(Job::of(&self.options.cases).into_iter().map(|job| (who, at, job)));
                if self.options.cuts > 0 {
                    jobs.push((who, at, Job::Cuts));
                }
            }
        }
        jobs
    }

    fn done(&self, (who, at, job): &Place, total: f64) -> Done {
        let entrant = &self.entrants[*who];
        let media = self.media[*at].of(entrant.as_ref());
        let [whole, wear, cut] = media.expect("a contender without media has no jobs");
        let name = entrant.facts().name;
        let tell = |share: f64| {
            let finished = f64::from(*self.finished.lock().expect("nobody panics with it"));
            (self.progress)((finished + share * f64::from(job.weight())) / total, &name);
        };
        tell(0.0);
        let seed = self.options.seed;
        let done = match job {
            Job::Cases(cases) => {
                let medium = if matches!(cases[..], [Case::Wear(_)]) { wear } else { whole };
                let patience_ns = self.options.patience_s.saturating_mul(1_000_000_000);
                let terms = Terms { medium, files: FILES, seed, patience_ns };
                Done::Cases(entrant.measure(chip_of(medium, seed), cases, &terms, &tell))
            }
            Job::Cuts => Done::Cuts(entrant.cut(cut, self.options.cuts, seed, &tell)),
        };
        *self.finished.lock().expect("nobody panics with it") += job.weight();
        tell(0.0);
        done
    }
}
