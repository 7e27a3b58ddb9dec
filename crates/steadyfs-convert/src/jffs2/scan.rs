//! The way over an image, from node to node.

use super::Error;
use super::node::{AttributeNode, EntryNode, InodeNode, Order, ReferenceNode, crc};
use std::collections::BTreeMap;

const MAGIC: u16 = 0x1985;
const HEADER_BYTES: usize = 12;

/// Set in the type of a node that holds; writers clear it in a node that is obsolete, where flash allows it.
const ACCURATE: u16 = 0x2000;
/// Set, both, in the type of a node that a reader has to know.
const MUST_BE_KNOWN: u16 = 0xc000;

const ENTRY: u16 = MUST_BE_KNOWN | ACCURATE | 1;
const INODE: u16 = MUST_BE_KNOWN | ACCURATE | 2;
const ATTRIBUTE: u16 = MUST_BE_KNOWN | ACCURATE | 8;
const REFERENCE: u16 = MUST_BE_KNOWN | ACCURATE | 9;

/// All sound nodes of an image that hold.
pub(super) struct Nodes<'a> {
    pub order: Order,
    /// Parts of each inode, in the order of the image.
    pub inodes: BTreeMap<u32, Vec<InodeNode<'a>>>,
    pub entries: Vec<EntryNode<'a>>,
    pub attributes: Vec<AttributeNode<'a>>,
    pub references: Vec<ReferenceNode>,
}

/// The head of a node, whose checksum is right.
struct Header {
    kind: u16,
    bytes: usize,
}

/// Whether a sound header stands in front, behind nothing but erased bytes.
pub(super) fn begins(image: &[u8]) -> bool {
    let first = image.chunks_exact(4).position(|word| word != [0xff; 4]);
    first.is_some_and(|word| order_at(&image[word * 4..]).is_some())
}

/// Goes over an image and takes the nodes whose checksums are right.
///
/// Where no header is right it goes on four bytes further, as the kernel does: nodes begin at multiples of four.
pub(super) fn scan(image: &[u8]) -> Result<Nodes<'_>, Error> {
    let order = (0..image.len()).step_by(4).find_map(|at| order_at(&image[at..])).ok_or(Error::NoJffs2)?;
    let mut nodes = Nodes { order, inodes: BTreeMap::new(), entries: Vec::new(), attributes: Vec::new(), references: Vec::new() };
    let mut at = 0;
    while at + HEADER_BYTES <= image.len() {
        let rest = &image[at..];
        at += match header(rest, order) {
            Some(head) if head.bytes <= rest.len() => {
                nodes.take(&rest[..head.bytes], head.kind, at)?;
                head.bytes.next_multiple_of(4)
            }
            _ => 4,
        };
    }
    Ok(nodes)
}

/// The byte order in which a sound header stands at the front.
fn order_at(bytes: &[u8]) -> Option<Order> {
    [Order::Little, Order::Big].into_iter().find(|&order| header(bytes, order).is_some())
}

/// The header at the front. Its checksum was made when the node still held.
fn header(bytes: &[u8], order: Order) -> Option<Header> {
    let head = bytes.get(..HEADER_BYTES)?;
    if order.u16(head, 0) != MAGIC {
        return None;
    }
    let (kind, node_bytes) = (order.u16(head, 2), order.u32(head, 4) as usize);
    let mut first: [u8; 8] = head[..8].try_into().expect("eight bytes");
    let held = kind | ACCURATE;
    first[2..4].copy_from_slice(&match order {
        Order::Little => held.to_le_bytes(),
        Order::Big => held.to_be_bytes(),
    });
    let is_sound = crc(&first) == order.u32(head, 8) && node_bytes >= HEADER_BYTES;
    is_sound.then_some(Header { kind, bytes: node_bytes })
}

impl<'a> Nodes<'a> {
    /// Takes a node whose header is right, if the rest of it is too.
    fn take(&mut self, node: &'a [u8], kind: u16, at: usize) -> Result<(), Error> {
        match kind {
            INODE => {
                if let Some(inode) = InodeNode::parse(node, self.order, at) {
                    self.inodes.entry(inode.inode).or_default().push(inode);
                }
            }
            ENTRY => self.entries.extend(EntryNode::parse(node, self.order)),
            ATTRIBUTE => self.attributes.extend(AttributeNode::parse(node, self.order)),
            REFERENCE => self.references.extend(ReferenceNode::parse(node, self.order)),
            _ if kind & ACCURATE == 0 => {}
            _ if kind & MUST_BE_KNOWN == MUST_BE_KNOWN => return Err(Error::UnknownNode { at, kind }),
            _ => {}
        }
        Ok(())
    }
}
