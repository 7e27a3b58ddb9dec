//! The possible states of the medium: the tree as the client sees it, and the trees that a power
//! cut may bring back.

use std::rc::Rc;

use crate::tree::{Id, Tree};

/// Number of earlier trees. They serve to distinguish an old state from a wrong one.
const HISTORY: usize = 400;

/// State of a volume in the model.
#[derive(Clone)]
pub struct Oracle {
    /// Tree that every call sees.
    pub current: Rc<Tree>,
    /// States of which a mount may show any. The newest is the last.
    pub durable: Vec<Rc<Tree>>,
    /// States that were durable earlier.
    pub history: Vec<Rc<Tree>>,
    /// States within a transaction. No mount shows such a state, but pages of it may be on the
    /// medium and be part of a mixture.
    pub passed: Vec<Rc<Tree>>,
    /// Number of the newest node.
    pub next_id: Id,
}

impl Oracle {
    /// Makes the oracle of an empty volume.
    pub fn new() -> Self {
        let empty = Rc::new(Tree::default());
        Self {
            current: empty.clone(),
            durable: vec![empty],
            history: Vec::new(),
            passed: Vec::new(),
            next_id: 0,
        }
    }

    /// Returns the same oracle before the first look: every call sees the oldest state that a
    /// mount may show.
    pub fn unseen(&self) -> Self {
        Self { current: self.durable[0].clone(), ..self.clone() }
    }

    /// Returns a number for a new node.
    pub fn new_id(&mut self) -> Id {
        self.next_id += 1;
        self.next_id
    }

    /// Notes a state that a call has left without a commit.
    pub fn pass(&mut self, tree: Rc<Tree>) {
        self.passed.push(tree);
        let excess = self.passed.len().saturating_sub(HISTORY);
        self.passed.drain(..excess);
    }

    /// Makes this state the only one that may come back from now on.
    pub fn settle(&mut self, tree: Rc<Tree>) {
        if !self.durable.iter().any(|old| Rc::ptr_eq(old, &tree)) || self.durable.len() > 1 {
            self.history.append(&mut self.durable);
            let excess = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..excess);
        }
        self.durable = vec![tree];
    }

    /// Notes that this state may come back as well.
    pub fn allow(&mut self, tree: &Rc<Tree>) {
        if !self.durable.iter().any(|old| Rc::ptr_eq(old, tree) || old == tree) {
            self.durable.push(tree.clone());
        }
    }

    /// Returns true if a tree shows the same as a state that was durable or that the client saw
    /// at some time.
    pub fn was_once(&self, seen: &Tree) -> bool {
        self.history.iter().any(|old| old.shows_as(seen))
    }
}

impl Default for Oracle {
    fn default() -> Self {
        Self::new()
    }
}
