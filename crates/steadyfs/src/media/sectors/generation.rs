//! Which generation of a block is the present one: two headers say so, and tags where one of them is lost.
//!
//! ```text
//! erase:   odd header ← present + 1, even one ← present + 2                        a cut leaves one of them
//!          header of the lesser generation ← present + 1                           where the present one is odd, after a cut
//!          both headers, the lost one first ← present + 1, + 2                     where one of them is lost
//! program: lost header ← present, read back                                        behind the first place of the block
//!          an erase                                                                at the first place: nothing in the block is needed any more
//! ```
//!
//! *A header that cannot be read today may be readable tomorrow, and the newer one.* What is programmed under an older generation would be gone then. So
//! nothing is programmed before both headers say what counts. That needs no flush of its own: a header that a power cut takes back out of the cache is as before, and what was
//! programmed since was not flushed either.
//!
//! *Both headers of an erase may be torn*, where a device reorders. Nothing that the block held is needed then, but tags of it may be left that a new
//! generation must not revive: they are looked at where a header shows that it was torn.
//!
//! The even header is the first sector of the block, and an erase writes it last where it can: a card that was written there goes on behind it, and takes the pages of a block
//! whose begin is old for single ones.

use super::device::{SECTOR_BYTES, SectorDevice};
use super::layout::{HEADERS, SectorLayout, TagPlace};
use super::sector::{Generation, HEADER, PAGE, TAG_PART, VOLUME_AT, is_sound, seal, was_read, word};
use super::suspects::Suspects;
use crate::fields::Fields;
use crate::media::{BlockIndex, Failure, PageIndex};

/// Looks at a header before it is taken for lost.
const TRIES: u32 = 3;
/// Blocks of which the generation is kept in RAM.
const KNOWN: usize = 16;

/// The generations in both headers of a block; 0 for a header that is lost, or was never written.
type Headers = [Generation; HEADERS as usize];

/// What is known of a block.
#[derive(Clone, Copy, Debug)]
struct Known {
    block: BlockIndex,
    generation: Generation,
    /// Both headers can be read. What is programmed under a generation that is not certain may be lost tomorrow.
    is_certain: bool,
}

impl Known {
    const NOTHING: Self = Self { block: BlockIndex::MAX, generation: 0, is_certain: false };
}

/// A device of which the generations of blocks are known.
#[derive(Clone, Debug)]
pub(super) struct Blocks<D> {
    pub device: D,
    pub layout: SectorLayout,
    /// The sector that was read last, or is written next.
    pub sector: [u8; SECTOR_BYTES],
    /// Blocks and their generations; a block has one place.
    known: [Known; KNOWN],
    pub suspects: Suspects,
}

impl<D> Blocks<D> {
    pub fn new(device: D, layout: SectorLayout) -> Self {
        Self { device, layout, sector: [0; SECTOR_BYTES], known: [Known::NOTHING; KNOWN], suspects: Suspects::NONE }
    }

    /// Forgets what is known of the device.
    pub fn forget(&mut self) {
        self.known = [Known::NOTHING; KNOWN];
        self.suspects = Suspects::NONE;
    }
}

impl<D: SectorDevice> Blocks<D> {
    /// The present generation of a block; 0 where it has never been erased.
    pub fn generation(&mut self, block: BlockIndex) -> Result<Generation, Failure> {
        Ok(self.known_of(block)?.generation)
    }

    fn known_of(&mut self, block: BlockIndex) -> Result<Known, Failure> {
        let known = self.known[block as usize % KNOWN];
        if known.block == block { Ok(known) } else { self.find_generation(block).map(|(known, _)| known) }
    }

    /// The generation under which a page can be programmed: a header that is lost is written anew before.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] where a header does not hold what is written to it.
    pub fn certain_generation(&mut self, page: PageIndex) -> Result<Generation, Failure> {
        let pages = self.layout.pages_per_block();
        let block = page / pages;
        let mut known = self.known_of(block)?;
        if !known.is_certain {
            // It may be readable by now.
            let headers;
            (known, headers) = self.find_generation(block)?;
            if !known.is_certain {
                known = self.mend(known, headers, page.is_multiple_of(pages))?;
            }
        }
        Ok(known.generation)
    }

    /// Writes anew what is lost of a block's headers.
    fn mend(&mut self, known: Known, headers: Headers, is_first_page: bool) -> Result<Known, Failure> {
        let Known { block, generation, .. } = known;
        self.known[block as usize % KNOWN] = Known::NOTHING;
        if is_first_page || generation == 0 {
            // Erased, or the caller would begin elsewhere. The lost header may be of that erase: what is begun now is newer than that.
            self.begin_generation(block, generation, headers)?;
        } else {
            // Pages before this one may be needed, under the generation that they have.
            for (slot, _) in (0..).zip(headers).filter(|(_, header)| *header == 0) {
                self.write_header(block, slot, generation)?;
            }
        }
        match self.find_generation(block)?.0 {
            known if known.is_certain => Ok(known),
            _ => Err(Failure::BadBlock),
        }
    }

    /// Erases a block: begins a generation of it.
    pub fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let present = self.generation(block)?;
        let (headers, _) = self.headers(block)?;
        self.known[block as usize % KNOWN] = Known::NOTHING;
        // The volume does not depend on it. If the device is gone, the headers fail as well.
        let _ = self.device.discard(self.layout.header(block) + HEADERS, self.layout.block_sectors - HEADERS);
        self.begin_generation(block, present, headers)
    }

    /// Begins a generation of a block that is newer than the present one and all that its headers say.
    ///
    /// # Power loss
    /// The block has this generation or the one before: the header that is written first is the one that can be spared.
    fn begin_generation(&mut self, block: BlockIndex, present: Generation, headers: Headers) -> Result<(), Failure> {
        let [even, odd] = headers;
        let spare = u32::from(odd <= even);
        let next = present.max(even).max(odd) + 1;
        let first = next + u32::from(next % HEADERS != spare);
        // Both, where one of them is none.
        let last = if headers.contains(&0) { first + 1 } else { first.next_multiple_of(HEADERS) };
        for generation in first..=last {
            self.write_header(block, generation % HEADERS, generation)?;
        }
        self.known[block as usize % KNOWN] = Known { block, generation: last, is_certain: true };
        Ok(())
    }

    fn write_header(&mut self, block: BlockIndex, slot: u32, generation: Generation) -> Result<(), Failure> {
        self.sector.fill(0);
        let mut fields = Fields::new(&mut self.sector[12..]);
        for number in [self.layout.sectors, self.layout.block_sectors, self.layout.page_bytes] {
            fields.put(4, number.into());
        }
        fields.put(1, self.layout.tags.number().into());
        seal(&mut self.sector, HEADER, generation, self.layout.volume);
        self.suspects.write(&mut self.device, self.layout.header(block) + slot, &[&self.sector])
    }

    /// Reads the present generation of a block, and what both headers say.
    fn find_generation(&mut self, block: BlockIndex) -> Result<(Known, Headers), Failure> {
        let (headers, are_torn) = self.headers(block)?;
        let generation = match headers {
            // Never erased: its first page is of another volume, or none. Where both are lost, it is not.
            [0, 0] if !are_torn && self.tag_at(block * self.layout.pages_per_block())? == 0 => 0,
            // A header that a cut has torn was to be newer; one that is lost was so.
            [0, one] | [one, 0] => one.max(self.newest_tag(block)?),
            [even, odd] => even.max(odd),
        };
        let known = Known { block, generation, is_certain: !headers.contains(&0) };
        self.known[block as usize % KNOWN] = known;
        Ok((known, headers))
    }

    /// The generations in both headers of a block, and whether one shows that it was torn: it cannot be read, or is a part of one.
    fn headers(&mut self, block: BlockIndex) -> Result<(Headers, bool), Failure> {
        let (mut found, mut are_torn) = ([0; HEADERS as usize], false);
        for (at, found) in (self.layout.header(block)..).zip(&mut found) {
            let mut is_torn = true;
            for _ in 0..TRIES {
                if was_read(self.device.read(at, &mut [&mut self.sector]))? {
                    *found = if self.is_own(HEADER) { word(&self.sector, 8) } else { 0 };
                    is_torn = self.sector.starts_with(HEADER) && !is_sound(&self.sector, HEADER);
                    break;
                }
            }
            are_torn |= is_torn;
        }
        Ok((found, are_torn))
    }

    /// Reads the sector of a page's tag into the buffer, as one that has a sector of its own.
    pub fn read_tag(&mut self, page: PageIndex) -> Result<(), Failure> {
        self.device.read(self.layout.places(page).0, &mut [&mut self.sector])?;
        if self.layout.tags == TagPlace::Within {
            self.sector.copy_within(SECTOR_BYTES - TAG_PART.len().., TAG_PART.start);
            self.sector[..PAGE.len()].copy_from_slice(PAGE);
        }
        Ok(())
    }

    /// The generation of a page's tag; 0 where there is none.
    fn tag_at(&mut self, page: PageIndex) -> Result<Generation, Failure> {
        let is_read = was_read(self.read_tag(page))?;
        Ok(if is_read && self.is_own(PAGE) { word(&self.sector, 8) } else { 0 })
    }

    /// Whether the sector in the buffer is one of a kind, of this volume.
    pub fn is_own(&self, magic: &[u8; 8]) -> bool {
        is_sound(&self.sector, magic) && word(&self.sector, VOLUME_AT) == self.layout.volume
    }

    /// The newest generation of which a block has a page.
    fn newest_tag(&mut self, block: BlockIndex) -> Result<Generation, Failure> {
        let (pages, mut newest) = (self.layout.pages_per_block(), 0);
        for page in block * pages..(block + 1) * pages {
            newest = newest.max(self.tag_at(page)?);
        }
        Ok(newest)
    }
}
