//! What a file system offers in order to be measured.
//!
//! A [`Contender`] is a chip with a file system's RAM beside it; mounting lends both to a [`Volume`], so that a volume that is dropped is
//! a power cut, and the chip outlives it. A file system in another language implements the same two traits around its own calls and a
//! simulated chip; nothing here knows what SteadyFS is.

use steadyfs_sim::Counters;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To be read; it is there.
    Read,
    /// To be read and written; it is there.
    Write,
    /// To be written anew: it is there, and is cut to nothing.
    Replace,
    /// To be written; it is made.
    Create,
    /// To be written, made where it is not there; every write is durable when it returns.
    Durable,
}

/// Why a call did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The volume has no room for it: a case that meets this was not measured, which is no failure.
    NoRoom(String),
    /// It does not do such a thing at all, for this reason: no failure either.
    Cannot(String),
    /// Anything else.
    Failed(String),
}

/// Room of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes that files can take together on an empty volume.
    pub usable_bytes: u64,
    /// Bytes of these that are free.
    pub free_bytes: u64,
    /// Unit in which a file takes room.
    pub unit_bytes: u32,
    /// Files that there can be.
    pub files_max: u32,
    /// Bytes that one file can have.
    pub file_bytes_max: u64,
}

/// A call whose bound is asked for just before it is made.
#[derive(Debug)]
pub enum Operation<'o, F> {
    /// [`Volume::open`].
    Open(Mode),
    /// [`Volume::close`].
    Close,
    /// [`Volume::read`] of so many bytes.
    Read(usize),
    /// [`Volume::write`].
    Write {
        /// The file.
        file: &'o F,
        /// Where.
        offset: u64,
        /// Bytes written.
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

    /// What a mount gives.
    type Volume<'a>: Volume<File = Self::File>
    where
        Self: 'a;

    /// Name of the file system.
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

    /// Bytes of RAM while the volume is mounted and one file is open: tables, buffers, the structures themselves.
    fn ram_bytes(&self) -> u64;

    /// Whether memory that was lent keeps what is read, so that the chip does not limit what is read again.
    fn keeps_what_is_read(&self) -> bool {
        false
    }

    /// What the chip has done so far.
    fn counters(&self) -> Counters;

    /// How often each erase block was erased.
    fn erase_counts(&self) -> Vec<u32>;
}

/// A mounted volume. All files are in its root; a path is a name.
///
/// Dropping it is a power cut. What is durable: writes through [`Mode::Durable`]; everything written to a file after [`sync`](Self::sync)
/// of it, its creation included; removes and renames when they return, with everything that was written before to files that are closed.
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

    /// Reads from an offset on; returns the number of bytes, fewer only at the end of the file.
    ///
    /// # Errors
    /// [`Fault`].
    fn read(&mut self, file: &mut Self::File, offset: u64, data: &mut [u8]) -> Result<usize, Fault>;

    /// Writes at an offset, at most the size of the file.
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

    /// Renames a file; a file of the new name is replaced, atomically where the file system can do that.
    ///
    /// # Errors
    /// [`Fault`].
    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault>;

    /// Tells the size of a file.
    ///
    /// # Errors
    /// [`Fault`].
    fn stat(&mut self, path: &str) -> Result<u64, Fault>;

    /// Uses idle time, without limit, to prepare writes of so many bytes of payload: blocks are erased ahead. Does nothing where the file system cannot.
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

    /// Cuts the power: nothing more is done.
    fn cut(self) {
        drop(self);
    }

    /// Tells the room there is.
    ///
    /// # Errors
    /// [`Fault`].
    fn room(&mut self) -> Result<Room, Fault>;

    /// What the chip has done so far.
    fn counters(&self) -> Counters;

    /// Longest time that a call can take, made now, in nanoseconds; `None` where the file system promises nothing.
    fn bound_ns(&self, operation: &Operation<'_, Self::File>) -> Option<u64> {
        let _ = operation;
        None
    }

    /// Longest time that a mount of this volume can take, in nanoseconds.
    fn mount_bound_ns(&self) -> Option<u64> {
        None
    }

    /// Whether an erase block is one of those that hold data in turn: not one of fixed use, such as a superblock.
    fn holds_data(&self, block: u32) -> bool {
        let _ = block;
        true
    }
}
