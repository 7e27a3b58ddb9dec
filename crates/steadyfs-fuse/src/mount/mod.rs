//! Mounting, the loop that serves the kernel, and the timer.

mod background;
mod detach;
mod signals;

pub use background::{Background, Failure, spawn};

use crate::bridge::{Bridge, Message};
use crate::options::Options;
use crate::volume::Volume;
use detach::Detach;
use fuser::Session;
use signals::Signals;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;
use steadyfs::FileSystem;
use steadyfs::media::Flash;

/// Mounts a volume on a directory and serves it until it is unmounted (`umount`, `fusermount3 -u`) or a signal says so.
///
/// The first SIGINT or SIGTERM takes the directory away from the tree of files; who has files open may go on, and the call returns
/// when the last one is closed. The second one makes it return at once, and what is open says `EIO` from then on. Both signals do nothing
/// after the call.
///
/// The volume is not unmounted: it is the caller's, to [unmount](FileSystem::unmount) or to look at. It keeps the
/// [events that commit](FileSystem::set_commit_on) which `options` chose.
///
/// # Errors
/// When `mountpoint` cannot be mounted on, `/dev/fuse` is not there, or the kernel ends the session with an error.
pub fn mount<F: Flash + 'static>(fs: &mut FileSystem<'_, F>, mountpoint: &Path, options: &Options) -> io::Result<()> {
    serve(fs, mountpoint, options, true, |_| {})
}

/// Mounts and serves; `ready` is called once the file system is there.
fn serve<F: Flash + 'static>(
    fs: &mut FileSystem<'_, F>,
    mountpoint: &Path,
    options: &Options,
    catch_signals: bool,
    ready: impl FnOnce(&Path),
) -> io::Result<()> {
    fs.set_commit_on(options.commit_on);
    let mountpoint = mountpoint.canonicalize()?;
    let (sender, receiver) = channel();
    let session = Session::new(Bridge::new(sender.clone()), &mountpoint, &options.session())?;
    // Also if the loop below panics, as simulated chips do: a mount without anyone who serves it would stay.
    let mut detach = Detach::new(mountpoint.clone());
    let signals = if catch_signals { Some(Signals::catch(mountpoint.clone(), sender.clone())?) } else { None };
    let session = thread::Builder::new().name("steadyfs-fuse".into()).spawn(move || {
        // The kernel may abort the connection that an unmount ends, and say so to whoever reads the next request.
        let result = session.run().or_else(|error| match error.kind() {
            io::ErrorKind::ConnectionAborted => Ok(()),
            _ => Err(error),
        });
        let _ = sender.send(Message::Unmounted);
        result
    })?;
    ready(&mountpoint);

    let mut volume = Volume::new(fs, options.commit_interval);
    let is_unmounted = work(&mut volume, &receiver);
    volume.close_all();
    drop(signals);
    if !is_unmounted {
        // The session's thread ends when the last file is closed, whenever that is.
        return Ok(());
    }
    detach.forget();
    session.join().unwrap_or_else(|_| Err(io::Error::other("the session's thread panicked")))
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
            Ok(Message::Unmounted) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(Message::Stop) => return false,
            Err(RecvTimeoutError::Timeout) => volume.rest(Instant::now()),
        }
    }
}
