//! Scan of an image, from node to node.

use super::Error;
use super::node::{AttributeNode, EntryNode, InodeNode, Order, ReferenceNode, crc};
use std::collections::BTreeMap;

const MAGIC: u16 = 0x1985;
const HEADER_BYTES: usize = 12;

/// Bit that is set in the type of a valid node. If the flash allows it, writers clear the bit when
/// the node becomes obsolete.
const ACCURATE: u16 = 0x2000;
/// Bits in the type of a node. If both are set, a reader must support the type.
const MUST_BE_KNOWN: u16 = 0xc000;

const ENTRY: u16 = MUST_BE_KNOWN | ACCURATE | 1;
const INODE: u16 = MUST_BE_KNOWN | ACCURATE | 2;
const ATTRIBUTE: u16 = MUST_BE_KNOWN | ACCURATE | 8;
const REFERENCE: u16 = MUST_BE_KNOWN | ACCURATE | 9;

/// All intact and valid nodes of an image.
pub(super) struct Nodes<'a> {
    pub order: Order,
    /// The nodes of each inode, in the order of the image.
    pub inodes: BTreeMap<u32, Vec<InodeNode<'a>>>,
    pub entries: Vec<EntryNode<'a>>,
    pub attributes: Vec<AttributeNode<'a>>,
    pub references: Vec<ReferenceNode>,
    /// Number of nodes that have a wrong checksum or are incomplete.
    pub unsound: u64,
}

/// Header of a node. Its checksum is right.
struct Header {
    kind: u16,
    bytes: usize,
}

/// Returns true if the image begins with an intact header. Only erased bytes may precede it.
pub(super) fn begins(image: &[u8]) -> bool {
    let first = image.chunks_exact(4).position(|word| word != [0xff; 4]);
    first.is_some_and(|word| order_at(&image[word * 4..]).is_some())
}

/// Returns true if at least half of the bytes that are not erased are intact nodes, and one of
/// these nodes is an inode or an entry. If another file system contains a JFFS2 image in a file,
/// most of its bytes lie outside this image.
pub(super) fn is_image(image: &[u8]) -> bool {
    let Some(order) = first_order(image) else { return false };
    let (mut at, mut sound_bytes, mut other_bytes, mut has_content) = (0, 0, 0, false);
    while let Some(word) = image.get(at..at + 4) {
        let rest = &image[at..];
        match header(rest, order) {
            Some(head) if head.bytes <= rest.len() => {
                has_content |= [INODE, ENTRY].contains(&head.kind);
                sound_bytes += head.bytes;
                at += head.bytes.next_multiple_of(4);
            }
            _ => {
                other_bytes += if word == [0xff; 4] { 0 } else { 4 };
                at += 4;
            }
        }
    }
    has_content && sound_bytes >= other_bytes
}

/// Returns true if the image contains an intact header.
pub(super) fn has_node(image: &[u8]) -> bool {
    first_order(image).is_some()
}

/// Returns the byte order of the first intact header.
fn first_order(image: &[u8]) -> Option<Order> {
    (0..image.len()).step_by(4).find_map(|at| order_at(&image[at..]))
}

/// Scans an image, and collects the nodes with right checksums.
///
/// If there is no intact header at an offset, the scan advances by four bytes, as in the kernel.
/// Nodes begin at multiples of four bytes.
pub(super) fn scan(image: &[u8]) -> Result<Nodes<'_>, Error> {
    let order = first_order(image).ok_or(Error::NoJffs2)?;
    let (inodes, entries, attributes, references) =
        (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
    let mut nodes = Nodes { order, inodes, entries, attributes, references, unsound: 0 };
    let mut at = 0;
    while at + HEADER_BYTES <= image.len() {
        let rest = &image[at..];
        at += match header(rest, order) {
            Some(head) if head.bytes <= rest.len() => {
                nodes.take(&rest[..head.bytes], head.kind, at)?;
                head.bytes.next_multiple_of(4)
            }
            _ => {
                nodes.unsound += u64::from(order.u16(rest, 0) == MAGIC);
                4
            }
        };
    }
    Ok(nodes)
}

/// Returns the byte order of an intact header at the start of the bytes.
fn order_at(bytes: &[u8]) -> Option<Order> {
    [Order::Little, Order::Big].into_iter().find(|&order| header(bytes, order).is_some())
}

/// Parses the header at the start of the bytes. Its checksum was computed while the node was valid,
/// before its type was changed.
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
    /// Adds a node with an intact header, if the rest of the node is intact too.
    fn take(&mut self, node: &'a [u8], kind: u16, at: usize) -> Result<(), Error> {
        let is_sound = match kind {
            INODE => {
                let inode = InodeNode::parse(node, self.order, at);
                let is_sound = inode.is_some();
                inode
                    .into_iter()
                    .for_each(|inode| self.inodes.entry(inode.inode).or_default().push(inode));
                is_sound
            }
            ENTRY => add(&mut self.entries, EntryNode::parse(node, self.order)),
            ATTRIBUTE => add(&mut self.attributes, AttributeNode::parse(node, self.order)),
            REFERENCE => add(&mut self.references, ReferenceNode::parse(node, self.order)),
            _ if kind & ACCURATE == 0 => true,
            _ if kind & MUST_BE_KNOWN == MUST_BE_KNOWN => {
                return Err(Error::UnknownNode { at, kind });
            }
            _ => true,
        };
        self.unsound += u64::from(!is_sound);
        Ok(())
    }
}

/// Adds a node if it is intact. Returns true if it is intact.
fn add<T>(nodes: &mut Vec<T>, node: Option<T>) -> bool {
    let is_sound = node.is_some();
    nodes.extend(node);
    is_sound
}
