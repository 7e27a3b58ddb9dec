//! Tests reads of a page whose bytes have changed without an error of the device, with each
//! setting of [`Verify`].

use crate::common::spy::Spy;
use steadyfs::media::{Geometry, PageIndex};
use steadyfs::{Access, Config, Cursor, Error, FileSystem, MountError, OpenOptions, ROOT, Verify};
use steadyfs_sim::{Nand, NandTiming};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
const PAGE: usize = GEOMETRY.page_bytes as usize;
const FOREVER: u32 = u32::MAX;
/// Number of pages of the file.
const PIECES: usize = 24;
/// Number of small files beside it. They make metadata.
const FILES: usize = 60;

type Fs<'m> = FileSystem<'m, Spy<Nand>>;

fn mount<'m>(chip: &Spy<Nand>, memory: &'m mut [u8]) -> Result<Fs<'m>, MountError> {
    let again = Spy { changes: Vec::new(), ..chip.clone() };
    FileSystem::mount(again, Access::ReadWrite, memory)
}

/// Returns the content of a page of the file.
fn piece(index: usize) -> Vec<u8> {
    (0..PAGE).map(|at| (at * 7 + index * 31) as u8).collect()
}

/// Returns a volume with one large file, and the memory for it.
fn volume() -> (Spy<Nand>, Vec<u8>) {
    let chip = Spy::new(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1), FOREVER);
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let mut fs = mount(&chip, &mut memory).expect("mount");
    let mut file = fs.open("a", OpenOptions::DURABLE).expect("open");
    for index in 0..PIECES {
        fs.append(&mut file, &piece(index)).expect("append");
    }
    fs.close(file).expect("close");
    for number in 0..FILES {
        let mut file = fs.open(&format!("file {number:02}"), OpenOptions::DURABLE).expect("open");
        fs.append(&mut file, &[number as u8; 20]).expect("append");
        fs.close(file).expect("close");
    }
    let chip = fs.unmount().expect("unmount");
    (chip, memory)
}

/// Returns the page of the medium that contains a page of the file. Several appends may write a
/// page more than once; the last copy counts.
fn place_of(chip: &mut Spy<Nand>, index: usize) -> PageIndex {
    let pages = chip.pages_with(&piece(index));
    *pages.last().expect("it is there")
}

fn read(fs: &mut Fs<'_>, index: usize) -> Result<Vec<u8>, Error> {
    let mut file = fs.open("a", OpenOptions::READ)?;
    let mut data = vec![0; PAGE];
    let result = fs.read(&mut file, (index * PAGE) as u64, &mut data);
    fs.close(file)?;
    result.map(|_| data)
}

/// Counts the small files, and checks the content of each.
fn small_files(fs: &mut Fs<'_>) -> Result<usize, Error> {
    let (mut cursor, mut count) = (Cursor::default(), 0);
    while let Some(entry) = fs.list(ROOT, &mut cursor)? {
        let Some(number) = entry.name().strip_prefix("file ") else { continue };
        let mut file = fs.open(entry.name(), OpenOptions::READ)?;
        let mut data = [0; 30];
        assert_eq!(fs.read(&mut file, 0, &mut data)?, 20);
        assert_eq!(data[..20], [number.parse::<u8>().expect("a number"); 20]);
        fs.close(file)?;
        count += 1;
    }
    Ok(count)
}

#[test]
fn content_that_changed_is_an_error_unless_only_metadata_is_looked_at() {
    let (mut chip, mut memory) = volume();
    let index = PIECES - 3;
    chip.flipped.push(place_of(&mut chip.clone(), index));
    let mut fs = mount(&chip, &mut memory).expect("mount");
    assert_eq!(read(&mut fs, index), Err(Error::Corrupt));

    fs.set_verify(Verify::Metadata);
    let mut changed = piece(index);
    changed[0] ^= 1;
    assert_eq!(read(&mut fs, index), Ok(changed), "as it is on the medium");
    let mut file = fs.open("a", OpenOptions::WRITE).expect("open");
    let mut some = [0; 9];
    fs.read(&mut file, (index * PAGE) as u64 + 5, &mut some)
        .expect("a part of it, out of the page buffer");
    assert_eq!(some, piece(index)[5..14]);

    // No new page that passes its check is written from the changed page.
    assert_eq!(fs.write(&mut file, (index * PAGE) as u64 + 100, &[1; 300]), Err(Error::Corrupt));
    fs.close(file).expect("close");
    fs.set_verify(Verify::Always);
    assert_eq!(read(&mut fs, index), Err(Error::Corrupt));
    assert_eq!(read(&mut fs, index + 1), Ok(piece(index + 1)));
}

#[test]
fn metadata_that_changed_is_never_believed() {
    let (chip, mut memory) = volume();
    let content: Vec<PageIndex> =
        (0..PIECES).flat_map(|index| chip.clone().pages_with(&piece(index))).collect();
    let (mut told, mut harmless) = (0, 0);
    for page in
        (0..GEOMETRY.block_count * GEOMETRY.pages_per_block).filter(|page| !content.contains(page))
    {
        let mut chip = chip.clone();
        chip.flipped.push(page);
        let mut fs = match mount(&chip, &mut memory) {
            Ok(fs) => fs,
            Err(_) => {
                told += 1;
                continue;
            }
        };
        fs.set_verify(Verify::Metadata);
        if fs.damage().is_some() {
            told += 1;
            continue;
        }
        let mut is_told = false;
        match small_files(&mut fs) {
            Ok(count) => assert_eq!(count, FILES, "page {page}"),
            Err(_) => is_told = true,
        }
        for index in 0..PIECES {
            match read(&mut fs, index) {
                Ok(data) => assert_eq!(data, piece(index), "page {page}"),
                Err(_) => is_told = true,
            }
        }
        (told, harmless) = (told + u32::from(is_told), harmless + u32::from(!is_told));
    }
    assert!(
        told > 2 && harmless > 100,
        "pages that matter were among them, and ones that do not: {told}, {harmless}"
    );
}

#[test]
fn content_that_was_lost_before_it_was_moved_is_told_with_each_setting() {
    let (mut chip, mut memory) = volume();
    // The page is not the first one of its frame: if the tag of the first page is also lost, the
    // block is never used again.
    let index = PIECES - 3;
    chip.hidden.push(place_of(&mut chip.clone(), index));
    let mut fs = mount(&chip, &mut memory).expect("mount");
    let mut other = fs.open("b", OpenOptions::DURABLE).expect("open");
    for step in 0..20_000u64 {
        fs.write(&mut other, step * 77 % 300 * PAGE as u64, &[step as u8; PAGE]).expect("write");
        if fs.flash().hidden.is_empty() {
            break;
        }
    }
    assert!(fs.flash().hidden.is_empty(), "its block was won back");
    for verify in [Verify::Always, Verify::Metadata] {
        fs.set_verify(verify);
        assert_eq!(read(&mut fs, index), Err(Error::Corrupt), "{verify:?}");
        assert_eq!(read(&mut fs, index + 1), Ok(piece(index + 1)));
    }
}
