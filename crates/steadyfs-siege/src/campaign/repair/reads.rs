//! One read fails once in a repair of a sound volume. The repair must mend nothing, for each of
//! its reads.

use steadyfs::Access;
use steadyfs::media::Failure;

use super::{check, mend, scratch, used_volume};
use crate::campaign::lost;
use crate::fault::Fault;
use crate::log::Log;
use crate::view;
use crate::volume::Volume;

/// Maximum number of reads of one repair that fail, one at a time.
const READS_MAX: u32 = 600;

/// Runs the life of one volume, and repairs it again and again, while another read fails.
pub fn volume(seed: u64, log: &mut Log) {
    let Some(mut volume) = used_volume(seed, 300, log) else { return };
    let medium = volume.medium.clone();
    for after in 0..READS_MAX {
        volume.medium = medium.clone();
        let mut own = Log { world: log.world, ..Log::default() };
        let has_failed = one(&mut volume, after, &mut own);
        log.take_in(own, format_args!("read {after}"));
        if !has_failed {
            break;
        }
    }
}

/// Repairs the volume while one read fails. Returns true if the repair made this read.
fn one(volume: &mut Volume, after: u32, log: &mut Log) -> bool {
    let piece = lost::piece_of(volume);
    let mut scratch = scratch(volume);
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        if session.fs.damage().is_some() || session.fs.health().worn_out {
            return false;
        }
        // Mends the damage of the life before first.
        if mend(&mut session.fs, &mut scratch).is_err() {
            return false;
        }
        let before = view::look_tolerantly(&mut session.fs, piece);
        let fired = session.fs.flash().fired();
        session.medium().arm_fault(Fault::read(after, Failure::Uncorrectable));
        let mended = mend(&mut session.fs, &mut scratch);
        let has_failed = session.fs.flash().fired() != fired;
        session.log.count("reads that failed in a repair");
        if !has_failed {
            return false;
        }
        let seen = view::look_tolerantly(&mut session.fs, piece);
        if before.sizes != seen.sizes
            || before.pieces != seen.pieces
            || before.attributes != seen.attributes
        {
            session.log.find("a read that failed once cost something", format!("{mended:?}"));
        } else if mended.is_ok_and(|checked| checked.mended.total() > 0) {
            session.log.count("  mended what was whole, and lost nothing");
        }
        let _ = check(&mut session, &mut scratch, "after a read that failed once");
        true
    });
    match result {
        Ok(has_failed) => has_failed,
        Err(error) => {
            log.find("mount refused", format!("{error:?}"));
            false
        }
    }
}
