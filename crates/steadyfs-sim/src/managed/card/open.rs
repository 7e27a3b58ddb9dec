//! A unit of a card that is being written in order.

/// A unit that is being written in order.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) unit: u32,
    /// The sector of the unit that comes next.
    pub(super) next: u32,
    /// Whether the begin of the page in which `next` lies is in the buffer, and not in the log.
    pub(super) is_held: bool,
    /// When it was used last.
    pub(super) used: u64,
}
