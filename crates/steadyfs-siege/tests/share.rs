//! A share of each campaign. A failure prints the command that replays it.

use std::ops::Range;
use steadyfs_siege::campaign::Campaign;
use steadyfs_siege::world::{MediumKind, World};

/// On cards.
const CARDS: World = World {
    medium: MediumKind::Card,
    has_streams: false,
    has_long_logs: false,
    is_full: false,
    has_cache: false,
    is_traced: false,
};
/// With several streams.
const STREAMS: World = World {
    medium: MediumKind::Chip,
    has_streams: true,
    has_long_logs: false,
    is_full: false,
    has_cache: false,
    is_traced: false,
};
/// With leaves on NOR that take more changes.
const LONG_LOGS: World = World {
    medium: MediumKind::Chip,
    has_streams: false,
    has_long_logs: true,
    is_full: false,
    has_cache: false,
    is_traced: false,
};

/// On cards that are nearly full. Their pages move together in one command.
const FULL_CARDS: World = World { is_full: true, ..CARDS };
/// On cards whose pages hold their tags.
const CARDS_WITHIN: World = World { medium: MediumKind::CardWithin, ..CARDS };
/// The same with a write-back cache.
const CACHED_CARDS: World = World { has_cache: true, ..FULL_CARDS };
/// On chips that are nearly full.
const FULL_CHIPS: World = World { medium: MediumKind::Chip, ..FULL_CARDS };

/// Runs a few volumes of a campaign, and prints the commands that replay the failed ones.
fn hold(name: &str, seed: u64, volumes: Range<u32>) {
    hold_in(World::default(), name, seed, volumes);
}

/// Does the same in another world.
fn hold_in(world: World, name: &str, seed: u64, volumes: Range<u32>) {
    let campaign = Campaign::named(name).expect("a campaign");
    let mut failures = Vec::new();
    for index in volumes.clone() {
        for finding in campaign.run(seed, index, world).findings {
            failures.push(format!(
                "{}: {}\n    {}",
                finding.class,
                finding.detail,
                world.replay(name, seed, index)
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} findings in volumes {volumes:?}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn a_failure_that_passes_costs_its_call_alone() {
    hold("transient", 2, 0..300);
}

/// No cut and no failure met a command of several pages. The media split it into one command for
/// each page.
#[test]
fn pages_that_move_together_are_cut_together() {
    hold_in(FULL_CARDS, "transient", 1, 0..60);
    hold_in(FULL_CARDS, "lives", 1, 0..60);
    hold_in(FULL_CARDS, "chains", 1, 0..40);
}

#[test]
fn a_page_that_is_lost_costs_what_is_in_it() {
    hold("lost", 2, 0..2);
}

#[test]
fn cards_whose_pages_hold_their_tags_lose_nothing() {
    hold_in(CARDS_WITHIN, "transient", 11, 0..60);
    hold_in(CARDS_WITHIN, "chains", 11, 0..60);
    hold_in(CARDS_WITHIN, "lives", 11, 0..30);
    hold_in(World { is_full: true, has_cache: true, ..CARDS_WITHIN }, "transient", 11, 0..30);
    hold_in(CARDS_WITHIN, "lost", 11, 84..86);
    hold_in(CARDS_WITHIN, "repair", 11, 0..1);
}

/// Files of small volumes read as zeros after a repair, and no finding named the missing files.
#[test]
fn a_page_that_a_small_volume_loses_is_an_error_or_named() {
    hold("newest", 1, 0..3);
    hold_in(CARDS, "newest", 1, 1..2);
    hold_in(CARDS_WITHIN, "newest", 1, 0..1);
}

/// An entry behind the size of a file named the page of another file. A repair emptied that other
/// file, though all its bytes could be read.
#[test]
fn a_repair_takes_no_file_for_what_lies_behind_the_size_of_another() {
    hold("ends", 7, 2..3);
    hold("ends", 7, 23..24);
    hold("ends", 7, 93..94);
}

/// After a repair, mended names were gone again. Inodes and pages were allocated twice, and the
/// next change found it.
#[test]
fn a_repaired_volume_lives_on() {
    hold("repair", 2, 0..3);
    hold_in(STREAMS, "repair", 3, 0..1);
}

/// A lost page was moved as lost. Its move was the last record, apart from a frame that could not
/// be made. No mount copied it, and no mount succeeded.
#[test]
fn a_lost_page_that_moved_last_is_mounted() {
    hold("repair", 61, 934..935);
}

/// A commit lay behind the copy of a page that was lost long ago. A mount took it for a commit
/// that a cut had left without the records before it.
#[test]
fn the_copy_of_a_lost_page_ends_nothing() {
    hold_in(FULL_CARDS, "lost", 502, 7..8);
}

/// A leaf named the copy of a page that a cut had torn. The leaf counted, because the mount took
/// the copy for one of a page that was lost before it moved.
#[test]
fn the_copy_of_a_sound_page_ends_what_was_not_flushed() {
    hold_in(CACHED_CARDS, "transient", 801, 266..267);
    hold_in(CACHED_CARDS, "transient", 1, 0..40);
}

/// A leaf was lost, and without it there were more changes than the overlay takes. No mount came
/// to an end.
#[test]
fn a_full_volume_that_lost_a_leaf_can_be_read() {
    hold_in(FULL_CHIPS, "lost", 502, 0..1);
}

#[test]
fn a_repair_that_is_cut_is_ended_by_the_next_one() {
    hold("repair-cuts", 1, 0..1);
}

#[test]
fn a_repair_in_which_a_program_fails_is_ended_by_the_next_one() {
    hold("repair-faults", 1, 0..1);
}

/// A repair took a read that failed once for a loss. It removed a whole file.
#[test]
fn a_read_that_fails_once_in_a_repair_costs_nothing() {
    hold("repair-reads", 1, 0..2);
}

#[test]
fn cut_mounts_in_a_row_lose_nothing() {
    hold("chains", 2, 0..200);
}

/// A driver kept no order in a command of several pages, and power failed there. Pages were
/// programmed twice, or committed data was damaged.
#[test]
fn a_command_of_several_pages_may_leave_any_of_them() {
    let chips = World { medium: MediumKind::ChipGroups, ..FULL_CARDS };
    for failed in [6, 46, 187, 247, 258, 268] {
        hold_in(chips, "lives", 5, failed..failed + 1);
    }
    hold("groups", 5, 0..40);
}

/// Each call and each mount came first to the block that took no writes. Volumes refused every
/// call, or could never be mounted for writing.
#[test]
fn sectors_that_take_no_writes_cost_their_block() {
    hold("ranges", 1, 0..40);
    hold_in(FULL_CARDS, "ranges", 1, 0..20);
}

#[test]
fn volumes_with_streams_lose_nothing() {
    hold_in(STREAMS, "transient", 3, 0..150);
    hold_in(STREAMS, "chains", 3, 0..100);
    hold_in(STREAMS, "lives", 3, 0..100);
}

#[test]
fn leaves_with_long_logs_lose_nothing() {
    hold_in(LONG_LOGS, "transient", 4, 0..100);
    hold_in(LONG_LOGS, "lives", 4, 0..60);
    hold_in(LONG_LOGS, "bits", 4, 0..2);
}

#[test]
fn long_lives_with_torn_tags_lose_nothing() {
    hold("lives", 2, 0..100);
}

/// Two roots were closed, and each failed behind the first page of its copy. One mount began with
/// the first root, the next mount with the second.
#[test]
fn two_roots_that_fail_at_the_end_of_a_use_hide_no_commit() {
    hold("lives", 2, 5010..5011);
}

/// Calls failed on cards after a power cut had torn a header. On cards that reorder, a failed
/// program lost acknowledged data.
#[test]
fn volumes_on_cards_lose_nothing_and_fail_no_call() {
    hold_in(CARDS, "transient", 2, 0..100);
    hold_in(CARDS, "chains", 2, 0..60);
    hold_in(CARDS, "lives", 2, 0..400);
    hold_in(CARDS, "lost", 2, 0..2);
}
