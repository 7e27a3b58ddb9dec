//! Tests flipped bits in the log of a leaf, on flash that programs bytes and has no ECC.

use crate::common::{Rng, for_seeds};
use steadyfs::media::nor::NorPages;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::fault::{Operation, Record};
use steadyfs_sim::{FailOps, Nor, NorTiming, Trace};

const FILES: u64 = 5;
/// Bytes of a piece for writes and reads, and number of pieces in a file.
const PIECE: usize = 512;
const PIECES: u64 = 64;
/// From `docs/format.md`: bytes of a log, bytes of a change, and the kinds of leaves.
const LOG_BYTES: usize = 96;
const CHANGE_BYTES: usize = 6;
const LEAVES: [u8; 2] = [9, 10];

/// A chip on which some bits of a page's data read wrong.
#[derive(Clone)]
struct Flipped<F> {
    chip: F,
    page: PageIndex,
    bits: Vec<usize>,
}

impl<F: Flash> Flipped<F> {
    /// Flips the bits in data that was read from `page`, from byte `at` on.
    fn flip(&self, page: PageIndex, at: usize, data: &mut [u8]) {
        for bit in self.bits.iter().filter(|_| page == self.page) {
            if let Some(byte) = (bit / 8).checked_sub(at).and_then(|byte| data.get_mut(byte)) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }
}

impl<F: Flash> Flash for Flipped<F> {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.read(page, data, tag)?;
        self.flip(page, 0, data);
        Ok(())
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.program(page, data, tag)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.chip.read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.chip.program_bytes(block, offset, data)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

type Volume = Flipped<NorPages<Nor>>;

/// Returns a volume whose pages were rewritten many times, and the contents of its files.
fn used_volume(
    seed: u64,
    writes: u64,
    ends_well: bool,
    memory: &mut Vec<u8>,
) -> (Volume, Vec<Vec<u8>>) {
    let chip = NorPages::new(Nor::with_geometry(16_384, 64, NorTiming::ROUND, seed), 256);
    let geometry = chip.geometry();
    let config =
        Config { overlay_entries: 60, transaction_pages: 12, ..Config::for_geometry(&geometry) };
    memory.resize(config.memory_bytes(&geometry), 0);
    let chip = FileSystem::format(Flipped { chip, page: 0, bits: Vec::new() }, &config, memory)
        .expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let (mut rng, mut files) = (Rng(seed), vec![vec![0; PIECES as usize * PIECE]; FILES as usize]);
    for change in 0..writes {
        let (number, at) = (rng.below(FILES) as usize, rng.below(PIECES) as usize * PIECE);
        let bytes: Vec<u8> =
            (0..PIECE as u64).map(|byte| (change * 7 + byte * 3 + rng.below(9)) as u8).collect();
        files[number][at..at + PIECE].copy_from_slice(&bytes);
        let mut file = fs.open(format!("f{number}").as_str(), OpenOptions::CREATE).expect("open");
        fs.write(&mut file, at as u64, &bytes).expect("write");
        fs.close(file).expect("close");
        fs.commit().expect("commit");
    }
    let volume = if ends_well { fs.unmount().expect("unmount") } else { fs.flash().clone() };
    (volume, files)
}

/// Returns the changes in the logs of all leaves: the page and the first byte of each. Old leaves
/// have changes as well.
fn changes(volume: &mut Volume) -> Vec<(PageIndex, usize)> {
    let Geometry { page_bytes, pages_per_block, block_count, .. } = volume.geometry();
    let (mut data, mut tag) = (vec![0; page_bytes as usize], [0; TAG_BYTES]);
    let mut found = Vec::new();
    for page in 0..pages_per_block * block_count {
        if volume.read(page, &mut data, &mut tag).is_ok() && LEAVES.contains(&(tag[8] & 15)) {
            let start = data.len() - LOG_BYTES;
            let places = (start..data.len()).step_by(CHANGE_BYTES);
            found.extend(
                places
                    .filter(|&at| data[at..at + CHANGE_BYTES] != [0xFF; CHANGE_BYTES])
                    .map(|at| (page, at)),
            );
        }
    }
    found
}

/// Reads all files. Returns the number of pieces with an error, and true if the mount reported
/// damage. No piece may be old.
fn look(volume: Volume, memory: &mut [u8], files: &[Vec<u8>]) -> (usize, bool) {
    let mut fs = FileSystem::mount(volume, Access::ReadWrite, memory).expect("mount");
    let is_told = fs.damage().is_some();
    let mut lost = 0;
    for (number, wanted) in files.iter().enumerate() {
        let mut file = match fs.open(format!("f{number}").as_str(), OpenOptions::READ) {
            Ok(file) => file,
            Err(error) => {
                assert_eq!(error, Error::Corrupt);
                lost += PIECES as usize;
                continue;
            }
        };
        for at in (0..wanted.len()).step_by(PIECE) {
            let mut found = vec![0; PIECE];
            match fs.read(&mut file, at as u64, &mut found) {
                Ok(length) => {
                    assert!(
                        found[..length] == wanted[at..at + length],
                        "file {number} from {at} on is not what was committed"
                    );
                }
                Err(error) => {
                    assert_eq!(error, Error::Corrupt);
                    lost += 1;
                }
            }
        }
        fs.close(file).expect("close");
    }
    (lost, is_told)
}

/// A bit flipped in a change of a leaf. The change's check failed, the mount skipped the change,
/// and the logical page read as it was before.
#[test]
fn one_flipped_bit_in_the_log_of_a_leaf_costs_nothing() {
    for_seeds("leaf_log", "one_flipped_bit_in_the_log_of_a_leaf_costs_nothing", 2, |seed| {
        for ends_well in [true, false] {
            let mut memory = Vec::new();
            let (mut volume, files) = used_volume(seed, 400, ends_well, &mut memory);
            let (mut rng, changes) = (Rng(seed), changes(&mut volume));
            assert!(changes.len() > 20, "logs are used: {}", changes.len());
            for (page, at) in changes {
                let bits = vec![8 * at + rng.below(8 * CHANGE_BYTES as u64) as usize];
                let (lost, is_told) =
                    look(Flipped { page, bits, ..volume.clone() }, &mut memory, &files);
                assert_eq!((lost, is_told), (0, false), "page {page}, change at {at}");
            }
        }
    });
}

/// If no cut has touched the log, two wrong bits in a change cost the page of the leaf, and the
/// mount reports this.
#[test]
fn change_that_cannot_be_read_costs_its_page_of_the_leaf() {
    for_seeds("leaf_log", "change_that_cannot_be_read_costs_its_page_of_the_leaf", 2, |seed| {
        let (mut memory, mut rng, mut told) = (Vec::new(), Rng(seed), 0);
        for writes in (300..420).step_by(30) {
            let (mut volume, files) = used_volume(seed, writes, true, &mut memory);
            for (page, at) in changes(&mut volume) {
                let one = rng.below(8 * CHANGE_BYTES as u64) as usize;
                let other = (one + 1 + rng.below(8 * CHANGE_BYTES as u64 - 1) as usize)
                    % (8 * CHANGE_BYTES);
                let bits = vec![8 * at + one, 8 * at + other];
                let (lost, is_told) =
                    look(Flipped { page, bits, ..volume.clone() }, &mut memory, &files);
                assert!(
                    is_told || lost == 0,
                    "page {page}, change at {at}: {lost} pieces cannot be read, and nothing is said"
                );
                told += u32::from(is_told);
            }
        }
        println!("seed {seed}: {told} told");
        assert!(told > 3, "changes of leaves that count are among them");
    });
}

/// A program failed in a block that held a leaf. The leaf's log took further changes.
#[test]
fn a_block_in_which_a_program_failed_takes_no_more_programs() {
    let is_failed = |record: &&Record| {
        record.operation == Operation::Program && record.failure == Some(Failure::BadBlock)
    };
    let mut failures = 0;
    for number in 1..600 {
        let chip = NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, 1), 256);
        let mut chip = Trace::new(FailOps::new(chip, 1));
        let config = Config::for_geometry(&chip.geometry());
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        chip.inner_mut().fail_program(number);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("file", OpenOptions::DURABLE).expect("open");
        let mut rng = Rng(7);
        for _ in 0..400 {
            fs.write(&mut file, rng.below(100) * 256, &[9; 256]).expect("write");
        }
        assert!(fs.damage().is_none());
        // In a block that has gone bad, each further program fails as well.
        let failed = chip.records().iter().filter(is_failed).count();
        assert!(failed <= 1, "program {number} failed, and {} more", failed - 1);
        failures += failed;
    }
    assert!(failures > 300, "{failures} programs failed");
}
