//! `steady realtime`: finds the media that keep an input rate, and the RAM that each needs.

use crate::Failure;
use crate::chip::DriverArgument;
use crate::output::Outputs;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use std::sync::{Mutex, PoisonError};
use steadyfs::media::sectors::TagPlace;
use steadyfs_lab::realtime::{self, Loss, Options};
use steadyfs_lab::report::RealtimeReport;
use steadyfs_lab::units::{parse_duration, parse_percent, parse_rate, parse_size};

/// Arguments of `steady realtime`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Cards, eMMC or disks, separated by commas: names (see `steady devices`) or files in TOML
    /// [default: sd-industrial,sd-consumer]
    #[arg(
        long,
        value_name = "NAME|FILE.toml,…",
        value_delimiter = ',',
        value_parser = crate::device::managed
    )]
    card: Vec<String>,
    /// Raw NAND: a name or a file in TOML
    #[arg(
        long,
        value_name = "NAME|FILE.toml",
        default_value = "mt29f1g01abafd",
        value_parser = crate::device::raw_nand
    )]
    nand: String,
    /// Input rate for the advice
    #[arg(
        long,
        value_name = "RATE",
        allow_hyphen_values = true,
        default_value = "500kB/s",
        value_parser = parse_rate
    )]
    rate: u64,
    /// RAM for buffer and file system
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "64KiB",
        value_parser = parse_size
    )]
    ram: u64,
    /// Accesses of each run
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 100_000,
        value_parser = crate::number::within::<u32>(Options::ACCESSES.range())
    )]
    accesses: u32,
    /// Share of each volume that holds data
    #[arg(
        long,
        value_name = "SHARE",
        allow_hyphen_values = true,
        default_value = "80%",
        value_parser = parse_percent
    )]
    fill: f64,
    /// Writes for each commit on the cards; raw NAND commits each
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 1,
        value_parser = crate::number::within::<u32>(Options::COMMIT_EVERY.range())
    )]
    commit_every: u32,
    /// Largest loss at a power cut, of commit and buffer together: a number of writes, or a time
    /// such as 300ms. Tries a commit for each write, and one for as many writes as the loss
    /// allows
    #[arg(
        long,
        value_name = "COUNT|TIME",
        allow_hyphen_values = true,
        value_parser = loss,
        conflicts_with = "commit_every"
    )]
    may_lose: Option<Loss>,
    /// Place of the tags on the cards: beside pages of 4 KiB, in a table, or within pages. Pages
    /// then hold 4,064 bytes, and accesses of SteadyFS have this length
    #[arg(
        long,
        value_name = "beside|table|within",
        value_parser = crate::image::settings::tags,
        default_value = "beside"
    )]
    tags: TagPlace,
    #[command(flatten)]
    driver: DriverArgument,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    outputs: Outputs,
}

const AFTER_HELP: &str = "\
The command writes 4 KiB at random places, one write right behind the other, with a commit for each
write or for several. It runs on each card as it is, with SteadyFS on raw NAND, and with FAT and
SteadyFS on the same cards. A card behaves as its profile describes, which is no promise. The bound
on raw NAND is computed from the datasheet's times. Advice is for a rate, a RAM, and the acceptable
loss at a power cut. The report has the nine figures of the article that the cards are from, and
compares its numbers with the article's.

Examples:
  steady realtime
  steady realtime --rate 500kB/s --ram 16KiB --card sd-industrial,mine.toml
  steady realtime --rate 500kB/s --ram 192KiB --may-lose 300ms
  steady realtime --card emmc-64gb --commit-every 16
  steady realtime --tags within --commit-every 16
  steady realtime --report realtime.html --svg figures";

/// Finished runs, and the share of the time: a run with the default options, on two cores.
pub const COURSE: &[(f64, f64)] = &[
    (0.24, 0.09),
    (0.48, 0.22),
    (0.64, 0.33),
    (0.72, 0.39),
    (0.80, 0.52),
    (0.88, 0.71),
    (0.93, 0.77),
    (0.96, 0.83),
    (0.98, 0.89),
];

/// Reads the largest loss: a number of writes, or a duration.
fn loss(text: &str) -> Result<Loss, String> {
    match text.parse() {
        Ok(0) => Err("expected one write at least: the one in progress".to_string()),
        Ok(count) => Ok(Loss::Writes(count)),
        Err(_) => parse_duration(text)
            .map(Loss::Time)
            .map_err(|error| format!("{error}, or a number of writes")),
    }
}

/// Runs `steady realtime`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    let options = arguments.options();
    let bar = Mutex::new(Progress::of(1, "").on_course(COURSE));
    let tell = |share: f64, what: &str| {
        bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, what)
    };
    let result = realtime::run(&options, &tell);
    drop(bar);
    let realtime = result.map_err(Failure::measuring)?;
    arguments.outputs.write(&realtime, || RealtimeReport::of(&realtime))
}

impl Arguments {
    fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            cards: if self.card.is_empty() { usual.cards } else { self.card.clone() },
            nand: self.nand.clone(),
            accesses: self.accesses,
            fill: self.fill,
            rates: usual.rates,
            rate: self.rate,
            ram_bytes: self.ram,
            commit_every: self.commit_every,
            may_lose: self.may_lose,
            tags: self.tags,
            call_us: self.driver.call_us,
            seed: self.seed.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    type Line = crate::line::Line<Arguments>;

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(Line::parse_from(["realtime"]).arguments.options(), Options::default());
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let line = "realtime --rate 250kB/s --ram 16KiB --card sd-industrial,emmc-64gb \
                    --nand k9f1208u0 --accesses 5000 --fill 50% --commit-every 16 --tags within \
                    --call-us 20 --seed 3";
        let expected = Options {
            cards: vec!["sd-industrial".into(), "emmc-64gb".into()],
            nand: "k9f1208u0".into(),
            accesses: 5000,
            fill: 0.5,
            rates: Options::default().rates,
            rate: 250_000,
            ram_bytes: 16 << 10,
            commit_every: 16,
            may_lose: None,
            tags: TagPlace::Within,
            call_us: 20,
            seed: 3,
        };
        assert_eq!(Line::parse_from(line.split(' ')).arguments.options(), expected);
    }

    #[test]
    fn what_may_be_lost_is_a_number_of_writes_or_a_time() {
        let loss = |text: &str| {
            Line::try_parse_from(["realtime", "--may-lose", text])
                .ok()
                .and_then(|line| line.arguments.may_lose)
        };
        assert_eq!(loss("16"), Some(Loss::Writes(16)));
        assert_eq!(loss("130ms"), Some(Loss::Time(130_000_000)));
        assert_eq!([loss("0"), loss("-3"), loss("16 kB"), loss("soon")], [None; 4]);
        assert!(
            Line::try_parse_from("realtime --may-lose 16 --commit-every 16".split(' ')).is_err()
        );
    }
}
