//! Paths: names joined by `/`, from the root or from the inode of a directory.

use super::directories::{Directories, Found, Named};
use super::inode::{InodeHeader, InodeKind, InodeNumber, ROOT};
use super::volume::Volume;
use crate::error::Error;
use crate::media::Flash;

/// The location of a file or directory: a path, and the directory at which the path starts.
///
/// A `&str` is a path from the root, with or without a `/` in front. `(directory, path)` is a path
/// from the inode of a directory. An [`InodeNumber`] alone is the file or directory with this
/// inode, and needs no look-up. Empty names and `.` are skipped. `..` is the directory above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'p> {
    /// Inode of the directory at which the path starts.
    pub from: InodeNumber,
    /// Names joined by `/`.
    pub path: &'p str,
}

impl<'p, S: AsRef<str> + ?Sized> From<&'p S> for Location<'p> {
    fn from(path: &'p S) -> Self {
        Self { from: ROOT, path: path.as_ref() }
    }
}

impl<'p> From<(InodeNumber, &'p str)> for Location<'p> {
    fn from((from, path): (InodeNumber, &'p str)) -> Self {
        Self { from, path }
    }
}

impl From<InodeNumber> for Location<'_> {
    fn from(inode: InodeNumber) -> Self {
        Self { from: inode, path: "" }
    }
}

/// A path whose directories were looked up.
pub(super) enum Target<'p> {
    /// A name in a directory, which may exist or not.
    Name { directory: u32, name: &'p str },
    /// An inode. The path has only empty names and `.`, or it ends with `..`.
    Inode(u32),
}

/// Returns the next name of a path, and the rest behind it. Iterators would take more code.
fn next_name(mut path: &str) -> Option<(&str, &str)> {
    loop {
        let end = path.bytes().position(|byte| byte == b'/').unwrap_or(path.len());
        let (name, rest) = (path.get(..end)?, path.get(end + 1..).unwrap_or(""));
        match name {
            "" | "." if rest.is_empty() => return None,
            "" | "." => path = rest,
            _ => return Some((name, rest)),
        }
    }
}

impl Directories {
    /// Finds the directory of the last name of a path.
    pub fn resolve<'p, F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: Location<'p>,
    ) -> Result<Target<'p>, Error> {
        let (mut at, mut next) = (place.from, next_name(place.path));
        while let Some((name, rest)) = next {
            next = next_name(rest);
            if name == ".." {
                let header = volume.read_header(at)?;
                at = if at == ROOT { ROOT } else { header.parent };
            } else if next.is_none() {
                return Ok(Target::Name { directory: at, name });
            } else {
                at = match self.find(volume, at, name)? {
                    Found::At { inode, header, .. } => {
                        self.enter_found(inode, &header)?;
                        inode
                    }
                    Found::Free(_) => return Err(Error::NotFound),
                };
            }
        }
        Ok(Target::Inode(at))
    }

    /// Finds the inode that a path names, and its header if the path ends with a name.
    pub fn locate<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: Location<'_>,
    ) -> Result<(u32, Option<InodeHeader>), Error> {
        match self.resolve(volume, place)? {
            Target::Inode(inode) => Ok((inode, None)),
            Target::Name { directory, name } => match self.find(volume, directory, name)? {
                Found::At { inode, header, .. } => Ok((inode, Some(header))),
                Found::Free(_) => Err(Error::NotFound),
            },
        }
    }

    /// Finds the file or symbolic link that a path names.
    pub fn find_file<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: Location<'_>,
    ) -> Result<(u32, InodeHeader), Error> {
        let Target::Name { directory, name } = self.resolve(volume, place)? else {
            return Err(Error::IsADirectory);
        };
        let Found::At { inode, header, .. } = self.find(volume, directory, name)? else {
            return Err(Error::NotFound);
        };
        if header.kind == InodeKind::Directory {
            Err(Error::IsADirectory)
        } else {
            Ok((inode, header))
        }
    }

    /// Returns the directory and the last name of a path, for a call that creates, renames or
    /// removes the name.
    pub fn resolve_name<'p, F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: Location<'p>,
    ) -> Result<(u32, &'p str), Error> {
        match self.resolve(volume, place)? {
            Target::Name { directory, name } => {
                self.enter(volume, directory)?;
                Ok((directory, name))
            }
            Target::Inode(_) => Err(Error::InvalidName),
        }
    }

    /// Finds the file or directory of a path and its record, for a call that renames or removes the
    /// file or directory.
    pub fn find_named<'p, F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: Location<'p>,
    ) -> Result<Named<'p>, Error> {
        let (directory, name) = self.resolve_name(volume, place)?;
        let Found::At { place, inode, header, .. } = self.find(volume, directory, name)? else {
            return Err(Error::NotFound);
        };
        Ok(Named { directory, name, place, inode, header })
    }
}

#[cfg(test)]
mod tests {
    use super::next_name;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn names_are_what_lies_between_slashes_and_says_something(path in "[a./é]{0,12}") {
            let (mut found, mut rest) = (Vec::new(), path.as_str());
            while let Some((name, behind)) = next_name(rest) {
                found.push(name);
                rest = behind;
            }
            let names: Vec<_> =
                path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
            prop_assert_eq!(found, names);
        }
    }
}
