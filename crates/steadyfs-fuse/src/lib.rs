//! A SteadyFS volume as a Linux file system, through FUSE. Also a [disk](steadyfs::disk::Disk) as
//! the only file of a directory, and a tree of files from another format, for reading.
//!
//! ```text
//!   kernel ── requests ──► Bridge ── jobs ──► Volume ── calls ──► steadyfs::FileSystem
//!                        session's thread    caller's thread
//! ```
//!
//! | file | idea |
//! |---|---|
//! | `mount` | mount points, the mount and its end, the loop that serves the kernel, signals |
//! | `bridge` | requests of the kernel as jobs for the volume's thread |
//! | `reply` | answers |
//! | `volume` | the effect of each request on the volume |
//! | `disk` | the effect of each request on a disk |
//! | `tree` | answers from a tree in memory |
//! | `upkeep` | work without a request: timed commits, idle work |
//! | `options` | the options of a mount |
//! | `opened` | the opened files, in the order of their first opening |
//! | `errno` | errors of the volume as error numbers |
//!
//! The volume stays in the thread that calls [`mount()`]. So it needs no lock and may borrow its
//! memory. The timer of [timed commits](steadyfs::CommitOn::TIMED) is the time-out of its queue.
//!
//! # Mount points
//! A volume is mounted on an empty directory. If [asked for](Options::nonempty), it is mounted on
//! any directory that is not `/` and has no other mounts below it ([`Refusal`]). The crate only
//! ever unmounts the mount that it made, even if that mount was moved, and not while another
//! mount lies on it.
//!
//! # When are changes durable?
//! [`Options::commit_on`] decides. By default `fsync`, `fdatasync` and unmounting commit, and no
//! change waits longer than [`Options::commit_interval`]. With
//! [`CommitOn::MANY`](steadyfs::CommitOn::MANY) no more changes wait than
//! [`Options::commit_limits`] allows.
//!
//! If each write commits, each request of the kernel commits once. A request has at most 1 MiB. A
//! power cut leaves all of it or nothing, if the volume has room for both the old and the new
//! data.
//!
//! A commit includes all changes before it, in their order. After a power cut the whole volume is
//! as it was at one moment. `sync` and `syncfs` do not reach a FUSE file system. The interval
//! limits the time for which such changes wait.
//!
//! A call that fails for want of room, or because the medium fails, undoes only itself. The
//! changes of other calls wait for the commit as before. A commit that fails is made again, with
//! the next `fsync` at the latest. If it fails too, the `fsync` returns an error.
//!
//! If the medium fails in the last program of a commit, the result of the commit is unknown. Then
//! the volume refuses all changes until it is mounted anew. The call in progress returns `EIO`.
//! After that, every change returns `EROFS`, and so does every `fsync` while something waits.
//!
//! # Compression
//! New files are compressed if the attribute `user.steadyfs.compress` of their directory, or
//! [`Options::compress`] for a directory without the attribute, requires it. Compression begins
//! once a file outgrows a logical page, if a look at its first chunk favours it. Such files are
//! read as any other. Chunks end within pages: a [write-back
//! cache](steadyfs::FileSystem::lend_cache) of a few pages, lent before the mount, saves a fifth
//! of the programs.
//!
//! # Data at rest
//! If the chip reports corrected bits, idle time is also used to read all data, a few pages at a
//! time. One round through everything takes about a month. A block moves if a page of it needed
//! three quarters of the bits that the ECC can correct. A round begins with each mount. Volumes
//! that are never mounted for a month need [`scrub`](steadyfs::FileSystem::scrub)
//! (`steady scrub`) now and then.
//!
//! # Not supported
//! - **Owners and permissions** on a volume that does not [keep
//!   them](steadyfs::Config::permissions). Files belong to the user who mounts, as `0644`,
//!   directories as `0755`. `chmod` and `chown` to anything else return `EPERM`, or are
//!   [ignored](Options::quiet_permissions).
//! - **Hard links and special files.** `link`, and `mknod` of anything but a file, return
//!   `EPERM`.
//! - **Times** other than the time of modification. The times of access and change read as the
//!   time of modification and are not kept.
//! - **Names** that are not UTF-8 (`EILSEQ`). Names with `/` or NUL, `.` and `..`, which only a
//!   damaged volume has, are not listed.
//! - **Attributes** outside `user.`, and more than 248 bytes of them on one file (`ENOSPC`).
//!   `user.x` is the attribute `x` of the volume.
//! - **New holes** in written data. `fallocate` only reserves room; punching and collapsing
//!   return `EOPNOTSUPP`. Existing holes are reported (`st_blocks`, `SEEK_HOLE`, `SEEK_DATA`).
//!
//! `mmap`, shared and private, and locks work as on other file systems, for programs such as
//! databases. Only the process that serves the volume must not map files of it. The kernel writes
//! mapped pages back while it holds the address space, and waits for a server that may need it.
//!
//! SQLite keeps its acknowledged transactions in the modes WAL, TRUNCATE and PERSIST with
//! `synchronous=FULL`, and in DELETE with `synchronous=EXTRA`. EXTRA makes the removal of a
//! journal durable on any file system; [`CommitOn::REMOVE`](steadyfs::CommitOn::REMOVE) does it
//! as well.
//!
//! On a volume with several [streams](steadyfs::Config::streams), a new file gets its stream from
//! its name, by the rules for [SQLite](steadyfs::streams::sqlite_stream): WAL and journals lie
//! apart from databases. The file keeps its stream through renames. Existing files keep their
//! streams.
//!
//! # Disks
//! [`mount_disk()`] shows a [disk](steadyfs::disk::Disk) as one file, `disk`, of the size of the
//! disk. `mke2fs`, `mkfs.f2fs`, `mkfs.vfat` and their checkers work on it, and `mount -o loop`
//! attaches it.
//!
//! - `fsync` and `fdatasync` [flush](steadyfs::disk::Disk::flush) it, and so does the interval.
//!   If such a call returns 0, the data is on the medium.
//! - Bytes go to any place. Sectors of 512 bytes that are changed in part are read first.
//! - `fallocate` that punches holes or zeros a range [trims](steadyfs::disk::Disk::trim) the
//!   whole logical pages in it.
//! - The size is fixed. Setting another size returns `EFBIG` or `EPERM`, and a write at the end
//!   returns `ENOSPC`. Opening with `O_TRUNC` truncates nothing, as on a device.
//! - Nothing else can be made in the directory (`EPERM`).
//!
//! # Example
//! ```no_run
//! # use steadyfs::{Access, Config, FileSystem, media::Flash};
//! # fn run(flash: impl Flash + 'static) -> Result<(), Box<dyn std::error::Error>> {
//! let geometry = flash.geometry();
//! // Room for 1,024 files that are open at once.
//! let mut memory = vec![0; Config::for_geometry(&geometry).memory_bytes(&geometry) + 12 * 1024];
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//!
//! // Returns when it is unmounted, or at Ctrl-C.
//! steadyfs_fuse::mount(&mut fs, "/mnt/flash".as_ref(), &steadyfs_fuse::Options::default())?;
//! let flash = fs.unmount()?;
//! # Ok(())
//! # }
//! ```

#![cfg(target_os = "linux")]

mod bridge;
mod disk;
mod errno;
mod mount;
mod opened;
mod options;
mod reply;
mod tree;
mod upkeep;
mod volume;

pub use mount::{
    Background, Failure, Refusal, check_mountpoint, mount, mount_disk, mount_tree, spawn,
    spawn_disk,
};
pub use opened::Opened;
pub use options::Options;
