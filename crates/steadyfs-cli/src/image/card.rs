//! A card or disk, or an image of one: a file, and a translation layer for its times. The layer
//! exists if a managed device is named.

use steadyfs::media::Failure;
use steadyfs::media::sectors::{SectorDevice, SectorTimes};
use steadyfs_host::block::{BlockError, BlockFile};
use steadyfs_sim::managed::{ManagedProfile, Translation};
use steadyfs_sim::{Counters, Metered};

/// A file of sectors that takes the times of a managed device, or of the machine.
#[derive(Debug)]
pub struct Card {
    file: BlockFile,
    layer: Option<Translation>,
    time_ns: u64,
}

impl Card {
    /// Returns a card whose commands take as long as on the machine.
    pub fn new(file: BlockFile) -> Self {
        Self { file, layer: None, time_ns: 0 }
    }

    /// Returns an image with the times of a device that was written from the first sector to the
    /// last before. `None` if the device is smaller than the image.
    pub fn with_profile(file: BlockFile, profile: &ManagedProfile) -> Option<Self> {
        let mut layer = Translation::new(profile, 1);
        layer.fill();
        (file.sector_count() <= layer.sector_count()).then_some(Self {
            file,
            layer: Some(layer),
            time_ns: 0,
        })
    }

    /// Returns the reason for the last failure of an operation.
    pub fn error(&self) -> Option<&BlockError> {
        self.file.error()
    }

    /// Adds the time of a command on the device, if one is named.
    fn take(&mut self, time_of: impl FnOnce(&mut Translation) -> u64) {
        self.time_ns += self.layer.as_mut().map_or(0, time_of);
    }
}

fn sectors(bytes: usize) -> u32 {
    (bytes / steadyfs::media::sectors::SECTOR_BYTES) as u32
}

impl SectorDevice for Card {
    fn sector_count(&self) -> u32 {
        self.file.sector_count()
    }

    fn times(&self) -> SectorTimes {
        self.layer.as_ref().map_or_else(|| self.file.times(), Translation::times)
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        self.file.read(first, parts)?;
        let count = sectors(parts.iter().map(|part| part.len()).sum());
        self.take(|layer| layer.read(first, count));
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        self.file.write(first, parts)?;
        let count = sectors(parts.iter().map(|part| part.len()).sum());
        self.take(|layer| layer.write(first, count));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.file.flush()?;
        self.take(Translation::flush);
        Ok(())
    }

    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        self.file.discard(first, count)?;
        self.take(|layer| layer.discard(first, count));
        Ok(())
    }

    fn reorders(&self) -> bool {
        self.file.reorders()
    }
}

impl Metered for Card {
    fn counters(&self) -> Counters {
        let counters = self.file.counters();
        if self.layer.is_some() { Counters { time_ns: self.time_ns, ..counters } } else { counters }
    }
}
