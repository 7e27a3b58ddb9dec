//! The combinations to try.

use crate::bench::{BenchError, Medium, Part};
use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_sim::{Chip, Profile};

/// Bytes of the largest logical page to try.
const LOGICAL_BYTES_MAX: u32 = 16 << 10;
/// Overlays to try, as shares of the usual one.
const OVERLAYS: [(u32, u32); 4] = [(1, 2), (1, 1), (2, 1), (4, 1)];
/// Cache sizes to try, in logical pages.
const CACHES: [u32; 3] = [0, 1, 2];

/// A combination of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Bytes of an erase block in the file system. It is one erase block of the chip, or several
    /// together.
    pub block_bytes: u32,
    /// Number of program pages in a logical page.
    pub pages_per_logical_page: u16,
    /// Changes of the map that the overlay holds in RAM.
    pub overlay_entries: u16,
    /// Logical pages of a cache.
    pub cache_pages: u32,
}

impl Setting {
    /// Names of the settings.
    pub const NAMES: [&'static str; 4] = ["erase block", "logical page", "overlay", "cache"];

    /// Returns the settings as numbers, in the order of their names.
    pub fn values(&self) -> [u32; 4] {
        [
            self.block_bytes,
            self.pages_per_logical_page.into(),
            self.overlay_entries.into(),
            self.cache_pages,
        ]
    }

    /// Returns the configuration of a volume with these settings.
    pub fn config(&self, geometry: &Geometry) -> Config {
        Config {
            pages_per_logical_page: self.pages_per_logical_page,
            overlay_entries: self.overlay_entries,
            ..Config::for_geometry(geometry)
        }
    }
}

/// A chip with erase blocks of one size.
pub(super) struct Shape {
    pub medium: Medium,
    pub geometry: Geometry,
    pub block_bytes: u32,
}

/// Returns the chip with each erase block size that leaves enough blocks for the core.
pub(super) fn shapes(profile: &Profile, part: &Part) -> Result<Vec<Shape>, BenchError> {
    let Chip::Nor(nor) = &profile.chip else {
        let medium = Medium::of(profile, part)?;
        let Medium::Nand { geometry, .. } = medium else { return Ok(Vec::new()) };
        return Ok(vec![Shape { medium, geometry, block_bytes: medium.block_bytes() }]);
    };
    let mut shapes: Vec<Shape> = Vec::new();
    for erase in &nor.erases {
        let medium = Medium::of(profile, &Part { erase_block_bytes: Some(erase.bytes), ..*part })?;
        let Medium::Nor { block_bytes, block_count, .. } = medium else { continue };
        let geometry = Geometry::of_nor(block_bytes, block_count);
        let fits = Config::for_geometry(&geometry).check(&geometry).is_ok();
        if fits && shapes.iter().all(|shape| shape.block_bytes != block_bytes) {
            shapes.push(Shape { medium, geometry, block_bytes });
        }
    }
    Ok(shapes)
}

/// Returns every combination on a shape that the core accepts.
pub(super) fn settings(shape: &Shape) -> Vec<Setting> {
    let (geometry, mut found) = (&shape.geometry, Vec::new());
    for pages_per_logical_page in (0..6).map(|power| 1u16 << power) {
        if u32::from(pages_per_logical_page) * geometry.page_bytes > LOGICAL_BYTES_MAX {
            continue;
        }
        // The usual overlay belongs to the usual logical page. The size of the overlay follows
        // the number of frames, which depends on the logical page.
        let usual = Config { pages_per_logical_page, ..Config::for_geometry(geometry) };
        let frames =
            geometry.pages_per_block / u32::from(pages_per_logical_page) * geometry.block_count;
        let least = u32::from(usual.transaction_pages) + 40;
        let base = u32::from(usual.overlay_entries).min((frames / 26).max(least));
        let mut overlays: Vec<u16> = OVERLAYS
            .iter()
            .map(|&(times, of)| (base * times / of).clamp(least, 8192) as u16)
            .collect();
        overlays.dedup();
        for overlay_entries in overlays {
            for cache_pages in CACHES {
                let setting = Setting {
                    block_bytes: shape.block_bytes,
                    pages_per_logical_page,
                    overlay_entries,
                    cache_pages,
                };
                if setting.config(geometry).check(geometry).is_ok() {
                    found.push(setting);
                }
            }
        }
    }
    found
}
