//! A raw NAND chip in memory, or one that programs bytes as well, that fails as chips do, and panics where a driver uses it in a way that the contract of
//! [`Flash`] forbids.
//!
//! A page is blank, whole, torn (damaged, the same at each look), unsteady (another face at each look), touched (it reads as
//! blank and takes no program), or lost (it cannot be read). What a power cut leaves is drawn from [`fate`].

use std::collections::VecDeque;
use std::rc::Rc;

use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

use crate::fate::{self, Style};
use crate::fault::{Fault, Kind, PageFate};

/// What a page holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Data bytes of the page.
    pub data: Vec<u8>,
    /// The tag beside them.
    pub tag: [u8; TAG_BYTES],
}

impl Content {
    /// An erased page.
    pub fn blank(page_bytes: usize) -> Self {
        Self { data: vec![0xFF; page_bytes], tag: [0xFF; TAG_BYTES] }
    }
}

/// One look at an unsteady page.
#[derive(Clone, Debug)]
pub enum Face {
    /// It reads as erased.
    Blank,
    /// The ECC gives up.
    Unreadable,
    /// It reads as this.
    Shows(Rc<Content>),
}

/// The state of a page.
#[derive(Clone, Debug)]
pub enum Page {
    /// Erased, and ready to be programmed.
    Blank,
    /// As it was programmed.
    Whole(Rc<Content>),
    /// Damaged; reads the same at each look.
    Torn(Rc<Content>),
    /// Each look shows one of the faces, drawn by weight.
    Unsteady(Rc<Vec<(u32, Face)>>),
    /// Reads as erased, but an operation that was cut has touched it: it takes no program.
    Touched,
    /// Cannot be read until the block is erased.
    Lost,
}

/// Operations since the chip was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operations {
    /// Reads of pages and of tags.
    pub reads: u64,
    /// Programs and copies.
    pub programs: u64,
    /// Erases.
    pub erases: u64,
}

#[derive(Clone, Debug, Default)]
struct Block {
    factory_bad: bool,
    grown_bad: bool,
    /// The last erase was reported as failed.
    erase_failed: bool,
    /// Pages below this one may not be programmed before an erase.
    next: u32,
}

/// When power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// In the operation after so many more of any kind.
    Operation(u32),
    /// In the program or erase after so many more of them.
    Change(u32),
}

/// The chip.
#[derive(Clone)]
pub struct Chip {
    geometry: Geometry,
    can_copy: bool,
    pages: Vec<Page>,
    blocks: Vec<Block>,
    register: Option<Rc<Content>>,
    /// How pages that a cut meets end up.
    pub style: Style,
    rng: fastrand::Rng,
    has_power: bool,
    cut: Option<Cut>,
    fault: Option<Fault>,
    fired: u32,
    last_fired: String,
    first_page_fault: Option<PageIndex>,
    operations: Operations,
    recent_tags: VecDeque<[u8; TAG_BYTES]>,
    /// Pages programmed last, each with the number of its program.
    order: VecDeque<(PageIndex, u64)>,
    program_calls: u64,
    /// Whether each program and erase is printed.
    pub is_traced: bool,
    begun: VecDeque<BlockIndex>,
}

/// Tags that torn tags are made from.
const RECENT_TAGS: usize = 12;
/// Programs whose order is remembered.
const ORDER: usize = 32;

impl Chip {
    /// A chip whose pages hold what somebody else left there, or nothing.
    pub fn new(geometry: Geometry, can_copy: bool, is_used: bool, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let count = (geometry.block_count * geometry.pages_per_block) as usize;
        let mut junk = Content::blank(geometry.page_bytes as usize);
        rng.fill(&mut junk.data);
        let first = if is_used { Page::Whole(Rc::new(junk)) } else { Page::Blank };
        let block = Block { next: if is_used { geometry.pages_per_block } else { 0 }, ..Block::default() };
        Self {
            geometry,
            can_copy,
            pages: vec![first; count],
            blocks: vec![block; geometry.block_count as usize],
            register: None,
            style: Style::Mixed,
            rng,
            has_power: true,
            cut: None,
            fault: None,
            fired: 0,
            last_fired: String::new(),
            first_page_fault: None,
            operations: Operations::default(),
            recent_tags: VecDeque::new(),
            order: VecDeque::new(),
            program_calls: 0,
            is_traced: false,
            begun: VecDeque::new(),
        }
    }

    /// Marks a block as the manufacturer does.
    pub fn make_factory_bad(&mut self, block: BlockIndex) {
        self.blocks[block as usize].factory_bad = true;
    }

    /// Lets power fail.
    pub fn arm_cut(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    /// Lets one operation fail.
    pub fn arm_fault(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// Lets the next read of the first page of one of the blocks begun last fail, once. `age` 0 is the block begun last.
    pub fn arm_first_page(&mut self, age: usize) {
        self.first_page_fault = self.begun.get(age).map(|block| block * self.geometry.pages_per_block);
    }

    /// Power again; whatever was to fail and has not is forgotten.
    pub fn power_on(&mut self) {
        self.has_power = true;
        self.cut = None;
        self.register = None;
    }

    /// Forgets faults that have not struck.
    pub fn disarm(&mut self) {
        self.fault = None;
        self.first_page_fault = None;
    }

    /// Whether there is power.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// Whether a fault waits to strike.
    pub fn is_armed(&self) -> bool {
        self.fault.is_some() || self.first_page_fault.is_some()
    }

    /// Faults that struck so far.
    pub fn fired(&self) -> u32 {
        self.fired
    }

    /// The fault that struck last, in words.
    pub fn last_fired(&self) -> &str {
        &self.last_fired
    }

    /// Operations so far.
    pub fn operations(&self) -> Operations {
        self.operations
    }

    /// Pages that hold something, in no special order.
    pub fn programmed(&self) -> Vec<PageIndex> {
        (0..).zip(&self.pages).filter(|(_, page)| matches!(page, Page::Whole(_))).map(|(index, _)| index).collect()
    }

    /// Pages programmed last, the newest first, each with the number of its program: bytes may lie in more pages than one.
    pub fn newest(&self) -> impl Iterator<Item = (PageIndex, u64)> + '_ {
        self.order.iter().copied()
    }

    /// Takes a page away for good: it cannot be read, or reads as something else.
    pub fn lose(&mut self, page: PageIndex, is_unreadable: bool) {
        let state = &mut self.pages[page as usize];
        *state = match state {
            Page::Whole(content) if !is_unreadable => {
                let mut damaged = Content::clone(content);
                let at = self.rng.usize(..damaged.data.len());
                damaged.data[at] ^= 1 << self.rng.u32(..8);
                damaged.tag[self.rng.usize(..TAG_BYTES)] ^= self.rng.u8(..);
                Page::Torn(Rc::new(damaged))
            }
            _ => Page::Lost,
        };
    }

    /// Flips a bit of a page that was programmed: of its data, or of its tag behind that.
    pub fn flip_bit(&mut self, page: PageIndex, byte: usize, bit: u32) {
        if let Page::Whole(content) | Page::Torn(content) = &mut self.pages[page as usize] {
            let mut damaged = Content::clone(content);
            let data = damaged.data.len();
            *if byte < data { &mut damaged.data[byte] } else { &mut damaged.tag[byte - data] } ^= 1 << bit;
            self.pages[page as usize] = Page::Torn(Rc::new(damaged));
        }
    }

    /// Whether a page holds what was programmed.
    pub fn is_programmed(&self, page: PageIndex) -> bool {
        matches!(self.pages[page as usize], Page::Whole(_))
    }

    fn trace(&self, line: impl FnOnce() -> String) {
        if self.is_traced {
            println!("    {}", line());
        }
    }

    fn block_of(&self, page: PageIndex) -> usize {
        assert!((page as usize) < self.pages.len(), "illegal use: page {page} does not exist");
        (page / self.geometry.pages_per_block) as usize
    }

    /// Counts an operation, and lets power fail or a fault strike.
    fn begin(&mut self, kind: Kind) -> Result<Strike, Failure> {
        if !self.has_power {
            return Err(Failure::Device);
        }
        match kind {
            Kind::Read => self.operations.reads += 1,
            Kind::Program => self.operations.programs += 1,
            Kind::Erase => self.operations.erases += 1,
            Kind::Flush => {}
        }
        let is_due = match &mut self.cut {
            Some(Cut::Operation(left)) => count_down(left),
            Some(Cut::Change(left)) if matches!(kind, Kind::Program | Kind::Erase) => count_down(left),
            _ => false,
        };
        if is_due {
            self.cut = None;
            self.has_power = false;
            return Ok(Strike::Cut);
        }
        if let Some(fault) = &mut self.fault
            && fault.kind == kind
            && count_down(&mut fault.after)
        {
            let fault = self.fault.take().expect("it is there");
            self.fired += 1;
            self.last_fired = fault.to_string();
            return Ok(Strike::Fault(fault));
        }
        Ok(Strike::None)
    }

    /// One look at a page.
    fn look(&mut self, page: PageIndex) -> Result<Rc<Content>, Failure> {
        let block = self.block_of(page);
        assert!(!self.blocks[block].factory_bad, "illegal use: read of page {page} in factory bad block {block}");
        match self.begin(Kind::Read)? {
            Strike::None => {}
            Strike::Cut => return Err(Failure::Device),
            Strike::Fault(fault) => {
                self.last_fired = format!("{} of page {page}", self.last_fired);
                return Err(fault.failure);
            }
        }
        if self.first_page_fault == Some(page) {
            self.first_page_fault = None;
            self.fired += 1;
            self.last_fired = format!("first page {page} of a block cannot be read once");
            return Err(Failure::Uncorrectable);
        }
        let blank = || Rc::new(Content::blank(self.geometry.page_bytes as usize));
        match &self.pages[page as usize] {
            Page::Blank | Page::Touched => Ok(blank()),
            Page::Whole(content) | Page::Torn(content) => Ok(content.clone()),
            Page::Lost => Err(Failure::Uncorrectable),
            Page::Unsteady(faces) => match fate::pick(faces, &mut self.rng) {
                Face::Blank => Ok(blank()),
                Face::Unreadable => Err(Failure::Uncorrectable),
                Face::Shows(content) => Ok(content.clone()),
            },
        }
    }

    /// Programs bytes of one page that lies in a chip which can do that.
    fn put_bytes(&mut self, page: PageIndex, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        let block = self.block_of(page);
        assert!(!self.blocks[block].factory_bad, "illegal use: program of page {page} in factory bad block {block}");
        if let (Page::Whole(content), true) = (&self.pages[page as usize], self.has_power) {
            let held = &content.data[at..at + bytes.len()];
            let may = |(&old, &new): (&u8, &u8)| old == 0xFF || new == 0xFF || (old == 0 && new == 0);
            assert!(held.iter().zip(bytes).all(may), "illegal use: bytes from {at} of page {page} are programmed twice");
        }
        let is_grown_bad = self.blocks[block].grown_bad;
        let strike = self.begin(Kind::Program)?;
        let blank = Content::blank(self.geometry.page_bytes as usize);
        let (before, rng) = (self.pages[page as usize].clone(), &mut self.rng);
        let end = |ends: &[fate::Bytes], rng: &mut fastrand::Rng| fate::program_bytes(&before, &blank, at, bytes, ends, rng);
        use fate::Bytes::{All, Nothing, Some};
        let (result, end) = match strike {
            Strike::Cut => {
                let ends = match rng.u32(..if self.style == Style::Unsteady { 1 } else { 4 }) {
                    0 => vec![All, Nothing, Some, Some],
                    1 => vec![All],
                    2 => vec![Nothing],
                    _ => vec![Some],
                };
                (Err(Failure::Device), end(&ends, rng))
            }
            Strike::Fault(fault) => {
                self.last_fired = format!("{} at bytes of page {page}", self.last_fired);
                self.blocks[block].grown_bad |= fault.is_bad_for_good;
                let end = match fault.page {
                    PageFate::Untouched => return Err(fault.failure),
                    PageFate::Holds => end(&[All], rng),
                    PageFate::Unsteady => end(&[All, Nothing, Some], rng),
                    PageFate::Torn => end(&[Some], rng),
                };
                (Err(fault.failure), end)
            }
            Strike::None if is_grown_bad => {
                self.fired += 1;
                self.last_fired = format!("Program of bytes of page {page} in a block that went bad");
                (Err(Failure::BadBlock), end(&[Some], rng))
            }
            Strike::None => (Ok(()), end(&[All], rng)),
        };
        if matches!(before, Page::Blank) && self.has_power {
            let next = &mut self.blocks[block].next;
            *next = (*next).max(page % self.geometry.pages_per_block + 1);
        }
        self.pages[page as usize] = end;
        self.trace(|| format!("program {} bytes from {at} of page {page} (block {block}): {result:?}", bytes.len()));
        let mut tag = [0xFF; TAG_BYTES];
        tag[..bytes.len().min(TAG_BYTES)].copy_from_slice(&bytes[..bytes.len().min(TAG_BYTES)]);
        self.note_program(page, tag);
        result
    }

    /// The pages of a run of bytes: each with its first byte and how many.
    fn pages_of(&self, block: BlockIndex, offset: u32, bytes: usize) -> Vec<(PageIndex, usize, usize)> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry;
        assert!(offset + bytes as u32 <= page_bytes * pages_per_block, "illegal use: bytes behind block {block}");
        let (mut offset, mut left, mut parts) = (offset, bytes, Vec::new());
        while left > 0 {
            let (page, at) = (block * pages_per_block + offset / page_bytes, (offset % page_bytes) as usize);
            let part = left.min(page_bytes as usize - at);
            parts.push((page, at, part));
            (offset, left) = (offset + part as u32, left - part);
        }
        parts
    }

    fn note_program(&mut self, page: PageIndex, tag: [u8; TAG_BYTES]) {
        self.recent_tags.push_front(tag);
        self.recent_tags.truncate(RECENT_TAGS);
        self.order.push_front((page, self.program_calls));
        self.order.truncate(ORDER);
        if page.is_multiple_of(self.geometry.pages_per_block) {
            self.begun.push_front(page / self.geometry.pages_per_block);
            self.begun.truncate(4);
        }
    }

    fn put(&mut self, page: PageIndex, content: Content) -> Result<(), Failure> {
        self.program_calls += 1;
        let block = self.block_of(page);
        let place = page % self.geometry.pages_per_block;
        let state = &self.blocks[block];
        assert!(!state.factory_bad, "illegal use: program of page {page} in factory bad block {block}");
        if self.has_power {
            assert!(!state.erase_failed, "illegal use: program of page {page} in block {block}, whose erase failed");
            assert!(
                place >= state.next,
                "illegal use: program of page {page} in block {block}, at place {place} below {}",
                state.next
            );
        }
        let is_grown_bad = state.grown_bad;
        let strike = self.begin(Kind::Program)?;
        let tag = content.tag;
        let was_fit = matches!(self.pages[page as usize], Page::Blank);
        let whole = Rc::new(content);
        let (rng, tags) = (&mut self.rng, self.recent_tags.make_contiguous());
        let torn = |rng: &mut fastrand::Rng, tags: &[_]| Page::Torn(Rc::new(fate::torn(&whole, tags, rng)));
        let (result, end) = match strike {
            Strike::Cut => (Err(Failure::Device), fate::cut_program(&whole, was_fit, self.style, tags, rng)),
            Strike::Fault(fault) => {
                self.last_fired = format!("{} at page {page}", self.last_fired);
                self.blocks[block].grown_bad |= fault.is_bad_for_good;
                let end = match fault.page {
                    PageFate::Untouched => return Err(fault.failure),
                    PageFate::Holds if was_fit => Page::Whole(whole.clone()),
                    PageFate::Unsteady => fate::unsteady(&whole, tags, rng),
                    PageFate::Holds | PageFate::Torn => torn(rng, tags),
                };
                (Err(fault.failure), end)
            }
            Strike::None if is_grown_bad => {
                self.fired += 1;
                self.last_fired = format!("Program of page {page} in a block that went bad");
                (Err(Failure::BadBlock), torn(rng, tags))
            }
            Strike::None if was_fit => (Ok(()), Page::Whole(whole.clone())),
            // The page was touched before: it takes the program and does not hold it.
            Strike::None => (Ok(()), fate::overprogrammed(&whole, tags, rng)),
        };
        self.pages[page as usize] = end;
        if self.has_power {
            self.blocks[block].next = place + 1;
        }
        self.trace(|| format!("program {page} (block {block}, place {place}): {result:?}"));
        self.note_program(page, tag);
        result
    }
}

/// What meets an operation.
enum Strike {
    None,
    Cut,
    Fault(Fault),
}

fn count_down(left: &mut u32) -> bool {
    let is_due = *left == 0;
    *left = left.saturating_sub(1);
    is_due
}

impl Flash for Chip {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        Timing { read_ns: 100_000, read_tag_ns: 60_000, program_ns: 300_000, copy_ns: 360_000, erase_ns: 2_000_000 }
    }

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.register = None;
        let seen = self.look(page)?;
        assert_eq!(data.len(), seen.data.len(), "illegal use: read of a part of page {page}");
        data.copy_from_slice(&seen.data);
        *tag = seen.tag;
        Ok(())
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.register = None;
        let seen = self.look(page)?;
        *tag = seen.tag;
        self.register = Some(seen);
        Ok(())
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.register = None;
        let mut content = Content::blank(self.geometry.page_bytes as usize);
        assert!(data.len() <= content.data.len(), "illegal use: program of more than page {page}");
        content.data[..data.len()].copy_from_slice(data);
        content.tag = *tag;
        self.put(page, content)
    }

    fn can_copy(&self) -> bool {
        self.can_copy
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        assert!(self.can_copy, "illegal use: this chip does not copy");
        let loaded = self.register.take();
        if !self.has_power {
            return Err(Failure::Device);
        }
        let loaded = loaded.expect("illegal use: copy without a read of a tag just before it");
        self.put(page, Content { data: loaded.data.clone(), tag: *tag })
    }

    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        assert!(self.geometry.programs_bytes, "illegal use: this chip programs pages");
        self.register = None;
        let mut rest = data;
        for (page, at, part) in self.pages_of(block, offset, rest.len()) {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(part);
            here.copy_from_slice(&self.look(page)?.data[at..at + part]);
            rest = behind;
        }
        Ok(())
    }

    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Failure> {
        assert!(self.geometry.programs_bytes, "illegal use: this chip programs pages");
        self.register = None;
        self.program_calls += 1;
        let mut rest = data;
        for (page, at, part) in self.pages_of(block, offset, data.len()) {
            let (here, behind) = rest.split_at(part);
            self.put_bytes(page, at, here)?;
            rest = behind;
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.register = None;
        let index = block as usize;
        assert!(index < self.blocks.len(), "illegal use: block {block} does not exist");
        assert!(!self.blocks[index].factory_bad, "illegal use: erase of factory bad block {block}");
        let strike = self.begin(Kind::Erase)?;
        let from = index * self.geometry.pages_per_block as usize;
        let pages = from..from + self.geometry.pages_per_block as usize;
        self.trace(|| format!("erase {block}{}", if matches!(strike, Strike::None) { "" } else { ": fails" }));
        let tags = self.recent_tags.make_contiguous();
        match strike {
            Strike::Cut => {
                fate::cut_erase(&mut self.pages[pages], self.geometry.page_bytes as usize, self.style, tags, &mut self.rng);
                self.blocks[index].next = 0;
                Err(Failure::Device)
            }
            Strike::Fault(fault) => {
                self.last_fired = format!("{} at block {block}", self.last_fired);
                match fault.page {
                    PageFate::Untouched => {}
                    PageFate::Holds => self.pages[pages].fill(Page::Blank),
                    PageFate::Torn | PageFate::Unsteady => {
                        let size = self.geometry.page_bytes as usize;
                        fate::cut_erase(&mut self.pages[pages], size, Style::Mixed, tags, &mut self.rng);
                    }
                }
                self.blocks[index].grown_bad |= fault.is_bad_for_good;
                self.blocks[index].erase_failed = true;
                Err(fault.failure)
            }
            Strike::None if self.blocks[index].grown_bad => {
                self.fired += 1;
                self.last_fired = format!("Erase of block {block}, which went bad");
                self.blocks[index].erase_failed = true;
                Err(Failure::BadBlock)
            }
            Strike::None => {
                self.pages[pages].fill(Page::Blank);
                self.blocks[index].next = 0;
                self.blocks[index].erase_failed = false;
                Ok(())
            }
        }
    }

    fn sync(&mut self) -> Result<(), Failure> {
        match self.begin(Kind::Flush)? {
            Strike::None => Ok(()),
            Strike::Cut => Err(Failure::Device),
            Strike::Fault(fault) => Err(fault.failure),
        }
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        if !self.has_power {
            return Err(Failure::Device);
        }
        Ok(self.blocks[block as usize].factory_bad)
    }

    /// The driver erases the block first, or the mark spoils the page that it is written to.
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        if !self.has_power {
            return Err(Failure::Device);
        }
        let first = (block * self.geometry.pages_per_block) as usize;
        match self.rng.u8(..3) {
            0 => self.pages[first] = Page::Lost,
            1 => self.pages[first..first + self.geometry.pages_per_block as usize].fill(Page::Lost),
            _ => self.pages[first..first + self.geometry.pages_per_block as usize].fill(Page::Touched),
        }
        Ok(())
    }
}
