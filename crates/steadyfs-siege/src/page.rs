//! The content of a page of the chip, and its reads.

use std::rc::Rc;

use steadyfs::media::TAG_BYTES;

/// Content of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Data bytes of the page.
    pub data: Vec<u8>,
    /// The tag beside them.
    pub tag: [u8; TAG_BYTES],
}

impl Content {
    /// Makes an erased page.
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
    /// It reads as this content.
    Shows(Rc<Content>),
}

/// The state of a page.
#[derive(Clone, Debug)]
pub enum Page {
    /// Erased, and ready to be programmed.
    Blank,
    /// As it was programmed.
    Whole(Rc<Content>),
    /// Damaged. It reads the same at each look.
    Torn(Rc<Content>),
    /// Each look shows one of the faces, drawn by weight.
    Unsteady(Rc<Vec<(u32, Face)>>),
    /// It reads as erased, but a cut operation has touched it, so it takes no program.
    Touched,
    /// It cannot be read until the block is erased.
    Lost,
}
