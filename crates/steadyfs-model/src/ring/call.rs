//! The calls.

/// Events that may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// The power comes on.
    Mount,
    /// While the power is off, a page is lost.
    Lose,
    /// The power goes off between two operations.
    PowerOff,
    /// A new value is stored by a record of the log.
    Save,
    /// A root is written.
    Root,
    /// The use of the volume ends with a closed root.
    End,
}
