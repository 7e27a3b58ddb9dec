//! The driver: callbacks in a struct of the caller's, of which the core's media are made.
//!
//! A driver's struct is borrowed for as long as the volume is mounted. Which callbacks are there is looked at once, by the `new` of each
//! medium; so the calls below find them.

use crate::error::{Code, Failure as CodeOfFailure};
use core::ffi::{c_int, c_void};
use steadyfs::media::sectors::{SectorDevice, SectorTimes};
use steadyfs::media::{BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing, nor::NorFlash};

/// The longest that one operation of a NAND chip takes, transfer included, in nanoseconds.
/// None is longer than 100 s: STEADYFS_ERR_DRIVER. Times of 0 make bounds of 0.
///
/// Every bound is made of these numbers: datasheet maxima for guarantees, typical values for expectations. A bus that others use
/// too adds their longest transfer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NandTiming {
    /// Read of a whole page and its tag.
    pub read_ns: u64,
    /// Read of a tag alone.
    pub read_tag_ns: u64,
    /// Program of a whole page and its tag.
    pub program_ns: u64,
    /// Read of a tag followed by `copy`. 0 without `copy`: read_ns + program_ns.
    pub copy_ns: u64,
    /// Erase of a block.
    pub erase_ns: u64,
}

type Read = unsafe extern "C" fn(context: *mut c_void, page: u32, data: *mut c_void, tag: *mut u8) -> c_int;
type ReadTag = unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *mut u8) -> c_int;
type Program = unsafe extern "C" fn(context: *mut c_void, page: u32, data: *const c_void, bytes: u32, tag: *const u8) -> c_int;

/// A driver for raw NAND: erase blocks of program pages, each page with a tag of 16 bytes beside its data.
///
/// The tag lies where the ECC works, in user bytes of the spare area. Pages of a block are programmed in ascending order (some may be
/// skipped), each once per erase; an erased page reads as 0xFF in data and tag. Callbacks return STEADYFS_FAIL_NONE or another
/// steadyfs_failure. They must not call the same volume, and must return: a longjmp out of one is undefined. The struct stays as it
/// is from mount to unmount.
///
/// Power loss: a page whose program is cut may hold any bytes afterwards, or read differently each time; so may any page of a block
/// whose erase is cut. Every other page is unchanged. The same holds after a program or an erase that returned an error.
#[repr(C)]
pub struct Nand {
    /// Given to every callback; may be null.
    pub context: *mut c_void,
    /// Data bytes of a program page, without the tag: a power of two, 256 to 16,384.
    pub page_bytes: u32,
    /// Program pages of an erase block: 4 to 4,096.
    pub pages_per_block: u32,
    /// Erase blocks of the chip: 16 to 1,048,576.
    pub block_count: u32,
    /// The longest times.
    pub timing: NandTiming,
    /// Reads a page, `block * pages_per_block + page in block`: page_bytes of data and 16 bytes of tag.
    /// STEADYFS_FAIL_UNCORRECTABLE, STEADYFS_FAIL_DEVICE. Required.
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, page: u32, data: *mut c_void, tag: *mut u8) -> c_int>,
    /// Reads the tag of a page, and leaves the page in the chip's register for `copy`. As `read`. Required.
    pub read_tag: Option<unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *mut u8) -> c_int>,
    /// Programs a page. `bytes` is page_bytes or less, then the rest stays erased. STEADYFS_FAIL_BAD_BLOCK where the chip reports a
    /// failure, STEADYFS_FAIL_WRITE_PROTECTED, STEADYFS_FAIL_DEVICE. Required.
    pub program:
        Option<unsafe extern "C" fn(context: *mut c_void, page: u32, data: *const c_void, bytes: u32, tag: *const u8) -> c_int>,
    /// Erases a block. As `program`. Required.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Tells whether the maker or `mark_bad` marked a block bad: 1, or 0 for a good one; STEADYFS_FAIL_DEVICE. Takes no longer than
    /// `read_tag`. Required.
    pub is_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Marks a block bad for other users of the chip; nothing in it is needed any more. As `program`. Required.
    pub mark_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Makes durable what the device has answered before it was; null where there is no such thing.
    pub sync: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// Programs the page that the `read_tag` just before left in the chip's register, with another tag ("internal data move").
    /// As `program`. Null where the chip cannot.
    pub copy: Option<unsafe extern "C" fn(context: *mut c_void, page: u32, tag: *const u8) -> c_int>,
    /// Tells how many bits the ECC corrected in the read just before, at worst in one codeword, and how many it can correct. Data
    /// that needed three quarters of that is moved. Null where the chip does not tell.
    pub corrected: Option<unsafe extern "C" fn(context: *mut c_void, bits: *mut u8, strength: *mut u8)>,
}

/// A driver for raw NOR: any bytes can be programmed once per erase, bits go from 1 to 0, an erase makes them 1 again.
///
/// Chips with an ECC over several bytes, each programmed once, are no such medium. Callbacks and struct: as steadyfs_nand; times: as steadyfs_nand_timing.
///
/// Power loss: of the bits that a cut program was to clear any may be cleared; in a block whose erase is cut anything may be.
#[repr(C)]
pub struct Nor {
    /// Given to every callback; may be null.
    pub context: *mut c_void,
    /// Bytes of what one erase erases: a power of two, 1,024 to 16 MiB. Chips with many small sectors are grouped to larger blocks:
    /// settings.group_sectors.
    pub erase_bytes: u32,
    /// Erase sectors of the volume; together at most 4 GiB.
    pub erase_count: u32,
    /// Bytes that the chip programs with one command: 256 on most. Programs are told in multiples of it.
    pub program_page_bytes: u32,
    /// The longest time of a read command without its bytes, in nanoseconds.
    pub read_ns: u64,
    /// Time to transfer a byte in a read, in nanoseconds, rounded up: 160 at 50 MHz and one data line.
    pub read_byte_ns: u32,
    /// Time to transfer a byte in a program, in nanoseconds, rounded up.
    pub program_byte_ns: u32,
    /// The longest time of a program of one program page, without the transfer of its bytes, in nanoseconds.
    pub program_ns: u64,
    /// The longest time of an erase, in nanoseconds.
    pub erase_ns: u64,
    /// Reads bytes. STEADYFS_FAIL_DEVICE. Required.
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, address: u32, data: *mut c_void, bytes: u32) -> c_int>,
    /// Programs bytes, split at the chip's program pages by the callback. Bytes of 0xFF leave what is there; bytes of 0 may be given
    /// for any. STEADYFS_FAIL_BAD_BLOCK where the chip reports a failure or reading back shows one, STEADYFS_FAIL_WRITE_PROTECTED,
    /// STEADYFS_FAIL_DEVICE. Required.
    pub program: Option<unsafe extern "C" fn(context: *mut c_void, address: u32, data: *const c_void, bytes: u32) -> c_int>,
    /// Erases the sector with this index, from 0 on. As `program`. Required.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, sector: u32) -> c_int>,
    /// Makes durable what the device has answered before it was; null where there is no such thing.
    pub sync: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
}

/// A piece of the bytes of a command; as `struct iovec`, so that preadv and pwritev take them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where they are; only read where the command writes.
    pub data: *mut c_void,
    /// How many; not always whole sectors.
    pub bytes: usize,
}

/// Where the tags of pages lie on a card or a disk.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Before each page, in a sector of their own: what cards like.
    TagsBeside = 0,
    /// In a table at the begin of each block: pages are aligned, and take a second write.
    TagsTable = 1,
    /// In the last 32 bytes of each page, which holds so much less: an eighth more for data, and no disk. For what is written a page at a time or in order; writes
    /// of 4,096 bytes meet two pages.
    TagsWithin = 2,
}

/// A driver for a card or a disk: sectors of 512 bytes, any of them at any time. It levels wear and replaces bad blocks itself, until it has no others.
///
/// Callbacks and struct: as steadyfs_nand; times: as steadyfs_nand_timing.
///
/// Power loss: sectors of writes since the last `flush` may hold what was before, what was written, or anything. Every other sector is
/// unchanged. The same holds for a write that returned an error.
#[repr(C)]
pub struct Sectors {
    /// Given to every callback; may be null.
    pub context: *mut c_void,
    /// Sectors of the device.
    pub sector_count: u32,
    /// First sector of the volume: where an allocation unit begins. Usually 0, or the begin of a partition.
    pub first: u32,
    /// Sectors of a block: an allocation unit of the card, or several. 0: chosen by the size. A mount reads it from the medium.
    pub block_sectors: u32,
    /// Bytes of a page: a power of two, 512 to 16,384. 0: 4,096. A mount reads it from the medium.
    pub page_bytes: u32,
    /// Where tags lie: of enum steadyfs_tag_place. Default, 0: STEADYFS_TAGS_BESIDE. A mount reads it from the medium.
    pub tags: u8,
    /// The device keeps the order of its writes until a flush: a cut loses the last ones, never an earlier one alone. False in doubt.
    pub keeps_order: bool,
    /// Time of a read without its sectors, in nanoseconds; as measured where the specification gives no maximum.
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
    /// Reads sectors from `first` on, in one command. The bytes of the parts follow each other; together they are whole sectors.
    /// STEADYFS_FAIL_UNCORRECTABLE, STEADYFS_FAIL_DEVICE. Required.
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, first: u32, parts: *const Part, count: u32) -> c_int>,
    /// Writes sectors from `first` on, in one command; parts as in `read`. STEADYFS_FAIL_BAD_BLOCK if the device answers twice that it cannot
    /// write these sectors, and no earlier write is lost: their block is never used again. STEADYFS_FAIL_WRITE_PROTECTED if it takes no writes at
    /// all any more. STEADYFS_FAIL_DEVICE for everything else; a driver may always return that. Required.
    pub write: Option<unsafe extern "C" fn(context: *mut c_void, first: u32, parts: *const Part, count: u32) -> c_int>,
    /// Makes durable what was written. Null where the device answers writes only when they are durable.
    pub flush: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// Tells the device that nobody needs what these sectors hold. Null where it cannot be told. An error is ignored.
    pub discard: Option<unsafe extern "C" fn(context: *mut c_void, first: u32, count: u32) -> c_int>,
}

/// What a callback returned.
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

/// Calls an optional callback that has no more arguments.
fn judge_optional(
    call: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    context: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: The caller of the library says that its callbacks may be called with its context.
    call.map_or(Ok(()), |call| judge(unsafe { call(context) }))
}

/// The longest time that an operation may have, 100 s: bounds of it are sums that 64 bits hold.
const TIME_NS_MAX: u64 = 100_000_000_000;

/// Refuses times with which bounds would be no numbers.
fn check_times(times_ns: &[u64]) -> Result<(), Code> {
    if times_ns.iter().all(|time_ns| *time_ns <= TIME_NS_MAX) { Ok(()) } else { Err(Code::ErrDriver) }
}

/// What a driver must have.
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
    /// Looks at a driver.
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

    /// Calls a callback that takes a block. One that is missing, which `new` has refused, does not answer.
    fn with_block(
        &self,
        call: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
        block: BlockIndex,
    ) -> c_int {
        // SAFETY: The caller of the library says that its callbacks may be called with its context.
        call.map_or(CodeOfFailure::FailDevice as c_int, |call| unsafe { call(self.driver.context, block) })
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

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        // The callback writes whole pages.
        if data.len() != self.driver.page_bytes as usize {
            return Err(Failure::Device);
        }
        // SAFETY: Data and tag have the lengths of which the callback is told; the rest is the caller's word.
        judge(unsafe { (self.read)(self.driver.context, page, data.as_mut_ptr().cast(), tag.as_mut_ptr()) })
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        // SAFETY: As in `read`.
        judge(unsafe { (self.read_tag)(self.driver.context, page, tag.as_mut_ptr()) })
    }

    fn corrected(&mut self) -> Corrected {
        let mut told = Corrected::default();
        if let Some(corrected) = self.driver.corrected {
            // SAFETY: Both numbers may be written.
            unsafe { corrected(self.driver.context, &raw mut told.bits, &raw mut told.strength) };
        }
        told
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        // SAFETY: As in `read`; the callback is told how long the data is.
        judge(unsafe { (self.program)(self.driver.context, page, data.as_ptr().cast(), data.len() as u32, tag.as_ptr()) })
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
    /// Looks at a driver.
    pub fn new(driver: &'static Nor) -> Result<Self, Code> {
        required(driver.read)?;
        required(driver.program)?;
        required(driver.erase)?;
        check_times(&[driver.read_ns, driver.program_ns, driver.erase_ns])?;
        if !driver.erase_bytes.is_power_of_two() || !(1 << 10..=1 << 24).contains(&driver.erase_bytes) {
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
        let Nor { read_ns, read_byte_ns, program_ns, program_byte_ns, program_page_bytes, erase_ns, .. } = *self.driver;
        let transfer = |byte_ns: u32| u64::from(bytes) * u64::from(byte_ns);
        let programs = u64::from(bytes.div_ceil(program_page_bytes));
        (read_ns + transfer(read_byte_ns), programs * program_ns + transfer(program_byte_ns), erase_ns)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        let read = self.driver.read.ok_or(Failure::Device)?;
        // SAFETY: The callback is told how long the data is; the rest is the caller's word.
        judge(unsafe { read(self.driver.context, address, data.as_mut_ptr().cast(), data.len() as u32) })
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        let program = self.driver.program.ok_or(Failure::Device)?;
        // SAFETY: As in `read`.
        judge(unsafe { program(self.driver.context, address, data.as_ptr().cast(), data.len() as u32) })
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let erase = self.driver.erase.ok_or(Failure::Device)?;
        // SAFETY: As in `read`.
        judge(unsafe { erase(self.driver.context, block) })
    }
}

/// Parts of a command at most: a group of pages with their tags.
const PARTS_MAX: usize = 48;

/// A card or a disk.
#[derive(Clone, Copy)]
pub(crate) struct Card {
    pub driver: &'static Sectors,
}

impl Card {
    /// Looks at a driver.
    pub fn new(driver: &'static Sectors) -> Result<Self, Code> {
        required(driver.read)?;
        required(driver.write)?;
        let Sectors { read_ns, read_sector_ns, write_ns, write_sector_ns, discard_ns, flush_ns, .. } = *driver;
        check_times(&[read_ns, read_sector_ns, write_ns, write_sector_ns, discard_ns, flush_ns])?;
        if driver.sector_count == 0 || driver.first >= driver.sector_count {
            return Err(Code::ErrConfigBlocks);
        }
        if driver.page_bytes != 0 && (!driver.page_bytes.is_power_of_two() || !(512..=16_384).contains(&driver.page_bytes)) {
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
        let Sectors { read_ns, read_sector_ns, write_ns, write_sector_ns, discard_ns, flush_ns, .. } = *self.driver;
        SectorTimes { read_ns, read_sector_ns, write_ns, write_sector_ns, discard_ns, flush_ns }
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let read = self.driver.read.ok_or(Failure::Device)?;
        let mut list = [Part { data: core::ptr::null_mut(), bytes: 0 }; 4];
        let list = list.get_mut(..parts.len()).ok_or(Failure::Device)?;
        for (part, bytes) in list.iter_mut().zip(parts.iter_mut()) {
            *part = Part { data: bytes.as_mut_ptr().cast(), bytes: bytes.len() };
        }
        // SAFETY: The callback is told how long the parts are, and how many; the rest is the caller's word.
        judge(unsafe { read(self.driver.context, first, list.as_ptr(), list.len() as u32) })
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        let write = self.driver.write.ok_or(Failure::Device)?;
        let mut list = [Part { data: core::ptr::null_mut(), bytes: 0 }; PARTS_MAX];
        let list = list.get_mut(..parts.len()).ok_or(Failure::Device)?;
        for (part, bytes) in list.iter_mut().zip(parts) {
            *part = Part { data: bytes.as_ptr().cast_mut().cast(), bytes: bytes.len() };
        }
        // SAFETY: As in `read`. The callback only reads them, as the header says.
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
