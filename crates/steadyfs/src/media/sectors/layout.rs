//! How a device is divided into blocks and pages, and where tags lie.

use super::device::{SECTOR_BYTES, SectorDevice};
use super::sector::{HEADER, TAG_ROOM_BYTES, VOLUME_AT, is_sound, was_read, word};
use crate::fields::Fields;
use crate::media::{BlockIndex, Failure, Geometry, PAGES_MAX, PageIndex};

/// Sectors of headers.
pub(super) const HEADERS: u32 = 2;
/// Sectors of the largest page.
pub(super) const PAGE_SECTORS_MAX: usize = 32;

/// Where tags lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagPlace {
    /// Before each page. A page and its tag are one write, and all writes to a block follow each other: what cards like.
    #[default]
    Beside,
    /// In a table at the begin of the block. Pages are aligned, and several in order are one run; each takes a second write.
    Table,
    /// In the last [`TAG_ROOM_BYTES`] of each page, which holds so much less. Pages are aligned, a page and its tag are one write, and nothing but headers lies between pages: an
    /// eighth more of the device for data than with a sector for each tag of 4 KiB. But what a program writes at multiples of 4 KiB meets two pages, and pages are no
    /// sectors, so that there is no [disk](crate::disk) on them.
    Within,
}

impl TagPlace {
    /// Each, in the order of the number that a header has for it.
    const ALL: [Self; 3] = [Self::Beside, Self::Table, Self::Within];

    /// The number that a header has for it.
    pub(super) const fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
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
    /// Bytes of a page, with its tag where that lies [within](TagPlace::Within): a power of two, 512 to 16,384.
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
            page_bytes: self.data_bytes(),
            pages_per_block: self.pages_per_block(),
            block_count: self.sectors / if self.block_sectors == 0 { 1 } else { self.block_sectors },
            programs_bytes: false,
        }
    }

    /// Bytes of a page that hold data.
    pub(super) const fn data_bytes(&self) -> u32 {
        match self.tags {
            TagPlace::Beside | TagPlace::Table => self.page_bytes,
            TagPlace::Within => self.page_bytes.saturating_sub(TAG_ROOM_BYTES),
        }
    }

    /// Pages that fit into a block beside the header and their tags.
    pub(super) const fn pages_per_block(&self) -> u32 {
        let page = self.page_sectors();
        let (head, each) = match self.tags {
            TagPlace::Beside => (HEADERS, page + 1),
            // At most so much goes into the alignment of the first page.
            TagPlace::Table => (HEADERS + page - 1, page + 1),
            TagPlace::Within => (self.first_page(), page),
        };
        let pages = self.block_sectors.saturating_sub(head) / each;
        if pages > PAGES_MAX { PAGES_MAX } else { pages }
    }

    /// The sector of a block at which its first page begins, where tags lie within.
    const fn first_page(&self) -> u32 {
        HEADERS.next_multiple_of(self.page_sectors())
    }

    /// Sectors of a page.
    pub(super) const fn page_sectors(&self) -> u32 {
        let sectors = self.page_bytes / SECTOR_BYTES as u32;
        if sectors == 0 { 1 } else { sectors }
    }

    /// The first sector of a block's headers.
    pub(super) const fn header(&self, block: BlockIndex) -> u32 {
        self.first + block * self.block_sectors
    }

    /// The sector that a page's tag has, or shares with the end of its data, and the first one of its data.
    pub(super) const fn places(&self, page: PageIndex) -> (u32, u32) {
        let pages = self.pages_per_block();
        let (header, index, size) = (self.header(page / pages), page % pages, self.page_sectors());
        match self.tags {
            TagPlace::Beside => {
                let tag = header + HEADERS + index * (size + 1);
                (tag, tag + 1)
            }
            TagPlace::Table => (header + HEADERS + index, header + (HEADERS + pages).next_multiple_of(size) + index * size),
            TagPlace::Within => {
                let data = header + self.first_page() + index * size;
                (data + size - 1, data)
            }
        }
    }

    /// The layout for a new volume, whose number is that behind the volume's that is there, if one can be read: nothing of it is taken for the new one's.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn renewed<D: SectorDevice>(self, device: &mut D) -> Result<Self, Failure> {
        let before = self.found(device)?;
        Ok(Self { volume: before.map_or(1, |before| before.volume.wrapping_add(1).max(1)), ..self })
    }

    /// Reads from the first sectors of a volume how it is divided; `None` where there is none.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn find<D: SectorDevice>(device: &mut D, first: u32) -> Result<Option<Self>, Failure> {
        let found = Self::header_at(device, first)?;
        Ok(found.map(|found| Self { first, ..found }).filter(|found| found.is_possible(device.sector_count())))
    }

    /// Reads the layout of a volume that was made with this one. If both headers of its first block
    /// are lost, as a partition table leaves them, it reads those of the next block. `None` if
    /// neither block has any.
    ///
    /// # Cost
    /// Up to four reads of a sector.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn found<D: SectorDevice>(self, device: &mut D) -> Result<Option<Self>, Failure> {
        if let Some(found) = Self::find(device, self.first)? {
            return Ok(Some(found));
        }
        let found = Self::header_at(device, self.first.saturating_add(self.block_sectors))?;
        Ok(found
            .map(|found| Self { first: self.first, ..found })
            .filter(|found| found.block_sectors == self.block_sectors && found.is_possible(device.sector_count())))
    }

    /// Reads the layout from the headers of a block, which begin at a sector. A header does not
    /// contain `first`.
    fn header_at<D: SectorDevice>(device: &mut D, at: u32) -> Result<Option<Self>, Failure> {
        let mut sector = [0; SECTOR_BYTES];
        let (end, mut is_header) = (at.saturating_add(HEADERS).min(device.sector_count()), false);
        for at in at..end {
            is_header = is_header || (was_read(device.read(at, &mut [&mut sector]))? && is_sound(&sector, HEADER));
            if is_header {
                break;
            }
        }
        if !is_header {
            return Ok(None);
        }
        let mut fields = Fields::new(&sector[12..]);
        let (sectors, block_sectors, page_bytes) = (fields.get32(), fields.get32(), fields.get32());
        let volume = word(&sector, VOLUME_AT);
        let tags = TagPlace::from_number(fields.get(1));
        Ok(tags.map(|tags| Self { first: 0, sectors, block_sectors, page_bytes, tags, volume }))
    }

    /// Whether it can be that of a device of so many sectors.
    pub(super) const fn is_possible(&self, sectors: u32) -> bool {
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
