//! SteadyFS: flash storage that keeps time.
//!
//! A file system for raw NAND and NOR flash on microcontrollers: no heap, no `unsafe`, a few KiB
//! of RAM, and **a computed worst case for every call**.
//!
//! # Promises
//! - **Bounded.** Before a call, [`CallBounds::of`] returns the maximum number of its reads,
//!   programs and erases.
//! - **Power-loss proof.** When a durable write or [`FileSystem::sync`] returns, its data
//!   survives any power cut. Uncommitted changes are wholly absent afterwards. Power may fail in
//!   the middle of any program or erase, and again during recovery.
//! - **No scan.** Mount, open, create and allocation take a bounded number of reads, for any
//!   number of files.
//!
//! # Layers
//! ```text
//!  fs | disk   files, directories,  small files inline, attributes, events that commit
//!     |        or sectors           flush, trim
//!   store      calls begin and end  reclamation at a pace, mount, repair
//!   logical    logical pages        rewrite in place, patch, discard, commit; journal, cache
//!   ftl        places of all pages  each room owns its state, and gets neighbours as arguments:
//!     |          commit  the open transaction   map    logical page → frame   root  start of a mount
//!     |          space   blocks, heads, order   pages  the device, one page of it in RAM
//!   media      tags, bad blocks     the Flash trait; NorPages makes NOR look like it
//!     |
//!   your driver
//! ```
//! Data flows one way: a layer calls the layer below it and does not depend on the layer above.
//! `docs/design.md` gives the reasons for this design. `docs/format.md` describes the bytes on
//! the medium.
//!
//! # Example
//! ```
//! use steadyfs::{Access, Call, Config, FileSystem, OpenOptions};
//! # let small = steadyfs::media::Geometry {
//! #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
//! # let flash = steadyfs_sim::Nand::with_geometry(small, steadyfs_sim::NandTiming::ROUND, 1);
//! let geometry = steadyfs::media::Flash::geometry(&flash);
//! let config = Config::for_geometry(&geometry);
//! let mut memory = vec![0; config.memory_bytes(&geometry)]; // on a board: a static array
//!
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//!
//! let mut log = fs.open("log", OpenOptions::DURABLE)?;
//! println!("an append costs at most {:?}", fs.bounds().of(Call::Write(64)));
//! fs.append(&mut log, b"21.5 degrees\n")?; // on the medium when it returns
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The [guide] has more examples: a logger, a configuration store, a firmware update, a boot
//! counter. It also helps to choose settings. [guide::drivers] has two complete drivers, for SPI
//! NAND and for SPI NOR.
//!
//! # Where to go on
//! - Your chip: implement [`media::Flash`] or [`media::nor::NorFlash`], and choose settings with
//!   [`Config`].
//! - Your card or disk: [`media::sectors`]. The crate `steadyfs-drivers` drives SD cards on SPI.
//! - Files: [`FileSystem`] and its calls. [`CommitOn`] decides when changes become durable.
//! - Reading only: a program that uses only [`Reader`] contains no code that writes.
//!   [`CleanReader`] also needs no code for recovery, but it refuses volumes that were not
//!   unmounted.
//! - Sectors instead of files, for FAT or another file system above: [`disk`].
//! - Data with a common lifetime: [`Config::streams`]. [`streams`] has maps for hosts that already
//!   sort their data by lifetime.
//! - Time: [`CallBounds::of`] for one call, [`CallBounds::envelopes`] for many calls in a row,
//!   [`FileSystem::maintain`] for idle time.
//! - Failures: [`Error`], [`MountError`], [`FileSystem::health`], [`FileSystem::check`],
//!   [`FileSystem::repair`].

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

// The tests run the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[doc = include_str!("guide.md")]
pub mod guide {
    #[doc = include_str!("drivers.md")]
    pub mod drivers {}
}

mod commit;
mod config;
mod cost;
pub mod disk;
mod error;
mod features;
mod fields;
mod format;
mod fs;
mod ftl;
mod journal;
mod logical;
mod map;
pub mod media;
mod mount;
mod pages;
mod processor;
mod reclaim;
mod root;
mod space;
mod store;
pub mod streams;
mod table;

pub use config::Config;
pub use cost::{Bound, BoundBreakdown, Budget, Cost, Envelope};
pub use error::{ConfigError, Error, MountError};
pub use format::VERSION as FORMAT_VERSION;
pub use fs::{
    Call, CallBounds, CallSequence, Change, CheckReport, CleanReader, CommitLimits, CommitOn,
    Cursor, Entry, File, FileSystem, Finding, InodeNumber, Kind, Location, NAME_BYTES_MAX,
    OPEN_FILE_BYTES, OpenOptions, Permissions, ROOT, Reader, Repairs, SeekTo, Stat,
    TransactionRoom, Usage,
};
pub use ftl::{BlockInfo, BlockState, Health};
pub use mount::{Access, Damage, Superblocks};
pub use pages::Verify;
pub use processor::Processor;
pub use store::Description;
