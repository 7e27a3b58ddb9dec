//! What the volume's thread is told.

/// A job, or what becomes of the mount.
pub(crate) enum Message<J> {
    /// To do something.
    Job(J),
    /// To make everything durable that was done so far.
    Commit,
    /// That the file system is not mounted any more.
    Unmounted,
    /// That it is to end although the file system is in use.
    Stop,
}
