//! Power, a program or an erase fails in each operation of a repair, on small volumes. The next
//! repair must succeed.

use steadyfs::Access;

use super::{check, judge, mend, scratch, spoil, used_volume};
use crate::adapt;
use crate::campaign::lost;
use crate::fault::Fault;
use crate::log::Log;
use crate::strike::Cut;
use crate::view::{self, Partial};
use crate::volume::Volume;

/// Maximum number of cuts of one repair.
const CUTS_MAX: u32 = 400;

/// Event that meets a repair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meets {
    /// Power fails.
    Cut,
    /// A program or an erase is reported as failed.
    Fault,
}

/// Runs the life of one volume, loses each of its pages, and cuts the repair in each program and
/// erase.
pub fn volume(seed: u64, log: &mut Log) {
    each(seed, Meets::Cut, log);
}

/// Does the same with a program or an erase that fails once.
pub fn volume_with_faults(seed: u64, log: &mut Log) {
    each(seed, Meets::Fault, log);
}

fn each(seed: u64, meets: Meets, log: &mut Log) {
    let Some(mut volume) = used_volume(seed, 300, log) else { return };
    let (medium, oracle) = (volume.medium.clone(), volume.oracle.clone());
    for page in medium.programmed() {
        let mut uncut = None;
        for cut in 0..CUTS_MAX {
            volume.medium = medium.clone();
            volume.oracle = oracle.unseen();
            volume.rng = fastrand::Rng::with_seed(seed ^ u64::from(page) << 1);
            let mut own = Log { world: log.world, ..Log::default() };
            spoil(&mut volume, page, &mut own);
            let was_cut = match (&uncut, cut) {
                (None, 0) => {
                    uncut = last(&mut volume, None, &mut own);
                    uncut.is_some()
                }
                (None, _) => false,
                (Some(uncut), _) if meets == Meets::Cut => {
                    cut_once(&mut volume, uncut, cut - 1, &mut own)
                }
                (Some(uncut), _) => fail_once(&mut volume, uncut, cut - 1, &mut own),
            };
            log.take_in(own, format_args!("page {page}, cut {cut}"));
            if !was_cut {
                break;
            }
        }
    }
}

/// Cuts a repair, perhaps the next one as well, and then runs one without a cut. Returns true if
/// power failed in the first.
fn cut_once(volume: &mut Volume, uncut: &Partial, cut: u32, log: &mut Log) -> bool {
    let mut scratch = scratch(volume);
    let cuts = if volume.rng.u32(..4) == 0 { 2 } else { 1 };
    for number in 0..cuts {
        let after = if number == 0 { cut } else { volume.rng.u32(..8) };
        volume.medium.arm_cut(Cut::Change(after));
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            let result = mend(&mut session.fs, &mut scratch);
            session.log.trace(|| format!("repair that may be cut: {result:?}"));
        });
        let has_power = volume.medium.has_power();
        volume.medium.power_on();
        if has_power {
            if let Err(error) = result {
                log.find("mount refused", format!("{error:?}"));
            }
            if number == 0 {
                return false;
            }
            break;
        }
        log.count("cuts in repairs");
    }
    last(volume, Some(uncut), log);
    true
}

/// Runs a repair in which a program or an erase fails, and one without a fault. Returns false if
/// the repair ended before the program that was to fail.
fn fail_once(volume: &mut Volume, uncut: &Partial, after: u32, log: &mut Log) -> bool {
    let mut scratch = scratch(volume);
    let fired = volume.medium.fired();
    let is_erase = after < 6 && volume.rng.u32(..5) == 0;
    let mut fault = if is_erase {
        Fault::any_erase(after, &mut volume.rng)
    } else {
        Fault::any_program(after, &mut volume.rng)
    };
    // Without a reserve for failing programs, a block that takes no more programs fails once in
    // each repair, until it is left.
    fault.is_bad_for_good &= volume.config.failures > 0;
    volume.medium.arm_fault(fault);
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        let result = mend(&mut session.fs, &mut scratch);
        session.log.trace(|| format!("repair in which something may fail: {result:?}"));
        if result.is_ok() && session.fs.health().read_only {
            session.log.find(
                "read-only after a repair that says it ended",
                format!("{:?}", session.fs.damage()),
            );
        } else if result.is_ok() {
            let _ = check(&mut session, &mut scratch, "after a repair in which something failed");
        }
    });
    let has_failed = volume.medium.fired() != fired;
    volume.medium.disarm();
    if let Err(error) = result {
        log.trace(|| format!("mount refused: {error:?}"));
    }
    if has_failed {
        log.count("programs and erases that failed in repairs");
        last(volume, Some(uncut), log);
    }
    has_failed || is_erase
}

/// Runs the repair that is not cut. Returns the content of the volume after it, or `None` if the
/// volume cannot be repaired.
fn last(volume: &mut Volume, uncut: Option<&Partial>, log: &mut Log) -> Option<Partial> {
    let piece = lost::piece_of(volume);
    let mut scratch = scratch(volume);
    for _ in 0..2 {
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            let damage = session.fs.damage();
            match mend(&mut session.fs, &mut scratch) {
                Ok(_) => {}
                Err(steadyfs::Error::Corrupt) if damage == Some(steadyfs::Damage::Leaf) => {
                    return None;
                }
                Err(error) => {
                    session.log.find("repair refused", format!("{damage:?}: {error:?}"));
                    return None;
                }
            }
            if let Some(reason) = adapt::why_read_only(&session.fs) {
                session.log.find("read-only after a repair", reason);
                return None;
            }
            check(&mut session, &mut scratch, "after a repair that was cut")?;
            let after = view::look_tolerantly(&mut session.fs, piece);
            if let Some(uncut) = uncut {
                judge::survives(uncut, &after, session.oracle, session.log);
            }
            Some(after)
        });
        match result {
            Ok(after) => return after,
            // A page may have shown another face than it will at the next try.
            Err(error) => log.trace(|| format!("mount refused: {error:?}")),
        }
    }
    log.find("mount refused after a repair that was cut", String::new());
    None
}
