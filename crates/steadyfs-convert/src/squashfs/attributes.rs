//! Extended attributes: lists of names and values, and a table with the start of each list.
//!
//! ```text
//! attribute   kind u16 | name bytes u16 | name without prefix | value bytes u32 | value
//! table       place of the list u64 | attributes u32 | bytes u32
//! head        start of the lists u64 | entries of the table u32 | 0 u32 | starts of its blocks
//! ```
//! If an earlier attribute has the same value and a reference to it is shorter, the reference is
//! stored instead of the value. A flag in the kind marks such a reference. Equal lists are stored
//! once.
//!
//! Source: Documentation/filesystems/squashfs.rst of Linux, section 3.8; doc/format.adoc of
//! squashfs-tools-ng, chapter 10.

use super::WriteError;
use super::metadata::{Metadata, append_table};
use super::pack::Packer;
use std::collections::{BTreeMap, HashMap};

/// Prefixes of names. The index of a prefix in this array is its number in the image.
const PREFIXES: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];
/// Flag in the kind: instead of a value, a reference to another value is stored.
const ELSEWHERE: u16 = 0x100;
/// Maximum bytes of a value that Linux accepts.
const VALUE_BYTES_MAX: usize = 65536;

/// The index of an inode without attributes.
pub(super) const NO_ATTRIBUTES: u32 = u32::MAX;

/// Names and values of one inode.
type List<'a> = Vec<(&'a [u8], &'a [u8])>;

/// All lists of attributes.
pub(super) struct Attributes<'a> {
    lists: Metadata,
    table: Vec<u8>,
    known: HashMap<List<'a>, u32>,
    values: HashMap<&'a [u8], u64>,
    drops_others: bool,
}

impl<'a> Attributes<'a> {
    /// Creates an empty table. If `drops_others` is true, attributes that the format does not
    /// support are left out.
    pub(super) fn new(is_plain: bool, drops_others: bool) -> Self {
        Self {
            lists: Metadata::new(is_plain),
            table: Vec::new(),
            known: HashMap::new(),
            values: HashMap::new(),
            drops_others,
        }
    }

    /// Returns true if no inode has attributes.
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Adds the attributes of an inode. Returns the index of their list, or [`NO_ATTRIBUTES`].
    pub(super) fn add(
        &mut self,
        attributes: &'a BTreeMap<Vec<u8>, Vec<u8>>,
        packer: &mut Packer,
        path: impl Fn() -> String,
    ) -> Result<u32, WriteError> {
        let mut list = Vec::new();
        for (name, value) in attributes {
            match (split(name), self.drops_others) {
                (None, true) => continue,
                (None, false) => {
                    return Err(WriteError::AttributeName { path: path(), name: text(name) });
                }
                (Some(_), _) if value.len() > VALUE_BYTES_MAX => {
                    return Err(WriteError::AttributeValue {
                        path: path(),
                        name: text(name),
                        bytes: value.len(),
                    });
                }
                (Some(_), _) => list.push((&name[..], &value[..])),
            }
        }
        match self.known.get(&list) {
            _ if list.is_empty() => Ok(NO_ATTRIBUTES),
            Some(&index) => Ok(index),
            None => self.add_list(list, packer),
        }
    }

    /// Appends lists, table and head to the image. Returns the offset of the head.
    pub(super) fn append_to(
        self,
        image: &mut Vec<u8>,
        is_plain: bool,
        packer: &mut Packer,
    ) -> Result<u64, WriteError> {
        let start = image.len() as u64;
        let (lists, _) = self.lists.finish(packer)?;
        image.extend(lists);
        let count = (self.table.len() / 16) as u32;
        let head = [&start.to_le_bytes()[..], &count.to_le_bytes(), &[0; 4]].concat();
        append_table(image, &self.table, &head, is_plain, packer)
    }

    fn add_list(&mut self, list: List<'a>, packer: &mut Packer) -> Result<u32, WriteError> {
        let place = self.lists.place()?;
        let mut bytes = 0;
        for (name, value) in &list {
            bytes += self.append(name, value, packer)?;
        }
        let index = (self.table.len() / 16) as u32;
        self.table.extend(place.reference().to_le_bytes());
        self.table.extend((list.len() as u32).to_le_bytes());
        self.table.extend((bytes as u32).to_le_bytes());
        self.known.insert(list, index);
        Ok(index)
    }

    /// Appends an attribute. Returns its number of bytes in the list.
    fn append(
        &mut self,
        name: &[u8],
        value: &'a [u8],
        packer: &mut Packer,
    ) -> Result<usize, WriteError> {
        let Some((prefix, rest)) = split(name) else { return Ok(0) };
        // A reference takes eight bytes, and the reader must decode another block for it.
        let earlier =
            self.values.get(value).filter(|_| value.len() > 8).map(|place| place.to_le_bytes());
        let kind = prefix | if earlier.is_some() { ELSEWHERE } else { 0 };
        let head = [&kind.to_le_bytes()[..], &(rest.len() as u16).to_le_bytes(), rest].concat();
        self.lists.append(&head, packer)?;
        if earlier.is_none() {
            self.values.insert(value, self.lists.place()?.reference());
        }
        let stored = earlier.as_ref().map_or(value, |place| &place[..]);
        self.lists.append(&(stored.len() as u32).to_le_bytes(), packer)?;
        self.lists.append(stored, packer)?;
        Ok(head.len() + 4 + stored.len())
    }
}

/// Splits a name into the number of its prefix and the rest. Returns `None` if the format does not
/// support the name.
fn split(name: &[u8]) -> Option<(u16, &[u8])> {
    let mut prefixes = (0..).zip(PREFIXES);
    let (prefix, rest) =
        prefixes.find_map(|(number, prefix)| Some((number, name.strip_prefix(prefix)?)))?;
    (!rest.is_empty() && name.len() <= 255 && !name.contains(&0)).then_some((prefix, rest))
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs::Compressor;

    type Map = BTreeMap<Vec<u8>, Vec<u8>>;

    fn map(pairs: &[(&str, &[u8])]) -> Map {
        pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec())).collect()
    }

    fn added(maps: &[Map], drops_others: bool) -> Result<(Vec<u32>, usize), WriteError> {
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096)?;
        let mut all = Attributes::new(true, drops_others);
        let indices = maps
            .iter()
            .map(|map| all.add(map, &mut packer, || "/f".into()))
            .collect::<Result<_, _>>()?;
        let mut image = Vec::new();
        all.append_to(&mut image, true, &mut packer)?;
        Ok((indices, image.len()))
    }

    #[test]
    fn equal_lists_are_one_and_equal_values_are_stored_once() {
        let one = map(&[("user.a", &[1; 1000]), ("security.b", b"x")]);
        let (indices, once) =
            added(&[one.clone(), one.clone(), Map::new()], false).expect("attributes");
        assert_eq!(indices, [0, 0, NO_ATTRIBUTES]);
        let (indices, twice) =
            added(&[one.clone(), map(&[("trusted.c", &[1; 1000])])], false).expect("attributes");
        assert_eq!((indices, twice), (vec![0, 1], once + 16 + 5 + 4 + 8));
    }

    #[test]
    fn names_that_the_format_does_not_hold_are_refused_or_dropped() {
        for name in ["system.posix_acl_access", "user.", "user", ""] {
            let maps = [map(&[(name, b"x")])];
            assert_eq!(
                added(&maps, false),
                Err(WriteError::AttributeName { path: "/f".into(), name: name.into() })
            );
            assert_eq!(added(&maps, true).expect("it is dropped").0, [NO_ATTRIBUTES]);
        }
        let long = [map(&[("user.a", &[0; 65537])])];
        assert!(matches!(added(&long, true), Err(WriteError::AttributeValue { bytes: 65537, .. })));
    }
}
