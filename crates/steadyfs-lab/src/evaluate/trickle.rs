//! Appends of small records to several files, at the worst of times: between two of them, pages are overwritten where reclaiming costs most.
//!
//! The records share the journal buffer with those of all files, so that an append now and then writes another file's page; the
//! overwrites in the fullest block see to it that reclamation is as far behind then as it may be. Only the appends are accesses.

use super::judge::{Judge, Volume};
use super::overwrites::Overwrites;
use super::ring::fill_with_content;
use super::writer::Doubt;
use super::{EvaluateError, Workload};
use fastrand::Rng;
use steadyfs::media::Flash;
use steadyfs::{Call, File, OpenOptions};
use steadyfs_sim::Metered;

/// Files that grow.
const LOGS: usize = 24;
/// Share of the fill that is left to them: one part in so many.
const LOGS_SHARE: u64 = 32;

/// The file that is overwritten, and those that grow.
pub struct Trickle {
    beside: Overwrites,
    rng: Rng,
    logs: Vec<u64>,
    bytes_max: u64,
    doubt: Option<Doubt>,
}

impl Trickle {
    /// Writes the file that is overwritten, and makes the others.
    pub fn fill<C: Flash + Metered>(
        seed: u64,
        pages: u64,
        fs: &mut Volume<'_, '_, C>,
        judge: &mut Judge<'_, '_>,
    ) -> Result<Trickle, EvaluateError> {
        let for_logs = (pages / LOGS_SHARE).max(2 * LOGS as u64);
        let kept = pages.saturating_sub(for_logs).max(1);
        let beside = Overwrites::fill(Workload::Adversary, seed, kept, fs, judge)?;
        let bytes_max = for_logs / LOGS as u64 * u64::from(fs.usage().logical_bytes);
        for index in 0..LOGS {
            let file = judge.call(fs, Call::Create { depth: 1 }, |fs| fs.open(&name(index), OpenOptions::DURABLE))?;
            judge.call(fs, Call::Sync, |fs| fs.close(file))?;
        }
        judge.end_access();
        Ok(Trickle { beside, rng: Rng::with_seed(seed), logs: vec![0; LOGS], bytes_max, doubt: None })
    }

    /// The files, each with its size.
    pub fn files(&self) -> Vec<(String, u64)> {
        let logs = self.logs.iter().enumerate().map(|(index, &bytes)| (name(index), bytes));
        std::iter::once(self.beside.file()).chain(logs).collect()
    }

    /// What must stand in a file.
    pub fn expect(&self, file: usize, offset: u64, bytes: &mut [u8]) {
        match file {
            0 => self.beside.expect(offset, bytes),
            _ => fill_with_content(file as u64 - 1, offset, bytes),
        }
    }

    /// What a call that failed would have done.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref().or(self.beside.doubt())
    }

    /// Appends `write_bytes` to one of the files, or, where that is a page or more, overwrites a page; tells where.
    pub fn access<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        judge: &mut Judge<'_, '_>,
        write_bytes: u64,
    ) -> Result<u64, EvaluateError> {
        let page_bytes = u64::from(fs.usage().logical_bytes);
        if write_bytes >= page_bytes {
            return self.beside.access(fs, judge, page_bytes);
        }
        let overwrites = self.rng.u32(0..4);
        judge.aside(|judge| (0..overwrites).try_for_each(|_| self.beside.access(fs, judge, page_bytes).map(|_| ())))?;
        let index = self.rng.usize(0..LOGS);
        let size = &mut self.logs[index];
        let mut file = judge.aside(|judge| open(index, fs, judge))?;
        if *size + write_bytes > self.bytes_max {
            judge.aside(|judge| judge.call(fs, Call::Truncate, |fs| fs.truncate(&mut file, 0)))?;
            *size = 0;
        }
        // A record that does not fit into the page begins the next one.
        let mut data = vec![0; write_bytes.min(page_bytes - *size % page_bytes) as usize];
        fill_with_content(index as u64, *size, &mut data);
        if let Err(error) = judge.call(fs, Call::Write(data.len() as u32), |fs| fs.append(&mut file, &data)) {
            self.doubt = Some(Doubt::Write { file: index + 1, offset: *size, bytes: data });
            return Err(error);
        }
        *size += data.len() as u64;
        judge.end_access();
        judge.aside(|judge| judge.call(fs, Call::Sync, |fs| fs.close(file)))?;
        Ok(index as u64 * self.bytes_max)
    }

    /// Looks after a mount whether everything is there; the files grow on.
    pub fn read_back<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        judge: &mut Judge<'_, '_>,
    ) -> Result<(), EvaluateError> {
        self.beside.read_back(fs, judge)?;
        for (index, &bytes) in self.logs.iter().enumerate() {
            let mut file = open(index, fs, judge)?;
            let size = judge.call(fs, Call::Open { depth: 0 }, |fs| fs.size(&mut file))?;
            judge.call(fs, Call::Sync, |fs| fs.close(file))?;
            if size != bytes {
                return Err(EvaluateError::Lost { file: name(index), offset: size.min(bytes) });
            }
            judge.end_access();
        }
        Ok(())
    }
}

/// Opens one of the files that grow.
fn open<C: Flash + Metered>(index: usize, fs: &mut Volume<'_, '_, C>, judge: &mut Judge<'_, '_>) -> Result<File, EvaluateError> {
    judge.call(fs, Call::Open { depth: 1 }, |fs| fs.open(&name(index), OpenOptions::DURABLE))
}

fn name(index: usize) -> String {
    format!("trickle-{index}")
}
