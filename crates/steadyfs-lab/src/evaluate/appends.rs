//! Durable appends to several files: a search for the longest append. An adversary prepares the
//! state before each append.
//!
//! The adversary keeps a habit for a while. The habit sets the number of files that take turns.
//! It also sets the numbers of overwrites in the fullest block and of random patches between two
//! appends. Some habits continue until the bound of an append is near the largest one so far,
//! because only then can an append take as long. Files that are long enough are removed, so that
//! their pages are freed meanwhile.

use super::checker::{Checker, Volume};
use super::doubt::Doubt;
use super::draw::{below, one_of};
use super::overwrites::Overwrites;
use super::plan::Plan;
use super::ring::{fill_with_content, name, remove};
use super::{EvaluateError, Workload};
use fastrand::Rng;
use steadyfs::media::Flash;
use steadyfs::{Call, OpenOptions};
use steadyfs_sim::Metered;

/// Number of files that grow.
const FILES: usize = 24;
/// Maximum logical pages of a file. A file that would exceed them is removed.
const FILE_PAGES: u64 = 4;
/// Number of appends for which a habit is kept.
const HABIT: u64 = 256;
/// Maximum number of calls that prepare an append.
const PREPARED: u32 = 12;
/// Maximum number of calls for one append and its preparation. A file is removed, with a commit,
/// and made, and a file is opened and closed.
pub const CALLS: u64 = PREPARED as u64 + 8;

/// The large file, and the files that grow.
pub struct Appends {
    large: Overwrites,
    rng: Rng,
    page: Vec<u8>,
    /// Number and bytes of each file.
    files: Vec<(u64, u64)>,
    created: u64,
    accesses: u64,
    appended: u64,
    habit: Habit,
    /// The largest bound of an append so far.
    bound_ns: u64,
    doubt: Option<Doubt>,
}

/// The behaviour of the adversary for a while.
#[derive(Clone, Copy, Debug)]
struct Habit {
    /// Number of files that take turns.
    files: usize,
    /// Number of calls before each append. If `is_guided`, more calls until the bound is large.
    prepared: u32,
    is_guided: bool,
    /// Overwrites among ten of these calls. The others are patches.
    overwrites: u32,
    /// Bytes of a patch.
    patch_bytes: usize,
}

impl Habit {
    fn any(rng: &mut Rng) -> Self {
        Self {
            files: 1 + below(rng, FILES),
            prepared: rng.u32(0..4),
            is_guided: rng.bool(),
            overwrites: rng.u32(0..=10),
            patch_bytes: one_of(rng, &[1, 16, 64, 200, 450]).expect("one of them"),
        }
    }
}

impl Appends {
    /// Fills the volume with one large file, and makes the files that grow.
    pub fn fill<C: Flash + Metered>(
        plan: &Plan,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<Appends, EvaluateError> {
        let page_bytes = u64::from(fs.usage().logical_bytes);
        let needed_bytes = FILES as u64 * (FILE_PAGES + 1) * page_bytes + plan.write_bytes;
        let pages = plan.fill_bytes.saturating_sub(needed_bytes) / page_bytes;
        if pages == 0 || plan.write_bytes > FILE_PAGES * page_bytes {
            return Err(EvaluateError::TooSmall {
                used_bytes: plan.fill_bytes,
                needed_bytes: needed_bytes + page_bytes,
            });
        }
        let large = Overwrites::fill(Workload::Adversary, plan.seed, pages, fs, checker)?;
        let mut rng = Rng::with_seed(!plan.seed);
        let habit = Habit::any(&mut rng);
        let page = vec![0; page_bytes as usize];
        let (files, doubt) = (Vec::new(), None);
        let mut this = Appends {
            large,
            rng,
            page,
            files,
            created: 0,
            accesses: 0,
            appended: 0,
            habit,
            bound_ns: 0,
            doubt,
        };
        for _ in 0..FILES {
            this.create(fs, checker)?;
        }
        Ok(this)
    }

    /// Returns the bytes of the large file.
    pub fn large_bytes(&self) -> u64 {
        self.large.file_bytes()
    }

    /// Returns the files that grow, and the large file, each with its size.
    pub fn files(&self) -> Vec<(String, u64)> {
        self.files
            .iter()
            .map(|&(number, bytes)| (name(number), bytes))
            .chain([self.large.file()])
            .collect()
    }

    /// Fills `bytes` with the expected contents of a file.
    pub fn expect(&self, file: usize, offset: u64, bytes: &mut [u8]) {
        match self.files.get(file) {
            Some(&(number, _)) => fill_with_content(number, offset, bytes),
            None => self.large.expect(offset, bytes),
        }
    }

    /// Returns the changes of a failed call.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Prepares an append and makes it. Returns its offset among all bytes that were ever
    /// appended. The access is the append alone.
    pub fn access<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        write_bytes: u64,
    ) -> Result<u64, EvaluateError> {
        if self.accesses.is_multiple_of(HABIT) {
            self.habit = Habit::any(&mut self.rng);
        }
        self.accesses += 1;
        let mut index = below(&mut self.rng, self.habit.files);
        if self.files[index].1 + write_bytes > FILE_PAGES * self.page.len() as u64 {
            self.remove(fs, checker, index)?;
            index = self.create(fs, checker)?;
        }
        let path = name(self.files[index].0);
        let mut file =
            checker.call(fs, Call::Open { depth: 1 }, |fs| fs.open(&path, OpenOptions::DURABLE))?;
        self.prepare(fs, checker, write_bytes.min(self.page.len() as u64) as u32)?;
        checker.leave_out();
        let (page_bytes, mut left) = (self.page.len() as u64, write_bytes);
        while left > 0 {
            let (number, size) = self.files[index];
            let bytes = (page_bytes - size % page_bytes).min(left);
            let data = &mut self.page[..bytes as usize];
            fill_with_content(number, size, data);
            let call = fs.bounds().write_call(&file, size, data.len() as u32);
            if let Err(error) = checker.call(fs, call, |fs| fs.append(&mut file, data)) {
                self.doubt = Some(Doubt::Write { file: index, offset: size, bytes: data.to_vec() });
                return Err(error);
            }
            self.files[index].1 += bytes;
            left -= bytes;
        }
        checker.end_access();
        checker.call(fs, Call::Sync, |fs| fs.close(file))?;
        checker.leave_out();
        self.appended += write_bytes;
        Ok(self.appended - write_bytes)
    }

    /// Makes calls that may leave work of the file system for the next append.
    fn prepare<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        bytes: u32,
    ) -> Result<(), EvaluateError> {
        let timing = fs.flash().timing();
        for done in 0..PREPARED {
            let bound_ns = fs.bounds().of(Call::WriteLarge(bytes)).time_ns(&timing);
            self.bound_ns = self.bound_ns.max(bound_ns);
            let goes_on = self.habit.is_guided && bound_ns < self.bound_ns / 20 * 19;
            if done >= self.habit.prepared && !goes_on {
                break;
            }
            let result = if self.rng.u32(..10) < self.habit.overwrites {
                self.large.overwrite(fs, checker, self.page.len() as u64).map(drop)
            } else {
                self.large.patch(fs, checker, self.habit.patch_bytes.min(self.page.len()))
            };
            if let Err(error) = result {
                // The large file is the last one in the list of files.
                self.doubt = self.large.doubt().cloned();
                if let Some(Doubt::Write { file, .. }) = &mut self.doubt {
                    *file = self.files.len();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes an empty file and returns its index.
    fn create<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<usize, EvaluateError> {
        let path = name(self.created);
        let file = checker
            .call(fs, Call::Create { depth: 1 }, |fs| fs.open(&path, OpenOptions::DURABLE))?;
        checker.call(fs, Call::Sync, |fs| fs.close(file))?;
        self.files.push((self.created, 0));
        self.created += 1;
        Ok(self.files.len() - 1)
    }

    /// Removes a file. It moves the file to the first place meanwhile.
    fn remove<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        index: usize,
    ) -> Result<(), EvaluateError> {
        self.files.swap(0, index);
        remove(self.files[0].0, &mut self.doubt, fs, checker)?;
        self.files.swap_remove(0);
        Ok(())
    }

    /// Compares every file after a mount.
    pub fn read_back<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<(), EvaluateError> {
        self.large.read_back(fs, checker)?;
        let mut expected = vec![0; self.page.len()];
        for &(number, bytes) in &self.files {
            let path = name(number);
            let mut file = checker
                .call(fs, Call::Open { depth: 1 }, |fs| fs.open(&path, OpenOptions::DURABLE))?;
            for offset in (0..=bytes).step_by(self.page.len()) {
                let page = &mut self.page;
                let read = checker.call(fs, Call::Read(page.len() as u32), |fs| {
                    fs.read(&mut file, offset, page)
                })?;
                fill_with_content(number, offset, &mut expected);
                if read as u64 != (bytes - offset).min(page.len() as u64)
                    || page[..read] != expected[..read]
                {
                    return Err(EvaluateError::Lost { file: path, offset });
                }
            }
            checker.call(fs, Call::Sync, |fs| fs.close(file))?;
            checker.end_access();
        }
        Ok(())
    }
}
