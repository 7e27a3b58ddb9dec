//! Layout of the superblock, the hash tree and the signature of an image.
//!
//! ```text
//! image, in blocks of B bytes
//! 0                  D            D + B                               the end
//! | data, with zeros | superblock | top level | ... | level 0 | record |
//! | up to a block    | one block  | one block |     | leaves  | one block
//!
//! superblock: 512 bytes, the rest of the block is zeros
//! 0            8         12          16     32          64           68           72            80          82     88     344    512
//! | "verity\0\0" | version 1 | hash type 1 | UUID | "sha256" 0 | data block B | hash block B | data blocks | salt bytes | zeros | salt | zeros |
//!
//! hash block: B / 32 digests from its begin, the rest is zeros; a digest is SHA-256(salt | block)
//! | digest of block 0 below it | digest of block 1 | ... |
//!
//! record: 120 bytes, the rest of the block is zeros
//! 0            8           12      16          48             56          120
//! | "SteadySG" | version 1 | flags | root hash | data bytes D | signature |
//! ```
//!
//! All numbers are little-endian. Level 0 contains the digests of the data blocks. Level 1 contains
//! the digests of the hash blocks of level 0, and so on. The highest level has one block, and the
//! digest of this block is the root hash. An image of one block has no level: its root hash is the
//! digest of the block.
//!
//! The UUID is the first half of the root hash, so that sealing the same image always produces the
//! same bytes.
//!
//! Bit 0 of the flags is set if the record contains a signature. The signature is an Ed25519
//! signature of the first 56 bytes of the record and the 512 bytes of the superblock. If there is
//! no signature, its bytes are zeros.
//!
//! Sources for everything except the record: Documentation/admin-guide/device-mapper/verity.rst of
//! Linux, and the bytes that `veritysetup` 2.6 of cryptsetup writes.

use core::error::Error;
use core::fmt;

/// Bytes of a SHA-256 digest.
pub const DIGEST_BYTES: usize = 32;
/// Bytes of the superblock. They do not include the rest of its block.
pub const SUPERBLOCK_BYTES: usize = 512;
/// Bytes of the longest salt.
pub const SALT_BYTES_MAX: usize = 256;
/// Bytes of the smallest block.
pub const BLOCK_BYTES_MIN: u32 = 512;
/// Bytes of the largest block.
pub const BLOCK_BYTES_MAX: u32 = 4096;
/// Number of levels of the highest tree. This tree has [`DATA_BYTES_MAX`] bytes of data in the
/// smallest blocks.
pub const LEVELS_MAX: usize = 13;
/// Largest number of bytes of data.
pub const DATA_BYTES_MAX: u64 = 1 << 60;
/// Bytes of the record. They do not include the rest of its block.
pub const RECORD_BYTES: usize = 120;
/// Bytes of an Ed25519 signature.
pub const SIGNATURE_BYTES: usize = 64;
/// Number of signed bytes: the record up to the signature, then the superblock.
pub const MESSAGE_BYTES: usize = SIGNATURE_AT + SUPERBLOCK_BYTES;

const SUPERBLOCK_MAGIC: &[u8; 8] = b"verity\0\0";
const ALGORITHM: &[u8; 6] = b"sha256";
const UUID_AT: usize = 16;
const ALGORITHM_AT: usize = 32;
const DATA_BLOCK_BYTES_AT: usize = 64;
const HASH_BLOCK_BYTES_AT: usize = 68;
const DATA_BLOCKS_AT: usize = 72;
const SALT_BYTES_AT: usize = 80;
const SALT_AT: usize = 88;

const RECORD_MAGIC: &[u8; 8] = b"SteadySG";
const ROOT_HASH_AT: usize = 16;
const DATA_BYTES_AT: usize = 48;
const SIGNATURE_AT: usize = 56;
const FLAG_SIGNED: u32 = 1;

/// The reason why a superblock or a record is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes end too early.
    Short {
        /// Number of bytes that were expected.
        expected: usize,
        /// Number of bytes that were found.
        found: usize,
    },
    /// The superblock or record does not begin with its magic.
    Magic,
    /// The superblock or record has an unsupported version.
    Version {
        /// The version that was found.
        found: u32,
    },
    /// The hash tree has an unsupported type.
    HashType {
        /// The type that was found.
        found: u32,
    },
    /// The digests are not SHA-256.
    Algorithm,
    /// The block size is not supported, or data and hashes have different sizes.
    BlockBytes {
        /// Number of bytes of a data block.
        data: u32,
        /// Number of bytes of a hash block.
        hash: u32,
    },
    /// There is no data, or more data than a tree supports.
    DataBlocks {
        /// Number of data blocks.
        found: u64,
    },
    /// The salt is longer than its field.
    SaltBytes {
        /// Number of bytes of the salt.
        found: usize,
    },
    /// Unknown flags are set.
    Flags {
        /// All flags that were found.
        found: u32,
    },
    /// The flag of the signature is set but the signature is missing. Or the flag is not set but
    /// there is a signature.
    Signature,
    /// A byte that must be zero is not zero.
    NotZero {
        /// Position of the byte, from the start of the superblock or record.
        at: usize,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { expected, found } => {
                write!(out, "has {found} bytes; expected {expected}")
            }
            Self::Magic => write!(out, "does not begin with its magic"),
            Self::Version { found } => write!(out, "has the version {found}; expected 1"),
            Self::HashType { found } => write!(out, "has a hash tree of type {found}; expected 1"),
            Self::Algorithm => write!(out, "has another algorithm than sha256"),
            Self::BlockBytes { data, hash } => {
                write!(
                    out,
                    "has data blocks of {data} bytes and hash blocks of {hash}; expected one power \
                     of two from 512 to 4096"
                )
            }
            Self::DataBlocks { found } => {
                write!(
                    out,
                    "has {found} data blocks; expected at least one, of 2^60 bytes together at most"
                )
            }
            Self::SaltBytes { found } => {
                write!(out, "has a salt of {found} bytes; expected {SALT_BYTES_MAX} at most")
            }
            Self::Flags { found } => write!(out, "has the flags {found:#x}; expected 0 or 1"),
            Self::Signature => {
                write!(out, "has a signature without its flag, or the flag without a signature")
            }
            Self::NotZero { at } => {
                write!(out, "has a byte at {at} that has no meaning and is not zero")
            }
        }
    }
}

impl Error for FormatError {}

/// Bytes that precede each block in the input of its digest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt {
    bytes: [u8; SALT_BYTES_MAX],
    length: usize,
}

impl Salt {
    /// Creates a salt of up to 256 bytes.
    ///
    /// # Errors
    /// [`FormatError::SaltBytes`].
    pub fn new(salt: &[u8]) -> Result<Self, FormatError> {
        let mut bytes = [0; SALT_BYTES_MAX];
        bytes
            .get_mut(..salt.len())
            .ok_or(FormatError::SaltBytes { found: salt.len() })?
            .copy_from_slice(salt);
        Ok(Self { bytes, length: salt.len() })
    }

    /// Returns the salt.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Salt({:02x?})", self.as_bytes())
    }
}

/// The superblock of a hash tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Name of the tree: the first 16 bytes of its root hash.
    pub uuid: [u8; 16],
    /// Bytes of a block of data or hashes: a power of two from 512 to 4096.
    pub block_bytes: u32,
    /// Number of data blocks.
    pub data_blocks: u64,
    /// Bytes that precede each block in the input of its digest.
    pub salt: Salt,
}

impl Superblock {
    /// Parses a superblock from the start of `bytes`. Checks that all unused bytes are zero,
    /// including the bytes behind the superblock.
    ///
    /// # Errors
    /// [`FormatError`]: each kind except those about records.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        check_length(bytes, SUPERBLOCK_BYTES)?;
        check_begin(bytes, SUPERBLOCK_MAGIC)?;
        let hash_type = get32(bytes, 12);
        if hash_type != 1 {
            return Err(FormatError::HashType { found: hash_type });
        }
        let algorithm = &bytes[ALGORITHM_AT..DATA_BLOCK_BYTES_AT];
        if !algorithm.starts_with(ALGORITHM)
            || algorithm[ALGORITHM.len()..].iter().any(|&byte| byte != 0)
        {
            return Err(FormatError::Algorithm);
        }
        let (block_bytes, hash) =
            (get32(bytes, DATA_BLOCK_BYTES_AT), get32(bytes, HASH_BLOCK_BYTES_AT));
        if block_bytes != hash {
            return Err(FormatError::BlockBytes { data: block_bytes, hash });
        }
        let salt_bytes = usize::from(u16::from_le_bytes(array(bytes, SALT_BYTES_AT)));
        if salt_bytes > SALT_BYTES_MAX {
            return Err(FormatError::SaltBytes { found: salt_bytes });
        }
        check_zeros(bytes, SALT_BYTES_AT + 2, SALT_AT)?;
        check_zeros(bytes, SALT_AT + salt_bytes, bytes.len())?;
        let salt = Salt::new(&bytes[SALT_AT..SALT_AT + salt_bytes])?;
        let superblock = Self {
            uuid: array(bytes, UUID_AT),
            block_bytes,
            data_blocks: get64(bytes, DATA_BLOCKS_AT),
            salt,
        };
        superblock.layout()?;
        Ok(superblock)
    }

    /// Returns the bytes of the superblock.
    pub fn emit(&self) -> [u8; SUPERBLOCK_BYTES] {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        bytes[..8].copy_from_slice(SUPERBLOCK_MAGIC);
        put32(&mut bytes, 8, 1);
        put32(&mut bytes, 12, 1);
        bytes[UUID_AT..ALGORITHM_AT].copy_from_slice(&self.uuid);
        bytes[ALGORITHM_AT..ALGORITHM_AT + ALGORITHM.len()].copy_from_slice(ALGORITHM);
        put32(&mut bytes, DATA_BLOCK_BYTES_AT, self.block_bytes);
        put32(&mut bytes, HASH_BLOCK_BYTES_AT, self.block_bytes);
        bytes[DATA_BLOCKS_AT..SALT_BYTES_AT].copy_from_slice(&self.data_blocks.to_le_bytes());
        bytes[SALT_BYTES_AT..SALT_BYTES_AT + 2]
            .copy_from_slice(&(self.salt.length as u16).to_le_bytes());
        bytes[SALT_AT..SALT_AT + SALT_BYTES_MAX].copy_from_slice(&self.salt.bytes);
        bytes
    }

    /// Returns the positions of all blocks.
    ///
    /// # Errors
    /// [`FormatError::BlockBytes`], [`FormatError::DataBlocks`].
    pub fn layout(&self) -> Result<Layout, FormatError> {
        Layout::new(self.data_blocks, self.block_bytes)
    }
}

/// The record behind the tree: the root hash, and its signature if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Digest of the top hash block.
    pub root_hash: [u8; DIGEST_BYTES],
    /// Number of bytes of data. The superblock begins behind the data.
    pub data_bytes: u64,
    /// The signature.
    pub signature: Option<[u8; SIGNATURE_BYTES]>,
}

impl Record {
    /// Parses a record from the start of `bytes`. Checks that all bytes behind the record are zero.
    /// Does not check the signature.
    ///
    /// # Errors
    /// [`FormatError::Short`], [`FormatError::Magic`], [`FormatError::Version`],
    /// [`FormatError::Flags`], [`FormatError::Signature`], [`FormatError::NotZero`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        check_length(bytes, RECORD_BYTES)?;
        check_begin(bytes, RECORD_MAGIC)?;
        let flags = get32(bytes, 12);
        if flags & !FLAG_SIGNED != 0 {
            return Err(FormatError::Flags { found: flags });
        }
        let signature: [u8; SIGNATURE_BYTES] = array(bytes, SIGNATURE_AT);
        if (flags & FLAG_SIGNED != 0) == (signature == [0; SIGNATURE_BYTES]) {
            return Err(FormatError::Signature);
        }
        check_zeros(bytes, RECORD_BYTES, bytes.len())?;
        let signature = (flags & FLAG_SIGNED != 0).then_some(signature);
        Ok(Self {
            root_hash: array(bytes, ROOT_HASH_AT),
            data_bytes: get64(bytes, DATA_BYTES_AT),
            signature,
        })
    }

    /// Returns the bytes of the record.
    pub fn emit(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..SIGNATURE_AT].copy_from_slice(&self.begin(self.signature.is_some()));
        if let Some(signature) = &self.signature {
            bytes[SIGNATURE_AT..].copy_from_slice(signature);
        }
        bytes
    }

    /// Returns the signed message: the record up to the signature, and the bytes of the superblock.
    /// In this record the flag of the signature is set.
    pub fn message(&self, superblock: &[u8; SUPERBLOCK_BYTES]) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        message[..SIGNATURE_AT].copy_from_slice(&self.begin(true));
        message[SIGNATURE_AT..].copy_from_slice(superblock);
        message
    }

    fn begin(&self, signed: bool) -> [u8; SIGNATURE_AT] {
        let mut bytes = [0; SIGNATURE_AT];
        bytes[..8].copy_from_slice(RECORD_MAGIC);
        put32(&mut bytes, 8, 1);
        put32(&mut bytes, 12, if signed { FLAG_SIGNED } else { 0 });
        bytes[ROOT_HASH_AT..DATA_BYTES_AT].copy_from_slice(&self.root_hash);
        bytes[DATA_BYTES_AT..].copy_from_slice(&self.data_bytes.to_le_bytes());
        bytes
    }
}

/// Positions of the blocks of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    data_blocks: u64,
    block_bytes: u32,
    levels: usize,
    /// Index of the first block of each level.
    starts: [u64; LEVELS_MAX],
    /// Index of the record's block.
    record_block: u64,
}

/// Position of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of its hash block in the level. The level above contains the digest of that block at
    /// the same index.
    pub index: u64,
    /// Index of its hash block in the image.
    pub block: u64,
    /// Offset of the digest in its hash block, in bytes.
    pub at: usize,
}

impl Layout {
    /// Computes the positions of the blocks of an image with `data_blocks` data blocks.
    ///
    /// # Errors
    /// [`FormatError::BlockBytes`], [`FormatError::DataBlocks`].
    pub fn new(data_blocks: u64, block_bytes: u32) -> Result<Self, FormatError> {
        if !block_bytes.is_power_of_two()
            || !(BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&block_bytes)
        {
            return Err(FormatError::BlockBytes { data: block_bytes, hash: block_bytes });
        }
        if data_blocks == 0 || data_blocks > DATA_BYTES_MAX / u64::from(block_bytes) {
            return Err(FormatError::DataBlocks { found: data_blocks });
        }
        let mut layout =
            Self { data_blocks, block_bytes, levels: 0, starts: [0; LEVELS_MAX], record_block: 0 };
        while layout.level_blocks_below(layout.levels) > 1 {
            layout.levels += 1;
        }
        layout.record_block = data_blocks + 1;
        for level in (0..layout.levels).rev() {
            layout.starts[level] = layout.record_block;
            layout.record_block += layout.level_blocks_below(level + 1);
        }
        Ok(layout)
    }

    /// Returns the number of data blocks.
    pub fn data_blocks(&self) -> u64 {
        self.data_blocks
    }

    /// Returns the number of bytes of a block.
    pub fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Returns the number of bytes of data. The superblock begins behind the data.
    pub fn data_bytes(&self) -> u64 {
        self.data_blocks * u64::from(self.block_bytes)
    }

    /// Returns the number of levels of hash blocks. It is 0 if there is one data block.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Returns the number of hash blocks of a level. Returns 0 if there is no such level.
    pub fn level_blocks(&self, level: usize) -> u64 {
        if level < self.levels { self.level_blocks_below(level + 1) } else { 0 }
    }

    /// Returns the index of a hash block in the image. Returns `None` if the level has no such
    /// block.
    pub fn hash_block(&self, level: usize, index: u64) -> Option<u64> {
        (index < self.level_blocks(level)).then(|| self.starts[level] + index)
    }

    /// Returns the place of a digest in a level. In level 0, `index` is the index of a data block.
    /// In the other levels, it is the index of a hash block in the level below. Returns `None` if
    /// there is no such level or block.
    pub fn place(&self, level: usize, index: u64) -> Option<Place> {
        if level >= self.levels || index >= self.level_blocks_below(level) {
            return None;
        }
        let shift = self.digests_shift();
        let slot = index & ((1 << shift) - 1);
        Some(Place {
            index: index >> shift,
            block: self.starts[level] + (index >> shift),
            at: slot as usize * DIGEST_BYTES,
        })
    }

    /// Returns the offset of the record, in bytes.
    pub fn record_offset(&self) -> u64 {
        self.record_block * u64::from(self.block_bytes)
    }

    /// Returns the number of bytes of the image with all appended blocks.
    pub fn total_bytes(&self) -> u64 {
        (self.record_block + 1) * u64::from(self.block_bytes)
    }

    /// Returns the binary logarithm of the number of digests in a hash block.
    fn digests_shift(&self) -> u32 {
        (self.block_bytes / DIGEST_BYTES as u32).trailing_zeros()
    }

    /// Returns the number of blocks whose digests are in a level. For level 0, these are data
    /// blocks.
    fn level_blocks_below(&self, level: usize) -> u64 {
        let shift = self.digests_shift() * level as u32;
        ((self.data_blocks - 1).checked_shr(shift).unwrap_or(0)) + 1
    }
}

fn check_length(bytes: &[u8], expected: usize) -> Result<(), FormatError> {
    if bytes.len() < expected {
        Err(FormatError::Short { expected, found: bytes.len() })
    } else {
        Ok(())
    }
}

/// Checks the magic, and that the version behind it is 1.
fn check_begin(bytes: &[u8], magic: &[u8; 8]) -> Result<(), FormatError> {
    if !bytes.starts_with(magic) {
        return Err(FormatError::Magic);
    }
    match get32(bytes, 8) {
        1 => Ok(()),
        found => Err(FormatError::Version { found }),
    }
}

fn check_zeros(bytes: &[u8], from: usize, to: usize) -> Result<(), FormatError> {
    match bytes[from..to].iter().position(|&byte| byte != 0) {
        None => Ok(()),
        Some(at) => Err(FormatError::NotZero { at: from + at }),
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn get64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

fn put32(bytes: &mut [u8], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn superblock() -> Superblock {
        let salt = Salt::new(&[9; 3]).expect("short enough");
        Superblock { uuid: *b"0123456789abcdef", block_bytes: 1024, data_blocks: 33, salt }
    }

    #[test]
    fn a_superblock_is_read_as_it_was_written() {
        let bytes = superblock().emit();
        assert_eq!(Superblock::parse(&bytes), Ok(superblock()));
        let mut block = [0; 1024];
        block[..512].copy_from_slice(&bytes);
        assert_eq!(Superblock::parse(&block), Ok(superblock()));
        block[1023] = 1;
        assert_eq!(Superblock::parse(&block), Err(FormatError::NotZero { at: 1023 }));
        assert_eq!(
            Superblock::parse(&bytes[..511]),
            Err(FormatError::Short { expected: 512, found: 511 })
        );
    }

    #[test]
    fn each_bit_of_a_superblock_has_a_meaning() {
        let bytes = superblock().emit();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Superblock::parse(&flipped), Ok(superblock()), "bit {bit}");
        }
    }

    #[test]
    fn each_bit_of_a_record_has_a_meaning() {
        for signature in [None, Some([5; 64])] {
            let record = Record { root_hash: [7; 32], data_bytes: 33 * 1024, signature };
            let mut block = [0; 512];
            block[..RECORD_BYTES].copy_from_slice(&record.emit());
            assert_eq!(Record::parse(&block), Ok(record));
            for bit in 0..block.len() * 8 {
                let mut flipped = block;
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(Record::parse(&flipped), Ok(record), "bit {bit}");
            }
        }
        assert_eq!(Record::parse(&[0; 119]), Err(FormatError::Short { expected: 120, found: 119 }));
    }

    #[test]
    fn the_message_is_the_record_and_the_superblock() {
        let record = Record { root_hash: [7; 32], data_bytes: 33 * 1024, signature: Some([5; 64]) };
        let message = record.message(&superblock().emit());
        assert_eq!(message[..56], record.emit()[..56]);
        assert_eq!(message[56..], superblock().emit());
        assert_eq!(Record { signature: None, ..record }.message(&superblock().emit()), message);
    }

    #[test]
    fn levels_lie_one_behind_the_other_from_the_top() {
        // A hash block holds 16 digests. So 257 data blocks need 17 blocks in level 0, 2 blocks in
        // level 1, and 1 block in level 2.
        let layout = Layout::new(257, 512).expect("a tree");
        assert_eq!(layout.levels(), 3);
        assert_eq!(
            [2, 1, 0].map(|level| (layout.starts[level], layout.level_blocks(level))),
            [(258, 1), (259, 2), (261, 17)]
        );
        assert_eq!((layout.record_offset(), layout.total_bytes()), (278 * 512, 279 * 512));
        assert_eq!(layout.place(0, 256), Some(Place { index: 16, block: 277, at: 0 }));
        assert_eq!(layout.place(0, 37), Some(Place { index: 2, block: 263, at: 5 * 32 }));
        assert_eq!(layout.place(1, 16), Some(Place { index: 1, block: 260, at: 0 }));
        assert_eq!(layout.place(2, 1), Some(Place { index: 0, block: 258, at: 32 }));
        assert_eq!([layout.place(0, 257), layout.place(2, 2), layout.place(3, 0)], [None; 3]);
        assert_eq!(
            [layout.hash_block(0, 16), layout.hash_block(0, 17), layout.hash_block(3, 0)],
            [Some(277), None, None]
        );
    }

    #[test]
    fn one_data_block_has_no_tree() {
        let layout = Layout::new(1, 4096).expect("a block");
        assert_eq!((layout.levels(), layout.record_offset(), layout.place(0, 0)), (0, 8192, None));
        assert_eq!(Layout::new(2, 4096).expect("a tree").levels(), 1);
        assert_eq!(Layout::new(128, 4096).expect("a tree").levels(), 1);
        assert_eq!(Layout::new(129, 4096).expect("a tree").levels(), 2);
    }

    #[test]
    fn the_largest_image_has_a_layout() {
        for block_bytes in [512, 1024, 2048, 4096] {
            let blocks = DATA_BYTES_MAX / u64::from(block_bytes);
            let layout = Layout::new(blocks, block_bytes).expect("a tree");
            assert!(layout.levels() <= LEVELS_MAX && layout.total_bytes() < 2 * DATA_BYTES_MAX);
            assert_eq!(layout.place(layout.levels() - 1, 1).map(|place| place.index), Some(0));
            assert_eq!(layout.level_blocks(layout.levels() - 1), 1);
            assert!(
                layout
                    .place(0, blocks - 1)
                    .is_some_and(|place| place.block == layout.record_block - 1)
            );
            assert_eq!(
                Layout::new(blocks + 1, block_bytes),
                Err(FormatError::DataBlocks { found: blocks + 1 })
            );
        }
        for block_bytes in [0, 256, 513, 8192, 1 << 31] {
            assert!(Layout::new(1, block_bytes).is_err());
        }
    }
}
