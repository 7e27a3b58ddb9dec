//! Inodes and their content, byte for byte.
//!
//! ```text
//! head       kind u16 | mode u16 | owner u16 | group u16 | modified u32 | number u32
//! directory  block u32 | links u32 | list bytes + 3 u16 | offset u16 | parent u32
//!  extended  links u32 | list bytes + 3 u32 | block u32 | parent u32 | parts u16 | offset u16
//!            | attributes u32 | index
//! file       start u32 | fragment u32 | offset u32 | bytes u32 | sizes of blocks, u32 each
//!  extended  start u64 | bytes u64 | sparse bytes u64 | links u32 | fragment u32 | offset u32
//!            | attributes u32 | sizes
//! link       links u32 | target bytes u32 | target
//! device     links u32 | numbers u32
//! pipe       links u32
//! ```
//! Owner and group are indices. An extended link, device or pipe ends with the index of its
//! attributes, a u32. The kind of an extended inode is the basic kind plus seven.
//!
//! Source: doc/format.adoc of squashfs-tools-ng, chapter 5.

use super::attributes::NO_ATTRIBUTES;
use super::data::Content;
use super::directories::Listing;
use crate::tree::Kind;

/// Difference between the kinds of an extended and a basic inode.
const EXTENDED: u16 = 7;
/// Number of bytes that the size of a directory contains in addition to its list, for `.` and `..`.
const DOTS: u32 = 3;
/// Fragment index of a file without a fragment.
const NO_FRAGMENT: u32 = u32::MAX;

/// Fields of all inodes.
pub(super) struct Head {
    /// Permissions.
    pub(super) mode: u16,
    /// Indices of owner and group.
    pub(super) owner: (u16, u16),
    /// Time of the last change, in seconds since 1970.
    pub(super) modified: u32,
    /// Number of the inode.
    pub(super) number: u32,
    /// Number of links.
    pub(super) links: u32,
    /// Index of the inode's list of attributes.
    pub(super) attributes: u32,
}

/// Further fields of an inode of each kind.
pub(super) enum Body<'a> {
    /// A directory: its entries, and the number of its parent.
    Directory { listing: &'a Listing, parent: u32 },
    /// A file.
    File { content: &'a Content, bytes: u64 },
    /// A symbolic link.
    Symlink(&'a [u8]),
    /// A device, with its numbers in the encoding of Linux.
    Device { is_block: bool, numbers: u32 },
    /// A named pipe or a socket.
    Pipe { is_socket: bool },
}

/// Returns the kind of a basic inode. Entries of directories contain this kind too.
pub(super) fn basic_kind(kind: &Kind) -> u16 {
    match kind {
        Kind::Directory(_) => 1,
        Kind::File(_) => 2,
        Kind::Symlink(_) => 3,
        Kind::Device { is_block: true, .. } => 4,
        Kind::Device { is_block: false, .. } => 5,
        Kind::Fifo => 6,
        Kind::Socket => 7,
    }
}

/// Makes an inode. The inode is extended only if a basic inode lacks a necessary field.
pub(super) fn emit(head: &Head, body: &Body) -> Vec<u8> {
    match body {
        Body::Directory { listing, parent } => directory(head, listing, *parent),
        Body::File { content, bytes } => file(head, content, *bytes),
        Body::Symlink(target) => {
            with_attributes(head, 3, &[&(target.len() as u32).to_le_bytes(), target])
        }
        Body::Device { is_block, numbers } => {
            with_attributes(head, if *is_block { 4 } else { 5 }, &[&numbers.to_le_bytes()])
        }
        Body::Pipe { is_socket } => with_attributes(head, if *is_socket { 7 } else { 6 }, &[]),
    }
}

fn directory(head: &Head, listing: &Listing, parent: u32) -> Vec<u8> {
    let bytes = listing.bytes.saturating_add(DOTS);
    match u16::try_from(bytes) {
        Ok(bytes) if listing.index_count == 0 && head.attributes == NO_ATTRIBUTES => {
            let mut inode = head.emit(1);
            put_words(&mut inode, &[listing.place.block, head.links]);
            put_halves(&mut inode, &[bytes, listing.place.offset]);
            put_words(&mut inode, &[parent]);
            inode
        }
        _ => {
            let mut inode = head.emit(1 + EXTENDED);
            put_words(&mut inode, &[head.links, bytes, listing.place.block, parent]);
            put_halves(&mut inode, &[listing.index_count, listing.place.offset]);
            put_words(&mut inode, &[head.attributes]);
            inode.extend(&listing.index);
            inode
        }
    }
}

fn file(head: &Head, content: &Content, bytes: u64) -> Vec<u8> {
    let (fragment, offset) =
        content.fragment.map_or((NO_FRAGMENT, 0), |place| (place.index, place.offset));
    let needs_basic =
        head.attributes == NO_ATTRIBUTES && head.links == 1 && content.blocks.sparse_bytes == 0;
    let mut inode = match (u32::try_from(content.blocks.start), u32::try_from(bytes)) {
        (Ok(start), Ok(bytes)) if needs_basic => {
            let mut inode = head.emit(2);
            put_words(&mut inode, &[start, fragment, offset, bytes]);
            inode
        }
        _ => {
            let mut inode = head.emit(2 + EXTENDED);
            for long in [content.blocks.start, bytes, content.blocks.sparse_bytes] {
                inode.extend(long.to_le_bytes());
            }
            put_words(&mut inode, &[head.links, fragment, offset, head.attributes]);
            inode
        }
    };
    put_words(&mut inode, &content.blocks.sizes);
    inode
}

/// Makes an inode whose extended form is the basic form with its attributes at the end.
fn with_attributes(head: &Head, kind: u16, parts: &[&[u8]]) -> Vec<u8> {
    let is_extended = head.attributes != NO_ATTRIBUTES;
    let mut inode = head.emit(if is_extended { kind + EXTENDED } else { kind });
    put_words(&mut inode, &[head.links]);
    parts.iter().for_each(|part| inode.extend(*part));
    if is_extended {
        put_words(&mut inode, &[head.attributes]);
    }
    inode
}

impl Head {
    fn emit(&self, kind: u16) -> Vec<u8> {
        let mut inode = Vec::with_capacity(64);
        put_halves(&mut inode, &[kind, self.mode & 0o7777, self.owner.0, self.owner.1]);
        put_words(&mut inode, &[self.modified, self.number]);
        inode
    }
}

fn put_halves(inode: &mut Vec<u8>, halves: &[u16]) {
    inode.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
}

fn put_words(inode: &mut Vec<u8>, words: &[u32]) {
    inode.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::super::data::Blocks;
    use super::super::fragments::FragmentPlace;
    use super::super::metadata::Place;
    use super::*;

    fn head(links: u32, attributes: u32) -> Head {
        Head { mode: 0o100644, owner: (1, 2), modified: 3, number: 4, links, attributes }
    }

    fn content(start: u64, sparse_bytes: u64) -> Content {
        let blocks = Blocks { start, sizes: vec![7, 8], sparse_bytes };
        Content { blocks, fragment: Some(FragmentPlace { index: 5, offset: 6 }) }
    }

    fn kind_and_bytes(head: &Head, body: &Body) -> (u16, usize) {
        let inode = emit(head, body);
        assert_eq!(inode[2..16], [0xA4, 1, 1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        (u16::from_le_bytes([inode[0], inode[1]]), inode.len())
    }

    #[test]
    fn a_file_is_extended_only_where_it_must_be() {
        let file = |links, attributes, start, sparse, bytes| {
            kind_and_bytes(
                &head(links, attributes),
                &Body::File { content: &content(start, sparse), bytes },
            )
        };
        let max = u64::from(u32::MAX);
        assert_eq!(file(1, NO_ATTRIBUTES, max, 0, max), (2, 16 + 16 + 8));
        assert_eq!(file(2, NO_ATTRIBUTES, 96, 0, 9), (9, 16 + 40 + 8));
        assert_eq!(file(1, 0, 96, 0, 9), (9, 16 + 40 + 8));
        assert_eq!(file(1, NO_ATTRIBUTES, max + 1, 0, 9), (9, 16 + 40 + 8));
        assert_eq!(file(1, NO_ATTRIBUTES, 96, 1, 9), (9, 16 + 40 + 8));
        assert_eq!(file(1, NO_ATTRIBUTES, 96, 0, max + 1), (9, 16 + 40 + 8));
    }

    #[test]
    fn a_directory_is_extended_only_where_it_must_be() {
        let directory = |attributes, bytes, index_count| {
            let index = vec![0; 13 * usize::from(index_count)];
            let listing =
                Listing { place: Place { block: 1, offset: 2 }, bytes, index_count, index };
            kind_and_bytes(&head(2, attributes), &Body::Directory { listing: &listing, parent: 9 })
        };
        assert_eq!(directory(NO_ATTRIBUTES, 65532, 0), (1, 16 + 16));
        assert_eq!(directory(NO_ATTRIBUTES, 65533, 0), (8, 16 + 24));
        assert_eq!(directory(NO_ATTRIBUTES, 9000, 1), (8, 16 + 24 + 13));
        assert_eq!(directory(0, 0, 0), (8, 16 + 24));
    }

    #[test]
    fn attributes_make_the_others_extended() {
        let link = Body::Symlink(b"target");
        let device = Body::Device { is_block: true, numbers: 0x801 };
        let socket = Body::Pipe { is_socket: true };
        assert_eq!(
            [&link, &device, &socket].map(|body| kind_and_bytes(&head(1, NO_ATTRIBUTES), body)),
            [(3, 30), (4, 24), (7, 20)]
        );
        assert_eq!(
            [&link, &device, &socket].map(|body| kind_and_bytes(&head(1, 0), body)),
            [(10, 34), (11, 28), (14, 24)]
        );
    }
}
