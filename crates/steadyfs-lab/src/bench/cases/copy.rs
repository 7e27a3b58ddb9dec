//! Mount, copy of files, and unmount, on a volume that was just formatted.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Volume};
use crate::bench::gauge::Gauge;
use crate::bench::stage::{demand, make, verify};
use crate::costs::file_bytes;

/// Bytes of a write.
const PIECE: usize = 64 << 10;

/// Copies `files` files of `bytes` bytes together. Each is durable when it is closed. The whole
/// copy is one step.
pub fn run<K: Contender>(
    bench: &mut Bench<'_, K>,
    files: u32,
    bytes: u64,
) -> Result<Measured, Fault> {
    let mut volume = bench.contender.mount()?;
    demand(&mut volume, bytes, files.into())?;
    volume.unmount()?;
    let sizes = || (0..files).map(|file| file_bytes(files, bytes, file));
    let mut gauge = Gauge::default();

    let before = bench.contender.counters();
    let mut volume = bench.contender.mount()?;
    let mut documents = Vec::new();
    for (number, bytes) in sizes().enumerate() {
        documents.push(make(&mut volume, format!("copy-{number:02}"), bytes, PIECE)?);
    }
    volume.unmount()?;
    gauge.note(&bench.contender.counters().since(&before), None);

    verify(&mut bench.contender, &documents)?;
    Ok(Measured::throughput(gauge, bytes, bench.medium.copy(sizes())))
}
