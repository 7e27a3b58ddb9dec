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
    /// A logical page is written within the transaction.
    Write(usize),
    /// A logical page is written and committed.
    Save(usize),
    /// The second byte of a logical page is patched.
    Patch(usize),
    /// The patches of a logical page are written with it.
    Flush(usize),
    /// The transaction is committed.
    Commit,
    /// The transaction is undone.
    Rollback,
    /// Reclamation moves a frame.
    Move,
    /// The leaf is written anew.
    Fold,
    /// A root is written.
    Root,
    /// The use of the volume ends with a closed root.
    End,
    /// A listed block is erased.
    Erase,
    /// The journal page moves to another block.
    MoveJournal,
}
