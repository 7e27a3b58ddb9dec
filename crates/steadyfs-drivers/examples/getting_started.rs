//! From a chip to a first file, as in docs/guide/getting-started.md. The chip here is simulated; on
//! a board, `spi` and `delay` come from its HAL.
//!
//! `cargo run -p steadyfs-drivers --example getting_started`

use std::error::Error;
use steadyfs::media::nor::NorPages;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Budget, Call, Config, Cursor, FileSystem, MountError, OpenOptions, ROOT};
use steadyfs_drivers::nor::{NorChip, Settings};
use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};

const GEOMETRY: Geometry = Geometry::of_nor(4096, 256); // 1 MiB in sectors of 4 KiB
const CONFIG: Config = Config::for_geometry(&GEOMETRY).must_fit(&GEOMETRY);
const MEMORY_BYTES: usize = CONFIG.memory_bytes(&GEOMETRY);

/// The same for a larger chip, on which several sectors are a block.
mod large_chip {
    use super::{Config, Geometry};

    const SECTORS: u32 = Config::group_sectors(4096, 4096).unwrap(); // 4 for 16 MiB, 4,096 sectors
    const GEOMETRY: Geometry = Geometry::of_nor(4096 * SECTORS, 4096 / SECTORS);
    pub const MEMORY_BYTES: usize =
        Config::for_geometry(&GEOMETRY).must_fit(&GEOMETRY).memory_bytes(&GEOMETRY);
}

/// Starts the driver of the board's chip. The first MiB of the chip is the volume.
fn board_flash(sim: &NorSim) -> Result<NorPages<NorChip<NorSim, NorSim>>, Box<dyn Error>> {
    let (spi, delay) = (sim.clone(), sim.clone());
    let settings = Settings { bus_hz: 50_000_000, bytes: Some(1 << 20), ..Settings::DEFAULT };
    let flash = NorChip::start(spi, delay, settings)?.into_pages()?;
    assert_eq!(flash.geometry(), GEOMETRY); // the memory is made for this geometry
    Ok(flash)
}

/// Formats on the first start, and mounts.
fn start<'m, F: Flash>(
    flash: &'m mut F,
    memory: &'m mut [u8],
) -> Result<FileSystem<'m, &'m mut F>, MountError> {
    if let Err(MountError::NotFormatted) = FileSystem::mount(&mut *flash, Access::ReadOnly, memory)
    {
        FileSystem::format(&mut *flash, &CONFIG, memory)?;
    }
    FileSystem::mount(flash, Access::ReadWrite, memory)
}

/// Runs the steps of the document.
pub fn main() -> Result<(), Box<dyn Error>> {
    println!("1 MiB takes {MEMORY_BYTES} bytes of memory, 16 MiB {}", large_chip::MEMORY_BYTES);
    let sim = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv()));
    let mut flash = board_flash(&sim)?;
    let mut memory = [0; MEMORY_BYTES];

    let mut fs = start(&mut flash, &mut memory)?;
    let mut log = fs.open("log", OpenOptions::DURABLE)?;
    fs.append(&mut log, b"21.5 degrees\n")?; // on the chip when it returns

    let mut text = [0; 64];
    let length = fs.read(&mut log, 0, &mut text)?;
    assert_eq!(&text[..length], b"21.5 degrees\n");

    let settings = fs.create_dir("settings")?;
    let mut mode = fs.open("settings/mode", OpenOptions::CREATE)?;
    fs.write(&mut mode, 0, b"field")?;
    fs.close(mode)?;
    fs.commit()?; // both are there now, or neither
    for directory in [ROOT, settings] {
        let mut cursor = Cursor::default();
        while let Some(entry) = fs.list(directory, &mut cursor)? {
            println!("{} {} bytes", entry.name(), entry.stat.size);
        }
    }

    match fs.open("nothing", OpenOptions::READ) {
        Ok(file) => fs.close(file)?,
        Err(steadyfs::Error::NotFound) => println!("no such file"),
        Err(error) => return Err(error.into()),
    }

    let timing = fs.flash().timing();
    println!(
        "an append takes at most {} us",
        fs.bounds().of(Call::Write(13)).time_ns(&timing) / 1000
    );
    for (part, cost) in fs.bounds().breakdown(Call::Write(13), 0, &timing).each() {
        println!("  {part}: {} us", cost.time_ns(&timing) / 1000);
    }

    let is_ready = fs.maintain(Budget::TimeNs(2_000_000_000), 4096)?; // 2 s, for a burst of 4 KiB
    println!("ready for the burst: {is_ready}");

    // Power fails in the next program, at any point in it.
    sim.chip().cut_at(1, None);
    assert!(fs.append(&mut log, b"21.6 degrees\n").is_err());
    sim.chip().power_on(1);

    let mut flash = board_flash(&sim)?; // the board starts again
    let mut fs = start(&mut flash, &mut memory)?;
    let mut log = fs.open("log", OpenOptions::DURABLE)?;
    let length = fs.read(&mut log, 0, &mut text)?;
    // The record in flight: all or nothing.
    assert!([&b"21.5 degrees\n"[..], b"21.5 degrees\n21.6 degrees\n"].contains(&&text[..length]));
    fs.close(log)?;
    fs.unmount()?; // before power is switched off: the next mount searches nothing
    Ok(())
}
