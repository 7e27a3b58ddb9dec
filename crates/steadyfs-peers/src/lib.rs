//! Contenders in C for `steadyfs-compare`, built from local checkouts that `STEADY_PEERS` names.
//!
//! Each contender has one file in `shims`, with its settings, and one in `src`, with its facts. Its
//! own sources are not part of this repository. `docs/results/contenders.md` lists their origin and
//! the commits that were measured.

#[cfg(fatfs_dhara)]
mod fatfs_dhara;
#[cfg(any(littlefs, spiffs, fatfs_dhara))]
mod header;
#[cfg(littlefs)]
mod littlefs;
#[cfg(any(littlefs, spiffs, fatfs_dhara))]
mod peer;
#[cfg(spiffs)]
mod spiffs;

use steadyfs_compare::AnyEntrant;

/// Returns the contenders whose sources existed at the build.
pub fn all() -> Vec<Box<dyn AnyEntrant>> {
    vec![
        #[cfg(littlefs)]
        Box::new(littlefs::Littlefs),
        #[cfg(spiffs)]
        Box::new(spiffs::Spiffs),
        #[cfg(fatfs_dhara)]
        Box::new(fatfs_dhara::FatfsOnDhara),
    ]
}
