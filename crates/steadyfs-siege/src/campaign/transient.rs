//! One read, program or erase fails once, at random, in a call or in a mount. The client goes on,
//! or starts again.

use steadyfs::{Access, MountError};

use crate::adapt;
use crate::client;
use crate::fault::Fault;
use crate::log::Log;
use crate::session::{Answer, FailedUnmount, Session};
use crate::shape::Settings;
use crate::strike::Cut;
use crate::volume::Volume;
use crate::world::World;

/// Events of one mount of the volume.
struct Plan {
    calls: u32,
    /// The fault, and the call before which it is armed.
    fault: Option<(u32, Fault)>,
    cut: Option<Cut>,
    goes_on: bool,
    ends_well: bool,
}

/// Runs the life of one volume.
pub fn volume(seed: u64, log: &mut Log) {
    let mut volume = match Volume::new(seed, Settings::Any, 3_000, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    let sessions = volume.rng.u32(2..5);
    let strike = volume.rng.u32(..sessions);
    let in_mount = volume.rng.u32(..10) < 3;
    for number in 0..sessions {
        let mut plan = plan(&mut volume.rng, log.world);
        if number == strike && in_mount {
            let fault = log.world.any_fault_of_a_mount(&mut volume.rng);
            volume.medium.arm_fault(fault);
        } else if number == strike {
            plan.fault = Some((volume.rng.u32(..plan.calls), log.world.any_fault(&mut volume.rng)));
        }
        if !session(&mut volume, &plan, log) {
            return;
        }
    }
    volume.medium.disarm();
    volume.medium.power_on();
    last(&mut volume, log);
}

fn plan(rng: &mut fastrand::Rng, world: World) -> Plan {
    let calls = rng.u32(10..90);
    let cut = (rng.u32(..4) == 0).then(|| world.any_cut(rng, 3_000));
    Plan { calls, fault: None, cut, goes_on: rng.bool(), ends_well: rng.bool() }
}

/// Makes one mount. Returns `false` if the volume is given up.
fn session(volume: &mut Volume, plan: &Plan, log: &mut Log) -> bool {
    let habits = volume.habits.clone();
    for attempt in 0.. {
        let fired = volume.medium.fired();
        let result = volume.mount(Access::ReadWrite, log, |session| live(session, plan, &habits));
        let is_struck = volume.medium.fired() != fired;
        match result {
            Ok(End::Unmount(failed)) => volume.judge_unmount(failed, log),
            Ok(End::Dropped) => {}
            Ok(End::ReadOnly) if is_struck && attempt < 2 => {
                log.count("mounts that were read-only by a fault");
                continue;
            }
            Ok(End::ReadOnly) => log.find("read-only without a cause", "after a mount"),
            Err(_) if is_struck && attempt < 2 => {
                log.count("mounts that failed by a fault");
                continue;
            }
            Err(error) => refused(volume, error, log),
        }
        break;
    }
    if volume.medium.fired() > 0 {
        log.counts.insert("volumes that a fault struck", 1);
    }
    volume.medium.power_on();
    log.may_go_on()
}

/// End of a session.
enum End {
    /// An unmount.
    Unmount(Option<FailedUnmount>),
    /// An end without an unmount, as if power had failed.
    Dropped,
    /// The volume could only be read.
    ReadOnly,
}

fn live(mut session: Session<'_, '_, '_>, plan: &Plan, habits: &client::Habits) -> End {
    if !session.verify_mount(true) {
        return End::Dropped;
    }
    if adapt::why_read_only(&session.fs).is_some() {
        return End::ReadOnly;
    }
    let events = client::any_events(session.rng);
    session.choose(events);
    if let Some(cut) = plan.cut {
        session.medium().arm_cut(cut);
    }
    if let Some((0, fault)) = &plan.fault {
        session.medium().arm_fault(fault.clone());
    }
    let may_go_on = session.work(habits, plan.calls, |session, call| {
        if let Some((at, fault)) = &plan.fault
            && *at == call + 1
        {
            session.medium().arm_fault(fault.clone());
        }
        plan.goes_on || !session.was_struck
    });
    if !session.has_power()
        || (!may_go_on && (session.rng.bool() || !session.was_struck))
        || !plan.ends_well
    {
        return End::Dropped;
    }
    End::Unmount(session.unmount())
}

/// Logs that a mount of a sound medium was refused.
fn refused(volume: &mut Volume, error: MountError, log: &mut Log) {
    let fault = volume.medium.last_fired().to_string();
    let reading = match volume.mount(Access::ReadOnly, log, |_| ()) {
        Ok(()) => "can be mounted read-only".to_string(),
        Err(error) => format!("read-only {error:?}"),
    };
    log.find("mount refused", format!("{error:?}; {reading}; after {fault}"));
}

/// Uses the volume without faults: everything works, and a check finds nothing.
fn last(volume: &mut Volume, log: &mut Log) {
    let habits = volume.habits.clone();
    let calls = Plan { calls: 15, fault: None, cut: None, goes_on: true, ends_well: true };
    for _ in 0..2 {
        if !session(volume, &calls, log) {
            return;
        }
    }
    let mut scratch =
        vec![0; volume.config.check_bytes(&steadyfs::media::Flash::geometry(&volume.medium))];
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        if !session.verify_mount(true) {
            return;
        }
        session.check(&mut scratch);
        session.choose(steadyfs::CommitOn::MANUAL);
        if session.work(&habits, 5, |_, _| true) {
            if let Answer::Over = session.commit() {
                return;
            }
            session.verify("the end");
        }
    });
    if let Err(error) = result {
        refused(volume, error, log);
    }
}
