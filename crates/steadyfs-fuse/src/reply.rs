//! Replies to the kernel that files and disks share.

use crate::volume::Node;
use fuser::{Errno, ReplyAttr, ReplyEmpty, ReplyEntry};
use std::time::Duration;

/// Time for which the kernel may cache names, sizes and times from a reply.
///
/// Every change comes through the kernel, which then updates its copy. So this time could be
/// longer. But if a change fails because of the medium, the kernel's copy is wrong, and this time
/// limits how long.
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
