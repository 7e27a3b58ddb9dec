//! The medium of a volume: a chip or a card, with the same controls.

use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};

use crate::card::pages::CardPages;
use crate::chip::Chip;
use crate::fate::Style;
use crate::fault::Fault;
use crate::strike::{Cut, Operations, Strikes};

/// A chip, or the pages of a card.
#[derive(Clone)]
pub enum Medium {
    /// Raw flash.
    Chip(Box<Chip>),
    /// A device of sectors.
    Card(Box<CardPages>),
}

/// Calls the same method of [`Flash`] on either medium.
macro_rules! flash {
    ($self:ident, $flash:ident => $act:expr) => {
        match $self {
            Medium::Chip($flash) => $act,
            Medium::Card(pages) => {
                let $flash = &pages.flash;
                $act
            }
        }
    };
    (mut $self:ident, $flash:ident => $act:expr) => {
        match $self {
            Medium::Chip($flash) => $act,
            Medium::Card(pages) => {
                let $flash = &mut pages.flash;
                $act
            }
        }
    };
}

impl Medium {
    /// Passes the power state and the faults of the medium to `look`.
    fn strikes<R>(&self, look: impl FnOnce(&Strikes) -> R) -> R {
        match self {
            Medium::Chip(chip) => look(chip.strikes()),
            Medium::Card(pages) => pages.card().strikes(|strikes| look(strikes)),
        }
    }

    /// Passes the power state and the faults of the medium to `act`, which may arm them.
    fn strikes_mut(&mut self, act: impl FnOnce(&mut Strikes)) {
        match self {
            Medium::Chip(chip) => act(chip.strikes_mut()),
            Medium::Card(pages) => pages.card().strikes(act),
        }
    }

    /// Describes the medium in words.
    pub fn describe(&self) -> String {
        match self {
            Medium::Chip(chip) => format!("{:?} copy {}", chip.geometry(), chip.can_copy()),
            Medium::Card(pages) => format!(
                "{:?} {:?} {:?}",
                pages.flash.layout(),
                pages.geometry(),
                pages.card().cache()
            ),
        }
    }

    /// Arms a power cut.
    pub fn arm_cut(&mut self, cut: Cut) {
        self.strikes_mut(|strikes| strikes.arm_cut(cut));
    }

    /// Arms a fault of one operation.
    pub fn arm_fault(&mut self, fault: Fault) {
        self.strikes_mut(|strikes| strikes.arm_fault(fault));
    }

    /// Turns the trace of each operation that changes something on or off.
    pub fn set_traced(&mut self, is_traced: bool) {
        self.strikes_mut(|strikes| strikes.is_traced = is_traced);
    }

    /// Makes the first page of a block begun recently unreadable once. On a card this may be the
    /// block's header, for several looks. `age` 0 is the block begun last.
    pub fn arm_first_page(&mut self, age: usize) {
        match self {
            Medium::Chip(chip) => chip.arm_first_page(age),
            Medium::Card(pages) => pages.arm_first_page(age),
        }
    }

    /// Sets the style of the pages that a cut leaves.
    pub fn set_style(&mut self, style: Style) {
        match self {
            Medium::Chip(chip) => chip.style = style,
            Medium::Card(pages) => pages.card().set_style(style),
        }
    }

    /// Turns power off, if it is still on, and on again. An armed cut that has not come is
    /// discarded.
    pub fn power_on(&mut self) {
        match self {
            Medium::Chip(chip) => chip.power_on(),
            Medium::Card(pages) => pages.power_on(),
        }
    }

    /// Discards faults that have not struck.
    pub fn disarm(&mut self) {
        match self {
            Medium::Chip(chip) => chip.disarm(),
            Medium::Card(pages) => pages.card().disarm(),
        }
    }

    /// Returns true if there is power.
    pub fn has_power(&self) -> bool {
        self.strikes(Strikes::has_power)
    }

    /// Returns true if a fault is armed.
    pub fn is_armed(&self) -> bool {
        match self {
            Medium::Chip(chip) => chip.is_armed(),
            Medium::Card(pages) => self.strikes(Strikes::is_armed) || pages.card().hides(),
        }
    }

    /// Returns the number of faults that have struck.
    pub fn fired(&self) -> u32 {
        self.strikes(Strikes::fired)
    }

    /// Returns true if the fault that struck last was a flush. Such a flush has lost writes that
    /// were answered before.
    pub fn lost_a_flush(&self) -> bool {
        self.last_fired().starts_with("Flush")
    }

    /// Describes the fault that struck last.
    pub fn last_fired(&self) -> String {
        self.strikes(|strikes| strikes.last_fired().to_string())
    }

    /// Returns the operations so far.
    pub fn operations(&self) -> Operations {
        self.strikes(Strikes::operations)
    }

    /// Returns the pages that hold something, in no special order.
    pub fn programmed(&self) -> Vec<PageIndex> {
        match self {
            Medium::Chip(chip) => chip.programmed(),
            Medium::Card(pages) => pages.programmed(),
        }
    }

    /// Returns the pages programmed last, newest first, each with the number of its command or
    /// flush.
    pub fn newest(&self) -> Vec<(PageIndex, u64)> {
        match self {
            Medium::Chip(chip) => chip.newest().collect(),
            Medium::Card(pages) => pages.newest(),
        }
    }

    /// Returns the number of last commands or flushes of [`newest`](Self::newest) that a mount
    /// cannot distinguish from the result of a cut. If a cache reorders, a commit counts as
    /// flushed only when something lies behind it: two.
    pub fn in_doubt(&self) -> usize {
        1 + usize::from(self.reorders())
    }

    /// Loses a page for good: it cannot be read, or reads as something else.
    pub fn lose(&mut self, page: PageIndex, is_unreadable: bool) {
        match self {
            Medium::Chip(chip) => chip.lose(page, is_unreadable),
            Medium::Card(pages) => pages.lose(page, is_unreadable),
        }
    }

    /// Flips some bits of a page.
    pub fn flip_bits(&mut self, page: PageIndex, count: u32) {
        match self {
            Medium::Chip(chip) => chip.flip_bits(page, count),
            Medium::Card(pages) => pages.flip_bits(page, count),
        }
    }

    /// Returns true if a mount finds the content of a page that was programmed with `others`. A
    /// logical page has `unit` pages.
    pub fn is_seen(&self, page: PageIndex, others: &[PageIndex], unit: u32) -> bool {
        match self {
            Medium::Chip(chip) => chip.is_programmed(page),
            Medium::Card(pages) => pages.is_seen(page, others, unit),
        }
    }

    /// Returns true if reclamation has moved the page, on a medium whose pages may move together.
    pub fn is_of_move(&self, page: PageIndex) -> bool {
        match self {
            Medium::Chip(_) => false,
            Medium::Card(pages) => pages.is_of_move(page),
        }
    }

    /// Returns true if nothing proves the page's root to be complete, because nothing was
    /// programmed behind it. Also returns true for the remains of such a root after a cut. Always
    /// false on a chip.
    pub fn is_of_uncertain_root(&self, page: PageIndex) -> bool {
        match self {
            Medium::Chip(_) => false,
            Medium::Card(pages) => pages.is_of_root(page) || !pages.is_programmed(page),
        }
    }

    /// Returns true if a page holds the programmed content.
    pub fn is_programmed(&self, page: PageIndex) -> bool {
        match self {
            Medium::Chip(chip) => chip.is_programmed(page),
            Medium::Card(pages) => pages.is_programmed(page),
        }
    }
}

impl Flash for Medium {
    fn geometry(&self) -> Geometry {
        flash!(self, flash => flash.geometry())
    }

    fn timing(&self) -> Timing {
        flash!(self, flash => flash.timing())
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        flash!(mut self, flash => flash.read(page, data, tag))
    }

    fn reads_many(&self) -> bool {
        flash!(self, flash => flash.reads_many())
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        flash!(mut self, flash => flash.read_many(first, data, tags))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        flash!(mut self, flash => flash.read_tag(page, tag))
    }

    fn corrected(&mut self) -> Corrected {
        flash!(mut self, flash => flash.corrected())
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        flash!(mut self, flash => flash.program(page, data, tag))
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        self.strikes_mut(|strikes| strikes.is_group = tags.len() > 1);
        let result = flash!(mut self, flash => flash.program_many(first, data, tags));
        self.strikes_mut(|strikes| strikes.is_group = false);
        result
    }

    fn can_copy(&self) -> bool {
        flash!(self, flash => flash.can_copy())
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        flash!(mut self, flash => flash.program_loaded(page, tag))
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        flash!(mut self, flash => flash.read_bytes(block, offset, data))
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        flash!(mut self, flash => flash.program_bytes(block, offset, data))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        flash!(mut self, flash => flash.erase(block))
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        flash!(mut self, flash => flash.checksum(data, missing))
    }

    fn sync(&mut self) -> Result<(), Failure> {
        flash!(mut self, flash => flash.sync())
    }

    fn reorders(&self) -> bool {
        flash!(self, flash => flash.reorders())
    }

    fn hides_damage(&self) -> bool {
        flash!(self, flash => flash.hides_damage())
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        flash!(mut self, flash => flash.is_bad(block))
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        flash!(mut self, flash => flash.mark_bad(block))
    }
}
