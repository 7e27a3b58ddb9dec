//! SIGINT and SIGTERM unmount.

use super::message::Message;
use super::ours::Ours;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Handle;
use std::io::{self, Write};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

/// Signals that wait until somebody takes the mount away for them: a signal that comes right behind the mount must not end the service as it ends others.
pub(super) struct Waiting(signal_hook::iterator::Signals);

/// Signals that are caught until this is dropped.
pub(super) struct Signals {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// From now on signals wait.
    pub fn new() -> io::Result<Self> {
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map(Self)
    }

    /// The first signal takes the mount away, the second one ends the service.
    pub fn catch<J: Send + 'static>(self, ours: Ours, volume: Sender<Message<J>>) -> io::Result<Signals> {
        let mut signals = self.0;
        let handle = signals.handle();
        let thread = thread::Builder::new().name("steadyfs-signals".into()).spawn(move || {
            for (count, _) in signals.forever().enumerate() {
                if count > 0 {
                    let _ = volume.send(Message::Stop);
                    continue;
                }
                // Whatever comes next, what was done until now is on the medium.
                let _ = volume.send(Message::Commit);
                let told = match ours.take_away() {
                    Ok(false) => continue,
                    Ok(true) => "unmounted; the service goes on for files that are still open (EBUSY)".into(),
                    // The service goes on: without it, the kernel would drop the mounts that lie in this one.
                    Err(error) => format!("still mounted and served: {error}"),
                };
                // Nobody may be there to read it.
                let _ = writeln!(io::stderr(), "{told}. A second signal ends it nevertheless.");
            }
        })?;
        Ok(Signals { handle, thread: Some(thread) })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
