//! The index: a B+tree of keys, with the position of each key's node.

use super::Error;
use super::node::{
    ATTRIBUTE, DATA, INDEX, INODE, Key, NAME, NameNode, Node, Place, u16_at, u32_at,
};
use super::state::State;
use super::volume::Volume;

/// Number of bytes of an index node before its branches.
const HEAD_BYTES: usize = 28;
/// Number of bytes of a branch without a hash.
const BRANCH_BYTES: usize = 20;

/// An index node whose length matches the number of its branches.
struct IndexNode<'a> {
    level: u16,
    branches: &'a [u8],
    branch_bytes: usize,
}

/// Walks the index of the last commit.
///
/// A node must be one level below the node that refers to it, and all nodes together have at most
/// the bytes of the volume. So the walk always ends, even if the references are malicious.
pub(super) fn walk<'a>(volume: &Volume<'a>) -> Result<State<'a>, Error> {
    let mut state = State::default();
    let mut waiting = vec![(volume.master.root, None)];
    let mut bytes_left = volume.bytes();
    while let Some((place, level)) = waiting.pop() {
        let node = node(volume, place)?;
        let bad = |what| Error::Index { place, what };
        bytes_left = bytes_left
            .checked_sub(place.bytes as usize)
            .ok_or_else(|| bad("is referred to more than once"))?;
        if level.is_some_and(|level| node.level != level) {
            return Err(bad("has another level than its parent requires"));
        }
        for branch in node.branches.chunks_exact(node.branch_bytes) {
            let (below, key) = branch_at(branch);
            match node.level.checked_sub(1) {
                Some(level) => waiting.push((below, Some(level))),
                None => leaf(volume, &mut state, below, key)?,
            }
        }
    }
    Ok(state)
}

fn branch_at(branch: &[u8]) -> (Place, Key) {
    let place =
        Place { block: u32_at(branch, 0), offset: u32_at(branch, 4), bytes: u32_at(branch, 8) };
    (place, Key::parse(&branch[12..20]))
}

/// Returns the index node at a position. In an authenticated volume, branches have a hash behind
/// their key. The length of the node shows if there is a hash.
fn node<'a>(volume: &Volume<'a>, place: Place) -> Result<IndexNode<'a>, Error> {
    let node = volume.node(place, INDEX).ok_or(Error::Node { place, kind: INDEX })?;
    let bad = |what| Error::Index { place, what };
    let (head, branches) =
        node.bytes.split_at_checked(HEAD_BYTES).ok_or_else(|| bad("is too short"))?;
    let count = usize::from(u16_at(head, 24));
    if count == 0 || !branches.len().is_multiple_of(count) || branches.len() / count < BRANCH_BYTES
    {
        return Err(bad("has a length that does not fit its branches"));
    }
    Ok(IndexNode { level: u16_at(head, 26), branches, branch_bytes: branches.len() / count })
}

/// Adds the node that a branch of the lowest level refers to. Names are read now, because two names
/// may have the same key.
fn leaf<'a>(
    volume: &Volume<'a>,
    state: &mut State<'a>,
    place: Place,
    key: Key,
) -> Result<(), Error> {
    match key.kind {
        INODE => drop(state.inodes.insert(key.inode, place)),
        DATA => drop(state.blocks.insert((key.inode, key.rest), place)),
        NAME | ATTRIBUTE => {
            let node: Option<Node<'a>> =
                volume.node(place, key.kind).filter(|node| node.key() == Some(key));
            let name = node
                .as_ref()
                .and_then(NameNode::parse)
                .ok_or(Error::Node { place, kind: key.kind })?;
            let names = if key.kind == NAME { &mut state.names } else { &mut state.attributes };
            State::name(names, name.inode, name.name, name.target);
        }
        _ => return Err(Error::Index { place, what: "has a key of an unknown type" }),
    }
    Ok(())
}
