//! Devices on the command line: a name, or a file in TOML.
//!
//! An unknown device is wrong usage. So is a device of a kind that the command does not take.

use std::path::Path;
use steadyfs_lab::evaluate::{EvaluateError, find_device, find_managed, find_nand, find_profile};

/// Reads a device of any kind.
pub fn any(text: &str) -> Result<String, String> {
    named(text, find_device(text).map(drop))
}

/// Reads raw flash.
pub fn raw_flash(text: &str) -> Result<String, String> {
    named(text, find_profile(text).map(drop))
}

/// Reads raw NAND.
pub fn raw_nand(text: &str) -> Result<String, String> {
    named(text, find_nand(text).map(drop))
}

/// Reads a card, an eMMC or a disk.
pub fn managed(text: &str) -> Result<String, String> {
    named(text, find_managed(text).map(drop))
}

fn named(text: &str, found: Result<(), EvaluateError>) -> Result<String, String> {
    match found {
        Err(_) if Path::new(text).is_dir() => {
            Err("is a directory; expected a name of `steady devices`, or the file of a profile"
                .to_string())
        }
        Ok(()) => Ok(text.to_string()),
        Err(EvaluateError::Device { reason, .. }) => Err(reason.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
