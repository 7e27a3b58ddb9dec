//! Sealed roots hold in every world and in long walks; each rule that is taken away is missed, but for those that are named here.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::roots::call::Action;
use steadyfs_model::roots::rules::Rule;
use steadyfs_model::roots::state::Scope;
use steadyfs_model::roots::state::Violation::{self, *};

worlds! {
    cuts CUTS
    nested NESTED
    heads TWO_HEADS
    parts PARTS
    loss LOSS
    failure FAILURE
    uneven UNEVEN
    mark MARK
}
