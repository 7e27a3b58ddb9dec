//! The four calls, timed on the device's clock, with the part of the time in which its cache
//! empties.

use super::copies::pages_of;
use super::fat::{self, Disk};
use super::{Events, Options, System, TransactionsError};
use serde::{Deserialize, Serialize};
use std::io::Write;
use steadyfs::media::Flash;
use steadyfs::media::sectors::SectorPages;
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_sim::Metered;
use steadyfs_sim::sectors::{Controller, Timed};

/// Interval of the timed commit, and of the rest between two files.
const INTERVAL_NS: u64 = 1_000_000_000;

/// The four calls, and the later work of the clock or the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A file is created.
    Create,
    /// Bytes are written to the file.
    Write,
    /// The file is flushed.
    Flush,
    /// The file is closed.
    Close,
    /// The commit of the clock or of the application, outside of the calls.
    After,
}

impl Call {
    /// All calls, in their order.
    pub const ALL: [Call; 5] = [Call::Create, Call::Write, Call::Flush, Call::Close, Call::After];

    /// Returns the call in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Call::Create => "create",
            Call::Write => "write",
            Call::Flush => "flush",
            Call::Close => "close",
            Call::After => "after",
        }
    }
}

/// Time of a call, and the part of it in which the device emptied its cache, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTime {
    /// The whole time.
    pub ns: u64,
    /// The device's flushes.
    pub flush_ns: u64,
}

/// The times of one file.
pub type Times = [CallTime; Call::ALL.len()];

/// Reading of the clock of a medium.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub(super) ns: u64,
    pub(super) flush_ns: u64,
    pub(super) flushes: u64,
}

/// Functions that read the clock of a medium, and that let a second pass on it.
pub(super) struct Clock<F> {
    pub(super) now: fn(&F) -> Stamp,
    pub(super) rest: fn(&mut F),
}

/// Returns the reading of a device's clock.
fn now<C: Controller>(device: &Timed<C>) -> Stamp {
    Stamp { ns: device.time_ns(), flush_ns: device.flush_ns(), flushes: device.counters().flushes }
}

/// Returns the times between stamps.
fn between(stamps: &[Stamp]) -> Times {
    std::array::from_fn(|call| {
        let (before, after) = (stamps[call], stamps[call + 1]);
        CallTime { ns: after.ns - before.ns, flush_ns: after.flush_ns - before.flush_ns }
    })
}

/// Returns the content of a file.
fn content(number: u32, options: &Options) -> Vec<u8> {
    vec![number as u8 | 1; options.write_bytes as usize]
}

/// Times the four calls of SteadyFS on a new volume, which commits after some events. Also returns
/// the number of flushes for all files.
pub(super) fn steadyfs<F: Flash>(
    mut flash: F,
    config: &Config,
    clock: &Clock<F>,
    events: Events,
    options: &Options,
) -> Result<(Vec<Times>, u64), TransactionsError> {
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    FileSystem::format(&mut flash, config, &mut memory)?;
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
    fs.set_commit_on(events.commit_on());
    fs.set_commit_interval(INTERVAL_NS);
    // The first change of a volume opens it, once in its life.
    fs.create_dir("files")?;
    fs.commit()?;
    let (mut times, begin) = (Vec::new(), (clock.now)(fs.flash()));
    for number in 0..options.files {
        // Files follow each other after the interval of the timed commit.
        let now_ns = (u64::from(number) + 1) * 2 * INTERVAL_NS;
        (clock.rest)(fs.flash_mut());
        fs.set_time(now_ns);
        let mut stamps = vec![(clock.now)(fs.flash())];
        let mut file = fs.open(&format!("files/file-{number:03}"), OpenOptions::CREATE)?;
        stamps.push((clock.now)(fs.flash()));
        fs.write(&mut file, 0, &content(number, options))?;
        stamps.push((clock.now)(fs.flash()));
        fs.sync(steadyfs::CommitOn::FSYNC)?;
        stamps.push((clock.now)(fs.flash()));
        fs.close(file)?;
        stamps.push((clock.now)(fs.flash()));
        match events {
            Events::Manual | Events::Series if (number + 1) % events.series(options) == 0 => {
                fs.commit()?
            }
            Events::Series => {}
            _ => drop(fs.poll(now_ns + INTERVAL_NS)?),
        }
        stamps.push((clock.now)(fs.flash()));
        times.push(between(&stamps));
    }
    Ok((times, (clock.now)(fs.flash()).flushes - begin.flushes))
}

/// Times the four calls of SteadyFS on a managed device, as [`steadyfs`] does.
pub(super) fn steadyfs_on_sectors<C: Controller>(
    device: Timed<C>,
    events: Events,
    options: &Options,
) -> Result<(Vec<Times>, u64), TransactionsError> {
    let pages = pages_of(device);
    let config = Config::for_sectors(pages.layout());
    let clock = Clock {
        now: |pages: &SectorPages<Timed<C>>| now(pages.device()),
        rest: |pages: &mut SectorPages<Timed<C>>| pages.device_mut().idle(INTERVAL_NS),
    };
    steadyfs(pages, &config, &clock, events, options)
}

/// Times the four calls of a FAT. Also returns the number of flushes for all files.
pub(super) fn fat<C: Controller>(
    system: System,
    device: Timed<C>,
    options: &Options,
) -> Result<(Vec<Times>, u64), TransactionsError> {
    let shared = Disk::share(device);
    fat::format(&shared, fat::VOLUME_SECTORS)?;
    let volume = fat::mount(&shared, fat::VOLUME_SECTORS)?;
    let root = volume.root_dir();
    let end_call = || {
        let mut disk = shared.borrow_mut();
        if system == System::FatWrittenThrough { disk.flush() } else { disk.hand_over() }?;
        Ok::<_, std::io::Error>(now(&disk.device))
    };
    let (mut times, begin) = (Vec::new(), now(&shared.borrow().device));
    for number in 0..options.files {
        shared.borrow_mut().device.idle(INTERVAL_NS);
        let mut stamps = vec![now(&shared.borrow().device)];
        let mut file = root.create_file(&format!("file-{number:03}"))?;
        stamps.push(end_call()?);
        file.write_all(&content(number, options))?;
        stamps.push(end_call()?);
        file.flush()?;
        stamps.push(end_call()?);
        drop(file);
        stamps.push(end_call()?);
        stamps.push(now(&shared.borrow().device));
        times.push(between(&stamps));
    }
    let flushes = now(&shared.borrow().device).flushes - begin.flushes;
    Ok((times, flushes))
}
