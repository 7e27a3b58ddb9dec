//! Writes of ten times the bytes of the chip, to show which blocks wear out first.

use super::random::overwrite;
use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::{Document, PAGE_BYTES};
use crate::bench::gauge::Gauge;
use crate::bench::stage::{PIECE_BYTES, make, verify};

/// Written bytes, in multiples of the bytes of the chip.
const CAPACITIES: u64 = 10;
/// Bytes of a record of a log.
const RECORD_BYTES: usize = 512;
/// Number of files that are written to.
const FILES: usize = 8;
/// Number of steps between two reports of progress.
const TICK_EVERY: u64 = 1024;

/// The kind of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Overwrites 4,096 B durably at random places of eight files that take 40 % of the volume.
    /// A file at rest takes another 40 %.
    Random,
    /// Appends durable records of 512 B to a file. A full file takes a tenth of the volume.
    /// Before a ninth file, the oldest is removed.
    Log,
}

/// Writes ten times the bytes of the chip.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, load: Load) -> Result<Measured, Fault> {
    let mut gauge = Gauge::default();
    let (bytes, documents, step_bytes) = match load {
        Load::Random => {
            let (bytes, documents) = overwrites(bench, &mut gauge)?;
            (bytes, documents, PAGE_BYTES)
        }
        Load::Log => {
            let (bytes, documents) = logs(bench, &mut gauge)?;
            (bytes, documents, RECORD_BYTES as u64)
        }
    };
    verify(&mut bench.contender, &documents)?;
    Ok(Measured::throughput(
        gauge,
        bytes,
        bench.medium.write(step_bytes) * (bytes / step_bytes) as f64,
    ))
}

/// Returns the bytes of a file that takes `percent` per cent of the volume, in whole pages.
fn share<V: Volume>(volume: &mut V, percent: u64) -> Result<u64, Fault> {
    match volume.room()?.usable_bytes * percent / 100 / PAGE_BYTES * PAGE_BYTES {
        0 => Err(Fault::NoRoom("the volume has no room for eight files of a page".to_string())),
        bytes => Ok(bytes),
    }
}

fn overwrites<K: Contender>(
    bench: &mut Bench<'_, K>,
    gauge: &mut Gauge,
) -> Result<(u64, Vec<Document>), Fault> {
    let mut volume = bench.contender.mount()?;
    let (rest_bytes, file_bytes) = (share(&mut volume, 40)?, share(&mut volume, 5)?);
    let at_rest = make(&mut volume, "rest", rest_bytes, PIECE_BYTES)?;
    let (mut documents, mut files) = (Vec::new(), Vec::new());
    for number in 0..FILES {
        let document = make(&mut volume, format!("hot-{number}"), file_bytes, PIECE_BYTES)?;
        files.push(volume.open(&document.path, Mode::Durable)?);
        documents.push(document);
    }
    let steps = CAPACITIES * bench.medium.size_bytes() / PAGE_BYTES;
    for step in 0..steps {
        if step % TICK_EVERY == 0 {
            (bench.tick)(step as f64 / steps as f64);
        }
        let at = bench.rng.usize(..FILES);
        let file = files.swap_remove(at);
        files.push(overwrite(gauge, &mut volume, file, &mut documents[at], &mut bench.rng)?);
        files.swap(at, FILES - 1);
        if bench.patience_ns <= gauge.spent.time_ns {
            break;
        }
    }
    documents.push(at_rest);
    Ok((gauge.steps_ns.len() as u64 * PAGE_BYTES, documents))
}

fn logs<K: Contender>(
    bench: &mut Bench<'_, K>,
    gauge: &mut Gauge,
) -> Result<(u64, Vec<Document>), Fault> {
    let mut volume = bench.contender.mount()?;
    let file_bytes = share(&mut volume, 10)?;
    let total = CAPACITIES * bench.medium.size_bytes();
    let (mut documents, mut written): (Vec<Document>, u64) = (Vec::new(), 0);
    while written < total && gauge.spent.time_ns < bench.patience_ns {
        (bench.tick)(written as f64 / total as f64);
        if documents.len() == FILES {
            volume.remove(&documents.remove(0).path)?;
        }
        let mut log = Document::new(format!("log-{written}"));
        let mut file = volume.open(&log.path, Mode::Durable)?;
        while log.size < file_bytes && written < total && gauge.spent.time_ns < bench.patience_ns {
            let data = log.bytes(log.size, RECORD_BYTES);
            gauge.step(&mut volume, |step| step.write(&mut file, log.size, &data))?;
            log.size += RECORD_BYTES as u64;
            written += RECORD_BYTES as u64;
        }
        volume.close(file)?;
        documents.push(log);
    }
    Ok((written, documents))
}
