//! The chip alone, not a file system.
//!
//! Payload is programmed in order, and whole blocks are erased when they are reached. Names and
//! places are in the host's memory and cost nothing. Nothing is ever moved. No file system can be
//! faster, and none can be so careless.

use crate::chip::Chip;
use crate::entrant::{Entrant, Facts};
use std::collections::BTreeMap;
use steadyfs::media::Failure;
use steadyfs_lab::bench::{BenchChip, Case, Contender, Fault, Mode, Plain, Room, Volume};
use steadyfs_sim::{Counters, Metered};

/// Bytes of a name, and of the record of a removal.
const NAME_BYTES: usize = 16;
const REMOVAL_BYTES: usize = 8;
/// Bytes programmed together on a chip that programs single bytes.
const PIECE_BYTES: usize = 256;

/// The chip alone.
pub struct Raw;

impl Entrant for Raw {
    type On = RawLog;

    fn facts(&self) -> Facts {
        Facts {
            id: "raw".into(),
            name: "the chip alone".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            source: "this repository".into(),
            licence: "MIT or Apache-2.0".into(),
            configuration: "payload programmed in order, blocks erased as they are reached; names \
                and places in the host's memory; nothing is moved"
                .into(),
            because: "the limit of the chip, not a file system".into(),
            contract: "none: it is no file system".into(),
            timing: "a program, and at most one erase".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<RawLog, String> {
        Ok(RawLog {
            chip,
            files: BTreeMap::new(),
            block: 0,
            offset: 0,
            waiting: 0,
            erased_ahead: 0,
            last_read: None,
        })
    }

    fn twin(&self, of: &RawLog, chip: Chip) -> Result<RawLog, String> {
        Ok(RawLog { chip, ..of.clone() })
    }

    fn cannot(&self, case: Case) -> Option<String> {
        matches!(case, Case::Mount(_)).then(|| "there is nothing to mount".to_string())
    }

    fn survives_cuts(&self) -> bool {
        false
    }
}

/// A log on the chip, with its content in the host's memory.
#[derive(Clone)]
pub struct RawLog {
    chip: Chip,
    files: BTreeMap<String, Vec<u8>>,
    block: u32,
    offset: u32,
    /// Bytes that were written and not yet programmed.
    waiting: usize,
    /// Blocks after this one that idle time has erased.
    erased_ahead: u32,
    /// The last page that was read. Its other bytes are in the page register.
    last_read: Option<(String, u64)>,
}

impl RawLog {
    /// Programs the waiting bytes: all of them, or whole pieces.
    fn program(&mut self, all: bool) -> Result<(), Fault> {
        let plain = self.chip.plain();
        let piece = if plain.unit_bytes == 1 { PIECE_BYTES } else { plain.unit_bytes as usize };
        while self.waiting >= piece || (all && self.waiting > 0) {
            self.place(&plain)?;
            let room = piece - self.offset as usize % piece;
            let bytes = self.waiting.min(room);
            self.chip.program_plain(self.block, self.offset, &vec![0; bytes]).map_err(failed)?;
            self.waiting -= bytes;
            self.offset += if plain.unit_bytes == 1 { bytes as u32 } else { plain.unit_bytes };
        }
        Ok(())
    }

    /// Moves to the next block at the end of a block. Erases a block at its beginning, unless
    /// idle time has erased it.
    fn place(&mut self, plain: &Plain) -> Result<(), Fault> {
        if self.offset >= plain.block_bytes {
            (self.block, self.offset) = ((self.block + 1) % plain.block_count, 0);
        }
        if self.offset == 0 && self.erased_ahead == 0 {
            self.chip.erase_block(self.block).map_err(failed)?;
        } else if self.offset == 0 {
            self.erased_ahead -= 1;
        }
        Ok(())
    }

    /// Programs this number of bytes and everything before them.
    fn commit(&mut self, bytes: usize) -> Result<(), Fault> {
        self.waiting += bytes;
        self.program(true)
    }
}

fn failed(failure: Failure) -> Fault {
    Fault::Failed(format!("{failure:?}"))
}

impl Contender for RawLog {
    type File = (String, bool);
    type Volume<'a> = &'a mut RawLog;

    fn system(&self) -> String {
        "the chip alone".to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        self.files.clear();
        Ok(())
    }

    fn mount(&mut self) -> Result<&mut RawLog, Fault> {
        Ok(self)
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.chip.erase_counts()
    }
}

impl Volume for &mut RawLog {
    type File = (String, bool);

    fn open(&mut self, path: &str, mode: Mode) -> Result<Self::File, Fault> {
        if !self.files.contains_key(path) {
            if matches!(mode, Mode::Read | Mode::Write | Mode::Replace) {
                return Err(Fault::Failed(format!("no {path}")));
            }
            self.files.insert(path.to_string(), Vec::new());
            self.waiting += NAME_BYTES;
        } else if mode == Mode::Replace {
            self.files.insert(path.to_string(), Vec::new());
        }
        Ok((path.to_string(), mode == Mode::Durable))
    }

    fn close(&mut self, _file: Self::File) -> Result<(), Fault> {
        Ok(())
    }

    fn read(
        &mut self,
        file: &mut Self::File,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Fault> {
        let bytes = self.files.get(&file.0).map_or(&[][..], Vec::as_slice);
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let length = rest.len().min(data.len());
        data[..length].copy_from_slice(&rest[..length]);
        let plain = self.chip.plain();
        if plain.unit_bytes == 1 && length > 0 {
            self.chip
                .read_plain(0, 0, &mut vec![0; length.min(plain.block_bytes as usize)])
                .map_err(failed)?;
            return Ok(length);
        }
        let unit = u64::from(plain.unit_bytes);
        for page in offset / unit..(offset + length as u64).div_ceil(unit) {
            let place = Some((file.0.clone(), page));
            if self.last_read != place {
                self.chip.read_plain(0, 0, &mut vec![0; unit as usize]).map_err(failed)?;
                self.last_read = place;
            }
        }
        Ok(length)
    }

    fn write(&mut self, file: &mut Self::File, offset: u64, data: &[u8]) -> Result<(), Fault> {
        let bytes = self.files.entry(file.0.clone()).or_default();
        let end = offset as usize + data.len();
        bytes.resize(bytes.len().max(end), 0);
        bytes[offset as usize..end].copy_from_slice(data);
        self.waiting += data.len();
        self.program(file.1)
    }

    fn sync(&mut self, _file: &mut Self::File) -> Result<(), Fault> {
        self.program(true)
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        self.files.remove(path).ok_or_else(|| Fault::Failed(format!("no {path}")))?;
        self.commit(REMOVAL_BYTES)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        let bytes = self.files.remove(from).ok_or_else(|| Fault::Failed(format!("no {from}")))?;
        self.files.insert(to.to_string(), bytes);
        self.commit(NAME_BYTES)
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        self.files
            .get(path)
            .map(|bytes| bytes.len() as u64)
            .ok_or_else(|| Fault::Failed(format!("no {path}")))
    }

    fn idle(&mut self, burst_bytes: u64) -> Result<(), Fault> {
        let Plain { block_bytes, block_count, .. } = self.chip.plain();
        let blocks = burst_bytes.div_ceil(u64::from(block_bytes)) as u32 + 1;
        let first = if self.offset == 0 { self.block } else { self.block + 1 };
        for block in first..first + blocks {
            self.chip.erase_block(block % block_count).map_err(failed)?;
        }
        self.erased_ahead = blocks;
        Ok(())
    }

    fn unmount(self) -> Result<(), Fault> {
        self.program(true)
    }

    fn room(&mut self) -> Result<Room, Fault> {
        let plain = self.chip.plain();
        let usable_bytes = u64::from(plain.block_bytes) * u64::from(plain.block_count);
        let used: usize = self.files.values().map(Vec::len).sum();
        Ok(Room {
            usable_bytes,
            free_bytes: usable_bytes.saturating_sub(used as u64),
            unit_bytes: plain.unit_bytes,
            files_max: u32::MAX,
            file_bytes_max: usable_bytes,
        })
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }
}
