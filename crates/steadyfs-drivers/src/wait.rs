//! Futures, for callers that wait.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// Polls a future until it is done; between two polls it calls `meanwhile`.
pub fn wait<F: Future>(future: F, meanwhile: &mut impl FnMut()) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        meanwhile();
    }
}
