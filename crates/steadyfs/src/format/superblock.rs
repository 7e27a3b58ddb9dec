//! The superblock: shape and settings of the volume, and the blocks of its roots. `format` writes
//! it as the first page of two blocks. [`Superblocks`](crate::Superblocks) describes what happens
//! if a superblock is damaged.
//!
//! ```text
//! 0            8         10         22         40           44     52      53     54        55
//! | "SteadyFS" | version | geometry | settings | other copy | ring | group | logs | journal |
//! ```
//!
//! `ring` is a set of blocks: each bit that is set is a block of the ring, and the lowest bit is
//! block 1. Three fields are blank if their setting has its usual value:
//! - `group`, if reclamation moves pages one by one;
//! - `logs`, if the logs of leaves have 96 bytes;
//! - `journal`, the number of pages of a journal record, if records have 512 bytes or a page.

use super::VERSION;
use crate::config::{Config, LEAF_LOG_BYTES, usual_journal_pages};
use crate::error::MountError;
use crate::fields::Fields;
use crate::media::Geometry;

const MAGIC: &[u8; 8] = b"SteadyFS";
/// Flag: the medium programs bytes.
const PROGRAMS_BYTES: u8 = 1;
/// Flag: inodes have room for permissions.
const PERMISSIONS: u8 = 2;
/// Flag: reclamation moves pages to blocks of their stream.
const MOVED_APART: u8 = 4;
/// Shift of the two bits that hold the number of streams beyond one.
const STREAMS_SHIFT: u32 = 3;
/// Flag: the lifetimes of pages choose the streams.
const AUTO_STREAMS: u8 = 32;

/// A parsed superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub geometry: Geometry,
    pub config: Config,
    /// Block of the second copy.
    pub copy: u32,
    /// Blocks of the ring: bit 0 is block 1.
    pub ring: u64,
}

/// Bytes of a superblock.
pub(crate) const BYTES: usize = 8 + 2 + 12 + 18 + 4 + 8 + 1 + 1 + 1;
/// Value of a byte whose setting has its usual value. Earlier releases left the byte blank.
const USUAL: u8 = 0xFF;

impl Superblock {
    /// Parses a superblock. The caller has checked the page's checksum; the contents are still
    /// not trusted.
    pub fn parse(bytes: &[u8]) -> Result<Self, MountError> {
        if bytes.len() < BYTES || &bytes[..8] != MAGIC {
            return Err(MountError::NotFormatted);
        }
        let mut fields = Fields::new(&bytes[8..BYTES]);
        let version = fields.get16();
        // The fields behind the version depend on it.
        if version != VERSION {
            return Err(MountError::Version { on_flash: version });
        }
        let (page_bytes, pages_per_block, block_count) =
            (fields.get32(), fields.get32(), fields.get32());
        let config = Config {
            pages_per_logical_page: fields.get16(),
            overlay_entries: fields.get16(),
            transaction_pages: fields.get16(),
            checkpoint_programs: fields.get16(),
            bad_blocks_max: fields.get16(),
            files_max: fields.get32(),
            wear_spread: fields.get(1) as u8,
            failures: fields.get(1) as u8,
            name_bytes_max: fields.get(1) as u8,
            permissions: false,
            streams: 1,
            moved_apart: false,
            auto_streams: false,
            move_group: 1,
            leaf_log_bytes: LEAF_LOG_BYTES,
            journal_pages: 1,
        };
        let flags = fields.get(1) as u8;
        let config = Config {
            permissions: flags & PERMISSIONS != 0,
            streams: 1 + (flags >> STREAMS_SHIFT & 3),
            moved_apart: flags & MOVED_APART != 0,
            auto_streams: flags & AUTO_STREAMS != 0,
            ..config
        };
        let geometry = Geometry {
            page_bytes,
            pages_per_block,
            block_count,
            programs_bytes: flags & PROGRAMS_BYTES != 0,
        };
        let (copy, ring) = (fields.get32(), fields.get(8));
        let mut or_usual = |usual| match fields.get(1) as u8 {
            USUAL => usual,
            chosen => chosen,
        };
        let (move_group, leaf_log_bytes) = (or_usual(1), or_usual(LEAF_LOG_BYTES));
        let journal_pages = or_usual(usual_journal_pages(page_bytes));
        let config = Config { move_group, leaf_log_bytes, journal_pages, ..config };
        // Later code trusts the blocks, so each of them must be on the medium.
        let last = 64 - ring.leading_zeros();
        if copy == 0 || copy >= geometry.block_count || last >= geometry.block_count {
            return Err(MountError::NotFormatted);
        }
        Ok(Self { geometry, config, copy, ring })
    }

    /// Writes a superblock; the rest of `bytes` becomes `0xFF`.
    pub fn emit(&self, bytes: &mut [u8]) {
        bytes.fill(0xFF);
        bytes[..8].copy_from_slice(MAGIC);
        let mut fields = Fields::new(&mut bytes[8..]);
        fields.put(2, VERSION.into());
        for number in
            [self.geometry.page_bytes, self.geometry.pages_per_block, self.geometry.block_count]
        {
            fields.put(4, number.into());
        }
        let config = &self.config;
        for number in [
            config.pages_per_logical_page,
            config.overlay_entries,
            config.transaction_pages,
            config.checkpoint_programs,
            config.bad_blocks_max,
        ] {
            fields.put(2, number.into());
        }
        fields.put(4, config.files_max.into());
        fields.put(1, config.wear_spread.into());
        fields.put(1, config.failures.into());
        fields.put(1, config.name_bytes_max.into());
        let flags = [
            (self.geometry.programs_bytes, PROGRAMS_BYTES),
            (config.permissions, PERMISSIONS),
            (config.moved_apart, MOVED_APART),
            (config.auto_streams, AUTO_STREAMS),
        ];
        let set =
            flags.into_iter().filter(|&(is_set, _)| is_set).fold(0, |set, (_, flag)| set | flag);
        fields.put(1, u64::from(set | (config.streams - 1) << STREAMS_SHIFT));
        fields.put(4, self.copy.into());
        fields.put(8, self.ring);
        for (chosen, usual) in [
            (config.move_group, 1),
            (config.leaf_log_bytes, LEAF_LOG_BYTES),
            (config.journal_pages, usual_journal_pages(self.geometry.page_bytes)),
        ] {
            fields.put(1, if chosen == usual { USUAL } else { chosen }.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emit_then_parse_returns_the_superblock() {
        let geometry = Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 1024,
            programs_bytes: false,
        };
        let config = Config {
            permissions: true,
            streams: 3,
            moved_apart: true,
            auto_streams: true,
            ..Config::for_geometry(&geometry)
        };
        let superblock = Superblock { geometry, config, copy: 1, ring: 0x7FE };
        let mut bytes = [0; 256];
        superblock.emit(&mut bytes);
        assert_eq!(Superblock::parse(&bytes), Ok(superblock));
    }

    #[test]
    fn what_is_as_usual_leaves_its_byte_blank() {
        let geometry = Geometry {
            page_bytes: 4096,
            pages_per_block: 256,
            block_count: 128,
            programs_bytes: false,
        };
        let alone = Config { wear_spread: 0, ..Config::for_geometry(&geometry) };
        for (move_group, leaf_log_bytes, journal_pages, at_the_end) in
            [(1, 96, 1, [0xFF, 0xFF, 0xFF]), (16, 168, 4, [16, 168, 4])]
        {
            let config = Config { move_group, leaf_log_bytes, journal_pages, ..alone };
            let superblock = Superblock { geometry, config, copy: 1, ring: 0x7E };
            let mut bytes = [0; 256];
            superblock.emit(&mut bytes);
            assert_eq!(bytes[BYTES - 3..BYTES], at_the_end);
            assert_eq!(Superblock::parse(&bytes), Ok(superblock));
        }
    }

    #[test]
    fn other_bytes_are_not_a_superblock() {
        assert_eq!(Superblock::parse(&[0xFF; 256]), Err(MountError::NotFormatted));
        assert_eq!(Superblock::parse(b"SteadyFS"), Err(MountError::NotFormatted));
    }
}
