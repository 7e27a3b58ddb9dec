//! Loses every programmed page for good, one at a time: while the volume is not mounted, and
//! while it is mounted.

use std::rc::Rc;

use steadyfs::media::PageIndex;
use steadyfs::{Access, MountError};

use crate::adapt;
use crate::client;
use crate::fault::log_uniform;
use crate::log::Log;
use crate::loss::{self, Verdict};
use crate::oracle::Oracle;
use crate::session::{Answer, Session};
use crate::shape::Settings;
use crate::strike::Cut;
use crate::tree::Tree;
use crate::view::{self, Partial};
use crate::volume::Volume;

/// Result of a mount of a damaged volume.
struct Told {
    partial: Partial,
    /// True if the mount is read-only, or if it was refused for writing. Either reports that
    /// something is missing.
    is_told: bool,
}

/// Next step after a look at a damaged volume that reports its damage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The volume is repaired.
    Mends,
    /// No step follows.
    Ends,
}

/// Runs the life of one volume, and loses each of its pages.
pub fn volume(seed: u64, log: &mut Log) {
    let mut volume = match Volume::new(seed, Settings::Any, 1_200, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    let Some(is_clean) = prepare(&mut volume, log) else { return };
    // A damaged volume must show the same content as the intact one, as far as it can be read.
    let Some((truth, is_settled)) = truth(&mut volume, log) else { return };
    // A mount that reports itself unsettled may be followed by a mount that shows another
    // possible state.
    if is_settled {
        volume.oracle.settle(truth);
    } else {
        log.count("volumes that are unsettled");
    }
    let intact = volume.medium.clone();
    let newest = newest(&volume, None);
    log.trace(|| format!("newest pages {:?}, ended well {is_clean}", intact.newest()));
    let oracle = volume.oracle.clone();
    let world = log.world;
    for page in intact.programmed() {
        for is_mounted in [false, true] {
            volume.medium = intact.clone();
            volume.oracle = oracle.unseen();
            volume.rng =
                fastrand::Rng::with_seed(seed ^ u64::from(page) << 1 ^ u64::from(is_mounted));
            let is_unreadable = volume.rng.u32(..4) != 0;
            let mut own = Log { world, ..Log::default() };
            own.trace(|| {
                format!("--- page {page} lost, mounted {is_mounted}, unreadable {is_unreadable}")
            });
            if is_mounted {
                while_mounted(&mut volume, page, is_unreadable, &mut own);
            } else {
                own.count("pages lost");
                volume.medium.lose(page, is_unreadable);
                let may_be_cut = !is_clean && newest.contains(&page);
                after_mount(&mut volume, may_be_cut, "", Then::Mends, &mut own);
            }
            log.take_in(
                own,
                format_args!("page {page}{}", if is_mounted { ", mounted" } else { "" }),
            );
        }
    }
}

/// Uses the volume before the loss. Returns true if the use ended well, or `None` if the model
/// cannot follow.
pub(super) fn prepare(volume: &mut Volume, log: &mut Log) -> Option<bool> {
    let habits = volume.habits.clone();
    let mut is_clean = false;
    for _ in 0..volume.rng.u32(1..4) {
        let calls = volume.rng.u32(10..120);
        let cut = (volume.rng.u32(..4) == 0).then(|| log_uniform(&mut volume.rng, 3_000));
        let ends_well = volume.rng.bool();
        let result = volume.mount(Access::ReadWrite, log, |mut session| {
            let events = client::any_events(session.rng);
            session.choose(events);
            if let Some(cut) = cut {
                session.medium().arm_cut(Cut::Operation(cut));
            }
            if !session.verify_mount(true) || !session.work(&habits, calls, |_, _| true) {
                return (false, None);
            }
            if ends_well { (true, session.unmount()) } else { (false, None) }
        });
        match result {
            Ok((ended_well, failed)) => {
                is_clean = ended_well && volume.medium.has_power();
                volume.judge_unmount(failed, log);
            }
            Err(error) => log.find("mount refused before the loss", format!("{error:?}")),
        }
        volume.medium.power_on();
    }
    let may_go_on = log.may_go_on();
    // The other campaigns count these findings already.
    log.findings.retain(|finding| !crate::log::is_followed(finding.class));
    may_go_on.then_some(is_clean)
}

/// Returns the pages of the last record. `lost` may be one of them. Only these pages may be taken
/// for the result of a cut, and only if the volume did not end well.
pub(super) fn newest(volume: &Volume, lost: Option<PageIndex>) -> Vec<PageIndex> {
    let unit = u32::from(volume.config.pages_per_logical_page);
    let mut written = volume.medium.newest();
    // A root that an unmount was writing when power failed may count or not.
    let is_uncertain =
        |page: PageIndex| lost != Some(page) && volume.medium.is_of_uncertain_root(page);
    let roots = written.iter().take_while(|(page, _)| is_uncertain(*page)).count();
    written.drain(..roots);
    let (mut numbers, mut newest) = (Vec::new(), Vec::new());
    for together in written.chunk_by(|(_, number), (_, other)| number == other) {
        if numbers.len() == volume.medium.in_doubt() && newest.len() >= unit as usize {
            break;
        }
        let pages: Vec<_> = together.iter().map(|(page, _)| *page).collect();
        // Pages that a cut took are not there, so they are not among the last pages that a mount
        // finds.
        let there = pages
            .iter()
            .filter(|page| lost == Some(**page) || volume.medium.is_seen(**page, &pages, unit));
        let before = newest.len();
        newest.extend(there);
        // Moves prove nothing about the records before them: a cut may leave any pages of a
        // group.
        if newest[before..].iter().any(|page| !volume.medium.is_of_move(*page)) {
            numbers.push(together[0].1);
        }
    }
    newest
}

/// Returns the content of the intact volume, and true if every mount shows that content.
pub(super) fn truth(volume: &mut Volume, log: &mut Log) -> Option<(Rc<Tree>, bool)> {
    let mut current = None;
    let result = volume.mount(Access::ReadOnly, log, |mut session| {
        if session.verify_mount(false) {
            current = Some((session.oracle.current.clone(), adapt::is_settled(&session.fs)));
        }
    });
    if let Err(error) = result {
        log.find("mount refused before the loss", format!("{error:?}"));
    }
    current
}

/// Mounts as a careful user does: for writing, and read-only if the first mount is refused.
fn mount(volume: &mut Volume, log: &mut Log) -> Result<Told, MountError> {
    let piece = piece_of(volume);
    let look = |is_told: bool| {
        move |mut session: Session<'_, '_, '_>| Told {
            is_told: is_told || adapt::tells_damage(&session.fs),
            partial: view::look_tolerantly(&mut session.fs, piece),
        }
    };
    volume
        .mount(Access::ReadWrite, log, look(false))
        .or_else(|_| volume.mount(Access::ReadOnly, log, look(true)))
}

/// Returns the bytes that a look reads at once: a page of the medium. A read of one half of a
/// logical page may succeed when the other half is lost.
pub(super) fn piece_of(volume: &Volume) -> usize {
    steadyfs::media::Flash::geometry(&volume.medium).page_bytes as usize
}

/// Mounts the damaged volume and judges its content.
pub(super) fn after_mount(
    volume: &mut Volume,
    may_be_cut: bool,
    when: &str,
    then: Then,
    log: &mut Log,
) {
    let told = match mount(volume, log) {
        Ok(told) => told,
        Err(error) => {
            let salvage =
                volume.mount(Access::ReadOnly, log, |_| ()).map_or("refused, too", |()| "possible");
            return log.find("refused read-only", format!("{when}{error:?}, salvage {salvage}"));
        }
    };
    let verdict = loss::judge(&told.partial, &volume.oracle);
    log.trace(|| format!("{when}{verdict:?}, told {}", told.is_told));
    if then == Then::Mends
        && told.is_told
        && matches!(verdict, Verdict::Whole | Verdict::Missing { .. })
    {
        mend(volume, when, log);
    }
    match verdict {
        Verdict::Whole if told.is_told => log.count("  nothing missing, read-only"),
        Verdict::Whole => log.count("  nothing missing"),
        Verdict::Missing { files, lists } => count_missing(files, lists, told.is_told, log),
        Verdict::Old(_) if told.is_told => {
            log.count("  something is old, and the mount says that something is missing")
        }
        Verdict::Old(_) if may_be_cut => log.count("  taken for a cut"),
        Verdict::Old(what) => log.find("silently old", format!("{when}{what}")),
        // A lost record or journal page holds its changes itself. So the mount can only report
        // that something is missing.
        Verdict::Wrong(_) if told.is_told => {
            log.count("  never was so, and the mount says that something is missing")
        }
        Verdict::Wrong(what) => log.find("silently wrong", format!("{when}{what}")),
    }
}

/// Repairs a volume that can be mounted read-only, and mounts it for writing. Counts repairs
/// after which something is missing or changed.
fn mend(volume: &mut Volume, when: &str, log: &mut Log) {
    let mut scratch =
        vec![0; volume.config.check_bytes(&steadyfs::media::Flash::geometry(&volume.medium))];
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        let repaired = session.fs.repair(&mut scratch, &mut |_| ());
        session.log.trace(|| format!("repair: {repaired:?}"));
        let checked = session.fs.check(&mut scratch, true, &mut |_| ());
        session.log.trace(|| format!("check: {checked:?}"));
    });
    if result.is_err() {
        return log.count("  not mended: the mount is refused");
    }
    let piece = piece_of(volume);
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        (adapt::why_read_only(&session.fs), view::look_tolerantly(&mut session.fs, piece))
    });
    match result {
        Ok((Some(_), _)) => log.count("  not mended: still read-only"),
        Err(_) => log.find("refused after it was mended", when),
        Ok((None, partial)) => {
            log.count("  mended");
            // Files without a name get one in the root.
            let mut partial = partial;
            partial.sizes.retain(|path, _| !path.starts_with("lost-"));
            partial.pieces.retain(|(path, ..)| !path.starts_with("lost-"));
            partial.attributes.retain(|path, _| !path.starts_with("lost-"));
            if let Verdict::Old(what) | Verdict::Wrong(what) = loss::judge(&partial, &volume.oracle)
            {
                log.count("  mended, and something is missing or changed by that");
                log.trace(|| format!("mended: {what}"));
            }
        }
    }
}

fn count_missing(files: usize, lists: usize, is_told: bool, log: &mut Log) {
    log.count(match (files, lists, is_told) {
        (_, 1.., true) => "  lists end with an error, read-only",
        (_, 1.., false) => "  lists end with an error",
        (0..=1, _, true) => "  one file is missing in part, read-only",
        (0..=1, _, false) => "  one file is missing in part",
        (_, _, true) => "  several files are missing in part, read-only",
        (_, _, false) => "  several files are missing in part",
    });
}

/// Loses the page while the volume is mounted, and lets the client go on.
fn while_mounted(volume: &mut Volume, page: PageIndex, is_unreadable: bool, log: &mut Log) {
    let habits = volume.habits.clone();
    let piece = piece_of(volume);
    let (before, after) = (volume.rng.u32(..8), volume.rng.u32(..8));
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        let events = client::any_events(session.rng);
        session.choose(events);
        if !session.verify_mount(true) || !session.work(&habits, before, |_, _| true) {
            return (false, None);
        }
        // The page may have been erased meanwhile.
        if !session.medium().is_programmed(page) {
            return (false, None);
        }
        session.log.count("pages lost while mounted");
        session.medium().lose(page, is_unreadable);
        session.is_damaged = true;
        if !session.work(&habits, after, |_, _| true) {
            return (false, None);
        }
        look_while_mounted(&mut session, piece, "mounted");
        if matches!(session.commit(), Answer::Done(())) {
            look_while_mounted(&mut session, piece, "after a commit");
        }
        if session.rng.bool() { (true, session.unmount()) } else { (false, None) }
    });
    let mut is_clean = false;
    match result {
        Ok((_, Some(failed)))
            if matches!(failed.error, steadyfs::Error::Corrupt | steadyfs::Error::ReadOnly) => {}
        Ok((ended_well, failed)) => {
            is_clean = ended_well && failed.is_none();
            volume.judge_unmount(failed, log);
        }
        Err(error) => return log.find("mount refused before the loss", format!("{error:?}")),
    }
    if log.may_go_on() {
        // Nothing was programmed behind the lost page. So a mount cannot distinguish it from a
        // page that a cut met.
        let may_be_cut = !is_clean && newest(volume, Some(page)).contains(&page);
        after_mount(volume, may_be_cut, "after a remount: ", Then::Mends, log);
    }
}

/// Checks that the mounted volume equals the model, as far as it can be read.
fn look_while_mounted(session: &mut Session<'_, '_, '_>, piece: usize, when: &str) {
    let partial = view::look_tolerantly(&mut session.fs, piece);
    let (current, history) = (session.oracle.current.clone(), session.oracle.history.clone());
    let oracle = Oracle { durable: vec![current.clone()], current, history, ..Oracle::new() };
    match loss::judge(&partial, &oracle) {
        Verdict::Whole | Verdict::Missing { .. } => {}
        Verdict::Old(what) => session.log.find("silently old", format!("{when}: {what}")),
        Verdict::Wrong(what) => session.log.find("silently wrong", format!("{when}: {what}")),
    }
}
