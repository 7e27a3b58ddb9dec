//! Messages to the volume's thread.

/// A message to the volume's thread: a job, or an event of the mount.
pub(crate) enum Message<J> {
    /// A job to do.
    Job(J),
    /// Makes all changes so far durable.
    Commit,
    /// The file system is no longer mounted.
    Unmounted,
    /// The service must end although the file system is in use.
    Stop,
}
