//! The contract of a chip's driver, and an adapter that gives raw NOR the same interface.
//!
//! The store works on one kind of medium: erase blocks of program pages, with a 16-byte *tag*
//! beside the data of each page. Raw NAND offers this directly: the tag lies in the ECC-protected
//! user bytes of the spare area. [`nor::NorPages`] provides the same medium on byte-programmable
//! NOR.
//!
//! A driver for NAND implements [`Flash`]. A driver for NOR implements [`nor::NorFlash`]. The
//! [guide](crate::guide::drivers) contains a complete driver for each.
//! [`Config::for_geometry`](crate::Config::for_geometry) returns settings for a chip from its
//! [`Geometry`].

mod clean;
mod crc;
pub mod groups;
pub mod nor;
pub mod sectors;
mod tag;

pub(crate) use clean::Clean;
pub use tag::{TAG_BYTES, Tag};
pub(crate) use tag::{TagKind, TagKinds, is_blank, is_same_start};

use core::fmt;

/// Largest number of program pages in a block.
pub(crate) const PAGES_MAX: u32 = 4096;

/// Index of an erase block on the medium.
pub type BlockIndex = u32;
/// Index of a program page on the medium: `block * pages_per_block + page_in_block`.
pub type PageIndex = u32;

/// Shape of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Data bytes of a program page, without its tag. A power of two, at least 256. If tags lie
    /// [within](sectors::TagPlace::Within) pages, the value is 32 bytes less, because the tag takes
    /// 32 bytes of each page.
    pub page_bytes: u32,
    /// Number of program pages in an erase block, 4 to 4,096.
    pub pages_per_block: u32,
    /// Number of erase blocks of the medium.
    pub block_count: u32,
    /// True if any bytes of a page can be programmed alone, each byte once per erase (NOR without
    /// ECC): see [`Flash::program_bytes`]. The journal and the map then program single records. A
    /// volume keeps the value that its medium reported when it was formatted.
    pub programs_bytes: bool,
}

/// Duration of each operation of a medium, transfer included, in nanoseconds.
///
/// These durations turn a [`Cost`](crate::Cost) into time. The pacing rule derives from them how
/// many page moves take as long as one erase. Use datasheet maxima for guarantees and typical
/// values for expectations. A bound contains the driver's time for each command if these durations
/// [contain it](crate::guide::drivers#the-time-of-the-driver).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Duration of a read of a whole page and its tag.
    pub read_ns: u64,
    /// Duration of a read of a tag alone.
    pub read_tag_ns: u64,
    /// Duration of a program of a whole page and its tag.
    pub program_ns: u64,
    /// Duration of a read of a tag followed by [`Flash::program_loaded`]. On chips without this
    /// command: `read_ns + program_ns`.
    pub copy_ns: u64,
    /// Duration of an erase of a block.
    pub erase_ns: u64,
    /// Duration of an instruction of the processor, in picoseconds. 0 leaves out the processor:
    /// [`with_processor`](Self::with_processor) sets it.
    pub instruction_ps: u32,
}

/// Failure of an operation, as the medium reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The page cannot be read: it has more flipped bits than the ECC corrects.
    Uncorrectable,
    /// The block has gone bad. The chip reports that a program or an erase failed, or the card
    /// reports that it cannot write sectors.
    BadBlock,
    /// The chip has locked itself: it accepts no program and no erase any more, and can still be
    /// read.
    WriteProtected,
    /// The device does not answer (bus fault, no answer in time, power lost). The volume may make
    /// its next call at once. If the chip may still be busy then, the driver checks this before it
    /// sends a command. If the chip is busy, the driver returns this error again.
    Device,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Uncorrectable => "more bits of a page are wrong than the ECC corrects",
            Failure::BadBlock => "the chip reports that a program or an erase failed",
            Failure::WriteProtected => "the chip refuses programs and erases",
            Failure::Device => "the device does not answer",
        })
    }
}

impl core::error::Error for Failure {}

/// Corrections of the ECC in the last read, for the codeword that needed most corrections.
///
/// If a chip with on-die ECC reports a range ("4 to 6 bits"), give the upper end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corrected {
    /// Number of wrong bits that were corrected.
    pub bits: u8,
    /// Number of bits that the ECC can correct in a codeword; 0 if the device does not report
    /// corrections.
    pub strength: u8,
}

/// A medium of erase blocks, program pages and tags. The [guide](crate::guide::drivers#spi-nand)
/// contains a complete driver.
///
/// # Contract
/// - The pages of a block are programmed in ascending order, each once per erase. Pages may be
///   skipped.
/// - An erased page reads as `0xFF` in data and tag.
/// - If power fails during [`program`](Flash::program), that page may afterwards hold any bytes, or
///   read differently each time. It may also read as erased, and still not accept a later program.
///   Every other page is unchanged.
/// - If power fails during [`erase`](Flash::erase), any page of that block may be in any of the
///   states that are possible after a power cut during a program. If a page of this block reads as
///   erased, data that is then programmed into it may fade. So the volume erases the block again
///   before use.
/// - If a program or an erase returned an error, the same states are possible as after a power cut
///   during it. The operation may also have succeeded.
/// - A page that cannot be read may be readable at the next attempt. After a failed read, `data`
///   and `tag` may hold any bytes. The volume attempts a read up to three times. If reclamation
///   moves a page and all three attempts fail, the content of the page is lost for good.
pub trait Flash {
    /// Returns the shape of the medium. It never changes.
    fn geometry(&self) -> Geometry;

    /// Returns the worst-case duration of each operation.
    fn timing(&self) -> Timing;

    /// Reads one page: all `page_bytes` of data and the tag.
    ///
    /// # Errors
    /// [`Failure::Uncorrectable`]; [`Failure::Device`].
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure>;

    /// Reads the tag of one page, and leaves the page in the chip's page register for
    /// [`program_loaded`](Flash::program_loaded).
    ///
    /// # Errors
    /// As [`read`](Flash::read).
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure>;

    /// Returns true if [`read_many`](Flash::read_many) takes less time than a call of
    /// [`read`](Flash::read) for each page.
    fn reads_many(&self) -> bool {
        false
    }

    /// Reads consecutive pages of a block: as many as one command can read, and at least one.
    /// Returns the number of pages that were read. `data` has room for the bytes of all requested
    /// pages, and `tags` for their tags. Behind the pages that were read, `data` and `tags` may
    /// hold any bytes. The call takes no longer than a call of [`read`](Flash::read) for each page.
    ///
    /// # Errors
    /// As [`read`](Flash::read), for any of the pages. `data` may then hold any bytes.
    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        let (count, page_bytes) = (tags.len(), data.len() / tags.len().max(1));
        (first..)
            .zip(data.chunks_exact_mut(page_bytes).zip(tags))
            .try_for_each(|(page, (data, tag))| self.read(page, data, tag))?;
        Ok(count)
    }

    /// Returns the corrections of the ECC in the immediately preceding [`read`](Flash::read) or
    /// [`read_tag`](Flash::read_tag), which succeeded. If a read needed three quarters of the ECC's
    /// strength, the volume moves the data before the data needs more corrections.
    fn corrected(&mut self) -> Corrected {
        Corrected::default()
    }

    /// Programs one page.
    ///
    /// `data` is `page_bytes` long or shorter. The missing bytes stay erased (NAND) or are not
    /// programmed (NOR).
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if the chip reports that the program failed;
    /// [`Failure::WriteProtected`]; [`Failure::Device`].
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure>;

    /// Programs consecutive pages of a block, in one command if the medium has such a command.
    /// `data` holds the bytes of all pages, and `tags` holds a tag for each page. A volume calls
    /// this function if [`move_group`](crate::Config::move_group) is more than 1.
    ///
    /// # Power loss
    /// Raw flash programs the pages in ascending order, as several calls of
    /// [`program`](Flash::program) do. After a power cut, one page may hold any bytes, all pages
    /// before it are complete, and all pages behind it are untouched. If a chip can program several
    /// pages at once, its driver must not use this ability here. A device of sectors accepts a
    /// second program of a page, so any of these pages may be complete after a power cut. Every
    /// other page is unchanged.
    ///
    /// # Errors
    /// As [`program`](Flash::program). After an error, any of the pages may hold its data.
    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        let pages = data.chunks_exact(data.len() / tags.len().max(1));
        (first..)
            .zip(pages.zip(tags))
            .try_for_each(|(page, (data, tag))| self.program(page, data, tag))
    }

    /// Returns true if the chip offers [`program_loaded`](Flash::program_loaded) (on-chip page
    /// copy, "internal data move").
    fn can_copy(&self) -> bool {
        false
    }

    /// Programs the page that the immediately preceding [`read_tag`](Flash::read_tag) left in
    /// the page register, with a new tag.
    ///
    /// # Errors
    /// As [`program`](Flash::program); [`Failure::Device`] on chips without this command.
    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let _ = (page, tag);
        Err(Failure::Device)
    }

    /// Reads bytes of a block, without tags. `offset` counts the data bytes of the block's pages,
    /// from the start of the block. A volume calls this function only if
    /// [`Geometry::programs_bytes`] is true.
    ///
    /// # Errors
    /// As [`read`](Flash::read).
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        let _ = (block, offset, data);
        Err(Failure::Device)
    }

    /// Programs bytes of a block, without tags. `offset` counts the data bytes of the block's
    /// pages, from the start of the block. A volume calls this function only if
    /// [`Geometry::programs_bytes`] is true. The pages need not be in order. No byte is programmed
    /// twice, with two exceptions. A byte of `0xFF` leaves the stored byte unchanged. A byte of 0
    /// may be programmed over any byte.
    ///
    /// # Power loss
    /// These bytes may be in any state that a page may be in after a power cut during
    /// [`program`](Flash::program). A byte that was zero stays zero.
    ///
    /// # Errors
    /// As [`program`](Flash::program).
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        let _ = (block, offset, data);
        Err(Failure::Device)
    }

    /// Erases one block.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if the chip reports that the erase failed;
    /// [`Failure::WriteProtected`]; [`Failure::Device`].
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure>;

    /// Returns the CRC-32 (ISO-HDLC, as in Ethernet and zip) of `data` followed by `missing` bytes
    /// of `0xFF`. The checksum takes two fifths of the processor time of a write, and nearly all
    /// processor time of a read. If the chip has a unit for this checksum, the driver uses the unit
    /// here. The checksum is a part of the format, so every implementation returns the same value.
    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        crc::crc32(data, missing)
    }

    /// Writes the device's own write cache to the medium. A volume calls this function at the end
    /// of each commit and of each root. Devices that program before they answer have no such cache.
    /// A power cut may lose the newest writes in a cache. A power cut may lose a write and keep a
    /// later write only if the device [`reorders`](Flash::reorders) writes.
    ///
    /// # Errors
    /// [`Failure::Device`]. It is then unknown which writes since the last sync are on the
    /// medium. So the volume programs nothing more until it is mounted again. It does not repeat
    /// the flush: a later success would not prove that nothing was lost before. A driver that
    /// can prove that nothing was lost repeats the flush itself.
    fn sync(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns true if a power cut may lose any write to the device's own cache since the last
    /// [`sync`](Flash::sync), not only the newest ones. On such a device, the volume may program a
    /// page again without an erase. It does so if the page was lost or is not part of the volume's
    /// state.
    fn reorders(&self) -> bool {
        false
    }

    /// Returns true if a page with a damaged tag may read as erased, because nothing but its tag
    /// shows that it was programmed. A mount then also reads the pages behind such a page.
    fn hides_damage(&self) -> bool {
        false
    }

    /// Returns true if the manufacturer, or [`mark_bad`](Flash::mark_bad), marked this block
    /// bad. `format` calls it for every block. A mount that cannot read the superblock in block
    /// 0 calls it for the next blocks, until it finds the copy. The call takes no longer than
    /// [`read_tag`](Flash::read_tag).
    ///
    /// # Errors
    /// [`Failure::Device`].
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure>;

    /// Marks a block bad for other users of the chip. The file system keeps its own record and does
    /// not rely on the mark. The contents of the block are not needed any more, so the driver may
    /// erase it first, as Linux does. The mark may spoil the page that it is programmed into, even
    /// if later pages hold data. The computed bounds include one erase and one program for this
    /// call.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if the mark cannot be written; [`Failure::Device`].
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure>;

    /// Returns true if nothing on the medium changes, and the volume was closed cleanly. Only the
    /// medium of a [`CleanReader`](crate::CleanReader) returns true; no driver does.
    #[doc(hidden)]
    #[inline(always)]
    fn is_clean(&self) -> bool {
        false
    }
}

impl<F: Flash + ?Sized> Flash for &mut F {
    fn geometry(&self) -> Geometry {
        (**self).geometry()
    }
    fn timing(&self) -> Timing {
        (**self).timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        (**self).read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        (**self).read_tag(page, tag)
    }
    fn reads_many(&self) -> bool {
        (**self).reads_many()
    }
    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        (**self).read_many(first, data, tags)
    }
    fn corrected(&mut self) -> Corrected {
        (**self).corrected()
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        (**self).program(page, data, tag)
    }
    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        (**self).program_many(first, data, tags)
    }
    fn can_copy(&self) -> bool {
        (**self).can_copy()
    }
    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        (**self).program_loaded(page, tag)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        (**self).read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        (**self).program_bytes(block, offset, data)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        (**self).erase(block)
    }
    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        (**self).checksum(data, missing)
    }
    fn sync(&mut self) -> Result<(), Failure> {
        (**self).sync()
    }
    fn reorders(&self) -> bool {
        (**self).reorders()
    }
    fn hides_damage(&self) -> bool {
        (**self).hides_damage()
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        (**self).is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        (**self).mark_bad(block)
    }
    fn is_clean(&self) -> bool {
        (**self).is_clean()
    }
}
