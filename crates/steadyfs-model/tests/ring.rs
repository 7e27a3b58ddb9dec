//! The ring keeps its roots in every world. Without any one of its rules, a world has a
//! violation.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::ring::action::Action;
use steadyfs_model::ring::rules::Rule;
use steadyfs_model::ring::scope::Scope;
use steadyfs_model::ring::violation::Violation::{self, *};

worlds! {
    every_call_with_three_cuts BROAD
    five_cuts_in_a_row CHAINS
    each_look_tells_something_else LOOKS
    blocks_take_two_roots ROOMY
    roots_of_one_page SMALL
    a_gap_behind_the_root GAP
    closed_roots_get_a_mark MARKS
    four_cuts_where_closed_roots_get_a_mark MARK_CHAINS
    programs_and_erases_in_the_ring_fail FAILURES
    they_fail_where_closed_roots_get_a_mark MARKED_FAILURES
    a_read_fails READS
    a_page_is_lost LOSSES
    a_page_is_lost_that_may_be_a_copy_of_a_frame LOST_FRAMES
    records_are_frames FRAMES
    the_ring_goes_round ROUND
    as_many_cuts_as_blocks SHORT
    four_cuts_of_which_pages_may_read_as_blank BLANK_CHAINS
}

#[test]
fn the_choice_of_a_root_misses_each_of_its_rules() {
    let missed: [(Scope, Rule, Violation, usize); 13] = [
        (Scope::MARKED_FAILURES, Rule::FailedIsFollowed, CommitLost, 7),
        (Scope::MARKED_FAILURES, Rule::OnlyNewestIsMarked, CommitLost, 7),
        (Scope::BLANK_CHAINS, Rule::CertainIsFollowed, CommitLost, 9),
        (Scope::SMALL, Rule::SealedRoots, CommitLost, 7),
        (Scope::SHORT, Rule::CertainIsKept, NoRoot, 6),
        (Scope::FRAMES, Rule::OneSealNeedsItsOwn, Unreadable, 5),
        (Scope::LOOKS, Rule::OneBefore, ToldForNothing, 6),
        (Scope::BROAD, Rule::OutrankAllSeen, CommitLost, 7),
        (Scope::GAP, Rule::EndPassesGap, CommitLost, 5),
        (Scope::LOSSES, Rule::AnotherPageTells, NoRoot, 2),
        (Scope::READS, Rule::ReadAgain, CommitLost, 4),
        (Scope::MARKS, Rule::OnlyFirmRootsAreMarked, ProgramOfTouchedPage, 5),
        (Scope::MARK_CHAINS, Rule::MarkIsCompleted, CommitLost, 8),
    ];
    missed
        .into_iter()
        .for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

#[test]
fn settling_misses_each_of_its_rules() {
    let missed: [(Scope, Rule, Violation, usize); 11] = [
        (Scope::ROOMY, Rule::FreshBlock, ProgramOfTouchedPage, 3),
        (Scope::BROAD, Rule::SettleRoot, ProgramOfTouchedPage, 4),
        (Scope::BROAD, Rule::SealsComeLast, ToldForNothing, 4),
        (Scope::CHAINS, Rule::WholeCopies, CommitLost, 9),
        (Scope::BROAD, Rule::OpeningWritesRoot, CommitLost, 4),
        (Scope::BROAD, Rule::LastIsCopied, ToldForNothing, 4),
        (Scope::CHAINS, Rule::CopiesAreCarried, ToldForNothing, 6),
        (Scope::LOST_FRAMES, Rule::LostIsCopied, NeverMounts, 5),
        (Scope::BROAD, Rule::SkipPlaces, ProgramOfTouchedPage, 4),
        (Scope::ROUND, Rule::BlockInUse, ToldForNothing, 9),
        (Scope::CHAINS, Rule::UnknownAreErased, CommitLost, 9),
    ];
    missed
        .into_iter()
        .for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

/// A cut erase may leave a page of the copies of an old root, but not the first page of that
/// root. This looks like a lost page.
#[test]
fn as_many_cuts_as_blocks_raise_an_alarm() {
    let found = check(&Scope { may_alarm: false, ..Scope::SHORT }).expect("an old root is missed");
    assert_eq!(
        found.last().and_then(|action| action.state.broken),
        Some(ToldForNothing),
        "{found:?}"
    );
}

/// As many roots as there are blocks count at one mount and not at the next. The erase of one
/// more root was cut.
#[test]
fn more_cuts_than_blocks_may_hide_every_root() {
    let found = check(&Scope { cuts: 5, ..Scope::SHORT }).expect("every root is unsteady");
    assert_eq!(found.last().and_then(|action| action.state.broken), Some(NoRoot), "{found:?}");
}
