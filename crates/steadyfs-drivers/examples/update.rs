//! An update with rollback. The new image is written beside the old one, checked, and takes its
//! place in one commit. If the new image does not confirm within three starts, the old one comes
//! back. Power may fail anywhere.
//!
//! `cargo run -p steadyfs-drivers --example update`

use std::error::Error;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, File, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

/// Starts within which a new image must confirm.
const TRIES: u8 = 3;

/// Writes an image in pieces. The image is not used before `install`.
fn download<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    version: &str,
    image: &[u8],
) -> Result<(), steadyfs::Error> {
    let mut file =
        fs.open("firmware.new", OpenOptions { truncate: true, ..OpenOptions::CREATE })?;
    let written = write(fs, &mut file, version, image);
    // Without a handle, the file can be removed, and its room becomes free.
    fs.close(file)?;
    written?;
    fs.commit()
}

/// Writes an image with its attributes.
fn write<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    file: &mut File,
    version: &str,
    image: &[u8],
) -> Result<(), steadyfs::Error> {
    for piece in image.chunks(4096) {
        fs.append(file, piece)?;
    }
    fs.set_attribute(file.inode(), "version", Some(version.as_bytes()))?;
    fs.set_attribute(file.inode(), "tries", Some(&[TRIES]))
}

/// Puts the new image in the place of the old one, and keeps the old one. Both renames are one
/// transaction: it is empty after the first commit, so it does not become full between them.
fn install<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<(), steadyfs::Error> {
    fs.commit()?;
    fs.rename("firmware", "firmware.old")?;
    fs.rename("firmware.new", "firmware")?;
    fs.commit()
}

/// Does the work of a boot loader: counts the starts that are left, and takes the old image when
/// none is left. Returns the version that runs.
fn boot<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<String, Box<dyn Error>> {
    let inode = fs.stat("firmware")?.inode;
    let mut tries = [0];
    match fs.attribute(inode, "tries", &mut tries) {
        Ok(_) if tries[0] == 0 => fs.rename("firmware.old", "firmware")?, // it never confirmed
        Ok(_) => fs.set_attribute(inode, "tries", Some(&[tries[0] - 1]))?,
        Err(steadyfs::Error::NotFound) => {}
        Err(error) => Err(error)?,
    }
    fs.commit()?;
    version(fs)
}

/// Confirms the image that runs; the image calls this when it works.
fn confirm<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<(), steadyfs::Error> {
    let inode = fs.stat("firmware")?.inode;
    fs.set_attribute(inode, "tries", None)?;
    fs.commit()
}

fn version<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<String, Box<dyn Error>> {
    let inode = fs.stat("firmware")?.inode;
    let mut version = [0; 16];
    let length = fs.attribute(inode, "version", &mut version)?;
    Ok(std::str::from_utf8(&version[..length])?.to_string())
}

/// Runs an update that works, and an update that does not.
pub fn main() -> Result<(), Box<dyn Error>> {
    let shape =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 64, programs_bytes: false };
    let mut flash = Nand::with_geometry(shape, NandTiming::ROUND, 1);
    let config = Config::for_geometry(&shape);
    let mut memory = vec![0; config.memory_bytes(&shape)];
    FileSystem::format(&mut flash, &config, &mut memory)?;
    let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory)?;

    download(&mut fs, "1.0", &vec![1; 200_000])?; // in the factory
    fs.rename("firmware.new", "firmware")?;
    confirm(&mut fs)?;
    assert_eq!(boot(&mut fs)?, "1.0");

    download(&mut fs, "2.0", &vec![2; 220_000])?;
    // … check its signature here …
    install(&mut fs)?;
    assert_eq!(boot(&mut fs)?, "2.0");
    confirm(&mut fs)?;

    download(&mut fs, "3.0", &vec![3; 210_000])?;
    install(&mut fs)?;
    for _ in 0..TRIES {
        assert_eq!(boot(&mut fs)?, "3.0"); // starts, and hangs
    }
    assert_eq!(boot(&mut fs)?, "2.0");

    // An image for which there is no room leaves nothing behind.
    let refused = download(&mut fs, "4.0", &vec![4; 8_000_000]);
    assert_eq!(refused, Err(steadyfs::Error::NoSpace));
    fs.rollback()?;
    fs.remove("firmware.new")?;
    fs.commit()?;

    download(&mut fs, "4.0", &vec![4; 210_000])?;
    fs.rename("firmware", "firmware.old")?;
    fs.rename("firmware.new", "firmware")?;
    // Power fails before the commit of the installation.
    let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory)?;
    let running = version(&mut fs)?;
    assert_eq!(running, "2.0");
    println!("{running} runs");
    fs.unmount()?;
    Ok(())
}
