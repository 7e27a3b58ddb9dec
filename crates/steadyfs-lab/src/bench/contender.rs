//! The traits that a file system implements in order to be measured.
//!
//! A [`Contender`] is a chip with a file system's RAM beside it. Mounting lends both to a
//! [`Volume`]. So the chip outlives the volume, and dropping the volume is a power cut. A file
//! system in another language implements the same two traits around its own calls and a
//! simulated chip. Nothing here depends on SteadyFS.

use steadyfs_sim::Counters;

/// The way in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Opens an existing file to read.
    Read,
    /// Opens an existing file to read and write.
    Write,
    /// Opens an existing file to write it anew, and truncates it to 0 bytes.
    Replace,
    /// Creates a file to write.
    Create,
    /// Opens a file to write, and creates it if it does not exist. Every write is durable when
    /// it returns.
    Durable,
}

/// The reason for which a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The volume has no room. A case with this fault counts as not measured, and not as failed.
    NoRoom(String),
    /// The file system does not support the call, for this reason. The case does not count as
    /// failed.
    Cannot(String),
    /// Any other failure.
    Failed(String),
}

/// Room of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes that files can take together on an empty volume.
    pub usable_bytes: u64,
    /// Bytes of these that are free.
    pub free_bytes: u64,
    /// Bytes of the unit in which a file takes room.
    pub unit_bytes: u32,
    /// Maximum number of files.
    pub files_max: u32,
    /// Maximum bytes of one file.
    pub file_bytes_max: u64,
}

/// A call whose bound is computed just before the call.
#[derive(Debug)]
pub enum Operation<'o, F> {
    /// [`Volume::open`].
    Open(Mode),
    /// [`Volume::close`].
    Close,
    /// [`Volume::read`] of this many bytes.
    Read(usize),
    /// [`Volume::write`].
    Write {
        /// The file.
        file: &'o F,
        /// Offset of the write in the file.
        offset: u64,
        /// Number of written bytes.
        bytes: usize,
    },
    /// [`Volume::sync`].
    Sync,
    /// [`Volume::remove`].
    Remove,
    /// [`Volume::rename`].
    Rename,
    /// [`Volume::stat`].
    Stat,
}

/// A file system on a chip of its own, not mounted.
pub trait Contender {
    /// An open file.
    type File;

    /// A mounted volume.
    type Volume<'a>: Volume<File = Self::File>
    where
        Self: 'a;

    /// Returns the name of the file system.
    fn system(&self) -> String;

    /// Makes an empty volume.
    ///
    /// # Errors
    /// [`Fault`].
    fn format(&mut self) -> Result<(), Fault>;

    /// Mounts the volume, also after a power cut.
    ///
    /// # Errors
    /// [`Fault`].
    fn mount(&mut self) -> Result<Self::Volume<'_>, Fault>;

    /// Returns the bytes of RAM while the volume is mounted and one file is open: tables,
    /// buffers, and the structures themselves.
    fn ram_bytes(&self) -> u64;

    /// Returns true if lent memory keeps the read data, so that the chip does not limit repeated
    /// reads.
    fn keeps_what_is_read(&self) -> bool {
        false
    }

    /// Returns the counters of the chip so far.
    fn counters(&self) -> Counters;

    /// Returns the erase count of each erase block.
    fn erase_counts(&self) -> Vec<u32>;
}

/// A mounted volume. All files are in its root, and a path is a name.
///
/// Dropping it is a power cut. These changes are durable:
/// - writes through [`Mode::Durable`];
/// - everything written to a file, and its creation, after [`sync`](Self::sync) of the file;
/// - removes and renames when they return, with everything that was written before to closed
///   files.
pub trait Volume: Sized {
    /// An open file.
    type File;

    /// Opens a file.
    ///
    /// # Errors
    /// [`Fault`].
    fn open(&mut self, path: &str, mode: Mode) -> Result<Self::File, Fault>;

    /// Closes a file.
    ///
    /// # Errors
    /// [`Fault`].
    fn close(&mut self, file: Self::File) -> Result<(), Fault>;

    /// Reads from an offset on. Returns the number of bytes; it is less than requested only at
    /// the end of the file.
    ///
    /// # Errors
    /// [`Fault`].
    fn read(&mut self, file: &mut Self::File, offset: u64, data: &mut [u8])
    -> Result<usize, Fault>;

    /// Writes at an offset. The offset is at most the size of the file.
    ///
    /// # Errors
    /// [`Fault`].
    fn write(&mut self, file: &mut Self::File, offset: u64, data: &[u8]) -> Result<(), Fault>;

    /// Makes a file durable.
    ///
    /// # Errors
    /// [`Fault`].
    fn sync(&mut self, file: &mut Self::File) -> Result<(), Fault>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`Fault`].
    fn remove(&mut self, path: &str) -> Result<(), Fault>;

    /// Renames a file. A file with the new name is replaced, atomically if the file system can
    /// do that.
    ///
    /// # Errors
    /// [`Fault`].
    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault>;

    /// Returns the size of a file.
    ///
    /// # Errors
    /// [`Fault`].
    fn stat(&mut self, path: &str) -> Result<u64, Fault>;

    /// Uses idle time, without limit, to prepare writes of `burst_bytes` of payload: it erases
    /// blocks ahead. Does nothing if the file system cannot do that.
    ///
    /// # Errors
    /// [`Fault`].
    fn idle(&mut self, burst_bytes: u64) -> Result<(), Fault> {
        let _ = burst_bytes;
        Ok(())
    }

    /// Unmounts in good order.
    ///
    /// # Errors
    /// [`Fault`].
    fn unmount(self) -> Result<(), Fault>;

    /// Cuts the power: no further operation runs.
    fn cut(self) {
        drop(self);
    }

    /// Returns the room of the volume.
    ///
    /// # Errors
    /// [`Fault`].
    fn room(&mut self) -> Result<Room, Fault>;

    /// Returns the counters of the chip so far.
    fn counters(&self) -> Counters;

    /// Returns the longest time that a call can take now, in nanoseconds; `None` if the file
    /// system has no bounds.
    fn bound_ns(&self, operation: &Operation<'_, Self::File>) -> Option<u64> {
        let _ = operation;
        None
    }

    /// Returns the longest time that the next mount of this volume can take, in nanoseconds. If
    /// `is_clean` is true, the volume is unmounted before; otherwise the power is cut.
    fn mount_bound_ns(&self, is_clean: bool) -> Option<u64> {
        let _ = is_clean;
        None
    }

    /// Returns true if an erase block holds data in turn with others. Blocks of fixed use, such
    /// as superblocks, do not.
    fn holds_data(&self, block: u32) -> bool {
        let _ = block;
        true
    }
}
