//! A range of a chip: reads and writes of whole words in aligned memory, erases of whole sectors,
//! and checks of their results.

use super::error::RangeError;
use super::times::{BUFFER_BYTES, FlashTimes, WORD_BYTES_MAX};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash;
use steadyfs::media::Failure;

/// A range of a chip, whose first byte has address 0.
#[derive(Debug)]
pub(super) struct Window<T: NorFlash> {
    pub flash: T,
    start: u32,
    pub times: FlashTimes,
    pub last_error: Option<T::Error>,
    /// Failure that is returned for an error of a read.
    unread: Failure,
}

/// Memory that the DMA of every HAL can reach. The QSPI driver of embassy-nrf panics if a buffer
/// does not start at a multiple of 4 bytes.
#[repr(align(4))]
struct Aligned<const BYTES: usize>([u8; BYTES]);

/// Returns true if these bytes start at a multiple of the chip's word, or of 4 bytes if the word is
/// larger.
fn is_aligned(data: &[u8], word: usize) -> bool {
    data.as_ptr().addr().is_multiple_of(word.min(align_of::<Aligned<0>>()))
}

/// Returns the number of bytes of one call that goes through a buffer. The call ends at a multiple
/// of the buffer's size at the latest, so a serial chip still programs whole program pages.
fn buffered(address: u32, length: usize) -> usize {
    length.min(BUFFER_BYTES - address as usize % BUFFER_BYTES)
}

/// Checks that the sizes of words and sectors are supported, and that the range fits the chip and
/// its sectors.
pub(super) fn check<T: NorFlash>(flash: &T, range: &Range<u32>) -> Result<(), RangeError> {
    let words = [T::READ_SIZE, T::WRITE_SIZE];
    if words.iter().any(|word| !word.is_power_of_two() || *word > WORD_BYTES_MAX)
        || !T::ERASE_SIZE.is_multiple_of(256)
    {
        return Err(RangeError::Words);
    }
    if range.end < range.start || range.end as usize > flash.capacity() {
        return Err(RangeError::OutOfBounds);
    }
    let is_aligned = |address: u32| (address as usize).is_multiple_of(T::ERASE_SIZE);
    if is_aligned(range.start) && is_aligned(range.end) {
        Ok(())
    } else {
        Err(RangeError::NotSectors)
    }
}

/// Returns the first part of `length` bytes at an address. The result is the number of bytes to
/// skip in the first word, and the number of bytes of one call.
const fn part(address: u32, length: usize, word: usize) -> (usize, usize) {
    let skip = address as usize % word;
    match (skip, length >= word) {
        (0, true) => (0, length - length % word),
        _ if length < word - skip => (skip, length),
        _ => (skip, word - skip),
    }
}

impl<T: NorFlash> Window<T> {
    pub fn new(flash: T, start: u32, times: FlashTimes, unread: Failure) -> Self {
        Self { flash, start, times, last_error: None, unread }
    }

    /// Reads bytes. Incomplete words, and words in memory that is not aligned, go through a buffer.
    pub fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        let (word, mut address, mut rest) = (T::READ_SIZE, self.start + address, data);
        while !rest.is_empty() {
            let (skip, mut length) = part(address, rest.len(), word);
            let is_direct = skip == 0 && length >= word && is_aligned(rest, word);
            if !is_direct {
                length = buffered(address, length);
            }
            let (now, later) = rest.split_at_mut(length);
            let result = if is_direct {
                self.flash.read(address, now)
            } else {
                self.read_buffered(address - skip as u32, skip, now)
            };
            result.map_err(|error| {
                self.last_error = Some(error);
                self.unread
            })?;
            (address, rest) = (address + length as u32, later);
        }
        Ok(())
    }

    /// Reads whole words into a buffer, and copies all but the first `skip` bytes.
    fn read_buffered(
        &mut self,
        address: u32,
        skip: usize,
        data: &mut [u8],
    ) -> Result<(), T::Error> {
        let mut buffer = Aligned([0; BUFFER_BYTES]);
        let end = skip + data.len();
        self.flash.read(address, &mut buffer.0[..end.next_multiple_of(T::READ_SIZE)])?;
        data.copy_from_slice(&buffer.0[skip..end]);
        Ok(())
    }

    /// Writes whole words from a buffer: `skip` bytes of ones, the data, and ones.
    fn write_buffered(&mut self, address: u32, skip: usize, data: &[u8]) -> Result<(), T::Error> {
        let mut buffer = Aligned([0xFF; BUFFER_BYTES]);
        let end = skip + data.len();
        buffer.0[skip..end].copy_from_slice(data);
        self.flash.write(address, &buffer.0[..end.next_multiple_of(T::WRITE_SIZE)])
    }

    /// Writes bytes, fills incomplete words with ones, and reads the bytes back. Uses a buffer as
    /// [`read`](Self::read) does.
    /// `holds(found, wanted)` returns true if the byte `found` is right.
    pub fn write(
        &mut self,
        address: u32,
        data: &[u8],
        holds: fn(u8, u8) -> bool,
    ) -> Result<(), Failure> {
        let (word, mut at, mut rest) = (T::WRITE_SIZE, self.start + address, data);
        let mut result = Ok(());
        while !rest.is_empty() && result.is_ok() {
            let (skip, mut length) = part(at, rest.len(), word);
            let is_direct = skip == 0 && length >= word && is_aligned(rest, word);
            if !is_direct {
                length = buffered(at, length);
            }
            let (now, later) = rest.split_at(length);
            result = if is_direct {
                self.flash.write(at, now)
            } else {
                self.write_buffered(at - skip as u32, skip, now)
            };
            (at, rest) = (at + length as u32, later);
        }
        let is_right = self.compare(address, data.len(), |index, found| holds(found, data[index]));
        self.conclude(result, is_right)
    }

    /// Erases sectors one after the other, and reads them back.
    pub fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Failure> {
        let sector = T::ERASE_SIZE as u32;
        let first = self.start + address;
        let result = (first..first + bytes)
            .step_by(sector as usize)
            .try_for_each(|at| self.flash.erase(at, at + sector));
        let is_blank = self.compare(address, bytes as usize, |_, found| found == 0xFF);
        self.conclude(result, is_blank)
    }

    /// Reads bytes, and returns true if `is_right` accepts all of them.
    fn compare(
        &mut self,
        address: u32,
        bytes: usize,
        is_right: impl Fn(usize, u8) -> bool,
    ) -> Result<bool, Failure> {
        let mut found = Aligned([0; WORD_BYTES_MAX]);
        for done in (0..bytes).step_by(WORD_BYTES_MAX) {
            let length = WORD_BYTES_MAX.min(bytes - done);
            self.read(address + done as u32, &mut found.0[..length])?;
            if !found.0[..length]
                .iter()
                .enumerate()
                .all(|(index, byte)| is_right(done + index, *byte))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the result of an operation. The error is `BadBlock` if the bytes differ, or if they
    /// are uncorrectable after an operation that succeeded. All other failures become `Device`.
    fn conclude(
        &mut self,
        result: Result<(), T::Error>,
        is_right: Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let is_told = result.is_err();
        if let Err(error) = result {
            self.last_error = Some(error);
        }
        match (is_told, is_right) {
            (false, Ok(true)) => Ok(()),
            (_, Ok(false)) | (false, Err(Failure::Uncorrectable)) => Err(Failure::BadBlock),
            _ => Err(Failure::Device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{buffered, part};

    #[test]
    fn parts_are_whole_words_or_lie_within_one() {
        assert_eq!(part(8, 20, 8), (0, 16));
        assert_eq!(part(24, 4, 8), (0, 4));
        assert_eq!(part(13, 20, 8), (5, 3));
        assert_eq!(part(13, 2, 8), (5, 2));
        assert_eq!(part(7, 9, 1), (0, 9));
    }

    #[test]
    fn buffered_calls_end_at_program_pages() {
        assert_eq!(buffered(0, 4096), 256);
        assert_eq!(buffered(0x140, 4096), 192);
        assert_eq!(buffered(0x1FC, 4), 4);
        assert_eq!(buffered(0x100, 16), 16);
    }
}
