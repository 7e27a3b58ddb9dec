//! Access times of writes of a page at random places: on a device as it is, with FAT on it, and
//! with SteadyFS on it.

use super::{Options, RealtimeError, WRITE_BYTES};
use crate::transactions::fat::{self, CLUSTER_BYTES, Disk};
use std::io::{self, Write};
use steadyfs::media::Flash;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorLayout, SectorPages};
use steadyfs::{Access, CommitLimits, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::Metered;
use steadyfs_sim::managed::NandCounts;
use steadyfs_sim::sectors::{Controller, Timed};

/// Accesses before the measured accesses. The card cleans many times in them.
const WARM_UP: u32 = 300_000;
/// Maximum of these accesses on a device that has not cleaned by then. A device of 64 GB has many
/// spare blocks.
const WARM_UP_MAX: u32 = 2_000_000;
/// Bytes of one write while a volume is filled.
const PIECE_BYTES: usize = 1 << 20;

/// Accesses of a long run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Durations in nanoseconds, in order. A commit belongs to the access before it.
    pub access_ns: Vec<u64>,
    /// Bytes of an access.
    pub access_bytes: u64,
    /// Rate of a stream in order, in pieces of 16 pages, in bytes per second; `None` on raw flash
    /// and with FAT.
    pub stream_bytes_per_s: Option<f64>,
    /// Durations of the accesses in which SteadyFS wrote a root on a card.
    pub root_ns: Vec<u64>,
    /// The device's own cleaning during the accesses; `None` on raw flash, which does none.
    pub cleaning: Option<Cleaning>,
    /// Longest access that the profile's times promise, in nanoseconds; `None` without a promise.
    pub bound_ns: Option<u64>,
    /// RAM of the file system, in bytes.
    pub ram_bytes: u64,
    /// Bytes that the volume can hold.
    pub usable_bytes: u64,
    /// Bytes that reached the device for each byte of the caller.
    pub written_per_byte: f64,
    /// Flushes of the device for each access.
    pub flushes_per_access: f64,
}

/// Work of a device for itself during the accesses of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cleaning {
    /// Number of times that the device began to clean.
    pub bursts: u64,
    /// Part of each access that waited for the cleaning, in nanoseconds.
    pub access_ns: Vec<u64>,
}

impl Cleaning {
    /// Records an access between two counts.
    fn note(&mut self, before: &NandCounts, after: &NandCounts) {
        self.bursts += after.bursts - before.bursts;
        self.access_ns.push(after.cleaning_ns - before.cleaning_ns);
    }
}

/// Sectors of an access.
const PAGE: u32 = (WRITE_BYTES / SECTOR_BYTES) as u32;

/// Measures writes to random places of the whole device, one right after another.
pub(super) fn raw<C: Controller>(
    device: &mut Timed<C>,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<Trace, RealtimeError> {
    let pages = device.sector_count() / PAGE;
    overwrite(device, &InPlace { first: 0, pages, directory: None }, options, tell)
}

/// Measures overwrites at random places of one file on a FAT that writes through. Each access
/// writes the data. Each commit also writes the file's entry in its directory, with the new time.
///
/// The FAT finds the file without reading its table, like implementations that keep the table or
/// the file's runs in RAM.
pub(super) fn fat<C: Controller>(
    device: Timed<C>,
    volume_bytes: u64,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<Trace, RealtimeError> {
    let sectors = ((volume_bytes / SECTOR_BYTES as u64) as u32).min(device.sector_count());
    let shared = Disk::share(device);
    let places = fill_fat(&shared, sectors, options.fill).map_err(RealtimeError::Fat)?;
    overwrite(&mut fat::take_back(shared), &places, options, tell)
}

/// Place of a file that lies in one run, and of its entry in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InPlace {
    first: u32,
    pages: u32,
    directory: Option<u32>,
}

/// First byte of each page of a file on a FAT.
const MARK: u8 = 0xFA;

/// Formats sectors with a FAT, and fills a share of it with one file. The file then lies in one
/// run.
fn fill_fat<C: Controller>(
    shared: &fat::Shared<Timed<C>>,
    sectors: u32,
    fill: f64,
) -> io::Result<InPlace> {
    fat::format(shared, sectors)?;
    let volume = fat::mount(shared, sectors)?;
    let mut piece = vec![0; PIECE_BYTES];
    piece.iter_mut().step_by(WRITE_BYTES).for_each(|byte| *byte = MARK);
    let clusters = (f64::from(volume.stats()?.total_clusters()) * fill) as u32;
    let mut file = volume.root_dir().create_file("DATA")?;
    let mut left = clusters as usize * CLUSTER_BYTES as usize;
    while left > 0 {
        let count = left.min(PIECE_BYTES);
        file.write_all(&piece[..count])?;
        left -= count;
    }
    drop(file);
    volume.unmount()?;
    shared.borrow_mut().flush()?;
    // The clusters begin after the reserved sectors and the tables. The first cluster is the root
    // directory, and the next clusters are the file.
    let mut boot = [0; SECTOR_BYTES];
    shared.borrow_mut().device.read(0, &mut [&mut boot]).map_err(io::Error::other)?;
    let reserved = u32::from(u16::from_le_bytes([boot[14], boot[15]]));
    let table = u32::from_le_bytes([boot[36], boot[37], boot[38], boot[39]]);
    let directory = reserved + u32::from(boot[16]) * table;
    let pages = clusters * (CLUSTER_BYTES / WRITE_BYTES as u32);
    Ok(InPlace {
        first: directory + CLUSTER_BYTES / SECTOR_BYTES as u32,
        pages,
        directory: Some(directory),
    })
}

/// Measures writes to random places of a run of pages, one right after another.
fn overwrite<C: Controller>(
    device: &mut Timed<C>,
    places: &InPlace,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<Trace, RealtimeError> {
    let accesses = options.accesses;
    let mut rng = fastrand::Rng::with_seed(options.seed);
    let data = [0; WRITE_BYTES];
    let (mut access_ns, mut cleaning) =
        (Vec::with_capacity(accesses as usize), Cleaning::default());
    let (mut warm, mut begin, mut access) = (WARM_UP, device.counters(), 0);
    let begun = device.controller().counts().bursts;
    while access < warm + accesses {
        if access == warm && warm < WARM_UP_MAX && device.controller().counts().bursts == begun {
            warm += WARM_UP / 10;
        }
        if access == warm {
            begin = device.counters();
        }
        let (before, counts) = (device.time_ns(), device.controller().counts());
        device
            .write(places.first + rng.u32(..places.pages) * PAGE, &[&data])
            .map_err(RealtimeError::Device)?;
        if (access + 1) % options.commit_every == 0 {
            if let Some(directory) = places.directory {
                device.write(directory, &[&data[..SECTOR_BYTES]]).map_err(RealtimeError::Device)?;
            }
            device.flush().map_err(RealtimeError::Device)?;
        }
        if access >= warm {
            access_ns.push(device.time_ns() - before);
            cleaning.note(&counts, &device.controller().counts());
        }
        if access % 4096 == 0 {
            tell(f64::from(access) / f64::from(warm + accesses));
        }
        access += 1;
    }
    let spent = device.counters().since(&begin);
    Ok(Trace {
        access_ns,
        access_bytes: WRITE_BYTES as u64,
        stream_bytes_per_s: None,
        root_ns: Vec::new(),
        cleaning: Some(cleaning),
        bound_ns: None,
        ram_bytes: 0,
        usable_bytes: u64::from(places.pages) * WRITE_BYTES as u64,
        written_per_byte: spent.bytes_programmed as f64
            / (f64::from(accesses) * WRITE_BYTES as f64),
        flushes_per_access: spent.flushes as f64 / f64::from(accesses),
    })
}

/// A volume on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// Bytes of the device that the volume takes.
    pub bytes: u64,
    /// Bytes of an allocation unit.
    pub unit_bytes: u32,
    /// Bytes of a program page.
    pub page_bytes: u32,
    /// Place of the tags.
    pub tags: steadyfs::media::sectors::TagPlace,
    /// Share of the volume that holds data.
    pub fill: f64,
}

impl Volume {
    /// Returns the layout of the volume on a device of `sectors` sectors.
    pub fn layout(&self, sectors: u32) -> SectorLayout {
        let sectors = ((self.bytes / SECTOR_BYTES as u64) as u32).min(sectors);
        SectorLayout {
            page_bytes: self.page_bytes,
            tags: self.tags,
            ..SectorLayout::for_device(sectors, self.unit_bytes)
        }
    }
}

/// Measures overwrites at random places of one file, in steady state.
pub(super) fn steadyfs<C: Controller>(
    device: Timed<C>,
    volume: &Volume,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<Trace, RealtimeError> {
    let layout = volume.layout(device.sector_count());
    let pages = SectorPages::new(device, layout).ok_or(RealtimeError::TooSmall)?;
    let geometry = pages.geometry();
    let config = Config::for_sectors(&layout);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let ram_bytes = (memory.len() + size_of::<FileSystem<'_, SectorPages<&[u8]>>>()) as u64;
    let pages = FileSystem::format(pages, &config, &mut memory)?;
    let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory)?;
    let usable_bytes = fs.usage().usable_bytes;
    // Whole pages. They are shorter than 4 KiB if they contain their tags.
    let write_bytes = u64::from(geometry.page_bytes);
    let bytes = (usable_bytes as f64 * volume.fill) as u64 / write_bytes * write_bytes;
    let mut file = fs.open("data", OpenOptions::CREATE)?;
    let piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    while at < bytes {
        let count = PIECE_BYTES.min((bytes - at) as usize);
        fs.write(&mut file, at, &piece[..count])?;
        at += count as u64;
        tell(0.3 * at as f64 / bytes as f64);
    }
    fs.close(file)?;
    fs.commit()?;
    let mut file = fs.open("data", OpenOptions::WRITE)?;
    fs.set_commit_on(CommitOn::MANY);
    fs.set_commit_limits(CommitLimits { changes: options.commit_every, bytes: 0 });
    let (mut rng, places) = (fastrand::Rng::with_seed(options.seed), bytes / write_bytes);
    let counts =
        |fs: &FileSystem<'_, SectorPages<Timed<C>>>| fs.flash().device().controller().counts();
    // Reclamation must go through all free room, and once through the rest. The card must also
    // begin to clean, if it does so at all.
    let least = (usable_bytes / write_bytes) as u32;
    let (mut warm, begun) = (0, counts(&fs).bursts);
    while warm < least || (counts(&fs).bursts == begun && warm < least + WARM_UP) {
        fs.write(&mut file, rng.u64(..places) * write_bytes, &piece[..write_bytes as usize])?;
        warm += 1;
        if warm % 1024 == 0 {
            tell(0.3 + 0.4 * f64::from(warm) / f64::from(least + WARM_UP));
        }
    }
    let accesses = options.accesses;
    let (mut access_ns, mut root_ns, mut bound_ns) =
        (Vec::with_capacity(accesses as usize), Vec::new(), 0);
    let (mut cleaning, begin) = (Cleaning::default(), fs.flash().counters());
    for access in 0..accesses {
        if access % 1024 == 0 {
            bound_ns = bound_ns.max(
                fs.bounds()
                    .of(steadyfs::Call::Write(write_bytes as u32))
                    .time_ns(&fs.flash().timing()),
            );
            tell(0.7 + 0.3 * f64::from(access) / f64::from(accesses));
        }
        let (before, root, nand) = (fs.flash().time_ns(), fs.describe().ring, counts(&fs));
        fs.write(&mut file, rng.u64(..places) * write_bytes, &piece[..write_bytes as usize])?;
        let ns = fs.flash().time_ns() - before;
        access_ns.push(ns);
        cleaning.note(&nand, &counts(&fs));
        root_ns.extend((fs.describe().ring != root).then_some(ns));
    }
    let spent = fs.flash().counters().since(&begin);
    Ok(Trace {
        written_per_byte: spent.bytes_programmed as f64
            / (f64::from(accesses) * write_bytes as f64),
        flushes_per_access: spent.flushes as f64 / f64::from(accesses),
        access_ns,
        access_bytes: write_bytes,
        stream_bytes_per_s: None,
        root_ns,
        cleaning: Some(cleaning),
        bound_ns: Some(bound_ns),
        ram_bytes,
        usable_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs_sim::managed::ManagedProfile;
    use steadyfs_sim::sectors::Managed;

    #[test]
    fn a_file_that_fills_a_fat_lies_in_one_run_behind_its_entry() {
        let shared = Disk::share(Managed::of(&ManagedProfile::named("sd-consumer").unwrap(), 1));
        let places = fill_fat(&shared, (280 << 20) / SECTOR_BYTES as u32, 0.1).unwrap();
        let mut sector = [0; SECTOR_BYTES];
        let mut read = |at: u32| {
            shared.borrow_mut().device.read(at, &mut [&mut sector]).map(|()| sector).unwrap()
        };
        // The entry of its long name is before it.
        assert_eq!(&read(places.directory.unwrap())[32..36], b"DATA");
        let mut byte_at = |at: u32| read(at)[0];
        assert!(places.pages > 7000, "{places:?}");
        assert!(
            (0..places.pages).all(|page| byte_at(places.first + page * PAGE) == MARK),
            "{places:?}"
        );
        assert_ne!(byte_at(places.first + places.pages * PAGE), MARK);
    }
}
