//! Requests of the kernel as jobs for the volume's thread, and answers.
//!
//! A job answers its request itself, so the session's thread can accept the next request at once.
//! Jobs are done in the order in which they arrived. If the volume's thread has ended, the job and
//! its reply are dropped, and the request returns `EIO`.

use crate::mount::Message;
use crate::reply::{TTL, attr, empty, entry};
use crate::volume::{Change, Creator, Listed, Set, Volume};
use fuser::{
    AccessFlags, Errno, FileHandle, Filesystem, FopenFlags, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::FileType;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::SystemTime;
use steadyfs::SeekTo;
use steadyfs::media::Flash;

/// Work for the volume's thread.
pub(crate) type Job<F> = Box<dyn for<'v, 'm> FnOnce(&mut Volume<'v, 'm, F>) + Send>;

/// Largest number of bytes of one write. This is the kernel's own limit.
pub(crate) const WRITE_BYTES_MAX: u32 = 1 << 20;

/// Abilities that this crate uses if the kernel supports them:
///
/// - an open request that also truncates;
/// - a listing that includes the attributes of the files;
/// - parallel operations in a directory;
/// - a cache of the targets of symbolic links;
/// - removal of the set-user-ID and set-group-ID bits by the volume at a write, which saves a
///   request for each write.
const ABILITIES: [InitFlags; 6] = [
    InitFlags::FUSE_ATOMIC_O_TRUNC,
    InitFlags::FUSE_DO_READDIRPLUS,
    InitFlags::FUSE_READDIRPLUS_AUTO,
    InitFlags::FUSE_PARALLEL_DIROPS,
    InitFlags::FUSE_CACHE_SYMLINKS,
    InitFlags::FUSE_HANDLE_KILLPRIV_V2,
];

/// Values of the parameter `whence` with which `lseek` finds data and holes (lseek(2)).
const SEEK_DATA: i32 = 3;
const SEEK_HOLE: i32 = 4;

/// The side of a volume that receives the kernel's requests.
pub(crate) struct Bridge<F> {
    volume: Sender<Message<Job<F>>>,
}

impl<F: Flash + 'static> Bridge<F> {
    pub fn new(volume: Sender<Message<Job<F>>>) -> Self {
        Self { volume }
    }

    fn post(&self, job: impl for<'v, 'm> FnOnce(&mut Volume<'v, 'm, F>) + Send + 'static) {
        // If the thread has ended, the job is dropped and its reply returns EIO.
        let _ = self.volume.send(Message::Job(Box::new(job)));
    }
}

/// Converts a name into the text form of the volume.
fn text(name: &OsStr) -> Result<String, Errno> {
    name.to_str().map(str::to_owned).ok_or(Errno::EILSEQ)
}

/// Returns the creator of a file or directory. The kernel has already applied the umask to
/// `mode`.
fn creator(request: &Request, mode: u32) -> Creator {
    Creator { mode, uid: request.uid(), gid: request.gid() }
}

/// Answers with a value, or with its length if the caller passed a buffer size of 0.
fn value(reply: ReplyXattr, room: u32, result: Result<Vec<u8>, Errno>) {
    match result {
        Ok(value) if room == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() > room as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(error),
    }
}

impl<F: Flash + 'static> Filesystem for Bridge<F> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(WRITE_BYTES_MAX);
        for ability in ABILITIES {
            // If the kernel lacks an ability, it only makes more requests.
            let _ = config.add_capabilities(ability);
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match text(name) {
            Ok(name) => self.post(move |volume| entry(reply, volume.lookup(parent, &name))),
            // Such a name cannot exist on the volume. A call that creates such a name returns the
            // reason.
            Err(_) => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.post(move |volume| attr(reply, volume.stat(number)));
    }

    fn setattr(
        &self,
        request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let permissions = Change { mode, uid, gid };
        let set = Set { permissions, ends_privileges: request.uid() != 0, size, modified, handle };
        self.post(move |volume| attr(reply, volume.set(number, set)));
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let creator = creator(request, mode);
        if FileType::from_raw_mode(mode) != FileType::RegularFile {
            return reply.error(Errno::EPERM);
        }
        match text(name) {
            Ok(name) => {
                self.post(move |volume| entry(reply, volume.make_file(parent, &name, creator)))
            }
            Err(error) => reply.error(error),
        }
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let creator = creator(request, mode);
        match text(name) {
            Ok(name) => {
                self.post(move |volume| entry(reply, volume.make_directory(parent, &name, creator)))
            }
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match text(name) {
            Ok(name) => self.post(move |volume| empty(reply, volume.remove_file(parent, &name))),
            Err(error) => reply.error(error),
        }
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match text(name) {
            Ok(name) => {
                self.post(move |volume| empty(reply, volume.remove_directory(parent, &name)))
            }
            Err(error) => reply.error(error),
        }
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let creator = creator(request, 0o777);
        match text(name).and_then(|name| Ok((name, text(target.as_os_str())?))) {
            Ok((name, target)) => self.post(move |volume| {
                entry(reply, volume.make_link(parent, &name, &target, creator))
            }),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        self.post(move |volume| match volume.read_link(number) {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(error),
        });
    }

    fn link(&self, _: &Request, _: INodeNo, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        match text(name).and_then(|name| Ok((name, text(new_name)?))) {
            Ok((from, to)) => self.post(move |volume| {
                empty(reply, volume.rename((parent, &from), (new_parent, &to), flags))
            }),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let creator = creator(request, mode);
        match text(name) {
            Ok(name) => {
                self.post(move |volume| match volume.create(parent, &name, flags, creator) {
                    Ok((node, handle)) => reply.created(
                        &TTL,
                        &node.attr,
                        node.generation,
                        handle,
                        FopenFlags::empty(),
                    ),
                    Err(error) => reply.error(error),
                })
            }
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.post(move |volume| match volume.open(number, flags.0) {
            Ok(handle) => reply.opened(handle, FopenFlags::empty()),
            Err(error) => reply.error(error),
        });
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.post(move |volume| match volume.read(handle, offset, size) {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        flags: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (data, whole) = (data.to_vec(), flags.contains(WriteFlags::FUSE_WRITE_CACHE));
        let ends_privileges = flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID);
        self.post(move |volume| {
            let ended = if ends_privileges { volume.end_privileges_of(handle) } else { Ok(()) };
            match ended.and_then(|()| volume.write(handle, offset, &data, whole)) {
                Ok(written) => reply.written(written),
                Err(error) => reply.error(error),
            }
        });
    }

    fn flush(&self, _: &Request, _: INodeNo, handle: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.post(move |volume| empty(reply, volume.close_descriptor(handle)));
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.post(move |volume| empty(reply, volume.release(handle)));
    }

    fn fsync(&self, _: &Request, _: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        self.post(move |volume| empty(reply, volume.sync(handle)));
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.post(move |volume| empty(reply, volume.sync_all()));
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.post(move |volume| {
            let add =
                |entry: &Listed<'_>| reply.add(entry.number, entry.next, entry.kind, entry.name);
            match volume.list(number, offset, false, add) {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(error),
            }
        });
    }

    fn readdirplus(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        self.post(move |volume| {
            let add = |entry: &Listed<'_>| {
                let Some(node) = entry.node else { return true };
                reply.add(entry.number, entry.next, entry.name, &TTL, &node.attr, node.generation)
            };
            match volume.list(number, offset, true, add) {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(error),
            }
        });
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.post(move |volume| {
            let space = volume.space();
            reply.statfs(
                space.blocks,
                space.blocks_free,
                space.blocks_available,
                space.files,
                space.files_free,
                space.block_bytes,
                space.name_bytes_max,
                space.block_bytes,
            );
        });
    }

    fn access(&self, _: &Request, number: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // The kernel checks permissions itself. So only the existence of the file must be checked
        // here.
        self.post(move |volume| empty(reply, volume.stat(number).map(|_| ())));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.post(move |volume| empty(reply, volume.allocate(handle, offset, length, mode)));
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let part = match whence {
            SEEK_DATA => SeekTo::Data,
            SEEK_HOLE => SeekTo::Hole,
            // The kernel handles all other values itself.
            _ => return reply.error(Errno::EINVAL),
        };
        let Ok(offset) = u64::try_from(offset) else { return reply.error(Errno::ENXIO) };
        self.post(move |volume| match volume.seek(handle, offset, part) {
            Ok(found) => reply.offset(found.cast_signed()),
            Err(error) => reply.error(error),
        });
    }

    fn setxattr(
        &self,
        _: &Request,
        number: INodeNo,
        name: &OsStr,
        new: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let new = new.to_vec();
        match text(name) {
            Ok(name) => self
                .post(move |volume| empty(reply, volume.set_attribute(number, &name, &new, flags))),
            Err(error) => reply.error(error),
        }
    }

    fn getxattr(&self, _: &Request, number: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        match text(name) {
            Ok(name) => {
                self.post(move |volume| value(reply, size, volume.attribute(number, &name)))
            }
            Err(error) => reply.error(error),
        }
    }

    fn listxattr(&self, _: &Request, number: INodeNo, size: u32, reply: ReplyXattr) {
        self.post(move |volume| value(reply, size, volume.attributes(number)));
    }

    fn removexattr(&self, _: &Request, number: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match text(name) {
            Ok(name) => {
                self.post(move |volume| empty(reply, volume.remove_attribute(number, &name)))
            }
            Err(error) => reply.error(error),
        }
    }
}
