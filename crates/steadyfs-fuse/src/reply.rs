//! Answers to the kernel that files and disks give alike.

use crate::volume::Node;
use fuser::{Errno, ReplyAttr, ReplyEmpty, ReplyEntry};
use std::time::Duration;

/// How long the kernel may trust what it was told of names, sizes and times.
///
/// Every change comes through the kernel, which then corrects what it knows, so this could be longer; it bounds for how long the kernel
/// is wrong after a change that failed on a medium that fails.
pub(crate) const TTL: Duration = Duration::from_secs(1);

pub(crate) fn empty(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

pub(crate) fn entry(reply: ReplyEntry, result: Result<Node, Errno>) {
    match result {
        Ok(node) => reply.entry(&TTL, &node.attr, node.generation),
        Err(error) => reply.error(error),
    }
}

pub(crate) fn attr(reply: ReplyAttr, result: Result<Node, Errno>) {
    match result {
        Ok(node) => reply.attr(&TTL, &node.attr),
        Err(error) => reply.error(error),
    }
}
