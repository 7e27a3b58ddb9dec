//! The present generation of a block. Two headers name it. If one header is lost, the tags of the
//! block are read as well.
//!
//! ```text
//! erase, usually               odd header ← present + 1, even one ← present + 2
//!                              (a cut leaves one of them)
//! erase, after such a cut      header of the lesser generation ← present + 1
//!   (the present one is odd)
//! erase, one header is lost    both headers, the lost one first ← present + 1, + 2
//! program, one header is lost  at the first place of the block: an erase (nothing in the block is
//!                              needed any more); behind it: lost header ← present, read back
//! ```
//!
//! *A header that cannot be read today may be readable tomorrow, and name a newer generation.* Data
//! that was programmed under the older generation would then be lost. So the lost header is written
//! anew before a page of the block is programmed. The new header needs no flush of its own. If a
//! power cut removes it from the device's cache, the header is as before. The data that was
//! programmed after it was not flushed either.
//!
//! *A power cut during an erase may tear both headers*, if the device reorders. The old contents of
//! the block are not needed then. But some of the old tags may remain. If a new generation had the
//! number of an old one, pages with these tags would become valid again. So the tags are read if a
//! header shows that it was torn.
//!
//! The even header is the first sector of the block, and an erase writes it last if possible. If a
//! card was last written at this sector, it continues with the pages behind the sector as one
//! sequence. If the beginning of a block was written long ago, a card treats the pages of the block
//! as single writes.

use super::device::{SECTOR_BYTES, SectorDevice};
use super::layout::{HEADERS, SectorLayout, TagPlace};
use super::sector::{
    Generation, HEADER, PAGE, TAG_PART, VOLUME_AT, is_sound, seal, was_read, word,
};
use super::suspects::Suspects;
use crate::fields::Fields;
use crate::media::{BlockIndex, Failure, PageIndex};

/// Number of attempts to read a header before it counts as lost.
const TRIES: u32 = 3;
/// Number of blocks whose generation is kept in RAM.
const KNOWN: usize = 16;

/// Generations in both headers of a block; 0 for a header that is lost, or was never written.
type Headers = [Generation; HEADERS as usize];

/// Cached state of a block.
#[derive(Clone, Copy, Debug)]
struct Known {
    block: BlockIndex,
    generation: Generation,
    /// True if both headers can be read. Data that is programmed under an uncertain generation
    /// may be lost later.
    is_certain: bool,
}

impl Known {
    const NOTHING: Self = Self { block: BlockIndex::MAX, generation: 0, is_certain: false };
}

/// A device with the cached generations of its blocks.
#[derive(Clone, Debug)]
pub(super) struct SectorBlocks<D> {
    pub device: D,
    pub layout: SectorLayout,
    /// The sector that was read last, or is written next.
    pub sector: [u8; SECTOR_BYTES],
    /// Blocks and their generations. A block can be stored at only one index of this table.
    known: [Known; KNOWN],
    pub suspects: Suspects,
}

impl<D> SectorBlocks<D> {
    pub fn new(device: D, layout: SectorLayout) -> Self {
        Self {
            device,
            layout,
            sector: [0; SECTOR_BYTES],
            known: [Known::NOTHING; KNOWN],
            suspects: Suspects::NONE,
        }
    }

    /// Discards the cached generations of blocks and the stored failures.
    pub fn forget(&mut self) {
        self.known = [Known::NOTHING; KNOWN];
        self.suspects = Suspects::NONE;
    }
}

impl<D: SectorDevice> SectorBlocks<D> {
    /// Returns the present generation of a block; 0 if it has never been erased.
    pub fn generation(&mut self, block: BlockIndex) -> Result<Generation, Failure> {
        Ok(self.known_of(block)?.generation)
    }

    fn known_of(&mut self, block: BlockIndex) -> Result<Known, Failure> {
        let known = self.known[block as usize % KNOWN];
        if known.block == block {
            Ok(known)
        } else {
            self.find_generation(block).map(|(known, _)| known)
        }
    }

    /// Returns the generation under which a page can be programmed. If a header of the block is
    /// lost, it first writes the header anew.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if a header does not hold the bytes that were written to it.
    pub fn certain_generation(&mut self, page: PageIndex) -> Result<Generation, Failure> {
        let pages = self.layout.pages_per_block();
        let block = page / pages;
        let mut known = self.known_of(block)?;
        if !known.is_certain {
            // The header may be readable by now.
            let headers;
            (known, headers) = self.find_generation(block)?;
            if !known.is_certain {
                known = self.mend(known, headers, page.is_multiple_of(pages))?;
            }
        }
        Ok(known.generation)
    }

    /// Writes the lost headers of a block anew.
    fn mend(
        &mut self,
        known: Known,
        headers: Headers,
        is_first_page: bool,
    ) -> Result<Known, Failure> {
        let Known { block, generation, .. } = known;
        // A write below may fail. So the cached generation is removed, and the headers are read
        // again.
        self.known[block as usize % KNOWN] = Known::NOTHING;
        if is_first_page || generation == 0 {
            // The caller programs the first page of a block only after an erase, so no page of the
            // block is needed. The lost header may belong to that erase. The generation that begins
            // now is newer than the lost header.
            self.begin_generation(block, generation, headers)?;
        } else {
            // Earlier pages of the block may be needed, so the present generation stays.
            for (slot, _) in (0..).zip(headers).filter(|(_, header)| *header == 0) {
                self.write_header(block, slot, generation)?;
            }
        }
        // Only a header that reads back is certain.
        match self.find_generation(block)?.0 {
            known if known.is_certain => Ok(known),
            _ => Err(Failure::BadBlock),
        }
    }

    /// Erases a block: begins a new generation of it.
    pub fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let present = self.generation(block)?;
        let (headers, _) = self.headers(block)?;
        // If a write below fails, the headers must be read again.
        self.known[block as usize % KNOWN] = Known::NOTHING;
        // The volume does not depend on the discard. If the device does not answer any more, the
        // writes of the headers fail as well.
        let _ = self
            .device
            .discard(self.layout.header(block) + HEADERS, self.layout.block_sectors - HEADERS);
        self.begin_generation(block, present, headers)
    }

    /// Begins a generation of a block. It is newer than the present generation and than the
    /// generations in both headers.
    ///
    /// # Power loss
    /// The block has the new generation or the present one. The header that is not needed for the
    /// present generation is written first.
    fn begin_generation(
        &mut self,
        block: BlockIndex,
        present: Generation,
        headers: Headers,
    ) -> Result<(), Failure> {
        let [even, odd] = headers;
        // The newer header is not changed before the other header is written.
        let spare = u32::from(odd <= even);
        let next = present.max(even).max(odd) + 1;
        // The lowest bit of a generation selects its header.
        let first = next + u32::from(next % HEADERS != spare);
        // Both headers are written, if one of them is lost or was never written.
        let last = if headers.contains(&0) { first + 1 } else { first.next_multiple_of(HEADERS) };
        for generation in first..=last {
            self.write_header(block, generation % HEADERS, generation)?;
        }
        self.known[block as usize % KNOWN] = Known { block, generation: last, is_certain: true };
        Ok(())
    }

    fn write_header(
        &mut self,
        block: BlockIndex,
        slot: u32,
        generation: Generation,
    ) -> Result<(), Failure> {
        self.sector.fill(0);
        let mut fields = Fields::new(&mut self.sector[12..]);
        for number in [self.layout.sectors, self.layout.block_sectors, self.layout.page_bytes] {
            fields.put(4, number.into());
        }
        fields.put(1, self.layout.tags.number().into());
        seal(&mut self.sector, HEADER, generation, self.layout.volume);
        self.suspects.write(&mut self.device, self.layout.header(block) + slot, &[&self.sector])
    }

    /// Reads both headers of a block, and derives its present generation.
    fn find_generation(&mut self, block: BlockIndex) -> Result<(Known, Headers), Failure> {
        let (headers, are_torn) = self.headers(block)?;
        let generation = match headers {
            // The block was never erased: its first page has no tag, or belongs to another volume.
            // If the first page has a tag of this volume, the block was erased, and both headers
            // are lost.
            [0, 0] if !are_torn && self.tag_at(block * self.layout.pages_per_block())? == 0 => 0,
            // A power cut tore a header with a newer generation, or a lost header may have had a
            // newer generation. The tags show the newest generation.
            [0, one] | [one, 0] => one.max(self.newest_tag(block)?),
            [even, odd] => even.max(odd),
        };
        let known = Known { block, generation, is_certain: !headers.contains(&0) };
        self.known[block as usize % KNOWN] = known;
        Ok((known, headers))
    }

    /// Returns the generations in both headers of a block. The second value is true if a header was
    /// torn: the header cannot be read, or is only a part of a header.
    fn headers(&mut self, block: BlockIndex) -> Result<(Headers, bool), Failure> {
        let (mut found, mut are_torn) = ([0; HEADERS as usize], false);
        for (at, found) in (self.layout.header(block)..).zip(&mut found) {
            let mut is_torn = true;
            for _ in 0..TRIES {
                if was_read(self.device.read(at, &mut [&mut self.sector]))? {
                    *found = if self.is_own(HEADER) { word(&self.sector, 8) } else { 0 };
                    // A readable sector was torn only if it begins like a header.
                    is_torn = self.sector.starts_with(HEADER) && !is_sound(&self.sector, HEADER);
                    break;
                }
            }
            are_torn |= is_torn;
        }
        Ok((found, are_torn))
    }

    /// Reads the tag of a page into the buffer. The buffer then looks like the sector of a tag,
    /// even if the tag lies within its page.
    pub fn read_tag(&mut self, page: PageIndex) -> Result<(), Failure> {
        self.device.read(self.layout.places(page).0, &mut [&mut self.sector])?;
        if self.layout.tags == TagPlace::Within {
            self.sector.copy_within(SECTOR_BYTES - TAG_PART.len().., TAG_PART.start);
            self.sector[..PAGE.len()].copy_from_slice(PAGE);
        }
        Ok(())
    }

    /// Returns the generation in a page's tag; 0 if there is no tag.
    fn tag_at(&mut self, page: PageIndex) -> Result<Generation, Failure> {
        let is_read = was_read(self.read_tag(page))?;
        Ok(if is_read && self.is_own(PAGE) { word(&self.sector, 8) } else { 0 })
    }

    /// Returns true if the buffered sector is of the kind `magic`, and belongs to this volume.
    pub fn is_own(&self, magic: &[u8; 8]) -> bool {
        is_sound(&self.sector, magic) && word(&self.sector, VOLUME_AT) == self.layout.volume
    }

    /// Returns the newest generation in the tags of a block.
    fn newest_tag(&mut self, block: BlockIndex) -> Result<Generation, Failure> {
        let (pages, mut newest) = (self.layout.pages_per_block(), 0);
        for page in block * pages..(block + 1) * pages {
            newest = newest.max(self.tag_at(page)?);
        }
        Ok(newest)
    }
}
