//! Judges a volume after the loss of a page: all readable data must be right, or the mount must
//! report that it may be old.

use std::rc::Rc;

use crate::oracle::Oracle;
use crate::tree::{Node, Tree};
use crate::view::Partial;

/// Result of a look at a damaged volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is there.
    Whole,
    /// All readable data is right; reads of the rest return an error.
    Missing {
        /// Number of files of which a part cannot be read.
        files: usize,
        /// Number of directories whose list ends with an error.
        lists: usize,
    },
    /// Every difference is an earlier state.
    Old(String),
    /// A difference is a state that never existed.
    Wrong(String),
}

/// A difference from the expected state.
struct Deviation {
    words: String,
    was_once: bool,
}

/// Compares a look with each possible state, and returns the best verdict.
pub fn judge(partial: &Partial, oracle: &Oracle) -> Verdict {
    let mut verdict = None;
    for tree in oracle.durable.iter().rev() {
        let deviations = deviations(partial, tree, oracle);
        if deviations.is_empty() && partial.errors == 0 {
            return Verdict::Whole;
        }
        if deviations.is_empty() {
            return Verdict::Missing {
                files: partial.damaged.len(),
                lists: partial.cut_lists.len(),
            };
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
            // A write of several transactions may end for want of room. So every size between is
            // possible as well.
            let wanted = shape(tree.at(path)).flatten();
            let is_between = |old: u64| {
                size.is_some_and(|size| old <= size && wanted.is_some_and(|wanted| size <= wanted))
            };
            let is_there = |old: &Tree| {
                shape(old.at(path)) == Some(*size)
                    || shape(old.at(path)).flatten().is_some_and(is_between)
            };
            note(
                format!("{path} is {}, wanted {}", words(Some(*size)), words(shape(tree.at(path)))),
                &is_there,
            );
        }
    }
    for path in tree
        .names
        .keys()
        .filter(|path| !partial.sizes.contains_key(*path) && !is_excused(path, partial))
    {
        note(format!("{path} is missing"), &|old| old.at(path).is_none());
    }
    for (path, offset, bytes) in &partial.pieces {
        let shows = |tree: &Tree| {
            tree.at(path)
                .is_some_and(|node| node.data.get(*offset..*offset + bytes.len()) == Some(bytes))
        };
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

/// Returns true if a list that ended with an error may hide the path.
fn is_excused(path: &str, partial: &Partial) -> bool {
    partial.cut_lists.iter().any(|list| list.is_empty() || path.starts_with(&format!("{list}/")))
}

/// Returns the size of a file, `Some(None)` for a directory, and `None` if there is neither.
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
