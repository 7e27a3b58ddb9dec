//! `steady keygen`: makes a key that signs read-only images.

use crate::Failure;
use crate::image::key::{generate, hex};
use crate::output::print;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `steady keygen`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The file for the secret key; the public key goes beside it, with .pub behind the name
    #[arg(value_name = "KEY")]
    key: PathBuf,
}

const AFTER_HELP: &str = "\
The key is an Ed25519 key from the random source of the system. Anyone who has KEY can sign images:
keep it on the machine that makes images. The firmware gets the 32 bytes of KEY.pub. The command
replaces no existing file.

Example:
  steady keygen release.key";

/// Runs `steady keygen`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (path, public) = generate(&arguments.key)?;
    print(&format!(
        "{}: secret, keep it\n{}: {}\n",
        arguments.key.display(),
        path.display(),
        hex(&public)
    ))
}
