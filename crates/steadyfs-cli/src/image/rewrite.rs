//! A file of the volume, written anew in another form.

use super::draft;
use super::tree::Item;
use super::volume::{PIECE_BYTES, Volume};
use crate::Failure;
use crate::interrupt;
use steadyfs::{Error, InodeNumber};
use steadyfs_host::plain::{Packing, PlainFile, Shape, is_own, shape_for};

/// The result of rewriting a file.
pub struct Rewritten {
    /// True if the file is compressed now.
    pub is_packed: bool,
    /// Bytes of the file's pages before.
    pub bytes_before: u64,
    /// Bytes of the file's pages after.
    pub bytes_after: u64,
}

/// Writes a file anew that is compressed, or will be. Content, time, permissions and attributes
/// stay. The new file takes its place as a whole or not at all.
pub fn rewrite(
    volume: &mut Volume<'_>,
    item: &Item,
    packing: Option<Packing>,
) -> Result<Rewritten, Failure> {
    interrupt::check()?;
    let (path, old) = (item.path.as_str(), item.stat.inode);
    let bytes_before = volume.fs.allocated(old).map_err(|error| volume.fail(path, error))?;
    let mut source = PlainFile::open(&mut volume.fs, old, false)
        .map_err(|error| volume.fail_content(path, error))?;
    let was_packed = source.is_packed();
    let made = shape_of(volume, &mut source, item, packing).and_then(|shape| match shape {
        None if !was_packed => Ok(None),
        _ => copy(volume, &mut source, item, shape, packing.map_or(0, |packing| packing.level))
            .map(Some),
    });
    let closed = source.close(&mut volume.fs).map_err(|error| volume.fail_content(path, error));
    let Some((new, is_packed)) = closed.and(made)? else {
        return Ok(Rewritten { is_packed: false, bytes_before, bytes_after: bytes_before });
    };
    let bytes_after = volume.fs.allocated(new).map_err(|error| volume.fail(path, error))?;
    Ok(Rewritten { is_packed, bytes_before, bytes_after })
}

/// Returns the new compression of the file, from a look at its beginning.
fn shape_of(
    volume: &mut Volume<'_>,
    source: &mut PlainFile,
    item: &Item,
    packing: Option<Packing>,
) -> Result<Option<Shape>, Failure> {
    let Some(packing) = packing else { return Ok(None) };
    let mut first = vec![0; packing.shape(item.stat.size).chunk_bytes()];
    let count = source
        .read(&mut volume.fs, 0, &mut first)
        .map_err(|error| volume.fail_content(&item.path, error))?;
    Ok(shape_for(&volume.fs, packing, &first[..count], item.stat.size))
}

/// Writes the draft and gives it the name. Returns its inode, and true if it is compressed.
fn copy(
    volume: &mut Volume<'_>,
    source: &mut PlainFile,
    item: &Item,
    shape: Option<Shape>,
    level: i32,
) -> Result<(InodeNumber, bool), Failure> {
    let path = item.path.as_str();
    let create = |volume: &mut Volume<'_>, place: (InodeNumber, &str)| {
        Ok(PlainFile::create(&mut volume.fs, place, shape, level)?)
    };
    let mut target = draft::create(volume, path, (item.stat.parent, item.name.as_str()), create)?;
    let new = target.inode();
    let copied = copy_content(volume, source, &mut target, path);
    let closed = target.close(&mut volume.fs).map_err(|error| volume.fail_content(path, error));
    let named = copied
        .and(closed)
        .and_then(|()| take_place(volume, item, new).map_err(|error| volume.fail(path, error)));
    if named.is_err() {
        let _ = draft::remove(volume);
    }
    named.map(|()| (new, shape.is_some()))
}

fn copy_content(
    volume: &mut Volume<'_>,
    source: &mut PlainFile,
    target: &mut PlainFile,
    path: &str,
) -> Result<(), Failure> {
    let mut buffer = vec![0; PIECE_BYTES];
    let mut offset = 0;
    loop {
        interrupt::check()?;
        let count = source
            .read(&mut volume.fs, offset, &mut buffer)
            .map_err(|error| volume.fail_content(path, error))?;
        if count == 0 {
            return Ok(());
        }
        target
            .write(&mut volume.fs, offset, &buffer[..count])
            .map_err(|error| volume.fail_content(path, error))?;
        offset += count as u64;
    }
}

/// Gives the draft everything that the file has beside its content, and the name.
fn take_place(volume: &mut Volume<'_>, item: &Item, new: InodeNumber) -> Result<(), Error> {
    let old = item.stat.inode;
    let mut attributes = Vec::new();
    volume.fs.attributes(old, |key, value| attributes.push((key.to_string(), value.to_vec())))?;
    for (key, value) in attributes.iter().filter(|(key, _)| !is_own(key)) {
        volume.fs.set_attribute(new, key, Some(value))?;
    }
    if let Some(permissions) = volume.fs.permissions(old)? {
        volume.fs.set_permissions(new, permissions)?;
    }
    let directory = item.stat.parent;
    let modified_ns = volume.fs.stat(directory)?.modified_ns;
    draft::finish(volume, new, Some(item.stat.modified_ns), (directory, item.name.as_str()))?;
    volume.fs.set_modified(directory, modified_ns)
}
