//! A root file system on NAND: the flash time and the decompression time of its mount and load.
//!
//! The experiment follows A. L. Sharif's *A Comparative Analysis Between Embedded Linux Flash
//! File Systems*. It mounts and loads a root file system of JFFS2, UBIFS, cramfs and squashfs,
//! and copies a file of 10 MB. Here SteadyFS loads a [made tree](crate::made_tree) in three
//! ways: plain, with compressed files, and as a read-only image. Beside it are squashfs and
//! cramfs as Linux users make them, each on the same simulated chip.
//!
//! ```text
//!   system    what is compared; images are made
//!     ▼
//!   measure   written to a chip, mounted anew, visited: loaded, read at random places; a copy
//!     ├── volume, image    how each is written, mounted and read; joined: small blocks as larger ones
//!     ├── rootfs           what a visit does
//!     ▼
//!   table     the result, beside what was published; cycles: what decoding takes a processor
//! ```

mod cycles;
mod error;
mod image;
mod joined;
mod measure;
mod options;
mod published;
mod rootfs;
mod system;
mod table;
mod volume;

pub use cycles::{Codec, Cycles, Processor, Work};
pub use error::BootError;
pub use options::Options;
pub use system::System;
pub use table::{Boot, CopyRow, DeviceRows, RandomRow, Row};

use crate::evaluate::device::find_nand;
use joined::Joined;
use measure::{Content, Written, copy};
use steadyfs::media::Flash;
use steadyfs_sim::{Nand, Profile};
use system::{Image, images};

/// The share of the time for making images, of the whole time.
const IMAGES_SHARE: f64 = 0.5;

/// Measures all chips. `tell` receives the completed share and the name of the current work.
///
/// # Errors
/// The first [`BootError`].
pub fn run(options: &Options, tell: &mut (dyn FnMut(f64, &str) + Send)) -> Result<Boot, BootError> {
    let profiles =
        options.devices.iter().map(|name| find_nand(name)).collect::<Result<Vec<_>, _>>()?;
    tell(0.0, "tree");
    let content = Content::new(options);
    let systems = systems(options);
    let images = images(&content.tree, &systems, options.block_bytes, &mut |share| {
        tell(share * IMAGES_SHARE, "images")
    })?;
    let mut devices = Vec::new();
    for (index, profile) in profiles.iter().enumerate() {
        let mut told = |share: f64| {
            let share = (index as f64 + share) / profiles.len() as f64;
            tell(IMAGES_SHARE + share * (1.0 - IMAGES_SHARE), &profile.name);
        };
        devices.push(device(profile, options, &content, &systems, &images, &mut told)?);
    }
    let (files, file_bytes) = content.files();
    let (copy_bytes, reads) = (options.copy_bytes as u64, options.reads);
    Ok(Boot {
        files,
        file_bytes,
        copy_bytes,
        reads,
        bad_blocks: options.bad_blocks,
        seed: options.seed,
        devices,
    })
}

/// Returns all systems to measure: first those that load, then those that only read at random
/// places.
fn systems(options: &Options) -> Vec<System> {
    let mut systems = System::LOADING.to_vec();
    for system in System::reading(options.block_bytes) {
        if !systems.contains(&system) {
            systems.push(system);
        }
    }
    systems
}

/// Measures one chip.
fn device(
    profile: &Profile,
    options: &Options,
    content: &Content,
    systems: &[System],
    images: &[Option<Image>],
    tell: &mut dyn FnMut(f64),
) -> Result<DeviceRows, BootError> {
    let chip = Joined::new(Nand::new(profile, options.timing.choice(), options.seed));
    let processor = Processor::beside(chip.geometry().page_bytes).with(&options.cycles);
    let reading = System::reading(options.block_bytes);
    let (mut rows, mut random) = (Vec::new(), vec![None; reading.len()]);
    for (index, &system) in systems.iter().enumerate() {
        tell(index as f64 / systems.len() as f64);
        let mut written = Written::new(profile, options, system, images[index].as_ref(), content)?;
        if System::LOADING.contains(&system) {
            rows.push(written.load(&processor, content)?);
        }
        if let Some(at) = reading.iter().position(|&read| read == system) {
            random[at] = Some(written.read(&processor, options, content)?);
        }
    }
    let copies = [None, Some(Codec::Lz4), Some(Codec::Deflate)]
        .into_iter()
        .map(|codec| copy(profile, options, codec))
        .collect::<Result<_, _>>()?;
    let random = random.into_iter().flatten().collect();
    Ok(DeviceRows {
        device: profile.name.clone(),
        processor,
        joined_blocks: chip.blocks(),
        rows,
        copies,
        random,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Options {
        Options { share: 40, copy_bytes: 300_000, reads: 50, ..Options::default() }
    }

    fn measured(options: &Options) -> Boot {
        run(options, &mut |_, _| {}).unwrap()
    }

    /// Each run compares the read data with the tree, byte for byte.
    #[test]
    fn every_system_reads_what_was_written_and_the_same_seed_measures_the_same() {
        let boot = measured(&small());
        assert_eq!(boot, measured(&small()));
        for device in &boot.devices {
            assert_eq!(device.rows.len(), System::LOADING.len());
            assert_eq!(device.random.len(), System::reading(0).len());
            assert!(
                device.rows.iter().all(|row| row.mount_us > 0.0 && row.load_us > row.mount_us),
                "{device:?}"
            );
        }
        let read_only = boot.devices[0].rows.iter().filter(|row| row.system.contains("read-only"));
        assert!(
            read_only.map(|row| row.mount_us).all(|us| us < 5000.0),
            "an image is mounted in 5 ms"
        );
        let text = boot.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 150), "{text}");
        let json = serde_json::to_string(&boot).unwrap();
        assert_eq!(serde_json::from_str::<Boot>(&json).unwrap(), boot);
    }
}
