//! Pages and tags on devices of sectors: SD cards, eMMC, disks, files.
//!
//! ```text
//! block:  | header | header | tag 0 | page 0 | tag 1 | page 1 | …         tags before pages
//!         | header | header | tag 0 | tag 1 | … | (pad) | page 0 | …      tags in a table
//!         | header | header | (pad) | page 0, tag 0 | page 1, tag 1 | …   tags within pages
//! ```
//!
//! A block is as long as the *allocation unit* of the device, the unit that the device writes most
//! efficiently. The pages of a block are written in order, so random writes of the caller become
//! sequential writes to the device. Each tag lies in a sector of its own, or at the end of its
//! page.
//!
//! A sector can be written again at any time, and holds its old contents until then. So each block
//! has *generations*: every erase begins a new generation. A header names the present generation of
//! the block, and every tag names the generation of its page. Pages of an earlier generation read
//! as erased.
//!
//! An erase writes two headers, one after the other, so that one of them survives a power cut. An
//! erase also discards the rest of the block, if the device supports discards. If a header cannot
//! be read, the present generation is the newest generation that the other header or a tag names.
//! The next program then writes the lost header anew.
//!
//! A driver implements [`SectorDevice`]. [`SectorPages::new`] takes the driver and a
//! [`SectorLayout`]. Its result is a [`Flash`].
//!
//! | file | idea |
//! |---|---|
//! | `device` | the trait that a driver implements |
//! | `sector` | contents of a header and of a tag's sector |
//! | `layout` | blocks and pages, and the places of tags |
//! | `generation` | the present generation of a block |
//! | `suspects` | sectors that cannot be written any more, if the driver cannot report them |
//!
//! ```
//! use steadyfs::media::sectors::{SectorLayout, SectorPages};
//! use steadyfs::{Access, Config, FileSystem, OpenOptions};
//! # let card = steadyfs_sim::Sectors::new(65_536, steadyfs_sim::Sectors::ROUND, 1);
//! # use steadyfs::media::sectors::SectorDevice;
//! let layout = SectorLayout::for_device(card.sector_count(), 1 << 20); // units of 1 MiB
//! let config = Config::for_sectors(&layout);
//! let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
//!
//! let pages = SectorPages::new(card, layout).expect("a card with room for a block");
//! let pages = FileSystem::format(pages, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory)?;
//! let mut log = fs.open("log", OpenOptions::DURABLE)?;
//! fs.append(&mut log, b"21.5 degrees\n")?;
//! let card = fs.unmount()?.into_device();
//! # let mut card = card;
//! assert_eq!(layout.found(&mut card)?, Some(layout)); // what the next mount begins with
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod device;
mod generation;
mod layout;
mod sector;
mod suspects;

pub use device::{SECTOR_BYTES, SectorDevice, SectorTimes};
pub use layout::{SectorLayout, TagPlace};
pub use sector::TAG_ROOM_BYTES;

use super::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use generation::SectorBlocks;
use layout::PAGE_SECTORS_MAX;
use sector::{Generation, PAGE, TAG_END, TAG_PART, seal, word};

/// Zeros that fill a tag's sector behind the tag.
const ZEROS: [u8; SECTOR_BYTES - TAG_END] = [0; SECTOR_BYTES - TAG_END];
/// Largest number of pages that one command of [`Flash::program_many`] programs. The slices of all
/// these pages lie on the stack, so the number is limited.
pub const COMMAND_PAGES_MAX: usize = 16;
/// Erased bytes in place of the missing data of a page.
const BLANK: [u8; SECTOR_BYTES] = [0xFF; SECTOR_BYTES];

/// A [`Flash`] made of a [`SectorDevice`]. For a card or a disk, pass it to
/// [`FileSystem::format`](crate::FileSystem::format) and [`mount`](crate::FileSystem::mount).
#[derive(Clone, Debug)]
pub struct SectorPages<D> {
    blocks: SectorBlocks<D>,
}

impl<D: SectorDevice> SectorPages<D> {
    /// Divides a device into blocks and pages. Returns `None` if the device is too small for the
    /// layout, or the layout is impossible.
    pub fn new(device: D, layout: SectorLayout) -> Option<Self> {
        layout
            .is_possible(device.sector_count())
            .then(|| Self { blocks: SectorBlocks::new(device, layout) })
    }

    /// Returns the device underneath.
    pub fn device(&self) -> &D {
        &self.blocks.device
    }

    /// Returns the device underneath, mutable. Data that the caller writes to the device itself,
    /// below the volume, may be lost. The call discards the cached generations of blocks and the
    /// stored failures.
    pub fn device_mut(&mut self) -> &mut D {
        self.blocks.forget();
        &mut self.blocks.device
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.blocks.device
    }

    /// Returns the division of the device into blocks and pages.
    pub fn layout(&self) -> &SectorLayout {
        &self.blocks.layout
    }

    /// Builds the sector of a tag in the buffer.
    fn compose_tag(&mut self, generation: Generation, tag: &[u8; TAG_BYTES]) {
        self.blocks.sector.fill(0);
        self.blocks.sector[12..12 + TAG_BYTES].copy_from_slice(tag);
        seal(&mut self.blocks.sector, PAGE, generation, self.blocks.layout.volume);
    }

    /// Writes up to [`COMMAND_PAGES_MAX`] consecutive pages with their tags, in one command. If
    /// tags lie in a table, they take a second command.
    fn write_many(
        &mut self,
        generation: Generation,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        let mut heads = [[0; TAG_END]; COMMAND_PAGES_MAX];
        for (head, tag) in heads.iter_mut().zip(tags) {
            self.compose_tag(generation, tag);
            head.copy_from_slice(&self.blocks.sector[..TAG_END]);
        }
        let (at_tag, at_data) = self.blocks.layout.places(first);
        let mut parts = [&[][..]; 3 * COMMAND_PAGES_MAX];
        let pages = heads.iter().zip(data.chunks(self.blocks.layout.data_bytes() as usize));
        match self.blocks.layout.tags {
            TagPlace::Beside => {
                for (parts, (head, page)) in parts.chunks_exact_mut(3).zip(pages) {
                    parts.copy_from_slice(&[head, &ZEROS, page]);
                }
                self.blocks.suspects.write(
                    &mut self.blocks.device,
                    at_tag,
                    &parts[..3 * tags.len()],
                )
            }
            TagPlace::Table => {
                for (parts, head) in parts.chunks_exact_mut(2).zip(&heads[..tags.len()]) {
                    parts.copy_from_slice(&[head, &ZEROS]);
                }
                // A tag shows that its page was written, so the pages are written first.
                self.blocks.suspects.write(&mut self.blocks.device, at_data, &[data])?;
                self.blocks.suspects.write(
                    &mut self.blocks.device,
                    at_tag,
                    &parts[..2 * tags.len()],
                )
            }
            TagPlace::Within => {
                for (parts, (head, page)) in parts.chunks_exact_mut(2).zip(pages) {
                    parts.copy_from_slice(&[page, &head[TAG_PART]]);
                }
                self.blocks.suspects.write(
                    &mut self.blocks.device,
                    at_data,
                    &parts[..2 * tags.len()],
                )
            }
        }
    }

    /// Reads pages and the tags before them in one command. It reads as many pages as fit into
    /// `data` together with their tags, and then removes the tags from `data`.
    fn read_beside(
        &mut self,
        generation: Generation,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        let page_bytes = self.blocks.layout.data_bytes() as usize;
        let with_tag = SECTOR_BYTES + page_bytes;
        let count = data.len() / with_tag;
        // The memory has no room for two pages with their tags.
        if count < 2 {
            return self.read(first, &mut data[..page_bytes], &mut tags[0]).map(|()| 1);
        }
        self.blocks
            .device
            .read(self.blocks.layout.places(first).0, &mut [&mut data[..count * with_tag]])?;
        for (index, tag) in tags.iter_mut().enumerate().take(count) {
            let at = index * with_tag;
            self.blocks.sector.copy_from_slice(&data[at..at + SECTOR_BYTES]);
            *tag = self.tag_of(generation);
            data.copy_within(at + SECTOR_BYTES..at + with_tag, index * page_bytes);
        }
        Ok(count)
    }

    /// Reads pages that end with their tags in one command, up to [`COMMAND_PAGES_MAX`] pages.
    fn read_within(
        &mut self,
        generation: Generation,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        let count = tags.len().min(COMMAND_PAGES_MAX);
        let mut ends = [[0; TAG_ROOM_BYTES as usize]; COMMAND_PAGES_MAX];
        let mut parts: [&mut [u8]; 2 * COMMAND_PAGES_MAX] = core::array::from_fn(|_| &mut [][..]);
        let pages = data
            .chunks_exact_mut(self.blocks.layout.data_bytes() as usize)
            .zip(&mut ends)
            .take(count);
        for (parts, (page, end)) in parts.chunks_exact_mut(2).zip(pages) {
            (parts[0], parts[1]) = (page, end);
        }
        self.blocks.device.read(self.blocks.layout.places(first).1, &mut parts[..2 * count])?;
        self.blocks.sector[..PAGE.len()].copy_from_slice(PAGE);
        for (tag, end) in tags.iter_mut().zip(&ends).take(count) {
            self.blocks.sector[TAG_PART].copy_from_slice(end);
            *tag = self.tag_of(generation);
        }
        Ok(count)
    }

    /// Returns the tag in the buffered sector. The tag is blank if the sector does not belong to
    /// `generation`.
    fn tag_of(&self, generation: Generation) -> [u8; TAG_BYTES] {
        let mut tag = [0xFF; TAG_BYTES];
        if word(&self.blocks.sector, 8) == generation && self.blocks.is_own(PAGE) {
            tag.copy_from_slice(&self.blocks.sector[12..12 + TAG_BYTES]);
        }
        tag
    }
}

impl<D: SectorDevice> Flash for SectorPages<D> {
    fn geometry(&self) -> Geometry {
        self.blocks.layout.geometry()
    }

    /// Each time includes a read of both headers of a block, because the generation of the block
    /// may not be cached.
    fn timing(&self) -> Timing {
        let (times, page) =
            (self.blocks.device.times(), u64::from(self.blocks.layout.page_sectors()));
        let read = |sectors: u64| times.read_ns + sectors * times.read_sector_ns;
        let write = |sectors: u64| times.write_ns + sectors * times.write_sector_ns;
        let (read_ns, program_ns) = match self.blocks.layout.tags {
            TagPlace::Beside => (read(page + 1), write(page + 1)),
            TagPlace::Table => (read(page) + read(1), write(page) + write(1)),
            TagPlace::Within => (read(page), write(page)),
        };
        Timing {
            read_ns: read_ns + 2 * read(1),
            read_tag_ns: 3 * read(1),
            program_ns: program_ns + 2 * read(1),
            copy_ns: read_ns + program_ns + 4 * read(1),
            erase_ns: 4 * read(1) + times.discard_ns + 2 * write(1),
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let generation = self.blocks.generation(page / self.blocks.layout.pages_per_block())?;
        let (at_tag, at_data) = self.blocks.layout.places(page);
        match self.blocks.layout.tags {
            TagPlace::Beside => {
                self.blocks.device.read(at_tag, &mut [&mut self.blocks.sector, data])?
            }
            TagPlace::Table => {
                self.blocks.device.read(at_data, &mut [data])?;
                self.blocks.read_tag(page)?;
            }
            TagPlace::Within => {
                self.blocks.sector[..PAGE.len()].copy_from_slice(PAGE);
                self.blocks.device.read(at_data, &mut [data, &mut self.blocks.sector[TAG_PART]])?;
            }
        }
        *tag = self.tag_of(generation);
        // A page of an earlier generation reads as erased.
        if super::is_blank(tag) {
            data.fill(0xFF);
        }
        Ok(())
    }

    fn reads_many(&self) -> bool {
        true
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        let generation = self.blocks.generation(first / self.blocks.layout.pages_per_block())?;
        let page_bytes = self.blocks.layout.data_bytes() as usize;
        let count = match self.blocks.layout.tags {
            TagPlace::Beside => self.read_beside(generation, first, data, tags)?,
            TagPlace::Table => {
                self.blocks.device.read(self.blocks.layout.places(first).1, &mut [data])?;
                for (page, tag) in (first..).zip(&mut *tags) {
                    self.blocks.read_tag(page)?;
                    *tag = self.tag_of(generation);
                }
                tags.len()
            }
            TagPlace::Within => self.read_within(generation, first, data, tags)?,
        };
        let pages = data.chunks_exact_mut(page_bytes).zip(tags).take(count);
        pages.filter(|(_, tag)| super::is_blank(tag)).for_each(|(page, _)| page.fill(0xFF));
        Ok(count)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        let generation = self.blocks.generation(page / self.blocks.layout.pages_per_block())?;
        self.blocks.read_tag(page)?;
        *tag = self.tag_of(generation);
        Ok(())
    }

    /// # Cost
    /// The time is as returned by [`timing`](Self::timing). If a header of the block is lost, one
    /// program takes longer: it reads each tag of the block twice and each header three times. It
    /// also writes the lost header anew.
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // A header that cannot be read now may be readable later, and name a newer generation. Data
        // programmed under an older generation would then be lost.
        let generation = self.blocks.certain_generation(page)?;
        self.compose_tag(generation, tag);
        // The parts are the tag, the data and the missing blank bytes. The tag follows once more,
        // for tags within pages.
        let missing = self.blocks.layout.data_bytes() as usize - data.len();
        let mut parts = [&BLANK[..]; PAGE_SECTORS_MAX + 4];
        (parts[0], parts[1], parts[2]) =
            (&self.blocks.sector, data, &BLANK[..missing % SECTOR_BYTES]);
        let end = 3 + missing / SECTOR_BYTES;
        parts[end] = &self.blocks.sector[TAG_PART];
        let (at_tag, at_data) = self.blocks.layout.places(page);
        match self.blocks.layout.tags {
            TagPlace::Beside => {
                self.blocks.suspects.write(&mut self.blocks.device, at_tag, &parts[..end])
            }
            TagPlace::Table => {
                // The tag shows that its page was written, so the page is written first.
                self.blocks.suspects.write(&mut self.blocks.device, at_data, &parts[1..end])?;
                self.blocks.suspects.write(&mut self.blocks.device, at_tag, &parts[..1])
            }
            TagPlace::Within => {
                self.blocks.suspects.write(&mut self.blocks.device, at_data, &parts[1..=end])
            }
        }
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        let generation = self.blocks.certain_generation(first)?;
        let pages = data
            .chunks(COMMAND_PAGES_MAX * self.blocks.layout.data_bytes() as usize)
            .zip(tags.chunks(COMMAND_PAGES_MAX));
        (first..)
            .step_by(COMMAND_PAGES_MAX)
            .zip(pages)
            .try_for_each(|(first, (data, tags))| self.write_many(generation, first, data, tags))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.blocks.erase(block)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.blocks.device.flush()
    }

    fn reorders(&self) -> bool {
        self.blocks.device.reorders()
    }

    /// A tag with a wrong bit belongs to no generation of the block, so its page reads as
    /// erased.
    fn hides_damage(&self) -> bool {
        true
    }

    fn is_bad(&mut self, _block: BlockIndex) -> Result<bool, Failure> {
        Ok(false)
    }

    fn mark_bad(&mut self, _block: BlockIndex) -> Result<(), Failure> {
        Ok(())
    }
}
