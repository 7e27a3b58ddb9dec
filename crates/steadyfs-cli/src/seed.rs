//! The seed of a run.

use clap::Args;

/// The seed of a run.
#[derive(Args, Debug)]
pub struct SeedArgument {
    /// Seed of all chance in the run; the same seed gives the same run
    #[arg(
        long,
        value_name = "NUMBER",
        allow_hyphen_values = true,
        default_value_t = 1,
        value_parser = crate::number::any::<u64>
    )]
    pub seed: u64,
}
