//! Superblocks and anchors change safely in every world; each rule that is taken away is missed, but for those that are named here.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::superblocks::call::{Action, Call};
use steadyfs_model::superblocks::rules::Rule;
use steadyfs_model::superblocks::state::Scope;
use steadyfs_model::superblocks::state::Violation::{self, *};

worlds! {
    every_call_with_a_cut BROAD
    changes_with_two_cuts CUTS
    superblocks_are_erased_with_two_cuts FULL_LOGS
    three_pages_in_a_block ROOMY
    three_cuts_in_mounts_and_changes NESTED
    a_cut_and_a_failure FAILURE
    superblocks_are_erased_with_a_failure FULL_FAILURE
    a_freed_anchor_takes_data DATA
    two_cuts_and_a_failure FAILURES
    a_cut_and_two_failures DYING
    a_superblock_is_lost LOSS
    a_superblock_is_lost_where_they_are_erased FULL_LOSS
}

#[test]
fn changes_miss_each_of_their_rules() {
    let narrow: &[Call] = &[Call::Save, Call::Replace, Call::Superblock];
    let missed: [(Scope, Rule, Violation, usize); 12] = [
        (Scope::BROAD, Rule::Announcement, WrongVersion, 5),
        (Scope::BROAD, Rule::DoubtRests, WrongVersion, 3),
        (Scope::BROAD, Rule::TouchedIsErased, ProgramOfTouchedPage, 5),
        (Scope::BROAD, Rule::OtherIsTrusted, DataLost, 6),
        (Scope { calls: narrow, ..Scope::FULL_FAILURE }, Rule::OnlyOneStays, MountRefused, 6),
        (Scope::DATA, Rule::ListStays, DataLost, 8),
        (Scope::FAILURE, Rule::OtherIsWritten, WrongVersion, 5),
        (Scope { calls: narrow, depth: 10, ..Scope::FAILURE }, Rule::FailedIsOutranked, WrongVersion, 10),
        (Scope { cuts: 0, ..Scope::DYING }, Rule::LastBadCounts, WrongVersion, 6),
        (Scope { cuts: 0, depth: 9, ..Scope::FULL_FAILURE }, Rule::SuperblockIsNotMarked, MountRefused, 9),
        (Scope::CUTS, Rule::JumpBeyondPassedOver, WrongVersion, 8),
        (Scope::DATA, Rule::CompleteKept, EraseOfCheckpoint, 7),
    ];
    missed.into_iter().for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

#[test]
fn mounts_miss_each_of_their_rules() {
    let missed: [(Scope, Rule, Violation, usize); 3] = [
        (Scope::CUTS, Rule::FirstPageCounts, MountRefused, 2),
        (Scope::FAILURES, Rule::RescuedAgain, MountRefused, 2),
        (Scope::NESTED, Rule::UnreadableErased, WrongVersion, 5),
    ];
    missed.into_iter().for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

#[test]
fn a_lost_superblock_misses_its_rules() {
    let missed: [(Scope, Rule, Violation, usize); 4] = [
        (Scope::LOSS, Rule::LoserWaits, DataLost, 8),
        (Scope::LOSS, Rule::LostComesFirst, MountRefused, 6),
        (Scope::FULL_LOSS, Rule::OlderIsWritten, MountRefused, 7),
        (Scope::FULL_LOSS, Rule::GenerationIsKept, DataLost, 10),
    ];
    missed.into_iter().for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

/// The first is what the larger generation of block 0 does as well; the second is for frames in other anchors, which are not modelled.
#[test]
fn rules_that_are_redundant_at_these_sizes() {
    for rule in [Rule::BadIsNotTrusted, Rule::PassedOverFirst] {
        for scope in [Scope::BROAD, Scope::FAILURE, Scope::LOSS] {
            holds(Scope { depth: scope.depth - 1, without: Some(rule), ..scope });
        }
    }
}

/// The place in doubt rests, and leaves three anchors: one metastable checkpoint of each of three cuts.
#[test]
fn as_many_cuts_as_anchors_that_do_not_rest_lose_the_volume() {
    let found = check(&Scope { anchors: 4, ..Scope::NESTED }).expect("three cuts destroy three checkpoints");
    assert!(found.len() <= 4, "{found:?}");
    let found = check(&Scope { anchors: 3, ..Scope::CUTS }).expect("two cuts destroy two checkpoints");
    assert_eq!(found.last().and_then(|action| action.state.broken), Some(MountRefused), "{found:?}");
}
