//! Extended attributes of squashfs.

use super::Squash;
use super::blocks::Position;
use super::format::{NO_INDEX, NONE};
use super::node::{Body, Node};
use crate::error::Error;
use crate::fields::{u16_at, u32_at, u64_at};
use crate::source::Source;

/// The prefix of each namespace, indexed by the number of the namespace.
const PREFIXES: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];
/// Bit in the type of an attribute. If it is set, the value is stored elsewhere.
const ELSEWHERE: u16 = 0x100;
/// Bytes of an entry of the table. Inodes contain indices of this table.
const ENTRY_BYTES: usize = 16;
/// Maximum bytes of a name with its namespace.
const NAME_MAX: usize = 255;

/// Position in the attributes of a file. `Default` is the start of the attributes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor(Option<(Position, u32)>);

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    name: [u8; NAME_MAX],
    name_bytes: u8,
    value: Position,
    value_bytes: u32,
}

impl Attribute {
    /// Returns the name of the attribute with its namespace, such as `user.note`.
    pub fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.name_bytes)]
    }

    /// Returns the number of bytes of the value.
    pub const fn value_bytes(&self) -> usize {
        self.value_bytes as usize
    }
}

impl<S: Source> Squash<'_, S> {
    /// Returns the next attribute of a file or directory. Returns `None` at the end.
    ///
    /// # Errors
    /// [`Error::Damaged`]; errors of the source.
    pub fn attribute(
        &mut self,
        node: &Node,
        cursor: &mut Cursor,
    ) -> Result<Option<Attribute>, Error> {
        let Some((mut at, left)) = self.go_on(node, cursor)? else { return Ok(None) };
        if left == 0 {
            return Ok(None);
        }
        let here = at.block;
        let mut head = [0; 4];
        self.blocks.read_metadata(&mut at, &mut head)?;
        let (kind, bytes) = (u16_at(&head, 0), usize::from(u16_at(&head, 2)));
        let prefix = *PREFIXES.get(usize::from(kind & !ELSEWHERE)).ok_or(Error::Damaged(here))?;
        let mut name = [0; NAME_MAX];
        let end = prefix.len() + bytes;
        let text = name.get_mut(..end).ok_or(Error::Damaged(here))?;
        text[..prefix.len()].copy_from_slice(prefix);
        self.blocks.read_metadata(&mut at, &mut text[prefix.len()..])?;
        let mut size = [0; 4];
        self.blocks.read_metadata(&mut at, &mut size)?;
        let mut value_bytes = u32::from_le_bytes(size);
        let mut value = at;
        if kind & ELSEWHERE != 0 {
            let mut place = [0; 8];
            self.blocks.read_metadata(&mut at, &mut place)?;
            value = self.value_position(u64_at(&place, 0))?;
            self.blocks.read_metadata(&mut value, &mut size)?;
            value_bytes = u32::from_le_bytes(size);
        } else {
            self.skip(&mut at, value_bytes)?;
        }
        cursor.0 = Some((at, left - 1));
        Ok(Some(Attribute { name, name_bytes: end as u8, value, value_bytes }))
    }

    /// Reads the whole value of an attribute. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::Damaged`]; errors of the source.
    pub fn attribute_value(
        &mut self,
        attribute: &Attribute,
        value: &mut [u8],
    ) -> Result<usize, Error> {
        let needed = attribute.value_bytes();
        let value = value.get_mut(..needed).ok_or(Error::BufferTooSmall { needed })?;
        let mut at = attribute.value;
        self.blocks.read_metadata(&mut at, value)?;
        Ok(needed)
    }

    /// Returns the position of the next attribute, and the number of attributes from there on.
    fn go_on(&mut self, node: &Node, cursor: &Cursor) -> Result<Option<(Position, u32)>, Error> {
        if cursor.0.is_some() {
            return Ok(cursor.0);
        }
        let index = self.attributes_of(node)?;
        let table = self.superblock.attributes;
        if index == NO_INDEX || table == NONE {
            return Ok(None);
        }
        let mut count = [0; 4];
        self.blocks.source().read(table.saturating_add(8), &mut count)?;
        if index >= u32_at(&count, 0) {
            return Err(Error::Damaged(table));
        }
        let mut entry = [0; ENTRY_BYTES];
        self.table_entry(table.saturating_add(16), u64::from(index), &mut entry)?;
        Ok(Some((self.value_position(u64_at(&entry, 0))?, u32_at(&entry, 8))))
    }

    /// Returns the index of a node's attributes. For a symbolic link, this index is stored behind
    /// the target.
    fn attributes_of(&mut self, node: &Node) -> Result<u32, Error> {
        let Body::Symlink { target, is_extended } = node.body else { return Ok(node.attributes) };
        if !is_extended {
            return Ok(NO_INDEX);
        }
        let mut at = target;
        self.skip(&mut at, node.stat.size as u32)?;
        let mut index = [0; 4];
        self.blocks.read_metadata(&mut at, &mut index)?;
        Ok(u32::from_le_bytes(index))
    }

    /// Converts a reference, which points into the names and values, into a position.
    fn value_position(&mut self, reference: u64) -> Result<Position, Error> {
        let mut begin = [0; 8];
        self.blocks.source().read(self.superblock.attributes, &mut begin)?;
        let block = u64_at(&begin, 0).saturating_add(reference >> 16);
        Ok(Position { block, offset: reference as u32 & 0xFFFF })
    }

    fn skip(&mut self, at: &mut Position, bytes: u32) -> Result<(), Error> {
        let mut left = bytes as usize;
        let mut some = [0; 64];
        while left > 0 {
            let count = left.min(some.len());
            self.blocks.read_metadata(at, &mut some[..count])?;
            left -= count;
        }
        Ok(())
    }
}
