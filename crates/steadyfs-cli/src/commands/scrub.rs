//! `steady scrub`: reads everything, so that weak pages are noticed, and moves them.

use super::tree::counted;
use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::{Memory, Mounted};
use crate::output::{print, print_json};
use crate::progress::Progress;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use steadyfs::media::{BlockIndex, Flash};
use steadyfs::{Access, BlockInfo, Budget, Description, Error, FileSystem, Health};
use steadyfs_lab::units::format_count;

/// Arguments of `steady scrub`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
The command reads every page that holds something. It moves a block if a page of it needed three
quarters of the corrections that the chip's ECC can make. A volume with data that has to last for
years needs this every few months; `steady mount` does it by itself. The file of an image has no
ECC: its pages are compared with their checksums. `steady check` gives details. The exit code is 1
if pages are lost.";

/// The result of a round through everything.
#[derive(Serialize, Debug, PartialEq, Eq)]
struct Round {
    reads: u32,
    /// Reads that needed a correction.
    corrected: u32,
    /// Largest number of bits corrected in a codeword since the mount, and the largest number
    /// that the chip can correct. 0 if the chip does not report it.
    worst_bits: u8,
    strength: u8,
    /// Blocks whose data moved, and weak blocks whose data did not: there is no room yet, or the
    /// leaf that maps the data is lost.
    moved_blocks: u32,
    weak_blocks: u32,
    /// Pages that cannot be read any more.
    lost: u32,
}

/// Runs `steady scrub`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut volume =
        Mounted::open(&arguments.image, &arguments.chip, Access::ReadWrite, &mut memory)?;
    if volume.health().read_only {
        return Err(volume.fail(Error::ReadOnly));
    }
    let mut progress = Progress::of(pages(&volume), "scrub");
    let round = scrub(&mut volume, &mut |reads| progress.add(reads.into()))
        .map_err(|error| volume.fail(error))?;
    drop(progress);
    let round = Round { lost: round.lost.max(unreadable(&mut volume)?), ..round };
    volume.close(&arguments.chip)?;
    if arguments.json {
        print_json(&round)?
    } else {
        print(&round.text())?
    }
    match round.lost {
        0 => Ok(()),
        lost => {
            let what = counted(lost.into(), "page is lost", "pages are lost");
            Err(Failure::at(
                arguments.image.display(),
                format!("{what}; expected none; `steady check` names the files"),
            ))
        }
    }
}

/// Returns the number of pages of files with a wrong checksum. The file of an image has no ECC
/// that would refuse them.
fn unreadable(volume: &mut Mounted<'_>) -> Result<u32, Failure> {
    let Mounted::Files(files) = &mut *volume else { return Ok(0) };
    let mut scratch = vec![0; files.fs.config().check_bytes(&files.fs.flash().geometry())];
    let checked = files.fs.check(&mut scratch, false, &mut |_| {});
    checked.map(|checked| checked.unreadable).map_err(|error| volume.fail(error))
}

/// A volume whose data at rest can be read.
trait AtRest {
    fn describe(&self) -> Description;
    fn block(&self, block: BlockIndex) -> Option<BlockInfo>;
    fn health(&self) -> Health;
    fn scrub(&mut self, budget: Budget) -> Result<bool, Error>;
    fn maintain(&mut self, budget: Budget) -> Result<bool, Error>;
}

/// The calls have the same names for every kind of volume.
macro_rules! at_rest {
    ($volume:ty, $maintain:expr $(, $flash:ident)?) => {
        impl$(<$flash: Flash>)? AtRest for $volume {
            fn describe(&self) -> Description {
                self.describe()
            }

            fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
                self.block(block)
            }

            fn health(&self) -> Health {
                self.health()
            }

            fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
                self.scrub(budget)
            }

            fn maintain(&mut self, budget: Budget) -> Result<bool, Error> {
                $maintain(self, budget)
            }
        }
    };
}

at_rest!(Mounted<'_>, Mounted::maintain);
at_rest!(FileSystem<'_, F>, |fs: &mut Self, budget| fs.maintain(budget, 0), F);

/// Returns the number of pages that hold data.
fn pages(volume: &impl AtRest) -> u64 {
    let description = volume.describe();
    let live = |block| volume.block(block).map_or(0, |block| u64::from(block.live));
    let frames: u64 = (0..description.geometry.block_count).map(live).sum();
    frames * u64::from(description.config.pages_per_logical_page)
}

/// Reads everything once, and moves weak data. Calls `step` with the number of new reads.
fn scrub(volume: &mut impl AtRest, step: &mut dyn FnMut(u32)) -> Result<Round, Error> {
    // A block takes a root and more, so this suffices for the largest step.
    let slice = Budget::Operations(4 * volume.describe().geometry.pages_per_block);
    let before = volume.health();
    let mut reads = before.reads;
    while !volume.scrub(slice)? {
        let now = volume.health().reads;
        step(now - reads);
        reads = now;
    }
    let after = volume.health();
    match volume.maintain(Budget::Operations(u32::MAX)) {
        // If a leaf of the map is lost, some data cannot move. The loss was counted, and the
        // round is reported.
        Ok(_) | Err(Error::Corrupt) => {}
        Err(error) => return Err(error),
    }
    let weak_blocks = volume.health().weak_blocks;
    Ok(Round {
        reads: after.reads - before.reads,
        corrected: after.corrected_reads - before.corrected_reads,
        worst_bits: after.worst.bits,
        strength: after.worst.strength,
        moved_blocks: after.weak_blocks.saturating_sub(weak_blocks),
        weak_blocks,
        lost: after.lost_reads - before.lost_reads,
    })
}

impl Round {
    fn text(&self) -> String {
        let corrected = match self.strength {
            0 => "the chip does not report its corrections".to_string(),
            strength => {
                let count = counted(
                    self.corrected.into(),
                    "page needed a correction",
                    "pages needed corrections",
                );
                format!("{count}, at worst {} of {strength} bits", self.worst_bits)
            }
        };
        let waiting = match self.weak_blocks {
            0 => String::new(),
            count => format!(", {} could not move yet", format_count(count.into())),
        };
        format!(
            "{}: {corrected}\n{}{waiting}\n{}\n",
            counted(self.reads.into(), "page read", "pages read"),
            counted(self.moved_blocks.into(), "weak block moved", "weak blocks moved"),
            counted(self.lost.into(), "page lost", "pages lost"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs::media::Geometry;
    use steadyfs::{Config, OpenOptions};
    use steadyfs_sim::fault::{BitErrorModel, BitErrors};
    use steadyfs_sim::{Nand, NandTiming};

    const GEOMETRY: Geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
    const MONTH_HOURS: u32 = 730;

    /// Returns the results of two rounds on a chip that has aged.
    fn rounds_after(months: u32) -> [Round; 2] {
        let model = BitErrorModel {
            fresh: 0.0,
            worn: 0.0,
            retention: 2.0,
            disturb: 0.0,
            weak_permille: 0,
            ..BitErrorModel::SLC
        };
        let chip = BitErrors::new(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1))
            .with_model(model, 1)
            .with_erases(100_000);
        let config = Config::for_geometry(&GEOMETRY);
        let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
        let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
        let mut file = fs.open("rest", OpenOptions::DURABLE).unwrap();
        for page in 0..200 {
            fs.write(&mut file, page * 512, &[page as u8; 512]).unwrap();
        }
        fs.close(file).unwrap();
        fs.flash_mut().advance_hours(months * MONTH_HOURS);
        [(); 2].map(|()| {
            let (pages, mut seen) = (pages(&fs), 0);
            let round = scrub(&mut fs, &mut |reads| seen += u64::from(reads)).unwrap();
            assert!(
                u64::from(round.reads) >= pages && seen <= u64::from(round.reads),
                "{round:?}, {pages} pages"
            );
            round
        })
    }

    #[test]
    fn what_is_weak_moves_and_is_as_new_in_the_next_round() {
        let [first, second] = rounds_after(10);
        assert!(first.corrected > 100 && first.moved_blocks > 2, "{first:?}");
        assert_eq!((first.weak_blocks, first.lost), (0, 0));
        assert!(second.moved_blocks == 0 && second.corrected < first.corrected, "{second:?}");
        let worst = format!("pages needed corrections, at worst {} of 8 bits\n", first.worst_bits);
        assert!(first.text().contains(&worst), "{}", first.text());
    }

    #[test]
    fn what_nobody_read_for_years_is_counted_as_lost() {
        let [round, _] = rounds_after(40);
        assert!(round.lost > 0, "{round:?}");
        assert!(round.text().ends_with("pages lost\n"), "{}", round.text());
    }
}
