//! All calls that a file system above a disk makes. Any result is accepted.

use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES, WriteOptions};
use steadyfs::media::{Flash, TAG_BYTES, Timing};
use steadyfs::{Access, Budget, MountError};

use crate::choices::Choices;
use crate::exercise::{CALL, MOUNT, blocks_are_known, guarded, lend, memory_asked};
use crate::medium::Guarded;

/// Most calls of one input.
const CALLS_MAX: usize = 200;
/// Most sectors of a write or a read.
const SECTORS_MAX: usize = 9;

type Drive<'m, 'f, F> = Disk<'m, Guarded<&'f mut F>>;

/// Reads everything on a medium, changes it as `choices` decide, unmounts, mounts again, and
/// reads everything again.
///
/// The first choice omits parts of the sequence, so that a fuzzer finds inputs that take less
/// time.
pub fn exercise<F: Flash>(flash: &mut F, mut choices: Choices<'_>) {
    let without = choices.byte();
    let superblock = first_page(flash);
    if without & 1 == 0 {
        with_disk(flash, Access::ReadOnly, |mut disk| {
            read_everything(&mut disk);
            assert!(
                granted(&mut disk).write_durable(0, &[1; SECTOR_BYTES as usize]).is_err(),
                "a write on a disk for reading only"
            );
        });
    }
    with_disk(flash, Access::ReadWrite, |disk| change(disk, &mut choices));
    if without & 2 == 0 {
        with_disk(flash, Access::ReadWrite, |mut disk| {
            read_everything(&mut disk);
            repair(&mut disk);
            read_everything(&mut disk);
            let _ = granted(&mut disk).flush();
        });
    }
    assert!(superblock == first_page(flash), "only a format writes a superblock");
}

/// Uses a disk hard: trims, and overwrites sectors until each head has changed its block.
pub fn press<F: Flash>(flash: &mut F, choices: &mut Choices<'_>) {
    for _ in 0..2 {
        with_disk(flash, Access::ReadWrite, |mut disk| {
            if disk.damage().is_some() {
                repair(&mut disk);
            }
            let (sectors, per_page) = (disk.sectors(), disk.page_sectors());
            let first = choices.below(sectors as usize) as u32;
            if choices.below(2) == 0 {
                let _ = granted(&mut disk).trim(first, (40 * per_page).min(sectors - first));
            }
            for round in 0..60 {
                let sector = (first + round * 7) % sectors;
                let count = if round % 3 == 0 { 1 } else { per_page - sector % per_page }
                    .min(sectors - sector);
                let data = vec![round as u8; (count * SECTOR_BYTES) as usize];
                let options = WriteOptions { durable: round % 4 != 0, stream: (round % 3) as u8 };
                let _ = granted(&mut disk).write_with(sector, &data, options);
            }
            if choices.below(2) == 0 {
                read_everything(&mut disk);
            }
            if choices.below(2) == 0 {
                disk.flash_mut().grant(CALL);
                let _ = disk.unmount();
            }
        });
    }
}

/// Returns the page of the first superblock, as far as it can be read.
fn first_page<F: Flash>(flash: &mut F) -> Vec<u8> {
    let (mut page, mut tag) = (vec![0; flash.geometry().page_bytes as usize], [0; TAG_BYTES]);
    let _ = flash.read(0, &mut page, &mut tag);
    page
}

/// Mounts with as much memory as the mount requests, and calls `act` if the mount succeeds.
fn with_disk<F: Flash>(flash: &mut F, access: Access, act: impl FnOnce(Drive<'_, '_, F>)) {
    let geometry = flash.geometry();
    let asked: Result<usize, MountError> =
        memory_asked(geometry, |memory| mount(flash, Access::ReadOnly, memory).map(drop));
    let Ok(bytes) = asked else { return };
    lend(bytes, |memory| {
        let Ok(disk) = mount(flash, access, memory) else { return };
        let config = disk.config();
        assert_eq!(
            bytes,
            config.memory_bytes(&geometry),
            "what a mount asks for is what the settings say"
        );
        assert_eq!(config.check(&geometry), Ok(()), "settings that no format makes were mounted");
        let medium_bytes = geometry.page_bytes * geometry.pages_per_block * geometry.block_count;
        assert!(
            (1..medium_bytes / SECTOR_BYTES).contains(&disk.sectors()),
            "{} sectors",
            disk.sectors()
        );
        act(disk);
    });
}

fn mount<'m, 'f, F: Flash>(
    flash: &'f mut F,
    access: Access,
    memory: &'m mut [u8],
) -> Result<Drive<'m, 'f, F>, MountError> {
    Disk::mount(guarded(flash, access), access, memory)
}

/// Returns the disk with the budget for one call.
fn granted<'a, 'm, 'f, F: Flash>(disk: &'a mut Drive<'m, 'f, F>) -> &'a mut Drive<'m, 'f, F> {
    disk.flash_mut().grant(CALL);
    disk
}

/// Reads every sector, and makes the calls that cost nothing.
fn read_everything<F: Flash>(disk: &mut Drive<'_, '_, F>) {
    let (sectors, per_page) = (disk.sectors(), disk.page_sectors());
    let mut page = vec![0; (per_page * SECTOR_BYTES) as usize];
    for sector in (0..sectors).step_by(per_page as usize) {
        let is_written = granted(disk).is_written(sector);
        let read = granted(disk).read(sector, &mut page);
        assert!(
            is_written != Ok(false) || read.is_err() || page.iter().all(|byte| *byte == 0),
            "an empty page holds something"
        );
    }
    assert!(
        granted(disk).read(sectors, &mut page).is_err()
            && granted(disk).is_written(sectors).is_err()
    );
    let timing: Timing = disk.flash().timing();
    let bytes = per_page * SECTOR_BYTES;
    for call in [
        DiskCall::Read(bytes),
        DiskCall::Write(SECTOR_BYTES),
        DiskCall::WriteDurable(bytes),
        DiskCall::Trim,
        DiskCall::Flush,
    ] {
        disk.bound(call).time_ns(&timing);
    }
    blocks_are_known(&disk.describe(), |block| disk.block(block));
    let _ = (disk.mount_bound(), disk.health(), disk.is_settled(), disk.has_changes());
}

/// Accepts the missing data. A disk with damage can only be read.
fn repair<F: Flash>(disk: &mut Drive<'_, '_, F>) {
    assert!(disk.damage().is_none() || disk.health().read_only, "{:?} and writable", disk.damage());
    disk.flash_mut().grant(MOUNT + CALL);
    if disk.repair().is_ok() {
        assert_eq!(disk.damage(), None);
    }
}

/// Reads everything, makes the calls that `choices` name, and unmounts.
fn change<F: Flash>(mut disk: Drive<'_, '_, F>, choices: &mut Choices<'_>) {
    if choices.below(4) != 0 {
        repair(&mut disk);
    }
    read_everything(&mut disk);
    for _ in 0..CALLS_MAX {
        if choices.is_empty() {
            break;
        }
        call(&mut disk, choices);
    }
    let _ = granted(&mut disk).maintain(Budget::Operations(1000), 4096);
    disk.flash_mut().grant(CALL);
    let _ = disk.unmount();
}

/// Makes one call, and ignores its result.
fn call<F: Flash>(disk: &mut Drive<'_, '_, F>, choices: &mut Choices<'_>) {
    let mut data = [choices.byte(); SECTORS_MAX * SECTOR_BYTES as usize];
    let sector = if choices.below(8) == 0 {
        choices.size() as u32
    } else {
        choices.below(disk.sectors() as usize) as u32
    };
    let bytes = choices.below(SECTORS_MAX + 1) * SECTOR_BYTES as usize;
    let disk = granted(disk);
    match choices.below(10) {
        kind @ 0..=3 => {
            let options = WriteOptions { durable: kind == 3, stream: choices.byte() };
            let _ = disk.write_with(sector, &data[..bytes], options);
            let _ = granted(disk).read(sector, &mut data[..bytes]);
        }
        4 | 5 => {
            let count = choices.size() as u32;
            if let Ok(done) = disk.trim(sector, count) {
                assert!(
                    done <= count && (done > 0 || count == 0),
                    "a trim of {count} sectors has done {done}"
                );
            }
        }
        6 => drop(disk.flush()),
        7 => drop(disk.maintain(Budget::Operations(choices.word().into()), choices.size())),
        8 => drop(disk.scrub(Budget::Operations(choices.byte().into()))),
        _ => repair(disk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind;
    use crate::seal::seal;
    use crate::volumes::disks;
    use steadyfs::ConfigError;

    /// `format` refuses such settings, but a superblock may still contain them. With no sector in
    /// a logical page, a trim divided by zero.
    #[test]
    fn logical_pages_of_less_than_a_sector_are_refused() {
        const UNIT_PAGES: usize = 22;
        let volume = disks()
            .iter()
            .find(|disk| disk.shape.geometry.page_bytes < SECTOR_BYTES)
            .expect("small pages");
        let mut ram = volume.ram.clone();
        for (page, _) in volume.pages_of(&[kind::SUPER]) {
            let data = ram.parts_mut(page).0;
            assert_eq!(u16::from(data[UNIT_PAGES]), volume.shape.config.pages_per_logical_page);
            data[UNIT_PAGES] = 1;
            seal(&mut ram, page);
        }
        let mut memory = vec![0; 1 << 16];
        let refused = Disk::mount(&mut ram, Access::ReadOnly, &mut memory).err();
        assert_eq!(refused, Some(ConfigError::SectorBytes.into()));
    }
}
