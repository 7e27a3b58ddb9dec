//! The file systems: their commands to make, mount through a loop device, repair and check.

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A file system of Linux.
pub struct Kind {
    /// Name in mount(8).
    pub name: &'static str,
    /// Number of blocks of 128 KiB of its chip.
    pub blocks: u32,
    make: &'static [&'static str],
    repair: &'static [&'static str],
    check: &'static [&'static str],
}

pub const KINDS: [Kind; 3] = [
    Kind {
        name: "ext4",
        blocks: 512,
        // Everything at once, so that no thread of the kernel goes on with it later.
        make: &[
            "mke2fs",
            "-q",
            "-F",
            "-t",
            "ext4",
            "-E",
            "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
        ],
        repair: &["e2fsck", "-fy"],
        check: &["e2fsck", "-fn"],
    },
    // F2FS keeps more than half of a small disk for itself.
    Kind {
        name: "f2fs",
        blocks: 1024,
        make: &["mkfs.f2fs", "-q", "-f"],
        repair: &["fsck.f2fs", "-f"],
        check: &["fsck.f2fs", "--dry-run"],
    },
    Kind {
        name: "vfat",
        blocks: 512,
        make: &["mkfs.vfat"],
        repair: &["fsck.vfat", "-a"],
        check: &["fsck.vfat", "-n"],
    },
];

/// A mounted file system. Dropping this unmounts it.
pub struct Attached(TempDir);

impl Attached {
    /// Returns the directory on which it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// Runs a tool on a disk. Returns its exit code and its output.
fn run(line: &[&str], disk: &Path) -> (Option<i32>, String) {
    let output = Command::new(line[0])
        .args(&line[1..])
        .arg(disk)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", line[0]));
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
    )
}

impl Kind {
    /// Checks that this machine has the tools and the kernel for it.
    pub fn is_possible(&self) -> Result<(), String> {
        let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        if !known.lines().any(|line| line.trim() == self.name) {
            return Err(format!("the kernel has no {}", self.name));
        }
        for line in [self.make, self.repair] {
            Command::new(line[0])
                .arg("-V")
                .output()
                .map_err(|error| format!("{}: {error}", line[0]))?;
        }
        if fs::metadata("/dev/loop-control").is_err() {
            Err("there are no loop devices".into())
        } else {
            Ok(())
        }
    }

    /// Makes an empty file system.
    pub fn make(&self, disk: &Path) {
        let (code, said) = run(self.make, disk);
        assert_eq!(code, Some(0), "{}: {said}", self.make[0]);
    }

    /// Repairs the remains of a cut. The tool may also find nothing to repair.
    pub fn repair(&self, disk: &Path) {
        let (code, said) = run(self.repair, disk);
        assert!(matches!(code, Some(0 | 1)), "{} says {code:?}: {said}", self.repair[0]);
    }

    /// Checks that there is nothing to repair.
    pub fn check(&self, disk: &Path) {
        let (code, said) = run(self.check, disk);
        assert_eq!(code, Some(0), "{}: {said}", self.check[0]);
    }

    pub fn mount(&self, disk: &Path) -> Attached {
        self.try_mount(disk).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Mounts the file system. The error is the output of mount(8).
    pub fn try_mount(&self, disk: &Path) -> Result<Attached, String> {
        let directory = tempfile::Builder::new().prefix("steadyfs-on-disk-").tempdir().unwrap();
        let output = Command::new("mount")
            .args(["-t", self.name, "-o", "loop"])
            .args([disk, directory.path()])
            .output()
            .unwrap();
        if output.status.success() {
            Ok(Attached(directory))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}
