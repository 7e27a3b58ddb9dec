//! User attributes: small key–value pairs of a file or directory, in an extension of its inode.
//!
//! ```text
//! | key length | value length | key | value | …
//! key length 0, or the end of the extension: no more
//! ```

use super::call::Call;
use super::commits::CommitOn;
use super::filesystem::{Change, FileSystem};
use super::inode::{ATTRIBUTES_AT, EXTENSION_AT, EXTENSION_BYTES, InodeHeader, InodeKind};
use super::path::Location;
use crate::error::Error;
use crate::media::Flash;

type Pairs = [u8; EXTENSION_BYTES];

/// Iterates over the pairs in an extension. Returns the start, the key and the value of each pair.
fn pairs(bytes: &Pairs) -> impl Iterator<Item = (usize, &[u8], &[u8])> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let (key, value) = (usize::from(*bytes.get(at)?), usize::from(*bytes.get(at + 1)?));
        if key == 0 {
            return None;
        }
        let start = at;
        at += 2 + key + value;
        Some((start, bytes.get(start + 2..start + 2 + key)?, bytes.get(start + 2 + key..at)?))
    })
}

impl<F: Flash> FileSystem<'_, F> {
    /// Reads an attribute into `value` and returns its whole length. If `value` is shorter, it gets
    /// the first bytes.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open).
    ///
    /// # Errors
    /// [`Error::NotFound`] if the file or the attribute does not exist.
    pub fn attribute<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        key: &str,
        value: &mut [u8],
    ) -> Result<usize, Error> {
        let (_, header) = self.located(place.into())?;
        let mut bytes = [0; EXTENSION_BYTES];
        self.read_attributes(&header, &mut bytes)?;
        let (_, _, found) =
            pairs(&bytes).find(|(_, k, _)| *k == key.as_bytes()).ok_or(Error::NotFound)?;
        let length = found.len().min(value.len());
        value[..length].copy_from_slice(&found[..length]);
        Ok(found.len())
    }

    /// Calls `see` with the key and the value of each attribute.
    ///
    /// # Cost
    /// As [`attribute`](Self::attribute).
    ///
    /// # Errors
    /// [`Error::NotFound`] if the file does not exist.
    pub fn attributes<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        mut see: impl FnMut(&str, &[u8]),
    ) -> Result<(), Error> {
        let (_, header) = self.located(place.into())?;
        let mut bytes = [0; EXTENSION_BYTES];
        self.read_attributes(&header, &mut bytes)?;
        for (_, key, value) in pairs(&bytes) {
            see(core::str::from_utf8(key).unwrap_or("?"), value);
        }
        Ok(())
    }

    /// Sets an attribute of a file or directory. `None` removes the attribute.
    ///
    /// All attributes of one file together take at most 248 bytes. Each attribute takes two bytes
    /// in addition to its key and value.
    ///
    /// # Power loss
    /// The change is part of the open transaction, like a change of data.
    ///
    /// # Cost
    /// [`Call::SetAttribute`](super::Call::SetAttribute). A path also costs
    /// [`Call::Open`](super::Call::Open) for its look-ups.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InvalidName`] for an empty key,
    /// [`Error::AttributesTooLarge`], [`Error::TooManyFiles`], [`Error::NoSpace`].
    pub fn set_attribute<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        key: &str,
        value: Option<&[u8]>,
    ) -> Result<(), Error> {
        self.set_attribute_of(place.into(), key, value)
    }

    /// Sets an attribute. All types of paths use this function, which is not generic, so its code
    /// exists once.
    fn set_attribute_of(
        &mut self,
        place: Location<'_>,
        key: &str,
        value: Option<&[u8]>,
    ) -> Result<(), Error> {
        if key.is_empty() {
            return Err(Error::InvalidName);
        }
        if 2 + key.len() + value.map_or(0, <[u8]>::len) > EXTENSION_BYTES {
            return Err(Error::AttributesTooLarge);
        }
        let (inode, header) = self.located(place)?;
        let mut bytes = [0; EXTENSION_BYTES];
        self.read_attributes(&header, &mut bytes)?;
        let end =
            |bytes: &Pairs| pairs(bytes).last().map_or(0, |(at, k, v)| at + 2 + k.len() + v.len());
        let mut used = end(&bytes);
        let old = pairs(&bytes)
            .find(|(_, k, _)| *k == key.as_bytes())
            .map(|(at, k, v)| (at, at + 2 + k.len() + v.len()));
        // The old value is removed first, because its room may be needed.
        if let Some((from, to)) = old {
            bytes.copy_within(to..used, from);
            used -= to - from;
        } else if value.is_none() {
            return Err(Error::NotFound);
        }
        if let Some(value) = value {
            let more = 2 + key.len() + value.len();
            let place = bytes.get_mut(used..used + more).ok_or(Error::AttributesTooLarge)?;
            (place[0], place[1]) = (key.len() as u8, value.len() as u8);
            place[2..2 + key.len()].copy_from_slice(key.as_bytes());
            place[2 + key.len()..].copy_from_slice(value);
            used += more;
        }
        bytes[used..].fill(0);
        self.begin(Call::SetAttribute)?;
        let result = self.write_attributes(inode, &header, &bytes, used);
        self.finish(result, CommitOn::WRITE, false)?;
        self.notify(Change::Updated(inode));
        Ok(())
    }

    /// Reads the attributes of an inode into `bytes`, which the caller has zeroed.
    fn read_attributes(&mut self, header: &InodeHeader, bytes: &mut Pairs) -> Result<(), Error> {
        if header.attributes == 0 {
            return Ok(());
        }
        self.volume.read_extension(header.attributes, &mut [0; EXTENSION_AT as usize])?;
        let (page, at) = self.volume.inode_place(header.attributes - 1);
        self.volume.store.logical.read(page, at + EXTENSION_AT, bytes)
    }

    fn write_attributes(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        bytes: &Pairs,
        used: usize,
    ) -> Result<(), Error> {
        let number = match header.attributes {
            _ if used == 0 => 0,
            0 => self.volume.add_extension(inode)?,
            number => number,
        };
        if number != header.attributes {
            let (page, at) = self.volume.inode_place(inode);
            self.volume.store.logical.patch(page, at + ATTRIBUTES_AT, &number.to_le_bytes())?;
            if header.kind == InodeKind::Directory {
                self.directories.forget();
            }
        }
        if used > 0 {
            self.volume.write_extension(number, &bytes[..(used + 1).min(EXTENSION_BYTES)])
        } else {
            // A discarded page frees no room in the journal buffer before the end of the call.
            self.volume.remove_extension(header.attributes)
        }
    }
}
