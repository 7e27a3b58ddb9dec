//! A large file from beginning to end, durable only at its end.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::stage::{demand, put, verify};

/// Bytes of the file, or half the chip if that is less.
const BYTES: u64 = 32 << 20;

/// Writes a file in pieces of `piece` bytes.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, piece: usize) -> Result<Measured, Fault> {
    let bytes = (bench.medium.size_bytes() / 2).min(BYTES);
    let (mut gauge, mut document) = (Gauge::default(), Document::new("large"));
    let mut volume = bench.contender.mount()?;
    demand(&mut volume, bytes, 1)?;
    put(&mut gauge, &mut volume, &mut document, bytes, piece)?;
    volume.cut();
    verify(&mut bench.contender, [&document])?;
    Ok(Measured::throughput(gauge, bytes, bench.medium.write(bytes)))
}
