//! The files of the volume, the calls that can be made on them, and the bounds of these calls.

use super::habit::Habit;
use super::kind::Kind;
use super::taken::{Parts, Taken, Told};
use crate::chosen_names::{LISTED_MIN, of_one_bucket, of_one_hash, seed_of};
use crate::evaluate::draw::one_of;
use crate::evaluate::tracker::{PageMark, TagTracker};
use fastrand::Rng;
use steadyfs::media::Flash;
use steadyfs::{Call, CallSequence, CommitOn, Cursor, Error, File, FileSystem, OpenOptions, ROOT};
use steadyfs_sim::Metered;

/// A mounted volume that borrows its chip.
pub type Fs<'m, 's, C> = FileSystem<'m, &'s mut TagTracker<C>>;

const LARGE: &str = "large";
/// File whose pages are discarded one by one.
const DISCARDED: &str = "discarded";
/// Bytes of a row of overwrites.
const ROW: u32 = 4096;
/// Bytes of an append.
const APPENDED: usize = 64;
/// Options of a handle whose changes wait for a sync.
const WAITS: OpenOptions = OpenOptions { durable: false, ..OpenOptions::CREATE };

/// The first number of a name that is chosen for its hash.
const CHOSEN: u64 = 1 << 32;
/// Number of names of one hash, and their common beginning. It is longer than an inode has room
/// for.
const OF_ONE_HASH: usize = 24;
const LONG: &str = "a name that is too long for an inode, and that ends in ";
/// Number of low bits in which the hashes of one bucket's names agree. It is more than any
/// directory here uses.
const BUCKET_BITS: u32 = 12;

/// One large file, and small files.
#[derive(Clone)]
pub struct World {
    /// Logical pages of the large file.
    pages: u32,
    /// Numbers of the small files.
    files: Vec<u64>,
    /// Names that are chosen for their hashes. They have the numbers from [`CHOSEN`] on.
    chosen: Vec<String>,
    made: u64,
    writes: u64,
    data: Vec<u8>,
}

/// A call with all its arguments.
#[derive(Clone, Debug)]
pub struct Step {
    /// Kind of the call.
    pub kind: Kind,
    /// Path of the file, and path of the file that it replaces.
    paths: [String; 2],
    options: OpenOptions,
    offset: u64,
    bytes: u64,
}

impl World {
    /// Returns the name of a small file.
    fn name(&self, number: u64) -> String {
        match number.checked_sub(CHOSEN) {
            Some(at) => self.chosen[at as usize].clone(),
            None => format!("f{number}"),
        }
    }

    /// Draws the number of a chosen name. Returns `None` if a file has that name.
    fn free_chosen(&self, rng: &mut Rng) -> Option<u64> {
        let number = CHOSEN + rng.u64(..self.chosen.len().max(1) as u64);
        (!self.chosen.is_empty() && !self.files.contains(&number)).then_some(number)
    }

    /// Chooses names of one hash, and more names of one bucket than a bucket has room for.
    ///
    /// Makes files for half of the first names, and for all but a few of the others.
    fn choose<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        most: usize,
    ) -> Result<(), Error> {
        let (mut listed, mut cursor) = (Vec::new(), Cursor::default());
        while let Some(entry) = fs.list(ROOT, &mut cursor)? {
            listed.push(entry.name().to_string());
        }
        if listed.len() < LISTED_MIN || most < 2 * OF_ONE_HASH {
            return Ok(());
        }
        let seed = seed_of(&listed).ok_or(Error::Corrupt)?;
        let begins = &LONG[..LONG.len().min(usize::from(fs.config().name_bytes_max) / 2)];
        self.chosen = of_one_hash(seed, begins, OF_ONE_HASH);
        // A record has eight or four bytes.
        let slots = fs.usage().logical_bytes as usize / 4;
        self.chosen.extend(
            of_one_bucket(seed, BUCKET_BITS, 1).take((slots + OF_ONE_HASH).min(most - OF_ONE_HASH)),
        );
        for at in (OF_ONE_HASH / 2)..self.chosen.len() - OF_ONE_HASH / 2 {
            let number = CHOSEN + at as u64;
            let file = fs.open(&*self.name(number), OpenOptions::DURABLE)?;
            fs.close(file)?;
            self.files.push(number);
        }
        Ok(())
    }

    /// Makes an empty large file.
    ///
    /// # Errors
    /// [`Error`].
    pub fn new<C: Flash + Metered>(fs: &mut Fs<'_, '_, C>) -> Result<Self, Error> {
        let file = fs.open(LARGE, OpenOptions::DURABLE)?;
        fs.close(file)?;
        let data = vec![0; (fs.usage().logical_bytes.max(ROW)) as usize];
        Ok(World { pages: 0, files: Vec::new(), chosen: Vec::new(), made: 0, writes: 0, data })
    }

    /// Fills the volume up to a share of its usable bytes, with small files and the large one.
    ///
    /// Then overwrites twice the usable bytes at random pages of the large file.
    ///
    /// # Errors
    /// [`Error`].
    pub fn fill<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        fill: f64,
        rng: &mut Rng,
    ) -> Result<(), Error> {
        let usage = fs.usage();
        let page_bytes = u64::from(usage.logical_bytes);
        let most = (usage.usable_bytes as f64 * fill) as u64;
        let small = 96.min(u64::from(usage.files_max) / 2).min(most / 8 / page_bytes);
        for _ in 0..small {
            self.made += 1;
            self.files.push(self.made);
            let mut file = fs.open(&*self.name(self.made), OpenOptions::DURABLE)?;
            fs.write(&mut file, 0, &self.data[..rng.usize(..page_bytes as usize)])?;
            fs.close(file)?;
        }
        self.choose(fs, usage.files_max as usize / 4)?;
        let mut file = fs.open(LARGE, OpenOptions::DURABLE)?;
        // Every second page comes first, so the other pages are in no run, and reads need indexes.
        let half = (fs.usage().used_bytes + most) / 2;
        let even = self.write_pages(fs, &mut file, 0, u32::MAX, half)?;
        let odd = self.write_pages(fs, &mut file, 1, even, most)?;
        self.pages = 2 * odd;
        for _ in 0..2 * usage.usable_bytes / page_bytes {
            let page = rng.u32(..self.pages.max(1));
            self.write_page(fs, &mut file, page)?;
        }
        fs.close(file)
    }

    /// Writes every second page of the large file from `first` on: at most `count` pages, until
    /// `most` bytes of the volume are used. Returns the number of written pages.
    fn write_pages<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        file: &mut File,
        first: u32,
        count: u32,
        most: u64,
    ) -> Result<u32, Error> {
        let page_bytes = u64::from(fs.usage().logical_bytes);
        for done in 0..count {
            if fs.usage().used_bytes + page_bytes > most {
                return Ok(done);
            }
            match self.write_page(fs, file, first + 2 * done) {
                // The volume keeps the last pages for calls that need them for a while.
                Err(Error::NoSpace) => return Ok(done),
                result => result?,
            }
        }
        Ok(count)
    }

    fn write_page<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        file: &mut File,
        page: u32,
    ) -> Result<(), Error> {
        let page_bytes = fs.usage().logical_bytes as usize;
        self.mark(page_bytes, u64::from(page) * page_bytes as u64);
        fs.write(file, u64::from(page) * page_bytes as u64, &self.data[..page_bytes])
    }

    /// Prepares the bytes of a write at an offset of the large file. Each page begins with a
    /// mark that identifies it.
    fn mark(&mut self, page_bytes: usize, offset: u64) {
        self.writes += 1;
        self.data.fill(self.writes as u8);
        for (at, page) in (offset / page_bytes as u64..).zip(self.data.chunks_mut(page_bytes)) {
            let mark = PageMark { page: at as u32, stamp: self.writes };
            page[..PageMark::BYTES].copy_from_slice(&mark.emit());
        }
    }

    /// Discards pages one by one, each in a commit of its own, until a root is nearly due. A mount
    /// after a power cut reads the records of these commits as a whole, so it takes long. The calls
    /// are not judged.
    ///
    /// # Errors
    /// [`Error`].
    pub fn discard_in_a_row<C: Flash + Metered>(
        &self,
        fs: &mut Fs<'_, '_, C>,
    ) -> Result<(), Error> {
        let usage = fs.usage();
        let page_bytes = u64::from(usage.logical_bytes);
        let most = u64::from(fs.config().checkpoint_programs);
        let free = usage.usable_bytes.saturating_sub(usage.used_bytes) / page_bytes;
        let mut file = fs.open(DISCARDED, WAITS)?;
        for page in 0..(free / 2).min(2 * most) {
            match fs.write(&mut file, page * page_bytes, &self.data[..page_bytes as usize]) {
                Err(Error::NoSpace) => break,
                result => result?,
            }
        }
        fs.sync(CommitOn::SYNC)?;
        let (mut newest, mut commits) = (fs.describe().ring, 0);
        for page in (0..fs.size(&mut file)? / page_bytes).rev() {
            fs.truncate(&mut file, page * page_bytes)?;
            fs.sync(CommitOn::SYNC)?;
            commits += 1;
            if fs.describe().ring != newest {
                (newest, commits) = (fs.describe().ring, 0);
            }
            if commits >= most / 16 * 15 {
                break;
            }
        }
        fs.close(file)
    }

    fn forget(&mut self, path: &str) {
        let mut files = std::mem::take(&mut self.files);
        files.retain(|&number| self.name(number) != path);
        self.files = files;
    }

    /// Returns the small files that take turns: the first ones, or the first with chosen names.
    fn some(&self, habit: &Habit, rng: &mut Rng) -> &[u64] {
        let chosen = self.files.iter().position(|&number| number >= CHOSEN).filter(|_| rng.bool());
        let rest = &self.files[chosen.unwrap_or(0)..];
        &rest[..habit.files.min(rest.len())]
    }

    /// Draws a call of a kind. Returns `None` if there is no file for it.
    pub fn draw<C: Flash + Metered>(
        &self,
        kind: Kind,
        habit: &Habit,
        is_durable: bool,
        fs: &Fs<'_, '_, C>,
        rng: &mut Rng,
    ) -> Option<Step> {
        let page_bytes = u64::from(fs.usage().logical_bytes);
        let options = if is_durable { OpenOptions::DURABLE } else { WAITS };
        let small = |rng: &mut Rng| {
            let files = self.some(habit, rng);
            one_of(rng, files).map(|number| self.name(number))
        };
        let step = |path: String, offset, bytes| Step {
            kind,
            paths: [path, String::new()],
            options,
            offset,
            bytes,
        };
        let anywhere =
            |rng: &mut Rng| u64::from(rng.u32(..self.pages.min(habit.pages).max(1))) * page_bytes;
        let in_order = |rng: &mut Rng, bytes: u64| {
            let fullest = if rng.u32(..10) < habit.fullest {
                one_of(rng, &fs.flash().fullest())
            } else {
                None
            };
            let at = fullest.map_or_else(|| anywhere(rng), |page| u64::from(page) * page_bytes);
            let last = (u64::from(self.pages) * page_bytes).checked_sub(bytes)?;
            Some(step(LARGE.to_string(), at.min(last / page_bytes * page_bytes), bytes))
        };
        match kind {
            Kind::Open | Kind::SetAttribute => Some(step(small(rng)?, 0, rng.u64(..200))),
            Kind::Truncate => Some(step(small(rng)?, 0, rng.u64(..habit.file_bytes))),
            Kind::Append => Some(step(small(rng)?, u64::MAX, APPENDED as u64)),
            Kind::Remove if self.files.len() < 4 => None,
            Kind::Remove => Some(step(small(rng)?, 0, 0)),
            Kind::Rename => {
                let chosen = if rng.bool() { self.free_chosen(rng) } else { None };
                let (one, other) = (
                    small(rng)?,
                    chosen.map_or_else(|| small(rng), |number| Some(self.name(number)))?,
                );
                (one != other).then(|| Step { paths: [one, other], ..step(String::new(), 0, 0) })
            }
            Kind::Create => {
                let chosen = if rng.bool() { self.free_chosen(rng) } else { None };
                Some(step(self.name(chosen.unwrap_or(self.made + 1)), 0, 0))
            }
            Kind::Read => {
                let within = if rng.bool() { rng.u64(..page_bytes) } else { 0 };
                Some(step(LARGE.to_string(), anywhere(rng) + within, page_bytes))
            }
            Kind::Patch => {
                let bytes = (habit.patch_bytes as u64).min(page_bytes / 2);
                let within = rng.u64(..=page_bytes - bytes);
                Some(step(LARGE.to_string(), anywhere(rng) + within, bytes))
                    .filter(|_| self.pages > 0)
            }
            Kind::Overwrite => in_order(rng, page_bytes),
            Kind::Write4096 => {
                in_order(rng, u64::from(ROW).next_multiple_of(page_bytes).min(u64::from(ROW)))
            }
            Kind::Buffered4096 => {
                in_order(rng, u64::from(ROW)).map(|step| Step { options: WAITS, ..step })
            }
            Kind::Sync => Some(step(String::new(), 0, 0)),
            Kind::Unmount | Kind::MountClean | Kind::MountCut => None,
        }
    }

    /// Returns the bound of a call, in nanoseconds. With the open file of a write, the bound is
    /// the one for that file and offset.
    pub fn bound_ns<C: Flash + Metered>(
        fs: &Fs<'_, '_, C>,
        step: &Step,
        file: Option<&File>,
    ) -> u64 {
        let timing = fs.flash().timing();
        match row_of(fs, step, file) {
            Some(row) => fs.bounds().sequence_ns(row, &timing),
            None => fs.bounds().of(call_of(fs, step, file)).time_ns(&timing),
        }
    }

    /// Returns the bound of a call with its parts.
    fn told<C: Flash + Metered>(fs: &Fs<'_, '_, C>, step: &Step, file: Option<&File>) -> Told {
        let timing = fs.flash().timing();
        let parts = fs.bounds().breakdown(call_of(fs, step, file), 0, &timing);
        let parts = Parts {
            call_ns: parts.call.time_ns(&timing),
            earlier_ns: parts.earlier.time_ns(&timing),
            reclamation_ns: parts.reclamation.time_ns(&timing),
            root_ns: parts.root.time_ns(&timing),
            erase_ns: parts.erase.time_ns(&timing),
        };
        Told { bound_ns: World::bound_ns(fs, step, file), parts: Some(parts) }
    }

    /// Makes a call. Returns `None` if the volume has no room for it.
    ///
    /// # Errors
    /// [`Error`].
    pub fn make<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        step: &Step,
    ) -> Result<Option<Taken>, Error> {
        match self.try_make(fs, step) {
            Ok(taken) => Ok(Some(taken)),
            Err(Error::NoSpace | Error::TooManyFiles) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn try_make<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        step: &Step,
    ) -> Result<Taken, Error> {
        let [path, other] = &step.paths;
        let bound = World::told(fs, step, None);
        match step.kind {
            Kind::Open | Kind::Create => {
                let (taken, file) = held(fs, bound, |fs| fs.open(&**path, step.options))?;
                if step.kind == Kind::Create {
                    let chosen = self
                        .chosen
                        .iter()
                        .position(|name| name == path)
                        .map(|at| CHOSEN + at as u64);
                    self.made += u64::from(chosen.is_none());
                    self.files.push(chosen.unwrap_or(self.made));
                }
                fs.close(file)?;
                Ok(taken)
            }
            Kind::Remove => {
                let (taken, ()) = held(fs, bound, |fs| fs.remove(&**path))?;
                self.forget(path);
                Ok(taken)
            }
            Kind::Rename => {
                let (taken, ()) = held(fs, bound, |fs| fs.rename(&**path, &**other))?;
                self.forget(path);
                if let Some(at) = self.chosen.iter().position(|name| name == other) {
                    let number = CHOSEN + at as u64;
                    self.files.retain(|&known| known != number);
                    self.files.push(number);
                }
                Ok(taken)
            }
            Kind::SetAttribute => {
                let inode = fs.stat(&**path)?.inode;
                let value = &self.data[..step.bytes as usize];
                Ok(held(fs, bound, |fs| fs.set_attribute(inode, "key", Some(value)))?.0)
            }
            Kind::Sync => Ok(held(fs, bound, |fs| fs.sync(CommitOn::SYNC))?.0),
            Kind::Unmount | Kind::MountClean | Kind::MountCut => Ok(Taken::default()),
            Kind::Read
            | Kind::Append
            | Kind::Patch
            | Kind::Overwrite
            | Kind::Write4096
            | Kind::Buffered4096
            | Kind::Truncate => {
                let mut file = fs.open(&**path, step.options)?;
                let taken = self.on_file(fs, &mut file, step);
                fs.close(file)?;
                taken
            }
        }
    }

    /// Makes a call on an open file.
    fn on_file<C: Flash + Metered>(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        file: &mut File,
        step: &Step,
    ) -> Result<Taken, Error> {
        let size = fs.size(file)?;
        let step = &Step { offset: step.offset.min(size), ..step.clone() };
        let page_bytes = fs.usage().logical_bytes as usize;
        self.mark(page_bytes, step.offset);
        let bound = World::told(fs, step, Some(file));
        let (offset, bytes) = (step.offset, step.bytes as usize);
        let taken = match step.kind {
            Kind::Read => held(fs, bound, |fs| fs.read(file, offset, &mut self.data[..bytes]))?.0,
            Kind::Truncate => held(fs, bound, |fs| fs.truncate(file, step.bytes))?.0,
            Kind::Patch => {
                // The patch may overwrite the mark of a page. The next overwrite of the page
                // restores it.
                held(fs, bound, |fs| {
                    fs.write(file, offset, &self.data[PageMark::BYTES..PageMark::BYTES + bytes])
                })?
                .0
            }
            _ => held(fs, bound, |fs| fs.write(file, offset, &self.data[..bytes]))?.0,
        };
        Ok(taken)
    }
}

/// Returns the calls in a row that a step makes, if its bound is the bound of a row.
fn row_of<'f, C: Flash + Metered>(
    fs: &Fs<'_, '_, C>,
    step: &Step,
    file: Option<&'f File>,
) -> Option<CallSequence<'f>> {
    let page_bytes = u64::from(fs.usage().logical_bytes);
    match (step.kind, file) {
        (Kind::Write4096, _) if step.bytes.is_multiple_of(page_bytes) => {
            Some(CallSequence::Overwrites((step.bytes / page_bytes) as u32))
        }
        (Kind::Append | Kind::Patch | Kind::Write4096 | Kind::Buffered4096, Some(file)) => {
            Some(CallSequence::Write { file, offset: step.offset, bytes: step.bytes as u32 })
        }
        _ => None,
    }
}

/// Returns the call that a step makes. If a write of an open file covers several pages, returns the
/// write of its first page.
fn call_of<C: Flash + Metered>(fs: &Fs<'_, '_, C>, step: &Step, file: Option<&File>) -> Call {
    let bytes = step.bytes as u32;
    match (step.kind, file) {
        (Kind::Append | Kind::Patch | Kind::Write4096 | Kind::Buffered4096, Some(file)) => {
            let page_bytes = fs.usage().logical_bytes;
            let room = page_bytes - (step.offset % u64::from(page_bytes)) as u32;
            fs.bounds().write_call(file, step.offset, bytes.min(room))
        }
        (Kind::Append | Kind::Patch | Kind::Write4096 | Kind::Buffered4096, None) => {
            Call::Write(bytes)
        }
        (Kind::Overwrite, _) => Call::Overwrite,
        (Kind::Read, _) => Call::Read(bytes),
        (Kind::Create, _) => Call::Create { depth: 1 },
        (Kind::Truncate, _) => Call::Truncate,
        (Kind::Rename, _) => Call::Rename { depth: 2 },
        (Kind::Remove, _) => Call::Remove { depth: 1 },
        (Kind::SetAttribute, _) => Call::SetAttribute,
        (Kind::Open, _) => Call::Open { depth: 1 },
        (Kind::Sync | Kind::Unmount | Kind::MountClean | Kind::MountCut, _) => Call::Sync,
    }
}

/// Makes a call and measures its time.
fn held<'m, 's, C: Flash + Metered, T>(
    fs: &mut Fs<'m, 's, C>,
    bound: Told,
    act: impl FnOnce(&mut Fs<'m, 's, C>) -> Result<T, Error>,
) -> Result<(Taken, T), Error> {
    let before_ns = fs.flash().counts().time_ns;
    let value = act(fs)?;
    Ok((Taken { time_ns: fs.flash().counts().time_ns - before_ns, bound }, value))
}
