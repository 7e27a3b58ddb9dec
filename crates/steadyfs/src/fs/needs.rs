//! The RAM that a volume with given settings needs, and its capacity.

use super::open_table::OPEN_FILE_BYTES;
use super::volume::capacity_empty;
use crate::commit::CACHE_ENTRY_BYTES;
use crate::config::{Config, Layout};
use crate::media::Geometry;
use crate::pages::{READ_CACHE_CONTROL_BYTES, READ_CACHE_HEAD_BYTES};

/// Number of files that may be open at once with a buffer of [`Config::memory_bytes`].
pub(super) const OPEN_FILES: usize = 8;

impl Config {
    /// Returns the number of bytes of RAM that a volume needs for its tables and buffers.
    ///
    /// It is a `const fn`, so the buffer can be a `static` array. With a buffer of this size, eight
    /// files can be open at once. Each further file takes twelve bytes more. A disk needs no bytes
    /// for open files.
    ///
    /// The result is 0 if the settings do not fit the medium. A format refuses such settings. In a
    /// constant, [`must_fit`](Self::must_fit) turns such settings into an error of the compiler.
    pub const fn memory_bytes(&self, geometry: &Geometry) -> usize {
        match Layout::derive(geometry, self) {
            Ok(layout) if self.is_disk() => layout.memory_bytes(),
            Ok(layout) => layout.memory_bytes() + OPEN_FILES * OPEN_FILE_BYTES,
            Err(_) => 0,
        }
    }

    /// Returns the number of bytes of data that an empty volume can store on a medium without bad
    /// blocks. It is 0 if the settings do not [fit](Self::check) the medium.
    pub fn usable_bytes(&self, geometry: &Geometry) -> u64 {
        let Ok(layout) = Layout::derive(geometry, self) else { return 0 };
        let pages = if self.is_disk() { layout.usable } else { capacity_empty(&layout) };
        u64::from(pages) * u64::from(layout.logical_bytes)
    }

    /// Returns the number of bytes of RAM for a cache of `pages` logical pages.
    /// [Lend](crate::FileSystem::lend_cache) such a buffer after the mount.
    pub const fn cache_bytes(&self, geometry: &Geometry, pages: usize) -> usize {
        pages
            * (self.pages_per_logical_page as usize * geometry.page_bytes as usize
                + CACHE_ENTRY_BYTES)
    }

    /// Returns the number of bytes of RAM for a read cache of `pages` program pages.
    /// [Lend](crate::FileSystem::lend_read_cache) such a buffer after the mount.
    pub const fn read_cache_bytes(&self, geometry: &Geometry, pages: usize) -> usize {
        READ_CACHE_CONTROL_BYTES + pages * (geometry.page_bytes as usize + READ_CACHE_HEAD_BYTES)
    }
}
