//! Long lives with cuts in every mount, after which pages and tags may be in any state.
//!
//! Between the cuts are read-only looks. The first page of a block just begun may be unreadable
//! once. In half of the volumes programs fail as well.

use steadyfs::Access;
use steadyfs::media::Failure;

use crate::adapt;
use crate::client;
use crate::fault::{Fault, log_uniform};
use crate::log::Log;
use crate::shape::Settings;
use crate::strike::Cut;
use crate::volume::Volume;

/// Runs the life of one volume.
pub fn volume(seed: u64, log: &mut Log) {
    let mut volume = match Volume::new(seed, Settings::Any, 2_500, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    let mounts = volume.rng.u32(10..40);
    let calls_max = log_uniform(&mut volume.rng, 80) + 4;
    let cut_max = log_uniform(&mut volume.rng, 3_000) + 20;
    let with_first_pages = volume.rng.bool();
    let with_failures = volume.rng.bool();
    for _ in 0..mounts {
        if volume.rng.u32(..4) == 0 && !look_only(&mut volume, log) {
            return;
        }
        if with_first_pages && volume.rng.bool() {
            let age = volume.rng.usize(..3);
            volume.medium.arm_first_page(age);
        }
        if with_failures && volume.rng.bool() {
            let after = log_uniform(&mut volume.rng, 120);
            // Blocks that go bad for good would wear the volume out.
            let fault = Fault {
                failure: Failure::Device,
                is_bad_for_good: false,
                ..Fault::any_program(after, &mut volume.rng)
            };
            volume.medium.arm_fault(fault);
        }
        if !life(&mut volume, calls_max, cut_max, log) {
            return;
        }
    }
}

/// Mounts read-only. The mount must show a possible state, and may not program or erase anything.
fn look_only(volume: &mut Volume, log: &mut Log) -> bool {
    log.count("read-only mounts");
    let before = volume.medium.operations();
    let mut result = Ok(true);
    for _ in 0..2 {
        result = volume.mount(Access::ReadOnly, log, |mut session| session.verify_mount(false));
        if result.is_ok() {
            break;
        }
        log.count("read-only mounts refused once");
    }
    let after = volume.medium.operations();
    if (before.programs, before.erases) != (after.programs, after.erases) {
        log.find("a read-only mount programs", format!("{before:?} {after:?}"));
    }
    match result {
        Ok(is_right) => is_right,
        Err(error) => {
            log.find("read-only mount refused", format!("{error:?}"));
            false
        }
    }
}

fn life(volume: &mut Volume, calls_max: u32, cut_max: u32, log: &mut Log) -> bool {
    let habits = volume.habits.clone();
    let calls = volume.rng.u32(..calls_max);
    // One cut in four is early: it meets the mount itself.
    let limit = if volume.rng.u32(..4) == 0 { 60 } else { cut_max };
    let ends_well = volume.rng.u32(..4) == 0;
    if log.world.has_groups() && volume.rng.bool() {
        volume.medium.arm_cut(Cut::Group(volume.rng.u32(..6)));
    } else if volume.rng.u32(..4) != 0 {
        volume.medium.arm_cut(Cut::Operation(volume.rng.u32(..limit)));
    } else {
        volume.medium.arm_cut(Cut::Change(volume.rng.u32(..limit.min(200))));
    }
    let mut refusals = 0;
    loop {
        let fired = volume.medium.fired();
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            if !session.has_power() || !session.verify_mount(true) {
                return None;
            }
            if adapt::why_read_only(&session.fs).is_some() && session.has_power() {
                session.log.count("mounts that were read-only");
                return None;
            }
            let events = client::any_events(session.rng);
            session.choose(events);
            let may_go_on = session.work(&habits, calls, |_, _| true);
            if may_go_on && ends_well { session.unmount() } else { None }
        });
        let is_excused = !volume.medium.has_power();
        match result {
            Ok(failed) => {
                volume.judge_unmount(failed, log);
                break;
            }
            Err(_) if is_excused => break,
            Err(error) => {
                let by = if volume.medium.fired() != fired {
                    volume.medium.last_fired()
                } else {
                    "no fault".to_string()
                };
                log.trace(|| format!("refused: {error:?}, {by}"));
                log.count("mounts refused once");
                refusals += 1;
                if refusals == 3 {
                    log.find("mount refused", format!("{error:?}"));
                    return false;
                }
            }
        }
    }
    volume.medium.power_on();
    volume.medium.disarm();
    log.count("lives");
    log.may_go_on()
}
