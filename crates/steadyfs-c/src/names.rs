//! Names: remove, rename, stat, attributes, links, permissions.

use crate::error::{Code, length, status, yes_or_no};
use crate::pointers;
use crate::volume::{Fs, Mounted, enter};
use core::ffi::{c_char, c_int, c_void};
use steadyfs::{Error, InodeNumber, Kind, NAME_BYTES_MAX, ROOT, Stat};

/// Kind of the object of a name: see steadyfs_info.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A file.
    TypeReg = 1,
    /// A directory.
    TypeDir = 2,
    /// A symbolic link.
    TypeLink = 3,
    /// A device, a pipe or a socket, in read-only images only.
    TypeOther = 4,
}

/// Most bytes of a name, without the NUL.
pub const STEADYFS_NAME_MAX: usize = 255;

const _: () = assert!(STEADYFS_NAME_MAX == NAME_BYTES_MAX);

/// Properties of a file, directory or link.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// A value of enum steadyfs_type.
    pub r#type: u8,
    /// Number of the file or directory, which it keeps for its life.
    pub inode: u32,
    /// The directory that contains it. The parent of the root is the root.
    pub parent: u32,
    /// Distinguishes files that had the same number one after the other.
    pub generation: u32,
    /// Directories that a directory holds.
    pub subdirectories: u32,
    /// Bytes of a file, or of the target of a link; entries of a directory.
    pub size: u64,
    /// Time of the last change, as set by steadyfs_set_time. 0 if no time was set.
    pub modified_ns: u64,
    /// Its name, ended by a NUL. `/` for the root. Empty if the path ended with `..`.
    pub name: [c_char; 256],
}

impl Info {
    pub(crate) fn new(stat: &Stat, name: &str) -> Self {
        Self {
            r#type: match stat.kind {
                Kind::Directory => Type::TypeDir,
                Kind::Symlink => Type::TypeLink,
                _ => Type::TypeReg,
            } as u8,
            inode: stat.inode,
            parent: stat.parent,
            generation: stat.generation,
            subdirectories: stat.subdirectories,
            size: stat.size,
            modified_ns: stat.modified_ns,
            name: terminated(name.as_bytes()),
        }
    }
}

/// Returns a name as C has it.
pub(crate) fn terminated(name: &[u8]) -> [c_char; STEADYFS_NAME_MAX + 1] {
    let mut text = [0; STEADYFS_NAME_MAX + 1];
    for (to, from) in text[..STEADYFS_NAME_MAX].iter_mut().zip(name) {
        *to = *from as c_char;
    }
    text
}

/// Returns the last name of a path. Returns an empty text if the path has no name or ends with
/// `..`.
fn last_name(path: &str) -> &str {
    // Searches bytes, because iterators over parts of a text take code that nothing else needs.
    let (mut path, mut last) = (path, "");
    while last.is_empty() && !path.is_empty() {
        let at = path.bytes().rposition(|byte| byte == b'/');
        let name = path.get(at.map_or(0, |at| at + 1)..).unwrap_or("");
        path = path.get(..at.unwrap_or(0)).unwrap_or("");
        last = if name == "." { "" } else { name };
    }
    if last == ".." { "" } else { last }
}

/// Removes a file, a link or an empty directory. It frees up to eight pages that follow each
/// other at once. Later calls free the other pages of a larger file, a few each. A file that is
/// open stays until it is closed.
///
/// Power loss: the file is there until the next commit. Cost: steadyfs_bound_remove, for any
/// size. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTEMPTY, STEADYFS_ERR_NOTDIR,
/// STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_remove(fs: *mut Fs, path: *const c_char) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(path).and_then(|path| {
            enter(fs, |fs| match fs.remove(path) {
                Err(Error::IsADirectory) => fs.remove_dir(path),
                result => result,
            })
        })
    };
    status(result)
}

/// Renames or moves a file or directory. It replaces an object that has the new name: a file by
/// a file, an empty directory by a directory.
///
/// Power loss: before the next commit everything is as before. There is no moment at which
/// neither or both names are there. Cost: steadyfs_bound_rename. Errors: STEADYFS_ERR_NOENT,
/// STEADYFS_ERR_ISDIR, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_NOTEMPTY, STEADYFS_ERR_INTOITSELF,
/// STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOSPC.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rename(
    fs: *mut Fs,
    from: *const c_char,
    to: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(from).and_then(|from| {
            let to = pointers::text(to)?;
            enter(fs, |fs| fs.rename(from, to))
        })
    };
    status(result)
}

/// Exchanges two names of files or directories. So a tree that was written beside another takes
/// its place in one step. A second exchange takes the old tree back.
///
/// Power loss: before the next commit everything is as before. There is no moment at which one
/// of the names is missing. Cost: steadyfs_bound_exchange. Errors: STEADYFS_ERR_NOENT,
/// STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INTOITSELF if one contains the other, STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_exchange(
    fs: *mut Fs,
    one: *const c_char,
    other: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(one).and_then(|one| {
            let other = pointers::text(other)?;
            enter(fs, |fs| fs.exchange(one, other))
        })
    };
    status(result)
}

/// Stores the properties of a file or directory.
///
/// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
/// STEADYFS_ERR_NAMETOOLONG.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_stat(fs: *mut Fs, path: *const c_char, info: *mut Info) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(path).and_then(|path| {
            let stat = enter(fs, |fs| fs.stat(path))?;
            let name = if stat.inode == ROOT { "/" } else { last_name(path) };
            pointers::put(info, Info::new(&stat, name))
        })
    };
    status(result)
}

/// Calls `call` with the inode of a path.
unsafe fn with_inode<T>(
    fs: *mut Fs,
    path: *const c_char,
    call: impl FnOnce(&mut Mounted, InodeNumber) -> Result<T, Error>,
) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        let path = pointers::text(path)?;
        enter(fs, |fs| {
            let inode = fs.stat(path)?.inode;
            call(fs, inode)
        })
    }
}

/// Calls `call` with the inode of a path. The errors of the path come first, so NotFound from
/// `call` means a missing attribute.
unsafe fn attribute<T>(
    fs: *mut Fs,
    path: *const c_char,
    call: impl FnOnce(&mut Mounted, InodeNumber) -> Result<T, Error>,
) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        with_inode(fs, path, |fs, inode| match call(fs, inode) {
            Err(Error::NotFound) => Ok(Err(Code::ErrNoattr)),
            result => result.map(Ok),
        })?
    }
}

/// Reads an attribute of a file or directory: a small value with a name, its key. Returns the
/// length of the value. The buffer contains as much of it as fits.
///
/// Cost: steadyfs_bound_getattr. Errors: STEADYFS_ERR_NOATTR, STEADYFS_ERR_NOENT, and the errors
/// of a path.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_getattr(
    fs: *mut Fs,
    path: *const c_char,
    key: *const c_char,
    buffer: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(key).and_then(|key| {
            let value = pointers::bytes_mut(buffer, size)?;
            attribute(fs, path, |fs, inode| fs.attribute(inode, key, value))
        })
    };
    length(result)
}

/// Sets an attribute of a file or directory. All attributes of one file together take up to 248
/// bytes, two for each beside key and value.
///
/// Power loss: the attribute is part of the open transaction, as data is. The event
/// STEADYFS_COMMIT_WRITE commits it. Cost: steadyfs_bound_setattr. Errors:
/// STEADYFS_ERR_ATTRIBUTES, STEADYFS_ERR_INVAL for an empty key, STEADYFS_ERR_TOOMANYFILES,
/// STEADYFS_ERR_NOENT, and the errors of a path.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_setattr(
    fs: *mut Fs,
    path: *const c_char,
    key: *const c_char,
    buffer: *const c_void,
    size: usize,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(key).and_then(|key| {
            let value = pointers::bytes(buffer, size)?;
            with_inode(fs, path, |fs, inode| fs.set_attribute(inode, key, Some(value)))
        })
    };
    status(result)
}

/// Removes an attribute. Power loss, cost: as steadyfs_setattr. Errors: STEADYFS_ERR_NOATTR,
/// STEADYFS_ERR_NOENT, and the errors of a path.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_removeattr(
    fs: *mut Fs,
    path: *const c_char,
    key: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(key)
            .and_then(|key| attribute(fs, path, |fs, inode| fs.set_attribute(inode, key, None)))
    };
    status(result)
}

/// Makes a symbolic link with `target`, any text of one logical page at most. The file system
/// stores links and follows none.
///
/// Power loss: the whole link is there after the next commit. Cost: steadyfs_mkdir and a write.
/// Errors: as steadyfs_mkdir.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_symlink(
    fs: *mut Fs,
    target: *const c_char,
    path: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(path).and_then(|path| {
            let target = pointers::text(target)?;
            enter(fs, |fs| fs.create_symlink(path, target).map(|_| ()))
        })
    };
    status(result)
}

/// Reads the target of a symbolic link, without a NUL. Returns its length. The buffer contains
/// as much of it as fits.
///
/// Cost: steadyfs_bound_stat and a read. Errors: STEADYFS_ERR_NOTALINK, and the errors of a
/// path.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_readlink(
    fs: *mut Fs,
    path: *const c_char,
    buffer: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes_mut(buffer, size)
            .and_then(|target| with_inode(fs, path, |fs, inode| fs.read_link(inode, target)))
    };
    length(result)
}

/// Mode, owner and group of a file or directory. The file system does not enforce them: the
/// caller grants access.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Permissions {
    /// The twelve bits of chmod.
    pub mode: u16,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

/// Reads the permissions of a file or directory. Returns 1, or 0 if none were set or the volume
/// stores none.
///
/// Cost: twice steadyfs_bound_stat. Errors: the errors of a path.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_getpermissions(
    fs: *mut Fs,
    path: *const c_char,
    permissions: *mut Permissions,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_inode(fs, path, |fs, inode| fs.permissions(inode)).and_then(|found| {
            let steadyfs::Permissions { mode, uid, gid } = found.unwrap_or_default();
            pointers::put(permissions, Permissions { mode, uid, gid }).map(|()| found.is_some())
        })
    };
    yes_or_no(result)
}

/// Sets the permissions of a file or directory. Power loss, cost: as steadyfs_setattr. Errors:
/// STEADYFS_ERR_UNSUPPORTED if the volume stores none, and the errors of a path.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_setpermissions(
    fs: *mut Fs,
    path: *const c_char,
    permissions: *const Permissions,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::reference(permissions).and_then(|permissions| {
            let Permissions { mode, uid, gid } = *permissions;
            with_inode(fs, path, |fs, inode| {
                fs.set_permissions(inode, steadyfs::Permissions { mode, uid, gid })
            })
        })
    };
    status(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_of_a_path_is_told() {
        let names = ["a", "/a/b", "a/b/", "a/./", "", "/", "a/.."].map(last_name);
        assert_eq!(names, ["a", "b", "b", "a", "", "", ""]);
    }
}
