//! Repair, and the use of the volume after it. Every programmed page is lost, one at a time, or
//! bits of it flip. The volume is repaired, and used again.
//!
//! After a repair:
//!
//! - A check finds nothing but pages of files that cannot be read. The same holds after fifty
//!   calls, and after a remount.
//! - A second repair changes nothing.
//! - Files that were not hit have their content. For the others, the repair reports the cost
//!   (`judge`).
//!
//! In `cuts` power or a program fails during the repair, and in `reads` a read.

mod costs;
mod cuts;
mod judge;
mod reads;

use std::rc::Rc;

use steadyfs::media::{Flash, PageIndex};
use steadyfs::{Access, CheckReport, Damage, Error, FileSystem, Finding};

use super::lost;
use crate::adapt;
use crate::log::Log;
use crate::loss::{self, Verdict};
use crate::session::Session;
use crate::shape::Settings;
use crate::view;
use crate::volume::Volume;
use judge::{Done, Hit};

pub use costs::{Costs, Held};
pub use cuts::{volume as volume_with_cuts, volume_with_faults};
pub use reads::volume as volume_with_reads;

/// Number of calls after a repair.
const CALLS: u32 = 50;
/// If a repair found nothing to mend, calls follow only after one such repair in this number.
const IDLE_REPAIRS: u32 = 8;
/// Maximum number of flipped bits.
const BITS_MAX: u32 = 400;

/// Runs the life of one volume, loses each of its pages, and repairs it.
pub fn volume(seed: u64, log: &mut Log) {
    let Some(mut volume) = used_volume(seed, 700, log) else { return };
    let (medium, oracle) = (volume.medium.clone(), volume.oracle.clone());
    for page in medium.programmed() {
        volume.medium = medium.clone();
        volume.oracle = oracle.unseen();
        volume.rng = fastrand::Rng::with_seed(seed ^ u64::from(page) << 1);
        let mut own = Log { world: log.world, ..Log::default() };
        own.count("pages lost");
        let held = Held::by(&mut volume.medium, &volume.config, page);
        spoil(&mut volume, page, &mut own);
        let costs = one(&mut volume, &mut own);
        own.costs.entry(held).or_default().add(&costs);
        log.take_in(own, format_args!("page {page}"));
    }
}

/// Returns a volume after a life, with its known content.
fn used_volume(seed: u64, pages_max: u32, log: &mut Log) -> Option<Volume> {
    let has_permissions = fastrand::Rng::with_seed(seed ^ 0x5EED).bool();
    let mut volume = match Volume::with(seed, Settings::Any, pages_max, log, |config| {
        config.permissions = has_permissions
    }) {
        Ok(volume) => volume,
        Err(error) => {
            log.find("format refused", format!("{error:?}"));
            return None;
        }
    };
    lost::prepare(&mut volume, log)?;
    let (truth, is_settled) = lost::truth(&mut volume, log)?;
    if is_settled {
        volume.oracle.settle(truth);
    }
    Some(volume)
}

/// Loses a page: it cannot be read, or some of its bits flip.
fn spoil(volume: &mut Volume, page: PageIndex, log: &mut Log) {
    let bits = match volume.rng.u32(..4) {
        0 => 1,
        1 => crate::fault::log_uniform(&mut volume.rng, BITS_MAX) + 1,
        _ => 0,
    };
    log.trace(|| format!("--- page {page} lost, {bits} bits flipped"));
    if bits == 0 { volume.medium.lose(page, true) } else { volume.medium.flip_bits(page, bits) }
}

/// Repairs a volume, judges the result, uses the volume, and judges it again. Returns the cost of
/// the loss.
fn one(volume: &mut Volume, log: &mut Log) -> Costs {
    let mut costs = Costs::REFUSED;
    let piece = lost::piece_of(volume);
    let mut scratch = scratch(volume);
    let mounted = volume.mount(Access::ReadWrite, log, |mut session| {
        let before = view::look_tolerantly(&mut session.fs, piece);
        // The campaign `lost` finds wrong content of the mount itself.
        let is_old =
            matches!(loss::judge(&before, session.oracle), Verdict::Old(_) | Verdict::Wrong(_));
        let hit = Hit {
            before,
            damage: session.fs.damage(),
            is_old,
            is_settled: session.fs.is_settled(),
        };
        let done = repair(&mut session, &hit, piece, &mut scratch)?;
        judge::after_repair(&hit, &done, session.oracle, session.log);
        costs = if hit.is_old { Costs::EARLIER } else { Costs::of(&done.after, session.oracle) };
        let is_idle = done.checked.mended.total() == 0
            && hit.damage.is_none()
            && session.rng.u32(..IDLE_REPAIRS) > 0;
        if session.log.findings.is_empty() && !is_idle {
            use_it(&mut session, &done, &mut scratch);
        }
        Some(())
    });
    match mounted {
        Ok(Some(())) if log.findings.is_empty() => again(volume, &mut scratch, log),
        Ok(_) => {}
        Err(error) => log.find("mount refused", format!("{error:?}")),
    }
    costs
}

/// Allocates the memory for a check.
fn scratch(volume: &Volume) -> Vec<u8> {
    vec![0; volume.config.check_bytes(&volume.medium.geometry())]
}

/// Repairs a mounted volume as `steady check --repair` does.
fn mend<F: Flash>(fs: &mut FileSystem<'_, F>, scratch: &mut [u8]) -> Result<CheckReport, Error> {
    if fs.damage().is_some() {
        fs.repair(scratch, &mut |_| ())
    } else {
        fs.check(scratch, true, &mut |_| ())
    }
}

/// Repairs, checks, and repairs once more. Returns `None` if a repair is impossible, as
/// documented, or if there is a finding.
fn repair(
    session: &mut Session<'_, '_, '_>,
    hit: &Hit,
    piece: usize,
    scratch: &mut [u8],
) -> Option<Done> {
    session.log.trace(|| format!("damage {:?}", hit.damage));
    if session.fs.health().worn_out {
        session.log.count("  worn out");
        return None;
    }
    if session.log.world.is_traced {
        let _ = session.fs.check(scratch, false, &mut |finding| println!("  {finding}"));
    }
    let checked = match mend(&mut session.fs, scratch) {
        Ok(checked) => checked,
        Err(Error::Corrupt) if hit.damage == Some(Damage::Leaf) => {
            session.log.count("  not repaired: the first leaf is lost, and has no copy");
            let after = view::look_tolerantly(&mut session.fs, piece);
            judge::unchanged(&hit.before, &after, session.log);
            return None;
        }
        Err(error) => {
            session.log.find("repair refused", format!("{:?}: {error:?}", hit.damage));
            return None;
        }
    };
    session.log.trace(|| format!("repaired: {checked:?}"));
    count(hit.damage, &checked, session.log);
    if let Some(reason) = adapt::why_read_only(&session.fs) {
        session.log.find("read-only after a repair", format!("{:?}: {reason}", hit.damage));
        return None;
    }
    check(session, scratch, "after a repair")?;
    match mend(&mut session.fs, scratch) {
        Ok(again) if again.mended.total() == 0 => {}
        result => session
            .log
            .find("a second repair changes something", format!("{:?}: {result:?}", hit.damage)),
    }
    let after = view::look_tolerantly(&mut session.fs, piece);
    Some(Done { checked, after })
}

fn count(damage: Option<Damage>, checked: &CheckReport, log: &mut Log) {
    log.count(match damage {
        None if checked.mended.total() == 0 => "  nothing to mend",
        None => "  no damage told, mended",
        Some(Damage::Root) => "  root lost, repaired",
        Some(Damage::Record) => "  record lost, repaired",
        Some(Damage::Journal) => "  journal page lost, repaired",
        Some(Damage::Leaf) => "  leaf lost, repaired",
        Some(Damage::Tables) => "  table lost, repaired",
        Some(_) => "  other damage, repaired",
    });
    let mended = &checked.mended;
    for (what, number) in [
        ("    entries removed", mended.entries),
        ("    names given", mended.names),
        ("    files emptied", mended.emptied),
        ("    pages freed", mended.pages_freed),
    ] {
        if number > 0 {
            *log.counts.entry(what).or_default() += u64::from(number);
        }
    }
}

/// Checks without a repair. Only pages of files that cannot be read may be found.
fn check(session: &mut Session<'_, '_, '_>, scratch: &mut [u8], when: &str) -> Option<()> {
    let mut findings = Vec::new();
    let checked = session.fs.check(scratch, false, &mut |finding| {
        if !matches!(finding, Finding::UnreadablePage { .. }) {
            findings.push(format!("{finding}"));
        }
    });
    if findings.is_empty() && checked.is_ok() {
        return Some(());
    }
    findings.truncate(6);
    session
        .log
        .find("a check finds something", format!("{when}: {}; {checked:?}", findings.join("; ")));
    None
}

/// Makes fifty calls on a repaired volume, and checks it.
fn use_it(session: &mut Session<'_, '_, '_>, done: &Done, scratch: &mut [u8]) {
    session.log.count("  used again");
    let tree = Rc::new(judge::tree_of(&done.after, session.oracle));
    session.oracle.history.append(&mut session.oracle.durable);
    (session.oracle.current, session.oracle.durable) = (tree.clone(), vec![tree]);
    session.is_damaged = done.after.errors > 0 || done.checked.unreadable > 0;
    let events = crate::client::any_events(session.rng);
    session.choose(events);
    let mut habits = crate::client::Habits::any(session.rng);
    habits.names += 8;
    let fill = if session.rng.bool() { 120 } else { 80 };
    habits.fill_percent = fill;
    let may_go_on = session.work(&habits, CALLS, |_, _| true);
    if !session.log.findings.is_empty() || !session.has_power() {
        return;
    }
    if may_go_on || session.is_damaged {
        // Open handles would hold removed files.
        for handle in session.handles.drain(..) {
            let _ = session.fs.close(handle.file);
        }
        let commit = session.commit();
        if matches!(commit, crate::session::Answer::Done(())) {
            let _ = check(session, scratch, "after fifty calls");
        }
    }
}

/// Checks that the next mount finds everything unchanged.
fn again(volume: &mut Volume, scratch: &mut [u8], log: &mut Log) {
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        if let Some(reason) = adapt::why_read_only(&session.fs) {
            session.log.find("read-only after a repair and a remount", reason);
            return;
        }
        let _ = check(&mut session, scratch, "after a remount");
    });
    if let Err(error) = result {
        log.find("mount refused after a repair", format!("{error:?}"));
    }
}
