//! Bits of pages flip while the volume is not mounted, on a medium that programs bytes and has no
//! ECC to correct them.
//!
//! One bit flips in each programmed page, at several places, one place at a time. Two and three
//! flipped bits in a page are counted apart. Their results are no findings.

use steadyfs::media::{Flash, PageIndex, TAG_BYTES};

use super::lost::{self, Then};
use crate::log::{Finding, Log};
use crate::medium::Medium;
use crate::shape::{self, Settings};
use crate::volume::Volume;

/// Maximum number of pages of a volume's medium.
const PAGES_MAX: u32 = 1_200;
/// Distance in bytes within which two or three flipped bits lie in half of the cases: the bytes
/// of a change of a leaf.
const NEAR: usize = 6;

/// Runs the life of one volume, and flips bits of each of its pages.
pub fn volume(seed: u64, log: &mut Log) {
    if log.world.medium.is_card() {
        return log.count("volumes whose medium programs no bytes");
    }
    let seed = seed_of_bytes(seed);
    let mut volume = match Volume::new(seed, Settings::Any, PAGES_MAX, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    let Some(is_clean) = lost::prepare(&mut volume, log) else { return };
    let Some((truth, is_settled)) = lost::truth(&mut volume, log) else { return };
    if is_settled {
        volume.oracle.settle(truth);
    } else {
        log.count("volumes that are unsettled");
    }
    log.count(if is_clean { "volumes that ended cleanly" } else { "volumes that were cut" });
    let (intact, newest) = (volume.medium.clone(), lost::newest(&volume, None));
    let oracle = volume.oracle.clone();
    for page in intact.programmed() {
        for (number, flips) in [1, 1, 1, 2, 3].into_iter().enumerate() {
            volume.medium = intact.clone();
            volume.oracle = oracle.unseen();
            volume.rng = fastrand::Rng::with_seed(seed ^ u64::from(page) << 3 ^ number as u64);
            let in_tag = number == 0;
            let places = flip(&mut volume, page, flips, in_tag);
            let mut own = Log { world: log.world, ..Log::default() };
            own.trace(|| format!("--- page {page}, bits {places:?}"));
            own.count(["", "one bit", "two bits", "three bits"][flips]);
            lost::after_mount(
                &mut volume,
                !is_clean && newest.contains(&page),
                "",
                Then::Ends,
                &mut own,
            );
            judge(own, flips, &format!("page {page}, bits {places:?}"), log);
        }
    }
}

/// Returns a seed near this one whose volume programs bytes.
fn seed_of_bytes(seed: u64) -> u64 {
    let programs_bytes = |seed: &u64| {
        shape::any_shape(&mut fastrand::Rng::with_seed(*seed), Settings::Any, PAGES_MAX)
            .0
            .programs_bytes
    };
    (0..)
        .map(|step: u64| seed.wrapping_add(step.wrapping_mul(0x2545_F491_4F6C_DD1D)))
        .find(programs_bytes)
        .expect("every second one")
}

/// Flips bits of a page, all at different places. Returns the byte and bit of each.
fn flip(volume: &mut Volume, page: PageIndex, flips: usize, in_tag: bool) -> Vec<(usize, u32)> {
    let (rng, data) = (&mut volume.rng, volume.medium.geometry().page_bytes as usize);
    let bytes = if in_tag { data..data + TAG_BYTES } else { 0..data + TAG_BYTES };
    let is_near = rng.bool();
    let mut places: Vec<(usize, u32)> = Vec::new();
    while places.len() < flips {
        let byte = match places.first() {
            Some(&(first, _)) if is_near => rng.usize(first..(first + NEAR).min(bytes.end)),
            _ => rng.usize(bytes.clone()),
        };
        let place = (byte, rng.u32(..8));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if let Medium::Chip(chip) = &mut volume.medium {
        places.iter().for_each(|&(byte, bit)| chip.flip_bit(page, byte, bit));
    }
    places
}

/// Adds the log of one look. Findings count if one bit has flipped; with more flipped bits they
/// become counts.
fn judge(own: Log, flips: usize, place: &str, log: &mut Log) {
    own.counts.into_iter().for_each(|(what, count)| *log.counts.entry(what).or_default() += count);
    for finding in own.findings {
        if flips == 1 {
            log.findings
                .push(Finding { detail: format!("{place}: {}", finding.detail), ..finding });
        } else {
            log.trace(|| format!("{place}: {}: {}", finding.class, finding.detail));
            log.count(if flips == 2 {
                "  two bits, and something is old or wrong without a word"
            } else {
                "  three bits, and something is old or wrong without a word"
            });
        }
    }
}
