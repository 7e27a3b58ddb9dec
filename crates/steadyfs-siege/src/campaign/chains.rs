//! Cut mounts in a row. A volume has up to forty mounts that are cut, with every cut page
//! unsteady, and then one mount without a cut.

use steadyfs::Access;

use crate::adapt;
use crate::client;
use crate::fate::Style;
use crate::fault::{Fault, log_uniform};
use crate::log::Log;
use crate::session::{Answer, Session};
use crate::shape::Settings;
use crate::strike::Cut;
use crate::volume::Volume;

/// Maximum number of cut mounts in a row.
const CUTS: u32 = 40;

/// Runs the life of one volume.
pub fn volume(seed: u64, log: &mut Log) {
    let mut volume = match Volume::new(seed, Settings::Default, 2_000, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    volume.medium.set_style(Style::Unsteady);
    if !prepare(&mut volume, log) {
        return;
    }
    // Most chains have the full length. Some end earlier, in other states.
    let length = if volume.rng.u32(..4) == 0 { volume.rng.u32(1..CUTS) } else { CUTS };
    let with_reads = volume.rng.u32(..3) == 0;
    let with_changes = volume.rng.u32(..4) == 0;
    let mut changes = 4;
    let mut refusals = 0;
    for _ in 0..length {
        if !cut_mount(&mut volume, with_reads, with_changes, &mut changes, &mut refusals, log) {
            return;
        }
    }
    log.count("chains");
    last(&mut volume, log);
}

/// Uses the volume before the chain. Each use ends in a cut, without an unmount, or well.
fn prepare(volume: &mut Volume, log: &mut Log) -> bool {
    let habits = volume.habits.clone();
    for _ in 0..volume.rng.u32(1..3) {
        let calls = volume.rng.u32(5..70);
        let cut = (volume.rng.u32(..3) != 0).then(|| log.world.any_cut(&mut volume.rng, 2_000));
        let ends_well = volume.rng.bool();
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            if !session.verify_mount(true) {
                return None;
            }
            let events = client::any_events(session.rng);
            session.choose(events);
            if let Some(cut) = cut {
                session.medium().arm_cut(cut);
            }
            let may_go_on = session.work(&habits, calls, |_, _| true);
            if may_go_on && ends_well { session.unmount() } else { None }
        });
        match result {
            Ok(failed) => volume.judge_unmount(failed, log),
            Err(error) => log.find("mount refused before the chain", format!("{error:?}")),
        }
        volume.medium.power_on();
        if !log.may_go_on() {
            return false;
        }
    }
    true
}

/// Makes one mount that is cut. If the cut does not come in time, the mount ends at rest without
/// an unmount.
fn cut_mount(
    volume: &mut Volume,
    with_reads: bool,
    with_changes: bool,
    changes: &mut u32,
    refusals: &mut u32,
    log: &mut Log,
) -> bool {
    // Most cuts fall into the programs and erases of the mount, and some into the client's calls
    // after it.
    let before = volume.medium.operations();
    let limit = if with_changes && volume.rng.u32(..4) == 0 { *changes + 20 } else { *changes };
    volume.medium.arm_cut(Cut::Change(volume.rng.u32(..limit)));
    if with_reads && volume.rng.u32(..6) == 0 {
        let after = log_uniform(&mut volume.rng, 60);
        let fault = Fault::any_read(after, &mut volume.rng);
        volume.medium.arm_fault(fault);
    }
    let fired = volume.medium.fired();
    let habits = volume.habits.clone();
    let mut after = None;
    let result = volume.mount(Access::ReadWrite, log, |mut session: Session<'_, '_, '_>| {
        after = session.has_power().then(|| session.medium().operations());
        session.log.count(if after.is_some() {
            "mounts that were not cut"
        } else {
            "mounts that were cut at their end"
        });
        if session.has_power()
            && session.verify_mount(true)
            && with_changes
            && adapt::why_read_only(&session.fs).is_none()
        {
            session.log.count("mounts with changes in the chain");
            session.work(&habits, 2, |_, _| true);
        }
    });
    let after = after.unwrap_or_else(|| volume.medium.operations());
    let most = (after.programs + after.erases - before.programs - before.erases) as u32;
    *changes = (*changes).max(most.min(40));
    let is_excused = !volume.medium.has_power() || volume.medium.fired() != fired;
    volume.medium.power_on();
    volume.medium.disarm();
    match result {
        Err(error) if !is_excused => {
            // A page may have shown another face than it will at the next try.
            log.count("mounts refused once in a chain");
            *refusals += 1;
            if *refusals >= 2 {
                return try_again(volume, &format!("{error:?}"), log);
            }
        }
        _ => *refusals = 0,
    }
    log.may_go_on()
}

/// Mounts again after a mount without a cut was refused. This try must succeed.
fn try_again(volume: &mut Volume, error: &str, log: &mut Log) -> bool {
    let result = volume.mount(Access::ReadWrite, log, |mut session| session.verify_mount(true));
    if result.is_err() {
        log.find("lost after cut mounts", format!("{error}, and again {result:?}"));
    }
    log.may_go_on()
}

/// Makes the mount that is not cut, and lets a client go on.
fn last(volume: &mut Volume, log: &mut Log) {
    let habits = volume.habits.clone();
    for attempt in 0..2 {
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            let is_right = session.verify_mount(true);
            if let Some(reason) = adapt::why_read_only(&session.fs) {
                session.log.count("mounts that were read-only after a chain");
                if attempt == 1 {
                    session.log.find("read-only after cut mounts", reason);
                }
                return;
            }
            if is_right
                && session.work(&habits, 6, |_, _| true)
                && !matches!(session.commit(), Answer::Over)
            {
                session.verify("the end");
            }
        });
        match result {
            Ok(()) if attempt == 0 && log.may_go_on() => {}
            Ok(()) => return,
            Err(error) if attempt == 0 => {
                log.count("mounts refused once in a chain");
                log.trace(|| format!("{error:?}"));
            }
            Err(error) => return log.find("lost after cut mounts", format!("{error:?}")),
        }
    }
}
