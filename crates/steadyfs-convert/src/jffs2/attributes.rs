//! Extended attributes: each value has a number, and inodes refer to this number.

use super::node::{AttributeNode, Order};
use super::scan::Nodes;
use std::collections::BTreeMap;

/// Version of a removed attribute.
const REMOVED: u32 = u32::MAX;

/// The attributes of an image, indexed by inode.
pub(super) struct Attributes<'n, 'a> {
    order: Order,
    values: BTreeMap<u32, &'n AttributeNode<'a>>,
    /// Number of the attribute for each inode and sequence.
    references: BTreeMap<(u32, u32), u32>,
}

impl<'n, 'a> Attributes<'n, 'a> {
    /// Selects the newest node of each attribute and of each reference.
    pub fn new(nodes: &'n Nodes<'a>) -> Self {
        let mut values: BTreeMap<u32, &AttributeNode<'a>> = BTreeMap::new();
        for node in &nodes.attributes {
            let value = values.entry(node.number).or_insert(node);
            if node.version >= value.version {
                *value = node;
            }
        }
        let mut newest: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for node in &nodes.references {
            let sequence = newest.entry((node.inode, node.number)).or_insert(node.sequence);
            *sequence = node.sequence.max(*sequence);
        }
        let held = newest.into_iter().filter(|(_, sequence)| sequence & 1 == 0);
        let references =
            held.map(|((inode, number), sequence)| ((inode, sequence), number)).collect();
        Self { order: nodes.order, values, references }
    }

    /// Returns the attributes of an inode by their full names. Attributes with an unknown prefix
    /// and invalid lists of access rights are left out.
    pub fn of(&self, inode: u32) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let references = self.references.range((inode, 0)..=(inode, u32::MAX));
        let values = references
            .filter_map(|(_, number)| self.values.get(number))
            .filter(|node| node.version != REMOVED);
        values.filter_map(|node| self.named(node)).collect()
    }

    /// Returns the largest number of bytes that [`of`](Self::of) can return.
    pub fn bytes_of(&self, inode: u32) -> u64 {
        let references = self.references.range((inode, 0)..=(inode, u32::MAX));
        let values = references.filter_map(|(_, number)| self.values.get(number));
        values.map(|node| (node.name.len() + 32 + 2 * node.value.len()) as u64).sum()
    }

    /// Source of the prefixes: include/uapi/linux/jffs2.h of Linux.
    fn named(&self, node: &AttributeNode<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
        let with = |prefix: &[u8]| Some(([prefix, node.name].concat(), node.value.to_vec()));
        match node.prefix {
            1 => with(b"user."),
            2 => with(b"security."),
            3 => Some((b"system.posix_acl_access".to_vec(), rights(node.value, self.order)?)),
            4 => Some((b"system.posix_acl_default".to_vec(), rights(node.value, self.order)?)),
            5 => with(b"trusted."),
            _ => None,
        }
    }
}

/// Converts access rights from the shorter form in the image, version 1, to the form of system
/// calls, version 2. An entry in the image consists of a tag and rights. It has a number only if
/// the tag stands for a named user or group.
///
/// Source: fs/jffs2/acl.h and include/uapi/linux/posix_acl_xattr.h of Linux.
fn rights(value: &[u8], order: Order) -> Option<Vec<u8>> {
    const NAMED_USER: u16 = 0x02;
    const NAMED_GROUP: u16 = 0x08;
    let (head, mut rest) = value.split_at_checked(4)?;
    if order.u32(head, 0) != 1 {
        return None;
    }
    let mut out = 2u32.to_le_bytes().to_vec();
    while !rest.is_empty() {
        let (entry, behind) = rest.split_at_checked(4)?;
        let (tag, allowed) = (order.u16(entry, 0), order.u16(entry, 2));
        rest = behind;
        let mut id = u32::MAX;
        if tag == NAMED_USER || tag == NAMED_GROUP {
            let (number, behind) = rest.split_at_checked(4)?;
            id = order.u32(number, 0);
            rest = behind;
        }
        out.extend_from_slice(&tag.to_le_bytes());
        out.extend_from_slice(&allowed.to_le_bytes());
        out.extend_from_slice(&id.to_le_bytes());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_rights_get_the_form_of_system_calls() {
        let mut stored = 1u32.to_be_bytes().to_vec();
        for word in [1u16, 6, 2, 4, 0, 1000, 4, 4] {
            stored.extend_from_slice(&word.to_be_bytes());
        }
        let words = rights(&stored, Order::Big).expect("rights");
        let expected = [2u32, 1 | 6 << 16, u32::MAX, 2 | 4 << 16, 1000, 4 | 4 << 16, u32::MAX];
        assert_eq!(words, expected.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        assert_eq!(rights(&stored[..stored.len() - 1], Order::Big), None);
    }
}
