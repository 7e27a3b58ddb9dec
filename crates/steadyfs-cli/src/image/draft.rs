//! The draft: the file of the volume that holds a new content until it is complete. An interrupted
//! command leaves it.
//!
//! There is one, in the root directory, because a command writes one file at a time. A user's
//! file may have its name, so that the name alone marks nothing. While a command writes, the root
//! directory has an attribute, the mark. It holds the number of the name, which was free, and the
//! time stamp of the command. A killed command left the file with this name and this time. A file
//! that a user made or changed has another time.

use super::mark::{MARK_BYTES, Mark, NAME, NAMES};
use super::time;
use super::volume::{Volume, is_directory};
use crate::Failure;
use steadyfs::{CommitOn, Error, InodeNumber, ROOT, Stat};
use steadyfs_host::plain::DRAFT;

/// Returns the mark on a volume, if there is one.
fn mark_of(volume: &mut Volume<'_>) -> Result<Option<Mark>, Error> {
    let mut bytes = [0; MARK_BYTES];
    match volume.fs.attribute(ROOT, DRAFT, &mut bytes) {
        Ok(MARK_BYTES) => Ok(Mark::parse(bytes)),
        Ok(_) | Err(Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the name of the draft that a mark names on a volume.
fn name_of(volume: &Volume<'_>, mark: Mark) -> String {
    mark.name(volume.fs.config().name_bytes_max)
}

/// Returns directory and name of the draft.
fn place(volume: &Volume<'_>) -> (InodeNumber, String) {
    let first = Mark { number: 0, time_ns: 0 };
    (ROOT, name_of(volume, volume.draft.unwrap_or(first)))
}

/// Creates the draft of a file that gets the name `target`.
///
/// # Errors
/// All the names are taken.
pub fn create<T>(
    volume: &mut Volume<'_>,
    path: &str,
    target: (InodeNumber, &str),
    create: impl FnOnce(&mut Volume<'_>, (InodeNumber, &str)) -> Result<T, Error>,
) -> Result<T, Failure> {
    mark(volume, target).map_err(|error| match error {
        Error::Exists => volume.refuse(
            path,
            format!(
                "is written under another name first; expected one of /{NAME} to /{NAME}{} free",
                NAMES - 1
            ),
        ),
        error => volume.fail(path, error),
    })?;
    let (directory, name) = place(volume);
    create(volume, (directory, &name)).map_err(|error| volume.fail(path, error))
}

/// Marks a name that is free, before the draft gets it.
fn mark(volume: &mut Volume<'_>, target: (InodeNumber, &str)) -> Result<(), Error> {
    let time_ns = volume.draft.map_or_else(time::now, |mark| mark.time_ns);
    for mark in (0..NAMES).map(|number| Mark { number, time_ns }) {
        let name = name_of(volume, mark);
        if target == (ROOT, name.as_str())
            || volume.fs.stat((ROOT, name.as_str())) != Err(Error::NotFound)
        {
            continue;
        }
        if volume.draft != Some(mark) {
            volume.fs.set_time(time_ns);
            match volume.fs.set_attribute(ROOT, DRAFT, Some(&mark.emit())) {
                // Without a mark no file is a draft. A killed command then leaves a file that
                // users find.
                Ok(()) | Err(Error::TooManyFiles | Error::NoSpace | Error::AttributesTooLarge) => {}
                Err(error) => return Err(error),
            }
            volume.draft = Some(mark);
        }
        return Ok(());
    }
    Err(Error::Exists)
}

/// Gives a complete draft its time, if there is one, and its name.
///
/// # Power loss
/// Both, or neither: no command recognises a draft with another time. The time comes first only if
/// both together are too much for a transaction.
pub fn finish(
    volume: &mut Volume<'_>,
    inode: InodeNumber,
    modified_ns: Option<u64>,
    target: (InodeNumber, &str),
) -> Result<(), Error> {
    let events = volume.fs.commit_on();
    volume.fs.set_commit_on(events.without(CommitOn::FULL));
    let mut done = stamp_and_rename(volume, inode, modified_ns, target);
    if done.is_err() {
        let began_ns = volume.draft.map(|mark| mark.time_ns);
        let as_before = began_ns.map_or(Ok(()), |began_ns| volume.fs.set_modified(inode, began_ns));
        done = as_before
            .and_then(|()| volume.fs.commit())
            .and_then(|()| stamp_and_rename(volume, inode, modified_ns, target));
    }
    volume.fs.set_commit_on(events);
    // A commit may find room.
    done.or_else(|_| stamp_and_rename(volume, inode, modified_ns, target))
}

fn stamp_and_rename(
    volume: &mut Volume<'_>,
    inode: InodeNumber,
    modified_ns: Option<u64>,
    target: (InodeNumber, &str),
) -> Result<(), Error> {
    if let Some(modified_ns) = modified_ns {
        volume.fs.set_modified(inode, modified_ns)?;
    }
    let (directory, name) = place(volume);
    volume.fs.rename((directory, name.as_str()), target)
}

/// Removes the draft of a command that failed.
pub fn remove(volume: &mut Volume<'_>) -> Result<(), Error> {
    let (directory, name) = place(volume);
    // Commit the removal, because the data written so far may be committed.
    volume.fs.remove((directory, name.as_str())).and_then(|()| volume.fs.commit())
}

/// Removes the mark when a command ends.
pub fn end(volume: &mut Volume<'_>) -> Result<(), Error> {
    if volume.draft.take().is_none() {
        return Ok(());
    }
    unmark(volume)
}

fn unmark(volume: &mut Volume<'_>) -> Result<(), Error> {
    match volume.fs.set_attribute(ROOT, DRAFT, None) {
        Err(Error::NotFound) => Ok(()),
        result => result,
    }
}

/// Finds the draft that an interrupted command left: its name, and its state.
pub fn left(volume: &mut Volume<'_>) -> Result<Option<(String, Stat)>, Error> {
    let Some(mark) = mark_of(volume)? else { return Ok(None) };
    let name = name_of(volume, mark);
    match volume.fs.stat((ROOT, name.as_str())) {
        Ok(stat) if !is_directory(&stat) && stat.modified_ns == mark.time_ns => {
            Ok(Some((name, stat)))
        }
        Ok(_) | Err(Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the draft that an interrupted command left, and the mark. Returns the name of the draft,
/// if there was one. An unreadable root directory is no error here: the command itself reports it.
pub fn remove_left(volume: &mut Volume<'_>) -> Result<Option<String>, Failure> {
    let Ok(found) = left(volume) else { return Ok(None) };
    let name = found.map(|(name, _)| name);
    if let Some(name) = &name {
        volume.fs.remove((ROOT, name.as_str())).map_err(|error| volume.fail(name, error))?;
    }
    if mark_of(volume).is_ok_and(|mark| mark.is_some()) {
        unmark(volume)
            .and_then(|()| volume.fs.commit())
            .map_err(|error| volume.fail(NAME, error))?;
    }
    Ok(name)
}
