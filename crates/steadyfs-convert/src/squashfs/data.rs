//! Content of files: blocks, and fragments that several files share.
//!
//! A file is divided into blocks. The rest at its end, or the whole of a short file, is a fragment.
//! Fragments share a block, which is compressed as a whole. Equal content is stored once, and
//! blocks of zeros are not stored.
//!
//! Source: doc/format.adoc of squashfs-tools-ng, chapter 4.

use super::WriteError;
use super::fragments::{FragmentPlace, Fragments};
use super::pack::Packer;
use crate::tree::{InodeIndex, Kind, Tree};
use std::collections::HashMap;

/// Position of a file's content in the image.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Content {
    /// The whole blocks, which are consecutive.
    pub(super) blocks: Blocks,
    /// Position of the file's end, if it is stored in a block with the ends of other files.
    pub(super) fragment: Option<FragmentPlace>,
}

/// A sequence of consecutive blocks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Blocks {
    /// Offset of the first block in the image. It is 0 if there are no blocks.
    pub(super) start: u64,
    /// Stored size of each block. It has a flag if the block is uncompressed. A size of 0 stands
    /// for a block of zeros.
    pub(super) sizes: Vec<u32>,
    /// Number of bytes in blocks of zeros.
    pub(super) sparse_bytes: u64,
}

/// All content, stored in the image.
pub(super) struct Stored {
    /// The image so far.
    pub(super) image: Vec<u8>,
    /// Position of each file's content.
    pub(super) contents: HashMap<InodeIndex, Content>,
    /// Entries of the table of fragments.
    pub(super) fragments: Vec<u8>,
}

/// The image while content is added to it, and the positions of all content.
pub(super) struct Data<'a> {
    image: Vec<u8>,
    block_bytes: usize,
    packs_tails: bool,
    contents: HashMap<InodeIndex, Content>,
    rows: HashMap<&'a [u8], Blocks>,
    fragments: Fragments<'a>,
}

impl<'a> Data<'a> {
    /// Creates an instance that appends content to the bytes of `image`.
    pub(super) fn new(
        image: Vec<u8>,
        block_bytes: usize,
        packs_tails: bool,
        open_fragments: usize,
    ) -> Self {
        let fragments = Fragments::new(block_bytes, open_fragments);
        Self {
            image,
            block_bytes,
            packs_tails,
            contents: HashMap::new(),
            rows: HashMap::new(),
            fragments,
        }
    }

    /// Adds the content of an inode and of all files below it, in the order of their names. Skips
    /// files that were already added.
    pub(super) fn add_below(
        &mut self,
        tree: &'a Tree,
        inode: InodeIndex,
        packer: &mut Packer,
    ) -> Result<(), WriteError> {
        let mut waiting = vec![inode];
        while let Some(inode) = waiting.pop() {
            match &tree.inode(inode).kind {
                Kind::Directory(entries) => waiting.extend(entries.values().rev()),
                Kind::File(bytes) if !self.contents.contains_key(&inode) => {
                    let content = self.add(bytes, packer)?;
                    self.contents.insert(inode, content);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the remaining fragments, and returns the image with all content.
    pub(super) fn finish(mut self, packer: &mut Packer) -> Result<Stored, WriteError> {
        self.fragments.close_all(&mut self.image, packer)?;
        Ok(Stored { image: self.image, contents: self.contents, fragments: self.fragments.table() })
    }

    fn add(&mut self, bytes: &'a [u8], packer: &mut Packer) -> Result<Content, WriteError> {
        let is_short = bytes.len() < self.block_bytes;
        let tail_bytes =
            if is_short || self.packs_tails { bytes.len() % self.block_bytes } else { 0 };
        let (whole, tail) = bytes.split_at(bytes.len() - tail_bytes);
        let blocks = self.add_blocks(whole, packer)?;
        let fragment = if tail.is_empty() {
            None
        } else {
            Some(self.fragments.add(tail, &mut self.image, packer)?)
        };
        Ok(Content { blocks, fragment })
    }

    fn add_blocks(&mut self, bytes: &'a [u8], packer: &mut Packer) -> Result<Blocks, WriteError> {
        if bytes.is_empty() {
            return Ok(Blocks::default());
        }
        if let Some(blocks) = self.rows.get(bytes) {
            return Ok(blocks.clone());
        }
        let mut blocks = Blocks { start: self.image.len() as u64, ..Blocks::default() };
        for block in bytes.chunks(self.block_bytes) {
            if block.iter().all(|&byte| byte == 0) {
                blocks.sparse_bytes += block.len() as u64;
                blocks.sizes.push(0);
            } else {
                blocks.sizes.push(packer.append(&mut self.image, block)?);
            }
        }
        self.rows.insert(bytes, blocks.clone());
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs::Compressor;
    use crate::tree::{Inode, Limit};
    use steadyfs_rom::squash::format::PLAIN_DATA;

    /// Returns the positions of the files' content, and the length of the image.
    fn laid_out(files: &[Vec<u8>], packs_tails: bool) -> (Vec<Content>, usize) {
        let mut tree = Tree::new(Limit::default());
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory");
        for (number, file) in files.iter().enumerate() {
            tree.insert(
                0,
                format!("{number:03}").as_bytes(),
                Inode::new(Kind::File(file.clone()), 0o644),
            )
            .expect("a name");
        }
        let mut data = Data::new(vec![0; 96], 4096, packs_tails, 4);
        data.add_below(&tree, 0, &mut packer).expect("memory");
        let Stored { image, mut contents, .. } = data.finish(&mut packer).expect("memory");
        ((1..=files.len()).filter_map(|inode| contents.remove(&inode)).collect(), image.len())
    }

    fn noise(bytes: usize, seed: u64) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..bytes).map(|_| random.u8(..)).collect()
    }

    #[test]
    fn equal_content_is_stored_once() {
        let (file, other) = (noise(10_000, 1), noise(10_000, 2));
        let (alone, once) = laid_out(std::slice::from_ref(&file), true);
        let (two, twice) = laid_out(&[file.clone(), file.clone()], true);
        assert_eq!((&two[0], once), (&two[1], twice));
        assert_eq!(alone[0], two[0]);
        let same_blocks = [&file[..8192], &other[..100]].concat();
        let (_, with_other_end) = laid_out(&[file, same_blocks], true);
        assert_eq!(with_other_end, once + 100);
    }

    #[test]
    fn blocks_of_zeros_take_no_room() {
        let file = [vec![0; 8192], vec![1; 4096], vec![0; 4096]].concat();
        let (content, _) = laid_out(&[file], true);
        let Blocks { start, sizes, sparse_bytes } = &content[0].blocks;
        assert_eq!((*start, sizes.len(), *sparse_bytes), (96, 4, 12288));
        assert!(sizes[0] == 0 && sizes[1] == 0 && sizes[2] > 0 && sizes[3] == 0);
    }

    #[test]
    fn the_end_of_a_long_file_is_packed_as_the_setting_says() {
        let file = noise(5000, 3);
        let (packed, _) = laid_out(std::slice::from_ref(&file), true);
        assert_eq!(packed[0].blocks.sizes, [4096 | PLAIN_DATA]);
        assert!(packed[0].fragment.is_some());
        let (alone, _) = laid_out(&[file], false);
        assert_eq!(
            alone[0],
            Content {
                blocks: Blocks {
                    start: 96,
                    sizes: vec![4096 | PLAIN_DATA, 904 | PLAIN_DATA],
                    sparse_bytes: 0
                },
                fragment: None
            }
        );
        let (short, _) = laid_out(&[noise(4095, 4)], false);
        assert!(short[0].fragment.is_some() && short[0].blocks.sizes.is_empty());
    }
}
