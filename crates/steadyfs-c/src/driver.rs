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

/// Longest times of single operations of a NAND chip, in nanoseconds. They include the transfer on
/// the bus. A time of more than 100 s is refused: STEADYFS_ERR_DRIVER. If the times are 0, the
/// bounds are 0.
///
/// Every bound is computed from these numbers: use datasheet maxima for guarantees, or typical
/// values for expectations. If the bus has other users, add their longest transfer. Add the
/// driver's own time for each call, too. Otherwise no bound contains it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NandTiming {
    /// Time to read a whole page and its tag.
    pub read_ns: u64,
    /// Time to read a tag without its page.
    pub read_tag_ns: u64,
    /// Time to program a whole page and its tag.
    pub program_ns: u64,
    /// Time to read a tag and then copy its page with `copy`. If this is 0, or if the driver has no
    /// `copy`, bounds use read_ns + program_ns.
    pub copy_ns: u64,
    /// Time to erase a block.
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

/// A driver for raw NAND. An erase block consists of program pages, and each page has a tag of 16
/// bytes beside its data.
///
/// The tag lies in user bytes of the spare area that the ECC covers. Pages of a block are
/// programmed in ascending order (some may be skipped). Each page is programmed at most once per
/// erase. Data and tag of an erased page read as 0xFF. Callbacks return STEADYFS_FAIL_NONE or
/// another steadyfs_failure. They must not call the same volume. They must return: a longjmp out of
/// a callback is undefined. The struct must not change from mount to unmount.
///
/// Power loss: a page whose program was interrupted may hold any bytes afterwards, or may read
/// differently each time. The same holds for each page of a block whose erase was interrupted.
/// Every other page is unchanged. A program or an erase that returned an error has the same
/// effects.
#[repr(C)]
pub struct Nand {
    /// Argument of every callback. It may be null.
    pub context: *mut c_void,
    /// Number of data bytes of a program page, without the tag: a power of two, 256 to 16,384.
    pub page_bytes: u32,
    /// Number of program pages in an erase block, 4 to 4,096.
    pub pages_per_block: u32,
    /// Number of erase blocks of the chip: 16 to 1,048,576.
    pub block_count: u32,
    /// The longest times of the operations.
    pub timing: NandTiming,
    /// Reads page_bytes of data and 16 bytes of tag. `page` is
    /// `block * pages_per_block + page in block`. If it fails, returns STEADYFS_FAIL_UNCORRECTABLE
    /// or STEADYFS_FAIL_DEVICE. Required.
    pub read: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            page: u32,
            data: *mut c_void,
            tag: *mut u8,
        ) -> c_int,
    >,
    /// Reads the tag of a page, and leaves the page in the chip's page register for `copy`. Returns
    /// the same failures as `read`. Required.
    pub read_tag:
        Option<unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *mut u8) -> c_int>,
    /// Programs the first `bytes` bytes of a page. `bytes` is at most page_bytes, and the rest of
    /// the page stays erased. Returns STEADYFS_FAIL_BAD_BLOCK if the chip reports a failure,
    /// STEADYFS_FAIL_WRITE_PROTECTED, or STEADYFS_FAIL_DEVICE. Required.
    pub program: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            page: u32,
            data: *const c_void,
            bytes: u32,
            tag: *const u8,
        ) -> c_int,
    >,
    /// Erases a block. Returns the same failures as `program`. Required.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Returns 1 if the maker or `mark_bad` marked a block bad, and 0 for a good block. If it
    /// fails, returns STEADYFS_FAIL_DEVICE. It must not take longer than `read_tag`. Required.
    pub is_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Marks a block bad for other users of the chip. The content of the block is no longer needed.
    /// Returns the same failures as `program`. Required.
    pub mark_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Some devices report an operation as done before it is durable. This callback makes all such
    /// operations durable. Null if each operation is durable when its callback returns.
    pub sync: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// Programs the page that is in the chip's page register, with another tag ("internal data
    /// move"). The last callback before it was the `read_tag` of this page. Returns the same
    /// failures as `program`. Null if the chip has no such command.
    pub copy:
        Option<unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *const u8) -> c_int>,
    /// Stores the number of bits that the ECC corrected in the worst codeword of the last read.
    /// Also stores the number of bits that the ECC can correct in a codeword. Data that needed
    /// three quarters of these corrections is moved. Null if the chip does not report corrections.
    pub corrected:
        Option<unsafe extern "C" fn(context: *mut c_void, bits: *mut u8, strength: *mut u8)>,
}

/// A driver for raw NOR. Any bytes can be programmed once per erase. A program changes bits from 1
/// to 0, and an erase changes all bits back to 1.
///
/// A chip whose ECC covers several bytes, which can only be programmed together, is unsuitable. The
/// rules of steadyfs_nand also hold for these callbacks and this struct. The rules of
/// steadyfs_nand_timing hold for the times.
///
/// Power loss: if a program is cut, any of the bits that it should clear may be cleared. A block
/// whose erase is cut may hold any bytes.
#[repr(C)]
pub struct Nor {
    /// Argument of every callback. It may be null.
    pub context: *mut c_void,
    /// Number of bytes of one erase: a power of two, from 1,024 bytes to 16 MiB. If a chip has many
    /// small sectors, the volume groups them into larger blocks: see settings.group_sectors.
    pub erase_bytes: u32,
    /// Number of erase sectors of the volume. Together they have at most 4 GiB.
    pub erase_count: u32,
    /// Number of bytes that the chip programs with one command: 256 on most chips. Bounds use
    /// programs of this size.
    pub program_page_bytes: u32,
    /// The longest time of a read command, in nanoseconds. The time of its bytes is added.
    pub read_ns: u64,
    /// Time to transfer a byte in a read, in nanoseconds, rounded up. It is 160 for a clock of 50
    /// MHz and one data line.
    pub read_byte_ns: u32,
    /// Time to transfer a byte in a program, in nanoseconds, rounded up.
    pub program_byte_ns: u32,
    /// The longest time of a program of one program page, without the transfer of its bytes, in
    /// nanoseconds.
    pub program_ns: u64,
    /// The longest time of an erase, in nanoseconds.
    pub erase_ns: u64,
    /// Reads bytes. If it fails, returns STEADYFS_FAIL_DEVICE. Required.
    pub read: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            address: u32,
            data: *mut c_void,
            bytes: u32,
        ) -> c_int,
    >,
    /// Programs bytes. The callback splits them at the chip's program pages. A byte of 0xFF leaves
    /// the present byte unchanged. A byte of 0 may be programmed over any byte. Returns
    /// STEADYFS_FAIL_BAD_BLOCK if the chip reports a failure or the bytes read back differ. Other
    /// failures are STEADYFS_FAIL_WRITE_PROTECTED and STEADYFS_FAIL_DEVICE. Required.
    pub program: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            address: u32,
            data: *const c_void,
            bytes: u32,
        ) -> c_int,
    >,
    /// Erases the sector with the given index. The first sector has index 0. Returns the same
    /// failures as `program`. Required.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, sector: u32) -> c_int>,
    /// Some devices report an operation as done before it is durable. This callback makes all such
    /// operations durable. Null if each operation is durable when its callback returns.
    pub sync: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
}

/// A piece of the bytes of a command. It has the layout of `struct iovec`, so it can be passed to
/// preadv and pwritev.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Address of the bytes. The callback `write` must only read these bytes.
    pub data: *mut c_void,
    /// Number of bytes. It need not be a whole number of sectors.
    pub bytes: usize,
}

/// Place of the tags of pages on a card or a disk.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Each tag lies in its own sector before its page. This suits cards best.
    TagsBeside = 0,
    /// The tags lie in a table at the start of each block. Pages are aligned, but each page needs a
    /// second write for its tag.
    TagsTable = 1,
    /// Each tag lies in the last 32 bytes of its page, which holds 32 bytes less of data. An eighth
    /// more of the device holds data, but the volume cannot be a disk of sectors. This suits data
    /// that is written in order or in whole pages. A write of 4,096 bytes at another offset touches
    /// two pages.
    TagsWithin = 2,
}

/// A driver for a card or a disk: sectors of 512 bytes, which are read and written in any order.
/// The device itself levels wear. It also replaces bad blocks until it has no more spare blocks.
///
/// The rules of steadyfs_nand also hold for these callbacks and this struct. The rules of
/// steadyfs_nand_timing hold for the times.
///
/// Power loss: sectors that were written since the last `flush` may hold the old data, the written
/// data, or any bytes. Every other sector is unchanged. A write that returned an error has the same
/// effects.
#[repr(C)]
pub struct Sectors {
    /// Argument of every callback. It may be null.
    pub context: *mut c_void,
    /// Number of sectors of the device.
    pub sector_count: u32,
    /// Number of the first sector of the volume, at the start of an allocation unit. Usually 0, or
    /// the start of a partition.
    pub first: u32,
    /// Number of sectors of a block: one or more allocation units of the card. 0 selects a number
    /// by the size of the device. A mount reads this number from the medium.
    pub block_sectors: u32,
    /// Number of bytes of a page: a power of two, 512 to 16,384. 0 stands for 4,096. A mount reads
    /// this number from the medium.
    pub page_bytes: u32,
    /// Place of the tags: a value of enum steadyfs_tag_place. The default, 0, is
    /// STEADYFS_TAGS_BESIDE. A mount reads this value from the medium.
    pub tags: u8,
    /// True if the device keeps the order of its writes between two flushes. A power cut then loses
    /// a write only if it also loses all later writes. If in doubt, set it to false.
    pub keeps_order: bool,
    /// Time of a read command, in nanoseconds. The time of its sectors is added. Use a measured
    /// time if the specification gives no maximum.
    pub read_ns: u64,
    /// Time of each sector that is read, in nanoseconds.
    pub read_sector_ns: u64,
    /// Time of a write command, in nanoseconds. The time of its sectors is added.
    pub write_ns: u64,
    /// Time of each sector that is written, in nanoseconds.
    pub write_sector_ns: u64,
    /// Time of a discard, in nanoseconds.
    pub discard_ns: u64,
    /// Time of a flush, in nanoseconds.
    pub flush_ns: u64,
    /// Reads sectors from `first` on, in one command. The bytes of the parts are consecutive, and
    /// together they are whole sectors. If it fails, returns STEADYFS_FAIL_UNCORRECTABLE or
    /// STEADYFS_FAIL_DEVICE. Required.
    pub read: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            first: u32,
            parts: *const Part,
            count: u32,
        ) -> c_int,
    >,
    /// Writes sectors from `first` on, in one command. The parts are as in `read`. Required. If it
    /// fails, it returns one of these values:
    /// - STEADYFS_FAIL_BAD_BLOCK if the device reported twice that it cannot write these sectors,
    ///   and no earlier write is lost. The volume never uses their block again.
    /// - STEADYFS_FAIL_WRITE_PROTECTED if the device no longer accepts any writes.
    /// - STEADYFS_FAIL_DEVICE for all other failures. A driver may always return this value.
    pub write: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            first: u32,
            parts: *const Part,
            count: u32,
        ) -> c_int,
    >,
    /// Makes earlier writes durable. Null if each write is durable when its callback returns.
    pub flush: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// Informs the device that the content of these sectors is not needed. Null if the device has
    /// no such command. The volume ignores an error of this callback.
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

/// Calls an optional callback that has no more arguments. If the callback is missing, the result is
/// success.
fn judge_optional(
    call: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    context: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: The caller of the library guarantees that its callbacks may be called with its
    // context.
    call.map_or(Ok(()), |call| judge(unsafe { call(context) }))
}

/// Longest accepted time of an operation, 100 s. Bounds are sums of such times, and must fit into
/// 64 bits.
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

    /// Calls a callback that takes a block. `new` refuses a driver whose callback is missing. If it
    /// is missing nevertheless, the result is the failure of a device that does not answer.
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
        Timing { read_ns, read_tag_ns, program_ns, copy_ns, erase_ns, instruction_ps: 0 }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // The callback fills a whole page, so the buffer must have this size.
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
        // SAFETY: The reasons are the same as in `read`.
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
        // SAFETY: The reasons are the same as in `read`. The callback receives the length of the
        // data.
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
        // SAFETY: The reasons are the same as in `read`.
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
        // SAFETY: The callback receives the length of the data. The caller guarantees the rest.
        judge(unsafe {
            read(self.driver.context, address, data.as_mut_ptr().cast(), data.len() as u32)
        })
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        let program = self.driver.program.ok_or(Failure::Device)?;
        // SAFETY: The reasons are the same as in `read`.
        judge(unsafe {
            program(self.driver.context, address, data.as_ptr().cast(), data.len() as u32)
        })
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let erase = self.driver.erase.ok_or(Failure::Device)?;
        // SAFETY: The reasons are the same as in `read`.
        judge(unsafe { erase(self.driver.context, block) })
    }
}

/// Largest number of parts of one command: a group of pages with their tags.
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
        // SAFETY: The callback receives the number and the lengths of the parts. The caller
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
        // SAFETY: The reasons are the same as in `read`. The header requires that the callback only
        // reads the parts.
        judge(unsafe { write(self.driver.context, first, list.as_ptr(), list.len() as u32) })
    }

    fn flush(&mut self) -> Result<(), Failure> {
        judge_optional(self.driver.flush, self.driver.context)
    }

    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        let Some(discard) = self.driver.discard else { return Ok(()) };
        // SAFETY: The reasons are the same as in `read`.
        judge(unsafe { discard(self.driver.context, first, count) })
    }

    fn reorders(&self) -> bool {
        !self.driver.keeps_order
    }
}
