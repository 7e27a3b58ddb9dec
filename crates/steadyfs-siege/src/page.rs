//! What a page of the chip holds, and how it reads.

use std::rc::Rc;

use steadyfs::media::TAG_BYTES;

/// What a page holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Data bytes of the page.
    pub data: Vec<u8>,
    /// The tag beside them.
    pub tag: [u8; TAG_BYTES],
}

impl Content {
    /// An erased page.
    pub fn blank(page_bytes: usize) -> Self {
        Self { data: vec![0xFF; page_bytes], tag: [0xFF; TAG_BYTES] }
    }
}

/// One look at an unsteady page.
#[derive(Clone, Debug)]
pub enum Face {
    /// It reads as erased.
    Blank,
    /// The ECC gives up.
    Unreadable,
    /// It reads as this.
    Shows(Rc<Content>),
}

/// The state of a page.
#[derive(Clone, Debug)]
pub enum Page {
    /// Erased, and ready to be programmed.
    Blank,
    /// As it was programmed.
    Whole(Rc<Content>),
    /// Damaged; reads the same at each look.
    Torn(Rc<Content>),
    /// Each look shows one of the faces, drawn by weight.
    Unsteady(Rc<Vec<(u32, Face)>>),
    /// Reads as erased, but an operation that was cut has touched it: it takes no program.
    Touched,
    /// Cannot be read until the block is erased.
    Lost,
}
