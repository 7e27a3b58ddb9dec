//! Which settings suit a medium.

use super::layout::Layout;
use super::numbers::{ceil_div, clamp, max};
use super::settings::Config;
use crate::error::ConfigError;
use crate::features::GROUPS;
use crate::journal::Shape;
use crate::media::sectors::{SECTOR_BYTES, SectorLayout};
use crate::media::{Geometry, PAGES_MAX};

/// Bytes at the end of each page of a leaf for changes, where the medium programs bytes: 16 changes where frames are few.
pub(crate) const LEAF_LOG_BYTES: u8 = 96;
/// As many as let blocks of 15 frames be victims with 13 of them: 28 changes would do, 32 leave calls a little more to move.
const LONG_LEAF_LOG_BYTES: u8 = 192;
/// Bytes of a record of the journal on NOR at most: two logical pages, so that what comes in pieces is whole before it leaves the buffer.
const JOURNAL_BYTES_MAX: u32 = 2048;
/// Bytes from which a block of NOR is large.
const LARGE_NOR_BLOCK: u32 = 24 << 10;
/// Entries of the overlay beyond a transaction's, at least.
const OVERLAY_ROOM: u32 = 40;

/// Settings beside the usual ones.
struct Choice {
    /// Size of a logical page, in eighths of the usual one.
    logical_eighths: u32,
    /// Bytes of a record of the journal on NOR; 0: as many as usual.
    journal_bytes: u32,
    /// The overlay is the usual one, divided by this.
    overlay_parts: u32,
}

/// What more memory buys, and what less of it costs: the best first. The fourth is the usual one.
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

/// Bytes of the allocation units that [`SectorLayout::for_size`] chooses among.
const UNITS: [u32; 6] = [4 << 20, 2 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10];
/// Bytes of a block of four of the largest, where a root has no room for so many blocks.
const LARGE_UNIT: u32 = 16 << 20;

/// Program pages of a record of the journal: 512 bytes, its tag included, or a page.
pub(crate) const fn usual_journal_pages(page_bytes: u32) -> u8 {
    if page_bytes > 0 && page_bytes < 512 { 512_u32.div_ceil(page_bytes) as u8 } else { 1 }
}

/// Program pages of a record of the journal that suit logical pages of so many program pages.
const fn journal_pages(geometry: &Geometry, unit_pages: u32) -> u8 {
    let usual = usual_journal_pages(geometry.page_bytes);
    if !geometry.programs_bytes {
        return usual;
    }
    let two = clamp(2 * unit_pages * geometry.page_bytes, 0, JOURNAL_BYTES_MAX) / geometry.page_bytes;
    max(two, usual as u32) as u8
}

/// The geometry next to one, within the limits of a volume: settings for one beyond them are [refused](Config::check), and need not be good.
const fn possible(geometry: &Geometry) -> Geometry {
    let &Geometry { page_bytes, pages_per_block, block_count, programs_bytes } = geometry;
    let (page_bytes, pages_per_block) = (clamp(page_bytes, 256, 16_384), clamp(pages_per_block, 4, PAGES_MAX));
    // So that there are no more pages than can be numbered.
    Geometry { page_bytes, pages_per_block, block_count: clamp(block_count, 16, 0x10_0000 - 1), programs_bytes }
}

impl Config {
    /// Settings for a medium: 4 KiB logical pages where a block holds at least 8 of them, 2 KiB on NOR of large blocks; on NOR a buffer of the journal of two of them, or of 2 KiB.
    pub const fn for_geometry(geometry: &Geometry) -> Self {
        let geometry = &possible(geometry);
        let small = Self::with_logical_bytes(geometry, 2048);
        let has_large_blocks = geometry.page_bytes.saturating_mul(geometry.pages_per_block) >= LARGE_NOR_BLOCK;
        let frames = geometry.pages_per_block / small.unit_pages as u32 * geometry.block_count;
        // With more frames the entries of the map are larger, and RAM with them.
        if !geometry.programs_bytes || !has_large_blocks || frames > 0x8000 {
            return Self::with_logical_bytes(geometry, 4096);
        }
        match small.check(geometry) {
            Ok(()) => small,
            Err(_) => Self::with_logical_bytes(geometry, 4096),
        }
    }

    /// The best settings for a medium of those for which [`memory_bytes`](Self::memory_bytes) are at most so many: the [usual ones](Self::for_geometry) where these just fit; with
    /// more memory, on NOR, longer buffers of the journal and smaller logical pages, in the order of `docs/bench.md`; with less, what small changes need least. Where nothing
    /// fits, the smallest. What is left is best lent as a [cache](crate::FileSystem::lend_cache).
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

    /// The same with logical page, journal and overlay of a choice.
    const fn with_choice(self, geometry: &Geometry, choice: &Choice) -> Self {
        let unit_pages = clamp(self.unit_pages as u32 * choice.logical_eighths / 8, 1, 16) as u16;
        let least = self.transaction_pages as u32 + OVERLAY_ROOM;
        let overlay_entries = clamp(self.overlay_entries as u32 / choice.overlay_parts, least, 8192) as u16;
        let journal_pages = match choice.journal_bytes {
            0 => self.journal_pages,
            _ if !geometry.programs_bytes => self.journal_pages,
            bytes => max(bytes / geometry.page_bytes, 1) as u8,
        };
        Self { unit_pages, overlay_entries, journal_pages, ..self }
    }

    /// The usual settings with logical pages of so many bytes, where a block holds at least 8 of them.
    const fn with_logical_bytes(geometry: &Geometry, logical_bytes: u32) -> Self {
        let mut unit_pages = 1;
        while unit_pages * geometry.page_bytes.next_power_of_two() < logical_bytes
            && geometry.pages_per_block / (unit_pages * 2) >= 8
            && unit_pages < 16
        {
            unit_pages *= 2;
        }
        let frames = geometry.pages_per_block / unit_pages * geometry.block_count;
        let pages = geometry.pages_per_block * geometry.block_count;
        let overlay_entries = clamp(frames / 90, 64, 1024);
        // Roots are at most a twentieth of all programs where blocks are large enough to let them be so rare.
        let entry_bytes = if frames <= 0x8000 { 4 } else { 8 };
        let checkpoint_pages = ceil_div(overlay_entries * entry_bytes + geometry.block_count * 3 / 2, geometry.page_bytes);
        let rare = clamp(20 * checkpoint_pages, 0, 10 * geometry.pages_per_block);
        let checkpoint_programs = clamp(pages / 32, 32, 192);
        // Where tags are read in no time, roots may be as rare as the blocks that one lists allow: a small block takes five times as many programs as it has pages.
        let rare = if geometry.programs_bytes { clamp(80 * geometry.pages_per_block, 64, 1024) } else { rare };
        let small_files = clamp((pages / 25).saturating_mul(geometry.page_bytes / 64), 0, 16_384);
        let usual = Self {
            unit_pages: unit_pages as u16,
            overlay_entries: overlay_entries as u16,
            transaction_pages: 16,
            checkpoint_programs: if rare > checkpoint_programs { rare } else { checkpoint_programs } as u16,
            wear_spread: 32,
            // Raw NAND has some from the factory, NOR has none.
            bad_blocks_max: clamp(geometry.block_count / if geometry.programs_bytes { 200 } else { 50 }, 2, 200) as u16,
            // One for each two logical pages; more where these are large and few.
            files_max: clamp(if small_files > frames / 2 { small_files } else { frames / 2 }, 64, 65_536),
            failures: 2,
            name_bytes_max: 255,
            permissions: false,
            streams: 1,
            moved_apart: false,
            auto_streams: false,
            move_group: 1,
            leaf_log_bytes: LEAF_LOG_BYTES,
            journal_pages: journal_pages(geometry, unit_pages),
        };
        // Where logical pages are small and many, pages of removed files fill a transaction too, and leaves have so few entries that a larger
        // overlay makes more of the medium usable.
        if frames < 0xC00 || frames >= 0x2000 {
            return usual.with_fewer_entries(geometry).or_with_longer_logs(geometry);
        }
        // A little less where a small block has no room for the root.
        let small = Self { overlay_entries: clamp(frames / 26, 80, 144) as u16, transaction_pages: 32, ..usual };
        let less = Self { overlay_entries: clamp(frames / 26, 80, 136) as u16, ..small };
        match (small.check(geometry), less.check(geometry)) {
            (Ok(()), _) => small,
            (_, Ok(())) => less,
            _ => usual,
        }
        .or_with_longer_logs(geometry)
    }

    /// With up to a sixteenth fewer entries of the overlay where these leave as much room for data, of which a victim holds a whole number of frames.
    const fn with_fewer_entries(self, geometry: &Geometry) -> Self {
        let (usable, few) = (self.usable_pages(geometry), self.overlay_entries as u32 / 16 * 15);
        let fewest_of_all = max(few, self.transaction_pages as u32 + OVERLAY_ROOM);
        let mut fewest = self;
        while !geometry.programs_bytes && usable > 0 && fewest.overlay_entries as u32 > fewest_of_all {
            let fewer = Self { overlay_entries: fewest.overlay_entries - 1, ..fewest };
            if fewer.usable_pages(geometry) != usable {
                break;
            }
            fewest = fewer;
        }
        fewest
    }

    /// With long logs of leaves, where less than seventeen twentieths of the frames were usable, and a twentieth more are with them.
    const fn or_with_longer_logs(self, geometry: &Geometry) -> Self {
        let longer = Self { leaf_log_bytes: LONG_LEAF_LOG_BYTES, ..self };
        let (usable, frames) =
            (self.usable_pages(geometry), geometry.pages_per_block / self.unit_pages as u32 * geometry.block_count);
        let gains = geometry.programs_bytes
            && 20 * (usable as u64) < 17 * (frames as u64)
            && longer.usable_pages(geometry) > usable / 20 * 21;
        if gains { longer } else { self }
    }

    /// Logical pages that may hold data; 0 where the settings do not fit.
    const fn usable_pages(&self, geometry: &Geometry) -> u32 {
        match Layout::derive(geometry, self) {
            Ok(layout) => layout.usable,
            Err(_) => 0,
        }
    }

    /// Settings for a card, an eMMC or another device of [sectors](crate::media::sectors), which levels wear and replaces bad blocks itself. Logical pages are as large as
    /// leaves a million of them at most; with larger ones ([`unit_pages`](Self::unit_pages)) the volume takes less RAM, and mounts faster.
    pub const fn for_sectors(layout: &SectorLayout) -> Self {
        let geometry = possible(&layout.geometry());
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        let mut unit_pages = 1;
        while unit_pages < 32
            && pages_per_block / (unit_pages * 2) >= 8
            && (unit_pages * layout.page_bytes < 4096 || pages_per_block / unit_pages * block_count > 1 << 20)
            && Shape::has_room(unit_pages * 2 * page_bytes, page_bytes)
        {
            unit_pages *= 2;
        }
        let per_block = pages_per_block / unit_pages;
        let frames = per_block * block_count;
        // What is written in order commits when a transaction is full, and each commit ends a stream.
        let transaction_pages = clamp(per_block / 4, 16, 256);
        // A leaf that is written frees some ten changes; those of a victim have room beside.
        // On small media that is cheap, and each of them makes more of the medium usable.
        let changes = max(max(frames / 90, 4 * per_block), per_block + clamp(frames / 40, 0, 1400)) + transaction_pages - 16;
        Self {
            unit_pages: unit_pages as u16,
            transaction_pages: transaction_pages as u16,
            overlay_entries: clamp(changes, 64, 8192) as u16,
            checkpoint_programs: clamp(pages_per_block * block_count / 32, 32, 1024) as u16,
            wear_spread: 0,
            bad_blocks_max: 0,
            failures: 1,
            // A small block is left to the caller's pages for the most part.
            move_group: if GROUPS { clamp(pages_per_block / 8, 1, 16) as u8 } else { 1 },
            ..Self::for_geometry(&geometry)
        }
    }

    /// Settings for a [disk](crate::disk) on a medium: those of [`for_geometry`](Self::for_geometry), no files, and logical pages of whole sectors. Erase sectors of 4 KiB are too small
    /// for it on all but small chips, as [`check`](Self::check) says: [`Groups`](crate::media::groups::Groups) of two of them do.
    pub const fn for_disk(geometry: &Geometry) -> Self {
        let mut config = Self { files_max: 0, ..Self::for_geometry(geometry) };
        if config.unit_pages as u32 * possible(geometry).page_bytes < SECTOR_BYTES as u32 {
            config.unit_pages *= 2;
        }
        config
    }

    /// The number of erase sectors of a NOR chip that make a block: the lowest power of two with which
    /// [the usual settings](Self::for_geometry) fit. `None` if there is none.
    ///
    /// [`Groups`](crate::media::groups::Groups) makes blocks of them. Chips of up to 1 MiB in sectors of
    /// 4 KiB need none; 2 to 8 MiB take 2 sectors, 16 and 32 MiB take 4, 64 MiB takes 8.
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
            let geometry = Geometry::of_nor(sector_bytes.saturating_mul(sectors), sector_count / sectors);
            if Self::for_geometry(&geometry).check(&geometry).is_ok() {
                return Some(sectors);
            }
            sectors *= 2;
        }
        None
    }

    /// Returns the settings if they fit a medium. For constants: settings that do not fit are an error of
    /// the compiler, which prints the broken rule.
    ///
    /// ```compile_fail
    /// # use steadyfs::{Config, media::Geometry};
    /// const CHIP: Geometry = Geometry::of_nor(4096, 4096); // roots of 16 MiB have no room in 4 KiB
    /// const CONFIG: Config = Config::for_geometry(&CHIP).must_fit(&CHIP);
    /// # let _ = CONFIG;
    /// ```
    ///
    /// # Panics
    /// If the settings do not fit. Settings of a medium that is known at run time alone are for
    /// [`check`](Self::check).
    pub const fn must_fit(self, geometry: &Geometry) -> Self {
        match self.check(geometry) {
            Ok(()) => self,
            Err(error) => panic!("{}", error.rule()),
        }
    }

    /// Checks the settings for a medium.
    ///
    /// # Errors
    /// The rule that is broken.
    pub const fn check(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        match Layout::derive(geometry, self) {
            Ok(_) => Ok(()),
            Err(rule) => Err(rule),
        }
    }
}

impl SectorLayout {
    /// The layout for a whole device of which nobody knows the allocation unit: the largest of 128 KiB to 4 MiB with which no more than a fortieth of the device is lost that
    /// a smaller one would leave for data. Small cards have small units, and a volume keeps some twenty for itself. From some 400 GiB on a block is 16 MiB.
    pub fn for_size(sectors: u32) -> Self {
        let layouts = UNITS.map(|unit| Self::for_device(sectors, unit));
        let usable = |layout: &Self| Config::for_sectors(layout).usable_bytes(&layout.geometry()) / SECTOR_BYTES as u64;
        let best = layouts.iter().map(usable).max().unwrap_or(0);
        let enough = |layout: &&Self| usable(layout) > 0 && usable(layout) + u64::from(sectors / 40) >= best;
        let large = Self::for_device(sectors, LARGE_UNIT);
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
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 1024, programs_bytes: false },
        Geometry { page_bytes: 512, pages_per_block: 32, block_count: 1024, programs_bytes: false },
    ];

    #[test]
    fn settings_for_so_much_memory_take_no_more_and_more_of_it_never_makes_them_worse() {
        let rank = |geometry: &Geometry, config: &Config| {
            let usual = Config::for_geometry(geometry);
            CHOICES.iter().position(|choice| usual.with_choice(geometry, choice) == *config).expect("one of the choices")
        };
        for geometry in &CHIPS {
            let usual = Config::for_geometry(geometry);
            let (mut last, mut different) = (usize::MAX, 0);
            for memory_bytes in (512..40_000).step_by(128) {
                let config = Config::for_geometry_with(geometry, memory_bytes);
                assert_eq!(config.check(geometry), Ok(()), "{geometry:?} with {memory_bytes}");
                let fits = config.memory_bytes(geometry) <= memory_bytes;
                let rank = rank(geometry, &config);
                assert!(fits || last == usize::MAX, "{geometry:?} with {memory_bytes}: nothing fits, and less was enough");
                if fits {
                    assert!(rank <= last, "{geometry:?}: {memory_bytes} buy {rank} where less bought {last}");
                    different += u32::from(rank < last);
                    last = rank;
                }
            }
            assert!(different > 1, "{geometry:?} has {different} settings");
            let just = usual.memory_bytes(geometry);
            assert_eq!(Config::for_geometry_with(geometry, just).memory_bytes(geometry), just, "{geometry:?}");
        }
    }

    /// Whatever somebody asks for: settings, which a check refuses where no volume can be.
    #[test]
    fn any_geometry_has_settings_and_a_check_that_refuses_them_where_it_is_none() {
        const EDGES: [u32; 13] = [0, 1, 3, 4, 255, 256, 2000, 4096, 16_384, 1 << 20, 1 << 26, 1 << 31, u32::MAX];
        for index in 0..EDGES.len().pow(3) {
            let edge = |power| EDGES[index / EDGES.len().pow(power) % EDGES.len()];
            let (page_bytes, pages_per_block, block_count) = (edge(0), edge(1), edge(2));
            for programs_bytes in [false, true] {
                let geometry = Geometry { page_bytes, pages_per_block, block_count, programs_bytes };
                let is_possible = (256..=16_384).contains(&page_bytes)
                    && page_bytes.is_power_of_two()
                    && (4..=PAGES_MAX).contains(&pages_per_block)
                    && (16..=0x10_0000).contains(&block_count);
                for config in
                    [Config::for_geometry(&geometry), Config::for_geometry_with(&geometry, 10_000), Config::for_disk(&geometry)]
                {
                    assert!(is_possible || config.check(&geometry).is_err(), "{geometry:?}: {config:?}");
                    let _ = (config.memory_bytes(&geometry), config.usable_bytes(&geometry), config.check_bytes(&geometry));
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
            assert_eq!(u32::from(config.unit_pages) * geometry.page_bytes % SECTOR_BYTES as u32, 0, "{geometry:?}");
            let is_small = geometry.page_bytes * geometry.pages_per_block < 4096;
            let check = config.check(geometry);
            assert!(check.is_ok() || (is_small && check == Err(ConfigError::BlockTooSmall)), "{geometry:?}: {check:?}");
            let narrow = Config { unit_pages: 1, ..config };
            let is_whole = geometry.page_bytes >= SECTOR_BYTES as u32;
            assert_eq!(narrow.check(geometry) == Err(ConfigError::SectorBytes), !is_whole, "{geometry:?}");
        }
    }

    #[test]
    fn the_journal_of_nor_holds_two_logical_pages_where_a_block_has_room() {
        for geometry in CHIPS.iter().filter(|geometry| geometry.programs_bytes) {
            let config = Config::for_geometry(geometry);
            let layout = Layout::derive(geometry, &config).expect("the usual settings");
            assert_eq!(layout.journal_bytes, (2 * layout.logical_bytes).clamp(512, JOURNAL_BYTES_MAX), "{geometry:?}");
        }
    }
}
