//! `steady compress`: compresses new files below a directory, and existing files on request.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::rewrite::rewrite;
use crate::image::tree::{Item, Kind, walk};
use crate::image::volume::is_directory;
use crate::image::{Volume, change};
use crate::output::print;
use clap::Args;
use std::collections::HashSet;
use std::path::PathBuf;
use steadyfs::InodeNumber;
use steadyfs_host::plain::{self, Rule};
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
    /// lz4, deflate:LEVEL or zstd:LEVEL, with /4KiB to /64KiB behind it for chunks of another
    /// size than 16KiB; none for no compression
    #[arg(value_name = "METHOD", value_parser = rule)]
    method: Rule,
    /// Also write the existing files anew, each as a whole or not at all: with their times,
    /// permissions and attributes, but other inode numbers
    #[arg(long)]
    files: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Directories below DIR also get the rule, if their rule was equal to the old rule of DIR, or both had
none. So do directories that are made there later. Other directories keep their rules. A file is
compressed if it is longer than a logical page and its first chunk shows that compression saves
pages. Pictures and archives stay as they are. Every command and a mounted directory read compressed
files like others. Firmware reads them with `steadyfs-compress`.
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
        // Directories with another rule than this one keep it, with everything below them.
        let said = said_of(volume, stat.inode, path)?;
        let mut follows = HashSet::from([stat.inode]);
        set(volume, stat.inode, path, arguments.method)?;
        for item in items.iter().filter(|item| item.is_directory()) {
            if follows.contains(&item.stat.parent)
                && said_of(volume, item.stat.inode, &item.path)? == said
            {
                set(volume, item.stat.inode, &item.path, arguments.method)?;
                follows.insert(item.stat.inode);
            }
        }
        let files = items
            .iter()
            .filter(|item| item.stat.kind == Kind::File && follows.contains(&item.stat.parent));
        if arguments.files { rewrite_all(volume, files, arguments.method) } else { Ok(()) }
    })
}

/// Returns the rule of a directory. A rule that this release does not support counts as none.
fn said_of(
    volume: &mut Volume<'_>,
    directory: InodeNumber,
    path: &str,
) -> Result<Option<Rule>, Failure> {
    match Rule::of(&mut volume.fs, directory) {
        Err(plain::Error::Rule) => Ok(None),
        said => said.map_err(|error| volume.fail_content(path, error)),
    }
}

fn set(
    volume: &mut Volume<'_>,
    directory: InodeNumber,
    path: &str,
    rule: Rule,
) -> Result<(), Failure> {
    Rule::set(&mut volume.fs, directory, Some(rule))
        .map_err(|error| volume.fail_content(path, error))
}

/// Reads a rule of the command line.
pub fn rule(text: &str) -> Result<Rule, String> {
    text.parse().map_err(|error| format!("{error}; or none"))
}

/// Writes all files anew, and prints the saving.
fn rewrite_all<'i>(
    volume: &mut Volume<'_>,
    files: impl Iterator<Item = &'i Item>,
    rule: Rule,
) -> Result<(), Failure> {
    let (mut count, mut packed, mut before, mut after) = (0, 0, 0, 0);
    for item in files {
        let rewritten = rewrite(volume, item, rule.packing()).map_err(
            |Failure { sentence: why, .. }| {
                Failure::new(format!(
                    "{why}; {count} files were written anew before, and new files follow the rule"
                ))
            },
        )?;
        count += 1;
        packed += u64::from(rewritten.is_packed);
        before += rewritten.bytes_before;
        after += rewritten.bytes_after;
    }
    let told = [
        ("Files", format_count(count)),
        ("Compressed", format_count(packed)),
        ("Pages before", format_size(before)),
        ("Pages now", format_size(after)),
    ];
    print(&facts(told))
}
