//! Simulated flash chips, which enforce the rules of real chips and compute their time.
//!
//! ```text
//!   Trace<F>  PowerCut<F>  FailOps<F>        wrappers: record, cut power, fail operations, wear
//!     \  BitErrors<F>  WriteCache<F>  /      out, flip bits, lose what was not flushed
//!      \          |                  /
//!         Nand      NorPages<Nor>            chips: rules, virtual time, wear, torn pages
//!              \   /
//!             Profile                        figures of real chips, each with its source
//! ```
//!
//! - [`profile`]: the figures of a chip, which are read from TOML. Twelve chips are built in.
//! - [`nand`], [`nor`]: the chips. Time is a number that every operation advances. No call sleeps.
//!   Equal seeds and equal calls give equal bytes. **Illegal use of a chip panics**, with the
//!   block, the page and the rule.
//! - [`fault`]: faults, as wrappers around any chip, so that the code under test has no hooks of
//!   its own.
//! - [`meter`]: the counters that every chip keeps and every wrapper passes on.
//! - [`sectors`]: managed flash as seen from outside: sectors behind a cache whose content a power
//!   cut may lose.
//! - [`managed`]: access times of SD cards, eMMC and disks, derived from models of their
//!   translation layers.
//! - [`emmc`]: a disk behind the commands of an eMMC, whose contexts are streams.
//! - [`sd_spi`], [`nor_spi`], [`nand_spi`]: an SD card, a NOR chip and a NAND chip, byte by byte on
//!   the bus, for drivers. [`wire`] is the bus of the NOR and NAND chips.
//!
//! Everything is `Clone`. Chips share their pages with their clones until one of them writes, so
//! that a test can cheaply take a snapshot before each power cut.
//!
//! ```
//! use steadyfs::media::Flash;
//! use steadyfs_sim::{Metered, Nand, Profile, TimingChoice};
//!
//! let profile = Profile::named("mt29f1g01abafd").unwrap();
//! let mut chip = Nand::new(&profile, TimingChoice::Typical, 1);
//! chip.program(0, b"hello", &[0; 16]).unwrap();
//!
//! let (mut data, mut tag) = ([0; 2048], [0; 16]);
//! chip.read(0, &mut data, &mut tag).unwrap();
//! assert!(data.starts_with(b"hello\xFF"));
//! assert_eq!(chip.counters().programs, 1);
//! ```

// The tests run the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod checksum;
pub mod emmc;
pub mod fault;
mod garble;
pub mod managed;
pub mod meter;
pub mod nand;
pub mod nand_spi;
pub mod nor;
pub mod nor_spi;
pub mod profile;
pub mod sd_spi;
pub mod sectors;
pub mod wire;

pub use checksum::checksum;
pub use fault::{
    BitErrorModel, BitErrors, FailOps, Lives, PowerCut, Survivors, Tearable, Torn, Trace,
    WriteCache,
};
pub use meter::{Counters, Metered};
pub use nand::{Nand, NandTiming};
pub use nor::{Nor, NorTiming};
pub use profile::{Chip, Driver, NandProfile, NorProfile, Profile, ProfileError, TimingChoice};
pub use sectors::Sectors;
