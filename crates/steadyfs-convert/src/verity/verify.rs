//! Verification of a sealed image.

use super::Error;
use super::digest::Salted;
use super::sign::check;
use steadyfs_rom::verity::format::{
    DIGEST_BYTES, FormatError, Layout, Record, SUPERBLOCK_BYTES, Superblock,
};

/// Trusted value, which the caller obtains from a source other than the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusted {
    /// The root hash. It covers the data only together with the number of data bytes, so this
    /// number must come from the same source. Without this number, hash blocks could pass as data.
    /// With a root hash, the signature is not checked.
    Root([u8; 32]),
    /// The public key that signed the image. The signature covers the root hash, the number of data
    /// bytes, and the superblock.
    Key([u8; 32]),
}

/// Checks all bytes of a sealed image, whose superblock is at `hash_offset`. It checks the
/// superblock and the record, then each block from the top of the tree to the data. If the trusted
/// value is the root hash, the bytes of a signature are not checked. All other bytes are checked.
///
/// # Errors
/// The first mismatch. [`Error::HashBlock`] and [`Error::DataBlock`] contain the index of a block.
/// All other kinds describe a fault of the superblock or the record.
pub fn verify(bytes: &[u8], hash_offset: u64, trusted: Trusted) -> Result<(), Error> {
    let superblock = read_superblock(bytes, hash_offset)?;
    let layout =
        superblock.layout().map_err(|source| Error::Superblock { offset: hash_offset, source })?;
    if layout.data_bytes() != hash_offset {
        return Err(Error::DataBytes { offset: hash_offset, found: layout.data_bytes() });
    }
    if layout.total_bytes() != bytes.len() as u64 {
        return Err(Error::Length { expected: layout.total_bytes(), found: bytes.len() as u64 });
    }
    let record = read_record(bytes, &layout)?;
    check_record(&record, &superblock, hash_offset, trusted)?;
    let image =
        Image { bytes, layout, salted: Salted::new(&superblock.salt), root_hash: record.root_hash };
    image.check_tree()?;
    image.check_data()
}

/// Reads the superblock, and checks that the rest of its block is zeros.
fn read_superblock(bytes: &[u8], offset: u64) -> Result<Superblock, Error> {
    let error = |source| Error::Superblock { offset, source };
    let rest =
        usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    let short = |expected: usize| error(FormatError::Short { expected, found: rest.len() });
    let superblock =
        Superblock::parse(rest.get(..SUPERBLOCK_BYTES).ok_or_else(|| short(SUPERBLOCK_BYTES))?)
            .map_err(error)?;
    let block_bytes = superblock.block_bytes as usize;
    Superblock::parse(rest.get(..block_bytes).ok_or_else(|| short(block_bytes))?).map_err(error)
}

fn read_record(bytes: &[u8], layout: &Layout) -> Result<Record, Error> {
    let offset = layout.record_offset();
    Record::parse(&bytes[offset as usize..]).map_err(|source| Error::Record { offset, source })
}

fn check_record(
    record: &Record,
    superblock: &Superblock,
    hash_offset: u64,
    trusted: Trusted,
) -> Result<(), Error> {
    match trusted {
        Trusted::Root(expected) if expected != record.root_hash => {
            return Err(Error::RootHash { expected, found: record.root_hash });
        }
        Trusted::Root(_) => {}
        Trusted::Key(key) => {
            let signature = record.signature.ok_or(Error::NotSigned)?;
            check(&key, &record.message(&superblock.emit()), &signature)?;
        }
    }
    match record.data_bytes == hash_offset && record.root_hash.starts_with(&superblock.uuid) {
        true => Ok(()),
        false => Err(Error::RecordOfAnother),
    }
}

/// An image whose superblock matches its length.
struct Image<'a> {
    bytes: &'a [u8],
    layout: Layout,
    salted: Salted,
    root_hash: [u8; DIGEST_BYTES],
}

impl Image<'_> {
    /// Checks all levels, from the top down, so that each level is checked against digests that are
    /// already checked.
    fn check_tree(&self) -> Result<(), Error> {
        for level in (0..self.layout.levels()).rev() {
            for index in 0..self.layout.level_blocks(level) {
                let block = self
                    .layout
                    .hash_block(level, index)
                    .expect("the level has a block of this index");
                if self.digest(block) != self.expected(level + 1, index) {
                    return Err(Error::HashBlock { level, index, offset: self.offset(block) });
                }
            }
        }
        Ok(())
    }

    fn check_data(&self) -> Result<(), Error> {
        match (0..self.layout.data_blocks())
            .find(|&index| self.digest(index) != self.expected(0, index))
        {
            Some(index) => Err(Error::DataBlock { index, offset: self.offset(index) }),
            None => Ok(()),
        }
    }

    fn digest(&self, block: u64) -> [u8; DIGEST_BYTES] {
        let from = self.offset(block) as usize;
        self.salted.digest(&self.bytes[from..from + self.layout.block_bytes() as usize])
    }

    /// Returns the digest that a level contains for a block of the level below. Above the top
    /// level, the digest is the root hash.
    fn expected(&self, level: usize, index: u64) -> &[u8] {
        match self.layout.place(level, index) {
            None => &self.root_hash,
            Some(place) => {
                let from = self.offset(place.block) as usize + place.at;
                &self.bytes[from..from + DIGEST_BYTES]
            }
        }
    }

    fn offset(&self, block: u64) -> u64 {
        block * u64::from(self.layout.block_bytes())
    }
}
