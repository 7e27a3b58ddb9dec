//! The result: a row for each case, for people and as JSON.

use crate::part::times_of;
use crate::table::{Align, facts, table};
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

const NOTES: &str = "\
Times are chip times of a call, or of a few calls that belong together. Limit: the chip's time for
the payload, one tag for each commit, and their share of the erases that occurred. —: no limit, as
for data in a read cache. ×: the mean, divided by the limit. Bound: the largest bound that was
computed just before a call. Reads, programs and erases: means of a call. Wear: erases of the most
worn block with data, divided by the mean.";

/// The results of a measurement on a chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the device profile.
    pub device: String,
    /// Name of the file system.
    pub system: String,
    /// Bytes of the chip that were in use.
    pub size_bytes: u64,
    /// Bytes of an erase block.
    pub erase_block_bytes: u32,
    /// Name of the timing: `typical` or `maximum`.
    pub timing: String,
    /// Time of the driver for each command, in microseconds. It is part of all times.
    pub call_us: u32,
    /// Seed of random places and orders.
    pub seed: u64,
    /// Bytes that files can take together.
    pub usable_bytes: u64,
    /// Bytes of RAM, including the structures and one open file.
    pub ram_bytes: u64,
    /// One row for each case.
    pub rows: Vec<Row>,
}

/// A case: its figures, or the reason for which there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the case.
    pub case: String,
    /// Figures of the case.
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// Reason for which the case was not measured: the volume has no room for it, or the file
    /// system does not support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Reason of a failure. There are figures beside it if a bound was broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The figures of a case. A call may be a few calls that belong together, such as open, write
/// and close.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Number of calls.
    pub calls: u64,
    /// Mean time of a call in microseconds.
    pub mean_us: f64,
    /// Time that 99 % of the calls do not exceed, in microseconds.
    pub p99_us: f64,
    /// Longest time of a call, in microseconds.
    pub max_us: f64,
    /// Largest bound of a call just before it, in microseconds; none if the file system has no
    /// bounds.
    pub bound_us: Option<f64>,
    /// Payload over time, for cases whose throughput counts.
    pub bytes_per_s: Option<f64>,
    /// Reads of all calls: pages and tags on NAND, read commands on NOR.
    pub reads: u64,
    /// Bytes that the chip sent.
    pub read_bytes: u64,
    /// Programs of all calls: pages on NAND, including copies inside the chip; program commands on
    /// NOR.
    pub programs: u64,
    /// Bytes that were sent to the chip to be programmed.
    pub programmed_bytes: u64,
    /// Erases of all calls.
    pub erases: u64,
    /// Calls that the volume refused for lack of room. `calls` does not include them.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub refused: u64,
    /// Erases of a block since the chip was new, over all blocks.
    pub wear: Wear,
    /// Erases of a block since the chip was new, over the blocks that hold data in turn: without
    /// superblocks and the like.
    pub data_wear: Wear,
    /// Mean physical limit of a call, in microseconds. None if there is no payload, or if a read
    /// cache keeps the read data.
    pub limit_us: Option<f64>,
}

/// A summary of the erase counts of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// Erases of the least worn block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Erases of the most worn block.
    pub max: u32,
}

impl Wear {
    /// Summarizes erase counts.
    pub fn of(counts: &[u32]) -> Wear {
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        Wear {
            min: counts.iter().copied().min().unwrap_or(0),
            mean: sum as f64 / counts.len().max(1) as f64,
            max: counts.iter().copied().max().unwrap_or(0),
        }
    }

    /// Returns the erases of the most worn block divided by the mean.
    fn ratio(&self) -> f64 {
        f64::from(self.max) / self.mean
    }
}

impl Report {
    /// Returns the failures, as `case: reason`.
    pub fn failures(&self) -> Vec<String> {
        let reason =
            |row: &Row| row.failed.as_ref().map(|reason| format!("{}: {reason}", row.case));
        self.rows.iter().filter_map(reason).collect()
    }
}

fn duration(us: f64) -> String {
    format_duration(us * 1e3)
}

/// Formats a number of operations with as many decimals as are significant.
fn number(count: f64) -> String {
    match count {
        0.0 => "–".to_string(),
        count if count < 10.0 => format!("{count:.2}"),
        count if count < 1e3 => format!("{count:.1}"),
        count => format_count(count.round() as u64),
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_string())
}

impl Figures {
    fn cells(&self, case: &str) -> Vec<String> {
        let a_call = |count: u64| number(count as f64 / self.calls.max(1) as f64);
        let limit_rate = self
            .bytes_per_s
            .zip(self.limit_us)
            .map(|(rate, limit_us)| rate * self.mean_us / limit_us);
        let is_wear = case.starts_with("wear");
        vec![
            case.to_string(),
            duration(self.mean_us),
            duration(self.p99_us),
            duration(self.max_us),
            or_dash(self.bound_us.map(duration)),
            or_dash(self.limit_us.map(duration)),
            or_dash(self.limit_us.map(|limit_us| format!("{:.2}", self.mean_us / limit_us))),
            or_dash(self.bytes_per_s.map(format_rate)),
            or_dash(limit_rate.map(format_rate)),
            a_call(self.reads),
            a_call(self.programs),
            a_call(self.erases),
            if is_wear { format!("{:.2}", self.data_wear.ratio()) } else { String::new() },
        ]
    }
}

/// Prints the figures for people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.usable_bytes as f64 / self.size_bytes as f64;
        let chip = format!(
            "{}, {} in blocks of {}",
            self.device,
            format_size(self.size_bytes),
            format_size(self.erase_block_bytes.into())
        );
        let lines = [
            ("System", self.system.clone()),
            ("Chip", format!("{chip}, {}", times_of(&self.timing, self.call_us))),
            (
                "Usable",
                format!("{} bytes, {}", format_count(self.usable_bytes), format_percent(share)),
            ),
            ("RAM", format!("{} bytes", format_count(self.ram_bytes))),
            ("Seed", self.seed.to_string()),
        ];
        writeln!(f, "{}", facts(lines))?;
        let head = [
            "Case", "mean", "p99", "max", "bound", "limit", "×", "rate", "limit", "reads",
            "programs", "erases", "wear",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(
            self.rows.iter().filter_map(|row| row.figures.map(|figures| figures.cells(&row.case))),
        );
        let mut align = vec![Align::Left];
        align.resize(head.len(), Align::Right);
        writeln!(f, "{}", table(&rows, &align))?;
        for row in &self.rows {
            if let Some(reason) = &row.skipped {
                writeln!(f, "{} was not measured: {reason}.", row.case)?;
            }
            if let Some(reason) = &row.failed {
                writeln!(f, "{} FAILED: {reason}.", row.case)?;
            }
        }
        writeln!(f, "{NOTES}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let wear = Wear::of(&[1, 2, 6]);
        let figures = Figures {
            calls: 4,
            mean_us: 1_280.0,
            p99_us: 2_400.0,
            max_us: 2_504.0,
            bound_us: Some(4_840.0),
            bytes_per_s: Some(3.2e6),
            reads: 10,
            read_bytes: 20_480,
            programs: 9,
            programmed_bytes: 18_432,
            erases: 0,
            refused: 0,
            wear,
            data_wear: wear,
            limit_us: Some(640.0),
        };
        let row =
            Row { case: "random-4096".into(), figures: Some(figures), skipped: None, failed: None };
        let skipped = Row {
            case: "copy-10mb".into(),
            figures: None,
            skipped: Some("needs more".into()),
            failed: None,
        };
        Report {
            device: "mt29f1g01abafd".into(),
            system: "SteadyFS".into(),
            size_bytes: 1 << 27,
            erase_block_bytes: 1 << 17,
            timing: "typical".into(),
            call_us: 0,
            seed: 1,
            usable_bytes: 120_000_000,
            ram_bytes: 12_000,
            rows: vec![row.clone(), skipped, Row { case: "wear-log".into(), ..row }],
        }
    }

    #[test]
    fn json_has_a_flat_row_for_each_case_and_is_read_back() {
        let value = serde_json::to_value(report()).unwrap();
        assert_eq!(value["rows"][0]["limit_us"], 640.0);
        assert_eq!(value["rows"][0]["wear"], serde_json::json!({"min": 1, "mean": 3.0, "max": 6}));
        assert_eq!(
            value["rows"][1],
            serde_json::json!({"case": "copy-10mb", "skipped": "needs more"})
        );
        assert_eq!(serde_json::from_value::<Report>(value).unwrap(), report());
    }

    #[test]
    fn table_sets_means_beside_limits_and_says_what_was_not_measured() {
        let text = report().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
        for part in [
            "1.280 ms",
            "4.840 ms",
            "640 µs  2.00",
            "3.2 MB/s  6.4 MB/s",
            "2.50",
            "copy-10mb was not measured: needs more.",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
