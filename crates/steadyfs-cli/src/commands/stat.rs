//! `steady stat`: shows the properties of a file or directory.

use crate::Failure;
use crate::image::archive::Archive;
use crate::image::names::printable;
use crate::image::place::Place;
use crate::image::tree::{Files, Kind, Stat};
use crate::image::{Memory, Opened, ReadOptions, Volume, time};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use steadyfs::{InodeNumber, Permissions};
use steadyfs_host::plain::{Shape, is_own};
use steadyfs_lab::table::facts;
use steadyfs_lab::units::{format_count, format_size};

/// Arguments of `steady stat`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image; a path in it may follow a colon
    #[arg(value_name = "IMG[:PATH]")]
    place: Place,
    /// A file or directory in the image [default: the root]
    path: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

#[derive(Serialize)]
struct Facts {
    path: String,
    kind: &'static str,
    /// Bytes of a file, entries of a directory.
    size: u64,
    /// Nanoseconds since 1970; `None` if there is no time.
    modified_ns: Option<u64>,
    inode: u32,
    /// Only of a volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u32>,
    /// Major and minor number of a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<(u32, u32)>,
    /// The target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Present if the volume keeps permissions, and some were set.
    #[serde(skip_serializing_if = "Option::is_none")]
    permissions: Option<Owned>,
    /// The compression, if the file is compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed: Option<Compressed>,
    /// Values as bytes, because they need not be text.
    attributes: BTreeMap<String, Vec<u8>>,
}

/// Mode in octal, owner and group.
#[derive(Serialize)]
struct Owned {
    mode: String,
    uid: u32,
    gid: u32,
}

impl From<Permissions> for Owned {
    fn from(Permissions { mode, uid, gid }: Permissions) -> Self {
        Self { mode: format!("{mode:04o}"), uid, gid }
    }
}

/// The compression of a file.
#[derive(Serialize)]
struct Compressed {
    method: String,
    chunk_bytes: usize,
    /// Bytes of the pages that it takes.
    stored_bytes: u64,
}

impl Compressed {
    fn of(
        volume: &mut Volume<'_>,
        inode: InodeNumber,
        path: &str,
    ) -> Result<Option<Self>, Failure> {
        let shape =
            Shape::of(&mut volume.fs, inode).map_err(|error| volume.fail_content(path, error))?;
        let Some(shape) = shape else { return Ok(None) };
        let stored_bytes = volume.fs.allocated(inode).map_err(|error| volume.fail(path, error))?;
        Ok(Some(Self {
            method: shape.method().to_string(),
            chunk_bytes: shape.chunk_bytes(),
            stored_bytes,
        }))
    }
}

/// Runs `steady stat`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut opened = Opened::open(&arguments.place.image, &arguments.reading, &mut memory)?;
    let path = arguments.place.below(arguments.path.as_deref());
    let facts = match &mut opened {
        Opened::Volume(volume) => Facts::of_volume(volume, &path)?,
        Opened::Archive(archive) => Facts::of_archive(archive, &path)?,
    };
    opened.close(&arguments.reading)?;
    if arguments.json { print_json(&facts) } else { print(&facts.text()) }
}

impl Facts {
    fn of_volume(volume: &mut Volume<'_>, path: &str) -> Result<Self, Failure> {
        let stat = volume.stat(path)?;
        let mut attributes = BTreeMap::new();
        let see =
            |key: &str, value: &[u8]| drop(attributes.insert(key.to_string(), value.to_vec()));
        volume.fs.attributes(stat.inode, see).map_err(|error| volume.fail(path, error))?;
        let compressed = Compressed::of(volume, stat.inode, path)?;
        attributes.retain(|key, _| !is_own(key));
        let permissions =
            volume.fs.permissions(stat.inode).map_err(|error| volume.fail(path, error))?;
        let (parent, generation) = (Some(stat.parent), Some(stat.generation));
        let facts = Self::new(volume, path, stat.into(), attributes)?;
        Ok(Self {
            permissions: permissions.map(Owned::from),
            parent,
            generation,
            compressed,
            ..facts
        })
    }

    fn of_archive(archive: &mut Archive, path: &str) -> Result<Self, Failure> {
        let stat = archive.look(path)?;
        let inode = archive.inode(stat.inode);
        let attribute = |(key, value): (&Vec<u8>, &Vec<u8>)| {
            (String::from_utf8_lossy(key).into_owned(), value.clone())
        };
        let attributes = inode.attributes.iter().map(attribute).collect();
        let device = match inode.kind {
            steadyfs_convert::Kind::Device { major, minor, .. } => Some((major, minor)),
            _ => None,
        };
        let permissions = archive.owned(stat.inode).map(Owned::from);
        Ok(Self { permissions, device, ..Self::new(archive, path, stat, attributes)? })
    }

    fn new(
        files: &mut dyn Files,
        path: &str,
        stat: Stat,
        attributes: BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, Failure> {
        let target =
            if stat.kind == Kind::Symlink { Some(files.target(stat.inode, path)?) } else { None };
        Ok(Self {
            path: format!("/{}", path.trim_matches('/')),
            kind: stat.kind.name(),
            size: stat.size,
            modified_ns: Some(stat.modified_ns).filter(|&ns| ns != 0),
            inode: stat.inode,
            parent: None,
            generation: None,
            device: None,
            target,
            permissions: None,
            compressed: None,
            attributes,
        })
    }

    fn text(&self) -> String {
        let size = if self.kind == "directory" { "Entries" } else { "Bytes" };
        let modified = match self.modified_ns {
            Some(ns) => time::format(ns) + " UTC",
            None => "-".to_string(),
        };
        let own = [
            ("Path", printable(&self.path).into_owned()),
            ("Kind", self.kind.to_string()),
            (size, format_count(self.size)),
            ("Modified", modified),
            ("Inode", self.inode.to_string()),
        ];
        let value = |bytes: &[u8]| printable(&String::from_utf8_lossy(bytes)).into_owned();
        let attributes = self
            .attributes
            .iter()
            .map(|(key, bytes)| format!("Attribute {} = {}\n", printable(key), value(bytes)));
        let permissions = self
            .permissions
            .as_ref()
            .map(|own| format!("{}, owner {}, group {}", own.mode, own.uid, own.gid));
        let target = self.target.as_deref().map(|target| printable(target).into_owned());
        let compressed = self.compressed.as_ref().map(|own| {
            let (chunk, stored) =
                (format_size(own.chunk_bytes as u64), format_size(own.stored_bytes));
            format!("{}, chunks of {chunk}, in {stored}", own.method)
        });
        let number = |number: u32| number.to_string();
        let device = self.device.map(|(major, minor)| format!("{major}:{minor}"));
        let more = [
            ("Parent", self.parent.map(number)),
            ("Generation", self.generation.map(number)),
            ("Device", device),
            ("Names", target),
            ("Permissions", permissions),
            ("Compressed", compressed),
        ];
        let more = more.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
        facts(own.into_iter().chain(more)) + &attributes.collect::<String>()
    }
}
