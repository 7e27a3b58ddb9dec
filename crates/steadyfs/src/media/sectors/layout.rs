//! Division of a device into blocks and pages, and the places of tags.

use super::device::{SECTOR_BYTES, SectorDevice};
use super::sector::{HEADER, TAG_ROOM_BYTES, VOLUME_AT, is_sound, was_read, word};
use crate::fields::Fields;
use crate::media::{BlockIndex, Failure, Geometry, PAGES_MAX, PageIndex};

/// Number of header sectors of a block.
pub(super) const HEADERS: u32 = 2;
/// Number of sectors of the largest page.
pub(super) const PAGE_SECTORS_MAX: usize = 32;

/// Place of the tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TagPlace {
    /// Before each page. A page and its tag are one write, and all writes to a block follow each
    /// other, which suits cards.
    #[default]
    Beside,
    /// In a table at the beginning of the block. Pages are aligned, and consecutive pages are
    /// contiguous. Each page takes a second write, for its tag.
    Table,
    /// In the last [`TAG_ROOM_BYTES`] bytes of each page, which holds that many bytes less data.
    /// Pages are aligned, a page and its tag are one write, and only headers lie between pages.
    /// With pages of 4 KiB, the device holds about an eighth more data than with a sector for each
    /// tag. But if an application writes 4 KiB at a multiple of 4 KiB, this data lies in two pages.
    /// And the data of a page is not a whole number of sectors, so a [disk](crate::disk) cannot use
    /// such pages.
    Within,
}

impl TagPlace {
    /// All places, in the order of their numbers in a header.
    const ALL: [Self; 3] = [Self::Beside, Self::Table, Self::Within];

    /// Returns the number of the place in a header.
    pub(super) const fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

/// Division of a device into blocks and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SectorLayout {
    /// First sector of the volume. An allocation unit begins here.
    pub first: u32,
    /// Number of sectors of the volume.
    pub sectors: u32,
    /// Number of sectors of a block: one allocation unit, or several.
    pub block_sectors: u32,
    /// Bytes of a page: a power of two, 512 to 16,384. The number includes the tag if the tag lies
    /// [within](TagPlace::Within) the page.
    pub page_bytes: u32,
    /// Place of the tags.
    pub tags: TagPlace,
    /// Number of the volume. It differs from the number of any volume before it on the device:
    /// see [`renewed`](Self::renewed).
    pub volume: u32,
}

impl SectorLayout {
    /// Returns the layout for a whole device with allocation units of `unit_bytes` bytes: pages
    /// of 4 KiB, with their tags beside them.
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

    /// Returns the shape of the medium.
    pub const fn geometry(&self) -> Geometry {
        Geometry {
            page_bytes: self.data_bytes(),
            pages_per_block: self.pages_per_block(),
            block_count: self.sectors
                / if self.block_sectors == 0 { 1 } else { self.block_sectors },
            programs_bytes: false,
        }
    }

    /// Returns the number of bytes of a page that hold data.
    pub(super) const fn data_bytes(&self) -> u32 {
        match self.tags {
            TagPlace::Beside | TagPlace::Table => self.page_bytes,
            TagPlace::Within => self.page_bytes.saturating_sub(TAG_ROOM_BYTES),
        }
    }

    /// Returns the number of pages that fit into a block, beside the headers and the tags.
    pub(super) const fn pages_per_block(&self) -> u32 {
        let page = self.page_sectors();
        let (head, each) = match self.tags {
            TagPlace::Beside => (HEADERS, page + 1),
            // The alignment of the first page takes at most `page - 1` sectors.
            TagPlace::Table => (HEADERS + page - 1, page + 1),
            TagPlace::Within => (self.first_page(), page),
        };
        let pages = self.block_sectors.saturating_sub(head) / each;
        if pages > PAGES_MAX { PAGES_MAX } else { pages }
    }

    /// Returns the sector of a block at which its first page begins, if tags lie within pages.
    const fn first_page(&self) -> u32 {
        HEADERS.next_multiple_of(self.page_sectors())
    }

    /// Returns the number of sectors of a page.
    pub(super) const fn page_sectors(&self) -> u32 {
        let sectors = self.page_bytes / SECTOR_BYTES as u32;
        if sectors == 0 { 1 } else { sectors }
    }

    /// Returns the first sector of a block's headers.
    pub(super) const fn header(&self, block: BlockIndex) -> u32 {
        self.first + block * self.block_sectors
    }

    /// Returns the sector of a page's tag, and the first sector of its data. If tags lie within
    /// pages, the tag shares the last sector of the data.
    pub(super) const fn places(&self, page: PageIndex) -> (u32, u32) {
        let pages = self.pages_per_block();
        let (header, index, size) = (self.header(page / pages), page % pages, self.page_sectors());
        match self.tags {
            TagPlace::Beside => {
                let tag = header + HEADERS + index * (size + 1);
                (tag, tag + 1)
            }
            TagPlace::Table => (
                header + HEADERS + index,
                header + (HEADERS + pages).next_multiple_of(size) + index * size,
            ),
            TagPlace::Within => {
                let data = header + self.first_page() + index * size;
                (data + size - 1, data)
            }
        }
    }

    /// Returns the layout for a new volume. The number of the new volume is one more than the
    /// number of the volume on the device, if that number can be read. So the new volume never
    /// takes a page of the old volume for its own.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn renewed<D: SectorDevice>(self, device: &mut D) -> Result<Self, Failure> {
        let before = self.found(device)?;
        Ok(Self { volume: before.map_or(1, |before| before.volume.wrapping_add(1).max(1)), ..self })
    }

    /// Reads the layout of a volume from its first sectors. Returns `None` if there is no
    /// volume.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    pub fn find<D: SectorDevice>(device: &mut D, first: u32) -> Result<Option<Self>, Failure> {
        let found = Self::header_at(device, first)?;
        Ok(found
            .map(|found| Self { first, ..found })
            .filter(|found| found.is_possible(device.sector_count())))
    }

    /// Reads the layout of a volume that was made with this layout. If both headers of its first
    /// block are lost, for example to a partition table, it reads the headers of the next block.
    /// Returns `None` if neither block has a readable header.
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
        Ok(found.map(|found| Self { first: self.first, ..found }).filter(|found| {
            found.block_sectors == self.block_sectors && found.is_possible(device.sector_count())
        }))
    }

    /// Reads the layout from the headers of a block. The headers begin at the sector `at`, and do
    /// not contain `first`.
    fn header_at<D: SectorDevice>(device: &mut D, at: u32) -> Result<Option<Self>, Failure> {
        let mut sector = [0; SECTOR_BYTES];
        let (end, mut is_header) = (at.saturating_add(HEADERS).min(device.sector_count()), false);
        for at in at..end {
            is_header = is_header
                || (was_read(device.read(at, &mut [&mut sector]))? && is_sound(&sector, HEADER));
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

    /// Returns true if a device of `sectors` sectors can have this layout.
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
