//! The table of owners and groups: inodes contain indices into this table.

use super::WriteError;
use std::collections::HashMap;

/// Each owner and group once, in the order in which they were added.
#[derive(Default)]
pub(super) struct Ids {
    known: HashMap<u32, u16>,
    all: Vec<u32>,
}

impl Ids {
    /// Returns the index of an owner or group. Returns `None` if the table is full. The superblock
    /// supports up to 65535 owners and groups.
    pub(super) fn index(&mut self, id: u32) -> Option<u16> {
        if let Some(&index) = self.known.get(&id) {
            return Some(index);
        }
        let index = u16::try_from(self.all.len()).ok().filter(|&index| index < u16::MAX)?;
        self.known.insert(id, index);
        self.all.push(id);
        Some(index)
    }

    /// Returns the number of owners and groups.
    pub(super) fn count(&self) -> u16 {
        self.all.len() as u16
    }

    /// Makes the entries of the table.
    pub(super) fn table(&self) -> Vec<u8> {
        self.all.iter().flat_map(|id| id.to_le_bytes()).collect()
    }
}

impl Ids {
    /// Returns the indices of an owner and a group. If the table is full, returns an error with the
    /// path.
    pub(super) fn pair(
        &mut self,
        uid: u32,
        gid: u32,
        path: impl Fn() -> String,
    ) -> Result<(u16, u16), WriteError> {
        match (self.index(uid), self.index(gid)) {
            (Some(uid), Some(gid)) => Ok((uid, gid)),
            _ => Err(WriteError::Ids(path())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_as_many_as_the_superblock_counts() {
        let mut ids = Ids::default();
        assert!((0..65535).all(|id| ids.index(id * 3) == Some(id as u16)));
        assert_eq!((ids.index(1), ids.index(65534 * 3), ids.count()), (None, Some(65534), 65535));
        assert_eq!(ids.pair(0, 1, || "/a".into()), Err(WriteError::Ids("/a".into())));
    }
}
