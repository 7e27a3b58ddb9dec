//! SteadyFS, with the settings that it chooses itself for a chip, and no cache.

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
            contract: "what a durable write, a sync, a remove or a rename acknowledged is there; what was under way is wholly as before or wholly as after".into(),
            timing: "a bound for every call, told before it".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<Steady<Chip>, String> {
        Ok(Steady::new(chip))
    }
}
