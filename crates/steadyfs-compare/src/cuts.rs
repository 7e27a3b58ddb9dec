//! Power cuts in any program or erase, repeatedly, on the same volume.
//!
//! A contender appends to a log, replaces a file, and makes and removes others, always durably.
//! Power fails in the middle of a random operation of the chip. The operation is left torn in one
//! of the simulator's ways.
//!
//! Then the volume is mounted, and every file is compared. Acknowledged changes must be there.
//! The change under way may be as before or as after. The next round goes on from there.

use crate::chip::Chip;
use crate::entrant::Entrant;
use crate::result::Cuts;
use fastrand::Rng;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use steadyfs_lab::bench::{BenchChip, Contender, Fault, Medium, Mode, OnChips, Volume};
use steadyfs_lab::torture::caught;
use steadyfs_sim::{PowerCut, Tearable};

/// Number of chip operations within which a cut comes.
const WITHIN: u64 = 60;
/// Number of files that are made and removed.
const FILES: u32 = 12;
/// Bytes of a record of the log, and of a replaced file.
const RECORD_BYTES: usize = 64;
const FILE_BYTES: usize = 200;
/// Bytes at which the log starts again.
const LOG_BYTES: usize = 4096;
const LOG: &str = "log";

/// Cuts power this number of times.
pub fn run<E: Entrant>(
    entrant: &E,
    medium: &Medium,
    cuts: u32,
    seed: u64,
    tick: &dyn Fn(f64),
) -> Cuts {
    medium.with_chips(seed, Driver { entrant, cuts, seed, tick })
}

struct Driver<'d, E> {
    entrant: &'d E,
    cuts: u32,
    seed: u64,
    tick: &'d dyn Fn(f64),
}

/// The content of the volume: the acknowledged bytes of each file.
type Files = BTreeMap<String, Vec<u8>>;

/// The bad end of a round.
enum Bad {
    Unusable(String),
    Lost(String),
    Torn(String),
}

/// A change under way.
struct Change {
    path: String,
    /// The bytes afterwards; `None` if the file is removed.
    after: Option<Vec<u8>>,
}

impl<E: Entrant> OnChips for Driver<'_, E> {
    type Output = Cuts;

    fn run<C>(self, make: impl Fn() -> C + Sync) -> Cuts
    where
        C: BenchChip + Tearable + Clone + 'static,
        PowerCut<C>: BenchChip,
    {
        let (mut found, mut rng) = (Cuts::default(), Rng::with_seed(self.seed));
        while found.cuts < self.cuts {
            let power = Rc::new(RefCell::new(PowerCut::new(make(), rng.u64(..))));
            if let Err(reason) = self.life(&power, &mut found, &mut rng) {
                found.first.get_or_insert(format!("before any cut: {reason}"));
                break;
            }
        }
        found
    }
}

impl<E: Entrant> Driver<'_, E> {
    /// Uses one volume until a fault is found, or all cuts are made.
    fn life<C>(
        &self,
        power: &Rc<RefCell<PowerCut<C>>>,
        found: &mut Cuts,
        rng: &mut Rng,
    ) -> Result<(), String>
    where
        C: BenchChip + Tearable + Clone + 'static,
        PowerCut<C>: BenchChip,
    {
        let mut contender = self.entrant.on(Chip::of(power.clone()))?;
        contender.format().map_err(|fault| fault.to_string())?;
        let mut files = Files::new();
        while found.cuts < self.cuts {
            if found.cuts.is_multiple_of(64) {
                (self.tick)(f64::from(found.cuts) / f64::from(self.cuts));
            }
            let round = caught(|| self.round(power, &mut contender, &mut files, found, rng));
            let (count, what) = match round {
                Ok(Ok(())) => continue,
                Ok(Err(Bad::Unusable(what))) => (&mut found.unusable, what),
                Ok(Err(Bad::Lost(what))) => (&mut found.lost, what),
                Ok(Err(Bad::Torn(what))) => (&mut found.torn, what),
                Err(what) => (&mut found.illegal, what),
            };
            *count += 1;
            found.first.get_or_insert(format!("cut {}: {what}", found.cuts));
            // The fault would be found in each later round, so the next volume is new.
            let _ = caught(|| drop(contender));
            return Ok(());
        }
        Ok(())
    }

    /// Works until power fails, mounts and compares.
    fn round<C>(
        &self,
        power: &Rc<RefCell<PowerCut<C>>>,
        contender: &mut E::On,
        files: &mut Files,
        found: &mut Cuts,
        rng: &mut Rng,
    ) -> Result<(), Bad>
    where
        C: BenchChip + Tearable + Clone + 'static,
    {
        power.borrow_mut().cut_at(rng.u64(1..=WITHIN));
        let under_way = work(power, contender, files, found, rng);
        found.cuts += 1;
        power.borrow_mut().power_on();
        let mut volume =
            contender.mount().map_err(|fault| Bad::Unusable(format!("mount: {fault}")))?;
        // The file under way is in either state. The next round begins with the state that was
        // found.
        if let Some(Change { path, after }) = under_way {
            let now = read(&mut volume, &path)
                .map_err(|fault| Bad::Unusable(format!("{path}: {fault}")))?;
            let before = files.get(&path).cloned();
            // Opening and writing are two calls. If power fails between them, the file exists and
            // is empty.
            let is_between = after.is_some() && now.as_ref().is_some_and(Vec::is_empty);
            if now != before && now != after && !is_between {
                return Err(Bad::Torn(format!("{path} has neither its old nor its new content")));
            }
            match now {
                Some(bytes) => files.insert(path, bytes),
                None => files.remove(&path),
            };
        }
        for (path, bytes) in files.iter() {
            match read(&mut volume, path)
                .map_err(|fault| Bad::Unusable(format!("{path}: {fault}")))?
            {
                Some(now) if now == *bytes => {}
                Some(_) => return Err(Bad::Lost(format!("{path} holds other bytes"))),
                None => return Err(Bad::Lost(format!("{path} is gone"))),
            }
        }
        volume.cut();
        Ok(())
    }
}

/// Changes files until power fails. Returns the change that was under way.
fn work<C: Tearable, K: Contender>(
    power: &Rc<RefCell<PowerCut<C>>>,
    contender: &mut K,
    files: &mut Files,
    found: &mut Cuts,
    rng: &mut Rng,
) -> Option<Change> {
    // If power fails during the mount, nothing is under way.
    let Ok(mut volume) = contender.mount() else { return None };
    let mut tries = 0;
    loop {
        let change = next_change(files, rng);
        let result = make(&mut volume, files, &change);
        if power.borrow().is_off() {
            volume.cut();
            return Some(change);
        }
        match result {
            Ok(()) => drop(accept(files, change)),
            Err(_) => {
                // A refused call may leave any state. It is compared like a change under way, and
                // power fails now.
                found.refused += 1;
                power.borrow_mut().cut_now();
                return Some(change);
            }
        }
        tries += 1;
        if tries > 10 * WITHIN {
            power.borrow_mut().cut_now();
            return None;
        }
    }
}

fn accept(files: &mut Files, change: Change) -> Option<Vec<u8>> {
    match change.after {
        Some(bytes) => files.insert(change.path, bytes),
        None => files.remove(&change.path),
    }
}

fn next_change(files: &Files, rng: &mut Rng) -> Change {
    let mut fresh = |bytes: usize| (0..bytes).map(|_| rng.u8(..)).collect::<Vec<u8>>();
    let record = fresh(RECORD_BYTES);
    let content = fresh(FILE_BYTES);
    match rng.u8(..4) {
        0 | 1 => {
            let mut log = files.get(LOG).cloned().unwrap_or_default();
            if log.len() >= LOG_BYTES {
                return Change { path: LOG.to_string(), after: None };
            }
            log.extend(record);
            Change { path: LOG.to_string(), after: Some(log) }
        }
        kind => {
            let path = format!("file-{:02}", rng.u32(..FILES));
            let removes = kind == 3 && files.contains_key(&path);
            Change { path, after: (!removes).then_some(content) }
        }
    }
}

/// Makes a change, durably: the end of a log, the whole of another file, or its removal.
fn make<V: Volume>(volume: &mut V, files: &Files, change: &Change) -> Result<(), Fault> {
    let Some(after) = &change.after else { return volume.remove(&change.path) };
    let is_there = files.get(&change.path);
    if change.path == LOG {
        let mut log = volume.open(LOG, Mode::Durable)?;
        let begin = is_there.map_or(0, Vec::len);
        volume.write(&mut log, begin as u64, &after[begin..])?;
        return volume.close(log);
    }
    let mut file =
        volume.open(&change.path, if is_there.is_some() { Mode::Replace } else { Mode::Create })?;
    volume.write(&mut file, 0, after)?;
    volume.sync(&mut file)?;
    volume.close(file)
}

/// Returns the bytes of a file, if it exists.
fn read<V: Volume>(volume: &mut V, path: &str) -> Result<Option<Vec<u8>>, Fault> {
    // Contenders report a missing file in different ways.
    let Ok(size) = volume.stat(path) else { return Ok(None) };
    let mut file = volume.open(path, Mode::Read)?;
    let mut data = vec![0; size as usize + 1];
    let length = volume.read(&mut file, 0, &mut data)?;
    data.truncate(length);
    volume.close(file)?;
    Ok(Some(data))
}
