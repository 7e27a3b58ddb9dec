//! Reads a mounted volume as a user would: every name, every byte, every attribute.

use std::collections::BTreeMap;
use std::rc::Rc;

use steadyfs::media::Flash;
use steadyfs::{Cursor, Error, FileSystem, InodeNumber, Kind, OpenOptions, ROOT, Stat};

use crate::tree::{Id, Node, Tree};

/// Number of entries of a directory beyond which a list counts as endless.
const ENTRIES_MAX: usize = 5_000;

/// Reason why a look at everything ended.
#[derive(Debug)]
pub enum Trouble {
    /// A call returned an error.
    Error(String, Error),
    /// Calls contradict each other.
    Odd(String),
}

/// Reads everything. The numbers of the nodes are inodes, not the model's numbers.
///
/// # Errors
/// The first trouble.
pub fn look<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<Tree, Trouble> {
    let mut tree = Tree::default();
    let mut open = vec![(ROOT, String::new())];
    while let Some((directory, path)) = open.pop() {
        let mut cursor = Cursor::default();
        let mut subdirectories = 0;
        let mut entries = 0;
        while let Some(entry) = fs
            .list(directory, &mut cursor)
            .map_err(|error| Trouble::Error(format!("list of /{path}"), error))?
        {
            let name = if path.is_empty() {
                entry.name().to_string()
            } else {
                format!("{path}/{}", entry.name())
            };
            let stat = entry.stat;
            entries += 1;
            assert!(entries < ENTRIES_MAX, "the list of /{path} does not end");
            let node = look_at(fs, &stat)
                .map_err(|error| Trouble::Error(format!("read of {name}"), error))?;
            if node.is_dir {
                subdirectories += 1;
                open.push((stat.inode, name.clone()));
            }
            tree.nodes.insert(stat.inode, node);
            if tree.names.insert(name, stat.inode).is_some() {
                return Err(Trouble::Odd(format!("a name of /{path} is listed twice")));
            }
        }
        let stat = fs
            .stat(directory)
            .map_err(|error| Trouble::Error(format!("stat of /{path}"), error))?;
        if (stat.size, stat.subdirectories) != (entries as u64, subdirectories) {
            let counted = (stat.size, stat.subdirectories);
            return Err(Trouble::Odd(format!(
                "/{path} counts {counted:?}, and has {:?}",
                (entries, subdirectories)
            )));
        }
    }
    Ok(tree)
}

/// Reads one file or directory without its entries.
///
/// # Errors
/// The errors of the calls.
pub fn look_at<F: Flash>(fs: &mut FileSystem<'_, F>, stat: &Stat) -> Result<Node, Error> {
    let attributes = Rc::new(attributes_of(fs, stat.inode)?);
    if stat.kind == Kind::Directory {
        return Ok(Node { is_dir: true, attributes, ..Node::default() });
    }
    let mut file = fs.open(stat.inode, OpenOptions::READ)?;
    let mut data = vec![0xA5; stat.size as usize + 1];
    let read = fs.read(&mut file, 0, &mut data);
    fs.close(file)?;
    let length = read?;
    assert_eq!(length as u64, stat.size, "a read of a file ends elsewhere than its size says");
    data.truncate(length);
    Ok(Node { is_dir: false, data: Rc::new(data), attributes })
}

/// Reads all attributes of an inode.
///
/// # Errors
/// The errors of the call.
pub fn attributes_of<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    inode: InodeNumber,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut attributes = BTreeMap::new();
    fs.attributes(inode, |key, value| {
        attributes.insert(key.to_string(), value.to_vec());
    })?;
    Ok(attributes)
}

/// Result of a tolerant look: the readable parts, and the unreadable ones.
#[derive(Debug, Default)]
pub struct Partial {
    /// Pieces of files that could be read, as path, offset and bytes.
    pub pieces: Vec<(String, usize, Vec<u8>)>,
    /// Sizes of files, and directories as `None`.
    pub sizes: BTreeMap<String, Option<u64>>,
    /// Attributes that could be read.
    pub attributes: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    /// Directories whose list ended with an error.
    pub cut_lists: Vec<String>,
    /// Files of which a part cannot be read.
    pub damaged: Vec<String>,
    /// Names that a directory lists twice.
    pub doubles: Vec<String>,
    /// Number of errors.
    pub errors: u32,
}

/// Reads everything that can be read, in pieces of `piece` bytes. An error costs one piece.
pub fn look_tolerantly<F: Flash>(fs: &mut FileSystem<'_, F>, piece: usize) -> Partial {
    let mut partial = Partial::default();
    let mut open = vec![(ROOT, String::new())];
    while let Some((directory, path)) = open.pop() {
        let mut cursor = Cursor::default();
        for count in 0.. {
            assert!(count < ENTRIES_MAX, "the list of /{path} does not end");
            match fs.list(directory, &mut cursor) {
                Ok(None) => break,
                Ok(Some(entry)) => {
                    let name = if path.is_empty() {
                        entry.name().to_string()
                    } else {
                        format!("{path}/{}", entry.name())
                    };
                    let is_file = entry.stat.kind == Kind::File;
                    if partial
                        .sizes
                        .insert(name.clone(), is_file.then_some(entry.stat.size))
                        .is_some()
                    {
                        partial.doubles.push(name.clone());
                    }
                    match attributes_of(fs, entry.stat.inode) {
                        Ok(attributes) => drop(partial.attributes.insert(name.clone(), attributes)),
                        Err(_) => partial.errors += 1,
                    }
                    if is_file {
                        pieces_of(fs, &name, &entry.stat, piece, &mut partial);
                    } else {
                        open.push((entry.stat.inode, name));
                    }
                }
                Err(_) => {
                    partial.errors += 1;
                    partial.cut_lists.push(path.clone());
                    break;
                }
            }
        }
    }
    partial
}

fn pieces_of<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    name: &str,
    stat: &Stat,
    piece: usize,
    partial: &mut Partial,
) {
    let before = partial.errors;
    match fs.open(stat.inode, OpenOptions::READ) {
        Err(_) => partial.errors += 1,
        Ok(mut file) => {
            for offset in (0..stat.size as usize).step_by(piece) {
                let mut data = vec![0xA5; piece];
                match fs.read(&mut file, offset as u64, &mut data) {
                    Ok(length) => {
                        data.truncate(length);
                        partial.pieces.push((name.to_string(), offset, data));
                    }
                    Err(_) => partial.errors += 1,
                }
            }
            if fs.close(file).is_err() {
                partial.errors += 1;
            }
        }
    }
    if partial.errors != before {
        partial.damaged.push(name.to_string());
    }
}

/// Returns the bytes that a handle of the model's file `id` must show in `tree`, or `None` if the
/// handle is stale.
pub fn wanted_of(tree: &Tree, id: Id) -> Option<&[u8]> {
    tree.nodes.get(&id).map(|node| node.data.as_slice())
}
