//! Roll-forward: applies the records that were programmed after the root, in the order of their
//! sequence, as `mount/forward.rs` does.

use crate::chip::Seen;
use crate::machine::{FAILURE_JUMP, Machine, Step};
use crate::numbers::{Block, IDLE, LOGICAL, Page, Pages, Sequence};
use crate::page::{Content, Kind, Tag};
use crate::rules::Rule;
use crate::table::{BlockState, JOURNAL, MOVED, USER};

/// Maximum number of failures in a row that roll-forward distinguishes from another jump.
const FAILURES_MAX: Sequence = 4;

/// Place at which roll-forward looks for the next record.
struct Cursor {
    block: Block,
    place: u8,
    tag: Tag,
}

/// A record: its tag, and its place.
pub type Record = (Tag, Page);

/// Finds of roll-forward beside records, as in `mount/traces.rs`.
#[derive(Clone, Copy, Default)]
pub struct Traces {
    /// For each head, true if its next place holds something that is no record.
    pub at_heads: [bool; 3],
    /// True if something was programmed, whether it counts or not.
    pub in_use: bool,
}

impl Traces {
    fn note(&mut self, head: usize, is_there: bool) {
        self.at_heads[head] = is_there;
        self.in_use |= is_there;
    }
}

/// End of roll-forward.
pub struct Last {
    /// The last record.
    pub record: Option<Record>,
    /// True if another record lies behind it in its block, so that it was complete.
    pub is_complete: bool,
    /// True if the journal buffer holds the newest journal page.
    pub journal_is_read: bool,
    /// Finds beside the records.
    pub traces: Traces,
}

impl Machine<'_> {
    /// Applies the records that were programmed after the root.
    pub fn roll_forward(&mut self) -> Step<Last> {
        let base = self.ram.table.sequence;
        let mut traces = Traces::default();
        let mut cursors =
            if self.ram.table.closed { Vec::new() } else { self.cursors(&mut traces, base) };
        let (mut last, mut is_complete, mut held, mut buffered) =
            (None, false, None::<Record>, None);
        while let Some((record, ends)) = self.next_record(&mut cursors, &mut traces, base) {
            let Some(gap) = record.0.sequence.checked_sub(self.ram.table.sequence) else {
                continue;
            };
            if let Some(before) = held.take().filter(|_| !is_behind_failure(gap)) {
                self.apply(before);
                (last, is_complete) = (Some(before), false);
            }
            if ends && !self.is_whole(record, &mut buffered) {
                // The copy of a page that was lost before has no right checksum.
                self.ram.lost_moves += u8::from(head_of(record.0.kind) == MOVED);
                continue;
            }
            let is_missing = gap < FAILURE_JUMP && !self.are_lost_moves(gap);
            self.ram.damaged |= is_missing && self.scope.has(Rule::GapIsTold);
            self.ram.table.sequence = record.0.sequence + 1;
            if ends {
                held = Some(record);
            } else {
                self.apply(record);
                (last, is_complete) = (Some(record), true);
            }
        }
        match held {
            Some((tag, _)) if is_copy(tag.kind) => self.keep_source(&tag),
            Some(record) => {
                self.apply(record);
                (last, is_complete) = (Some(record), false);
            }
            None => {}
        }
        let journal_is_read = buffered.is_some_and(|page| page == self.ram.table.journal_at);
        Ok(Last { record: last, is_complete, journal_is_read, traces })
    }

    /// Returns true if unreadable moves explain all missing numbers. Each such move explains one
    /// number once.
    fn are_lost_moves(&mut self, gap: Sequence) -> bool {
        let moves = gap.min(self.ram.lost_moves.into());
        self.ram.lost_moves -= moves as u8;
        moves == gap
    }

    /// Returns a cursor for each block in which records may lie.
    fn cursors(&mut self, traces: &mut Traces, base: Sequence) -> Vec<Cursor> {
        let heads = self.ram.table.heads;
        let mut cursors = Vec::new();
        for (head, (block, next)) in
            heads.into_iter().enumerate().filter(|(_, head)| head.0 != crate::numbers::NONE)
        {
            let (cursor, is_other) = self.look(Some(head), block, next, base);
            traces.note(head, is_other);
            cursors.extend(cursor);
        }
        for block in 0..self.scope.blocks.0 {
            if self.state(block) == BlockState::Listed {
                let (cursor, is_other) = self.look(None, block, 0, base);
                traces.in_use |= is_other;
                cursors.extend(cursor);
            }
        }
        cursors
    }

    /// Looks for a record at a place of a head's block, or at the start of a listed block. Also
    /// returns true if something else is there.
    ///
    /// The tag in a head's block counts until its record turns out to be the last one of the
    /// block. In a listed block the tag needs its checksum.
    fn look(
        &mut self,
        head: Option<usize>,
        block: Block,
        place: u8,
        base: Sequence,
    ) -> (Option<Cursor>, bool) {
        if place >= self.scope.blocks.1 {
            return (None, false);
        }
        let is_believed = head.is_some() || !self.scope.has(Rule::FirstIsChecked);
        let is_new = |tag: &Tag| {
            tag.kind != Kind::Root
                && head.is_none_or(|head| head == head_of(tag.kind))
                && tag.sequence >= base
        };
        let seen = self.read(self.scope.pages_of(block).start + place);
        let is_blank = matches!(seen, Seen::Blank);
        let found = match seen {
            Seen::Page(tag, _, sound) if (sound || is_believed) && is_new(&tag) => {
                Some(Cursor { block, place, tag })
            }
            Seen::Page(_, _, sound) if head.is_none() && (sound || is_believed) => {
                return (None, false);
            }
            Seen::Blank | Seen::Old if head.is_none() => return (None, false),
            _ => self.look_behind(head, block, place + 1, base),
        };
        let is_other = found.is_none() && !is_blank;
        (found, is_other)
    }

    /// Looks behind a place without a record. The numbers show if a record was lost there.
    fn look_behind(
        &mut self,
        head: Option<usize>,
        block: Block,
        place: u8,
        base: Sequence,
    ) -> Option<Cursor> {
        if place >= self.scope.blocks.1 {
            return None;
        }
        let (tag, _) = self.read_sound(self.scope.pages_of(block).start + place)?;
        let found = head_of(tag.kind);
        let of_head = head.is_none_or(|head| (head == JOURNAL) == (found == JOURNAL));
        if tag.kind == Kind::Root || tag.sequence < base || !of_head {
            return None;
        }
        self.ram.lost_moves += u8::from(found == MOVED);
        Some(Cursor { block, place, tag })
    }

    /// Takes the record with the lowest sequence. Also returns true if it is the last one of its
    /// block.
    fn next_record(
        &mut self,
        cursors: &mut Vec<Cursor>,
        traces: &mut Traces,
        base: Sequence,
    ) -> Option<(Record, bool)> {
        let lowest = (0..cursors.len()).min_by_key(|&index| cursors[index].tag.sequence)?;
        let Cursor { block, place, tag } = cursors.remove(lowest);
        let head = head_of(tag.kind);
        traces.in_use = true;
        let (after, mut is_other) = self.look(Some(head), block, place + 1, base);
        // Sequences grow within a block.
        let is_there = after.is_some();
        let after = after.filter(|after| after.tag.sequence > tag.sequence);
        let ends = after.is_none();
        is_other |= is_there && ends;
        if let Some(after) = after {
            cursors.insert(lowest, after);
        }
        if self.ram.table.heads[head].0 == block || tag.sequence >= self.ram.table.sequence {
            let old = core::mem::replace(&mut self.ram.table.heads[head], (block, place + 1)).0;
            if old != block {
                if old != crate::numbers::NONE {
                    self.set_state(old, BlockState::Used);
                }
                self.set_state(block, BlockState::Active);
            }
            traces.note(head, is_other);
        }
        Some(((tag, self.scope.pages_of(block).start + place), ends))
    }

    /// Returns true if a record has the right checksum and matches its tag. A journal page is
    /// then in the journal buffer.
    fn is_whole(&mut self, (tag, page): Record, buffered: &mut Option<Page>) -> bool {
        let found = self
            .read_sound(page)
            .filter(|(found, _)| *found == tag || !self.scope.has(Rule::LastIsChecked));
        if let Some((_, Content::Patches(patches))) = &found {
            (self.ram.patches, *buffered) = (*patches, Some(page));
        }
        found.is_some() || !self.scope.has(Rule::LastIsChecked)
    }

    /// Keeps the source of a move that is the last record of all. The move does not count. The
    /// overlay names the source, because the log of the leaf may contain the move.
    fn keep_source(&mut self, tag: &Tag) {
        let entry = &mut self.ram.table.overlay[usize::from(tag.logical)];
        if self.scope.logs
            && self.scope.has(Rule::SourceIsKept)
            && tag.kind == Kind::Moved
            && entry.is_none()
        {
            // On the medium the tag names the source.
            *entry = Some((tag.source, false));
        }
    }

    fn apply(&mut self, (tag, page): Record) {
        if tag.kind == Kind::LeafChanged {
            self.ram.table.journal_at = page;
            self.ram.table.overlay = Pages::default();
        } else if tag.kind == Kind::Journal {
            self.apply_journal(&tag, page)
        } else {
            self.apply_frame(&tag, page)
        }
    }

    fn apply_frame(&mut self, tag: &Tag, frame: Page) {
        let (logical, named) =
            (usize::from(tag.logical), self.scope.has(Rule::CommitNamesTransaction));
        let table = &mut self.ram.table;
        match tag.kind {
            Kind::Data => {
                if table.start != tag.start && (named || table.start == IDLE) {
                    if named {
                        table.pending = Pages::default();
                    }
                    table.start = tag.start;
                }
                table.pending[logical] = Some(frame);
            }
            Kind::DataCommit => {
                (table.pending, table.start) = (Pages::default(), IDLE);
                table.overlay[logical] = Some((frame, false));
            }
            Kind::Moved => table.overlay[logical] = Some((frame, false)),
            Kind::MovedPending if !self.scope.has(Rule::PendingMovesApart) => {
                table.overlay[logical] = Some((frame, false))
            }
            Kind::MovedPending => table.pending[logical] = table.pending[logical].map(|_| frame),
            Kind::Leaf => self.adopt_leaf(frame),
            Kind::MovedLeaf => table.leaf = frame,
            Kind::Journal | Kind::LeafChanged | Kind::Root => {}
        }
    }

    fn apply_journal(&mut self, tag: &Tag, page: Page) {
        let named = self.scope.has(Rule::CommitNamesTransaction);
        let table = &mut self.ram.table;
        if named && table.start != IDLE && tag.start != table.start {
            table.pending = Pages::default();
        }
        table.start = IDLE;
        table.journal_at = page;
        let pending = table.pending.iter().flatten().count();
        if pending == 0 && tag.start == self.ram.committed_start {
            return;
        }
        self.ram.committed_start = tag.start;
        self.ram.damaged |= named && pending != usize::from(tag.logical);
        for logical in 0..LOGICAL {
            if let Some(frame) = table.pending[logical].take() {
                table.overlay[logical] = Some((frame, false));
            }
        }
    }
}

/// Returns true if the program of a record was reported as failed. `gap` is the distance from its
/// number to the next one.
fn is_behind_failure(gap: Sequence) -> bool {
    let failures = gap / FAILURE_JUMP;
    (1..=FAILURES_MAX).contains(&failures) && gap % FAILURE_JUMP < failures
}

/// Returns true if all content of a record lies at another place as well, until the next root.
fn is_copy(kind: Kind) -> bool {
    matches!(kind, Kind::Moved | Kind::MovedPending | Kind::MovedLeaf | Kind::Leaf)
}

/// Returns the head that programs a kind of record.
fn head_of(kind: Kind) -> usize {
    match kind {
        Kind::Moved | Kind::MovedPending | Kind::MovedLeaf => MOVED,
        Kind::Journal | Kind::LeafChanged | Kind::Root => JOURNAL,
        Kind::Data | Kind::DataCommit | Kind::Leaf => USER,
    }
}
