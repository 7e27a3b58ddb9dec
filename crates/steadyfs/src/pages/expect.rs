//! The criteria that a page must meet when it is read.

use crate::media::TagKinds;

/// The criteria for a page that is read.
#[derive(Clone, Copy)]
pub(crate) struct Expect {
    pub kinds: TagKinds,
    /// The logical page, or the leaf.
    pub logical: u32,
    /// Largest number of reads of a page that reads as damaged.
    pub tries: u32,
}
