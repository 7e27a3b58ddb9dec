//! Judges the cost of a repair. Everything readable before the repair is readable after it, and
//! the repair counts everything that it removed.

use std::collections::BTreeMap;
use std::rc::Rc;

use steadyfs::{CheckReport, Damage};

use crate::log::Log;
use crate::oracle::Oracle;
use crate::tree::{Node, Tree};
use crate::view::Partial;

/// State of a damaged volume before its repair.
pub struct Hit {
    /// Content of the volume.
    pub before: Partial,
    /// Damage that the mount found.
    pub damage: Option<Damage>,
    /// True if the volume shows an earlier state, for example because the mount takes the loss
    /// for a cut.
    pub is_old: bool,
    /// True if every later mount must show the same state. Otherwise a mount for writing may take
    /// the last commit for a cut one, although a mount for reading shows it.
    pub is_settled: bool,
}

/// Result of a repair.
pub struct Done {
    /// Report of the repair.
    pub checked: CheckReport,
    /// Content of the volume after the repair.
    pub after: Partial,
}

/// Checks that a refused repair changed nothing.
pub fn unchanged(before: &Partial, after: &Partial, log: &mut Log) {
    if before.sizes != after.sizes
        || before.pieces != after.pieces
        || before.attributes != after.attributes
    {
        log.find("a refused repair changed something", String::new());
    }
}

/// Visible content of a file: its size, its readable pieces, its attributes.
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

/// Judges the content of a repaired volume.
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
    let is_single = |path: &&str| {
        !hit.before
            .doubles
            .iter()
            .any(|double| double == path || path.starts_with(&format!("{double}/")))
    };
    for (path, was) in before.iter().filter(|(path, _)| is_single(path)) {
        let Some(is) = after.get(path).filter(|is| is.size.is_some() == was.size.is_some()) else {
            gone += 1;
            // Two directories named it, or it has another name now, or a directory above it has.
            let moved = after.values().any(|is| same(was, is));
            // A mount that settles nothing may have shown a commit that a cut met. In a mixture
            // the content without that commit is open.
            let is_undecided = !hit.is_settled
                && (is_mixture(hit.damage)
                    || oracle.durable.iter().any(|tree| tree.at(path).is_none()));
            if !moved && !is_undecided && mended.entries + mended.inodes_freed == 0 {
                log.find("a file is gone", format!("{:?}: {path}", hit.damage));
            }
            continue;
        };
        // The entry of a lost file gives way to another file of that name, which may be empty.
        let is_another = mended.entries > 0 && mended.names > 0;
        let is_undecided = !hit.is_settled
            && (is_mixture(hit.damage)
                || (may_be(path, is, oracle) && is.is_whole >= was.is_whole));
        if is.size == Some(0) && was.size != Some(0) {
            emptied += u32::from(!is_undecided && (!is_another || mended.emptied > 0));
            continue;
        }
        if (is_another || is_undecided) && was_once(is, hit.damage, oracle) {
            continue;
        }
        let had_some = was.attributes.is_some_and(|attributes| !attributes.is_empty());
        bare += u32::from(had_some && is.attributes.is_some_and(BTreeMap::is_empty));
        // If two files claim a page, its owner is unknown.
        let stays = |offset: &usize, bytes: &&[u8]| {
            is.pieces.get(offset).map_or(mended.emptied > 0, |is| is == bytes)
        };
        let pieces_stay = was.pieces.iter().all(|(offset, bytes)| stays(offset, bytes));
        let attributes_stay =
            was.attributes.is_none() || is.attributes == was.attributes || mended.extensions > 0;
        if is.size != was.size || !pieces_stay || !attributes_stay {
            let words = format!(
                "{path} was {:?} bytes, is {:?}, pieces {pieces_stay}, attributes \
                 {attributes_stay}",
                was.size, is.size
            );
            log.trace(|| format!("{path} was {:?}, is {:?}", was.pieces, is.pieces));
            log.find("a repair changed a file", format!("{:?}: {words}, {mended:?}", hit.damage));
        }
        if was.is_whole && !is.is_whole && mended.emptied == 0 {
            log.find("a repair took a page of a file", format!("{:?}: {path}", hit.damage));
        }
    }
    if emptied > mended.emptied {
        log.find(
            "files are emptied, and not counted",
            format!("{:?}: {emptied}, {mended:?}", hit.damage),
        );
    }
    if bare > mended.extensions {
        log.find(
            "attributes are gone, and not counted",
            format!("{:?}: {bare}, {mended:?}", hit.damage),
        );
    }
    // If the mount reports no mixture, only the content of the lost page may be missing.
    if matches!(hit.damage, None | Some(Damage::Leaf | Damage::Tables)) && !hit.is_old {
        no_more_than_hit(hit, done, &after, gone, oracle, log);
    }
}

/// Returns true if the mount reported that the state may mix several times.
fn is_mixture(damage: Option<Damage>) -> bool {
    matches!(damage, Some(Damage::Record | Damage::Journal))
}

/// Returns true if a file has the same size in one of the states that may be durable. Changes
/// that were not settled before the repair may not have been committed.
fn may_be(path: &str, is: &Shown<'_>, oracle: &Oracle) -> bool {
    let mut nodes = oracle.durable.iter().filter_map(|tree| tree.at(path));
    nodes.any(|node| is.size == (!node.is_dir).then_some(node.data.len() as u64))
}

/// Returns true if each piece of a file is as it was in some file at some time, also within a
/// transaction. The size of a file lies elsewhere and may come from another time.
///
/// In a mixture each byte of a piece may come from another time: small changes are lost, or the
/// page to which later changes apply.
fn was_once(is: &Shown<'_>, damage: Option<Damage>, oracle: &Oracle) -> bool {
    let nodes = || {
        oracle
            .durable
            .iter()
            .chain(&oracle.history)
            .chain(&oracle.passed)
            .flat_map(|tree| tree.nodes.values())
    };
    // Behind the end that a file had then there are zeros.
    let had = |node: &Node, (at, byte): (usize, &u8)| node.data.get(at).unwrap_or(&0) == byte;
    let is_known = |(&offset, bytes): (&usize, &&[u8])| {
        let mut each = (offset..).zip(bytes.iter());
        nodes().any(|node| each.clone().all(|byte| had(node, byte)))
            || (is_mixture(damage) && each.all(|byte| nodes().any(|node| had(node, byte))))
    };
    is.pieces.iter().all(is_known)
}

fn same(was: &Shown<'_>, is: &Shown<'_>) -> bool {
    was.size == is.size && was.pieces == is.pieces
}

/// Judges a repair after a mount that reported no mixture. All present content must equal one of
/// the states that may be durable, and all missing content must be counted.
fn no_more_than_hit(
    hit: &Hit,
    done: &Done,
    after: &BTreeMap<&str, Shown<'_>>,
    gone: u32,
    oracle: &Oracle,
    log: &mut Log,
) {
    let faults = |tree: &Tree| {
        let mut faults = as_it_was(tree, done, after);
        faults.extend(silently_missing(tree, done, after, gone));
        faults.extend(never_was(tree, after));
        faults
    };
    for (what, details) in
        oracle.durable.iter().map(|tree| faults(tree)).min_by_key(Vec::len).unwrap_or_default()
    {
        log.find(what, format!("{:?}: {details}", hit.damage));
    }
}

/// Class and place of a finding.
type Fault = (&'static str, String);

/// Returns the files that are there under their names, but differ from the committed content.
fn as_it_was(tree: &Tree, done: &Done, after: &BTreeMap<&str, Shown<'_>>) -> Vec<Fault> {
    let mended = done.checked.mended;
    let mut faults = Vec::new();
    for (path, id) in &tree.names {
        let (node, Some(is)) = (&tree.nodes[id], after.get(path.as_str())) else { continue };
        if is.size == Some(0) && !node.data.is_empty() && mended.emptied > 0 {
            continue;
        }
        let attributes = is.attributes.is_some_and(|attributes| *attributes != *node.attributes)
            && mended.extensions == 0;
        let wrong = !is_part_of(is, node);
        if wrong || attributes {
            let was = (node.is_dir, node.data.len(), node.attributes.len());
            let words = format!(
                "{path} is {:?} with {:?}, was {was:?}",
                is.size,
                is.attributes.map(BTreeMap::len)
            );
            faults.push((
                "not as it was committed after a repair",
                format!("{words}, content wrong {wrong}"),
            ));
        }
    }
    faults
}

fn silently_missing(
    tree: &Tree,
    done: &Done,
    after: &BTreeMap<&str, Shown<'_>>,
    gone: u32,
) -> Option<Fault> {
    let mended = done.checked.mended;
    let missing = tree.names.keys().filter(|path| !after.contains_key(path.as_str())).count();
    let is_told = missing == 0 || mended.entries + mended.names + mended.inodes_freed > 0;
    (!is_told).then(|| {
        (
            "files are missing, and nothing is said",
            format!("{missing} ({gone} were seen before), {mended:?}"),
        )
    })
}

/// Returns the names that were not there before, apart from the names that a repair gives.
fn never_was(tree: &Tree, after: &BTreeMap<&str, Shown<'_>>) -> Vec<Fault> {
    let is_given = |path: &str, is: &Shown<'_>| {
        let empty = |node: &Node| is.size == Some(0) && !node.is_dir;
        path.starts_with("lost-")
            && tree.nodes.values().any(|node| empty(node) || is_part_of(is, node))
    };
    let new =
        after.iter().filter(|(path, is)| !tree.names.contains_key(**path) && !is_given(path, is));
    new.map(|(path, is)| ("a file that never was", format!("{path} of {:?} bytes", is.size)))
        .collect()
}

/// Returns true if a file has the size of a node, and no byte that differs from the node.
fn is_part_of(is: &Shown<'_>, node: &Node) -> bool {
    let has = |(offset, bytes): (&usize, &&[u8])| {
        node.data.get(*offset..*offset + bytes.len()) == Some(*bytes)
    };
    is.size == (!node.is_dir).then_some(node.data.len() as u64) && is.pieces.iter().all(has)
}

/// Checks that a repair that was cut and the next repair leave everything that an uncut repair
/// leaves.
pub fn survives(uncut: &Partial, after: &Partial, oracle: &Oracle, log: &mut Log) {
    let after = shown(after);
    // A mount may find the last commit, although another mount took it for a cut one.
    let is_open = oracle.durable.len() > 1;
    let may_lack =
        |path: &str| is_open && oracle.durable.iter().any(|tree| tree.at(path).is_none());
    for (path, was) in shown(uncut).iter().filter(|(_, was)| was.is_whole) {
        let is_there = match after.get(path) {
            // A repair that was cut may have found attributes that another one did not.
            Some(is) => {
                is.is_whole
                    && same(was, is)
                    && (is.attributes == was.attributes
                        || was.attributes.is_some_and(BTreeMap::is_empty))
                    || is_open
                        && is.is_whole
                        && may_be(path, is, oracle)
                        && was_once(is, None, oracle)
            }
            None => may_lack(path) || after.iter().any(|(_, is)| same(was, is)),
        };
        if !is_there {
            let words = after.get(path).map_or("is gone".to_string(), |is| {
                let odd = was
                    .pieces
                    .iter()
                    .filter(|(offset, bytes)| is.pieces.get(offset) != Some(bytes))
                    .map(|(offset, _)| offset);
                let attributes = [was, is].map(|file| file.attributes.map(BTreeMap::len));
                format!(
                    "was {:?} bytes, is {:?}, other pieces at {:?}, attributes {attributes:?}",
                    was.size,
                    is.size,
                    odd.collect::<Vec<_>>()
                )
            });
            log.find("a repair that was cut lost a file", format!("{path} {words}"));
        }
    }
}

/// Returns the tree of a look. Unreadable parts have any content.
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
