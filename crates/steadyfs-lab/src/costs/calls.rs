//! Steps of each kind on one volume: first with names, in a directory that grows large, then
//! with data.

use super::gauge::{Step, Tally, Volume};
use super::{CallCost, CostsError, Options};
use crate::evaluate::device::OnChip;
use fastrand::Rng;
use steadyfs::media::Flash;
use steadyfs::{
    Access, Bound, Budget, Call, Config, Cursor, Error, File, FileSystem, InodeNumber, OpenOptions,
    ROOT, Usage,
};
use steadyfs_sim::{Metered, Trace};

/// Idle time between two truncates of a file, in nanoseconds. It is not measured.
const CUT_IDLE_NS: u64 = 1_000_000_000;
/// Bytes of a small file.
const SMALL_BYTES: usize = 50;
/// Bytes of a record.
const RECORD_BYTES: usize = 64;
/// Bytes of a page of a large file.
const PAGE_BYTES: usize = 4096;
/// Bytes of the large file, or an eighth of the usable bytes if that is less.
const LARGE_BYTES: u64 = 8 << 20;
/// Default number of files in the large directory, if the volume holds as many.
const FILES: u32 = 10_000;
/// Usable bytes for each file of the large directory, if `--files` is not given: more than any kind
/// of step takes for a file.
const BYTES_FOR_A_FILE: u64 = 1024;
/// Number of files in the small directory.
const FEW: u32 = 100;
/// Number of files and directories beside the large directory's files: directories, the log, the
/// large file, attributes of the few files.
const BESIDES: u32 = 2 * FEW + 16;

/// Number of kinds of steps, for the progress.
const KINDS: f64 = 16.0;
/// Number of steps between two reports of progress.
const TOLD_EVERY: u32 = 64;

const CREATE: &str = "create 50 B";
const OPEN: &str = "open";
const OPEN_AGAIN: &str = "open again";
const STAT: &str = "stat";
const LIST: &str = "list an entry";
const RENAME_MANY: &str = "rename";
const RENAME_FEW: &str = "rename among 100";
const ATTRIBUTE: &str = "set attribute";
const REMOVE: &str = "remove";
const MKDIR: &str = "mkdir";
const RMDIR: &str = "rmdir";
const APPEND_RECORD: &str = "append 64 B";
const APPEND_PAGE: &str = "append 4 KiB";
const TRUNCATE: &str = "truncate";
const OVERWRITE: &str = "overwrite 4 KiB";
const READ: &str = "read 4 KiB";

/// Measures the calls on a chip.
pub struct Calls<'o> {
    /// Options of the measurement.
    pub options: &'o Options,
    /// Receives the share of completed steps, and their name.
    pub progress: &'o dyn Fn(f64, &str),
}

impl OnChip for Calls<'_> {
    type Output = Result<(u32, Usage, Vec<CallCost>), CostsError>;

    fn run<C: Flash + Metered>(self, chip: C) -> Self::Output {
        measure(chip, self.options, self.progress, |bound| bound)
    }
}

/// Measures every kind of step. Returns the number of files, and the space of the volume at the
/// end of the steps that need most of it.
fn measure<C: Flash + Metered>(
    chip: C,
    options: &Options,
    progress: &dyn Fn(f64, &str),
    promise: fn(Bound) -> Bound,
) -> Result<(u32, Usage, Vec<CallCost>), CostsError> {
    let mut chip = Trace::with_cap(chip, 0);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    FileSystem::format(&mut chip, &config, &mut memory)?;
    let fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
    let Usage { files_max, usable_bytes, .. } = fs.usage();
    let held = u32::try_from(usable_bytes / BYTES_FOR_A_FILE).unwrap_or(u32::MAX);
    let usual = FILES.min(held).min(files_max.saturating_sub(BESIDES)).max(1);
    let files = options.files.unwrap_or(usual);
    let needed = files.saturating_add(BESIDES);
    if needed > files_max {
        return Err(CostsError::TooManyFiles { needed, files_max });
    }
    let mut bench =
        Bench { fs, promise, progress, rng: Rng::with_seed(options.seed), files, rows: Vec::new() };
    bench.names()?;
    let usage = bench.data()?;
    bench.removals()?;
    Ok((files, usage, bench.rows))
}

/// The volume and the rows so far.
struct Bench<'m, 's, 'p, C> {
    fs: Volume<'m, 's, C>,
    promise: fn(Bound) -> Bound,
    progress: &'p dyn Fn(f64, &str),
    rng: Rng,
    files: u32,
    rows: Vec<CallCost>,
}

impl<'m, 's, C: Flash + Metered> Bench<'m, 's, '_, C> {
    /// Makes as many steps as there are files, and adds a row for them.
    fn steps(
        &mut self,
        name: &str,
        mut act: impl FnMut(&mut Step<'_>, &mut Volume<'m, 's, C>, u32) -> Result<(), CostsError>,
    ) -> Result<(), CostsError> {
        let mut tally = Tally::default();
        for index in 0..self.files {
            if index % TOLD_EVERY == 0 {
                let steps = self.rows.len() as f64 + f64::from(index) / f64::from(self.files);
                (self.progress)((steps / KINDS).min(1.0), name);
            }
            let mut step = Step::new(name, self.promise);
            act(&mut step, &mut self.fs, index)?;
            tally.note(&step);
        }
        self.rows.push(tally.row(name));
        Ok(())
    }

    /// Makes a call that is held to its bound and not part of a row.
    fn unmeasured<T>(
        &mut self,
        call: Call,
        act: impl FnOnce(&mut Volume<'m, 's, C>) -> Result<T, Error>,
    ) -> Result<T, CostsError> {
        Step::new("between the steps", self.promise).call(&mut self.fs, call, act)
    }

    /// Returns the numbers of all files, in random order.
    fn order(&mut self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.files).collect();
        self.rng.shuffle(&mut order);
        order
    }

    fn make_dir(&mut self, name: &str) -> Result<InodeNumber, CostsError> {
        self.unmeasured(Call::Create { depth: 1 }, |fs| fs.create_dir(name))
    }

    /// Makes the steps with names: many files in one directory, few in another.
    fn names(&mut self) -> Result<(), CostsError> {
        let many = self.make_dir("many")?;
        let few = self.make_dir("few")?;
        self.steps(CREATE, |step, fs, index| {
            create_small(step, fs, (many, &file_name(index)), index)
        })?;
        self.open_and_open_again(many)?;
        let order = self.order();
        self.steps(STAT, |step, fs, index| {
            let name = file_name(order[index as usize]);
            let stat =
                step.call(fs, Call::Open { depth: 1 }, |fs| fs.stat((many, name.as_str())))?;
            require(stat.size == SMALL_BYTES as u64, STAT)
        })?;
        let mut cursor = Cursor::default();
        self.steps(LIST, |step, fs, _| {
            let entry = step.call(fs, Call::List, |fs| fs.list(many, &mut cursor))?;
            require(entry.is_some(), LIST)
        })?;
        let order = self.order();
        self.steps(RENAME_MANY, |step, fs, index| {
            let number = order[index as usize];
            rename(step, fs, many, &file_name(number), &new_name(number))
        })?;
        self.few_files(few)
    }

    /// Opens each file twice. Adds a row of the first times, and a row of the second.
    fn open_and_open_again(&mut self, directory: InodeNumber) -> Result<(), CostsError> {
        let mut again = Tally::default();
        let (order, promise) = (self.order(), self.promise);
        self.steps(OPEN, |step, fs, index| {
            let name = file_name(order[index as usize]);
            open(step, fs, (directory, &name))?;
            let mut second = Step::new(OPEN_AGAIN, promise);
            open(&mut second, fs, (directory, &name))?;
            again.note(&second);
            Ok(())
        })?;
        self.rows.push(again.row(OPEN_AGAIN));
        Ok(())
    }

    /// Renames files in a small directory, and sets their attributes.
    fn few_files(&mut self, directory: InodeNumber) -> Result<(), CostsError> {
        let mut inodes = Vec::new();
        for index in 0..FEW {
            let mut step = Step::new("between the steps", self.promise);
            create_small(&mut step, &mut self.fs, (directory, &turn_name(index, 0)), index)?;
            let name = turn_name(index, 0);
            inodes.push(
                self.unmeasured(Call::Open { depth: 1 }, |fs| fs.stat((directory, name.as_str())))?
                    .inode,
            );
        }
        self.steps(RENAME_FEW, |step, fs, index| {
            let (number, turn) = (index % FEW, index / FEW);
            rename(step, fs, directory, &turn_name(number, turn), &turn_name(number, turn + 1))
        })?;
        self.steps(ATTRIBUTE, |step, fs, index| {
            let inode = inodes[(index % FEW) as usize];
            let value = index.to_le_bytes();
            step.call(fs, Call::SetAttribute, |fs| fs.set_attribute(inode, "mark", Some(&value)))?;
            step.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))
        })
    }

    /// Makes the steps with data: a log of records, a file that grows and is truncated, a large
    /// file.
    fn data(&mut self) -> Result<Usage, CostsError> {
        let mut log = self.create(OpenOptions::DURABLE, "log")?;
        let record = [0x5A; RECORD_BYTES];
        self.steps(APPEND_RECORD, |step, fs, _| write(step, fs, &mut log, None, &record))?;
        self.unmeasured(Call::Sync, |fs| fs.close(log))?;
        self.grow_and_cut()?;
        let large_bytes = LARGE_BYTES.min(self.fs.usage().usable_bytes / 8) / PAGE_BYTES as u64
            * PAGE_BYTES as u64;
        let mut large = self.create(OpenOptions::DURABLE, "large")?;
        let page = [0xC3; PAGE_BYTES];
        for _ in 0..large_bytes / PAGE_BYTES as u64 {
            write(
                &mut Step::new("between the steps", self.promise),
                &mut self.fs,
                &mut large,
                None,
                &page,
            )?;
        }
        let places = large_bytes / PAGE_BYTES as u64;
        let mut rng = self.rng.fork();
        self.steps(OVERWRITE, |step, fs, index| {
            let mut page = page;
            page[..4].copy_from_slice(&index.to_le_bytes());
            write(step, fs, &mut large, Some(rng.u64(..places) * PAGE_BYTES as u64), &page)
        })?;
        self.steps(READ, |step, fs, _| {
            let mut read = [0; PAGE_BYTES];
            let offset = rng.u64(..places) * PAGE_BYTES as u64;
            step.call(fs, Call::Read(PAGE_BYTES as u32), |fs| {
                fs.read(&mut large, offset, &mut read)
            })?;
            require(read[4..] == page[4..], READ)
        })?;
        self.unmeasured(Call::Sync, |fs| fs.close(large))?;
        Ok(self.fs.usage())
    }

    /// Grows a file by pages, to at most half of the free space. Then truncates it by a little
    /// less than a page a step.
    fn grow_and_cut(&mut self) -> Result<(), CostsError> {
        let usage = self.fs.usage();
        let most = ((usage.usable_bytes - usage.used_bytes) / 2).max(PAGE_BYTES as u64);
        let mut file = self.create(OpenOptions::DURABLE, "growing")?;
        let (page, promise) = ([0x3C; PAGE_BYTES], self.promise);
        let mut size = 0;
        self.steps(APPEND_PAGE, |step, fs, _| {
            if size + PAGE_BYTES as u64 > most {
                let mut between = Step::new("between the steps", promise);
                between.call(fs, Call::Truncate, |fs| fs.truncate(&mut file, 0))?;
                size = 0;
            }
            size += PAGE_BYTES as u64;
            write(step, fs, &mut file, None, &page)
        })?;
        let cut = (size / u64::from(self.files)).max(1);
        self.steps(TRUNCATE, |step, fs, _| {
            size = size.saturating_sub(cut);
            step.call(fs, Call::Truncate, |fs| fs.truncate(&mut file, size))?;
            // Each end that is cut off takes an inode until its pages are freed. Truncates
            // without idle time between them would use up all inodes.
            let error = |error| CostsError::Volume {
                step: TRUNCATE.to_string(),
                call: Call::Truncate,
                error,
            };
            fs.maintain(Budget::TimeNs(CUT_IDLE_NS), 0).map_err(error)?;
            Ok(())
        })?;
        self.unmeasured(Call::Sync, |fs| fs.close(file))
    }

    fn create(&mut self, options: OpenOptions, name: &str) -> Result<File, CostsError> {
        self.unmeasured(Call::Create { depth: 1 }, |fs| fs.open(name, options))
    }

    /// Removes the many files, and makes and removes as many directories.
    fn removals(&mut self) -> Result<(), CostsError> {
        let many = self.unmeasured(Call::Open { depth: 1 }, |fs| fs.stat("many"))?.inode;
        let order = self.order();
        self.steps(REMOVE, |step, fs, index| {
            let name = new_name(order[index as usize]);
            step.call(fs, Call::Remove { depth: 1 }, |fs| fs.remove((many, name.as_str())))?;
            step.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))
        })?;
        self.steps(MKDIR, |step, fs, index| {
            step.call(fs, Call::Create { depth: 1 }, |fs| {
                fs.create_dir((ROOT, directory_name(index).as_str()))
            })?;
            step.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))
        })?;
        let order = self.order();
        self.steps(RMDIR, |step, fs, index| {
            let name = directory_name(order[index as usize]);
            step.call(fs, Call::Remove { depth: 1 }, |fs| fs.remove_dir((ROOT, name.as_str())))?;
            step.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))
        })
    }
}

fn require(holds: bool, step: &str) -> Result<(), CostsError> {
    if holds { Ok(()) } else { Err(CostsError::Lost { step: step.to_string() }) }
}

/// Creates a file, writes its bytes and commits both.
fn create_small<C: Flash + Metered>(
    step: &mut Step<'_>,
    fs: &mut Volume<'_, '_, C>,
    place: (InodeNumber, &str),
    index: u32,
) -> Result<(), CostsError> {
    let data = [index as u8; SMALL_BYTES];
    let mut file =
        step.call(fs, Call::Create { depth: 1 }, |fs| fs.open(place, OpenOptions::CREATE))?;
    step.call(fs, Call::Write(data.len() as u32), |fs| fs.write(&mut file, 0, &data))?;
    step.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))?;
    step.call(fs, Call::Sync, |fs| fs.close(file))
}

fn open<C: Flash + Metered>(
    step: &mut Step<'_>,
    fs: &mut Volume<'_, '_, C>,
    place: (InodeNumber, &str),
) -> Result<(), CostsError> {
    let file = step.call(fs, Call::Open { depth: 1 }, |fs| fs.open(place, OpenOptions::READ))?;
    step.call(fs, Call::Sync, |fs| fs.close(file))
}

fn rename<C: Flash + Metered>(
    step: &mut Step<'_>,
    fs: &mut Volume<'_, '_, C>,
    directory: InodeNumber,
    from: &str,
    to: &str,
) -> Result<(), CostsError> {
    step.call(fs, Call::Rename { depth: 2 }, |fs| fs.rename((directory, from), (directory, to)))?;
    step.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))
}

/// Writes through a durable handle, at most one logical page a call. Without an offset, it
/// writes at the end of the file.
fn write<C: Flash + Metered>(
    step: &mut Step<'_>,
    fs: &mut Volume<'_, '_, C>,
    file: &mut File,
    offset: Option<u64>,
    data: &[u8],
) -> Result<(), CostsError> {
    let logical_bytes = fs.usage().logical_bytes as usize;
    let mut at = match offset {
        Some(offset) => offset,
        None => step.call(fs, Call::Open { depth: 0 }, |fs| fs.size(file))?,
    };
    let mut rest = data;
    while !rest.is_empty() {
        let within = (at % logical_bytes as u64) as usize;
        let (piece, after) = rest.split_at((logical_bytes - within).min(rest.len()));
        let whole = piece.len() == logical_bytes && offset.is_some();
        let call = if whole {
            Call::Overwrite
        } else {
            fs.bounds().write_call(file, at, piece.len() as u32)
        };
        step.call(fs, call, |fs| fs.write(file, at, piece))?;
        at += piece.len() as u64;
        rest = after;
    }
    Ok(())
}

fn file_name(number: u32) -> String {
    format!("file-{number:05}")
}

fn new_name(number: u32) -> String {
    format!("renamed-{number:05}")
}

fn turn_name(number: u32, turn: u32) -> String {
    format!("turn-{turn:03}-{number:02}")
}

fn directory_name(number: u32) -> String {
    format!("directory-{number:05}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs::Cost;
    use steadyfs::media::Geometry;
    use steadyfs_sim::{Nand, NandTiming};

    fn run(promise: fn(Bound) -> Bound) -> Result<(u32, Usage, Vec<CallCost>), CostsError> {
        let geometry = Geometry {
            page_bytes: 512,
            pages_per_block: 32,
            block_count: 256,
            programs_bytes: false,
        };
        let options = Options { files: Some(300), ..Options::default() };
        measure(Nand::with_geometry(geometry, NandTiming::ROUND, 1), &options, &|_, _| {}, promise)
    }

    #[test]
    fn every_call_keeps_its_bound_and_every_row_counts_as_many_steps() {
        let (_, _, rows) = run(|bound| bound).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rows.len(), 16);
        for row in &rows {
            assert_eq!(row.calls, 300, "{}", row.call);
            assert!(row.max_us <= row.bound_us && row.mean_us <= row.max_us, "{row:?}");
            let only_reads = [OPEN, OPEN_AGAIN, STAT, LIST, READ].contains(&row.call.as_str());
            assert_eq!(only_reads, row.programs_mean == 0.0, "{row:?}");
        }
    }

    #[test]
    fn broken_bound_is_an_error_that_names_the_step_and_the_call() {
        // The calls between the steps only program at first. The lookup of a name is the first
        // call that reads.
        let no_read = |bound: Bound| Bound::default().plus(&Cost { reads: 0, ..bound.most() });
        let error = run(no_read).unwrap_err();
        assert!(
            matches!(&error, CostsError::BoundBroken { step, .. } if step == CREATE),
            "{error}"
        );
        assert!(error.to_string().starts_with("create 50 B, create: did Cost"), "{error}");
    }

    #[test]
    fn more_files_than_the_volume_holds_are_refused() {
        let geometry = Geometry {
            page_bytes: 512,
            pages_per_block: 32,
            block_count: 64,
            programs_bytes: false,
        };
        let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
        let options = Options { files: Some(10_000), ..Options::default() };
        let error = measure(chip, &options, &|_, _| {}, |bound| bound).unwrap_err();
        assert!(matches!(error, CostsError::TooManyFiles { needed: 10_216, .. }), "{error}");
    }
}
