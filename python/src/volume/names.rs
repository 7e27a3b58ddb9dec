//! Directories, links, attributes and permissions.

use super::cell::{Fs, Open};
use crate::trouble::Trouble;
use pyo3::prelude::*;
use steadyfs::{Cursor, Error, InodeNumber, Kind, Permissions};
use steadyfs_host::plain;

/// Type, size, name and time of a file, directory or symbolic link.
///
/// `type` is 1 for a file, 2 for a directory and 3 for a link. `size` is the bytes of a file or of
/// the target of a link, and the number of entries of a directory. `name` is the last name of the
/// path. `modified_ns` is nanoseconds since 1970, 0 for no time. `inode` is the number of the file
/// for its life. Two are equal if all these are.
#[pyclass(frozen, get_all, eq, hash, module = "steadyfs", skip_from_py_object)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// 1 for a file, 2 for a directory, 3 for a symbolic link.
    r#type: u8,
    /// Bytes of a file, or of a link's target. Entries of a directory.
    size: u64,
    /// The last name of the path; `/` for the root.
    name: String,
    /// Time of the last change, in nanoseconds since 1970. 0 if the volume had no time.
    modified_ns: u64,
    /// Number of the file or directory, for its whole life.
    inode: InodeNumber,
}

/// The arguments that restore a pickled `Stat`: type, size, name, time and number.
type Arguments = (u8, u64, String, u64, u32);

#[pymethods]
impl Stat {
    /// Return true for a file.
    fn is_file(&self) -> bool {
        self.r#type == 1
    }

    /// Return true for a directory.
    fn is_dir(&self) -> bool {
        self.r#type == 2
    }

    /// Return true for a symbolic link.
    fn is_symlink(&self) -> bool {
        self.r#type == 3
    }

    fn __repr__(&self) -> String {
        let Self { r#type, size, name, modified_ns, inode } = self;
        format!(
            "Stat(type={type}, size={size}, name={name:?}, modified_ns={modified_ns}, \
             inode={inode})"
        )
    }

    fn __reduce__(&self, py: Python<'_>) -> (Py<PyAny>, Arguments) {
        let kind = py.get_type::<Self>().into_any().unbind();
        (kind, (self.r#type, self.size, self.name.clone(), self.modified_ns, self.inode))
    }

    #[new]
    fn new(r#type: u8, size: u64, name: String, modified_ns: u64, inode: u32) -> Self {
        Self { r#type, size, name, modified_ns, inode }
    }
}

fn of(stat: steadyfs::Stat, name: &str) -> Stat {
    let kind = match stat.kind {
        Kind::Directory => 2,
        Kind::Symlink => 3,
        _ => 1,
    };
    Stat {
        r#type: kind,
        size: stat.size,
        name: name.into(),
        modified_ns: stat.modified_ns,
        inode: stat.inode,
    }
}

/// Returns the properties of a path.
pub fn stat(open: &mut Open<'_, '_>, path: &str) -> Result<Stat, Trouble> {
    let stat = open.call(path, |fs| fs.stat(path))?;
    let name = path.rsplit('/').find(|name| !name.is_empty()).unwrap_or("/");
    Ok(of(plain::stat(open.fs, stat), name))
}

/// Returns the entries of a directory, sorted by the bytes of their names.
pub fn entries(open: &mut Open<'_, '_>, path: &str) -> Result<Vec<Stat>, Trouble> {
    let directory = inode(open, path)?;
    let most = open.fs.config().files_max as usize;
    let (mut all, mut cursor) = (Vec::new(), Cursor::default());
    while let Some(entry) = open.call(path, |fs| fs.list(directory, &mut cursor))? {
        if all.len() == most {
            let words = "names more files than the volume holds; `check` finds the fault";
            return Err(Trouble::new("EIO", words, open.place(path)));
        }
        all.push(of(plain::stat(open.fs, entry.stat), entry.name()));
    }
    all.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(all)
}

fn inode(open: &mut Open<'_, '_>, path: &str) -> Result<InodeNumber, Trouble> {
    open.call(path, |fs| fs.stat(path)).map(|stat| stat.inode)
}

/// Makes a call with two paths. An error names both, and the path at fault.
pub fn with_two<'m>(
    open: &mut Open<'_, 'm>,
    one: &str,
    other: &str,
    call: impl FnOnce(&mut Fs<'m>) -> Result<(), Error>,
) -> Result<(), Trouble> {
    let Err(error) = call(open.fs) else { return Ok(()) };
    let at_fault = match error {
        Error::NotFound
        | Error::Exists
        | Error::InvalidName
        | Error::NameTooLong
        | Error::IsADirectory
        | Error::NotADirectory
        | Error::NotEmpty => Some(if open.fs.stat(one).is_err() { one } else { other }),
        _ => None,
    };
    let at_fault = at_fault.map(|path| open.place(path));
    let (first, second) = (open.place(one), open.place(other));
    open.call(one, |_| Err(error))
        .map_err(|trouble| trouble.of_two(first, second, at_fault.as_deref()))
}

/// Returns the target of a symbolic link.
pub fn read_link(open: &mut Open<'_, '_>, path: &str) -> Result<String, Trouble> {
    let inode = inode(open, path)?;
    let mut target = vec![0; open.fs.usage().logical_bytes as usize];
    let bytes = open.call(path, |fs| fs.read_link(inode, &mut target))?;
    target.truncate(bytes);
    String::from_utf8(target).map_err(|_| {
        Trouble::new(
            "EILSEQ",
            "is a symbolic link to something that is not UTF-8",
            open.place(path),
        )
    })
}

/// Bytes of all attributes of a file together, at most.
const ATTRIBUTE_BYTES: usize = 256;

/// Returns the value of an attribute.
pub fn attribute(open: &mut Open<'_, '_>, path: &str, key: &str) -> Result<Vec<u8>, Trouble> {
    let inode = inode(open, path)?;
    let mut value = vec![0; ATTRIBUTE_BYTES];
    let bytes = open
        .call(path, |fs| fs.attribute(inode, key, &mut value))
        .map_err(|trouble| trouble.no_attribute(key))?;
    value.truncate(bytes);
    Ok(value)
}

/// Sets or removes an attribute.
pub fn set_attribute(
    open: &mut Open<'_, '_>,
    path: &str,
    key: &str,
    value: Option<&[u8]>,
) -> Result<(), Trouble> {
    let inode = inode(open, path)?;
    open.call(path, |fs| fs.set_attribute(inode, key, value))
        .map_err(|trouble| trouble.no_attribute(key))
}

/// Returns the names of all attributes.
pub fn attributes(open: &mut Open<'_, '_>, path: &str) -> Result<Vec<String>, Trouble> {
    let inode = inode(open, path)?;
    let mut keys = Vec::new();
    open.call(path, |fs| fs.attributes(inode, |key, _| keys.push(key.to_string())))?;
    // The attributes of the tools are hidden from programs.
    keys.retain(|key| !plain::is_own(key));
    keys.sort_unstable();
    Ok(keys)
}

/// Sets the time of the last change.
pub fn set_modified(open: &mut Open<'_, '_>, path: &str, modified_ns: u64) -> Result<(), Trouble> {
    let inode = inode(open, path)?;
    open.call(path, |fs| fs.set_modified(inode, modified_ns))
}

/// Returns mode, owner and group, or `None` if they were never set.
pub fn permissions(
    open: &mut Open<'_, '_>,
    path: &str,
) -> Result<Option<(u16, u32, u32)>, Trouble> {
    let inode = inode(open, path)?;
    let own = open.call(path, |fs| fs.permissions(inode))?;
    Ok(own.map(|Permissions { mode, uid, gid }| (mode, uid, gid)))
}

/// Sets mode, owner and group.
pub fn set_permissions(
    open: &mut Open<'_, '_>,
    path: &str,
    mode: u16,
    uid: u32,
    gid: u32,
) -> Result<(), Trouble> {
    let inode = inode(open, path)?;
    open.call(path, |fs| fs.set_permissions(inode, Permissions { mode, uid, gid }))
}
