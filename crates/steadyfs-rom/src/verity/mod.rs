//! Hash trees of dm-verity, and signatures. Each block of an image can be checked by itself, with
//! one trusted hash or key.

pub mod format;
mod tree;

use crate::bound::Bound;
use crate::cramfs;
use crate::error::Error;
use crate::source::{Source, within};
use crate::squash;
use format::{
    BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, DIGEST_BYTES, Layout, RECORD_BYTES, Record, SUPERBLOCK_BYTES,
    Superblock,
};
use tree::{Hashes, digest};

/// Trusted value against which an image is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trusted {
    /// The root hash and the length of the image, which the firmware or a boot loader contains.
    Root {
        /// The root hash.
        hash: [u8; DIGEST_BYTES],
        /// Number of bytes of the image, including the zeros that fill its last block. This is the
        /// offset of the tree's superblock. Without this number, blocks of the tree could pass as
        /// blocks of the image.
        bytes: u64,
    },
    /// The Ed25519 key that signed the image.
    #[cfg(feature = "ed25519")]
    Key([u8; 32]),
}

/// An image with a hash tree. A read fails unless each block that it reads has the signed content.
///
/// The tree has the format of dm-verity, so Linux can verify the same image. A block is checked
/// each time it is read from the medium.
///
/// # Example
/// ```no_run
/// # use steadyfs_rom::{Error, Source};
/// # fn example(flash: impl Source, key: [u8; 32]) -> Result<(), Error> {
/// use steadyfs_rom::{Squash, Trusted, Verified};
///
/// // A block of the image and three blocks of the tree.
/// let mut blocks = [0; Verified::<()>::memory_bytes(1024, 3)];
/// let mut memory = [0; 12_480];
/// # let trusted = Trusted::Root { hash: key, bytes: 0 };
/// # #[cfg(feature = "ed25519")]
/// let trusted = Trusted::Key(key);
/// let image = Verified::open(flash, trusted, &mut blocks)?;
/// let mut rom = Squash::mount(image, &mut memory)?;
/// let file = rom.open("bin/application")?;
/// # Ok(())
/// # }
/// ```
pub struct Verified<'m, S> {
    source: S,
    superblock: Superblock,
    layout: Layout,
    root: [u8; DIGEST_BYTES],
    hashes: Hashes<'m>,
    block: &'m mut [u8],
    held: Option<u64>,
}

impl Verified<'_, ()> {
    /// Returns the number of bytes of memory for one block of the image and `hash_blocks` blocks of
    /// the tree. `hash_blocks` is one to eight. If it is the number of levels of the tree, reads of
    /// consecutive blocks do not read the same hash blocks again.
    pub const fn memory_bytes(block_bytes: usize, hash_blocks: usize) -> usize {
        block_bytes * (1 + hash_blocks)
    }
}

impl<'m, S: Source> Verified<'m, S> {
    /// Finds the tree behind a squashfs or cramfs image, and checks its root hash against the
    /// trusted value.
    ///
    /// # Cost
    /// The call reads the image's superblock, and up to four possible positions of the tree's
    /// superblock. If the trusted value is a key, the call also reads the record and checks one
    /// signature.
    ///
    /// # Errors
    /// [`Error::NotSigned`], [`Error::NoImage`], [`Error::MemoryTooSmall`]; errors of the source.
    pub fn open(mut source: S, trusted: Trusted, memory: &'m mut [u8]) -> Result<Self, Error> {
        let offset = find(&mut source)?;
        Self::open_at(source, offset, trusted, memory)
    }

    /// Opens an image of any format as [`open`](Self::open) does. The superblock of the tree is at
    /// the given offset.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_at(
        mut source: S,
        offset: u64,
        trusted: Trusted,
        memory: &'m mut [u8],
    ) -> Result<Self, Error> {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        source.read(offset, &mut bytes)?;
        let superblock = Superblock::parse(&bytes).map_err(|_| Error::NotSigned)?;
        let layout = superblock.layout().map_err(|_| Error::NotSigned)?;
        let root = root_hash(&mut source, &bytes, &layout, trusted)?;
        let block_bytes = superblock.block_bytes as usize;
        let (needed, lent) = (Verified::memory_bytes(block_bytes, 1), memory.len());
        if layout.data_bytes() != offset {
            return Err(Error::NotSigned);
        }
        if lent < needed {
            return Err(Error::MemoryTooSmall { needed, lent });
        }
        let (block, rest) = memory.split_at_mut(block_bytes);
        Ok(Self { source, superblock, layout, root, hashes: Hashes::new(rest), block, held: None })
    }

    /// Returns the source.
    pub fn into_inner(self) -> S {
        self.source
    }

    /// Returns a reference to the source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the root hash.
    pub const fn root_hash(&self) -> &[u8; DIGEST_BYTES] {
        &self.root
    }

    /// Returns the number of bytes of a block.
    pub const fn block_bytes(&self) -> u32 {
        self.superblock.block_bytes
    }

    /// Loads a block of the image into the buffer, and checks that it has the signed content.
    fn hold(&mut self, index: u64) -> Result<(), Error> {
        if self.held == Some(index) {
            return Ok(());
        }
        self.held = None;
        let expected = self.hashes.digest_of(
            &mut self.source,
            &self.layout,
            &self.superblock.salt,
            &self.root,
            index,
        )?;
        self.source.read(index * self.block.len() as u64, self.block)?;
        if digest(&self.superblock.salt, self.block) != expected {
            return Err(Error::NotAuthentic(index));
        }
        self.held = Some(index);
        Ok(())
    }
}

impl<S: Source> Source for Verified<'_, S> {
    /// Returns the number of signed bytes.
    fn bytes(&self) -> u64 {
        self.layout.data_bytes()
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        within(offset, data.len(), self.bytes())?;
        let block_bytes = self.block.len();
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            self.hold(at / block_bytes as u64)?;
            let start = (at % block_bytes as u64) as usize;
            let count = (block_bytes - start).min(data.len() - done);
            data[done..done + count].copy_from_slice(&self.block[start..start + count]);
            done += count;
        }
        Ok(())
    }

    /// Counts each block that the bytes can touch, and for each block a path down the tree.
    fn bound(&self, bytes: u64, _pieces: u64) -> Bound {
        let block_bytes = self.block.len() as u64;
        let blocks = (bytes + 2 * block_bytes - 2) / block_bytes;
        let each = self
            .source
            .bound(block_bytes, 1)
            .plus(Bound { hashed_bytes: block_bytes, ..Bound::default() });
        each.times(blocks * (1 + self.layout.levels() as u64))
    }
}

/// Returns the root hash if it is trusted.
fn root_hash(
    source: &mut impl Source,
    superblock: &[u8; SUPERBLOCK_BYTES],
    layout: &Layout,
    trusted: Trusted,
) -> Result<[u8; DIGEST_BYTES], Error> {
    match trusted {
        Trusted::Root { hash, bytes } if bytes == layout.data_bytes() => Ok(hash),
        Trusted::Root { .. } => Err(Error::NotSigned),
        #[cfg(feature = "ed25519")]
        Trusted::Key(key) => {
            let record = record(source, layout)?;
            let signature = record.signature.ok_or(Error::NotSigned)?;
            let key = ed25519_compact::PublicKey::new(key);
            let signature = ed25519_compact::Signature::new(signature);
            key.verify(record.message(superblock), &signature).map_err(|_| Error::NotSigned)?;
            Ok(record.root_hash)
        }
    }
    .inspect(|_| {
        #[cfg(not(feature = "ed25519"))]
        let _ = (source, superblock, layout);
    })
}

/// Reads the record behind a tree. It is not authenticated yet.
///
/// # Errors
/// [`Error::NotSigned`]; errors of the source.
pub fn record(source: &mut impl Source, layout: &Layout) -> Result<Record, Error> {
    let mut bytes = [0; RECORD_BYTES];
    source.read(layout.record_offset(), &mut bytes)?;
    let record = Record::parse(&bytes).map_err(|_| Error::NotSigned)?;
    if record.data_bytes == layout.data_bytes() { Ok(record) } else { Err(Error::NotSigned) }
}

/// Finds the superblock of the tree behind a squashfs or cramfs image, with the length that the
/// image's superblock contains. This length is not authenticated yet.
///
/// # Errors
/// [`Error::NoImage`], [`Error::NotSigned`]; errors of the source.
pub fn find(source: &mut impl Source) -> Result<u64, Error> {
    let bytes = image_bytes(source)?;
    let mut block = u64::from(BLOCK_BYTES_MIN);
    while block <= u64::from(BLOCK_BYTES_MAX) {
        let offset = bytes.checked_next_multiple_of(block).ok_or(Error::NotSigned)?;
        let mut superblock = [0; SUPERBLOCK_BYTES];
        match source.read(offset, &mut superblock) {
            Ok(()) if is_tree_at(&superblock, offset) => return Ok(offset),
            Ok(()) | Err(Error::End(_)) => {}
            Err(error) => return Err(error),
        }
        block *= 2;
    }
    Err(Error::NotSigned)
}

/// Returns true if the bytes are the superblock of a tree over all bytes before `offset`.
fn is_tree_at(superblock: &[u8; SUPERBLOCK_BYTES], offset: u64) -> bool {
    let layout = Superblock::parse(superblock).and_then(|superblock| superblock.layout());
    layout.is_ok_and(|layout| layout.data_bytes() == offset)
}

/// Returns the length of a squashfs or cramfs image, from its superblock.
fn image_bytes(source: &mut impl Source) -> Result<u64, Error> {
    let mut bytes = [0; squash::format::SUPERBLOCK_BYTES];
    source.read(0, &mut bytes)?;
    match squash::format::Superblock::parse(&bytes) {
        Err(Error::NoImage) => {}
        parsed => return Ok(parsed?.bytes_used),
    }
    let mut bytes = [0; cramfs::format::SUPERBLOCK_BYTES];
    source.read(0, &mut bytes)?;
    Ok(u64::from(cramfs::format::Superblock::parse(&bytes)?.size))
}
