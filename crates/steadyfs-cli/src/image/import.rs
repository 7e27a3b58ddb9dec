//! From the host, or an archive, into a volume.

use super::draft;
use super::left_out::LeftOut;
use super::names::join;
use super::scan::{Bytes, Source};
use super::volume::{PIECE_BYTES, Volume, is_directory};
use crate::Failure;
use crate::interrupt;
use crate::progress::Progress;
use std::io;
use steadyfs::{Error, InodeNumber, Permissions, Stat};
use steadyfs_host::plain::{self, Packing, PlainFile, Shape, rule_or, shape_for};

/// A directory of the volume: its inode, and its path as errors name it.
#[derive(Clone, Debug)]
pub struct Directory {
    /// The inode.
    pub inode: InodeNumber,
    /// The path.
    pub path: String,
}

/// Treatment of times, owners and existing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// True if files keep their times on the host; else they get the time of the volume's clock.
    pub keeps_times: bool,
    /// Owner and group of everything; `None`: as on the host.
    pub owner: Option<(u32, u32)>,
    /// True if a file is there as a whole or not at all, whenever the command ends. A new image
    /// does not need this.
    pub is_atomic: bool,
    /// Compression of files that are worth it; `None`: as set for their directory.
    pub packing: Option<Packing>,
}

/// An import in progress.
pub struct Import<'a> {
    /// The treatment of files.
    pub mode: Mode,
    /// Shows the bytes so far.
    pub progress: &'a mut Progress,
    /// Things that the volume could not keep.
    pub left: &'a mut LeftOut,
}

/// Puts everything of a scan into a directory of the volume. Uses existing directories.
pub fn all(
    volume: &mut Volume<'_>,
    sources: &[Source<'_>],
    into: &Directory,
    import: &mut Import<'_>,
) -> Result<(), Failure> {
    let mode = import.mode;
    // The directories from `into` down to the place of the walk. Each gets its time when the walk
    // leaves it.
    let mut open = vec![(into.clone(), 0)];
    for source in sources {
        leave(volume, &mut open, source.depth + 1, mode)?;
        let (parent, _) = &open[open.len() - 1];
        if source.is_directory {
            let made = directory(volume, parent, &source.name, source, import)?;
            open.push((made, source.modified_ns));
        } else if let Some(target) = &source.link {
            let parent = parent.clone();
            link(volume, source, target, &parent, &source.name, import)?;
        } else {
            let parent = parent.clone();
            file(volume, source, &parent, &source.name, import)?;
        }
    }
    leave(volume, &mut open, 1, mode)
}

/// Leaves directories until `count` are open. Entries change the time of their directory, so the
/// time is set last.
fn leave(
    volume: &mut Volume<'_>,
    open: &mut Vec<(Directory, u64)>,
    count: usize,
    mode: Mode,
) -> Result<(), Failure> {
    while open.len() > count {
        if let Some((directory, modified_ns)) = open.pop()
            && mode.keeps_times
        {
            let set = volume.fs.set_modified(directory.inode, modified_ns);
            set.map_err(|error| volume.fail(&directory.path, error))?;
        }
    }
    Ok(())
}

/// Makes a directory with the permissions and attributes of the host's directory, or uses an
/// existing directory as it is.
pub fn directory(
    volume: &mut Volume<'_>,
    parent: &Directory,
    name: &str,
    source: &Source<'_>,
    import: &mut Import<'_>,
) -> Result<Directory, Failure> {
    let path = join(&parent.path, name);
    let inode = match plain::create_dir(&mut volume.fs, (parent.inode, name)) {
        Ok(inode) => {
            own(volume, inode, source, import).map_err(|error| volume.fail(&path, error))?;
            inode
        }
        Err(Error::Exists) => match child(volume, parent, name)? {
            Some(stat) if is_directory(&stat) => stat.inode,
            _ => return Err(volume.refuse(&path, "is a file; expected a directory, or nothing")),
        },
        Err(error) => return Err(volume.fail(&path, error)),
    };
    Ok(Directory { inode, path })
}

/// Gives an inode its attributes on the host, and its permissions if both host and volume have
/// permissions.
pub fn own(
    volume: &mut Volume<'_>,
    inode: InodeNumber,
    source: &Source<'_>,
    import: &mut Import<'_>,
) -> Result<(), Error> {
    for (key, value) in &source.attributes {
        match volume.fs.set_attribute(inode, key, Some(value)) {
            Err(Error::AttributesTooLarge) => import.left.attributes += 1,
            set => set?,
        }
    }
    let Some(own) = source.permissions.filter(|_| volume.fs.config().permissions) else {
        return Ok(());
    };
    let (uid, gid) = import.mode.owner.unwrap_or((own.uid, own.gid));
    volume.fs.set_permissions(inode, Permissions { uid, gid, ..own })
}

/// Makes a symbolic link. Replaces an existing file or link.
fn link(
    volume: &mut Volume<'_>,
    source: &Source<'_>,
    target: &str,
    parent: &Directory,
    name: &str,
    import: &mut Import<'_>,
) -> Result<(), Failure> {
    let mode = import.mode;
    let path = join(&parent.path, name);
    if child(volume, parent, name)?.is_some_and(|stat| is_directory(&stat)) {
        return Err(volume.refuse(&path, "is a directory; expected a link, or nothing"));
    }
    let inode =
        begin(volume, parent, name, mode, |volume, place| volume.fs.create_symlink(place, target))?;
    let settled = settle(volume, source, inode, (parent, name), import);
    drop_draft(volume, settled, mode)
}

/// Returns the entry of a directory with a name, if there is one.
pub fn child(
    volume: &mut Volume<'_>,
    parent: &Directory,
    name: &str,
) -> Result<Option<Stat>, Failure> {
    match volume.fs.stat((parent.inode, name)) {
        Ok(stat) => Ok(Some(stat)),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(volume.fail(&join(&parent.path, name), error)),
    }
}

/// Puts one file into a directory. Replaces an existing file.
pub fn file(
    volume: &mut Volume<'_>,
    source: &Source<'_>,
    parent: &Directory,
    name: &str,
    import: &mut Import<'_>,
) -> Result<(), Failure> {
    let mode = import.mode;
    let path = join(&parent.path, name);
    if child(volume, parent, name)?.is_some_and(|stat| is_directory(&stat)) {
        return Err(volume.refuse(&path, "is a directory; expected a file, or nothing"));
    }
    let mut host = source.open().map_err(|error| Failure::at(source.path.display(), error))?;
    let packing = match mode.packing {
        None => rule_or(&mut volume.fs, parent.inode, None)
            .map_err(|error| volume.fail_content(&parent.path, error))?,
        asked_for => asked_for,
    };
    let shape = shape(volume, source, &mut *host, packing)?;
    let level = packing.map_or(0, |packing| packing.level);
    let create = |volume: &mut Volume<'_>, place: (InodeNumber, &str)| {
        Ok(PlainFile::create(&mut volume.fs, place, shape, level)?)
    };
    let mut target = begin(volume, parent, name, mode, create)?;
    let inode = target.inode();
    let copied = copy(volume, source, &mut *host, &mut target, &path, import.progress);
    let closed = target.close(&mut volume.fs).map_err(|error| volume.fail_content(&path, error));
    let settled =
        copied.and(closed).and_then(|()| settle(volume, source, inode, (parent, name), import));
    drop_draft(volume, settled, mode)
}

/// Creates a file or link, or its draft, which takes its place when it is complete.
fn begin<T>(
    volume: &mut Volume<'_>,
    parent: &Directory,
    name: &str,
    mode: Mode,
    create: impl FnOnce(&mut Volume<'_>, (InodeNumber, &str)) -> Result<T, Error>,
) -> Result<T, Failure> {
    let path = join(&parent.path, name);
    if !mode.is_atomic {
        return create(volume, (parent.inode, name)).map_err(|error| volume.fail(&path, error));
    }
    if name.len() > usize::from(volume.fs.config().name_bytes_max) {
        return Err(volume.fail(&path, Error::NameTooLong));
    }
    draft::create(volume, &path, (parent.inode, name), create)
}

/// Removes the draft if the result is a failure.
fn drop_draft(
    volume: &mut Volume<'_>,
    result: Result<(), Failure>,
    mode: Mode,
) -> Result<(), Failure> {
    if result.is_err() && mode.is_atomic {
        let _ = draft::remove(volume);
    }
    result
}

/// Returns the compression of a file, from a look at its beginning.
fn shape(
    volume: &Volume<'_>,
    source: &Source<'_>,
    host: &mut dyn Bytes,
    packing: Option<Packing>,
) -> Result<Option<Shape>, Failure> {
    let Some(packing) = packing else { return Ok(None) };
    let unreadable = |error| Failure::at(source.path.display(), error);
    let mut first = vec![0; packing.shape(source.size).chunk_bytes()];
    let count = read_piece(host, &mut first).map_err(unreadable)?;
    host.rewind().map_err(unreadable)?;
    Ok(shape_for(&volume.fs, packing, &first[..count], source.size))
}

fn copy(
    volume: &mut Volume<'_>,
    source: &Source<'_>,
    host: &mut dyn Bytes,
    target: &mut PlainFile,
    path: &str,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut buffer = vec![0; PIECE_BYTES];
    let mut offset = 0;
    loop {
        interrupt::check()?;
        let count = read_piece(host, &mut buffer)
            .map_err(|error| Failure::at(source.path.display(), error))?;
        if count == 0 {
            return Ok(());
        }
        target.write(&mut volume.fs, offset, &buffer[..count]).map_err(|error| match error {
            plain::Error::Volume(Error::NoSpace) => volume.no_room(path, source.size, offset),
            error => volume.fail_content(path, error),
        })?;
        offset += count as u64;
        progress.add(count as u64);
    }
}

/// Fills the buffer, or reads to the end of the file. So the pieces, and the bytes on the medium,
/// do not depend on the size of the host's reads.
fn read_piece(host: &mut dyn Bytes, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match host.read(&mut buffer[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Gives a complete file its attributes, its permissions, its time, and its name.
fn settle(
    volume: &mut Volume<'_>,
    source: &Source<'_>,
    inode: InodeNumber,
    (parent, name): (&Directory, &str),
    import: &mut Import<'_>,
) -> Result<(), Failure> {
    let mode = import.mode;
    let owned = own(volume, inode, source, import);
    let modified_ns = mode.keeps_times.then_some(source.modified_ns);
    let named = owned.and_then(|()| match modified_ns {
        _ if mode.is_atomic => draft::finish(volume, inode, modified_ns, (parent.inode, name)),
        Some(modified_ns) => volume.fs.set_modified(inode, modified_ns),
        None => Ok(()),
    });
    named.map_err(|error| volume.fail(&join(&parent.path, name), error))
}
