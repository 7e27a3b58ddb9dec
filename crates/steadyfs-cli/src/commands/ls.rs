//! `steady ls`: the entries of a directory.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::names::printable;
use crate::image::place::Place;
use crate::image::tree::{Item, entries};
use crate::image::volume::is_directory;
use crate::image::{Memory, Volume, time};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use steadyfs::{Access, Kind};
use steadyfs_lab::table::{Align, table};
use steadyfs_lab::units::format_count;

/// Arguments of `steady ls`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image; a path in it may follow a colon
    #[arg(value_name = "IMG[:PATH]")]
    place: Place,
    /// A file or directory in the image [default: the root]
    path: Option<String>,
    /// Sizes in bytes (of directories: their entries) and times (UTC)
    #[arg(short, long)]
    long: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

/// An entry, for JSON.
#[derive(Serialize)]
pub struct Row<'a> {
    pub name: &'a str,
    pub kind: &'static str,
    pub size: u64,
    /// Nanoseconds since 1970; nothing where there is no time.
    pub modified_ns: Option<u64>,
    pub inode: u32,
}

impl<'a> Row<'a> {
    /// The entry of an item, under a name of one's choice.
    pub fn of(item: &'a Item, name: &'a str) -> Self {
        Self {
            name,
            kind: kind(item.stat.kind),
            size: item.stat.size,
            modified_ns: Some(item.stat.modified_ns).filter(|&ns| ns != 0),
            inode: item.stat.inode,
        }
    }
}

/// What something is, in one word.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Directory => "directory",
        Kind::Symlink => "link",
        _ => "file",
    }
}

/// Runs `steady ls`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut volume = Volume::open(&arguments.place.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let path = arguments.place.below(arguments.path.as_deref());
    let items = items(&mut volume, &path)?;
    volume.close(&arguments.chip)?;
    if arguments.json {
        return print_json(&items.iter().map(|item| Row::of(item, &item.name)).collect::<Vec<_>>());
    }
    print(&if arguments.long { long(&items) } else { short(&items) })
}

/// The entries of a directory, or a file by itself.
fn items(volume: &mut Volume<'_>, path: &str) -> Result<Vec<Item>, Failure> {
    let stat = volume.stat(path)?;
    if is_directory(&stat) {
        return entries(volume, stat.inode, path);
    }
    Ok(vec![Item { name: path.trim_matches('/').to_string(), path: path.to_string(), depth: 0, is_last: true, stat }])
}

/// A name, with a slash behind that of a directory, and `@` behind that of a link.
pub fn shown(item: &Item) -> String {
    let mark = match item.stat.kind {
        Kind::Directory => "/",
        Kind::Symlink => "@",
        _ => "",
    };
    format!("{}{mark}", printable(&item.name))
}

fn short(items: &[Item]) -> String {
    items.iter().map(|item| shown(item) + "\n").collect()
}

fn long(items: &[Item]) -> String {
    let head = ["Size", "Modified", "Name"].map(String::from).to_vec();
    let row = |item: &Item| vec![format_count(item.stat.size), time::format(item.stat.modified_ns), shown(item)];
    let rows: Vec<_> = std::iter::once(head).chain(items.iter().map(row)).collect();
    table(&rows, &[Align::Right, Align::Left, Align::Left])
}
