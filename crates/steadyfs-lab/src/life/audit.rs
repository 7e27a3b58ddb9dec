//! Whether everything that was committed can be read.

use super::chip::LifeChip;
use crate::evaluate::shadow::Shadow;
use crate::evaluate::writer::{Doubt, Writer};
use serde::{Deserialize, Serialize};
use std::fmt;
use steadyfs::{Access, Error, File, FileSystem, OpenOptions};

/// Bytes compared at a time.
const PIECE_BYTES: u64 = 2048;

/// What was found of the files that there must be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Files that there must be.
    pub files: u64,
    /// Bytes that must be in them.
    pub bytes: u64,
    /// Bytes that cannot be read, or are not those that were committed.
    pub lost_bytes: u64,
    /// The first of them; nothing when all is there.
    pub first_loss: Option<Loss>,
}

/// Something that is not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The file; empty when the volume cannot be mounted.
    pub file: String,
    /// Where in the file.
    pub offset: u64,
    /// What is there instead.
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
    /// Mounts the chip for reading and compares every byte of every file. What a call that failed would have done may have
    /// been done.
    pub fn of(shadow: &mut Shadow<LifeChip>, memory: &mut [u8], writer: &Writer) -> Audit {
        let files = writer.files();
        let mut audit = Audit { files: files.len() as u64, bytes: files.iter().map(|file| file.1).sum(), ..Audit::default() };
        match FileSystem::mount(shadow, Access::ReadOnly, memory) {
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
        let opened = fs.open(name, OpenOptions::READ).and_then(|mut file| Ok((fs.size(&mut file)?, file)));
        let (size, mut file) = match opened {
            Err(Error::NotFound) if removed => return,
            Err(error) => return self.lose(name, 0, bytes, error.to_string()),
            Ok(opened) => opened,
        };
        if size < bytes {
            self.lose(name, size, bytes - size, format!("the file ends, after {size} of {bytes} bytes"));
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

/// Compares a piece of a file; tells what is there instead.
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
        // Bytes in doubt count as found, old or new, if all of them are one or the other.
        for (at, new) in (*from..).zip(bytes) {
            if let Some(index) = at.checked_sub(offset).filter(|index| *index < expected.len() as u64) {
                let index = index as usize;
                if found[index] == *new {
                    expected[index] = *new;
                }
            }
        }
    }
    match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(at) => Err(format!("{:#04x} at byte {}, committed was {:#04x}", found[at], offset + at as u64, expected[at])),
    }
}
