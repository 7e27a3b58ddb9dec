//! The protocol holds in every world. Without any one of its rules, a world has a violation.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::action::Action;
use steadyfs_model::rules::Rule;
use steadyfs_model::scope::Scope;
use steadyfs_model::violation::Violation::{self, *};

worlds! {
    every_call_with_two_cuts BROAD
    mounts_with_two_cuts RECOVERY
    mounts_with_two_cuts_without_a_trace TRACELESS
    three_cuts_within_mounts NESTED
    transactions_with_patches_and_rollback TRANSACTIONS
    pending_frames_move PENDING
    blocks_are_used_again MAP
    leaves_with_a_cut FOLDS
    every_change_folds NARROW
    leaves_with_logs_and_two_cuts LOGS
    logs_of_leaves_whose_programs_fail FAILING_LOGS
    logs_of_leaves_and_roots LOGS_AND_ROOTS
    a_change_in_the_log_of_a_leaf_is_lost LOST_CHANGES
    old_frames_are_released_at_once FULL
    two_programs_or_erases_fail FAILURES
    one_fails_and_the_power FAILURE
    mounts_fail_and_are_cut FAILING_MOUNTS
    pages_read_as_forged_tags FORGERY
    a_page_is_lost LOSSES
    a_page_is_lost_that_may_be_a_copy LOST_COPIES
    a_copy_is_lost_that_a_leaf_names LOST_LEAF_COPIES
    last_record_is_lost_and_a_cut_is_behind_it LOST_LAST
    copied_frames_stay_while_the_ring_goes_round ROUND
    a_full_overlay_while_the_ring_is_emptied EMPTIED
}

#[test]
fn mounts_miss_each_of_their_rules() {
    let missed: [(Scope, Rule, Violation, usize); 23] = [
        (Scope::RECOVERY, Rule::SettleRoot, WrongClaim, 3),
        (Scope::RECOVERY, Rule::OpeningWritesRoot, CommitLostOrMixed, 4),
        (Scope::FAILING_MOUNTS, Rule::CopiedAgain, WrongClaim, 3),
        (Scope::RECOVERY, Rule::LastIsCopied, WrongClaim, 3),
        (Scope::RECOVERY, Rule::JournalIsCopied, WrongClaim, 3),
        (Scope::RECOVERY, Rule::CopiesAreCarried, WrongClaim, 6),
        (Scope::LOST_COPIES, Rule::LostIsCopied, MountRefused, 5),
        (Scope::EMPTIED, Rule::NoFoldWhileEmptied, CargoTooLarge, 8),
        (Scope::LOGS, Rule::SourceIsKept, WrongClaim, 8),
        (Scope::LOST_CHANGES, Rule::LogIsRead, CommitLostOrMixed, 7),
        (Scope::LOGS_AND_ROOTS, Rule::LogIsKnown, ToldForNothing, 7),
        (Scope::RECOVERY, Rule::SkipPlaces, ProgramOfTouchedPage, 5),
        (Scope::TRACELESS, Rule::SkipBeforeRoot, ProgramOfTouchedPage, 6),
        (Scope::LOST_LAST, Rule::SkipBehindTraces, ProgramOfTouchedPage, 7),
        (Scope::LOST_LAST, Rule::TracesAreUse, ProgramOfTouchedPage, 8),
        (Scope::FORGERY, Rule::EraseAgain, CommitLostOrMixed, 6),
        (Scope::RECOVERY, Rule::SequenceJump, CommitLostOrMixed, 5),
        (Scope::TRACELESS, Rule::FirstIsJournal, ProgramOfTouchedPage, 6),
        (Scope::RECOVERY, Rule::RootIsWhole, MountRefused, 4),
        (Scope::RECOVERY, Rule::LastIsChecked, MountRefused, 4),
        (Scope::FORGERY, Rule::FirstIsChecked, ProgramOfTouchedPage, 6),
        (Scope::LOSSES, Rule::GapIsTold, CommitLostOrMixed, 6),
        (Scope::ROUND, Rule::RingBlockInUse, EraseOfCommittedPage, 7),
    ];
    missed
        .into_iter()
        .for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}

#[test]
fn calls_miss_each_of_their_rules() {
    let missed: [(Scope, Rule, Violation, usize); 12] = [
        (Scope::NARROW, Rule::Quarantine, EraseOfCommittedPage, 4),
        (Scope::TRANSACTIONS, Rule::JournalHoldsBlock, EraseOfCommittedPage, 5),
        (Scope::TRANSACTIONS, Rule::CommitNamesTransaction, CommitLostOrMixed, 6),
        (Scope::PENDING, Rule::PendingMovesApart, CommitLostOrMixed, 8),
        (Scope::TRANSACTIONS, Rule::MoveOnlyLive, WrongRead, 5),
        (Scope::TRANSACTIONS, Rule::RootKeepsPending, ToldForNothing, 5),
        (Scope::RECOVERY, Rule::ListBeforeRoot, CommitLostOrMixed, 4),
        (Scope::TRANSACTIONS, Rule::JournalIsCommitted, WrongRead, 4),
        (Scope::FAILURE, Rule::RetryElsewhere, WrongClaim, 3),
        (Scope::FAILURE, Rule::FailuresJump, ToldForNothing, 3),
        (Scope::NARROW, Rule::FoldBeforeCommit, CommitLostOrMixed, 5),
        (Scope::MAP, Rule::SettledBit, LiveMarkLost, 9),
    ];
    missed
        .into_iter()
        .for_each(|(scope, rule, violation, calls)| misses(scope, rule, violation, calls));
}
