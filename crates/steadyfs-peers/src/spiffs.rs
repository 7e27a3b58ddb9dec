//! SPIFFS.

use crate::header::{Peer, RawSettings};
use crate::peer::OnChip;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use steadyfs::media::nor::NorPages;
use steadyfs_compare::{Chip, Entrant, Facts};
use steadyfs_lab::bench::{BenchChip, Plain};
use steadyfs_sim::{Nor, NorTiming};

/// Bytes of each file in the cases that fill a volume.
const FILE_BYTES: usize = 8_000;
/// Bytes of the chip's own pages.
const PAGE_BYTES: u32 = 256;

/// Usable bytes, by size and number of the erase blocks.
static USABLE: Mutex<BTreeMap<(u32, u32), u64>> = Mutex::new(BTreeMap::new());

/// Returns the bytes that an empty volume takes in files of [`FILE_BYTES`].
///
/// `SPIFFS_info` counts the pages of indexes as room for data, and also the pages that its
/// collector keeps.
fn usable_bytes(plain: &Plain) -> Result<u64, String> {
    let Plain { block_bytes, block_count, .. } = *plain;
    let mut known = USABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&bytes) = known.get(&(block_bytes, block_count)) {
        return Ok(bytes);
    }
    let chip = NorPages::new(
        Nor::with_geometry(block_bytes, block_count, NorTiming::ROUND, 1),
        PAGE_BYTES,
    );
    let bytes = OnChip::new("SPIFFS", &PEER, Chip::new(chip))
        .fill(FILE_BYTES)
        .map_err(|fault| fault.to_string())?;
    known.insert((block_bytes, block_count), bytes);
    Ok(bytes)
}

unsafe extern "C" {
    #[link_name = "peer_spiffs"]
    safe static PEER: Peer;
}

/// SPIFFS, with settings.
#[derive(Default)]
pub struct Spiffs(pub RawSettings);

impl Entrant for Spiffs {
    type On = OnChip;

    fn facts(&self) -> Facts {
        Facts {
            id: "spiffs".into(),
            name: "SPIFFS".into(),
            version: format!("0.4 ({})", env!("PEER_SPIFFS")),
            source: "https://github.com/pellepl/spiffs".into(),
            licence: "MIT".into(),
            configuration:
                "blocks of 8 KiB and pages of 256 B; on blocks of 64 KiB these, and pages of 512 \
                 B; 8 cache pages, 10 descriptors with the temporal cache, magic numbers, no blind \
                 writes"
                    .into(),
            because:
                "its wiki, Configure and Integrate: pages of 256 B, a block of at least 8 to 16 \
                 pages, a power-of-two number of erase sectors; larger pages on large chips, whose \
                 pages must fit into 16 bits"
                    .into(),
            contract:
                "its README: consistency check after a loss of power; truncating and writing, and \
                 renaming over a file, are not atomic"
                    .into(),
            timing: "none".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<OnChip, String> {
        let plain = chip.plain();
        if plain.unit_bytes > 1 {
            return Err("it is for NOR: it clears bits of what it has programmed".to_string());
        }
        let on_chip = OnChip::with_settings("SPIFFS", &PEER, chip, &self.0);
        match self.0 == RawSettings::default() {
            true => Ok(on_chip.with_usable(usable_bytes(&plain)?)),
            false => Ok(on_chip),
        }
    }
}
