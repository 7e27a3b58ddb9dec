//! What whoever reads a page expects of it.

use crate::media::Kinds;

/// What a page that is read must be.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub kinds: Kinds,
    /// The logical page, or leaf.
    pub logical: u32,
    /// Looks at one that reads as damaged.
    pub tries: u32,
}
