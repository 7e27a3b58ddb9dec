//! SteadyFS, with the settings that it chooses itself for a chip, and no cache. One contender has
//! the default format, the other a format that erases the chip.

use crate::chip::Chip;
use crate::entrant::{Entrant, Facts};
use steadyfs_lab::bench::Steady;

/// SteadyFS.
pub struct SteadyFs;

impl Entrant for SteadyFs {
    type On = Steady<Chip>;

    fn facts(&self) -> Facts {
        Facts {
            id: "steadyfs".into(),
            name: "SteadyFS".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            source: "this repository".into(),
            licence: "MIT or Apache-2.0".into(),
            configuration: "Config::for_geometry of the chip, no cache".into(),
            because: "the settings of getting-started.md".into(),
            contract: "every acknowledged durable write, sync, remove and rename is kept; an \
                interrupted call leaves the old or the new state, nothing between"
                .into(),
            timing: "a bound for every call, computed before it".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<Steady<Chip>, String> {
        Ok(Steady::new(chip))
    }
}

/// SteadyFS on a chip that its format has erased, as the format of SPIFFS does.
pub struct SteadyFsErased;

impl Entrant for SteadyFsErased {
    type On = Steady<Chip>;

    fn facts(&self) -> Facts {
        Facts {
            id: "steadyfs-erased".into(),
            name: "SteadyFS, erased".into(),
            configuration: "the same, format_erased".into(),
            because: "a product can format in the factory or before its first use; no call erases \
                a block for data until all blocks were used"
                .into(),
            ..Entrant::facts(&SteadyFs)
        }
    }

    fn on(&self, chip: Chip) -> Result<Steady<Chip>, String> {
        Ok(Steady::new(chip).with_erasing_format(true))
    }
}
