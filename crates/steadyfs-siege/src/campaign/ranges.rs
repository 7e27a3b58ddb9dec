//! A card with sectors that take no writes, from before the format on or from some mount on. Its
//! driver reports a bad block, or a device that does not answer.

use steadyfs::Access;
use steadyfs::media::Flash;

use crate::adapt;
use crate::client;
use crate::log::Log;
use crate::medium::Medium;
use crate::session::Session;
use crate::shape::Settings;
use crate::strike::Cut;
use crate::volume::Volume;
use crate::world::MediumKind;

/// Maximum number of calls in a row that may fail.
const FAILURES_MAX: u32 = 6;
/// Number of first blocks that contain the superblocks and the ring.
const OWN_BLOCKS: u32 = 10;
/// Fill in percent of a volume whose settings allow fewer than two bad blocks.
const FILL_MAX: usize = 50;

/// The sectors that the card refuses.
struct Plan {
    /// First sector and number of sectors of each range.
    ranges: Vec<(u32, u32)>,
    /// Mount before which the refusals begin. `None` means before the format.
    begin: Option<u32>,
    /// True if the driver reports a bad block.
    is_told: bool,
}

/// Runs the life of one volume.
pub fn volume(seed: u64, log: &mut Log) {
    if !log.world.medium.is_card() {
        log.world.medium =
            if seed.is_multiple_of(2) { MediumKind::Card } else { MediumKind::CardWithin };
    }
    let mut rng = fastrand::Rng::with_seed(!seed);
    let settings = if rng.u32(..3) == 0 { Settings::Default } else { Settings::Any };
    let mut plan = None;
    let made = Volume::on(seed, settings, 2_500, log, |medium| {
        let drawn = draw(medium, &mut rng);
        if drawn.begin.is_none() {
            refuse(medium, &drawn);
        }
        plan = Some(drawn);
    });
    let Some(plan) = plan else { return log.find("format refused", "no card") };
    log.trace(|| format!("ranges {:?} from {:?}, told {}", plan.ranges, plan.begin, plan.is_told));
    let mut volume = match made {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}, {:?}", plan.ranges)),
    };
    if u32::from(volume.config.bad_blocks_max) < 2 {
        volume.habits.fill_percent = volume.habits.fill_percent.min(FILL_MAX);
    }
    let mounts = rng.u32(6..14);
    for mount in 0..mounts {
        if plan.begin == Some(mount) {
            refuse(&volume.medium, &plan);
        }
        if mount + 1 < mounts && rng.u32(..3) == 0 {
            let limit = if rng.bool() { 60 } else { 1_000 };
            volume.medium.arm_cut(if rng.bool() {
                Cut::Operation(rng.u32(..limit))
            } else {
                Cut::Change(rng.u32(..limit / 4))
            });
        }
        if !life(&mut volume, &plan, rng.u32(15..90), log) {
            return;
        }
    }
    last(&mut volume, log);
}

/// Draws the sectors that a card is to refuse, in one block or in two. The second block does not
/// belong to the volume's own blocks.
fn draw(medium: &Medium, rng: &mut fastrand::Rng) -> Plan {
    let Medium::Card(pages) = medium else { unreachable!("a card") };
    let (layout, count) = (pages.flash.layout(), medium.geometry().block_count);
    let in_block = |block: u32, rng: &mut fastrand::Rng| {
        let from = if rng.u32(..3) == 0 { 0 } else { rng.u32(..layout.block_sectors) };
        let most = layout.block_sectors - from;
        let length = if rng.u32(..4) == 0 { most } else { rng.u32(1..=most.min(40)) };
        (layout.first + block * layout.block_sectors + from, length)
    };
    // No volume can begin in a block that takes no writes.
    let first = if rng.bool() { rng.u32(1..OWN_BLOCKS) } else { rng.u32(1..count) };
    let mut ranges = vec![in_block(first, rng)];
    if rng.u32(..3) == 0 {
        let second = rng.u32(OWN_BLOCKS..count);
        ranges.extend((second != first).then(|| in_block(second, rng)));
    }
    let begin = (rng.u32(..3) != 0).then(|| rng.u32(..4));
    Plan { ranges, begin, is_told: rng.bool() }
}

fn refuse(medium: &Medium, plan: &Plan) {
    let Medium::Card(pages) = medium else { unreachable!("a card") };
    plan.ranges.iter().for_each(|&(first, count)| pages.card().refuse(first, count, plan.is_told));
}

/// Makes one mount. Returns `false` if the volume is given up.
fn life(volume: &mut Volume, plan: &Plan, calls: u32, log: &mut Log) -> bool {
    let (habits, survives) = (volume.habits.clone(), plan.is_told && volume.config.failures > 0);
    let mut refusals = 0;
    loop {
        let fired = volume.medium.fired();
        let result =
            volume.mount(Access::ReadWrite, log, |session| live(session, &habits, calls, survives));
        match result {
            Ok(failed) => {
                volume.judge_unmount(failed.flatten(), log);
                break;
            }
            Err(_) if !volume.medium.has_power() => break,
            Err(error) => {
                let by = if volume.medium.fired() != fired {
                    volume.medium.last_fired()
                } else {
                    "no fault".to_string()
                };
                log.count("mounts refused once");
                refusals += 1;
                if plan.is_told || refusals == 3 {
                    log.find("mount refused", format!("{error:?}, {by}"));
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

/// Uses a mount that must take changes. A call that meets the refused sectors goes on elsewhere,
/// or the next calls do.
fn live(
    mut session: Session<'_, '_, '_>,
    habits: &client::Habits,
    calls: u32,
    survives: bool,
) -> Option<Option<crate::session::FailedUnmount>> {
    if !session.has_power() || !session.verify_mount(true) {
        return None;
    }
    if let Some(why) = adapt::why_read_only(&session.fs).filter(|_| session.has_power()) {
        session.log.find("read-only for a range that takes no writes", why);
        return None;
    }
    let events = client::any_events(session.rng);
    session.choose(events);
    let mut failures = 0;
    let may_go_on = session.work(habits, calls, |session, _| {
        failures = if session.was_struck { failures + 1 } else { 0 };
        if survives && session.was_struck {
            session.log.count("calls that failed though the driver says why");
        }
        if failures > FAILURES_MAX {
            session.log.find("every call is refused", session.fs.flash().last_fired());
        }
        failures <= FAILURES_MAX
    });
    let ends_well = session.rng.bool();
    (may_go_on && ends_well).then(|| session.unmount())
}

/// Checks at the end that the volume takes changes, and that a check finds nothing.
fn last(volume: &mut Volume, log: &mut Log) {
    let mut scratch = vec![0; volume.config.check_bytes(&volume.medium.geometry())];
    let habits = volume.habits.clone();
    for look in 0.. {
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            if !session.verify_mount(true) {
                return;
            }
            session.check(&mut scratch);
            session.choose(steadyfs::CommitOn::MANUAL);
            if session.work(&habits, 10, |_, _| true) {
                session.verify("the end");
            }
        });
        match result {
            Ok(()) => break,
            Err(_) if look < 2 => log.count("mounts refused once"),
            Err(error) => return log.find("mount refused", format!("{error:?} in the end")),
        }
    }
    log.count("volumes that lived to the end");
}
