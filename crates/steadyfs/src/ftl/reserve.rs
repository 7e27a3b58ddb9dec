//! The part of the reserve that is present.

use crate::config::Layout;

/// Number of frames of the reserve that are present. Restarts use up at most one block of the
/// reserve. The reserve also holds up to one block of frames that are saved for wear levelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserve(u32);

impl Reserve {
    /// The reserve of a new volume: all of it is present.
    pub fn new(layout: &Layout) -> Self {
        Self(most(layout))
    }

    pub fn frames(self) -> u32 {
        self.0
    }

    /// The number of frames, as a root stores it.
    pub fn flags(self) -> u16 {
        self.0 as u16
    }

    /// Takes over the number of frames from a root.
    pub fn adopt(&mut self, flags: u16, layout: &Layout) {
        self.0 = u32::from(flags).min(most(layout));
    }

    /// Takes frames out of the reserve. Three events use up such frames: a restart, a block that a
    /// head gave up, and writes of the caller while data at rest moves.
    pub fn withdraw(&mut self, frames: u32) {
        self.0 = self.0.saturating_sub(frames);
    }

    /// Saves frames for wear levelling, until a whole block is saved.
    pub fn deposit(&mut self, frames: u32, layout: &Layout) {
        self.0 = (self.0 + frames).min(most(layout));
    }

    /// Returns true if a whole block is saved for wear levelling.
    pub fn is_full(self, layout: &Layout) -> bool {
        self.0 == most(layout)
    }
}

fn most(layout: &Layout) -> u32 {
    2 * layout.frames_per_block
}
