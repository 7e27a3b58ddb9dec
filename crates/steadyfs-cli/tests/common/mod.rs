//! A directory for each test, small chips, and images that were tampered with.

#[cfg(target_os = "linux")]
pub mod namespace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use steadyfs_hostile::checksum::crc;

/// Bytes of a page of the small NAND chip, and of its spare area.
const PAGE_BYTES: usize = 512;
const SPARE_BYTES: usize = 128;

/// A directory for one test, with the profiles of two small chips.
pub struct Bench {
    pub directory: PathBuf,
}

impl Bench {
    /// Makes a directory with nothing but the profiles.
    pub fn new(name: &str) -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("images").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let bench = Self { directory };
        bench.write("nand.toml", nand().as_bytes());
        bench.write("nor.toml", nor().as_bytes());
        bench
    }

    /// Returns a path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a file of the host, and the directories above it.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the command `steady` in the directory, with arguments that spaces separate.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steady"));
        command
            .args(line.split_whitespace())
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .env_remove("SOURCE_DATE_EPOCH");
        command
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs a command that must succeed. It may warn that the volume was not unmounted.
    pub fn ok_unsettled(&self, line: &str) -> String {
        let output = self.run(line);
        let said = text(&output.stderr);
        assert!(
            output.status.success() && (said.is_empty() || said.contains("was not unmounted")),
            "{line}: {said}"
        );
        text(&output.stdout)
    }

    /// Runs `steady`, which must succeed, and report that it left something out.
    pub fn ok_with_losses(&self, line: &str, losses: &str) -> String {
        let output = self.run(line);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.trim_end()), (Some(0), losses), "{line}");
        text(&output.stdout)
    }

    /// Runs `steady`, which must succeed without a message; returns the output. A slow machine may
    /// print lines of progress.
    pub fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        let errors = text(&output.stderr);
        let is_progress =
            |line: &str| line.starts_with("takes about ") || line.contains(" %, about ");
        let messages: Vec<&str> = errors.lines().filter(|line| !is_progress(line)).collect();
        assert_eq!((output.status.code(), messages.as_slice()), (Some(0), [].as_slice()), "{line}");
        text(&output.stdout)
    }

    /// Runs `steady` like `ok`, and returns its output as JSON.
    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }

    /// Runs `steady`, which must fail with one sentence. Returns the sentence.
    pub fn fails(&self, line: &str) -> String {
        self.ends_with(1, line)
    }

    /// Runs `steady` with options that contradict each other or their device: it must end with code
    /// 2 and one sentence. Returns the sentence.
    pub fn contradicts(&self, line: &str) -> String {
        self.ends_with(2, line)
    }

    fn ends_with(&self, code: i32, line: &str) -> String {
        let output = self.run(line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {error}");
        assert!(error.starts_with("error: ") && error.lines().count() == 1, "{line}: {error}");
        error.trim_end().trim_start_matches("error: ").to_string()
    }

    /// Runs `steady` with an option that it does not take. Returns the error.
    pub fn is_wrong(&self, line: &str) -> String {
        let output = self.run(line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        error
    }

    /// Replaces bytes everywhere in an image of the small NAND chip, and corrects the checksums.
    pub fn forge(&self, image: &str, from: &[u8], to: &[u8]) {
        assert_eq!(from.len(), to.len());
        let mut bytes = self.read(image);
        let mut count = 0;
        for page in bytes.chunks_exact_mut(PAGE_BYTES + SPARE_BYTES) {
            let (data, spare) = page.split_at_mut(PAGE_BYTES);
            let before = crc(data);
            while let Some(at) = data.windows(from.len()).position(|window| window == from) {
                data[at..at + to.len()].copy_from_slice(to);
                count += 1;
            }
            let change = (before ^ crc(data)).to_le_bytes();
            // The check is the last four of the sixteen bytes of the tag. The tag begins behind
            // the two bytes of the bad-block mark.
            spare[14..18].iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
        }
        assert!(count > 0, "nothing to forge");
        self.write(image, &bytes);
    }

    /// Changes the first byte at which `needle` is in an image, and leaves the checksum wrong.
    pub fn damage(&self, image: &str, needle: &[u8]) {
        let mut bytes = self.read(image);
        let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
        bytes[at] ^= 1;
        self.write(image, &bytes);
    }

    /// Changes a byte of a page of an image of the small NAND chip, and leaves the checksum wrong.
    pub fn damage_page(&self, image: &str, page: u64) {
        let mut bytes = self.read(image);
        bytes[page as usize * (PAGE_BYTES + SPARE_BYTES)] ^= 1;
        self.write(image, &bytes);
    }
}

/// Returns the profile of NAND with one MiB.
fn nand() -> String {
    let profile = include_str!("../../../steadyfs-sim/profiles/mt29f1g01abafd.toml");
    let (figures, _sources) = profile.split_once("[sources]").unwrap();
    figures
        .replace("mt29f1g01abafd", "small-nand")
        .replace("page_bytes = 2048", "page_bytes = 512")
        .replace("pages_per_block = 64", "pages_per_block = 32")
        .replace("block_count = 1024", "block_count = 64")
}

/// Returns the profile of NOR with one MiB.
fn nor() -> String {
    let profile = include_str!("../../../steadyfs-sim/profiles/w25q128jv.toml");
    let (figures, _sources) = profile.split_once("[sources]").unwrap();
    figures
        .replace("w25q128jv", "small-nor")
        .replace("16777216", "1048576")
        .replace("default_erase_bytes = 65536", "default_erase_bytes = 16384")
        .replace("bytes = 4096", "bytes = 16384")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns bytes that differ at each offset and for each seed.
pub fn content(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 256 * 13 + seed * 61 + 1) as u8).collect()
}

/// Returns bytes that no method compresses.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Returns everything below a directory of the host, sorted: paths, and the bytes of files.
pub fn tree(directory: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    fn descend(root: &Path, directory: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if path.is_dir() {
                found.push((name, None));
                descend(root, &path, found);
            } else {
                found.push((name, Some(fs::read(&path).unwrap())));
            }
        }
    }
    let mut found = Vec::new();
    descend(directory, directory, &mut found);
    found.sort();
    found
}
