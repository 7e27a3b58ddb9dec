//! The ring of roots: a model of its own, so that many cuts in a row fit.
//!
//! The content of a volume is one number here, the value. A record of the log contains the value,
//! as a frame or as a journal page. The heads together are one log.
//!
//! The model follows `root/scan.rs`, `root/program.rs` and `store/settle.rs` nearly line by line.
//! It has roots of several pages and their copies, numbers, the bisection for the end of a block,
//! the copies of a mount, and the mark. A program or erase that was cut, or a program that
//! failed, leaves an unsteady page. Such a page reads as its content, as damaged or as blank,
//! differently at each mount or at each look. So it stands for whole and for blank pages as well.
//!
//! | file | idea |
//! |---|---|
//! | [`rules`] | the rules, each of which can be taken away |
//! | [`call`] | the calls |
//! | [`scope`] | sizes, and the worlds that are checked |
//! | [`violation`] | the forbidden results |
//! | [`chip`] | pages, their reads, results of cuts and failures |
//! | [`state`] | the state of chip, RAM and caller |
//! | `scan` | the root that a mount begins with, and the records behind it |
//! | [`machine`] | roots, the blocks of the ring, settling |
//! | [`action`] | results and promises of a call, and the checks after it |
//!
//! Two states are one only if they are equal. The model does not have:
//!
//! - superblocks, which nothing changes after `format`;
//! - several heads, and the data blocks (the other model has them);
//! - two lost pages;
//! - blocks of the ring that are erased ahead of time.
//!
//! # Checks after every call
//!
//! - A mount finds the acknowledged value, or the value of a cut save. The value that a mount has
//!   found stays. A mount begins with no root whose data may be destroyed.
//! - A mount finds a root. If no page is lost, it misses nothing. A read that fails ends the
//!   mount, and the next mount succeeds.
//! - If one page is lost, a mount finds the same, or it reports a loss. Otherwise a read of the
//!   value returns an error, and another value can be stored.
//! - No program meets a page that was not erased since it was touched. The ring can always go on
//!   to another block.

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

    /// Returns one property, so that the checker stops at the first state that breaks it.
    /// [`State::broken`] names the violation.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing is broken", |_, state: &State| state.broken.is_none())]
    }
}
