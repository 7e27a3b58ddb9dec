//! What a repair may have cost: what could be read before it can be read after it, and what it took away it has counted.

use std::collections::BTreeMap;
use std::rc::Rc;

use steadyfs::Damage;

use super::{Done, Hit};
use crate::log::Log;
use crate::oracle::Oracle;
use crate::tree::{Node, Tree};
use crate::view::Partial;

/// Nothing may have changed by a repair that was refused.
pub fn unchanged(before: &Partial, after: &Partial, log: &mut Log) {
    if before.sizes != after.sizes || before.pieces != after.pieces || before.attributes != after.attributes {
        log.find("a refused repair changed something", String::new());
    }
}

/// What a file shows: its size, the pieces that can be read, its attributes.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'p> {
    size: Option<u64>,
    pieces: BTreeMap<usize, &'p [u8]>,
    attributes: Option<&'p BTreeMap<String, Vec<u8>>>,
    is_whole: bool,
}

fn shown(partial: &Partial) -> BTreeMap<&str, Shown<'_>> {
    let mut files: BTreeMap<&str, Shown<'_>> = partial
        .sizes
        .iter()
        .map(|(path, &size)| {
            let attributes = partial.attributes.get(path);
            let is_whole = attributes.is_some() && !partial.damaged.contains(path);
            (path.as_str(), Shown { size, pieces: BTreeMap::new(), attributes, is_whole })
        })
        .collect();
    for (path, offset, bytes) in &partial.pieces {
        if let Some(file) = files.get_mut(path.as_str()) {
            file.pieces.insert(*offset, bytes);
        }
    }
    files
}

/// Judges what a repaired volume shows.
pub fn after_repair(hit: &Hit, done: &Done, oracle: &Oracle, log: &mut Log) {
    let mended = done.checked.mended;
    let (before, after) = (shown(&hit.before), shown(&done.after));
    if let Some(name) = done.after.doubles.first() {
        log.find("a name is listed twice after a repair", name.clone());
    }
    if let Some(list) = done.after.cut_lists.first() {
        log.find("a directory cannot be listed after a repair", format!("/{list}"));
    }
    let (mut gone, mut emptied, mut bare) = (0, 0, 0);
    let is_single =
        |path: &&str| !hit.before.doubles.iter().any(|double| double == path || path.starts_with(&format!("{double}/")));
    for (path, was) in before.iter().filter(|(path, _)| is_single(path)) {
        let Some(is) = after.get(path).filter(|is| is.size.is_some() == was.size.is_some()) else {
            gone += 1;
            // Two directories named it, or it has another name now, or one above it.
            let moved = after.values().any(|is| same(was, is));
            if !moved && mended.entries + mended.inodes_freed == 0 {
                log.find("a file is gone", format!("{:?}: {path}", hit.damage));
            }
            continue;
        };
        if is.size == Some(0) && was.size != Some(0) {
            emptied += 1;
            continue;
        }
        let had_some = was.attributes.is_some_and(|attributes| !attributes.is_empty());
        bare += u32::from(had_some && is.attributes.is_some_and(BTreeMap::is_empty));
        // Of a page that two files claim nobody can tell whose it is.
        let stays = |offset: &usize, bytes: &&[u8]| is.pieces.get(offset).map_or(mended.emptied > 0, |is| is == bytes);
        let pieces_stay = was.pieces.iter().all(|(offset, bytes)| stays(offset, bytes));
        let attributes_stay = was.attributes.is_none() || is.attributes == was.attributes || mended.extensions > 0;
        if is.size != was.size || !pieces_stay || !attributes_stay {
            let words =
                format!("{path} was {:?} bytes, is {:?}, pieces {pieces_stay}, attributes {attributes_stay}", was.size, is.size);
            log.find("a repair changed a file", format!("{:?}: {words}, {mended:?}", hit.damage));
        }
        if was.is_whole && !is.is_whole && mended.emptied == 0 {
            log.find("a repair took a page of a file", format!("{:?}: {path}", hit.damage));
        }
    }
    if emptied > mended.emptied {
        log.find("files are emptied, and not counted", format!("{:?}: {emptied}, {mended:?}", hit.damage));
    }
    if bare > mended.extensions {
        log.find("attributes are gone, and not counted", format!("{:?}: {bare}, {mended:?}", hit.damage));
    }
    // Without a word from the mount only what is in the page may be missing.
    if matches!(hit.damage, None | Some(Damage::Leaf | Damage::Tables)) && !hit.is_old {
        no_more_than_hit(hit, done, &after, gone, oracle, log);
    }
}

fn same(was: &Shown<'_>, is: &Shown<'_>) -> bool {
    was.size == is.size && was.pieces == is.pieces
}

/// Where the mount did not say that the state is a mixture: what is there is as it was committed, and what is missing was counted.
fn no_more_than_hit(hit: &Hit, done: &Done, after: &BTreeMap<&str, Shown<'_>>, gone: u32, oracle: &Oracle, log: &mut Log) {
    let mended = done.checked.mended;
    let Some(tree) = oracle.durable.iter().min_by_key(|tree| differing(tree, after)) else { return };
    let mut missing = 0;
    for (path, id) in &tree.names {
        let node = &tree.nodes[id];
        let Some(is) = after.get(path.as_str()) else {
            missing += 1;
            continue;
        };
        if is.size == Some(0) && !node.data.is_empty() && mended.emptied > 0 {
            continue;
        }
        let wrong = is.pieces.iter().any(|(offset, bytes)| node.data.get(*offset..*offset + bytes.len()) != Some(bytes));
        let attributes = is.attributes.is_some_and(|attributes| *attributes != *node.attributes) && mended.extensions == 0;
        if is.size != (!node.is_dir).then_some(node.data.len() as u64) || wrong || attributes {
            let was = (node.is_dir, node.data.len(), node.attributes.len());
            let words =
                format!("{path} is {:?} with {:?}, was {was:?}, wrong {wrong}", is.size, is.attributes.map(BTreeMap::len));
            log.find("not as it was committed after a repair", format!("{:?}: {words}", hit.damage));
        }
    }
    if missing > 0 && mended.entries + mended.names + mended.inodes_freed == 0 {
        log.find(
            "files are missing, and nothing is said",
            format!("{:?}: {missing} ({gone} were seen before), {mended:?}", hit.damage),
        );
    }
    for (path, is) in after.iter().filter(|(path, _)| !tree.names.contains_key(**path)) {
        let top = path.split('/').next().unwrap_or_default();
        let is_of_old = |node: &Node| {
            node.is_dir == is.size.is_none()
                && is.size.is_none_or(|size| size == node.data.len() as u64 || size == 0)
                && is.pieces.iter().all(|(offset, bytes)| node.data.get(*offset..*offset + bytes.len()) == Some(bytes))
        };
        if !top.starts_with("lost-") || !tree.nodes.values().any(is_of_old) {
            log.find("a file that never was", format!("{:?}: {path}", hit.damage));
        }
    }
}

/// Paths that a tree has otherwise.
fn differing(tree: &Tree, after: &BTreeMap<&str, Shown<'_>>) -> usize {
    let is_there = |path: &str, node: &Node| {
        after.get(path).is_some_and(|is| {
            is.size == (!node.is_dir).then_some(node.data.len() as u64)
                && is.pieces.iter().all(|(offset, bytes)| node.data.get(*offset..*offset + bytes.len()) == Some(bytes))
                && is.attributes.is_none_or(|attributes| attributes.is_empty() || *attributes == *node.attributes)
        })
    };
    tree.names.iter().filter(|(path, id)| !is_there(path, &tree.nodes[*id])).count()
        + after.keys().filter(|path| !tree.names.contains_key(**path)).count()
}

/// What a repair that was not cut leaves, one that was cut and the next one leave as well.
pub fn survives(uncut: &Partial, after: &Partial, log: &mut Log) {
    let after = shown(after);
    for (path, was) in shown(uncut).iter().filter(|(_, was)| was.is_whole) {
        let is_there = match after.get(path) {
            Some(is) => is == was,
            None => after.iter().any(|(_, is)| same(was, is)),
        };
        if !is_there {
            log.find("a repair that was cut lost a file", (*path).to_string());
        }
    }
}

/// The tree that a look shows; what cannot be read is of any content.
pub fn tree_of(partial: &Partial, oracle: &mut Oracle) -> Tree {
    let mut tree = Tree::default();
    for (path, is) in shown(partial) {
        let mut data = vec![0; is.size.unwrap_or(0) as usize];
        for (offset, bytes) in is.pieces {
            data[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        let attributes = Rc::new(is.attributes.cloned().unwrap_or_default());
        let id = oracle.new_id();
        tree.names.insert(path.to_string(), id);
        tree.nodes.insert(id, Node { is_dir: is.size.is_none(), data: Rc::new(data), attributes });
    }
    tree
}
