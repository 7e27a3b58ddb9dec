//! Durable overwrites at random places, on a volume in its steady state.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::{Document, PAGE_BYTES};
use crate::bench::gauge::Gauge;
use crate::bench::stage::{make, verify};
use fastrand::Rng;

/// Percent of the volume that the file takes.
const FILL_PERCENT: u64 = 80;
/// Number of measured overwrites.
const STEPS: u64 = 20_000;

/// Fills the file, overwrites twice the usable bytes of the volume, and measures.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>) -> Result<Measured, Fault> {
    let mut volume = bench.contender.mount()?;
    let usable_bytes = volume.room()?.usable_bytes;
    let pages = usable_bytes * FILL_PERCENT / 100 / PAGE_BYTES;
    if pages == 0 {
        return Err(Fault::NoRoom("the volume has no room for a page".to_string()));
    }
    let mut document = make(&mut volume, "random", pages * PAGE_BYTES, PAGE_BYTES as usize)?;
    let mut file = volume.open(&document.path, Mode::Durable)?;
    let warm_up = 2 * usable_bytes / PAGE_BYTES;
    let mut gauge = Gauge::default();
    for (steps, share) in [(warm_up, 0.0), (STEPS, warm_up as f64 / (warm_up + STEPS) as f64)] {
        gauge.begin();
        for step in 0..steps {
            if step % 1024 == 0 {
                (bench.tick)(share + step as f64 / (warm_up + STEPS) as f64);
            }
            file = overwrite(&mut gauge, &mut volume, file, &mut document, &mut bench.rng)?;
            if bench.patience_ns <= gauge.spent.time_ns {
                break;
            }
        }
    }
    volume.cut();
    verify(&mut bench.contender, [&document])?;
    let steps = gauge.steps_ns.len() as u64;
    Ok(Measured::throughput(
        gauge,
        steps * PAGE_BYTES,
        bench.medium.write(PAGE_BYTES) * steps as f64,
    ))
}

/// Overwrites a page at a random place with other bytes. Returns the file; if the volume had no
/// room, the file was opened again.
pub fn overwrite<V: Volume>(
    gauge: &mut Gauge,
    volume: &mut V,
    mut file: V::File,
    document: &mut Document,
    rng: &mut Rng,
) -> Result<V::File, Fault> {
    let page = rng.u64(..document.size / PAGE_BYTES);
    document.renew_page(page);
    let mut data = [0; PAGE_BYTES as usize];
    document.fill(page * PAGE_BYTES, &mut data);
    if gauge.try_step(volume, |step| step.write(&mut file, page * PAGE_BYTES, &data))? {
        return Ok(file);
    }
    document.restore_page(page);
    // File systems differ in the state of a handle after an error. A new handle shows the actual
    // contents.
    let _ = volume.close(file);
    volume.open(&document.path, Mode::Durable)
}
