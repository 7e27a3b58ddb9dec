//! Contenders in C for `steadyfs-compare`, built from local checkouts that `STEADY_PEERS` names.
//!
//! Of each there is one file in `shims`, with its settings, and one in `src`, with what it is. Their own sources are no part of this
//! repository: `docs/contenders.md` says where they come from and which commits were measured.

#[cfg(fatfs_dhara)]
mod fatfs_dhara;
#[cfg(littlefs)]
mod littlefs;
#[cfg(any(littlefs, spiffs, fatfs_dhara))]
mod peer;
#[cfg(spiffs)]
mod spiffs;

use steadyfs_compare::AnyEntrant;

/// Those whose sources were there when this was built.
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
