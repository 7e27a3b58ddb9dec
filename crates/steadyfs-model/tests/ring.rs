//! The ring keeps its roots in every world; each rule that is taken away is missed.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::ring::call::{Action, Call};
use steadyfs_model::ring::rules::Rule;
use steadyfs_model::ring::state::Scope;
use steadyfs_model::ring::state::Violation::{self, *};

worlds! {
    every_call BROAD
    chains CHAINS
}

#[test]
fn opening() {
    misses(Scope::CHAINS, Rule::OpeningErasesUnknown, CommitLost, 99);
}
