//! Pages and tags on devices that take sectors: SD cards, eMMC, disks, files.
//!
//! ```text
//! block:  | header | header | tag 0 | page 0 | tag 1 | page 1 | …            tags before their pages
//!         | header | header | tag 0 | tag 1 | … | (pad) | page 0 | page 1 | …   tags in a table
//! ```
//!
//! A block is as long as the unit in which the device likes to be written, its *allocation unit*: pages of it are written one behind the other, so what is
//! random to the caller is sequential to the device. Each tag has a sector of its own. A sector can be written again at any time, and holds what it held before
//! until then; so a header says which *generation* of the block is the present one, every tag says to which it belongs, and pages of an earlier one read
//! as erased. An erase writes two headers, one after the other, so that a cut leaves one of them; and discards the rest where the device can do that. Where a
//! header cannot be read, the newest generation of which there is a page is the present one, and the next program writes that header anew.
//!
//! A driver implements [`SectorDevice`]; [`SectorPages::new`] with a [`SectorLayout`] makes a [`Flash`] of it.
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
//! assert_eq!(SectorLayout::find(&mut card, 0)?, Some(layout)); // what the next mount begins with
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod generation;

use super::crc::crc32;
use super::{BlockIndex, Failure, Flash, Geometry, PAGES_MAX, PageIndex, TAG_BYTES, Timing};
use crate::fields::Fields;
use generation::{Generation, Known};

/// Bytes of a sector.
pub const SECTOR_BYTES: usize = 512;
/// Looks at a header before it is taken for lost.
const TRIES: u32 = 3;
/// Sectors of headers.
const HEADERS: u32 = 2;
/// Blocks of which the generation is kept in RAM.
const KNOWN: usize = 16;
/// Sectors of the largest page.
const PAGE_SECTORS_MAX: usize = 32;
/// First bytes of a header and of a tag's sector.
const HEADER: &[u8; 8] = b"SteadyBk";
const PAGE: &[u8; 8] = b"SteadyPg";
/// Where the checksum of a header or of a tag's sector lies; the rest of the sector is zeros.
const CHECK_AT: usize = 36;
/// Where the number of the volume lies.
const VOLUME_AT: usize = CHECK_AT - 4;
/// Where what a tag's sector says ends.
const TAG_END: usize = CHECK_AT + 4;
/// The rest of it.
const ZEROS: [u8; SECTOR_BYTES - TAG_END] = [0; SECTOR_BYTES - TAG_END];
/// Pages of a command at most: so many slices of them are on the stack.
const MANY: usize = 16;
/// What is missing of a page.
const BLANK: [u8; SECTOR_BYTES] = [0xFF; SECTOR_BYTES];

/// A device that is read and written by sectors of 512 bytes, any of them at any time.
///
/// # Contract
/// When power fails, sectors of writes since the last [`flush`](SectorDevice::flush) hold what they held before, what was written, anything, or cannot be read
/// until they are written again; with [`reorders`](SectorDevice::reorders) any of them, otherwise those of the last write alone and none of later ones. Every other
/// sector is unchanged. The same holds for a write that returned an error.
pub trait SectorDevice {
    /// Sectors of the device. It never changes.
    fn sector_count(&self) -> u32;

    /// How long the commands take.
    fn times(&self) -> SectorTimes;

    /// Reads sectors from `first` on, in one command. The bytes of `parts` follow each other; together they are whole sectors.
    ///
    /// # Errors
    /// [`Failure::Uncorrectable`] for sectors that cannot be read; [`Failure::Device`].
    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure>;

    /// Writes sectors from `first` on, in one command. The bytes of `parts` follow each other; together they are whole sectors.
    ///
    /// # Errors
    /// [`Failure::WriteProtected`]; [`Failure::Device`].
    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure>;

    /// Makes durable what was written. A device that answers writes only when they are durable has nothing to do.
    ///
    /// # Errors
    /// [`Failure::Device`]; also where a write that was answered before is lost: nobody knows then what of those since the last flush is there.
    fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Tells the device that nobody needs what these sectors hold. They may hold anything afterwards.
    ///
    /// # Errors
    /// [`Failure::Device`].
    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        let _ = (first, count);
        Ok(())
    }

    /// Whether a power cut may lose any of the writes since the last flush, rather than the last ones. Say so in doubt: it costs a flush for each root, and
    /// reads at a mount after a cut.
    fn reorders(&self) -> bool {
        true
    }
}

/// How long the commands of a [`SectorDevice`] take, in nanoseconds. What a specification gives no maximum for is as measured, and no promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorTimes {
    /// A read, without its sectors.
    pub read_ns: u64,
    /// Each sector that is read.
    pub read_sector_ns: u64,
    /// A write, without its sectors.
    pub write_ns: u64,
    /// Each sector that is written.
    pub write_sector_ns: u64,
    /// A discard.
    pub discard_ns: u64,
    /// A flush.
    pub flush_ns: u64,
}

/// Where tags lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagPlace {
    /// Before each page. A page and its tag are one write, and all writes to a block follow each other: what cards like.
    #[default]
    Beside,
    /// In a table at the begin of the block. Pages are aligned, and several in order are one run; each takes a second write.
    Table,
}

/// How a device is divided into blocks and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorLayout {
    /// First sector of the volume: where an allocation unit begins.
    pub first: u32,
    /// Sectors of the volume.
    pub sectors: u32,
    /// Sectors of a block: an allocation unit, or several.
    pub block_sectors: u32,
    /// Bytes of a page: a power of two, 512 to 16,384.
    pub page_bytes: u32,
    /// Where tags lie.
    pub tags: TagPlace,
    /// Number of the volume, other than that of any volume before it on the device: see [`renewed`](Self::renewed).
    pub volume: u32,
}

impl SectorLayout {
    /// The layout for a whole device whose allocation unit has so many bytes: pages of 4 KiB, with their tags beside them.
    pub const fn for_device(sectors: u32, unit_bytes: u32) -> Self {
        Self {
            first: 0,
            sectors,
            block_sectors: unit_bytes / SECTOR_BYTES as u32,
            page_bytes: 4096,
            tags: TagPlace::Beside,
            volume: 1,
        }
    }

    /// The shape of the medium.
    pub const fn geometry(&self) -> Geometry {
        Geometry {
            page_bytes: self.page_bytes,
            pages_per_block: self.pages_per_block(),
            block_count: self.sectors / if self.block_sectors == 0 { 1 } else { self.block_sectors },
            programs_bytes: false,
        }
    }

    /// Pages that fit into a block beside the header and their tags.
    const fn pages_per_block(&self) -> u32 {
        let page = self.page_sectors();
        let room = self.block_sectors.saturating_sub(match self.tags {
            TagPlace::Beside => HEADERS,
            // At most so much goes into the alignment of the first page.
            TagPlace::Table => HEADERS + page - 1,
        });
        let pages = room / (page + 1);
        if pages > PAGES_MAX { PAGES_MAX } else { pages }
    }

    /// Sectors of a page.
    const fn page_sectors(&self) -> u32 {
        self.page_bytes / SECTOR_BYTES as u32
    }

    /// The first sector of a block's headers.
    const fn header(&self, block: BlockIndex) -> u32 {
        self.first + block * self.block_sectors
    }

    /// The sectors of a page's tag and of its data.
    const fn places(&self, page: PageIndex) -> (u32, u32) {
        let pages = self.pages_per_block();
        let (header, index, size) = (self.header(page / pages), page % pages, self.page_sectors());
        match self.tags {
            TagPlace::Beside => {
                let tag = header + HEADERS + index * (size + 1);
                (tag, tag + 1)
            }
            TagPlace::Table => (header + HEADERS + index, header + (HEADERS + pages).next_multiple_of(size) + index * size),
        }
    }

    /// The layout for a new volume, whose number is that behind the volume's that is there, if one can be read: nothing of it is taken for the new one's.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn renewed<D: SectorDevice>(self, device: &mut D) -> Result<Self, Failure> {
        let before = Self::find(device, self.first)?;
        Ok(Self { volume: before.map_or(1, |before| before.volume.wrapping_add(1).max(1)), ..self })
    }

    /// Reads from the first sectors of a volume how it is divided; `None` where there is none.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn find<D: SectorDevice>(device: &mut D, first: u32) -> Result<Option<Self>, Failure> {
        let mut sector = [0; SECTOR_BYTES];
        let (end, mut is_header) = (first.saturating_add(HEADERS).min(device.sector_count()), false);
        for at in first..end {
            is_header = is_header || (was_read(device.read(at, &mut [&mut sector]))? && is_sound(&sector, HEADER));
            if is_header {
                break;
            }
        }
        if !is_header {
            return Ok(None);
        }
        let mut fields = Fields::new(&sector[12..]);
        let found = Self {
            first,
            sectors: fields.get32(),
            block_sectors: fields.get32(),
            page_bytes: fields.get32(),
            tags: if fields.get(1) == 1 { TagPlace::Table } else { TagPlace::Beside },
            volume: word(&sector, VOLUME_AT),
        };
        Ok(Some(found).filter(|found| found.is_possible(device.sector_count())))
    }

    /// Whether it can be that of a device of so many sectors.
    const fn is_possible(&self, sectors: u32) -> bool {
        let page = self.page_bytes;
        page.is_power_of_two()
            && page as usize >= SECTOR_BYTES
            && page as usize <= PAGE_SECTORS_MAX * SECTOR_BYTES
            && self.block_sectors > 0
            && self.sectors >= self.block_sectors
            && self.first <= sectors
            && self.sectors <= sectors - self.first
            && self.pages_per_block() >= 4
    }
}

/// A [`Flash`] made of a [`SectorDevice`]: what [`FileSystem::format`](crate::FileSystem::format) and [`mount`](crate::FileSystem::mount) take for a card or a disk.
#[derive(Clone, Debug)]
pub struct SectorPages<D> {
    device: D,
    layout: SectorLayout,
    sector: [u8; SECTOR_BYTES],
    /// Blocks and their generations; a block has one place.
    known: [Known; KNOWN],
}

impl<D: SectorDevice> SectorPages<D> {
    /// Divides a device. `None` where it is too small for the layout, or that is impossible.
    pub fn new(device: D, layout: SectorLayout) -> Option<Self> {
        let known = [Known::NOTHING; KNOWN];
        let is_possible = layout.is_possible(device.sector_count());
        is_possible.then_some(Self { device, layout, sector: [0; SECTOR_BYTES], known })
    }

    /// The device underneath.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device underneath, mutable. What is written below the volume may be lost on it: what is known of it is forgotten.
    pub fn device_mut(&mut self) -> &mut D {
        self.known = [Known::NOTHING; KNOWN];
        &mut self.device
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.device
    }

    /// How the device is divided.
    pub fn layout(&self) -> &SectorLayout {
        &self.layout
    }

    /// Makes a tag's sector in the buffer.
    fn compose_tag(&mut self, generation: Generation, tag: &[u8; TAG_BYTES]) {
        self.sector.fill(0);
        self.sector[12..12 + TAG_BYTES].copy_from_slice(tag);
        seal(&mut self.sector, PAGE, generation, self.layout.volume);
    }

    /// Writes [`MANY`] pages that follow each other, or fewer: with their tags before them in one command, or in one for the pages and one for the tags.
    fn write_many(
        &mut self,
        generation: Generation,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        let mut heads = [[0; TAG_END]; MANY];
        for (head, tag) in heads.iter_mut().zip(tags) {
            self.compose_tag(generation, tag);
            head.copy_from_slice(&self.sector[..TAG_END]);
        }
        let (at_tag, at_data) = self.layout.places(first);
        let mut parts = [&[][..]; 3 * MANY];
        let pages = data.chunks(self.layout.page_bytes as usize);
        if at_data == at_tag + 1 {
            for (parts, (head, page)) in parts.chunks_exact_mut(3).zip(heads.iter().zip(pages)) {
                parts.copy_from_slice(&[head, &ZEROS, page]);
            }
            return self.device.write(at_tag, &parts[..3 * tags.len()]);
        }
        for (parts, head) in parts.chunks_exact_mut(2).zip(&heads[..tags.len()]) {
            parts.copy_from_slice(&[head, &ZEROS]);
        }
        self.device.write(at_data, &[data])?;
        self.device.write(at_tag, &parts[..2 * tags.len()])
    }

    /// What the tag's sector in the buffer says: the tag, if it is of a generation of the block.
    fn tag_of(&self, generation: Generation) -> [u8; TAG_BYTES] {
        let mut tag = [0xFF; TAG_BYTES];
        if word(&self.sector, 8) == generation && self.is_own(PAGE) {
            tag.copy_from_slice(&self.sector[12..12 + TAG_BYTES]);
        }
        tag
    }
}

impl<D: SectorDevice> Flash for SectorPages<D> {
    fn geometry(&self) -> Geometry {
        self.layout.geometry()
    }

    /// Each with the header of a block that is not known.
    fn timing(&self) -> Timing {
        let (times, page) = (self.device.times(), u64::from(self.layout.page_sectors()));
        let read = |sectors: u64| times.read_ns + sectors * times.read_sector_ns;
        let write = |sectors: u64| times.write_ns + sectors * times.write_sector_ns;
        let (read_ns, program_ns) = match self.layout.tags {
            TagPlace::Beside => (read(page + 1), write(page + 1)),
            TagPlace::Table => (read(page) + read(1), write(page) + write(1)),
        };
        Timing {
            read_ns: read_ns + 2 * read(1),
            read_tag_ns: 3 * read(1),
            program_ns: program_ns + 2 * read(1),
            copy_ns: read_ns + program_ns + 4 * read(1),
            erase_ns: 4 * read(1) + times.discard_ns + 2 * write(1),
        }
    }

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        let generation = self.generation(page / self.layout.pages_per_block())?;
        let (at_tag, at_data) = self.layout.places(page);
        if at_data == at_tag + 1 {
            self.device.read(at_tag, &mut [&mut self.sector, data])?;
        } else {
            self.device.read(at_data, &mut [data])?;
            self.device.read(at_tag, &mut [&mut self.sector])?;
        }
        *tag = self.tag_of(generation);
        if super::is_blank(tag) {
            data.fill(0xFF);
        }
        Ok(())
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        let generation = self.generation(page / self.layout.pages_per_block())?;
        self.device.read(self.layout.places(page).0, &mut [&mut self.sector])?;
        *tag = self.tag_of(generation);
        Ok(())
    }

    /// # Cost
    /// As [`timing`](Self::timing) says. Where a header of the block is lost, once more: each tag of the block is read twice, each header three times, and the lost one is
    /// written anew.
    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let generation = self.certain_generation(page)?;
        self.compose_tag(generation, tag);
        // The tag, the data, and as many blank bytes as are missing.
        let missing = self.layout.page_bytes as usize - data.len();
        let mut parts = [&BLANK[..]; PAGE_SECTORS_MAX + 3];
        (parts[0], parts[1], parts[2]) = (&self.sector, data, &BLANK[..missing % SECTOR_BYTES]);
        let parts = &parts[..3 + missing / SECTOR_BYTES];
        let (at_tag, at_data) = self.layout.places(page);
        if at_data == at_tag + 1 {
            return self.device.write(at_tag, parts);
        }
        self.device.write(at_data, &parts[1..])?;
        self.device.write(at_tag, &parts[..1])
    }

    fn program_many(&mut self, first: PageIndex, data: &[u8], tags: &[[u8; TAG_BYTES]]) -> Result<(), Failure> {
        let generation = self.certain_generation(first)?;
        let pages = data.chunks(MANY * self.layout.page_bytes as usize).zip(tags.chunks(MANY));
        (first..).step_by(MANY).zip(pages).try_for_each(|(first, (data, tags))| self.write_many(generation, first, data, tags))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let present = self.generation(block)?;
        let headers = self.headers(block)?;
        self.known[block as usize % KNOWN] = Known::NOTHING;
        self.device.discard(self.layout.header(block) + HEADERS, self.layout.block_sectors - HEADERS)?;
        self.begin_generation(block, present, headers)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.device.flush()
    }

    fn reorders(&self) -> bool {
        self.device.reorders()
    }

    /// A tag of which a bit is wrong is none of this block's generation.
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

/// Whether a read brought anything. Only a device that does not answer is an error.
fn was_read(result: Result<(), Failure>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(Failure::Uncorrectable) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Number at a place of a sector.
fn word(sector: &[u8; SECTOR_BYTES], at: usize) -> u32 {
    Fields::new(&sector[at..]).get32()
}

/// Makes a sector one of a kind, a generation and a volume.
fn seal(sector: &mut [u8; SECTOR_BYTES], magic: &[u8; 8], generation: Generation, volume: u32) {
    sector[..8].copy_from_slice(magic);
    sector[8..12].copy_from_slice(&generation.to_le_bytes());
    sector[VOLUME_AT..VOLUME_AT + 4].copy_from_slice(&volume.to_le_bytes());
    let check = crc32(&sector[..CHECK_AT], 0);
    sector[CHECK_AT..CHECK_AT + 4].copy_from_slice(&check.to_le_bytes());
}

/// Whether a sector is one of a kind, and as it was written.
fn is_sound(sector: &[u8; SECTOR_BYTES], magic: &[u8; 8]) -> bool {
    &sector[..8] == magic && word(sector, CHECK_AT) == crc32(&sector[..CHECK_AT], 0)
}
