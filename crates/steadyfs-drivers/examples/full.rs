//! A NOR driver of an array in RAM, a log on it, and a volume that becomes full.
//!
//! `cargo run -p steadyfs-drivers --example full`

use std::error::Error;
use steadyfs::{Access, CommitOn, Config, File, FileSystem, OpenOptions};

use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry};

const GEOMETRY: Geometry = Geometry::of_nor(4096, 256); // 1 MiB in sectors of 4 KiB

struct RamNor(Box<[u8]>);

impl NorFlash for RamNor {
    fn block_bytes(&self) -> u32 {
        4096
    }

    fn block_count(&self) -> u32 {
        256
    }

    // The longest times of a read, a program and an erase.
    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let commands = u64::from(bytes.div_ceil(256)); // the chip programs 256 bytes at once
        (3_200 + 160 * u64::from(bytes), 3_000_000 * commands, 400_000_000)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        data.copy_from_slice(&self.0[address as usize..][..data.len()]);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        for (stored, byte) in self.0[address as usize..].iter_mut().zip(data) {
            *stored &= byte;
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.0[block as usize * 4096..][..4096].fill(0xFF);
        Ok(())
    }
}

// The `Flash` that `format` and `mount` take.
fn chip() -> impl Flash {
    NorPages::new(RamNor(vec![0xFF; 1 << 20].into()), GEOMETRY.page_bytes)
}

/// Appends a record, and commits it as a whole. If the volume is full, removes the older log first.
fn log<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    file: &mut File,
    record: &[u8],
) -> Result<(), steadyfs::Error> {
    if let Err(error) = fs.append(file, record) {
        fs.rollback()?; // a part of the record may be there
        if error != steadyfs::Error::NoSpace {
            return Err(error);
        }
        fs.remove("log.old")?; // works on a full volume
        fs.append(file, record)?;
    }
    fs.commit()
}

/// Fills the volume, and logs on.
pub fn main() -> Result<(), Box<dyn Error>> {
    const CONFIG: Config = Config::for_geometry(&GEOMETRY).must_fit(&GEOMETRY);
    let mut memory = [0; CONFIG.memory_bytes(&GEOMETRY)];
    let flash = FileSystem::format(chip(), &CONFIG, &mut memory)?;
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
    fs.set_commit_on(CommitOn::MANUAL);
    let mut old = fs.open("log.old", OpenOptions::CREATE)?;
    for _ in 0..100 {
        log(&mut fs, &mut old, &[b'x'; 1000])?;
    }
    fs.close(old)?;
    let mut file = fs.open("log", OpenOptions::CREATE)?;
    fs.commit()?;
    let mut records = 0;
    while fs.stat("log.old").is_ok() {
        log(&mut fs, &mut file, &[b'y'; 1000])?;
        records += 1;
        assert_eq!(fs.size(&mut file)?, 1000 * records);
    }
    println!("{records} records, then {} bytes are available", fs.available()?);
    Ok(())
}
