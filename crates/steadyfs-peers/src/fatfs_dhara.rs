//! FatFs on Dhara.

use crate::header::Peer;
use crate::peer::OnChip;
use steadyfs_compare::{Chip, Entrant, Facts};
use steadyfs_lab::bench::BenchChip;

unsafe extern "C" {
    #[link_name = "peer_fatfs_dhara"]
    safe static PEER: Peer;
}

/// FatFs on Dhara.
pub struct FatfsOnDhara;

impl Entrant for FatfsOnDhara {
    type On = OnChip;

    fn facts(&self) -> Facts {
        Facts {
            id: "fatfs-on-dhara".into(),
            name: "FatFs on Dhara".into(),
            version: format!(
                "FatFs R0.16 ({}), Dhara ({})",
                env!("PEER_FATFS"),
                env!("PEER_DHARA")
            ),
            source: "https://github.com/abbrev/fatfs, https://github.com/dlbeer/dhara".into(),
            licence: "BSD-1-Clause style, ISC".into(),
            configuration:
                "sectors of a page, clusters of 4 KiB, long names, all files in one directory, \
                 fast seek with a map of 64 fragments, trim; Dhara with R = 4; copies within the \
                 chip"
                    .into(),
            because: "FatFs's settings with what a user has to choose; fast seek and trim as its \
                      application note recommends for large files and for flash; R = 4 is what \
                      Dhara's tests use"
                .into(),
            contract:
                "Dhara: the map is as at its last sync; FatFs: nothing of a cut in the middle of a \
                 call; a rename over a file is a removal before it"
                    .into(),
            timing: "none".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<OnChip, String> {
        let plain = chip.plain();
        if plain.unit_bytes == 1 {
            return Err("Dhara is for NAND".to_string());
        }
        Ok(OnChip::new("FatFs on Dhara", &PEER, chip))
    }
}
