//! Everything of a directory, a volume or an archive in memory, as a tree from which images are
//! made.

use super::archive::{Archive, attributes_of};
use super::attributes::Attributes;
use super::kind::{identity, special};
use super::left_out::LeftOut;
use super::opened::Opened;
use super::scan::Source;
use super::tree::{Files, Item, Kind as What, walk};
use super::volume::Volume;
use crate::Failure;
use crate::interrupt;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::path::Path;
use steadyfs::ROOT;
use steadyfs_convert::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};

/// Maximum depth of directories: followed links may form a circle.
const DEPTH_MAX: usize = 256;
/// Prefixes of the attribute names that squashfs holds.
const NAMESPACES: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];

/// Returns everything of a directory of the host, and counts the attributes that images leave out.
pub fn of_directory(directory: &Path, follow: bool) -> Result<(Tree, LeftOut), Failure> {
    let (tree, left) = (Tree::new(Limit::default()), LeftOut::default());
    let mut host = Host { tree, follow, linked: HashMap::new(), left };
    let fail = |error: std::io::Error| Failure::at(directory.display(), error);
    let metadata = fs::metadata(directory).map_err(fail)?;
    let attributes = Attributes::of_host(directory, true).map_err(fail)?;
    *host.tree.root_mut() = host.inode(Kind::Directory(BTreeMap::new()), &metadata, &attributes);
    host.descend(0, directory, 0)?;
    Ok((host.tree, host.left))
}

struct Host {
    tree: Tree,
    follow: bool,
    /// Files that have several names, by device and number.
    linked: HashMap<(u64, u64), InodeIndex>,
    left: LeftOut,
}

impl Host {
    fn descend(&mut self, into: InodeIndex, directory: &Path, depth: usize) -> Result<(), Failure> {
        let fail = |error: std::io::Error| Failure::at(directory.display(), error);
        if depth == DEPTH_MAX {
            let what =
                format!("lies below {DEPTH_MAX} directories; expected fewer, and no loop of links");
            return Err(Failure::at(directory.display(), what));
        }
        let entries =
            fs::read_dir(directory).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
        // The tree numbers files in the order of insertion. Sorted names make this order
        // independent of the host.
        let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
        names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
        for name in names {
            interrupt::check()?;
            let path = directory.join(&name);
            let index = self.add(&path)?;
            let linked = self.tree.link(into, name.as_encoded_bytes(), index);
            linked.map_err(|error| Failure::at(path.display(), error))?;
            if self.tree.inode(index).is_directory() {
                self.descend(index, &path, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Adds the file or directory at a path. Returns the earlier inode if another name of it was
    /// added before.
    fn add(&mut self, path: &Path) -> Result<InodeIndex, Failure> {
        let fail = |what: &dyn std::fmt::Display| Failure::at(path.display(), what);
        let look = if self.follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
        let metadata = look.map_err(|error| fail(&error))?;
        let identity = identity(&metadata);
        if let Some(&known) = identity.and_then(|identity| self.linked.get(&identity)) {
            return Ok(known);
        }
        if metadata.len() > self.tree.bytes_left() && metadata.is_file() {
            return Err(fail(&TreeError::Bytes(self.tree.limit().bytes)));
        }
        let kind = kind(path, &metadata).map_err(|error| fail(&error))?;
        let kind = kind.ok_or_else(|| fail(&"is of a kind that images cannot hold"))?;
        let attributes = Attributes::of_host(path, self.follow).map_err(|error| fail(&error))?;
        let inode = self.inode(kind, &metadata, &attributes);
        let index = self.tree.add(inode).map_err(|error| fail(&error))?;
        if let Some(identity) = identity {
            self.linked.insert(identity, index);
        }
        Ok(index)
    }

    fn inode(&mut self, kind: Kind, metadata: &Metadata, attributes: &Attributes) -> Inode {
        let (mode, (uid, gid)) = permissions(metadata);
        let modified = i64::try_from(super::time::of_file(metadata) / 1_000_000_000).unwrap_or(0);
        self.left.attributes += attributes.others;
        let attributes = of_image(attributes);
        Inode { uid, gid, modified, attributes, ..Inode::new(kind, mode) }
    }
}

/// Returns attributes with the names that images have.
fn of_image(attributes: &Attributes) -> BTreeMap<Vec<u8>, Vec<u8>> {
    attributes.named().map(|(name, value)| (name.into_bytes(), value.to_vec())).collect()
}

/// Returns the kind of a file of the host, with its content; `None` for kinds that no image
/// holds.
fn kind(path: &Path, metadata: &Metadata) -> std::io::Result<Option<Kind>> {
    Ok(match metadata.file_type() {
        kind if kind.is_dir() => Some(Kind::Directory(BTreeMap::new())),
        kind if kind.is_file() => Some(Kind::File(fs::read(path)?)),
        kind if kind.is_symlink() => {
            Some(Kind::Symlink(fs::read_link(path)?.into_os_string().into_encoded_bytes()))
        }
        _ => special(metadata),
    })
}

#[cfg(unix)]
fn permissions(metadata: &Metadata) -> (u16, (u32, u32)) {
    use std::os::unix::fs::MetadataExt;
    ((metadata.mode() & 0o7777) as u16, (metadata.uid(), metadata.gid()))
}

#[cfg(not(unix))]
fn permissions(metadata: &Metadata) -> (u16, (u32, u32)) {
    (if metadata.is_dir() { 0o755 } else { 0o644 }, (0, 0))
}

/// Returns everything of an opened volume or archive.
pub fn of_opened(opened: Opened<'_>) -> Result<Tree, Failure> {
    match opened {
        Opened::Archive(archive) => Ok(archive.tree),
        Opened::Volume(mut volume) => of_volume(&mut volume),
    }
}

fn of_volume(volume: &mut Volume<'_>) -> Result<Tree, Failure> {
    let mut tree = Tree::new(Limit::default());
    let root = Item::new(String::new(), "", volume.look("")?);
    *tree.root_mut() = of_item(volume, &root, Kind::Directory(BTreeMap::new()))?;
    let mut open = vec![0];
    for item in walk(volume, ROOT, "")? {
        interrupt::check()?;
        open.truncate(item.depth + 1);
        let kind = match item.stat.kind {
            What::Directory => Kind::Directory(BTreeMap::new()),
            What::Symlink => {
                Kind::Symlink(volume.target(item.stat.inode, &item.path)?.into_bytes())
            }
            _ => Kind::File(bytes_of(volume, &item, tree.bytes_left())?),
        };
        let inode = of_item(volume, &item, kind)?;
        let added = tree.insert(open[item.depth], item.name.as_bytes(), inode);
        let index = added.map_err(|error| volume.refuse(&item.path, error))?;
        if item.is_directory() {
            open.push(index);
        }
    }
    Ok(tree)
}

/// Returns the content of a file of a volume. Checks its size first, because a volume may claim
/// any size.
fn bytes_of(volume: &mut Volume<'_>, item: &Item, bytes_left: u64) -> Result<Vec<u8>, Failure> {
    if item.stat.size > bytes_left {
        return Err(volume.refuse(&item.path, TreeError::Bytes(Limit::default().bytes)));
    }
    let mut bytes = Vec::new();
    volume.content(item.stat.inode, &item.path, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

fn of_item(volume: &mut Volume<'_>, item: &Item, kind: Kind) -> Result<Inode, Failure> {
    let usual = match kind {
        Kind::Directory(_) => 0o755,
        Kind::Symlink(_) => 0o777,
        _ => 0o644,
    };
    let mut inode = Inode::new(kind, usual);
    if let Some(own) = volume.owned(item.stat.inode) {
        (inode.mode, inode.uid, inode.gid) = (own.mode, own.uid, own.gid);
    }
    inode.modified = i64::try_from(item.stat.modified_ns / 1_000_000_000).unwrap_or(0);
    inode.attributes = of_image(&volume.attributes(item.stat.inode, &item.path)?);
    Ok(inode)
}

/// Returns the number of attributes whose names squashfs does not hold.
pub fn other_attributes(tree: &Tree) -> u64 {
    let is_other =
        |name: &&Vec<u8>| !NAMESPACES.iter().any(|namespace| name.starts_with(namespace));
    tree.inodes().iter().map(|inode| inode.attributes.keys().filter(is_other).count() as u64).sum()
}

/// Returns the files of an archive in the form that `pack` puts into a volume, and counts the items
/// that have no place there.
pub fn sources<'a>(
    archive: &'a Archive,
    items: Vec<Item>,
) -> Result<(Vec<Source<'a>>, LeftOut), Failure> {
    let (mut sources, mut left) = (Vec::new(), LeftOut::of_items(&items));
    let mut named = HashSet::new();
    for item in items {
        let inode = archive.inode(item.stat.inode);
        left.attributes += attributes_of(inode).others;
        if !item.is_text {
            return Err(archive.fault(
                &item.path,
                &"has a name that is not UTF-8; expected UTF-8, as in a volume",
            ));
        }
        let is_kept = matches!(item.stat.kind, What::Directory | What::File | What::Symlink);
        if !named.insert(item.stat.inode) && is_kept {
            left.hard_links += 1;
        }
        if is_kept {
            sources.push(source(archive, item)?);
        }
    }
    Ok((sources, left))
}

/// Returns an entry of an archive, or its root, in the form that `pack` puts into a volume.
pub fn source(archive: &Archive, item: Item) -> Result<Source<'_>, Failure> {
    let inode = archive.inode(item.stat.inode);
    let (link, bytes) = match &inode.kind {
        Kind::Symlink(target) => {
            let text = String::from_utf8(target.clone());
            let wrong = |_| {
                archive.fault(
                    &item.path,
                    &"has a target that is not UTF-8; expected UTF-8, as in a volume",
                )
            };
            (Some(text.map_err(wrong)?), None)
        }
        Kind::File(bytes) => (None, Some(&bytes[..])),
        _ => (None, None),
    };
    Ok(Source {
        path: item.path.into(),
        name: item.name,
        depth: item.depth,
        is_directory: item.stat.kind == What::Directory,
        link,
        permissions: Some(steadyfs::Permissions {
            mode: inode.mode,
            uid: inode.uid,
            gid: inode.gid,
        }),
        size: bytes.map_or(0, |bytes| bytes.len() as u64),
        modified_ns: item.stat.modified_ns,
        attributes: attributes_of(inode).kept,
        bytes,
    })
}
