//! The results: for each chip, tables of loads, copies and reads.

use super::published::{CHIP, COPIED, DOCUMENT, GUEST};
use super::{Codec, Processor};
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One root file system, mounted and loaded. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the system.
    pub system: String,
    /// Bytes of a block that is compressed by itself; 0 without compression.
    pub block_bytes: u32,
    /// Flash time of the mount, until the root directory is available.
    pub mount_us: f64,
    /// Flash time of reading everything.
    pub load_us: f64,
    /// Processor time of mount and load, for decompression, hashes and checksums.
    pub decode_us: f64,
    /// Sum of the three times.
    pub total_us: f64,
    /// Bytes of the image, or bytes in use on the volume.
    pub stored_bytes: u64,
    /// Page reads of mount and load.
    pub page_reads: u64,
    /// Decompressed bytes. Bytes that are decompressed twice count twice.
    pub decoded_bytes: u64,
    /// Hashed bytes.
    pub hashed_bytes: u64,
    /// Bytes whose checksum was computed.
    pub checked_bytes: u64,
    /// Bytes of lent memory.
    pub ram_bytes: u64,
}

/// One copy of a file to an empty volume. Times are flash times in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRow {
    /// Name of the system.
    pub system: String,
    /// Time of the mount.
    pub mount_us: f64,
    /// Time of the copy, until the file was closed and durable.
    pub copy_us: f64,
    /// Time of the unmount.
    pub unmount_us: f64,
    /// Sum of the three times.
    pub total_us: f64,
    /// Number of page programs.
    pub programs: u64,
    /// Number of block erases.
    pub erases: u64,
    /// Bytes of lent memory.
    pub ram_bytes: u64,
}

/// Means of reads of 4 KiB at random places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomRow {
    /// Name of the system.
    pub system: String,
    /// Bytes of a block that is compressed by itself; 0 without compression.
    pub block_bytes: u32,
    /// Page reads for each requested KiB.
    pub pages_per_kib: f64,
    /// Bytes that the chip sent for each requested byte.
    pub bytes_per_byte: f64,
    /// Flash time of a read, in microseconds.
    pub read_us: f64,
    /// Processor time of a read, in microseconds.
    pub decode_us: f64,
    /// Decompressed bytes of a read.
    pub decoded_bytes: f64,
}

/// The results of one chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRows {
    /// Name of the chip.
    pub device: String,
    /// The processor beside the chip.
    pub processor: Processor,
    /// Number of erase blocks that form one block of a SteadyFS volume. It is more than one if
    /// the erase blocks are too small.
    pub joined_blocks: u32,
    /// Results of root file systems.
    pub rows: Vec<Row>,
    /// Results of copies.
    pub copies: Vec<CopyRow>,
    /// Results of reads at random places.
    pub random: Vec<RandomRow>,
}

/// The results of all chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boot {
    /// Number of files of the tree.
    pub files: u64,
    /// Total bytes of these files.
    pub file_bytes: u64,
    /// Bytes of the copied file.
    pub copy_bytes: u64,
    /// Number of reads at random places.
    pub reads: u32,
    /// Number of bad blocks.
    pub bad_blocks: u32,
    /// Seed of the tree, the bad blocks and the places.
    pub seed: u64,
    /// Results of each chip.
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
        let rest = [
            mb(self.decoded_bytes),
            mb(self.stored_bytes),
            format_count(self.page_reads),
            format_size(self.ram_bytes),
        ];
        [self.system.clone(), block(self.block_bytes)]
            .into_iter()
            .chain(times)
            .chain(rest)
            .collect()
    }
}

impl CopyRow {
    fn cells(&self) -> Vec<String> {
        let times = [self.mount_us, self.copy_us, self.unmount_us, self.total_us].map(us);
        let counts = [self.programs, self.erases].map(format_count);
        [self.system.clone()]
            .into_iter()
            .chain(times)
            .chain(counts)
            .chain([format_size(self.ram_bytes)])
            .collect()
    }
}

impl RandomRow {
    fn cells(&self) -> Vec<String> {
        let figures = [
            format!("{:.2}", self.pages_per_kib),
            format!("{:.2}", self.bytes_per_byte),
            us(self.read_us),
        ];
        let decoded = [format_size(self.decoded_bytes as u64), us(self.decode_us)];
        [self.system.clone(), block(self.block_bytes)]
            .into_iter()
            .chain(figures)
            .chain(decoded)
            .collect()
    }
}

/// Formats a table whose first column is left-aligned.
fn lay_out(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head = head.iter().map(|cell| (*cell).to_string()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let mut align = vec![Align::Left];
    align.resize(rows[0].len(), Align::Right);
    table(&rows, &align)
}

impl DeviceRows {
    /// Returns true if the document and the guest have this chip.
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

    /// Formats the published results for this chip.
    fn published(&self) -> String {
        let seconds = |s: f64| us(s * 1e6);
        let row = |(at, &(name, mount, load)): (usize, &(&str, f64, Option<f64>))| {
            let both = load.map_or("–".into(), |load| seconds(mount + load));
            vec![
                name.to_string(),
                seconds(mount),
                load.map_or("–".into(), seconds),
                both,
                seconds(GUEST[at].1),
            ]
        };
        let head = ["Elsewhere", "board: mount", "load", "total", "guest: mount"];
        lay_out(&head, DOCUMENT.iter().enumerate().map(row))
    }

    fn copies(&self, bytes: u64) -> String {
        let guest = COPIED.iter().filter(|_| self.is_published()).map(
            |&(name, times, programs, erases)| {
                let total: f64 = times.iter().sum();
                let times = times.into_iter().chain([total]).map(|s| us(s * 1e6));
                let counts = [programs, erases].map(format_count);
                [format!("{name}, guest")]
                    .into_iter()
                    .chain(times)
                    .chain(counts)
                    .chain(["–".into()])
                    .collect::<Vec<_>>()
            },
        );
        let title = format!("{} MB of text", mb(bytes));
        let head =
            [title.as_str(), "mount", "copy", "unmount", "total", "programs", "erases", "RAM lent"];
        lay_out(&head, self.copies.iter().map(CopyRow::cells).chain(guest))
    }

    fn reads(&self) -> String {
        let head = [
            "4 KiB at random",
            "block",
            "pages per KiB",
            "bytes per byte",
            "flash",
            "decoded",
            "decode",
        ];
        lay_out(&head, self.random.iter().map(RandomRow::cells))
    }

    fn cycles(&self) -> String {
        let cycles: Vec<_> = Codec::ALL
            .iter()
            .map(|&codec| format!("{codec} {}", self.processor.cycles[codec as usize]))
            .collect();
        let processor = &self.processor;
        let decode = format!(
            "Decode: {} at {} MHz; cycles a byte, uncertain: {}.",
            processor.name,
            processor.mhz,
            cycles.join(", ")
        );
        match self.joined_blocks {
            1 => decode,
            count => format!(
                "{decode}\n\
                 A block of a SteadyFS volume is {count} erase blocks, because one is too small. \
                 Images use single\n\
                 erase blocks."
            ),
        }
    }
}

impl fmt::Display for Boot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = format_count(self.files);
        writeln!(
            f,
            "A root file system of {files} files, {} MB; {} bad blocks\n",
            mb(self.file_bytes),
            self.bad_blocks
        )?;
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

/// The meaning of the columns, and the limits of comparisons.
const LEGEND: &str = "\
Mount: until the root directory is available. Load: every directory and link is looked up, and
every file is read once, in the order of a start. Both are flash times of one chip model.
Decode: decompression, SHA-256 and SteadyFS's checksums, as counted bytes times estimated cycles,
without other work of a processor. RAM lent: memory for one reader; XZ and Zstandard also use a
heap. SteadyFS's readers read squashfs and cramfs. They keep one block of data, and all names and
inodes that were read, as Linux does. SteadyFS's images are looked up name by name. Every system
has 16 KiB for pages that are read again. A copy begins on an erased chip and writes back four
logical pages. Board: the document's own root file system, with kernel and processor. Guest:
Linux 6.1 on a simulated chip of this kind, flash time alone; its load was not measured. Compare
times within one table; between tables compare only ratios.";
