//! Blocks that hold the ends of several files.
//!
//! Some blocks are open at a time. An end goes into the one that it fills best; when it fits into none, the fullest is
//! closed. More open blocks waste less room at their ends, and put further apart what belongs together.

use super::WriteError;
use super::data::append_block;
use super::pack::Packer;
use std::collections::HashMap;

/// Where an end of a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FragmentPlace {
    /// Which block of fragments.
    pub(super) index: u32,
    /// Offset in what the block unpacks to.
    pub(super) offset: u32,
}

/// Blocks of fragments, closed and open.
pub(super) struct Fragments<'a> {
    block_bytes: usize,
    /// How many blocks are open at a time.
    open_max: usize,
    open: Vec<Open>,
    /// Start in the image and size of each block; of the open ones not yet.
    closed: Vec<(u64, u32)>,
    known: HashMap<&'a [u8], FragmentPlace>,
}

struct Open {
    index: u32,
    bytes: Vec<u8>,
}

impl<'a> Fragments<'a> {
    /// No blocks yet; each takes `block_bytes`, and so many are open at a time, at least one.
    pub(super) fn new(block_bytes: usize, open_max: usize) -> Self {
        Self { block_bytes, open_max: open_max.max(1), open: Vec::new(), closed: Vec::new(), known: HashMap::new() }
    }

    /// Finds a place for the end of a file, which is shorter than a block. Equal ends have one place.
    pub(super) fn add(&mut self, tail: &'a [u8], image: &mut Vec<u8>, packer: &mut Packer) -> Result<FragmentPlace, WriteError> {
        if let Some(&place) = self.known.get(tail) {
            return Ok(place);
        }
        let room = self.block_bytes - tail.len();
        let best =
            (0..self.open.len()).filter(|&at| self.open[at].bytes.len() <= room).max_by_key(|&at| self.open[at].bytes.len());
        let at = match best {
            Some(at) => at,
            None => self.open_another(image, packer)?,
        };
        let open = &mut self.open[at];
        let place = FragmentPlace { index: open.index, offset: open.bytes.len() as u32 };
        open.bytes.extend(tail);
        self.known.insert(tail, place);
        Ok(place)
    }

    /// Closes all blocks.
    pub(super) fn close_all(&mut self, image: &mut Vec<u8>, packer: &mut Packer) -> Result<(), WriteError> {
        while !self.open.is_empty() {
            self.close(0, image, packer)?;
        }
        Ok(())
    }

    /// Makes the entries of the table of fragments.
    pub(super) fn table(&self) -> Vec<u8> {
        let entry = |&(start, size): &(u64, u32)| [&start.to_le_bytes()[..], &size.to_le_bytes(), &[0; 4]].concat();
        self.closed.iter().flat_map(entry).collect()
    }

    fn open_another(&mut self, image: &mut Vec<u8>, packer: &mut Packer) -> Result<usize, WriteError> {
        if self.open.len() == self.open_max {
            let fullest = (0..self.open.len()).max_by_key(|&at| self.open[at].bytes.len()).unwrap_or(0);
            self.close(fullest, image, packer)?;
        }
        self.open.push(Open { index: self.closed.len() as u32, bytes: Vec::new() });
        self.closed.push((0, 0));
        Ok(self.open.len() - 1)
    }

    fn close(&mut self, at: usize, image: &mut Vec<u8>, packer: &mut Packer) -> Result<(), WriteError> {
        let Open { index, bytes } = self.open.remove(at);
        let start = image.len() as u64;
        self.closed[index as usize] = (start, append_block(image, &bytes, packer)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs::Compressor;

    #[test]
    fn an_end_goes_where_it_fills_best() {
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory");
        let (mut image, mut fragments) = (Vec::new(), Fragments::new(4096, 4));
        let tails: Vec<Vec<u8>> =
            [3000, 2000, 1096, 1000, 4095].iter().zip(1..).map(|(&bytes, fill)| vec![fill; bytes]).collect();
        let places: Vec<_> = tails.iter().map(|tail| fragments.add(tail, &mut image, &mut packer).expect("memory")).collect();
        let places: Vec<_> = places.iter().map(|place| (place.index, place.offset)).collect();
        assert_eq!(places, [(0, 0), (1, 0), (0, 3000), (1, 2000), (2, 0)]);
        assert!(image.is_empty());
        fragments.close_all(&mut image, &mut packer).expect("memory");
        assert_eq!(fragments.table().len(), 3 * 16);
    }

    #[test]
    fn ends_stay_in_their_order_where_one_block_is_open() {
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory");
        let (mut image, mut fragments) = (Vec::new(), Fragments::new(4096, 1));
        let tails: Vec<Vec<u8>> =
            [3000, 2000, 1096, 1000, 4095].iter().zip(1..).map(|(&bytes, fill)| vec![fill; bytes]).collect();
        let places = tails.iter().map(|tail| fragments.add(tail, &mut image, &mut packer).expect("memory"));
        let places: Vec<_> = places.map(|place| (place.index, place.offset)).collect();
        assert_eq!(places, [(0, 0), (1, 0), (1, 2000), (1, 3096), (2, 0)]);
    }

    #[test]
    fn the_fullest_block_is_closed_first() {
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory");
        let (mut image, mut fragments) = (vec![0; 96], Fragments::new(4096, 4));
        let tails: Vec<Vec<u8>> =
            [4000, 4001, 4003, 4002, 4000].iter().zip(1..).map(|(&bytes, fill)| vec![fill; bytes]).collect();
        for tail in &tails {
            fragments.add(tail, &mut image, &mut packer).expect("memory");
        }
        let table = fragments.table();
        assert_eq!(table[2 * 16], 96);
        assert!(table[..2 * 16].iter().all(|&byte| byte == 0));
    }
}
