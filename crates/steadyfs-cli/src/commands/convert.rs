//! `steady convert`: the content of a volume as an image of another file system.

use super::tree::counted;
use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::export::rename_new;
use crate::image::part::{Part, directory_of};
use crate::image::tree::{Item, walk};
use crate::image::{Memory, Volume};
use crate::interrupt;
use crate::output::print;
use clap::Args;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use steadyfs::{Access, Kind, Permissions, ROOT};
use steadyfs_host::cramfs::{self, Node, NodeKind};
use steadyfs_lab::units::format_size;

/// Arguments of `steady convert`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image of a volume
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// The image to make: a name that ends in .cramfs
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Modes and owners are kept, as far as cramfs holds them: users to 65535, groups to 255; times and attributes are not. The same volume gives the same bytes.

Example:
  steady convert card.img rootfs.cramfs";

/// Runs `steady convert`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.to.extension().is_none_or(|extension| extension != "cramfs") {
        return Err(Failure::at(arguments.to.display(), "is of a kind that is not made; expected a name that ends in .cramfs"));
    }
    if !arguments.force && std::fs::symlink_metadata(&arguments.to).is_ok() {
        return Err(Failure::at(arguments.to.display(), "exists already; --force replaces it"));
    }
    let mut memory = Memory::default();
    let mut volume = Volume::open(&arguments.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let items = walk(&mut volume, ROOT, "")?;
    let root = node(&mut volume, ROOT, String::new(), NodeKind::Directory)?;
    let mut nodes = Vec::with_capacity(items.len());
    for item in &items {
        let path = item.path.trim_start_matches('/').to_string();
        let kind = match item.stat.kind {
            Kind::Directory => NodeKind::Directory,
            Kind::Symlink => NodeKind::Link(volume.read_link(item.stat.inode, &item.path)?),
            _ => NodeKind::File,
        };
        nodes.push(node(&mut volume, item.stat.inode, path, kind)?);
    }
    let places: HashMap<&str, &Item> = items.iter().map(|item| (item.path.trim_start_matches('/'), item)).collect();
    let image = cramfs::write(&root, &nodes, |node| {
        interrupt::check()?;
        let mut bytes = Vec::new();
        if let Some(item) = places.get(node.path.as_str()) {
            volume.read_file(item.stat.inode, &item.path, |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
        }
        Ok::<_, Failure>(bytes)
    })?;
    volume.close(&arguments.chip)?;
    interrupt::ends_itself();
    let (part, mut file) = Part::file(directory_of(&arguments.to), &arguments.to)?;
    file.write_all(&image).map_err(|error| Failure::writing(arguments.to.display(), &error))?;
    if arguments.force {
        part.rename(&arguments.to)?
    } else {
        rename_new(part.path(), &arguments.to)?
    }
    let count = counted(nodes.len() as u64, "entry", "entries");
    print(&format!("{count}, {}\n", format_size(image.len() as u64)))
}

impl From<cramfs::CramfsError> for Failure {
    fn from(error: cramfs::CramfsError) -> Self {
        Self(error.to_string())
    }
}

/// A node with the permissions that the volume has, or usual ones.
fn node(volume: &mut Volume<'_>, inode: u32, path: String, kind: NodeKind) -> Result<Node, Failure> {
    let usual = match kind {
        NodeKind::Directory => 0o755,
        NodeKind::File => 0o644,
        NodeKind::Link(_) => 0o777,
    };
    let own = volume.fs.permissions(inode).map_err(|error| volume.fail(&path, error))?;
    let Permissions { mode, uid, gid } = own.unwrap_or(Permissions { mode: usual, uid: 0, gid: 0 });
    match (u16::try_from(uid), u8::try_from(gid)) {
        (Ok(uid), Ok(gid)) => Ok(Node::new(path, kind, mode, uid, gid)),
        _ => Err(volume.refuse(&path, format!("belongs to {uid}:{gid}; cramfs holds users to 65535 and groups to 255"))),
    }
}
