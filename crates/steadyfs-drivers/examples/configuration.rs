//! A configuration store: several values change together or not at all, an operator may cancel,
//! and a value that was never set has a default.
//!
//! `cargo run -p steadyfs-drivers --example configuration`

use std::error::Error;
use steadyfs::media::Flash;
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

/// Longest value, in bytes.
const VALUE_BYTES: usize = 64;

/// Reads a value, or returns its default if it was never set.
fn get<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    key: &str,
    default: &str,
) -> Result<String, Box<dyn Error>> {
    let mut file = match fs.open(&*format!("config/{key}"), OpenOptions::READ) {
        Err(steadyfs::Error::NotFound) => return Ok(default.to_string()),
        file => file?,
    };
    let mut value = [0; VALUE_BYTES];
    let length = fs.read(&mut file, 0, &mut value)?;
    fs.close(file)?;
    Ok(std::str::from_utf8(&value[..length])?.to_string())
}

/// Sets a value, which is durable from the next commit on.
fn set<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    key: &str,
    value: &str,
) -> Result<(), steadyfs::Error> {
    let options = OpenOptions { truncate: true, ..OpenOptions::CREATE };
    let mut file = fs.open(&*format!("config/{key}"), options)?;
    fs.write(&mut file, 0, value.as_bytes())?;
    fs.close(file)
}

/// Sets values, cancels, loses power, and checks the values that are left.
pub fn main() -> Result<(), Box<dyn Error>> {
    let shape = steadyfs::media::Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 64,
        programs_bytes: false,
    };
    let mut flash = Nand::with_geometry(shape, NandTiming::ROUND, 1);
    let config = Config::for_geometry(&shape);
    let mut memory = vec![0; config.memory_bytes(&shape)];
    FileSystem::format(&mut flash, &config, &mut memory)?;

    let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory)?;
    fs.set_commit_on(CommitOn::MANUAL);
    fs.create_dir("config")?;
    set(&mut fs, "address", "192.168.1.20")?;
    set(&mut fs, "gateway", "192.168.1.1")?;
    fs.commit()?; // both, or neither

    set(&mut fs, "address", "10.0.0.5")?;
    assert_eq!(get(&mut fs, "address", "")?, "10.0.0.5"); // visible before it is durable
    fs.rollback()?; // the operator pressed "cancel"
    assert_eq!(get(&mut fs, "address", "")?, "192.168.1.20");

    set(&mut fs, "address", "10.0.0.5")?;
    set(&mut fs, "gateway", "10.0.0.1")?;
    // Power fails before the commit.

    let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory)?;
    let found = (
        get(&mut fs, "address", "")?,
        get(&mut fs, "gateway", "")?,
        get(&mut fs, "name", "sensor")?,
    );
    assert_eq!(
        found,
        ("192.168.1.20".to_string(), "192.168.1.1".to_string(), "sensor".to_string())
    );
    println!("address {}, gateway {}, name {}", found.0, found.1, found.2);
    fs.unmount()?;
    Ok(())
}
