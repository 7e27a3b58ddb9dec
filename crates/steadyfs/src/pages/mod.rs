//! The medium, and a buffer in RAM for one of its pages.
//!
//! All reads and programs go through this module. The page buffer *holds* a page of the medium.
//! When a caller borrows the buffer to change it, the buffer no longer counts as holding a page. So
//! a changed buffer is never taken for a page that was read. Every read is [watched](watch): the
//! corrections of the ECC are recorded for the layer above, which keeps the state of the blocks.

mod device;
mod expect;
mod group;
mod programs;
mod read_cache;
mod resident;
mod watch;

pub(crate) use expect::Expect;
pub(crate) use group::Group;
pub(crate) use read_cache::{
    CONTROL_BYTES as READ_CACHE_CONTROL_BYTES, HEAD_BYTES as READ_CACHE_HEAD_BYTES,
};
pub(crate) use watch::Watch;
#[cfg(feature = "scrub")]
pub(crate) use watch::is_weak;

use crate::config::Layout;
use crate::error::Error;
use crate::media::{
    BlockIndex, Failure, Flash, PageIndex, TAG_BYTES, Tag, TagKind, TagKinds, is_blank,
};
use core::ops::Range;
use device::Device;
use read_cache::ReadCache;
use resident::{NONE, Resident};

/// Number of reads of a damaged page before it counts as lost.
pub(crate) const TRIES: u32 = 3;
/// Largest number of reads of a page that was sound and may read differently each time. The reads
/// end when the page is sound again.
pub(crate) const UNSTEADY_TRIES: u32 = 24;
/// The checksum of a page whose data is lost.
pub(crate) const LOST_CHECK: u32 = 0x7473_6F6C;

/// The buffer holds no page of the medium. It holds a page that was made for the caller, with the
/// patches laid over the page's data.
const MADE: PageIndex = PageIndex::MAX - 1;

/// The pages whose checksum is verified at every read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verify {
    /// All pages.
    #[default]
    Always,
    /// Pages of the file system itself, and every page that is read to be written again. Data pages
    /// that [`read`](crate::FileSystem::read) returns to the caller are not verified. The tag of
    /// such a page must still be right, and the device's ECC must report success.
    ///
    /// A mount verifies the checksum of every page that a power cut may have torn. So this setting
    /// relies on the medium only for one thing: data that was written completely stays correct. It
    /// suits flash behind an ECC.
    Metadata,
}

/// The medium, and its page buffer. See the [module](self).
pub(crate) struct Pages<'m, F> {
    device: Device<F>,
    /// One program page, with room behind it for a journal record longer than a page.
    buffer: &'m mut [u8],
    page_bytes: usize,
    pages_per_block: u16,
    /// Number of bytes at the end of a leaf's page that its checksum treats as blank.
    leaf_log_bytes: u16,
    /// The program page that the buffer holds, or [`NONE`].
    held: PageIndex,
    /// True if the checksum of the held page was verified.
    held_is_checked: bool,
    /// The page of a logical page that was looked up last. If a program page has its complete
    /// content, this program page is recorded too.
    resident: Resident,
    /// The setting for the verification of the caller's pages.
    verify: Verify,
    /// Number of erases so far, including failed erases; only the low bits.
    erases: u16,
    watch: Watch,
    read_cache: ReadCache<'m>,
}

impl<'m, F: Flash> Pages<'m, F> {
    /// Creates the state with all of `buffer` as the page buffer: room for one page, and room
    /// behind it for a longer record.
    pub fn new(flash: F, buffer: &'m mut [u8], layout: &Layout) -> Self {
        Self {
            device: Device::new(flash),
            buffer,
            page_bytes: layout.geometry.page_bytes as usize,
            pages_per_block: layout.geometry.pages_per_block as u16,
            leaf_log_bytes: layout.leaf_log_bytes() as u16,
            held: NONE,
            held_is_checked: true,
            resident: Resident::NOTHING,
            verify: Verify::Always,
            erases: 0,
            watch: Watch::default(),
            read_cache: ReadCache::new(&mut []),
        }
    }

    /// Returns the medium.
    pub fn flash(&self) -> &F {
        self.device.flash()
    }

    /// Returns the medium, mutable.
    pub fn flash_mut(&mut self) -> &mut F {
        self.device.flash_mut()
    }

    /// Returns true if a page can be programmed only once between two erases. A page of a device of
    /// sectors can be programmed more often.
    pub fn takes_pages_once(&self) -> bool {
        !self.flash().reorders() && !self.flash().hides_damage()
    }

    /// Gives the medium back.
    pub fn into_flash(self) -> F {
        self.device.into_flash()
    }

    /// Sets the memory of the read cache. The new memory replaces the earlier memory and the pages
    /// in it.
    #[cfg(feature = "read-cache")]
    pub fn lend_read_cache(&mut self, memory: &'m mut [u8]) {
        self.read_cache = ReadCache::new(memory);
    }

    /// Sets which pages are verified.
    pub fn set_verify(&mut self, verify: Verify) {
        self.invalidate_resident();
        self.verify = verify;
    }

    /// Returns true if the caller's pages are verified at every read. Pages that may read
    /// differently each time are verified in any case.
    pub fn checks_content(&self) -> bool {
        self.device.flash().is_clean() || self.verify == Verify::Always
    }

    /// Returns the recorded results of reads.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Returns the recorded results of reads, mutable.
    pub fn watch_mut(&mut self) -> &mut Watch {
        &mut self.watch
    }

    /// Returns the page in the buffer.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.page_bytes]
    }

    /// Returns the page in the buffer, mutable. The buffer then holds no page of the medium.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.held = NONE;
        &mut self.buffer[..self.page_bytes]
    }

    /// Returns the page and the room behind it.
    pub fn long(&self) -> &[u8] {
        self.buffer
    }

    /// Returns the page and the room behind it, mutable. The buffer then holds no page of the
    /// medium.
    pub fn long_mut(&mut self) -> &mut [u8] {
        self.held = NONE;
        self.buffer
    }

    /// Returns the medium, for its checksum function, and the held page, mutable. The buffer still
    /// counts as holding the page. The caller completes the page with data that is not on it.
    pub fn complete_mut(&mut self) -> (&mut F, &mut [u8]) {
        (self.device.flash_mut(), &mut self.buffer[..self.page_bytes])
    }

    /// Returns true if the buffer holds this page of the medium.
    pub fn holds(&self, page: PageIndex) -> bool {
        self.held == page
    }

    /// Returns page `index` of a logical page as the caller sees it, if the buffer holds this
    /// content.
    #[inline(always)]
    pub fn resident(&self, logical: u32, index: u32) -> Option<&[u8]> {
        self.resident.is_by(self.held, logical, index).then(|| self.bytes())
    }

    /// Records that a program page is the complete content of page `index` of a logical page.
    /// The record lasts until it is [invalidated](Self::invalidate_resident).
    pub fn set_resident(&mut self, page: PageIndex, logical: u32, index: u32) {
        self.resident = Resident::new(page, logical, index);
    }

    /// Records that the buffer is the complete content of page `index` of a logical page. The
    /// content was made, and is no page of the medium.
    pub fn show_made(&mut self, logical: u32, index: u32) {
        self.held = MADE;
        self.set_resident(MADE, logical, index);
    }

    /// Records that the caller reads page `index` of a logical page. Returns true if the
    /// caller's last read was of the same page.
    pub fn asks_again(&mut self, logical: u32, index: u32) -> bool {
        let is_again = self.resident.is_of(logical, index);
        self.set_resident(NONE, logical, index);
        is_again
    }

    /// Ends the record of [`set_resident`](Self::set_resident), because the content may change.
    pub fn invalidate_resident(&mut self) {
        self.resident = Resident::NOTHING;
    }

    /// Marks the buffer as holding no page.
    pub fn forget(&mut self) {
        self.held = NONE;
    }

    /// Returns the checksum of `bytes` followed by `missing` erased bytes.
    pub fn checksum(&mut self, bytes: &[u8], missing: usize) -> u32 {
        self.device.flash_mut().checksum(bytes, missing)
    }

    /// Returns the checksum of the page in the buffer.
    pub fn check(&mut self) -> u32 {
        self.device.flash_mut().checksum(&self.buffer[..self.page_bytes], 0)
    }

    /// Returns the checksum of a part of the buffer.
    pub fn check_of(&mut self, part: Range<usize>) -> u32 {
        self.device.flash_mut().checksum(&self.buffer[part], 0)
    }

    /// Returns the checksum of the page in the buffer under a tag of this kind. The checksum of
    /// a leaf treats its log as blank.
    pub fn check_as(&mut self, kind: Option<TagKind>) -> u32 {
        let logged = kind.is_some_and(|kind| TagKinds::LEAF.has(kind));
        let missing = if logged { usize::from(self.leaf_log_bytes) } else { 0 };
        self.device.flash_mut().checksum(&self.buffer[..self.page_bytes - missing], missing)
    }

    /// Makes a page in the buffer whose checksum differs from the checksum of a lost page.
    pub fn fill_lost(&mut self) {
        // At most one of the two pages can have that checksum.
        for byte in [0, 1] {
            self.bytes_mut().fill(byte);
            if self.check() != LOST_CHECK {
                break;
            }
        }
    }

    /// Reads a page into the buffer and verifies it, unless the buffer or the read cache has it.
    pub fn load(&mut self, page: PageIndex, expected: Expect) -> Result<(), Error> {
        if self.find(page, expected, true) {
            Ok(())
        } else {
            self.read_uncached(page, expected, true)
        }
    }

    /// Reads a page into the buffer as [`load`](Self::load) does, and keeps it in the read
    /// cache. Verifies the checksum only if `is_checked`.
    pub fn read_cached(
        &mut self,
        page: PageIndex,
        expected: Expect,
        is_checked: bool,
    ) -> Result<(), Error> {
        if !self.find(page, expected, is_checked) {
            self.read_uncached(page, expected, is_checked)?;
            self.keep(expected);
        }
        Ok(())
    }

    /// Returns true if the buffer holds the page, or if the page was found in the read cache and
    /// copied into the buffer.
    pub fn find(&mut self, page: PageIndex, expected: Expect, is_checked: bool) -> bool {
        // The buffer costs nothing, so it comes before the cache.
        if self.held == page && (self.held_is_checked || !is_checked) {
            return true;
        }
        let is_kept = self.read_cache.find(page, expected, &mut self.buffer[..self.page_bytes]);
        if is_kept {
            (self.held, self.held_is_checked) = (page, true);
        }
        is_kept
    }

    /// Returns true if a page that the caller reads as a whole is not cached, and must not be
    /// cached now. Only one of some such pages is cached, so that they do not evict all other
    /// pages.
    pub fn bypasses_cache(&mut self, page: PageIndex, expected: Expect, is_checked: bool) -> bool {
        !self.find(page, expected, is_checked) && !self.read_cache.admits(self.page_bytes)
    }

    /// Keeps the held page in the read cache if it was verified. A page that was not verified may
    /// be misread, so it must be read again.
    pub fn keep(&mut self, expected: Expect) {
        if self.held_is_checked {
            self.read_cache.keep(self.held, expected, &self.buffer[..self.page_bytes]);
        }
    }

    /// Reads a page from the medium into the buffer, even if the buffer or the read cache holds the
    /// page. Verifies the checksum only if `is_checked`.
    pub fn read_uncached(
        &mut self,
        page: PageIndex,
        expected: Expect,
        is_checked: bool,
    ) -> Result<(), Error> {
        let is_sound = if is_checked {
            self.read_sound(page, expected)?
        } else {
            let mut tag = [0; TAG_BYTES];
            self.read_page(page, &mut tag)?
                && check_page(None, &tag, expected.kinds, expected.logical).is_ok()
        };
        if !is_sound {
            return Err(Error::Corrupt);
        }
        (self.held, self.held_is_checked) = (page, is_checked);
        Ok(())
    }

    /// Reads a page into the buffer, at most `expected.tries` times. Returns true if a read
    /// returned the wanted page with the right checksum.
    pub fn read_sound(&mut self, page: PageIndex, expected: Expect) -> Result<bool, Error> {
        for _ in 0..expected.tries {
            let mut tag = [0; TAG_BYTES];
            if self.read_page(page, &mut tag)?
                && check_page(
                    Some(self.check_as(kind_of(&tag))),
                    &tag,
                    expected.kinds,
                    expected.logical,
                )
                .is_ok()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a page into the buffer. Returns `false` if it cannot be read.
    pub fn read_page(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        self.held = NONE;
        let result = self.device.flash_mut().read(page, &mut self.buffer[..self.page_bytes], tag);
        was_read(self.watched(page, result))
    }

    /// Reads page `index` of a record of several pages to the page's offset in the buffer. Returns
    /// the checksum of the data.
    pub fn read_part(
        &mut self,
        page: PageIndex,
        index: u32,
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<u32, Failure> {
        self.held = NONE;
        let here = &mut self.buffer[index as usize * self.page_bytes..][..self.page_bytes];
        let result = self.device.flash_mut().read(page, here, tag);
        let check = self.device.flash_mut().checksum(here, 0);
        self.watched(page, result).map(|()| check)
    }

    /// Reads a page into the caller's memory. The buffer does not change.
    pub fn read_to(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let result = self.device.flash_mut().read(page, data, tag);
        self.watched(page, result)
    }

    /// Reads consecutive pages of a block into the caller's memory: as many as one command can
    /// read. Returns the number of pages that were read. The buffer does not change.
    pub fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        let count = self.device.flash_mut().read_many(first, data, tags)?;
        self.watched(first, Ok(())).map(|()| count)
    }

    /// Reads bytes of a block into the range `part` of the buffer. Returns `false` if the bytes
    /// cannot be read.
    pub fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        part: Range<usize>,
    ) -> Result<bool, Error> {
        self.held = NONE;
        was_read(self.device.flash_mut().read_bytes(block, offset, &mut self.buffer[part]))
    }

    /// Reads a tag. Returns `false` if it cannot be read.
    pub fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        let result = self.device.flash_mut().read_tag(page, tag);
        was_read(self.watched(page, result))
    }

    /// Reads a tag, several times if needed. Returns `false` if no try succeeds.
    pub fn read_tag_with_retry(
        &mut self,
        page: PageIndex,
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<bool, Error> {
        for _ in 0..TRIES {
            if self.read_tag(page, tag)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a page into the buffer, several times if it is damaged. Returns the page's tag if
    /// checksum and kind are right.
    pub fn read_tagged(&mut self, page: PageIndex, kinds: TagKinds) -> Result<Option<Tag>, Error> {
        self.read_tagged_in(TRIES, page, kinds)
    }

    /// Reads a page as [`read_tagged`](Self::read_tagged) does, in at most `tries` tries.
    pub fn read_tagged_in(
        &mut self,
        tries: u32,
        page: PageIndex,
        kinds: TagKinds,
    ) -> Result<Option<Tag>, Error> {
        let mut bytes = [0; TAG_BYTES];
        for _ in 0..tries {
            if self.read_page(page, &mut bytes)? {
                if let Some(tag) = Tag::checked(&bytes, self.check_as(kind_of(&bytes))) {
                    return Ok(Some(tag).filter(|tag| kinds.has(tag.kind)));
                }
                // The caller passes more tries than usual for a page that was sound before. Such a
                // page may read as blank once, so it is read again.
                if tries == TRIES && is_blank(&bytes) {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Returns the tag of a record. The record's page has a right checksum, or was programmed as
    /// lost. The checksum in the tag of a lost page proves only that the page was programmed as
    /// lost, and does not cover its data.
    pub fn record_tag(&mut self, page: PageIndex, kinds: TagKinds) -> Result<Option<Tag>, Error> {
        if let Some(tag) = self.read_tagged(page, kinds)? {
            return Ok(Some(tag));
        }
        let mut tag = [0; TAG_BYTES];
        let is_lost =
            self.read_tag_with_retry(page, &mut tag)? && Tag::carried_check(&tag) == LOST_CHECK;
        Ok(Tag::parse(&tag).filter(|tag| is_lost && kinds.has(tag.kind)))
    }

    /// Returns true if a page reads as erased.
    pub fn is_blank(&mut self, page: PageIndex) -> Result<bool, Error> {
        Ok(self.is_blank_with_retry(page)? == Some(true))
    }

    /// Returns true if a page reads as erased, or `None` if it cannot be read.
    pub fn is_blank_with_retry(&mut self, page: PageIndex) -> Result<Option<bool>, Error> {
        let mut tag = [0; TAG_BYTES];
        Ok(self.read_tag_with_retry(page, &mut tag)?.then(|| is_blank(&tag)))
    }

    /// Erases a block.
    pub fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.held = NONE;
        self.invalidate_resident();
        self.erases = self.erases.wrapping_add(1);
        let pages = u32::from(self.pages_per_block);
        // The pages are gone, even if the erase fails.
        self.read_cache.forget(block * pages, pages, self.page_bytes);
        self.device.certain()?.erase(block)
    }

    /// Returns the number of erases so far, including failed erases: the low bits, for
    /// comparisons.
    pub fn erases(&self) -> u16 {
        self.erases
    }

    /// Flushes the device's cache. If the flush fails, returns [`Error::Unknown`], and nothing
    /// changes the medium from then on.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.device.flush()
    }

    /// Flushes the cache of a device that reorders. Call it before a program that, once it is
    /// found, proves that all earlier programs are on the medium.
    pub fn keep_order(&mut self) -> Result<(), Error> {
        if self.device.flash().reorders() {
            self.flush()?;
        }
        Ok(())
    }

    /// Records the ECC's work in a read.
    fn watched(&mut self, page: PageIndex, result: Result<(), Failure>) -> Result<(), Failure> {
        // A reader of a clean volume changes nothing, so it does not react to weak pages.
        if self.device.flash().is_clean() {
            return result;
        }
        let corrected =
            if result.is_ok() { self.device.flash_mut().corrected() } else { Default::default() };
        self.watch.note(page / u32::from(self.pages_per_block), result, &corrected);
        result
    }
}

/// Returns the kind that a tag names, without a check of the page.
pub(crate) fn kind_of(tag: &[u8; TAG_BYTES]) -> Option<TagKind> {
    Tag::parse(tag).map(|tag| tag.kind)
}

/// Returns true if a read returned data, and false if the data cannot be read. Only a device that
/// does not answer is an error.
pub(crate) fn was_read(result: Result<(), Failure>) -> Result<bool, Error> {
    match result {
        Ok(()) => Ok(true),
        Err(Failure::Device) => Err(Error::Device),
        Err(_) => Ok(false),
    }
}

/// Checks a page that was read: the checksum of its data (if `data_check` is not `None`), its kind,
/// and its logical page.
pub(crate) fn check_page(
    data_check: Option<u32>,
    tag: &[u8; TAG_BYTES],
    kinds: TagKinds,
    logical: u32,
) -> Result<(), Error> {
    let found = match data_check {
        Some(check) => Tag::checked(tag, check),
        None => Tag::parse(tag).filter(|_| Tag::carried_check(tag) != LOST_CHECK),
    };
    match found {
        Some(tag) if kinds.has(tag.kind) && tag.logical == logical => Ok(()),
        _ => Err(Error::Corrupt),
    }
}
