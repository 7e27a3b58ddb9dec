//! Handling of the signals SIGINT and SIGTERM, which unmount.

use super::message::Message;
use super::ours::Ours;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Handle;
use std::io::{self, Write};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

/// Signals that wait until a thread handles them. So a signal directly after the mount cannot end
/// the process before it unmounts.
pub(super) struct Waiting(signal_hook::iterator::Signals);

/// Signals that are caught until this struct is dropped.
pub(super) struct Signals {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Lets all signals wait from now on.
    pub fn new() -> io::Result<Self> {
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map(Self)
    }

    /// Catches signals: the first signal unmounts, and the second signal ends the service.
    pub fn catch<J: Send + 'static>(
        self,
        ours: Ours,
        volume: Sender<Message<J>>,
    ) -> io::Result<Signals> {
        let mut signals = self.0;
        let handle = signals.handle();
        let thread = thread::Builder::new().name("steadyfs-signals".into()).spawn(move || {
            for (count, _) in signals.forever().enumerate() {
                if count > 0 {
                    let _ = volume.send(Message::Stop);
                    continue;
                }
                // All changes so far become durable first.
                let _ = volume.send(Message::Commit);
                let told = match ours.take_away() {
                    Ok(false) => continue,
                    Ok(true) => {
                        "unmounted; the service goes on for files that are still open (EBUSY)"
                            .into()
                    }
                    // The service continues. If it ended, the kernel would drop the mounts that lie
                    // in this mount.
                    Err(error) => format!("still mounted and served: {error}"),
                };
                // The other end of standard error may be closed.
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
