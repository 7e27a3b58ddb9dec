//! A logger with durable records: a record is on the medium when the call returns. A full file
//! makes room for the next one. Power may fail anywhere.
//!
//! `cargo run -p steadyfs-drivers --example logger`

use std::error::Error;
use steadyfs::media::Flash;
use steadyfs::{Access, Budget, Call, Config, File, FileSystem, OpenOptions};
use steadyfs_drivers::nor::{NorChip, Settings};
use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};

const RECORD_BYTES: usize = 32;
/// Bytes of a file of records; there is one file that grows, and an older one.
const FILE_BYTES: u64 = 16 << 10;

/// Number of records, enough for more files than can be open at once.
const RECORDS: u32 = 6000;

/// Appends records to `log`, which becomes `log.old` when it is full.
struct Logger {
    file: File,
}

impl Logger {
    fn open<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<Self, steadyfs::Error> {
        Ok(Self { file: fs.open("log", OpenOptions::DURABLE)? })
    }

    /// Logs a record. Power may fail at any time: all logged records stay, and this one is there
    /// wholly or not at all.
    fn log<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        record: &[u8; RECORD_BYTES],
    ) -> Result<(), steadyfs::Error> {
        if fs.size(&mut self.file)? >= FILE_BYTES {
            fs.rename("log", "log.old")?; // replaces the older file
            let new = fs.open("log", OpenOptions::DURABLE)?; // commits the rename
            fs.close(std::mem::replace(&mut self.file, new))?;
        }
        fs.append(&mut self.file, record)
    }
}

/// Returns the bytes of a record.
fn record(number: u32) -> [u8; RECORD_BYTES] {
    let mut record = [b' '; RECORD_BYTES];
    let text = format!("{number:>8} {:4.1} degrees", 20.0 + f64::from(number % 50) / 10.0);
    record[..text.len()].copy_from_slice(text.as_bytes());
    record
}

/// Returns the numbers of all records on the volume, the oldest first.
fn read_back<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut numbers = Vec::new();
    for name in ["log.old", "log"] {
        let mut file = match fs.open(name, OpenOptions::READ) {
            Err(steadyfs::Error::NotFound) => continue,
            file => file?,
        };
        let mut found = vec![0; fs.size(&mut file)? as usize];
        fs.read(&mut file, 0, &mut found)?;
        for bytes in found.chunks(RECORD_BYTES) {
            let number: u32 = std::str::from_utf8(&bytes[..8])?.trim().parse()?;
            assert_eq!(bytes, record(number));
            numbers.push(number);
        }
        fs.close(file)?;
    }
    Ok(numbers)
}

/// Logs records, with power cuts in between. Then finds all records for which the files have room.
pub fn main() -> Result<(), Box<dyn Error>> {
    let sim = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv().with_bytes(1 << 20)));
    let start = || -> Result<_, Box<dyn Error>> {
        Ok(NorChip::start(sim.clone(), sim.clone(), Settings::DEFAULT)?.into_pages()?)
    };
    let flash = start()?;
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    FileSystem::format(flash, &config, &mut memory)?;

    let (mut acknowledged, mut cuts) = (0, 0);
    while acknowledged < RECORDS {
        let mut fs = FileSystem::mount(start()?, Access::ReadWrite, &mut memory)?;
        let found = read_back(&mut fs)?;
        let next = found.last().map_or(0, |last| last + 1);
        assert!(
            next == acknowledged || next == acknowledged + 1,
            "{next} after {acknowledged} acknowledged records"
        );
        let most = (FILE_BYTES / RECORD_BYTES as u64) as usize;
        assert!(
            found.len() >= most.min(next as usize),
            "a whole file of records stays, whatever is cut"
        );

        let mut logger = Logger::open(&mut fs)?;
        let timing = fs.flash().timing();
        println!(
            "from record {next} on: at most {} ms for each",
            fs.bounds().of(Call::Write(RECORD_BYTES as u32)).time_ns(&timing) / 1_000_000
        );
        fs.maintain(Budget::TimeNs(2_000_000_000), 8 << 10)?; // idle time before a burst
        sim.chip().cut_at(300 + 997 * cuts, None);
        acknowledged = next;
        while acknowledged < RECORDS && logger.log(&mut fs, &record(acknowledged)).is_ok() {
            acknowledged += 1;
        }
        drop(fs);
        cuts += 1;
        sim.chip().power_on(cuts);
    }
    println!("{acknowledged} records, {cuts} starts");
    Ok(())
}
