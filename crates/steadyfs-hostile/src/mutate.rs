//! Damage to a sound volume. Most of it lies under checksums that are right again, so that the
//! checks behind the checksums meet it.

use std::sync::LazyLock;

use steadyfs::media::TAG_BYTES;

use crate::choices::Choices;
use crate::fields::Fields;
use crate::kind;
use crate::medium::{Fault, Ram};
use crate::seal::{TAG_CONTENT_BYTES, seal, seal_tag};
use crate::volumes::{ChainRecord, Volume, disks, volumes};

/// Most fields of one volume that are forged.
const FORGED_MAX: usize = 4;
/// Most changes to one volume.
const CHANGES_MAX: usize = 8;
/// Numbers at which something begins, ends, or overflows.
const NUMBERS: [u32; 10] = [0, 1, 2, 7, 0x7F, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFF_FFFF, u32::MAX];

/// Returns a copy of a volume's medium, damaged as `choices` decide.
pub fn mutated(volume: &Volume, choices: &mut Choices<'_>) -> Ram {
    let mut ram = volume.ram.clone();
    match choices.below(8) {
        0 => ram.can_copy = !ram.can_copy,
        1 => ram.fails_every = 1 + u32::from(choices.byte()),
        _ => {}
    }
    for _ in 0..1 + choices.below(CHANGES_MAX) {
        if !volume.chain_records().is_empty() && choices.below(3) == 0 {
            change_record(&mut ram, volume, choices);
            continue;
        }
        change_page(&mut ram, volume, choices);
    }
    ram
}

/// Changes a page, most of the time under checksums that are right again.
fn change_page(ram: &mut Ram, volume: &Volume, choices: &mut Choices<'_>) {
    let page = target(volume, choices);
    let how = choices.byte();
    change(ram, page, how, choices);
    if how < 0xE0 {
        seal(ram, page);
    }
}

/// Returns one of the [volumes], or of the [disks], with some of its fields forged.
pub fn forged(choices: &mut Choices<'_>, of_disks: bool) -> Ram {
    static FIELDS: LazyLock<[Vec<Fields>; 2]> = LazyLock::new(|| {
        [volumes(), disks()].map(|volumes| volumes.iter().map(Fields::of).collect())
    });
    let volumes = if of_disks { disks() } else { volumes() };
    let number = choices.below(volumes.len());
    let (volume, fields) = (&volumes[number], &FIELDS[usize::from(of_disks)][number]);
    let mut ram = volume.ram.clone();
    match choices.below(16) {
        0 => ram.can_copy = !ram.can_copy,
        1 => ram.fails_every = 1 + u32::from(choices.byte()),
        2 => ram.reorders = true,
        3 => ram.hides_damage = true,
        _ => {}
    }
    for _ in 0..1 + choices.below(FORGED_MAX) {
        if choices.below(16) == 0 {
            change_page(&mut ram, volume, choices);
        } else {
            fields.forge(&mut ram, volume, choices);
        }
    }
    ram
}

/// Chooses a page to be changed. Chooses the kind first, so that rare kinds are met as often as
/// data. The newest pages of a kind matter most.
fn target(volume: &Volume, choices: &mut Choices<'_>) -> usize {
    let by = choices.byte();
    let pages: Vec<usize> = match by {
        0..=99 => volume.pages_of(&[1 + by % kind::LAST]).map(|(page, _)| page).collect(),
        100..=219 => volume.newest_of(u32::from(by) - 100).into_iter().collect(),
        _ => Vec::new(),
    };
    match pages.len() {
        0 => choices.word() as usize % volume.ram.page_count(),
        count => pages[choices.below(4 * count).saturating_sub(3 * count)],
    }
}

/// Changes a record of a chain.
fn change_record(ram: &mut Ram, volume: &Volume, choices: &mut Choices<'_>) {
    let records = volume.chain_records();
    let &ChainRecord { block, offset, bytes } =
        &records[choices.below(4 * records.len()) % records.len()];
    let mut record = ram.bytes(block, offset, bytes);
    let (tag, data) = record.split_at_mut(TAG_BYTES);
    match choices.below(4) {
        0 => set_number(&mut tag[..TAG_CONTENT_BYTES], choices),
        1 => {
            let at = choices.below(data.len());
            let content = choices.bytes(data.len() - at);
            data[at..at + content.len()].copy_from_slice(content);
        }
        _ => set_number(data, choices),
    }
    // The record contains its length.
    let length = usize::from(u16::from_le_bytes([data[0], data[1]])).clamp(2, data.len());
    if choices.below(8) != 0 {
        seal_tag(&data[..length], tag);
    }
    ram.set_bytes(block, offset, &record);
}

fn change(ram: &mut Ram, page: usize, how: u8, choices: &mut Choices<'_>) {
    match how % 8 {
        0 | 1 => set_number(ram.parts_mut(page).0, choices),
        2 => {
            let data = ram.parts_mut(page).0;
            data[choices.word() as usize % data.len()] ^= 1 << choices.below(8);
        }
        3 => {
            let content = &mut ram.parts_mut(page).1[..TAG_CONTENT_BYTES];
            set_number(content, choices);
        }
        4 => {
            let other = ram.page(choices.word() as usize % ram.page_count()).to_vec();
            ram.page_mut(page).copy_from_slice(&other);
        }
        5 => {
            let data = ram.parts_mut(page).0;
            let at = choices.word() as usize % data.len();
            let count = choices.below(64).min(data.len() - at);
            let bytes = choices.bytes(count);
            data[at..at + bytes.len()].copy_from_slice(bytes);
        }
        6 => ram.set_fault(page, *choices.of(&[Fault::Weak, Fault::Unreadable])),
        _ => ram.page_mut(page).fill(*choices.of(&[0xFF, 0])),
    }
}

/// Writes a number of one to four bytes, at an offset that fields have.
fn set_number(bytes: &mut [u8], choices: &mut Choices<'_>) {
    // The first bytes hold headers.
    let limit = if choices.below(2) == 0 { 64 } else { bytes.len() };
    let at = choices.word() as usize % limit.min(bytes.len());
    let number = match choices.byte() {
        small @ 0..=127 => u32::from(small),
        128..=191 => *choices.of(&NUMBERS),
        192..=223 => u32::from(choices.word()),
        _ => u32::from(choices.word()) << 16 | u32::from(choices.word()),
    };
    let width = (1 + choices.below(4)).min(bytes.len() - at);
    bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
}
