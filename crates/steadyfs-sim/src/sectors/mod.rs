//! Managed flash as a host sees it: sectors that can be written at any time, behind a cache whose
//! content a power cut may lose.
//!
//! [`Sectors`] is a [`SectorDevice`] with given times. A power cut loses content of the cache: the
//! newest writes, or any writes ([`Survivors`]). An interrupted write may be *shorn*: only some of
//! its sectors are written. One sector may be garbage, or unreadable until it is written again.
//! [`Timed`] gives the device the times of a [`Controller`].

mod timed;
mod torn;

pub use timed::{Controller, Managed, Timed};

use crate::fault::{Survivors, Torn};
use crate::meter::{Counters, Metered};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorTimes};

/// Number of sectors that clones share until one of them is written.
const CHUNK: u32 = 16;

/// The sectors of a chunk that are not all zero, by their index in the chunk. Each is stored
/// without its trailing zeros. This saves memory: simulated devices have many gigabytes.
type Chunk = Vec<(u8, Box<[u8]>)>;

/// A sector that waits in the cache.
#[derive(Clone, Debug)]
struct Waiting {
    /// Number of the command that wrote it.
    command: u64,
    sector: u32,
    data: Arc<[u8; SECTOR_BYTES]>,
}

/// A planned cut. `after` is the number of changing commands before it, and `torn` the state that
/// it leaves.
#[derive(Clone, Copy, Debug)]
struct Cut {
    after: u32,
    torn: Torn,
}

/// A device of sectors, which contain zeros at first.
#[derive(Clone, Debug)]
pub struct Sectors {
    chunks: Vec<Arc<Chunk>>,
    sector_count: u32,
    times: SectorTimes,
    unreadable: BTreeSet<u32>,
    /// Sectors that accept no writes, and the failure that their writes return.
    refused: Option<(Range<u32>, Failure)>,
    refusals: u32,
    /// `None` if there is no cache. A write is then durable when its call returns.
    survivors: Option<Survivors>,
    cache_sectors: usize,
    waiting: Vec<Waiting>,
    cut: Option<Cut>,
    off: bool,
    rng: Rng,
    commands: u64,
    counters: Counters,
}

impl Sectors {
    /// Round times. A read takes 100 µs and 10 µs a sector. A write takes 200 µs and 20 µs a
    /// sector. A discard and a flush take 1 ms.
    pub const ROUND: SectorTimes = SectorTimes {
        read_ns: 100_000,
        read_sector_ns: 10_000,
        write_ns: 200_000,
        write_sector_ns: 20_000,
        discard_ns: 1_000_000,
        flush_ns: 1_000_000,
    };

    /// Makes a device without a cache. The seed determines the state that power cuts leave.
    pub fn new(sector_count: u32, times: SectorTimes, seed: u64) -> Self {
        Self {
            chunks: vec![Arc::default(); sector_count.div_ceil(CHUNK) as usize],
            sector_count,
            times,
            unreadable: BTreeSet::new(),
            refused: None,
            refusals: 0,
            survivors: None,
            cache_sectors: 0,
            waiting: Vec::new(),
            cut: None,
            off: false,
            rng: Rng::with_seed(seed),
            commands: 0,
            counters: Counters::default(),
        }
    }

    /// Puts a cache of `cache_sectors` sectors before the medium. [`Survivors::InOrderOfBlocks`]
    /// means [`Survivors::Any`] here.
    #[must_use]
    pub fn with_cache(mut self, survivors: Survivors, cache_sectors: usize) -> Self {
        (self.survivors, self.cache_sectors) = (Some(survivors), cache_sectors);
        self
    }

    /// Makes sectors refuse writes from now on. A write that meets one of them changes nothing,
    /// and returns `failure`: [`Failure::BadBlock`] from a driver that reports them.
    pub fn refuse(&mut self, sectors: Range<u32>, failure: Failure) {
        self.refused = Some((sectors, failure));
    }

    /// Returns the number of writes that were refused so far.
    pub fn refusals(&self) -> u32 {
        self.refusals
    }

    /// Returns the number of sectors that wait in the cache.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the content of a sector: the newest content in the cache, or else the content of the
    /// medium.
    fn sector(&self, sector: u32) -> Result<[u8; SECTOR_BYTES], Failure> {
        if let Some(waiting) = self.waiting.iter().rev().find(|waiting| waiting.sector == sector) {
            return Ok(*waiting.data);
        }
        if self.unreadable.contains(&sector) {
            return Err(Failure::Uncorrectable);
        }
        let mut data = [0; SECTOR_BYTES];
        let chunk = &self.chunks[(sector / CHUNK) as usize];
        if let Some((_, bytes)) =
            chunk.iter().find(|(place, _)| u32::from(*place) == sector % CHUNK)
        {
            data[..bytes.len()].copy_from_slice(bytes);
        }
        Ok(data)
    }

    /// Stores a sector on the medium.
    fn store(&mut self, sector: u32, data: &[u8; SECTOR_BYTES]) {
        self.unreadable.remove(&sector);
        let used = data.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let chunk = &mut self.chunks[(sector / CHUNK) as usize];
        let place = chunk.iter().position(|(place, _)| u32::from(*place) == sector % CHUNK);
        match place {
            None if used == 0 => {}
            Some(index) if used == 0 => drop(Arc::make_mut(chunk).swap_remove(index)),
            Some(index) => Arc::make_mut(chunk)[index].1 = data[..used].into(),
            None => Arc::make_mut(chunk).push(((sector % CHUNK) as u8, data[..used].into())),
        }
    }

    /// Counts a command that changes data. Returns the torn state if power fails in it.
    fn command(&mut self) -> Option<Torn> {
        self.commands += 1;
        let cut = self.cut.as_mut()?;
        if cut.after > 0 {
            cut.after -= 1;
            return None;
        }
        self.off = true;
        self.cut.take().map(|cut| cut.torn)
    }

    fn check(&self, first: u32, count: u32) -> Result<(), Failure> {
        assert!(
            first.checked_add(count).is_some_and(|end| end <= self.sector_count),
            "sectors {first} to {first} + {count} of {}",
            self.sector_count
        );
        if self.off { Err(Failure::Device) } else { Ok(()) }
    }

    /// Writes the oldest sectors of a cache that is too full to the medium.
    fn make_room(&mut self) {
        let too_many = self.waiting.len().saturating_sub(self.cache_sectors);
        for waiting in self.waiting.drain(..too_many).collect::<Vec<_>>() {
            self.store(waiting.sector, &waiting.data);
        }
    }

    /// Writes sectors, into the cache if there is one.
    fn put(&mut self, first: u32, sectors: &[[u8; SECTOR_BYTES]]) {
        let command = self.commands;
        for (sector, data) in (first..).zip(sectors) {
            if self.survivors.is_some() {
                self.waiting.push(Waiting { command, sector, data: Arc::new(*data) });
            } else {
                self.store(sector, data);
            }
        }
    }
}

impl SectorDevice for Sectors {
    fn sector_count(&self) -> u32 {
        self.sector_count
    }

    fn times(&self) -> SectorTimes {
        self.times
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        assert!(bytes.is_multiple_of(SECTOR_BYTES), "{bytes} bytes are not whole sectors");
        let count = (bytes / SECTOR_BYTES) as u32;
        self.check(first, count)?;
        self.counters.reads += 1;
        self.counters.bytes_read += bytes as u64;
        self.counters.time_ns += self.times.read_ns + u64::from(count) * self.times.read_sector_ns;
        let mut bytes = Vec::with_capacity(bytes);
        (first..first + count)
            .try_for_each(|sector| self.sector(sector).map(|data| bytes.extend(data)))?;
        let mut rest = &bytes[..];
        for part in parts {
            let (here, behind) = rest.split_at(part.len());
            part.copy_from_slice(here);
            rest = behind;
        }
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        let bytes = parts.concat();
        let (sectors, rest) = bytes.as_chunks();
        assert!(rest.is_empty(), "{} bytes are not whole sectors", bytes.len());
        self.check(first, sectors.len() as u32)?;
        self.counters.programs += 1;
        self.counters.bytes_programmed += bytes.len() as u64;
        self.counters.time_ns +=
            self.times.write_ns + sectors.len() as u64 * self.times.write_sector_ns;
        let end = first + sectors.len() as u32;
        if let Some((_, failure)) =
            self.refused.as_ref().filter(|(refused, _)| refused.start < end && first < refused.end)
        {
            self.refusals += 1;
            return Err(*failure);
        }
        match self.command() {
            Some(torn) => {
                self.shear(first, sectors, torn);
                return Err(Failure::Device);
            }
            None => self.put(first, sectors),
        }
        self.make_room();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.check(0, 0)?;
        self.counters.flushes += 1;
        self.counters.time_ns += self.times.flush_ns;
        for waiting in std::mem::take(&mut self.waiting) {
            self.store(waiting.sector, &waiting.data);
        }
        Ok(())
    }

    /// Discards sectors. For each sector the seed decides if the sector reads as zeros at once or
    /// keeps its content. So callers cannot rely on either.
    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        self.check(first, count)?;
        self.counters.erases += 1;
        self.counters.time_ns += self.times.discard_ns;
        let is_cut = self.command().is_some();
        for sector in first..first + count {
            if self.rng.bool() {
                self.put(sector, &[[0; SECTOR_BYTES]]);
            }
        }
        self.make_room();
        if is_cut { Err(Failure::Device) } else { Ok(()) }
    }

    fn reorders(&self) -> bool {
        self.survivors.is_some_and(|survivors| survivors != Survivors::InOrder)
    }
}

impl Metered for Sectors {
    fn counters(&self) -> Counters {
        self.counters
    }
}
