//! The loop that serves the kernel, for all kinds of volumes.

use super::attach::attach;
use super::failure::Failure;
use super::message::Message;
use super::ours::{Guard, Ours};
use super::place::check_mountpoint;
use super::signals::Waiting;
use crate::options::Options;
use crate::upkeep::{Timer, Upkeep};
use fuser::{Config, Filesystem, Session};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The object on which jobs work, in the thread of the caller.
pub(crate) trait Served {
    /// Returns the time until the next work without a request is due. `None` means that no such
    /// work is due.
    fn wait(&mut self, now: Instant) -> Option<Duration>;

    /// Does the work that is due without a request.
    fn rest(&mut self, now: Instant);

    /// Makes all changes so far durable, because the service may end soon.
    fn commit(&mut self);

    /// Closes the files that the kernel did not close. If the kernel must unmount at once, it does
    /// not close open files.
    fn close_all(&mut self);
}

/// A volume with timed commits and idle work.
pub(crate) trait Kept {
    type Store: Upkeep;

    /// Returns the timer for work without a request, and the store for that work.
    fn upkeep(&mut self) -> (&mut Timer, &mut Self::Store);

    /// Closes the files that the kernel did not close, for [`Served::close_all`].
    fn close_all(&mut self);
}

impl<K: Kept> Served for K {
    fn wait(&mut self, now: Instant) -> Option<Duration> {
        let (timer, store) = self.upkeep();
        timer.wait(store, now)
    }

    fn rest(&mut self, now: Instant) {
        let (timer, store) = self.upkeep();
        timer.rest(store, now);
    }

    /// Ignores an error, because the unmount of the volume tries the commit again and reports its
    /// error.
    fn commit(&mut self) {
        let (_, store) = self.upkeep();
        if store.has_changes() {
            let _ = store.commit();
        }
    }

    fn close_all(&mut self) {
        Kept::close_all(self);
    }
}

/// The reaction to signals that the caller of [`serve`] selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnSignals {
    Unmount,
    LeaveToCaller,
}

/// Mounts and serves. `bridge` converts the kernel's requests into jobs. `ready` is called when the
/// file system is mounted.
pub(super) fn serve<S, J, B>(
    served: &mut S,
    bridge: impl FnOnce(Sender<Message<J>>) -> B,
    mountpoint: &Path,
    options: &Options,
    on_signals: OnSignals,
    ready: impl FnOnce(&Ours),
) -> Result<(), Failure>
where
    S: Served,
    J: FnOnce(&mut S) + Send + 'static,
    B: Filesystem,
{
    let mountpoint = check_mountpoint(mountpoint, options.nonempty).map_err(Failure::Mountpoint)?;
    // The guard is dropped after the queue, so that no request waits for an answer during the
    // unmount. The guard also unmounts if the loop below panics, for example because a simulated
    // chip panics. Otherwise a mount without a server would remain.
    let mut guard;
    let (sender, receiver) = channel();
    let catches = on_signals == OnSignals::Unmount;
    let waiting = catches.then(Waiting::new).transpose().map_err(Failure::Kernel)?;
    let (device, ours) = attach(&mountpoint, options).map_err(Failure::Kernel)?;
    guard = Guard::new(ours.clone());
    let session =
        Session::from_fd(bridge(sender.clone()), device, options.acl(), Config::default());
    let session =
        start(session.map_err(Failure::Kernel)?, sender.clone()).map_err(Failure::Kernel)?;
    let signals = waiting
        .map(|waiting| waiting.catch(ours.clone(), sender))
        .transpose()
        .map_err(Failure::Kernel)?;
    ready(&ours);

    let is_ended = work(served, &receiver);
    served.close_all();
    drop((signals, receiver));
    if !is_ended {
        // The session's thread may end later: it ends when the last file is closed.
        return guard.take_away().map_err(Failure::Kept);
    }
    session
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the session's thread panicked")))
        .map_err(Failure::Kernel)?;
    guard.forget();
    Ok(())
}

/// Starts a thread that passes on the kernel's requests until the file system is unmounted.
fn start<B: Filesystem, J: Send + 'static>(
    session: Session<B>,
    volume: Sender<Message<J>>,
) -> io::Result<JoinHandle<io::Result<()>>> {
    thread::Builder::new().name("steadyfs-fuse".into()).spawn(move || {
        // An unmount ends the connection. If the kernel aborts the connection, the next read of a
        // request returns an error.
        let result = session.run().or_else(|error| match error.kind() {
            io::ErrorKind::ConnectionAborted => Ok(()),
            _ => Err(error),
        });
        let _ = volume.send(Message::Unmounted);
        result
    })
}

/// Does the jobs of the kernel, timed commits and idle work, until the file system is unmounted.
/// Returns `false` if it must stop before that.
fn work<S: Served, J: FnOnce(&mut S)>(served: &mut S, messages: &Receiver<Message<J>>) -> bool {
    loop {
        let message = match served.wait(Instant::now()) {
            Some(wait) => messages.recv_timeout(wait),
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match message {
            Ok(Message::Job(job)) => job(served),
            Ok(Message::Commit) => served.commit(),
            Ok(Message::Unmounted) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(Message::Stop) => return false,
            Err(RecvTimeoutError::Timeout) => served.rest(Instant::now()),
        }
    }
}
