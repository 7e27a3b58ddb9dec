//! littlefs.

use crate::header::{Peer, RawSettings};
use crate::peer::OnChip;
use steadyfs_compare::{Chip, Entrant, Facts};

unsafe extern "C" {
    #[link_name = "peer_littlefs"]
    safe static PEER: Peer;
}

/// littlefs in the smallest sectors of a chip, as its documentation advises for NOR.
pub struct LittlefsInSectors;

impl Entrant for LittlefsInSectors {
    type On = OnChip;

    fn facts(&self) -> Facts {
        let littlefs = Littlefs::default().facts();
        Facts {
            id: "littlefs-sectors".into(),
            name: "littlefs, small sectors".into(),
            configuration: "as littlefs, in blocks of the chip's smallest sectors".into(),
            because:
                "its lfs.h: metadata is slow to compact in large blocks, and each file that is \
                      not inlined takes a block at least"
                    .into(),
            ..littlefs
        }
    }

    fn on(&self, chip: Chip) -> Result<OnChip, String> {
        Littlefs::default().on(chip)
    }

    fn takes_sectors(&self) -> bool {
        true
    }
}

/// littlefs, with settings.
#[derive(Default)]
pub struct Littlefs(pub RawSettings);

impl Entrant for Littlefs {
    type On = OnChip;

    fn facts(&self) -> Facts {
        Facts {
            id: "littlefs".into(),
            name: "littlefs".into(),
            version: format!("2.11 ({})", env!("PEER_LITTLEFS")),
            source: "https://github.com/littlefs-project/littlefs".into(),
            licence: "BSD-3-Clause".into(),
            configuration:
                "read and program size 16 B, caches 256 B, lookahead 32 B, block_cycles 500; on \
                 NAND the first three a page; on blocks above 8 KiB metadata_max 8 KiB"
                    .into(),
            because:
                "its lfs.h: block_cycles 100 to 1000, caches as multiples of the program size; \
                 metadata_max for large blocks, whose metadata is slow to compact"
                    .into(),
            contract:
                "its README: all operations of the file system are power-loss resilient; a file is \
                 as at its last sync"
                    .into(),
            timing: "none".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<OnChip, String> {
        Ok(OnChip::with_settings("littlefs", &PEER, chip, &self.0))
    }
}
