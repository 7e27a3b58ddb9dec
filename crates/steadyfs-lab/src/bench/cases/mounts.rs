//! Mounts after an unmount and after a power cut, and the first change after a mount.

use super::names::{BYTES, NAME_BYTES, create};
use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::limit::Limit;
use crate::bench::stage::{demand, verify};
use fastrand::Rng;

/// Number of measured mounts.
const ROUNDS: u32 = 20;
/// Limit of the random number of durable changes between two mounts. So mounts meet roots in all
/// stages.
const CHANGES_MAX: u32 = 200;

/// The measured call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A mount after an unmount.
    Clean,
    /// A mount after a power cut.
    Cut,
    /// The first creation of a file after a mount, which follows an unmount.
    FirstChange,
}

/// Makes the files, and mounts repeatedly with changes between the mounts.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>, what: What) -> Result<Measured, Fault> {
    let Bench { contender, medium, files, rng, .. } = bench;
    let mut volume = contender.mount()?;
    demand(&mut volume, 0, u64::from(*files + ROUNDS))?;
    let mut unmeasured = Gauge::default();
    let mut documents = (0..*files)
        .map(|n| create(&mut unmeasured, &mut volume, n))
        .collect::<Result<Vec<_>, _>>()?;
    unmeasured.end_unmeasured()?;
    let mut bound_ns = volume.mount_bound_ns(true);
    volume.unmount()?;
    let (mut mounts, mut changes) = (Gauge::default(), Gauge::default());
    for round in 0..ROUNDS {
        let before = contender.counters();
        let mut volume = contender.mount()?;
        let spent = volume.counters().since(&before);
        // Before the first round the volume is always unmounted, so its mount does not follow a
        // cut.
        if what != What::Cut || round > 0 {
            mounts.note_mount(&spent, bound_ns);
        }
        documents.push(create(&mut changes, &mut volume, *files + round)?);
        change(&mut volume, &mut documents, rng)?;
        bound_ns = volume.mount_bound_ns(what != What::Cut);
        if what == What::Cut { volume.cut() } else { volume.unmount()? }
    }
    verify(contender, &documents)?;
    Ok(match what {
        What::Clean => Measured { gauge: mounts, bytes: None, limit: None },
        What::Cut => {
            Measured::times(mounts, Limit { transfer_ns: 0.0, erase_ns: medium.erase_ns() })
        }
        What::FirstChange => Measured::times(changes, medium.write(BYTES as u64 + NAME_BYTES)),
    })
}

/// Gives random files other bytes, durably, a random number of times.
fn change<V: Volume>(
    volume: &mut V,
    documents: &mut [Document],
    rng: &mut Rng,
) -> Result<(), Fault> {
    for _ in 0..rng.u32(..CHANGES_MAX) {
        let document = &mut documents[rng.usize(..documents.len())];
        document.renew();
        let mut file = volume.open(&document.path, Mode::Durable)?;
        volume.write(&mut file, 0, &document.bytes(0, BYTES))?;
        volume.close(file)?;
    }
    Ok(())
}
