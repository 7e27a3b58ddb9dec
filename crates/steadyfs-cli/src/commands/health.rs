//! `steady health`: shows the spare blocks, the wear and the life of a chip.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::volume::WORN_OUT;
use crate::image::{Memory, Mounted};
use crate::output::Numbers;
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use steadyfs::media::Flash;
use steadyfs::media::sectors::SECTOR_BYTES;
use steadyfs::{Access, Damage};
use steadyfs_host::block;
use steadyfs_host::damage;
use steadyfs_lab::table::facts;
use steadyfs_lab::units::{format_count, format_percent, format_size};

/// Arguments of `steady health`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Erases that a block takes, to compute the used share of its life [default: from --device]
    #[arg(
        long,
        value_name = "ERASES",
        allow_hyphen_values = true,
        value_parser = crate::number::from::<u32>(1)
    )]
    endurance: Option<u32>,
    #[command(flatten)]
    numbers: Numbers,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Nothing is written. Spare blocks may still go bad before the volume shrinks. Weak blocks are the
blocks that the mount itself met; `steady scrub` reads all blocks. A card or disk does not report
its weak and spare blocks. An eMMC reports its life, if Linux supports it. The exit code is 1 if the
volume can only be read, because too many blocks are bad or something is lost.

Example:
  steady health /dev/mtd3 --endurance 100000 --json -";

/// The state of a chip.
#[derive(Serialize, Debug)]
struct State {
    blocks: u32,
    /// Blocks that hold data or may hold data: neither bad nor reserved for superblocks and the
    /// ring of roots. The erase counts are about these blocks.
    data_blocks: u32,
    /// Includes the bad blocks of the manufacturer.
    bad_blocks: u32,
    /// Blocks that may still go bad before the volume shrinks. A card or disk has none, because
    /// it replaces its blocks by itself.
    spare_blocks: u32,
    /// True for a card or disk, whose blocks are not the blocks of the chips inside.
    managed: bool,
    /// Bytes of a block.
    block_bytes: u64,
    /// Largest used share of the device's life, in percent, as the device reports it; `None`
    /// without a report.
    device_life_percent: Option<u32>,
    /// Blocks whose data is to move. A card or disk has none, because it corrects by itself and
    /// reports nothing.
    weak_blocks: u32,
    erases_min: u32,
    erases_mean: f64,
    erases_max: u32,
    erases_total: u64,
    /// Erases that a block takes; `None` if neither the arguments nor the profile give them.
    endurance: Option<u32>,
    life_used_permille: Option<u32>,
    /// True if so many blocks are bad that the volume can only be read.
    worn_out: bool,
    /// The loss: root, record, journal or leaf; `None` if everything is there.
    damage: Option<&'static str>,
    /// True if a mount for writing may decide otherwise about the last commit.
    unsettled: bool,
    #[serde(skip)]
    lost: Option<Damage>,
}

/// Runs `steady health`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.numbers.check()?;
    let endurance = match arguments.endurance {
        None => arguments.chip.endurance()?,
        told => told,
    };
    let mut memory = Memory::default();
    let volume =
        Mounted::examine(&arguments.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let state = State::of(&volume, endurance, block::life_used_percent(&arguments.image));
    volume.close(&arguments.chip)?;
    arguments.numbers.write(&state)?;
    let image = arguments.image.display();
    match state.lost {
        _ if state.worn_out => Err(Failure::at(image, format!("is worn out: {WORN_OUT}"))),
        Some(lost) => {
            Err(Failure::at(image, format!("{}; {}", damage::describe(lost), damage::REMEDY)))
        }
        None => Ok(()),
    }
}

impl State {
    fn spare(&self) -> String {
        match self.managed {
            true => "none needed: a card or disk replaces its blocks by itself".to_string(),
            false => format!("{} left", format_count(self.spare_blocks.into())),
        }
    }

    fn of(volume: &Mounted<'_>, endurance: Option<u32>, device_life_percent: Option<u32>) -> Self {
        let (health, lost, geometry) = (volume.health(), volume.damage(), volume.chip().geometry());
        let layout = volume.chip().sector_layout();
        let pages_bytes = u64::from(geometry.pages_per_block) * u64::from(geometry.page_bytes);
        Self {
            blocks: geometry.block_count,
            block_bytes: layout.map_or(pages_bytes, |layout| {
                u64::from(layout.block_sectors) * SECTOR_BYTES as u64
            }),
            device_life_percent,
            data_blocks: health.blocks,
            bad_blocks: health.bad_blocks,
            spare_blocks: health.spare_blocks,
            managed: layout.is_some(),
            weak_blocks: health.weak_blocks,
            erases_min: health.erases_min,
            erases_mean: health.erases_total as f64 / f64::from(health.blocks.max(1)),
            erases_max: health.erases_max,
            erases_total: health.erases_total,
            endurance,
            life_used_permille: endurance.map(|endurance| health.life_used_permille(endurance)),
            worn_out: health.worn_out,
            damage: lost.map(damage::name),
            unsettled: volume.is_unsettled(),
            lost,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: u32| format_count(number.into());
        let erases = format!(
            "least {}, mean {:.1}, most {}",
            count(self.erases_min),
            self.erases_mean,
            count(self.erases_max)
        );
        let size = format_size(self.block_bytes);
        let blocks = format!(
            "{} of {size}, {} of them for data",
            count(self.blocks),
            count(self.data_blocks)
        );
        let (name, weak, erased) = match self.managed {
            true => (
                "Units",
                "not reported: a card or disk corrects by itself".to_string(),
                "units for data, by the volume",
            ),
            false => ("Blocks", count(self.weak_blocks), "blocks for data"),
        };
        f.write_str(&facts([
            (name, blocks),
            ("Bad blocks", count(self.bad_blocks)),
            ("Spare blocks", self.spare()),
            ("Weak blocks", weak),
            ("Erases", format!("{erases}, of {erased}")),
        ]))?;
        match self.device_life_percent {
            Some(percent @ 0..=100) => f.write_str(&facts([(
                "Life used",
                format!("{percent} % at most, as the device reports"),
            )]))?,
            Some(_) => {
                let life = "all of it, as the device reports".to_string();
                f.write_str(&facts([("Life used", life)]))?
            }
            None if self.managed && self.endurance.is_none() => {
                f.write_str(&facts([(
                    "Life used",
                    "not reported: a card or disk erases by itself".to_string(),
                )]))?;
            }
            None => {}
        }
        if let (Some(endurance), Some(permille)) = (self.endurance, self.life_used_permille) {
            let share = format_percent(f64::from(permille) / 1000.0);
            f.write_str(&facts([(
                "Life used",
                format!("{share} of {} erases a block", count(endurance)),
            )]))?;
        }
        let state = match self.lost {
            _ if self.worn_out => format!("worn out: {WORN_OUT}"),
            Some(lost) => format!("damaged: {}", damage::describe(lost)),
            None if self.unsettled => format!("can be written; {}", damage::UNSETTLED),
            None => "can be written".to_string(),
        };
        f.write_str(&facts([("State", state)]))
    }
}
