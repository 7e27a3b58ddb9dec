//! A file of 100,000 B in writes of 256 B, such as a download, a recording or a picture.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::stage::{demand, put, verify};

/// Bytes of the file, and of a write.
const BYTES: u64 = 100_000;
const PIECE: usize = 256;

/// The state of the volume, and the durability of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The volume was just formatted. The file is durable at its end.
    Formatted,
    /// Idle time before the file prepares for its bytes. The file is durable at its end.
    Prepared,
    /// Files take 80 % of the volume, and others were removed from the rest. The file is durable
    /// at its end.
    Aged,
    /// The volume was just formatted. Every write is durable.
    Durable,
}

/// Writes the file.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, way: Way) -> Result<Measured, Fault> {
    let mut documents = std::mem::take(&mut bench.documents);
    let (mut gauge, mut document) = (Gauge::default(), Document::new("small"));
    let mut volume = bench.contender.mount()?;
    demand(&mut volume, BYTES, 1)?;
    if way == Way::Prepared {
        volume.idle(BYTES)?;
    }
    if way == Way::Durable {
        append_durably(&mut gauge, &mut volume, &mut document)?;
    } else {
        put(&mut gauge, &mut volume, &mut document, BYTES, PIECE)?;
    }
    volume.cut();
    documents.push(document);
    verify(&mut bench.contender, &documents)?;
    let medium = bench.medium;
    let limit = match way {
        Way::Formatted | Way::Aged => medium.write(BYTES),
        Way::Prepared => medium.write(BYTES).erased(),
        Way::Durable => {
            medium.write(PIECE as u64) * (BYTES / PIECE as u64) as f64
                + medium.write(BYTES % PIECE as u64)
        }
    };
    Ok(Measured::throughput(gauge, BYTES, limit))
}

/// Writes the file so that every write is durable when it returns.
fn append_durably<V: Volume>(
    gauge: &mut Gauge,
    volume: &mut V,
    document: &mut Document,
) -> Result<(), Fault> {
    let mut file = gauge.step(volume, |step| step.open(&document.path, Mode::Durable))?;
    while document.size < BYTES {
        let length = (BYTES - document.size).min(PIECE as u64) as usize;
        let data = document.bytes(document.size, length);
        gauge.step(volume, |step| step.write(&mut file, document.size, &data))?;
        document.size += length as u64;
    }
    gauge.step(volume, |step| step.close(file))
}
