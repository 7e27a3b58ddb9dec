//! The plan: published measurements, and the runs that repeat them.

use super::step::Step;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use steadyfs_lab::bench::Medium;
use steadyfs_lab::evaluate::find_profile;
use steadyfs_sim::{Chip as ChipKind, Driver, NandTiming, NorTiming, Profile, TimingChoice};

const DOCUMENT: &str = include_str!("../../assets/boards.toml");

/// Clock edges that a byte takes on four data lines, in picoseconds at 1 MHz.
const FOUR_LINES: u32 = 2_000_000;

/// Everything that was published, and everything that is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The sources, by a short name.
    pub source: BTreeMap<String, Source>,
    /// The runs.
    pub run: Vec<Run>,
}

/// A publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its title.
    pub title: String,
    /// Its address.
    pub link: String,
    /// The measured board.
    pub board: String,
    /// True if the publication itself was not read.
    #[serde(default)]
    pub second_hand: bool,
}

/// Work on a simulated chip, and the published figures of the same work.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// A short name, for the command line.
    pub id: String,
    /// The source of its figures.
    pub source: String,
    /// The file system: `littlefs`, `spiffs`, `fatfs-on-dhara`; `raw` and `card` for none; `linux`
    /// for results of bench/linux.json.
    pub system: String,
    /// Its settings, where they differ from the settings of the comparison.
    #[serde(default)]
    pub settings: Settings,
    /// The profile of the chip.
    pub device: String,
    /// Bytes of the chip that are used.
    pub size: u64,
    /// Bytes of an erase block. Default the only size, or the default of the profile.
    pub erase: Option<u32>,
    /// The bus, if it differs from the bus of the profile.
    pub bus: Option<Bus>,
    /// The reason for chip and settings, or the conditions that the source leaves open.
    pub because: String,
    /// The figure that calibrates the time of the driver, by its name.
    pub calibrate: Option<Calibration>,
    /// The work.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The published figures.
    pub figure: Vec<Figure>,
    /// The reason for figures that are off by more than 20 %.
    pub off: Option<String>,
    /// True if the run only explains the figures of another run.
    #[serde(default)]
    pub is_experiment: bool,
}

/// Settings of a contender. 0 is the setting of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Block of the file system.
    pub block: u32,
    /// `read_size` of littlefs.
    pub read: u32,
    /// `prog_size` of littlefs.
    pub program: u32,
    /// `cache_size` of littlefs.
    pub cache: u32,
    /// `lookahead_size` of littlefs.
    pub lookahead: u32,
    /// `block_cycles` of littlefs.
    pub cycles: u32,
    /// `metadata_max` of littlefs.
    pub metadata: u32,
    /// Logical page of SPIFFS.
    pub page: u32,
    /// Cache pages of SPIFFS.
    pub cache_pages: u32,
    /// Descriptors of SPIFFS.
    pub descriptors: u32,
    /// SPIFFS forgets the places of closed files, as without its temporal cache.
    pub forgets: bool,
}

/// A serial bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Clock in MHz.
    pub mhz: u32,
    /// Data lines.
    pub lines: u32,
}

/// A calibration: the figure, and the time of the driver that it sets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The name of the figure.
    pub by: String,
    /// The part of the driver's time.
    pub of: DriverPart,
}

/// A part of the driver's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverPart {
    /// The same time for each command.
    Command,
    /// Time for each read command.
    Read,
    /// Time for each program command.
    Program,
    /// Time for each byte.
    Byte,
}

/// A published figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// A name within the run.
    pub name: String,
    /// The measured work, in words.
    pub what: String,
    /// The step, by its label.
    pub of: String,
    /// The quantity of the step.
    pub measure: Measure,
    /// The published value, in the unit of the quantity: milliseconds, kB/s, or a count. The middle
    /// of a range.
    pub published: f64,
    /// The published value as text, if it is a range.
    pub shown: Option<String>,
}

/// A quantity of a step.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Time of the step, in milliseconds.
    Total,
    /// Mean time of a file, in milliseconds.
    MeanFile,
    /// Time of one of the files, in milliseconds.
    File(usize),
    /// Median time of a file, in milliseconds.
    MedianFile,
    /// Longest time of a file, in milliseconds.
    LongestFile,
    /// Median time of a call, in milliseconds.
    MedianCall,
    /// Longest time of a call, in milliseconds.
    LongestCall,
    /// Payload by time, in kB/s.
    Rate,
    /// Read commands.
    Reads,
    /// Bytes that the chip sent.
    BytesRead,
}

/// The basis of a simulated value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The datasheet alone.
    Prediction,
    /// One other figure of the same board, with this name.
    Calibration,
    /// The figure itself: no result.
    Itself,
    /// Other conditions than those of the board, to explain a figure: no result.
    Experiment,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Basis::Prediction => "prediction",
            Basis::Calibration => "calibration",
            Basis::Itself => "itself",
            Basis::Experiment => "experiment",
        })
    }
}

impl Plan {
    /// Returns the built-in plan.
    ///
    /// # Panics
    /// If the built-in document is wrong, which a test excludes.
    pub fn built_in() -> Plan {
        Plan::from_toml(DOCUMENT).unwrap_or_else(|error| panic!("assets/boards.toml: {error}"))
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// The place and the reason.
    pub fn from_toml(text: &str) -> Result<Plan, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns a run by its name.
    pub fn run(&self, id: &str) -> Option<&Run> {
        self.run.iter().find(|run| run.id == id)
    }
}

impl Run {
    /// Returns the basis of a figure.
    pub fn basis(&self, figure: &Figure) -> Basis {
        match &self.calibrate {
            _ if self.is_experiment => Basis::Experiment,
            None => Basis::Prediction,
            Some(calibration) if calibration.by == figure.name => Basis::Itself,
            Some(_) => Basis::Calibration,
        }
    }

    /// Returns the simulated chip, with this time of the driver.
    ///
    /// # Errors
    /// The reason why there is no such chip.
    pub fn medium(&self, driver: &Driver) -> Result<Medium, String> {
        let mut profile = find_profile(&self.device).map_err(|error| error.to_string())?;
        if let Some(bus) = self.bus {
            bus.set(&mut profile);
        }
        let profile = profile.with_driver(driver);
        let choice = TimingChoice::Typical;
        match &profile.chip {
            ChipKind::Nand(nand) => {
                let mut geometry = nand.geometry();
                geometry.block_count =
                    (self.size / u64::from(geometry.page_bytes * geometry.pages_per_block)) as u32;
                let timing = NandTiming::of(nand, choice);
                Ok(Medium::Nand { geometry, timing, on_chip_copy: nand.on_chip_copy })
            }
            ChipKind::Nor(nor) => {
                let block_bytes = self.erase.unwrap_or(nor.default_erase_bytes);
                let block_count = (self.size / u64::from(block_bytes)) as u32;
                let timing = NorTiming::of(nor, block_bytes, choice)
                    .ok_or_else(|| format!("{} has no erase of {block_bytes}", self.device))?;
                Ok(Medium::Nor { block_bytes, block_count, timing })
            }
        }
    }
}

impl Bus {
    /// Gives a profile with four data lines this bus.
    fn set(self, profile: &mut Profile) {
        let slow = |(commands, bytes): ([&mut u32; 3], [&mut u32; 2])| {
            let old_mhz = f64::from(FOUR_LINES) / f64::from(*bytes[0]);
            for ns in commands {
                *ns = (f64::from(*ns) * old_mhz / f64::from(self.mhz)).round() as u32;
            }
            for ps in bytes {
                *ps = 4 * FOUR_LINES / self.mhz / self.lines;
            }
        };
        slow(match &mut profile.chip {
            ChipKind::Nand(nand) => (
                [
                    &mut nand.read_command_ns,
                    &mut nand.program_command_ns,
                    &mut nand.erase_command_ns,
                ],
                [&mut nand.bus_read_ps_per_byte, &mut nand.bus_program_ps_per_byte],
            ),
            ChipKind::Nor(nor) => (
                [&mut nor.read_command_ns, &mut nor.program_command_ns, &mut nor.erase_command_ns],
                [&mut nor.bus_read_ps_per_byte, &mut nor.bus_program_ps_per_byte],
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use steadyfs_lab::evaluate::find_managed;

    #[test]
    fn every_name_of_the_plan_leads_somewhere() {
        let plan = Plan::built_in();
        let mut ids = BTreeSet::new();
        for run in &plan.run {
            assert!(ids.insert(&run.id), "{} twice", run.id);
            assert!(plan.source.contains_key(&run.source), "{}: {}", run.id, run.source);
            if find_managed(&run.device).is_err() {
                run.medium(&Driver::default())
                    .unwrap_or_else(|error| panic!("{}: {error}", run.id));
            }
            let linux = super::super::linux::mounts().unwrap();
            let labels: Vec<_> = run.steps.iter().flat_map(Step::labels).collect();
            for figure in &run.figure {
                let is_there = labels.contains(&figure.of.as_str());
                let is_kept = run.system == "linux" && linux.contains_key(&figure.of);
                assert!(is_there || is_kept, "{}: {}", run.id, figure.of);
                assert!(figure.published > 0.0, "{}: {}", run.id, figure.name);
            }
            if let Some(calibration) = &run.calibrate {
                let is_there = run.figure.iter().any(|figure| figure.name == calibration.by);
                assert!(is_there, "{}: {}", run.id, calibration.by);
            }
        }
        let used: BTreeSet<_> = plan.run.iter().map(|run| run.source.as_str()).collect();
        assert_eq!(used, plan.source.keys().map(String::as_str).collect());
    }
}
