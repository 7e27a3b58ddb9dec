//! Tests handles: each works only with the mount that made it.

use steadyfs::media::{Flash, Geometry};
use steadyfs::{
    Access, CleanReader, Config, Cursor, Error, File, FileSystem, OpenOptions, ROOT, Reader, SeekTo,
};
use steadyfs_sim::{Nand, NandTiming};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };

/// Memory for a volume with eight open files.
fn memory() -> Vec<u8> {
    vec![0; Config::for_geometry(&GEOMETRY).memory_bytes(&GEOMETRY)]
}

/// Returns a chip with a volume that has one file.
fn chip(name: &str, content: &[u8], memory: &mut [u8]) -> Nand {
    let blank = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    let chip = FileSystem::format(blank, &Config::for_geometry(&GEOMETRY), memory).expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory).expect("mount");
    let mut file = fs.open(name, OpenOptions::DURABLE).expect("open");
    fs.write(&mut file, 0, content).expect("write");
    fs.unmount().expect("unmount")
}

fn open<F: Flash>(fs: &mut FileSystem<'_, F>, name: &str) -> File {
    fs.open(name, OpenOptions::DURABLE).expect("open")
}

fn content<F: Flash>(fs: &mut FileSystem<'_, F>, name: &str) -> Vec<u8> {
    let mut file = fs.open(name, OpenOptions::READ).expect("open");
    let mut bytes = vec![0; fs.size(&mut file).expect("size") as usize];
    fs.read(&mut file, 0, &mut bytes).expect("read");
    fs.close(file).expect("close");
    bytes
}

/// Makes every call that takes a handle for writing, with a handle of another mount.
fn is_refused<F: Flash>(fs: &mut FileSystem<'_, F>, mut file: File) {
    assert_eq!(fs.write(&mut file, 0, b"21.5 degrees"), Err(Error::WrongMount), "write");
    assert_eq!(fs.append(&mut file, b"21.5 degrees"), Err(Error::WrongMount), "append");
    assert_eq!(fs.truncate(&mut file, 0), Err(Error::WrongMount), "truncate");
    assert_eq!(fs.reserve(&mut file, 0, 10_000), Err(Error::WrongMount), "reserve");
    is_not_read(fs, file);
}

/// Makes the other calls that take a handle, with a handle of another mount.
fn is_not_read<F: Flash>(fs: &mut FileSystem<'_, F>, mut file: File) {
    assert_eq!(fs.size(&mut file), Err(Error::WrongMount), "size");
    assert_eq!(fs.read(&mut file, 0, &mut [0; 4]), Err(Error::WrongMount), "read");
    assert_eq!(fs.seek(&mut file, 0, SeekTo::Data), Err(Error::WrongMount), "seek");
    assert_eq!(fs.close(file), Err(Error::WrongMount), "close");
}

/// A write through the log of one volume returned `Ok`, and overwrote the calibration of another
/// volume. A handle named a place in a table, and each volume has that place.
#[test]
fn a_handle_of_another_volume_is_refused() {
    let (mut memory_a, mut memory_b) = (memory(), memory());
    let (chip_a, chip_b) =
        (chip("log", b"0", &mut memory_a), chip("calibration", b"gain 3", &mut memory_b));
    // Another volume, and a copy of the same volume, in which every inode and every sequence
    // number is the same.
    for (chip_b, name, bytes) in
        [(chip_b, "calibration", &b"gain 3"[..]), (chip_a.clone(), "log", b"0")]
    {
        let mut a =
            FileSystem::mount(chip_a.clone(), Access::ReadWrite, &mut memory_a).expect("mount");
        let mut b = FileSystem::mount(chip_b, Access::ReadWrite, &mut memory_b).expect("mount");
        let mut own = open(&mut b, name);
        for _ in 0..10 {
            is_refused(&mut b, open(&mut a, "log"));
        }
        assert!(!b.has_changes());
        assert_eq!(content(&mut b, name), bytes);
        // The volume's own handle has kept its place.
        b.remove(name).expect("remove");
        assert_eq!(b.size(&mut own), Ok(bytes.len() as u64));
        b.close(own).expect("close");
        let mut log = open(&mut a, "log");
        a.append(&mut log, b"1").expect("a handle of its own");
        assert_eq!(content(&mut a, "log"), b"01");
    }
}

/// A kept handle worked with the next mount in the same memory. It named the same file, or the
/// file that had its inode by then.
#[test]
fn a_handle_of_an_earlier_mount_is_refused() {
    let mut memory = memory();
    let mut chip = chip("log", b"0", &mut memory);
    let config = Config::for_geometry(&GEOMETRY);
    for (is_unmounted, is_formatted) in [(true, false), (false, false), (true, true)] {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut kept = Vec::new();
        for _ in 0..3 {
            kept.push(open(&mut fs, "log"));
        }
        if is_unmounted {
            fs.unmount().expect("unmount");
        }
        if is_formatted {
            FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        }
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut own = open(&mut fs, "log");
        let before = fs.size(&mut own).expect("size");
        for file in kept {
            is_refused(&mut fs, file);
        }
        assert_eq!(fs.size(&mut own), Ok(before));
        fs.close(own).expect("close");
        fs.unmount().expect("unmount");
    }
}

/// A reader took a handle of another mount, and read the file that had its inode.
#[test]
fn a_handle_of_another_mount_is_refused_by_readers() {
    let (mut memory_a, mut memory_b) = (memory(), memory());
    let chip_a = chip("log", b"0", &mut memory_a);
    let mut a = FileSystem::mount(chip_a.clone(), Access::ReadWrite, &mut memory_a).expect("mount");
    let mut reader = Reader::mount(chip_a.clone(), &mut memory_b).expect("mount");
    let mut own: Vec<_> = (0..3).map(|_| reader.open("log").expect("open")).collect();
    let mut file = open(&mut a, "log");
    assert_eq!(reader.size(&mut file), Err(Error::WrongMount));
    assert_eq!(reader.read(&mut file, 0, &mut [0; 4]), Err(Error::WrongMount));
    reader.close(file);
    let mut bytes = [0; 4];
    for file in &mut own {
        assert_eq!(reader.read(file, 0, &mut bytes), Ok(1));
    }
    let of_reader = own.pop().expect("a file");
    is_not_read(&mut a, of_reader);
    let of_reader = own.pop().expect("a file");

    let mut memory_c = memory();
    let mut clean = CleanReader::mount(chip_a.clone(), &mut memory_c).expect("mount");
    for mut file in [open(&mut a, "log"), of_reader] {
        assert_eq!(clean.read(&mut file, 0, &mut [0; 4]), Err(Error::WrongMount));
        clean.close(file);
    }
    let mut file = clean.open("log").expect("open");
    assert_eq!(clean.read(&mut file, 0, &mut bytes), Ok(1));
    let mut clean = CleanReader::mount(clean.unmount(), &mut memory_c).expect("mount");
    assert_eq!(clean.read(&mut file, 0, &mut [0; 4]), Err(Error::WrongMount));
    is_not_read(&mut a, file);
}

/// Each close of a handle of another mount decremented the count of a file that was open here.
#[test]
fn a_reader_keeps_its_places_when_another_handle_is_closed() {
    let (mut memory_a, mut memory_b) = (memory(), memory());
    let chip_a = chip("log", b"0", &mut memory_a);
    let mut a = FileSystem::mount(chip_a.clone(), Access::ReadWrite, &mut memory_a).expect("mount");
    for number in 0..9 {
        let file = open(&mut a, &format!("f{number}"));
        a.close(file).expect("close");
    }
    let chip = a.unmount().expect("unmount");
    let mut a = FileSystem::mount(chip.clone(), Access::ReadWrite, &mut memory_a).expect("mount");
    let mut reader = Reader::mount(chip, &mut memory_b).expect("mount");
    let own: Vec<_> =
        (0..8).map(|number| reader.open(format!("f{number}").as_str()).expect("open")).collect();
    reader.close(open(&mut a, "log"));
    assert_eq!(reader.open("f8").err(), Some(Error::TooManyOpenFiles));
    own.into_iter().for_each(|file| reader.close(file));
}

/// A cursor is a position in the order of hashes, not a handle: it means the same on every
/// volume.
#[test]
fn a_cursor_of_another_volume_is_a_place_in_this_one() {
    let (mut memory_a, mut memory_b) = (memory(), memory());
    let (chip_a, chip_b) =
        (chip("log", b"0", &mut memory_a), chip("calibration", b"gain 3", &mut memory_b));
    let mut a = FileSystem::mount(chip_a, Access::ReadWrite, &mut memory_a).expect("mount");
    let mut b = FileSystem::mount(chip_b, Access::ReadWrite, &mut memory_b).expect("mount");
    for number in 0..20 {
        let file = open(&mut a, &format!("a{number}"));
        a.close(file).expect("close");
        let file = open(&mut b, &format!("b{number}"));
        b.close(file).expect("close");
    }
    let mut all = Vec::new();
    let mut cursor = Cursor::default();
    while let Some(entry) = b.list(ROOT, &mut cursor).expect("list") {
        all.push(entry.name().to_string());
    }
    let mut place = Cursor::default();
    while a.list(ROOT, &mut place).expect("list").is_some() {
        let (mut cursor, mut rest) = (place, Vec::new());
        while let Some(entry) = b.list(ROOT, &mut cursor).expect("list") {
            rest.push(entry.name().to_string());
        }
        assert!(all.ends_with(&rest), "{rest:?}");
    }
}
