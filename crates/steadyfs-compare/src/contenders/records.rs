//! Stores of values by keys, used as files. A file is a run of values of the same length. Their
//! keys are a number for the name, and the place.

use crate::chip::Chip;
use steadyfs_lab::bench::{BenchChip, Contender, Fault, Mode, Room, Volume};
use steadyfs_sim::{Counters, Metered};

/// Bytes of a key.
pub const KEY_BYTES: usize = 8;
/// Maximum bytes of a value.
pub const VALUE_BYTES: usize = 1024;

/// A number for a name, and a place in the file.
pub type Key = [u8; KEY_BYTES];

/// A store on a chip.
pub trait Store: Sized {
    /// Makes the store empty.
    ///
    /// # Errors
    /// [`Fault`].
    fn format(chip: &Chip) -> Result<(), Fault>;

    /// Returns the part of the store that is in RAM during its use.
    ///
    /// # Errors
    /// [`Fault`].
    fn mount(chip: &Chip) -> Result<Self, Fault>;

    /// Reads a value into a buffer of [`VALUE_BYTES`]. Returns its bytes, or `None` if there is
    /// no such key.
    ///
    /// # Errors
    /// [`Fault`].
    fn get(&mut self, key: &Key, value: &mut [u8]) -> Result<Option<usize>, Fault>;

    /// Writes a value, durably.
    ///
    /// # Errors
    /// [`Fault`].
    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), Fault>;

    /// Removes a value, durably.
    ///
    /// # Errors
    /// [`Fault`].
    fn remove(&mut self, key: &Key) -> Result<(), Fault>;

    /// Returns the bytes of RAM.
    fn ram_bytes() -> u64;
}

/// A chip with a store.
pub struct Records<S> {
    chip: Chip,
    store: std::marker::PhantomData<S>,
}

impl<S: Store> Records<S> {
    /// Returns a store on an erased chip.
    pub fn new(chip: Chip) -> Self {
        Self { chip, store: std::marker::PhantomData }
    }
}

/// A store in use. Its bytes are counted here, because it does not report them.
pub struct Mounted<S> {
    store: S,
    chip: Chip,
    used_bytes: u64,
}

/// A file: the number of its name, and the bytes of each of its values, if the first value
/// exists.
pub struct File {
    number: u32,
    stride: Option<u64>,
}

/// Returns a number for a name: FNV-1a.
pub fn number_of(path: &str) -> u32 {
    path.bytes()
        .fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl File {
    fn of(path: &str) -> File {
        File { number: number_of(path), stride: None }
    }

    fn key(&self, offset: u64) -> Key {
        let mut key = [0; KEY_BYTES];
        key[..4].copy_from_slice(&self.number.to_be_bytes());
        key[4..].copy_from_slice(&(offset as u32).to_be_bytes());
        key
    }
}

impl<S: Store> Contender for Records<S> {
    type File = File;
    type Volume<'a>
        = Mounted<S>
    where
        S: 'a;

    fn system(&self) -> String {
        "a store of values".to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        S::format(&self.chip)
    }

    fn mount(&mut self) -> Result<Mounted<S>, Fault> {
        Ok(Mounted { store: S::mount(&self.chip)?, chip: self.chip.clone(), used_bytes: 0 })
    }

    fn ram_bytes(&self) -> u64 {
        S::ram_bytes()
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.chip.erase_counts()
    }
}

impl<S: Store> Mounted<S> {
    /// Returns the number of bytes in each value of a file, from the first value.
    fn stride(&mut self, file: &mut File) -> Result<Option<u64>, Fault> {
        if file.stride.is_none() {
            let bytes = self.store.get(&file.key(0), &mut [0; VALUE_BYTES])?;
            file.stride = bytes.map(|bytes| (bytes as u64).max(1));
        }
        Ok(file.stride)
    }
}

impl<S: Store> Volume for Mounted<S> {
    type File = File;

    fn open(&mut self, path: &str, mode: Mode) -> Result<File, Fault> {
        let mut file = File::of(path);
        if matches!(mode, Mode::Read | Mode::Write) && self.stride(&mut file)?.is_none() {
            return Err(Fault::Failed(format!("no {path}")));
        }
        Ok(file)
    }

    fn close(&mut self, _file: File) -> Result<(), Fault> {
        Ok(())
    }

    fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Fault> {
        let Some(stride) = self.stride(file)? else { return Ok(0) };
        let (mut done, mut value) = (0, [0; VALUE_BYTES]);
        while done < data.len() {
            let at = offset + done as u64;
            let base = at / stride * stride;
            let Some(bytes) = self.store.get(&file.key(base), &mut value)? else { break };
            let skip = (at - base) as usize;
            if skip >= bytes {
                break;
            }
            let length = (bytes - skip).min(data.len() - done);
            data[done..done + length].copy_from_slice(&value[skip..skip + length]);
            done += length;
        }
        Ok(done)
    }

    fn write(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Fault> {
        for (index, piece) in data.chunks(VALUE_BYTES).enumerate() {
            self.store.put(&file.key(offset + (index * VALUE_BYTES) as u64), piece)?;
        }
        self.used_bytes += data.len() as u64;
        Ok(())
    }

    fn sync(&mut self, _file: &mut File) -> Result<(), Fault> {
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        let mut file = File::of(path);
        let Some(stride) = self.stride(&mut file)? else {
            return Err(Fault::Failed(format!("no {path}")));
        };
        // Remove from the end: the file exists while its first value exists.
        let mut values = 1;
        while self.store.get(&file.key(values * stride), &mut [0; VALUE_BYTES])?.is_some() {
            values += 1;
        }
        (0..values).rev().try_for_each(|value| self.store.remove(&file.key(value * stride)))
    }

    fn rename(&mut self, _from: &str, _to: &str) -> Result<(), Fault> {
        Err(Fault::Cannot("keys are not renamed; a value is replaced as a whole".to_string()))
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        let mut file = File::of(path);
        let Some(stride) = self.stride(&mut file)? else {
            return Err(Fault::Failed(format!("no {path}")));
        };
        let mut size = 0;
        while let Some(bytes) = self.store.get(&file.key(size), &mut [0; VALUE_BYTES])? {
            size += bytes as u64;
            if (bytes as u64) < stride {
                break;
            }
        }
        Ok(size)
    }

    fn unmount(self) -> Result<(), Fault> {
        Ok(())
    }

    fn room(&mut self) -> Result<Room, Fault> {
        let plain = self.chip.plain();
        // Use half of the chip: with more live data, everything is copied more often.
        let usable_bytes = u64::from(plain.block_bytes) * u64::from(plain.block_count) / 2;
        let free_bytes = usable_bytes.saturating_sub(self.used_bytes);
        Ok(Room {
            usable_bytes,
            free_bytes,
            unit_bytes: 1,
            files_max: 1_000,
            file_bytes_max: VALUE_BYTES as u64 - 24,
        })
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }
}
