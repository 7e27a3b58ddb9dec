//! The map of the crate `sequential-storage`: values by keys, appended page after page.

use super::records::{KEY_BYTES, Key, Records, Store, VALUE_BYTES};
use crate::chip::Chip;
use crate::entrant::{Entrant, Facts};
use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use sequential_storage::Error;
use sequential_storage::cache::page_pointers::ArrayPagePointers;
use sequential_storage::cache::page_states::ArrayPageStates;
use sequential_storage::cache::{Cache, Uncached};
use sequential_storage::map::{MapConfig, MapStorage};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use steadyfs::media::{Failure, Flash};
use steadyfs_lab::bench::{BenchChip, Case, Fault};

/// Bytes of an erase sector: a constant of the trait that the crate requires.
const SECTOR_BYTES: usize = 4096;
/// Sectors for which the caches have room.
const SECTORS_MAX: usize = 256;

/// `sequential-storage`.
pub struct SequentialStorage;

impl Entrant for SequentialStorage {
    type On = Records<Map>;

    fn facts(&self) -> Facts {
        Facts {
            id: "sequential-storage".into(),
            name: "sequential-storage, map".into(),
            version: "8.0.2".into(),
            source: "https://crates.io/crates/sequential-storage".into(),
            licence: "MIT or Apache-2.0".into(),
            configuration: "sectors of 4 KiB, words of 4 B, keys of 8 B, values up to 1,024 B; \
                caches of page states and page pointers, no cache of keys; at most half of the \
                chip is filled"
                .into(),
            because: "its README: these two caches cost 9 B a page and help every operation; a \
                cache of keys would need RAM for every file"
                .into(),
            contract: "the system is always fine or fully recoverable; a value is old or new"
                .into(),
            timing: "none".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<Records<Map>, String> {
        let plain = chip.plain();
        if plain.unit_bytes > 1 {
            return Err(
                "it is for NOR: it programs single words, but a NAND page is programmed once per \
                 erase"
                    .to_string(),
            );
        }
        if plain.block_bytes as usize != SECTOR_BYTES || plain.block_count as usize > SECTORS_MAX {
            return Err("set up for at most 256 sectors of 4 KiB: every search reads all sectors"
                .to_string());
        }
        Ok(Records::new(chip))
    }

    fn cannot(&self, case: Case) -> Option<String> {
        let is_for_it =
            matches!(case, Case::Append(_) | Case::Replace(_) | Case::Names(_) | Case::Mount(_));
        (!is_for_it).then(|| {
            "a store of small values, not of files: measured if the case is a log, a configuration \
             or many names"
                .to_string()
        })
    }
}

/// The chip with the interface that the crate requires.
pub struct Words(Chip);

impl Words {
    fn pieces(
        &self,
        offset: u32,
        bytes: usize,
    ) -> impl Iterator<Item = (u32, u32, std::ops::Range<usize>)> + use<> {
        let sector = SECTOR_BYTES as u32;
        let mut done = 0;
        std::iter::from_fn(move || {
            let at = offset + done as u32;
            let length = ((sector - at % sector) as usize).min(bytes - done);
            let range = done..done + length;
            done += length;
            (length > 0).then_some((at / sector, at % sector, range))
        })
    }
}

/// The failure of an operation of the chip.
#[derive(Debug)]
pub struct ChipError;

impl NorFlashError for ChipError {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl From<Failure> for ChipError {
    fn from(_: Failure) -> ChipError {
        ChipError
    }
}

impl ErrorType for Words {
    type Error = ChipError;
}

impl ReadNorFlash for Words {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, data: &mut [u8]) -> Result<(), ChipError> {
        for (block, at, range) in self.pieces(offset, data.len()) {
            self.0.read_plain(block, at, &mut data[range])?;
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.plain().block_count as usize * SECTOR_BYTES
    }
}

impl NorFlash for Words {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR_BYTES;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), ChipError> {
        let sector = SECTOR_BYTES as u32;
        (from / sector..to / sector).try_for_each(|block| self.0.erase(block))?;
        Ok(())
    }

    async fn write(&mut self, offset: u32, data: &[u8]) -> Result<(), ChipError> {
        for (block, at, range) in self.pieces(offset, data.len()) {
            self.0.program_plain(block, at, &data[range])?;
        }
        Ok(())
    }
}

impl MultiwriteNorFlash for Words {}

type Caches = Cache<ArrayPageStates<SECTORS_MAX>, ArrayPagePointers<SECTORS_MAX>, Uncached, Key>;

/// A map in use.
pub struct Map {
    storage: MapStorage<Key, Words, Caches>,
    buffer: [u8; VALUE_BYTES + 64],
}

/// Runs a future that waits only for the simulated chip, which answers at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

fn fault(error: Error<ChipError>) -> Fault {
    match error {
        Error::FullStorage => Fault::NoRoom("the storage is full".to_string()),
        error => Fault::Failed(format!("{error:?}")),
    }
}

impl Store for Map {
    fn format(chip: &Chip) -> Result<(), Fault> {
        let mut map = Map::mount(chip)?;
        now(map.storage.erase_all()).map_err(fault)
    }

    fn mount(chip: &Chip) -> Result<Map, Fault> {
        let plain = chip.plain();
        let config = MapConfig::new(0..plain.block_count * plain.block_bytes);
        let cache = Cache::new(ArrayPageStates::new(), ArrayPagePointers::new(), Uncached);
        Ok(Map {
            storage: MapStorage::new(Words(chip.clone()), config, cache),
            buffer: [0; VALUE_BYTES + 64],
        })
    }

    fn get(&mut self, key: &Key, value: &mut [u8]) -> Result<Option<usize>, Fault> {
        let found: Option<&[u8]> =
            now(self.storage.fetch_item(&mut self.buffer, key)).map_err(fault)?;
        Ok(found.map(|found| {
            value[..found.len()].copy_from_slice(found);
            found.len()
        }))
    }

    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), Fault> {
        now(self.storage.store_item(&mut self.buffer, key, &value)).map_err(fault)
    }

    fn remove(&mut self, key: &Key) -> Result<(), Fault> {
        now(self.storage.remove_item(&mut self.buffer, key)).map_err(fault)
    }

    fn ram_bytes() -> u64 {
        (size_of::<Map>() + KEY_BYTES) as u64
    }
}
