//! Reads of a file in order.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::gauge::Gauge;
use crate::bench::limit::Limit;
use crate::bench::stage::{PIECE_BYTES, demand, make};

/// Bytes of the file.
const BYTES: u64 = 512 << 10;

/// Reads in pieces of `piece` bytes.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, piece: usize) -> Result<Measured, Fault> {
    let mut volume = bench.contender.mount()?;
    demand(&mut volume, BYTES, 1)?;
    let document = make(&mut volume, "file", BYTES, PIECE_BYTES)?;
    volume.unmount()?;
    let mut volume = bench.contender.mount()?;
    let mut file = volume.open(&document.path, Mode::Read)?;
    let (mut gauge, mut data, expected) =
        (Gauge::default(), vec![0; piece], document.bytes(0, BYTES as usize));
    for (index, expected) in expected.chunks(piece).enumerate() {
        let offset = (index * piece) as u64;
        let length = gauge.step(&mut volume, |step| step.read(&mut file, offset, &mut data))?;
        if data[..length] != *expected {
            return Err(Fault::wrong(&document.path, offset));
        }
    }
    volume.close(file)?;
    let steps = BYTES / piece as u64;
    Ok(Measured::throughput(
        gauge,
        BYTES,
        Limit::reads(steps as f64 * bench.medium.read_ns(piece as u64)),
    ))
}
