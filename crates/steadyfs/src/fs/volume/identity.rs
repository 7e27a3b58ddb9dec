//! The identity of a mount, which each of its handles stores.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Identity of a mount: a number that no other mount of the program has.
///
/// The identity comes from a counter, because no other property differs between any two mounts. Two
/// copies of a volume have the same superblock and the same sequence numbers. A later mount may use
/// the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountId(u32);

impl MountId {
    /// Returns the next number of the counter.
    ///
    /// A processor without compare-and-swap loads the counter and stores the next number. Two
    /// mounts on two cores may execute these three instructions at the same time. Then they get the
    /// same number, and each of them accepts the handles of the other.
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
