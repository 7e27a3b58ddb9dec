//! What a driver implements.

use crate::media::Failure;

/// Bytes of a sector.
pub const SECTOR_BYTES: usize = 512;

/// A device that is read and written by sectors of 512 bytes, any of them at any time.
///
/// # Contract
/// When power fails, sectors of writes since the last [`flush`](SectorDevice::flush) hold what they held before, what was written, anything (but not what they held
/// before an earlier flush), or cannot be read until they are written again; with [`reorders`](SectorDevice::reorders) any of them, otherwise those of the last write alone and none of later ones. Every other
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
    /// - [`Failure::BadBlock`] if the device answers twice that it cannot write these sectors. The
    ///   volume never uses their block again, and goes on in another one. The driver must not
    ///   return
    ///   it if a write that was answered before may be lost as well.
    /// - [`Failure::WriteProtected`] if the device takes no writes at all any more.
    /// - [`Failure::Device`] for everything else: no answer, a checksum of the bus, a timeout. A
    ///   driver may always return it. If the device fails twice at the same sectors, and writes
    ///   others
    ///   in between, their block is taken for bad.
    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure>;

    /// Makes durable what was written. A device that answers writes only when they are durable has nothing to do.
    ///
    /// # Errors
    /// [`Failure::Device`]; also where a write that was answered before is lost: nobody knows then what of those since the last flush is there, and the volume can only be read
    /// until it is mounted again. A driver that knows that nothing was lost may flush once more before it says so.
    fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Tells the device that nobody needs what these sectors hold. They may hold anything afterwards, and those that could not be read may be so still.
    ///
    /// # Errors
    /// [`Failure::Device`]. The volume ignores it.
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
