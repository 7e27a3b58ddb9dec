//! Requests of the kernel as jobs for the disk's thread, and answers.

use super::{DiskVolume, FILE, NAME, Set};
use crate::bridge::WRITE_BYTES_MAX;
use crate::mount::Message;
use crate::reply::{attr, empty, entry};
use fuser::{
    AccessFlags, Errno, FileHandle, FileType, Filesystem, FopenFlags, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::SystemTime;
use steadyfs::media::Flash;

/// Work for the disk's thread.
type Job<F> = Box<dyn for<'v, 'm> FnOnce(&mut DiskVolume<'v, 'm, F>) + Send>;

/// The side of a disk that receives the kernel's requests.
pub(crate) struct DiskBridge<F> {
    disk: Sender<Message<Job<F>>>,
}

impl<F: Flash + 'static> DiskBridge<F> {
    pub fn new(disk: Sender<Message<Job<F>>>) -> Self {
        Self { disk }
    }

    fn post(&self, job: impl for<'v, 'm> FnOnce(&mut DiskVolume<'v, 'm, F>) + Send + 'static) {
        // If the thread has ended, the job is dropped and its reply returns EIO.
        let _ = self.disk.send(Message::Job(Box::new(job)));
    }
}

impl<F: Flash + 'static> Filesystem for DiskBridge<F> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(WRITE_BYTES_MAX);
        // The disk behaves as a device, so opening with truncation has no effect.
        let _ = config.add_capabilities(InitFlags::FUSE_ATOMIC_O_TRUNC);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.to_string_lossy().into_owned();
        self.post(move |disk| entry(reply, disk.lookup(parent, &name)));
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.post(move |disk| attr(reply, disk.stat(number)));
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.post(move |disk| {
            let set = Set { changes_owner: disk.changes_owner(uid, gid), mode, size, modified };
            attr(reply, disk.set(number, set));
        });
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }

    fn symlink(&self, _: &Request, _: INodeNo, _: &OsStr, _: &Path, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn link(&self, _: &Request, _: INodeNo, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: INodeNo,
        _: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EPERM);
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        reply.error(Errno::EPERM);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.post(move |disk| match disk.read(offset, size) {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = data.to_vec();
        self.post(move |disk| match disk.write(offset, &data) {
            Ok(written) => reply.written(written),
            Err(error) => reply.error(error),
        });
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.post(move |disk| empty(reply, disk.close_descriptor()));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.post(move |disk| empty(reply, disk.sync()));
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.post(move |disk| empty(reply, disk.sync()));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let names = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, NAME),
        ];
        for (next, (number, kind, name)) in (1..).zip(names).skip(offset as usize) {
            if reply.add(number, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    /// A disk always reports that no space is free. Programs that need free space must query the
    /// file system on the disk.
    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.post(move |disk| {
            let (page_bytes, pages) = disk.pages();
            reply.statfs(pages, 0, 0, 1, 0, page_bytes, NAME.len() as u32, page_bytes);
        });
    }

    fn access(&self, _: &Request, number: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // The kernel checks permissions itself. So only the existence of the file must be checked
        // here.
        self.post(move |disk| empty(reply, disk.stat(number).map(drop)));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.post(move |disk| empty(reply, disk.allocate(offset, length, mode)));
    }
}
