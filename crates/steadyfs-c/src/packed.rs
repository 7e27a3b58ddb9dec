//! Compressed files, opened in lent memory. The caller reads and writes plain bytes.

use crate::bounds::Cost;
use crate::error::{Code, length, status, wide};
use crate::files::{
    STEADYFS_O_APPEND, STEADYFS_O_DURABLE, STEADYFS_O_RDONLY, STEADYFS_O_WRONLY, STEADYFS_SEEK_END,
    moved, options,
};
use crate::handle::{Handle, close, open, with_handle};
use crate::pointers;
use crate::volume::{Fs, Mounted};
use core::ffi::{c_char, c_int, c_void};
use steadyfs::{Call, File, InodeNumber, OpenOptions, ROOT};
use steadyfs_compress::{Error, Method, PackedFile, Rule, Shape};

/// Number of 64-bit words of steadyfs_packed_t.
pub const STEADYFS_PACKED_WORDS: usize = 11;
/// Number of pointer-sized words of steadyfs_packed_t.
pub const STEADYFS_PACKED_POINTERS: usize = 10;

/// An open file that may be compressed, in memory of the caller. The memory may hold any bytes
/// before steadyfs_packed_open.
///
/// The handle caches the chunk that it decoded last. If another handle has changed the file, close
/// this handle and open the file again.
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

/// Returns the shape of a new file with chunks of `chunk_bytes` bytes.
fn shape(chunk_bytes: usize) -> Result<Shape, Code> {
    let shape = Shape::new(chunk_bytes, Method::Lz4);
    if shape.chunk_bytes() == chunk_bytes { Ok(shape) } else { Err(Code::ErrInval) }
}

/// Returns the number of bytes of memory that a file of a shape needs.
fn needed(shape: &Shape, writes: bool) -> usize {
    if writes { shape.write_bytes() } else { shape.read_bytes() }
}

/// Opens an existing file, or creates a new one.
fn open_any(
    fs: &mut Mounted,
    path: &str,
    flags: c_int,
    chunk_bytes: usize,
    memory: &'static mut [u8],
) -> Result<Content, Code> {
    let options = options(flags)?;
    let asked_for = if chunk_bytes == 0 { None } else { Some(shape(chunk_bytes)?) };
    match fs.stat(path) {
        Ok(stat) if !options.create_new => match Shape::of(fs, stat.inode)? {
            Some(shape) => {
                open_packed(fs, stat.inode, &shape, options, memory).map(Content::Packed)
            }
            None => Ok(Content::Plain(fs.open(path, options)?)),
        },
        Err(steadyfs::Error::NotFound) if options.create => {
            create(fs, path, options, asked_for, memory)
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err(Code::ErrExist),
    }
}

/// Opens an existing compressed file, and truncates it if the options require this.
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

/// Creates a file with the requested shape, or with the rule of its directory.
fn create(
    fs: &mut Mounted,
    path: &str,
    options: OpenOptions,
    asked_for: Option<Shape>,
    memory: &'static mut [u8],
) -> Result<Content, Code> {
    let shape = match asked_for {
        None => ruled(fs, path)?,
        asked_for => asked_for,
    };
    let Some(shape) = shape.map(|shape| shape.for_volume(fs.size_max())) else {
        return Ok(Content::Plain(fs.open(path, options)?));
    };
    // The file must not become durable before it is a compressed file.
    let file = fs.open(path, OpenOptions { durable: false, ..options })?;
    let inode = file.inode();
    let closed = fs.close(file).map_err(Error::from);
    match closed.and_then(|()| PackedFile::convert(fs, inode, shape, memory)) {
        Ok(file) => Ok(Content::Packed(file)),
        Err(error) => {
            fs.remove(path)?;
            Err(error.into())
        }
    }
}

/// Returns the shape that the rule of a new file's directory defines. If this release does not
/// support the rule, the result is `None`.
fn ruled(fs: &mut Mounted, path: &str) -> Result<Option<Shape>, Error> {
    let directory =
        path.trim_end_matches('/').rsplit_once('/').map_or("", |(directory, _)| directory);
    let directory = if directory.is_empty() { ROOT } else { fs.stat(directory)?.inode };
    match Rule::of(fs, directory) {
        Ok(rule) => Ok(rule.and_then(Rule::packing).map(|packing| packing.shape_of_any())),
        Err(Error::Rule) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses a call that the flags of a handle do not allow.
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

/// Returns the number of bytes of memory that steadyfs_packed_open needs for a file in chunks of
/// `chunk_bytes` bytes (4096, 8192, … 65536). If `flags` is only STEADYFS_O_RDONLY, the memory is
/// enough for reads. Otherwise it is also enough for writes. Errors: STEADYFS_ERR_INVAL.
#[unsafe(no_mangle)]
pub extern "C" fn steadyfs_packed_memory_bytes(chunk_bytes: usize, flags: c_int) -> isize {
    length(shape(chunk_bytes).map(|shape| needed(&shape, flags & STEADYFS_O_WRONLY != 0)))
}

/// Opens a file, compressed or not. Compressed files come from steady pack --compress, from mounted
/// directories, and from firmware. `flags` has the same meaning as in steadyfs_file_open. `memory`
/// belongs to the handle until the file is closed.
///
/// An existing file keeps its own format. A new file is compressed (LZ4) in chunks of
/// `chunk_bytes`. If `chunk_bytes` is 0, the attribute steadyfs.compress of its directory decides.
/// If there is no such attribute, the file is not compressed. If an existing file uses another
/// method than LZ4, its reads return STEADYFS_ERR_UNSUPPORTED.
///
/// Power loss, cost: as steadyfs_file_open. A new file adds a steadyfs_setattr. Errors: the errors
/// of these two calls, STEADYFS_ERR_NOMEM (steadyfs_packed_memory_bytes), and STEADYFS_ERR_INVAL
/// for an invalid `chunk_bytes`.
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
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(path).and_then(|path| {
            let memory = pointers::bytes_mut(memory, memory_bytes)?;
            memory.fill(0);
            open(fs, file, flags, |fs| open_any(fs, path, flags, chunk_bytes, memory))
        })
    };
    status(result)
}

/// Closes a file, as steadyfs_file_close does. The caller may then use the memory again.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_close(fs: *mut Fs, file: *mut PackedHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        close(fs, file, |fs, content| match content {
            Content::Plain(file) => Ok(fs.close(file)?),
            Content::Packed(file) => Ok(file.close(fs)?),
        })
    };
    status(result)
}

/// Returns the number of bytes of a chunk of a file, or 0 if the file is not compressed. Costs
/// nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_chunk_bytes(
    fs: *mut Fs,
    file: *mut PackedHandle,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(fs, file, |_, content, _, _| match content {
            Content::Plain(_) => Ok(0),
            Content::Packed(file) => Ok(file.shape().chunk_bytes()),
        })
    };
    length(result)
}

/// Reads from the position on, and moves the position, as steadyfs_file_read does. Cost:
/// steadyfs_bound_packed_read. Errors: the errors of steadyfs_file_read. STEADYFS_ERR_CORRUPT for a
/// chunk that cannot be decoded. STEADYFS_ERR_UNSUPPORTED for a chunk of another method.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_read(
    fs: *mut Fs,
    file: *mut PackedHandle,
    buffer: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
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

/// Writes at the position, or at the end if the handle has STEADYFS_O_APPEND, as
/// steadyfs_file_write does. A long write consists of one write for each chunk.
///
/// Power loss: before the next commit, the file has none of the written data. If the handle has
/// STEADYFS_O_DURABLE, a write commits at its end. Cost: steadyfs_bound_packed_write. Errors: the
/// errors of steadyfs_file_write, STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded.
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
    // SAFETY: The caller meets the conditions in the C header.
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

/// Moves the position, as steadyfs_file_seek does. STEADYFS_SEEK_END reads the size, which has 8
/// bytes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_seek(
    fs: *mut Fs,
    file: *mut PackedHandle,
    offset: i64,
    whence: c_int,
) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
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

/// Truncates a file, or extends it with zeros, as steadyfs_file_truncate does. Cost:
/// steadyfs_bound_packed_truncate.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_truncate(
    fs: *mut Fs,
    file: *mut PackedHandle,
    size: u64,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
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

/// Returns the size of the content. Cost: a read of 8 bytes. Errors: STEADYFS_ERR_BADF,
/// STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_packed_size(fs: *mut Fs, file: *mut PackedHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_handle(fs, file, |fs, content, _, _| content.size(fs)) })
}

/// Stores the worst case of steadyfs_packed_read of `size` bytes. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_packed_read(
    fs: *mut Fs,
    file: *mut PackedHandle,
    size: u32,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
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

/// Stores the worst case of steadyfs_packed_write of `size` bytes at any position. The bound
/// includes each chunk or logical page that the write touches, and the zeros between the end of the
/// file and the write. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_packed_write(
    fs: *mut Fs,
    file: *mut PackedHandle,
    size: u32,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(fs, file, |fs, content, _, _| {
            let worst = match content {
                Content::Plain(_) => {
                    let page = fs.usage().logical_bytes;
                    let write =
                        |bytes| Cost::of_bound(fs, &fs.bounds().at_fill(Call::Write(bytes), 0));
                    // A write of a part of a page may cost more than a write of the whole page.
                    write(page).or(write(page - 1)).times(u64::from(size.div_ceil(page)) + 1)
                }
                Content::Packed(file) => {
                    // A chunk across the end of the file counts as two chunks. A gap before the
                    // write adds two more chunks.
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

/// Stores the worst case of steadyfs_packed_truncate. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_packed_truncate(
    fs: *mut Fs,
    file: *mut PackedHandle,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
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
