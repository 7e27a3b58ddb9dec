//! Settling: the programs of a mount before its first answer.
//!
//! The last record, a frame or a journal page, may be metastable. So it is copied into a fresh
//! block of the ring. Copies that earlier mounts made in the ring, and that no call has moved
//! since, are copied there as well.
//!
//! The root of this mount names these copies. The seals of this root are programmed last, and prove
//! that everything before them is complete. Then ring blocks that might hold a root with a larger
//! number are erased. Only then is anything programmed outside the ring.

use super::Store;
use crate::config::COPIED_MAX;
use crate::error::Error;
use crate::ftl::Copied;
use crate::media::{BlockIndex, Flash, TagKind, TagKinds};
use crate::mount::{FoundRecord, Last};
use crate::pages::UNSTEADY_TRIES;
use crate::space::{Frame, HeadIndex, NONE};

/// Number of frames that a restart costs if heads were in use:
/// - one skipped frame of each head;
/// - one frame for the copy of the last record, and one frame for a later move of this copy;
/// - one frame for the pace of reclamation.
///
/// Each head of a further stream adds one frame. If the next place of a head holds content that is
/// not a record, this head adds one frame. The reserve provides the frames, and each victim gives a
/// few of them back.
const RESTART_FRAMES: u32 = 5;
/// Number of sequence numbers that a mount skips. A power cut may have made the first page of a
/// listed block unsteady. Such a page may later read as a record, and must not look newer than the
/// records of this mount.
const JUMP: u64 = 4096;

/// The frames and the journal page that a mount copies into a ring block.
#[derive(Clone, Copy)]
struct Carried {
    frames: [Option<Copied>; COPIED_MAX as usize],
    journal: bool,
}

impl<F: Flash> Store<'_, F> {
    /// Writes a root of this mount.
    ///
    /// # Power loss
    /// Power cuts may interrupt any number of mounts in a row: the next mount still finds the same
    /// state.
    pub(super) fn settle(&mut self, last: Last) -> Result<(), Error> {
        // The mount determines everything to copy before it programs anything. So an error here
        // changes nothing on the medium.
        let mut carried = self.carried(&last)?;
        let ftl = &mut self.logical.ftl;
        // A blank ring block hides no root, so it needs no erase.
        ftl.search().mark_blank_places()?;
        // Nothing else may be programmed until the mark of the first change is complete.
        ftl.in_ring(|roots, _, _| roots.complete_mark())?;
        // A half-written page must never look newer than the records of this mount.
        ftl.space.take_sequences(JUMP);
        // A power cut may have touched the next places of the heads.
        ftl.skip_places(&last.evidence);
        // The restart costs frames only if heads were in use.
        if last.evidence.are_there() {
            let frames = RESTART_FRAMES
                + ftl.layout.extra_heads()
                + last.evidence.more_frames(ftl.space.heads())
                + ftl.group_frames();
            ftl.reserve.withdraw(frames);
        }
        // The first record of each power cycle is a journal page.
        ftl.space.set_unmarked(true);
        // A transaction that the power cut interrupted does not count.
        ftl.transaction.end();
        // Nothing outside of the ring is programmed before this root has its seals.
        loop {
            let number =
                self.logical.ftl.in_ring(|roots, _, _| roots.advance().map(|()| roots.begin()))?;
            let result = self.program_settled(number, &mut carried);
            if self.logical.ftl.in_ring(|roots, _, lost| roots.finish_write(result, lost))? {
                break;
            }
            // The root names frames in its own block. So if another block is tried, everything is
            // copied again there.
        }
        let ftl = &mut self.logical.ftl;
        // The erased blocks might hold a root that a later mount can read and that outranks this
        // root.
        ftl.in_ring(|roots, said, lost| roots.erase_unknown(said, lost))?;
        // From here on every later mount begins with this root.
        ftl.status.settle(true);
        ftl.stock_heads()?;
        self.empty_ring()
    }

    /// Returns the frames and the journal page that must be copied. These are the last record, if
    /// it may be unsteady, and everything live in the ring.
    fn carried(&mut self, last: &Last) -> Result<Carried, Error> {
        let is_journal = |record: FoundRecord| TagKinds::JOURNAL.has(record.tag.kind);
        // If another record lies behind a record in its block, the record is complete. So only the
        // last record may be torn.
        let unsteady = last.record.filter(|_| !last.is_complete);
        let ftl = &self.logical.ftl;
        let at = ftl.space.journal_at();
        // Sooner or later the ring blocks of earlier mounts are erased, so a journal page there is
        // copied.
        let in_ring = at != NONE && ftl.ring.has(ftl.space.journal_block(at));
        let mut carried = Carried {
            frames: [None; COPIED_MAX as usize],
            journal: in_ring || unsteady.is_some_and(is_journal),
        };
        if let Some(FoundRecord { tag, place }) = unsteady.filter(|record| !is_journal(*record)) {
            // Pages of a transaction that was not committed do not count.
            if ftl.space.blocks().is_live(place) {
                carried.add(Copied {
                    kind: tag.kind,
                    logical: tag.logical,
                    from: place,
                    named: place,
                })?;
            }
        }
        let fpb = ftl.layout.frames_per_block;
        // Copies of earlier mounts lie in ring blocks, which are erased sooner or later.
        for block in ftl.ring.all() {
            let end = (block + 1) * fpb;
            let mut next = self.logical.ftl.space.blocks().first_live(block);
            while let Some(frame) = next {
                let (kind, logical) = self.owner(frame)?;
                carried.add(Copied { kind, logical, from: frame, named: frame })?;
                next = self
                    .logical
                    .ftl
                    .space
                    .blocks()
                    .live_from(frame + 1)
                    .filter(|&frame| frame < end);
            }
        }
        Ok(carried)
    }

    /// Returns the kind of a frame in the ring, and the number of its logical page or leaf. Both
    /// are read from a tag of the frame. If all of its pages are lost, both are searched in the
    /// map.
    fn owner(&mut self, frame: Frame) -> Result<(TagKind, u32), Error> {
        let ftl = &mut self.logical.ftl;
        let first = ftl.layout.frame_page(frame);
        for page in first..first + u32::from(ftl.layout.config.pages_per_logical_page) {
            if let Some(tag) = ftl.pages.read_tagged_in(
                UNSTEADY_TRIES,
                page,
                TagKinds::DATA.and(TagKinds::LEAF),
            )? {
                return Ok((tag.kind, tag.logical));
            }
        }
        if let Some((leaf, _)) = ftl.map.leaves().find(|&(_, at)| at == frame) {
            return Ok((TagKind::Leaf, leaf));
        }
        for logical in 0..ftl.layout.logical_count {
            match self.logical.frame_of(logical) {
                Ok(found) if found == frame => return Ok((TagKind::Data, logical)),
                // A lost leaf must not end the search.
                Ok(_) | Err(Error::Corrupt) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Corrupt)
    }

    /// Programs a root, then the frames and the journal page that it names, and then the copies of
    /// the root. All of them lie in one ring block.
    fn program_settled(&mut self, number: u32, carried: &mut Carried) -> Result<(), Error> {
        let ftl = &mut self.logical.ftl;
        let (unit, fpb) =
            (u32::from(ftl.layout.config.pages_per_logical_page), ftl.layout.frames_per_block);
        let block = ftl.ring.current();
        let first = block * fpb + ftl.layout.copied_page() / unit;
        // The root names the copied frames, so the map gets them before the root is composed.
        for (copied, to) in carried.frames.iter_mut().flatten().zip(first..) {
            ftl.name_copy(copied, to)?;
        }
        let behind =
            ftl.layout.frame_page(first) + carried.frames.iter().flatten().count() as u32 * unit;
        if carried.journal {
            let places =
                ftl.space.capacity(HeadIndex::JOURNAL) / ftl.layout.geometry.pages_per_block;
            ftl.space.move_journal(behind * places);
        }
        ftl.in_ring(|roots, said, _| roots.program(number, said))?;
        // The copied frames lie behind the root, in the same ring block. So one erase removes both.
        for (copied, to) in carried.frames.iter().flatten().zip(first..) {
            ftl.ring.go_to(ftl.layout.frame_page(to), &ftl.layout);
            ftl.copy_into_ring(copied)?;
        }
        if carried.journal {
            ftl.ring.go_to(behind, &ftl.layout);
            self.copy_journal_into_ring()?;
        }
        // The seals come last: they prove that the root and everything before them is complete.
        self.logical.ftl.in_ring(|roots, said, _| roots.program_copies(number, said))
    }

    /// Moves copied frames out of the ring if they fill the ring block. The next mount can copy
    /// only this number of frames and the last record. Without these moves, power cuts in a row
    /// would make the frames too many.
    fn empty_ring(&mut self) -> Result<(), Error> {
        let block: BlockIndex = self.logical.ftl.ring.current();
        // The next mount can still copy everything.
        if self.logical.ftl.space.blocks().live(block) < COPIED_MAX {
            return Ok(());
        }
        self.begin()?;
        self.reclaim.take(block);
        while let Some(frame) = self.logical.ftl.space.blocks().first_live(block) {
            // The overlay has an entry for each of these frames already, so no leaf is written
            // back. A written leaf would be one frame too many for the next mount.
            self.logical.move_known_frame(frame)?;
        }
        self.reclaim.take(NONE);
        Ok(())
    }
}

impl Carried {
    fn add(&mut self, copied: Copied) -> Result<(), Error> {
        if self.frames.iter().flatten().any(|other| other.from == copied.from) {
            return Ok(());
        }
        let free = self.frames.iter_mut().find(|place| place.is_none()).ok_or(Error::Corrupt)?;
        *free = Some(copied);
        Ok(())
    }
}
