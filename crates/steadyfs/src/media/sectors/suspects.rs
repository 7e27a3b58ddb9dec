//! Finds sectors that cannot be written any more, if the driver cannot report them.
//!
//! A failure of a write may be temporary: bad wires, a dip of the supply, a card that is pulled. So
//! the first failure is returned unchanged. If the device then writes other sectors, and fails at
//! the same sectors again, their block is bad. A driver that returns [`Failure::BadBlock`] itself
//! does not need this module.

use super::device::{SECTOR_BYTES, SectorDevice};
use crate::media::Failure;

/// Number of failures that are stored.
const KNOWN: usize = 4;

/// Sectors of a failed write.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    first: u32,
    /// Number of sectors; 0 if the entry is empty.
    count: u32,
    /// True if the device has written other sectors since.
    works_elsewhere: bool,
}

/// The newest failed writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspects {
    suspects: [Suspect; KNOWN],
    next: u8,
}

impl Suspects {
    pub const NONE: Self =
        Self { suspects: [Suspect { first: 0, count: 0, works_elsewhere: false }; KNOWN], next: 0 };

    /// Writes sectors.
    ///
    /// # Errors
    /// The errors of the device. A second [`Failure::Device`] at the same sectors becomes
    /// [`Failure::BadBlock`], if the device has written other sectors in between.
    pub fn write<D: SectorDevice>(
        &mut self,
        device: &mut D,
        first: u32,
        parts: &[&[u8]],
    ) -> Result<(), Failure> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        self.judge(first, (bytes / SECTOR_BYTES) as u32, device.write(first, parts))
    }

    /// Stores the result of a write. Returns the result, or [`Failure::BadBlock`] instead if the
    /// failure shows that the block is bad.
    fn judge(
        &mut self,
        first: u32,
        count: u32,
        result: Result<(), Failure>,
    ) -> Result<(), Failure> {
        let end = first + count;
        let mut of = self
            .suspects
            .iter_mut()
            .filter(|suspect| suspect.first < end && first < suspect.first + suspect.count);
        match result {
            Err(Failure::Device) => match of.next() {
                Some(suspect) if suspect.works_elsewhere => {
                    suspect.count = 0;
                    return Err(Failure::BadBlock);
                }
                Some(_) => {}
                None => {
                    self.suspects[usize::from(self.next)] =
                        Suspect { first, count, works_elsewhere: false };
                    self.next = (self.next + 1) % KNOWN as u8;
                }
            },
            Ok(()) => {
                for suspect in &mut self.suspects {
                    if first <= suspect.first && suspect.first + suspect.count <= end {
                        suspect.count = 0;
                    }
                    // The device answers, so the fault may lie in the failed sectors.
                    suspect.works_elsewhere |=
                        end <= suspect.first || suspect.first + suspect.count <= first;
                }
            }
            Err(_) => {}
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILS: Result<(), Failure> = Err(Failure::Device);

    #[test]
    fn a_second_failure_while_others_are_written_is_a_bad_block() {
        let mut suspects = Suspects::NONE;
        assert_eq!(suspects.judge(10, 9, FAILS), FAILS);
        assert_eq!(suspects.judge(10, 9, FAILS), FAILS, "the device may be gone");
        assert_eq!(suspects.judge(100, 1, Ok(())), Ok(()));
        assert_eq!(suspects.judge(1, 9, FAILS), FAILS, "other sectors");
        assert_eq!(suspects.judge(18, 20, FAILS), Err(Failure::BadBlock));
    }

    #[test]
    fn sectors_that_are_written_after_all_are_none_of_it() {
        let mut suspects = Suspects::NONE;
        assert_eq!(suspects.judge(10, 9, FAILS), FAILS);
        assert_eq!(suspects.judge(10, 4, Ok(())), Ok(()), "not all of them");
        assert_eq!(suspects.judge(30, 4, Ok(())), Ok(()));
        assert_eq!(suspects.judge(9, 12, Ok(())), Ok(()));
        assert_eq!(suspects.judge(10, 9, FAILS), FAILS);
        assert_eq!(
            suspects.judge(10, 9, Err(Failure::WriteProtected)),
            Err(Failure::WriteProtected)
        );
    }

    #[test]
    fn the_last_failures_are_remembered() {
        let mut suspects = Suspects::NONE;
        (0..5).for_each(|index| _ = suspects.judge(10 * index, 5, FAILS));
        suspects.judge(200, 1, Ok(())).unwrap();
        assert_eq!(suspects.judge(0, 5, FAILS), FAILS, "five are one too many");
        assert_eq!(suspects.judge(40, 5, FAILS), Err(Failure::BadBlock));
    }
}
