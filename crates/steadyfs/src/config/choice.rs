//! The choice of settings for a medium.

use super::layout::Layout;
use super::numbers::{ceil_div, clamp, max};
use super::settings::Config;
use crate::error::ConfigError;
use crate::features::GROUPS;
use crate::journal::RecordShape;
use crate::media::sectors::{SECTOR_BYTES, SectorLayout};
use crate::media::{Geometry, PAGES_MAX};

/// Number of bytes for changes at the end of each page of a leaf, if the medium programs bytes. If
/// the medium has few frames, 16 changes fit.
pub(crate) const LEAF_LOG_BYTES: u8 = 96;
/// Number of bytes for changes with which a block of 15 frames may be a victim with 13 live frames.
/// 28 changes would suffice for this. With 32 changes, a reclaimed block gains a little more.
const LONG_LEAF_LOG_BYTES: u8 = 192;
/// Maximum number of bytes of a journal record on NOR: two logical pages. So a logical page that
/// arrives in pieces is whole before it leaves the journal buffer.
const JOURNAL_BYTES_MAX: u32 = 2048;
/// Number of bytes from which on a NOR block is large.
const LARGE_NOR_BLOCK: u32 = 24 << 10;
/// Minimum number of overlay entries beyond those of a transaction.
const OVERLAY_ROOM: u32 = 40;

/// A change of the usual settings for more or less memory.
struct Choice {
    /// Size of a logical page, in eighths of the usual size.
    logical_eighths: u32,
    /// Number of bytes of a journal record on NOR. 0 means the usual number.
    journal_bytes: u32,
    /// The usual size of the overlay is divided by this number.
    overlay_parts: u32,
}

/// Choices for more memory and for less memory, the best first. The fourth choice is the usual one.
const CHOICES: [Choice; 9] = [
    Choice { logical_eighths: 4, journal_bytes: 4096, overlay_parts: 1 },
    Choice { logical_eighths: 8, journal_bytes: 4096, overlay_parts: 1 },
    Choice { logical_eighths: 8, journal_bytes: 2048, overlay_parts: 1 },
    Choice { logical_eighths: 8, journal_bytes: 0, overlay_parts: 1 },
    Choice { logical_eighths: 8, journal_bytes: 1024, overlay_parts: 1 },
    Choice { logical_eighths: 8, journal_bytes: 512, overlay_parts: 1 },
    Choice { logical_eighths: 8, journal_bytes: 512, overlay_parts: 2 },
    Choice { logical_eighths: 8, journal_bytes: 512, overlay_parts: 8192 },
    Choice { logical_eighths: 16, journal_bytes: 512, overlay_parts: 8192 },
];

/// Sizes in bytes of the allocation units among which [`SectorLayout::for_size`] chooses.
const UNITS: [u32; 6] = [4 << 20, 2 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10];
/// Number of bytes of a block of four of the largest units, if a root has no room for the states of
/// all smaller blocks.
const LARGE_UNIT: u32 = 16 << 20;

/// Returns the usual number of program pages of a journal record: 512 bytes with the tag, or one
/// page.
pub(crate) const fn usual_journal_pages(page_bytes: u32) -> u8 {
    if page_bytes > 0 && page_bytes < 512 { 512_u32.div_ceil(page_bytes) as u8 } else { 1 }
}

/// Returns the number of program pages of a journal record that suits logical pages of
/// `pages_per_logical_page` program pages.
const fn journal_pages(geometry: &Geometry, pages_per_logical_page: u32) -> u8 {
    let usual = usual_journal_pages(geometry.page_bytes);
    if !geometry.programs_bytes {
        return usual;
    }
    let two = clamp(2 * pages_per_logical_page * geometry.page_bytes, 0, JOURNAL_BYTES_MAX)
        / geometry.page_bytes;
    max(two, usual as u32) as u8
}

/// Returns the nearest geometry within the limits of a volume. If a geometry is beyond the limits,
/// [`check`](Config::check) refuses its settings, so they need not be good.
const fn possible(geometry: &Geometry) -> Geometry {
    let &Geometry { page_bytes, pages_per_block, block_count, programs_bytes } = geometry;
    let (page_bytes, pages_per_block) =
        (clamp(page_bytes, 256, 16_384), clamp(pages_per_block, 4, PAGES_MAX));
    // There are then no more pages than page numbers.
    Geometry {
        page_bytes,
        pages_per_block,
        block_count: clamp(block_count, 16, 0x10_0000 - 1),
        programs_bytes,
    }
}

impl Config {
    /// Returns settings for a medium. Logical pages have 4 KiB if a block holds at least 8 of them,
    /// and 2 KiB on NOR with large blocks. On NOR the journal buffer has room for two logical
    /// pages, but at most 2 KiB.
    pub const fn for_geometry(geometry: &Geometry) -> Self {
        let geometry = &possible(geometry);
        let small = Self::with_logical_bytes(geometry, 2048);
        let has_large_blocks =
            geometry.page_bytes.saturating_mul(geometry.pages_per_block) >= LARGE_NOR_BLOCK;
        let frames =
            geometry.pages_per_block / small.pages_per_logical_page as u32 * geometry.block_count;
        // With more frames, each entry of the map is larger, and takes more RAM.
        if !geometry.programs_bytes || !has_large_blocks || frames > 0x8000 {
            return Self::with_logical_bytes(geometry, 4096);
        }
        match small.check(geometry) {
            Ok(()) => small,
            Err(_) => Self::with_logical_bytes(geometry, 4096),
        }
    }

    /// Returns the best settings for a medium whose [`memory_bytes`](Self::memory_bytes) is at most
    /// the argument:
    /// - If the [usual settings](Self::for_geometry) just fit, it returns these.
    /// - On NOR with more memory, the journal buffer is longer and logical pages are smaller. The
    ///   order of these choices comes from `docs/results/bench.md`.
    /// - With less memory, the buffers that small changes need least become smaller first.
    /// - If no settings fit, it returns the settings that take the least memory.
    ///
    /// [Lend](crate::FileSystem::lend_cache) memory that is left to the volume as a cache.
    ///
    /// ```
    /// use steadyfs::Config;
    /// use steadyfs::media::Geometry;
    ///
    /// const CHIP: Geometry = Geometry::of_nor(4096 * 4, 1024); // 16 MiB, four sectors to a block
    /// const CONFIG: Config = Config::for_geometry_with(&CHIP, 16 << 10);
    /// static MEMORY: [u8; CONFIG.memory_bytes(&CHIP)] = [0; CONFIG.memory_bytes(&CHIP)];
    /// assert!(MEMORY.len() <= 16 << 10);
    /// ```
    pub const fn for_geometry_with(geometry: &Geometry, memory_bytes: usize) -> Self {
        let geometry = &possible(geometry);
        let usual = Self::for_geometry(geometry);
        let (mut smallest, mut least) = (usual, usize::MAX);
        let mut choice = 0;
        while choice < CHOICES.len() {
            let config = usual.with_choice(geometry, &CHOICES[choice]);
            if let Ok(layout) = Layout::derive(geometry, &config)
                && layout.journal_bytes >= config.journal_pages as u32 * geometry.page_bytes
            {
                let bytes = config.memory_bytes(geometry);
                // The choices come in order, so the first one that fits is the best.
                if bytes <= memory_bytes {
                    return config;
                }
                if bytes < least {
                    (smallest, least) = (config, bytes);
                }
            }
            choice += 1;
        }
        smallest
    }

    /// Returns these settings with the logical page, journal and overlay of a choice.
    const fn with_choice(self, geometry: &Geometry, choice: &Choice) -> Self {
        let pages_per_logical_page =
            clamp(self.pages_per_logical_page as u32 * choice.logical_eighths / 8, 1, 16) as u16;
        let least = self.transaction_pages as u32 + OVERLAY_ROOM;
        let overlay_entries =
            clamp(self.overlay_entries as u32 / choice.overlay_parts, least, 8192) as u16;
        let journal_pages = match choice.journal_bytes {
            0 => self.journal_pages,
            _ if !geometry.programs_bytes => self.journal_pages,
            bytes => max(bytes / geometry.page_bytes, 1) as u8,
        };
        Self { pages_per_logical_page, overlay_entries, journal_pages, ..self }
    }

    /// Returns the usual settings with logical pages of `logical_bytes` bytes, if a block holds
    /// at least 8 of them.
    const fn with_logical_bytes(geometry: &Geometry, logical_bytes: u32) -> Self {
        let mut pages_per_logical_page = 1;
        while pages_per_logical_page * geometry.page_bytes.next_power_of_two() < logical_bytes
            && geometry.pages_per_block / (pages_per_logical_page * 2) >= 8
            && pages_per_logical_page < 16
        {
            pages_per_logical_page *= 2;
        }
        let frames = geometry.pages_per_block / pages_per_logical_page * geometry.block_count;
        let pages = geometry.pages_per_block * geometry.block_count;
        let overlay_entries = clamp(frames / 90, 64, 1024);
        // If blocks are large enough for rare roots, roots are at most a twentieth of all programs.
        let entry_bytes = if frames <= 0x8000 { 4 } else { 8 };
        let checkpoint_pages = ceil_div(
            overlay_entries * entry_bytes + geometry.block_count * 3 / 2,
            geometry.page_bytes,
        );
        let rare = clamp(20 * checkpoint_pages, 0, 10 * geometry.pages_per_block);
        let checkpoint_programs = clamp(pages / 32, 32, 192);
        // If reading a tag takes almost no time, roots may be as rare as the listed blocks allow. A
        // small block has room for five times as many programs as it has pages.
        let rare = if geometry.programs_bytes {
            clamp(80 * geometry.pages_per_block, 64, 1024)
        } else {
            rare
        };
        let small_files = clamp((pages / 25).saturating_mul(geometry.page_bytes / 64), 0, 16_384);
        let usual = Self {
            pages_per_logical_page: pages_per_logical_page as u16,
            overlay_entries: overlay_entries as u16,
            transaction_pages: 16,
            checkpoint_programs: if rare > checkpoint_programs { rare } else { checkpoint_programs }
                as u16,
            wear_spread: 32,
            // Raw NAND has bad blocks from the factory, NOR has none.
            bad_blocks_max: clamp(
                geometry.block_count / if geometry.programs_bytes { 200 } else { 50 },
                2,
                200,
            ) as u16,
            // One file for each two logical pages; more files if logical pages are large and few.
            files_max: clamp(
                if small_files > frames / 2 { small_files } else { frames / 2 },
                64,
                65_536,
            ),
            failures: 2,
            name_bytes_max: 255,
            permissions: false,
            streams: 1,
            moved_apart: false,
            auto_streams: false,
            move_group: 1,
            leaf_log_bytes: LEAF_LOG_BYTES,
            journal_pages: journal_pages(geometry, pages_per_logical_page),
        };
        // If logical pages are small and many, pages of removed files also fill a transaction.
        // Leaves then have so few entries that a larger overlay makes more of the medium usable.
        if frames < 0xC00 || frames >= 0x2000 {
            return usual.with_fewer_entries(geometry).or_with_longer_logs(geometry);
        }
        // A slightly smaller overlay, in case a small block has no room for the root with the usual
        // overlay.
        let small = Self {
            overlay_entries: clamp(frames / 26, 80, 144) as u16,
            transaction_pages: 32,
            ..usual
        };
        let less = Self { overlay_entries: clamp(frames / 26, 80, 136) as u16, ..small };
        match (small.check(geometry), less.check(geometry)) {
            (Ok(()), _) => small,
            (_, Ok(())) => less,
            _ => usual,
        }
        .or_with_longer_logs(geometry)
    }

    /// Returns these settings with up to a sixteenth fewer entries of the overlay, if this leaves
    /// as much room for data. This is possible because a victim holds a whole number of frames.
    const fn with_fewer_entries(self, geometry: &Geometry) -> Self {
        let (usable, few) = (self.usable_pages(geometry), self.overlay_entries as u32 / 16 * 15);
        let fewest_of_all = max(few, self.transaction_pages as u32 + OVERLAY_ROOM);
        let mut fewest = self;
        while !geometry.programs_bytes
            && usable > 0
            && fewest.overlay_entries as u32 > fewest_of_all
        {
            let fewer = Self { overlay_entries: fewest.overlay_entries - 1, ..fewest };
            // One entry less would reduce the room for data.
            if fewer.usable_pages(geometry) != usable {
                break;
            }
            fewest = fewer;
        }
        fewest
    }

    /// Returns these settings with long logs of leaves, on two conditions: less than seventeen
    /// twentieths of the frames were usable, and long logs make a twentieth more usable.
    const fn or_with_longer_logs(self, geometry: &Geometry) -> Self {
        let longer = Self { leaf_log_bytes: LONG_LEAF_LOG_BYTES, ..self };
        let (usable, frames) = (
            self.usable_pages(geometry),
            geometry.pages_per_block / self.pages_per_logical_page as u32 * geometry.block_count,
        );
        let gains = geometry.programs_bytes
            && 20 * (usable as u64) < 17 * (frames as u64)
            && longer.usable_pages(geometry) > usable / 20 * 21;
        if gains { longer } else { self }
    }

    /// Returns the number of logical pages that may hold data, or 0 if the settings do not fit.
    const fn usable_pages(&self, geometry: &Geometry) -> u32 {
        match Layout::derive(geometry, self) {
            Ok(layout) => layout.usable,
            Err(_) => 0,
        }
    }

    /// Returns settings for a card, an eMMC or another device of [sectors](crate::media::sectors).
    /// Such a device levels wear and replaces bad blocks by itself. Logical pages are so large that
    /// there are at most a million of them. With still larger logical pages
    /// ([`pages_per_logical_page`](Self::pages_per_logical_page)), the volume takes less RAM and
    /// mounts faster.
    pub const fn for_sectors(layout: &SectorLayout) -> Self {
        let geometry = possible(&layout.geometry());
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        let mut pages_per_logical_page = 1;
        while pages_per_logical_page < 32
            && pages_per_block / (pages_per_logical_page * 2) >= 8
            && (pages_per_logical_page * layout.page_bytes < 4096
                || pages_per_block / pages_per_logical_page * block_count > 1 << 20)
            && RecordShape::has_room(pages_per_logical_page * 2 * page_bytes, page_bytes)
        {
            pages_per_logical_page *= 2;
        }
        let per_block = pages_per_block / pages_per_logical_page;
        let frames = per_block * block_count;
        // Data that is written in order commits each time the transaction is full, and each commit
        // ends a stream of writes. So a transaction is larger here.
        let transaction_pages = clamp(per_block / 4, 16, 256);
        // A leaf write-back frees some ten changes. Beside these, the overlay has room for the
        // changes of a victim. On small media such an overlay is cheap, and each further change
        // makes more of the medium usable.
        let changes = max(max(frames / 90, 4 * per_block), per_block + clamp(frames / 40, 0, 1400))
            + transaction_pages
            - 16;
        Self {
            pages_per_logical_page: pages_per_logical_page as u16,
            transaction_pages: transaction_pages as u16,
            overlay_entries: clamp(changes, 64, 8192) as u16,
            checkpoint_programs: clamp(pages_per_block * block_count / 32, 32, 1024) as u16,
            wear_spread: 0,
            bad_blocks_max: 0,
            failures: 1,
            // A small block should mostly hold the caller's pages, so a group is at most an eighth
            // of the block.
            move_group: if GROUPS { clamp(pages_per_block / 8, 1, 16) as u8 } else { 1 },
            ..Self::for_geometry(&geometry)
        }
    }

    /// Returns settings for a [disk](crate::disk) on a medium. They are the settings of
    /// [`for_geometry`](Self::for_geometry), but without files, and with logical pages of whole
    /// sectors. Except on small chips, erase sectors of 4 KiB are too small for a disk, and
    /// [`check`](Self::check) refuses them. [`Groups`](crate::media::groups::Groups) of two such
    /// sectors suffice.
    pub const fn for_disk(geometry: &Geometry) -> Self {
        let mut config = Self { files_max: 0, ..Self::for_geometry(geometry) };
        if config.pages_per_logical_page as u32 * possible(geometry).page_bytes
            < SECTOR_BYTES as u32
        {
            config.pages_per_logical_page *= 2;
        }
        config
    }

    /// Returns the number of erase sectors of a NOR chip that make a block. It is the lowest power
    /// of two with which [the usual settings](Self::for_geometry) fit. Returns `None` if no power
    /// of two fits.
    ///
    /// [`Groups`](crate::media::groups::Groups) makes blocks of this number of sectors. If sectors
    /// have 4 KiB, chips of up to 1 MiB need no groups. A block needs 2 sectors on chips of 2 to 8
    /// MiB, 4 sectors on chips of 16 and 32 MiB, and 8 sectors on chips of 64 MiB.
    ///
    /// ```
    /// use steadyfs::Config;
    /// use steadyfs::media::Geometry;
    ///
    /// const SECTORS: u32 = Config::group_sectors(4096, 4096).unwrap(); // 4, for 16 MiB
    /// const CHIP: Geometry = Geometry::of_nor(4096 * SECTORS, 4096 / SECTORS);
    /// const CONFIG: Config = Config::for_geometry(&CHIP).must_fit(&CHIP);
    /// static MEMORY: [u8; CONFIG.memory_bytes(&CHIP)] = [0; CONFIG.memory_bytes(&CHIP)];
    /// // The driver: NorPages::new(Groups::new(chip, SECTORS), CHIP.page_bytes)
    /// assert_eq!(SECTORS, 4);
    /// ```
    pub const fn group_sectors(sector_bytes: u32, sector_count: u32) -> Option<u32> {
        let mut sectors = 1;
        while sectors <= sector_count / 16 {
            let geometry =
                Geometry::of_nor(sector_bytes.saturating_mul(sectors), sector_count / sectors);
            if Self::for_geometry(&geometry).check(&geometry).is_ok() {
                return Some(sectors);
            }
            sectors *= 2;
        }
        None
    }

    /// Returns the settings if they fit a medium. Use it for constants: if the settings do not fit,
    /// the compiler reports an error with the broken rule.
    ///
    /// ```compile_fail
    /// # use steadyfs::{Config, media::Geometry};
    /// // A root for 16 MiB has no room in a block of 4 KiB.
    /// const CHIP: Geometry = Geometry::of_nor(4096, 4096);
    /// const CONFIG: Config = Config::for_geometry(&CHIP).must_fit(&CHIP);
    /// # let _ = CONFIG;
    /// ```
    ///
    /// # Panics
    /// If the settings do not fit. If the medium is known only at run time, use
    /// [`check`](Self::check) instead.
    pub const fn must_fit(self, geometry: &Geometry) -> Self {
        match self.check(geometry) {
            Ok(()) => self,
            Err(error) => panic!("{}", error.rule()),
        }
    }

    /// Checks the settings for a medium.
    ///
    /// # Errors
    /// The rule that the settings break.
    pub const fn check(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        match Layout::derive(geometry, self) {
            Ok(_) => Ok(()),
            Err(rule) => Err(rule),
        }
    }
}

impl SectorLayout {
    /// Returns the layout for a whole device whose allocation unit is unknown.
    ///
    /// The unit is 128 KiB to 4 MiB. The function compares the room for data with each unit, and
    /// chooses the largest unit that costs at most a fortieth of the device. Small cards get small
    /// units, because a volume keeps some twenty units for itself. From 511 GiB on, a root has no
    /// room for the states of so many blocks. There a block has 16 MiB.
    pub fn for_size(sectors: u32) -> Self {
        let layouts = UNITS.map(|unit| Self::for_device(sectors, unit));
        let usable = |layout: &Self| {
            Config::for_sectors(layout).usable_bytes(&layout.geometry()) / SECTOR_BYTES as u64
        };
        let best = layouts.iter().map(usable).max().unwrap_or(0);
        let enough =
            |layout: &&Self| usable(layout) > 0 && usable(layout) + u64::from(sectors / 40) >= best;
        let large = Self::for_device(sectors, LARGE_UNIT);
        // With smaller blocks, a root has no room for the states of all blocks.
        if best == 0 && usable(&large) > 0 {
            return large;
        }
        *layouts.iter().find(enough).unwrap_or(&layouts[UNITS.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHIPS: [Geometry; 7] = [
        Geometry::of_nor(4096, 128),
        Geometry::of_nor(4096, 256),
        Geometry::of_nor(8192, 256),
        Geometry::of_nor(16_384, 1024),
        Geometry::of_nor(65_536, 256),
        Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 1024,
            programs_bytes: false,
        },
        Geometry { page_bytes: 512, pages_per_block: 32, block_count: 1024, programs_bytes: false },
    ];

    #[test]
    fn settings_for_so_much_memory_take_no_more_and_more_of_it_never_makes_them_worse() {
        let rank = |geometry: &Geometry, config: &Config| {
            let usual = Config::for_geometry(geometry);
            CHOICES
                .iter()
                .position(|choice| usual.with_choice(geometry, choice) == *config)
                .expect("one of the choices")
        };
        for geometry in &CHIPS {
            let usual = Config::for_geometry(geometry);
            let (mut last, mut different) = (usize::MAX, 0);
            for memory_bytes in (512..40_000).step_by(128) {
                let config = Config::for_geometry_with(geometry, memory_bytes);
                assert_eq!(config.check(geometry), Ok(()), "{geometry:?} with {memory_bytes}");
                let fits = config.memory_bytes(geometry) <= memory_bytes;
                let rank = rank(geometry, &config);
                assert!(
                    fits || last == usize::MAX,
                    "{geometry:?} with {memory_bytes}: nothing fits, and less was enough"
                );
                if fits {
                    assert!(
                        rank <= last,
                        "{geometry:?}: {memory_bytes} buy {rank} where less bought {last}"
                    );
                    different += u32::from(rank < last);
                    last = rank;
                }
            }
            assert!(different > 1, "{geometry:?} has {different} settings");
            let just = usual.memory_bytes(geometry);
            assert_eq!(
                Config::for_geometry_with(geometry, just).memory_bytes(geometry),
                just,
                "{geometry:?}"
            );
        }
    }

    /// Any input gives settings. A check refuses them if no volume is possible.
    #[test]
    fn any_geometry_has_settings_and_a_check_that_refuses_them_where_it_is_none() {
        const EDGES: [u32; 13] =
            [0, 1, 3, 4, 255, 256, 2000, 4096, 16_384, 1 << 20, 1 << 26, 1 << 31, u32::MAX];
        for index in 0..EDGES.len().pow(3) {
            let edge = |power| EDGES[index / EDGES.len().pow(power) % EDGES.len()];
            let (page_bytes, pages_per_block, block_count) = (edge(0), edge(1), edge(2));
            for programs_bytes in [false, true] {
                let geometry =
                    Geometry { page_bytes, pages_per_block, block_count, programs_bytes };
                let is_possible = (256..=16_384).contains(&page_bytes)
                    && page_bytes.is_power_of_two()
                    && (4..=PAGES_MAX).contains(&pages_per_block)
                    && (16..=0x10_0000).contains(&block_count);
                for config in [
                    Config::for_geometry(&geometry),
                    Config::for_geometry_with(&geometry, 10_000),
                    Config::for_disk(&geometry),
                ] {
                    assert!(
                        is_possible || config.check(&geometry).is_err(),
                        "{geometry:?}: {config:?}"
                    );
                    let _ = (
                        config.memory_bytes(&geometry),
                        config.usable_bytes(&geometry),
                        config.check_bytes(&geometry),
                    );
                }
            }
            let _ = Config::group_sectors(page_bytes, block_count);
            assert!(Geometry::of_nor(page_bytes, block_count).pages_per_block <= page_bytes / 256);
        }
    }

    #[test]
    fn the_settings_of_a_disk_have_pages_of_whole_sectors_or_are_refused() {
        for geometry in &CHIPS {
            let config = Config::for_disk(geometry);
            assert_eq!(
                u32::from(config.pages_per_logical_page) * geometry.page_bytes
                    % SECTOR_BYTES as u32,
                0,
                "{geometry:?}"
            );
            let is_small = geometry.page_bytes * geometry.pages_per_block < 4096;
            let check = config.check(geometry);
            assert!(
                check.is_ok() || (is_small && check == Err(ConfigError::BlockTooSmall)),
                "{geometry:?}: {check:?}"
            );
            let narrow = Config { pages_per_logical_page: 1, ..config };
            let is_whole = geometry.page_bytes >= SECTOR_BYTES as u32;
            assert_eq!(
                narrow.check(geometry) == Err(ConfigError::SectorBytes),
                !is_whole,
                "{geometry:?}"
            );
        }
    }

    #[test]
    fn the_journal_of_nor_holds_two_logical_pages_where_a_block_has_room() {
        for geometry in CHIPS.iter().filter(|geometry| geometry.programs_bytes) {
            let config = Config::for_geometry(geometry);
            let layout = Layout::derive(geometry, &config).expect("the usual settings");
            assert_eq!(
                layout.journal_bytes,
                (2 * layout.logical_bytes).clamp(512, JOURNAL_BYTES_MAX),
                "{geometry:?}"
            );
        }
    }
}
