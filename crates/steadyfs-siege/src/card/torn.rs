//! The state of sectors after a power cut or a failed command.

use std::rc::Rc;

use steadyfs::media::sectors::SECTOR_BYTES;

use super::{Bytes, Change, Held, State, Waiting};
use crate::fate::Style;

/// Part of a write that survives.
#[derive(Clone, Copy)]
enum Survives {
    All,
    Nothing,
    /// Each sector has its own fate.
    Some,
}

impl State {
    /// Draws the part of the cache that survives when power fails.
    pub(super) fn lose_cache(&mut self) {
        let waiting: Vec<Waiting> = self.waiting.drain(..).collect();
        let survives =
            if self.cache.reorders { self.survivors(&waiting) } else { self.first_ones(&waiting) };
        let style = self.style;
        if let Some(first) = waiting.first() {
            self.strikes.trace(|| {
                format!(
                    "power is lost, and {} sectors wait from {} on",
                    waiting.len(),
                    first.sector
                )
            });
        }
        for (Waiting { change, sector, held, .. }, survives) in waiting.into_iter().zip(survives) {
            match survives {
                Survives::All => self.store(sector, held),
                Survives::Nothing => {}
                Survives::Some => {
                    let torn = self.torn(change, sector, held, style);
                    self.store(sector, torn);
                }
            }
        }
    }

    /// Draws for a cache that keeps the order: all of the first commands, one in part, none of
    /// the others.
    fn first_ones(&mut self, waiting: &[Waiting]) -> Vec<Survives> {
        let Some(last) = waiting.last().map(|last| last.command) else { return Vec::new() };
        let first = waiting[0].command;
        // The last command is torn more often than any other, because power failed in it.
        let torn = if self.rng.bool() { last } else { self.rng.u64(first..=last) };
        let fate = |waiting: &Waiting| match waiting.command.cmp(&torn) {
            std::cmp::Ordering::Less => Survives::All,
            std::cmp::Ordering::Equal => Survives::Some,
            std::cmp::Ordering::Greater => Survives::Nothing,
        };
        waiting.iter().map(fate).collect()
    }

    /// Draws for a cache that reorders: whole commands, or each sector for itself.
    fn survivors(&mut self, waiting: &[Waiting]) -> Vec<Survives> {
        let (is_by_command, most) = (self.rng.bool(), self.rng.u32(1..10));
        let (mut last, mut fates) = ((0, Survives::All), Vec::new());
        for waiting in waiting {
            if !is_by_command || waiting.command != last.0 || fates.is_empty() {
                let fate = match self.rng.u32(..12) {
                    0 | 1 => Survives::Some,
                    other if other - 2 < most => Survives::All,
                    _ => Survives::Nothing,
                };
                last = (waiting.command, fate);
            }
            fates.push(last.1);
        }
        fates
    }

    /// Draws the state of a sector that was written in part: as before, as written, any bytes, or
    /// unreadable. A discarded sector may return to an earlier content. A written sector may not:
    /// it could become a sound old header, which no check can detect.
    pub(super) fn torn(&mut self, change: Change, sector: u32, new: Held, style: Style) -> Held {
        let old = self.held(sector);
        let fate = self.rng.u32(if style == Style::Unsteady { 4 } else { 0 }..10);
        match fate {
            0 | 1 => old,
            2 | 3 => new,
            4..=7 if change == Change::Write => Held::Unreadable,
            6 | 7 => Held::Bytes(self.earlier[sector as usize].clone()),
            _ => Held::Bytes(Rc::new(garbage(&bytes_of(&old), &bytes_of(&new), &mut self.rng))),
        }
    }
}

fn bytes_of(held: &Held) -> Bytes {
    match held {
        Held::Bytes(bytes) => **bytes,
        Held::Unreadable => [0; SECTOR_BYTES],
    }
}

/// Makes bytes from the old and the new ones, or from neither.
fn garbage(old: &Bytes, new: &Bytes, rng: &mut fastrand::Rng) -> Bytes {
    let mut bytes = *new;
    let at = rng.usize(..SECTOR_BYTES);
    match rng.u32(..7) {
        0 => bytes = [0; SECTOR_BYTES],
        1 => bytes = [0xFF; SECTOR_BYTES],
        2 => rng.fill(&mut bytes),
        3 => bytes[at..].copy_from_slice(&old[at..]),
        4 => bytes[..at].copy_from_slice(&old[..at]),
        5 => bytes[at % 40] ^= 1 << rng.u32(..8),
        _ => bytes[at] ^= 1 << rng.u32(..8),
    }
    bytes
}
