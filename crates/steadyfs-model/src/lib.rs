//! The commit protocol of SteadyFS as an executable model.

pub mod call;
mod canonical;
pub mod chip;
pub mod choices;
pub mod machine;
mod recovery;
pub mod rules;
pub mod scope;
pub mod state;
mod steps;

use call::Action;
use stateright::{Model, Property};
use state::{Scope, State, Violation};

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

    fn properties(&self) -> Vec<Property<Self>> {
        fn never(violation: Violation) -> impl Fn(&State) -> bool { move |state: &State| state.broken != Some(violation) }
        let _ = never;
        vec![
            Property::<Self>::always("nothing is broken", |_, state: &State| state.broken.is_none()),
        ]
    }
}
