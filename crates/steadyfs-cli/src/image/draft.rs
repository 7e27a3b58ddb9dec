//! The file of the volume in which a new content is until it is complete, and what an interrupted command has left of it.
//!
//! There is one, in the root directory, since a command writes one file at a time: what is there under its name when a command begins is of one
//! that was killed, and is found without a look at any other directory.

use super::volume::{Volume, is_directory};
use crate::Failure;
use steadyfs::{Error, InodeNumber, ROOT, Stat};

/// The name that is kept for it.
pub const NAME: &str = "~steady-put";

/// Where the draft is, and its name, cut to what the volume takes.
pub fn place(volume: &Volume<'_>) -> (InodeNumber, &'static str) {
    (ROOT, &NAME[..NAME.len().min(usize::from(volume.fs.config().name_bytes_max))])
}

/// Creates the draft.
///
/// # Errors
/// A draft that is there was not removed: its name is cut, and may be that of another file.
pub fn create<T>(
    volume: &mut Volume<'_>,
    path: &str,
    create: impl FnOnce(&mut Volume<'_>, (InodeNumber, &str)) -> Result<T, Error>,
) -> Result<T, Failure> {
    let place = place(volume);
    create(volume, place).map_err(|error| match error {
        Error::Exists => volume.refuse(path, format!("is written under the name /{} first; remove what has that name", place.1)),
        error => volume.fail(path, error),
    })
}

/// Removes the draft of a command that fails.
pub fn remove(volume: &mut Volume<'_>) -> Result<(), Error> {
    let place = place(volume);
    // Committed, because what was written so far may be.
    volume.fs.remove(place).and_then(|()| volume.fs.commit())
}

/// What an interrupted command has left, if it did.
pub fn left(volume: &mut Volume<'_>) -> Result<Option<Stat>, Failure> {
    let place = place(volume);
    if place.1 != NAME {
        return Ok(None);
    }
    match volume.fs.stat(place) {
        Ok(stat) if !is_directory(&stat) => Ok(Some(stat)),
        Ok(_) | Err(Error::NotFound) => Ok(None),
        Err(error) => Err(volume.fail(NAME, error)),
    }
}

/// Removes what an interrupted command has left; whether there was anything. A root directory that cannot be read is told by what needs it.
pub fn remove_left(volume: &mut Volume<'_>) -> Result<bool, Failure> {
    let found = left(volume).is_ok_and(|left| left.is_some());
    if found {
        remove(volume).map_err(|error| volume.fail(NAME, error))?;
    }
    Ok(found)
}
