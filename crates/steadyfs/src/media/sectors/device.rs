//! The trait that a driver implements.

use crate::media::Failure;

/// Bytes of a sector.
pub const SECTOR_BYTES: usize = 512;

/// A device that is read and written in sectors of 512 bytes. Any sector can be read and written at
/// any time.
///
/// # Contract
/// A power cut may affect sectors that were written since the last
/// [`flush`](SectorDevice::flush). Each of them may afterwards:
/// - hold the bytes from before the write;
/// - hold the written bytes;
/// - hold any other bytes, except bytes from before an earlier flush;
/// - be unreadable until it is written again.
///
/// On a device that [`reorders`](SectorDevice::reorders), this may happen to any of these writes.
/// On other devices it happens to one write alone. All writes before that write are on the medium,
/// and no write after it has changed anything. Every other sector is unchanged. The same holds for
/// a write that returned an error.
pub trait SectorDevice {
    /// Returns the number of sectors of the device. It never changes.
    fn sector_count(&self) -> u32;

    /// Returns the durations of the commands.
    fn times(&self) -> SectorTimes;

    /// Reads sectors from `first` on, in one command. The bytes of `parts` follow each other;
    /// together they are whole sectors.
    ///
    /// # Errors
    /// [`Failure::Uncorrectable`] for sectors that cannot be read; [`Failure::Device`].
    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure>;

    /// Writes sectors from `first` on, in one command. The bytes of `parts` follow each other;
    /// together they are whole sectors.
    ///
    /// # Errors
    /// - [`Failure::BadBlock`] if the device answers twice that it cannot write these sectors. The
    ///   volume never uses their block again, and continues in another block. The driver must not
    ///   return this error if a write that the device answered before may be lost as well.
    /// - [`Failure::WriteProtected`] if the device accepts no writes at all any more.
    /// - [`Failure::Device`] for everything else: no answer, a wrong checksum on the bus, a
    ///   timeout. A driver may always return it. If the device fails twice at the same sectors,
    ///   and writes other sectors in between, the volume treats their block as bad.
    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure>;

    /// Makes all writes durable. A device that answers writes only when they are durable has
    /// nothing to do.
    ///
    /// # Errors
    /// [`Failure::Device`], also if a write that the device answered before is lost. It is then
    /// unknown which writes since the last flush are on the medium. The volume can only be read
    /// until it is mounted again. A driver that can prove that nothing was lost may flush once more
    /// before it returns the error.
    fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Informs the device that the contents of these sectors are not needed. Afterwards they may
    /// hold any bytes, and sectors that could not be read may still be unreadable.
    ///
    /// # Errors
    /// [`Failure::Device`]. The volume ignores it.
    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        let _ = (first, count);
        Ok(())
    }

    /// Returns true if a power cut may lose any of the writes since the last flush, not only the
    /// newest ones. Return true in case of doubt. The volume then needs one more flush for each
    /// root, and more reads at a mount after a power cut.
    fn reorders(&self) -> bool {
        true
    }
}

/// Durations of the commands of a [`SectorDevice`], in nanoseconds. If a specification gives no
/// maximum, the value is measured and not guaranteed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SectorTimes {
    /// Time of a read, without the time of its sectors.
    pub read_ns: u64,
    /// Time of each sector that is read.
    pub read_sector_ns: u64,
    /// Time of a write, without the time of its sectors.
    pub write_ns: u64,
    /// Time of each sector that is written.
    pub write_sector_ns: u64,
    /// Time of a discard.
    pub discard_ns: u64,
    /// Time of a flush.
    pub flush_ns: u64,
}
