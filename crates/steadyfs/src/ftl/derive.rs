//! State that a mount derives: the reserved blocks, and the live frames.

use super::Ftl;
use crate::config::Layout;
use crate::error::Error;
use crate::media::Flash;
use crate::space::{Frame, Space, State};

impl<F: Flash> Ftl<'_, F> {
    /// Reserves the blocks of the superblocks and of the ring, and no other block.
    pub fn reserve_own_blocks(&mut self) {
        for block in 0..self.space.blocks().block_count() {
            let own = self.ring.owns(block);
            match self.space.blocks().state(block) {
                State::Bad => {}
                _ if own => self.space.blocks_mut().set_state(block, State::Reserved),
                State::Reserved => self.space.blocks_mut().set_state(block, State::Free),
                // Only a closed root proves that the erase of a block was complete.
                State::Erased if !self.ring.is_closed() => {
                    self.space.blocks_mut().set_state(block, State::Listed)
                }
                _ => {}
            }
        }
    }

    /// Derives the live frames from the map.
    ///
    /// # Cost
    /// Reads every leaf.
    pub fn derive_live(&mut self) -> Result<(), Error> {
        self.space.blocks_mut().clear_live();
        let mut result = Ok(());
        for leaf in 0..self.layout.leaf_count {
            for index in 0..u32::from(self.layout.config.pages_per_logical_page) {
                match self.load_leaf_page_with_retry(leaf, index) {
                    Ok(true) => {}
                    // The leaf was never written, so it maps no frame.
                    Ok(false) => break,
                    Err(Error::Corrupt) => {
                        // The other pages of the leaf still map their frames.
                        result = Err(Error::Corrupt);
                        continue;
                    }
                    Err(error) => return Err(error),
                }
                let (blocks, width) = (self.space.blocks_mut(), self.layout.entry_bytes);
                self.map.valid_parts(self.pages.bytes(), &self.layout, leaf, index, |entries| {
                    if !blocks.claim(entries, width) {
                        result = Err(Error::Corrupt);
                    }
                });
            }
            self.note_weak();
            result = claim(&mut self.space, &self.layout, self.map.leaf(leaf)).and(result);
        }
        result = claim(&mut self.space, &self.layout, self.map.copy()).and(result);
        // The frames that the overlay replaces were not marked as live above.
        self.map.note_all_released();
        for (_, frame) in self.map.entries() {
            result = claim(&mut self.space, &self.layout, frame).and(result);
        }
        self.space.blocks_mut().count_live();
        for block in 0..self.space.blocks().block_count() {
            let in_use = self.space.blocks().has_live(block) || self.space.holds_journal(block);
            match self.space.blocks().state(block) {
                // The first record that was programmed into the block is lost, or the root
                // contradicts the map. The block must not be erased.
                State::Free | State::Listed | State::Erased | State::Clean | State::Dead
                    if in_use =>
                {
                    self.space.blocks_mut().set_state(block, State::Used)
                }
                // Part of the map cannot be read, and it may name frames in this block.
                _ if result.is_err() => {}
                // The block is not marked as bad on the medium, because this mount may be for
                // reading only.
                State::Retiring if !in_use => self.space.lose(block),
                _ => self.space.quarantine_if_empty(block),
            }
        }
        result
    }
}

/// Marks a frame as live. Returns an error if the frame does not exist or is live already.
fn claim(space: &mut Space<'_>, layout: &Layout, frame: Frame) -> Result<(), Error> {
    if frame == 0 {
        return Ok(());
    }
    if frame >= layout.frame_count() || !space.blocks_mut().set_live(frame, true) {
        return Err(Error::Corrupt);
    }
    Ok(())
}
