//! Steps on a compressed file, and the same steps on a `Vec`.
#![allow(dead_code, reason = "each test uses a part")]

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Config, Cost, FileSystem};
use steadyfs_compress::{Error, PackedFile};
use steadyfs_sim::{Metered, Nand, NandTiming};

/// A small chip: a few writes make it erase.
pub const SMALL: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 160, programs_bytes: false };

pub fn chip() -> Nand {
    Nand::with_geometry(SMALL, NandTiming::ROUND, 1)
}

/// Returns a new volume, and the memory that it takes.
pub fn format(chip: Nand) -> (Nand, Vec<u8>) {
    format_with(chip, 40)
}

/// Returns a new volume with transactions of `transaction_pages` pages, and the memory that it
/// takes.
pub fn format_with(chip: Nand, transaction_pages: u16) -> (Nand, Vec<u8>) {
    let config = Config {
        pages_per_logical_page: 2,
        transaction_pages,
        overlay_entries: 120,
        ..Config::for_geometry(&SMALL)
    };
    let mut memory = vec![0; config.memory_bytes(&SMALL) + 12 * 8];
    (FileSystem::format(chip, &config, &mut memory).expect("a volume"), memory)
}

/// Returns the operations of the chip since it was made.
pub fn spent(fs: &FileSystem<'_, Nand>) -> Cost {
    let c = fs.flash().counters();
    Cost {
        reads: c.reads as u32,
        tag_reads: c.tag_reads as u32,
        programs: c.programs as u32,
        copies: c.copies as u32,
        erases: c.erases as u32,
        instructions: 0,
    }
}

/// Returns the operations between two calls of `spent`.
pub fn difference(after: &Cost, before: &Cost) -> Cost {
    Cost {
        reads: after.reads - before.reads,
        tag_reads: after.tag_reads - before.tag_reads,
        programs: after.programs - before.programs,
        copies: after.copies - before.copies,
        erases: after.erases - before.erases,
        instructions: 0,
    }
}

/// A random number generator that repeats its sequence.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    /// Returns text, noise or zeros.
    pub fn content(&mut self, bytes: usize) -> Vec<u8> {
        const WORDS: [&str; 8] =
            ["degrees ", "at ", "21.5 ", "the ", "sensor ", "of ", "valve ", "\n"];
        match self.below(4) {
            0 => (0..bytes).map(|_| self.below(256) as u8).collect(),
            1 if self.below(3) == 0 => vec![0; bytes],
            _ => std::iter::repeat_with(|| WORDS[self.below(8)].bytes())
                .flatten()
                .take(bytes)
                .collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Step {
    Write { offset: usize, data: Vec<u8> },
    Append { data: Vec<u8> },
    Truncate { size: usize },
    Commit,
}

/// Draws a step on a file of `size` bytes that must not grow beyond `most`.
pub fn draw(random: &mut Random, size: usize, most: usize, chunk: usize) -> Step {
    let bytes = match random.below(3) {
        0 => 1 + random.below(100),
        1 => chunk * (1 + random.below(2)),
        _ => 1 + random.below(2 * chunk),
    };
    match random.below(20) {
        0..7 if size + bytes <= most => Step::Append { data: random.content(bytes) },
        0..7 => Step::Truncate { size: random.below(size + 1) },
        7..13 => {
            let offset = random.below(size + 1);
            Step::Write { offset, data: random.content(bytes.min(most - offset)) }
        }
        13 => Step::Truncate { size: if random.below(4) == 0 { 0 } else { random.below(most) } },
        14 => {
            let offset = random.below(most - bytes.min(most - 1));
            Step::Write { offset, data: random.content(bytes.min(most - offset)) }
        }
        _ => Step::Commit,
    }
}

/// Returns the states that a step may leave: a state for each chunk that is written, and one for
/// the end of the file.
pub fn states(before: &[u8], step: &Step, chunk: usize) -> Vec<Vec<u8>> {
    let mut now = before.to_vec();
    let (offset, data) = match step {
        Step::Commit => return Vec::new(),
        Step::Truncate { size } => {
            now.resize(*size, 0);
            return vec![now];
        }
        Step::Append { data } => (before.len(), data),
        Step::Write { offset, data } => (*offset, data),
    };
    let (mut all, mut done) = (Vec::new(), 0);
    while done < data.len() {
        let at = offset + done;
        let mut step = (chunk - at % chunk).min(data.len() - done);
        if at < before.len() {
            step = step.min(before.len() - at);
        }
        now.resize(now.len().max(at + step), 0);
        now[at..at + step].copy_from_slice(&data[done..done + step]);
        all.push(now.clone());
        done += step;
    }
    all
}

/// Makes a step.
pub fn make<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    file: &mut PackedFile<Vec<u8>>,
    step: &Step,
) -> Result<(), Error> {
    match step {
        Step::Write { offset, data } => file.write(fs, *offset as u64, data),
        Step::Append { data } => file.append(fs, data),
        Step::Truncate { size } => file.truncate(fs, *size as u64),
        Step::Commit => Ok(fs.commit()?),
    }
}

/// Returns the whole content.
pub fn content<F: Flash>(fs: &mut FileSystem<'_, F>, file: &mut PackedFile<Vec<u8>>) -> Vec<u8> {
    let size = file.size(fs).expect("a size") as usize;
    let mut all = vec![0xA5; size + 1];
    assert_eq!(file.read(fs, 0, &mut all).expect("content"), size);
    all.truncate(size);
    all
}
