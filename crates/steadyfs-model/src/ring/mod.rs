//! The ring of roots: a model of its own, so that many cuts in a row fit.
//!
//! What a volume stores is one number here, the value, and a record of the log has it: a frame or a journal page, the heads together are one log.
//! What `root/scan.rs`, `root/program.rs` and `store/settle.rs` do to the ring is there nearly line by line: roots of several pages and their
//! copies, numbers, the bisection for the end of a block, what a mount copies, the mark. A page that a cut or a failure left, or a cut erase, reads as what
//! it holds, as damaged or as blank, differently at each mount or at each look; so it stands for whole and for blank pages as well.
//!
//! | file | idea |
//! |---|---|
//! | [`rules`] | the rules, each of which can be taken away |
//! | [`call`] | the calls |
//! | [`scope`] | sizes, and the worlds that are checked |
//! | [`violation`] | what must never be |
//! | [`chip`] | pages, how they read, what a cut or a failure leaves |
//! | [`state`] | what chip, RAM and caller know |
//! | `scan` | the root that a mount begins with, and the records behind it |
//! | [`machine`] | roots, the blocks of the ring, settling |
//! | [`action`] | what a call leads to and promises, and what must hold after it |
//!
//! Two states are one only if they are equal. Not modelled: superblocks, which nothing changes after `format`; several heads, and the data blocks
//! (the other model has them); two pages that are lost; blocks of the ring that are erased ahead of time.
//!
//! # What is checked, after every call
//!
//! - A mount finds what was acknowledged, or what a cut save was to store; what a mount has found stays. It begins with no root whose data may be destroyed.
//! - A mount finds a root, and misses nothing where no page is lost; a read that fails ends it, and the next one succeeds.
//! - With one page lost it finds the same, or says that something is lost, or whoever reads the value is told, and can store another one.
//! - No page is programmed that was not erased since it was touched; there is always a block of the ring to go on to.

pub mod action;
pub mod call;
pub mod chip;
pub mod machine;
pub mod rules;
mod scan;
pub mod scope;
pub mod state;
pub mod violation;

use action::Action;
use scope::Scope;
use state::State;
use stateright::{Model, Property};

impl Model for Scope {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::formatted(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.follow(self, actions);
    }

    fn next_state(&self, _: &State, action: Action) -> Option<State> {
        Some(*action.state)
    }

    /// One property, so that the checker stops at the first state that breaks it; [`State::broken`] tells what it is.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing is broken", |_, state: &State| state.broken.is_none())]
    }
}
