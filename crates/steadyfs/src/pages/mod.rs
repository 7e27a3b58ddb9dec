//! The medium, and one page of it in RAM.
//!
//! All reads and programs go through here. Of the page buffer somebody may change what it holds; then it *holds* no page of the medium any more, so a page is never
//! taken for read that was not. Every read is [watched](watch): what the ECC had to correct is noted, for whoever knows what lies in the block.

mod device;
mod group;
mod programs;
mod read_cache;
mod shown;
mod wanted;
mod watch;

pub(crate) use group::Group;
pub(crate) use read_cache::{CONTROL_BYTES as READ_CACHE_CONTROL_BYTES, HEAD_BYTES as READ_CACHE_HEAD_BYTES};
pub(crate) use wanted::Wanted;
pub(crate) use watch::Watch;
#[cfg(feature = "scrub")]
pub(crate) use watch::is_weak;

use crate::config::Layout;
use crate::error::Error;
use crate::media::{BlockIndex, Failure, Flash, Kind, Kinds, PageIndex, TAG_BYTES, Tag, is_blank};
use core::ops::Range;
use device::Device;
use read_cache::ReadCache;
use shown::{NONE, Shown};

/// Looks at a page that reads as damaged before it is taken for lost.
pub(crate) const TRIES: u32 = 3;
/// Looks at a page that was whole and may be unsteady, until it is so again.
pub(crate) const UNSTEADY_TRIES: u32 = 24;
/// The checksum of a page whose data is lost.
pub(crate) const LOST_CHECK: u32 = 0x7473_6F6C;

/// None of the medium, but what was made of one for the caller.
const MADE: PageIndex = PageIndex::MAX - 1;

/// Which pages are checked against their checksum whenever they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// All.
    #[default]
    Always,
    /// Those of the file system itself, and whatever is read to be written again; not what [`read`](crate::FileSystem::read) gives to the caller out
    /// of a data page. Its tag must still be right, and the device's ECC be content. A mount looks at the checksum of every page that a power cut may have torn, so this
    /// trusts the medium not to change what was once written well: for flash behind an ECC.
    Metadata,
}

/// The medium, and its page buffer. See the [module](self).
pub(crate) struct Pages<'m, F> {
    device: Device<F>,
    /// One program page, with room behind it for a journal record that is longer.
    buffer: &'m mut [u8],
    page_bytes: usize,
    pages_per_block: u16,
    /// Bytes at the end of a leaf's page that its checksum takes for blank.
    leaf_log_bytes: u16,
    /// The program page that the buffer holds, or [`NONE`].
    held: PageIndex,
    /// Its checksum was looked at.
    held_is_checked: bool,
    /// What the page that the buffer holds is to the caller, if that was found out.
    shown: Shown,
    /// Which pages of the caller's are checked.
    verify: Verify,
    /// Erases so far, those included that failed; the low bits.
    erases: u16,
    watch: Watch,
    read_cache: ReadCache<'m>,
}

impl<'m, F: Flash> Pages<'m, F> {
    /// With the whole of `buffer` for the page and what may be longer.
    pub fn new(flash: F, buffer: &'m mut [u8], layout: &Layout) -> Self {
        Self {
            device: Device::new(flash),
            buffer,
            page_bytes: layout.geometry.page_bytes as usize,
            pages_per_block: layout.geometry.pages_per_block as u16,
            leaf_log_bytes: layout.leaf_log_bytes() as u16,
            held: NONE,
            held_is_checked: true,
            shown: Shown::NOTHING,
            verify: Verify::Always,
            erases: 0,
            watch: Watch::default(),
            read_cache: ReadCache::new(&mut []),
        }
    }

    /// The medium.
    pub fn flash(&self) -> &F {
        self.device.flash()
    }

    /// The medium, mutable.
    pub fn flash_mut(&mut self) -> &mut F {
        self.device.flash_mut()
    }

    /// Checks whether a page takes one program between two erases. A device of sectors takes more.
    pub fn takes_pages_once(&self) -> bool {
        !self.flash().reorders() && !self.flash().hides_damage()
    }

    /// Gives the medium back.
    pub fn into_flash(self) -> F {
        self.device.into_flash()
    }

    /// Takes memory for pages that were read, in place of what it had.
    #[cfg(feature = "read-cache")]
    pub fn lend_read_cache(&mut self, memory: &'m mut [u8]) {
        self.read_cache = ReadCache::new(memory);
    }

    /// Chooses which pages are checked.
    pub fn set_verify(&mut self, verify: Verify) {
        self.hide();
        self.verify = verify;
    }

    /// Whether pages of the caller's are checked that may not be unsteady.
    pub fn checks_content(&self) -> bool {
        self.device.flash().is_clean() || self.verify == Verify::Always
    }

    /// What reads have told.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The same, to be taken note of.
    pub fn watch_mut(&mut self) -> &mut Watch {
        &mut self.watch
    }

    /// The page in the buffer.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.page_bytes]
    }

    /// The same, to be changed: it is no page of the medium any more.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.held = NONE;
        &mut self.buffer[..self.page_bytes]
    }

    /// The page, and the room behind it.
    pub fn long(&self) -> &[u8] {
        self.buffer
    }

    /// The same, to be changed.
    pub fn long_mut(&mut self) -> &mut [u8] {
        self.held = NONE;
        self.buffer
    }

    /// The page that the buffer holds and goes on holding, to be completed by what lies elsewhere; and the medium, which knows its checksums.
    pub fn complete_mut(&mut self) -> (&mut F, &mut [u8]) {
        (self.device.flash_mut(), &mut self.buffer[..self.page_bytes])
    }

    /// Whether the buffer holds a page of the medium.
    pub fn holds(&self, page: PageIndex) -> bool {
        self.held == page
    }

    /// Page `index` of a logical page as the caller sees it, if the buffer has that.
    #[inline(always)]
    pub fn shown(&self, logical: u32, index: u32) -> Option<&[u8]> {
        self.shown.is_by(self.held, logical, index).then(|| self.bytes())
    }

    /// Notes that a program page is all that there is of page `index` of a logical page, until something [hides](Self::hide) that.
    pub fn show(&mut self, page: PageIndex, logical: u32, index: u32) {
        self.shown = Shown::new(page, logical, index);
    }

    /// Notes the same of what the buffer was made to hold.
    pub fn show_made(&mut self, logical: u32, index: u32) {
        self.held = MADE;
        self.show(MADE, logical, index);
    }

    /// Notes that the caller asks for page `index` of a logical page; whether it was what it asked for last.
    pub fn asks_again(&mut self, logical: u32, index: u32) -> bool {
        let is_again = self.shown.is_of(logical, index);
        self.show(NONE, logical, index);
        is_again
    }

    /// What the caller sees may change.
    pub fn hide(&mut self) {
        self.shown = Shown::NOTHING;
    }

    /// Lets the buffer hold no page.
    pub fn forget(&mut self) {
        self.held = NONE;
    }

    /// The checksum of bytes, behind which `missing` ones are erased.
    pub fn checksum(&mut self, bytes: &[u8], missing: usize) -> u32 {
        self.device.flash_mut().checksum(bytes, missing)
    }

    /// The checksum of the page in the buffer.
    pub fn check(&mut self) -> u32 {
        self.device.flash_mut().checksum(&self.buffer[..self.page_bytes], 0)
    }

    /// The same of bytes of the buffer.
    pub fn check_of(&mut self, part: Range<usize>) -> u32 {
        self.device.flash_mut().checksum(&self.buffer[part], 0)
    }

    /// The same under a tag: that of a leaf takes its log for blank.
    pub fn check_as(&mut self, kind: Option<Kind>) -> u32 {
        let logged = kind.is_some_and(|kind| Kinds::LEAF.has(kind));
        let missing = if logged { usize::from(self.leaf_log_bytes) } else { 0 };
        self.device.flash_mut().checksum(&self.buffer[..self.page_bytes - missing], missing)
    }

    /// Makes a page in the buffer whose checksum is not that of a lost one.
    pub fn fill_lost(&mut self) {
        // No checksum is that of both.
        for byte in [0, 1] {
            self.bytes_mut().fill(byte);
            if self.check() != LOST_CHECK {
                break;
            }
        }
    }

    /// Reads a page into the buffer and checks it, unless it is there or was kept.
    pub fn load(&mut self, page: PageIndex, wanted: Wanted) -> Result<(), Error> {
        if self.find(page, wanted, true) { Ok(()) } else { self.load_anew(page, wanted, true) }
    }

    /// The same, and keeps what was read. Its checksum is looked at where it `is_checked`.
    pub fn load_kept(&mut self, page: PageIndex, wanted: Wanted, is_checked: bool) -> Result<(), Error> {
        if !self.find(page, wanted, is_checked) {
            self.load_anew(page, wanted, is_checked)?;
            self.keep(wanted);
        }
        Ok(())
    }

    /// Whether the buffer holds a page, or does now because it was kept.
    pub fn find(&mut self, page: PageIndex, wanted: Wanted, is_checked: bool) -> bool {
        if self.held == page && (self.held_is_checked || !is_checked) {
            return true;
        }
        let is_kept = self.read_cache.find(page, wanted, &mut self.buffer[..self.page_bytes]);
        if is_kept {
            (self.held, self.held_is_checked) = (page, true);
        }
        is_kept
    }

    /// Whether a page that the caller reads as a whole is neither kept nor to be: one of a few is, so that those that pass by do not take the places of all others.
    pub fn passes_by(&mut self, page: PageIndex, wanted: Wanted, is_checked: bool) -> bool {
        !self.find(page, wanted, is_checked) && !self.read_cache.takes_turn(self.page_bytes)
    }

    /// Keeps the page that the buffer holds, if it was checked: what was misread is read again.
    pub fn keep(&mut self, wanted: Wanted) {
        if self.held_is_checked {
            self.read_cache.keep(self.held, wanted, &self.buffer[..self.page_bytes]);
        }
    }

    /// Reads a page into the buffer, whatever is there, and checks it.
    pub fn load_anew(&mut self, page: PageIndex, wanted: Wanted, is_checked: bool) -> Result<(), Error> {
        let is_sound = if is_checked {
            self.read_sound(page, wanted)?
        } else {
            let mut tag = [0; TAG_BYTES];
            self.read_page(page, &mut tag)? && check_page(None, &tag, wanted.kinds, wanted.logical).is_ok()
        };
        if !is_sound {
            return Err(Error::Corrupt);
        }
        (self.held, self.held_is_checked) = (page, is_checked);
        Ok(())
    }

    /// Reads a page into the buffer and tells whether it is what it should be, in as many looks as are wanted.
    pub fn read_sound(&mut self, page: PageIndex, wanted: Wanted) -> Result<bool, Error> {
        for _ in 0..wanted.tries {
            let mut tag = [0; TAG_BYTES];
            if self.read_page(page, &mut tag)?
                && check_page(Some(self.check_as(kind_of(&tag))), &tag, wanted.kinds, wanted.logical).is_ok()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a page into the buffer; `false` when it cannot be read.
    pub fn read_page(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        self.held = NONE;
        let result = self.device.flash_mut().read(page, &mut self.buffer[..self.page_bytes], tag);
        was_read(self.watched(page, result))
    }

    /// Reads page `index` of several that belong together to its place in the buffer.
    pub fn read_part(&mut self, page: PageIndex, index: u32, tag: &mut [u8; TAG_BYTES]) -> Result<u32, Failure> {
        self.held = NONE;
        let here = &mut self.buffer[index as usize * self.page_bytes..][..self.page_bytes];
        let result = self.device.flash_mut().read(page, here, tag);
        let check = self.device.flash_mut().checksum(here, 0);
        self.watched(page, result).map(|()| check)
    }

    /// Reads a page to where the caller has room; the buffer stays.
    pub fn read_to(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        let result = self.device.flash_mut().read(page, data, tag);
        self.watched(page, result)
    }

    /// Reads pages that follow each other in a block, as many as one command takes, to where the caller has room; the buffer stays.
    pub fn read_many(&mut self, first: PageIndex, data: &mut [u8], tags: &mut [[u8; TAG_BYTES]]) -> Result<usize, Failure> {
        let count = self.device.flash_mut().read_many(first, data, tags)?;
        self.watched(first, Ok(())).map(|()| count)
    }

    /// Reads some bytes of a block to their place in the buffer; `false` when they cannot be read.
    pub fn read_bytes(&mut self, block: BlockIndex, offset: u32, part: Range<usize>) -> Result<bool, Error> {
        self.held = NONE;
        was_read(self.device.flash_mut().read_bytes(block, offset, &mut self.buffer[part]))
    }

    /// Reads a tag; `false` when it cannot be read.
    pub fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        let result = self.device.flash_mut().read_tag(page, tag);
        was_read(self.watched(page, result))
    }

    /// Reads a tag, several times if it cannot be read; `false` when it never can.
    pub fn read_tag_anyhow(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        for _ in 0..TRIES {
            if self.read_tag(page, tag)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a page into the buffer, several times if it is damaged; its tag, when it has the right checksum and kind.
    pub fn read_tagged(&mut self, page: PageIndex, kinds: Kinds) -> Result<Option<Tag>, Error> {
        self.read_tagged_in(TRIES, page, kinds)
    }

    /// As [`read_tagged`](Self::read_tagged), in so many tries.
    pub fn read_tagged_in(&mut self, tries: u32, page: PageIndex, kinds: Kinds) -> Result<Option<Tag>, Error> {
        let mut bytes = [0; TAG_BYTES];
        for _ in 0..tries {
            if self.read_page(page, &mut bytes)? {
                if let Some(tag) = Tag::checked(&bytes, self.check_as(kind_of(&bytes))) {
                    return Ok(Some(tag).filter(|tag| kinds.has(tag.kind)));
                }
                // What was whole may read as blank as well.
                if tries == TRIES && is_blank(&bytes) {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// The tag of a page that is what it says, checksum and all, or that was programmed as one whose content is lost: its checksum proves that, the data has
    /// none.
    pub fn record_tag(&mut self, page: PageIndex, kinds: Kinds) -> Result<Option<Tag>, Error> {
        if let Some(tag) = self.read_tagged(page, kinds)? {
            return Ok(Some(tag));
        }
        let mut tag = [0; TAG_BYTES];
        let is_lost = self.read_tag_anyhow(page, &mut tag)? && Tag::carried_check(&tag) == LOST_CHECK;
        Ok(Tag::parse(&tag).filter(|tag| is_lost && kinds.has(tag.kind)))
    }

    /// Whether a page reads as erased.
    pub fn is_blank(&mut self, page: PageIndex) -> Result<bool, Error> {
        Ok(self.is_blank_anyhow(page)? == Some(true))
    }

    /// The same; `None` where it cannot be read.
    pub fn is_blank_anyhow(&mut self, page: PageIndex) -> Result<Option<bool>, Error> {
        let mut tag = [0; TAG_BYTES];
        Ok(self.read_tag_anyhow(page, &mut tag)?.then(|| is_blank(&tag)))
    }

    /// Erases a block.
    pub fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.held = NONE;
        self.hide();
        self.erases = self.erases.wrapping_add(1);
        let pages = u32::from(self.pages_per_block);
        self.read_cache.forget(block * pages, pages, self.page_bytes);
        self.device.certain()?.erase(block)
    }

    /// Erases so far, those included that failed: the low bits, to be compared.
    pub fn erases(&self) -> u16 {
        self.erases
    }

    /// Empties the device's cache; [`Error::Unknown`] where that fails, and nothing changes the medium from then on.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.device.flush()
    }

    /// Before what proves that all before it is there: empties the cache of a device that does not keep the order.
    pub fn keep_order(&mut self) -> Result<(), Error> {
        if self.device.flash().reorders() {
            self.flush()?;
        }
        Ok(())
    }

    /// Notes what the ECC did in a read.
    fn watched(&mut self, page: PageIndex, result: Result<(), Failure>) -> Result<(), Failure> {
        if self.device.flash().is_clean() {
            return result;
        }
        let corrected = if result.is_ok() { self.device.flash_mut().corrected() } else { Default::default() };
        self.watch.note(page / u32::from(self.pages_per_block), result, &corrected);
        result
    }
}

/// What a tag says that its page is, checked or not.
pub(crate) fn kind_of(tag: &[u8; TAG_BYTES]) -> Option<Kind> {
    Tag::parse(tag).map(|tag| tag.kind)
}

/// Whether a read brought anything. Only a device that does not answer is an error.
pub(crate) fn was_read(result: Result<(), Failure>) -> Result<bool, Error> {
    match result {
        Ok(()) => Ok(true),
        Err(Failure::Device) => Err(Error::Device),
        Err(_) => Ok(false),
    }
}

/// Checks a page that was read: the checksum of its data, if that is known, what it is, and of which logical page.
pub(crate) fn check_page(data_check: Option<u32>, tag: &[u8; TAG_BYTES], kinds: Kinds, logical: u32) -> Result<(), Error> {
    let found = match data_check {
        Some(check) => Tag::checked(tag, check),
        None => Tag::parse(tag).filter(|_| Tag::carried_check(tag) != LOST_CHECK),
    };
    match found {
        Some(tag) if kinds.has(tag.kind) && tag.logical == logical => Ok(()),
        _ => Err(Error::Corrupt),
    }
}
