//! The finding of a damaged copy of the superblock, and its repair.

use crate::image::chip::Chip;
use steadyfs_host::superblocks::{describe, mend};

/// A damaged copy.
pub struct Damaged {
    /// The finding.
    pub text: String,
    /// True if the repair has written the copy anew.
    pub mended: bool,
}

/// Finds the damaged copy on the chip of an unmounted volume, if there is one. With `repair` it
/// writes the copy anew.
pub fn find(mut chip: Chip, repair: bool) -> Option<Damaged> {
    let copies = chip.superblocks()?;
    let text = describe(&copies)?;
    if !repair {
        return Some(Damaged { text: format!("{text}; --repair writes it anew"), mended: false });
    }
    Some(match mend(&mut chip, copies) {
        Ok(()) => Damaged { text: format!("{text}; it was written anew"), mended: true },
        Err(error) => {
            let reason = chip.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
            let text = format!(
                "{text}; it cannot be written anew: {error}{reason}; copy the files out while the \
                 other copy is whole"
            );
            Damaged { text, mended: false }
        }
    })
}
