//! `steady tree`: lists everything below a directory.

use super::ls::{Row, shown};
use crate::Failure;
use crate::image::names::printable;
use crate::image::place::Place;
use crate::image::tree::{Item, Kind, totals, walk};
use crate::image::{Memory, Opened, ReadOptions};
use crate::output::{print, print_json};
use clap::Args;
use steadyfs_lab::units::format_size;

/// Arguments of `steady tree`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image; a path in it may follow a colon
    #[arg(value_name = "IMG[:PATH]")]
    place: Place,
    /// A directory in the image [default: the root]
    path: Option<String>,
    /// Print JSON: a list, with paths for names
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

/// Runs `steady tree`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut opened = Opened::open(&arguments.place.image, &arguments.reading, &mut memory)?;
    let path = arguments.place.below(arguments.path.as_deref());
    let stat = opened.files().look(&path)?;
    if stat.kind != Kind::Directory {
        return Err(opened.files().fault(&path, &"is a file; expected a directory"));
    }
    let items = walk(opened.files(), stat.inode, &path)?;
    opened.close(&arguments.reading)?;
    if arguments.json {
        return print_json(
            &items
                .iter()
                .map(|item| Row::of(item, item.path.trim_start_matches('/')))
                .collect::<Vec<_>>(),
        );
    }
    print(&drawing(&path, &items))
}

/// Draws the items as branches, with their totals.
fn drawing(path: &str, items: &[Item]) -> String {
    let mut text = format!("/{}\n", printable(path.trim_matches('/')));
    // For each depth, true if the directory has more entries below.
    let mut goes_on = Vec::new();
    for item in items {
        goes_on.truncate(item.depth);
        text.extend(goes_on.iter().map(|&goes_on| if goes_on { "│   " } else { "    " }));
        text.push_str(if item.is_last { "└── " } else { "├── " });
        text.push_str(&shown(item));
        text.push('\n');
        goes_on.push(!item.is_last);
    }
    let (files, directories, bytes) = totals(items);
    text + &format!(
        "\n{}, {}, {}\n",
        counted(files, "file", "files"),
        counted(directories, "directory", "directories"),
        format_size(bytes)
    )
}

/// Returns a number with its noun.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", steadyfs_lab::units::format_count(count), if count == 1 { one } else { many })
}
