//! A disk that is mounted as a file. The tests cover bytes at any place, file systems that other
//! tools make on it, and the properties for the kernel.
//!
//! Each test that mounts runs in a mount namespace of its own. If a machine has no tools or no
//! loop devices, a test prints that and skips the part.
#![cfg(target_os = "linux")]

use crate::common::namespace::{self, points, say, wait_until};
use crate::common::{Bench, content, text, tree};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Number of files on each file system.
const FILES: usize = 2_000;

/// A disk that is mounted on `mnt`. The process is killed if a test fails.
struct Mounted(Child);

impl Mounted {
    fn new(bench: &Bench, line: &str) -> Self {
        let count = points().len();
        let mut child = bench.command(line).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(|| points().len() > count || child.try_wait().unwrap().is_some());
        if points().len() == count {
            panic!("{line}: {}", text(&child.wait_with_output().unwrap().stderr));
        }
        Self(child)
    }

    /// Unmounts, and returns the last output of the command.
    fn end(mut self) -> String {
        assert!(
            Command::new("kill")
                .args(["-INT", &self.0.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        wait_until(|| self.0.try_wait().unwrap().is_some());
        let said = std::io::read_to_string(self.0.stderr.take().unwrap()).unwrap();
        assert_eq!(self.0.wait().unwrap().code(), Some(0), "{said}");
        said
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes a directory with the image of an empty disk, and a place to mount it on.
fn with_disk(name: &str, device: &str, test: impl FnOnce(&Bench)) {
    namespace::run(&format!("disk_mount::{name}"), || {
        let bench = Bench::new(&format!("disk-{name}"));
        bench.ok(&format!("format i.img --disk --device {device}"));
        fs::create_dir(bench.path("mnt")).unwrap();
        test(&bench);
    });
}

/// Runs a line of the shell in the directory of a test. Returns its exit code and its output.
fn tool(bench: &Bench, line: &str) -> (Option<i32>, String) {
    let output =
        Command::new("sh").args(["-c", line]).current_dir(&bench.directory).output().unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
    )
}

#[track_caller]
fn succeeds(bench: &Bench, line: &str) -> String {
    let (code, said) = tool(bench, line);
    assert_eq!(code, Some(0), "{line}: {said}");
    said
}

/// Returns true if the tools of a test are installed. Prints the name of a missing tool.
fn has(test: &str, tools: &[&str]) -> bool {
    let is_missing = |tool: &&&str| Command::new(tool).arg("-V").output().is_err();
    match tools.iter().find(is_missing) {
        Some(tool) => say(&format!("SKIPPED {test}: {tool} is not installed")),
        None => return true,
    }
    false
}

/// Makes files of the host for a file system, a hundred in each directory.
fn make_files(bench: &Bench) {
    for file in 0..FILES {
        bench.write(&format!("from/d{}/f{file}", file / 100), &content(file, file * 37 % 6_000));
    }
}

#[test]
fn bytes_at_odd_places_are_what_was_written_and_stay_after_an_unmount() {
    with_disk(
        "bytes_at_odd_places_are_what_was_written_and_stay_after_an_unmount",
        "nor.toml",
        |bench| {
            let mounted = Mounted::new(bench, "mount i.img mnt --device nor.toml");
            let disk = File::options().read(true).write(true).open(bench.path("mnt/disk")).unwrap();
            let size = disk.metadata().unwrap().len();
            let mut oracle = vec![0; size as usize];
            let mut random = 1_u64;
            for step in 0..400 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let offset = (random >> 33) % size;
                let length = ((random >> 20) % 9_000).min(size - offset) as usize;
                let data = content(step, length);
                disk.write_all_at(&data, offset).unwrap();
                oracle[offset as usize..][..length].copy_from_slice(&data);
                if step % 50 == 0 {
                    disk.sync_data().unwrap();
                }
            }
            drop(disk);
            assert!(bench.read("mnt/disk") == oracle);
            let told = mounted.end();
            assert!(
                told.contains(" programs, ") && told.trim_end().contains(" on small-nor"),
                "{told}"
            );
            let _mounted = Mounted::new(bench, "mount i.img mnt --disk --read-only");
            assert!(bench.read("mnt/disk") == oracle);
            assert!(File::options().write(true).open(bench.path("mnt/disk")).is_err());
            _mounted.end();
        },
    );
}

#[test]
fn what_was_synced_is_there_when_the_process_is_killed() {
    with_disk("what_was_synced_is_there_when_the_process_is_killed", "nand.toml", |bench| {
        let mounted = Mounted::new(bench, "mount i.img mnt --commit-interval 3600000");
        let disk = File::options().read(true).write(true).open(bench.path("mnt/disk")).unwrap();
        let data = content(1, 100_000);
        disk.write_all_at(&data, 777).unwrap();
        disk.sync_all().unwrap();
        drop(mounted);
        drop(disk);
        succeeds(bench, "umount -l mnt");
        let mounted = Mounted::new(bench, "mount i.img mnt");
        assert!(bench.read("mnt/disk")[777..100_777] == data);
        mounted.end();
    });
}

#[test]
fn a_write_waits_no_longer_than_the_interval() {
    with_disk("a_write_waits_no_longer_than_the_interval", "nand.toml", |bench| {
        let mounted = Mounted::new(bench, "mount i.img mnt -o commit_interval=50");
        let disk = File::options().write(true).open(bench.path("mnt/disk")).unwrap();
        disk.write_all_at(&content(1, 10_000), 0).unwrap();
        drop(disk);
        // The process dies, not the chip. Changes that it has not programmed are lost.
        std::thread::sleep(std::time::Duration::from_secs(1));
        drop(mounted);
        succeeds(bench, "umount -l mnt");
        let mounted = Mounted::new(bench, "mount i.img mnt");
        assert!(bench.read("mnt/disk")[..10_000] == content(1, 10_000));
        mounted.end();
    });
}

#[test]
fn the_kernel_is_told_what_a_disk_is() {
    with_disk("the_kernel_is_told_what_a_disk_is", "nand.toml", |bench| {
        let mounted = Mounted::new(bench, "mount i.img mnt --disk");
        let size = fs::metadata(bench.path("mnt/disk")).unwrap().len();
        assert!(bench.fails("df i.img").contains("another process changes the image"));
        mounted.end();
        assert_eq!(bench.json("df i.img --json")["bytes"], size);
        let mounted = Mounted::new(bench, "mount i.img mnt");
        assert_eq!(tree(&bench.path("mnt")).len(), 1);
        for (line, reason) in [
            ("touch mnt/other", "Operation not permitted"),
            ("mkdir mnt/other", "Operation not permitted"),
            ("rm -f mnt/disk", "Operation not permitted"),
            ("mv mnt/disk mnt/other", "Operation not permitted"),
            ("truncate -s 0 mnt/disk", "Operation not permitted"),
            ("truncate -s +1 mnt/disk", "File too large"),
            ("fallocate -c -o 0 -l 4096 mnt/disk", "Operation not supported"),
        ] {
            let (code, said) = tool(bench, line);
            assert!(code == Some(1) && said.contains(reason), "{line}: {said}");
        }
        let (_, said) = tool(bench, "cat /dev/zero >mnt/disk");
        assert!(said.contains("No space left on device"), "{said}");
        succeeds(bench, &format!("truncate -s {size} mnt/disk"));
        fs::write(bench.path("part"), content(1, 30_000)).unwrap();
        succeeds(bench, "dd if=part of=mnt/disk conv=notrunc,fsync status=none");
        succeeds(bench, "fallocate -p -o 1000 -l 20000 mnt/disk");
        succeeds(bench, "fallocate -l 1000 mnt/disk");
        let mut expected = content(1, 30_000);
        expected[1_000..21_000].fill(0);
        assert!(bench.read("mnt/disk")[..30_000] == expected);
        assert_eq!(fs::metadata(bench.path("mnt/disk")).unwrap().len(), size);
        mounted.end();
    });
}

/// Compares the files of a file system on the disk, which the kernel mounts, with the files of
/// the host. Prints a line if the kernel cannot mount it.
fn compare_in_the_kernel(bench: &Bench, test: &str, kind: &str) {
    fs::create_dir_all(bench.path("on-disk")).unwrap();
    let (code, said) = tool(bench, &format!("mount -t {kind} -o loop,ro mnt/disk on-disk"));
    if code != Some(0) {
        return say(&format!(
            "SKIPPED a part of {test}: {kind} is not mounted through a loop device: {}",
            said.trim()
        ));
    }
    let found = tree(&bench.path("on-disk"));
    succeeds(bench, "umount on-disk");
    assert_same(bench, &found);
}

/// Checks that the files of the host are among the found files.
#[track_caller]
fn assert_same(bench: &Bench, found: &[(PathBuf, Option<Vec<u8>>)]) {
    let found: BTreeMap<_, _> = found.iter().cloned().collect();
    for (path, content) in tree(&bench.path("from")) {
        assert!(found.get(&path) == Some(&content), "{}", path.display());
    }
}

#[test]
fn ext4_is_made_filled_and_checked_by_its_own_tools() {
    const NAME: &str = "ext4_is_made_filled_and_checked_by_its_own_tools";
    if !has(NAME, &["mke2fs", "debugfs"]) {
        return;
    }
    with_disk(NAME, "mt29f1g01abafd", |bench| {
        make_files(bench);
        let mounted = Mounted::new(bench, "mount i.img mnt");
        succeeds(bench, "mke2fs -q -F -t ext4 -d from mnt/disk && e2fsck -fn mnt/disk");
        bench.write("from/more", &content(9, 100_000));
        succeeds(bench, "debugfs -w -R 'write from/more more' mnt/disk");
        mounted.end();
        let mounted = Mounted::new(bench, "mount i.img mnt");
        succeeds(bench, "e2fsck -fn mnt/disk && mkdir back && debugfs -R 'rdump / back' mnt/disk");
        assert_same(bench, &tree(&bench.path("back")));
        compare_in_the_kernel(bench, NAME, "ext4");
        mounted.end();
        bench.ok("check i.img");
    });
}

#[test]
fn f2fs_is_made_filled_and_checked_by_its_own_tools() {
    const NAME: &str = "f2fs_is_made_filled_and_checked_by_its_own_tools";
    if !has(NAME, &["mkfs.f2fs", "sload.f2fs", "fsck.f2fs"]) {
        return;
    }
    with_disk(NAME, "mt29f1g01abafd", |bench| {
        make_files(bench);
        let mounted = Mounted::new(bench, "mount i.img mnt");
        succeeds(bench, "mkfs.f2fs -q -f mnt/disk && sload.f2fs -f from mnt/disk");
        mounted.end();
        let mounted = Mounted::new(bench, "mount i.img mnt");
        let said = succeeds(bench, "fsck.f2fs --dry-run mnt/disk");
        // The root, its twenty directories, and the files.
        let inodes = format!("[0x{:x}]", FILES + FILES / 100 + 1);
        let counts = said.lines().find(|line| line.contains("valid_inode_count matched with CP"));
        assert!(
            counts.is_some_and(|line| line.contains("[Ok..]") && line.contains(&inodes)),
            "{inodes}: {said}"
        );
        compare_in_the_kernel(bench, NAME, "f2fs");
        mounted.end();
        bench.ok("check i.img");
    });
}

#[test]
fn vfat_is_made_filled_and_checked_by_its_own_tools() {
    const NAME: &str = "vfat_is_made_filled_and_checked_by_its_own_tools";
    if !has(NAME, &["mkfs.vfat", "fsck.vfat", "mcopy"]) {
        return;
    }
    with_disk(NAME, "w25q128jv", |bench| {
        make_files(bench);
        let mounted = Mounted::new(bench, "mount i.img mnt");
        succeeds(bench, "mkfs.vfat mnt/disk && mcopy -i mnt/disk -s from/* ::/ && sync mnt/disk");
        mounted.end();
        let mounted = Mounted::new(bench, "mount i.img mnt");
        succeeds(bench, "fsck.vfat -n mnt/disk && mkdir back && mcopy -i mnt/disk -s '::/*' back/");
        assert_same(bench, &tree(&bench.path("back")));
        compare_in_the_kernel(bench, NAME, "vfat");
        mounted.end();
        bench.ok("check i.img");
    });
}

#[test]
fn commands_say_what_a_disk_is_and_what_it_is_not() {
    let bench = Bench::new("disk-commands");
    let made = bench.ok("format i.img --disk --device nand.toml --bad-blocks-max 3");
    assert!(made.starts_with("Disk ") && made.contains("\nSectors "), "{made}");
    for line in [
        "ls i.img",
        "cat i.img x",
        "get i.img x y",
        "rm i.img x",
        "mkdir i.img x",
        "tree i.img",
        "stat i.img",
        "unpack i.img out",
    ] {
        assert_eq!(
            bench.fails(line),
            "i.img: is a disk, which holds sectors and no files; `steady mount` shows it as one \
             file"
        );
    }
    for option in ["--files-max 5", "--name-bytes-max 9", "--no-permissions"] {
        let error =
            bench.contradicts(&format!("format other.img --disk --device nand.toml {option}"));
        assert!(
            error.starts_with(option.split(' ').next().unwrap())
                && !bench.path("other.img").exists(),
            "{error}"
        );
    }
    assert!(bench.ok("check i.img").ends_with(" sectors, 0 pages: sound\n"));
    let room = bench.json("df i.img --json");
    assert_eq!(
        (room["written_bytes"].as_u64(), room["sector_bytes"].as_u64()),
        (Some(0), Some(512))
    );
    assert_eq!(room["bytes"].as_u64(), room["sectors"].as_u64().map(|sectors| sectors * 512));
    assert!(bench.ok("dump i.img").contains("it is a disk"));
    assert_eq!(bench.json("health i.img --json -")["damage"], serde_json::Value::Null);
    bench.ok("scrub i.img");
    bench.ok("format files.img --device nand.toml");
    fs::create_dir(bench.path("mnt")).unwrap();
    assert_eq!(
        bench.fails("mount files.img mnt --disk"),
        "files.img: holds a file system, not a disk; expected no --disk"
    );
}

#[test]
fn check_names_the_sectors_that_cannot_be_read() {
    with_disk("check_names_the_sectors_that_cannot_be_read", "nand.toml", |bench| {
        let mounted = Mounted::new(bench, "mount i.img mnt");
        let disk = File::options().write(true).open(bench.path("mnt/disk")).unwrap();
        disk.write_all_at(&[0x5A; 65_536], 0).unwrap();
        disk.write_all_at(b"a needle in a sector", 40_000).unwrap();
        drop(disk);
        mounted.end();
        bench.damage("i.img", b"a needle in a sector");
        let output = bench.run("check i.img");
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.starts_with("sectors 7")
                && said.contains(" cannot be read\n")
                && said.ends_with(": damaged\n"),
            "{said}"
        );
        let mounted = Mounted::new(bench, "mount i.img mnt");
        let disk = File::options().read(true).write(true).open(bench.path("mnt/disk")).unwrap();
        let mut sector = [0; 512];
        assert_eq!(
            disk.read_exact_at(&mut sector, 39_936).unwrap_err().raw_os_error(),
            Some(5),
            "EIO"
        );
        // A sector that is written anew can be read.
        disk.write_all_at(&[1; 65_536], 0).unwrap();
        disk.read_exact_at(&mut sector, 39_936).unwrap();
        drop(disk);
        mounted.end();
        bench.ok("check i.img");
    });
}
