//! Paths of inodes, for messages.

use crate::tree::{InodeIndex, Kind, Tree};
use std::collections::BTreeMap;

/// Approximate maximum bytes of a path in a message. The start of a longer path is omitted.
const PATH_BYTES_MAX: usize = 4096;

/// Returns the path of a name in a directory of an unfinished tree.
///
/// The function searches the whole tree. This is acceptable, because the read ends with the
/// message.
pub(crate) fn path_of(tree: &Tree, directory: InodeIndex, name: &[u8]) -> String {
    let mut above: BTreeMap<InodeIndex, (InodeIndex, &[u8])> = BTreeMap::new();
    for (index, inode) in tree.inodes().iter().enumerate() {
        if let Kind::Directory(entries) = &inode.kind {
            above.extend(
                entries
                    .iter()
                    .filter(|(_, below)| **below != 0)
                    .map(|(name, &below)| (below, (index, &name[..]))),
            );
        }
    }
    let (mut parts, mut bytes, mut at) = (vec![name], name.len(), directory);
    while let Some(&(parent, name)) = above.get(&at) {
        if at == 0 {
            break;
        }
        bytes += name.len() + 1;
        if bytes > PATH_BYTES_MAX {
            parts.push(b"...");
            break;
        }
        parts.push(name);
        at = parent;
    }
    parts.iter().rev().map(|part| format!("/{}", String::from_utf8_lossy(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Inode, Limit};

    #[test]
    fn a_path_that_is_too_long_loses_its_front() {
        let directory = || Inode::new(Kind::Directory(BTreeMap::new()), 0o755);
        let mut tree = Tree::new(Limit::default());
        let first = tree.insert(0, b"first", directory()).expect("a name");
        assert_eq!(path_of(&tree, 0, b"x"), "/x");
        assert_eq!(path_of(&tree, first, b"x"), "/first/x");
        let mut at = first;
        for _ in 0..10_000 {
            at = tree.insert(at, b"d", directory()).expect("a name");
        }
        let path = path_of(&tree, at, b"x");
        assert!(
            path.starts_with("/.../d/") && path.ends_with("/d/x") && path.len() < 5000,
            "{}",
            path.len()
        );
    }
}
