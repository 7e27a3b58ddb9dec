//! A SteadyFS volume as a Linux file system, through FUSE; a [disk](steadyfs::disk::Disk) as the one file of a directory; a tree of files that another
//! format holds, to read.
//!
//! ```text
//!   kernel ── requests ──► Bridge ── jobs ──► Volume ── calls ──► steadyfs::FileSystem
//!                        session's thread    caller's thread
//! ```
//!
//! | file | idea |
//! |---|---|
//! | `mount` | where a volume may be mounted, the mount and its end, the loop that serves the kernel, signals |
//! | `bridge` | requests of the kernel as jobs for the volume's thread |
//! | `reply` | answers |
//! | `volume` | what each request does to the volume |
//! | `disk` | the same of a disk |
//! | `tree` | what is told of a tree in memory |
//! | `upkeep` | what happens without a request: timed commits, idle work |
//! | `options` | how a volume is mounted |
//! | `opened` | which files are opened, and in which order |
//! | `errno` | errors of the volume as error numbers |
//!
//! The volume stays in the thread that calls [`mount()`]: it needs no lock, may borrow its memory, and the timer of
//! [timed commits](steadyfs::CommitOn::TIMED) is the time-out of its queue.
//!
//! # Where
//! On a directory that is empty, or if [asked for](Options::nonempty) on any that is not `/` and has no other mounts below it
//! ([`Refusal`]). Only the mount that was made is ever unmounted, wherever it is by then, and not while another mount lies on it.
//!
//! # When are changes durable?
//! Where [`Options::commit_on`] says. By default `fsync`, `fdatasync` and unmounting commit, and nothing waits longer than
//! [`Options::commit_interval`]; with [`CommitOn::MANY`](steadyfs::CommitOn::MANY) no more than [`Options::commit_limits`] either. Where each write commits, a request
//! of the kernel does so once: of its 1 MiB at most a power cut leaves all or nothing, where the volume has room for both. A commit takes everything with it, in the order in which it was done: what is seen after a power cut is
//! the whole volume as it was at one moment. `sync` and `syncfs` do not reach a FUSE file system; the interval bounds what they
//! leave.
//!
//! A call that fails undoes itself alone, for want of room or because the medium fails; what others did waits for the commit as before. A
//! commit that fails is made again, with the next `fsync` at the latest, which says so if it fails too. Only where nobody knows
//! whether a commit is there, because the medium failed in its last program, the volume refuses all changes until it is mounted
//! anew: who was in the call is told `EIO`, and then every change, and every `fsync` while something waits, says `EROFS`.
//!
//! # Compression
//! What is created in a directory that says so (`user.steadyfs.compress`, or [`Options::compress`] where it says nothing) is compressed once it outgrows a logical page, by a look at
//! its first chunk, and read as any other. Chunks end within pages: [write-back cache](steadyfs::FileSystem::lend_cache) of a few pages, lent before the mount, saves a fifth of the programs.
//!
//! # Data at rest
//! Where the chip tells what it corrects, idle time is also used to read what is on it, a few pages at a time, so that a round through
//! everything takes about a month; blocks with pages that needed three quarters of what the ECC corrects move. A round begins with each
//! mount: volumes that are never mounted for a month need [`scrub`](steadyfs::FileSystem::scrub) (`steady scrub`) now and then.
//!
//! # What is left out
//! - **Owners and permissions** on a volume that does not [keep them](steadyfs::Config::permissions): files belong to the user who mounts, as
//!   `0644`, directories as `0755`; `chmod` and `chown` to anything else say `EPERM`, or are [ignored](Options::quiet_permissions).
//! - **Hard links and special files.** `link`, and `mknod` of anything but a file, say `EPERM`.
//! - **Times** other than that of modification: those of access and change are answered with it and not kept.
//! - **Names** that are not UTF-8 (`EILSEQ`). Names with `/` or NUL, `.` and `..`, which only a
//!   damaged volume has, are not listed.
//! - **Attributes** outside `user.`, and more than 248 bytes of them on one file (`ENOSPC`). `user.x` is the attribute `x` of the
//!   volume.
//! - **Holes** are told (`st_blocks`, `SEEK_HOLE`, `SEEK_DATA`) and not made in what was written: `fallocate` keeps room and does
//!   nothing else; punching and collapsing say `EOPNOTSUPP`.
//!
//! `mmap`, shared and private, and locks work as on other file systems, for programs such as databases. Only the process that serves the
//! volume must not map files of it: the kernel writes mapped pages back while it holds the address space, and waits for a server
//! that may need it.
//!
//! SQLite keeps its acknowledged transactions in the modes WAL, TRUNCATE and PERSIST with `synchronous=FULL`, and in DELETE with
//! `synchronous=EXTRA`, which is what makes the removal of a journal durable on any file system ([`CommitOn::REMOVE`](steadyfs::CommitOn::REMOVE)
//! does it as well).
//!
//! On a volume with several [streams](steadyfs::Config::streams) a file that is created has the stream that its name tells for [SQLite](steadyfs::streams::sqlite_stream): WAL
//! and journals lie apart from databases. It keeps that through renames, and files that were there keep theirs.
//!
//! # Disks
//! [`mount_disk()`] shows a [disk](steadyfs::disk::Disk) as one file, `disk`, of the size of the disk: `mke2fs`, `mkfs.f2fs`, `mkfs.vfat` and their
//! checkers work on it, and `mount -o loop` attaches it. `fsync` and `fdatasync` of it [flush](steadyfs::disk::Disk::flush), and so does the interval;
//! one that says 0 is on the medium. Bytes go to any place; sectors of 512 bytes that are changed in part are read first. `fallocate` that punches holes or zeros
//! a range [trims](steadyfs::disk::Disk::trim) the whole logical pages in it. The size is fixed: to set another one says `EFBIG` or `EPERM`, a write at the end
//! `ENOSPC`, and opening with `O_TRUNC` cuts nothing, as on a device. Nothing else can be made in the directory (`EPERM`).
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

pub use mount::{Background, Failure, Refusal, check_mountpoint, mount, mount_disk, mount_tree, spawn, spawn_disk};
pub use opened::Opened;
pub use options::Options;
