//! The size of a physical erase block. No header contains this size, but it equals the distance
//! between headers.

use super::Error;
use super::header::{ERASE_MAGIC, EraseHeader, HEADER_BYTES};
use std::collections::BTreeSet;

/// Maximum number of distances that are tried, from the smallest.
const TRIES_MAX: usize = 64;

/// The offset of a header is a multiple of this number of bytes.
const ALIGN_BYTES: usize = 64;

/// Finds the size of a physical erase block in bytes.
///
/// A file in a volume may itself be an image of UBI, and a block may be bad. So each distance
/// between two consecutive headers is tried, from the smallest on. A distance is accepted if nine
/// of ten of its multiples, from the start of the image, have an intact header or erased flash. One
/// more block may be damaged, which matters in small images.
pub(super) fn find(image: &[u8]) -> Result<usize, Error> {
    let headers = (0..image.len()).step_by(ALIGN_BYTES).filter(|&at| is_header(&image[at..]));
    let (mut first, mut last, mut distances) = (None, None, BTreeSet::new());
    for at in headers {
        first.get_or_insert(at);
        distances.extend(last.replace(at).map(|before| at - before));
        if distances.len() > TRIES_MAX {
            distances.pop_last();
        }
    }
    let first: usize = first.ok_or(Error::NoUbi)?;
    if distances.is_empty() {
        return Ok(image.len());
    }
    let fit =
        distances.into_iter().find(|&bytes| first.is_multiple_of(bytes) && fits(image, bytes));
    fit.ok_or(Error::NoGeometry)
}

/// Returns true if the image contains an intact header.
pub(super) fn has_header(image: &[u8]) -> bool {
    (0..image.len()).step_by(ALIGN_BYTES).any(|at| is_header(&image[at..]))
}

/// Returns true if the image has intact headers at equal distances. The first header may be
/// missing.
pub(super) fn has_blocks(image: &[u8]) -> bool {
    // With a single header, the block would be as large as the image. This is not accepted.
    find(image).is_ok_and(|block_bytes| block_bytes < image.len())
}

fn is_header(bytes: &[u8]) -> bool {
    bytes.starts_with(ERASE_MAGIC) && EraseHeader::parse(bytes).is_some()
}

fn fits(image: &[u8], block_bytes: usize) -> bool {
    let count = image.len().div_ceil(block_bytes);
    let right = image.chunks(block_bytes).filter(|block| {
        let is_erased = block.iter().take(HEADER_BYTES).all(|&byte| byte == 0xff);
        is_erased || is_header(block)
    });
    (right.count() + 1) * 10 >= count * 9
}
