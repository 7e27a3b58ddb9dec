//! Sectors in a list of buffers. A buffer may begin and end at any byte of a sector.

use steadyfs::media::sectors::SECTOR_BYTES;

/// Returns the total number of bytes of all parts.
pub(crate) fn bytes<T: AsRef<[u8]>>(parts: &[T]) -> usize {
    parts.iter().map(|part| part.as_ref().len()).sum()
}

/// Returns the range of a part that belongs to the wanted bytes. It skips `skip` bytes, then
/// contains up to `left` bytes. The call subtracts the bytes of this part from both counters.
fn cut(length: usize, skip: &mut usize, left: &mut usize) -> core::ops::Range<usize> {
    let from = length.min(*skip);
    let taken = (length - from).min(*left);
    (*skip, *left) = (*skip - from, *left - taken);
    from..from + taken
}

/// Iterates over the pieces of sector `index` in consecutive parts.
pub(crate) fn sector<'p>(parts: &'p [&'p [u8]], index: usize) -> impl Iterator<Item = &'p [u8]> {
    let (mut skip, mut left) = (index * SECTOR_BYTES, SECTOR_BYTES);
    parts
        .iter()
        .map(move |part| &part[cut(part.len(), &mut skip, &mut left)])
        .filter(|piece| !piece.is_empty())
}

/// Like `sector`, with mutable pieces.
pub(crate) fn sector_mut<'p>(
    parts: &'p mut [&mut [u8]],
    index: usize,
) -> impl Iterator<Item = &'p mut [u8]> {
    let (mut skip, mut left) = (index * SECTOR_BYTES, SECTOR_BYTES);
    let piece = move |part: &'p mut &mut [u8]| {
        let range = cut(part.len(), &mut skip, &mut left);
        &mut part[range]
    };
    parts.iter_mut().map(piece).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn sectors_are_found_in_parts_of_any_length() {
        let data: Vec<u8> = (0..1536).map(|byte| (byte % 251) as u8).collect();
        for (first, second) in
            [(0, 512), (100, 612), (512, 512), (512, 1024), (700, 900), (0, 1536), (1024, 1100)]
        {
            let parts = [&data[..first], &data[first..second], &data[second..]];
            for index in 0..3 {
                assert_eq!(
                    sector(&parts, index).collect::<Vec<_>>().concat(),
                    data[index * 512..][..512]
                );
            }
            let mut copy = data.clone();
            let (begin, rest) = copy.split_at_mut(first);
            let (middle, end) = rest.split_at_mut(second - first);
            sector_mut(&mut [begin, middle, end], 1).for_each(|piece| piece.fill(0));
            assert!(copy[512..1024].iter().all(|byte| *byte == 0));
            assert_eq!((&copy[..512], &copy[1024..]), (&data[..512], &data[1024..]));
        }
    }
}
