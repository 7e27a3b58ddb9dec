//! `steady stat`: what a file or directory is.

use super::ls::kind;
use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::names::printable;
use crate::image::place::Place;
use crate::image::volume::is_directory;
use crate::image::{Memory, Volume, time};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use steadyfs::{Access, Stat};
use steadyfs_lab::table::facts;
use steadyfs_lab::units::format_count;

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
    chip: ChipOptions,
}

#[derive(Serialize)]
struct Facts {
    path: String,
    kind: &'static str,
    /// Bytes of a file, entries of a directory.
    size: u64,
    /// Nanoseconds since 1970; nothing where there is no time.
    modified_ns: Option<u64>,
    inode: u32,
    parent: u32,
    generation: u32,
    /// Values byte by byte: they need not be text.
    attributes: BTreeMap<String, Vec<u8>>,
}

/// Runs `steady stat`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut volume = Volume::open(&arguments.place.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let path = arguments.place.below(arguments.path.as_deref());
    let stat = volume.stat(&path)?;
    let mut attributes = BTreeMap::new();
    let see = |key: &str, value: &[u8]| drop(attributes.insert(key.to_string(), value.to_vec()));
    volume.fs.attributes(stat.inode, see).map_err(|error| volume.fail(&path, error))?;
    volume.close(&arguments.chip)?;
    let facts = Facts::new(&path, &stat, attributes);
    if arguments.json { print_json(&facts) } else { print(&facts.text()) }
}

impl Facts {
    fn new(path: &str, stat: &Stat, attributes: BTreeMap<String, Vec<u8>>) -> Self {
        Self {
            path: format!("/{}", path.trim_matches('/')),
            kind: kind(is_directory(stat)),
            size: stat.size,
            modified_ns: Some(stat.modified_ns).filter(|&ns| ns != 0),
            inode: stat.inode,
            parent: stat.parent,
            generation: stat.generation,
            attributes,
        }
    }

    fn text(&self) -> String {
        let size = if self.kind == "file" { "Bytes" } else { "Entries" };
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
            ("Parent", self.parent.to_string()),
            ("Generation", self.generation.to_string()),
        ];
        let value = |bytes: &[u8]| printable(&String::from_utf8_lossy(bytes)).into_owned();
        let attributes = self.attributes.iter().map(|(key, bytes)| format!("Attribute {} = {}\n", printable(key), value(bytes)));
        facts(own) + &attributes.collect::<String>()
    }
}
