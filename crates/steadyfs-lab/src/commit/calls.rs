//! The four calls, timed on the device's clock, with the share of its cache.

use super::copies::pages_of;
use super::fat::{self, Shared};
use super::{CommitError, Options, System};
use crate::transactions::Events;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use steadyfs::media::Flash;
use steadyfs::media::sectors::SectorDevice;
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_sim::Metered;
use steadyfs_sim::sectors::{Controller, Timed};

/// Interval of the timed commit, and time that passes between two files.
const INTERVAL_NS: u64 = 1_000_000_000;

/// The four calls, and what the clock or the application does behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A file is created.
    Create,
    /// Bytes are written to it.
    Write,
    /// It is flushed.
    Flush,
    /// It is closed.
    Close,
    /// The commit of the clock or of the application, outside of the calls.
    After,
}

impl Call {
    /// In their order.
    pub const ALL: [Call; 5] = [Call::Create, Call::Write, Call::Flush, Call::Close, Call::After];
}

/// Time of a call, and the share of it in which the device emptied its cache, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTime {
    /// All of it.
    pub ns: u64,
    /// The device's flushes.
    pub flush_ns: u64,
}

/// The times of one file.
pub(super) type FileTimes = [CallTime; 5];

/// Where the clock of a device stands.
fn now<C: Controller>(device: &Timed<C>) -> CallTime {
    CallTime { ns: device.time_ns(), flush_ns: device.flush_ns() }
}

/// The times between stamps.
fn between(stamps: &[CallTime]) -> FileTimes {
    let since = |call: usize| (stamps[call], stamps[call + 1]);
    std::array::from_fn(|call| {
        let (before, after) = since(call);
        CallTime { ns: after.ns - before.ns, flush_ns: after.flush_ns - before.flush_ns }
    })
}

/// What is written to a file.
fn content(number: u32, options: &Options) -> Vec<u8> {
    vec![number as u8 | 1; options.write_bytes as usize]
}

/// The four calls of SteadyFS, which commits after some events.
pub(super) fn steadyfs<C: Controller + Clone>(
    device: Timed<C>,
    events: Events,
    options: &Options,
) -> Result<Vec<FileTimes>, CommitError> {
    let pages = pages_of(device);
    let config = Config::for_sectors(pages.layout());
    let mut memory = vec![0; config.memory_bytes(&pages.geometry())];
    let pages = FileSystem::format(pages, &config, &mut memory)?;
    let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory)?;
    fs.set_commit_on(events.commit_on());
    fs.set_commit_interval(INTERVAL_NS);
    // The first change of all opens the volume, once in its life.
    fs.create_dir("files")?;
    fs.commit()?;
    let mut times = Vec::new();
    for number in 0..options.files {
        // Files follow each other after the interval of the timed commit.
        let now_ns = (u64::from(number) + 1) * 2 * INTERVAL_NS;
        fs.flash_mut().device_mut().idle(INTERVAL_NS);
        fs.set_time(now_ns);
        let mut stamps = vec![now(fs.flash().device())];
        let mut file = fs.open(&format!("files/file-{number:03}"), OpenOptions::CREATE)?;
        stamps.push(now(fs.flash().device()));
        fs.write(&mut file, 0, &content(number, options))?;
        stamps.push(now(fs.flash().device()));
        fs.flush(&file)?;
        stamps.push(now(fs.flash().device()));
        fs.close(file)?;
        stamps.push(now(fs.flash().device()));
        match events {
            Events::Manual => fs.commit()?,
            _ => drop(fs.poll(now_ns + INTERVAL_NS)?),
        }
        stamps.push(now(fs.flash().device()));
        times.push(between(&stamps));
    }
    Ok(times)
}

/// The four calls of a FAT.
pub(super) fn fat<C: Controller + Clone>(
    system: System,
    device: Timed<C>,
    options: &Options,
) -> Result<Vec<FileTimes>, CommitError> {
    let shared: Shared<C> = Rc::new(RefCell::new(device));
    fat::format(&shared)?;
    let volume = fat::mount(&shared)?;
    let root = volume.root_dir();
    let end_call = || {
        if system == System::FatWrittenThrough {
            shared.borrow_mut().flush().map_err(std::io::Error::other)?;
        }
        Ok::<_, std::io::Error>(now(&shared.borrow()))
    };
    let mut times = Vec::new();
    for number in 0..options.files {
        shared.borrow_mut().idle(INTERVAL_NS);
        let mut stamps = vec![now(&shared.borrow())];
        let mut file = root.create_file(&format!("file-{number:03}"))?;
        stamps.push(end_call()?);
        file.write_all(&content(number, options))?;
        stamps.push(end_call()?);
        file.flush()?;
        stamps.push(end_call()?);
        drop(file);
        stamps.push(end_call()?);
        stamps.push(now(&shared.borrow()));
        times.push(between(&stamps));
    }
    Ok(times)
}
