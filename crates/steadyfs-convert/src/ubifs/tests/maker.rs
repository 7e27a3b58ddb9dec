//! Volumes made node by node, in a state that no tool makes: a journal behind a commit.
//!
//! | logical erase blocks | 0 | 1, 2 | 3, 4 | 5, 6 | 7 | 8 | from 9 |
//! |---|---|---|---|---|---|---|---|
//! | | superblock | master | log | not needed | index | committed nodes | buds |

use crate::ubifs::node::{
    ATTRIBUTE, COMMIT_START, DATA, INDEX, INODE, Key, MAGIC, MASTER, NAME, PADDING, REFERENCE,
    SUPERBLOCK, TRUNCATION, crc,
};

pub(super) const BLOCK_BYTES: usize = 16384;
pub(super) const BLOCK_COUNT: usize = 16;
/// First block for buds.
pub(super) const BUDS: u32 = 9;
/// Sequence number of the commit's start.
const START: u64 = 1000;

/// Mode of a file.
pub(super) const FILE: u32 = 0o100_644;
/// Mode of a directory.
pub(super) const DIRECTORY: u32 = 0o040_755;

/// A node that is not written yet: its type, the bytes behind its head, and its group mark.
#[derive(Clone)]
pub(super) struct Unwritten {
    pub kind: u8,
    pub body: Vec<u8>,
    pub group: u8,
}

impl Unwritten {
    fn new(kind: u8, body: Vec<u8>) -> Self {
        Self { kind, body, group: 0 }
    }

    /// Marks the node as part of a group, but not as its last node.
    pub fn in_group(self) -> Self {
        Self { group: 1, ..self }
    }

    /// Marks the node as the last node of a group.
    pub fn ends_group(self) -> Self {
        Self { group: 2, ..self }
    }

    /// Returns the bytes of the node.
    pub fn bytes(&self, sequence: u64) -> Vec<u8> {
        let mut summed = sequence.to_le_bytes().to_vec();
        summed.extend((24 + self.body.len() as u32).to_le_bytes());
        summed.extend([self.kind, self.group, 0, 0]);
        summed.extend(&self.body);
        [&MAGIC.to_le_bytes()[..], &crc(&summed).to_le_bytes(), &summed].concat()
    }
}

fn key(inode: u32, kind: u8, rest: u32) -> Vec<u8> {
    let mut key = [inode.to_le_bytes(), (u32::from(kind) << 29 | rest).to_le_bytes()].concat();
    key.resize(16, 0);
    key
}

/// Returns a hash for a key. A reader accepts any hash.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(7u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(byte.into())) & 0xff
}

/// Makes an inode with links, a mode, a size, flags and its own content. Its owner is 7, its group
/// is 8, and its time is 9 seconds.
pub(super) fn inode_with(
    inode: u32,
    links: u32,
    mode: u32,
    size: u64,
    flags: u32,
    content: &[u8],
) -> Unwritten {
    let mut body = key(inode, INODE, 0);
    for word in [0, size, 0, 0, 9] {
        body.extend(word.to_le_bytes());
    }
    for word in [0, 0, 0, links, 7, 8, mode, flags, content.len() as u32] {
        body.extend(word.to_le_bytes());
    }
    body.resize(136, 0);
    body.extend(content);
    Unwritten::new(INODE, body)
}

/// Makes a file's inode.
pub(super) fn file(inode: u32, size: u64) -> Unwritten {
    inode_with(inode, 1, FILE, size, 0, b"")
}

/// Makes a directory's inode.
pub(super) fn directory(inode: u32) -> Unwritten {
    inode_with(inode, 2, DIRECTORY, 0, 0, b"")
}

/// Makes the removal of an inode.
pub(super) fn removal(inode: u32) -> Unwritten {
    inode_with(inode, 0, FILE, 0, 0, b"")
}

/// Makes a block of a file, packed with a compressor.
pub(super) fn packed(
    inode: u32,
    block: u32,
    bytes: u32,
    compressor: u16,
    packed: &[u8],
) -> Unwritten {
    let mut body = key(inode, DATA, block);
    body.extend(bytes.to_le_bytes());
    body.extend(compressor.to_le_bytes());
    body.extend([0, 0]);
    body.extend(packed);
    Unwritten::new(DATA, body)
}

/// Makes a block of a file that is not packed.
pub(super) fn data(inode: u32, block: u32, content: &[u8]) -> Unwritten {
    packed(inode, block, content.len() as u32, 0, content)
}

fn named(kind: u8, inode: u32, name: &[u8], target: u64) -> Unwritten {
    let mut body = key(inode, kind, hash(name));
    body.extend(target.to_le_bytes());
    body.extend([0, 0]);
    body.extend((name.len() as u16).to_le_bytes());
    body.extend([0; 4]);
    body.extend(name);
    body.push(0);
    Unwritten::new(kind, body)
}

/// Makes a name in a directory. A target of 0 removes the name.
pub(super) fn name(directory: u32, name: &[u8], target: u64) -> Unwritten {
    named(NAME, directory, name, target)
}

/// Makes a name of an attribute. A target of 0 removes the name.
pub(super) fn attribute(inode: u32, name: &[u8], target: u64) -> Unwritten {
    named(ATTRIBUTE, inode, name, target)
}

/// Makes the truncation of a file from one size to another.
pub(super) fn truncation(inode: u32, before: u64, after: u64) -> Unwritten {
    let mut body = inode.to_le_bytes().to_vec();
    body.resize(16, 0);
    body.extend(before.to_le_bytes());
    body.extend(after.to_le_bytes());
    Unwritten::new(TRUNCATION, body)
}

/// Makes a padding node that is followed by padding of a length.
pub(super) fn padding(bytes: u32) -> Unwritten {
    Unwritten::new(PADDING, bytes.to_le_bytes().to_vec())
}

/// Makes a node of the log that refers to a bud.
pub(super) fn reference(block: u32, offset: u32, head: u32) -> Unwritten {
    let mut body =
        [block, offset, head].iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    body.resize(40, 0);
    Unwritten::new(REFERENCE, body)
}

/// Makes an index node with its branches: block, offset, length and key of each.
pub(super) fn index(level: u16, branches: &[(u32, u32, u32, Key)]) -> Unwritten {
    let mut body = [(branches.len() as u16).to_le_bytes(), level.to_le_bytes()].concat();
    for &(block, offset, bytes, key) in branches {
        let word = u32::from(key.kind) << 29 | key.rest;
        body.extend(
            [block, offset, bytes, key.inode, word].iter().flat_map(|word| word.to_le_bytes()),
        );
    }
    Unwritten::new(INDEX, body)
}

/// A volume that grows node by node.
pub(super) struct Maker {
    pub image: Vec<u8>,
    /// Offset of the next node in each block.
    ends: [usize; BLOCK_COUNT],
    pub flags: u32,
}

impl Maker {
    /// Makes a volume whose commit contains these nodes, and whose journal is empty.
    pub fn new(committed: &[Unwritten]) -> Self {
        let mut maker =
            Self { image: vec![0xff; BLOCK_BYTES * BLOCK_COUNT], ends: [0; BLOCK_COUNT], flags: 1 };
        maker.superblock(0);
        maker.put(3, 0, START, &Unwritten::new(COMMIT_START, 5u64.to_le_bytes().to_vec()));
        let mut leaves = Vec::new();
        for (sequence, node) in (1..).zip(committed) {
            let (offset, bytes) = maker.append(8, sequence, node);
            leaves.push((8, offset, bytes, Key::parse(&node.body[..8])));
        }
        leaves.sort_by_key(|&(.., key)| key);
        maker.commit(&leaves);
        maker
    }

    /// Writes the index of two levels, and its master node.
    fn commit(&mut self, leaves: &[(u32, u32, u32, Key)]) {
        let mut branches = Vec::new();
        for some in leaves.chunks(3) {
            let (offset, bytes) = self.append(7, 500, &index(0, some));
            branches.push((7, offset, bytes, some[0].3));
        }
        let (offset, bytes) = self.append(7, 501, &index(1, &branches));
        self.master(600, (7, offset, bytes));
    }

    /// Writes both copies of a master node.
    pub fn master(&mut self, sequence: u64, root: (u32, u32, u32)) {
        for block in [1, 2] {
            self.master_copy(block, sequence + u64::from(block), root);
        }
    }

    /// Writes one copy of a master node.
    pub fn master_copy(
        &mut self,
        block: u32,
        sequence: u64,
        (root, offset, bytes): (u32, u32, u32),
    ) {
        let mut body = [0u64, 5].iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        body.extend(
            [self.flags, 3, root, offset, bytes].iter().flat_map(|word| word.to_le_bytes()),
        );
        body.resize(488, 0);
        self.append(block, sequence, &Unwritten::new(MASTER, body));
    }

    /// Writes the superblock with some flags.
    pub fn superblock(&mut self, flags: u32) {
        let mut body = vec![0; 4];
        let count = BLOCK_COUNT as u32;
        let words = [flags, 8, BLOCK_BYTES as u32, count, count, 0, 0, 2, 1, 1, 1, 8, 0, 4];
        body.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
        body.resize(4072, 0);
        self.put(0, 0, 1, &Unwritten::new(SUPERBLOCK, body));
    }

    /// Writes a node at an offset of a block.
    pub fn put(
        &mut self,
        block: u32,
        offset: usize,
        sequence: u64,
        node: &Unwritten,
    ) -> (u32, u32) {
        let bytes = node.bytes(sequence);
        let at = block as usize * BLOCK_BYTES + offset;
        self.image[at..at + bytes.len()].copy_from_slice(&bytes);
        let end = (offset + bytes.len()).next_multiple_of(8);
        self.image[at + bytes.len()..block as usize * BLOCK_BYTES + end].fill(0);
        self.ends[block as usize] = end;
        (offset as u32, bytes.len() as u32)
    }

    /// Writes a node behind the last node of a block. Returns its offset and length.
    pub fn append(&mut self, block: u32, sequence: u64, node: &Unwritten) -> (u32, u32) {
        self.put(block, self.ends[block as usize], sequence, node)
    }

    /// Writes a bud of a journal head. The sequence numbers of its nodes begin with `sequence` and
    /// increase by one.
    pub fn bud(&mut self, block: u32, head: u32, sequence: u64, nodes: &[Unwritten]) {
        let offset = self.ends[block as usize] as u32;
        self.append(3, START + u64::from(block), &reference(block, offset, head));
        for (sequence, node) in (sequence..).zip(nodes) {
            self.append(block, sequence, node);
        }
    }

    /// Returns the last bytes that were written to a block, so that a test can damage them.
    pub fn last_of(&mut self, block: u32, bytes: usize) -> &mut [u8] {
        let end = block as usize * BLOCK_BYTES + self.ends[block as usize];
        &mut self.image[end - bytes..end]
    }

    /// Sets the offset of the next node in a block.
    pub fn go_to(&mut self, block: u32, offset: usize) {
        self.ends[block as usize] = offset;
    }
}
