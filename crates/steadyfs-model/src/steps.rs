//! The steps of calls: write, patch, commit, roll back, fold, move.

use crate::chip::{Cell, Seen, Stop};
use crate::machine::{Machine, Step};
use crate::numbers::{IDLE, LOGICAL, LOST, NONE, Page, Pages};
use crate::page::{Content, Kind, Log};
use crate::rules::Rule;
use crate::table::{BlockState, JOURNAL, MOVED};
use crate::violation::Violation;

impl Machine<'_> {
    /// Starts a call. After a clean end the ring is opened first. The first program of a head
    /// after a mount is a journal page.
    pub fn begin(&mut self) -> Step {
        if self.ram.table.closed {
            self.open_ring()?;
        }
        if self.ram.table.heads_rest {
            if self.scope.has(Rule::FirstIsJournal) {
                self.program_journal()?;
            }
            self.ram.table.heads_rest = false;
        }
        Ok(())
    }

    /// Writes a logical page, and commits if the write is the whole transaction.
    pub fn write(&mut self, logical: usize, bytes: [u8; 2], commit: bool) -> Step {
        let table = &self.ram.table;
        let pending = table.pending.iter().flatten().count();
        if table.pending[logical].is_none() && pending == usize::from(self.scope.overlay) {
            return Err(Stop::NoSpace);
        }
        let patched = self.ram.patches[logical] != 0 && self.scope.has(Rule::JournalIsCommitted);
        let content = Some(Content::Data(bytes));
        if commit && pending == 0 && !self.ram.dirty && !patched {
            if self.scope.has(Rule::FoldBeforeCommit) {
                self.make_room(1)?;
            }
            let frame = self.program_frame(Kind::DataCommit, logical as u8, content)?;
            self.ram.table.start = IDLE;
            return self.map_set(logical, frame);
        }
        let frame = self.program_frame(Kind::Data, logical as u8, content)?;
        self.ram.dirty |= self.ram.patches[logical] != 0;
        self.ram.patches[logical] = 0;
        if let Some(old) = self.ram.table.pending[logical].replace(frame) {
            self.release(old);
        }
        Ok(())
    }

    /// Makes everything since the last commit durable.
    pub fn commit(&mut self) -> Step {
        let pending = self.ram.table.pending.iter().flatten().count() as u8;
        if pending == 0 && !self.ram.dirty {
            self.ram.table.start = IDLE;
            return Ok(());
        }
        if self.scope.has(Rule::FoldBeforeCommit) {
            self.make_room(pending)?;
        }
        self.program_journal()?;
        self.ram.table.start = IDLE;
        for logical in (0..LOGICAL).rev() {
            if let Some(frame) = self.ram.table.pending[logical] {
                self.map_set(logical, frame)?;
                self.ram.table.pending[logical] = None;
            }
        }
        self.ram.dirty = false;
        Ok(())
    }

    /// Undoes everything since the last commit.
    pub fn rollback(&mut self) -> Step {
        for frame in core::mem::take(&mut self.ram.table.pending).into_iter().flatten() {
            self.release(frame);
        }
        self.ram.table.start = IDLE;
        if self.ram.dirty { self.load_journal() } else { Ok(()) }
    }

    /// Reads the newest journal page into the buffer.
    pub fn load_journal(&mut self) -> Step {
        self.ram.dirty = false;
        self.ram.patches = Pages::default();
        match self.ram.table.journal_at {
            NONE => Ok(()),
            page => self.read_journal(page),
        }
    }

    /// Reads a journal page into the buffer.
    pub fn read_journal(&mut self, page: Page) -> Step {
        match self.read_sound(page) {
            Some((tag, Content::Patches(patches))) if tag.kind.is_of_journal() => {
                self.ram.patches = patches;
                Ok(())
            }
            _ => Err(Stop::Broken(Violation::WrongRead)),
        }
    }

    /// Returns the frame that the leaf names.
    pub fn leaf_entry(&mut self, logical: usize) -> Page {
        self.leaf()[logical]
    }

    fn leaf(&mut self) -> Pages<Page> {
        self.read_leaf().unwrap_or([NONE; LOGICAL])
    }

    /// Returns the frames that the leaf and its log name, or `None` if the leaf cannot be read.
    pub fn read_leaf(&mut self) -> Option<Pages<Page>> {
        if self.ram.table.leaf == NONE {
            return Some([NONE; LOGICAL]);
        }
        match self.read_sound(self.ram.table.leaf) {
            Some((_, Content::Leaf(frames, log))) if self.log_can_be_read(&log) => {
                Some(std::array::from_fn(|at| log.whole[at].unwrap_or(frames[at])))
            }
            _ => None,
        }
    }

    /// Returns true if each unreadable change is excused: a cut may have met it, and the overlay
    /// has its content. The store finds the logical page of such a change by numbers and order.
    /// Here it is given.
    fn log_can_be_read(&self, log: &Log) -> bool {
        let table = &self.ram.table;
        let is_excused = |logical: usize| !table.log_is_known && table.overlay[logical].is_some();
        !self.scope.has(Rule::LogIsRead)
            || (0..LOGICAL).all(|logical| !log.unreadable[logical] || is_excused(logical))
    }

    /// Returns the frame of a logical page as the open transaction sees it.
    pub fn frame_of(&mut self, logical: usize) -> Page {
        self.ram.table.pending[logical].unwrap_or_else(|| self.committed_frame(logical))
    }

    /// Returns the committed frame of a logical page.
    pub fn committed_frame(&mut self, logical: usize) -> Page {
        self.ram.table.overlay[logical].map_or_else(|| self.leaf_entry(logical), |entry| entry.0)
    }

    /// Returns the bytes of a logical page as the open transaction sees them.
    pub fn bytes(&mut self, logical: usize) -> Step<[u8; 2]> {
        let mut bytes = match self.frame_of(logical) {
            NONE => [0; 2],
            frame if self.chip.cells[usize::from(frame)] == Cell::Lost => [LOST; 2],
            frame => match self.read(frame) {
                Seen::Page(tag, Content::Data(bytes), true)
                    if usize::from(tag.logical) == logical =>
                {
                    bytes
                }
                Seen::Page(tag, Content::Lost, _) if usize::from(tag.logical) == logical => {
                    [LOST; 2]
                }
                _ => return Err(Stop::Broken(Violation::WrongRead)),
            },
        };
        if self.ram.patches[logical] != 0 {
            bytes[1] = self.ram.patches[logical];
        }
        Ok(bytes)
    }

    fn overlay_len(&self) -> u8 {
        self.ram.table.overlay.iter().flatten().count() as u8
    }

    /// Folds the leaf if the overlay has no room for `entries` more entries.
    fn make_room(&mut self, entries: u8) -> Step {
        if self.overlay_len() + entries > self.scope.overlay && self.overlay_len() > 0 {
            self.fold()?;
        }
        Ok(())
    }

    /// Changes the committed map.
    fn map_set(&mut self, logical: usize, frame: Page) -> Step {
        if let Some((old, settled)) = self.ram.table.overlay[logical] {
            self.ram.table.overlay[logical] = Some((frame, settled));
            if old != frame {
                self.release(old);
            }
            return Ok(());
        }
        // Does nothing if there was room before the commit.
        self.make_room(1)?;
        if self.scope.near_full {
            let old = self.leaf_entry(logical);
            self.release(old);
        }
        self.ram.table.overlay[logical] = Some((frame, self.scope.near_full));
        Ok(())
    }

    /// Returns the leaf with the entries of the overlay. Releases the frames that its old entries
    /// name.
    pub fn compose_leaf(&mut self) -> Content {
        let mut frames = self.settle_entries();
        for (frame, entry) in frames.iter_mut().zip(&self.ram.table.overlay) {
            *frame = entry.map_or(*frame, |entry| entry.0);
        }
        Content::Leaf(frames, Log::default())
    }

    /// Releases the frames that the leaf names and the overlay replaces. Returns the frames that
    /// the leaf names.
    fn settle_entries(&mut self) -> Pages<Page> {
        let old = self.leaf();
        for (logical, &before) in old.iter().enumerate() {
            if let Some((frame, settled)) = self.ram.table.overlay[logical] {
                self.ram.table.overlay[logical] = Some((frame, true));
                if !(settled && self.scope.has(Rule::SettledBit)) && before != frame {
                    self.release(before);
                }
            }
        }
        old
    }

    /// Writes the changes of the leaf into its log, or the leaf anew.
    pub fn fold(&mut self) -> Step {
        if self.scope.logs && self.log_leaf()? {
            return Ok(());
        }
        let frame = self.program_frame(Kind::Leaf, 0, None)?;
        self.adopt_leaf(frame);
        self.ram.table.log_is_known = true;
        Ok(())
    }

    /// Programs the entries of the overlay into the log of the leaf, and a record that announces
    /// them. Returns `false` if the leaf must be written anew with these entries.
    fn log_leaf(&mut self) -> Step<bool> {
        let (leaf, (block, next)) = (self.ram.table.leaf, self.ram.table.heads[JOURNAL]);
        let has_place = block != NONE && (1..self.scope.blocks.1).contains(&next);
        if leaf == NONE
            || !has_place
            || !self.ram.table.log_is_known
            || self.scope.is_of_ring(self.scope.block_of(leaf))
        {
            return Ok(false);
        }
        self.settle_entries();
        let changes = self.ram.table.overlay.map(|entry| entry.map(|entry| entry.0));
        match self.chip.program_log(leaf, changes, self.choices) {
            Err(Stop::Failed) => {
                self.ram.table.log_is_known = false;
                return Ok(false);
            }
            result => result?,
        }
        if !self.program_leaf_changed()? {
            return Ok(false);
        }
        self.ram.table.overlay = Pages::default();
        Ok(true)
    }

    /// Makes a written leaf the current one.
    pub fn adopt_leaf(&mut self, frame: Page) {
        let old = core::mem::replace(&mut self.ram.table.leaf, frame);
        self.release(old);
        self.ram.table.overlay = Pages::default();
    }

    /// Live frames that reclamation may move: of closed and failing blocks, and of the ring.
    pub fn movable(&self) -> Vec<Page> {
        let closed = |page: &Page| {
            let block = self.scope.block_of(*page);
            self.scope.is_of_ring(block)
                || matches!(self.state(block), BlockState::Used | BlockState::Retiring)
        };
        (0..self.chip.cells.len() as Page)
            .filter(|page| self.ram.live >> page & 1 != 0)
            .filter(closed)
            .collect()
    }

    /// Moves a frame if it is still live.
    pub fn move_frame(&mut self, frame: Page) -> Step {
        self.make_room(1)?;
        if self.ram.live >> frame & 1 == 0 && self.scope.has(Rule::MoveOnlyLive) {
            return Ok(());
        }
        self.move_known_frame(frame)
    }

    /// Moves a live frame for which the overlay has room.
    pub fn move_known_frame(&mut self, frame: Page) -> Step {
        self.ready_head(MOVED)?;
        let (tag, content) = match self.read(frame) {
            Seen::Page(tag, content, sound) if sound || content == Content::Lost => (tag, content),
            _ if self.chip.cells[usize::from(frame)] == Cell::Lost => return Err(Stop::NoSpace),
            _ => return Err(Stop::Broken(Violation::WrongClaim)),
        };
        let logical = usize::from(tag.logical);
        let leaf = matches!(tag.kind, Kind::Leaf | Kind::MovedLeaf);
        let pending = !leaf && self.ram.table.pending[logical] == Some(frame);
        let newer = !leaf
            && !pending
            && self.ram.table.overlay[logical].is_some_and(|entry| entry.0 != frame);
        if newer {
            // The leaf still names this frame. The frame is used again before the fold, so the
            // fold must not release it.
            let entry = self.ram.table.overlay[logical];
            self.ram.table.overlay[logical] = entry.map(|(frame, _)| (frame, true));
        }
        if newer || (leaf && self.ram.table.leaf != frame) {
            self.release(frame);
            return Ok(());
        }
        let kind = if leaf {
            Kind::MovedLeaf
        } else if pending {
            Kind::MovedPending
        } else {
            Kind::Moved
        };
        let to = self.program_copy(kind, tag.logical, content, frame)?;
        if leaf {
            self.ram.table.leaf = to;
        } else if pending {
            self.ram.table.pending[logical] = Some(to);
        } else {
            let settled = self.ram.table.overlay[logical].is_none_or(|entry| entry.1);
            self.ram.table.overlay[logical] = Some((to, settled));
        }
        self.release(frame);
        Ok(())
    }
}
