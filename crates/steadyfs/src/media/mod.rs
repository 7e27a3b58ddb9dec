//! What a chip must offer, and how raw NOR is made to look like it.
//!
//! The store sees one kind of medium: erase blocks of program pages, each page with a 16-byte *tag* beside its data.
//! Raw NAND offers that directly (the tag lies in the ECC-protected user bytes of the spare area); [`nor::NorPages`]
//! builds it on byte-programmable NOR.
//!
//! A driver for NAND implements [`Flash`], one for NOR [`nor::NorFlash`]; the [guide](crate::guide::drivers) has the whole of both. To fit
//! settings to a chip, [`Config::for_geometry`](crate::Config::for_geometry) takes its [`Geometry`].

mod clean;
mod crc;
pub mod groups;
pub mod nor;
pub mod sectors;
mod tag;

pub(crate) use clean::Clean;
pub(crate) use tag::{Kind, Kinds, is_blank, is_same_start};
pub use tag::{TAG_BYTES, Tag};

use core::fmt;

/// Most program pages of a block.
pub(crate) const PAGES_MAX: u32 = 4096;

/// Index of an erase block on the medium.
pub type BlockIndex = u32;
/// Index of a program page on the medium: `block * pages_per_block + page_in_block`.
pub type PageIndex = u32;

/// Shape of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Data bytes of a program page, without its tag. A power of two, at least 256; where tags lie [within](sectors::TagPlace::Within) pages, that less their 32 bytes.
    pub page_bytes: u32,
    /// Program pages of an erase block. 4 to 4,096.
    pub pages_per_block: u32,
    /// Erase blocks of the medium.
    pub block_count: u32,
    /// Any bytes of a page can be programmed for themselves, once per erase each (NOR without ECC): see [`Flash::program_bytes`]. Journal and map make
    /// use of it; a volume keeps what its medium said at the format.
    pub programs_bytes: bool,
}

/// How long one operation of a medium takes, transfer included, in nanoseconds.
///
/// Turns a [`Cost`](crate::Cost) into time and tells the pacing rule how many page moves weigh as much as one erase.
/// Use datasheet maxima for guarantees and typical values for expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Read of a whole page and its tag.
    pub read_ns: u64,
    /// Read of a tag alone.
    pub read_tag_ns: u64,
    /// Program of a whole page and its tag.
    pub program_ns: u64,
    /// Read of a tag followed by [`Flash::program_loaded`]; `read_ns + program_ns` on chips without it.
    pub copy_ns: u64,
    /// Erase of a block.
    pub erase_ns: u64,
}

/// What a medium reports when an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The page cannot be read: more bits flipped than the ECC corrects.
    Uncorrectable,
    /// The chip reports that a program or an erase failed, or the card that it cannot write
    /// sectors:
    /// the block has gone bad.
    BadBlock,
    /// The chip has locked itself: it takes no program and no erase any more, and can be read.
    WriteProtected,
    /// The device does not answer (bus fault, no answer in time, power lost). The next call may come at once: a driver whose chip may still be busy
    /// looks before it gives a command, and says this again.
    Device,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Uncorrectable => "more bits of a page are wrong than the ECC corrects",
            Failure::BadBlock => "the chip reports that a program or an erase failed",
            Failure::WriteProtected => "the chip takes no program and no erase",
            Failure::Device => "the device does not answer",
        })
    }
}

impl core::error::Error for Failure {}

/// What the ECC had to do in the last read: the worst of its codewords.
///
/// Chips with on-die ECC report ranges ("4 to 6 bits"): give the upper end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corrected {
    /// Bits that were wrong and were corrected.
    pub bits: u8,
    /// Bits that can be corrected; 0 where the device does not tell.
    pub strength: u8,
}

/// A medium of erase blocks, program pages and tags. The whole of a driver is in the [guide](crate::guide::drivers#spi-nand).
///
/// # Contract
/// - Pages of a block are programmed in ascending order (pages may be skipped), each once per erase.
/// - An erased page reads as `0xFF` in data and tag.
/// - When power fails during [`program`](Flash::program), that page may afterwards hold any bytes, or read
///   differently each time, or read as erased and not take a later program; every other page is unchanged.
/// - When power fails during [`erase`](Flash::erase), any page of that block may be in any of those states.
/// - After a program or an erase that returned an error the same holds as after a power cut in it; the page may also be as it should be. What
///   cannot be read may be readable at the next look, and `data` and `tag` may hold anything then.
pub trait Flash {
    /// Tells the shape of the medium. It never changes.
    fn geometry(&self) -> Geometry;

    /// Tells the worst-case duration of each operation.
    fn timing(&self) -> Timing;

    /// Reads one page: all `page_bytes` of data and the tag.
    ///
    /// # Errors
    /// [`Failure::Uncorrectable`]; [`Failure::Device`].
    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure>;

    /// Reads the tag of one page, and leaves the page in the chip's page register for [`program_loaded`](Flash::program_loaded).
    ///
    /// # Errors
    /// As [`read`](Flash::read).
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure>;

    /// Tells whether [`read_many`](Flash::read_many) takes less than as many [`read`](Flash::read)s.
    fn reads_many(&self) -> bool {
        false
    }

    /// Reads pages that follow each other in a block, as many as one command takes, and returns how many: one at least. `data` has room for all of their
    /// bytes, `tags` for a tag of each. What is behind those that are read may be anything. Takes no longer than as many [`read`](Flash::read)s.
    ///
    /// # Errors
    /// As [`read`](Flash::read), of any of the pages; what is in `data` may be anything then.
    fn read_many(&mut self, first: PageIndex, data: &mut [u8], tags: &mut [[u8; TAG_BYTES]]) -> Result<usize, Failure> {
        let (count, page_bytes) = (tags.len(), data.len() / tags.len().max(1));
        (first..)
            .zip(data.chunks_exact_mut(page_bytes).zip(tags))
            .try_for_each(|(page, (data, tag))| self.read(page, data, tag))?;
        Ok(count)
    }

    /// Tells what the ECC had to correct in the immediately preceding [`read`](Flash::read) or [`read_tag`](Flash::read_tag),
    /// which succeeded. Data that needed three quarters of the strength is moved before it needs more.
    fn corrected(&mut self) -> Corrected {
        Corrected::default()
    }

    /// Programs one page.
    ///
    /// `data` is `page_bytes` long or shorter; what is missing stays erased (NAND) or is not programmed (NOR).
    ///
    /// # Errors
    /// [`Failure::BadBlock`] when the chip reports that the program failed; [`Failure::WriteProtected`]; [`Failure::Device`].
    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure>;

    /// Programs pages that follow each other in a block, in one command where the medium has one: `data` is all of their bytes, `tags` has one for each.
    /// A volume calls it where [`move_group`](crate::Config::move_group) is more than 1.
    ///
    /// # Power loss
    /// On raw flash the same as after a cut in one of several calls of [`program`](Flash::program),
    /// in
    /// ascending order: one page is cut, all pages before it are there, all pages behind it are
    /// untouched. A chip that programs several pages at once must not do so here. A device of
    /// sectors
    /// takes a page again, and may leave any of these pages. Every other page is unchanged.
    ///
    /// # Errors
    /// As [`program`](Flash::program); any of the pages may be there then.
    fn program_many(&mut self, first: PageIndex, data: &[u8], tags: &[[u8; TAG_BYTES]]) -> Result<(), Failure> {
        let pages = data.chunks_exact(data.len() / tags.len().max(1));
        (first..).zip(pages.zip(tags)).try_for_each(|(page, (data, tag))| self.program(page, data, tag))
    }

    /// Tells whether [`program_loaded`](Flash::program_loaded) exists on this chip (on-chip page copy, "internal data move").
    fn can_copy(&self) -> bool {
        false
    }

    /// Programs the page that the immediately preceding [`read_tag`](Flash::read_tag) left in the page register, with a new tag.
    ///
    /// # Errors
    /// As [`program`](Flash::program); [`Failure::Device`] on chips that do not offer it.
    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let _ = (page, tag);
        Err(Failure::Device)
    }

    /// Reads bytes of a block's pages, which count as one run, without their tags. Only where the [geometry](Geometry::programs_bytes) says so.
    ///
    /// # Errors
    /// As [`read`](Flash::read).
    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        let _ = (block, offset, data);
        Err(Failure::Device)
    }

    /// Programs bytes of a block's pages, which count as one run, without their tags. Only where the [geometry](Geometry::programs_bytes) says
    /// so. The pages need not follow their order. No byte is programmed twice, but for ones, which are not programmed, and zeros.
    ///
    /// # Power loss
    /// As in [`program`](Flash::program), for these bytes. A byte that was zero stays zero.
    ///
    /// # Errors
    /// As [`program`](Flash::program).
    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Failure> {
        let _ = (block, offset, data);
        Err(Failure::Device)
    }

    /// Erases one block.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] when the chip reports that the erase failed; [`Failure::WriteProtected`]; [`Failure::Device`].
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure>;

    /// The CRC-32 (ISO-HDLC, the one of Ethernet and zip) of `data` with `missing` bytes of `0xFF` behind it. Two fifths of a write's processor
    /// time go into it, and nearly all of a read's: a chip with a unit for it computes it here. The sum is a part of the format.
    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        crc::crc32(data, missing)
    }

    /// Empties the device's own write cache. Called at the end of each commit and root; devices that program before they answer
    /// have none. When power fails, a cache may lose the end of what it was given, and something in between only where it [`reorders`](Flash::reorders).
    ///
    /// # Errors
    /// [`Failure::Device`]; nobody knows then what is there of all since the last one. So the volume programs nothing more until it is mounted again, and repeats no flush: a later one that
    /// succeeds would not say that nothing was lost before. A driver that knows better repeats it itself.
    fn sync(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether the device's own write cache may lose any of what it was given since the last [`sync`](Flash::sync), not only the end of it. A page may be
    /// programmed again there, if it was lost or the volume does not count it.
    fn reorders(&self) -> bool {
        false
    }

    /// Whether a page whose tag is damaged may read as erased, because nothing else says that it was programmed. A mount asks the pages behind it then.
    fn hides_damage(&self) -> bool {
        false
    }

    /// Tells whether the manufacturer, or [`mark_bad`](Flash::mark_bad), marked this block bad. `format` asks it of every block, and a mount
    /// that cannot read the superblock in block 0 of the next ones, until it finds the copy. Takes no longer than [`read_tag`](Flash::read_tag).
    ///
    /// # Errors
    /// [`Failure::Device`].
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure>;

    /// Marks a block bad for other users of the chip. The file system keeps its own record and does not rely on it. Nothing that the block
    /// holds is needed any more: the driver may erase it first, as Linux does, and the mark may spoil the page that it is programmed into,
    /// which may be one before pages that hold something. Bounds count an erase and a program for it.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] when the mark cannot be written; [`Failure::Device`].
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure>;

    /// Whether nothing on the medium changes, and no power cut has met the volume: only what a [`CleanReader`](crate::CleanReader) reads is so. No driver says it.
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
    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        (**self).read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        (**self).read_tag(page, tag)
    }
    fn reads_many(&self) -> bool {
        (**self).reads_many()
    }
    fn read_many(&mut self, first: PageIndex, data: &mut [u8], tags: &mut [[u8; TAG_BYTES]]) -> Result<usize, Failure> {
        (**self).read_many(first, data, tags)
    }
    fn corrected(&mut self) -> Corrected {
        (**self).corrected()
    }
    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        (**self).program(page, data, tag)
    }
    fn program_many(&mut self, first: PageIndex, data: &[u8], tags: &[[u8; TAG_BYTES]]) -> Result<(), Failure> {
        (**self).program_many(first, data, tags)
    }
    fn can_copy(&self) -> bool {
        (**self).can_copy()
    }
    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        (**self).program_loaded(page, tag)
    }
    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        (**self).read_bytes(block, offset, data)
    }
    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Failure> {
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
