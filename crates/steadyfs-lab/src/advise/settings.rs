//! The combinations that are tried.

use crate::bench::{BenchError, Medium, Part};
use crate::evaluate::Timing;
use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_sim::{Chip, Profile};

/// Largest logical page that is tried.
const LOGICAL_BYTES_MAX: u32 = 16 << 10;
/// Overlays that are tried, as shares of the usual one.
const OVERLAYS: [(u32, u32); 4] = [(1, 2), (1, 1), (2, 1), (4, 1)];
/// Logical pages of a cache.
const CACHES: [u32; 3] = [0, 1, 2];

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Bytes of an erase block, as the file system sees it: one erase of the chip, or several together.
    pub block_bytes: u32,
    /// Program pages of a logical page.
    pub unit_pages: u16,
    /// Changes of the map in RAM.
    pub overlay_entries: u16,
    /// Logical pages of a cache.
    pub cache_pages: u32,
}

impl Setting {
    /// Names of the settings.
    pub const NAMES: [&'static str; 4] = ["erase block", "logical page", "overlay", "cache"];

    /// The settings as numbers, in the order of their names.
    pub fn values(&self) -> [u32; 4] {
        [self.block_bytes, self.unit_pages.into(), self.overlay_entries.into(), self.cache_pages]
    }

    /// The settings of a volume.
    pub fn config(&self, geometry: &Geometry) -> Config {
        Config { unit_pages: self.unit_pages, overlay_entries: self.overlay_entries, ..Config::for_geometry(geometry) }
    }
}

/// The chip with blocks of a size.
pub(super) struct Shape {
    pub medium: Medium,
    pub geometry: Geometry,
    pub block_bytes: u32,
}

/// The chip with each size of erase blocks that leaves enough of them.
pub(super) fn shapes(profile: &Profile, size_bytes: Option<u64>, timing: Timing) -> Result<Vec<Shape>, BenchError> {
    let Chip::Nor(nor) = &profile.chip else {
        let medium = Medium::of(profile, &Part { size_bytes, timing, ..Part::default() })?;
        let Medium::Nand { geometry, .. } = medium else { return Ok(Vec::new()) };
        return Ok(vec![Shape { medium, geometry, block_bytes: medium.block_bytes() }]);
    };
    let mut shapes: Vec<Shape> = Vec::new();
    for erase in &nor.erases {
        let medium = Medium::of(profile, &Part { size_bytes, timing, erase_block_bytes: Some(erase.bytes) })?;
        let Medium::Nor { block_bytes, block_count, .. } = medium else { continue };
        let geometry = Geometry::of_nor(block_bytes, block_count);
        let fits = Config::for_geometry(&geometry).check(&geometry).is_ok();
        if fits && shapes.iter().all(|shape| shape.block_bytes != block_bytes) {
            shapes.push(Shape { medium, geometry, block_bytes });
        }
    }
    Ok(shapes)
}

/// Every combination on a shape that the core takes.
pub(super) fn settings(shape: &Shape) -> Vec<Setting> {
    let (geometry, mut found) = (&shape.geometry, Vec::new());
    for unit_pages in (0..6).map(|power| 1u16 << power) {
        if u32::from(unit_pages) * geometry.page_bytes > LOGICAL_BYTES_MAX {
            continue;
        }
        // What is usual for another logical page is not for this one: the overlay is as large as frames are many.
        let usual = Config { unit_pages, ..Config::for_geometry(geometry) };
        let frames = geometry.pages_per_block / u32::from(unit_pages) * geometry.block_count;
        let least = u32::from(usual.transaction_pages) + 40;
        let base = u32::from(usual.overlay_entries).min((frames / 26).max(least));
        let mut overlays: Vec<u16> = OVERLAYS.iter().map(|&(times, of)| (base * times / of).clamp(least, 8192) as u16).collect();
        overlays.dedup();
        for overlay_entries in overlays {
            for cache_pages in CACHES {
                let setting = Setting { block_bytes: shape.block_bytes, unit_pages, overlay_entries, cache_pages };
                if setting.config(geometry).check(geometry).is_ok() {
                    found.push(setting);
                }
            }
        }
    }
    found
}
