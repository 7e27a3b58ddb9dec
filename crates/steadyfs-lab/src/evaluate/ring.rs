//! Appends to a ring of files: when the volume reaches its fill, the oldest file is removed.

use super::EvaluateError;
use super::checker::{Checker, Volume};
use super::doubt::Doubt;
use std::collections::VecDeque;
use steadyfs::media::Flash;
use steadyfs::{Call, File, OpenOptions};
use steadyfs_sim::Metered;

/// Bytes of a file of the ring, if the fill holds at least eight such files.
const FILE_BYTES: u64 = 1 << 20;
/// Minimum number of files of a ring.
const FILES_MIN: u64 = 8;

/// The ring. Files are named by their numbers, and only the newest grows.
pub struct Ring {
    page: Vec<u8>,
    file_bytes: u64,
    fill_bytes: u64,
    newest: File,
    /// Bytes of each file, the oldest first.
    files: VecDeque<u64>,
    /// Number of the oldest file.
    first: u64,
    appended: u64,
    is_full: bool,
    doubt: Option<Doubt>,
}

impl Ring {
    /// Makes the first file of a ring that may take `fill_bytes` of the volume, for appends of at
    /// most `write_bytes_max`.
    pub fn new<C: Flash + Metered>(
        fill_bytes: u64,
        write_bytes_max: u64,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<Ring, EvaluateError> {
        let page_bytes = u64::from(fs.usage().logical_bytes);
        let file_bytes =
            FILE_BYTES.min(fill_bytes / FILES_MIN / page_bytes * page_bytes).max(page_bytes);
        if write_bytes_max > file_bytes || fill_bytes < FILES_MIN * file_bytes {
            let needed_bytes = FILES_MIN * write_bytes_max.max(page_bytes);
            return Err(EvaluateError::TooSmall { used_bytes: fill_bytes, needed_bytes });
        }
        let newest = checker
            .call(fs, Call::Create { depth: 1 }, |fs| fs.open(&name(0), OpenOptions::DURABLE))?;
        Ok(Ring {
            page: vec![0xA5; page_bytes as usize],
            file_bytes,
            fill_bytes,
            newest,
            files: VecDeque::from([0]),
            first: 0,
            appended: 0,
            is_full: false,
            doubt: None,
        })
    }

    /// Returns the files, the oldest first, each with its size.
    pub fn files(&self) -> Vec<(String, u64)> {
        (self.first..).zip(&self.files).map(|(number, &bytes)| (name(number), bytes)).collect()
    }

    /// Fills `bytes` with the expected contents of a file.
    pub fn expect(&self, file: usize, offset: u64, bytes: &mut [u8]) {
        fill_with_content(self.first + file as u64, offset, bytes);
    }

    /// Returns the changes of a failed call.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Returns the maximum bytes of each file.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Returns true if a file has been removed to make room.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Appends `write_bytes`. Returns the offset among all bytes that were ever appended.
    ///
    /// If the volume has reached its fill, the access removes the oldest file. If the newest
    /// file has reached its size, the access makes a new one.
    pub fn access<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        write_bytes: u64,
    ) -> Result<u64, EvaluateError> {
        let is_new = self.files.back().is_some_and(|bytes| bytes + write_bytes > self.file_bytes);
        while self.taken_after(write_bytes, is_new) > self.room(fs) && self.files.len() > 1 {
            self.remove_oldest(fs, checker)?;
        }
        if is_new {
            let name = name(self.first + self.files.len() as u64);
            let newest = checker
                .call(fs, Call::Create { depth: 1 }, |fs| fs.open(&name, OpenOptions::DURABLE))?;
            let before = std::mem::replace(&mut self.newest, newest);
            checker.call(fs, Call::Sync, |fs| fs.close(before))?;
            self.files.push_back(0);
        }
        let page_bytes = self.page.len() as u64;
        let mut left = write_bytes;
        while left > 0 {
            let (older, size) = (
                self.files.len() as u64 - 1,
                self.files.back_mut().expect("a ring has a newest file"),
            );
            let bytes = (page_bytes - *size % page_bytes).min(left);
            let (file, data) = (&mut self.newest, &mut self.page[..bytes as usize]);
            fill_with_content(self.first + older, *size, data);
            let call = fs.bounds().write_call(file, *size, data.len() as u32);
            if let Err(error) = checker.call(fs, call, |fs| fs.append(file, data)) {
                self.doubt = Some(Doubt::Write {
                    file: older as usize,
                    offset: *size,
                    bytes: data.to_vec(),
                });
                return Err(error);
            }
            *size += bytes;
            left -= bytes;
        }
        checker.end_access();
        self.appended += write_bytes;
        Ok(self.appended - write_bytes)
    }

    /// Returns the bytes of the volume that the ring may take: its fill, and at most the usable
    /// bytes. The file table grows with the number of files, which reduces the usable bytes.
    fn room<C: Flash + Metered>(&self, fs: &Volume<'_, '_, C>) -> u64 {
        self.fill_bytes.min(fs.usage().usable_bytes.saturating_sub(self.page.len() as u64))
    }

    /// Returns the bytes taken after the next write: whole pages, and for each file one page
    /// that may be the index of a scattered file.
    fn taken_after(&self, write_bytes: u64, is_new: bool) -> u64 {
        let page_bytes = self.page.len() as u64;
        let taken = |bytes: u64| (bytes.div_ceil(page_bytes) + 1) * page_bytes;
        let (newest, older) = (self.files.back().unwrap_or(&0), self.files.len().saturating_sub(1));
        let before: u64 = self.files.iter().take(older).map(|&bytes| taken(bytes)).sum();
        before
            + if is_new { taken(*newest) + taken(write_bytes) } else { taken(newest + write_bytes) }
    }

    fn remove_oldest<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<(), EvaluateError> {
        remove(self.first, &mut self.doubt, fs, checker)?;
        self.files.pop_front();
        self.first += 1;
        self.is_full = true;
        Ok(())
    }

    /// Opens every file after a mount and checks its size. The newest file continues to grow.
    pub fn read_back<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<(), EvaluateError> {
        for (number, &bytes) in (self.first..).zip(&self.files) {
            let mut file = checker.call(fs, Call::Open { depth: 1 }, |fs| {
                fs.open(&name(number), OpenOptions::DURABLE)
            })?;
            let size = checker.call(fs, Call::Open { depth: 0 }, |fs| fs.size(&mut file))?;
            // The previous handle belongs to an earlier mount, or to an older file.
            let before = std::mem::replace(&mut self.newest, file);
            if number > self.first {
                checker.call(fs, Call::Sync, |fs| fs.close(before))?;
            }
            if size != bytes {
                return Err(EvaluateError::Lost { file: name(number), offset: size.min(bytes) });
            }
            checker.end_access();
        }
        Ok(())
    }
}

/// Removes a file durably. Until that is done, the file may be present or absent.
pub(super) fn remove<C: Flash + Metered>(
    number: u64,
    doubt: &mut Option<Doubt>,
    fs: &mut Volume<'_, '_, C>,
    checker: &mut Checker<'_, '_>,
) -> Result<(), EvaluateError> {
    *doubt = Some(Doubt::Removal);
    checker.call(fs, Call::Remove { depth: 1 }, |fs| fs.remove(&name(number)))?;
    checker.call(fs, Call::Sync, |fs| fs.sync(steadyfs::CommitOn::SYNC))?;
    *doubt = None;
    Ok(())
}

/// Fills `bytes` with the contents of a file from an offset on. They differ from file to file,
/// from page to page and from byte to byte.
pub(super) fn fill_with_content(number: u64, offset: u64, bytes: &mut [u8]) {
    for (at, byte) in (offset..).zip(bytes) {
        *byte = (number ^ at ^ at >> 7 ^ at >> 12).wrapping_mul(0xB5) as u8;
    }
}

pub(super) fn name(number: u64) -> String {
    format!("log-{number}")
}
