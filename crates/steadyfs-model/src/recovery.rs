//! Mount: newest complete checkpoint, roll forward, settle.

use crate::chip::{Block, Chip, Content, IDLE, Kind, NONE, Page, Sequence, Stop, Tag};
use crate::choices::Choices;
use crate::machine::{Machine, Step};
use crate::rules::Rule;
use crate::state::{Anchor, BlockState, JOURNAL, LOGICAL, MOVED, Pages, Ram, Scope, USER, Violation};

/// Distance by which the sequence jumps at a mount.
pub(crate) const JUMP: Sequence = 16;
/// Frames that may lie in an anchor.
const RESCUED_MAX: u8 = 2;
/// No way on.
const REFUSED: Stop = Stop::Broken(Violation::MountRefused);

/// Where roll-forward looks for the next record.
struct Cursor {
    block: Block,
    place: u8,
    tag: Tag,
}

/// A record: its tag, and where it is.
type Record = (Tag, Page);

impl Machine<'_> {
    /// Mounts a chip.
    pub fn mount<'a>(scope: &'a Scope, chip: Chip, choices: &'a mut Choices, settle: bool) -> (Machine<'a>, Step) {
        let mut machine = Machine { scope, chip, ram: Ram::empty(scope), choices };
        let result = machine.recover(settle);
        (machine, result)
    }

    fn recover(&mut self, settle: bool) -> Step {
        self.find_checkpoint()?;
        for state in &mut self.ram.table.blocks {
            if *state == BlockState::Erased && self.scope.has(Rule::EraseAgain) {
                *state = BlockState::Listed;
            }
        }
        let last = self.roll_forward()?;
        if settle { self.settle(last) } else { self.leave_as_it_is(last) }
    }

    /// The pages that a recovery would name, were the power to fail now.
    pub fn durable_pages(&self) -> Vec<Page> {
        let mut choices = Choices::default();
        let (mut machine, result) = Machine::mount(self.scope, self.chip.clone(), &mut choices, false);
        if result.is_err() {
            return Vec::new();
        }
        let checkpoint = (0..self.chip.cells.len() as Page).filter(|&page| self.scope.block_of(page) == machine.current_anchor());
        let mut pages: Vec<Page> = checkpoint.collect();
        pages.extend((0..LOGICAL).map(|logical| machine.frame_of(logical)));
        pages.extend([machine.ram.table.root, machine.ram.table.journal_at]);
        pages
    }

    fn find_checkpoint(&mut self) -> Step {
        let first = |block| self.scope.pages_of(block).start;
        let mut anchors: Vec<(Sequence, u8)> = Vec::new();
        for index in 0..self.scope.anchors.0 {
            if let Some((tag, _)) = self.read_sound(first(self.scope.blocks.0 + index)) {
                anchors.push((tag.sequence, index));
            }
        }
        anchors.sort_unstable();
        let newest = anchors.last().map(|newest| newest.1);
        if self.scope.has(Rule::JumpBeyondIgnored) {
            self.ram.newest_seen = anchors.last().map_or(0, |newest| newest.0);
        }
        for (_, index) in anchors.into_iter().rev() {
            if self.scope.has(Rule::IgnoredIsErased) {
                self.ram.ignored = newest.filter(|&newest| newest != index);
            }
            self.ram.anchor = Anchor { current: index, next: 0, complete: index, ready: false };
            if self.find_in_anchor() {
                return Ok(());
            }
        }
        Err(REFUSED)
    }

    /// Reads the newest complete checkpoint of the current anchor, if it holds one.
    fn find_in_anchor(&mut self) -> bool {
        let (first, size) = (self.next_anchor_page(), self.scope.checkpoint_pages);
        let (mut low, mut high) = (1, self.scope.anchors.1);
        while low < high {
            let middle = (low + high) / 2;
            if self.read(first + middle).err() == Some(true) { high = middle } else { low = middle + 1 }
        }
        for start in (0..=low.saturating_sub(size)).rev() {
            if self.read_checkpoint(first + start) {
                self.ram.anchor.next = low;
                return true;
            }
        }
        false
    }

    fn read_checkpoint(&mut self, first: Page) -> bool {
        let Some((tag, Content::Checkpoint(table))) = self.read_sound(first) else { return false };
        let sound = |machine: &mut Self, index| {
            machine.read_sound(first + index).is_some_and(|(tag, _)| tag.kind == Kind::Checkpoint && tag.logical == index)
        };
        let whole = (1..self.scope.checkpoint_pages).all(|index| sound(self, index));
        if tag.kind != Kind::Checkpoint || (!whole && self.scope.has(Rule::CheckpointIsComplete)) {
            return false;
        }
        self.ram.table = (*table).clone();
        if !whole {
            // The states of the blocks are in the part that is missing.
            self.ram.table.blocks.fill(BlockState::Bad);
        }
        true
    }

    /// Applies the records after the checkpoint in the order of their sequence, but for the last one.
    fn roll_forward(&mut self) -> Step<Option<Record>> {
        let base = self.ram.table.sequence;
        let heads = self.ram.table.heads;
        let mut cursors = Vec::new();
        for (head, (block, next)) in heads.into_iter().enumerate().filter(|(_, head)| head.0 != NONE) {
            cursors.extend(self.look(Some(head), block, next, base));
        }
        for block in 0..self.scope.blocks.0 {
            if self.state(block) == BlockState::Listed {
                cursors.extend(self.look(None, block, 0, base));
            }
        }
        let mut last: Option<Record> = None;
        while let Some(lowest) = (0..cursors.len()).min_by_key(|&index| cursors[index].tag.sequence) {
            let Cursor { block, place, tag } = cursors.swap_remove(lowest);
            let head = head_of(tag.kind);
            // Sequences grow within a block.
            cursors.extend(self.look(Some(head), block, place + 1, base).filter(|after| after.tag.sequence > tag.sequence));
            let old = core::mem::replace(&mut self.ram.table.heads[head], (block, place + 1)).0;
            if old != block {
                if old != NONE {
                    self.set_state(old, BlockState::Used);
                }
                self.set_state(block, BlockState::Active);
            }
            self.ram.table.sequence = tag.sequence;
            if let Some(before) = last {
                self.apply(before, tag.sequence != before.0.sequence + 1)?;
            }
            last = Some((tag, self.scope.pages_of(block).start + place));
        }
        Ok(last)
    }

    fn look(&mut self, head: Option<usize>, block: Block, place: u8, base: Sequence) -> Option<Cursor> {
        if place >= self.scope.blocks.1 {
            return None;
        }
        let (tag, _, sound) = self.read(self.scope.pages_of(block).start + place).ok()?;
        let expected = tag.kind != Kind::Checkpoint && head.is_none_or(|head| head == head_of(tag.kind));
        let counts = sound || head.is_some() || !self.scope.has(Rule::FirstIsChecked);
        (expected && tag.sequence >= base && counts).then_some(Cursor { block, place, tag })
    }

    /// Applies a record; one before a gap may be half of a failed program.
    fn apply(&mut self, (tag, page): Record, gap: bool) -> Step {
        let verify = gap && self.scope.has(Rule::GapIsVerified);
        if tag.kind == Kind::Journal {
            if verify && self.read_journal(page).is_err() {
                self.ram.patches = Pages::default();
                return Ok(());
            }
            return self.apply_journal(&tag, page);
        }
        if !verify || self.read_sound(page).is_some_and(|(found, _)| found == tag) {
            self.apply_frame(&tag, page);
        }
        Ok(())
    }

    fn apply_frame(&mut self, tag: &Tag, frame: Page) {
        let (logical, named) = (usize::from(tag.logical), self.scope.has(Rule::CommitNamesTransaction));
        let newest = self.scope.has(Rule::RepetitionCounts);
        let table = &mut self.ram.table;
        let current = table.overlay[logical].map(|entry| entry.0);
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
            Kind::Moved if newest || current.is_none_or(|current| current == tag.from) => {
                table.overlay[logical] = Some((frame, false));
            }
            Kind::MovedPending if !self.scope.has(Rule::PendingMovesApart) => table.overlay[logical] = Some((frame, false)),
            Kind::MovedPending => {
                if let Some(pending) = table.pending[logical].as_mut().filter(|pending| newest || **pending == tag.from) {
                    *pending = frame;
                }
            }
            Kind::Leaf => self.adopt_leaf(frame),
            Kind::MovedLeaf if newest || table.root == tag.from => table.root = frame,
            _ => {}
        }
    }

    fn apply_journal(&mut self, tag: &Tag, page: Page) -> Step {
        let named = self.scope.has(Rule::CommitNamesTransaction);
        let table = &mut self.ram.table;
        if named && table.start != IDLE && tag.start != table.start {
            table.pending = Pages::default();
        }
        table.start = IDLE;
        table.journal_at = page;
        let pending = table.pending.iter().flatten().count();
        if pending == 0 && tag.start == self.ram.committed_start && self.scope.has(Rule::CommitCountsOnce) {
            return Ok(());
        }
        self.ram.committed_start = tag.start;
        if named && pending != usize::from(tag.logical) {
            return Err(REFUSED);
        }
        for logical in 0..LOGICAL {
            if let Some(frame) = table.pending[logical].take() {
                table.overlay[logical] = Some((frame, false));
            }
        }
        Ok(())
    }

    fn leave_as_it_is(&mut self, last: Option<Record>) -> Step {
        if let Some(record) = last {
            self.apply(record, true)?;
        }
        self.ram.table.pending = Pages::default();
        self.keep_journal(last)?;
        self.derive_live()
    }

    /// Makes the journal buffer hold the newest journal page. That of the last record was read when it was applied.
    fn keep_journal(&mut self, last: Option<Record>) -> Step {
        if last.is_some_and(|(tag, page)| tag.kind == Kind::Journal && page == self.ram.table.journal_at) {
            return Ok(());
        }
        self.load_journal()
    }

    fn settle(&mut self, last: Option<Record>) -> Step {
        let checked = self.scope.has(Rule::LastIsChecked);
        if self.scope.has(Rule::SequenceJump) {
            self.ram.table.sequence = self.ram.table.sequence.max(self.ram.newest_seen) + JUMP;
        }
        self.ram.newest_seen = 0;
        if self.scope.has(Rule::AnchorInUseAtMount) {
            self.mark_live()?;
            // What is in data blocks is not known before the last record is applied.
            self.ram.live &= u64::MAX << self.scope.pages_of(self.scope.blocks.0).start;
        }
        let before = self.current_anchor();
        let room = self.ram.anchor.next + RESCUED_MAX + 1 + self.scope.checkpoint_pages <= self.scope.anchors.1;
        if self.scope.has(Rule::FreshAnchor) || !room {
            self.advance_anchor()?;
        }
        match last {
            Some((tag, page)) if matches!(tag.kind, Kind::DataCommit | Kind::Moved | Kind::Leaf | Kind::MovedLeaf) => {
                let rescued = if self.scope.has(Rule::RescueFrame) {
                    self.rescue(&tag, page)?
                } else {
                    self.read_sound(page).map(|_| page)
                };
                if let Some(frame) = rescued.or((!checked).then_some(page)) {
                    self.apply_frame(&tag, frame);
                }
            }
            Some(record) if record.0.kind == Kind::Journal => self.apply(record, checked)?,
            _ => {}
        }
        (self.ram.table.pending, self.ram.table.start) = (Pages::default(), IDLE);
        self.keep_journal(last)?;
        let marked = !self.ram.table.unmarked;
        if self.scope.has(Rule::SkipBeforeCheckpoint) {
            self.skip_places(last.is_some());
        }
        self.ram.table.unmarked = true;
        loop {
            if self.scope.has(Rule::CollectRescued) {
                self.collect(before)?;
            }
            if self.scope.has(Rule::RescueJournal) {
                self.rescue_journal()?;
            }
            self.derive_live()?;
            if !self.scope.has(Rule::SettleCheckpoint) {
                break;
            }
            if !self.scope.has(Rule::RescuedAgain) {
                self.checkpoint()?;
                break;
            }
            if self.checkpoint_here()? {
                break;
            }
            self.advance_anchor()?;
        }
        self.ram.ignored = None;
        if !self.scope.has(Rule::SkipBeforeCheckpoint) {
            self.skip_places(last.is_some() || marked);
        }
        self.empty_anchor()
    }

    /// Copies the journal page; there is one even if nothing has been written, for an anchor must not begin with its checkpoint.
    fn rescue_journal(&mut self) -> Step {
        while self.ram.table.journal_at != NONE || self.scope.has(Rule::CheckpointIsNotFirst) {
            let (page, sequence) = (self.next_anchor_page(), self.next_sequence());
            self.ram.anchor.next += 1;
            let tag = Tag { kind: Kind::Journal, logical: 0, sequence, start: sequence, from: NONE };
            match self.program(page, tag, Content::Patches(self.ram.patches)) {
                Err(Stop::Failed) => self.lose_anchor()?,
                Err(stop) => return Err(stop),
                Ok(()) => {
                    self.ram.table.journal_at = page;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Copies a frame into the fresh anchor. `None` when it is not complete.
    fn rescue(&mut self, tag: &Tag, frame: Page) -> Step<Option<Page>> {
        loop {
            let Some((_, content)) = self.read_sound(frame).filter(|(found, _)| found == tag) else { return Ok(None) };
            let (to, sequence) = (self.next_anchor_page(), self.next_sequence());
            self.ram.anchor.next += 1;
            match self.program(to, Tag { sequence, ..*tag }, content) {
                Err(Stop::Failed) => self.lose_anchor()?,
                result => return result.map(|()| Some(to)),
            }
        }
    }

    fn lose_anchor(&mut self) -> Step {
        self.set_state(self.current_anchor(), BlockState::Bad);
        self.advance_anchor()
    }

    /// Copies the frames that an earlier mount rescued, and that no call has moved since, into the fresh anchor.
    fn collect(&mut self, before: Block) -> Step {
        let all = self.scope.has(Rule::CollectFromAll);
        // A fold while the frames of an anchor were being moved adds a leaf to two frames.
        let places = usize::from(RESCUED_MAX) + usize::from(all);
        let anchors = (self.scope.blocks.0..self.scope.block_count()).filter(|&anchor| all || anchor == before);
        let frames: Vec<Page> = anchors.flat_map(|anchor| self.scope.pages_of(anchor).take(places)).collect();
        for frame in frames {
            let Ok((tag, _, _)) = self.read(frame) else { continue };
            if self.scope.block_of(frame) == self.current_anchor() {
                continue;
            }
            let logical = usize::from(tag.logical);
            match tag.kind {
                Kind::Leaf | Kind::MovedLeaf if self.ram.table.root == frame => {
                    self.ram.table.root = self.rescue(&tag, frame)?.ok_or(REFUSED)?;
                }
                Kind::Data | Kind::DataCommit | Kind::Moved | Kind::MovedPending if self.frame_of(logical) == frame => {
                    let to = self.rescue(&tag, frame)?.ok_or(REFUSED)?;
                    self.ram.table.overlay[logical] = Some((to, false));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Skips a place of each head that a cut program may have touched without a trace.
    fn skip_places(&mut self, used: bool) {
        let used = used || !self.ram.table.unmarked;
        for head in [USER, MOVED, JOURNAL] {
            let next = &mut self.ram.table.heads[head].1;
            if self.scope.has(Rule::SkipPlaces) && (used || head == JOURNAL) {
                *next = (*next + 1).min(self.scope.blocks.1);
            }
        }
    }

    /// Marks the frames that the map names. No frame can be live twice.
    fn mark_live(&mut self) -> Step {
        self.ram.live = 0;
        let root = self.ram.table.root;
        let frames: Vec<Page> = (0..LOGICAL).map(|logical| self.committed_frame(logical)).chain([root]).collect();
        for frame in frames.into_iter().filter(|&frame| frame != NONE) {
            if self.ram.live >> frame & 1 != 0 {
                return Err(Stop::Broken(Violation::WrongClaim));
            }
            self.ram.live |= 1 << frame;
        }
        Ok(())
    }

    /// Derives the live frames and the empty blocks.
    fn derive_live(&mut self) -> Step {
        self.mark_live()?;
        self.ram.table.overlay.iter_mut().flatten().for_each(|entry| entry.1 = true);
        (0..self.scope.block_count()).for_each(|block| self.settle_empty(block));
        Ok(())
    }

    /// Moves rescued frames to where they belong, once there is more than one.
    fn empty_anchor(&mut self) -> Step {
        let rescued: Vec<Page> =
            self.scope.pages_of(self.current_anchor()).filter(|page| self.ram.live >> page & 1 != 0).collect();
        if rescued.len() < usize::from(RESCUED_MAX) {
            return Ok(());
        }
        self.begin()?;
        rescued.into_iter().try_for_each(|frame| self.move_frame(frame))
    }
}

/// The head that programs a kind of record.
fn head_of(kind: Kind) -> usize {
    match kind {
        Kind::Moved | Kind::MovedPending | Kind::MovedLeaf => MOVED,
        Kind::Journal | Kind::Checkpoint => JOURNAL,
        Kind::Data | Kind::DataCommit | Kind::Leaf => USER,
    }
}
