//! Logical pages that can be rewritten in place, patched and discarded, with an atomic commit over any of them.
//!
//! A logical page lies in a *frame*: `unit_pages` consecutive program pages of one block. Frames are programmed in order by
//! heads: one for what the caller writes (and for leaves of the map), or one for each stream of it, one for what reclamation moves. Another one
//! programs journal pages. Every program carries the next sequence number, so that the order of all of them is known.
//!
//! The store executes calls. What it knows lies in rooms, which own their state and see no neighbour but those that a call hands them:
//!
//! | room | owns | knows |
//! |---|---|---|
//! | [`pages`](crate::pages) | the device, the page buffer and what it holds, what reads have told | |
//! | [`space`](crate::space) | blocks (state, wear, live frames), heads, the order of programs | pages |
//! | [`map`](crate::map) | leaves, overlay, what is known of their logs | pages, space |
//! | [`commit`](crate::commit) | the pages of the open transaction, what a failed call leaves of it, pages that wait in the cache | space |
//! | [`root`](crate::root) | the ring: where roots are, and where the next one goes | pages, space, map, commit |
//! | [`journal`](crate::journal) | small changes, and the records on the medium that commit them | pages, space, root |
//! | [`pace`](crate::pace) | what reclamation owes; it decides, and reads all of the others | all of these |
//! | `status` | what the volume may still do | |
//!
//! | file | idea |
//! |---|---|
//! | [`transaction`] | read, write, patch, discard, commit, rollback |
//! | [`program`] | heads, frames, retries after a failed program |
//! | [`streams`] | which head a page goes to |
//! | [`map`](self::map) | what changes of the map bring with them: frames that are released, leaves that are written back |
//! | [`write_back`] | what the cache brings with it |
//! | [`edit`] | what a page may become while it is copied |
//! | [`reclaim`] | what the pace has planned is carried out |
//! | [`group`] | moves that are made in one command |
//! | [`roots`] | roots are written, and what follows from that |
//! | [`mount`](self::mount) | format, mount, repair |
//! | [`settle`] | what a mount programs before anybody sees what it found |
//! | `status` | what the volume may still do |
//! | [`idle`] | work ahead of time |
//! | [`health`] | bits that flip, blocks that wear out, and what is done about it |
//! | `scrub` | looking at everything that rests |
//! | [`inspect`] | what is where, for tools |

pub(crate) mod edit;
mod group;
mod health;
mod idle;
mod inspect;
mod map;
mod mount;
mod program;
mod reclaim;
mod roots;
#[cfg(feature = "scrub")]
mod scrub;
mod settle;
mod status;
mod streams;
mod transaction;
mod write_back;

pub(crate) use edit::Piece;
pub use health::Health;
pub use inspect::{BlockInfo, BlockState, Description};

use crate::commit::{Cache, Transaction};
use crate::config::{Config, Layout};
use crate::error::{Error, MountError};
use crate::journal::Journal;
use crate::map::Map;
use crate::media::{BlockIndex, Flash, TAG_BYTES};
use crate::mount::{Access, Damage};
use crate::pace::Pace;
use crate::pages::{Group, Pages, Verify};
use crate::root::{Lost, Ring};
use crate::space::{Blocks, Heads, Space, State};
use crate::table::{Pairs, Words};
use status::Status;

/// What the call in progress has done so far.
#[derive(Clone, Copy, Debug, Default)]
struct Call {
    /// Frames programmed for the caller.
    frames: u32,
    /// Programs that failed.
    failures: u8,
    /// Erases before it.
    erases_before: u16,
    /// The ring was opened: it is the first change after a clean end.
    opened: bool,
    /// Changes of the map.
    changes: u32,
    /// It ends with a commit.
    commits: bool,
    /// It has committed, and emptied the device's cache.
    flushed: bool,
    /// A page that had little in the journal was written.
    flushed_small: bool,
    /// Roots that were lost because the device did not answer.
    lost_roots: Lost,
    /// Blocks that were bad when it began.
    bad_blocks: u32,
    /// The program of a commit failed, and may be there all the same.
    in_doubt: bool,
}

/// The store. See the [module](self).
pub struct Store<'m, F> {
    layout: Layout,
    pages: Pages<'m, F>,
    space: Space<'m>,
    map: Map<'m>,
    transaction: Transaction<'m>,
    journal: Journal<'m>,
    cache: Cache<'m>,
    /// What the lent memory has beyond the tables and the cache.
    spare: &'m mut [u8],
    group: Group<'m>,
    ring: Ring,
    pace: Pace,
    call: Call,
    status: Status,
}

impl<'m, F: Flash> Store<'m, F> {
    /// Divides `memory` and makes a store without content.
    fn empty(flash: F, config: &Config, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let layout = Layout::derive(&flash.geometry(), config)?;
        let needed = layout.memory_bytes();
        if memory.len() < needed {
            return Err(MountError::MemoryTooSmall { needed, given: memory.len() });
        }
        let (mut rest, spare) = memory.split_at_mut(needed);
        rest.fill(0);
        let mut take = |bytes: u32| {
            let (part, tail) = core::mem::take(&mut rest).split_at_mut(bytes as usize);
            rest = tail;
            part
        };
        let (geometry, config) = (layout.geometry, layout.config);
        let (count, entry) = (geometry.block_count, layout.entry_bytes);
        let blocks = Blocks::new(take(count * layout.bitmap_bytes()), take(count), take(count.div_ceil(2)), &layout);
        let leaves = Words::new(take(layout.leaf_count * entry), entry);
        let overlay = Pairs::new(take(u32::from(config.overlay_entries) * 2 * entry), entry);
        let pending = Pairs::new(take(u32::from(config.transaction_pages) * 2 * entry), entry);
        let known_logs = take(layout.known_logs_bytes());
        let heads = Heads::new(take(Heads::bytes_needed(&layout)));
        let group = Group::new(take(layout.group_bytes()), layout.group_pages() as u8);
        // Where records are a chain each has its tag in the page buffer.
        let tag = if layout.programs_bytes() { TAG_BYTES } else { 0 };
        let journal = Journal::new(&mut take(layout.journal_bytes)[tag..], tag > 0, layout.journal_shape());
        let pages = Pages::new(flash, take(layout.journal_bytes), &layout);
        Ok(Self {
            pages,
            cache: Cache::new(&mut [], layout.logical_bytes),
            spare,
            space: Space::new(blocks, heads, &layout),
            map: Map::new(leaves, overlay, known_logs),
            transaction: Transaction::new(pending),
            journal,
            group,
            ring: Ring::new(),
            pace: Pace::new(&layout),
            call: Call::default(),
            status: Status::new(Access::ReadWrite),
            layout,
        })
    }

    /// Hands out what the lent memory has beyond the tables.
    pub fn take_spare(&mut self) -> &'m mut [u8] {
        core::mem::take(&mut self.spare)
    }

    /// The medium.
    pub fn flash(&self) -> &F {
        self.pages.flash()
    }

    /// The medium, mutable.
    pub fn flash_mut(&mut self) -> &mut F {
        self.pages.flash_mut()
    }

    /// Gives the medium back.
    pub fn into_flash(self) -> F {
        self.pages.into_flash()
    }

    /// Chooses what is checked when it is read.
    pub fn set_verify(&mut self, verify: Verify) {
        self.pages.set_verify(verify);
    }

    /// What the mount found missing, or a write-back since.
    pub fn damage(&self) -> Option<Damage> {
        self.status.damage()
    }

    /// Whether every later mount begins with the state that is shown.
    pub fn is_settled(&self) -> bool {
        self.status.is_settled()
    }

    /// Whether nothing may be changed.
    pub fn is_read_only(&self) -> bool {
        self.status.is_read_only()
    }

    /// The low bits of the sequence of the next program.
    pub fn sequence(&self) -> u32 {
        self.space.sequence() as u32
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A call that has done nothing yet.
    fn new_call(&self) -> Call {
        Call { bad_blocks: self.space.blocks().count(State::Bad), erases_before: self.pages.erases(), ..Call::default() }
    }

    /// Logical pages that may hold data: fewer where more blocks are bad than the volume has to spare.
    pub fn usable(&self) -> u32 {
        self.layout.usable_with(self.space.blocks().count(State::Bad))
    }

    /// Erases a block and counts it; a block that does not erase is bad from now on.
    fn erase(&mut self, block: BlockIndex) -> Result<bool, Error> {
        let is_erased = self.space.erase(&mut self.pages, block).map_err(|error| self.refused(error))?;
        if !is_erased {
            self.mark_bad(block);
        }
        Ok(is_erased)
    }

    /// Marks a bad block. Only a note for other users of the chip; the root is what counts. Superblocks and roots are looked for in blocks without a mark.
    fn mark_bad(&mut self, block: BlockIndex) {
        if !self.ring.owns(block) {
            let _ = self.pages.flash_mut().mark_bad(block);
        }
    }

    /// Marks a block that is empty and in which a program failed. A root was written when it was: a mark may destroy what is in it, and a
    /// recovery needed that until then. One at each root, so that a bound has one in it.
    fn mark_retired(&mut self) {
        if let Some(block) = self.space.retired() {
            self.space.lose(block);
            self.mark_bad(block);
        }
    }
}
