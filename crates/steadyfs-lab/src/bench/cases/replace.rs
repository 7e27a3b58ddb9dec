//! Durable replacements of the contents of a small file, such as a configuration, on an aged
//! volume.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::{Gauge, Step};
use crate::bench::stage::{PIECE_BYTES, make, verify};

/// Bytes of the file.
const BYTES: usize = 200;
/// Bytes of the file's name, for cases that write it too.
const NAME_BYTES: u64 = 16;
/// Number of replacements before the measurement, and in it.
const WARM_UP: u32 = 100;
const STEPS: u32 = 400;
/// The name of the new file before it replaces the old one.
const NEW: &str = "settings.new";

/// The way in which the contents are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Truncates the file to 0 bytes, writes it and makes it durable.
    Truncate,
    /// Writes another file and renames it over the old one.
    Rename,
    /// Overwrites the bytes through a durable handle.
    InPlace,
}

/// Replaces the contents repeatedly.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, way: Way) -> Result<Measured, Fault> {
    let mut documents = std::mem::take(&mut bench.documents);
    let mut volume = bench.contender.mount()?;
    let mut settings = make(&mut volume, "settings", BYTES as u64, PIECE_BYTES)?;
    // Only the in-place case keeps the file open. The other cases replace the file, and nothing
    // may write through a handle of a replaced file.
    let mut file =
        if way == Way::InPlace { Some(volume.open(&settings.path, Mode::Durable)?) } else { None };
    let mut gauge = Gauge::default();
    for steps in [WARM_UP, STEPS] {
        gauge.begin();
        for _ in 0..steps {
            settings.renew();
            let data = settings.bytes(0, BYTES);
            gauge.step(&mut volume, |step| match (way, &mut file) {
                (Way::Truncate, _) => truncate(step, &settings, &data),
                (Way::InPlace, Some(file)) => step.write(file, 0, &data),
                _ => rename(step, &settings, &data),
            })?;
            if bench.patience_ns <= gauge.spent.time_ns {
                break;
            }
        }
    }
    volume.cut();
    documents.push(settings);
    verify(&mut bench.contender, &documents)?;
    let bytes = BYTES as u64 + if way == Way::Rename { NAME_BYTES } else { 0 };
    Ok(Measured::times(gauge, bench.medium.write(bytes)))
}

fn truncate<V: Volume>(
    step: &mut Step<'_, V>,
    settings: &Document,
    data: &[u8],
) -> Result<(), Fault> {
    let mut file = step.open(&settings.path, Mode::Replace)?;
    step.write(&mut file, 0, data)?;
    step.sync(&mut file)?;
    step.close(file)
}

fn rename<V: Volume>(
    step: &mut Step<'_, V>,
    settings: &Document,
    data: &[u8],
) -> Result<(), Fault> {
    let mut file = step.open(NEW, Mode::Create)?;
    step.write(&mut file, 0, data)?;
    step.close(file)?;
    step.rename(NEW, &settings.path)
}
