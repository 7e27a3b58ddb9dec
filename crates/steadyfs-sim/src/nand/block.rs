//! The cells of one erase block: the content of each page, and the number of its programs.

use std::sync::Arc;

/// The origin of a bad-block mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A mark by the maker: the block must not be touched.
    Factory,
    /// A mark by `mark_bad`: a note for other users of the chip.
    User,
}

/// The pages that are not erased. They are shared with clones of the chip until one of them writes.
#[derive(Clone, Debug)]
struct Pages {
    /// The cells of the pages up to the last page that changed.
    cells: Vec<u8>,
    /// Number of programs of each page since the last erase.
    programs: Vec<u8>,
}

/// One erase block. Its first program allocates memory, and its erase frees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pages: Option<Arc<Pages>>,
    pub(super) erase_count: u32,
    pub(super) mark: Option<Mark>,
}

impl Block {
    /// Returns the cells of a page. Returns `None` if the page and all pages behind it are erased.
    pub(super) fn cells(&self, page: usize, stride: usize) -> Option<&[u8]> {
        self.pages.as_ref().and_then(|pages| pages.cells.get(page * stride..(page + 1) * stride))
    }

    /// Returns the cells of a page, to be changed.
    pub(super) fn cells_mut(
        &mut self,
        page: usize,
        stride: usize,
        pages_per_block: usize,
    ) -> &mut [u8] {
        let pages = self.pages.get_or_insert_with(|| {
            Arc::new(Pages {
                cells: Vec::with_capacity(stride * pages_per_block),
                programs: vec![0; pages_per_block],
            })
        });
        let cells = &mut Arc::make_mut(pages).cells;
        if cells.len() < (page + 1) * stride {
            cells.resize((page + 1) * stride, 0xFF);
        }
        &mut cells[page * stride..][..stride]
    }

    /// Returns the number of programs of a page since the last erase.
    pub(super) fn programs(&self, page: usize) -> u8 {
        self.pages.as_ref().map_or(0, |pages| pages.programs[page])
    }

    /// Sets the number of programs of a page. The block already has cells.
    pub(super) fn set_programs(&mut self, page: usize, count: u8) {
        if let Some(pages) = &mut self.pages {
            Arc::make_mut(pages).programs[page] = count;
        }
    }

    /// Returns the highest page programmed since the last erase.
    pub(super) fn highest_programmed(&self) -> Option<usize> {
        self.pages.as_ref().and_then(|pages| pages.programs.iter().rposition(|&count| count > 0))
    }

    /// Makes every page erased.
    pub(super) fn erase(&mut self) {
        self.pages = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erased_block_takes_no_memory() {
        let mut block = Block::default();
        assert_eq!(block.cells(3, 8), None);
        block.cells_mut(2, 8, 4)[0] = 1;
        block.set_programs(2, 1);
        assert_eq!(
            (block.cells(2, 8).unwrap()[..2].to_vec(), block.cells(1, 8), block.cells(3, 8)),
            (vec![1, 0xFF], Some(&[0xFF; 8][..]), None)
        );
        assert_eq!(block.highest_programmed(), Some(2));
        block.erase();
        assert_eq!(block.cells(2, 8), None);
        assert_eq!(block.highest_programmed(), None);
    }

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut block = Block::default();
        block.cells_mut(0, 8, 4)[0] = 1;
        let snapshot = block.clone();
        block.cells_mut(0, 8, 4)[0] = 0;
        assert_eq!(snapshot.cells(0, 8).unwrap()[0], 1);
    }
}
