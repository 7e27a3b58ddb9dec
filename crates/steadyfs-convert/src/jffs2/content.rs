//! The content of an inode, from its parts.

use super::node::InodeNode;
use super::unpack::{self, Fault};
use std::collections::BTreeMap;

/// A node whose content is not available, and the reason.
pub(super) struct BadNode {
    pub at: usize,
    pub expected_bytes: u32,
    pub fault: Fault,
}

/// Returns the newest part of an inode, which contains its mode, owner, time and size. If two parts
/// have the same version, the later part in the image is used.
pub(super) fn newest<'a, 'n>(parts: &'n [InodeNode<'a>]) -> Option<&'n InodeNode<'a>> {
    parts.iter().max_by_key(|part| part.version)
}

/// Unpacks the content of one node.
///
/// # Errors
/// [`BadNode`] if the content cannot be unpacked.
pub(super) fn unpack(part: &InodeNode<'_>) -> Result<Vec<u8>, BadNode> {
    unpack::unpack(part).map_err(|fault| BadNode {
        at: part.at,
        expected_bytes: part.unpacked_bytes,
        fault,
    })
}

/// Makes the bytes of a file. Each byte comes from the newest part that contains it. A byte that no
/// part contains is zero. The caller has checked that `size_bytes` is within its limit.
///
/// The function processes the parts from the newest to the oldest. It unpacks a part only if some
/// of its bytes are not covered by newer parts. So the work is bounded even if many parts contain
/// the same bytes.
///
/// # Errors
/// [`BadNode`] if a part with visible bytes cannot be unpacked.
pub(super) fn assemble(parts: &[InodeNode<'_>], size_bytes: u32) -> Result<Vec<u8>, BadNode> {
    let mut by_age: Vec<(usize, &InodeNode<'_>)> = parts.iter().enumerate().collect();
    by_age.sort_by_key(|&(index, part)| std::cmp::Reverse((part.version, index)));
    let mut bytes = vec![0; size_bytes as usize];
    let mut covered = Covered::default();
    for (_, part) in by_age {
        let end = u64::from(part.offset) + u64::from(part.unpacked_bytes);
        let gaps = covered.cover(part.offset, end.min(u64::from(size_bytes)) as u32);
        if gaps.is_empty() || unpack::is_hole(part) {
            continue;
        }
        let content = unpack(part)?;
        for (from, to) in gaps {
            let within = (from - part.offset) as usize..(to - part.offset) as usize;
            bytes[from as usize..to as usize].copy_from_slice(&content[within]);
        }
    }
    Ok(bytes)
}

/// Ranges of a file that newer parts cover. The map contains the end of each range by its start.
/// Two ranges never touch.
#[derive(Default)]
struct Covered(BTreeMap<u32, u32>);

impl Covered {
    /// Marks a range as covered. Returns the parts of the range that were not covered before.
    fn cover(&mut self, from: u32, to: u32) -> Vec<(u32, u32)> {
        if from >= to {
            return Vec::new();
        }
        let mut whole = (from, to);
        let mut touched = Vec::new();
        // The ranges do not touch. So the search goes backwards from the last range that begins at
        // or before `to`, and stops at the first range that ends before `from`.
        for (&begin, &end) in self.0.range(..=to).rev() {
            if end < from {
                break;
            }
            touched.push((begin, end));
        }
        let (mut gaps, mut at) = (Vec::new(), from);
        for &(begin, end) in touched.iter().rev() {
            if begin > at {
                gaps.push((at, begin));
            }
            at = at.max(end);
            whole = (whole.0.min(begin), whole.1.max(end));
            self.0.remove(&begin);
        }
        if at < to {
            gaps.push((at, to));
        }
        self.0.insert(whole.0, whole.1);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_settled_once() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let (mut covered, mut seen) = (Covered::default(), [false; 100]);
            for _ in 0..40 {
                let (from, to) = (random.u32(0..100), random.u32(0..=100));
                let mut new = [false; 100];
                for (begin, end) in covered.cover(from, to) {
                    new[begin as usize..end as usize].fill(true);
                }
                for at in 0..100 {
                    let is_asked = (from as usize..to as usize).contains(&at);
                    assert_eq!(new[at], is_asked && !seen[at]);
                    seen[at] |= is_asked;
                }
            }
        }
    }
}
