//! `steady adversary`: searches for calls that come near their bounds.

use crate::Failure;
use crate::chip::ChipArguments;
use crate::output::Numbers;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use std::sync::{Mutex, PoisonError};
use steadyfs_lab::adversary::{self, Options};
use steadyfs_lab::units::parse_percent;

/// Arguments of `steady adversary`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    chip: ChipArguments,
    /// Share of the usable space in use
    #[arg(
        long,
        value_name = "SHARE",
        allow_hyphen_values = true,
        default_value = "80%",
        value_parser = parse_percent
    )]
    fill: f64,
    /// Calls to make, including preparing calls; each session runs to its end, so about 160,000
    /// is the minimum
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 200_000,
        value_parser = crate::number::from::<u64>(1)
    )]
    calls: u64,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    numbers: Numbers,
}

const AFTER_HELP: &str = "\
The command ages a volume with the default settings until no page of the fresh format is left. It
runs calls of each kind on copies of this volume. Before each call it makes other calls, chosen to
make it long. The choices that made calls long are changed a little and tried again. If a call
breaks its bound, the command ends with code 1.

Examples:
  steady adversary --device w25q128jv --size 1MiB
  steady adversary --calls 1000000 --seed 7 --json near.json";

/// Runs `steady adversary`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.numbers.check()?;
    let bar = Mutex::new(Progress::of(1, ""));
    let tell = |share: f64, what: &str| {
        bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, what)
    };
    let report = adversary::run(&arguments.options(), &tell);
    drop(bar);
    arguments.numbers.write(&report.map_err(Failure::measuring)?)
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            device: self.chip.device.clone(),
            part: self.chip.part(),
            fill: self.fill,
            calls: self.calls,
            seed: self.seed.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use steadyfs_lab::bench::Part;
    use steadyfs_lab::evaluate::Timing;

    fn options(line: &str) -> Options {
        let line = ["adversary"].into_iter().chain(line.split_whitespace());
        crate::line::Line::<Arguments>::try_parse_from(line).unwrap().arguments.options()
    }

    #[test]
    fn arguments_reach_the_options_and_defaults_are_those_of_the_lab() {
        assert_eq!(options(""), Options::default());
        let expected = Options {
            device: "w25q128jv".into(),
            part: Part {
                size_bytes: Some(1 << 20),
                erase_block_bytes: Some(4096),
                timing: Timing::Maximum,
                call_us: 20,
            },
            fill: 0.5,
            calls: 7,
            seed: 9,
        };
        let line = "--device w25q128jv --size 1MiB --erase-block 4KiB --fill 50% --timing maximum \
                    --call-us 20 --calls 7 --seed 9";
        assert_eq!(options(line), expected);
    }
}
