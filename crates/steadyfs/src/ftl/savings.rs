//! How much of the reserve is there.

use crate::config::Layout;

/// Frames of the reserve that are there: at most one block is lacking after restarts, one is saved for wear levelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Savings(u32);

impl Savings {
    /// Of a new volume: all of the reserve is there.
    pub fn new(layout: &Layout) -> Self {
        Self(most(layout))
    }

    pub fn frames(self) -> u32 {
        self.0
    }

    /// The same, as a root says it.
    pub fn said(self) -> u16 {
        self.0 as u16
    }

    /// Takes over what a root says.
    pub fn adopt(&mut self, said: u16, layout: &Layout) {
        self.0 = u32::from(said).min(most(layout));
    }

    /// Takes frames out of the reserve that a restart, a block that was given up, or a block at rest has cost.
    pub fn use_up(&mut self, frames: u32) {
        self.0 = self.0.saturating_sub(frames);
    }

    /// Saves frames for wear levelling, where there is room for them.
    pub fn save(&mut self, frames: u32, layout: &Layout) {
        self.0 = (self.0 + frames).min(most(layout));
    }

    /// Whether a block is saved for wear levelling.
    pub fn is_full(self, layout: &Layout) -> bool {
        self.0 == most(layout)
    }
}

fn most(layout: &Layout) -> u32 {
    2 * layout.frames_per_block
}
