//! Content of files: opening, reading, writing.

use super::cell::{Fs, Open, OpenFile};
use crate::trouble::Trouble;
use steadyfs::{Error, Kind, OpenOptions};
use steadyfs_host::plain::{self, PlainFile};

/// Bytes that are read between two checks for signals.
pub const PIECE_BYTES: usize = 1 << 20;

/// The mode of opening a file.
#[derive(Clone, Copy, Debug)]
pub struct How {
    writes: bool,
    creates: bool,
    is_new: bool,
    cuts: bool,
    is_durable: bool,
}

impl How {
    /// Parses the letters of Python's modes: `r`, `w`, `a` or `x`, and `+`.
    pub fn of(mode: &str, is_durable: bool) -> Self {
        let has = |letters: &str| mode.contains(|letter| letters.contains(letter));
        Self {
            writes: has("wax+"),
            creates: has("wax"),
            is_new: has("x"),
            cuts: has("w"),
            is_durable,
        }
    }

    fn options(self) -> OpenOptions {
        OpenOptions {
            write: self.writes,
            durable: self.is_durable && self.writes,
            ..OpenOptions::READ
        }
    }
}

/// Opens a file. Returns the number of its handle.
pub fn open(open: &mut Open<'_, '_>, path: &str, how: How) -> Result<u64, Trouble> {
    let found = match open.fs.stat(path) {
        Ok(stat) => Some(stat),
        Err(Error::NotFound) if how.creates => None,
        Err(error) => return open.call(path, |_| Err(error)),
    };
    let opened = match found {
        Some(_) if how.is_new => return open.call(path, |_| Err(Error::Exists)),
        Some(stat) if stat.kind == Kind::Directory => {
            return open.call(path, |_| Err(Error::IsADirectory));
        }
        Some(stat) => open_there(open.fs, stat.inode, how),
        None => create(open.fs, path, how),
    };
    let file = open.content(path, opened)?;
    let number = *open.next;
    *open.next += 1;
    open.files.insert(number, OpenFile { file, path: path.into() });
    Ok(number)
}

/// Creates a file.
fn create(fs: &mut Fs<'_>, path: &str, how: How) -> Result<PlainFile, plain::Error> {
    let file = fs.open(path, OpenOptions { create_new: true, ..how.options() })?;
    let packing = match fs.stat(file.inode()) {
        // Each write of a durable handle is a commit, and stays in its place: such a file is not
        // compressed.
        Ok(stat) if !how.is_durable => plain::rule_or(fs, stat.parent, None)?,
        _ => None,
    };
    Ok(PlainFile::Plain(file, packing))
}

/// Opens an existing file, and truncates it if the mode requires that.
fn open_there(fs: &mut Fs<'_>, inode: u32, how: How) -> Result<PlainFile, plain::Error> {
    let is_packed = plain::Shape::of(fs, inode)?.is_some();
    let mut file = match is_packed {
        _ if how.writes && !how.is_durable => PlainFile::open_to_write(fs, inode, None)?,
        true => PlainFile::open(fs, inode, how.writes)?,
        false => PlainFile::Plain(fs.open(inode, how.options())?, None),
    };
    if how.cuts
        && let Err(error) = file.truncate(fs, 0)
    {
        file.close(fs)?;
        return Err(error);
    }
    Ok(file)
}

/// Calls `act` with an open file.
fn with<T>(
    open: &mut Open<'_, '_>,
    file: u64,
    act: impl FnOnce(&mut Fs<'_>, &mut PlainFile) -> Result<T, plain::Error>,
) -> Result<T, Trouble> {
    let Some(OpenFile { file, path }) = open.files.get_mut(&file) else {
        return Err(Trouble::new("EBADF", "the file is closed", open.place("")));
    };
    match act(open.fs, file) {
        Ok(value) => Ok(value),
        Err(error) => {
            let path = path.clone();
            open.content(&path, Err(error))
        }
    }
}

/// Returns the bytes of the content.
pub fn size(open: &mut Open<'_, '_>, file: u64) -> Result<u64, Trouble> {
    with(open, file, |fs, file| file.size(fs))
}

/// Fills a buffer up to the end of the file.
pub fn read(
    open: &mut Open<'_, '_>,
    file: u64,
    offset: u64,
    buffer: &mut [u8],
) -> Result<usize, Trouble> {
    with(open, file, |fs, file| {
        let mut done = 0;
        while done < buffer.len() {
            match file.read(fs, offset + done as u64, &mut buffer[done..])? {
                0 => break,
                read => done += read,
            }
        }
        Ok(done)
    })
}

/// Writes a logical page at a time. If a page fails after others were written, returns the number
/// of bytes before it.
pub fn write(
    open: &mut Open<'_, '_>,
    file: u64,
    offset: u64,
    data: &[u8],
) -> Result<usize, Trouble> {
    let number = file;
    let written = with(open, file, |fs, file| {
        file.prepare(fs, offset, data)?;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let piece = (data.len() - done).min((file.step_end(fs, at)? - at) as usize);
            match file.write(fs, at, &data[done..done + piece]) {
                Ok(()) => done += piece,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(done)
    });
    look_again(open, number)?;
    written
}

/// Truncates or extends a file.
pub fn truncate(open: &mut Open<'_, '_>, file: u64, size: u64) -> Result<(), Trouble> {
    with(open, file, |fs, file| file.truncate(fs, size))?;
    look_again(open, file)
}

/// Updates the other handles of a file after a write. The file may be compressed now.
fn look_again(open: &mut Open<'_, '_>, number: u64) -> Result<(), Trouble> {
    let Some(OpenFile { file, path }) = open.files.get(&number) else { return Ok(()) };
    let (inode, path) = (file.inode(), path.clone());
    let others = open
        .files
        .iter_mut()
        .filter(|(other, open)| **other != number && open.file.inode() == inode);
    let seen = others.map(|(_, open)| &mut open.file).try_for_each(|file| {
        file.forget();
        file.look_again(open.fs, true)
    });
    open.content(&path, seen)
}

/// Makes the written data durable.
pub fn flush(open: &mut Open<'_, '_>, file: u64) -> Result<(), Trouble> {
    with(open, file, |fs, _| Ok(fs.sync(steadyfs::CommitOn::FSYNC)?))
}

/// Closes a file.
pub fn close(open: &mut Open<'_, '_>, file: u64) -> Result<(), Trouble> {
    let Some(OpenFile { file, path }) = open.files.remove(&file) else { return Ok(()) };
    let closed = file.close(open.fs);
    open.content(&path, closed)
}
