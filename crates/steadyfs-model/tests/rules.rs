//! The protocol holds in every world; each rule that is taken away is missed, but for those that are named here.

#[macro_use]
mod worlds;

use stateright::{Checker, Model};
use std::env;
use steadyfs_model::call::{Action, Call};
use steadyfs_model::rules::Rule::{self, *};
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
    two_programs_or_erases_fail FAILURES
    one_fails_and_the_power FAILURE
    mounts_fail_and_are_cut FAILING_MOUNTS
    pages_read_as_forged_tags FORGERY
    a_page_is_lost LOSSES
    copied_frames_stay_while_the_ring_goes_round ROUND
}

#[test]
fn explore() {
    let scopes = [Scope::BROAD, Scope::RECOVERY, Scope::NESTED, Scope::TRANSACTIONS, Scope::PENDING, Scope::MAP, Scope::FOLDS, Scope::NARROW, Scope::FULL, Scope::FAILURES, Scope::FAILURE, Scope::FAILING_MOUNTS, Scope::FORGERY, Scope::LOSSES, Scope::ROUND];
    let rules = [Quarantine, JournalHoldsBlock, CommitNamesTransaction, PendingMovesApart, MoveOnlyLive, RootKeepsPending, SettleRoot, OpeningWritesRoot, CopiedAgain, LastIsCopied, JournalIsCopied, CopiesAreCarried, CopiesAreOlder, LastCopyDoesNotCount, SkipPlaces, SkipBeforeRoot, EraseAgain, SequenceJump, FirstIsJournal, RootIsWhole, ListBeforeRoot, JournalIsCommitted, RetryElsewhere, CommitCountsOnce, FoldBeforeCommit, LastIsChecked, FirstIsChecked, GapIsTold, FailuresJump, FailedRecordsDoNotCount, RingBlockInUse, OneSealNeedsItsOwn, SettledBit];
    for rule in rules {
        for scope in &scopes {
            if let Some(found) = check(&Scope { without: Some(rule), ..scope.clone() }) {
                println!("FOUND {rule:?} {} {} {:?}", scope.name, found.len(), found.last().unwrap().state.broken);
            }
        }
    }
}
