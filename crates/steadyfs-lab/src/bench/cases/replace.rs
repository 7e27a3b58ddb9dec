//! A small file gets other contents, durably, as a configuration does, on an aged volume.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::{Gauge, Step};
use crate::bench::stage::{PIECE_BYTES, make, verify};

/// Bytes of the file.
const BYTES: usize = 200;
/// Bytes of its name, where that is written as well.
const NAME_BYTES: u64 = 16;
/// Replacements before the measurement, and in it.
const WARM_UP: u32 = 100;
const STEPS: u32 = 400;
/// The name under which new contents are written before they replace the old ones.
const NEW: &str = "settings.new";

/// How contents are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The file is cut to nothing, written and made durable.
    Truncate,
    /// Another file is written and takes its name.
    Rename,
    /// The bytes are overwritten through a durable handle.
    InPlace,
}

/// Replaces the contents again and again.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, way: Way) -> Result<Measured, Fault> {
    let mut documents = std::mem::take(&mut bench.documents);
    let mut volume = bench.contender.mount()?;
    let mut settings = make(&mut volume, "settings", BYTES as u64, PIECE_BYTES)?;
    // Nobody writes through a handle of a file that is replaced: it is open where it is what is measured.
    let mut file = if way == Way::InPlace { Some(volume.open(&settings.path, Mode::Durable)?) } else { None };
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

fn truncate<V: Volume>(step: &mut Step<'_, V>, settings: &Document, data: &[u8]) -> Result<(), Fault> {
    let mut file = step.open(&settings.path, Mode::Replace)?;
    step.write(&mut file, 0, data)?;
    step.sync(&mut file)?;
    step.close(file)
}

fn rename<V: Volume>(step: &mut Step<'_, V>, settings: &Document, data: &[u8]) -> Result<(), Fault> {
    let mut file = step.open(NEW, Mode::Create)?;
    step.write(&mut file, 0, data)?;
    step.close(file)?;
    step.rename(NEW, &settings.path)
}
