//! Checks that all committed data can be read.

use super::chip::LifeChip;
use crate::evaluate::doubt::Doubt;
use crate::evaluate::tracker::TagTracker;
use crate::evaluate::writer::Writer;
use serde::{Deserialize, Serialize};
use std::fmt;
use steadyfs::{Access, Error, File, FileSystem, OpenOptions};

/// Bytes compared at a time.
const PIECE_BYTES: u64 = 2048;

/// The result of a check of all files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Number of files that must exist.
    pub files: u64,
    /// Bytes that these files must contain.
    pub bytes: u64,
    /// Bytes that cannot be read, or differ from the committed bytes.
    pub lost_bytes: u64,
    /// The first of these; nothing if all bytes are correct.
    pub first_loss: Option<Loss>,
}

/// A loss of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Name of the file; empty if the volume cannot be mounted.
    pub file: String,
    /// Offset in the file.
    pub offset: u64,
    /// Description of the error or of the found bytes.
    pub found: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => write!(f, "the volume cannot be mounted: {}", self.found),
            file => write!(f, "{file} at {}: {}", self.offset, self.found),
        }
    }
}

impl Audit {
    /// Mounts the chip for reading and compares every byte of every file. The changes of a
    /// failed call may be present or absent.
    pub fn of(tracker: &mut TagTracker<LifeChip>, memory: &mut [u8], writer: &Writer) -> Audit {
        let files = writer.files();
        let mut audit = Audit {
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.1).sum(),
            ..Audit::default()
        };
        match FileSystem::mount(tracker, Access::ReadOnly, memory) {
            Err(error) => audit.lose("", 0, audit.bytes, error.to_string()),
            Ok(mut fs) => {
                for (number, (name, bytes)) in files.iter().enumerate() {
                    audit.file(&mut fs, writer, number, name, *bytes);
                }
            }
        }
        audit
    }

    fn lose(&mut self, file: &str, offset: u64, bytes: u64, found: String) {
        self.lost_bytes += bytes;
        self.first_loss.get_or_insert_with(|| Loss { file: file.to_string(), offset, found });
    }

    fn file<F: steadyfs::media::Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        writer: &Writer,
        number: usize,
        name: &str,
        bytes: u64,
    ) {
        let removed = number == 0 && writer.doubt() == Some(&Doubt::Removal);
        let opened =
            fs.open(name, OpenOptions::READ).and_then(|mut file| Ok((fs.size(&mut file)?, file)));
        let (size, mut file) = match opened {
            Err(Error::NotFound) if removed => return,
            Err(error) => return self.lose(name, 0, bytes, error.to_string()),
            Ok(opened) => opened,
        };
        if size < bytes {
            self.lose(
                name,
                size,
                bytes - size,
                format!("the file ends after {size} of {bytes} bytes"),
            );
        }
        for offset in (0..bytes.min(size)).step_by(PIECE_BYTES as usize) {
            let piece = PIECE_BYTES.min(bytes.min(size) - offset) as usize;
            if let Err(found) = compare(fs, &mut file, writer, number, offset, piece) {
                self.lose(name, offset, piece as u64, found);
            }
        }
        let _ = fs.close(file);
    }
}

/// Compares a piece of a file. The error describes the found bytes.
fn compare<F: steadyfs::media::Flash>(
    fs: &mut FileSystem<'_, F>,
    file: &mut File,
    writer: &Writer,
    number: usize,
    offset: u64,
    bytes: usize,
) -> Result<(), String> {
    let (mut found, mut expected) = (vec![0; bytes], vec![0; bytes]);
    fs.read(file, offset, &mut found).map_err(|error| error.to_string())?;
    writer.expect(number, offset, &mut expected);
    if let Some(Doubt::Write { file, offset: from, bytes }) = writer.doubt()
        && *file == number
    {
        accept(&found, &mut expected, offset, *from, bytes);
    }
    match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{:#04x} at byte {}; expected the committed {:#04x}",
            found[at],
            offset + at as u64,
            expected[at]
        )),
    }
}

/// Accepts the bytes in doubt, which begin at `from`. If all of them that lie in the piece at
/// `offset` were found, it copies them to `expected`.
fn accept(found: &[u8], expected: &mut [u8], offset: u64, from: u64, bytes: &[u8]) {
    let (first, last) =
        (from.max(offset), (from + bytes.len() as u64).min(offset + found.len() as u64));
    if first < last {
        let new = &bytes[(first - from) as usize..(last - from) as usize];
        let place = (first - offset) as usize..(last - offset) as usize;
        if found[place.clone()] == *new {
            expected[place].copy_from_slice(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::checker::{Checker, Progress};
    use crate::evaluate::plan::Plan;
    use crate::evaluate::{Phase, Workload, find_profile};
    use crate::life::{Options, chip};
    use steadyfs::Config;
    use steadyfs::media::Flash;

    /// Makes a volume with a file of 512 KiB, and the writer that returns its expected contents.
    fn filled(memory: &mut Vec<u8>) -> (TagTracker<LifeChip>, Writer) {
        let profile = find_profile("mt29f1g01abafd").unwrap();
        let mut tracker =
            TagTracker::new(chip::make(&profile, &Options { blocks: 64, ..Options::default() }));
        let config = Config::for_geometry(&tracker.geometry());
        memory.resize(config.memory_bytes(&tracker.geometry()), 0);
        FileSystem::format(&mut tracker, &config, memory).unwrap();
        let mut fs = FileSystem::mount(&mut tracker, Access::ReadWrite, memory).unwrap();
        let mut progress = Progress { expected: 1, done: 0, report: &mut |_, _| {} };
        let mut checker = Checker::only_counting(Phase::Fill, &mut progress);
        let plan =
            Plan { workload: Workload::Random, seed: 1, fill_bytes: 512 << 10, write_bytes: 4096 };
        let writer = Writer::fill(&plan, &mut fs, &mut checker, |_| {}).unwrap();
        (tracker, writer)
    }

    #[test]
    fn what_is_there_is_not_lost() {
        let mut memory = Vec::new();
        let (mut tracker, writer) = filled(&mut memory);
        let audit = Audit::of(&mut tracker, &mut memory, &writer);
        assert_eq!(audit, Audit { files: 1, bytes: 512 << 10, lost_bytes: 0, first_loss: None });
    }

    #[test]
    fn a_block_that_vanishes_is_found_in_the_file_and_so_is_a_volume_that_vanishes() {
        let mut memory = Vec::new();
        let (mut tracker, writer) = filled(&mut memory);
        let full = {
            let fs = FileSystem::mount(&mut tracker, Access::ReadOnly, &mut memory).unwrap();
            (0..64).max_by_key(|&block| fs.block(block).map(|info| info.live)).unwrap()
        };
        tracker.erase(full).unwrap();
        let audit = Audit::of(&mut tracker, &mut memory, &writer);
        assert!((4096..=64 << 10).contains(&audit.lost_bytes), "{audit:?}");
        assert!(audit.first_loss.unwrap().to_string().starts_with("data at "));
        (0..64).for_each(|block| tracker.erase(block).unwrap());
        let audit = Audit::of(&mut tracker, &mut memory, &writer);
        assert_eq!(audit.lost_bytes, 512 << 10);
        assert!(
            audit
                .first_loss
                .unwrap()
                .to_string()
                .starts_with("the volume cannot be mounted: no superblock")
        );
    }

    #[test]
    fn bytes_in_doubt_are_expected_where_all_of_them_were_found() {
        let expected_after = |found: [u8; 4], from: u64, bytes: &[u8]| {
            let mut expected = [1; 4];
            accept(&found, &mut expected, 10, from, bytes);
            expected
        };
        assert_eq!(expected_after([1, 7, 8, 1], 11, &[7, 8]), [1, 7, 8, 1]);
        assert_eq!(
            expected_after([1, 7, 1, 1], 11, &[7, 8]),
            [1; 4],
            "half of a write was not done"
        );
        assert_eq!(
            expected_after([8, 1, 1, 1], 9, &[7, 8]),
            [8, 1, 1, 1],
            "it began in the piece before"
        );
        assert_eq!(expected_after([1; 4], 14, &[7, 8]), [1; 4], "it lies behind");
    }
}
