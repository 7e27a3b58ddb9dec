//! `steady costs`: measures the cost of each call, and of copying files, on a simulated chip.

use crate::Failure;
use crate::chip::ChipArguments;
use crate::output::Numbers;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use std::cell::RefCell;
use steadyfs_lab::costs::{self, Options};

/// Arguments of `steady costs`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    chip: ChipArguments,
    /// Files of the large directory, and steps of each kind [default: 10000, or as many as the
    /// volume holds]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u32>(Options::FILES.range())
    )]
    files: Option<u32>,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    numbers: Numbers,
}

const AFTER_HELP: &str = "\
Programs and reads are the mean and the maximum of a step. A step that changes something ends with
its commit. If a call breaks its bound, the command ends with code 1. Bars are the wanted
means; ! marks a missed bar.

Examples:
  steady costs --device w25q128jv --size 1MiB
  steady costs --device w25n01gv --json costs.json";

/// Runs `steady costs`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { chip, files, seed, numbers } = arguments;
    numbers.check()?;
    let options =
        Options { device: chip.device.clone(), part: chip.part(), files: *files, seed: seed.seed };
    let bar = RefCell::new(Progress::of(1, ""));
    let costs = costs::run(&options, &|share, call| bar.borrow_mut().set(share, call));
    drop(bar);
    numbers.write(&costs.map_err(Failure::measuring)?)
}
