//! The ring of roots: a model of its own.

pub mod call;
pub mod chip;
pub mod machine;
pub mod rules;
mod scan;
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
