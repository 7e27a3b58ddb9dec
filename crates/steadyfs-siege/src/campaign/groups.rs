//! Long lives on raw flash whose driver keeps no order in a command of several pages. A cut
//! leaves any of them. The contract demands the order, but a volume loses nothing without it.

use crate::campaign::lives;
use crate::log::Log;
use crate::world::MediumKind;

/// Runs the life of one volume.
pub fn volume(seed: u64, log: &mut Log) {
    if log.world.medium == MediumKind::Chip {
        (log.world.medium, log.world.is_full) = (MediumKind::ChipGroups, true);
    }
    lives::volume(seed, log);
}
