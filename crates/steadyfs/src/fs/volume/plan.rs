//! The positions of the parts of the logical address space.
//!
//! ```text
//! | root page | allocation map: inodes, then data pages | file table | data pages … |
//! ```

use crate::config::{Layout, SPARE_INODES};
use crate::error::Error;
use crate::features::PERMISSIONS;
use crate::fs::inode::{NAME_ROOM, PERMISSIONS_BYTES, REGIONS};

/// The first page of the allocation map, behind the root page.
pub const MAP: u32 = 1;
/// Number of pages that are reserved for a full volume. They allow a truncation of a file, and a
/// repair that gives names to the inodes that it finds.
pub const SPARE_PAGES: u32 = 4;

/// The first logical page of each part, and the numbers that describe indexes and regions.
#[derive(Clone, Copy, Debug)]
pub struct VolumePlan {
    pub table: u32,
    pub data: u32,
    pub data_count: u32,
    pub inode_count: u32,
    /// Number of entries of an index page.
    pub index_entries: u32,
    /// Number of bytes of an entry of an index page.
    index_bytes: u8,
    /// True if an index has two levels: its entries name pages of entries. False if an index is one
    /// page of entries.
    pub index_is_deep: bool,
    /// Number of file pages that a region maps.
    pub region_pages: u32,
    /// True if inodes have room for permissions.
    pub has_permissions: bool,
}

impl VolumePlan {
    pub fn new(layout: &Layout) -> Self {
        let (page, inode_count) = (layout.logical_bytes, layout.config.files_max + SPARE_INODES);
        let data_count = Layout::data_pages(layout.frame_count(), &layout.config);
        let map_pages = (data_count + inode_count + 7).div_ceil(page * 8);
        let table = MAP + map_pages;
        // In a lost entry all bits are ones, so no page has this number.
        let index_bytes = if data_count < 0xFFFF { 2 } else { 4 };
        let index_entries = page / index_bytes;
        // One level suffices if the indexes of all regions together can map every data page.
        let index_is_deep = index_entries * REGIONS < data_count;
        let deep_pages = index_entries * index_entries.min(0xFFFF / index_entries);
        Self {
            table,
            data: table + inode_count.div_ceil(layout.inodes_per_page()),
            data_count,
            inode_count,
            index_bytes: index_bytes as u8,
            index_entries,
            index_is_deep,
            region_pages: if index_is_deep { deep_pages } else { index_entries },
            has_permissions: PERMISSIONS && layout.config.permissions,
        }
    }

    /// Returns the number of logical pages that may hold file data, out of `usable` logical pages,
    /// if the file table has `table_pages` pages.
    pub fn capacity(&self, usable: u32, table_pages: u32) -> u32 {
        usable.saturating_sub(self.table + table_pages + 1 + SPARE_PAGES).min(self.data_count)
    }

    /// Returns the maximum number of files and directories.
    pub fn files_max(&self) -> u32 {
        self.inode_count - SPARE_INODES
    }

    /// Returns the bit of the first data page in the allocation map. The bits of the inodes before
    /// it fill whole bytes.
    pub fn data_bit(&self) -> u32 {
        self.inode_count.next_multiple_of(8)
    }

    /// Returns the number of bytes of an entry of an index page.
    pub fn index_bytes(&self) -> u32 {
        self.index_bytes.into()
    }

    /// Returns the page that an index entry with the value `number` names, or `None` if the entry
    /// is a hole or was lost.
    pub fn named_by(&self, number: u32) -> Option<Result<u32, Error>> {
        let lost = u32::MAX >> (32 - 8 * self.index_bytes());
        let page = number.checked_sub(1).filter(|_| number != lost)?;
        Some(if page < self.data_count { Ok(self.data + page) } else { Err(Error::Corrupt) })
    }

    /// Returns the maximum number of bytes of a name in the inode itself.
    pub fn name_inline(&self) -> usize {
        if self.has_permissions { NAME_ROOM - PERMISSIONS_BYTES } else { NAME_ROOM }
    }
}

/// Returns the number of logical pages that may hold file data on a volume without files.
pub fn capacity_empty(layout: &Layout) -> u32 {
    VolumePlan::new(layout).capacity(layout.usable, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::media::Geometry;

    /// An index page of 128 KiB has 65,536 entries; the square of this number does not fit in 32
    /// bits. So a build with overflow checks panicked for settings that `check` accepts.
    #[test]
    fn every_size_of_a_logical_page_has_a_plan() {
        let mut largest = 0;
        for (page_shift, unit_shift, block_count) in (8..15)
            .flat_map(|page| (0..6).map(move |unit| (page, unit, 64)).chain([(page, 5, 1152)]))
        {
            let (page_bytes, unit) = (1 << page_shift, 1 << unit_shift);
            let geometry = Geometry {
                page_bytes,
                pages_per_block: 8 * unit,
                block_count,
                programs_bytes: false,
            };
            let config =
                Config { pages_per_logical_page: unit as u16, ..Config::for_geometry(&geometry) };
            let Ok(layout) = Layout::derive(&geometry, &config) else { continue };
            let plan = VolumePlan::new(&layout);
            assert!(plan.region_pages >= plan.index_entries, "{geometry:?}, {unit}: {plan:?}");
            largest = largest.max(layout.logical_bytes);
        }
        assert_eq!(largest, 0x2_0000);
    }
}
