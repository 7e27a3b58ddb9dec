//! Sealing: from an image to a sealed image.

use super::Error;
use super::digest::Salted;
use super::sign::{public_key, sign};
use steadyfs_rom::verity::format::{
    BLOCK_BYTES_MAX, DIGEST_BYTES, Layout, Record, Salt, Superblock,
};

/// Settings of a sealed image.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of a block of data or hashes: a power of two from 512 to 4096. With larger blocks the
    /// tree is smaller, but each read must check at least one block. Usual: 4096.
    pub block_bytes: u32,
    /// Bytes that precede each block in the input of its digest, up to 256. Usual: none.
    pub salt: Vec<u8>,
    /// Secret seed of the key that signs the image. Usual: none. The image is then not signed.
    pub key: Option<[u8; 32]>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { block_bytes: BLOCK_BYTES_MAX, salt: Vec::new(), key: None }
    }
}

impl std::fmt::Debug for Settings {
    /// Shows everything except the key.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.map(|_| "secret");
        out.debug_struct("Settings")
            .field("block_bytes", &self.block_bytes)
            .field("salt", &self.salt)
            .field("key", &key)
            .finish()
    }
}

/// An image with its hash tree and its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The image with all appended parts. It consists of whole blocks.
    pub bytes: Vec<u8>,
    /// Root hash of the tree, which covers all data blocks.
    pub root_hash: [u8; 32],
    /// Offset of the superblock in bytes, which is the end of the data.
    pub hash_offset: u64,
    /// Public key that checks the signature, if the image is signed.
    pub public_key: Option<[u8; 32]>,
}

/// Appends the superblock, the hash tree and the record to an image. Zeros fill the image up to
/// whole blocks. The same image, settings and key always produce the same bytes.
///
/// # Errors
/// [`Error::Empty`], [`Error::Settings`], [`Error::Key`].
pub fn append(image: Vec<u8>, settings: &Settings) -> Result<Sealed, Error> {
    if image.is_empty() {
        return Err(Error::Empty);
    }
    let salt = Salt::new(&settings.salt).map_err(Error::Settings)?;
    let data_blocks = (image.len() as u64).div_ceil(u64::from(settings.block_bytes.max(1)));
    let layout = Layout::new(data_blocks, settings.block_bytes).map_err(Error::Settings)?;
    let mut bytes = image;
    bytes.resize(layout.total_bytes() as usize, 0);
    let root_hash = append_tree(&mut bytes, &layout, &Salted::new(&salt));
    let uuid = std::array::from_fn(|at| root_hash[at]);
    let superblock =
        Superblock { uuid, block_bytes: settings.block_bytes, data_blocks, salt }.emit();
    put(&mut bytes, layout.data_bytes(), &superblock);
    let mut record = Record { root_hash, data_bytes: layout.data_bytes(), signature: None };
    if let Some(seed) = &settings.key {
        record.signature = Some(sign(seed, &record.message(&superblock))?);
    }
    put(&mut bytes, layout.record_offset(), &record.emit());
    let public_key = settings.key.as_ref().map(public_key).transpose()?;
    Ok(Sealed { bytes, root_hash, hash_offset: layout.data_bytes(), public_key })
}

/// Fills the levels from the leaves to the top. Returns the root hash.
fn append_tree(bytes: &mut [u8], layout: &Layout, salted: &Salted) -> [u8; DIGEST_BYTES] {
    let block_bytes = layout.block_bytes() as usize;
    let digest = |bytes: &[u8], block: u64| {
        let from = block as usize * block_bytes;
        salted.digest(&bytes[from..from + block_bytes])
    };
    let mut below = 0..layout.data_blocks();
    for level in 0..layout.levels() {
        for (index, block) in below.clone().enumerate() {
            let place = layout
                .place(level, index as u64)
                .expect("a block of the level below has a place in this level");
            let digest = digest(bytes, block);
            put(bytes, place.block * block_bytes as u64 + place.at as u64, &digest);
        }
        let start = layout.hash_block(level, 0).expect("a level has a block");
        below = start..start + layout.level_blocks(level);
    }
    digest(bytes, below.start)
}

fn put(bytes: &mut [u8], offset: u64, content: &[u8]) {
    bytes[offset as usize..offset as usize + content.len()].copy_from_slice(content);
}
