//! Roots, the blocks of the ring, and settling, as in `root/program.rs` and `store/settle.rs`.
//! `ring` models more of them.

use crate::chip::{Seen, Stop};
use crate::forward::{Last, Traces};
use crate::machine::{Machine, Step};
use crate::numbers::{Block, IDLE, NONE, Page, Pages, Sequence};
use crate::page::{Content, Kind, Tag};
use crate::rules::Rule;
use crate::table::{BlockState, JOURNAL, MOVED, USER};
use crate::violation::Violation;
use std::sync::Arc;

/// Distance by which the sequence jumps at a mount. It is larger than the jumps of several
/// failures in a row.
pub(crate) const JUMP: Sequence = 128;

/// A frame that is copied into the ring.
struct Copied {
    tag: Tag,
    content: Content,
    from: Page,
}

impl Machine<'_> {
    /// Returns the block at a place of the ring.
    pub fn ring_block(&self, place: u8) -> Block {
        self.scope.blocks.0 + place
    }

    /// Returns true if the content of the block at a place of the ring is not needed.
    fn place_rests(&self, place: u8) -> bool {
        let (block, ring) = (self.ring_block(place), &self.ram.ring);
        let in_use = self.scope.has(Rule::RingBlockInUse)
            && (self.has_live(block) || self.holds_journal(block));
        place != ring.place
            && place != ring.complete
            && ring.kept >> place & 1 == 0
            && self.state(block) == BlockState::Reserved
            && !in_use
    }

    /// Goes on to the next block of the ring, which is erased.
    fn advance_ring(&mut self) -> Step {
        let count = self.scope.ring;
        for step in 1..count {
            let place = (self.ram.ring.place + step) % count;
            if self.place_rests(place) && self.erase(self.ring_block(place))? {
                (self.ram.ring.place, self.ram.ring.next) = (place, 0);
                return Ok(());
            }
        }
        Err(Stop::Failed)
    }

    /// Erases the blocks of the ring with unknown content.
    fn erase_unknown(&mut self) -> Step {
        for place in 0..self.scope.ring {
            if self.ram.ring.unknown >> place & 1 != 0 && self.place_rests(place) {
                self.erase(self.ring_block(place))?;
            }
            self.ram.ring.unknown &= !(1 << place);
        }
        Ok(())
    }

    /// Writes a root with its copy, in the next block if necessary.
    pub fn write_root(&mut self) -> Step {
        for _ in 0..self.scope.ring {
            if self.ram.ring.next + 2 * self.scope.root_pages > self.scope.ring_pages() {
                self.advance_ring()?;
            }
            if self.write_root_here()? {
                return Ok(());
            }
        }
        Err(Stop::Failed)
    }

    /// Writes a root at the present place of the ring. Blocks that were dead before are free
    /// after it. Returns `false` if the block has gone bad.
    pub fn write_root_here(&mut self) -> Step<bool> {
        self.free_and_list();
        self.ram.ring.number += 1;
        let table = self.root_table();
        let result = self.program_root_pages(0..2 * self.scope.root_pages, &table);
        self.root_was_written(result)
    }

    fn free_and_list(&mut self) {
        for state in &mut self.ram.table.blocks {
            if *state == BlockState::Dead {
                *state = BlockState::Free;
            }
        }
        if self.scope.has(Rule::ListBeforeRoot) {
            self.list_blocks();
        }
    }

    fn list_blocks(&mut self) {
        let listed = |state: &&BlockState| matches!(state, BlockState::Listed | BlockState::Erased);
        while self.ram.table.blocks.iter().filter(listed).count() < usize::from(self.scope.listed)
            && let Some(block) = self.first(BlockState::Free)
        {
            self.set_state(block, BlockState::Listed);
        }
    }

    fn root_was_written(&mut self, result: Step) -> Step<bool> {
        match result {
            Ok(()) => {
                (self.ram.ring.complete, self.ram.ring.kept) = (self.ram.ring.place, 0);
                self.list_blocks();
                Ok(true)
            }
            Err(Stop::Failed) => {
                self.set_state(self.ring_block(self.ram.ring.place), BlockState::Bad);
                self.ram.ring.next = self.scope.ring_pages();
                Ok(false)
            }
            Err(stop) => Err(stop),
        }
    }

    fn root_table(&self) -> Content {
        let mut table = self.ram.table.clone();
        if !self.scope.has(Rule::RootKeepsPending) {
            (table.pending, table.start) = (Pages::default(), IDLE);
        }
        Content::Root(Arc::new(table))
    }

    fn program_root_pages(&mut self, pages: std::ops::Range<u8>, table: &Content) -> Step {
        for logical in pages {
            let sequence = self.ram.ring.number;
            self.program_in_ring(
                Tag { kind: Kind::Root, logical, sequence, start: sequence, source: NONE },
                table.clone(),
            )?;
        }
        Ok(())
    }

    fn program_in_ring(&mut self, tag: Tag, content: Content) -> Step {
        let page =
            self.scope.pages_of(self.ring_block(self.ram.ring.place)).start + self.ram.ring.next;
        self.ram.ring.next += 1;
        self.program(page, tag, content)
    }

    /// Prepares the ring for the first change after a clean end.
    pub fn open_ring(&mut self) -> Step {
        self.ram.table.closed = false;
        if self.scope.has(Rule::OpeningWritesRoot) {
            self.advance_ring()?;
            self.write_root()?;
        }
        self.erase_unknown()
    }

    /// Makes the programs of a mount before its first answer.
    pub fn settle(&mut self, last: &Last) -> Step {
        let (mut copies, journal) = self.cargo(last)?;
        if self.scope.has(Rule::SequenceJump) {
            self.ram.table.sequence += JUMP;
        }
        let is_used = if self.scope.has(Rule::TracesAreUse) {
            last.traces.in_use
        } else {
            last.record.is_some()
        };
        let used = is_used || !self.ram.table.heads_rest;
        if self.scope.has(Rule::SkipBeforeRoot) {
            self.skip_places(used, &last.traces);
        }
        (self.ram.table.heads_rest, self.ram.table.start) = (true, IDLE);
        while self.scope.has(Rule::SettleRoot) {
            self.advance_ring()?;
            self.free_and_list();
            self.ram.ring.number += 1;
            let result = self.program_settled(&mut copies, journal);
            if self.root_was_written(result)? {
                break;
            }
            if !self.scope.has(Rule::CopiedAgain) {
                self.write_root()?;
                break;
            }
        }
        if !self.scope.has(Rule::SkipBeforeRoot) {
            self.skip_places(used, &last.traces);
        }
        self.erase_unknown()?;
        self.empty_ring()
    }

    /// Returns the frames to copy: the last record, if it may be unsteady, and all live frames of
    /// the ring. Also returns true if the journal page is to be copied.
    fn cargo(&mut self, last: &Last) -> Step<(Vec<Copied>, bool)> {
        let unsteady = last.record.filter(|_| !last.is_complete);
        let at = self.ram.table.journal_at;
        let in_ring = at != NONE
            && self.scope.is_of_ring(self.scope.block_of(at))
            && self.scope.has(Rule::CopiesAreCarried);
        let is_last = unsteady.is_some_and(|(tag, _)| tag.kind.is_of_journal())
            && self.scope.has(Rule::JournalIsCopied);
        let ring = self.scope.pages_of(self.ring_block(0)).start;
        let mut frames: Vec<Page> = (ring..self.chip.cells.len() as Page).collect();
        frames.retain(|_| self.scope.has(Rule::CopiesAreCarried));
        if self.scope.has(Rule::LastIsCopied) {
            frames.extend(
                unsteady.filter(|(tag, _)| !tag.kind.is_of_journal()).map(|(_, page)| page),
            );
        }
        let mut copies = Vec::new();
        for from in
            frames.into_iter().filter(|frame| self.ram.live >> frame & 1 != 0).collect::<Vec<_>>()
        {
            let was_copied = self.scope.is_of_ring(self.scope.block_of(from))
                && self.scope.has(Rule::LostIsCopied);
            let (tag, content) = match self.read(from) {
                Seen::Page(tag, content, true) => (tag, content),
                Seen::Page(tag, Content::Lost, _) if was_copied => (tag, Content::Lost),
                _ if was_copied => (self.owner(from)?, Content::Lost),
                _ => return Err(Stop::Broken(Violation::MountRefused)),
            };
            copies.push(Copied { tag, content, from });
        }
        if copies.len() > usize::from(self.scope.copied) {
            return Err(Stop::Broken(Violation::CargoTooLarge));
        }
        Ok((copies, in_ring || is_last))
    }

    /// Returns the tag of a lost frame, from the map. The frame cannot be the leaf itself:
    /// without the leaf a volume can only be read.
    fn owner(&mut self, frame: Page) -> Step<Tag> {
        match (0..self.ram.table.overlay.len())
            .find(|&logical| self.committed_frame(logical) == frame)
        {
            Some(logical) => Ok(Tag {
                kind: Kind::Data,
                logical: logical as u8,
                sequence: 0,
                start: 0,
                source: NONE,
            }),
            None => Err(Stop::Broken(Violation::MountRefused)),
        }
    }

    /// Programs a root, the copied frames behind it in its own block, and its copy. The root
    /// names these frames.
    fn program_settled(&mut self, copies: &mut [Copied], journal: bool) -> Step {
        let pages = self.scope.root_pages;
        let mut to = self.scope.pages_of(self.ring_block(self.ram.ring.place)).start + pages;
        for copied in copies.iter_mut() {
            if copied.tag.kind == Kind::Leaf || copied.tag.kind == Kind::MovedLeaf {
                self.ram.table.leaf = to;
            } else {
                self.ram.table.overlay[usize::from(copied.tag.logical)] = Some((to, true));
            }
            self.ram.live = self.ram.live & !(1 << copied.from) | 1 << to;
            copied.from = to;
            to += 1;
        }
        if journal {
            self.move_journal(to);
        }
        let table = self.root_table();
        self.program_root_pages(0..pages, &table)?;
        // Below the root's sequence, because no record behind the root has this number.
        let sequence = self.ram.table.sequence - 1;
        for copied in copies.iter() {
            self.program_in_ring(
                Tag { sequence, start: sequence, ..copied.tag },
                copied.content.clone(),
            )?;
        }
        if journal {
            let tag =
                Tag { kind: Kind::Journal, logical: 0, sequence, start: sequence, source: NONE };
            self.program_in_ring(tag, Content::Patches(self.ram.patches))?;
        }
        self.program_root_pages(pages..2 * pages, &table)
    }

    /// Skips the places of each head that a cut program may have touched without a trace: one
    /// place, or two if the first place is not blank.
    fn skip_places(&mut self, used: bool, traces: &Traces) {
        for head in [USER, MOVED, JOURNAL] {
            let touched =
                1 + u8::from(traces.at_heads[head] && self.scope.has(Rule::SkipBehindTraces));
            let next = &mut self.ram.table.heads[head].1;
            if self.scope.has(Rule::SkipPlaces) && (used || head == JOURNAL) {
                *next = (*next + touched).min(self.scope.blocks.1);
            }
        }
    }

    /// Moves copied frames out of the ring, once its block holds as many as the next mount can
    /// copy beside the last record.
    fn empty_ring(&mut self) -> Step {
        let block = self.scope.pages_of(self.ring_block(self.ram.ring.place));
        let copied: Vec<Page> = block.filter(|page| self.ram.live >> page & 1 != 0).collect();
        if copied.len() < usize::from(self.scope.copied) {
            return Ok(());
        }
        self.begin()?;
        // The overlay contains each of them already.
        let needs_no_room = self.scope.has(Rule::NoFoldWhileEmptied);
        copied.into_iter().try_for_each(|frame| {
            if needs_no_room { self.move_known_frame(frame) } else { self.move_frame(frame) }
        })
    }
}
