//! `steady compress`: what is written below a directory is compressed from now on, and what is there as well if that is asked for.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::rewrite::rewrite;
use crate::image::tree::{Item, Kind, walk};
use crate::image::volume::is_directory;
use crate::image::{Volume, change};
use crate::output::print;
use clap::Args;
use std::path::PathBuf;
use steadyfs_host::plain::Rule;
use steadyfs_lab::table::facts;
use steadyfs_lab::units::{format_count, format_size};

/// Arguments of `steady compress`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// A directory in the image
    #[arg(value_name = "DIR")]
    directory: String,
    /// lz4, deflate:LEVEL or zstd:LEVEL, with /4KiB to /64KiB behind it for other chunks than of 16KiB; none for files as they are
    #[arg(value_name = "METHOD")]
    method: Rule,
    /// Write the files that are there anew, each as a whole or not at all
    #[arg(long)]
    files: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Directories that are made below DIR later take it over. A file is compressed once it has more than a logical page and the look at its first chunk says that it saves
pages; pictures and archives stay as they are. Every command and a mounted directory read compressed files as any other, and firmware does with `steadyfs-compress`.
On a mounted directory: setfattr -n user.steadyfs.compress -v lz4 DIR

Examples:
  steady compress card.img /logs lz4/4KiB
  steady compress card.img / zstd:19 --files";

/// Runs `steady compress`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    change(&arguments.image, &arguments.chip, |volume| {
        let path = &arguments.directory;
        let stat = volume.stat(path)?;
        if !is_directory(&stat) {
            return Err(volume.refuse(path, "is a file; expected a directory"));
        }
        let items = walk(volume, stat.inode, path)?;
        let directories = items.iter().filter(|item| item.is_directory()).map(|item| (item.stat.inode, item.path.as_str()));
        for (inode, path) in std::iter::once((stat.inode, path.as_str())).chain(directories) {
            let ruled = Rule::set(&mut volume.fs, inode, Some(arguments.method));
            ruled.map_err(|error| volume.fail_content(path, error))?;
        }
        if arguments.files { rewrite_all(volume, &items, arguments.method) } else { Ok(()) }
    })
}

/// Writes all files anew, and tells what that has saved.
fn rewrite_all(volume: &mut Volume<'_>, items: &[Item], rule: Rule) -> Result<(), Failure> {
    let files: Vec<_> = items.iter().filter(|item| item.stat.kind == Kind::File).collect();
    let (mut packed, mut before, mut after) = (0, 0, 0);
    for item in &files {
        let rewritten = rewrite(volume, item, rule.packing())?;
        packed += u64::from(rewritten.is_packed);
        before += rewritten.bytes_before;
        after += rewritten.bytes_after;
    }
    let told = [
        ("Files", format_count(files.len() as u64)),
        ("Compressed", format_count(packed)),
        ("Pages before", format_size(before)),
        ("Pages now", format_size(after)),
    ];
    print(&facts(told))
}
