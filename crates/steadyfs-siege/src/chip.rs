//! A raw NAND chip in memory, which may also program bytes. It fails as chips do. It panics if a
//! driver uses it in a way that the contract of [`Flash`] forbids.
//!
//! A page has one of these states:
//!
//! - blank: erased;
//! - whole: as it was programmed;
//! - torn: damaged, the same at each look;
//! - unsteady: another face at each look;
//! - touched: it reads as blank and takes no program;
//! - lost: it cannot be read.
//!
//! [`fate`] draws the states that a power cut leaves.

use std::collections::VecDeque;
use std::rc::Rc;

use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

use crate::fate::{self, Style};
use crate::fault::{Kind, PageFate};
use crate::page::{Content, Face, Page};
use crate::strike::{Strike, Strikes};

#[derive(Clone, Debug, Default)]
struct Block {
    factory_bad: bool,
    grown_bad: bool,
    /// True if the last erase was reported as failed.
    erase_failed: bool,
    /// First page that may be programmed without an erase, as an index in the block.
    next: u32,
}

/// The chip.
#[derive(Clone)]
pub struct Chip {
    geometry: Geometry,
    can_copy: bool,
    /// True if one command programs several pages. A cut then leaves any of them.
    has_groups: bool,
    pages: Vec<Page>,
    blocks: Vec<Block>,
    register: Option<Rc<Content>>,
    /// Style of the pages that a cut leaves.
    pub style: Style,
    rng: fastrand::Rng,
    strikes: Strikes,
    first_page_fault: Option<PageIndex>,
    recent_tags: VecDeque<[u8; TAG_BYTES]>,
    /// Newest programmed pages, each with the number of its program.
    order: VecDeque<(PageIndex, u64)>,
    program_calls: u64,
    begun: VecDeque<BlockIndex>,
}

/// Number of recent tags from which torn tags are made.
const RECENT_TAGS: usize = 12;
/// Number of newest programs whose order is kept.
const ORDER: usize = 32;

impl Chip {
    /// Creates a chip. If `is_used`, its pages hold the data of an earlier use; otherwise they
    /// are blank.
    pub fn new(geometry: Geometry, can_copy: bool, is_used: bool, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let count = (geometry.block_count * geometry.pages_per_block) as usize;
        let mut junk = Content::blank(geometry.page_bytes as usize);
        rng.fill(&mut junk.data);
        let first = if is_used { Page::Whole(Rc::new(junk)) } else { Page::Blank };
        let block =
            Block { next: if is_used { geometry.pages_per_block } else { 0 }, ..Block::default() };
        Self {
            geometry,
            can_copy,
            has_groups: false,
            pages: vec![first; count],
            blocks: vec![block; geometry.block_count as usize],
            register: None,
            style: Style::Mixed,
            rng,
            strikes: Strikes::new(),
            first_page_fault: None,
            recent_tags: VecDeque::new(),
            order: VecDeque::new(),
            program_calls: 0,
            begun: VecDeque::new(),
        }
    }

    /// Returns the same chip with a command that programs several pages at once. A power cut
    /// leaves any of these pages.
    #[must_use]
    pub fn with_groups(self) -> Self {
        Self { has_groups: true, ..self }
    }

    /// Marks a block as the manufacturer does.
    pub fn make_factory_bad(&mut self, block: BlockIndex) {
        self.blocks[block as usize].factory_bad = true;
    }

    /// Returns the power state and the faults of the chip.
    pub fn strikes(&self) -> &Strikes {
        &self.strikes
    }

    /// Returns the power state and the faults, so that the caller can arm them.
    pub fn strikes_mut(&mut self) -> &mut Strikes {
        &mut self.strikes
    }

    /// Makes one read fail: the next read of the first page of a block begun recently. `age` 0 is
    /// the block begun last.
    pub fn arm_first_page(&mut self, age: usize) {
        self.first_page_fault =
            self.begun.get(age).map(|block| block * self.geometry.pages_per_block);
    }

    /// Restores power, and discards an armed cut.
    pub fn power_on(&mut self) {
        self.strikes.power_on();
        self.register = None;
    }

    /// Discards faults that have not struck.
    pub fn disarm(&mut self) {
        self.strikes.disarm();
        self.first_page_fault = None;
    }

    /// Returns true if a fault is armed.
    pub fn is_armed(&self) -> bool {
        self.strikes.is_armed() || self.first_page_fault.is_some()
    }

    /// Returns the pages with whole content, in ascending order.
    pub fn programmed(&self) -> Vec<PageIndex> {
        (0..)
            .zip(&self.pages)
            .filter(|(_, page)| matches!(page, Page::Whole(_)))
            .map(|(index, _)| index)
            .collect()
    }

    /// Returns the pages programmed last, newest first, each with the number of its program. A
    /// program of bytes may lie in several pages.
    pub fn newest(&self) -> impl Iterator<Item = (PageIndex, u64)> + '_ {
        self.order.iter().copied()
    }

    /// Loses a page for good: it cannot be read, or its content is damaged.
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

    /// Flips some bits of a programmed page, each at a random place in data or tag.
    pub fn flip_bits(&mut self, page: PageIndex, count: u32) {
        let bytes = self.geometry.page_bytes as usize + TAG_BYTES;
        for _ in 0..count {
            let (byte, bit) = (self.rng.usize(..bytes), self.rng.u32(..8));
            self.flip_bit(page, byte, bit);
        }
    }

    /// Flips one bit of a programmed page. `byte` counts through the data and then through the
    /// tag.
    pub fn flip_bit(&mut self, page: PageIndex, byte: usize, bit: u32) {
        if let Page::Whole(content) | Page::Torn(content) = &mut self.pages[page as usize] {
            let mut damaged = Content::clone(content);
            let data = damaged.data.len();
            *if byte < data { &mut damaged.data[byte] } else { &mut damaged.tag[byte - data] } ^=
                1 << bit;
            self.pages[page as usize] = Page::Torn(Rc::new(damaged));
        }
    }

    /// Returns true if a page holds the programmed content.
    pub fn is_programmed(&self, page: PageIndex) -> bool {
        matches!(self.pages[page as usize], Page::Whole(_))
    }

    fn block_of(&self, page: PageIndex) -> usize {
        assert!((page as usize) < self.pages.len(), "illegal use: page {page} does not exist");
        (page / self.geometry.pages_per_block) as usize
    }

    /// Reads a page once.
    fn look(&mut self, page: PageIndex) -> Result<Rc<Content>, Failure> {
        let block = self.block_of(page);
        assert!(
            !self.blocks[block].factory_bad,
            "illegal use: read of page {page} in factory bad block {block}"
        );
        match self.strikes.begin(Kind::Read)? {
            Strike::None => {}
            Strike::Cut => return Err(Failure::Device),
            Strike::Fault(fault) => {
                self.strikes.at(format_args!("of page {page}"));
                return Err(fault.failure);
            }
        }
        if self.first_page_fault == Some(page) {
            self.first_page_fault = None;
            self.strikes.fire(format!("first page {page} of a block cannot be read once"));
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

    /// Programs bytes of one page, on a chip that programs bytes.
    fn put_bytes(&mut self, page: PageIndex, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        let block = self.block_of(page);
        assert!(
            !self.blocks[block].factory_bad,
            "illegal use: program of page {page} in factory bad block {block}"
        );
        if let (Page::Whole(content), true) = (&self.pages[page as usize], self.strikes.has_power())
        {
            let held = &content.data[at..at + bytes.len()];
            let may =
                |(&old, &new): (&u8, &u8)| old == 0xFF || new == 0xFF || (old == 0 && new == 0);
            assert!(
                held.iter().zip(bytes).all(may),
                "illegal use: bytes from {at} of page {page} are programmed twice"
            );
        }
        let is_grown_bad = self.blocks[block].grown_bad;
        let strike = self.strikes.begin(Kind::Program)?;
        let blank = Content::blank(self.geometry.page_bytes as usize);
        let (before, rng) = (self.pages[page as usize].clone(), &mut self.rng);
        let end = |ends: &[fate::Bytes], rng: &mut fastrand::Rng| {
            fate::program_bytes(&before, &blank, at, bytes, ends, rng)
        };
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
                self.strikes.at(format_args!("at bytes of page {page}"));
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
                self.strikes
                    .fire(format!("Program of bytes of page {page} in a block that went bad"));
                (Err(Failure::BadBlock), end(&[Some], rng))
            }
            Strike::None => (Ok(()), end(&[All], rng)),
        };
        if matches!(before, Page::Blank) && self.strikes.has_power() {
            let next = &mut self.blocks[block].next;
            *next = (*next).max(page % self.geometry.pages_per_block + 1);
        }
        self.pages[page as usize] = end;
        self.strikes.trace(|| {
            format!(
                "program {} bytes from {at} of page {page} (block {block}): {result:?}",
                bytes.len()
            )
        });
        let mut tag = [0xFF; TAG_BYTES];
        tag[..bytes.len().min(TAG_BYTES)].copy_from_slice(&bytes[..bytes.len().min(TAG_BYTES)]);
        self.note_program(page, tag);
        result
    }

    /// Returns the content of a page to be programmed.
    fn content_of(&self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Content {
        let mut content = Content::blank(self.geometry.page_bytes as usize);
        assert!(data.len() <= content.data.len(), "illegal use: program of more than page {page}");
        content.data[..data.len()].copy_from_slice(data);
        content.tag = *tag;
        content
    }

    /// Splits a run of bytes into pages. Each part has the page, its first byte in the page, and
    /// its length.
    fn pages_of(
        &self,
        block: BlockIndex,
        offset: u32,
        bytes: usize,
    ) -> Vec<(PageIndex, usize, usize)> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry;
        assert!(
            offset + bytes as u32 <= page_bytes * pages_per_block,
            "illegal use: bytes behind block {block}"
        );
        let (mut offset, mut left, mut parts) = (offset, bytes, Vec::new());
        while left > 0 {
            let (page, at) =
                (block * pages_per_block + offset / page_bytes, (offset % page_bytes) as usize);
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

    /// Panics if a page may not be programmed. Returns the page's block.
    fn check_put(&self, page: PageIndex) -> usize {
        let block = self.block_of(page);
        let place = page % self.geometry.pages_per_block;
        let state = &self.blocks[block];
        assert!(
            !state.factory_bad,
            "illegal use: program of page {page} in factory bad block {block}"
        );
        if self.strikes.has_power() {
            assert!(
                !state.erase_failed,
                "illegal use: program of page {page} in block {block}, whose erase failed"
            );
            assert!(
                place >= state.next,
                "illegal use: program of page {page} in block {block}, at place {place} below {}",
                state.next
            );
            let is_whole = matches!(self.pages[page as usize], Page::Whole(_));
            assert!(!is_whole, "illegal use: page {page} in block {block} is programmed twice");
        }
        block
    }

    /// Programs pages in one command. A strike meets all of them: each page is there or not, and
    /// one is torn.
    fn put_together(&mut self, first: PageIndex, contents: Vec<Content>) -> Result<(), Failure> {
        self.program_calls += 1;
        let (last, block) = (first + contents.len() as u32 - 1, self.block_of(first));
        assert_eq!(
            block,
            self.block_of(last),
            "illegal use: pages {first} to {last} are of several blocks"
        );
        (first..=last).for_each(|page| _ = self.check_put(page));
        let strike = self.strikes.begin(Kind::Program)?;
        let (result, style) = match strike {
            Strike::None if self.blocks[block].grown_bad => {
                self.strikes
                    .fire(format!("Program of pages from {first} on in a block that went bad"));
                (Err(Failure::BadBlock), Style::Mixed)
            }
            Strike::None => (Ok(()), Style::Mixed),
            Strike::Cut => (Err(Failure::Device), self.style),
            Strike::Fault(fault) => {
                self.strikes.at(format_args!("at pages from {first} on"));
                self.blocks[block].grown_bad |= fault.is_bad_for_good;
                (Err(fault.failure), Style::Mixed)
            }
        };
        let torn = self.rng.u32(first..=last);
        for (page, content) in (first..).zip(contents) {
            let (tag, whole) = (content.tag, Rc::new(content));
            let was_fit = matches!(self.pages[page as usize], Page::Blank);
            let (rng, tags) = (&mut self.rng, self.recent_tags.make_contiguous());
            let is_there = result.is_ok() || rng.bool();
            let end = match was_fit {
                _ if result.is_err() && page == torn => {
                    fate::cut_program(&whole, was_fit, style, tags, rng)
                }
                _ if !is_there => continue,
                true => Page::Whole(whole),
                false => fate::overprogrammed(&whole, tags, rng),
            };
            self.pages[page as usize] = end;
            self.note_program(page, tag);
        }
        if self.strikes.has_power() {
            self.blocks[block].next = last % self.geometry.pages_per_block + 1;
        }
        self.strikes.trace(|| format!("program {first} to {last} (block {block}): {result:?}"));
        result
    }

    fn put(&mut self, page: PageIndex, content: Content) -> Result<(), Failure> {
        self.program_calls += 1;
        let block = self.check_put(page);
        let place = page % self.geometry.pages_per_block;
        let is_grown_bad = self.blocks[block].grown_bad;
        let strike = self.strikes.begin(Kind::Program)?;
        let tag = content.tag;
        let was_fit = matches!(self.pages[page as usize], Page::Blank);
        let whole = Rc::new(content);
        let (rng, tags) = (&mut self.rng, self.recent_tags.make_contiguous());
        let torn = |rng: &mut fastrand::Rng, tags: &[_]| {
            Page::Torn(Rc::new(fate::torn(&whole, tags, rng)))
        };
        let (result, end) = match strike {
            Strike::Cut => {
                (Err(Failure::Device), fate::cut_program(&whole, was_fit, self.style, tags, rng))
            }
            Strike::Fault(fault) => {
                self.strikes.at(format_args!("at page {page}"));
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
                self.strikes.fire(format!("Program of page {page} in a block that went bad"));
                (Err(Failure::BadBlock), torn(rng, tags))
            }
            Strike::None if was_fit => (Ok(()), Page::Whole(whole.clone())),
            // The page was touched before: it takes the program and does not hold it.
            Strike::None => (Ok(()), fate::overprogrammed(&whole, tags, rng)),
        };
        self.pages[page as usize] = end;
        if self.strikes.has_power() {
            self.blocks[block].next = place + 1;
        }
        self.strikes.trace(|| format!("program {page} (block {block}, place {place}): {result:?}"));
        self.note_program(page, tag);
        result
    }
}

impl Flash for Chip {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        Timing {
            read_ns: 100_000,
            read_tag_ns: 60_000,
            program_ns: 300_000,
            copy_ns: 360_000,
            erase_ns: 2_000_000,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
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

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.register = None;
        let content = self.content_of(page, data, tag);
        self.put(page, content)
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        self.register = None;
        let pages = (first..).zip(data.chunks_exact(self.geometry.page_bytes as usize).zip(tags));
        let mut pages: Vec<_> =
            pages.map(|(page, (data, tag))| (page, self.content_of(page, data, tag))).collect();
        if !self.has_groups {
            return pages.drain(..).try_for_each(|(page, content)| self.put(page, content));
        }
        self.put_together(first, pages.into_iter().map(|(_, content)| content).collect())
    }

    fn can_copy(&self) -> bool {
        self.can_copy
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        assert!(self.can_copy, "illegal use: this chip does not copy");
        let loaded = self.register.take();
        if !self.strikes.has_power() {
            return Err(Failure::Device);
        }
        let loaded = loaded.expect("illegal use: copy without a read of a tag just before it");
        self.put(page, Content { data: loaded.data.clone(), tag: *tag })
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
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

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
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
        let strike = self.strikes.begin(Kind::Erase)?;
        let from = index * self.geometry.pages_per_block as usize;
        let pages = from..from + self.geometry.pages_per_block as usize;
        self.strikes.trace(|| {
            format!("erase {block}{}", if matches!(strike, Strike::None) { "" } else { ": fails" })
        });
        let tags = self.recent_tags.make_contiguous();
        match strike {
            Strike::Cut => {
                fate::cut_erase(
                    &mut self.pages[pages],
                    self.geometry.page_bytes as usize,
                    self.style,
                    tags,
                    &mut self.rng,
                );
                self.blocks[index].next = 0;
                Err(Failure::Device)
            }
            Strike::Fault(fault) => {
                self.strikes.at(format_args!("at block {block}"));
                match fault.page {
                    PageFate::Untouched => {}
                    PageFate::Holds => self.pages[pages].fill(Page::Blank),
                    PageFate::Torn | PageFate::Unsteady => {
                        let size = self.geometry.page_bytes as usize;
                        fate::cut_erase(
                            &mut self.pages[pages],
                            size,
                            Style::Mixed,
                            tags,
                            &mut self.rng,
                        );
                    }
                }
                self.blocks[index].grown_bad |= fault.is_bad_for_good;
                self.blocks[index].erase_failed = true;
                Err(fault.failure)
            }
            Strike::None if self.blocks[index].grown_bad => {
                self.strikes.fire(format!("Erase of block {block}, which went bad"));
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
        match self.strikes.begin(Kind::Flush)? {
            Strike::None => Ok(()),
            Strike::Cut => Err(Failure::Device),
            Strike::Fault(fault) => Err(fault.failure),
        }
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        if !self.strikes.has_power() {
            return Err(Failure::Device);
        }
        Ok(self.blocks[block as usize].factory_bad)
    }

    /// Spoils the first page, or all pages: a driver erases the block first, or its mark spoils the
    /// page that holds the mark.
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        if !self.strikes.has_power() {
            return Err(Failure::Device);
        }
        let first = (block * self.geometry.pages_per_block) as usize;
        match self.rng.u8(..3) {
            0 => self.pages[first] = Page::Lost,
            1 => self.pages[first..first + self.geometry.pages_per_block as usize].fill(Page::Lost),
            _ => self.pages[first..first + self.geometry.pages_per_block as usize]
                .fill(Page::Touched),
        }
        Ok(())
    }
}
