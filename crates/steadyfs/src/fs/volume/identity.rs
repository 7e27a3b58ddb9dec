//! Ties a handle to its mount.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Identity of a mount: a number that no other mount of the program has.
///
/// A counter, because nothing else differs in all cases. Two copies of a volume have the same
/// superblock and the same sequence numbers. A later mount may use the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountId(u32);

impl MountId {
    /// Takes the next number.
    ///
    /// A processor without compare-and-swap loads the counter and stores the next number. Two
    /// mounts on two cores can be within these three instructions at the same time. They then get
    /// the same number and accept each other's handles.
    pub fn next() -> Self {
        static MOUNTS: AtomicUsize = AtomicUsize::new(0);
        #[cfg(target_has_atomic = "ptr")]
        let count = MOUNTS.fetch_add(1, Ordering::Relaxed);
        #[cfg(not(target_has_atomic = "ptr"))]
        let count = {
            let count = MOUNTS.load(Ordering::Relaxed);
            MOUNTS.store(count.wrapping_add(1), Ordering::Relaxed);
            count
        };
        Self(count as u32)
    }
}
