//! The settings of a new volume, as arguments.

use super::chip::profile;
use crate::Failure;
use clap::Args;
use std::num::ParseIntError;
use steadyfs::media::Geometry;
use steadyfs::media::nor::page_bytes_for;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorLayout, TagPlace};
use steadyfs::{Config, ConfigError};
use steadyfs_host::image::Shape;
use steadyfs_lab::bench::usual_block;
use steadyfs_lab::units::{format_size, parse_size};
use steadyfs_sim::{NorProfile, Profile};

/// The chip of a new image, and the settings of its volume.
#[derive(Args, Debug)]
pub struct Settings {
    /// The chip: a name (see `steady devices`) or a file in TOML
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = crate::device::any)]
    pub device: Option<String>,
    /// Replace an existing image
    #[arg(long)]
    pub force: bool,
    /// Erase every block, so that writes need no erase until all blocks were used; an MTD device
    /// is always erased
    #[arg(long)]
    pub erase: bool,
    /// A bad block of the target chip; may be repeated (NAND)
    #[arg(long, value_name = "BLOCK", allow_hyphen_values = true, help_heading = CHIP)]
    pub bad_block: Vec<u32>,
    /// Bytes of a page on NOR [default: 512, or 256 in blocks below 8KiB], or on a card or disk
    /// [default: 4KiB]
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = size,
        help_heading = CHIP
    )]
    pub page_bytes: Option<u32>,
    /// Bytes of an erase sector on NOR. Several form a block if one has no room for a root
    /// [default: a block of the device, or its smallest if that leaves fewer than 64]
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = size,
        help_heading = CHIP
    )]
    pub block_bytes: Option<u32>,
    /// Make a card or disk instead of a raw chip: a file of sectors; implied if IMG is a block
    /// device such as /dev/mmcblk0p2
    #[arg(
        long,
        help_heading = SECTORS,
        conflicts_with_all = ["device", "bad_block", "block_bytes"]
    )]
    pub block: bool,
    /// Bytes of the card or disk if its file is made [default: size of an existing file that has
    /// only zeros]. Or bytes of a NOR chip like --device, but of another size
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = parse_size,
        help_heading = SECTORS
    )]
    pub size: Option<u64>,
    /// Allocation unit of the card or disk: the size of a fast write in order [default: as Linux
    /// reports it, or by the size: 128KiB to 4MiB, and 16MiB from 511 GiB on]
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = size,
        help_heading = SECTORS
    )]
    pub unit: Option<u32>,
    /// Place of the tags: beside their pages suits cards; a table keeps pages aligned; within
    /// pages leaves an eighth more for data, in pages of 4,064 bytes [default: beside]
    #[arg(
        long,
        value_name = "beside|table|within",
        value_parser = tags,
        help_heading = SECTORS
    )]
    tags: Option<TagPlace>,
    /// Files and directories that the volume can hold
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::within::<u32>(1..=1 << 20)
    )]
    files_max: Option<u32>,
    /// Maximum bytes of a name
    #[arg(
        long,
        value_name = "BYTES",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::from::<u8>(1)
    )]
    name_bytes_max: Option<u8>,
    /// Keep no mode, owner and group of files: names of up to 64 bytes instead of 52 need no
    /// second entry of the file table
    #[arg(long, help_heading = VOLUME)]
    no_permissions: bool,
    /// Logical pages that one transaction may write
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u16>
    )]
    transaction_pages: Option<u16>,
    /// Blocks that may be bad before the volume is used up
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u16>
    )]
    bad_blocks_max: Option<u16>,
    /// Program failures that one call survives
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::within::<u8>(0..=8)
    )]
    failures: Option<u8>,
    /// Number of program pages in a logical page
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u16>
    )]
    pages_per_logical_page: Option<u16>,
    /// Changes of the map that are kept in RAM
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u16>
    )]
    overlay_entries: Option<u16>,
    /// Programs between two roots
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u16>
    )]
    checkpoint_programs: Option<u16>,
    /// Bytes of each page of the map that take changes, on NOR
    #[arg(
        long,
        value_name = "BYTES",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u8>
    )]
    leaf_log_bytes: Option<u8>,
    /// Number of program pages in the journal's buffer, on NOR
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u8>
    )]
    journal_pages: Option<u8>,
    /// Largest difference between the erase counts of two blocks: 8 to 200, or 0 for no wear
    /// levelling, on devices that level wear themselves
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::any::<u8>
    )]
    wear_spread: Option<u8>,
    /// Streams that files may choose, each with blocks of its own: 1 to 4
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        help_heading = VOLUME,
        value_parser = crate::number::within::<u8>(1..=4)
    )]
    streams: Option<u8>,
    /// Keep pages that reclamation moves in blocks of their stream
    #[arg(long, help_heading = VOLUME)]
    moved_apart: bool,
    /// Let the volume find the pages of one stream itself: with three streams, and moved pages
    /// apart, unless set otherwise
    #[arg(long, help_heading = VOLUME)]
    auto_streams: bool,
}

const CHIP: &str = "Chip";
const SECTORS: &str = "Card or disk";
const VOLUME: &str = "Volume (defaults follow from the chip)";

/// Allocation units that messages suggest.
const UNITS: [u32; 5] = [16 << 20, 4 << 20, 1 << 20, 512 << 10, 256 << 10];
/// A smaller number of units is too small for a volume, or nearly so.
const FEW_UNITS: u32 = 64;
/// Larger numbers of blocks to try if the blocks are too few.
const BLOCKS_TRIED: u32 = 1024;

fn size(text: &str) -> Result<u32, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    u32::try_from(bytes).map_err(|_| "expected less than 4 GiB".to_string())
}

/// Returns the bytes of an erase sector: the requested size if the chip has such sectors. Without
/// a request, returns the usual size for a chip of this size.
fn erase_sector(
    name: &str,
    nor: &NorProfile,
    asked: Option<u32>,
    size: Option<u64>,
) -> Result<u32, Failure> {
    let Some(asked) = asked else { return Ok(usual_block(nor, size)) };
    if nor.erases.iter().any(|erase| erase.bytes == asked) {
        return Ok(asked);
    }
    let sizes: Vec<String> =
        nor.erases.iter().map(|erase| format_size(erase.bytes.into())).collect();
    let (asked, sizes) = (format_size(asked.into()), sizes.join(", "));
    Err(Failure::usage(format!(
        "--block-bytes is {asked}; expected one of {sizes}, which {name} erases at once"
    )))
}

/// Returns the number of blocks of a chip.
fn count(size: u64, block_bytes: u32) -> Result<u32, Failure> {
    let expected = || {
        Failure::usage(format!(
            "--size is {size} bytes; expected a multiple of the block, {block_bytes} bytes"
        ))
    };
    let whole = size.is_multiple_of(block_bytes.into()).then(|| size / u64::from(block_bytes));
    whole
        .and_then(|count| u32::try_from(count).ok())
        .filter(|&count| count > 0)
        .ok_or_else(expected)
}

/// Reads the place of tags.
pub fn tags(text: &str) -> Result<TagPlace, String> {
    match text {
        "beside" => Ok(TagPlace::Beside),
        "table" => Ok(TagPlace::Table),
        "within" => Ok(TagPlace::Within),
        _ => Err("expected beside, table or within".to_string()),
    }
}

impl Settings {
    /// Returns the layout of a card or disk with this number of sectors. Its unit is the
    /// requested unit, or else the known unit of the device, if that leaves room for a volume.
    /// Without both, the unit suits the size.
    pub fn sector_layout(&self, sectors: u32, known_unit: Option<u32>) -> SectorLayout {
        let by_unit = |unit| SectorLayout::for_device(sectors, unit);
        let known = known_unit.map(by_unit).filter(|layout| usable_bytes(layout) > 0);
        let usual =
            self.unit.map(by_unit).or(known).unwrap_or_else(|| SectorLayout::for_size(sectors));
        SectorLayout {
            page_bytes: self.page_bytes.unwrap_or(usual.page_bytes),
            tags: self.tags.unwrap_or(TagPlace::Beside),
            ..usual
        }
    }

    /// Returns the named profile, and the shape of its chip.
    pub fn chip(&self) -> Result<(Profile, Shape), Failure> {
        let Some(device) = &self.device else {
            return Err(Failure::usage(
                "--device is missing; expected the chip that the image is for, see `steady \
                 devices`, or --block and --size for a card or disk",
            ));
        };
        let profile = profile(device)?;
        let of_sectors = [("--unit", self.unit.is_some()), ("--tags", self.tags.is_some())];
        if let Some((name, _)) = of_sectors.iter().find(|(_, is_set)| *is_set) {
            return Err(Failure::usage(format!(
                "{name} is for cards and disks; {} is a raw chip",
                profile.name
            )));
        }
        let shape = match (Shape::of(&profile), self.page_bytes, self.block_bytes, self.size) {
            (shape @ Shape::Nand { .. }, None, None, None) => shape,
            (Shape::Nand { .. }, ..) => {
                return Err(Failure::usage(format!(
                    "--size, --page-bytes and --block-bytes are for NOR; {} is NAND, with fixed \
                     sizes",
                    profile.name
                )));
            }
            (Shape::Nor { block_bytes, block_count, .. }, _, block, size) => {
                let sector_bytes = match profile.nor() {
                    Some(nor) => erase_sector(&profile.name, nor, block, size)?,
                    None => block_bytes,
                };
                let size = size.unwrap_or(u64::from(block_bytes) * u64::from(block_count));
                self.of_sectors(sector_bytes, count(size, sector_bytes)?)
            }
        };
        if matches!(shape, Shape::Nor { .. }) && !self.bad_block.is_empty() {
            return Err(Failure::usage(format!(
                "--bad-block is for NAND; {} is NOR, which has no marks of bad blocks",
                profile.name
            )));
        }
        Ok((profile, shape))
    }

    /// Returns the shape of NOR with this number of erase sectors.
    fn of_sectors(&self, sector_bytes: u32, sector_count: u32) -> Shape {
        let (page_bytes, block_bytes) = self.divide(sector_bytes, sector_count);
        Shape::Nor {
            page_bytes,
            block_bytes,
            block_count: sector_count / (block_bytes / sector_bytes),
        }
    }

    /// Returns the bytes of a page and of a block on NOR with this number of erase sectors. A
    /// block has as few sectors as the settings allow. If they never fit, a block is one sector,
    /// and the format fails.
    pub fn divide(&self, sector_bytes: u32, sector_count: u32) -> (u32, u32) {
        let powers =
            (0..8).map(|power| 1 << power).take_while(|&sectors| sector_count / sectors >= 16);
        let fits = |block_bytes: &u32| {
            let geometry = self.nor(*block_bytes, sector_count / (block_bytes / sector_bytes));
            geometry.is_some_and(|geometry| self.config(&geometry, None).is_ok())
        };
        let fitting = powers.filter_map(|sectors| sector_bytes.checked_mul(sectors)).find(fits);
        let block_bytes = fitting.unwrap_or(sector_bytes);
        (self.page_bytes.unwrap_or(page_bytes_for(block_bytes)), block_bytes)
    }

    /// Returns the geometry of NOR with such blocks; `None` if a block has no room for pages.
    fn nor(&self, block_bytes: u32, block_count: u32) -> Option<Geometry> {
        let page_bytes = self.page_bytes.unwrap_or(page_bytes_for(block_bytes));
        Shape::Nor { page_bytes, block_bytes, block_count }.geometry().ok()
    }

    /// Returns the settings of a file system for a medium.
    pub fn config(
        &self,
        geometry: &Geometry,
        layout: Option<&SectorLayout>,
    ) -> Result<Config, Failure> {
        let usual = layout.map_or_else(|| Config::for_geometry(geometry), Config::for_sectors);
        let files = Config {
            files_max: self.files_max.unwrap_or(usual.files_max),
            name_bytes_max: self.name_bytes_max.unwrap_or(usual.name_bytes_max),
            permissions: !self.no_permissions,
            ..usual
        };
        self.store_config(files, geometry, layout)
    }

    /// Returns the settings of a disk for a medium.
    pub fn disk_config(
        &self,
        geometry: &Geometry,
        layout: Option<&SectorLayout>,
    ) -> Result<Config, Failure> {
        self.check_disk()?;
        let usual = layout.map_or_else(|| Config::for_geometry(geometry), Config::for_sectors);
        self.store_config(Config { files_max: 0, ..usual }, geometry, layout)
    }

    /// Refuses settings that a disk does not have.
    pub fn check_disk(&self) -> Result<(), Failure> {
        let of_files = [
            ("--files-max", self.files_max.is_some()),
            ("--name-bytes-max", self.name_bytes_max.is_some()),
            ("--no-permissions", self.no_permissions),
        ];
        match of_files.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(Failure::usage(format!(
                "{name} is about files, and a disk has none; expected no {name} with --disk"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses settings that a read-only image does not have: it is no volume.
    pub fn check_read_only(&self) -> Result<(), Failure> {
        let of_volumes = [
            ("--block", self.block),
            ("--size", self.size.is_some()),
            ("--unit", self.unit.is_some()),
            ("--tags", self.tags.is_some()),
            ("--page-bytes", self.page_bytes.is_some()),
            ("--block-bytes", self.block_bytes.is_some()),
            ("--erase", self.erase),
            ("--files-max", self.files_max.is_some()),
            ("--name-bytes-max", self.name_bytes_max.is_some()),
            ("--no-permissions", self.no_permissions),
            ("--transaction-pages", self.transaction_pages.is_some()),
            ("--bad-blocks-max", self.bad_blocks_max.is_some()),
            ("--failures", self.failures.is_some()),
            ("--pages-per-logical-page", self.pages_per_logical_page.is_some()),
            ("--overlay-entries", self.overlay_entries.is_some()),
            ("--checkpoint-programs", self.checkpoint_programs.is_some()),
            ("--leaf-log-bytes", self.leaf_log_bytes.is_some()),
            ("--journal-pages", self.journal_pages.is_some()),
            ("--wear-spread", self.wear_spread.is_some()),
            ("--streams", self.streams.is_some()),
            ("--moved-apart", self.moved_apart),
            ("--auto-streams", self.auto_streams),
        ];
        match of_volumes.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(Failure::usage(format!(
                "{name} is about volumes that are written; expected no {name} with --read-only"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses settings that have no effect on a medium, or on one stream.
    fn check_effect(
        &self,
        geometry: &Geometry,
        layout: Option<&SectorLayout>,
    ) -> Result<(), Failure> {
        let is_nor = geometry.programs_bytes;
        let of_nor = [
            ("--leaf-log-bytes", self.leaf_log_bytes.is_some()),
            ("--journal-pages", self.journal_pages.is_some()),
        ];
        if let Some((name, _)) = of_nor.iter().find(|(_, is_set)| *is_set && !is_nor) {
            let medium = if layout.is_some() { "a card or disk" } else { "NAND" };
            return Err(Failure::usage(format!("{name} is for NOR; the medium is {medium}")));
        }
        match (layout, self.wear_spread) {
            (None, Some(0)) => Err(Failure::usage(
                "--wear-spread 0 is for devices that level wear; expected 8 to 200 on a raw chip",
            )),
            (Some(_), Some(spread @ 1..)) => Err(Failure::usage(format!(
                "--wear-spread {spread} is for raw chips; a card or disk levels wear, expected 0"
            ))),
            _ if self.moved_apart && !self.auto_streams && self.streams.unwrap_or(1) == 1 => {
                Err(Failure::usage(
                    "--moved-apart is for two streams or more; expected --streams 2 to 4 as well",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns the settings that files and disks share, in place of the usual ones.
    fn store_config(
        &self,
        usual: Config,
        geometry: &Geometry,
        layout: Option<&SectorLayout>,
    ) -> Result<Config, Failure> {
        self.check_effect(geometry, layout)?;
        let transaction_pages = self.transaction_pages.unwrap_or(usual.transaction_pages);
        // A transaction of another size has its share of the table on top of the usual one.
        let overlay = u32::from(usual.overlay_entries) - u32::from(usual.transaction_pages)
            + u32::from(transaction_pages);
        let config = Config {
            pages_per_logical_page: self
                .pages_per_logical_page
                .unwrap_or(usual.pages_per_logical_page),
            overlay_entries: self
                .overlay_entries
                .unwrap_or(u16::try_from(overlay).unwrap_or(u16::MAX)),
            transaction_pages,
            checkpoint_programs: self.checkpoint_programs.unwrap_or(usual.checkpoint_programs),
            leaf_log_bytes: self.leaf_log_bytes.unwrap_or(usual.leaf_log_bytes),
            journal_pages: self.journal_pages.unwrap_or(usual.journal_pages),
            wear_spread: self.wear_spread.unwrap_or(usual.wear_spread),
            bad_blocks_max: self.bad_blocks_max.unwrap_or(usual.bad_blocks_max),
            failures: self.failures.unwrap_or(usual.failures),
            streams: self.streams.unwrap_or(if self.auto_streams { 3 } else { usual.streams }),
            moved_apart: self.moved_apart || (self.auto_streams && self.streams.is_none()),
            auto_streams: self.auto_streams,
            ..usual
        };
        match (config.check(geometry), layout) {
            (Ok(()), _) => Ok(config),
            (Err(rule), None) => Err(Failure::usage(format!(
                "these settings do not fit the chip: {rule}{}",
                least_blocks(&config, geometry)
            ))),
            (Err(rule), Some(layout)) => Err(Failure::usage(does_not_fit(layout, &rule))),
        }
    }
}

/// Returns the smallest number of blocks that the settings fit, if the chip has too few blocks.
fn least_blocks(config: &Config, geometry: &Geometry) -> String {
    let count = geometry.block_count;
    let with = |block_count| config.check(&Geometry { block_count, ..*geometry });
    if with(count) != Err(ConfigError::TooFewBlocks) {
        return String::new();
    }
    let least = (count..=count + BLOCKS_TRIED).find(|&more| with(more).is_ok());
    least.map_or(String::new(), |least| format!("; found {count}, expected at least {least}"))
}

/// Returns the bytes of files that a card or disk can hold with the usual settings; 0 if these do
/// not fit.
fn usable_bytes(layout: &SectorLayout) -> u64 {
    Config::for_sectors(layout).usable_bytes(&layout.geometry())
}

/// Returns other allocation units, the largest first, with the bytes that each would leave for
/// files on a card or disk. Leaves out units without room.
pub fn other_units(layout: &SectorLayout) -> Vec<(u32, u64)> {
    let others = UNITS.iter().filter(|&&unit| unit != layout.block_sectors * SECTOR_BYTES as u32);
    let of_unit = |&unit: &u32| {
        let other = SectorLayout { block_sectors: unit / SECTOR_BYTES as u32, ..*layout };
        (unit, usable_bytes(&other))
    };
    others.map(of_unit).filter(|&(_, bytes)| bytes > 0).collect()
}

/// Returns the reason why settings do not fit a card or disk, and a unit that fits.
fn does_not_fit(layout: &SectorLayout, rule: &ConfigError) -> String {
    let (unit, units) =
        (u64::from(layout.block_sectors) * SECTOR_BYTES as u64, layout.geometry().block_count);
    let size = format_size(u64::from(layout.sectors) * SECTOR_BYTES as u64);
    if usable_bytes(layout) > 0 {
        return format!("these settings do not fit the card: {rule}");
    }
    let words = if units < FEW_UNITS {
        format!(
            "{size} have {units} allocation units of {}, too few for a volume",
            format_size(unit)
        )
    } else {
        format!("{size} in {units} allocation units of {}: {rule}", format_size(unit))
    };
    match other_units(layout).first() {
        Some(&(other, usable)) => {
            let other = format_size(other.into()).replace(' ', "");
            format!(
                "{words}; expected --unit {other}, which leaves {} for files, or less",
                format_size(usable)
            )
        }
        None if units < FEW_UNITS => format!("{words}; expected a larger card"),
        None => words,
    }
}

/// Returns the time in SOURCE_DATE_EPOCH, which reproducible builds set.
pub fn source_date_epoch() -> Result<Option<u64>, Failure> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let text = text.to_string_lossy();
    let seconds = text.parse::<u64>().map_err(|error: ParseIntError| error.to_string());
    let ns = seconds.and_then(|seconds| {
        seconds.checked_mul(1_000_000_000).ok_or_else(|| "is too late".to_string())
    });
    ns.map(Some).map_err(|reason| {
        Failure::new(format!(
            "SOURCE_DATE_EPOCH is `{text}`: {reason}; expected whole seconds since 1970"
        ))
    })
}
