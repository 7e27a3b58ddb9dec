//! The driver: callbacks in a struct of the caller, from which the core's media are made.
//!
//! A driver's struct is borrowed while the volume is mounted. The `new` of each medium checks
//! once that the required callbacks exist, so that the calls below find them.

use crate::error::{Code, Failure as CodeOfFailure};
use core::ffi::{c_int, c_void};
use steadyfs::media::sectors::{SectorDevice, SectorTimes};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing, nor::NorFlash,
};

/// Longest times of one operation of a NAND chip, transfer included, in nanoseconds. A time of
/// more than 100 s is refused: STEADYFS_ERR_DRIVER. Times of 0 make bounds of 0.
///
/// Every bound is computed from these numbers: use datasheet maxima for guarantees, typical
/// values for expectations. If the bus has other users, add their longest transfer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NandTiming {
    /// Read of a whole page and its tag.
    pub read_ns: u64,
    /// Read of a tag alone.
    pub read_tag_ns: u64,
    /// Program of a whole page and its tag.
    pub program_ns: u64,
    /// Read of a tag followed by `copy`. If this is 0, or the driver has no `copy`: read_ns +
    /// program_ns.
    pub copy_ns: u64,
    /// Erase of a block.
    pub erase_ns: u64,
}

type Read =
    unsafe extern "C" fn(context: *mut c_void, page: u32, data: *mut c_void, tag: *mut u8) -> c_int;
type ReadTag = unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *mut u8) -> c_int;
type Program = unsafe extern "C" fn(
    context: *mut c_void,
    page: u32,
    data: *const c_void,
    bytes: u32,
    tag: *const u8,
) -> c_int;

/// A driver for raw NAND: erase blocks of program pages, each page with a tag of 16 bytes beside
/// its data.
///
/// The tag lies in user bytes of the spare area, where the ECC works. Pages of a block are
/// programmed in ascending order (some may be skipped), each once per erase. An erased page
/// reads as 0xFF in data and tag. Callbacks return STEADYFS_FAIL_NONE or another
/// steadyfs_failure. They must not call the same volume, and must return: a longjmp out of a
/// callback is undefined. The struct does not change from mount to unmount.
///
/// Power loss: a page whose program is cut may hold any bytes afterwards, or read differently
/// each time. So may any page of a block whose erase is cut. Every other page is unchanged. The
/// same holds after a program or an erase that returned an error.
#[repr(C)]
pub struct Nand {
    /// Argument of every callback; may be null.
    pub context: *mut c_void,
    /// Data bytes of a program page, without the tag: a power of two, 256 to 16,384.
    pub page_bytes: u32,
    /// Number of program pages in an erase block, 4 to 4,096.
    pub pages_per_block: u32,
    /// Erase blocks of the chip: 16 to 1,048,576.
    pub block_count: u32,
    /// The longest times of the operations.
    pub timing: NandTiming,
    /// Reads page_bytes of data and 16 bytes of tag. `page` is
    /// `block * pages_per_block + page in block`. Returns STEADYFS_FAIL_UNCORRECTABLE or
    /// STEADYFS_FAIL_DEVICE if it fails. Required.
    pub read: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            page: u32,
            data: *mut c_void,
            tag: *mut u8,
        ) -> c_int,
    >,
    /// Reads the tag of a page, and leaves the page in the chip's register for `copy`. Fails as
    /// `read`. Required.
    pub read_tag:
        Option<unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *mut u8) -> c_int>,
    /// Programs a page. `bytes` is page_bytes or less, and the rest stays erased. Returns
    /// STEADYFS_FAIL_BAD_BLOCK if the chip reports a failure, STEADYFS_FAIL_WRITE_PROTECTED, or
    /// STEADYFS_FAIL_DEVICE. Required.
    pub program: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            page: u32,
            data: *const c_void,
            bytes: u32,
            tag: *const u8,
        ) -> c_int,
    >,
    /// Erases a block. Fails as `program`. Required.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Returns 1 if the maker or `mark_bad` marked a block bad, and 0 for a good block. Returns
    /// STEADYFS_FAIL_DEVICE if it fails. Takes no longer than `read_tag`. Required.
    pub is_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Marks a block bad for other users of the chip. Nothing in the block is needed any more.
    /// Fails as `program`. Required.
    pub mark_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Makes durable the operations that the device answered before they were durable. Null if
    /// the device has none.
    pub sync: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// Programs the page that the `read_tag` just before left in the chip's register, with
    /// another tag ("internal data move"). Fails as `program`. Null if the chip has no such
    /// command.
    pub copy:
        Option<unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *const u8) -> c_int>,
    /// Stores the number of bits that the ECC corrected in the read just before, in the worst
    /// codeword. Also stores the number of bits that it can correct. Data that needed three
    /// quarters of them is moved. Null if the chip does not report it.
    pub corrected:
        Option<unsafe extern "C" fn(context: *mut c_void, bits: *mut u8, strength: *mut u8)>,
}

/// A driver for raw NOR. Any bytes can be programmed once per erase. A program changes bits from
/// 1 to 0, and an erase makes them 1 again.
///
/// A chip with an ECC over several bytes, each programmed once, is no such medium. Callbacks and
/// struct follow the rules of steadyfs_nand, and times the rules of steadyfs_nand_timing.
///
/// Power loss: if a program is cut, any of the bits that it should clear may be cleared. In a
/// block whose erase is cut, any bytes may be there.
#[repr(C)]
pub struct Nor {
    /// Argument of every callback; may be null.
    pub context: *mut c_void,
    /// Bytes of one erase: a power of two, 1,024 to 16 MiB. Chips with many small sectors are
    /// grouped to larger blocks: see settings.group_sectors.
    pub erase_bytes: u32,
    /// Erase sectors of the volume, together at most 4 GiB.
    pub erase_count: u32,
    /// Bytes that the chip programs with one command: 256 on most chips. Bounds count programs
    /// of this size.
    pub program_page_bytes: u32,
    /// The longest time of a read command without its bytes, in nanoseconds.
    pub read_ns: u64,
    /// Time to transfer a byte in a read, in nanoseconds, rounded up: 160 at 50 MHz and one data
    /// line.
    pub read_byte_ns: u32,
    /// Time to transfer a byte in a program, in nanoseconds, rounded up.
    pub program_byte_ns: u32,
    /// The longest time of a program of one program page, without the transfer of its bytes, in
    /// nanoseconds.
    pub program_ns: u64,
    /// The longest time of an erase, in nanoseconds.
    pub erase_ns: u64,
    /// Reads bytes. Returns STEADYFS_FAIL_DEVICE if it fails. Required.
    pub read: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            address: u32,
            data: *mut c_void,
            bytes: u32,
        ) -> c_int,
    >,
    /// Programs bytes. The callback splits them at the chip's program pages. A byte of 0xFF
    /// leaves the present byte unchanged. A byte of 0 may be programmed over any byte. Returns
    /// STEADYFS_FAIL_BAD_BLOCK if the chip or reading back shows a failure,
    /// STEADYFS_FAIL_WRITE_PROTECTED, or STEADYFS_FAIL_DEVICE. Required.
    pub program: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            address: u32,
            data: *const c_void,
            bytes: u32,
        ) -> c_int,
    >,
    /// Erases the sector with the given index, from 0 on. Fails as `program`. Required.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, sector: u32) -> c_int>,
    /// Makes durable the operations that the device answered before they were durable. Null if
    /// the device has none.
    pub sync: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
}

/// A piece of the bytes of a command. It is laid out as `struct iovec`, so that preadv and
/// pwritev take it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Address of the bytes. If the command writes, they are only read.
    pub data: *mut c_void,
    /// Number of the bytes; not always whole sectors.
    pub bytes: usize,
}

/// Place of the tags of pages on a card or a disk.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Before each page, each in its own sector. Suits cards best.
    TagsBeside = 0,
    /// In a table at the start of each block. Pages are aligned, and each takes a second write.
    TagsTable = 1,
    /// In the last 32 bytes of each page, which holds 32 bytes less of data. An eighth more of
    /// the device holds data, but the volume cannot be a disk of sectors. Suits data that is
    /// written a page at a time or in order: writes of 4,096 bytes touch two pages.
    TagsWithin = 2,
}

/// A driver for a card or a disk: sectors of 512 bytes, read and written in any order. The
/// device levels wear itself. It also replaces bad blocks, until it has no others.
///
/// Callbacks and struct follow the rules of steadyfs_nand, and times the rules of
/// steadyfs_nand_timing.
///
/// Power loss: sectors that were written since the last `flush` may hold the old data, the
/// written data, or anything. Every other sector is unchanged. The same holds for a write that
/// returned an error.
#[repr(C)]
pub struct Sectors {
    /// Argument of every callback; may be null.
    pub context: *mut c_void,
    /// Sectors of the device.
    pub sector_count: u32,
    /// First sector of the volume, at the start of an allocation unit. Usually 0, or the start
    /// of a partition.
    pub first: u32,
    /// Sectors of a block: an allocation unit of the card, or several. 0: chosen by the size. A
    /// mount reads it from the medium.
    pub block_sectors: u32,
    /// Bytes of a page: a power of two, 512 to 16,384. 0: 4,096. A mount reads it from the medium.
    pub page_bytes: u32,
    /// Place of the tags: a value of enum steadyfs_tag_place. Default, 0: STEADYFS_TAGS_BESIDE.
    /// A mount reads it from the medium.
    pub tags: u8,
    /// True if the device keeps the order of its writes until a flush: a cut loses the last
    /// writes, never an earlier one alone. False in doubt.
    pub keeps_order: bool,
    /// Time of a read without its sectors, in nanoseconds. Use a measured time if the
    /// specification gives no maximum.
    pub read_ns: u64,
    /// Time of each sector that is read, in nanoseconds.
    pub read_sector_ns: u64,
    /// Time of a write without its sectors, in nanoseconds.
    pub write_ns: u64,
    /// Time of each sector that is written, in nanoseconds.
    pub write_sector_ns: u64,
    /// Time of a discard, in nanoseconds.
    pub discard_ns: u64,
    /// Time of a flush, in nanoseconds.
    pub flush_ns: u64,
    /// Reads sectors from `first` on, in one command. The bytes of the parts follow each other,
    /// and together they are whole sectors. Returns STEADYFS_FAIL_UNCORRECTABLE or
    /// STEADYFS_FAIL_DEVICE if it fails. Required.
    pub read: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            first: u32,
            parts: *const Part,
            count: u32,
        ) -> c_int,
    >,
    /// Writes sectors from `first` on, in one command, with parts as in `read`. Required. If it
    /// fails, it returns:
    /// - STEADYFS_FAIL_BAD_BLOCK if the device answers twice that it cannot write these sectors,
    ///   and no earlier write is lost. The volume never uses their block again.
    /// - STEADYFS_FAIL_WRITE_PROTECTED if the device takes no writes at all any more.
    /// - STEADYFS_FAIL_DEVICE for everything else. A driver may always return it.
    pub write: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            first: u32,
            parts: *const Part,
            count: u32,
        ) -> c_int,
    >,
    /// Makes earlier writes durable. Null if the device answers writes only when they are
    /// durable.
    pub flush: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// Informs the device that the content of these sectors is not needed. Null if the device
    /// has no such command. An error is ignored.
    pub discard:
        Option<unsafe extern "C" fn(context: *mut c_void, first: u32, count: u32) -> c_int>,
}

/// Converts the result of a callback.
fn judge(answer: c_int) -> Result<(), Failure> {
    const UNCORRECTABLE: c_int = CodeOfFailure::FailUncorrectable as c_int;
    const BAD_BLOCK: c_int = CodeOfFailure::FailBadBlock as c_int;
    const WRITE_PROTECTED: c_int = CodeOfFailure::FailWriteProtected as c_int;
    match answer {
        0 => Ok(()),
        UNCORRECTABLE => Err(Failure::Uncorrectable),
        BAD_BLOCK => Err(Failure::BadBlock),
        WRITE_PROTECTED => Err(Failure::WriteProtected),
        _ => Err(Failure::Device),
    }
}

/// Calls an optional callback that has no more arguments. A missing callback succeeds.
fn judge_optional(
    call: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    context: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: The caller of the library guarantees that its callbacks may be called with its
    // context.
    call.map_or(Ok(()), |call| judge(unsafe { call(context) }))
}

/// Longest time of an operation, 100 s. Bounds are sums of such times, which fit 64 bits.
const TIME_NS_MAX: u64 = 100_000_000_000;

/// Refuses times that would make bounds invalid.
fn check_times(times_ns: &[u64]) -> Result<(), Code> {
    if times_ns.iter().all(|time_ns| *time_ns <= TIME_NS_MAX) {
        Ok(())
    } else {
        Err(Code::ErrDriver)
    }
}

/// Returns a required callback. Refuses a driver without it.
fn required<T>(callback: Option<T>) -> Result<T, Code> {
    callback.ok_or(Code::ErrDriver)
}

/// A NAND chip.
#[derive(Clone, Copy)]
pub(crate) struct NandChip {
    driver: &'static Nand,
    read: Read,
    read_tag: ReadTag,
    program: Program,
}

impl NandChip {
    /// Checks a driver.
    pub fn new(driver: &'static Nand) -> Result<Self, Code> {
        required(driver.erase)?;
        required(driver.is_bad)?;
        required(driver.mark_bad)?;
        let NandTiming { read_ns, read_tag_ns, program_ns, copy_ns, erase_ns } = driver.timing;
        check_times(&[read_ns, read_tag_ns, program_ns, copy_ns, erase_ns])?;
        Ok(Self {
            driver,
            read: required(driver.read)?,
            read_tag: required(driver.read_tag)?,
            program: required(driver.program)?,
        })
    }

    /// Calls a callback that takes a block. A missing callback, which `new` has refused, counts
    /// as a device that does not answer.
    fn with_block(
        &self,
        call: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
        block: BlockIndex,
    ) -> c_int {
        // SAFETY: The caller of the library guarantees that its callbacks may be called with its
        // context.
        call.map_or(CodeOfFailure::FailDevice as c_int, |call| unsafe {
            call(self.driver.context, block)
        })
    }
}

impl Flash for NandChip {
    fn geometry(&self) -> Geometry {
        let Nand { page_bytes, pages_per_block, block_count, .. } = *self.driver;
        Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false }
    }

    fn timing(&self) -> Timing {
        let NandTiming { read_ns, read_tag_ns, program_ns, copy_ns, erase_ns } = self.driver.timing;
        let copy_ns = if copy_ns == 0 || !self.can_copy() { read_ns + program_ns } else { copy_ns };
        Timing { read_ns, read_tag_ns, program_ns, copy_ns, erase_ns }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // The callback writes whole pages.
        if data.len() != self.driver.page_bytes as usize {
            return Err(Failure::Device);
        }
        // SAFETY: Data and tag have the lengths that the callback uses. The caller guarantees
        // the rest.
        judge(unsafe {
            (self.read)(self.driver.context, page, data.as_mut_ptr().cast(), tag.as_mut_ptr())
        })
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        // SAFETY: As in `read`.
        judge(unsafe { (self.read_tag)(self.driver.context, page, tag.as_mut_ptr()) })
    }

    fn corrected(&mut self) -> Corrected {
        let mut told = Corrected::default();
        if let Some(corrected) = self.driver.corrected {
            // SAFETY: Both numbers are valid for writes.
            unsafe { corrected(self.driver.context, &raw mut told.bits, &raw mut told.strength) };
        }
        told
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // SAFETY: As in `read`. The callback gets the length of the data.
        judge(unsafe {
            (self.program)(
                self.driver.context,
                page,
                data.as_ptr().cast(),
                data.len() as u32,
                tag.as_ptr(),
            )
        })
    }

    fn can_copy(&self) -> bool {
        self.driver.copy.is_some()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let copy = self.driver.copy.ok_or(Failure::Device)?;
        // SAFETY: As in `read`.
        judge(unsafe { copy(self.driver.context, page, tag.as_ptr()) })
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        judge(self.with_block(self.driver.erase, block))
    }

    fn sync(&mut self) -> Result<(), Failure> {
        judge_optional(self.driver.sync, self.driver.context)
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        match self.with_block(self.driver.is_bad, block) {
            1.. => Ok(true),
            answer => judge(answer).map(|()| false),
        }
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        judge(self.with_block(self.driver.mark_bad, block))
    }
}

/// A NOR chip.
#[derive(Clone, Copy)]
pub(crate) struct NorChip {
    driver: &'static Nor,
}

impl NorChip {
    /// Checks a driver.
    pub fn new(driver: &'static Nor) -> Result<Self, Code> {
        required(driver.read)?;
        required(driver.program)?;
        required(driver.erase)?;
        check_times(&[driver.read_ns, driver.program_ns, driver.erase_ns])?;
        if !driver.erase_bytes.is_power_of_two()
            || !(1 << 10..=1 << 24).contains(&driver.erase_bytes)
        {
            return Err(Code::ErrConfigBlocks);
        }
        let bytes = u64::from(driver.erase_bytes) * u64::from(driver.erase_count);
        if driver.erase_count == 0 || bytes > 1 << 32 {
            return Err(Code::ErrConfigBlocks);
        }
        if driver.program_page_bytes == 0 {
            return Err(Code::ErrConfigPageBytes);
        }
        Ok(Self { driver })
    }

    #[cfg(feature = "nor")]
    pub fn sync(&self) -> Result<(), Failure> {
        judge_optional(self.driver.sync, self.driver.context)
    }
}

impl NorFlash for NorChip {
    fn block_bytes(&self) -> u32 {
        self.driver.erase_bytes
    }

    fn block_count(&self) -> u32 {
        self.driver.erase_count
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let Nor {
            read_ns,
            read_byte_ns,
            program_ns,
            program_byte_ns,
            program_page_bytes,
            erase_ns,
            ..
        } = *self.driver;
        let transfer = |byte_ns: u32| u64::from(bytes) * u64::from(byte_ns);
        let programs = u64::from(bytes.div_ceil(program_page_bytes));
        (
            read_ns + transfer(read_byte_ns),
            programs * program_ns + transfer(program_byte_ns),
            erase_ns,
        )
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        let read = self.driver.read.ok_or(Failure::Device)?;
        // SAFETY: The callback gets the length of the data. The caller guarantees the rest.
        judge(unsafe {
            read(self.driver.context, address, data.as_mut_ptr().cast(), data.len() as u32)
        })
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        let program = self.driver.program.ok_or(Failure::Device)?;
        // SAFETY: As in `read`.
        judge(unsafe {
            program(self.driver.context, address, data.as_ptr().cast(), data.len() as u32)
        })
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let erase = self.driver.erase.ok_or(Failure::Device)?;
        // SAFETY: As in `read`.
        judge(unsafe { erase(self.driver.context, block) })
    }
}

/// Most parts of one command: a group of pages with their tags.
const PARTS_MAX: usize = 48;

/// A card or a disk.
#[derive(Clone, Copy)]
pub(crate) struct Card {
    pub driver: &'static Sectors,
}

impl Card {
    /// Checks a driver.
    pub fn new(driver: &'static Sectors) -> Result<Self, Code> {
        required(driver.read)?;
        required(driver.write)?;
        let Sectors {
            read_ns,
            read_sector_ns,
            write_ns,
            write_sector_ns,
            discard_ns,
            flush_ns,
            ..
        } = *driver;
        check_times(&[read_ns, read_sector_ns, write_ns, write_sector_ns, discard_ns, flush_ns])?;
        if driver.sector_count == 0 || driver.first >= driver.sector_count {
            return Err(Code::ErrConfigBlocks);
        }
        if driver.page_bytes != 0
            && (!driver.page_bytes.is_power_of_two()
                || !(512..=16_384).contains(&driver.page_bytes))
        {
            return Err(Code::ErrConfigPageBytes);
        }
        if driver.tags > Tags::TagsWithin as u8 {
            return Err(Code::ErrInval);
        }
        Ok(Self { driver })
    }
}

impl SectorDevice for Card {
    fn sector_count(&self) -> u32 {
        self.driver.sector_count
    }

    fn times(&self) -> SectorTimes {
        let Sectors {
            read_ns,
            read_sector_ns,
            write_ns,
            write_sector_ns,
            discard_ns,
            flush_ns,
            ..
        } = *self.driver;
        SectorTimes { read_ns, read_sector_ns, write_ns, write_sector_ns, discard_ns, flush_ns }
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let read = self.driver.read.ok_or(Failure::Device)?;
        let mut list = [Part { data: core::ptr::null_mut(), bytes: 0 }; 4];
        let list = list.get_mut(..parts.len()).ok_or(Failure::Device)?;
        for (part, bytes) in list.iter_mut().zip(parts.iter_mut()) {
            *part = Part { data: bytes.as_mut_ptr().cast(), bytes: bytes.len() };
        }
        // SAFETY: The callback gets the number and the lengths of the parts. The caller
        // guarantees the rest.
        judge(unsafe { read(self.driver.context, first, list.as_ptr(), list.len() as u32) })
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        let write = self.driver.write.ok_or(Failure::Device)?;
        let mut list = [Part { data: core::ptr::null_mut(), bytes: 0 }; PARTS_MAX];
        let list = list.get_mut(..parts.len()).ok_or(Failure::Device)?;
        for (part, bytes) in list.iter_mut().zip(parts) {
            *part = Part { data: bytes.as_ptr().cast_mut().cast(), bytes: bytes.len() };
        }
        // SAFETY: As in `read`. The header requires that the callback only reads the parts.
        judge(unsafe { write(self.driver.context, first, list.as_ptr(), list.len() as u32) })
    }

    fn flush(&mut self) -> Result<(), Failure> {
        judge_optional(self.driver.flush, self.driver.context)
    }

    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        let Some(discard) = self.driver.discard else { return Ok(()) };
        // SAFETY: As in `read`.
        judge(unsafe { discard(self.driver.context, first, count) })
    }

    fn reorders(&self) -> bool {
        !self.driver.keeps_order
    }
}
