//! The commit protocol of SteadyFS as an executable model, checked exhaustively for small sizes.
//!
//! The model is the shortest description of the protocol: what `steadyfs::store` does to a chip, without bytes, pace and wear. One
//! page is a frame, two logical pages are mapped by one leaf, and a logical page is two values, so that a write (both) and
//! a patch (the second) can be told apart. A [call](call::Call) is a straight run of programs and erases; whatever is not determined
//! – where the power fails and what that leaves, which program fails, how a metastable page reads, which frame moves – is
//! drawn from [`Choices`](choices::Choices), and the model runs a call once for each sequence of answers. So a state is what there is
//! between two calls, and the checker (`stateright`, breadth first) goes through all states up to a number of calls.
//!
//! | file | idea |
//! |---|---|
//! | [`numbers`] | pages, blocks, programs |
//! | [`table`] | what a root stores |
//! | [`page`] | what a page says |
//! | [`choices`] | nondeterminism as a script |
//! | [`rules`] | the rules, each of which can be taken away |
//! | [`call`] | the calls |
//! | [`scope`] | sizes, and the worlds that are checked |
//! | [`violation`] | what must never be |
//! | [`chip`] | how pages read, what a cut or a failure leaves |
//! | [`state`] | what chip, RAM and caller know |
//! | `canonical` | of states that behave the same, one |
//! | [`machine`] | heads, blocks, programs; a failed program |
//! | `steps` | write, commit, roll back, fold, move |
//! | `scan`, `forward` | a mount finds the newest root, and rolls forward |
//! | `roots` | roots, the ring, settling |
//! | [`action`] | what a call leads to and promises, and what must hold after it |
//! | [`ring`] | a second model: the ring alone |
//!
//! There are two models, because both in one would be too large. This one has the heads (user, moved, journal), the map, transactions, roots of two pages with
//! their copies, and what a mount copies, but a short ring of which a mount reads every page, and at most three cuts. [`ring`] has one log and
//! nothing in it, but the ring as the store searches it: numbers, bisection, marks, gaps, reads that fail, five cuts in a row.
//!
//! Scheduling is free: calls come in any order, where the core's pace would forbid many. What is found to be safe here is safe whatever
//! the pace; a rule that is needed here may be kept by the pace alone there. Neither model has several pages in a frame or leaves in a
//! map, moves of frames that are lost, discards, the cache, calls that fail and are undone, chains of journal records, repairs, two pages that are lost, a block that is known to be
//! erased, wear and its levelling, and the bound of a call. Superblocks are not there because they have no protocol: nothing changes them after `format`.
//!
//! # What is checked, after every call and every mount
//!
//! - A mount finds what was acknowledged, or all of what a cut commit was to make durable; what a mount has found stays.
//! - No block is erased that holds a page which a mount would name if the power failed now.
//! - No page is programmed that was not erased since it was last touched.
//! - No frame is claimed by two logical pages; every frame that the map names is marked as live, holds the page that claims
//!   it, and cannot read differently later.
//! - A second mount finds what the first one found, also with a cut between or within them.
//! - Readers see what the open transaction wrote; no mount is refused, or misses something where nothing was lost.
//! - With one page lost a mount finds the same, or says that something is missing, or whoever reads that page is told; then mounts for writing succeed,
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

    /// One property, so that the checker stops at the first state that breaks it; [`State::broken`] tells what it is.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing is broken", |_, state: &State| state.broken.is_none())]
    }
}
