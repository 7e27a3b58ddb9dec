//! The result: a row for each run.

use super::{Map, Options};
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;
use steadyfs::media::Geometry;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of [`Writes`](super::Writes).
    pub writes: String,
    /// Share of the disk that is in use.
    pub fill: f64,
    /// Name of the [`Way`](super::Way).
    pub streams: String,
    /// Logical pages that are in use.
    pub pages: u32,
    /// Pages that reclamation moved for each written page, including leaves of the map.
    pub moved_per_page: f64,
    /// Pages programmed for each written page, everything included.
    pub amplification: f64,
    /// Mean time of a durable write of one logical page, in microseconds. It includes the time of
    /// trims between the writes.
    pub mean_us: f64,
    /// Longest write, in microseconds.
    pub max_us: f64,
    /// Longest bound of a write, in microseconds.
    pub bound_us: f64,
    /// Bytes written per second, as long as the chip does nothing else.
    pub bytes_per_s: f64,
    /// Number of erases.
    pub erases: u64,
    /// Bytes that can be written at this pace until all erases are used.
    pub life_bytes: u64,
    /// RAM of the disk, in bytes.
    pub ram_bytes: u64,
    /// Amplification in each of 60 equal parts of the run, from the filled disk to the end.
    pub over_time: Vec<f64>,
    /// Mean time of a write in each of these parts, in microseconds.
    pub mean_us_over_time: Vec<f64>,
    /// Contents of the blocks at the end.
    #[serde(skip)]
    pub map: Map,
}

/// All rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// Name of the device.
    pub device: String,
    /// Bytes of a page of the chip.
    pub page_bytes: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Streams of a disk with several.
    pub stream_count: u8,
    /// True if one stream mixed up the pages first.
    pub mixed: bool,
    /// Seed of the places.
    pub seed: u64,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Streams {
    pub(super) fn new(
        options: &Options,
        device: &str,
        geometry: Geometry,
        rows: Vec<Row>,
    ) -> Streams {
        Streams {
            device: device.to_string(),
            page_bytes: geometry.page_bytes,
            pages_per_block: geometry.pages_per_block,
            blocks: geometry.block_count,
            stream_count: options.streams,
            mixed: options.mixed,
            seed: options.seed,
            rows,
        }
    }

    /// Returns the chip and the run in one line.
    pub fn title(&self) -> String {
        let block_bytes = u64::from(self.page_bytes) * u64::from(self.pages_per_block);
        let begin = if self.mixed { "first mixed by one stream" } else { "erased first" };
        format!(
            "{}: {} blocks of {}, {} streams, {begin}, seed {}",
            self.device,
            format_count(self.blocks.into()),
            format_size(block_bytes),
            self.stream_count,
            self.seed
        )
    }
}

/// Prints the table for people, at most 100 columns wide.
impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}\nMoved and WAF (write amplification factor): pages for each written page\n",
            self.title()
        )?;
        let head = [
            "Writes",
            "Fill",
            "Streams",
            "Moved",
            "WAF",
            "Promised",
            "Longest",
            "Mean",
            "Throughput",
            "Life",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.rows.iter().map(|row| {
            vec![
                row.writes.clone(),
                format_percent(row.fill),
                row.streams.clone(),
                format!("{:.3}", row.moved_per_page),
                format!("{:.2}", row.amplification),
                format_duration(1e3 * row.bound_us),
                format_duration(1e3 * row.max_us),
                format_duration(1e3 * row.mean_us),
                format_rate(row.bytes_per_s),
                format_size(row.life_bytes),
            ]
        }));
        let align = [Align::Left, Align::Right, Align::Left]
            .into_iter()
            .chain([Align::Right; 7])
            .collect::<Vec<_>>();
        f.write_str(&table(&rows, &align))
    }
}
