//! The program of the README, on a simulated chip.
//!
//! `cargo run -p steadyfs-drivers --example readme`

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Call, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

const CHIP: Geometry =
    Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 1024, programs_bytes: false };
const CONFIG: Config = Config::for_geometry(&CHIP).must_fit(&CHIP);

/// Formats, mounts, and appends to a first file.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flash = Nand::with_geometry(CHIP, NandTiming::ROUND, 1); // on a board: your driver
    let mut memory = [0; CONFIG.memory_bytes(&CHIP)]; // all RAM but the struct
    let flash = FileSystem::format(flash, &CONFIG, &mut memory)?;
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
    let mut log = fs.open("log", OpenOptions::DURABLE)?;
    let longest_ns = fs.bounds().of(Call::Write(13)).time_ns(&fs.flash().timing());
    println!("this append takes at most {} us", longest_ns / 1000);
    fs.append(&mut log, b"21.5 degrees\n")?; // on the chip when it returns
    Ok(())
}
