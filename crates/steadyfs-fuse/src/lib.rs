//! Mounts a SteadyFS volume as a Linux file system, through FUSE. Also mounts a
//! [disk](steadyfs::disk::Disk) as the only file of a directory, and a tree of files from another
//! format for reading.
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
//! Only the thread that calls [`mount()`] uses the volume. So the volume needs no lock and may
//! borrow its memory. The timer of [timed commits](steadyfs::CommitOn::TIMED) is the time-out with
//! which this thread waits for the next request.
//!
//! # Mount points
//! A volume is mounted on an empty directory. With [`Options::nonempty`], it is mounted on any
//! directory except `/` and directories with other mounts below them ([`Refusal`]). The crate
//! unmounts only the mount that it made, even if another process moved this mount. It does not
//! unmount while another mount lies on this mount.
//!
//! # When are changes durable?
//! [`Options::commit_on`] decides. By default `fsync`, `fdatasync` and unmounting commit, and a
//! change waits at most [`Options::commit_interval`]. If
//! [`CommitOn::MANY`](steadyfs::CommitOn::MANY) is set, at most [`Options::commit_limits`] changes
//! wait.
//!
//! If each write commits ([`CommitOn::WRITE`](steadyfs::CommitOn::WRITE)), each write request of
//! the kernel commits once. A request has at most 1 MiB. If the volume has space for both the old
//! and the new data, a power cut leaves all or nothing of a request.
//!
//! A commit includes all earlier changes, in their order. After a power cut the whole volume has
//! its state of one moment. Linux does not pass `sync` and `syncfs` to a FUSE file system. So only
//! [`Options::commit_interval`] limits how long changes wait after `sync`.
//!
//! If a call fails because the volume is full or the medium fails, only this call is undone. The
//! changes of other calls still wait for the commit. A commit that fails is repeated, at the latest
//! by the next `fsync`. If the repeated commit fails too, this `fsync` returns an error.
//!
//! If the medium fails in the last program of a commit, the result of the commit is unknown. Then
//! the volume refuses all changes until it is mounted anew. The call in progress returns `EIO`.
//! After that, every change returns `EROFS`. Every `fsync` also returns `EROFS` while changes wait
//! for a commit.
//!
//! # Compression
//! New files are compressed if the attribute `user.steadyfs.compress` of their directory requires
//! it. For a directory without this attribute, [`Options::compress`] decides. When a file outgrows
//! a logical page, its first chunk is compressed as a test. Compression begins if this saves pages.
//! Programs read compressed files as any other file. Compressed chunks end within logical pages, so
//! consecutive chunks program the same page again. A [write-back
//! cache](steadyfs::FileSystem::lend_cache) of a few pages, lent before the mount, saves a fifth of
//! these programs.
//!
//! # Data at rest
//! If the chip reports corrected bits, idle time is also used to read all data, a few pages at a
//! time. One round through all data takes about a month. If the ECC had to correct three quarters
//! of its maximum in a page, the page's block is moved. A new round begins with each mount. Volumes
//! that are never mounted for a whole month need [`scrub`](steadyfs::FileSystem::scrub)
//! (`steady scrub`) now and then.
//!
//! # Not supported
//! - **Owners and permissions** on a volume that does not [keep
//!   them](steadyfs::Config::permissions). Everything belongs to the user who mounts. Files have
//!   the mode `0644`, directories have `0755`. `chmod` and `chown` to other values return `EPERM`,
//!   or are [ignored](Options::quiet_permissions).
//! - **Hard links and special files.** `link` returns `EPERM`. `mknod` returns `EPERM` for
//!   everything except a file.
//! - **Times** other than the time of modification. The times of access and change are not stored.
//!   They read as the time of modification.
//! - **Names** that are not UTF-8 (`EILSEQ`). A damaged volume may contain names with `/` or NUL,
//!   and the names `.` and `..`. Such names are not listed.
//! - **Attributes** outside `user.`, and more than 248 bytes of attributes on one file (`ENOSPC`).
//!   `user.x` is the attribute `x` of the volume.
//! - **New holes** in written data. `fallocate` only reserves space. Requests to punch or collapse
//!   return `EOPNOTSUPP`. Existing holes are reported (`st_blocks`, `SEEK_HOLE`, `SEEK_DATA`).
//!
//! Shared and private `mmap` and locks work as on other file systems, for programs such as
//! databases. But the process that serves the volume must not map files of this volume. While the
//! kernel writes mapped pages back, it locks the address space of the process and waits for the
//! server. The server may need the same lock, and would then wait for ever.
//!
//! SQLite keeps its acknowledged transactions in the modes WAL, TRUNCATE and PERSIST with
//! `synchronous=FULL`, and in DELETE with `synchronous=EXTRA`. `EXTRA` makes the removal of a
//! journal durable on any file system. [`CommitOn::REMOVE`](steadyfs::CommitOn::REMOVE) has the
//! same effect.
//!
//! On a volume with several [streams](steadyfs::Config::streams), a new file gets its stream from
//! its name, by the rules for [SQLite](steadyfs::streams::sqlite_stream). So WAL files and journals
//! are stored apart from databases. A rename does not change the stream of a file. Existing files
//! keep their streams.
//!
//! # Disks
//! [`mount_disk()`] shows a [disk](steadyfs::disk::Disk) as one file, `disk`, which has the size of
//! the disk. `mke2fs`, `mkfs.f2fs`, `mkfs.vfat` and their checkers work on this file, and
//! `mount -o loop` attaches it.
//!
//! - `fsync` and `fdatasync` [flush](steadyfs::disk::Disk::flush) the disk. If such a call returns
//!   0, the data is on the medium. The disk is also flushed at the end of each
//!   [`Options::commit_interval`].
//! - Writes may begin and end at any byte. If a write changes a part of a sector of 512 bytes, the
//!   sector is read first.
//! - `fallocate` that punches holes or zeros a range [trims](steadyfs::disk::Disk::trim) the
//!   whole logical pages in it.
//! - The size is fixed. Setting another size returns `EFBIG` or `EPERM`, and a write at the end
//!   returns `ENOSPC`. Opening with `O_TRUNC` does not truncate the file, as on a device.
//! - No other file can be created in the directory (`EPERM`).
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
