//! The result: for each chip a table of what was loaded, copied and read.

use super::published::{CHIP, COPIED, DOCUMENT, GUEST};
use super::{Codec, Processor};
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One root file system: mounted, and loaded. Times in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub system: String,
    /// Bytes that are compressed by themselves; 0 where nothing is.
    pub block_bytes: u32,
    /// Flash time until the root directory is there.
    pub mount_us: f64,
    /// Flash time of reading everything.
    pub load_us: f64,
    /// Time of the processor for decompression, hashes and checksums, of both.
    pub decode_us: f64,
    /// All of it, one after the other.
    pub total_us: f64,
    /// Bytes of the image, or those that the volume has taken.
    pub stored_bytes: u64,
    /// Pages that were read, of both.
    pub page_reads: u64,
    /// Bytes that were decompressed, each as often as it was.
    pub decoded_bytes: u64,
    /// Bytes that were hashed.
    pub hashed_bytes: u64,
    /// Bytes of which a checksum was computed.
    pub checked_bytes: u64,
    /// Memory that was lent.
    pub ram_bytes: u64,
}

/// One file that was copied to an empty volume. Flash time in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRow {
    /// What it is.
    pub system: String,
    /// Until the volume was mounted.
    pub mount_us: f64,
    /// Until the file was closed, and durable.
    pub copy_us: f64,
    /// Until the volume was unmounted.
    pub unmount_us: f64,
    /// All of it.
    pub total_us: f64,
    /// Pages that were programmed.
    pub programs: u64,
    /// Blocks that were erased.
    pub erases: u64,
    /// Memory that was lent.
    pub ram_bytes: u64,
}

/// Reads of 4 KiB at random places: means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomRow {
    /// What it is.
    pub system: String,
    /// Bytes that are compressed by themselves; 0 where nothing is.
    pub block_bytes: u32,
    /// Pages that were read for each KiB that was asked for.
    pub pages_per_kib: f64,
    /// Bytes that the chip sent for each that was asked for.
    pub bytes_per_byte: f64,
    /// Flash time of a read, in microseconds.
    pub read_us: f64,
    /// Time of the processor, in microseconds.
    pub decode_us: f64,
    /// Bytes that were decompressed.
    pub decoded_bytes: f64,
}

/// What was measured on one chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRows {
    /// Name of the chip.
    pub device: String,
    /// The processor beside it.
    pub processor: Processor,
    /// Erase blocks that are one for a volume of SteadyFS: more than one where they are too small for it.
    pub joined_blocks: u32,
    /// Root file systems.
    pub rows: Vec<Row>,
    /// Copies.
    pub copies: Vec<CopyRow>,
    /// Reads at random places.
    pub random: Vec<RandomRow>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boot {
    /// Files of the tree.
    pub files: u64,
    /// Bytes of them.
    pub file_bytes: u64,
    /// Bytes of the file that was copied.
    pub copy_bytes: u64,
    /// Reads at random places.
    pub reads: u32,
    /// Blocks that are bad.
    pub bad_blocks: u32,
    /// The seed of all.
    pub seed: u64,
    /// Chips.
    pub devices: Vec<DeviceRows>,
}

fn us(us: f64) -> String {
    format_duration(us * 1e3)
}

fn mb(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

fn block(bytes: u32) -> String {
    if bytes == 0 { "–".to_string() } else { format_size(bytes.into()) }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let times = [self.mount_us, self.load_us, self.decode_us, self.total_us].map(us);
        let rest = [mb(self.decoded_bytes), mb(self.stored_bytes), format_count(self.page_reads), format_size(self.ram_bytes)];
        [self.system.clone(), block(self.block_bytes)].into_iter().chain(times).chain(rest).collect()
    }
}

impl CopyRow {
    fn cells(&self) -> Vec<String> {
        let times = [self.mount_us, self.copy_us, self.unmount_us, self.total_us].map(us);
        let counts = [self.programs, self.erases].map(format_count);
        [self.system.clone()].into_iter().chain(times).chain(counts).chain([format_size(self.ram_bytes)]).collect()
    }
}

impl RandomRow {
    fn cells(&self) -> Vec<String> {
        let figures = [format!("{:.2}", self.pages_per_kib), format!("{:.2}", self.bytes_per_byte), us(self.read_us)];
        let decoded = [format_size(self.decoded_bytes as u64), us(self.decode_us)];
        [self.system.clone(), block(self.block_bytes)].into_iter().chain(figures).chain(decoded).collect()
    }
}

/// A table whose first columns are names.
fn lay_out(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head = head.iter().map(|cell| (*cell).to_string()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let mut align = vec![Align::Left];
    align.resize(rows[0].len(), Align::Right);
    table(&rows, &align)
}

impl DeviceRows {
    /// Whether the document and the guest have this chip.
    fn is_published(&self) -> bool {
        self.device == CHIP
    }

    fn loads(&self) -> String {
        let head = [
            "Root file system",
            "block",
            "mount",
            "load",
            "decode",
            "total",
            "MB decoded",
            "MB stored",
            "pages read",
            "RAM lent",
        ];
        lay_out(&head, self.rows.iter().map(Row::cells))
    }

    /// What others measured of the same.
    fn published(&self) -> String {
        let seconds = |s: f64| us(s * 1e6);
        let row = |(at, &(name, mount, load)): (usize, &(&str, f64, Option<f64>))| {
            let both = load.map_or("–".into(), |load| seconds(mount + load));
            vec![name.to_string(), seconds(mount), load.map_or("–".into(), seconds), both, seconds(GUEST[at].1)]
        };
        let head = ["Elsewhere", "board: mount", "load", "total", "guest: mount"];
        lay_out(&head, DOCUMENT.iter().enumerate().map(row))
    }

    fn copies(&self, bytes: u64) -> String {
        let guest = COPIED.iter().filter(|_| self.is_published()).map(|&(name, times, programs, erases)| {
            let total: f64 = times.iter().sum();
            let times = times.into_iter().chain([total]).map(|s| us(s * 1e6));
            let counts = [programs, erases].map(format_count);
            [format!("{name}, guest")].into_iter().chain(times).chain(counts).chain(["–".into()]).collect::<Vec<_>>()
        });
        let title = format!("{} MB of text", mb(bytes));
        let head = [title.as_str(), "mount", "copy", "unmount", "total", "programs", "erases", "RAM lent"];
        lay_out(&head, self.copies.iter().map(CopyRow::cells).chain(guest))
    }

    fn reads(&self) -> String {
        let head = ["4 KiB at random", "block", "pages per KiB", "bytes per byte", "flash", "decoded", "decode"];
        lay_out(&head, self.random.iter().map(RandomRow::cells))
    }

    fn cycles(&self) -> String {
        let cycles: Vec<_> =
            Codec::ALL.iter().map(|&codec| format!("{codec} {}", self.processor.cycles[codec as usize])).collect();
        let processor = &self.processor;
        let decode =
            format!("Decode: {} at {} MHz; cycles a byte, uncertain: {}.", processor.name, processor.mhz, cycles.join(", "));
        match self.joined_blocks {
            1 => decode,
            count => format!(
                "{decode}\nSteadyFS's volumes have {count} erase blocks as one, for these are too small; its images have them as they are."
            ),
        }
    }
}

impl fmt::Display for Boot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = format_count(self.files);
        writeln!(f, "A root file system of {files} files, {} MB; {} bad blocks\n", mb(self.file_bytes), self.bad_blocks)?;
        for device in &self.devices {
            writeln!(f, "{}\n{}\n\n{}", device.device, device.cycles(), device.loads())?;
            if device.is_published() {
                writeln!(f, "{}", device.published())?;
            }
            writeln!(f, "{}\n{}", device.copies(self.copy_bytes), device.reads())?;
        }
        writeln!(f, "{LEGEND}")
    }
}

/// What the columns mean, and what is comparable with what.
const LEGEND: &str = "\
Mount: until the root directory is there. Load: every directory and link looked up and every file read once, in the
order of a start. Both are flash time of one chip model. Decode: decompression, SHA-256 and SteadyFS's checksums, by
bytes that were counted and cycles that are estimates; what else a processor does is not in it. RAM lent: to one that
reads; XZ and Zstandard take a heap beside it. squashfs and cramfs are read by SteadyFS's readers, which keep one block
of data, and keep names and inodes that were read, as Linux does; SteadyFS's images are looked up name by name. All have
16 KiB for pages that are read again. A copy begins on an erased chip, and four logical pages are written back.
Board: the document's own root file system, kernel and processor included. Guest: Linux 6.1 on a simulated chip of this
kind, flash time alone; loading was not measured there. Compare rows of one table; of the others their shares.";
