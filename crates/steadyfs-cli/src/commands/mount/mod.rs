//! `steady mount`: mounts a volume on a directory of Linux.

mod background;
mod options;
mod order;
mod serve;

pub use options::{is_helper, of_helper};
pub use serve::run;

use crate::commands::compress::rule;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use steadyfs::{CommitLimits, CommitOn};
use steadyfs_host::plain::Rule;
use steadyfs_lab::units::parse_size;

/// Arguments of `steady mount`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// The directory to mount it on
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Also mount on a directory that is not empty, and hide its content until the end
    #[arg(long)]
    nonempty: bool,
    /// Refuse a volume that is no disk; a disk is always shown as the one file DIR/disk
    #[arg(long)]
    disk: bool,
    /// Allow no change
    #[arg(long)]
    read_only: bool,
    /// Let other users in too
    #[arg(long)]
    allow_other: bool,
    /// Run no programs from the mount
    #[arg(long)]
    no_exec: bool,
    /// Accept changes of mode, owner and group on a volume that keeps none, and ignore them
    #[arg(long)]
    quiet_permissions: bool,
    /// Events that make changes durable on the chip
    #[arg(long, value_name = "EVENTS", default_value = "timed", value_parser = events())]
    commit_on: Events,
    /// Longest time that a change waits for a timed commit, in milliseconds
    #[arg(
        long,
        value_name = "MS",
        allow_hyphen_values = true,
        default_value_t = 1000,
        value_parser = crate::number::from::<u64>(1)
    )]
    commit_interval: u64,
    /// Commit when this many writes and other changes wait, if nothing else comes first
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::from::<u32>(1)
    )]
    commit_every: Option<u32>,
    /// Commit when this many bytes wait, if nothing else comes first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = commit_bytes)]
    commit_bytes: Option<u32>,
    /// Compress written files, if that saves pages and their directory has no other rule: lz4,
    /// zstd:LEVEL, … with /64KiB behind it for larger chunks
    #[arg(long, value_name = "METHOD", value_parser = rule)]
    compress: Option<Rule>,
    /// At the end, list in this file the files that were opened for reading, in the order of
    /// their first opening. `--order` of `steady pack` takes the list
    #[arg(long, value_name = "FILE")]
    opened: Option<PathBuf>,
    /// RAM that keeps repeatedly read pages of the chip; 0 B keeps nothing
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "4 MiB",
        value_parser = parse_size
    )]
    read_cache: u64,
    /// Count the time of this chip: a name (see `steady devices`) or a file in TOML
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = crate::device::any)]
    device: Option<String>,
    /// Accept only data of a read-only image that this public key verifies
    #[arg(long, value_name = "KEY.pub")]
    verify_key: Option<PathBuf>,
    /// Take the time of --device as well, so that programs run at the speed of the device
    #[arg(long)]
    real_time: bool,
    /// Return when it is mounted, and serve it in the background
    #[arg(long)]
    background: bool,
    /// The same settings as in `fstab`: ro, noexec, sync, allow_other, commit_interval=MS, …
    #[arg(short = 'o', value_name = "OPTION,…", value_delimiter = ',')]
    option: Vec<String>,
    /// Print nothing at the end: there may be no reader
    #[arg(long, hide = true)]
    quiet: bool,
}

const AFTER_HELP: &str = "\
The command serves the directory until `umount DIR` or Ctrl-C. Then it prints the operations of the
chip, with --device also their time, and the number of pages that needed corrections. In idle time
it reads the whole chip in about a month, and moves weak data.

DIR is an empty directory without other mounts below it, and not `/`. The command unmounts only its
own mount. If another mount lies on it, Ctrl-C only reports this; a second Ctrl-C ends the service
but leaves the mount. If files of the mount are open, Ctrl-C commits, takes the mount out of the
tree and reports this. The service ends when the last file is closed, or at a second Ctrl-C.

With a link /sbin/mount.fuse.steadyfs to this command, mount(8) finds it, and fstab takes
  /dev/mtd3  /data  fuse.steadyfs  allow_other,nofail  0  0

A disk (`steady format --disk`) is the one file DIR/disk: mke2fs, mkfs.vfat and similar tools work
on it, and `mount -o loop` attaches it. fsync of it is a flush. Holes that are punched in it are
trimmed.

An image that is only read (squashfs, cramfs, JFFS2, UBIFS, or from `steady pack --read-only`) is
mounted as well, but cannot be changed.

Events: timed (after the interval, and at fsync), flush (at fsync), close (when a file is closed,
and when names change), write (at every call). With --commit-every or --commit-bytes, a commit also
comes as soon as that much waits. A power cut then loses less than that, and a card takes several
times the rate of a commit for each write.

Example:
  mkdir /tmp/card && steady mount card.img /tmp/card --device mt29f1g01abafd --real-time";

/// The events that commit, by the name of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Events(CommitOn);

const EVENTS: [(&str, CommitOn); 4] = [
    ("timed", CommitOn::TIMED_AND_ON_SYNC),
    ("flush", CommitOn::ON_SYNC),
    ("close", CommitOn::ON_CLOSE),
    ("write", CommitOn::EVERY_WRITE),
];

impl Events {
    /// Returns the events of a preset.
    fn named(name: &str) -> Result<Self, String> {
        let found =
            EVENTS.iter().find(|(known, _)| *known == name).map(|(_, events)| Self(*events));
        found.ok_or_else(|| {
            format!("commit_on={name}: expected one of {}", EVENTS.map(|(name, _)| name).join(", "))
        })
    }
}

/// Reads the number of bytes that may wait.
fn commit_bytes(text: &str) -> Result<u32, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    u32::try_from(bytes)
        .ok()
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected 1 B to 4 GiB".to_string())
}

impl Arguments {
    /// Returns the events that commit, from the preset, and the limits that were set.
    fn commit_on(&self) -> (CommitOn, CommitLimits) {
        let limits = CommitLimits {
            changes: self.commit_every.unwrap_or(0),
            bytes: self.commit_bytes.unwrap_or(0),
        };
        let many = if limits == CommitLimits::default() { CommitOn::NONE } else { CommitOn::MANY };
        (self.commit_on.0.with(many), limits)
    }
}

fn events() -> impl TypedValueParser<Value = Events> {
    PossibleValuesParser::new(EVENTS.map(|(name, _)| name)).try_map(|name| Events::named(&name))
}
