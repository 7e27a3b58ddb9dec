//! `steady put`: copies files and directories of the host into an image.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::import::{self, Directory, Import, Mode};
use crate::image::left_out::CANNOT_HOLD;
use crate::image::names::{join, last_name};
use crate::image::scan::{self, ScanOptions, Scanner, Source};
use crate::image::volume::is_directory;
use crate::image::{Volume, change};
use crate::progress::Progress;
use clap::Args;
use std::path::PathBuf;
use steadyfs::ROOT;

/// Arguments of `steady put`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Files of the host, with -r also directories
    #[arg(required = true, value_name = "FROM")]
    from: Vec<PathBuf>,
    /// Place in the image: an existing directory, or for one FROM a new name
    #[arg(value_name = "TO")]
    to: String,
    /// Take directories with all that they hold, and add to existing directories
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    scan: ScanOptions,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Files keep their times of modification, their attributes user.*, and mode, owner and group if the
volume keeps these. Standard error lists everything that a volume cannot hold. An existing file is
replaced as a whole, or not at all. New and replaced files are compressed by the rule of their
directory (`steady compress`). An interrupted command leaves the files that it had finished. A
killed command may leave a part of the next file, such as /~steady-put. The next command that writes
removes it; a file of yours with that name stays.

Examples:
  steady put card.img settings.toml /
  steady mkdir card.img assets && steady put -r card.img www fonts /assets";

/// Files are complete or absent, whenever the command ends.
const MODE: Mode = Mode { keeps_times: true, owner: None, is_atomic: true, packing: None };

/// Runs `steady put`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Scan everything of the host before the image is touched.
    let mut scanner = Scanner::new(arguments.scan);
    let scans = arguments
        .from
        .iter()
        .map(|path| Scan::of(path, arguments, &mut scanner))
        .collect::<Result<Vec<_>, _>>()?;
    let mut left = scanner.left;
    change(&arguments.image, &arguments.chip, |volume| {
        let mut progress = Progress::of(scans.iter().map(Scan::bytes).sum(), "put");
        let (parent, name) = target(volume, &arguments.to, scans.len())?;
        let mut import = Import { mode: MODE, progress: &mut progress, left: &mut left };
        scans.iter().try_for_each(|scan| {
            scan.put(volume, &parent, name.unwrap_or(&scan.source.name), &mut import)
        })
    })?;
    left.tell(CANNOT_HOLD);
    Ok(())
}

/// A file or directory of the command line, and everything below it.
struct Scan {
    source: Source<'static>,
    below: Vec<Source<'static>>,
}

impl Scan {
    fn of(
        path: &std::path::Path,
        arguments: &Arguments,
        scanner: &mut Scanner,
    ) -> Result<Self, Failure> {
        // Follow a link that is named on the command line.
        let source = scanner.named(path, scan::name_of(path)?)?;
        if source.is_directory && !arguments.recursive {
            return Err(Failure::at(
                path.display(),
                "is a directory; -r takes it with all that it holds",
            ));
        }
        let below = if source.is_directory { scanner.below(path)? } else { Vec::new() };
        Ok(Self { source, below })
    }

    fn bytes(&self) -> u64 {
        self.source.size + self.below.iter().map(|source| source.size).sum::<u64>()
    }

    fn put(
        &self,
        volume: &mut Volume<'_>,
        parent: &Directory,
        name: &str,
        import: &mut Import<'_>,
    ) -> Result<(), Failure> {
        if !self.source.is_directory {
            return import::file(volume, &self.source, parent, name, import);
        }
        let into = import::directory(volume, parent, name, &self.source, import)?;
        import::all(volume, &self.below, &into, import)
    }
}

/// Returns the target directory, and the name in it if that is not the name on the host.
fn target<'a>(
    volume: &mut Volume<'_>,
    to: &'a str,
    count: usize,
) -> Result<(Directory, Option<&'a str>), Failure> {
    if let Some(stat) = volume.find(to)?
        && is_directory(&stat)
    {
        return Ok((Directory { inode: stat.inode, path: to.trim_matches('/').to_string() }, None));
    }
    let name = last_name(to).filter(|_| count == 1 && !to.ends_with('/'));
    let Some(name) = name else {
        return Err(volume.refuse(to, "is no directory; expected an existing directory"));
    };
    let parent = &to[..to.len() - name.len()];
    let stat = if parent.is_empty() {
        volume.fs.stat(ROOT).map_err(|error| volume.fail("", error))?
    } else {
        volume.stat(parent)?
    };
    if !is_directory(&stat) {
        return Err(volume.refuse(&join("", parent), "is a file; expected a directory"));
    }
    Ok((Directory { inode: stat.inode, path: parent.trim_matches('/').to_string() }, Some(name)))
}
