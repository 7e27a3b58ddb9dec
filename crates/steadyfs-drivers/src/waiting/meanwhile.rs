//! The rest of a program, polled while a call of the file system waits.

use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Waker};

/// The rest of a program as one future. A program with several futures joins them. `None` means
/// that the rest is done.
type Rest<'a> = Option<Pin<&'a mut dyn Future<Output = ()>>>;

/// The rest of a program. It is polled beside the part of the program that calls the file system,
/// and also during the calls of that part. See the [module](super).
pub struct Meanwhile<'a> {
    rest: RefCell<Rest<'a>>,
    /// The waker of the task that runs the part that calls the file system.
    waker: RefCell<Option<Waker>>,
}

impl<'a> Meanwhile<'a> {
    /// Wraps the rest of the program, which `core::pin::pin!` has pinned.
    pub fn new(rest: Pin<&'a mut dyn Future<Output = ()>>) -> Self {
        Self { rest: RefCell::new(Some(rest)), waker: RefCell::default() }
    }

    /// Polls the rest once, during a call of the file system. Does nothing if the rest is done, or
    /// if the rest itself makes this call.
    ///
    /// The rest is polled with the waker of the task that [runs](Self::run) the part. If a wake
    /// comes during a call, that task is polled again after the call.
    pub fn poll(&self) {
        self.poll_with(&mut Context::from_waker(&self.waker()));
    }

    /// Returns the waker of the task that runs the part. Before the part runs, returns a waker
    /// without effect.
    pub(super) fn waker(&self) -> Waker {
        self.waker.borrow().as_ref().unwrap_or(Waker::noop()).clone()
    }

    /// Stores the waker of the task that polls the part now.
    fn enter(&self, waker: &Waker) {
        let mut kept = self.waker.borrow_mut();
        if !kept.as_ref().is_some_and(|kept| kept.will_wake(waker)) {
            *kept = Some(waker.clone());
        }
    }

    fn poll_with(&self, context: &mut Context<'_>) {
        let Ok(mut rest) = self.rest.try_borrow_mut() else { return };
        if rest.as_mut().is_some_and(|rest| rest.as_mut().poll(context).is_ready()) {
            *rest = None;
        }
    }

    /// Runs the part of the program that calls the file system, and the rest beside it, until the
    /// part is done.
    pub async fn run<F: Future>(&self, part: F) -> F::Output {
        let mut part = pin!(part);
        poll_fn(|context| {
            self.enter(context.waker());
            let result = part.as_mut().poll(context);
            // The rest gets a turn even if the part has made no call of the file system.
            if result.is_pending() {
                self.poll_with(context);
            }
            result
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::task::Poll;
    use embassy_futures::yield_now;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    /// A waker that counts its wakes.
    #[derive(Default)]
    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Earlier, a rest that was polled during a call got a waker without effect. Timers of embassy
    /// then panicked.
    #[test]
    fn a_rest_that_is_polled_inside_of_a_call_sees_the_waker_of_the_task() {
        // The rest keeps the waker of its first poll. An interrupt would later wake this waker.
        let seen: RefCell<Option<Waker>> = RefCell::default();
        let rest = pin!(poll_fn(|context: &mut Context<'_>| {
            seen.borrow_mut().get_or_insert_with(|| context.waker().clone());
            Poll::<()>::Pending
        }));
        let meanwhile = Meanwhile::new(rest);
        let part = pin!(meanwhile.run(poll_fn(|_| {
            meanwhile.poll(); // as a call of the file system does
            Poll::<()>::Pending
        })));
        let woken = Arc::new(Woken::default());
        assert!(part.poll(&mut Context::from_waker(&Waker::from(woken.clone()))).is_pending());
        seen.take().unwrap().wake();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_rest_that_is_done_is_not_polled_again() {
        let polls = Cell::new(0);
        let rest = pin!(async {
            yield_now().await;
            polls.set(polls.get() + 1);
        });
        let meanwhile = Meanwhile::new(rest);
        (0..5).for_each(|_| meanwhile.poll());
        assert_eq!(polls.get(), 1);
        assert_eq!(embassy_futures::block_on(meanwhile.run(async { 7 })), 7);
    }

    #[test]
    fn a_rest_that_asks_for_itself_gets_nothing() {
        let meanwhile: RefCell<Option<&Meanwhile<'_>>> = RefCell::new(None);
        let polls = Cell::new(0);
        let rest = pin!(poll_fn(|_| {
            polls.set(polls.get() + 1);
            if let Some(meanwhile) = *meanwhile.borrow() {
                meanwhile.poll();
            }
            Poll::<()>::Pending
        }));
        let itself = Meanwhile::new(rest);
        *meanwhile.borrow_mut() = Some(&itself);
        itself.poll();
        assert_eq!(polls.get(), 1);
    }
}
