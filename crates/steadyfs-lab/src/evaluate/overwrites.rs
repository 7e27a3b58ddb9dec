//! Overwrites in one large file: at random, hot and cold, or at the places that cost reclaim
//! most.

use super::checker::{Checker, Volume};
use super::doubt::Doubt;
use super::draw::{below, one_of};
use super::tracker::PageMark;
use super::{EvaluateError, Workload};
use fastrand::Rng;
use steadyfs::media::Flash;
use steadyfs::{Call, Error, File, OpenOptions};
use steadyfs_sim::Metered;

const NAME: &str = "data";
/// Number of pages that may be missing when the volume is filled completely. The file system
/// takes them for itself meanwhile.
const SHORT_PAGES: u64 = 16;

/// The file, and the newest data of each of its pages.
pub struct Overwrites {
    workload: Workload,
    rng: Rng,
    file: File,
    page: Vec<u8>,
    /// Expected contents of the file.
    content: Vec<u8>,
    writes: u64,
    doubt: Option<Doubt>,
}

impl Overwrites {
    /// Writes the file from its beginning, one durable logical page at a time. Stops after
    /// `pages`, or when there is no room for the last pages.
    pub fn fill<C: Flash + Metered>(
        workload: Workload,
        seed: u64,
        pages: u64,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<Overwrites, EvaluateError> {
        let page_bytes = fs.usage().logical_bytes as usize;
        let file = checker
            .call(fs, Call::Create { depth: 1 }, |fs| fs.open(NAME, OpenOptions::DURABLE))?;
        let rng = Rng::with_seed(seed);
        let (page, content) = (vec![0xA5; page_bytes], Vec::new());
        let mut this = Overwrites { workload, rng, file, page, content, writes: 0, doubt: None };
        for page in 0..pages {
            match this.write_piece(
                fs,
                checker,
                page * page_bytes as u64,
                page_bytes,
                Call::Write(page_bytes as u32),
            ) {
                Err(EvaluateError::Volume { error: Error::NoSpace, .. })
                    if page + SHORT_PAGES >= pages =>
                {
                    break;
                }
                result => result?,
            }
            checker.end_access();
        }
        Ok(this)
    }

    /// Returns the bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.content.len() as u64
    }

    /// Returns the name of the file and its size.
    pub fn file(&self) -> (String, u64) {
        (NAME.to_string(), self.file_bytes())
    }

    /// Fills `bytes` with the expected contents of the file.
    pub fn expect(&self, offset: u64, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.content[offset as usize..][..bytes.len()]);
    }

    /// Returns the bytes of a failed call.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Overwrites `write_bytes` at a multiple of them, as one access. Returns the offset.
    pub fn access<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        write_bytes: u64,
    ) -> Result<u64, EvaluateError> {
        let offset = self.overwrite(fs, checker, write_bytes)?;
        checker.end_access();
        Ok(offset)
    }

    /// Overwrites `write_bytes` at a multiple of them, within an access. Returns the offset.
    pub fn overwrite<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        write_bytes: u64,
    ) -> Result<u64, EvaluateError> {
        let offset = self.choose(fs, write_bytes);
        self.writes += 1;
        let page_bytes = self.page.len() as u64;
        let (mut at, end) = (offset, offset + write_bytes);
        while at < end {
            let bytes = (page_bytes - at % page_bytes).min(end - at);
            let call =
                if bytes == page_bytes { Call::Overwrite } else { Call::Write(bytes as u32) };
            self.write_piece(fs, checker, at, bytes as usize, call)?;
            at += bytes;
        }
        Ok(offset)
    }

    /// Overwrites `bytes` bytes at a random place within a page, within an access.
    pub fn patch<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        bytes: usize,
    ) -> Result<(), EvaluateError> {
        let page_bytes = self.page.len();
        let page = self.rng.u64(..self.file_bytes() / page_bytes as u64);
        let within = below(&mut self.rng, page_bytes - bytes + 1);
        self.writes += 1;
        self.write_piece(
            fs,
            checker,
            page * page_bytes as u64 + within as u64,
            bytes,
            Call::Write(bytes as u32),
        )
    }

    /// Chooses the offset of the next write.
    fn choose<C: Flash + Metered>(&mut self, fs: &Volume<'_, '_, C>, write_bytes: u64) -> u64 {
        let places = (self.file_bytes() / write_bytes).max(1);
        let hot = (places / 10).max(1);
        let place = match self.workload {
            Workload::Hot if self.rng.u32(0..10) < 9 || hot == places => self.rng.u64(0..hot),
            Workload::Hot => self.rng.u64(hot..places),
            Workload::Adversary | Workload::AdversaryAppend => {
                let pages = fs.flash().fullest();
                let page = one_of(&mut self.rng, &pages).unwrap_or(0);
                (u64::from(page) * self.page.len() as u64 / write_bytes).min(places - 1)
            }
            Workload::Random | Workload::Append | Workload::Log => self.rng.u64(0..places),
        };
        place * write_bytes
    }

    /// Writes within one page of the file. The data is a piece of a page that begins with its
    /// mark.
    fn write_piece<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        offset: u64,
        bytes: usize,
        call: Call,
    ) -> Result<(), EvaluateError> {
        let page_bytes = self.page.len() as u64;
        let (index, within) = (offset / page_bytes, (offset % page_bytes) as usize);
        let mark = PageMark { page: index as u32, stamp: self.writes };
        self.page.fill(self.writes as u8);
        self.page[..PageMark::BYTES].copy_from_slice(&mark.emit());
        let (file, data) = (&mut self.file, &self.page[within..within + bytes]);
        if let Err(error) = checker.call(fs, call, |fs| fs.write(file, offset, data)) {
            self.doubt = Some(Doubt::Write { file: 0, offset, bytes: data.to_vec() });
            return Err(error);
        }
        let begin = offset as usize;
        self.content.resize(self.content.len().max(begin + bytes), 0);
        self.content[begin..begin + bytes].copy_from_slice(data);
        Ok(())
    }

    /// Opens the file again after a mount and compares every page.
    pub fn read_back<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<(), EvaluateError> {
        self.file =
            checker.call(fs, Call::Open { depth: 1 }, |fs| fs.open(NAME, OpenOptions::DURABLE))?;
        let file = &mut self.file;
        for (index, expected) in self.content.chunks(self.page.len()).enumerate() {
            let (offset, page) = ((index * self.page.len()) as u64, &mut self.page);
            checker.call(fs, Call::Read(page.len() as u32), |fs| fs.read(file, offset, page))?;
            if page != expected {
                return Err(EvaluateError::Lost { file: NAME.to_string(), offset });
            }
            checker.end_access();
        }
        Ok(())
    }
}
