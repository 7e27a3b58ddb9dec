//! A unit of a card that is being written in order.

/// A unit that is being written in order.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) unit: u32,
    /// The next sector of the unit.
    pub(super) next: u32,
    /// True if the beginning of the page that contains `next` is in the buffer. Otherwise it is in
    /// the log.
    pub(super) is_held: bool,
    /// The time of the unit's last use, measured as a number of uses.
    pub(super) used: u64,
}
