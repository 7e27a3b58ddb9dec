//! Which medium keeps a rate with some RAM, and on whose word.

use super::Options;
use super::table::Row;
use serde::{Deserialize, Serialize};

/// On whose word a rate is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// A bound computed from the datasheet's times.
    Computed,
    /// A long run on a device of this profile: no specification says as much.
    ByProfile,
    /// Nobody's: the rate is not kept.
    None,
}

/// What one medium does for a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The medium and the file system.
    pub system: String,
    /// Buffer for the rate, in bytes; nothing where no finite one suffices.
    pub buffer_bytes: Option<u64>,
    /// RAM of the file system, in bytes.
    pub file_system_bytes: u64,
    /// Whether both fit into the RAM that there is.
    pub fits: bool,
    /// On whose word.
    pub guarantee: Guarantee,
    /// Bytes that reach the medium for each byte of the caller: what it costs in life.
    pub written_per_byte: f64,
}

/// What each medium does for a rate.
pub(super) fn advise(rows: &[Row], options: &Options) -> Vec<Advice> {
    let advice = |row: &Row| {
        let buffer_bytes = row.buffer_at(options.rate);
        let fits = buffer_bytes.is_some_and(|buffer| buffer + row.ram_bytes <= options.ram_bytes);
        Advice {
            system: row.system.clone(),
            buffer_bytes,
            file_system_bytes: row.ram_bytes,
            fits,
            guarantee: match buffer_bytes {
                None => Guarantee::None,
                Some(_) if row.is_raw_flash => Guarantee::Computed,
                Some(_) => Guarantee::ByProfile,
            },
            written_per_byte: row.written_per_byte,
        }
    };
    rows.iter().map(advice).collect()
}
