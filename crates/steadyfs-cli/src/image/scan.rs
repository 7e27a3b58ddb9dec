//! Files and directories of the host, or of an image of cramfs there, in an order that does not depend on it.

use super::time;
use crate::Failure;
use std::fs;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use steadyfs::Permissions;
use steadyfs_host::cramfs::{Cramfs, Node, NodeKind, is_cramfs};

/// Directories in each other that are looked at: links that are followed may lead in a circle.
const DEPTH_MAX: usize = 256;

/// Where the bytes of a file are.
#[derive(Clone, Debug)]
pub enum Content {
    /// In a file of the host.
    Host,
    /// In an image, at this place of its list.
    Cramfs(Rc<Cramfs>, usize),
}

/// What can be read from any place.
pub trait Bytes: Read + Seek {}

impl<T: Read + Seek> Bytes for T {}

/// A file, directory or symbolic link of the host.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Directories between it and where the scan began: 0 for an entry of that directory.
    pub depth: usize,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// What a symbolic link names.
    pub link: Option<String>,
    /// Mode, owner and group, where the host has them.
    pub permissions: Option<Permissions>,
    /// Bytes of a file.
    pub size: u64,
    /// When it was changed last.
    pub modified_ns: u64,
    /// Where its bytes are.
    pub content: Content,
}

impl Source {
    /// Opens a file.
    pub fn open(&self) -> Result<Box<dyn Bytes>, Failure> {
        match &self.content {
            Content::Host => {
                let file = fs::File::open(&self.path).map_err(|error| Failure::at(self.path.display(), error))?;
                Ok(Box::new(file))
            }
            Content::Cramfs(image, node) => {
                let bytes = image.content(&image.nodes[*node]).map_err(|error| Failure::at(self.path.display(), error))?;
                Ok(Box::new(Cursor::new(bytes)))
            }
        }
    }
}

/// The root and everything below it of a directory, or of an image of cramfs.
///
/// # Errors
/// As [`below`]; a file that is no such image.
pub fn root(path: &Path, follow: bool) -> Result<(Source, Vec<Source>), Failure> {
    let own = one(path, String::new(), true, 0)?;
    if own.is_directory {
        return Ok((own, below(path, follow)?));
    }
    let fail = |what: &dyn std::fmt::Display| Failure::at(path.display(), what);
    let mut head = Vec::new();
    fs::File::open(path).and_then(|file| file.take(1024).read_to_end(&mut head)).map_err(|error| fail(&error))?;
    if !is_cramfs(&head) {
        return Err(fail(&"is a file; expected a directory, or an image of cramfs"));
    }
    let image = Cramfs::parse(fs::read(path).map_err(|error| fail(&error))?).map_err(|error| fail(&error))?;
    let image = Rc::new(image);
    let root = of_node(path, &image.root, 0, Content::Host);
    let mut order: Vec<usize> = (0..image.nodes.len()).collect();
    // As names are sorted in directories: a directory right before what it holds.
    order.sort_by(|&a, &b| image.nodes[a].path.split('/').cmp(image.nodes[b].path.split('/')));
    let content = |node: usize| Content::Cramfs(image.clone(), node);
    let sources = order.into_iter().map(|node| of_node(path, &image.nodes[node], image.nodes[node].depth(), content(node)));
    Ok((root, sources.collect()))
}

fn of_node(path: &Path, node: &Node, depth: usize, content: Content) -> Source {
    let (link, is_directory) = match &node.kind {
        NodeKind::Directory => (None, true),
        NodeKind::File => (None, false),
        NodeKind::Link(target) => (Some(target.clone()), false),
    };
    let size = if node.kind == NodeKind::File { node.size.into() } else { 0 };
    let permissions = Some(Permissions { mode: node.mode, uid: node.uid.into(), gid: node.gid.into() });
    let (path, name) = (path.join(&node.path), node.name().to_string());
    Source { path, name, depth, is_directory, link, permissions, size, modified_ns: 0, content }
}

/// Everything below a directory: each directory before what it holds, entries sorted by the bytes of their names.
///
/// # Errors
/// What a volume cannot hold is refused: devices and the like, and names that are not UTF-8. Links are followed, or taken as they are.
pub fn below(directory: &Path, follow: bool) -> Result<Vec<Source>, Failure> {
    let mut found = Vec::new();
    descend(directory, follow, 0, &mut found)?;
    Ok(found)
}

/// One file, directory or link.
pub fn one(path: &Path, name: String, follow: bool, depth: usize) -> Result<Source, Failure> {
    let fail = |what: &dyn std::fmt::Display| Failure::at(path.display(), what);
    let look = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
    let metadata = look.map_err(|error| fail(&error))?;
    let kind = metadata.file_type();
    if !kind.is_file() && !kind.is_dir() && !kind.is_symlink() {
        return Err(fail(&"is neither a file nor a directory nor a symbolic link, and a volume holds nothing else"));
    }
    let link = match kind.is_symlink() {
        true => {
            let target = fs::read_link(path).map_err(|error| fail(&error))?.into_os_string();
            Some(target.into_string().map_err(|_| fail(&"names something that is not UTF-8, as links in a volume do"))?)
        }
        false => None,
    };
    let size = if kind.is_file() { metadata.len() } else { 0 };
    let (permissions, modified_ns) = (permissions_of(&metadata), time::of_file(&metadata));
    Ok(Source {
        path: path.into(),
        name,
        depth,
        is_directory: kind.is_dir(),
        link,
        permissions,
        size,
        modified_ns,
        content: Content::Host,
    })
}

#[cfg(unix)]
fn permissions_of(metadata: &fs::Metadata) -> Option<Permissions> {
    use std::os::unix::fs::MetadataExt;
    Some(Permissions { mode: (metadata.mode() & 0o7777) as u16, uid: metadata.uid(), gid: metadata.gid() })
}

#[cfg(not(unix))]
fn permissions_of(_: &fs::Metadata) -> Option<Permissions> {
    None
}

fn descend(directory: &Path, follow: bool, depth: usize, found: &mut Vec<Source>) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::at(directory.display(), error);
    if depth == DEPTH_MAX {
        return Err(Failure::at(
            directory.display(),
            format!("lies below {DEPTH_MAX} directories; expected fewer, and no circle of links"),
        ));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        names.push(utf8(&entry.path(), entry.file_name())?);
    }
    names.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    for name in names {
        let source = one(&directory.join(&name), name, follow, depth)?;
        let (path, enters) = (source.path.clone(), source.is_directory);
        found.push(source);
        if enters {
            descend(&path, follow, depth + 1, found)?;
        }
    }
    Ok(())
}

fn utf8(path: &Path, name: std::ffi::OsString) -> Result<String, Failure> {
    name.into_string().map_err(|_| Failure::at(path.display(), "has a name that is not UTF-8, as names in a volume are"))
}

/// The last name of a path of the host.
pub fn name_of(path: &Path) -> Result<String, Failure> {
    let absolute = if path.file_name().is_some() { path.to_path_buf() } else { path.canonicalize().unwrap_or_default() };
    match absolute.file_name() {
        Some(name) => utf8(path, name.to_os_string()),
        None => Err(Failure::at(path.display(), "has no name to be stored under; expected a file or directory that has one")),
    }
}
