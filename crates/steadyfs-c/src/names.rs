//! Names: remove, rename, stat, attributes, links, permissions.

use crate::error::{Code, length, status, yes_or_no};
use crate::pointers;
use crate::volume::{Fs, Mounted, enter};
use core::ffi::{c_char, c_int, c_void};
use steadyfs::{Error, InodeNumber, Kind, NAME_BYTES_MAX, ROOT, Stat};

/// Kind of the object that has a name: see steadyfs_info.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A file.
    TypeReg = 1,
    /// A directory.
    TypeDir = 2,
    /// A symbolic link.
    TypeLink = 3,
    /// A device, a pipe or a socket. It exists only in read-only images.
    TypeOther = 4,
}

/// Maximum number of bytes of a name, without the NUL.
pub const STEADYFS_NAME_MAX: usize = 255;

const _: () = assert!(STEADYFS_NAME_MAX == NAME_BYTES_MAX);

/// Properties of a file, directory or link.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// A value of enum steadyfs_type.
    pub r#type: u8,
    /// Inode number of the file or directory. The number never changes.
    pub inode: u32,
    /// Inode number of the directory that contains the object. The parent of the root is the root.
    pub parent: u32,
    /// Number that distinguishes files which had the same inode number one after the other.
    pub generation: u32,
    /// Number of directories in a directory.
    pub subdirectories: u32,
    /// Number of bytes of a file, or of the target of a link. For a directory, number of its
    /// entries.
    pub size: u64,
    /// Time of the last change, as set by steadyfs_set_time. It is 0 if no time was set.
    pub modified_ns: u64,
    /// Name of the object, followed by a NUL. It is `/` for the root, and empty if the path ended
    /// with `..`.
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

/// Returns a name in the form for C, followed by a NUL.
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
    // Searches bytes, because iterators over parts of a text need code that nothing else uses.
    let (mut path, mut last) = (path, "");
    while last.is_empty() && !path.is_empty() {
        let at = path.bytes().rposition(|byte| byte == b'/');
        let name = path.get(at.map_or(0, |at| at + 1)..).unwrap_or("");
        path = path.get(..at.unwrap_or(0)).unwrap_or("");
        last = if name == "." { "" } else { name };
    }
    if last == ".." { "" } else { last }
}

/// Removes a file, a link or an empty directory. The call itself frees up to eight consecutive
/// pages. If the file is larger, each later call frees a few more of its pages. A file that is open
/// still exists until it is closed.
///
/// Power loss: the removal is durable after the next commit. Cost: steadyfs_bound_remove, for any
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

/// Renames or moves a file or directory. If the new name already exists, its object is replaced. A
/// file can replace a file, and a directory can replace an empty directory.
///
/// Power loss: before the next commit the old name exists, and after it the new name. There is
/// never a moment with both names, or with neither. Cost: steadyfs_bound_rename. Errors:
/// STEADYFS_ERR_NOENT, STEADYFS_ERR_ISDIR, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_NOTEMPTY,
/// STEADYFS_ERR_INTOITSELF, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOSPC.
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

/// Exchanges two names of files or directories. So a new tree can be written beside an old tree,
/// and then replace it in one step. A second exchange restores the old tree.
///
/// Power loss: before the next commit the names are not exchanged. There is never a moment at which
/// one of the names is missing. Cost: steadyfs_bound_exchange. Errors: STEADYFS_ERR_NOENT,
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

/// Calls `call` with the inode of a path. Errors of the path are returned before `call`, so
/// NotFound from `call` means a missing attribute.
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
/// length of the value. The buffer receives as much of the value as fits.
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
/// bytes. An attribute takes the bytes of its key and its value, and two more bytes.
///
/// Power loss: the attribute belongs to the open transaction, as data does. If
/// STEADYFS_COMMIT_WRITE is set, the call commits. Cost: steadyfs_bound_setattr. Errors:
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

/// Creates a symbolic link. `target` is any text that fits into one logical page. The file system
/// stores links, but never follows them.
///
/// Power loss: the whole link is durable after the next commit. Cost: steadyfs_mkdir and a write.
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

/// Reads the target of a symbolic link, without a NUL. Returns its length. The buffer receives as
/// much of the target as fits.
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
    /// User ID of the owner.
    pub uid: u32,
    /// ID of the group.
    pub gid: u32,
}

/// Reads the permissions of a file or directory. Returns 1. Returns 0 if no permissions were set,
/// or if the volume stores no permissions.
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
/// STEADYFS_ERR_UNSUPPORTED if the volume stores no permissions, and the errors of a path.
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
