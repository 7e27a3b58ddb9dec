//! The tortured volume: a chip of some shape, and the settings of the volume on it.

use super::BadInput;
use crate::model::Device;
use crate::model::medium::Medium;
use std::fmt;
use std::str::FromStr;
use steadyfs::Config;
use steadyfs::disk::SECTOR_BYTES;
use steadyfs::media::nor::page_bytes_for;
use steadyfs::media::sectors::{SectorLayout, TAG_ROOM_BYTES, TagPlace};
use steadyfs::media::{Flash, Geometry};
use steadyfs_sim::Profile;
use steadyfs_sim::profile::Chip as Kind;

/// A chip and the settings of the volume on it. Its text, such as `n256x16x32u1t6o46k16`, is part
/// of every replay string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Kind of the chip, which decides its rules.
    pub chip: Chip,
    /// Bytes of a program page.
    pub page_bytes: u32,
    /// Number of program pages in a block. On NOR: bytes of a block divided by `page_bytes`.
    pub pages_per_block: u32,
    /// Blocks of the chip.
    pub block_count: u32,
    /// Number of program pages in a logical page.
    pub pages_per_logical_page: u16,
    /// See [`Config::transaction_pages`].
    pub transaction_pages: u16,
    /// See [`Config::overlay_entries`].
    pub overlay_entries: u16,
    /// See [`Config::checkpoint_programs`].
    pub checkpoint_programs: u16,
    /// Logical pages of lent write-back memory.
    pub cache_pages: u16,
    /// See [`Config::streams`].
    pub streams: u8,
    /// See [`Config::moved_apart`].
    pub moved_apart: bool,
    /// See [`Config::auto_streams`].
    pub auto_streams: bool,
    /// See [`Config::move_group`]; a device that moves groups levels wear itself.
    pub move_group: u8,
    /// See [`Config::leaf_log_bytes`].
    pub leaf_log_bytes: u8,
    /// See [`Config::journal_pages`].
    pub journal_pages: u8,
}

/// Kinds of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// NAND without on-chip copy.
    Nand,
    /// NAND that copies pages by itself.
    NandCopy,
    /// NOR.
    Nor,
    /// NOR with four erase sectors in a block.
    NorGroups,
    /// Managed flash, with the tag of a page before it.
    Sectors,
    /// Managed flash, with tags in a table.
    SectorsTable,
    /// Managed flash, with tags within their pages.
    SectorsWithin,
}

/// Volumes with a name. The small ones have the smallest tables that the rules allow, so that leaf
/// write-backs and roots come every few calls.
const NAMED: [(&str, &str); 19] = [
    ("small", "n256x16x32u1t6o46k16"),
    ("small-copy", "c256x32x32u2t6o46k16"),
    ("small-nor", "r256x16x32u1t6o46k16"),
    ("small-nor-groups", "q256x32x32u1t6o46k32e168"),
    ("small-nor-journal", "r512x32x40u4t6o46k16j4"),
    ("small-cached", "c256x16x32u1t6o46k16w4"),
    ("small-streams", "c256x16x80u1t6o46k16w2a2"),
    ("small-disk", "c1024x16x40u2t6o46k16s3l"),
    ("nand", "c512x16x64u1t16o64k32"),
    ("nand-double", "n512x32x48u2t16o64k60"),
    ("nor", "r512x8x64u1t16o64k32"),
    ("small-card", "b512x15x32u1t6o46k16g4"),
    ("small-emmc", "d512x16x40u2t6o46k16g6"),
    ("card", "b1024x30x48u1t16o64k64g8"),
    ("card-alone", "b1024x30x48u1t16o64k64"),
    ("small-within", "i512x16x40u2t6o46k16g4"),
    ("card-within", "i1024x30x48u1t16o64k64g8"),
    ("large-pages", "b4096x256x32u32t8o60k200"),
    ("large-pages-within", "i4096x256x32u32t8o60k200"),
];

/// Default bytes of the log of a leaf's page.
const LEAF_LOG_BYTES: u8 = 96;

/// Returns the default pages of the journal's buffer on NOR: 512 bytes, or a page.
const fn journal_pages_of(page_bytes: u32) -> u8 {
    if page_bytes < 512 { (512 / page_bytes) as u8 } else { 1 }
}

/// Erase sectors of a block of [`Chip::NorGroups`].
const GROUP_SECTORS: u32 = 4;

impl Volume {
    /// Names of the volumes that `steady torture` takes by default.
    pub const GROUNDS: [&str; 4] = ["small", "small-copy", "small-nor", "nand"];

    /// Returns the names that [`str::parse`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// Returns a chip with the recommended settings.
    ///
    /// # Errors
    /// The chip cannot hold a volume.
    pub fn recommended(chip: Chip, geometry: Geometry) -> Result<Self, BadInput> {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        let volume = Self {
            chip,
            page_bytes,
            pages_per_block,
            block_count,
            pages_per_logical_page: 1,
            transaction_pages: 0,
            overlay_entries: 0,
            checkpoint_programs: 0,
            cache_pages: 0,
            streams: 1,
            moved_apart: false,
            auto_streams: false,
            move_group: 1,
            leaf_log_bytes: LEAF_LOG_BYTES,
            journal_pages: journal_pages_of(page_bytes),
        };
        volume.check_chip()?;
        let config = Config::for_geometry(&volume.medium(0).geometry());
        let volume = Self {
            pages_per_logical_page: config.pages_per_logical_page,
            transaction_pages: config.transaction_pages,
            overlay_entries: config.overlay_entries,
            checkpoint_programs: config.checkpoint_programs,
            leaf_log_bytes: config.leaf_log_bytes,
            journal_pages: config.journal_pages,
            ..volume
        };
        volume.config().map(|_| volume)
    }

    /// Returns the first blocks of a device, with the recommended settings.
    ///
    /// # Errors
    /// This many blocks cannot hold a volume, or are more than the device has.
    pub fn of_device(profile: &Profile, block_count: u32) -> Result<Self, BadInput> {
        let (chip, geometry) = match &profile.chip {
            Kind::Nand(nand) => {
                (if nand.on_chip_copy { Chip::NandCopy } else { Chip::Nand }, nand.geometry())
            }
            Kind::Nor(nor) => {
                let (page_bytes, block_bytes) =
                    (page_bytes_for(nor.default_erase_bytes), nor.default_erase_bytes);
                let pages_per_block = block_bytes / page_bytes;
                (
                    Chip::Nor,
                    Geometry {
                        page_bytes,
                        pages_per_block,
                        block_count: nor.size_bytes / block_bytes,
                        programs_bytes: false,
                    },
                )
            }
        };
        if block_count > geometry.block_count {
            return Err(BadInput(format!(
                "{block_count} blocks: {} has {}",
                profile.name, geometry.block_count
            )));
        }
        Self::recommended(chip, Geometry { block_count, ..geometry })
    }

    /// Returns the settings of the volume.
    ///
    /// # Errors
    /// The rule that the settings break.
    pub fn config(&self) -> Result<Config, BadInput> {
        self.check_chip()?;
        let geometry = self.medium(0).geometry();
        let config = Config {
            pages_per_logical_page: self.pages_per_logical_page,
            transaction_pages: self.transaction_pages,
            overlay_entries: self.overlay_entries,
            checkpoint_programs: self.checkpoint_programs,
            wear_spread: if self.move_group > 1 { 0 } else { 8 },
            permissions: true,
            streams: self.streams,
            moved_apart: self.moved_apart,
            auto_streams: self.auto_streams,
            move_group: self.move_group,
            leaf_log_bytes: self.leaf_log_bytes,
            journal_pages: self.journal_pages,
            ..Config::for_geometry(&geometry)
        };
        config
            .check(&geometry)
            .map(|()| config)
            .map_err(|rule| BadInput(format!("geometry {self}: {rule}")))
    }

    /// Returns true if such a chip can hold a disk. Pages that contain their tags are no whole
    /// sectors.
    pub fn may_be_disk(&self) -> bool {
        self.chip != Chip::SectorsWithin
    }

    /// Returns the settings of a disk in place of the volume: without files, and with logical pages
    /// of at least a sector.
    ///
    /// # Errors
    /// The rule that the settings break.
    pub fn disk_config(&self) -> Result<Config, BadInput> {
        if !self.may_be_disk() {
            return Err(BadInput(format!(
                "a disk on geometry {self}: expected tags beside the pages, because a page with a \
                 tag in it is no sector"
            )));
        }
        let sector_pages = SECTOR_BYTES.div_ceil(self.page_bytes.max(1)) as u16;
        let volume =
            Self { pages_per_logical_page: self.pages_per_logical_page.max(sector_pages), ..*self };
        let config = Config { files_max: 0, permissions: false, ..volume.config()? };
        let checked = config.check(&volume.medium(0).geometry());
        checked
            .map(|()| config)
            .map_err(|rule| BadInput(format!("a disk on geometry {self}: {rule}")))
    }

    /// Refuses chips that cannot be simulated. The rules of the settings are checked later.
    fn check_chip(&self) -> Result<(), BadInput> {
        let Self { page_bytes, pages_per_block, block_count, .. } = *self;
        let bytes = u64::from(page_bytes) * u64::from(pages_per_block) * u64::from(block_count);
        let possible = page_bytes.is_power_of_two()
            && (if self.is_managed() { 512 } else { 256 }..=16_384).contains(&page_bytes)
            && (4..=256).contains(&pages_per_block)
            && (16..=4096).contains(&block_count);
        if !possible {
            return Err(BadInput(format!(
                "geometry {page_bytes} x {pages_per_block} x {block_count}: expected a page of 256 \
                 to 16384 bytes, a power of two, 4 to 256 pages in a block and 16 to 4096 blocks"
            )));
        }
        if bytes > 64 << 20 {
            return Err(BadInput(format!(
                "geometry {page_bytes} x {pages_per_block} x {block_count}: {bytes} bytes; \
                 expected at most 64 MiB, because every run reads the whole volume: take fewer \
                 blocks"
            )));
        }
        Ok(())
    }

    /// Returns true for managed flash.
    fn is_managed(&self) -> bool {
        matches!(self.chip, Chip::Sectors | Chip::SectorsTable | Chip::SectorsWithin)
    }

    /// Returns the bytes of a logical page.
    pub fn logical_bytes(&self) -> u64 {
        let tag_bytes = if self.chip == Chip::SectorsWithin { TAG_ROOM_BYTES } else { 0 };
        u64::from(self.page_bytes - tag_bytes) * u64::from(self.pages_per_logical_page)
    }

    /// Returns a layout with exactly the sectors that give blocks the required number of pages.
    fn sector_layout(&self, tags: TagPlace) -> SectorLayout {
        let page_sectors = self.page_bytes / SECTOR_BYTES;
        let (head, each) = match tags {
            TagPlace::Beside => (2, page_sectors + 1),
            TagPlace::Table => (page_sectors + 1, page_sectors + 1),
            TagPlace::Within => (page_sectors.max(2), page_sectors),
        };
        let block_sectors = head + self.pages_per_block * each;
        SectorLayout {
            first: 5,
            sectors: block_sectors * self.block_count,
            block_sectors,
            page_bytes: self.page_bytes,
            tags,
            volume: 1,
        }
    }

    fn medium(&self, seed: u64) -> Medium {
        let Self { page_bytes, pages_per_block, block_count, .. } = *self;
        match self.chip {
            Chip::Nor => {
                Medium::nor(page_bytes * pages_per_block, block_count, page_bytes, 1, seed)
            }
            Chip::NorGroups => Medium::nor(
                page_bytes * pages_per_block,
                block_count,
                page_bytes,
                GROUP_SECTORS,
                seed,
            ),
            Chip::Sectors => Medium::sectors(self.sector_layout(TagPlace::Beside), seed),
            Chip::SectorsTable => Medium::sectors(self.sector_layout(TagPlace::Table), seed),
            Chip::SectorsWithin => Medium::sectors(self.sector_layout(TagPlace::Within), seed),
            chip => Medium::nand(
                Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false },
                chip == Chip::NandCopy,
                seed,
            ),
        }
    }

    /// Returns an empty volume on a chip with `bad` bad blocks from the factory.
    pub(super) fn device(&self, bad: u32, seed: u64) -> Result<Device, BadInput> {
        let device =
            Device::formatted(self.config()?, self.medium(seed).with_bad_blocks(bad, seed), seed);
        Ok(or_erased(device, seed).with_cache(self.cache_pages.into()))
    }

    /// Returns an empty disk on such a chip.
    pub(super) fn disk(&self, bad: u32, seed: u64) -> Result<Device, BadInput> {
        Ok(or_erased(
            Device::formatted(
                self.disk_config()?,
                self.medium(seed).with_bad_blocks(bad, seed),
                seed,
            ),
            seed,
        ))
    }
}

/// Erases the whole chip for every other seed.
fn or_erased(device: Device, seed: u64) -> Device {
    if seed.is_multiple_of(2) { device } else { device.formatted_erased() }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chip = match self.chip {
            Chip::Nand => 'n',
            Chip::NandCopy => 'c',
            Chip::Nor => 'r',
            Chip::NorGroups => 'q',
            Chip::Sectors => 'b',
            Chip::SectorsTable => 'd',
            Chip::SectorsWithin => 'i',
        };
        let Self { page_bytes, pages_per_block, block_count, pages_per_logical_page, .. } = self;
        write!(f, "{chip}{page_bytes}x{pages_per_block}x{block_count}u{pages_per_logical_page}")?;
        write!(
            f,
            "t{}o{}k{}",
            self.transaction_pages, self.overlay_entries, self.checkpoint_programs
        )?;
        if self.cache_pages > 0 {
            write!(f, "w{}", self.cache_pages)?;
        }
        match (self.streams, self.moved_apart) {
            (1, _) => Ok(()),
            (streams, false) => write!(f, "s{streams}"),
            (streams, true) => write!(f, "a{streams}"),
        }?;
        f.write_str(if self.auto_streams { "l" } else { "" })?;
        if self.move_group > 1 {
            write!(f, "g{}", self.move_group)?;
        }
        if self.leaf_log_bytes != LEAF_LOG_BYTES {
            write!(f, "e{}", self.leaf_log_bytes)?;
        }
        if self.journal_pages == journal_pages_of(self.page_bytes) {
            Ok(())
        } else {
            write!(f, "j{}", self.journal_pages)
        }
    }
}

impl FromStr for Volume {
    type Err = BadInput;

    /// Reads a name, the whole text, or `PAGE_BYTES x PAGES x BLOCKS`, which means NAND with the
    /// recommended settings.
    fn from_str(text: &str) -> Result<Self, BadInput> {
        if let Some((_, full)) = NAMED.iter().find(|(name, _)| *name == text) {
            return full.parse();
        }
        let unknown = || {
            let names: Vec<_> = Self::names().collect();
            BadInput(format!(
                "geometry {text:?}: expected one of {}, or page bytes x pages x blocks such as \
                 512x16x64",
                names.join(", ")
            ))
        };
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let chip = match plain.chars().next().ok_or_else(unknown)? {
            'n' => Chip::Nand,
            'c' => Chip::NandCopy,
            'r' => Chip::Nor,
            'q' => Chip::NorGroups,
            'b' => Chip::Sectors,
            'd' => Chip::SectorsTable,
            'i' => Chip::SectorsWithin,
            '0'..='9' => {
                let [page_bytes, pages_per_block, block_count] =
                    numbers(&plain, "xx").ok_or_else(unknown)?;
                return Self::recommended(
                    Chip::Nand,
                    Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false },
                );
            }
            _ => return Err(unknown()),
        };
        let (plain, journal) = plain
            .split_once('j')
            .map_or((plain.as_str(), None), |(plain, pages)| (plain, Some(pages)));
        let (plain, logs) =
            plain.split_once('e').map_or((plain, None), |(plain, logs)| (plain, Some(logs)));
        let leaf_log_bytes = logs.map_or(Ok(LEAF_LOG_BYTES), str::parse).map_err(|_| unknown())?;
        let (plain, group) = plain.split_once('g').unwrap_or((plain, "1"));
        let move_group = group.parse().map_err(|_| unknown())?;
        // `l` stands for lifetimes.
        let (plain, auto_streams) =
            plain.strip_suffix('l').map_or((plain, false), |rest| (rest, true));
        let (plain, streams) = plain[1..].split_once(['s', 'a']).unwrap_or((&plain[1..], "1"));
        let (moved_apart, streams) = (text.contains('a'), streams.parse().map_err(|_| unknown())?);
        let (settings, cache) = plain.split_once('w').unwrap_or((plain, "0"));
        let cache_pages = cache.parse().map_err(|_| unknown())?;
        let all: [u32; 7] = numbers(settings, "xxutok").ok_or_else(unknown)?;
        let [page_bytes, pages_per_block, block_count, ..] = all;
        let journal_pages = journal
            .map_or(Ok(journal_pages_of(page_bytes.max(1))), str::parse)
            .map_err(|_| unknown())?;
        let small = |index: usize| u16::try_from(all[index]).map_err(|_| unknown());
        let volume = Self {
            chip,
            page_bytes,
            pages_per_block,
            block_count,
            pages_per_logical_page: small(3)?,
            transaction_pages: small(4)?,
            overlay_entries: small(5)?,
            checkpoint_programs: small(6)?,
            cache_pages,
            streams,
            moved_apart,
            auto_streams,
            move_group,
            leaf_log_bytes,
            journal_pages,
        };
        volume.config().map(|_| volume)
    }
}

/// Reads numbers with these letters between them.
fn numbers<const N: usize>(text: &str, letters: &str) -> Option<[u32; N]> {
    let (mut found, mut rest) = ([0; N], text);
    for (index, letter) in letters.chars().enumerate() {
        let (number, more) = rest.split_once(letter)?;
        found[index] = number.parse().ok()?;
        rest = more;
    }
    found[N - 1] = rest.parse().ok()?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_ground_can_be_formatted_and_its_text_reads_back() {
        for name in Volume::names() {
            let volume: Volume = name.parse().unwrap();
            assert_eq!(volume.to_string().parse::<Volume>().unwrap(), volume);
            volume.device(1, 1).unwrap();
            assert_eq!(volume.disk(1, 1).is_ok(), volume.may_be_disk());
        }
    }

    #[test]
    fn a_plain_geometry_has_the_recommended_settings() {
        let volume: Volume = "2048 x 64 x 64".parse().unwrap();
        assert_eq!((volume.pages_per_logical_page, volume.chip), (2, Chip::Nand));
    }

    #[test]
    fn impossible_geometries_say_what_was_expected() {
        let error = |text: &str| text.parse::<Volume>().unwrap_err().to_string();
        assert!(error("huge").contains("expected one of small, small-copy"));
        assert!(error("512x16").contains("expected one of small"));
        assert!(error("500x16x64").contains("a power of two"));
        assert!(error("16384x256x4096").contains("at most 64 MiB"));
        assert!(error("512x16x16").contains("too few blocks"));
        assert!(error("n256x16x32u1t6o20k16").contains("overlay_entries must be at least 40 more"));
    }
}
