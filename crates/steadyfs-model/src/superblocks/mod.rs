//! How superblocks and the ring of anchors change: a model of its own.
//!
//! What a volume stores is one number here, the version, and a checkpoint has it; so the protocol of `store/anchors.rs` fits with little
//! around it, nearly line by line: two blocks of superblocks, a ring of anchors, blocks that become anchors or take data. A
//! page that is not steady may read as programmed or as garbage after each power-on; it stands for a whole and for a garbled one as well.
//!
//! | file | idea |
//! |---|---|
//! | [`chip`] | pages, how they read, what a cut or a failure leaves |
//! | [`state`] | what chip, RAM and caller know; sizes; violations |
//! | [`anchors`] | the ring, checkpoints, the next step of a change |
//! | `recovery` | superblocks, newest checkpoint, which superblock counts, settling |
//! | [`call`] | calls, what they promise, and what must hold after each |
//! | [`rules`] | the rules, each of which can be taken away |
//! | `scope` | the worlds that are checked |
//!
//! Two states are one only if they are equal. Not modelled: records between checkpoints, rescued frames, checkpoints of several pages, wear
//! (any anchor that rests may be replaced by any free block), a search for the second copy in other blocks.
//!
//! # What is checked, after every call
//!
//! - Were the power to fail now, a mount would find a superblock, a checkpoint and its journal page, whatever the pages read as that are not
//!   steady: with what was acknowledged, or what was being written, and all blocks of data.
//! - No block with data is in the list of anchors that a mount takes over.
//! - No page is programmed that was not erased since it was touched; the newest complete checkpoint is not erased.
//! - There is an anchor to go on to, unless two or more things have failed.

pub mod anchors;
pub mod call;
pub mod chip;
mod recovery;
pub mod rules;
mod scope;
pub mod state;

use call::Action;
use state::{Scope, State};
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
