//! Tests handles: several on one file, files that are removed while they are open, options, the
//! table of open files, and reserved room.

use crate::common::oracle::{Model, Session, contents};
use crate::common::steps::{EXPLICIT, Op};
use crate::common::{Fs, Rng, SHAPES, bounded, for_seeds};
use steadyfs::{Access, Call, CommitOn, Config, Error, File, OpenOptions, ROOT};

/// Creates a file of `bytes` bytes and returns its handle.
fn make(fs: &mut Fs<'_>, path: &str, bytes: usize) -> File {
    let mut file = fs.open(path, OpenOptions::DURABLE).expect("create");
    fs.write(&mut file, 0, &vec![0x5A; bytes]).expect("write");
    file
}

/// Makes calls in which the volume frees the files on its lists.
fn trim(fs: &mut Fs<'_>) {
    for round in 0..200_u8 {
        fs.set_attribute(ROOT, "k", (round % 2 == 0).then_some(&[round])).expect("attribute");
        fs.commit().expect("commit");
    }
}

#[test]
fn a_removed_open_file_is_freed_after_a_power_cut() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let (used, files) = {
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            let first = make(&mut fs, "first", 10);
            fs.close(first).expect("close");
            let (used, files) = (fs.usage().used_bytes, fs.usage().files);
            let open: Vec<File> =
                (0..5).map(|n| make(&mut fs, &format!("file {n}"), n * 3000)).collect();
            for number in [3, 0, 4, 1, 2] {
                fs.remove(&format!("file {number}")).expect("remove");
            }
            fs.commit().expect("commit");
            assert!(fs.usage().used_bytes > used, "{}", shape.name);
            drop(open);
            (used, files)
        };
        device.power_cycle();
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        trim(&mut fs);
        assert_eq!((fs.usage().used_bytes, fs.usage().files), (used, files), "{}", shape.name);
    }
}

#[test]
fn a_removed_open_file_is_freed_when_its_last_handle_is_closed() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let first = make(&mut fs, "first", 10);
        let (used, files) = (fs.usage().used_bytes, fs.usage().files);
        let mut one = make(&mut fs, "file", 5000);
        let mut other = fs.open("file", OpenOptions::WRITE).expect("open");
        fs.remove("file").expect("remove");
        assert_eq!(fs.stat("file").err(), Some(Error::NotFound));
        fs.append(&mut other, b"more").expect("append");
        fs.close(other).expect("close");
        trim(&mut fs);
        assert!(fs.usage().used_bytes > used, "{}", shape.name);
        let mut data = vec![0; 6000];
        assert_eq!(fs.read(&mut one, 0, &mut data), Ok(5004));
        assert!(data[..5000] == [0x5A; 5000] && data[5000..5004] == *b"more");
        assert_eq!(fs.stat(one.inode()).map(|stat| stat.size), Ok(5004));
        bounded(&mut fs, Call::Remove { depth: 0 }, |fs| fs.close(one)).expect("close");
        trim(&mut fs);
        assert_eq!((fs.usage().used_bytes, fs.usage().files), (used, files), "{}", shape.name);
        fs.close(first).expect("close");
    }
}

/// A path, an inode, and a directory with a path are one place for every call that takes a place.
#[test]
fn a_path_and_an_inode_name_the_same_file() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let directory = fs.create_dir("d").expect("create_dir");
        let file = make(&mut fs, "d/f", 3000);
        let inode = file.inode();
        fs.close(file).expect("close");
        fs.set_attribute("d/f", "k", Some(b"by path")).expect("set_attribute");
        fs.set_modified("/d/./f", 7).expect("set_modified");
        fs.commit().expect("commit");
        let stat = bounded(&mut fs, Call::Open { depth: 2 }, |fs| fs.stat("d/f")).expect("stat");
        assert_eq!((stat.inode, stat.modified_ns), (inode, 7), "{}", shape.name);
        let mut value = [0; 7];
        for depth in [0, 1, 2] {
            let call = Call::Open { depth };
            let found = bounded(&mut fs, call, |fs| match depth {
                0 => fs.attribute(inode, "k", &mut value),
                1 => fs.attribute((directory, "f"), "k", &mut value),
                _ => fs.attribute("d/f", "k", &mut value),
            });
            assert_eq!((found, &value), (Ok(7), b"by path"), "{}, depth {depth}", shape.name);
        }
        assert_eq!(fs.permissions("d/f"), fs.permissions(inode));
        assert_eq!(fs.allocated("d/f"), fs.allocated(inode));
        assert_eq!(fs.read_link("d/f", &mut value), Err(Error::NotALink));
        let mut again = fs.open(inode, OpenOptions::WRITE).expect("open by inode");
        fs.append(&mut again, b"more").expect("append");
        assert_eq!(fs.stat("d/f").map(|stat| stat.size), Ok(3004));
        let new = OpenOptions { create_new: true, ..OpenOptions::WRITE };
        assert_eq!(fs.open(inode, new).err(), Some(Error::Exists));
        assert_eq!(fs.open(directory, OpenOptions::WRITE).err(), Some(Error::IsADirectory));
        assert_eq!(fs.open("", OpenOptions::WRITE).err(), Some(Error::IsADirectory));
        assert_eq!(fs.open((inode, "x"), OpenOptions::READ).err(), Some(Error::NotADirectory));
        // Calls that make, remove or rename a name need a name.
        assert_eq!(fs.remove(inode), Err(Error::InvalidName));
        assert_eq!(fs.rename(inode, "other"), Err(Error::InvalidName));
        fs.close(again).expect("close");
        fs.remove("d/f").expect("remove");
        fs.commit().expect("commit");
        trim(&mut fs);
        for free in [inode, u32::MAX] {
            assert_eq!(fs.stat(free).err(), Some(Error::NotFound), "{}", shape.name);
            assert_eq!(fs.open(free, OpenOptions::READ).err(), Some(Error::NotFound));
            assert_eq!(fs.set_attribute(free, "k", None), Err(Error::NotFound));
        }
    }
}

#[test]
fn a_new_file_of_the_name_of_a_removed_open_one_is_another_file() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let mut old = make(&mut fs, "file", 3000);
    fs.remove("file").expect("remove");
    let mut new = make(&mut fs, "file", 10);
    assert_ne!(old.inode(), new.inode());
    fs.write(&mut new, 0, b"new").expect("write");
    let mut data = [0; 3];
    assert_eq!((fs.read(&mut old, 0, &mut data), data), (Ok(3), [0x5A; 3]));
    assert_eq!((fs.size(&mut old), fs.size(&mut new)), (Ok(3000), Ok(10)));
}

#[test]
fn files_that_had_one_number_after_the_other_are_told_apart() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let mut seen = Vec::new();
    for round in 0..40 {
        let file = fs.open("file", OpenOptions::CREATE).expect("create");
        let stat = fs.stat("file").expect("stat");
        assert!(!seen.contains(&(stat.inode, stat.generation)), "{stat:?} in round {round}");
        seen.push((stat.inode, stat.generation));
        fs.close(file).expect("close");
        fs.remove("file").expect("remove");
        if round % 8 == 7 {
            fs.commit().expect("commit");
        }
    }
    assert!(seen.iter().all(|(inode, _)| *inode == seen[0].0), "one inode is used again and again");
}

/// A file created since the last commit took the inode of a removed file. After a rollback, the
/// removed file was there again. The new file's handle had the same inode, and passed for a handle
/// of that file. Its close freed an inode of the trim list, or of a file.
#[test]
fn a_handle_undone_by_a_rollback_does_not_stand_for_the_file_that_is_there_again() {
    let mut device = SHAPES[0].device(1);
    {
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let orphans = ["first", "second"].map(|path| make(&mut fs, path, 200));
        fs.remove("first").and_then(|()| fs.remove("second")).expect("remove");
        fs.commit().expect("commit");
        drop(orphans);
    }
    device.power_cycle();
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    for round in 0..20 {
        // The call first frees a page or an inode of an orphan, and takes the inode when it is
        // free.
        let mut undone = fs.open("undone", OpenOptions::CREATE).expect("create");
        fs.rollback().expect("rollback");
        assert_eq!(fs.size(&mut undone), Err(Error::Stale));
        fs.close(undone).expect("close");
        let file = make(&mut fs, &format!("file {round}"), 10);
        fs.close(file).expect("close");
    }
    assert_eq!(contents(&mut fs).expect("contents").files().count(), 20);
    assert_eq!(fs.usage().files, 20);
}

/// The same failure with a file that was not open: it counted as open afterwards, and its removal
/// made an orphan without a handle.
#[test]
fn a_file_that_a_rollback_brings_back_is_not_open_through_a_handle_undone() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let file = make(&mut fs, "file", 10);
    fs.close(file).expect("close");
    fs.remove("file").expect("remove");
    let mut undone = fs.open("undone", OpenOptions::CREATE).expect("create");
    fs.rollback().expect("rollback");
    assert_eq!(fs.stat("file").map(|stat| stat.inode), Ok(undone.inode()), "one inode for both");
    assert_eq!(fs.size(&mut undone), Err(Error::Stale));
    fs.remove("file").expect("remove");
    fs.commit().expect("commit");
    assert_eq!(fs.usage().files, 0);
    fs.close(undone).expect("close");
    assert_eq!(fs.usage().files, 0);
}

/// A file is closed without a commit after a committed removal. After a rollback it is an orphan
/// again, now without a handle.
#[test]
fn a_rollback_of_a_close_does_not_lose_the_room() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let file = make(&mut fs, "file", 5000);
    fs.remove("file").expect("remove");
    fs.commit().expect("commit");
    fs.close(file).expect("close");
    fs.rollback().expect("rollback");
    fs.unmount().expect("unmount");
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    trim(&mut fs);
    assert_eq!(fs.usage().files, 0);
}

#[test]
fn options_allow_what_they_say() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let nothing = OpenOptions::default();
    assert_eq!(fs.open("file", OpenOptions::READ).err(), Some(Error::NotFound));
    assert_eq!(
        fs.open("file", OpenOptions { read: true, create: true, ..nothing }).err(),
        Some(Error::NotWritable)
    );
    assert_eq!(
        fs.open("file", OpenOptions { append: true, truncate: true, ..nothing }).err(),
        Some(Error::NotWritable)
    );
    let new = OpenOptions { create_new: true, ..OpenOptions::WRITE };
    let mut file = fs.open("file", new).expect("create");
    assert_eq!(fs.open("file", new).err(), Some(Error::Exists));
    fs.write(&mut file, 0, b"0123456789").expect("write");

    let mut reader = fs.open("file", OpenOptions::READ).expect("open");
    assert_eq!(fs.write(&mut reader, 0, b"x"), Err(Error::NotWritable));
    assert_eq!(fs.truncate(&mut reader, 0), Err(Error::NotWritable));
    assert_eq!(fs.reserve(&mut reader, 0, 5000), Err(Error::NotWritable));

    let mut log = fs.open("file", OpenOptions { append: true, ..nothing }).expect("open");
    fs.write(&mut log, 3, b"abc").expect("append");
    assert_eq!(fs.read(&mut log, 0, &mut [0]), Err(Error::NotReadable));
    assert_eq!(fs.truncate(&mut log, 0), Err(Error::NotWritable));
    let mut data = [0; 20];
    assert_eq!((fs.read(&mut reader, 0, &mut data), &data[..13]), (Ok(13), &b"0123456789abc"[..]));

    let mut cut =
        fs.open("file", OpenOptions { truncate: true, ..OpenOptions::WRITE }).expect("open");
    assert_eq!(fs.size(&mut cut), Ok(0));
    assert_eq!((fs.size(&mut reader), fs.read(&mut reader, 0, &mut data)), (Ok(0), Ok(0)));
    for handle in [file, reader, log, cut] {
        fs.close(handle).expect("close");
    }
}

#[test]
fn one_open_file_too_many_is_refused_and_creates_nothing() {
    let shape = &SHAPES[0];
    let mut device = shape.device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let mut open = Vec::new();
    let refused = loop {
        match fs.open(&format!("file {}", open.len()), OpenOptions::CREATE) {
            Ok(file) => open.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, Error::TooManyOpenFiles);
    assert!(open.len() >= 8);
    assert_eq!(fs.stat(&format!("file {}", open.len())).err(), Some(Error::NotFound));
    // A file that is already open needs no additional place.
    let again = fs.open("file 0", OpenOptions::WRITE).expect("open");
    fs.close(again).expect("close");
    assert_eq!(contents(&mut fs).expect("contents").files().count(), open.len());
    fs.close(open.pop().expect("a handle")).expect("close");
    open.push(fs.open("one more", OpenOptions::CREATE).expect("a place again"));
}

#[test]
fn close_all_frees_the_entries_and_the_room_of_dropped_handles() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let mut removed = make(&mut fs, "removed", 20 * shape.logical_bytes() as usize);
        fs.remove("removed").expect("remove");
        // Handles that are dropped keep their entries.
        let names = (0..).map(|number| format!("file {number}"));
        let open = names.map_while(|name| fs.open(&name, OpenOptions::CREATE).ok()).count();
        assert!(open >= 7, "{}: {open} files", shape.name);
        assert_eq!(fs.open("one more", OpenOptions::CREATE).err(), Some(Error::TooManyOpenFiles));
        trim(&mut fs);
        let used = fs.usage().used_bytes;

        fs.close_all().expect("close all");
        assert_eq!(fs.append(&mut removed, b"more"), Err(Error::WrongMount), "{}", shape.name);
        let again = fs.open("one more", OpenOptions::CREATE).expect("a place");
        trim(&mut fs);
        // The new file may take a page.
        let freed = used - fs.usage().used_bytes;
        assert!(freed >= 19 * shape.logical_bytes(), "{}: {freed} bytes", shape.name);
        fs.close(again).expect("close");
        fs.unmount().expect("unmount");
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        assert_eq!(contents(&mut fs).expect("contents").files().count(), open + 1);
    }
}

/// Handles are dropped between any calls, transactions and power cuts. In the end no page is lost.
#[test]
fn close_all_may_come_at_any_time() {
    for_seeds("open_files", "close_all_may_come_at_any_time", 8 * SHAPES.len() as u64, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let (mut device, mut rng) = (shape.device(seed), Rng(seed));
        let page = shape.logical_bytes() as usize;
        let mut baseline = None;
        for _ in 0..6 {
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            if rng.below(2) == 0 {
                fs.set_commit_on(CommitOn::MANUAL);
            }
            baseline = baseline.or(Some(fs.usage()));
            for _ in 0..60 {
                let path = format!("f{}", rng.below(5));
                // Calls may be refused: the transaction or the table may be full.
                let refused = match rng.below(8) {
                    0 => fs.close_all().err(),
                    1 => fs.rollback().err(),
                    2 => fs.commit().err(),
                    3 | 4 => fs.remove(&path).err(),
                    _ => fs
                        .open(&path, OpenOptions::CREATE)
                        .and_then(|mut file| fs.append(&mut file, &vec![7; 3 * page]))
                        .err(),
                };
                let is_usual = matches!(
                    refused,
                    None | Some(
                        Error::NotFound
                            | Error::TooManyOpenFiles
                            | Error::TransactionTooLarge
                            | Error::NoSpace
                    )
                );
                assert!(is_usual, "{}: {refused:?}", shape.name);
            }
            device.power_cycle();
        }
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        for number in 0..5 {
            match fs.remove(&format!("f{number}")) {
                Ok(()) | Err(Error::NotFound) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        fs.close_all().expect("close all");
        trim(&mut fs);
        let (left, first) = (fs.usage(), baseline.expect("a mount"));
        // The root directory keeps its page.
        assert!(left.used_bytes <= first.used_bytes + page as u64, "{}: {left:?}", shape.name);
        assert_eq!(left.files, first.files);
    });
}

#[test]
fn writes_into_reserved_room_succeed_on_a_full_volume() {
    for shape in &SHAPES {
        let (mut device, mut model) = (shape.device(1), Model::new(EXPLICIT));
        let page = shape.logical_bytes() as usize;
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        session.write("log", 0, 10, true).expect("write");
        let file = &mut session.handles[0].file;
        let mut at = 0;
        while at < 40 * page as u64 {
            at = session.fs.reserve(file, at, 40 * page as u64).expect("reserve");
        }
        assert_eq!(session.fs.size(file), Ok(10), "the size stays");
        loop {
            let size = session.model.current.size("full");
            session.write("full", size as u64, page, true).expect("write");
            if session.model.current.size("full") == size {
                break;
            }
        }
        for number in 0..40 {
            session.write("log", (number * page) as u64, page, true).expect("write");
            assert_eq!(
                session.model.current.size("log"),
                (number + 1) * page,
                "{}: no room for page {number}",
                shape.name
            );
        }
        session.check().expect("contents");
        session.remove_all().expect("remove");
    }
}

#[test]
fn a_cut_gives_reserved_room_back() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let mut file = make(&mut fs, "file", 600);
    let used = fs.usage().used_bytes;
    let mut at = 0;
    while at < 50_000 {
        at = fs.reserve(&mut file, at, 50_000).expect("reserve");
    }
    assert!(fs.usage().used_bytes > used + 40_000);
    fs.truncate(&mut file, 600).expect("truncate");
    trim(&mut fs);
    assert_eq!(fs.usage().used_bytes, used);
    assert_eq!(fs.read(&mut file, 0, &mut [0; 1000]), Ok(600));
}

/// A file's run ended before the cut, and an index named its other pages. Such a file could not
/// be trimmed: every later change failed.
#[test]
fn the_end_of_a_sparse_file_is_trimmed() {
    for shape in &SHAPES {
        let (mut device, mut model) = (shape.device(1), Model::new(EXPLICIT));
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        let page = shape.logical_bytes();
        session.write("file", 0, 400, true).expect("write");
        session.write("file", 19 * page + 3, 60, true).expect("write");
        session.truncate("file", 13 * page + 7, true).expect("truncate");
        for _ in 0..4 {
            session.write("other", 0, 20, true).expect("write");
        }
        session.check().expect("contents");
        session.remove_all().expect("remove");
    }
}

#[test]
fn attributes_belong_to_the_file_whatever_its_name() {
    let (mut device, mut model) = (SHAPES[0].device(1), Model::new(EXPLICIT));
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    session.open("file", true).expect("create");
    session.create_dir("d").expect("create_dir");
    for (path, key) in [("file", 0), ("file", 1), ("file", 2), ("d", 0), ("", 3)] {
        session.set_attribute(path, key, Some(60)).expect("attribute");
    }
    // The fourth attribute has no room; a shorter one has.
    session.set_attribute("file", 3, Some(119)).expect("a refusal");
    session.set_attribute("file", 1, Some(0)).expect("attribute");
    session.rename("file", &format!("d/{}", "n".repeat(255))).expect("rename");
    session.rename("d", "e").expect("rename");
    session.step(&Op::Commit).expect("commit");
    session.check().expect("contents");
    let inode = session.model.current.get("e").and_then(|node| node.inode).expect("an inode");
    let mut value = [0; 10];
    assert_eq!(
        session.fs.attribute(inode, "k", &mut value),
        Ok(60),
        "the length, of which a part fits"
    );
    assert_eq!(session.fs.attribute(inode, "none", &mut value), Err(Error::NotFound));
    assert_eq!(session.fs.set_attribute(inode, "", Some(&[])), Err(Error::InvalidName));
    assert_eq!(
        session.fs.set_attribute(inode, "k", Some(&[0; 246])),
        Err(Error::AttributesTooLarge)
    );
    session
        .fs
        .set_attribute(inode, "k", Some(&[7; 245]))
        .expect("just as much as there is room for");
    assert_eq!(session.fs.attribute(inode, "k", &mut value), Ok(245));
    session.fs.rollback().expect("rollback");
    session.remove_all().expect("remove");
}

#[test]
fn a_volume_with_no_inode_left_refuses_and_stays_sound() {
    let shape = &SHAPES[0];
    let config = Config { files_max: 12, ..shape.config() };
    let (mut device, mut model) = (shape.device_with_config(config, 1), Model::new(EXPLICIT));
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    for number in 0..12 {
        session.open(&format!("file {number}"), true).expect("create or a refusal");
    }
    assert_eq!(session.model.current.files().count(), 11, "the root takes one");
    session.rename("file 3", &"n".repeat(65)).expect("a refusal");
    session.set_attribute("file 3", 0, Some(9)).expect("a refusal");
    session.create_dir("d").expect("a refusal");
    // A truncation takes an inode for the removed end: one of the spare inodes.
    session.write("file 1", 0, 3000, true).expect("write");
    for size in [2500, 1600, 1100, 600, 0] {
        session.truncate("file 1", size, true).expect("truncate");
        assert_eq!(session.model.current.size("file 1") as u64, size);
    }
    session.check().expect("contents");
    session.remove_all().expect("remove");
}

/// After a power cut, files without pages came before files with pages in the list of removed
/// files. Writes to a full volume were refused, though `available` returned room.
#[test]
fn pages_of_files_that_were_removed_while_open_are_room_for_the_next_write() {
    for shape in &SHAPES {
        for small in [1, 4, 7] {
            let mut device = shape.device(1);
            let page = shape.logical_bytes() as usize;
            {
                let mut fs = device.mount(Access::ReadWrite).expect("mount");
                let log = make(&mut fs, "log", page);
                fs.close(log).expect("close");
                let mut open: Vec<File> =
                    (0..small).map(|n| make(&mut fs, &format!("small {n}"), 10)).collect();
                let mut large = make(&mut fs, "large", page);
                while fs.append(&mut large, &vec![1; page]).is_ok() {}
                open.push(large);
                fs.remove("large").expect("remove");
                for number in 0..small {
                    fs.remove(&format!("small {number}")).expect("remove");
                }
                fs.commit().expect("commit");
            }
            device.power_cycle();
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            assert!(fs.available().expect("available") > 20 * page as u64, "{}", shape.name);
            let mut log = fs.open("log", OpenOptions::DURABLE).expect("open");
            let end = page as u64;
            let call = fs.bounds().write_call(&log, end, page as u32);
            let result = bounded(&mut fs, call, |fs| fs.write(&mut log, end, &vec![2; page]));
            assert_eq!(result, Ok(()), "{}, {small} small files", shape.name);
        }
    }
}
