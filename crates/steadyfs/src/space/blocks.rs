//! The table of blocks in RAM: state, wear, and live frames of each block.

use crate::config::Layout;
use core::num::NonZero;

/// State of a block. The numbers are part of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// The block is never used again.
    Bad = 0,
    /// The block holds a superblock or roots.
    Reserved = 1,
    /// Contains nothing that a recovery needs. The next root may list the block.
    Free = 2,
    /// The newest root lists the block: it may be erased and then allocated before the next root.
    Listed = 3,
    /// Like `Listed`, but erased since the mount.
    Erased = 4,
    /// In quarantine: no frame in it is live, but a recovery from the last root may need its
    /// contents.
    Dead = 5,
    /// Full, or closed before it was full. It holds live frames or the newest journal page.
    Used = 6,
    /// A head programs it.
    Active = 7,
    /// Like `Used`, but a program failed in it. The first root that is written after the block has
    /// become empty marks it as bad.
    Retiring = 8,
    /// Like `Free`, but already erased.
    Clean = 9,
    /// Like `Used`, but a page in it needed so many corrections that the frames of the block must
    /// move.
    Weak = 10,
}

impl State {
    fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Reserved,
            2 => Self::Free,
            3 => Self::Listed,
            4 => Self::Erased,
            5 => Self::Dead,
            6 => Self::Used,
            7 => Self::Active,
            8 => Self::Retiring,
            9 => Self::Clean,
            10 => Self::Weak,
            _ => Self::Bad,
        }
    }
}

/// States of unused blocks that no root has listed.
pub(crate) const UNUSED: [State; 2] = [State::Free, State::Clean];

/// Number of states.
const STATES: usize = 11;

/// The criterion for a choice among the blocks in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockChoice {
    LeastWorn,
    /// The most worn block whose wear is *in line*: at most the mean wear, plus a sixteenth of the
    /// mean, plus one erase. A block with more wear is chosen only if no block is in line. Its wear
    /// would grow without limit, because data at rest does not stay in a block for ever.
    MostWorn,
    /// The least worn block with live frames.
    LeastWornInUse,
    /// The block with the fewest live frames, but at least one live frame. Among equal blocks, it
    /// is the least worn one. Each erase above the wear in line counts as two more live frames.
    /// With these additions, a block counts as having at most the given number of live frames.
    Emptiest(u32),
}

/// The table of blocks.
pub(crate) struct Blocks<'m> {
    live: &'m mut [u8],
    wear: &'m mut [u8],
    state: &'m mut [u8],
    /// Not zero, so that a division needs no check.
    frames_per_block: NonZero<u32>,
    bitmap_bytes: usize,
    count: [u32; STATES],
    /// Number of erases that were subtracted from the wear of all blocks, so that wear fits in a
    /// byte.
    pub wear_base: u32,
    /// Number of live frames on the whole medium. Superseded frames are included until their leaf
    /// is written back.
    live_total: u32,
    /// Sum of the wear of all blocks.
    wear_total: u32,
}

impl<'m> Blocks<'m> {
    /// Creates the table from zeroed bytes: every block is bad, and no frame is live.
    pub fn new(
        live: &'m mut [u8],
        wear: &'m mut [u8],
        state: &'m mut [u8],
        layout: &Layout,
    ) -> Self {
        let mut blocks = Self {
            live,
            wear,
            state,
            frames_per_block: NonZero::new(layout.frames_per_block).unwrap_or(NonZero::<u32>::MIN),
            bitmap_bytes: layout.bitmap_bytes() as usize,
            count: [0; STATES],
            wear_base: 0,
            live_total: 0,
            wear_total: 0,
        };
        blocks.recount();
        blocks
    }

    pub fn frames_per_block(&self) -> u32 {
        self.frames_per_block.get()
    }

    pub fn block_count(&self) -> u32 {
        self.wear.len() as u32
    }

    pub fn state(&self, block: u32) -> State {
        State::from_number(self.number(block))
    }

    /// Returns the number of a block's state.
    #[inline(always)]
    fn number(&self, block: u32) -> u8 {
        self.state[block as usize / 2] >> (block % 2 * 4) & 0xF
    }

    /// Returns the blocks whose state is one of `states`. The states form a set of bits, so one
    /// comparison per block is enough. The search ends with the last such block, because there may
    /// be thousands of other blocks.
    fn blocks_in(&self, states: &[State]) -> impl Iterator<Item = u32> {
        let set = states.iter().fold(0_u32, |set, &state| set | 1 << state as u32);
        let count: u32 = states.iter().map(|&state| self.count(state)).sum();
        (0..self.block_count())
            .filter(move |&block| set >> self.number(block) & 1 != 0)
            .take(count as usize)
    }

    pub fn set_state(&mut self, block: u32, state: State) {
        self.count[self.state(block) as usize] -= 1;
        self.count[state as usize] += 1;
        let byte = &mut self.state[block as usize / 2];
        let shift = block % 2 * 4;
        *byte = *byte & !(0xF << shift) | (state as u8) << shift;
    }

    /// Returns the number of blocks in a state.
    pub fn count(&self, state: State) -> u32 {
        self.count[state as usize]
    }

    /// Counts states and wear again after the tables were read from a root.
    pub fn recount(&mut self) {
        self.count_wear();
        self.count = [0; STATES];
        for block in 0..self.block_count() {
            self.count[self.state(block) as usize] += 1;
        }
    }

    /// Marks all frames as live that some entries of the map name. Entries have `width` bytes, 2
    /// or 4. Returns `false` if one of these frames does not exist or is live already. The frames
    /// count only after [`count_live`](Self::count_live).
    pub fn claim(&mut self, entries: &[u8], width: u32) -> bool {
        // A loop for each width: a volume may have tens of thousands of entries.
        if width == 2 {
            let frames = entries.as_chunks().0.iter().map(|&entry| u16::from_le_bytes(entry));
            self.claim_each(frames.filter(|&frame| frame != 0 && frame != u16::MAX).map(u32::from))
        } else {
            let frames = entries.as_chunks().0.iter().map(|&entry| u32::from_le_bytes(entry));
            self.claim_each(frames.filter(|&frame| frame != 0 && frame != u32::MAX))
        }
    }

    /// Marks frames as live. The loop uses few local variables, so that they stay in registers.
    #[inline(always)]
    fn claim_each(&mut self, frames: impl Iterator<Item = u32>) -> bool {
        let (frames_per_block, bitmap_bytes) = (self.frames_per_block, self.bitmap_bytes);
        let mut faults = 0;
        for frame in frames {
            let (index, bit) = place(frame, frames_per_block, bitmap_bytes);
            match self.live.get_mut(index) {
                Some(byte) => {
                    faults |= *byte & bit;
                    *byte |= bit;
                }
                None => faults = u8::MAX,
            }
        }
        faults == 0
    }

    /// Counts the live frames of all blocks.
    pub fn count_live(&mut self) {
        self.live_total = (0..self.block_count()).map(|block| self.live(block)).sum();
    }

    /// Sets whether a frame is live. Returns true if this changes the state of the frame.
    pub fn set_live(&mut self, frame: u32, live: bool) -> bool {
        let (byte, bit) = self.place(frame);
        let byte = &mut self.live[byte];
        if (*byte & bit != 0) == live {
            return false;
        }
        *byte ^= bit;
        if live {
            self.live_total += 1
        } else {
            self.live_total -= 1
        }
        true
    }

    #[inline(always)]
    fn place(&self, frame: u32) -> (usize, u8) {
        place(frame, self.frames_per_block, self.bitmap_bytes)
    }

    #[inline(always)]
    fn bitmap(&self, block: u32) -> &[u8] {
        let at = block as usize * self.bitmap_bytes;
        &self.live[at..at + self.bitmap_bytes]
    }

    /// Returns the number of live frames of a block. It counts the bits of four bytes at once: a
    /// processor without a bit-counting instruction needs as long for one byte.
    pub fn live(&self, block: u32) -> u32 {
        let (words, rest) = self.bitmap(block).as_chunks();
        let rest = rest.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let ones = |&word: &[u8; 4]| u32::from_le_bytes(word).count_ones();
        words.iter().map(ones).sum::<u32>() + if rest > 0 { rest.count_ones() } else { 0 }
    }

    /// Returns true if a block has a live frame.
    pub fn has_live(&self, block: u32) -> bool {
        self.bitmap(block).iter().any(|&byte| byte != 0)
    }

    /// Returns the first live frame of a block.
    pub fn first_live(&self, block: u32) -> Option<u32> {
        let index = self.bitmap(block).iter().position(|&byte| byte != 0)?;
        let bit = self.bitmap(block)[index].trailing_zeros();
        Some(block * self.frames_per_block() + index as u32 * 8 + bit)
    }

    /// Returns true if a frame is live.
    pub fn is_live(&self, frame: u32) -> bool {
        let (byte, bit) = self.place(frame);
        self.live[byte] & bit != 0
    }

    /// Returns the first live frame from `frame` on.
    pub fn live_from(&self, frame: u32) -> Option<u32> {
        (frame..self.block_count() * self.frames_per_block()).find(|&frame| self.is_live(frame))
    }

    pub fn live_total(&self) -> u32 {
        self.live_total
    }

    pub fn wear(&self, block: u32) -> u8 {
        self.wear[block as usize]
    }

    /// Counts an erase of a block. Wear is relative: before a wear overflows, the smallest wear is
    /// subtracted from the wear of all blocks.
    pub fn add_wear(&mut self, block: u32) {
        if self.wear[block as usize] == u8::MAX {
            let least = self.wears().min().unwrap_or(0);
            self.wear_base += u32::from(least);
            for wear in self.wear.iter_mut() {
                *wear = wear.saturating_sub(least);
            }
            self.count_wear();
        }
        self.wear[block as usize] = self.wear[block as usize].saturating_add(1);
        self.wear_total += 1;
    }

    fn count_wear(&mut self) {
        self.wear_total = self.wear.iter().map(|&wear| u32::from(wear)).sum();
    }

    /// Returns the mean wear of all blocks.
    pub fn wear_mean(&self) -> u32 {
        self.wear_total / self.block_count()
    }

    /// Returns the largest wear that is in line: see [`BlockChoice::MostWorn`].
    fn wear_in_line(&self) -> u32 {
        self.wear_mean() + self.wear_mean() / 16 + 1
    }

    /// Returns a limit of the live frames of the [emptiest](BlockChoice::Emptiest) block in use, if
    /// this block is a candidate for the choice; `None` if it is no candidate.
    pub fn emptiest_at_most(&self, block: u32) -> Option<u32> {
        if block >= self.block_count() || !matches!(self.state(block), State::Used | State::Weak) {
            return None;
        }
        let live = self.live(block);
        let excess = u32::from(self.wear(block)).saturating_sub(self.wear_in_line());
        (live > 0).then_some(live + 2 * excess)
    }

    /// Returns the block in `state` that `choice` selects. A weak block counts as a used block.
    pub fn choose(&self, state: State, choice: BlockChoice) -> Option<u32> {
        match state {
            State::Used => self.choose_among(&[State::Used, State::Weak], choice),
            _ => self.choose_among(&[state], choice),
        }
    }

    /// Returns the block in one of the states that `choice` selects. Among equal blocks, an erased
    /// block is preferred, and then the block with the lowest number.
    pub fn choose_among(&self, states: &[State], choice: BlockChoice) -> Option<u32> {
        let (mut best, mut least) = (None, u32::MAX);
        let in_line = self.wear_in_line();
        for block in self.blocks_in(states) {
            let mut live = 0;
            if let BlockChoice::Emptiest(_) = choice {
                live = self.live(block);
                // Wear can only increase the key, so a block with this many live frames cannot
                // become the best one. Most blocks have too many.
                if live == 0 || live << 9 > least {
                    continue;
                }
            }
            let (wear, last) =
                (u32::from(self.wear(block)), u32::from(self.number(block) != State::Clean as u8));
            let worn = wear << 1 | last;
            let key = match choice {
                BlockChoice::LeastWorn => worn,
                BlockChoice::MostWorn => {
                    in_line.checked_sub(wear).unwrap_or(wear + u32::from(u8::MAX)) << 1 | last
                }
                // The wear is compared first, so that the live frames of only few blocks are
                // counted.
                BlockChoice::LeastWornInUse if worn >= least || !self.has_live(block) => continue,
                BlockChoice::LeastWornInUse => worn,
                BlockChoice::Emptiest(most) => {
                    live.max((live + 2 * wear.saturating_sub(in_line)).min(most)) << 9 | worn
                }
            };
            if key < least {
                (best, least) = (Some(block), key);
            }
        }
        best
    }

    /// Returns the wear of each block that is part of wear levelling: all blocks that are neither
    /// bad nor reserved.
    pub fn wears(&self) -> impl Iterator<Item = u8> {
        let levelled = |&block: &u32| !matches!(self.state(block), State::Bad | State::Reserved);
        (0..self.block_count()).filter(levelled).map(|block| self.wear(block))
    }

    /// Marks all frames as not live.
    pub fn clear_live(&mut self) {
        self.live.fill(0);
        self.live_total = 0;
    }

    pub fn tables_mut(&mut self) -> [&mut [u8]; 2] {
        [self.wear, self.state]
    }
}

/// Returns the byte and the bit of a frame in the table of live frames.
#[inline(always)]
fn place(frame: u32, frames_per_block: NonZero<u32>, bitmap_bytes: usize) -> (usize, u8) {
    let (block, index) = (frame / frames_per_block, frame % frames_per_block);
    (block as usize * bitmap_bytes + index as usize / 8, 1 << (index % 8))
}
