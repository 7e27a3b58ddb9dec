//! The places that `steady mount` mounts on, and the mounts that it removes: its own mount, or
//! none.
//!
//! Each test runs in a mount namespace of its own, made by `unshare`. Otherwise a mistake would
//! cost the machine its mounts. Without the right to make a namespace, or without `/dev/fuse`, a
//! test prints on standard error that it was skipped.
#![cfg(target_os = "linux")]

use crate::common::Bench;
use crate::common::namespace::{self, points, wait_until};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

/// Runs a test in a mount namespace of its own, with an empty volume and a directory to mount it
/// on.
fn in_namespace(name: &str, test: impl FnOnce(&Bench)) {
    namespace::run(&format!("mount_places::{name}"), || {
        let bench = Bench::new(&format!("places-{name}"));
        bench.ok("format i.img --device nand.toml");
        fs::create_dir(bench.path("mnt")).unwrap();
        test(&bench);
        assert!(fs::read_to_string("/proc/self/status").unwrap().contains("VmRSS"));
    });
}

/// Runs a command of the host in the directory of a test.
fn host(bench: &Bench, line: &str) {
    let mut words = line.split(' ');
    let status = Command::new(words.next().unwrap())
        .args(words)
        .current_dir(&bench.directory)
        .status()
        .unwrap();
    assert!(status.success(), "{line}");
}

/// The process of `steady mount`. It is killed if a test fails.
struct Service {
    child: Child,
    /// The file with its output on standard error.
    told: PathBuf,
}

impl Service {
    /// Mounts the image, and writes a file on it.
    fn new(bench: &Bench, line: &str) -> Self {
        let count = points().len();
        let told = bench.path("told");
        let mut child = bench.command(line).stderr(File::create(&told).unwrap()).spawn().unwrap();
        wait_until(|| points().len() > count || child.try_wait().unwrap().is_some());
        let service = Self { child, told };
        assert_eq!(points().len(), count + 1, "it is mounted: {}", service.told());
        bench.write("mnt/file", b"content");
        service
    }

    fn signal(&self) {
        assert!(
            Command::new("kill")
                .args(["-INT", &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    fn told(&self) -> String {
        fs::read_to_string(&self.told).unwrap()
    }

    /// Returns the output after a signal that the service cannot obey.
    #[track_caller]
    fn complaint(&mut self) -> String {
        self.signal();
        wait_until(|| self.told().ends_with('\n'));
        assert!(self.child.try_wait().unwrap().is_none(), "it goes on");
        self.told()
    }

    /// Waits for the end, which must have this exit code. Returns the output.
    #[track_caller]
    fn end(mut self, code: i32) -> String {
        wait_until(|| self.child.try_wait().unwrap().is_some());
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.told());
        self.told()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks that a place is refused, and that the image and the mounts stay as they are.
#[track_caller]
fn refused(bench: &Bench, directory: &str, reason: &str) {
    let (image, mounts) = (bench.read("i.img"), points());
    let told = bench.fails(&format!("mount i.img {directory}"));
    assert!(told.contains(reason), "{told}");
    assert!(bench.read("i.img") == image, "the image is as it was");
    assert_eq!(points(), mounts);
}

#[test]
fn the_root_directory_is_refused() {
    in_namespace("the_root_directory_is_refused", |bench| {
        std::os::unix::fs::symlink("/", bench.path("link")).unwrap();
        for place in
            ["/", "link", "/proc/..", "/ --nonempty", "link --nonempty", "link/. --nonempty"]
        {
            refused(bench, place, "is the root directory");
        }
    });
}

/// The error was that the directory is none.
#[test]
fn a_dead_mount_is_named() {
    in_namespace("a_dead_mount_is_named", |bench| {
        let mut service = Service::new(bench, "mount i.img mnt");
        service.child.kill().unwrap();
        service.child.wait().unwrap();
        let told = bench.fails("mount i.img mnt");
        assert!(told.starts_with("mnt: a dead mount lies on it"), "{told}");
        host(bench, "umount mnt");
        let service = Service::new(bench, "mount i.img mnt");
        service.signal();
        service.end(0);
    });
}

#[test]
fn a_directory_with_a_mount_below_is_refused() {
    in_namespace("a_directory_with_a_mount_below_is_refused", |bench| {
        std::os::unix::fs::symlink("mnt", bench.path("link")).unwrap();
        let below = bench.path("mnt/one two/data");
        fs::create_dir_all(&below).unwrap();
        assert!(
            Command::new("mount")
                .args(["-t", "tmpfs", "t"])
                .arg(&below)
                .status()
                .unwrap()
                .success()
        );
        fs::write(below.join("theirs"), b"theirs").unwrap();
        for place in ["mnt", "link", "mnt --nonempty", "link --nonempty", ". --nonempty"] {
            refused(bench, place, "/mnt/one two/data; expected a directory without any");
        }
        assert_eq!(bench.read("mnt/one two/data/theirs"), b"theirs");
        assert!(Command::new("umount").arg(&below).status().unwrap().success());
    });
}

#[test]
fn a_directory_that_is_not_empty_is_mounted_on_only_when_asked() {
    in_namespace("a_directory_that_is_not_empty_is_mounted_on_only_when_asked", |bench| {
        bench.write("mnt/hidden", b"hidden");
        std::os::unix::fs::symlink("mnt", bench.path("link")).unwrap();
        refused(
            bench,
            "mnt",
            "is not empty, and its files would be hidden; expected an empty directory, or \
             --nonempty",
        );
        refused(bench, "link", "is not empty");
        let service = Service::new(bench, "mount i.img link --nonempty");
        assert!(!bench.path("mnt/hidden").exists());
        service.signal();
        service.end(0);
        assert_eq!(bench.read("mnt/hidden"), b"hidden");
        assert_eq!(bench.ok("cat i.img file"), "content");
    });
}

/// Mounts a tmpfs at `place` while the volume is mounted. The tmpfs stays after a signal, which
/// causes only a complaint, and after another.
fn in_the_way(name: &str, place: &str, complaint: &str) {
    in_namespace(name, |bench| {
        let mut service = Service::new(bench, "mount i.img mnt");
        fs::create_dir_all(bench.path(place)).unwrap();
        host(bench, &format!("mount -t tmpfs t {place}"));
        bench.write(&format!("{place}/theirs"), b"theirs");
        let told = service.complaint();
        assert!(
            told.starts_with("still mounted and served: ") && told.contains(complaint),
            "{told}"
        );
        assert_eq!(bench.read(&format!("{place}/theirs")), b"theirs");
        // When the tmpfs is gone, the next signal ends the service as usual.
        host(bench, &format!("umount {place}"));
        assert_eq!(bench.read("mnt/file"), b"content");
        service.signal();
        service.end(0);
        assert_eq!(fs::read_dir(bench.path("mnt")).unwrap().count(), 0);
        assert_eq!(bench.ok("cat i.img file"), "content");
    });
}

#[test]
fn a_mount_over_ours_stays() {
    in_the_way("a_mount_over_ours_stays", "mnt", "another mount (tmpfs) lies on it, at ");
}

#[test]
fn a_mount_inside_ours_stays() {
    in_the_way("a_mount_inside_ours_stays", "mnt/inside", "another mount (tmpfs) lies on it, at ");
}

#[test]
fn a_mount_over_the_way_to_ours_stays() {
    in_namespace("a_mount_over_the_way_to_ours_stays", |bench| {
        fs::create_dir_all(bench.path("way/mnt")).unwrap();
        fs::remove_dir(bench.path("mnt")).unwrap();
        std::os::unix::fs::symlink("way/mnt", bench.path("mnt")).unwrap();
        let mut service = Service::new(bench, "mount i.img mnt");
        host(bench, "mount -t tmpfs t way");
        bench.write("way/mnt/theirs", b"theirs");
        let told = service.complaint();
        assert!(told.contains("/way/mnt leads to another mount now"), "{told}");
        assert_eq!(bench.read("way/mnt/theirs"), b"theirs");
        host(bench, "umount way");
        service.signal();
        service.end(0);
    });
}

#[test]
fn a_second_signal_leaves_a_mount_that_another_one_lies_on() {
    in_namespace("a_second_signal_leaves_a_mount_that_another_one_lies_on", |bench| {
        let mut service = Service::new(bench, "mount i.img mnt");
        host(bench, "mount -t tmpfs t mnt");
        bench.write("mnt/theirs", b"theirs");
        service.complaint();
        service.signal();
        let told = service.end(1);
        assert!(
            told.contains("mnt: the mount is still there: another mount (tmpfs) lies on it"),
            "{told}"
        );
        assert_eq!(bench.read("mnt/theirs"), b"theirs");
        assert_eq!(bench.ok("cat i.img file"), "content", "what was written is kept");
        host(bench, "umount mnt");
        host(bench, "umount mnt");
    });
}

#[test]
fn what_is_mounted_where_ours_was_stays() {
    in_namespace("what_is_mounted_where_ours_was_stays", |bench| {
        for is_signalled in [false, true] {
            let service = Service::new(bench, "mount i.img mnt");
            // The volume is served until the file is closed.
            let open = File::open(bench.path("mnt/file")).unwrap();
            host(bench, "umount -l mnt");
            host(bench, "mount -t tmpfs t mnt");
            bench.write("mnt/theirs", b"theirs");
            if is_signalled {
                service.signal();
                sleep(Duration::from_millis(100));
            }
            assert_eq!(std::io::read_to_string(&open).unwrap(), "content");
            drop(open);
            service.end(0);
            assert_eq!(bench.read("mnt/theirs"), b"theirs");
            host(bench, "umount mnt");
        }
    });
}

#[test]
fn ours_is_unmounted_where_somebody_moved_it() {
    in_namespace("ours_is_unmounted_where_somebody_moved_it", |bench| {
        let service = Service::new(bench, "mount i.img mnt");
        fs::create_dir(bench.path("moved")).unwrap();
        host(bench, "mount --move mnt moved");
        host(bench, "mount -t tmpfs t mnt");
        assert_eq!(bench.read("moved/file"), b"content");
        service.signal();
        service.end(0);
        assert_eq!(fs::read_dir(bench.path("moved")).unwrap().count(), 0);
        host(bench, "umount mnt");
    });
}
