//! Requests of the kernel, answered from a tree.

use super::View;
use crate::opened::{Opened, Recorder};
use crate::reply::{attr, empty, entry};
use fuser::{
    AccessFlags, Errno, FileHandle, FileType, Filesystem, FopenFlags, INodeNo, LockOwner,
    OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, ReplyXattr, Request,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};
use steadyfs_convert::Tree;

/// The side of a tree that receives the kernel's requests.
pub(crate) struct TreeBridge {
    view: View,
    recorder: Option<Mutex<Recorder>>,
}

impl TreeBridge {
    pub fn new(tree: Tree, opened: Option<Opened>) -> Self {
        Self {
            view: View::new(tree),
            recorder: opened.map(|opened| Mutex::new(Recorder::new(opened))),
        }
    }

    fn record(&self, what: impl FnOnce(&mut Recorder)) {
        if let Some(recorder) = &self.recorder {
            what(&mut recorder.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Answers with bytes, or with their number if the caller passed a buffer size of 0.
fn bytes(reply: ReplyXattr, size: u32, result: Result<&[u8], Errno>) {
    match result {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(value),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for TreeBridge {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let node = self.view.lookup(parent, name.as_bytes());
        if let Ok(node) = &node {
            self.record(|recorder| recorder.named(parent, name.as_bytes(), node.attr.ino));
        }
        entry(reply, node);
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.record(|recorder| recorder.opened(number));
        // The tree never changes, so the kernel may keep its cache.
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attr(reply, self.view.stat(number));
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        match self.view.target(number) {
            Ok(target) => reply.data(target),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.view.read(number, offset, size) {
            Ok(data) => reply.data(data),
            Err(error) => reply.error(error),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let dots =
            [(number, FileType::Directory, &b"."[..]), (INodeNo::ROOT, FileType::Directory, b"..")];
        let skipped = (offset as usize).saturating_sub(dots.len());
        let entries = match self.view.entries(number, skipped) {
            Ok(entries) => entries.map(|(name, number, kind)| (number, kind, name)),
            Err(error) => return reply.error(error),
        };
        let all = dots.into_iter().skip(offset as usize).chain(entries);
        for (next, (number, kind, name)) in (offset + 1..).zip(all) {
            if reply.add(number, next, kind, OsStr::from_bytes(name)) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let (blocks, inodes) = self.view.totals();
        reply.statfs(blocks, 0, 0, inodes, 0, 512, 255, 512);
    }

    fn getxattr(&self, _: &Request, number: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        bytes(reply, size, self.view.attribute(number, name.as_bytes()));
    }

    fn listxattr(&self, _: &Request, number: INodeNo, size: u32, reply: ReplyXattr) {
        let names = self.view.attributes(number);
        bytes(reply, size, names.as_deref().map_err(|&error| error));
    }

    fn access(&self, _: &Request, number: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // The kernel checks permissions itself. So only the existence of the file must be checked
        // here.
        empty(reply, self.view.stat(number).map(drop));
    }
}
