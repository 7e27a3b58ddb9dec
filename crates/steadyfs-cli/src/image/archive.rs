//! Read-only images: squashfs, cramfs and similar, with or without a hash tree.
//!
//! An image is a file, or lies on the chip for which `steady pack --read-only` made it. It is read
//! as a whole, within a limit, because it may be malicious.

use super::attributes::Attributes;
use super::chip::{Clock, describe_work};
use super::key::{Key, hex};
use super::lock::Lock;
use super::names::printable;
use super::recognise::Found;
use super::tree::{Files, Item, Kind, Stat, Take, sorted};
use crate::Failure;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use steadyfs::media::Flash;
use steadyfs::{Access, InodeNumber, Permissions, ROOT};
use steadyfs_convert::verity::{self, Trusted};
use steadyfs_convert::{Format, Inode, InodeIndex, Limit, Tree};
use steadyfs_host::image::{Image, Shape};
use steadyfs_rom::verity::format::Superblock;
use steadyfs_rom::{Error as RomError, InRam, OnNand, Source};
use steadyfs_sim::{Metered, Profile, TimingChoice};

/// The hash tree behind an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Bytes of the image, and the offset of the tree.
    pub data_bytes: u64,
    /// The hash at the root of the tree, which stands for all of these bytes.
    pub root_hash: [u8; 32],
    /// True if there is a signature, by any key.
    pub is_signed: bool,
}

/// The bytes of an image, not verified yet.
pub struct Raw {
    bytes: Vec<u8>,
    /// The hash tree, if there is one.
    pub seal: Option<Seal>,
    label: String,
    /// The work of the chip, if there is one.
    work: Option<String>,
}

impl Raw {
    /// Reads the bytes of an image that was found in a file.
    pub fn read(path: &Path, found: Found, profile: Option<&Profile>) -> Result<Self, Failure> {
        let _lock = Lock::take(path, Access::ReadOnly)?;
        let (mut bytes, work) = match found {
            Found::Plain(_) => {
                (fs::read(path).map_err(|error| Failure::at(path.display(), error))?, None)
            }
            Found::OnNand(shape) => {
                let (bytes, work) = of_nand(path, &shape, profile)?;
                (bytes, Some(work))
            }
        };
        let (seal, end) = match seal_of(&bytes) {
            Some((seal, end)) => (Some(seal), end),
            None => (None, bytes.len()),
        };
        bytes.truncate(end);
        Ok(Self { bytes, seal, label: path.display().to_string(), work })
    }

    /// Checks all bytes against their hash tree, and the tree against the signature of a key.
    /// Without a key, checks against the root hash of the image.
    pub fn verify(&self, key: Option<Key>) -> Result<(), Failure> {
        let fail = |what: &dyn Display| Failure::at(&self.label, what);
        let Some(seal) = self.seal else {
            return Err(fail(&"has no hash tree; expected one, signed with the key"));
        };
        let trusted = key.map_or(Trusted::Root(seal.root_hash), Trusted::Key);
        verity::verify(&self.bytes, seal.data_bytes, trusted).map_err(|error| fail(&error))
    }

    /// Decodes everything, and warns of missing parts.
    pub fn decode_and_warn(self) -> Result<Archive, Failure> {
        let archive = self.decode()?;
        if let Some(text) = lost(&archive.tree) {
            eprintln!("warning: {}: {text}", archive.label);
        }
        Ok(archive)
    }

    /// Decodes everything.
    pub fn decode(self) -> Result<Archive, Failure> {
        let data =
            self.seal.map_or(&self.bytes[..], |seal| &self.bytes[..seal.data_bytes as usize]);
        let (format, tree) = steadyfs_convert::read(data, Limit::default())
            .map_err(|error| Failure::at(&self.label, error))?;
        Ok(Archive { tree, format, label: self.label, work: self.work })
    }
}

/// Returns the warning about an image with damaged parts; `None` if all parts are sound.
pub fn lost(tree: &Tree) -> Option<String> {
    let count = tree.lost();
    let parts = if count == 1 {
        "1 node of it has a wrong checksum or names nothing".into()
    } else {
        format!("{count} nodes of it have wrong checksums or name nothing")
    };
    (count > 0).then(|| format!("{parts}, and their content is missing"))
}

/// Reads the image on a chip. Returns its bytes, and a description of the chip's work.
fn of_nand(
    path: &Path,
    shape: &Shape,
    profile: Option<&Profile>,
) -> Result<(Vec<u8>, String), Failure> {
    let fail = |error: &dyn Display| Failure::at(path.display(), error);
    let image = Image::open_as(path, Access::ReadOnly, shape).map_err(|error| fail(&error))?;
    let (image, clock) = match profile {
        Some(profile) => {
            let timed =
                image.with_profile(profile, TimingChoice::Typical).map_err(|error| fail(&error))?;
            (timed, Clock::Device(profile.name.clone()))
        }
        None => (image, Clock::None),
    };
    let mut memory = vec![0; OnNand::memory_bytes(&image, image.geometry().block_count)];
    let mut source = OnNand::open(image, &mut memory).map_err(|error| fail(&error))?;
    // The header gives the length of the image, and may be wrong.
    if source.bytes() > shape.file_bytes() {
        return Err(fail(&RomError::End(shape.file_bytes())));
    }
    let mut bytes = vec![0; source.bytes() as usize];
    source.read(0, &mut bytes).map_err(|error| fail(&error))?;
    Ok((bytes, describe_work(&source.into_inner().counters(), &clock)))
}

/// Returns the hash tree behind an image with its record, and the end of the record. The bytes
/// behind that are the rest of a chip.
fn seal_of(bytes: &[u8]) -> Option<(Seal, usize)> {
    let mut source = InRam::new(bytes);
    let offset = steadyfs_rom::verity::find(&mut source).ok()?;
    let superblock = Superblock::parse(
        bytes.get(offset as usize..)?.get(..steadyfs_rom::verity::format::SUPERBLOCK_BYTES)?,
    )
    .ok()?;
    let layout = superblock.layout().ok().filter(|layout| layout.data_bytes() == offset)?;
    let record = steadyfs_rom::verity::record(&mut source, &layout).ok()?;
    let end = usize::try_from(layout.total_bytes()).ok().filter(|&end| end <= bytes.len())?;
    Some((
        Seal {
            data_bytes: offset,
            root_hash: record.root_hash,
            is_signed: record.signature.is_some(),
        },
        end,
    ))
}

impl Seal {
    /// Returns the root hash as digits.
    pub fn root_hash_text(&self) -> String {
        hex(&self.root_hash)
    }
}

/// An image, decoded.
pub struct Archive {
    /// Its files.
    pub tree: Tree,
    /// Its format.
    pub format: Format,
    label: String,
    work: Option<String>,
}

impl Archive {
    /// Returns the work of the chip; `None` for an image in a file.
    pub fn work(&self) -> Option<&str> {
        self.work.as_deref()
    }

    /// Returns the inode with a number.
    pub fn inode(&self, inode: InodeNumber) -> &Inode {
        self.tree.inode(inode as InodeIndex)
    }

    fn stat(&self, index: InodeIndex) -> Stat {
        let inode = self.tree.inode(index);
        let modified_ns = u64::try_from(inode.modified).unwrap_or(0).saturating_mul(1_000_000_000);
        let (kind, size) = kind_and_size(inode);
        Stat { inode: index as InodeNumber, kind, size, modified_ns, parent: ROOT }
    }
}

/// Returns the attributes of an inode.
pub fn attributes_of(inode: &Inode) -> Attributes {
    Attributes::of_names(inode.attributes.iter().map(|(name, value)| (&name[..], &value[..])))
}

/// Returns the kind of an inode, and the number of its bytes or entries.
pub fn kind_and_size(inode: &Inode) -> (Kind, u64) {
    use steadyfs_convert::Kind as Of;
    match &inode.kind {
        Of::Directory(entries) => (Kind::Directory, entries.len() as u64),
        Of::File(bytes) => (Kind::File, bytes.len() as u64),
        Of::Symlink(target) => (Kind::Symlink, target.len() as u64),
        Of::Device { is_block: true, .. } => (Kind::BlockDevice, 0),
        Of::Device { is_block: false, .. } => (Kind::CharacterDevice, 0),
        Of::Fifo => (Kind::Fifo, 0),
        Of::Socket => (Kind::Socket, 0),
    }
}

impl Files for Archive {
    fn look(&mut self, path: &str) -> Result<Stat, Failure> {
        let found =
            self.tree.find(path).ok_or_else(|| self.fault(path, &"no such file or directory"))?;
        Ok(self.stat(found))
    }

    fn entries(&mut self, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure> {
        let steadyfs_convert::Kind::Directory(entries) = &self.inode(directory).kind else {
            return Err(self.fault(path, &"is no directory"));
        };
        let item = |(name, &index): (&Vec<u8>, &InodeIndex)| {
            let text = String::from_utf8_lossy(name);
            let is_text = text.as_bytes() == name.as_slice();
            Item { is_text, ..Item::new(text.into_owned(), path, self.stat(index)) }
        };
        Ok(sorted(entries.iter().map(item).collect()))
    }

    fn content(&mut self, file: InodeNumber, path: &str, take: Take<'_>) -> Result<(), Failure> {
        match &self.inode(file).kind {
            steadyfs_convert::Kind::File(bytes) => {
                bytes.chunks(super::volume::PIECE_BYTES).try_for_each(take)
            }
            _ => Err(self.fault(path, &"is no file")),
        }
    }

    fn target(&mut self, link: InodeNumber, path: &str) -> Result<String, Failure> {
        match &self.inode(link).kind {
            steadyfs_convert::Kind::Symlink(target) => {
                String::from_utf8(target.clone()).map_err(|_| {
                    self.fault(path, &"is a symbolic link to something that is not UTF-8")
                })
            }
            _ => Err(self.fault(path, &"is no symbolic link")),
        }
    }

    fn owned(&mut self, inode: InodeNumber) -> Option<Permissions> {
        let Inode { mode, uid, gid, .. } = *self.inode(inode);
        Some(Permissions { mode, uid, gid })
    }

    fn attributes(&mut self, inode: InodeNumber, _: &str) -> Result<Attributes, Failure> {
        Ok(attributes_of(self.inode(inode)))
    }

    fn has_hard_links(&self) -> bool {
        true
    }

    fn fault(&self, path: &str, what: &dyn Display) -> Failure {
        Failure::at(format!("{}:/{}", self.label, printable(path.trim_matches('/'))), what)
    }
}
