//! Mounting, the loop that serves the kernel, and the timer.

mod attach;
mod background;
mod failure;
mod ours;
mod place;
mod signals;
mod table;

pub use background::{Background, spawn};
pub use failure::Failure;
pub use place::{Refusal, check_mountpoint};

use crate::bridge::{Bridge, Message};
use crate::options::Options;
use crate::volume::Volume;
use attach::attach;
use fuser::{Config, Session};
use ours::{Guard, Ours};
use signals::Signals;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use steadyfs::FileSystem;
use steadyfs::media::Flash;

/// Mounts a volume on a directory and serves it until it is unmounted (`umount`, `fusermount3 -u`) or a signal says so.
///
/// The first SIGINT or SIGTERM commits, and takes the directory away from the tree of files; who has files open may go on, which is told on
/// standard error, and the call returns when the last one is closed. The second one makes it return at once, and what is open says `EIO` from then on. Both signals do nothing
/// after the call.
///
/// Only this mount is ever unmounted. If another one lies on it, the first signal only says so, on standard error.
///
/// The volume is not unmounted: it is the caller's, to [unmount](FileSystem::unmount) or to look at. It keeps the
/// [events that commit](FileSystem::set_commit_on) which `options` chose.
///
/// # Errors
/// [`Failure::Mountpoint`] and [`Failure::Kernel`] when it cannot be mounted there; [`Failure::Kernel`] also when the kernel ends the
/// session with an error; [`Failure::Kept`] when a second signal ended the service of a mount that another one lies on.
pub fn mount<F: Flash + 'static>(fs: &mut FileSystem<'_, F>, mountpoint: &Path, options: &Options) -> Result<(), Failure> {
    serve(fs, mountpoint, options, true, |_| {})
}

/// Mounts and serves; `ready` is called once the file system is there.
fn serve<F: Flash + 'static>(
    fs: &mut FileSystem<'_, F>,
    mountpoint: &Path,
    options: &Options,
    catch_signals: bool,
    ready: impl FnOnce(&Ours),
) -> Result<(), Failure> {
    fs.set_commit_on(options.commit_on);
    let mountpoint = check_mountpoint(mountpoint, options.nonempty).map_err(Failure::Mountpoint)?;
    // It is dropped after the queue, so that nobody waits for an answer while the mount is taken away. Also if the loop below panics, as
    // simulated chips do: a mount without anyone who serves it would stay.
    let mut guard;
    let (sender, receiver) = channel();
    let (device, ours) = attach(&mountpoint, options).map_err(Failure::Kernel)?;
    guard = Guard::new(ours.clone());
    let session = Session::from_fd(Bridge::new(sender.clone()), device, options.acl(), Config::default());
    let session = start(session.map_err(Failure::Kernel)?, sender.clone()).map_err(Failure::Kernel)?;
    let signals = catch_signals.then(|| Signals::catch(ours.clone(), sender)).transpose().map_err(Failure::Kernel)?;
    ready(&ours);

    let mut volume = Volume::new(fs, options);
    let is_ended = work(&mut volume, &receiver);
    volume.close_all();
    drop((signals, receiver));
    if !is_ended {
        // The session's thread ends when the last file is closed, whenever that is.
        return guard.take_away().map_err(Failure::Kept);
    }
    session.join().unwrap_or_else(|_| Err(io::Error::other("the session's thread panicked"))).map_err(Failure::Kernel)?;
    guard.forget();
    Ok(())
}

/// Hands the kernel's requests on, in a thread of its own, until the file system is unmounted.
fn start<F: Flash + 'static>(session: Session<Bridge<F>>, volume: Sender<Message<F>>) -> io::Result<JoinHandle<io::Result<()>>> {
    thread::Builder::new().name("steadyfs-fuse".into()).spawn(move || {
        // The kernel may abort the connection that an unmount ends, and say so to whoever reads the next request.
        let result = session.run().or_else(|error| match error.kind() {
            io::ErrorKind::ConnectionAborted => Ok(()),
            _ => Err(error),
        });
        let _ = volume.send(Message::Unmounted);
        result
    })
}

/// Does what the kernel asks for, timed commits and idle work, until the file system is unmounted; `false` when told to stop before that.
fn work<F: Flash>(volume: &mut Volume<'_, '_, F>, messages: &Receiver<Message<F>>) -> bool {
    loop {
        let message = match volume.wait(Instant::now()) {
            Some(wait) => messages.recv_timeout(wait),
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match message {
            Ok(Message::Job(job)) => job(volume),
            Ok(Message::Commit) => volume.commit(),
            Ok(Message::Unmounted) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(Message::Stop) => return false,
            Err(RecvTimeoutError::Timeout) => volume.rest(Instant::now()),
        }
    }
}
