//! The commit protocol of SteadyFS as an executable model, checked exhaustively for small sizes.
//!
//! The model is the shortest description of the protocol: the effect of `steadyfs::store` on a
//! chip, without bytes, pace and wear. One page is a frame, and one leaf maps two logical pages.
//! A logical page is two values. A write changes both, and a patch changes the second, so that
//! they can be distinguished.
//!
//! A [call](call::Call) is a straight run of programs and erases. [`Choices`](choices::Choices)
//! draws everything that is not determined:
//!
//! - the place of a power cut, and its results;
//! - the program that fails;
//! - the reading of a metastable page;
//! - the frame that moves.
//!
//! The model runs a call once for each sequence of answers. So a state lies between two calls,
//! and the checker (`stateright`, breadth first) goes through all states up to a number of calls.
//!
//! | file | idea |
//! |---|---|
//! | [`numbers`] | pages, blocks, programs |
//! | [`table`] | the content of a root |
//! | [`page`] | the content of a page |
//! | [`choices`] | nondeterminism as a script |
//! | [`rules`] | the rules, each of which can be taken away |
//! | [`call`] | the calls |
//! | [`scope`] | sizes, and the worlds that are checked |
//! | [`violation`] | the forbidden results |
//! | [`chip`] | reads of pages, results of cuts and failures |
//! | [`state`] | the state of chip, RAM and caller |
//! | `canonical` | one state for all states that behave the same |
//! | [`machine`] | heads, blocks, programs; a failed program |
//! | `steps` | write, commit, roll back, fold, move |
//! | `scan`, `forward` | a mount finds the newest root, and rolls forward |
//! | `roots` | roots, the ring, settling |
//! | [`action`] | results and promises of a call, and the checks after it |
//! | [`ring`] | a second model: the ring alone |
//!
//! There are two models, because both in one would be too large. This one has the heads (user,
//! moved, journal), the map, transactions, roots of two pages with their copies, and the copies
//! that a mount makes. It has a short ring of which a mount reads every page, and at most three
//! cuts. [`ring`] has one log without content, but the ring as the store searches it: numbers,
//! bisection, marks, gaps, reads that fail, five cuts in a row.
//!
//! Scheduling is free: calls come in any order, although the core's pace would forbid many
//! orders. A protocol that is safe here is safe at any pace. For a rule that is needed here, the
//! core's pace alone may suffice.
//!
//! Neither model has:
//!
//! - several pages in a frame, or several leaves in a map;
//! - moves of lost frames, discards, the cache;
//! - calls that fail and are undone;
//! - chains of journal records;
//! - repairs, or two lost pages;
//! - a block that is proved to be erased;
//! - wear and its levelling, and the bound of a call.
//!
//! Superblocks are not there because they have no protocol: nothing changes them after `format`.
//!
//! # Checks after every call and every mount
//!
//! - A mount finds the acknowledged data, or all data of a cut commit. The data that a mount has
//!   found stays.
//! - No erase meets a block with a page that a mount would name if the power failed now.
//! - No program meets a page that was not erased since it was last touched.
//! - No frame is claimed by two logical pages. Every frame that the map names is marked as live,
//!   holds the page that claims it, and cannot read differently later.
//! - A second mount finds the same as the first one, also with a cut between or within them.
//! - Readers get the data of the open transaction. If nothing was lost, no mount is refused or
//!   misses something.
//! - If one page is lost, a mount finds the same, or it reports that something is missing.
//!   Otherwise a read of that page returns an error. After that mounts for writing succeed,
//!   nothing else is missing, and the page can be written anew.

pub mod action;
pub mod call;
mod canonical;
pub mod chip;
pub mod choices;
mod forward;
pub mod machine;
pub mod numbers;
pub mod page;
pub mod ring;
mod roots;
pub mod rules;
mod scan;
pub mod scope;
pub mod state;
mod steps;
pub mod table;
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
