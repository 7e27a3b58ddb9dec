//! Compressed files: opened in memory that is lent, and plain bytes for the caller.

use crate::bounds::Cost;
use crate::error::{Code, length, status, wide};
use crate::files::{
    STEADYFS_O_APPEND, STEADYFS_O_DURABLE, STEADYFS_O_RDONLY, STEADYFS_O_WRONLY, STEADYFS_SEEK_END, moved, options,
};
use crate::handle::{Handle, close, open, with_handle};
use crate::pointers;
use crate::volume::{Fs, Mounted};
use core::ffi::{c_char, c_int, c_void};
use steadyfs::{Call, File, InodeNumber, OpenOptions};
use steadyfs_compress::{Error, Method, PackedFile, Rule, Shape};

/// Words of 64 bits of steadyfs_packed_t.
pub const STEADYFS_PACKED_WORDS: usize = 11;
/// Words of the size of a pointer of steadyfs_packed_t.
pub const STEADYFS_PACKED_POINTERS: usize = 10;

/// An open file that may be compressed: memory of the caller's, which steadyfs_packed_open makes a file of, whatever it held.
///
/// It remembers the chunk that it decoded last: where another handle has changed the file, close it and open it again.
#[repr(C)]
pub struct PackedHandle {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_PACKED_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_PACKED_POINTERS],
}

/// A file, compressed or not.
pub(crate) enum Content {
    Plain(File),
    Packed(PackedFile<&'static mut [u8]>),
}

impl Handle for PackedHandle {
    type On = Fs;
    type Content = Content;
    const STATE: u32 = 0x6B63_6150;
}

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        match error {
            Error::Volume(error) => error.into(),
            Error::MemoryTooSmall { .. } => Self::ErrNomem,
            Error::Method { .. } | Error::Attribute | Error::Rule => Self::ErrUnsupported,
            Error::TooLarge => Self::ErrFbig,
            _ => Self::ErrCorrupt,
        }
    }
}

/// The shape of a new file with chunks of so many bytes.
fn shape(chunk_bytes: usize) -> Result<Shape, Code> {
    let shape = Shape::new(chunk_bytes, Method::Lz4);
    if shape.chunk_bytes() == chunk_bytes { Ok(shape) } else { Err(Code::ErrInval) }
}

/// Bytes of memory for a file of a shape.
fn needed(shape: &Shape, writes: bool) -> usize {
    if writes { shape.write_bytes() } else { shape.read_bytes() }
}

/// Opens what is there, or creates it.
fn open_any(fs: &mut Mounted, path: &str, flags: c_int, chunk_bytes: usize, memory: &'static mut [u8]) -> Result<Content, Code> {
    let options = options(flags)?;
    let asked_for = if chunk_bytes == 0 { None } else { Some(shape(chunk_bytes)?) };
    match fs.stat(path) {
        Ok(stat) if !options.create_new => match Shape::of(fs, stat.inode)? {
            Some(shape) => open_packed(fs, stat.inode, &shape, options, memory).map(Content::Packed),
            None => Ok(Content::Plain(fs.open(path, options)?)),
        },
        Err(steadyfs::Error::NotFound) if options.create => create(fs, path, options, asked_for, memory),
        Err(error) => Err(error.into()),
        Ok(_) => Err(Code::ErrExist),
    }
}

/// Opens a compressed file that is there, and cuts it where that was asked for.
fn open_packed(
    fs: &mut Mounted,
    inode: InodeNumber,
    shape: &Shape,
    options: OpenOptions,
    memory: &'static mut [u8],
) -> Result<PackedFile<&'static mut [u8]>, Code> {
    if memory.len() < needed(shape, options.write) {
        return Err(Code::ErrNomem);
    }
    let mut file = PackedFile::open_inode(fs, inode, options.write, memory)?;
    if options.truncate
        && let Err(error) = file.truncate(fs, 0)
    {
        file.close(fs)?;
        return Err(error.into());
    }
    Ok(file)
}

/// Creates a file: of the shape that was asked for, or as its directory says.
fn create(
    fs: &mut Mounted,
    path: &str,
    options: OpenOptions,
    asked_for: Option<Shape>,
    memory: &'static mut [u8],
) -> Result<Content, Code> {
    let file = fs.open(path, OpenOptions { durable: false, ..options })?;
    let inode = file.inode();
    let shape = match asked_for {
        None => ruled(fs, inode),
        asked_for => Ok(asked_for),
    };
    let shape = shape.map(|shape| shape.map(|shape| shape.for_volume(fs.size_max())));
    let made = match shape {
        Ok(None) => return Ok(Content::Plain(file)),
        Ok(Some(shape)) => fs.close(file).map_err(Error::from).and_then(|()| PackedFile::convert(fs, inode, shape, memory)),
        Err(error) => fs.close(file).map_err(Error::from).and(Err(error)),
    };
    match made {
        Ok(file) => Ok(Content::Packed(file)),
        Err(error) => {
            fs.remove(path)?;
            Err(error.into())
        }
    }
}

/// How the directory of a file says that it is compressed. What this release does not know is as nothing said.
fn ruled(fs: &mut Mounted, inode: InodeNumber) -> Result<Option<Shape>, Error> {
    let parent = fs.stat_inode(inode)?.parent;
    match Rule::of(fs, parent) {
        Ok(rule) => Ok(rule.and_then(Rule::packing).map(|packing| packing.shape_of_any())),
        Err(Error::Rule) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses what the flags of a handle do not allow.
fn allow(flags: c_int, flag: c_int, refusal: Code) -> Result<(), Code> {
    if flags & flag == 0 { Err(refusal) } else { Ok(()) }
}

impl Content {
    fn size(&mut self, fs: &mut Mounted) -> Result<u64, Code> {
        match self {
            Self::Plain(file) => Ok(fs.size(file)?),
            Self::Packed(file) => Ok(file.size(fs)?),
        }
    }

    fn write(&mut self, fs: &mut Mounted, at: u64, data: &[u8], flags: c_int) -> Result<(), Code> {
        match self {
            Self::Plain(file) => Ok(fs.write(file, at, data)?),
            Self::Packed(file) => {
                file.write(fs, at, data)?;
                if flags & STEADYFS_O_DURABLE != 0 { Ok(fs.commit()?) } else { Ok(()) }
            }
        }
    }
}

/// Tells the memory that steadyfs_packed_open needs for a file in chunks of so many bytes (4096, 8192, … 65536): with STEADYFS_O_RDONLY
/// alone to read it, else also to write. Errors: STEADYFS_ERR_INVAL.
#[unsafe(no_mangle)]
pub extern "C" fn steadyfs_packed_memory_bytes(chunk_bytes: usize, flags: c_int) -> isize {
    length(shape(chunk_bytes).map(|shape| needed(&shape, flags & STEADYFS_O_WRONLY != 0)))
}

/// Opens a file, compressed or not: what steady pack --compress and mounted directories write, and firmware. `flags` as in
/// steadyfs_file_open. `memory` is the handle's until it is closed.
///
/// One that is there is opened as it is. One that is created is compressed (LZ4) in chunks of `chunk_bytes`; where that is 0, as its
/// directory says (attribute steadyfs.compress), or not at all. A handle that reads another method than LZ4 says STEADYFS_ERR_UNSUPPORTED.
///
/// Power loss, cost: as steadyfs_file_open; where it creates, also steadyfs_setattr. Errors: those, STEADYFS_ERR_NOMEM
/// (steadyfs_packed_memory_bytes), STEADYFS_ERR_INVAL for chunks that are none.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_open(
    fs: *mut Fs,
    file: *mut PackedHandle,
    path: *const c_char,
    flags: c_int,
    chunk_bytes: usize,
    memory: *mut c_void,
    memory_bytes: usize,
) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        pointers::text(path).and_then(|path| {
            let memory = pointers::bytes_mut(memory, memory_bytes)?;
            memory.fill(0);
            open(fs, file, flags, |fs| open_any(fs, path, flags, chunk_bytes, memory))
        })
    };
    status(result)
}

/// Closes a file, as steadyfs_file_close. The memory is free again.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_close(fs: *mut Fs, file: *mut PackedHandle) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        close(fs, file, |fs, content| match content {
            Content::Plain(file) => Ok(fs.close(file)?),
            Content::Packed(file) => Ok(file.close(fs)?),
        })
    };
    status(result)
}

/// Tells the bytes of a chunk of a file, 0 of one that is not compressed. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_chunk_bytes(fs: *mut Fs, file: *mut PackedHandle) -> isize {
    // SAFETY: As the header says.
    let result = unsafe {
        with_handle(fs, file, |_, content, _, _| match content {
            Content::Plain(_) => Ok(0),
            Content::Packed(file) => Ok(file.shape().chunk_bytes()),
        })
    };
    length(result)
}

/// Reads from the position on, and moves it, as steadyfs_file_read. Cost: steadyfs_bound_packed_read. Errors: those of
/// steadyfs_file_read; STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded, STEADYFS_ERR_UNSUPPORTED for one of another method.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_read(fs: *mut Fs, file: *mut PackedHandle, buffer: *mut c_void, size: usize) -> isize {
    // SAFETY: As the header says.
    let result = unsafe {
        pointers::bytes_mut(buffer, size).and_then(|data| {
            with_handle(fs, file, |fs, content, position, flags| {
                allow(flags, STEADYFS_O_RDONLY, Code::ErrNotreadable)?;
                let read = match content {
                    Content::Plain(file) => fs.read(file, *position, data)?,
                    Content::Packed(file) => file.read(fs, *position, data)?,
                };
                *position += read as u64;
                Ok(read)
            })
        })
    };
    length(result)
}

/// Writes at the position, or with STEADYFS_O_APPEND at the end, as steadyfs_file_write; a long write is the sum of one for each chunk.
///
/// Power loss: nothing of it is there before the next commit; with STEADYFS_O_DURABLE it commits at its end. Cost:
/// steadyfs_bound_packed_write. Errors: those of steadyfs_file_write, STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_write(
    fs: *mut Fs,
    file: *mut PackedHandle,
    buffer: *const c_void,
    size: usize,
) -> isize {
    // SAFETY: As the header says.
    let result = unsafe {
        pointers::bytes(buffer, size).and_then(|data| {
            with_handle(fs, file, |fs, content, position, flags| {
                allow(flags, STEADYFS_O_WRONLY, Code::ErrNotwritable)?;
                let at = if flags & STEADYFS_O_APPEND != 0 { content.size(fs)? } else { *position };
                content.write(fs, at, data, flags)?;
                *position = at + data.len() as u64;
                Ok(data.len())
            })
        })
    };
    length(result)
}

/// Moves the position, as steadyfs_file_seek. With STEADYFS_SEEK_END the size is read: 8 bytes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_seek(fs: *mut Fs, file: *mut PackedHandle, offset: i64, whence: c_int) -> i64 {
    // SAFETY: As the header says.
    let result = unsafe {
        with_handle(fs, file, |fs, content, position, _| {
            let size = if whence == STEADYFS_SEEK_END { content.size(fs)? } else { 0 };
            let target = moved(*position, offset, whence, size)?;
            if target > fs.size_max() {
                return Err(Code::ErrFbig);
            }
            *position = target;
            Ok(target)
        })
    };
    wide(result)
}

/// Cuts a file, or makes it larger with zeros, as steadyfs_file_truncate. Cost: steadyfs_bound_packed_truncate.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_truncate(fs: *mut Fs, file: *mut PackedHandle, size: u64) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        with_handle(fs, file, |fs, content, _, flags| {
            allow(flags, STEADYFS_O_WRONLY, Code::ErrNotwritable)?;
            match content {
                Content::Plain(file) => Ok(fs.truncate(file, size)?),
                Content::Packed(file) => {
                    file.truncate(fs, size)?;
                    if flags & STEADYFS_O_DURABLE != 0 { Ok(fs.commit()?) } else { Ok(()) }
                }
            }
        })
    };
    status(result)
}

/// Tells the size of the content. Cost: a read of 8 bytes. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_size(fs: *mut Fs, file: *mut PackedHandle) -> i64 {
    // SAFETY: As the header says.
    wide(unsafe { with_handle(fs, file, |fs, content, _, _| content.size(fs)) })
}

/// Tells the worst case of steadyfs_packed_read of so many bytes. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_packed_read(fs: *mut Fs, file: *mut PackedHandle, size: u32, cost: *mut Cost) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        with_handle(fs, file, |fs, content, _, _| {
            let worst = match content {
                Content::Plain(_) => Cost::of_call(fs, Call::Read(size)),
                Content::Packed(file) => Cost::of(fs, &file.read_bound(fs, size)),
            };
            pointers::put(cost, worst)
        })
    };
    status(result)
}

/// Tells the worst case of steadyfs_packed_write of so many bytes, wherever it goes: that of each chunk or logical page that it touches,
/// and of what is made zeros before it. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_packed_write(fs: *mut Fs, file: *mut PackedHandle, size: u32, cost: *mut Cost) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        with_handle(fs, file, |fs, content, _, _| {
            let worst = match content {
                Content::Plain(_) => {
                    let page = fs.usage().logical_bytes;
                    let write = |bytes| Cost::of_bound(fs, &fs.bound_at_fill(Call::Write(bytes), 0));
                    // A page of which a part is written may cost more than a whole one.
                    write(page).or(write(page - 1)).times(u64::from(size.div_ceil(page)) + 1)
                }
                Content::Packed(file) => {
                    // One across the end of the file is two, and a gap before it takes two more.
                    let chunks = size.div_ceil(file.shape().chunk_bytes() as u32) + 4;
                    let size = Cost::of_call(fs, Call::Read(8));
                    Cost::of(fs, &file.write_bound(fs)).times(chunks.into()).plus(size.times(2))
                }
            };
            pointers::put(cost, worst.plus(Cost::of_call(fs, Call::Sync)))
        })
    };
    status(result)
}

/// Tells the worst case of steadyfs_packed_truncate. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_packed_truncate(fs: *mut Fs, file: *mut PackedHandle, cost: *mut Cost) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        with_handle(fs, file, |fs, content, _, _| {
            let worst = match content {
                Content::Plain(_) => Cost::of_call(fs, Call::Truncate),
                Content::Packed(file) => Cost::of(fs, &file.truncate_bound(fs)),
            };
            pointers::put(cost, worst.plus(Cost::of_call(fs, Call::Sync)))
        })
    };
    status(result)
}
