//! Reader of UBI images, the layer below UBIFS, which provides volumes of logical erase blocks.
//!
//! An image of ubinize and a dump of a whole MTD partition without out-of-band bytes have the same
//! form: a sequence of physical erase blocks. Each block has two headers. The first header contains
//! the offsets of the second header and of the data. The second header contains the numbers of the
//! volume and of the logical erase block. If two physical blocks have the same numbers, the newer
//! block is used, unless it is an unfinished copy.
//!
//! - `header` parses the headers;
//! - `geometry` finds the size of a physical erase block, which is in no header;
//! - `table` reads names and kinds of the volumes.
//!
//! Source: drivers/mtd/ubi/ubi-media.h of Linux.

mod error;
mod geometry;
mod header;
mod table;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{SMALL_BLOCK_BYTES, small};

pub use error::Error;

use header::{LAYOUT, VolumeHeader};
use std::collections::BTreeMap;
use table::Record;

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Number of the volume.
    pub id: u32,
    /// Name of the volume.
    pub name: String,
    /// True if the content of the volume was written once and has a checksum. If false, a file
    /// system writes to the volume.
    pub is_static: bool,
    /// True if an update of the volume began and did not end. Its content is then not reliable.
    pub is_update_cut: bool,
    /// Number of bytes of a logical erase block.
    pub block_bytes: usize,
    /// Content of the volume. Missing logical erase blocks are filled with 0xff.
    pub bytes: Vec<u8>,
}

/// A physical erase block that belongs to a volume.
#[derive(Clone, Copy)]
struct Block<'a> {
    header: VolumeHeader,
    /// The bytes from the start of the data to the end of the block.
    data: &'a [u8],
}

/// The best physical erase block for each volume and logical erase block.
type Blocks<'a> = BTreeMap<u32, BTreeMap<u32, Block<'a>>>;

/// Returns true if these bytes begin with the magic of an erase block's header, as a UBI image
/// does.
pub fn is_ubi(image: &[u8]) -> bool {
    image.starts_with(header::ERASE_MAGIC)
}

/// Returns true if these bytes contain an intact header of an erase block.
pub(crate) fn has_header(image: &[u8]) -> bool {
    geometry::has_header(image)
}

/// Returns true if the image has intact headers at equal distances. The first erase block may be
/// erased or damaged.
pub fn is_damaged_ubi(image: &[u8]) -> bool {
    geometry::has_blocks(image)
}

/// Returns the volumes of an image, in the order of their numbers.
///
/// The volumes need about as much memory as the image.
///
/// # Errors
/// [`enum@Error`] of each kind.
pub fn volumes(image: &[u8]) -> Result<Vec<Volume>, Error> {
    let physical_bytes = geometry::find(image)?;
    let count = image.len().div_ceil(physical_bytes);
    let mut blocks = blocks(image, physical_bytes)?;
    let layout = blocks.remove(&LAYOUT).unwrap_or_default();
    let records =
        layout.values().find_map(|block| table::parse(block.data)).ok_or(Error::NoTable)?;
    let mut count_left = count;
    let mut volumes = Vec::new();
    for record in records {
        let of_volume = blocks.remove(&record.id).unwrap_or_default();
        let last = of_volume.keys().next_back().copied();
        if let Some(block) = last.filter(|&last| last as usize >= count) {
            return Err(Error::Place { id: record.id, block, count });
        }
        let used = last.map_or(0, |last| last as usize + 1);
        count_left = count_left.checked_sub(used).ok_or(Error::TooLarge(count))?;
        volumes.push(volume(record, &of_volume)?);
    }
    Ok(volumes)
}

/// Scans the physical erase blocks, and selects the best block for each volume and logical erase
/// block.
fn blocks(image: &[u8], physical_bytes: usize) -> Result<Blocks<'_>, Error> {
    let mut blocks = Blocks::new();
    for physical in image.chunks(physical_bytes) {
        let Some(block) = block(physical) else { continue };
        let VolumeHeader { volume, block: place, .. } = block.header;
        if header::is_internal(volume) && volume != LAYOUT {
            if block.header.must_be_known() {
                return Err(Error::UnknownVolume(volume));
            }
            continue;
        }
        let of_volume = blocks.entry(volume).or_default();
        match of_volume.get(&place) {
            Some(known) if !is_better(&block, known) => {}
            _ => drop(of_volume.insert(place, block)),
        }
    }
    Ok(blocks)
}

/// Returns the block in a physical erase block, if both of its headers are intact. Other blocks are
/// erased, bad, or unfinished.
fn block(physical: &[u8]) -> Option<Block<'_>> {
    let erase = header::EraseHeader::parse(physical)?;
    let header = VolumeHeader::parse(physical.get(erase.volume_header..)?)?;
    Some(Block { header, data: physical.get(erase.data..)? })
}

/// Returns true if a block is better than another block with the same numbers: it is newer, and it
/// is not an unfinished copy.
fn is_better(block: &Block<'_>, other: &Block<'_>) -> bool {
    let is_newer = block.header.sequence > other.header.sequence;
    let (newer, older) = if is_newer { (block, other) } else { (other, block) };
    let is_cut =
        newer.header.is_copy && !newer.is_whole() && older.header.sequence != newer.header.sequence;
    is_newer != is_cut
}

impl Block<'_> {
    /// Returns true if the data has the checksum in the header.
    fn is_whole(&self) -> bool {
        let data = self.data.get(..self.header.data_bytes as usize);
        data.is_some_and(|data| header::crc(data) == self.header.data_crc)
    }
}

/// Assembles the content of a volume.
fn volume(record: Record, blocks: &BTreeMap<u32, Block<'_>>) -> Result<Volume, Error> {
    let room = blocks.values().map(|block| block.data.len()).max().unwrap_or(0);
    let block_bytes = room.saturating_sub(record.pad_bytes as usize);
    let bytes =
        if record.is_static { fixed(record.id, blocks)? } else { dynamic(blocks, block_bytes) };
    let Record { id, name, is_static, is_update_cut, .. } = record;
    Ok(Volume { id, name, is_static, is_update_cut, block_bytes, bytes })
}

/// Returns the content of a volume to which a file system writes. It contains all blocks in order.
/// A missing block consists of erased bytes.
fn dynamic(blocks: &BTreeMap<u32, Block<'_>>, block_bytes: usize) -> Vec<u8> {
    let count = blocks.keys().next_back().map_or(0, |&last| last as usize + 1);
    let mut bytes = vec![0xff; count * block_bytes];
    for (&place, block) in blocks {
        let data = &block.data[..block.data.len().min(block_bytes)];
        let from = place as usize * block_bytes;
        bytes[from..from + data.len()].copy_from_slice(data);
    }
    bytes
}

/// Returns the content of a static volume. Each block contributes as many bytes as its header
/// states. The checksum of these bytes is verified.
fn fixed(id: u32, blocks: &BTreeMap<u32, Block<'_>>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let count = blocks.values().next().map_or(0, |block| block.header.used_blocks);
    for place in 0..count {
        let block = blocks
            .get(&place)
            .filter(|block| block.is_whole())
            .ok_or(Error::Damaged { id, block: place })?;
        bytes.extend_from_slice(&block.data[..block.header.data_bytes as usize]);
    }
    Ok(bytes)
}
