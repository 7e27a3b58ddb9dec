//! A turn for the rest of the program, between two polls of a future.

use super::Meanwhile;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// The work between two polls of a future that a call waits for.
///
/// | turn | work | waker of the future |
/// |---|---|---|
/// | `&Meanwhile` | polls the rest of the program | the waker of the task that runs it |
/// | `(&Meanwhile, FnMut())` | the same, then a function | the same |
/// | `FnMut()` | a function | a waker that does nothing |
///
/// The function beside a `Meanwhile` can be an instruction that sleeps until an interrupt.
///
/// Timers of embassy panic on a waker that does nothing.
pub trait Turn {
    /// Does the work.
    fn take(&mut self);

    /// Returns the waker with which the future is polled.
    fn waker(&self) -> Waker {
        Waker::noop().clone()
    }
}

impl<F: FnMut()> Turn for F {
    fn take(&mut self) {
        self();
    }
}

impl Turn for &Meanwhile<'_> {
    fn take(&mut self) {
        self.poll();
    }

    fn waker(&self) -> Waker {
        Meanwhile::waker(self)
    }
}

impl<F: FnMut()> Turn for (&Meanwhile<'_>, F) {
    fn take(&mut self) {
        self.0.poll();
        self.1();
    }

    fn waker(&self) -> Waker {
        self.0.waker()
    }
}

/// Polls a future until it is done, with a turn after each poll that returns pending.
pub(crate) fn wait<F: Future>(future: F, turn: &mut impl Turn) -> F::Output {
    let mut future = pin!(future);
    let waker = turn.waker();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        turn.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::future::poll_fn;

    #[test]
    fn a_function_beside_the_rest_gets_its_turn() {
        let (rest_polls, sleeps) = (Cell::new(0), Cell::new(0));
        let rest = pin!(poll_fn(|_| {
            rest_polls.set(rest_polls.get() + 1);
            Poll::<()>::Pending
        }));
        let meanwhile = Meanwhile::new(rest);
        let mut left = 3;
        let future = poll_fn(|_| {
            left -= 1;
            if left == 0 { Poll::Ready("done") } else { Poll::Pending }
        });
        assert_eq!(wait(future, &mut (&meanwhile, || sleeps.set(sleeps.get() + 1))), "done");
        assert_eq!((rest_polls.get(), sleeps.get()), (2, 2));
    }
}
