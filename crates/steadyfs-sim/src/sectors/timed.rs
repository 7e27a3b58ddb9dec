//! Sectors whose times come from the work of a controller.

use super::Sectors;
use crate::Survivors;
use crate::managed::{ManagedProfile, NandCounts, Translation};
use crate::meter::{Counters, Metered};
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorTimes};

/// The work of a controller for commands. Each call returns its duration, in nanoseconds.
pub trait Controller {
    /// Reads sectors.
    fn read(&mut self, first: u32, count: u32) -> u64;
    /// Writes sectors.
    fn write(&mut self, first: u32, count: u32) -> u64;
    /// Discards the content of sectors.
    fn discard(&mut self, first: u32, count: u32) -> u64;
    /// Empties the cache.
    fn flush(&mut self) -> u64;
    /// Works in the background while the host is idle for `ns`.
    fn idle(&mut self, ns: u64);
    /// Returns the work so far; zeros if it is not counted.
    fn counts(&self) -> NandCounts {
        NandCounts::default()
    }
}

impl Controller for Translation {
    fn read(&mut self, first: u32, count: u32) -> u64 {
        Translation::read(self, first, count)
    }
    fn write(&mut self, first: u32, count: u32) -> u64 {
        Translation::write(self, first, count)
    }
    fn discard(&mut self, first: u32, count: u32) -> u64 {
        Translation::discard(self, first, count)
    }
    fn flush(&mut self) -> u64 {
        Translation::flush(self)
    }
    fn idle(&mut self, ns: u64) {
        Translation::idle(self, ns);
    }
    fn counts(&self) -> NandCounts {
        Translation::counts(self)
    }
}

/// A card, an eMMC or a disk with its content.
pub type Managed = Timed<Translation>;

impl Managed {
    /// Makes a device of a profile that was written from the first sector to the last, all zeros.
    /// Cards have no volatile cache. The other devices lose any part of the data that was not
    /// flushed.
    pub fn of(profile: &ManagedProfile, seed: u64) -> Self {
        let mut controller = Translation::new(profile, seed);
        controller.fill();
        let sectors = Sectors::new(controller.sector_count(), controller.times(), seed);
        let cache_sectors = profile.drive().map_or(0, |drive| 2 * drive.cache_kib as usize);
        let sectors = if cache_sectors == 0 {
            sectors
        } else {
            sectors.with_cache(Survivors::Any, cache_sectors)
        };
        Self::new(sectors, controller)
    }
}

/// A device with the content of [`Sectors`] and the times of a controller.
#[derive(Clone, Debug)]
pub struct Timed<C> {
    sectors: Sectors,
    controller: C,
    time_ns: u64,
    flush_ns: u64,
}

impl<C: Controller> Timed<C> {
    /// Puts a controller before sectors.
    pub fn new(sectors: Sectors, controller: C) -> Self {
        Self { sectors, controller, time_ns: 0, flush_ns: 0 }
    }

    /// Returns the sectors, whose power can be cut.
    pub fn sectors(&mut self) -> &mut Sectors {
        &mut self.sectors
    }

    /// Returns the controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// Leaves the device idle for `ns`.
    pub fn idle(&mut self, ns: u64) {
        self.controller.idle(ns);
    }

    /// Returns the time of the flushes so far, in nanoseconds.
    pub fn flush_ns(&self) -> u64 {
        self.flush_ns
    }
}

fn count(bytes: usize) -> u32 {
    (bytes / SECTOR_BYTES) as u32
}

impl<C: Controller> SectorDevice for Timed<C> {
    fn sector_count(&self) -> u32 {
        self.sectors.sector_count()
    }

    fn times(&self) -> SectorTimes {
        self.sectors.times()
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        self.sectors.read(first, parts)?;
        self.time_ns +=
            self.controller.read(first, count(parts.iter().map(|part| part.len()).sum()));
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        self.sectors.write(first, parts)?;
        self.time_ns +=
            self.controller.write(first, count(parts.iter().map(|part| part.len()).sum()));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.sectors.flush()?;
        let ns = self.controller.flush();
        (self.time_ns, self.flush_ns) = (self.time_ns + ns, self.flush_ns + ns);
        Ok(())
    }

    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        self.sectors.discard(first, count)?;
        self.time_ns += self.controller.discard(first, count);
        Ok(())
    }

    fn reorders(&self) -> bool {
        self.sectors.reorders()
    }
}

impl<C> Metered for Timed<C> {
    fn counters(&self) -> Counters {
        Counters { time_ns: self.time_ns, ..self.sectors.counters() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A controller of round times.
    #[derive(Clone)]
    struct Round;

    impl Controller for Round {
        fn read(&mut self, _first: u32, count: u32) -> u64 {
            count.into()
        }
        fn write(&mut self, _first: u32, count: u32) -> u64 {
            10 * u64::from(count)
        }
        fn discard(&mut self, _first: u32, _count: u32) -> u64 {
            100
        }
        fn flush(&mut self) -> u64 {
            1000
        }
        fn idle(&mut self, _ns: u64) {}
    }

    #[test]
    fn time_is_that_of_the_controller() {
        let mut device = Timed::new(Sectors::new(64, Sectors::ROUND, 1), Round);
        device.write(3, &[&[1; 700], &[2; 324]]).unwrap();
        device.read(3, &mut [&mut [0; 512]]).unwrap();
        device.discard(8, 4).unwrap();
        device.flush().unwrap();
        assert_eq!((device.time_ns(), device.flush_ns()), (20 + 1 + 100 + 1000, 1000));
        let Counters { programs, reads, flushes, .. } = device.counters();
        assert_eq!((programs, reads, flushes), (1, 1, 1));
    }
}
