//! The protocol holds in every world; each rule that is taken away is missed, but for those that are named here.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::call::{Action, Call};
use steadyfs_model::rules::Rule;
use steadyfs_model::state::Scope;
use steadyfs_model::state::Violation::{self, *};

worlds! {
    every_call_with_two_cuts BROAD
    mounts_with_two_cuts RECOVERY
    three_cuts_within_mounts NESTED
    transactions_with_patches_and_rollback TRANSACTIONS
    pending_frames_move PENDING
    blocks_are_used_again MAP
    leaves_with_a_cut FOLDS
    every_change_folds NARROW
    old_frames_are_released_at_once FULL
    programs_and_erases_fail FAILURES
    mounts_fail_and_are_cut FAILING_MOUNTS
    checkpoints_of_one_page SMALL_CHECKPOINTS
    pages_read_as_forged_tags FORGERY
    anchors_take_several_checkpoints ROOMY
    rescued_frames_stay_while_the_ring_goes_round RING
}

#[test]
fn recovery_misses_each_of_its_rules() {
    let missed: [(Scope, Rule, Violation, usize); 20] = [
        (Scope::ROOMY, Rule::FreshAnchor, ProgramOfTouchedPage, 2),
        (Scope::RECOVERY, Rule::RescueFrame, WrongClaim, 3),
        (Scope::RECOVERY, Rule::RescueJournal, WrongClaim, 3),
        (Scope::RING, Rule::CollectRescued, MountRefused, 10),
        (Scope { cuts: 1, ..Scope::RING }, Rule::CollectFromAll, MountRefused, 10),
        (Scope::FAILURES, Rule::SequenceJump, CommitLostOrMixed, 5),
        (Scope::NESTED, Rule::JumpBeyondIgnored, CommitLostOrMixed, 7),
        (Scope::FAILING_MOUNTS, Rule::IgnoredIsErased, CommitLostOrMixed, 6),
        (Scope::SMALL_CHECKPOINTS, Rule::RescuedAgain, WrongRead, 3),
        (Scope::SMALL_CHECKPOINTS, Rule::CheckpointIsNotFirst, CommitLostOrMixed, 6),
        (Scope::RECOVERY, Rule::SettleCheckpoint, CommitLostOrMixed, 5),
        (Scope::RECOVERY, Rule::SkipPlaces, ProgramOfTouchedPage, 5),
        (Scope::RECOVERY, Rule::SkipBeforeCheckpoint, ProgramOfTouchedPage, 6),
        (Scope::ROOMY, Rule::EraseAgain, CommitLostOrMixed, 6),
        (Scope::RECOVERY, Rule::LastIsChecked, CommitLostOrMixed, 4),
        (Scope::RING, Rule::AnchorInUse, EraseOfCommittedPage, 9),
        (Scope::RING, Rule::AnchorInUseAtMount, EraseOfCommittedPage, 9),
        (
            Scope { failures: 1, calls: &[Call::PowerOff, Call::Save(0), Call::Checkpoint], depth: 8, ..Scope::RING },
            Rule::CompleteAnchorKept,
            EraseOfCommittedPage,
            7,
        ),
        (Scope::RECOVERY, Rule::CheckpointIsComplete, MountRefused, 2),
        (Scope::FORGERY, Rule::FirstIsJournal, ProgramOfTouchedPage, 6),
    ];
    missed.into_iter().for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

#[test]
fn calls_miss_each_of_their_rules() {
    let missed: [(Scope, Rule, Violation, usize); 15] = [
        (Scope::NARROW, Rule::Quarantine, EraseOfCommittedPage, 5),
        (Scope::TRANSACTIONS, Rule::CommitNamesTransaction, CommitLostOrMixed, 6),
        (Scope::PENDING, Rule::PendingMovesApart, CommitLostOrMixed, 8),
        (
            Scope { calls: &[Call::PowerOff, Call::Save(0), Call::Move], depth: 6, ..Scope::FAILURES },
            Rule::RepetitionCounts,
            WrongClaim,
            6,
        ),
        (Scope::TRANSACTIONS, Rule::CheckpointKeepsPending, MountRefused, 5),
        (Scope::RECOVERY, Rule::ListBeforeCheckpoint, CommitLostOrMixed, 4),
        (Scope::TRANSACTIONS, Rule::JournalHoldsBlock, EraseOfCommittedPage, 5),
        (Scope::MAP, Rule::SettledBit, LiveMarkLost, 9),
        (Scope::TRANSACTIONS, Rule::MoveOnlyLive, WrongRead, 5),
        (Scope::TRANSACTIONS, Rule::JournalIsCommitted, WrongRead, 4),
        (Scope::FAILURES, Rule::RetryElsewhere, WrongClaim, 3),
        (Scope::FAILURES, Rule::GapIsVerified, CommitLostOrMixed, 4),
        (Scope::FAILURES, Rule::CommitCountsOnce, MountRefused, 4),
        (Scope::NARROW, Rule::FoldBeforeCommit, CommitLostOrMixed, 5),
        (Scope::FORGERY, Rule::FirstIsChecked, ProgramOfTouchedPage, 6),
    ];
    missed.into_iter().for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

/// A block in which a program failed is erased before it is used again, as every block is.
#[test]
fn retiring_blocks_is_redundant_at_these_sizes() {
    for scope in [Scope::PENDING, Scope::FOLDS, Scope::FAILURES] {
        holds(Scope { without: Some(Rule::Retire), ..scope });
    }
}

/// Two frames that a mount moves on at once, and the leaf of a fold that made room for that.
#[test]
fn an_anchor_for_two_rescued_frames_is_too_small() {
    let calls = &[Call::PowerOff, Call::Save(0), Call::Save(1)];
    let found = check(&Scope { anchors: (3, 6), cuts: 1, calls, ..Scope::RING });
    assert!(found.is_some(), "the third frame has no place");
}

/// A checkpoint whose last page is metastable may be adopted once and be unreadable later, when the ring has come round.
#[test]
fn as_many_cuts_as_anchors_within_mounts_lose_the_volume() {
    let found = check(&Scope { anchors: Scope::BROAD.anchors, ..Scope::NESTED }).expect("three cuts destroy three checkpoints");
    assert_eq!(found.last().and_then(|action| action.state.broken), Some(MountRefused), "{found:?}");
}
