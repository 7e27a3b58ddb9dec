//! The promises of POSIX, one by one, on a mounted volume.

#![cfg(target_os = "linux")]

mod common;

use common::{Chip, Mounted, errno};
use rustix::fs::{CWD, FallocateFlags, RenameFlags, XattrFlags, fallocate, renameat_with, statvfs};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};
use steadyfs_fuse::Options;

const E: fn(Errno) -> i32 = Errno::raw_os_error;

fn small() -> Option<Mounted> {
    Mounted::new(Chip::small(1))
}

fn read_write() -> OpenOptions {
    OpenOptions::new().read(true).write(true).clone()
}

fn names(directory: &Path) -> BTreeSet<String> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn open_flags_do_what_they_say() {
    let Some(m) = small() else { return };
    let path = m.path("file");
    assert_eq!(errno(File::open(&path)), E(Errno::NOENT));
    assert_eq!(errno(read_write().open(&path)), E(Errno::NOENT));
    let mut file = read_write().create_new(true).open(&path).unwrap();
    file.write_all(b"hello world").unwrap();
    assert_eq!(errno(read_write().create_new(true).open(&path)), E(Errno::EXIST));

    let mut reader = File::open(&path).unwrap();
    assert_eq!(errno(reader.write(b"x")), E(Errno::BADF));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello world");
    let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
    assert_eq!(errno(writer.read(&mut [0])), E(Errno::BADF));
    writer.write_all(b"HELLO").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"HELLO world");

    // The file is created through a handle that only reads.
    let flags = (rustix::fs::OFlags::CREATE | rustix::fs::OFlags::RDONLY).bits() as i32;
    assert_eq!(
        OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&path)
            .unwrap()
            .metadata()
            .unwrap()
            .len(),
        11
    );
    let created =
        rustix::fs::open(m.path("new"), rustix::fs::OFlags::CREATE, rustix::fs::Mode::from(0o600))
            .unwrap();
    drop(created);
    assert!(m.path("new").exists());

    drop(OpenOptions::new().write(true).truncate(true).open(&path).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    assert_eq!(errno(File::open(path.join("below"))), E(Errno::NOTDIR));
    assert_eq!(errno(OpenOptions::new().write(true).open(m.path(""))), E(Errno::ISDIR));
}

#[test]
fn appending_goes_to_the_end_whoever_else_writes() {
    let Some(m) = small() else { return };
    let path = m.path("log");
    let append = || OpenOptions::new().append(true).create(true).open(&path).unwrap();
    let (mut a, mut b) = (append(), append());
    for round in 0..200 {
        a.write_all(format!("a{round}\n").as_bytes()).unwrap();
        b.seek(SeekFrom::Start(0)).unwrap();
        b.write_all(format!("b{round}\n").as_bytes()).unwrap();
    }
    let expected: String = (0..200).map(|round| format!("a{round}\nb{round}\n")).collect();
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn a_removed_file_that_is_open_stays_until_it_is_closed() {
    let Some(mut m) = small() else { return };
    let path = m.path("file");
    let mut file = read_write().create(true).truncate(true).open(&path).unwrap();
    file.write_all(&[7; 100_000]).unwrap();
    assert_eq!(file.metadata().unwrap().nlink(), 1);
    fs::remove_file(&path).unwrap();
    assert!(!path.exists());
    assert_eq!(file.metadata().unwrap().nlink(), 0);
    file.write_all(&[8; 1000]).unwrap();
    file.set_len(100_500).unwrap();
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    assert_eq!((bytes.len(), bytes[99_999], bytes[100_000]), (100_500, 7, 8));
    file.sync_all().unwrap();

    // Another file of that name is independent of it.
    fs::write(&path, b"new").unwrap();
    assert_ne!(file.metadata().unwrap().ino(), fs::metadata(&path).unwrap().ino());
    file.write_all_at(b"old", 0).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    drop(file);
    m.remount();
    assert_eq!(names(&m.path("")), BTreeSet::from(["file".to_string()]));
}

#[test]
fn an_inode_that_is_used_again_is_another_file() {
    let Some(m) = small() else { return };
    for round in 0..200u32 {
        let path = m.path(format!("file{}", round % 3));
        fs::write(&path, round.to_le_bytes().repeat(500)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), round.to_le_bytes().repeat(500));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(fs::metadata(&path).unwrap().is_dir());
        fs::remove_dir(&path).unwrap();
    }
}

#[test]
fn rename_replaces_what_may_be_replaced() {
    let Some(mut m) = small() else { return };
    let p = |name: &str| m.path(name);
    fs::write(p("a"), b"a").unwrap();
    fs::write(p("b"), b"b").unwrap();
    fs::rename(p("a"), p("b")).unwrap();
    assert_eq!((fs::read(p("b")).unwrap(), p("a").exists()), (b"a".to_vec(), false));
    fs::rename(p("b"), p("b")).unwrap();
    assert_eq!(errno(fs::rename(p("a"), p("c"))), E(Errno::NOENT));

    fs::create_dir_all(p("d/inner")).unwrap();
    fs::create_dir(p("empty")).unwrap();
    assert_eq!(errno(fs::rename(p("empty"), p("d"))), E(Errno::NOTEMPTY));
    assert_eq!(errno(fs::rename(p("b"), p("empty"))), E(Errno::ISDIR));
    assert_eq!(errno(fs::rename(p("empty"), p("b"))), E(Errno::NOTDIR));
    assert_eq!(errno(fs::rename(p("d"), p("d/inner/x"))), E(Errno::INVAL));
    fs::rename(p("d"), p("empty")).unwrap();
    assert!(p("empty/inner").is_dir() && !p("d").exists());
    fs::rename(p("b"), p("empty/inner/b")).unwrap();
    assert_eq!(fs::read(p("empty/inner/b")).unwrap(), b"a");
    assert_eq!(
        fs::canonicalize(p("empty/inner/..")).unwrap(),
        fs::canonicalize(p("empty")).unwrap()
    );

    // An open file stays itself after a rename, and after it is replaced.
    let mut open = read_write().open(p("empty/inner/b")).unwrap();
    fs::rename(p("empty/inner/b"), p("moved")).unwrap();
    open.write_all(b"written after the rename").unwrap();
    assert_eq!(fs::read(p("moved")).unwrap(), b"written after the rename");
    fs::write(p("other"), b"other").unwrap();
    fs::rename(p("other"), p("moved")).unwrap();
    assert_eq!(open.metadata().unwrap().nlink(), 0);
    open.write_all_at(b"nobody", 0).unwrap();
    assert_eq!(fs::read(p("moved")).unwrap(), b"other");
    drop(open);
    m.remount();
    assert_eq!(fs::read(m.path("moved")).unwrap(), b"other");
    assert_eq!(names(&m.path("")), ["empty", "moved"].map(String::from).into());
}

#[test]
fn rename_flags() {
    let Some(m) = small() else { return };
    let (a, b) = (m.path("a"), m.path("b"));
    fs::write(&a, b"a").unwrap();
    fs::write(&b, b"b").unwrap();
    assert_eq!(errno(renameat_with(CWD, &a, CWD, &b, RenameFlags::NOREPLACE)), E(Errno::EXIST));
    renameat_with(CWD, &a, CWD, m.path("c"), RenameFlags::NOREPLACE).unwrap();
    assert_eq!(fs::read(m.path("c")).unwrap(), b"a");
    assert_eq!(errno(renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE)), E(Errno::NOENT));
    fs::create_dir(m.path("d")).unwrap();
    let (c, inside) = (m.path("c"), m.path("d/e"));
    fs::create_dir(&inside).unwrap();
    renameat_with(CWD, &inside, CWD, &c, RenameFlags::EXCHANGE).unwrap();
    assert_eq!((fs::read(&inside).unwrap(), fs::read_dir(&c).unwrap().count()), (b"a".to_vec(), 0));
    assert_eq!(
        (fs::metadata(m.path("d")).unwrap().nlink(), fs::metadata(m.path("")).unwrap().nlink()),
        (2, 4)
    );
}

#[test]
fn directories_count_their_links() {
    let Some(m) = small() else { return };
    let links = |name: &str| fs::metadata(m.path(name)).unwrap().nlink();
    assert_eq!(links(""), 2);
    fs::create_dir(m.path("a")).unwrap();
    fs::create_dir(m.path("a/b")).unwrap();
    fs::create_dir(m.path("a/c")).unwrap();
    fs::write(m.path("a/file"), b"").unwrap();
    assert_eq!((links(""), links("a"), links("a/b"), links("a/file")), (3, 4, 2, 1));
    fs::rename(m.path("a/b"), m.path("b")).unwrap();
    assert_eq!((links(""), links("a")), (4, 3));
    fs::remove_dir(m.path("a/c")).unwrap();
    assert_eq!(links("a"), 2);
}

#[test]
fn removing_refuses_the_wrong_kind_and_what_is_not_empty() {
    let Some(m) = small() else { return };
    fs::create_dir_all(m.path("d/e")).unwrap();
    fs::write(m.path("f"), b"").unwrap();
    assert_eq!(errno(fs::remove_dir(m.path("d"))), E(Errno::NOTEMPTY));
    assert_eq!(errno(fs::remove_file(m.path("d"))), E(Errno::ISDIR));
    assert_eq!(errno(fs::remove_dir(m.path("f"))), E(Errno::NOTDIR));
    assert_eq!(errno(fs::remove_file(m.path("g"))), E(Errno::NOENT));
    assert_eq!(errno(fs::create_dir(m.path("d"))), E(Errno::EXIST));
    assert_eq!(errno(fs::create_dir(m.path("f"))), E(Errno::EXIST));
    assert_eq!(errno(fs::create_dir(m.path("no/d"))), E(Errno::NOENT));
    assert_eq!(errno(fs::create_dir(m.path("f/d"))), E(Errno::NOTDIR));
}

#[test]
fn a_directory_that_was_removed_is_empty_for_who_has_it_open() {
    let Some(m) = small() else { return };
    fs::create_dir(m.path("d")).unwrap();
    let directory = File::open(m.path("d")).unwrap();
    fs::remove_dir(m.path("d")).unwrap();
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::RDWR;
    assert_eq!(
        errno(rustix::fs::openat(&directory, "file", flags, rustix::fs::Mode::from(0o644))),
        E(Errno::NOENT)
    );
    // Its number goes to another directory. The old directory does not become the new one: the
    // kernel calls it bad.
    fs::create_dir(m.path("new")).unwrap();
    fs::write(m.path("new/file"), b"").unwrap();
    assert_eq!(
        errno(rustix::fs::openat(&directory, "file", flags, rustix::fs::Mode::from(0o644))),
        E(Errno::IO)
    );
    assert_eq!(names(&m.path("new")).len(), 1);
}

#[test]
fn truncating_cuts_and_holes_read_as_zeros() {
    let Some(mut m) = small() else { return };
    let path = m.path("file");
    let file = read_write().create(true).truncate(true).open(&path).unwrap();
    for (size, then) in
        [(10u64, 5u64), (100, 5000), (5000, 4096), (20_000, 12_289), (300_000, 1), (1, 0)]
    {
        file.set_len(0).unwrap();
        file.write_all_at(&vec![0xAB; size as usize], 0).unwrap();
        file.set_len(then).unwrap();
        file.set_len(400_000).unwrap();
        let bytes = fs::read(&path).unwrap();
        let kept = size.min(then) as usize;
        assert_eq!(bytes.len(), 400_000);
        assert!(bytes[..kept].iter().all(|&byte| byte == 0xAB), "{size} {then}");
        assert!(bytes[kept..].iter().all(|&byte| byte == 0), "{size} {then}");
    }
    file.set_len(0).unwrap();
    file.write_all_at(b"end", 1 << 20).unwrap();
    file.write_all_at(b"middle", 500_000).unwrap();
    drop(file);
    m.remount();
    let mut expected = vec![0; (1 << 20) + 3];
    expected[1 << 20..].copy_from_slice(b"end");
    expected[500_000..500_006].copy_from_slice(b"middle");
    assert_eq!(fs::read(m.path("file")).unwrap(), expected);
}

#[test]
fn sizes_beyond_the_largest_are_refused() {
    let Some(m) = small() else { return };
    let file = File::create(m.path("file")).unwrap();
    assert_eq!(errno(file.set_len(1 << 40)), E(Errno::FBIG));
    assert_eq!(errno(file.write_at(b"x", 1 << 40)), E(Errno::FBIG));
    assert_eq!(file.metadata().unwrap().len(), 0);
}

#[test]
fn times_of_modification_are_kept_and_set() {
    let Some(mut m) = small() else { return };
    let modified = |name: &str| fs::metadata(m.path(name)).unwrap().modified().unwrap();
    let start = SystemTime::now() - Duration::from_millis(20);
    fs::write(m.path("file"), b"1").unwrap();
    let first = modified("file");
    assert!(first >= start && first <= SystemTime::now() + Duration::from_millis(20));
    std::thread::sleep(Duration::from_millis(20));
    let file = read_write().open(m.path("file")).unwrap();
    file.write_all_at(b"2", 0).unwrap();
    let second = modified("file");
    assert!(second > first);
    std::thread::sleep(Duration::from_millis(20));
    file.set_len(3).unwrap();
    assert!(modified("file") > second);
    let root = modified("");
    std::thread::sleep(Duration::from_millis(20));
    fs::create_dir(m.path("dir")).unwrap();
    assert!(modified("") > root, "a directory changes with its names");

    let then = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    file.set_modified(then).unwrap();
    assert_eq!(modified("file"), then);
    File::open(m.path("dir")).unwrap().set_modified(then).unwrap();
    assert_eq!(modified("dir"), then);
    // A time in the future does not stay when the file is written.
    file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
    file.write_all_at(b"3", 0).unwrap();
    assert!(modified("file") <= SystemTime::now() + Duration::from_secs(1));
    file.set_modified(then).unwrap();
    drop(file);
    m.remount();
    assert_eq!(fs::metadata(m.path("file")).unwrap().modified().unwrap(), then);
    assert_eq!(fs::metadata(m.path("dir")).unwrap().modified().unwrap(), then);
}

#[test]
fn without_permissions_what_changes_nothing_is_accepted() {
    let Some(m) = small() else { return };
    fs::write(m.path("file"), b"").unwrap();
    fs::create_dir(m.path("dir")).unwrap();
    let (file, dir) = (fs::metadata(m.path("file")).unwrap(), fs::metadata(m.path("dir")).unwrap());
    let me = rustix::process::getuid().as_raw();
    assert_eq!((file.mode(), file.uid(), dir.mode()), (0o100_644, me, 0o040_755));
    fs::set_permissions(m.path("file"), Permissions::from_mode(0o644)).unwrap();
    assert_eq!(
        errno(fs::set_permissions(m.path("file"), Permissions::from_mode(0o600))),
        E(Errno::PERM)
    );
    std::os::unix::fs::chown(m.path("file"), Some(me), None).unwrap();
    assert_eq!(errno(std::os::unix::fs::chown(m.path("file"), Some(me + 1), None)), E(Errno::PERM));
    assert_eq!((fs::metadata(m.path("file")).unwrap().mode(), file.uid()), (0o100_644, me));
    assert_eq!(errno(fs::hard_link(m.path("file"), m.path("link"))), E(Errno::PERM));
    let mode = rustix::fs::Mode::from(0o644);
    let fifo = rustix::fs::mknodat(CWD, m.path("fifo"), rustix::fs::FileType::Fifo, mode, 0);
    assert_eq!(errno(fifo), E(Errno::PERM));
    rustix::fs::mknodat(CWD, m.path("made"), rustix::fs::FileType::RegularFile, mode, 0).unwrap();
    assert_eq!(fs::metadata(m.path("made")).unwrap().len(), 0);
    assert_eq!(
        errno(rustix::fs::access(m.path("file"), rustix::fs::Access::EXEC_OK)),
        E(Errno::ACCESS)
    );
    rustix::fs::access(m.path("file"), rustix::fs::Access::READ_OK).unwrap();
}

#[test]
fn names_of_255_bytes_are_kept_and_others_refused() {
    let Some(mut m) = small() else { return };
    let long = "ä".repeat(127) + "x";
    for index in 0..20 {
        let name = format!("{}{index:02}", &long[..252]);
        fs::write(m.path(&name), &name).unwrap();
    }
    fs::write(m.path(&long), b"long").unwrap();
    fs::rename(m.path(&long), m.path("short")).unwrap();
    fs::rename(m.path("short"), m.path(&long)).unwrap();
    m.remount();
    assert_eq!(fs::read(m.path(&long)).unwrap(), b"long");
    assert_eq!(names(&m.path("")).len(), 21);
    for name in names(&m.path("")) {
        fs::remove_file(m.path(name)).unwrap();
    }
    assert_eq!(errno(File::create(m.path("x".repeat(256)))), E(Errno::NAMETOOLONG));
    let not_utf8 = m.path(std::ffi::OsStr::from_bytes(b"\xFF"));
    assert_eq!(errno(File::open(&not_utf8)), E(Errno::NOENT));
    assert_eq!(errno(File::create(&not_utf8)), E(Errno::ILSEQ));
    assert_eq!(errno(fs::create_dir(&not_utf8)), E(Errno::ILSEQ));
}

#[test]
fn directories_can_be_deep() {
    let Some(mut m) = small() else { return };
    let deep: std::path::PathBuf = (0..100).map(|level| format!("level{level}")).collect();
    fs::create_dir_all(m.path(&deep)).unwrap();
    fs::write(m.path(deep.join("file")), b"deep").unwrap();
    m.remount();
    assert_eq!(fs::read(m.path(deep.join("file"))).unwrap(), b"deep");
    assert_eq!(
        fs::canonicalize(m.path(deep.join(".."))).unwrap(),
        fs::canonicalize(m.path(deep.parent().unwrap())).unwrap()
    );
    fs::remove_dir_all(m.path("level0")).unwrap();
    assert!(names(&m.path("")).is_empty());
}

#[test]
fn a_thousand_files_are_listed_once_and_removed_while_they_are_listed() {
    let Some(mut m) = small() else { return };
    fs::create_dir(m.path("d")).unwrap();
    let expected: BTreeSet<String> = (0..1000).map(|index| format!("file-{index}")).collect();
    for name in &expected {
        fs::write(m.path("d").join(name), name).unwrap();
    }
    assert_eq!(fs::read_dir(m.path("d")).unwrap().count(), 1000);
    assert_eq!(names(&m.path("d")), expected);
    m.remount();
    assert_eq!(names(&m.path("d")), expected);
    let raw: Vec<_> = rustix::fs::Dir::new(File::open(m.path("d")).unwrap())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        raw.iter()
            .filter(|entry| [b"." as &[u8], b".."].contains(&entry.file_name().to_bytes()))
            .count(),
        2
    );

    // While a directory is read, names come and go. Names that stay are listed once.
    let (mut seen, mut round) = (Vec::new(), 0);
    for entry in fs::read_dir(m.path("d")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(index) = name.strip_prefix("file-").and_then(|index| index.parse::<u32>().ok())
        {
            seen.push(name);
            if index % 2 == 1 {
                fs::remove_file(m.path("d").join(format!("file-{index}"))).unwrap();
                fs::write(m.path("d").join(format!("new-{round}")), b"").unwrap();
                round += 1;
            }
        }
    }
    let unique: BTreeSet<_> = seen.iter().cloned().collect();
    assert_eq!((seen.len(), unique.len()), (1000, 1000));
    fs::remove_dir_all(m.path("d")).unwrap();
    assert!(!m.path("d").exists());
    m.remount();
    assert!(names(&m.path("")).is_empty());
}

#[test]
fn statfs_follows_what_is_written() {
    let Some(m) = small() else { return };
    let before = statvfs(m.path("")).unwrap();
    assert_eq!((before.f_bsize, before.f_namemax), (4096, 255));
    assert!(
        (1..20).contains(&(before.f_bfree - before.f_bavail)),
        "{} of {} pages to one file",
        before.f_bavail,
        before.f_bfree
    );
    assert!(before.f_blocks * before.f_frsize > 10 << 20, "of 16 MiB: {} pages", before.f_blocks);
    fs::write(m.path("file"), vec![1; 1 << 20]).unwrap();
    let after = statvfs(m.path("")).unwrap();
    // The difference includes the first page of the directory.
    assert_eq!((before.f_blocks, before.f_bfree - after.f_bfree), (after.f_blocks, 257));
    assert_eq!(before.f_ffree - after.f_ffree, 1);
    assert_eq!(fs::metadata(m.path("file")).unwrap().blocks(), 2048);
    // Pages of removed files are free at once: the next write gets them.
    fs::remove_file(m.path("file")).unwrap();
    assert_eq!(statvfs(m.path("")).unwrap().f_bfree, before.f_bfree - 1);
}

#[test]
fn extended_attributes() {
    let Some(mut m) = small() else { return };
    let path = m.path("file");
    fs::write(&path, b"").unwrap();
    let get = |path: &Path, name: &str| {
        let mut value = [0; 300];
        let length = rustix::fs::getxattr(path, name, &mut value[..])?;
        Ok::<_, Errno>(value[..length].to_vec())
    };
    assert_eq!(get(&path, "user.none"), Err(Errno::NODATA));
    rustix::fs::setxattr(&path, "user.colour", b"blue", XattrFlags::empty()).unwrap();
    rustix::fs::setxattr(&path, "user.size", b"", XattrFlags::CREATE).unwrap();
    assert_eq!(
        rustix::fs::setxattr(&path, "user.size", b"", XattrFlags::CREATE),
        Err(Errno::EXIST)
    );
    assert_eq!(
        rustix::fs::setxattr(&path, "user.none", b"", XattrFlags::REPLACE),
        Err(Errno::NODATA)
    );
    rustix::fs::setxattr(&path, "user.colour", b"red", XattrFlags::REPLACE).unwrap();
    assert_eq!(
        rustix::fs::setxattr(&path, "user.large", &[0; 250], XattrFlags::empty()),
        Err(Errno::NOSPC)
    );
    assert_eq!(
        rustix::fs::setxattr(&path, "trusted.x", b"", XattrFlags::empty()),
        Err(Errno::OPNOTSUPP)
    );
    assert_eq!(rustix::fs::getxattr(&path, "user.colour", &mut [0; 2][..]), Err(Errno::RANGE));
    rustix::fs::setxattr(m.path(""), "user.volume", b"v", XattrFlags::empty()).unwrap();
    m.remount();
    let path = m.path("file");
    assert_eq!(get(&path, "user.colour"), Ok(b"red".to_vec()));
    assert_eq!(get(&path, "user.size"), Ok(Vec::new()));
    assert_eq!(get(&m.path(""), "user.volume"), Ok(b"v".to_vec()));
    let mut list = [0; 100];
    let length = rustix::fs::listxattr(&path, &mut list[..]).unwrap();
    let list: BTreeSet<&[u8]> =
        list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    assert_eq!(list, BTreeSet::from([b"user.colour" as &[u8], b"user.size"]));
    rustix::fs::removexattr(&path, "user.colour").unwrap();
    assert_eq!(rustix::fs::removexattr(&path, "user.colour"), Err(Errno::NODATA));
    assert_eq!(get(&path, "user.colour"), Err(Errno::NODATA));
}

#[test]
fn fallocate_keeps_room() {
    let Some(m) = small() else { return };
    let file = File::create(m.path("file")).unwrap();
    file.write_all_at(b"start", 0).unwrap();
    let free = || statvfs(m.path("")).unwrap().f_bfree;
    let before = free();
    fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 1 << 20).unwrap();
    assert_eq!((file.metadata().unwrap().len(), before - free()), (5, 256));
    fallocate(&file, FallocateFlags::empty(), 0, 1 << 20).unwrap();
    assert_eq!((file.metadata().unwrap().len(), before - free()), (1 << 20, 256));
    let bytes = fs::read(m.path("file")).unwrap();
    assert!(bytes.starts_with(b"start") && bytes[5..].iter().all(|&byte| byte == 0));

    // Reserved room fills holes too.
    file.set_len(4 << 20).unwrap();
    fallocate(&file, FallocateFlags::empty(), 2 << 20, 1 << 20).unwrap();
    assert!((512..520).contains(&(before - free())));
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    assert_eq!(fallocate(&file, punch, 0, 4096), Err(Errno::OPNOTSUPP));
    assert_eq!(fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 15 << 20), Err(Errno::NOSPC));
    assert_eq!(file.metadata().unwrap().len(), 4 << 20);
    // Reserved room is there on a full volume.
    let other = File::create(m.path("other")).unwrap();
    while other.metadata().unwrap().len() < 16 << 20 && (&other).write_all(&[1; 65536]).is_ok() {}
    file.write_all_at(&vec![9; 1 << 20], 2 << 20).unwrap();
}

#[test]
fn a_full_volume_says_so_and_loses_nothing() {
    let Some(mut m) = small() else { return };
    fs::write(m.path("before"), vec![3; 50_000]).unwrap();
    let mut file = File::create(m.path("file")).unwrap();
    let mut written = 0u64;
    let error = loop {
        match file.write(&[5; 300_000]) {
            Ok(bytes) => written += bytes as u64,
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(E(Errno::NOSPC)));
    assert_eq!(file.metadata().unwrap().len(), written, "what was said to be written is");
    file.sync_all().unwrap();
    assert!(written > 10 << 20, "{written} bytes");
    let mut files = 0;
    while fs::write(m.path(format!("small{files}")), vec![4; 5000]).is_ok() {
        files += 1;
    }
    assert_eq!(
        names(&m.path("")).len(),
        files + 2 + usize::from(m.path(format!("small{files}")).exists())
    );
    assert_eq!(fs::read(m.path("before")).unwrap(), vec![3; 50_000]);
    drop(file);
    m.remount();
    let bytes = fs::read(m.path("file")).unwrap();
    assert!(bytes.len() as u64 == written && bytes.iter().all(|&byte| byte == 5));
    // Removal makes room.
    fs::remove_file(m.path("file")).unwrap();
    fs::write(m.path("again"), vec![6; 8 << 20]).unwrap();
    assert_eq!(fs::read(m.path("again")).unwrap(), vec![6; 8 << 20]);
    assert_eq!(fs::read(m.path("before")).unwrap(), vec![3; 50_000]);
}

#[test]
fn two_handles_see_each_other() {
    let Some(m) = small() else { return };
    let a = read_write().create(true).truncate(true).open(m.path("file")).unwrap();
    let b = read_write().open(m.path("file")).unwrap();
    a.write_all_at(&[1; 9000], 0).unwrap();
    let mut bytes = [0; 9000];
    b.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(bytes, [1; 9000]);
    b.write_all_at(&[2; 10], 100).unwrap();
    a.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(bytes[95..115], [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
    a.set_len(50).unwrap();
    assert_eq!(b.read_at(&mut bytes, 0).unwrap(), 50);
    b.set_len(60).unwrap();
    assert_eq!(a.read_at(&mut bytes, 0).unwrap(), 60);
    assert_eq!(bytes[49..60], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_thousand_files_may_be_open_and_no_more_than_fit() {
    let Some(m) = small() else { return };
    let mut open = Vec::new();
    let error = loop {
        match File::create(m.path(format!("file{}", open.len()))) {
            Ok(file) => open.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(E(Errno::NFILE)));
    assert_eq!(open.len(), 1032);
    for (index, file) in open.iter().enumerate() {
        file.write_all_at(&index.to_le_bytes(), 0).unwrap();
    }
    drop(open);
    assert_eq!(fs::read(m.path("file1031")).unwrap(), 1031usize.to_le_bytes());
}

#[test]
fn a_large_file_is_read_back_after_a_remount() {
    let Some(mut m) = Mounted::new(Chip::large(3)) else { return };
    let block: Vec<u8> =
        (0..1 << 20).map(|index: u32| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut file = File::create(m.path("file")).unwrap();
    for index in 0..64u8 {
        file.write_all(&block.iter().map(|byte| byte ^ index).collect::<Vec<_>>()).unwrap();
    }
    // Random overwrites, across pages.
    let mut rng = fastrand::Rng::with_seed(5);
    let patches: Vec<u64> = (0..200).map(|_| rng.u64(..(64 << 20) - 10_000)).collect();
    patches.iter().for_each(|&at| file.write_all_at(&[0xEE; 10_000], at).unwrap());
    file.sync_all().unwrap();
    drop(file);
    m.remount();
    let bytes = fs::read(m.path("file")).unwrap();
    assert_eq!(bytes.len(), 64 << 20);
    let mut expected: Vec<u8> =
        (0..64u8).flat_map(|index| block.iter().map(move |byte| byte ^ index)).collect();
    patches.iter().for_each(|&at| expected[at as usize..at as usize + 10_000].fill(0xEE));
    assert!(bytes == expected);
}

#[test]
fn an_fsync_survives_a_power_cut_and_time_commits_the_rest() {
    let options = Options { commit_interval: Duration::from_millis(100), ..Options::default() };
    let Some(mut m) = Mounted::with_options(Chip::small(7), options) else { return };
    let file = File::create(m.path("synced")).unwrap();
    file.write_all_at(b"synced", 0).unwrap();
    file.sync_data().unwrap();
    drop(file);
    m.cut_and_remount();
    assert_eq!(fs::read(m.path("synced")).unwrap(), b"synced");
    fs::write(m.path("timed"), b"timed").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    m.cut_and_remount();
    assert_eq!(fs::read(m.path("timed")).unwrap(), b"timed");
    assert_eq!(names(&m.path("")).len(), 2);
}

#[test]
fn without_fsync_a_power_cut_leaves_an_earlier_state() {
    let options = Options { commit_interval: Duration::from_secs(3600), ..Options::default() };
    let Some(mut m) = Mounted::with_options(Chip::small(7), options) else { return };
    fs::write(m.path("file"), b"old").unwrap();
    File::open(m.path("")).unwrap().sync_all().unwrap();
    fs::write(m.path("file"), b"new").unwrap();
    fs::write(m.path("another"), b"new").unwrap();
    m.cut_and_remount();
    assert_eq!(fs::read(m.path("file")).unwrap(), b"old");
    assert_eq!(names(&m.path("")).len(), 1);
}

#[test]
fn a_medium_that_fails_says_eio_and_the_mount_goes_away() {
    let Some(mut m) = small() else { return };
    fs::write(m.path("file"), vec![1; 10_000]).unwrap();
    let file = read_write().open(m.path("file")).unwrap();
    m.chip.lock().cut_now();
    assert_eq!(
        errno(file.write_all_at(&[2; 100_000], 0).and_then(|()| file.sync_all())),
        E(Errno::IO)
    );
    drop(file);
    assert!(m.unmount().is_err());
}

#[test]
fn a_volume_for_reading_only_refuses_changes() {
    let Some(mut m) = small() else { return };
    fs::write(m.path("file"), b"content").unwrap();
    m.unmount().unwrap();
    let options = Options { read_only: true, ..Options::default() };
    let Some(m) = Mounted::with_options(m.chip.clone(), options) else { return };
    assert_eq!(fs::read(m.path("file")).unwrap(), b"content");
    assert_eq!(errno(fs::write(m.path("file"), b"x")), E(Errno::ROFS));
    assert_eq!(errno(fs::remove_file(m.path("file"))), E(Errno::ROFS));
}

#[test]
fn threads_work_side_by_side() {
    let Some(mut m) = small() else { return };
    fs::create_dir(m.path("shared")).unwrap();
    let worker = |number: u8| {
        let own = m.path(format!("thread{number}"));
        fs::create_dir(&own).unwrap();
        let log = OpenOptions::new().append(true).create(true).open(m.path("log")).unwrap();
        for round in 0..60u8 {
            let (file, moved) = (
                own.join(format!("file{round}")),
                m.path("shared").join(format!("{number}-{round}")),
            );
            fs::write(&file, vec![number; 1000 * usize::from(round)]).unwrap();
            (&log).write_all(&[number; 64]).unwrap();
            fs::rename(&file, &moved).unwrap();
            assert_eq!(fs::read(&moved).unwrap(), vec![number; 1000 * usize::from(round)]);
            if round % 2 == 0 {
                fs::remove_file(&moved).unwrap();
            }
            if round % 16 == 0 {
                log.sync_all().unwrap();
            }
        }
    };
    std::thread::scope(|scope| (0..6).for_each(|number| drop(scope.spawn(move || worker(number)))));
    m.remount();
    assert_eq!(names(&m.path("shared")).len(), 6 * 30);
    let log = fs::read(m.path("log")).unwrap();
    assert_eq!(log.len(), 6 * 60 * 64);
    assert!(
        log.chunks(64).all(|record| record.iter().all(|byte| *byte == record[0])),
        "appends are whole"
    );
}
