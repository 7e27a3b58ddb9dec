//! Work on several threads that can be ended from outside.
//!
//! A progress function ends a run by unwinding ([`std::panic::resume_unwind`], which prints nothing
//! on standard error). A run owns all that it touches, so nothing is left half done. A progress
//! function that has unwound once should unwind at every later call, because each thread calls it
//! separately.

use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Does the same work on `threads` threads, and waits for all. If a thread unwinds, the caller
/// unwinds with the same payload.
pub(crate) fn side_by_side(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        let ends: Vec<_> = running.into_iter().map(|thread| thread.join()).collect();
        if let Some(payload) = ends.into_iter().find_map(Result::err) {
            resume_unwind(payload);
        }
    });
}

/// Takes a lock, even if a thread unwound while it held the lock: the run ends, and its results are
/// dropped.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the content of a lock.
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_a_thread_unwinds_with_reaches_the_caller_after_all_have_ended() {
        let (held, ended) = (Mutex::new(0), AtomicUsize::new(0));
        let work = || {
            let mut count = lock(&held);
            *count += 1;
            ended.fetch_add(1, Ordering::Relaxed);
            if *count == 1 {
                resume_unwind(Box::new("enough"));
            }
        };
        let caught =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| side_by_side(3, work)));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"enough"));
        assert_eq!((into_inner(held), ended.into_inner()), (3, 3));
    }
}
