//! Managed flash: SD cards, eMMC, disks. Their access times are computed from the work of their
//! translation layer.
//!
//! [`Translation`] keeps the map of such a device. For each command it counts the pages that it
//! reads and programs, and the blocks that it erases. It stores no data. Time is a number that the
//! calls advance. Equal seeds and equal calls give equal times. `docs/results/cards.md` compares
//! the models with published figures.
//!
//! ```
//! use steadyfs_sim::managed::{ManagedProfile, Translation};
//!
//! let profile = ManagedProfile::named("sd-industrial").unwrap();
//! let mut card = Translation::new(&profile, 1);
//! card.fill();
//! // The writes begin with an allocation unit and are in order: nothing is copied.
//! let ns: u64 = (0..64).map(|index| card.write(index * 8, 8)).sum();
//! assert!(ns < 64 * 500_000);
//! ```
//!
//! The wait for the end of a stream can be computed only when the next access begins. The command
//! that breaks the stream waits for the program at its end. A driver behaves the same if it keeps a
//! multi-block write open until it needs the card for another command.
//! [`flush`](Translation::flush) ends a stream too.

mod card;
mod clock;
mod drive;
mod fit;
mod profile;
mod run;
mod slots;
#[cfg(test)]
mod tests;

pub use clock::NandCounts;
pub use fit::{Doubt, Quality, fit};
pub use profile::{CardProfile, DriveProfile, Figures, Kind, ManagedProfile};
pub use run::{Summary, backlog_bytes, longest_window, random_writes};

use card::Card;
use drive::Drive;
use steadyfs::media::sectors::SectorTimes;

/// The translation layer of a managed device, which computes the cost of accesses.
///
/// Sectors have 512 bytes. Every access returns the time that the host waits, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Translation {
    layer: Layer,
    /// Time of the host's driver for each command.
    call_ns: u64,
    times: SectorTimes,
}

#[derive(Clone, Debug)]
enum Layer {
    Card(Box<Card>),
    Drive(Box<Drive>),
}

/// Makes the same call on either layer.
macro_rules! with {
    ($self:ident, $layer:ident => $call:expr) => {
        match &mut $self.layer {
            Layer::Card($layer) => $call,
            Layer::Drive($layer) => $call,
        }
    };
}

/// Makes the same call on either layer, and returns the time that it took.
macro_rules! timed {
    ($self:ident, $layer:ident => $call:expr) => {
        with!($self, $layer => {
            let begin = $layer.clock.now_ns;
            $layer.clock.pass($self.call_ns);
            $call;
            $layer.clock.now_ns - begin
        })
    };
}

impl Translation {
    /// Creates a device that was never written.
    pub fn new(profile: &ManagedProfile, seed: u64) -> Self {
        let layer = match &profile.figures {
            Figures::Card(card) => Layer::Card(Box::new(Card::new(card, seed))),
            Figures::Drive(drive) => Layer::Drive(Box::new(Drive::new(drive, seed))),
        };
        let call_ns = u64::from(profile.call_us) * 1000;
        Self { layer, call_ns, times: times(&profile.figures, call_ns) }
    }

    /// Fills the device as if it was written from the first sector to the last. Takes no time,
    /// and counts nothing.
    pub fn fill(&mut self) {
        with!(self, layer => layer.fill());
    }

    /// Returns the number of sectors of the device.
    pub fn sector_count(&self) -> u32 {
        let sectors = match &self.layer {
            Layer::Card(card) => card.sector_count(),
            Layer::Drive(drive) => drive.sector_count(),
        };
        u32::try_from(sectors).unwrap_or(u32::MAX)
    }

    /// Writes sectors. A write directly behind the last write continues its stream, without a new
    /// command.
    ///
    /// # Panics
    /// If the device has no such sectors.
    pub fn write(&mut self, first: u32, count: u32) -> u64 {
        self.check(first, count);
        timed!(self, layer => layer.write(first, count))
    }

    /// Reads sectors.
    ///
    /// # Panics
    /// If the device has no such sectors.
    pub fn read(&mut self, first: u32, count: u32) -> u64 {
        self.check(first, count);
        timed!(self, layer => layer.read(first, count))
    }

    /// Discards sectors. Whole slots that consist of discarded sectors are never copied again.
    ///
    /// # Panics
    /// If the device has no such sectors.
    pub fn discard(&mut self, first: u32, count: u32) -> u64 {
        self.check(first, count);
        timed!(self, layer => layer.discard(first, count))
    }

    /// Makes the written data durable.
    pub fn flush(&mut self) -> u64 {
        timed!(self, layer => layer.flush())
    }

    /// Leaves the device idle for a while. It completes its work, and cleans if its profile
    /// cleans in idle time.
    pub fn idle(&mut self, ns: u64) {
        with!(self, layer => layer.idle(ns));
    }

    /// Returns the time since the start, in nanoseconds.
    pub fn now_ns(&self) -> u64 {
        match &self.layer {
            Layer::Card(card) => card.clock.now_ns,
            Layer::Drive(drive) => drive.clock.now_ns,
        }
    }

    /// Returns the work of the NAND so far.
    pub fn counts(&self) -> NandCounts {
        match &self.layer {
            Layer::Card(card) => card.clock.counts,
            Layer::Drive(drive) => drive.clock.counts,
        }
    }

    /// Returns the usual times of the commands, without cleaning. They are no guarantee.
    pub fn times(&self) -> SectorTimes {
        self.times
    }

    /// Computes the counters of the layer again, and compares them with the values that the layer
    /// maintains.
    #[cfg(test)]
    fn check_books(&self) {
        match &self.layer {
            Layer::Card(card) => card.check_books(),
            Layer::Drive(drive) => drive.check_books(),
        }
    }

    fn check(&self, first: u32, count: u32) {
        let sectors = self.sector_count();
        assert!(
            count > 0 && first < sectors && count <= sectors - first,
            "sectors {first} to {first} + {count} of a device with {sectors}"
        );
    }
}

/// Returns the times of commands that meet no cleaning. The host's driver takes `call_ns` for each.
fn times(figures: &Figures, call_ns: u64) -> SectorTimes {
    let ns = |us: u32| call_ns + u64::from(us) * 1000;
    match figures {
        Figures::Card(card) => SectorTimes {
            read_ns: ns(card.command_us + card.page_read_us),
            read_sector_ns: card.sector_ns.into(),
            write_ns: ns(card.command_us + card.slot_program_us),
            write_sector_ns: card.sector_ns.into(),
            discard_ns: ns(card.command_us + card.discard_us),
            flush_ns: ns(card.page_program_us),
        },
        Figures::Drive(drive) => SectorTimes {
            read_ns: ns(drive.command_us + drive.slot_read_us),
            read_sector_ns: drive.sector_ns.into(),
            write_ns: ns(
                drive.command_us + if drive.cache_kib == 0 { drive.page_program_us } else { 0 }
            ),
            write_sector_ns: drive.sector_ns.into(),
            discard_ns: ns(drive.command_us + drive.discard_us),
            flush_ns: ns(drive.flush_floor_us.max(2 * drive.page_program_us)),
        },
    }
}
