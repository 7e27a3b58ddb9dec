//! The pages of a volume on a [`Card`]: their places and their state, computed from the
//! documentation of the format.

use std::rc::Rc;

use steadyfs::media::sectors::{SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{BlockIndex, Geometry, PageIndex};

use super::{Bytes, Card, Held};

/// Number of header sectors at the start of a block.
const HEADERS: u32 = 2;
/// First bytes of a header, and of a tag's sector.
const HEADER: &[u8] = b"SteadyBk";
const TAG: &[u8] = b"SteadyPg";
/// Offset of the tag in its sector. The kinds below are values of the tag's ninth byte: roots,
/// moved pages, and pages of the journal.
const TAG_AT: usize = 12;
const ROOT_KIND: u8 = 2;
const MOVED_KINDS: [u8; 3] = [7, 8, 10];
const JOURNAL_KINDS: [u8; 3] = [5, 6, 11];
/// Offset of the volume's number, and of the checksum behind it.
const VOLUME_AT: usize = 32;
const CHECK_AT: usize = 36;
/// Bytes at the end of a page that hold its tag, if tags lie within pages: a tag's sector without
/// its first bytes.
const TAG_ROOM: usize = CHECK_AT + 4 - TAG.len();

/// A volume's pages on a card.
#[derive(Clone)]
pub struct CardPages {
    /// Medium that the volume gets.
    pub flash: SectorPages<Card>,
}

impl CardPages {
    /// Divides a card into pages. Returns `None` if the layout is impossible.
    pub fn new(card: Card, layout: SectorLayout) -> Option<Self> {
        SectorPages::new(card, layout).map(|flash| Self { flash })
    }

    /// Returns the card.
    pub fn card(&self) -> &Card {
        self.flash.device()
    }

    fn layout(&self) -> &SectorLayout {
        self.flash.layout()
    }

    /// Returns the geometry of the medium.
    pub fn geometry(&self) -> Geometry {
        self.layout().geometry()
    }

    fn header(&self, block: BlockIndex) -> u32 {
        self.layout().first + block * self.layout().block_sectors
    }

    /// Returns the sector of a page's tag, and the first sector of its data. The tag may lie in
    /// the last sector of the data.
    fn places(&self, page: PageIndex) -> (u32, u32) {
        let (pages, size) = (self.geometry().pages_per_block, self.layout().page_bytes / 512);
        let (header, index) = (self.header(page / pages), page % pages);
        match self.layout().tags {
            TagPlace::Beside => {
                let tag = header + HEADERS + index * (size + 1);
                (tag, tag + 1)
            }
            TagPlace::Table => {
                let data = (HEADERS + pages).div_ceil(size) * size;
                (header + HEADERS + index, header + data + index * size)
            }
            TagPlace::Within => {
                let data = header + HEADERS.div_ceil(size) * size + index * size;
                (data + size - 1, data)
            }
        }
    }

    /// Returns the end of the data in a sector of a page.
    fn data_end(&self, page: PageIndex, sector: u32) -> usize {
        if self.layout().tags == TagPlace::Within && sector == self.places(page).0 {
            512 - TAG_ROOM
        } else {
            512
        }
    }

    /// Returns a page's tag from its sector, in the format of a sector of its own.
    fn tag_in(&self, sector: u32) -> Option<Bytes> {
        let Held::Bytes(bytes) = self.card().held(sector) else { return None };
        if self.layout().tags != TagPlace::Within {
            return Some(*bytes);
        }
        let mut own = [0; 512];
        own[..TAG.len()].copy_from_slice(TAG);
        own[TAG.len()..][..TAG_ROOM].copy_from_slice(&bytes[512 - TAG_ROOM..]);
        Some(own)
    }

    /// Returns the page whose tag lies in a sector.
    fn page_of_tag(&self, sector: u32) -> Option<PageIndex> {
        let (pages, block_sectors) = (self.geometry().pages_per_block, self.layout().block_sectors);
        let within = sector.checked_sub(self.layout().first)?;
        let size = self.layout().page_bytes / 512;
        let head = if self.layout().tags == TagPlace::Within {
            HEADERS.div_ceil(size) * size
        } else {
            HEADERS
        };
        let index = (within % block_sectors).checked_sub(head)?;
        let index = match self.layout().tags {
            TagPlace::Beside => index / (size + 1),
            TagPlace::Table => index,
            TagPlace::Within => index / size,
        };
        let page = within / block_sectors * pages + index;
        (index < pages && self.places(page).0 == sector).then_some(page)
    }

    /// Returns the generation in the header of a block.
    fn generation_in_header(&self, sector: u32) -> Option<u32> {
        match self.card().held(sector) {
            Held::Bytes(bytes) => self.generation_in(&bytes, HEADER),
            Held::Unreadable => None,
        }
    }

    /// Returns the generation of a tag.
    fn generation_of_tag(&self, sector: u32) -> Option<u32> {
        self.tag_in(sector).and_then(|bytes| self.generation_in(&bytes, TAG))
    }

    /// Returns the generation in a sector, if the sector is sound, belongs to this volume, and
    /// begins with `magic`.
    fn generation_in(&self, bytes: &Bytes, magic: &[u8]) -> Option<u32> {
        let is_own = bytes.starts_with(magic)
            && word(bytes, VOLUME_AT) == self.layout().volume
            && word(bytes, CHECK_AT) == crc32fast::hash(&bytes[..CHECK_AT]);
        is_own.then(|| word(bytes, 8))
    }

    /// Returns the present generation of a block.
    fn present(&self, block: BlockIndex) -> u32 {
        let headers = [0, 1].map(|header| self.generation_in_header(self.header(block) + header));
        let pages = self.geometry().pages_per_block;
        let tags = if headers.contains(&None) { block * pages..(block + 1) * pages } else { 0..0 };
        let tags = tags.filter_map(|page| self.generation_of_tag(self.places(page).0));
        headers.into_iter().flatten().chain(tags).max().unwrap_or(0)
    }

    /// Returns true if a page holds the programmed content. A cut may leave a tag of the present
    /// generation beside bytes that are garbage.
    pub fn is_programmed(&self, page: PageIndex) -> bool {
        self.is_of(page, self.present(page / self.geometry().pages_per_block))
            && self.has_its_checksum(page)
    }

    /// Returns true if a mount finds the content of a page that was programmed with `others`. A
    /// logical page has `unit` pages. Three conditions must hold:
    ///
    /// - The whole frame of the page is there, or the page is a page of the journal.
    /// - Of the others, no two consecutive places before it are missing.
    /// - The first place of its block is not missing.
    pub fn is_seen(&self, page: PageIndex, others: &[PageIndex], unit: u32) -> bool {
        let pages = self.geometry().pages_per_block;
        let (block, within) = (page / pages * pages, page % pages);
        let unit = if JOURNAL_KINDS.contains(&self.kind(page)) { 1 } else { unit };
        let is_there =
            |place: u32| (0..unit).all(|index| self.is_programmed(block + place * unit + index));
        let is_missing = |place: u32| others.contains(&(block + place * unit)) && !is_there(place);
        let place = within / unit;
        let is_cut_off = place > 0 && is_missing(0)
            || (1..place).any(|before| is_missing(before - 1) && is_missing(before));
        within < pages / unit * unit && is_there(place) && !is_cut_off
    }

    /// Returns true if reclamation has moved the page.
    pub fn is_of_move(&self, page: PageIndex) -> bool {
        MOVED_KINDS.contains(&self.kind(page))
    }

    /// Returns true if the page belongs to a root.
    pub fn is_of_root(&self, page: PageIndex) -> bool {
        self.kind(page) == ROOT_KIND
    }

    /// Returns the kind of a page, from its tag.
    fn kind(&self, page: PageIndex) -> u8 {
        self.tag_in(self.places(page).0).map_or(0, |bytes| bytes[TAG_AT + 8] & 0xF)
    }

    /// Returns true if the data of a page matches the checksum in its tag.
    fn has_its_checksum(&self, page: PageIndex) -> bool {
        let (tag, data) = self.places(page);
        let Some(said) = self.tag_in(tag) else { return false };
        let said = &said[TAG_AT..VOLUME_AT];
        let mut bytes = Vec::new();
        for sector in data..data + self.layout().page_bytes / 512 {
            let Held::Bytes(held) = self.card().held(sector) else { return false };
            bytes.extend_from_slice(&held[..self.data_end(page, sector)]);
        }
        let check = u32::from_le_bytes(said[12..16].try_into().expect("four bytes"));
        check == crc32fast::hash(&bytes) ^ crc32fast::hash(&said[..12])
    }

    fn is_of(&self, page: PageIndex, generation: u32) -> bool {
        let (tag, data) = self.places(page);
        let is_held = |sector| matches!(self.card().held(sector), Held::Bytes(_));
        self.generation_of_tag(tag) == Some(generation)
            && (data..data + self.layout().page_bytes / 512).all(is_held)
    }

    /// Returns the pages that hold something.
    pub fn programmed(&self) -> Vec<PageIndex> {
        let Geometry { pages_per_block, block_count, .. } = self.geometry();
        let pages = |block| {
            let present = self.present(block);
            (block * pages_per_block..(block + 1) * pages_per_block)
                .filter(move |page| self.is_of(*page, present))
        };
        (0..block_count).flat_map(pages).collect()
    }

    /// Returns the pages programmed last, newest first. The number of each is the number of its
    /// command or, if the cache reorders, of the flush before it.
    pub fn newest(&self) -> Vec<(PageIndex, u64)> {
        let written = self.card().written();
        let pages = |written: &super::Written| {
            let number = written.number;
            let sectors = written.first..written.first + written.count;
            sectors
                .rev()
                .filter_map(|sector| self.page_of_tag(sector))
                .map(move |page| (page, number))
                .collect::<Vec<_>>()
        };
        written.iter().flat_map(pages).collect()
    }

    /// Loses a page for good: its tag, a sector of its data, or all of it. A page that stays
    /// readable gets other data. Its tag stays: by the format, a tag's sector with other bytes
    /// reads as erased, and no device returns such bytes without an error.
    pub fn lose(&self, page: PageIndex, is_unreadable: bool) {
        let (tag, data) = self.places(page);
        let size = self.layout().page_bytes / 512;
        let (what, one) = self.card().draw(|rng| (rng.u8(..4), data + rng.u32(..size)));
        let (at, bit) =
            self.card().draw(|rng| (rng.usize(..self.data_end(page, one)), rng.u32(..8)));
        if let (false, Held::Bytes(bytes)) = (is_unreadable, self.card().held(one)) {
            let mut bytes = Bytes::clone(&bytes);
            bytes[at] ^= 1 << bit;
            return self.card().spoil(one, Held::Bytes(Rc::new(bytes)));
        }
        let sectors = match what {
            0 => vec![tag],
            1 => std::iter::once(tag).chain(data..data + size).collect(),
            _ => vec![one],
        };
        sectors.into_iter().for_each(|sector| self.card().spoil(sector, Held::Unreadable));
    }

    /// Flips some bits of a page, each at a random place in its data or in its tag.
    pub fn flip_bits(&self, page: PageIndex, count: u32) {
        let (tag, data) = self.places(page);
        let size = self.layout().page_bytes / 512;
        for _ in 0..count {
            let (sector, at, bit) = self.card().draw(|rng| {
                let sector = rng.u32(..=size);
                (
                    sector,
                    rng.usize(
                        ..if sector == size {
                            CHECK_AT
                        } else {
                            self.data_end(page, data + sector)
                        },
                    ),
                    rng.u32(..8),
                )
            });
            let (sector, at) =
                if sector == size { (tag, self.tag_byte(at)) } else { (data + sector, at) };
            if let Held::Bytes(bytes) = self.card().held(sector) {
                let mut bytes = Bytes::clone(&bytes);
                bytes[at] ^= 1 << bit;
                self.card().spoil(sector, Held::Bytes(Rc::new(bytes)));
            }
        }
    }

    /// Returns the place of byte `at` of a tag's sector. If the page does not hold this byte,
    /// returns the place of another one.
    fn tag_byte(&self, at: usize) -> usize {
        if self.layout().tags == TagPlace::Within {
            512 - TAG_ROOM + at.saturating_sub(TAG.len())
        } else {
            at
        }
    }

    /// Makes the first page of a block begun recently unreadable once, or one of the block's
    /// headers unreadable for some looks. `age` 0 is the block begun last.
    pub fn arm_first_page(&self, age: usize) {
        let pages = self.geometry().pages_per_block;
        let begun = self
            .newest()
            .into_iter()
            .map(|(page, _)| page)
            .filter(|page| page.is_multiple_of(pages));
        let Some(page) = begun.take(4).nth(age) else { return };
        let (what, looks) = self.card().draw(|rng| (rng.u32(..3), rng.u32(1..24)));
        match what {
            0 => self.card().hide(self.places(page).0, 1, true),
            // A volume need not notice a hidden header, so it is no fault that excuses a call.
            header => self.card().hide(self.header(page / pages) + header - 1, looks, false),
        }
    }

    /// Restores power. The driver above discards its state of the card.
    pub fn power_on(&mut self) {
        self.flash.device_mut().power_on();
    }
}

fn word(bytes: &Bytes, at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
