//! The directories on which a volume may be mounted.
//!
//! A mount hides the files of its directory. If the mount is detached, mounts below it are detached
//! too. So a volume is mounted only on a directory that nothing else depends on.

use super::table::{self, Entry};
use rustix::io::Errno;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reason why a volume is not mounted on a path. Nothing was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The path cannot be accessed, or does not exist.
    Unreachable(io::Error),
    /// A mount lies on the path, and the process that served it has ended.
    Dead,
    /// The path is not a directory.
    NotADirectory,
    /// The path is the root directory: all other mounts lie below it.
    Root,
    /// Other mounts lie below the directory.
    MountsBelow {
        /// The first of these mounts.
        first: PathBuf,
        /// Number of these mounts.
        count: usize,
    },
    /// The directory contains files, which the mount would hide, and
    /// [`nonempty`](crate::Options::nonempty) is not set.
    NotEmpty,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unreachable(error) => {
                write!(f, "cannot be examined: {error}; expected a directory to mount on")
            }
            Refusal::Dead => {
                f.write_str("a dead mount lies on it; expected `umount` of it before another mount")
            }
            Refusal::NotADirectory => f.write_str("is no directory; expected one to mount on"),
            Refusal::Root => f.write_str(
                "is the root directory, and everything lies below it; expected another directory",
            ),
            Refusal::MountsBelow { first, count: 1 } => {
                write!(
                    f,
                    "another mount lies below it, {}; expected a directory without any",
                    first.display()
                )
            }
            Refusal::MountsBelow { first, count } => {
                write!(
                    f,
                    "{count} other mounts lie below it, the first {}; expected a directory without \
                     any",
                    first.display()
                )
            }
            Refusal::NotEmpty => f.write_str(
                "is not empty, and its files would be hidden; expected an empty directory",
            ),
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    fn of(error: io::Error) -> Refusal {
        match error.raw_os_error() {
            Some(code) if code == Errno::NOTCONN.raw_os_error() => Refusal::Dead,
            _ => Refusal::Unreachable(error),
        }
    }
}

/// Checks that a volume may be mounted on a path, and returns the path with links resolved.
/// [`mount`](crate::mount()) and [`spawn`](crate::spawn) make this check themselves. A caller may
/// also make it before it opens the medium, so that a refused path leaves the medium untouched.
///
/// # Errors
/// [`Refusal`] describes the fault of the path.
pub fn check_mountpoint(path: &Path, nonempty: bool) -> Result<PathBuf, Refusal> {
    let path = path.canonicalize().map_err(Refusal::of)?;
    if !path.metadata().map_err(Refusal::of)?.is_dir() {
        return Err(Refusal::NotADirectory);
    }
    check_mounts(&path, &table::read().map_err(Refusal::Unreachable)?)?;
    if !nonempty && fs::read_dir(&path).map_err(Refusal::Unreachable)?.next().is_some() {
        return Err(Refusal::NotEmpty);
    }
    Ok(path)
}

/// Refuses the root directory, and directories with other mounts below. A mount on the path itself
/// is accepted. The new mount covers it.
fn check_mounts(path: &Path, table: &[Entry]) -> Result<(), Refusal> {
    if path == Path::new("/") {
        return Err(Refusal::Root);
    }
    let mut below =
        table.iter().filter(|entry| entry.point != path && entry.point.starts_with(path));
    match below.next() {
        None => Ok(()),
        Some(first) => {
            Err(Refusal::MountsBelow { first: first.point.clone(), count: 1 + below.count() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"43 42 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                           45 43 0:21 / /proc rw - proc proc rw\n\
                           58 43 0:6 / /dev rw - devtmpfs devtmpfs rw\n\
                           59 58 0:23 / /dev/shm rw - tmpfs tmpfs rw\n\
                           61 58 0:24 / /dev/pts rw - devpts devpts rw\n\
                           63 43 0:39 / /media/a\\040card/data rw - tmpfs t rw\n";

    fn check(path: &str) -> String {
        match check_mounts(path.as_ref(), &table::parse(TABLE).unwrap()) {
            Ok(()) => "allowed".into(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn the_root_directory_is_refused() {
        assert_eq!(
            check("/"),
            "is the root directory, and everything lies below it; expected another directory"
        );
    }

    #[test]
    fn directories_with_mounts_below_are_refused_and_the_mounts_named() {
        assert_eq!(
            check("/dev"),
            "2 other mounts lie below it, the first /dev/shm; expected a directory without any"
        );
        let below =
            "another mount lies below it, /media/a card/data; expected a directory without any";
        assert_eq!(check("/media"), below);
        assert_eq!(check("/media/a card"), below);
    }

    #[test]
    fn directories_beside_below_and_on_other_mounts_are_allowed() {
        for path in [
            "/dev/sh",
            "/dev/shm",
            "/dev/shm/x",
            "/media/a",
            "/media/a card/data",
            "/media/a card/database",
            "/home",
        ] {
            assert_eq!(check(path), "allowed", "{path}");
        }
    }

    #[test]
    fn what_is_no_empty_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        assert!(matches!(check_mountpoint(&file, true), Err(Refusal::Unreachable(_))));
        assert_eq!(
            check_mountpoint(directory.path(), false).unwrap(),
            directory.path().canonicalize().unwrap()
        );
        fs::write(&file, b"").unwrap();
        assert!(matches!(check_mountpoint(&file, true), Err(Refusal::NotADirectory)));
        assert!(matches!(check_mountpoint(directory.path(), false), Err(Refusal::NotEmpty)));
        check_mountpoint(directory.path(), true).unwrap();
        std::os::unix::fs::symlink("/", &link).unwrap();
        assert!(matches!(check_mountpoint(&link, true), Err(Refusal::Root)));
    }
}
