//! Small volumes that ended well lose each page, one at a time, or one bit of it flips.
//!
//! A small volume has most of its content in few pages: the newest journal page, a page of the
//! file table. After each loss a file is in one of three states (`judge`):
//!
//! - it is as it was;
//! - reading it is an error;
//! - it is gone or empty, and the mount or the repair's report contains that.

mod judge;
mod life;
mod report;

use steadyfs::Access;

use super::lost;
use super::repair::Held;
use crate::log::Log;
use crate::shape::Settings;
use crate::view;
use crate::volume::Volume;
use judge::{Judge, Truth};
use report::Report;

/// Maximum number of pages of a medium.
const PAGES_MAX: u32 = 700;

/// A way to lose a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoil {
    /// It cannot be read.
    Unreadable,
    /// One bit of it flips.
    Bit,
}

/// Makes a small volume, and loses each of its pages.
pub fn volume(seed: u64, log: &mut Log) {
    let settings = if seed.is_multiple_of(2) { Settings::Default } else { Settings::Any };
    let mut volume = match Volume::new(seed, settings, PAGES_MAX, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    if let Err(error) = life::live(&mut volume, log) {
        return log.find("a call failed before the loss", error);
    }
    let truth = match look(&mut volume, log) {
        Ok(truth) => truth,
        Err(error) => return log.find("a sound volume cannot be read", error),
    };
    let intact = volume.medium.clone();
    for page in intact.programmed() {
        for spoil in [Spoil::Unreadable, Spoil::Bit] {
            volume.medium = intact.clone();
            volume.rng = fastrand::Rng::with_seed(seed ^ u64::from(page) << 1);
            let held = Held::by(&mut volume.medium, &volume.config, page);
            match spoil {
                Spoil::Unreadable => volume.medium.lose(page, true),
                Spoil::Bit => volume.medium.flip_bits(page, 1),
            }
            let mut own = Log { world: log.world, ..Log::default() };
            own.trace(|| format!("--- page {page}, {held}: {spoil:?}"));
            own.count("pages lost");
            one(&mut volume, &truth, held, &mut own);
            log.take_in(own, format_args!("page {page}, {held}, {spoil:?}"));
        }
    }
}

/// Returns the whole content of a sound volume.
fn look(volume: &mut Volume, log: &mut Log) -> Result<Truth, String> {
    let seen = volume.mount(Access::ReadOnly, log, |mut session| {
        if session.fs.damage().is_some() {
            Err("damage".to_string())
        } else {
            view::look(&mut session.fs).map_err(|error| format!("{error:?}"))
        }
    });
    seen.map_err(|error| format!("{error:?}"))?.map(Truth::new)
}

/// Mounts a volume that lost a page, repairs it, mounts it again, and judges each look.
fn one(volume: &mut Volume, truth: &Truth, held: Held, log: &mut Log) {
    let piece = lost::piece_of(volume);
    let judge = Judge { truth, held };
    let mut scratch =
        vec![0; volume.config.check_bytes(&steadyfs::media::Flash::geometry(&volume.medium))];
    let mut report = Report::default();
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        let damage = session.fs.damage();
        let seen = view::look_tolerantly(&mut session.fs, piece);
        judge.before_repair(&seen, damage, session.log);
        let mut note = |finding| report.note(finding);
        let repaired = match damage {
            Some(_) => session.fs.repair(&mut scratch, &mut note),
            None => session.fs.check(&mut scratch, true, &mut note),
        };
        session
            .log
            .trace(|| format!("{damage:?}: {repaired:?}\n  {}", report.findings.join("\n  ")));
        match repaired {
            Ok(_) => {}
            Err(error) => {
                session.log.find("repair refused", format!("{damage:?}: {error:?}"));
                return false;
            }
        }
        let seen = view::look_tolerantly(&mut session.fs, piece);
        judge.after_repair(&seen, &report, "", session.log);
        if let Err(error) = session.fs.unmount() {
            session.log.find("unmount refused after a repair", format!("{error:?}"));
        }
        true
    });
    match result {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => return log.find("mount refused", format!("{error:?}")),
    }
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        if let Some(damage) = session.fs.damage() {
            session.log.find("damage after a repair and a remount", format!("{damage:?}"));
        }
        let seen = view::look_tolerantly(&mut session.fs, piece);
        // The counts of this look are discarded, so that each is counted once.
        let mut own = Log { world: session.log.world, ..Log::default() };
        judge.after_repair(&seen, &report, "after a remount: ", &mut own);
        session.log.findings.append(&mut own.findings);
    });
    if let Err(error) = result {
        log.find("mount refused after a repair", format!("{error:?}"));
    }
}
