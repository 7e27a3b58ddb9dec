//! Calls on many small files in one directory.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::limit::Limit;
use crate::bench::stage::{demand, make, verify};
use crate::units::{format_count, format_duration};

/// Bytes of a file.
pub const BYTES: usize = 100;
/// Bytes of a name in the limits.
pub const NAME_BYTES: u64 = 16;
/// Bytes that record a removal in the limit.
const REMOVAL_BYTES: u64 = 8;
/// Number of files among which files are renamed, and number of measured renames.
const MANY: u32 = 10_000;
const RENAMES: usize = 2_000;

/// The measured call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Makes and writes a file, durably.
    Create,
    /// Opens and closes a file.
    Open,
    /// Reads the size of a file.
    Stat,
    /// Removes a file, durably.
    Remove,
}

/// Makes the files, and makes the call on each of them in random order.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, call: Call) -> Result<Measured, Fault> {
    let mut volume = bench.contender.mount()?;
    demand(&mut volume, 0, bench.files.into())?;
    let (mut created, mut gauge) = (Gauge::default(), Gauge::default());
    let mut documents = (0..bench.files)
        .map(|n| create(&mut created, &mut volume, n))
        .collect::<Result<Vec<_>, _>>()?;
    let mut order: Vec<usize> = (0..documents.len()).collect();
    bench.rng.shuffle(&mut order);
    if call == Call::Create {
        gauge = created;
    } else {
        created.end_unmeasured()?;
    }
    match call {
        Call::Create => {}
        Call::Open => {
            order.iter().try_for_each(|&index| open(&mut gauge, &mut volume, &documents[index]))?
        }
        Call::Stat => {
            order.iter().try_for_each(|&index| stat(&mut gauge, &mut volume, &documents[index]))?
        }
        Call::Remove => {
            let mut remove = |&index: &usize| {
                gauge.step(&mut volume, |step| step.remove(&documents[index].path))
            };
            order.iter().try_for_each(&mut remove)?;
            must_be_gone(&mut volume, &documents)?;
            documents.clear();
        }
    }
    volume.cut();
    verify(&mut bench.contender, &documents)?;
    let medium = bench.medium;
    let limit = match call {
        Call::Create => medium.write(BYTES as u64 + NAME_BYTES),
        Call::Open | Call::Stat => Limit::reads(medium.find_ns()),
        Call::Remove => medium.write(REMOVAL_BYTES),
    };
    Ok(Measured::times(gauge, limit))
}

/// Makes a file durably, as one step.
pub fn create<V: Volume>(
    gauge: &mut Gauge,
    volume: &mut V,
    number: u32,
) -> Result<Document, Fault> {
    let mut document = Document::new(format!("file-{number:05}"));
    let data = document.bytes(0, BYTES);
    gauge.step(volume, |step| {
        let mut file = step.open(&document.path, Mode::Create)?;
        step.write(&mut file, 0, &data)?;
        step.sync(&mut file)?;
        step.close(file)
    })?;
    document.size = BYTES as u64;
    Ok(document)
}

fn open<V: Volume>(gauge: &mut Gauge, volume: &mut V, document: &Document) -> Result<(), Fault> {
    gauge.step(volume, |step| {
        let file = step.open(&document.path, Mode::Read)?;
        step.close(file)
    })
}

fn stat<V: Volume>(gauge: &mut Gauge, volume: &mut V, document: &Document) -> Result<(), Fault> {
    let size = gauge.step(volume, |step| step.stat(&document.path))?;
    if size == document.size { Ok(()) } else { Err(Fault::wrong(&document.path, size)) }
}

fn must_be_gone<V: Volume>(volume: &mut V, documents: &[Document]) -> Result<(), Fault> {
    match documents.iter().find(|document| volume.stat(&document.path).is_ok()) {
        Some(document) => Err(Fault::Failed(format!("{} exists after its removal", document.path))),
        None => Ok(()),
    }
}

/// Renames files among many, in random order.
pub fn rename_many<K: Contender>(bench: &mut Bench<'_, K>) -> Result<Measured, Fault> {
    let mut volume = bench.contender.mount()?;
    demand(&mut volume, 0, MANY.into())?;
    let begin = volume.counters();
    let mut documents = Vec::new();
    for number in 0..MANY {
        documents.push(make(&mut volume, format!("file-{number:05}"), 50, BYTES)?);
        let spent_ns = volume.counters().since(&begin).time_ns;
        if spent_ns > bench.patience_ns {
            let (made, spent) = (format_count(number.into()), format_duration(spent_ns as f64));
            return Err(Fault::NoRoom(format!(
                "making the files takes too long: {made} of them took {spent}"
            )));
        }
    }
    let mut order: Vec<usize> = (0..documents.len()).collect();
    bench.rng.shuffle(&mut order);
    let mut gauge = Gauge::default();
    for &index in &order[..RENAMES] {
        let to = format!("renamed-{index:05}");
        gauge.step(&mut volume, |step| step.rename(&documents[index].path, &to))?;
        documents[index].path = to;
        if bench.patience_ns <= gauge.spent.time_ns {
            break;
        }
    }
    volume.cut();
    verify(&mut bench.contender, &documents)?;
    Ok(Measured::times(gauge, bench.medium.write(NAME_BYTES)))
}
