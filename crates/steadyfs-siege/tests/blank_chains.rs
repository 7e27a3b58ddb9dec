//! Four cuts in a row after a clean end, each at one place. A block reads as blank once, and as
//! its old content later. Data that was acknowledged after the cuts stays.
//!
//! Of 300,000 seeds, these lost the data when a root did not name the root before it.

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, Error, FileSystem, MountError, OpenOptions};
use steadyfs_siege::chip::Chip;
use steadyfs_siege::fate::Style;
use steadyfs_siege::strike::Cut;

/// Number of pages of a root. The cut meets the first seal behind them.
const ROOT_PAGES: u32 = 2;

fn change(chip: &mut Chip, memory: &mut [u8], name: &str) -> Result<(), MountError> {
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory)?;
    let mut file = fs.open(name, OpenOptions::CREATE)?;
    fs.write(&mut file, 0, &[7; 700])?;
    fs.commit()?;
    Ok(fs.close(file)?)
}

/// Cuts an operation that changes the chip, in a mount.
fn cut_mount(chip: &mut Chip, memory: &mut [u8], operation: u32) {
    chip.strikes_mut().arm_cut(Cut::Change(operation));
    assert!(
        FileSystem::mount(&mut *chip, Access::ReadWrite, memory).is_err()
            && !chip.strikes().has_power(),
        "it is cut"
    );
    chip.power_on();
}

#[test]
fn what_was_acknowledged_stays_after_roots_that_a_cut_erase_had_hidden() {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 48, programs_bytes: false };
    let config = Config::for_geometry(&geometry);
    for seed in [69_168, 120_332] {
        let mut chip = Chip::new(geometry, false, false, seed);
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let file = fs.open("a", OpenOptions::CREATE).expect("open");
        fs.close(file).expect("close");
        fs.commit().expect("commit");
        assert!(fs.unmount().is_ok());
        chip.style = Style::Unsteady;
        chip.strikes_mut().arm_cut(Cut::Change(ROOT_PAGES));
        assert!(change(&mut chip, &mut memory, "b").is_err(), "it is cut");
        chip.power_on();
        cut_mount(&mut chip, &mut memory, ROOT_PAGES);
        cut_mount(&mut chip, &mut memory, ROOT_PAGES);
        cut_mount(&mut chip, &mut memory, 0);
        change(&mut chip, &mut memory, "v").expect("acknowledged");
        for look in 0..3 {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            let found = fs.open("v", OpenOptions::READ).map(drop);
            assert_ne!(
                found,
                Err(Error::NotFound),
                "seed {seed}, look {look}: an older state came back"
            );
            assert_eq!(found, Ok(()), "seed {seed}, look {look}");
        }
    }
}
