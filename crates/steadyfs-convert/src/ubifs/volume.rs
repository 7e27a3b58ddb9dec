//! A volume: its logical erase blocks, its superblock and its master node.
//!
//! | logical erase blocks | content |
//! |---|---|
//! | 0 | the superblock |
//! | 1, 2 | master nodes, two copies of each |
//! | from 3 | the log |
//! | behind it | the table of erase blocks, and the orphans: not needed by a reader |
//! | the rest | the main area: index, files and buds of the journal |

use super::Error;
use super::node::{self, MASTER, Node, Place, SUPERBLOCK, u32_at, u64_at};

/// First logical erase block of the log.
pub(super) const LOG: u32 = 3;

/// Flag of the superblock: the volume contains encrypted files.
const ENCRYPTED: u32 = 0x10;

/// Flag of the master node: the volume was not unmounted.
const DIRTY: u32 = 1;

/// A volume whose superblock and master node are intact.
#[derive(Debug)]
pub(super) struct Volume<'a> {
    image: &'a [u8],
    block_bytes: usize,
    block_count: u32,
    /// Number of logical erase blocks of the log.
    pub log_blocks: u32,
    /// Number of the first logical erase block of the main area.
    pub main: u32,
    pub master: Master,
}

/// Content of the newest master node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Master {
    pub commit: u64,
    /// Number of the first valid logical erase block of the log.
    pub log: u32,
    /// Position of the root of the index.
    pub root: Place,
    /// True if the volume was not unmounted.
    pub is_dirty: bool,
    sequence: u64,
}

impl<'a> Volume<'a> {
    /// Finds superblock and master node.
    pub fn open(image: &'a [u8]) -> Result<Self, Error> {
        let node =
            Node::at(0, image, 0).filter(|node| node.kind == SUPERBLOCK && node.bytes.len() >= 128);
        let head = node.ok_or(Error::NoUbifs)?.bytes;
        let flags = u32_at(head, 28);
        check("the format of keys", head[27].into(), |format| format == 0, "0")?;
        check(
            "the version that can read it",
            u32_at(head, 124).into(),
            |version| version == 0,
            "0",
        )?;
        check(
            "the version of the format",
            u32_at(head, 80).into(),
            |version| version >= 4,
            "4 or more",
        )?;
        let is_size = |bytes: u64| (1024..=1 << 30).contains(&bytes) && bytes.is_multiple_of(8);
        let block_bytes = check(
            "the size of a logical erase block",
            u32_at(head, 36).into(),
            is_size,
            "a multiple of 8 from 1 KiB to 1 GiB",
        )?;
        let block_count = u32_at(head, 40);
        if flags & ENCRYPTED != 0 {
            return Err(Error::Encrypted);
        }
        let [log, table, orphans] = [56, 60, 64].map(|at| u64::from(u32_at(head, at)));
        let fits = |main: u64| log > 0 && main < u64::from(block_count);
        let main = check(
            "the first block of the main area",
            u64::from(LOG) + log + table + orphans,
            fits,
            "one behind the log and within the volume",
        )?;
        let (log_blocks, main, block_bytes) = (log as u32, main as u32, block_bytes as usize);
        let master = master(image, block_bytes).ok_or(Error::NoMaster)?;
        Ok(Self { image, block_bytes, block_count, log_blocks, main, master })
    }

    /// Returns the number of bytes of the whole volume.
    pub fn bytes(&self) -> usize {
        self.image.len()
    }

    /// Returns the number of bytes of a logical erase block.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Returns the number of logical erase blocks of the volume.
    pub fn block_count(&self) -> u32 {
        self.block_count
    }

    /// Returns a logical erase block. If the image ends early, the block is shorter or empty.
    pub fn block(&self, block: u32) -> &'a [u8] {
        if block >= self.block_count {
            return &[];
        }
        content(self.image, self.block_bytes, block)
    }

    /// Returns the node at a position, if it is intact and has this type and length. The length
    /// must be valid for the type. Otherwise many branches to one very long node would take a long
    /// time.
    pub fn node(&self, place: Place, kind: u8) -> Option<Node<'a>> {
        let block = self.block(place.block);
        // The length is checked first, so that the checksum is computed only over the expected
        // number of bytes.
        let node_bytes =
            block.get(place.offset as usize..)?.get(16..20).map(|bytes| u32_at(bytes, 0))?;
        if node_bytes != place.bytes || node_bytes as usize > node::bytes_max(kind) {
            return None;
        }
        Node::at(place.block, block, place.offset as usize).filter(|node| node.kind == kind)
    }
}

fn content(image: &[u8], block_bytes: usize, block: u32) -> &[u8] {
    let from = (block as usize).saturating_mul(block_bytes).min(image.len());
    &image[from..image.len().min(from + block_bytes)]
}

fn check(
    what: &'static str,
    value: u64,
    is_right: impl Fn(u64) -> bool,
    expected: &'static str,
) -> Result<u64, Error> {
    if is_right(value) { Ok(value) } else { Err(Error::Superblock { what, value, expected }) }
}

/// Returns the newest intact master node of both copies. The copy in block 1 is written first, but
/// after all nodes to which it refers. So the newest node is valid even if the other copy is
/// missing.
fn master(image: &[u8], block_bytes: usize) -> Option<Master> {
    let copies = [1, 2]
        .into_iter()
        .flat_map(|block| node::scan(block, content(image, block_bytes, block), 0));
    let masters = copies.filter(|node| node.kind == MASTER && node.bytes.len() >= 60).map(|node| {
        let head = node.bytes;
        Master {
            commit: u64_at(head, 32),
            log: u32_at(head, 44),
            root: Place {
                block: u32_at(head, 48),
                offset: u32_at(head, 52),
                bytes: u32_at(head, 56),
            },
            is_dirty: u32_at(head, 40) & DIRTY != 0,
            sequence: node.sequence,
        }
    });
    masters.max_by_key(|master| master.sequence)
}
