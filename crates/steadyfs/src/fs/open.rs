//! Open files: how they are opened, and the table of those that are.
//!
//! The table counts the handles of each inode, so that a file that is removed while it is open stays until its last handle is
//! closed: it becomes an *orphan*, in a list on the medium that a mount after a power cut frees.
//!
//! ```text
//! 0           4            8      10      12
//! | inode + 1 | generation | open | flags |      flags 1: orphan, 2: gone with a rollback
//! ```
//!
//! The generation tells a file that is there after a rollback from one whose creation was undone, and which had the same inode.

use super::directory::Found;
use super::inode::{Header, InodeKind, NEXT_AT, PARENT_AT};
use super::names::Kind;
use super::path::{Place, Target};
use super::regions::Node;
use super::transaction::CommitOn;
use super::trim::Lists;
use super::{Call, Change, FileSystem, InodeNumber};
use crate::error::Error;
use crate::media::Flash;

/// Bytes of RAM that each open file takes beyond the eight that [`Config::memory_bytes`](crate::Config::memory_bytes) has room for.
pub const OPEN_FILE_BYTES: usize = 12;
const ORPHAN: u16 = 1;
const GONE: u16 = 2;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Allow reading.
    pub read: bool,
    /// Allow writing at any offset.
    pub write: bool,
    /// Allow writing, at the end of the file only, whatever the offset says.
    pub append: bool,
    /// Cut the file to nothing; needs `write`.
    pub truncate: bool,
    /// Create the file when it does not exist; needs `write` or `append`.
    pub create: bool,
    /// Create the file, and fail with [`Error::Exists`] when it does exist.
    pub create_new: bool,
    /// Every change through this handle is durable when the call returns, and so is the file's creation.
    pub durable: bool,
    /// The stream of the pages of a file that is created, kept with it: files that are written again at about the same pace should have one, and others another.
    /// 0 is that of all that names none; a stream that the [volume](crate::Config::streams) does not have is the last one that it has.
    pub stream: u8,
}

impl OpenOptions {
    /// Read an existing file.
    pub const READ: Self = Self {
        read: true,
        write: false,
        append: false,
        truncate: false,
        create: false,
        create_new: false,
        durable: false,
        stream: 0,
    };
    /// Read and write an existing file.
    pub const WRITE: Self = Self { write: true, ..Self::READ };
    /// Read and write a file; create it when it does not exist.
    pub const CREATE: Self = Self { create: true, ..Self::WRITE };
    /// As [`CREATE`](Self::CREATE), and every change is durable when its call returns.
    pub const DURABLE: Self = Self { durable: true, ..Self::CREATE };

    fn changes(&self) -> bool {
        self.write || self.append
    }
}

/// An open file. Close it with [`FileSystem::close`]: a handle that is dropped keeps its place in the table until the unmount.
///
/// Several handles of one file see each other's changes. A file that is renamed or removed stays what it is for its handles.
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub struct File {
    pub(super) slot: u16,
    pub(super) options: OpenOptions,
    /// The volume's stamp when the fields below were read.
    pub(super) stamp: u32,
    generation: u32,
    pub(super) size: u64,
    pub(super) modified_ns: u64,
    pub(super) inline: bool,
    pub(super) stream: u8,
    pub(super) node: Node,
}

impl File {
    /// Number of the file, for its life.
    pub fn inode(&self) -> InodeNumber {
        self.node.inode
    }

    /// The [stream](OpenOptions::stream) of its pages, which it was created with: 0 to 3; one that the volume does not have is the last one that it has. Costs nothing.
    pub fn stream(&self) -> u8 {
        self.stream
    }

    /// What is known of a file, with its place in the table.
    pub(super) fn new(slot: u16, inode: u32, header: &Header, options: OpenOptions, stamp: u32) -> Self {
        Self {
            slot,
            options,
            stamp,
            generation: header.generation,
            size: header.size,
            modified_ns: header.modified_ns,
            inline: header.inline,
            stream: header.stream,
            node: Node::new(inode),
        }
    }
}

/// An entry of the table; `open` is 0 where it is free.
#[derive(Clone, Copy, Default)]
struct Entry {
    number: u32,
    generation: u32,
    open: u16,
    flags: u16,
}

/// The table of open files.
pub(super) struct OpenTable<'m> {
    bytes: &'m mut [u8],
}

impl<'m> OpenTable<'m> {
    pub fn new(bytes: &'m mut [u8]) -> Self {
        bytes.fill(0);
        Self { bytes }
    }

    fn len(&self) -> usize {
        self.bytes.len() / OPEN_FILE_BYTES
    }

    fn get(&self, slot: usize) -> Entry {
        let b = &self.bytes[slot * OPEN_FILE_BYTES..(slot + 1) * OPEN_FILE_BYTES];
        Entry {
            number: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            generation: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            open: u16::from_le_bytes([b[8], b[9]]),
            flags: u16::from_le_bytes([b[10], b[11]]),
        }
    }

    fn set(&mut self, slot: usize, entry: Entry) {
        let b = &mut self.bytes[slot * OPEN_FILE_BYTES..(slot + 1) * OPEN_FILE_BYTES];
        b[..4].copy_from_slice(&entry.number.to_le_bytes());
        b[4..8].copy_from_slice(&entry.generation.to_le_bytes());
        b[8..10].copy_from_slice(&entry.open.to_le_bytes());
        b[10..].copy_from_slice(&entry.flags.to_le_bytes());
    }

    /// The entry of an inode that is open.
    fn find(&self, inode: u32) -> Option<usize> {
        let is_it = |entry: Entry| entry.number == inode + 1 && entry.flags & GONE == 0;
        (0..self.len()).find(|&slot| is_it(self.get(slot)))
    }

    fn room(&self, inode: u32) -> Result<usize, Error> {
        let free = || (0..self.len()).find(|&slot| self.get(slot).open == 0);
        self.find(inode).or_else(free).ok_or(Error::TooManyOpenFiles)
    }

    /// Forgets a handle.
    pub fn close(&mut self, file: &File) {
        let slot = usize::from(file.slot);
        let entry = self.get(slot);
        let open = entry.open.saturating_sub(1);
        self.set(slot, if open == 0 { Entry::default() } else { Entry { open, ..entry } });
    }

    /// Whether a handle is the last one of an orphan.
    fn is_last_of_orphan(&self, file: &File) -> bool {
        let entry = self.get(usize::from(file.slot));
        entry.open == 1 && entry.flags & (ORPHAN | GONE) == ORPHAN
    }

    /// Undoes that the file of an entry became an orphan.
    pub fn restore(&mut self, slot: u16) {
        let entry = self.get(usize::from(slot));
        self.set(usize::from(slot), Entry { flags: entry.flags & !ORPHAN, ..entry });
    }

    /// Whether a handle stands for an orphan.
    pub fn has_orphans(&self) -> bool {
        (0..self.len()).map(|slot| self.get(slot)).any(|entry| entry.open > 0 && entry.flags & (ORPHAN | GONE) == ORPHAN)
    }

    fn has_room(&self) -> bool {
        (0..self.len()).any(|slot| self.get(slot).open == 0)
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Opens a file.
    ///
    /// # Power loss
    /// A file that is created is there after the next commit, one that is cut is cut.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open), or [`Call::Create`](super::Call::Create); with `truncate` and
    /// [`Call::Truncate`](super::Call::Truncate).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Exists`], [`Error::IsADirectory`], [`Error::IsALink`], [`Error::NotADirectory`], [`Error::InvalidName`],
    /// [`Error::NameTooLong`], [`Error::NotWritable`] when the options contradict each other, [`Error::TooManyOpenFiles`],
    /// [`Error::TooManyFiles`], [`Error::NoSpace`], [`Error::NameCollision`], [`Error::Unsupported`] where a name or cutting needs a feature that the
    /// build is without, and those of [every call](FileSystem#errors-of-every-call).
    pub fn open<'p>(&mut self, place: impl Into<Place<'p>>, options: OpenOptions) -> Result<File, Error> {
        let creates = options.create || options.create_new;
        if (creates && !options.changes()) || (options.truncate && !options.write) {
            return Err(Error::NotWritable);
        }
        let (directory, name) = match self.resolve(place.into())? {
            Target::Name { directory, name } => (directory, name),
            Target::Directory(_) => return Err(Error::IsADirectory),
        };
        match self.find(directory, name)? {
            Found::At { .. } if options.create_new => Err(Error::Exists),
            Found::At { inode, .. } => {
                let header = self.read_header(inode)?;
                self.open_header(inode, &header, options)
            }
            Found::Free(_) if !creates => Err(Error::NotFound),
            Found::Free(slot) => {
                if !self.open.has_room() {
                    return Err(Error::TooManyOpenFiles);
                }
                self.begin_named(Call::Create { depth: 0 }, name.len() > self.plan.name_inline())?;
                let result = self.create(directory, name, slot, Kind::File, options.stream);
                let (inode, header) = self.finish(result, CommitOn::CREATE, options.durable)?;
                self.notify(Change::Created(inode));
                self.handle(inode, &header, options)
            }
        }
    }

    /// Opens a file that is known by its inode, whatever its name is now.
    ///
    /// # Cost
    /// Two looks; with `truncate` also [`Call::Truncate`](super::Call::Truncate).
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such file, [`Error::IsADirectory`], [`Error::IsALink`], and those of [`open`](Self::open).
    pub fn open_inode(&mut self, inode: InodeNumber, options: OpenOptions) -> Result<File, Error> {
        let header = self.header_of(inode)?;
        self.open_header(inode, &header, options)
    }

    fn open_header(&mut self, inode: u32, header: &Header, options: OpenOptions) -> Result<File, Error> {
        if header.kind == InodeKind::Directory {
            return Err(Error::IsADirectory);
        }
        let mut file = self.handle(inode, header, options)?;
        if options.truncate
            && file.size > 0
            && let Err(error) = self.truncate(&mut file, 0)
        {
            let _ = self.release_handle(&file);
            return Err(error);
        }
        Ok(file)
    }

    /// The header of a file or directory that exists.
    pub(super) fn header_of(&mut self, inode: u32) -> Result<Header, Error> {
        self.reload()?;
        if inode >= self.plan.inode_count || !self.inode_is_taken(inode)? {
            return Err(Error::NotFound);
        }
        let header = self.read_header(inode)?;
        match header.kind {
            InodeKind::File | InodeKind::Directory => Ok(header),
            InodeKind::Orphan if self.open.find(inode).is_some() => Ok(header),
            _ => Err(Error::NotFound),
        }
    }

    /// Makes a handle and counts it.
    pub(super) fn handle(&mut self, inode: u32, header: &Header, options: OpenOptions) -> Result<File, Error> {
        if header.is_link {
            return Err(Error::IsALink);
        }
        if header.size > self.size_max() {
            return Err(Error::Corrupt);
        }
        self.reload()?;
        let slot = self.open.room(inode)?;
        let entry = match self.open.get(slot) {
            entry if entry.open > 0 => entry,
            _ => Entry { number: inode + 1, generation: header.generation, open: 0, flags: 0 },
        };
        self.open.set(slot, Entry { open: entry.open.checked_add(1).ok_or(Error::TooManyOpenFiles)?, ..entry });
        Ok(File::new(slot as u16, inode, header, options, self.stamp))
    }

    /// Closes a file. The last handle of a file that was removed gives its room back.
    ///
    /// # Power loss
    /// As in [`commit`](Self::commit), where the volume commits on close. Calls after the next mount take the room of removed
    /// files back that were open.
    ///
    /// # Cost
    /// Nothing, or one commit where the volume commits on close; [`Call::Remove`](super::Call::Remove) for the last handle of
    /// a file that was removed.
    ///
    /// # Errors
    /// Those of [every call](FileSystem#errors-of-every-call). The handle is closed all the same.
    pub fn close(&mut self, file: File) -> Result<(), Error> {
        self.release_handle(&file)?;
        let commits = self.commit_on.contains(CommitOn::CLOSE) && file.options.changes();
        if commits { self.commit() } else { Ok(()) }
    }

    fn release_handle(&mut self, file: &File) -> Result<(), Error> {
        let known = self.reload();
        if !self.open.is_last_of_orphan(file) || self.store.is_read_only() {
            self.open.close(file);
            return known;
        }
        let begun = self.begin(Call::Remove { depth: 0 });
        // Where the call fails nobody stands for the orphan any more, and a later call collects it.
        self.open.close(file);
        begun?;
        let result = self.free_orphan(file.inode());
        // Here and not in a call of its own, which would owe reclamation a second time.
        let event = if file.options.changes() { CommitOn::CLOSE } else { CommitOn::NONE };
        self.finish(result, event, false)
    }

    /// Reads again what a handle knows, if an inode was changed since.
    pub(super) fn refresh(&mut self, file: &mut File) -> Result<(), Error> {
        self.reload()?;
        if self.open.get(usize::from(file.slot)).flags & GONE != 0 {
            return Err(Error::Stale);
        }
        if file.stamp == self.stamp {
            return Ok(());
        }
        let header = self.read_header(file.inode())?;
        if header.generation != file.generation || !matches!(header.kind, InodeKind::File | InodeKind::Orphan) {
            return Err(Error::Stale);
        }
        (file.size, file.modified_ns, file.inline) = (header.size, header.modified_ns, header.inline);
        file.node.forget();
        file.stamp = self.stamp;
        Ok(())
    }

    /// After a rollback: marks the files that are not there any more, and those that are again.
    pub(super) fn check_open_files(&mut self) -> Result<(), Error> {
        for slot in 0..self.open.len() {
            let entry = self.open.get(slot);
            if entry.open == 0 || entry.flags & GONE != 0 {
                continue;
            }
            let inode = entry.number - 1;
            let header = match self.inode_is_taken(inode).and_then(|taken| taken.then(|| self.read_header(inode)).transpose()) {
                Err(Error::Device) => return Err(Error::Device),
                // The handle looks again when it is used.
                Err(_) => continue,
                Ok(header) => header,
            };
            let flags = match header.filter(|header| header.generation == entry.generation).map(|header| header.kind) {
                Some(InodeKind::File) => 0,
                Some(InodeKind::Orphan) => ORPHAN,
                _ => GONE,
            };
            self.open.set(slot, Entry { flags, ..entry });
        }
        Ok(())
    }

    /// What removing a file that is open does to it: it leaves its directory and joins the list of orphans.
    ///
    /// Returns whether the file is open.
    pub(super) fn orphan_if_open(&mut self, inode: u32) -> Result<bool, Error> {
        let Some(slot) = self.open.find(inode) else { return Ok(false) };
        let next = self.lists.orphan_first;
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at, &[InodeKind::Orphan as u8])?;
        let mut links = [0; 8];
        links[4..].copy_from_slice(&next.to_le_bytes());
        self.store.patch(page, at + PARENT_AT, &links)?;
        self.link_orphan(next, PARENT_AT, inode + 1)?;
        let last = if next == 0 { inode + 1 } else { self.lists.orphan_last };
        self.write_lists(Lists { orphan_first: inode + 1, orphan_last: last, ..self.lists })?;
        let entry = self.open.get(slot);
        self.open.set(slot, Entry { flags: entry.flags | ORPHAN, ..entry });
        self.mark.orphaned = Some(slot as u16);
        Ok(true)
    }

    /// Writes one link of an orphan, if `number` names one.
    fn link_orphan(&mut self, number: u32, at: u32, target: u32) -> Result<(), Error> {
        match number.checked_sub(1) {
            None => Ok(()),
            Some(inode) if inode >= self.plan.inode_count => Err(Error::Corrupt),
            Some(inode) => {
                let (page, place) = self.inode_place(inode);
                self.store.patch(page, place + at, &target.to_le_bytes())
            }
        }
    }

    /// Takes an orphan out of the list and frees it.
    fn free_orphan(&mut self, inode: u32) -> Result<(), Error> {
        let header = self.read_header(inode)?;
        if header.kind != InodeKind::Orphan {
            return Err(Error::Corrupt);
        }
        self.link_orphan(header.next, PARENT_AT, header.parent)?;
        self.link_orphan(header.parent, NEXT_AT, header.next)?;
        let head = if header.parent == 0 { header.next } else { self.lists.orphan_first };
        let tail = if header.next == 0 { header.parent } else { self.lists.orphan_last };
        self.write_lists(Lists { orphan_first: head, orphan_last: tail, ..self.lists })?;
        self.free_file(inode, &header)
    }

    /// Whether there are orphans that no handle stands for: a power cut, or a close that failed, has left them.
    pub(super) fn has_abandoned_orphans(&self) -> bool {
        self.lists.orphan_first != 0 && !self.open.has_orphans() && !self.store.is_unchecked()
    }

    /// Gives the orphans that nobody stands for to the trim list.
    pub(super) fn collect_orphans(&mut self) -> Result<(), Error> {
        let Lists { trim, orphan_first, orphan_last } = self.lists;
        self.link_orphan(orphan_last, NEXT_AT, trim)?;
        self.write_lists(Lists { trim: orphan_first, ..Lists::default() })
    }
}
