//! The largest number of changes that a call makes, without reclamation.

use crate::journal::RecordsAhead;

/// Largest size of a patch in bytes, for each size class except the last.
const CLASSES: [u32; 3] = [4, 16, 64];

/// The largest number of changes that a call makes, without reclamation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// Number of logical pages that the call writes as frames.
    pub frames: u32,
    /// The small changes.
    pub patches: Patches,
    /// Number of logical pages that the patches change.
    pub pages: u32,
    /// Number of logical pages that the call discards.
    pub discards: u32,
    /// Number of journal pages that the call's commits program.
    pub commits: u32,
    /// Number of pages with patches in the journal buffer that the call writes as a whole before its
    /// last records, without making room for these records first.
    pub early_writes: u32,
}

/// The number of patches in each size class, and their sizes without headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patches {
    /// Number of patches in each size class.
    counts: [u16; CLASSES.len() + 1],
    /// Size of all patches together, in bytes.
    bytes: u32,
    /// Size of the longest patch in bytes.
    longest: u32,
}

impl Work {
    /// No changes.
    pub(crate) const NONE: Self = Self::patched(&[], 0);
    /// One logical page that is written.
    pub(crate) const PAGE: Self = Self { frames: 1, ..Self::NONE };
    /// One commit.
    pub(crate) const COMMIT: Self = Self { commits: 1, ..Self::NONE };

    /// Largest factor for [`times`](Self::times). With it, the numbers of patches do not overflow.
    pub(crate) const MANY: u32 = 1 << 10;

    /// Returns the work of one patch for each length in bytes. The patches change `pages` pages.
    pub(crate) const fn patched(lengths: &[u32], pages: u32) -> Self {
        let mut patches = Patches { counts: [0; CLASSES.len() + 1], bytes: 0, longest: 0 };
        let mut index = 0;
        while index < lengths.len() {
            let (length, mut class) = (lengths[index], 0);
            while class < CLASSES.len() && length > CLASSES[class] {
                class += 1;
            }
            patches.counts[class] += 1;
            patches.bytes += length;
            patches.longest = if patches.longest > length { patches.longest } else { length };
            index += 1;
        }
        Self { frames: 0, patches, pages, discards: 0, commits: 0, early_writes: 0 }
    }

    /// Returns the sum of two pieces of work.
    pub(crate) const fn plus(&self, other: &Self) -> Self {
        let (one, two) = (self.patches, other.patches);
        let mut counts = one.counts;
        let mut class = 0;
        while class < counts.len() {
            counts[class] += two.counts[class];
            class += 1;
        }
        let longest = if one.longest > two.longest { one.longest } else { two.longest };
        Self {
            frames: self.frames + other.frames,
            patches: Patches { counts, bytes: one.bytes + two.bytes, longest },
            pages: self.pages + other.pages,
            discards: self.discards + other.discards,
            commits: self.commits + other.commits,
            // One call ends before the next one begins.
            early_writes: if self.early_writes > other.early_writes {
                self.early_writes
            } else {
                other.early_writes
            },
        }
    }

    /// Returns this work repeated `count` times. `count` is at most [`MANY`](Self::MANY).
    pub fn times(&self, count: u32) -> Self {
        let patches = self.patches;
        Self {
            frames: self.frames * count,
            patches: Patches {
                counts: patches.counts.map(|each| each * count as u16),
                bytes: patches.bytes * count,
                ..patches
            },
            pages: self.pages * count,
            discards: self.discards * count,
            commits: self.commits * count,
            early_writes: self.early_writes,
        }
    }

    /// Returns the number of records that this work adds to the journal buffer: one for each patch,
    /// and one for each discarded page.
    pub fn records(&self) -> u32 {
        self.patches.counts.iter().map(|&count| u32::from(count)).sum::<u32>() + self.discards
    }

    /// Returns these records, for the journal buffer.
    pub fn ahead(&self) -> RecordsAhead {
        RecordsAhead { count: self.records(), bytes: self.patches.bytes }
    }

    /// Returns the size of these records in bytes. Each record has a header of `header` bytes.
    pub fn bytes(&self, header: u32) -> u32 {
        self.patches.bytes + self.records() * header
    }

    /// Returns the number of patches that may be longer than `bytes` bytes, without their headers.
    pub fn longer_than(&self, bytes: u32) -> u32 {
        let most = CLASSES.into_iter().chain([self.patches.longest]);
        self.patches
            .counts
            .iter()
            .zip(most)
            .filter(|&(_, most)| most > bytes)
            .map(|(&count, _)| u32::from(count))
            .sum()
    }

    /// Returns the least possible size of `count` patches in bytes. Each of them is longer than
    /// `bytes` bytes, and has a header of `header` bytes.
    pub fn shortest(&self, count: u32, bytes: u32, header: u32) -> u32 {
        let Patches { counts, longest, .. } = self.patches;
        let (mut left, mut sum, mut least) = (count, 0, 0);
        for (class, most) in CLASSES.into_iter().chain([longest]).enumerate() {
            if most > bytes {
                let here = u32::from(counts[class]).min(left);
                let has_longest =
                    here > 0 && here == u32::from(counts[class]) && class == CLASSES.len();
                sum += here * (header + least.max(bytes + 1))
                    + if has_longest { longest - least.max(bytes + 1) } else { 0 };
                left -= here;
            }
            least = most + 1;
        }
        sum
    }

    /// Returns the largest number of records that may find no room, if there is room for `room`
    /// bytes and each record has a header of `header` bytes. In the worst case the longest records
    /// take the room, and the shortest records find none.
    pub fn left_out(&self, room: u32, header: u32) -> u32 {
        let least = [0].into_iter().chain(CLASSES.map(|most| most + 1));
        let patches = self
            .patches
            .counts
            .into_iter()
            .zip(least)
            .map(|(count, least)| (u32::from(count), header + least));
        let (mut left_out, mut rest) = (0, self.bytes(header));
        for (count, bytes) in [(self.discards, header)].into_iter().chain(patches) {
            let here = rest.saturating_sub(room).div_ceil(bytes).min(count);
            left_out += here;
            rest -= here * bytes;
        }
        left_out
    }

    /// Returns the largest number of pages that are written out of the journal buffer, for any
    /// content of the buffer.
    pub fn flushes_of_any(&self) -> u32 {
        if self.records() == 0 { 0 } else { self.pages + self.records() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_find_no_room_are_the_shortest() {
        let work = Work { discards: 3, ..Work::patched(&[1, 1, 12, 144], 4) };
        assert_eq!((work.records(), work.bytes(5)), (7, 158 + 35));
        assert_eq!(
            [0, 4, 11, 12, 143, 144].map(|bytes| work.longer_than(bytes)),
            [4, 2, 2, 2, 1, 0]
        );
        let shortest =
            [(4, 0), (2, 4), (1, 4), (1, 70)].map(|(count, bytes)| work.shortest(count, bytes, 5));
        assert_eq!(shortest, [1 + 1 + 5 + 144 + 20, 5 + 144 + 10, 10, 149]);
        assert_eq!(work.left_out(193, 5), 0);
        assert_eq!([192, 178, 177, 160].map(|room| work.left_out(room, 5)), [1, 3, 4, 6]);
        assert_eq!(work.left_out(0, 5), 7);
    }

    #[test]
    fn works_one_after_the_other_have_the_patches_of_both() {
        let one = Work { frames: 1, ..Work::patched(&[4, 5], 2) };
        let both = one.plus(&Work { discards: 2, ..Work::patched(&[65], 1) }).plus(&Work::COMMIT);
        assert_eq!(
            both,
            Work { frames: 1, discards: 2, commits: 1, ..Work::patched(&[65, 5, 4], 3) }
        );
        assert_eq!((Work::NONE.flushes_of_any(), both.flushes_of_any()), (0, 9));
    }
}
