//! The calls of a file system that the rounds make, and the count of their instructions.

use crate::tally::Tally;
use crate::workload::Failed;
use steadyfs::{Error, OpenOptions};

/// Instructions of a call.
#[derive(Clone, Copy)]
pub struct Counted {
    pub all: u64,
    /// The instructions without checksums.
    pub rest: u64,
}

/// A file system on a medium, for several mounts in a row.
pub trait System {
    type Volume<'v>: Calls
    where
        Self: 'v;

    fn format(&mut self) -> Result<(), Failed>;

    fn mount(&mut self) -> Result<Self::Volume<'_>, Failed>;

    /// Mounts and counts the mount.
    fn mount_counted(&mut self, tally: &mut Tally) -> Result<Self::Volume<'_>, Failed>;
}

/// A mounted volume. A call on a volume without room returns [`Error::NoSpace`].
pub trait Calls: Sized {
    type File;
    type Start;

    /// Starts to count.
    fn start(&self) -> Self::Start;

    /// Returns the instructions since the start.
    fn since(&self, start: Self::Start) -> Counted;

    /// Creates a file of copies of `page` that fills four fifths of the volume. Returns its number
    /// of pages.
    fn fill(&mut self, path: &'static str, page: &[u8]) -> Result<u32, Error>;

    fn open(&mut self, path: &str, options: OpenOptions) -> Result<Self::File, Error>;

    /// Opens a file for writing, and removes its content.
    fn open_empty(&mut self, path: &str) -> Result<Self::File, Error>;

    fn close(&mut self, file: Self::File) -> Result<(), Error>;

    /// Opens a file that may stay open from round to round.
    fn borrow(&mut self, path: &'static str, options: OpenOptions) -> Result<Self::File, Error>;

    /// Ends the use of a borrowed file. A file system whose close makes a file durable keeps the
    /// file open.
    fn give_back(&mut self, file: Self::File) -> Result<(), Error>;

    /// Returns a borrowed file that is usable after a refused call.
    fn after_refusal(&mut self, file: Self::File) -> Result<Self::File, Error>;

    fn size(&mut self, file: &mut Self::File) -> Result<u64, Error>;

    /// Removes the content of a borrowed file.
    fn empty(&mut self, file: &mut Self::File) -> Result<(), Error>;

    fn read(&mut self, file: &mut Self::File, at: u64, data: &mut [u8]) -> Result<usize, Error>;

    fn write(&mut self, file: &mut Self::File, at: u64, data: &[u8]) -> Result<(), Error>;

    fn append(&mut self, file: &mut Self::File, data: &[u8]) -> Result<(), Error>;

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Error>;

    fn remove(&mut self, path: &str) -> Result<(), Error>;

    /// Makes names and closed files durable.
    fn commit(&mut self) -> Result<(), Error>;

    /// Makes the appends to files durable that were borrowed and given back.
    fn sync(&mut self, paths: &[&'static str]) -> Result<(), Error>;

    fn unmount(self) -> Result<(), Failed>;

    /// Leaves the volume as a power cut does.
    fn cut(self);
}
