//! The journal: the changes after the last commit.
//!
//! The log lists the *buds*: logical erase blocks to which nodes were written in the order of time.
//! Several buds are filled at the same time. So all their nodes are sorted by their sequence
//! numbers before they are applied.
//!
//! Source: fs/ubifs/replay.c and recovery.c of Linux.

use super::Error;
use super::node::{
    self, ATTRIBUTE, BLOCK_BYTES, COMMIT_START, DATA, IN_GROUP, INODE, InodeNode, NAME, NameNode,
    Node, REFERENCE, SIGNATURE, TRUNCATION, u32_at, u64_at,
};
use super::state::State;
use super::volume::{LOG, Volume};
use std::collections::BTreeMap;

/// The journal head of the garbage collector, whose nodes do not belong to groups.
const COLLECTOR: u32 = 0;

/// Start of a bud, and its journal head.
struct Bud {
    offset: u32,
    head: u32,
}

/// A change that a node of a bud describes.
enum Change<'a> {
    Inode { inode: u32 },
    Removal { inode: u32 },
    Data { inode: u32, block: u32, end: u64 },
    Name { kind: u8, name: NameNode<'a> },
    Truncation { inode: u32, before: u64, after: u64 },
}

/// Applies the journal to the committed state.
pub(super) fn replay<'a>(volume: &Volume<'a>, state: &mut State<'a>) -> Result<(), Error> {
    let mut changes = Vec::new();
    for (block, bud) in buds(volume)? {
        for node in bud_nodes(volume, block, &bud) {
            if node.kind != SIGNATURE {
                changes.push((node, change(&node)?));
            }
        }
    }
    changes.sort_by_key(|(node, _)| node.sequence);
    let last = last_of_inodes(&changes);
    let mut sizes = BTreeMap::new();
    for (node, change) in &changes {
        apply(state, node, change, &last);
        accumulate(&mut sizes, change);
    }
    if volume.master.is_dirty {
        state.sizes = sizes;
    }
    Ok(())
}

/// Returns the buds that the log lists, by logical erase block. The log begins with the commit and
/// wraps around. It ends at a block that has no nodes or only older nodes.
fn buds(volume: &Volume<'_>) -> Result<BTreeMap<u32, Bud>, Error> {
    let mut buds = BTreeMap::new();
    let (first, count) = (volume.master.log, volume.log_blocks);
    if !(LOG..LOG + count).contains(&first) {
        return Err(Error::Superblock {
            what: "the log of the master node",
            value: first.into(),
            expected: "a block of the log",
        });
    }
    let mut started = None;
    for step in 0..count {
        let block = LOG + (first - LOG + step) % count;
        let nodes = node::scan(block, volume.block(block), 0);
        let Some(head) = nodes.first() else { break };
        let start = match started {
            Some(start) => start,
            None => start_of(volume, head)?,
        };
        started = Some(start);
        if head.sequence < start {
            break;
        }
        for node in nodes.iter().filter(|node| node.sequence >= start) {
            log_node(volume, node, &mut buds)?;
        }
    }
    if started.is_none() {
        let place = node::Place { block: first, offset: 0, bytes: 0 };
        return Err(Error::Journal {
            place,
            what: "is missing: expected the start of the last commit",
        });
    }
    Ok(buds)
}

/// Returns the sequence number of the commit's start, which is the first node of the log.
fn start_of(volume: &Volume<'_>, node: &Node<'_>) -> Result<u64, Error> {
    let is_start = node.kind == COMMIT_START
        && node.bytes.len() >= 32
        && u64_at(node.bytes, 24) == volume.master.commit;
    let what = "is the first of the log; expected the start of the last commit";
    is_start.then_some(node.sequence).ok_or(Error::Journal { place: node.place, what })
}

fn log_node(
    volume: &Volume<'_>,
    node: &Node<'_>,
    buds: &mut BTreeMap<u32, Bud>,
) -> Result<(), Error> {
    let bad = |what| Err(Error::Journal { place: node.place, what });
    match node.kind {
        COMMIT_START | SIGNATURE => return Ok(()),
        REFERENCE if node.bytes.len() >= 36 => {}
        _ => return bad("has a type that a log must not contain"),
    }
    let [block, offset, head] = [24, 28, 32].map(|at| u32_at(node.bytes, at));
    let is_within = (volume.main..volume.block_count()).contains(&block)
        && offset as usize <= volume.block_bytes();
    if !is_within || !offset.is_multiple_of(8) {
        return bad("refers to a place outside the main area");
    }
    match buds.get(&block) {
        None => drop(buds.insert(block, Bud { offset, head })),
        Some(bud) if bud.head == head && bud.offset <= offset => {}
        Some(_) => return bad("refers to an erase block that already has another reference"),
    }
    Ok(())
}

/// Returns the nodes of a bud. If the last group of the bud lacks its last node, this group is left
/// out.
fn bud_nodes<'a>(volume: &Volume<'a>, block: u32, bud: &Bud) -> Vec<Node<'a>> {
    let mut nodes = node::scan(block, volume.block(block), bud.offset as usize);
    if bud.head != COLLECTOR {
        while nodes.last().is_some_and(|node| node.group == IN_GROUP) {
            nodes.pop();
        }
    }
    nodes
}

/// Parses a node of a bud.
fn change<'a>(node: &Node<'a>) -> Result<Change<'a>, Error> {
    let bad = |what| Error::Journal { place: node.place, what };
    let key = || {
        node.key()
            .filter(|key| key.kind == node.kind)
            .ok_or_else(|| bad("has a key of another type"))
    };
    let short = || bad("is too short");
    Ok(match node.kind {
        INODE => {
            let (inode, said) = (key()?.inode, InodeNode::parse(node).ok_or_else(short)?);
            match said.links {
                0 => Change::Removal { inode },
                _ => Change::Inode { inode },
            }
        }
        DATA => {
            let (key, bytes) =
                (key()?, node.bytes.get(40..48).map(|bytes| u32_at(bytes, 0)).ok_or_else(short)?);
            let end =
                u64::from(key.rest) * BLOCK_BYTES as u64 + u64::from(bytes.min(BLOCK_BYTES as u32));
            Change::Data { inode: key.inode, block: key.rest, end }
        }
        NAME | ATTRIBUTE => {
            key()?;
            Change::Name { kind: node.kind, name: NameNode::parse(node).ok_or_else(short)? }
        }
        TRUNCATION => {
            let bytes = node.bytes.get(..56).ok_or_else(short)?;
            Change::Truncation {
                inode: u32_at(bytes, 24),
                before: u64_at(bytes, 40),
                after: u64_at(bytes, 48),
            }
        }
        _ => return Err(bad("has a type that a bud must not contain")),
    })
}

impl Change<'_> {
    /// Returns the inode of the change. For a name, this is its directory.
    fn inode(&self) -> u32 {
        match self {
            Self::Inode { inode }
            | Self::Removal { inode }
            | Self::Data { inode, .. }
            | Self::Truncation { inode, .. } => *inode,
            Self::Name { name, .. } => name.inode,
        }
    }

    /// Returns true if the change is a removal.
    fn is_removal(&self) -> bool {
        match self {
            Self::Removal { .. } | Self::Truncation { .. } => true,
            Self::Name { name, .. } => name.target == 0,
            _ => false,
        }
    }
}

/// For each inode, returns true if its last change is a removal. If a file without a name gets a
/// name again, the file is not removed.
fn last_of_inodes(changes: &[(Node<'_>, Change<'_>)]) -> BTreeMap<u32, bool> {
    changes.iter().map(|(_, change)| (change.inode(), change.is_removal())).collect()
}

fn apply<'a>(
    state: &mut State<'a>,
    node: &Node<'a>,
    change: &Change<'a>,
    last: &BTreeMap<u32, bool>,
) {
    match *change {
        Change::Inode { inode } => drop(state.inodes.insert(inode, node.place)),
        Change::Removal { inode } => {
            if last.get(&inode) == Some(&true) {
                state.remove(inode);
            }
        }
        Change::Data { inode, block, .. } => drop(state.blocks.insert((inode, block), node.place)),
        Change::Name { kind: NAME, name } => {
            State::name(&mut state.names, name.inode, name.name, name.target)
        }
        Change::Name { name, .. } => {
            State::name(&mut state.attributes, name.inode, name.name, name.target)
        }
        Change::Truncation { inode, before, after } => {
            let block_bytes = BLOCK_BYTES as u64;
            let first = u32::try_from(after.div_ceil(block_bytes)).unwrap_or(u32::MAX);
            let end = u32::try_from(before.div_ceil(block_bytes)).unwrap_or(u32::MAX);
            if first < end {
                state.remove_blocks(inode, first, end - 1);
            }
        }
    }
}

/// Records the lengths of files, by the data in the journal.
fn accumulate(sizes: &mut BTreeMap<u32, u64>, change: &Change<'_>) {
    match *change {
        Change::Removal { inode } => drop(sizes.remove(&inode)),
        Change::Data { inode, end, .. } => {
            let size = sizes.entry(inode).or_default();
            *size = end.max(*size);
        }
        Change::Truncation { inode, after, .. } => {
            if let Some(size) = sizes.get_mut(&inode) {
                *size = after;
            }
        }
        Change::Inode { .. } | Change::Name { .. } => {}
    }
}
