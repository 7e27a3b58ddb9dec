//! What a volume lies on: a chip or a card, with the same controls.

use steadyfs::media::{BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

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

/// Does the same with any of them, as a [`Flash`].
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
    /// Looks at what strikes it.
    fn strikes<R>(&self, look: impl FnOnce(&Strikes) -> R) -> R {
        match self {
            Medium::Chip(chip) => look(chip.strikes()),
            Medium::Card(pages) => pages.card().strikes(|strikes| look(strikes)),
        }
    }

    /// Arms what strikes it.
    fn strikes_mut(&mut self, act: impl FnOnce(&mut Strikes)) {
        match self {
            Medium::Chip(chip) => act(chip.strikes_mut()),
            Medium::Card(pages) => pages.card().strikes(act),
        }
    }

    /// What it is, in words.
    pub fn describe(&self) -> String {
        match self {
            Medium::Chip(chip) => format!("{:?} copy {}", chip.geometry(), chip.can_copy()),
            Medium::Card(pages) => format!("{:?} {:?} {:?}", pages.flash.layout(), pages.geometry(), pages.card().cache()),
        }
    }

    /// Lets power fail.
    pub fn arm_cut(&mut self, cut: Cut) {
        self.strikes_mut(|strikes| strikes.arm_cut(cut));
    }

    /// Lets one operation fail.
    pub fn arm_fault(&mut self, fault: Fault) {
        self.strikes_mut(|strikes| strikes.arm_fault(fault));
    }

    /// Prints each operation that changes something, or none.
    pub fn set_traced(&mut self, is_traced: bool) {
        self.strikes_mut(|strikes| strikes.is_traced = is_traced);
    }

    /// Lets the first page of one of the blocks begun last be unreadable once; on a card it may be the block's header, for longer. `age` 0 is the
    /// block begun last.
    pub fn arm_first_page(&mut self, age: usize) {
        match self {
            Medium::Chip(chip) => chip.arm_first_page(age),
            Medium::Card(pages) => pages.arm_first_page(age),
        }
    }

    /// How pages end up that a cut meets.
    pub fn set_style(&mut self, style: Style) {
        match self {
            Medium::Chip(chip) => chip.style = style,
            Medium::Card(pages) => pages.card().set_style(style),
        }
    }

    /// Power goes, if it has not gone, and comes back; a cut that was to come and has not is forgotten.
    pub fn power_on(&mut self) {
        match self {
            Medium::Chip(chip) => chip.power_on(),
            Medium::Card(pages) => pages.power_on(),
        }
    }

    /// Forgets faults that have not struck.
    pub fn disarm(&mut self) {
        match self {
            Medium::Chip(chip) => chip.disarm(),
            Medium::Card(pages) => pages.card().disarm(),
        }
    }

    /// Whether there is power.
    pub fn has_power(&self) -> bool {
        self.strikes(Strikes::has_power)
    }

    /// Whether a fault waits to strike.
    pub fn is_armed(&self) -> bool {
        match self {
            Medium::Chip(chip) => chip.is_armed(),
            Medium::Card(pages) => self.strikes(Strikes::is_armed) || pages.card().hides(),
        }
    }

    /// Faults that struck so far.
    pub fn fired(&self) -> u32 {
        self.strikes(Strikes::fired)
    }

    /// Whether the fault that struck last was a flush, which has lost what was answered before.
    pub fn lost_a_flush(&self) -> bool {
        self.last_fired().starts_with("Flush")
    }

    /// The fault that struck last, in words.
    pub fn last_fired(&self) -> String {
        self.strikes(|strikes| strikes.last_fired().to_string())
    }

    /// Operations so far.
    pub fn operations(&self) -> Operations {
        self.strikes(Strikes::operations)
    }

    /// Pages that hold something, in no special order.
    pub fn programmed(&self) -> Vec<PageIndex> {
        match self {
            Medium::Chip(chip) => chip.programmed(),
            Medium::Card(pages) => pages.programmed(),
        }
    }

    /// Pages programmed last, the newest first, each with the number of its command or flush.
    pub fn newest(&self) -> Vec<(PageIndex, u64)> {
        match self {
            Medium::Chip(chip) => chip.newest().collect(),
            Medium::Card(pages) => pages.newest(),
        }
    }

    /// How many of the last numbers of [`newest`](Self::newest) a mount cannot tell from what a cut left. Where a cache reorders, a commit counts as flushed
    /// when there is anything behind it: two.
    pub fn in_doubt(&self) -> usize {
        1 + usize::from(self.reorders())
    }

    /// Takes a page away for good: it cannot be read, or reads as something else.
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

    /// Whether a mount sees what a page holds that was programmed with `others`, where logical pages have `unit` of these.
    pub fn is_seen(&self, page: PageIndex, others: &[PageIndex], unit: u32) -> bool {
        match self {
            Medium::Chip(chip) => chip.is_programmed(page),
            Medium::Card(pages) => pages.is_seen(page, others, unit),
        }
    }

    /// Whether a page is one that reclamation has moved, where pages may move together.
    pub fn is_of_move(&self, page: PageIndex) -> bool {
        match self {
            Medium::Chip(_) => false,
            Medium::Card(pages) => pages.is_of_move(page),
        }
    }

    /// Whether a page is one of a root that nothing proves to be complete, where nothing was programmed behind it; or what a cut left of one.
    pub fn is_of_uncertain_root(&self, page: PageIndex) -> bool {
        match self {
            Medium::Chip(_) => false,
            Medium::Card(pages) => pages.is_of_root(page) || !pages.is_programmed(page),
        }
    }

    /// Whether a page holds what was programmed.
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

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        flash!(mut self, flash => flash.read(page, data, tag))
    }

    fn reads_many(&self) -> bool {
        flash!(self, flash => flash.reads_many())
    }

    fn read_many(&mut self, first: PageIndex, data: &mut [u8], tags: &mut [[u8; TAG_BYTES]]) -> Result<usize, Failure> {
        flash!(mut self, flash => flash.read_many(first, data, tags))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        flash!(mut self, flash => flash.read_tag(page, tag))
    }

    fn corrected(&mut self) -> Corrected {
        flash!(mut self, flash => flash.corrected())
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        flash!(mut self, flash => flash.program(page, data, tag))
    }

    fn program_many(&mut self, first: PageIndex, data: &[u8], tags: &[[u8; TAG_BYTES]]) -> Result<(), Failure> {
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

    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        flash!(mut self, flash => flash.read_bytes(block, offset, data))
    }

    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Failure> {
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
