//! SPIFFS.

use crate::peer::{OnChip, Peer};
use steadyfs_compare::{Chip, Entrant, Facts};
use steadyfs_lab::bench::BenchChip;

unsafe extern "C" {
    #[link_name = "peer_spiffs"]
    safe static PEER: Peer;
}

/// SPIFFS.
pub struct Spiffs;

impl Entrant for Spiffs {
    type On = OnChip;

    fn facts(&self) -> Facts {
        Facts {
            id: "spiffs".into(),
            name: "SPIFFS".into(),
            version: format!("0.4 ({})", env!("PEER_SPIFFS")),
            source: "https://github.com/pellepl/spiffs".into(),
            licence: "MIT".into(),
            configuration: "blocks of 8 KiB and pages of 256 B; on blocks of 64 KiB these, and pages of 512 B; 8 cache pages, 10 descriptors with the temporal cache, magic numbers, no blind writes".into(),
            because: "its wiki, Configure and Integrate: pages of 256 B, a block of at least 8 to 16 pages, a power-of-two number of erase sectors; larger pages on large chips, whose pages must fit into 16 bits".into(),
            contract: "its README: consistency check after a loss of power; truncating and writing, and renaming over a file, are not atomic".into(),
            timing: "none".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<OnChip, String> {
        if chip.plain().unit_bytes > 1 {
            return Err("it is for NOR: it clears bits of what it has programmed".to_string());
        }
        Ok(OnChip::new("SPIFFS", &PEER, chip))
    }
}
