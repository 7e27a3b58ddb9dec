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
use steadyfs_compare::boards::Settings;

/// Returns the contenders whose sources existed at the build.
pub fn all() -> Vec<Box<dyn AnyEntrant>> {
    vec![
        #[cfg(littlefs)]
        Box::new(littlefs::Littlefs::default()),
        #[cfg(littlefs)]
        Box::new(littlefs::LittlefsInSectors),
        #[cfg(spiffs)]
        Box::new(spiffs::Spiffs::default()),
        #[cfg(fatfs_dhara)]
        Box::new(fatfs_dhara::FatfsOnDhara),
    ]
}

/// Returns a contender with settings, if its sources existed at the build.
pub fn tuned(system: &str, settings: &Settings) -> Option<Box<dyn AnyEntrant>> {
    match (system, settings) {
        #[cfg(littlefs)]
        ("littlefs", settings) => Some(Box::new(littlefs::Littlefs(raw(settings)))),
        #[cfg(spiffs)]
        ("spiffs", settings) => Some(Box::new(spiffs::Spiffs(raw(settings)))),
        #[cfg(fatfs_dhara)]
        ("fatfs-on-dhara", _) => Some(Box::new(fatfs_dhara::FatfsOnDhara)),
        _ => None,
    }
}

/// Converts settings for an adapter in C.
#[cfg(any(littlefs, spiffs))]
fn raw(settings: &Settings) -> header::RawSettings {
    header::RawSettings {
        block_bytes: settings.block,
        read_bytes: settings.read,
        program_bytes: settings.program,
        cache_bytes: settings.cache,
        lookahead_bytes: settings.lookahead,
        block_cycles: settings.cycles,
        metadata_bytes: settings.metadata,
        page_bytes: settings.page,
        cache_pages: settings.cache_pages,
        descriptors: settings.descriptors,
        forgets: settings.forgets.into(),
    }
}
