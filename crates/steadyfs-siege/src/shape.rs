//! Media with matching settings, drawn from a seed.

use steadyfs::media::sectors::{SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, OpenOptions};

use crate::card::pages::CardPages;
use crate::card::{Cache, Card, Held};
use crate::chip::Chip;
use crate::medium::Medium;

/// Freedom in the choice of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// The settings of `Config::for_geometry`.
    Default,
    /// Any settings that `Config::check` accepts.
    Any,
}

fn any_geometry(rng: &mut fastrand::Rng, pages_max: u32) -> Geometry {
    loop {
        let page_bytes = *rng.choice(&[256, 256, 512, 512, 1024, 2048]).expect("one of them");
        let pages_per_block = *rng.choice(&[8, 12, 16, 20, 24, 32, 48, 64]).expect("one of them");
        let block_count = rng.u32(24..=128);
        if pages_per_block * block_count <= pages_max {
            return Geometry {
                page_bytes,
                pages_per_block,
                block_count,
                programs_bytes: rng.bool(),
            };
        }
    }
}

/// Returns the usual settings, or draws any settings.
fn any_config(rng: &mut fastrand::Rng, usual: Config, settings: Settings) -> Config {
    let mut config = usual;
    if settings == Settings::Default {
        return config;
    }
    config.pages_per_logical_page = 1 << rng.u32(..3);
    config.transaction_pages = rng.u16(8..40);
    config.overlay_entries = config.transaction_pages + 40 + rng.u16(..60);
    config.checkpoint_programs = rng.u16(16..200);
    config.wear_spread = rng.u8(8..40);
    config.bad_blocks_max = rng.u16(2..6);
    config.files_max = rng.u32(12..200);
    config.failures = rng.u8(..4);
    // The usual length of a leaf's log may not fit the other drawn settings.
    config.leaf_log_bytes = 96;
    config
}

/// Returns settings with leaves that take more changes, and with longer records of the journal.
/// Each change applies only if there is room for it.
pub fn with_long_logs(config: Config, geometry: &Geometry) -> Config {
    let or = |config: Config, longer: Config| {
        if longer.check(geometry).is_ok() { longer } else { config }
    };
    let config = or(config, Config { leaf_log_bytes: 168, ..config });
    or(config, Config { journal_pages: (2048 / geometry.page_bytes).clamp(1, 8) as u8, ..config })
}

/// Returns settings with moves in groups of up to sixteen frames, as many as fit, for media that
/// level wear themselves.
pub fn with_groups(config: Config, geometry: &Geometry, seed: u64) -> Config {
    let most = fastrand::Rng::with_seed(!seed).u16(2..=16) * config.pages_per_logical_page;
    let fits = |move_group: u16| {
        Some(Config { move_group: move_group as u8, ..config })
            .filter(|config| config.check(geometry).is_ok())
    };
    (2 * config.pages_per_logical_page..=most.min(64)).rev().find_map(fits).unwrap_or(config)
}

/// Returns settings with two to four streams, if the volume is large enough. The function has its
/// own random numbers, so that all other choices stay the same without streams.
pub fn with_streams(config: Config, geometry: &Geometry, seed: u64) -> Config {
    let mut rng = fastrand::Rng::with_seed(!seed);
    let most = rng.u8(2..=4);
    let moved_apart = rng.bool();
    let auto_streams = rng.bool();
    let fits = |streams: u8| {
        Some(Config { streams, moved_apart, auto_streams, ..config })
            .filter(|config| config.check(geometry).is_ok())
    };
    (2..=most).rev().find_map(fits).unwrap_or(config)
}

/// Draws a geometry and matching settings.
pub fn any_shape(
    rng: &mut fastrand::Rng,
    settings: Settings,
    pages_max: u32,
) -> (Geometry, Config) {
    loop {
        let geometry = any_geometry(rng, pages_max);
        let config = any_config(rng, Config::for_geometry(&geometry), settings);
        if config.check(&geometry).is_ok() {
            return (geometry, config);
        }
    }
}

/// Draws a chip that programs several pages in one command, and settings with groups of moves.
pub fn any_chip_of_groups(
    rng: &mut fastrand::Rng,
    settings: Settings,
    pages_max: u32,
    seed: u64,
    with: impl Fn(Config, &Geometry) -> Config,
) -> (Medium, Config) {
    let grouped = |config: Config, geometry: &Geometry| {
        let config = Config { wear_spread: 0, ..config };
        with(
            if config.check(geometry).is_ok() {
                with_groups(config, geometry, seed)
            } else {
                config
            },
            geometry,
        )
    };
    loop {
        let (medium, config) = any_chip(rng, settings, pages_max, grouped);
        if let (Medium::Chip(chip), true) = (medium, config.move_group > 1) {
            return (Medium::Chip(Box::new(chip.with_groups())), config);
        }
    }
}

/// Draws a chip, and settings for it.
pub fn any_chip(
    rng: &mut fastrand::Rng,
    settings: Settings,
    pages_max: u32,
    with: impl Fn(Config, &Geometry) -> Config,
) -> (Medium, Config) {
    let (geometry, config) = any_shape(rng, settings, pages_max);
    let config = with(config, &geometry);
    let mut chip = Chip::new(geometry, rng.bool(), rng.u32(..4) == 0, rng.u64(..));
    if rng.u32(..4) == 0 && config.bad_blocks_max > 2 {
        // Manufacturers promise that block 0 is good.
        chip.make_factory_bad(rng.u32(1..geometry.block_count));
    }
    (Medium::Chip(Box::new(chip)), config)
}

/// Places of the tags of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Tags lie in sectors of their own, beside their pages or in a table.
    Apart,
    /// Tags lie within their pages.
    Within,
}

fn any_layout(rng: &mut fastrand::Rng, pages_max: u32, place: Tags) -> SectorLayout {
    loop {
        let size = *rng.choice(&[1, 1, 1, 2, 4, 8]).expect("one of them");
        let pages_per_block = *rng.choice(&[8, 12, 15, 16, 21, 32, 48, 64]).expect("one of them");
        let tags = match (place, rng.bool()) {
            (Tags::Within, _) => TagPlace::Within,
            (Tags::Apart, true) => TagPlace::Beside,
            (Tags::Apart, false) => TagPlace::Table,
        };
        let (headers, each) = match tags {
            TagPlace::Beside => (2, size + 1),
            TagPlace::Table => (2 + size - 1, size + 1),
            TagPlace::Within => (size.max(2), size),
        };
        let block_sectors = headers + pages_per_block * each + rng.u32(..=size);
        let block_count = rng.u32(24..=128);
        let sectors = block_sectors * block_count + rng.u32(..block_sectors);
        if pages_per_block * block_count <= pages_max {
            return SectorLayout {
                first: rng.u32(..40),
                sectors,
                block_sectors,
                page_bytes: size * 512,
                tags,
                volume: rng.u32(1..),
            };
        }
    }
}

fn any_cache(rng: &mut fastrand::Rng) -> Cache {
    let sectors_max = *rng.choice(&[0, 8, 60, 1_000, 100_000]).expect("one of them");
    Cache { sectors_max, reorders: rng.bool() }
}

/// Draws a card, and settings for it. Some cards had a volume before.
pub fn any_card(
    rng: &mut fastrand::Rng,
    settings: Settings,
    pages_max: u32,
    tags: Tags,
    with: impl Fn(Config, &Geometry) -> Config,
) -> (Medium, Config) {
    let (layout, config) = loop {
        let layout = any_layout(rng, pages_max, tags);
        let mut config = any_config(rng, Config::for_sectors(&layout), settings);
        // On most cards, the card itself levels wear and replaces bad blocks.
        if rng.u32(..4) != 0 {
            (config.wear_spread, config.bad_blocks_max) = (0, 0);
        }
        if config.check(&layout.geometry()).is_ok() {
            break (layout, with(config, &layout.geometry()));
        }
    };
    let cache = any_cache(rng);
    let mut card = Card::new(
        layout.first + layout.sectors + rng.u32(..50),
        cache,
        rng.u32(..4) == 0,
        rng.u64(..),
    );
    if tags == Tags::Within {
        spoil_some(&card, layout.volume);
    }
    let (mut layout, is_second) = (layout, rng.u32(..4) == 0);
    if is_second {
        let pages = CardPages::new(card, layout).expect("a layout that is possible").flash;
        card = with_a_volume(pages, &config).into_device();
        layout = layout.renewed(&mut card).expect("a sound card");
    }
    let pages = CardPages::new(card, layout).expect("a layout that is possible");
    (Medium::Card(Box::new(pages)), config)
}

/// Gives every second card sectors that cannot be read until they are written. An erase writes no
/// sectors but headers. The function has its own random numbers, so that all other choices stay
/// the same without it.
fn spoil_some(card: &Card, seed: u32) {
    let mut rng = fastrand::Rng::with_seed(!u64::from(seed));
    let is_spoilt = rng.bool();
    let each = rng.u32(8..200);
    for sector in 0..steadyfs::media::sectors::SectorDevice::sector_count(card) {
        if is_spoilt && rng.u32(..each) == 0 {
            card.spoil(sector, Held::Unreadable);
        }
    }
}

/// Leaves a volume with some content, as much as there is room for.
fn with_a_volume(mut flash: SectorPages<Card>, config: &Config) -> SectorPages<Card> {
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    FileSystem::format(&mut flash, config, &mut memory).expect("a sound card");
    let mut fs =
        FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory).expect("a sound card");
    if let Ok(mut file) = fs.open("before", OpenOptions::DURABLE) {
        let _ = (0..40).try_for_each(|round| fs.write(&mut file, 0, &[round; 1_500]));
    }
    flash
}
