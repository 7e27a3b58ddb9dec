//! Mode, owner and group, symbolic links, holes: the needs of archivers and deployment tools.

#![cfg(target_os = "linux")]

mod common;

use common::{Chip, Mounted, errno};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use steadyfs_fuse::Options;

fn facts(path: &Path) -> (u32, u32, u32) {
    let facts = fs::symlink_metadata(path).unwrap();
    (facts.mode(), facts.uid(), facts.gid())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn modes_and_owners_are_kept() {
    let Some(mut m) = Mounted::new(Chip::with_permissions(1)) else { return };
    let me = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let old = rustix::process::umask(rustix::fs::Mode::from(0o027));
    fs::write(m.path("file"), b"content").unwrap();
    fs::create_dir(m.path("dir")).unwrap();
    rustix::process::umask(old);
    assert_eq!(facts(&m.path("file")), (0o100_640, me.0, me.1), "the umask counts");
    assert_eq!(facts(&m.path("dir")), (0o040_750, me.0, me.1));
    fs::set_permissions(m.path("file"), Permissions::from_mode(0o4711)).unwrap();
    fs::set_permissions(m.path("dir"), Permissions::from_mode(0o1777)).unwrap();
    fs::set_permissions(m.path(""), Permissions::from_mode(0o700)).unwrap();
    m.remount();
    assert_eq!(facts(&m.path("file")), (0o104_711, me.0, me.1));
    assert_eq!(facts(&m.path("dir")).0, 0o041_777);
    assert_eq!(facts(&m.path("")).0, 0o040_700);
    assert_eq!(fs::read(m.path("file")).unwrap(), b"content");
    if !is_root() {
        return;
    }
    chown(m.path("file"), Some(1234), Some(4_000_000_000)).unwrap();
    assert_eq!(
        facts(&m.path("file")),
        (0o100_711, 1234, 4_000_000_000),
        "a new owner gets no privileges"
    );
    // A new file gets the group of a directory that passes its group on. A new directory also
    // passes the group on.
    chown(m.path("dir"), None, Some(77)).unwrap();
    fs::set_permissions(m.path("dir"), Permissions::from_mode(0o2755)).unwrap();
    fs::write(m.path("dir/file"), b"").unwrap();
    fs::create_dir(m.path("dir/dir")).unwrap();
    assert_eq!(facts(&m.path("dir/file")).2, 77);
    assert_eq!((facts(&m.path("dir/dir")).0 & 0o7000, facts(&m.path("dir/dir")).2), (0o2000, 77));
    // A file that replaces another one keeps its own group.
    fs::rename(m.path("dir/file"), m.path("file")).unwrap();
    assert_eq!(facts(&m.path("file")).2, 77);
}

#[test]
fn without_room_for_permissions_they_are_refused_or_by_option_ignored() {
    let quiet = Options { quiet_permissions: true, ..Options::default() };
    for options in [Options::default(), quiet] {
        let Some(m) = Mounted::with_options(Chip::small(1), options.clone()) else { return };
        fs::write(m.path("file"), b"").unwrap();
        let result = fs::set_permissions(m.path("file"), Permissions::from_mode(0o4755));
        let expected =
            if options.quiet_permissions { None } else { Some(Errno::PERM.raw_os_error()) };
        assert_eq!(result.err().and_then(|error| error.raw_os_error()), expected);
        assert_eq!(facts(&m.path("file")).0, 0o100_644);
    }
}

#[test]
fn symbolic_links_name_anything() {
    let Some(mut m) = Mounted::new(Chip::small(1)) else { return };
    fs::create_dir(m.path("dir")).unwrap();
    fs::write(m.path("dir/file"), b"content").unwrap();
    symlink("dir/file", m.path("link")).unwrap();
    let long = format!("{}file", "../dir/".repeat(200));
    symlink(&long, m.path("dir/long")).unwrap();
    symlink("nowhere", m.path("dangling")).unwrap();
    m.remount();
    assert_eq!(fs::read(m.path("link")).unwrap(), b"content");
    assert_eq!(fs::read_link(m.path("dir/long")).unwrap(), Path::new(&long));
    let facts = fs::symlink_metadata(m.path("link")).unwrap();
    assert!(facts.file_type().is_symlink());
    assert_eq!((facts.len(), facts.mode() & 0o7777, facts.nlink()), (8, 0o777, 1));
    assert_eq!(errno(fs::read(m.path("dangling"))), Errno::NOENT.raw_os_error());
    assert_eq!(errno(symlink("other", m.path("link"))), Errno::EXIST.raw_os_error());
    let too_long = "x".repeat(4096);
    assert!(symlink(&too_long, m.path("too-long")).is_err());
    assert_eq!(fs::read_dir(m.path("")).unwrap().count(), 3);
    // Removal and renaming apply to the link itself.
    fs::rename(m.path("link"), m.path("moved")).unwrap();
    assert_eq!(fs::read_link(m.path("moved")).unwrap(), Path::new("dir/file"));
    fs::remove_file(m.path("moved")).unwrap();
    assert_eq!(fs::read(m.path("dir/file")).unwrap(), b"content");
    fs::remove_file(m.path("dir/long")).unwrap();
    drop(lchown(m.path("dangling"), None, None));
}

#[test]
fn holes_are_told() {
    let Some(m) = Mounted::new(Chip::small(1)) else { return };
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(m.path("file"))
        .unwrap();
    let page = 4096;
    let blocks = || fs::metadata(m.path("file")).unwrap().blocks() * 512;
    file.write_all_at(b"small", 0).unwrap();
    assert_eq!(blocks(), 512, "data in the inode");
    assert_eq!(seek(&file, SeekFrom::Data(2)), Ok(2));
    assert_eq!(seek(&file, SeekFrom::Hole(2)), Ok(5));
    file.set_len(100 * page).unwrap();
    file.write_all_at(&[1; 4096], 10 * page).unwrap();
    file.write_all_at(&[1; 10], 90 * page + 7).unwrap();
    // The two written pages, the first page of the file, and an index.
    assert_eq!(blocks(), 4 * page);
    assert_eq!(seek(&file, SeekFrom::Data(page)), Ok(10 * page));
    assert_eq!(seek(&file, SeekFrom::Data(10 * page + 5)), Ok(10 * page + 5));
    assert_eq!(seek(&file, SeekFrom::Hole(10 * page + 5)), Ok(11 * page));
    assert_eq!(seek(&file, SeekFrom::Data(11 * page)), Ok(90 * page));
    assert_eq!(seek(&file, SeekFrom::Data(91 * page)), Err(Errno::NXIO));
    assert_eq!(seek(&file, SeekFrom::Hole(99 * page)), Ok(99 * page));
    assert_eq!(seek(&file, SeekFrom::Hole(100 * page)), Err(Errno::NXIO));
}

/// Runs a command if this machine has it. The command must succeed and print nothing.
fn runs(command: &str, arguments: &[&str]) -> bool {
    let output = match Command::new(command).args(arguments).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return false,
        output => output.unwrap(),
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.is_empty(),
        "{command} {arguments:?}: {}: {said}",
        output.status
    );
    true
}

#[test]
fn archivers_copy_a_tree_with_modes_links_and_times() {
    let Some(m) = Mounted::new(Chip::with_permissions(1)) else { return };
    let source = tempfile::tempdir().unwrap();
    let from = |path: &str| source.path().join(path);
    fs::create_dir_all(from("a/b")).unwrap();
    fs::write(from("a/tool"), b"#!/bin/sh\n").unwrap();
    fs::set_permissions(from("a/tool"), Permissions::from_mode(0o755)).unwrap();
    // Archives have whole seconds.
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().append(true).open(from("a/tool")).unwrap().set_modified(modified).unwrap();
    fs::write(from("a/b/secret"), vec![7; 30_000]).unwrap();
    fs::set_permissions(from("a/b/secret"), Permissions::from_mode(0o600)).unwrap();
    symlink("b/secret", from("a/link")).unwrap();
    fs::set_permissions(from("a/b"), Permissions::from_mode(0o2750)).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_string();
    let archive = text(&from("archive.tar"));
    assert!(runs("tar", &["-cf", &archive, "-C", &text(source.path()), "a"]));
    for (name, command) in [("tar", "tar"), ("cp", "cp"), ("rsync", "rsync")] {
        let to = m.path(name);
        fs::create_dir(&to).unwrap();
        let was_run = match command {
            "tar" => runs("tar", &["-xpf", &archive, "-C", &text(&to)]),
            "cp" => runs("cp", &["-a", &text(&from("a")), &text(&to)]),
            _ => runs("rsync", &["-a", &text(&from("a")), &text(&to)]),
        };
        if !was_run {
            continue;
        }
        for path in ["a", "a/tool", "a/b", "a/b/secret", "a/link"] {
            assert_eq!(facts(&from(path)), facts(&to.join(path)), "{command}: {path}");
        }
        assert_eq!(fs::read_link(to.join("a/link")).unwrap(), Path::new("b/secret"));
        assert_eq!(fs::read(to.join("a/b/secret")).unwrap(), vec![7; 30_000]);
        let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(&from("a/tool")), modified(&to.join("a/tool")), "{command}");
    }
    runs("install", &["-m", "755", &text(&from("a/tool")), &text(&m.path("tool"))]);
    assert_eq!(facts(&m.path("tool")).0, 0o100_755);
}
