//! The contract of a chip's driver, and an adapter that gives raw NOR the same interface.
//!
//! The store works on one kind of medium: erase blocks of program pages, with a 16-byte *tag*
//! beside the data of each page. Raw NAND offers this directly: the tag lies in the
//! ECC-protected user bytes of the spare area. [`nor::NorPages`] builds it on byte-programmable
//! NOR.
//!
//! A driver for NAND implements [`Flash`], a driver for NOR [`nor::NorFlash`]. The
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
    /// [within](sectors::TagPlace::Within) pages, it is 32 bytes less: the tag takes them.
    pub page_bytes: u32,
    /// Number of program pages in an erase block, 4 to 4,096.
    pub pages_per_block: u32,
    /// Erase blocks of the medium.
    pub block_count: u32,
    /// True if any bytes of a page can be programmed on their own, once per erase each (NOR
    /// without ECC): see [`Flash::program_bytes`]. Journal and map use it. A volume keeps the
    /// value that its medium reported at the format.
    pub programs_bytes: bool,
}

/// Duration of each operation of a medium, transfer included, in nanoseconds.
///
/// It turns a [`Cost`](crate::Cost) into time. The pacing rule derives from it how many page
/// moves weigh as much as one erase. Use datasheet maxima for guarantees and typical values for
/// expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Read of a whole page and its tag.
    pub read_ns: u64,
    /// Read of a tag alone.
    pub read_tag_ns: u64,
    /// Program of a whole page and its tag.
    pub program_ns: u64,
    /// Read of a tag followed by [`Flash::program_loaded`]; `read_ns + program_ns` on chips
    /// without it.
    pub copy_ns: u64,
    /// Erase of a block.
    pub erase_ns: u64,
}

/// Failure of an operation, as the medium reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The page cannot be read: more bits flipped than the ECC corrects.
    Uncorrectable,
    /// The block has gone bad. The chip reports that a program or an erase failed, or the card
    /// reports that it cannot write sectors.
    BadBlock,
    /// The chip has locked itself: it accepts no program and no erase any more, and can still be
    /// read.
    WriteProtected,
    /// The device does not answer (bus fault, no answer in time, power lost). The next call may
    /// come at once. A driver whose chip may still be busy checks this before it gives a
    /// command, and returns this error again.
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

/// Corrections of the ECC in the last read: the worst of its codewords.
///
/// Chips with on-die ECC report ranges ("4 to 6 bits"): give the upper end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corrected {
    /// Wrong bits that were corrected.
    pub bits: u8,
    /// Bits that can be corrected; 0 if the device does not report it.
    pub strength: u8,
}

/// A medium of erase blocks, program pages and tags. The [guide](crate::guide::drivers#spi-nand)
/// contains a complete driver.
///
/// # Contract
/// - The pages of a block are programmed in ascending order, each once per erase. Pages may be
///   skipped.
/// - An erased page reads as `0xFF` in data and tag.
/// - If power fails during [`program`](Flash::program), that page may afterwards hold any bytes,
///   read differently each time, or read as erased and not take a later program. Every other
///   page is unchanged.
/// - If power fails during [`erase`](Flash::erase), any page of that block may be in any of
///   these states. A page that reads as erased may then fade after a program, so the volume erases
///   the block again before use.
/// - After a program or an erase that returned an error, the same holds as after a power cut in
///   it. The operation may also have succeeded.
/// - A page that cannot be read may be readable at the next attempt. After a failed read, `data`
///   and `tag` may hold any bytes.
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

    /// Returns true if [`read_many`](Flash::read_many) takes less time than as many
    /// [`read`](Flash::read)s.
    fn reads_many(&self) -> bool {
        false
    }

    /// Reads consecutive pages of a block, as many as one command takes. Returns their number,
    /// which is at least one. `data` has room for the bytes of all pages, `tags` for a tag of
    /// each. Behind the pages that were read, both may hold any bytes. The call takes no longer
    /// than as many [`read`](Flash::read)s.
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
    /// [`read_tag`](Flash::read_tag), which succeeded. Data that needed three quarters of the
    /// strength is moved before it needs more.
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
    /// `data` holds the bytes of all pages, `tags` a tag for each. A volume calls it if
    /// [`move_group`](crate::Config::move_group) is more than 1.
    ///
    /// # Power loss
    /// Raw flash programs the pages in ascending order, as several calls of
    /// [`program`](Flash::program) do. After a cut one page is cut, all pages before it are there,
    /// and all pages behind it are untouched. A chip that programs several pages at once must
    /// not do so here. A device of sectors accepts a second program of a page, so a cut may
    /// leave any of these pages. Every other page is unchanged.
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

    /// Reads bytes of a block, without tags. The data of the block's pages counts as one run,
    /// and `offset` is a place in it. Called only if the [geometry](Geometry::programs_bytes)
    /// allows it.
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

    /// Programs bytes of a block, without tags. The data of the block's pages counts as one run,
    /// and `offset` is a place in it. Called only if the [geometry](Geometry::programs_bytes)
    /// allows it. The pages need not be in order. No byte is programmed twice, with two
    /// exceptions: bytes of ones, which are not programmed, and bytes of zeros.
    ///
    /// # Power loss
    /// As in [`program`](Flash::program), for these bytes. A byte that was zero stays zero.
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

    /// Returns the CRC-32 (ISO-HDLC, as in Ethernet and zip) of `data` followed by `missing`
    /// bytes of `0xFF`. The checksum takes two fifths of the processor time of a write, and
    /// nearly all of a read's. A chip with a unit for it computes it here. The sum is a part of
    /// the format.
    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        crc::crc32(data, missing)
    }

    /// Writes the device's own write cache to the medium. Called at the end of each commit and
    /// root. Devices that program before they answer have no such cache. A power cut may lose
    /// the newest writes of a cache. It may lose writes in between only if the device
    /// [`reorders`](Flash::reorders).
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
    /// [`sync`](Flash::sync), not only the newest ones. On such a device a page may be
    /// programmed again, if it was lost or the volume does not count it.
    fn reorders(&self) -> bool {
        false
    }

    /// Returns true if a page with a damaged tag may read as erased, because nothing else shows
    /// that it was programmed. A mount then reads the pages behind it as well.
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

    /// Marks a block bad for other users of the chip. The file system keeps its own record and
    /// does not rely on the mark. The contents of the block are not needed any more, so the
    /// driver may erase it first, as Linux does. The mark may spoil the page that it is
    /// programmed into, even if later pages hold data. Bounds count an erase and a program for
    /// it.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if the mark cannot be written; [`Failure::Device`].
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure>;

    /// Returns true if nothing on the medium changes, and no power cut has met the volume. Only
    /// the medium of a [`CleanReader`](crate::CleanReader) returns true; no driver does.
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
