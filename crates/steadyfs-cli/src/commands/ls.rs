//! `steady ls`: lists the entries of a directory.

use crate::Failure;
use crate::image::names::printable;
use crate::image::place::Place;
use crate::image::tree::{Files, Item, Kind};
use crate::image::{Memory, Opened, ReadOptions, time};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
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
    /// Show sizes in bytes (of directories: their entries) and times (UTC)
    #[arg(short, long)]
    long: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

/// An entry, for JSON.
#[derive(Serialize)]
pub struct Row<'a> {
    pub name: &'a str,
    pub kind: &'static str,
    pub size: u64,
    /// Nanoseconds since 1970; `None` if there is no time.
    pub modified_ns: Option<u64>,
    pub inode: u32,
}

impl<'a> Row<'a> {
    /// Returns the entry of an item, under a given name.
    pub fn of(item: &'a Item, name: &'a str) -> Self {
        Self {
            name,
            kind: item.stat.kind.name(),
            size: item.stat.size,
            modified_ns: Some(item.stat.modified_ns).filter(|&ns| ns != 0),
            inode: item.stat.inode,
        }
    }
}

/// Runs `steady ls`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut opened = Opened::open(&arguments.place.image, &arguments.reading, &mut memory)?;
    let path = arguments.place.below(arguments.path.as_deref());
    let items = items(opened.files(), &path)?;
    opened.close(&arguments.reading)?;
    if arguments.json {
        return print_json(&items.iter().map(|item| Row::of(item, &item.name)).collect::<Vec<_>>());
    }
    print(&if arguments.long { long(&items) } else { short(&items) })
}

/// Returns the entries of a directory, or a file by itself.
fn items(files: &mut dyn Files, path: &str) -> Result<Vec<Item>, Failure> {
    let stat = files.look(path)?;
    if stat.kind == Kind::Directory {
        return files.entries(stat.inode, path);
    }
    Ok(vec![Item { is_last: true, ..Item::new(path.trim_matches('/').to_string(), "", stat) }])
}

/// Returns a name with a mark behind it. The mark is a slash for a directory, `@` for a link, `|`
/// for a pipe and `=` for a socket.
pub fn shown(item: &Item) -> String {
    let mark = match item.stat.kind {
        Kind::Directory => "/",
        Kind::Symlink => "@",
        Kind::Fifo => "|",
        Kind::Socket => "=",
        Kind::File | Kind::BlockDevice | Kind::CharacterDevice => "",
    };
    format!("{}{mark}", printable(&item.name))
}

fn short(items: &[Item]) -> String {
    items.iter().map(|item| shown(item) + "\n").collect()
}

fn long(items: &[Item]) -> String {
    let head = ["Size", "Modified", "Name"].map(String::from).to_vec();
    let row = |item: &Item| {
        vec![format_count(item.stat.size), time::format(item.stat.modified_ns), shown(item)]
    };
    let rows: Vec<_> = std::iter::once(head).chain(items.iter().map(row)).collect();
    table(&rows, &[Align::Right, Align::Left, Align::Left])
}
