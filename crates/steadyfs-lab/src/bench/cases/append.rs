//! Small durable records at the end of a file, on an aged volume.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::stage::verify;

/// Number of appends before the measurement, and in it.
const WARM_UP: u32 = 1_000;
const STEPS: u32 = 2_500;

/// Appends records of `bytes` bytes.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, bytes: usize) -> Result<Measured, Fault> {
    let mut documents = std::mem::take(&mut bench.documents);
    let mut volume = bench.contender.mount()?;
    let mut log = Document::new("log");
    let mut file = volume.open(&log.path, Mode::Durable)?;
    let mut gauge = Gauge::default();
    for steps in [WARM_UP, STEPS] {
        gauge.begin();
        for _ in 0..steps {
            let data = log.bytes(log.size, bytes);
            gauge.step(&mut volume, |step| step.write(&mut file, log.size, &data))?;
            log.size += bytes as u64;
            if bench.patience_ns <= gauge.spent.time_ns {
                break;
            }
        }
    }
    volume.cut();
    documents.push(log);
    verify(&mut bench.contender, &documents)?;
    Ok(Measured::times(gauge, bench.medium.write(bytes as u64)))
}
