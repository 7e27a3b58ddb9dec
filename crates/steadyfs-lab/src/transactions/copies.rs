//! Copies that were finished before power failed, and their state afterwards.

use super::fat::{self, Disk};
use super::{Options, System, TransactionsError};
use crate::units::format_count;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use steadyfs::media::Flash;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages};
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::sectors::{Controller, Timed};

/// Bytes of one write of a copy.
const PIECE_BYTES: usize = 16 << 10;

/// State of files whose copy was finished when power failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copies {
    /// The file system.
    pub system: String,
    /// Number of copies.
    pub copies: u32,
    /// Files that compare equal.
    pub whole: u32,
    /// Files that are shorter than the copied data.
    pub short: u32,
    /// Files of the right size with other bytes.
    pub wrong: u32,
    /// Files that are missing.
    pub missing: u32,
    /// Volumes that can no longer be mounted; their files count as missing.
    pub unmountable: u32,
}

impl Copies {
    /// Compares the found data with the copied data.
    fn add(&mut self, copied: &[u8], found: Option<&[u8]>) {
        self.copies += 1;
        match found {
            Some(found) if found == copied => self.whole += 1,
            Some(found) if found.len() < copied.len() => self.short += 1,
            Some(_) => self.wrong += 1,
            None => self.missing += 1,
        }
    }

    /// Names of the numbers of [`Copies::cells`].
    pub(crate) const COLUMNS: [&str; 4] = ["whole", "short", "wrong", "missing"];

    /// Returns the file system, and the number of its copies.
    pub(crate) fn name(&self) -> String {
        format!("{}, {} copies", self.system, format_count(self.copies.into()))
    }

    /// Returns the numbers of whole, short, wrong and missing copies.
    pub(crate) fn cells(&self) -> [String; 4] {
        [self.whole, self.short, self.wrong, self.missing].map(|count| format_count(count.into()))
    }

    /// Returns the number of copies that are not whole.
    pub fn lost(&self) -> u32 {
        self.copies - self.whole
    }
}

/// Copies files to a device, one after another, and cuts power after each. `tell` receives the
/// share that is done.
pub(super) fn run<C: Controller + Clone>(
    system: System,
    device: &Timed<C>,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<Copies, TransactionsError> {
    let mut copies = Copies { system: system.to_string(), ..Copies::default() };
    let mut rng = fastrand::Rng::with_seed(options.seed);
    let empty = empty_volume(system, device.clone())?;
    let mut device = empty.clone();
    for number in 0..options.copies {
        tell(f64::from(number) / f64::from(options.copies));
        // A fresh volume now and then, so that it does not fill up.
        if number % 50 == 0 {
            device = empty.clone();
        }
        let content: Vec<u8> = (0..rng.usize(1..200_000)).map(|_| rng.u8(..)).collect();
        let name = format!("copy-{number:04}");
        device = match system {
            System::SteadyFs => copy_to_steadyfs(device, &name, &content, &mut copies)?,
            _ => copy_to_fat(system, device, &name, &content, &mut copies)?,
        };
    }
    Ok(copies)
}

/// Returns a device with an empty volume on it, flushed.
fn empty_volume<C: Controller + Clone>(
    system: System,
    device: Timed<C>,
) -> Result<Timed<C>, TransactionsError> {
    if system != System::SteadyFs {
        let shared = Disk::share(device);
        fat::format(&shared, fat::VOLUME_SECTORS)?;
        return Ok(fat::take_back(shared));
    }
    let pages = pages_of(device);
    let config = Config::for_sectors(pages.layout());
    let mut memory = vec![0; config.memory_bytes(&pages.geometry())];
    Ok(FileSystem::format(pages, &config, &mut memory)?.into_device())
}

/// Returns the device, with the layout of a small one.
pub(super) fn pages_of<C: Controller>(device: Timed<C>) -> SectorPages<Timed<C>> {
    let layout = SectorLayout::for_device(device.sector_count().min(fat::VOLUME_SECTORS), 1 << 20);
    SectorPages::new(device, layout).expect("the lab's devices have room for it")
}

fn copy_to_steadyfs<C: Controller + Clone>(
    device: Timed<C>,
    name: &str,
    content: &[u8],
    copies: &mut Copies,
) -> Result<Timed<C>, TransactionsError> {
    let mut pages = pages_of(device);
    let mut memory = vec![0; Config::for_sectors(pages.layout()).memory_bytes(&pages.geometry())];
    {
        let mut fs = FileSystem::mount(&mut pages, Access::ReadWrite, &mut memory)?;
        fs.set_commit_on(CommitOn::ON_CLOSE);
        let mut file = fs.open(name, OpenOptions::CREATE)?;
        for (index, piece) in content.chunks(PIECE_BYTES).enumerate() {
            fs.write(&mut file, (index * PIECE_BYTES) as u64, piece)?;
        }
        fs.close(file)?;
    }
    let mut pages = pages_of(cut(pages.into_device()));
    let found = {
        let mut fs = FileSystem::mount(&mut pages, Access::ReadWrite, &mut memory)?;
        fs.open(name, OpenOptions::READ).ok().map(|mut file| {
            let mut found = vec![0; content.len() + 1];
            let bytes = fs.read(&mut file, 0, &mut found).unwrap_or(0);
            found.truncate(bytes);
            found
        })
    };
    copies.add(content, found.as_deref());
    Ok(pages.into_device())
}

/// Cuts power right after the copy was finished, and turns it on again.
fn cut<C: Controller>(mut device: Timed<C>) -> Timed<C> {
    device.sectors().cut_now();
    device.sectors().power_on();
    device
}

fn copy_to_fat<C: Controller + Clone>(
    system: System,
    device: Timed<C>,
    name: &str,
    content: &[u8],
    copies: &mut Copies,
) -> Result<Timed<C>, TransactionsError> {
    let shared = Disk::share(device);
    let end_call = || {
        let mut disk = shared.borrow_mut();
        if system == System::FatWrittenThrough { disk.flush() } else { disk.hand_over() }
    };
    let mounted = fat::mount(&shared, fat::VOLUME_SECTORS).and_then(|volume| {
        let root = volume.root_dir();
        let mut file = root.create_file(name)?;
        for piece in content.chunks(PIECE_BYTES) {
            file.write_all(piece)?;
            end_call()?;
        }
        file.flush()?;
        drop(file);
        end_call()?;
        // Later writes are not part of the copy: power fails here.
        shared.borrow_mut().device.sectors().cut_now();
        Ok(())
    });
    shared.borrow_mut().cut();
    if mounted.is_err() {
        copies.unmountable += 1;
        copies.add(content, None);
        return Ok(fat::take_back(shared));
    }
    let found = fat::mount(&shared, fat::VOLUME_SECTORS).and_then(|volume| {
        let mut found = Vec::new();
        volume.root_dir().open_file(name)?.read_to_end(&mut found)?;
        Ok(found)
    });
    copies.add(content, found.as_deref().ok());
    Ok(fat::take_back(shared))
}
