//! Listings of directories, from any offset.
//!
//! An offset is the volume's [`Cursor`]. It remains valid if entries are created and removed
//! between two reads. So an open directory needs no state. The cursor is packed into 55 bits
//! because the kernel's offsets are signed:
//!
//! ```text
//! 0: "."     1: ".."     2 + (place in the order of hashes << 22 | inode)
//! ```

use super::nodes::{number_of, type_of};
use super::{Node, Volume};
use crate::errno::errno;
use fuser::{Errno, FileType, INodeNo};
use steadyfs::media::Flash;
use steadyfs::{Cursor, Stat};

/// The offset of the first name.
const FIRST_NAME: u64 = 2;
/// Number of bits for the number of an inode. A volume has at most 1,048,592 inodes.
const NUMBER_BITS: u32 = 22;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

/// An entry of a directory.
pub(crate) struct Listed<'n> {
    pub number: INodeNo,
    pub kind: FileType,
    pub name: &'n str,
    /// Offset of the next entry.
    pub next: u64,
    /// Node of the entry, if the caller wants nodes. For `.` and `..` the kernel uses only the
    /// numbers.
    pub node: Option<Node>,
}

fn offset_of(cursor: Cursor) -> u64 {
    let bits = cursor.to_bits();
    FIRST_NAME + ((bits >> 32) << NUMBER_BITS | (bits & 0xFFFF_FFFF).min(NUMBER_MASK))
}

fn cursor_at(offset: u64) -> Cursor {
    let bits = offset - FIRST_NAME;
    Cursor::from_bits((bits >> NUMBER_BITS) << 32 | bits & NUMBER_MASK)
}

impl<F: Flash> Volume<'_, '_, F> {
    /// Lists a directory from `offset` on, until `add` returns true because its buffer is full. If
    /// `with_nodes` is true, each entry contains its node.
    pub fn list(
        &mut self,
        directory: INodeNo,
        offset: u64,
        with_nodes: bool,
        mut add: impl FnMut(&Listed<'_>) -> bool,
    ) -> Result<(), Errno> {
        let directory = self.stat_of(directory)?;
        for (dot, name) in [".", ".."].iter().enumerate().skip(offset as usize) {
            let stat =
                if dot == 0 { directory } else { self.stat_of(number_of(directory.parent))? };
            if self.add_entry(&stat, name, dot as u64 + 1, with_nodes, &mut add)? {
                return Ok(());
            }
        }
        let mut cursor = cursor_at(offset.max(FIRST_NAME));
        while let Some(entry) =
            self.changes.fs().list(directory.inode, &mut cursor).map_err(errno)?
        {
            if !is_listable(entry.name()) {
                continue;
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.named(
                    number_of(directory.inode),
                    entry.name().as_bytes(),
                    number_of(entry.stat.inode),
                );
            }
            if self.add_entry(&entry.stat, entry.name(), offset_of(cursor), with_nodes, &mut add)? {
                break;
            }
        }
        Ok(())
    }

    fn add_entry(
        &mut self,
        stat: &Stat,
        name: &str,
        next: u64,
        with_nodes: bool,
        add: &mut impl FnMut(&Listed<'_>) -> bool,
    ) -> Result<bool, Errno> {
        let node = if with_nodes { Some(self.node(stat)?) } else { None };
        Ok(add(&Listed {
            number: number_of(stat.inode),
            kind: type_of(stat.kind),
            name,
            next,
            node,
        }))
    }
}

/// Returns true if the kernel accepts a name. Only a damaged or malicious volume has other names.
/// The kernel would refuse the whole directory for a name with `/`. Programs would interpret `..`
/// as the parent directory.
fn is_listable(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_kernel_does_not_take_are_left_out() {
        assert!(["", ".", "..", "a/b", "/", "a\0"].iter().all(|name| !is_listable(name)));
        assert!(["a", "...", ".a", "a\n\u{1b}", "\u{202e}"].iter().all(|name| is_listable(name)));
    }

    #[test]
    fn offsets_are_positive_and_lead_back() {
        for (hash, number) in [(0, 0), (0, 1), (u32::MAX, 1 << 20), (0x8000_0000, 77)] {
            let cursor = Cursor::from_bits(u64::from(hash) << 32 | number);
            let offset = offset_of(cursor);
            assert!((FIRST_NAME..i64::MAX as u64).contains(&offset));
            assert_eq!(cursor_at(offset), cursor);
        }
    }
}
