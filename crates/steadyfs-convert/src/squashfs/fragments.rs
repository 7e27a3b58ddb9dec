//! Blocks with the ends of several files.
//!
//! Several blocks are open at the same time, some for texts and some for other content. The end of
//! a file is added to the open block of its kind in which it leaves the fewest free bytes. If the
//! end fits into no open block, the fullest block is closed. More open blocks waste fewer bytes at
//! their ends, but related ends lie further apart.

use super::WriteError;
use super::pack::Packer;
use std::collections::HashMap;

/// Position of a file's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FragmentPlace {
    /// Index of the block of fragments.
    pub(super) index: u32,
    /// Offset in the unpacked block.
    pub(super) offset: u32,
}

/// The closed and the open blocks of fragments.
pub(super) struct Fragments<'a> {
    block_bytes: usize,
    /// Maximum number of open blocks.
    open_max: usize,
    open: Vec<Open>,
    /// Offset in the image and size of each block. For open blocks these values are not yet valid.
    closed: Vec<(u64, u32)>,
    known: HashMap<&'a [u8], FragmentPlace>,
}

struct Open {
    index: u32,
    is_text: bool,
    bytes: Vec<u8>,
}

/// Number of bytes of an end that are examined to recognise text.
const LOOK_BYTES: usize = 1024;

impl<'a> Fragments<'a> {
    /// Creates an instance without blocks. Each block holds `block_bytes` bytes. Up to `open_max`
    /// blocks are open at the same time, but at least one.
    pub(super) fn new(block_bytes: usize, open_max: usize) -> Self {
        Self {
            block_bytes,
            open_max: open_max.max(1),
            open: Vec::new(),
            closed: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Adds the end of a file, which is shorter than a block. Returns its position. Equal ends
    /// share one position.
    pub(super) fn add(
        &mut self,
        tail: &'a [u8],
        image: &mut Vec<u8>,
        packer: &mut Packer,
    ) -> Result<FragmentPlace, WriteError> {
        if let Some(&place) = self.known.get(tail) {
            return Ok(place);
        }
        // If only one block is open, it receives all ends in their order.
        let (room, is_text) = (self.block_bytes - tail.len(), self.open_max > 1 && is_text(tail));
        let at = match self.fullest(room, is_text) {
            Some(at) => at,
            None => self.open_another(is_text, image, packer)?,
        };
        let open = &mut self.open[at];
        let place = FragmentPlace { index: open.index, offset: open.bytes.len() as u32 };
        open.bytes.extend(tail);
        self.known.insert(tail, place);
        Ok(place)
    }

    /// Closes all blocks.
    pub(super) fn close_all(
        &mut self,
        image: &mut Vec<u8>,
        packer: &mut Packer,
    ) -> Result<(), WriteError> {
        while !self.open.is_empty() {
            self.close(0, image, packer)?;
        }
        Ok(())
    }

    /// Makes the entries of the table of fragments.
    pub(super) fn table(&self) -> Vec<u8> {
        let entry = |&(start, size): &(u64, u32)| {
            [&start.to_le_bytes()[..], &size.to_le_bytes(), &[0; 4]].concat()
        };
        self.closed.iter().flat_map(entry).collect()
    }

    /// Finds the fullest open block of a kind with at most `bytes` bytes.
    fn fullest(&self, bytes: usize, is_text: bool) -> Option<usize> {
        let fits = |open: &Open| open.is_text == is_text && open.bytes.len() <= bytes;
        (0..self.open.len())
            .filter(|&at| fits(&self.open[at]))
            .max_by_key(|&at| self.open[at].bytes.len())
    }

    fn open_another(
        &mut self,
        is_text: bool,
        image: &mut Vec<u8>,
        packer: &mut Packer,
    ) -> Result<usize, WriteError> {
        if self.open.iter().filter(|open| open.is_text == is_text).count()
            == (self.open_max / 2).max(1)
            && let Some(fullest) = self.fullest(self.block_bytes, is_text)
        {
            self.close(fullest, image, packer)?;
        }
        self.open.push(Open { index: self.closed.len() as u32, is_text, bytes: Vec::new() });
        self.closed.push((0, 0));
        Ok(self.open.len() - 1)
    }

    fn close(
        &mut self,
        at: usize,
        image: &mut Vec<u8>,
        packer: &mut Packer,
    ) -> Result<(), WriteError> {
        let Open { index, bytes, .. } = self.open.remove(at);
        let start = image.len() as u64;
        self.closed[index as usize] = (start, packer.append(image, &bytes)?);
        Ok(())
    }
}

/// Returns true if an end begins like a text: at most one of eight bytes is neither printable ASCII
/// nor white space.
fn is_text(tail: &[u8]) -> bool {
    let begin = &tail[..tail.len().min(LOOK_BYTES)];
    let others =
        begin.iter().filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')).count();
    others * 8 <= begin.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs::Compressor;

    /// Adds ends of these lengths and first bytes. Returns their blocks and offsets, the number of
    /// bytes written so far, and the table.
    fn added(open_max: usize, ends: &[(usize, u8)]) -> (Vec<(u32, u32)>, usize, Vec<u8>) {
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory");
        let (mut image, mut fragments) = (vec![0; 96], Fragments::new(4096, open_max));
        let tails: Vec<Vec<u8>> = ends.iter().map(|&(bytes, fill)| vec![fill; bytes]).collect();
        let places: Vec<_> = tails
            .iter()
            .map(|tail| fragments.add(tail, &mut image, &mut packer).expect("memory"))
            .collect();
        let written = image.len() - 96;
        (
            places.iter().map(|place| (place.index, place.offset)).collect(),
            written,
            fragments.table(),
        )
    }

    #[test]
    fn an_end_goes_where_it_fills_best() {
        let (places, written, table) =
            added(4, &[(3000, 1), (2000, 2), (1096, 3), (1000, 4), (2000, 2)]);
        assert_eq!(places, [(0, 0), (1, 0), (0, 3000), (1, 2000), (1, 0)]);
        assert_eq!((written, table.len()), (0, 2 * 16));
    }

    #[test]
    fn ends_stay_in_their_order_where_one_block_is_open() {
        let (places, ..) = added(1, &[(3000, b'a'), (2000, 2), (1096, b'c'), (1000, 4), (4095, 5)]);
        assert_eq!(places, [(0, 0), (1, 0), (1, 2000), (1, 3096), (2, 0)]);
    }

    #[test]
    fn the_fullest_block_is_closed_first() {
        let (places, written, table) = added(4, &[(4000, 1), (4003, 2), (4002, 3)]);
        assert_eq!(places, [(0, 0), (1, 0), (2, 0)]);
        assert!(written > 0);
        assert_eq!(
            table[..2 * 16],
            [&[0; 16][..], &[96, 0, 0, 0, 0, 0, 0, 0, written as u8, 0, 0, 0, 0, 0, 0, 0]].concat()
        );
    }

    #[test]
    fn text_lies_apart_from_other_content() {
        let (places, ..) = added(4, &[(10, b'a'), (10, 0), (20, b'\n'), (20, 0xFF)]);
        assert_eq!(places, [(0, 0), (1, 0), (0, 10), (1, 10)]);
    }
}
