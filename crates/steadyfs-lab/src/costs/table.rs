//! The results: rows of calls and of copies, for people and as JSON.

use crate::part::times_of;
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

const COPY_NOTES: &str = "\
Time: mount of an empty volume, copy and unmount. Raw: programs of the bytes alone. Ratio: time
divided by raw. Erased: time divided by the time to erase and program. Blocks: as found by the
format, or erased before by idle work. Pages: the most pages that a transaction may write, a
setting. Extra: programs beyond the programs of the bytes, among them journal pages, leaves and
roots. Mount: the longer of the mounts before and after the copy.";

/// Mean and maximum of many steps of one kind. Each step is a call with the commit that makes it
/// durable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallCost {
    /// Name of the step.
    pub call: String,
    /// Number of steps.
    pub calls: u64,
    /// Mean page programs, including copies on the chip.
    pub programs_mean: f64,
    /// Maximum page programs of a step.
    pub programs_max: u64,
    /// Mean page reads, including reads of tags alone.
    pub reads_mean: f64,
    /// Maximum page reads of a step.
    pub reads_max: u64,
    /// Mean block erases.
    pub erases_mean: f64,
    /// Maximum block erases of a step.
    pub erases_max: u64,
    /// Mean time of the chip for a step, in microseconds.
    pub mean_us: f64,
    /// Longest time of the chip for a step, in microseconds.
    pub max_us: f64,
    /// Largest bound of a step, in microseconds.
    pub bound_us: f64,
}

/// Time of the commits of a copy, beside those of full transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commits {
    /// At the close of each file.
    EachFile,
    /// At the unmount of the volume.
    AtEnd,
}

/// The cost of mount, copy and unmount. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyCost {
    /// Number of copied files.
    pub files: u32,
    /// Bytes of all files together.
    pub bytes: u64,
    /// Bytes of a write.
    pub write_bytes: u64,
    /// Time of the commits.
    pub commits: Commits,
    /// True if idle work had erased the blocks before.
    pub prepared: bool,
    /// Maximum logical pages of a transaction, a setting of the volume.
    pub transaction_pages: u16,
    /// Bytes of RAM of the volume's tables and buffers.
    pub ram_bytes: u64,
    /// Time of the mount of the empty volume.
    pub mount_us: f64,
    /// Time of the copy.
    pub copy_us: f64,
    /// Time of the unmount.
    pub unmount_us: f64,
    /// Time of mount, copy and unmount.
    pub total_us: f64,
    /// Time of programming the bytes and nothing else.
    pub raw_us: f64,
    /// `total_us / raw_us`.
    pub ratio: f64,
    /// `total_us` divided by the raw time with erases of the blocks for the bytes.
    pub ratio_with_erases: f64,
    /// Page reads of mount, copy and unmount.
    pub reads: u64,
    /// Page programs of mount, copy and unmount.
    pub programs: u64,
    /// Page programs of the bytes and nothing else.
    pub raw_programs: u64,
    /// Journal pages among the programs.
    pub journal_programs: u64,
    /// Pages of leaves of the map among the programs.
    pub leaf_programs: u64,
    /// Pages of roots and their copies among the programs.
    pub root_programs: u64,
    /// Block erases of mount, copy and unmount.
    pub erases: u64,
    /// Number of blocks that the bytes fill.
    pub raw_erases: u64,
    /// Time of a mount after the copy.
    pub mount_after_us: f64,
}

/// A copy that was not measured, because the volume has no room for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkippedCopy {
    /// Number of files to copy.
    pub files: u32,
    /// Bytes of all files together.
    pub bytes: u64,
    /// Planned time of the commits.
    pub commits: Commits,
    /// True if idle work was to erase the blocks before.
    pub prepared: bool,
    /// True if transactions were to be large.
    pub large: bool,
    /// Reason for which the copy was not measured.
    pub reason: String,
}

/// The costs of calls and copies on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Name of the device profile.
    pub device: String,
    /// Name of the timing: `typical` or `maximum`.
    pub timing: String,
    /// Time of the driver for each command, in microseconds. It is part of all times.
    pub call_us: u32,
    /// Number of files in the large directory.
    pub files: u32,
    /// Seed of the order of files.
    pub seed: u64,
    /// Bytes that the volume offers to its user.
    pub usable_bytes: u64,
    /// Bytes in use when the data was measured.
    pub used_bytes: u64,
    /// Costs of the calls.
    pub calls: Vec<CallCost>,
    /// Costs of the copies.
    pub copies: Vec<CopyCost>,
    /// Copies that were not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedCopy>,
}

fn duration(us: f64) -> String {
    format_duration(us * 1e3)
}

impl CallCost {
    fn cells(&self) -> Vec<String> {
        vec![
            self.call.clone(),
            format!("{:.2}", self.programs_mean),
            self.programs_max.to_string(),
            format!("{:.1}", self.reads_mean),
            self.reads_max.to_string(),
            duration(self.mean_us),
            duration(self.max_us),
            duration(self.bound_us),
        ]
    }
}

impl fmt::Display for Commits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Commits::EachFile => "each file",
            Commits::AtEnd => "at the end",
        })
    }
}

/// Formats the number of files and the bytes of a copy.
fn copied(files: u32, bytes: u64) -> String {
    format!("{files}: {:.1} MB", bytes as f64 / 1e6)
}

/// Returns the state of the blocks before a copy.
const fn blocks(prepared: bool) -> &'static str {
    if prepared { "erased" } else { "as found" }
}

impl fmt::Display for SkippedCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, blocks) = (copied(self.files, self.bytes), blocks(self.prepared));
        let large = if self.large { ", large transactions" } else { "" };
        write!(f, "{what}, {}, {blocks}{large} was not measured: {}.", self.commits, self.reason)
    }
}

impl CopyCost {
    fn cells(&self) -> Vec<String> {
        let mount_us = self.mount_us.max(self.mount_after_us);
        vec![
            copied(self.files, self.bytes),
            self.commits.to_string(),
            blocks(self.prepared).to_string(),
            self.transaction_pages.to_string(),
            format_count(self.programs - self.raw_programs),
            self.journal_programs.to_string(),
            self.leaf_programs.to_string(),
            self.root_programs.to_string(),
            self.erases.to_string(),
            duration(self.total_us),
            duration(self.raw_us),
            format!("{:.3}", self.ratio),
            format!("{:.3}", self.ratio_with_erases),
            duration(mount_us),
        ]
    }
}

/// Prints the costs for people.
impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = format_count(self.files.into());
        writeln!(
            f,
            "{}\n{files} steps of each kind, {}, seed {}\n",
            self.device,
            times_of(&self.timing, self.call_us),
            self.seed
        )?;
        let head = ["Call", "programs", "max", "reads", "max", "mean", "max", "bound"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.calls.iter().map(CallCost::cells));
        let mut align = vec![Align::Left];
        align.resize(head.len(), Align::Right);
        writeln!(f, "{}", table(&rows, &align))?;
        writeln!(
            f,
            "A step that changes something ends with its commit. Names are in a directory of \
             {files} files, in\n\
             random order."
        )?;
        let (used, usable) = (format_size(self.used_bytes), format_size(self.usable_bytes));
        writeln!(f, "{used} of {usable} were in use. Every call kept its bound.\n")?;
        let head = [
            "Copy", "commit", "blocks", "pages", "extra", "journal", "leaves", "roots", "erases",
            "time", "raw", "ratio", "erased", "mount",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.copies.iter().map(CopyCost::cells));
        let mut align = vec![Align::Left, Align::Left, Align::Left];
        align.resize(head.len(), Align::Right);
        if !self.copies.is_empty() {
            writeln!(f, "{}", table(&rows, &align))?;
        }
        self.skipped.iter().try_for_each(|copy| writeln!(f, "{copy}"))?;
        writeln!(f, "{COPY_NOTES}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> Costs {
        let call = CallCost {
            call: "create 50 B".into(),
            calls: 10_000,
            programs_mean: 2.3,
            programs_max: 12,
            reads_mean: 7.9,
            reads_max: 40,
            erases_mean: 0.02,
            erases_max: 1,
            mean_us: 900.0,
            max_us: 4_000.0,
            bound_us: 99_000.0,
        };
        let copy = CopyCost {
            files: 35,
            bytes: 5_400_000,
            write_bytes: 65_536,
            commits: Commits::EachFile,
            prepared: false,
            transaction_pages: 256,
            ram_bytes: 12_000,
            mount_us: 10_000.0,
            copy_us: 700_000.0,
            unmount_us: 1_000.0,
            total_us: 711_000.0,
            raw_us: 663_000.0,
            ratio: 1.072,
            ratio_with_erases: 0.95,
            reads: 1_000,
            programs: 2_800,
            raw_programs: 2_637,
            journal_programs: 50,
            leaf_programs: 14,
            root_programs: 60,
            erases: 40,
            raw_erases: 42,
            mount_after_us: 21_000.0,
        };
        Costs {
            device: "mt29f1g01abafd".into(),
            timing: "typical".into(),
            call_us: 0,
            files: 10_000,
            seed: 1,
            usable_bytes: 1 << 27,
            used_bytes: 1 << 25,
            calls: vec![call],
            copies: vec![copy],
            skipped: vec![],
        }
    }

    #[test]
    fn table_shows_every_number_of_a_row() {
        let text = costs().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
        for part in ["2.30", "7.9", "99.000 ms", "35: 5.4 MB", "1.072 ", "21.000 ms", "each file"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn json_is_read_back_and_names_commits() {
        let text = serde_json::to_string(&costs()).unwrap();
        assert!(text.contains(r#""commits":"each_file""#), "{text}");
        assert_eq!(serde_json::from_str::<Costs>(&text).unwrap(), costs());
    }
}
