//! Judges looks at a volume that lost one page.

use std::collections::BTreeMap;

use steadyfs::{Damage, InodeNumber};

use super::report::Report;
use crate::campaign::repair::Held;
use crate::log::Log;
use crate::tree::{Node, Tree};
use crate::view::Partial;

/// A clean end writes the newest journal page twice, so that the loss of one page costs nothing.
/// With `false`, files may be in an earlier state after a repair, and its report names them.
const JOURNAL_IS_TWICE: bool = true;

/// The content of a volume before the loss, by path, with the inode of each.
pub struct Truth(BTreeMap<String, (InodeNumber, Node)>);

impl Truth {
    /// Takes over a look whose numbers are inodes.
    pub fn new(tree: Tree) -> Self {
        let node = |id: &u32| (*id, tree.nodes[id].clone());
        Self(tree.names.iter().map(|(path, id)| (path.clone(), node(id))).collect())
    }

    fn files(&self) -> usize {
        self.0.values().filter(|(_, node)| !node.is_dir).count()
    }
}

/// The state of a file or directory after the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// All is as it was.
    Same,
    /// A call is an error; the rest is as it was.
    Error,
    /// No list contains it.
    Absent,
    /// It has no bytes.
    Emptied,
    /// It has no attributes.
    Bare,
    /// It reads as a page of zeros that was never written, without an error.
    Zeros,
    /// It shows other bytes, another size or other attributes, without an error.
    Other,
}

/// Compares looks with the content before the loss.
pub struct Judge<'t> {
    pub truth: &'t Truth,
    pub held: Held,
}

impl Judge<'_> {
    /// Judges a mount after the loss. A file may be missing without an error only if the mount
    /// reports damage.
    pub fn before_repair(&self, seen: &Partial, damage: Option<Damage>, log: &mut Log) {
        for (path, (inode, node)) in &self.truth.0 {
            let fate = fate(path, *inode, node, seen);
            log.trace(|| format!("{path}: {fate:?}"));
            match fate {
                Fate::Zeros => log
                    .find("zeros without an error, before a repair", format!("{damage:?}: {path}")),
                Fate::Absent | Fate::Emptied | Fate::Bare if damage.is_some() => {
                    log.count(
                        "  files that are missing before a repair, and the mount says damage",
                    );
                }
                Fate::Same | Fate::Error => {}
                _ if damage.is_none() => {
                    log.find(
                        "wrong without an error or a word, before a repair",
                        format!("{path} {fate:?}"),
                    );
                }
                _ => log.count(
                    "  files that show other bytes before a repair, and the mount says damage",
                ),
            }
        }
        self.strangers(seen, damage.is_some(), "before a repair", log);
    }

    /// Judges a repaired volume. The report must name each file that lost something.
    pub fn after_repair(&self, seen: &Partial, report: &Report, when: &str, log: &mut Log) {
        let mut gone = 0;
        for (path, (inode, node)) in &self.truth.0 {
            let fate = fate(path, *inode, node, seen);
            log.trace(|| format!("{when}{path}, inode {inode}: {fate:?}"));
            let is_named = report.named.contains(inode) || report.doubted.contains(inode);
            gone += usize::from(fate != Fate::Same && !node.is_dir);
            match fate {
                Fate::Same => {}
                Fate::Zeros => {
                    log.find("zeros without an error, after a repair", format!("{when}{path}"))
                }
                Fate::Other if !JOURNAL_IS_TWICE && report.doubted.contains(inode) => {
                    log.count("  files that are of before, and the report names them");
                }
                Fate::Other => log.find(
                    "wrong without an error, after a repair",
                    format!("{when}{path}, named {is_named}"),
                ),
                _ if !is_named && !report.names_may_miss => {
                    log.find(
                        "lost something, and the report does not name it",
                        format!("{when}{path}, inode {inode}: {fate:?}"),
                    );
                }
                _ => log.count("  files that lost something, and the report says so"),
            }
        }
        self.strangers(seen, !JOURNAL_IS_TWICE && report.names_may_miss, "after a repair", log);
        if JOURNAL_IS_TWICE && self.held == Held::Journal && gone > 0 {
            log.find("a journal page took something", format!("{when}{gone} files"));
        }
        if gone == self.truth.files() && gone > 1 {
            log.count(match self.held {
                Held::Journal => "  all files: a journal page",
                Held::Leaf => "  all files: a leaf",
                Held::Table => "  all files: a page of the file table",
                Held::Data => "  all files: a page of data",
                _ => "  all files: another page",
            });
        }
    }

    /// Logs names that were not there before.
    fn strangers(&self, seen: &Partial, is_excused: bool, when: &str, log: &mut Log) {
        for path in seen.sizes.keys().filter(|path| !self.truth.0.contains_key(*path)) {
            let inode = path
                .strip_prefix("lost-")
                .and_then(|rest| rest.get(..10))
                .and_then(|digits| digits.parse().ok());
            if inode.is_some_and(|inode: InodeNumber| {
                self.truth.0.values().any(|(known, _)| *known == inode)
            }) || path.starts_with("lost-") && path.contains('/')
            {
                continue;
            }
            if is_excused {
                log.count("  names of before, and damage is told");
            } else {
                log.find("a name that was not there", format!("{when}: {path}"));
            }
        }
    }
}

/// Returns the state of a file, under its name or under the name that a repair gives.
fn fate(path: &str, inode: InodeNumber, node: &Node, seen: &Partial) -> Fate {
    let given = format!("lost-{inode:010}");
    let shown_as = if seen.sizes.contains_key(path) { path } else { given.as_str() };
    let Some(size) = seen.sizes.get(shown_as) else { return absent(path, seen) };
    let path = shown_as;
    if node.is_dir != size.is_none() {
        return Fate::Other;
    }
    let shown = || seen.pieces.iter().filter(|(of, ..)| of == path);
    let differs = |(_, offset, bytes): &(String, usize, Vec<u8>)| {
        node.data.get(*offset..*offset + bytes.len()) != Some(bytes)
    };
    let is_zero =
        |piece: &(String, usize, Vec<u8>)| differs(piece) && piece.2.iter().all(|&byte| byte == 0);
    let attributes = seen.attributes.get(path);
    match size {
        Some(0) if !node.data.is_empty() => return Fate::Emptied,
        Some(_) if shown().any(is_zero) => return Fate::Zeros,
        Some(size) if *size != node.data.len() as u64 || shown().any(differs) => {
            return Fate::Other;
        }
        _ => {}
    }
    match attributes {
        None => Fate::Error,
        _ if seen.damaged.iter().any(|damaged| damaged == path) => Fate::Error,
        Some(attributes) if attributes == &*node.attributes => Fate::Same,
        Some(attributes) if attributes.is_empty() => Fate::Bare,
        Some(_) => Fate::Other,
    }
}

/// Returns the state of a file that no list contains. It may follow in a list that ended with an
/// error.
fn absent(path: &str, seen: &Partial) -> Fate {
    let may_have = |list: &String| list.is_empty() || path.starts_with(&format!("{list}/"));
    if seen.cut_lists.iter().any(may_have) { Fate::Error } else { Fate::Absent }
}
