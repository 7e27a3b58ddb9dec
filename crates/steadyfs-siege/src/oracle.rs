//! What may be on the medium: the tree as the client sees it, and the trees that a power cut may bring back.

use std::rc::Rc;

use crate::tree::{Id, Tree};

/// Trees of before, which are kept to tell an old state from a wrong one.
const HISTORY: usize = 400;

/// The model's knowledge of a volume.
#[derive(Clone)]
pub struct Oracle {
    /// What every call sees.
    pub current: Rc<Tree>,
    /// States of which a mount may show any; the newest is the last.
    pub durable: Vec<Rc<Tree>>,
    /// States that were durable before.
    pub history: Vec<Rc<Tree>>,
    /// States within a transaction: no mount shows one, but pages of them may be on the medium, and be part of a mixture.
    pub passed: Vec<Rc<Tree>>,
    /// The number of the newest node.
    pub next_id: Id,
}

impl Oracle {
    /// An empty volume.
    pub fn new() -> Self {
        let empty = Rc::new(Tree::default());
        Self { current: empty.clone(), durable: vec![empty], history: Vec::new(), passed: Vec::new(), next_id: 0 }
    }

    /// The same before anybody has looked: what every call sees is the oldest state that a mount may show.
    pub fn unseen(&self) -> Self {
        Self { current: self.durable[0].clone(), ..self.clone() }
    }

    /// A number for a new node.
    pub fn new_id(&mut self) -> Id {
        self.next_id += 1;
        self.next_id
    }

    /// A call has left this state, and no commit.
    pub fn pass(&mut self, tree: Rc<Tree>) {
        self.passed.push(tree);
        let excess = self.passed.len().saturating_sub(HISTORY);
        self.passed.drain(..excess);
    }

    /// Only this state may come back from now on.
    pub fn settle(&mut self, tree: Rc<Tree>) {
        if !self.durable.iter().any(|old| Rc::ptr_eq(old, &tree)) || self.durable.len() > 1 {
            self.history.append(&mut self.durable);
            let excess = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..excess);
        }
        self.durable = vec![tree];
    }

    /// This state may come back as well.
    pub fn allow(&mut self, tree: &Rc<Tree>) {
        if !self.durable.iter().any(|old| Rc::ptr_eq(old, tree) || old == tree) {
            self.durable.push(tree.clone());
        }
    }

    /// Whether a tree is one that was durable, or what the client saw, at some time.
    pub fn was_once(&self, seen: &Tree) -> bool {
        self.history.iter().any(|old| old.shows_as(seen))
    }
}

impl Default for Oracle {
    fn default() -> Self {
        Self::new()
    }
}
