//! Judges what a volume shows after a page was lost for good: what can be read must be right, or the mount says that it may be old.

use std::rc::Rc;

use crate::oracle::Oracle;
use crate::tree::{Node, Tree};
use crate::view::Partial;

/// What a look at a damaged volume amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is there.
    Whole,
    /// What can be read is right; the rest answers with an error.
    Missing {
        /// Files of which a part cannot be read.
        files: usize,
        /// Directories whose list ends with an error.
        lists: usize,
    },
    /// Everything that differs is as it was once.
    Old(String),
    /// Something never was as it is shown.
    Wrong(String),
}

/// Something that is not as it should be.
struct Deviation {
    words: String,
    was_once: bool,
}

/// Compares a look with the states that may be; the best of them counts.
pub fn judge(partial: &Partial, oracle: &Oracle) -> Verdict {
    let mut verdict = None;
    for tree in oracle.durable.iter().rev() {
        let deviations = deviations(partial, tree, oracle);
        if deviations.is_empty() && partial.errors == 0 {
            return Verdict::Whole;
        }
        if deviations.is_empty() {
            return Verdict::Missing { files: partial.damaged.len(), lists: partial.cut_lists.len() };
        }
        let wrong = deviations.iter().find(|deviation| !deviation.was_once);
        let next = match wrong {
            Some(deviation) => Verdict::Wrong(deviation.words.clone()),
            None => Verdict::Old(deviations[0].words.clone()),
        };
        if !matches!((&verdict, &next), (Some(Verdict::Old(_)), Verdict::Wrong(_))) {
            verdict = Some(next);
        }
    }
    verdict.expect("there is a state")
}

fn deviations(partial: &Partial, tree: &Tree, oracle: &Oracle) -> Vec<Deviation> {
    let mut found = Vec::new();
    let mut note = |words: String, was: &dyn Fn(&Tree) -> bool| {
        let was_once = oracle.history.iter().chain(&oracle.durable).any(|old: &Rc<Tree>| was(old));
        found.push(Deviation { words, was_once });
    };
    for (path, size) in &partial.sizes {
        if shape(tree.at(path)) != Some(*size) {
            // A write of several transactions, which may end for want of room, leaves every size between as well.
            let wanted = shape(tree.at(path)).flatten();
            let is_between = |old: u64| size.is_some_and(|size| old <= size && wanted.is_some_and(|wanted| size <= wanted));
            let is_there =
                |old: &Tree| shape(old.at(path)) == Some(*size) || shape(old.at(path)).flatten().is_some_and(is_between);
            note(format!("{path} is {}, wanted {}", words(Some(*size)), words(shape(tree.at(path)))), &is_there);
        }
    }
    for path in tree.names.keys().filter(|path| !partial.sizes.contains_key(*path) && !is_excused(path, partial)) {
        note(format!("{path} is missing"), &|old| old.at(path).is_none());
    }
    for (path, offset, bytes) in &partial.pieces {
        let shows = |tree: &Tree| tree.at(path).is_some_and(|node| node.data.get(*offset..*offset + bytes.len()) == Some(bytes));
        if !shows(tree) {
            note(format!("{path} has other bytes from {offset} on"), &shows);
        }
    }
    for (path, attributes) in &partial.attributes {
        let shows = |tree: &Tree| tree.at(path).is_some_and(|node| *node.attributes == *attributes);
        if !shows(tree) {
            note(format!("{path} has other attributes"), &shows);
        }
    }
    found
}

/// A path that no list could show.
fn is_excused(path: &str, partial: &Partial) -> bool {
    partial.cut_lists.iter().any(|list| list.is_empty() || path.starts_with(&format!("{list}/")))
}

/// The size of a file, nothing of a directory, nothing at all where there is neither.
fn shape(node: Option<&Node>) -> Option<Option<u64>> {
    node.map(|node| (!node.is_dir).then_some(node.data.len() as u64))
}

fn words(shape: Option<Option<u64>>) -> String {
    match shape {
        None => "nothing".to_string(),
        Some(None) => "a directory".to_string(),
        Some(Some(size)) => format!("a file of {size} bytes"),
    }
}
