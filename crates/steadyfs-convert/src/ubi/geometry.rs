//! How large a physical erase block is. No header says it: it is the distance between headers.

use super::Error;
use super::header::{ERASE_MAGIC, EraseHeader, HEADER_BYTES};

/// Distances that are tried at most, from the smallest.
const TRIES_MAX: usize = 64;

/// Headers stand at multiples of this, in bytes.
const ALIGN_BYTES: usize = 64;

/// Finds the size of a physical erase block in bytes.
///
/// A file in a volume may itself be an image of UBI. So a distance counts only when there is a sound header, or erased flash, at nine of ten of its
/// multiples from the front of the image; the smallest one is taken. The others may be bad blocks or ones whose erasure was cut off.
pub(super) fn find(image: &[u8]) -> Result<usize, Error> {
    let mut headers = (0..image.len()).step_by(ALIGN_BYTES).filter(|&at| is_header(&image[at..]));
    let first = headers.next().ok_or(Error::NoUbi)?;
    let mut has_other = false;
    for other in headers.take(TRIES_MAX) {
        has_other = true;
        let bytes = other - first;
        if first.is_multiple_of(bytes) && fits(image, bytes) {
            return Ok(bytes);
        }
    }
    if has_other { Err(Error::NoGeometry) } else { Ok(image.len()) }
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
    right.count() * 10 >= count * 9
}
