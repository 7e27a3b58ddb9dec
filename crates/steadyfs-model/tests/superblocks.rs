//! Superblocks and anchors change safely in every world; each rule that is taken away is missed.

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::superblocks::call::Action;
use steadyfs_model::superblocks::state::Scope;

/// Checks a world; the shortest way to a violation, if there is one.
fn check(scope: &Scope) -> Option<Vec<Action>> {
    let builder = scope.clone().checker().target_max_depth(scope.depth + 2);
    let checker = builder.spawn_bfs().join();
    println!("{} without {:?}: {} states, {} calls", scope.name, scope.without, checker.unique_state_count(), scope.depth);
    checker.discoveries().into_values().map(|path| path.into_actions()).next()
}

/// Expects no violation in as many calls as the world says, and `STEADYFS_MODEL_DEEPER` more.
fn holds(scope: Scope) {
    let deeper =
        env::var("STEADYFS_MODEL_DEEPER").map_or(0, |text| text.parse::<isize>().expect("STEADYFS_MODEL_DEEPER is a number"));
    let scope = Scope { depth: scope.depth.strict_add_signed(deeper), ..scope };
    if let Some(found) = check(&scope) {
        for action in &found {
            println!("{action:?} {:?}", action.state.promise);
            for (b, cells) in action.state.chip.cells.chunks(scope.pages.into()).enumerate() {
                println!("   {b}: {cells:?}");
            }
            if let Some(ram) = &action.state.ram {
                println!("   {:?}\n   {:?}", ram.anchors, ram.states);
            }
        }
        panic!("in the world {:?}: {found:?}", scope.name);
    }
}

macro_rules! worlds {
    ($($name:ident $scope:ident)*) => { $(#[test] fn $name() { holds(Scope::$scope); })* };
}

worlds! {
    every_call_with_a_cut BROAD
    changes_with_two_cuts CUTS
    three_cuts NESTED
    a_cut_and_a_failure FAILURE
    two_cuts_and_a_failure FAILURES
    x1 X1
    x2 X2
    x3 X3
    x4 X4
    x5 X5
    x6 X6
    x7 X7
    y1 Y1
    y2 Y2
    y3 Y3
    y4 Y4
    y5 Y5
    y6 Y6
    y7 Y7
    z1 Z1
    z2 Z2
    z3 Z3
    z4 Z4
    z5 Z5
    z6 Z6
    z7 Z7
}
