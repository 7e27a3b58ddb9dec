//! Writer: data, then inodes and directories, then tables, then the superblock.

use super::attributes::Attributes;
use super::data::{Content, Data, Stored};
use super::directories::{Entry, Listing, append_entries};
use super::ids::Ids;
use super::inodes::{Body, Head, basic_kind, emit};
use super::metadata::{Metadata, Place, append_table, plain_block};
use super::pack::Packer;
use super::plan::{Plan, Step};
use super::superblock::{ABSENT, SUPERBLOCK_BYTES, Superblock, Tables, flags};
use super::{Settings, WriteError};
use crate::tree::{Inode, InodeIndex, Kind, Tree};
use std::collections::HashMap;

/// Number of bytes of the longest target of a symbolic link that Linux follows.
const TARGET_BYTES_MAX: usize = 4095;

/// Makes an image of a tree. The same tree and settings always produce the same bytes.
///
/// The image's length is a multiple of [`Settings::pad_bytes`]. Times before 1970 become 1970.
/// Times after 2106 become the last second that the format supports. Inodes without name are left
/// out.
///
/// # Errors
/// [`WriteError`] if the format does not support the settings, or a part of the tree.
pub fn write(tree: &Tree, settings: &Settings) -> Result<Vec<u8>, WriteError> {
    settings.check()?;
    let plan = Plan::new(tree)?;
    let mut packer = Packer::new(settings.compressor, settings.block_bytes)?;
    let Stored { mut image, contents, fragments } = write_data(tree, settings, &mut packer)?;
    let writer = Writer {
        tree,
        plan: &plan,
        contents: &contents,
        packer: &mut packer,
        inodes: Metadata::new(settings.plain_metadata),
        directories: Metadata::new(settings.plain_metadata),
        ids: Ids::default(),
        attributes: Attributes::new(settings.plain_metadata, settings.drop_other_attributes),
        places: vec![Place::default(); tree.inodes().len()],
        listings: HashMap::new(),
    };
    let superblock = writer.write(&mut image, &fragments, settings)?;
    image[..SUPERBLOCK_BYTES].copy_from_slice(&superblock.emit());
    image.resize(image.len().next_multiple_of(settings.pad_bytes as usize), 0);
    Ok(image)
}

/// Reserves bytes for the superblock. Then writes the compressor's options and all data.
fn write_data(tree: &Tree, settings: &Settings, packer: &mut Packer) -> Result<Stored, WriteError> {
    let mut image = vec![0; SUPERBLOCK_BYTES];
    image.extend(settings.compressor.options().iter().flat_map(|options| plain_block(options)));
    let mut data = Data::new(
        image,
        settings.block_bytes as usize,
        settings.tails,
        settings.open_fragments.into(),
    );
    for inode in settings.order.iter().filter_map(|path| find(tree, path)) {
        data.add_below(tree, inode, packer)?;
    }
    data.add_below(tree, 0, packer)?;
    data.finish(packer)
}

/// Finds the inode of a path, which may contain any bytes.
fn find(tree: &Tree, path: &[u8]) -> Option<InodeIndex> {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).try_fold(0, |at, name| {
        match &tree.inode(at).kind {
            Kind::Directory(entries) => entries.get(name).copied(),
            _ => None,
        }
    })
}

/// State that grows while inodes are written.
struct Writer<'a> {
    tree: &'a Tree,
    plan: &'a Plan,
    contents: &'a HashMap<InodeIndex, Content>,
    packer: &'a mut Packer,
    inodes: Metadata,
    directories: Metadata,
    ids: Ids,
    attributes: Attributes<'a>,
    places: Vec<Place>,
    listings: HashMap<InodeIndex, Listing>,
}

impl Writer<'_> {
    /// Writes inodes, directories and tables behind the data.
    fn write(
        mut self,
        image: &mut Vec<u8>,
        fragments: &[u8],
        settings: &Settings,
    ) -> Result<Superblock, WriteError> {
        for step in &self.plan.steps {
            match *step {
                Step::Inode(inode) => self.write_inode(inode)?,
                Step::Entries(directory) => self.write_entries(directory)?,
            }
        }
        let flags = self.flags(settings);
        let (root, id_count, inode_count) =
            (self.places[0].reference(), self.ids.count(), self.plan.inode_count);
        let tables = self.write_tables(image, fragments, settings.plain_metadata)?;
        Ok(Superblock {
            inode_count,
            time: settings.time,
            block_bytes: settings.block_bytes,
            fragment_count: (fragments.len() / 16) as u32,
            compressor: settings.compressor.id(),
            flags,
            id_count,
            root,
            bytes: image.len() as u64,
            tables,
        })
    }

    fn flags(&self, settings: &Settings) -> u16 {
        let plain = flags::PLAIN_INODES | flags::PLAIN_ATTRIBUTES | flags::PLAIN_IDS;
        let when = |is_so, flag| if is_so { flag } else { 0 };
        flags::NO_DUPLICATES
            | flags::EXPORT
            | when(settings.plain_metadata, plain)
            | when(settings.tails, flags::TAILS)
            | when(self.attributes.is_empty(), flags::NO_ATTRIBUTES)
            | when(settings.compressor.options().is_some(), flags::OPTIONS)
    }

    fn write_inode(&mut self, index: InodeIndex) -> Result<(), WriteError> {
        let (tree, plan) = (self.tree, self.plan);
        let inode = tree.inode(index);
        let path = || plan.path(tree, index);
        let head = Head {
            mode: inode.mode,
            owner: self.ids.pair(inode.uid, inode.gid, path)?,
            modified: u32::try_from(inode.modified.max(0)).unwrap_or(u32::MAX),
            number: plan.number(index),
            links: plan.links(tree, index),
            attributes: self.attributes.add(&inode.attributes, self.packer, path)?,
        };
        let bytes = emit(&head, &self.body(index, inode)?);
        self.places[index] = self.inodes.place()?;
        self.inodes.append(&bytes, self.packer)
    }

    fn body<'a>(&'a self, index: InodeIndex, inode: &'a Inode) -> Result<Body<'a>, WriteError> {
        let path = || self.plan.path(self.tree, index);
        Ok(match &inode.kind {
            Kind::Directory(_) => Body::Directory {
                listing: &self.listings[&index],
                parent: self.plan.parent_number(index),
            },
            Kind::File(bytes) => {
                Body::File { content: &self.contents[&index], bytes: bytes.len() as u64 }
            }
            Kind::Symlink(target) if target.is_empty() || target.len() > TARGET_BYTES_MAX => {
                return Err(WriteError::Target { path: path(), bytes: target.len() });
            }
            Kind::Symlink(target) => Body::Symlink(target),
            &Kind::Device { is_block, major, minor } => {
                let numbers = crate::device::number(major, minor);
                Body::Device {
                    is_block,
                    numbers: numbers.ok_or_else(|| WriteError::Device {
                        path: path(),
                        major,
                        minor,
                    })?,
                }
            }
            Kind::Fifo => Body::Pipe { is_socket: false },
            Kind::Socket => Body::Pipe { is_socket: true },
        })
    }

    fn write_entries(&mut self, directory: InodeIndex) -> Result<(), WriteError> {
        let Kind::Directory(entries) = &self.tree.inode(directory).kind else { return Ok(()) };
        let entries = entries.iter().map(|(name, &inode)| Entry {
            name,
            place: self.places[inode],
            number: self.plan.number(inode),
            kind: basic_kind(&self.tree.inode(inode).kind),
        });
        let entries: Vec<_> = entries.collect();
        let listing = append_entries(&mut self.directories, &entries, self.packer)?;
        self.listings.insert(directory, listing);
        Ok(())
    }

    /// Appends all tables in the order that Linux expects.
    fn write_tables(
        self,
        image: &mut Vec<u8>,
        fragments: &[u8],
        is_plain: bool,
    ) -> Result<Tables, WriteError> {
        let Self { plan, packer, inodes, directories, ids, attributes, places, .. } = self;
        let inodes_start = image.len() as u64;
        image.extend(inodes.finish(packer)?.0);
        let directories_start = image.len() as u64;
        image.extend(directories.finish(packer)?.0);
        let by_number = plan.steps.iter().filter_map(|step| match step {
            Step::Inode(inode) => Some(places[*inode].reference().to_le_bytes()),
            Step::Entries(_) => None,
        });
        let by_number: Vec<u8> = by_number.flatten().collect();
        Ok(Tables {
            inodes: inodes_start,
            directories: directories_start,
            fragments: match fragments {
                [] => ABSENT,
                _ => append_table(image, fragments, &[], is_plain, packer)?,
            },
            export: append_table(image, &by_number, &[], is_plain, packer)?,
            ids: append_table(image, &ids.table(), &[], is_plain, packer)?,
            attributes: match attributes.is_empty() {
                true => ABSENT,
                false => attributes.append_to(image, is_plain, packer)?,
            },
        })
    }
}
