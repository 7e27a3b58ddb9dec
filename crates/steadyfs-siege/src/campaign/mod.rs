//! The campaigns. Each makes one volume from a seed, uses it, and logs all violations of the
//! rules.

pub mod bits;
pub mod chains;
pub mod ends;
pub mod groups;
pub mod lives;
pub mod lost;
pub mod newest;
pub mod ranges;
pub mod repair;
pub mod transient;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::log::Log;
use crate::world::World;

/// A campaign: its name, and its function for one seed.
#[derive(Clone, Copy)]
pub struct Campaign {
    /// Name on the command line.
    pub name: &'static str,
    /// Volumes of a full run.
    pub volumes: u32,
    run: fn(u64, &mut Log),
}

/// All campaigns.
pub const ALL: [Campaign; 13] = [
    Campaign { name: "transient", volumes: 8_000, run: transient::volume },
    Campaign { name: "lost", volumes: 300, run: lost::volume },
    Campaign { name: "bits", volumes: 500, run: bits::volume },
    Campaign { name: "chains", volumes: 6_000, run: chains::volume },
    Campaign { name: "lives", volumes: 2_000, run: lives::volume },
    Campaign { name: "newest", volumes: 500, run: newest::volume },
    Campaign { name: "ends", volumes: 1_000, run: ends::volume },
    Campaign { name: "groups", volumes: 2_000, run: groups::volume },
    Campaign { name: "ranges", volumes: 3_000, run: ranges::volume },
    Campaign { name: "repair", volumes: 2_000, run: repair::volume },
    Campaign { name: "repair-cuts", volumes: 60, run: repair::volume_with_cuts },
    Campaign { name: "repair-faults", volumes: 60, run: repair::volume_with_faults },
    Campaign { name: "repair-reads", volumes: 100, run: repair::volume_with_reads },
];

impl Campaign {
    /// Finds a campaign by its name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|campaign| campaign.name == name)
    }

    /// Runs the life of one volume. A panic of the volume is a finding. So is a panic of the
    /// medium, which reports illegal use.
    pub fn run(&self, seed: u64, index: u32, world: World) -> Log {
        let mut log = Log { world, ..Log::default() };
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (u64::from(index) << 20)
            ^ self.name.len() as u64;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.run)(seed, &mut log))) {
            let text = panic.downcast_ref::<String>().cloned();
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
            let text = text.unwrap_or_default();
            log.find(
                if text.starts_with("illegal use") { "illegal use of the medium" } else { "panic" },
                text,
            );
        }
        log
    }
}
