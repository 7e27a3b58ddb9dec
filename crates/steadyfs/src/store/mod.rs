//! The store executes the calls that change or repair a volume.
//!
//! A logical page lies in a *frame*: `pages_per_logical_page` consecutive program pages of one
//! block. *Heads* program frames and journal pages in order:
//! - one head for the caller's pages (and for leaves of the map), or one head for each stream of
//!   pages;
//! - one head for frames that reclamation moves;
//! - one head for journal pages.
//!
//! Every program carries the next sequence number, so that the order of all programs can be
//! determined.
//!
//! The state of a volume is divided into *rooms*. A room owns its state, and uses other rooms only
//! if a call passes them as arguments. Three owners contain the rooms, one inside the other:
//! [`Ftl`] lies in [`Logical`], which lies in [`Store`]. No owner depends on the owner that
//! contains it:
//!
//! - [`pages`](crate::pages): the device, the page buffer with its content, and the results of
//!   reads.
//! - [`space`](crate::space): blocks (state, wear, live frames), heads, and sequence numbers. It
//!   uses pages.
//! - [`map`](crate::map): leaves, overlay, and the known state of the leaves' logs. It uses pages
//!   and space.
//! - [`commit`](crate::commit): the pages of the open transaction, the undo of a failed call, and
//!   the dirty pages in the cache. It uses space.
//! - [`root`](crate::root): the ring, with the positions of the roots and of the next root. It uses
//!   pages, space, map and commit.
//! - [`journal`](crate::journal): small changes, and the records on the medium that commit them. It
//!   uses pages, space and root.
//! - [`Ftl`]: the positions of all pages on the medium. It contains the rooms above except the
//!   journal and the cache, the operations that the volume still permits, and the present part of
//!   the reserve.
//! - [`reclaim`](crate::reclaim): the work that reclamation must do. It reads all rooms above, and
//!   changes none of them.
//! - [`Logical`]: the content of logical pages. It contains the translation layer ([`Ftl`]), the
//!   journal and the cache, and uses all rooms except `reclaim`.
//! - [`Store`]: begin and end of calls, reclamation, and mount. It contains [`Logical`] and the
//!   state of `reclaim`, and uses all rooms.
//!
//! | file | idea |
//! |---|---|
//! | `reclaim` | begin and end of a call, with the work that the pace has planned |
//! | `idle` | work ahead of time |
//! | `format` | an empty volume |
//! | `close` | the root that ends the use of a volume |
//! | [`mount`](self::mount) | mount, repair |
//! | `settle` | programs of a mount before its first answer |
//! | `scrub` | reads of everything that rests |
//! | `inspect` | the place of everything, for tools |

mod close;
mod format;
mod idle;
mod inspect;
mod mount;
mod reclaim;
#[cfg(feature = "scrub")]
mod scrub;
mod settle;

pub use inspect::Description;

use crate::commit::{Cache, Transaction};
use crate::config::{Config, Layout};
use crate::error::{Error, MountError};
use crate::format::superblock::Superblock;
use crate::ftl::{BlockInfo, CallState, Ftl, Health, Reserve, Status};
use crate::journal::Journal;
use crate::logical::Logical;
use crate::map::Map;
use crate::media::{BlockIndex, Flash, TAG_BYTES};
use crate::mount::{Access, Damage};
use crate::pages::{Group, Pages, Verify};
use crate::reclaim::ReclaimState;
use crate::root::Ring;
use crate::space::{Blocks, Heads, Space};
use crate::table::{Pairs, Words};

/// The store. See the [module](self).
pub(crate) struct Store<'m, F> {
    /// The state that calls read. They change it between [`begin`](Self::begin) and
    /// [`end`](Self::end).
    pub logical: Logical<'m, F>,
    reclaim: ReclaimState,
    /// The part of the lent memory that the tables do not need.
    spare: &'m mut [u8],
}

/// Splits the first `bytes` bytes off the lent memory. Not inlined, because calls take less code.
#[inline(never)]
fn take_part<'m>(rest: &mut &'m mut [u8], bytes: u32) -> &'m mut [u8] {
    let (part, tail) = core::mem::take(rest).split_at_mut(bytes as usize);
    *rest = tail;
    part
}

impl<'m, F: Flash> Store<'m, F> {
    /// Divides `memory` into tables, and makes a store without content. `superblock` names the
    /// blocks of the ring. It is `None` if the volume is about to be formatted.
    fn empty(
        flash: F,
        config: &Config,
        superblock: Option<&Superblock>,
        access: Access,
        memory: &'m mut [u8],
    ) -> Result<Self, MountError> {
        let geometry = flash.geometry();
        let layout = if flash.is_clean() {
            Layout::derive_for_reading(&geometry, config)?
        } else {
            Layout::derive(&geometry, config)?
        };
        let needed = layout.memory_bytes();
        if memory.len() < needed {
            return Err(MountError::MemoryTooSmall { needed, given: memory.len() });
        }
        let mut ring = Ring::new();
        if superblock.is_some_and(|found| !ring.adopt(found.ring, found.copy, &layout)) {
            return Err(MountError::NotFormatted);
        }
        let (mut rest, spare) = memory.split_at_mut(needed);
        rest.fill(0);
        let mut take = |bytes: u32| take_part(&mut rest, bytes);
        let (geometry, config) = (layout.geometry, layout.config);
        let (count, entry) = (geometry.block_count, layout.entry_bytes);
        let blocks = Blocks::new(
            take(count * layout.bitmap_bytes()),
            take(count),
            take(count.div_ceil(2)),
            &layout,
        );
        let leaves = Words::new(take(layout.leaf_count * entry), entry);
        let overlay = Pairs::new(take(u32::from(config.overlay_entries) * 2 * entry), entry);
        let pending = Pairs::new(take(u32::from(config.transaction_pages) * 2 * entry), entry);
        let known_logs = take(layout.known_logs_bytes());
        let heads = Heads::new(take(Heads::bytes_needed(&layout)));
        let group = Group::new(take(layout.group_bytes()), layout.group_pages() as u8);
        // If records form a chain, each record is composed in the page buffer together with its
        // tag.
        let tag = if layout.programs_bytes() { TAG_BYTES } else { 0 };
        let journal =
            Journal::new(&mut take(layout.journal_bytes)[tag..], tag > 0, layout.journal_shape());
        let pages = Pages::new(flash, take(layout.journal_bytes), &layout);
        let ftl = Ftl {
            pages,
            space: Space::new(blocks, heads, &layout),
            map: Map::new(leaves, overlay, known_logs),
            transaction: Transaction::new(pending),
            ring,
            group,
            reserve: Reserve::new(&layout),
            call: CallState::default(),
            status: Status::new(access),
            layout,
        };
        let logical =
            Logical { cache: Cache::new(&mut [], ftl.layout.logical_bytes), journal, ftl };
        Ok(Self { logical, reclaim: ReclaimState::new(), spare })
    }

    /// Returns the part of the lent memory that the tables do not need.
    pub fn take_spare(&mut self) -> &'m mut [u8] {
        core::mem::take(&mut self.spare)
    }

    /// Returns the medium.
    pub fn flash(&self) -> &F {
        self.logical.ftl.pages.flash()
    }

    /// Returns the medium for changes.
    pub fn flash_mut(&mut self) -> &mut F {
        self.logical.ftl.pages.flash_mut()
    }

    /// Returns the medium, and drops the store.
    pub fn into_flash(self) -> F {
        self.logical.ftl.pages.into_flash()
    }

    /// Sets which reads verify checksums.
    pub fn set_verify(&mut self, verify: Verify) {
        self.logical.ftl.pages.set_verify(verify);
    }

    pub fn layout(&self) -> &Layout {
        &self.logical.ftl.layout
    }

    /// Returns the operations that the volume still permits.
    pub fn status(&self) -> &Status {
        &self.logical.ftl.status
    }

    /// Records that a table of the file system cannot be read. The volume is then read-only until a
    /// repair.
    pub fn find_tables_lost(&mut self) {
        self.logical.ftl.status.set_damage_and_lock(Damage::Tables);
    }

    /// Returns the low 32 bits of the sequence number of the next program.
    pub fn sequence(&self) -> u32 {
        self.logical.ftl.space.sequence() as u32
    }

    /// Returns the number of logical pages that may hold data. The number shrinks if more blocks go
    /// bad than the settings allow.
    pub fn usable(&self) -> u32 {
        self.logical.ftl.usable()
    }

    /// Returns the number of additional reads that a call may need if pages may be unsteady.
    pub fn unsteady_reads(&self) -> u32 {
        self.logical.ftl.unsteady_reads()
    }

    /// Reads another live page of the block that was read last, if such a check is due.
    ///
    /// # Cost
    /// One read at most.
    pub fn patrol(&mut self) -> Result<(), Error> {
        self.logical.ftl.patrol()
    }

    /// Starts a scrub round at a scattered frame. So even if a device is never on for a whole
    /// round, its rounds reach every frame over time.
    pub fn start_scrub(&mut self) {
        self.logical.ftl.start_scrub();
    }

    /// Returns the health of the medium. Costs nothing.
    pub fn health(&self) -> Health {
        self.logical.ftl.health()
    }

    /// Returns the state of a block, or `None` if the index is past the last block. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.logical.ftl.block(block)
    }
}
