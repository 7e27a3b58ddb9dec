//! Messages to the volume's thread.

/// A job, or news of the mount.
pub(crate) enum Message<J> {
    /// A job to do.
    Job(J),
    /// Makes all changes so far durable.
    Commit,
    /// The file system is not mounted any more.
    Unmounted,
    /// The service ends although the file system is in use.
    Stop,
}
