//! Blocks of metadata: inodes, directories, tables.
//!
//! ```text
//! stream of records   | 8192 bytes      | 8192 bytes      | rest   |
//! on the medium       |len|packed       |len|packed  |len|packed|
//! ```
//! `len` has two bytes: the length on the medium, with [`PLAIN_METADATA`] set if the block is
//! uncompressed. A record may lie in two blocks. The position of a record consists of the offset of
//! a block, from the first block on, and the offset in the unpacked block.
//!
//! Source: Documentation/filesystems/squashfs.rst of Linux; doc/format.adoc of squashfs-tools-ng,
//! chapter 2.

use super::WriteError;
use super::pack::Packer;
use steadyfs_rom::squash::format::{METADATA_BYTES, PLAIN_METADATA};

/// A stream of records in blocks.
pub(super) struct Metadata {
    blocks: Vec<u8>,
    open: Vec<u8>,
    starts: Vec<u64>,
    is_plain: bool,
}

/// Position of the start of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// Offset of the record's block from the first block.
    pub(super) block: u32,
    /// Offset of the record in the unpacked block.
    pub(super) offset: u16,
}

impl Place {
    /// Returns the position as one number, as tables contain it.
    pub(super) fn reference(self) -> u64 {
        u64::from(self.block) << 16 | u64::from(self.offset)
    }
}

impl Metadata {
    /// Creates a stream without records.
    pub(super) fn new(is_plain: bool) -> Self {
        Self {
            blocks: Vec::new(),
            open: Vec::with_capacity(METADATA_BYTES),
            starts: Vec::new(),
            is_plain,
        }
    }

    /// Returns the position of the next record.
    ///
    /// # Errors
    /// [`WriteError::TooLarge`] if the stream has more than 4 GiB.
    pub(super) fn place(&self) -> Result<Place, WriteError> {
        let block = u32::try_from(self.blocks.len())
            .map_err(|_| WriteError::TooLarge("a table of metadata"))?;
        Ok(Place { block, offset: self.open.len() as u16 })
    }

    /// Appends a record, or a part of it.
    pub(super) fn append(
        &mut self,
        mut record: &[u8],
        packer: &mut Packer,
    ) -> Result<(), WriteError> {
        while !record.is_empty() {
            let (now, later) = record.split_at(record.len().min(METADATA_BYTES - self.open.len()));
            self.open.extend(now);
            record = later;
            if self.open.len() == METADATA_BYTES {
                self.close(packer)?;
            }
        }
        Ok(())
    }

    /// Ends the stream. Returns its blocks, and the offset of each block.
    pub(super) fn finish(mut self, packer: &mut Packer) -> Result<(Vec<u8>, Vec<u64>), WriteError> {
        if !self.open.is_empty() {
            self.close(packer)?;
        }
        Ok((self.blocks, self.starts))
    }

    fn close(&mut self, packer: &mut Packer) -> Result<(), WriteError> {
        self.starts.push(self.blocks.len() as u64);
        let packed = if self.is_plain { None } else { packer.pack(&self.open)? };
        let length = packed
            .as_ref()
            .map_or(self.open.len() as u16 | PLAIN_METADATA, |packed| packed.len() as u16);
        self.blocks.extend(length.to_le_bytes());
        self.blocks.extend(packed.as_ref().unwrap_or(&self.open));
        self.open.clear();
        Ok(())
    }
}

/// Makes a separate uncompressed block, such as the block of the compressor's options.
pub(super) fn plain_block(content: &[u8]) -> Vec<u8> {
    [&(content.len() as u16 | PLAIN_METADATA).to_le_bytes()[..], content].concat()
}

/// Appends a table to the image: its blocks, then `head`, then the offset of each block in the
/// image. Returns the offset of `head`, which the superblock must contain.
pub(super) fn append_table(
    image: &mut Vec<u8>,
    entries: &[u8],
    head: &[u8],
    is_plain: bool,
    packer: &mut Packer,
) -> Result<u64, WriteError> {
    let first = image.len() as u64;
    let mut table = Metadata::new(is_plain);
    table.append(entries, packer)?;
    let (blocks, starts) = table.finish(packer)?;
    image.extend(blocks);
    let place = image.len() as u64;
    image.extend(head);
    image.extend(starts.iter().flat_map(|start| (first + start).to_le_bytes()));
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs::Compressor;

    fn packer() -> Packer {
        Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory")
    }

    #[test]
    fn a_place_never_lies_at_the_end_of_a_block() {
        let mut packer = packer();
        let mut stream = Metadata::new(true);
        stream.append(&[1; 8191], &mut packer).expect("memory");
        assert_eq!(stream.place(), Ok(Place { block: 0, offset: 8191 }));
        stream.append(&[2; 1], &mut packer).expect("memory");
        assert_eq!(stream.place(), Ok(Place { block: 8194, offset: 0 }));
        let (blocks, starts) = stream.finish(&mut packer).expect("memory");
        assert_eq!((blocks.len(), starts), (8194, vec![0]));
        assert_eq!(blocks[..2], (0x8000u16 | 8192).to_le_bytes());
    }

    #[test]
    fn a_table_ends_with_the_places_of_its_blocks() {
        let mut image = vec![9; 100];
        let place =
            append_table(&mut image, &[0; 8200], b"head", true, &mut packer()).expect("memory");
        assert_eq!(place, 100 + 8194 + 10);
        assert_eq!(
            &image[place as usize..],
            [&b"head"[..], &100u64.to_le_bytes(), &8294u64.to_le_bytes()].concat()
        );
    }

    #[test]
    fn an_empty_stream_has_no_block() {
        let (blocks, starts) = Metadata::new(false).finish(&mut packer()).expect("memory");
        assert!(blocks.is_empty() && starts.is_empty());
    }
}
