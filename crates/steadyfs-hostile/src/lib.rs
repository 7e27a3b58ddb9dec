//! Hostile volumes and inputs, for the fuzz targets in `fuzz/` and the property tests of this
//! crate.
//!
//! Every target is a function of bytes. It panics if something is wrong: an access beyond the
//! medium or the lent RAM, a call that does not end, a broken promise. `fuzz/README.md` lists the
//! coverage of each target.
//!
//! | module | idea |
//! |---|---|
//! | [`checksum`] | the checksums of the format |
//! | [`choices`] | a fuzzer's bytes as choices |
//! | [`medium`] | a medium that holds anything, and a guard that counts |
//! | [`seal`] | right checksums around wrong content |
//! | [`volumes`] | sound volumes to be damaged |
//! | [`fields`] | the fields of a sound volume, to be forged |
//! | [`image`] | a whole medium as an input |
//! | [`mutate`] | damage to a sound volume |
//! | [`structures`] | one structure of the format with hostile content |
//! | [`exercise`] | everything that a user does |
//! | [`disk`] | everything that a file system above a disk does |
//! | [`forge`] | volumes with forged fields, put to hard use |
//! | [`operations`] | calls on a new volume, compared with an oracle |
//! | [`packed`] | compressed files with hostile entries and chunks |
//! | [`foreign`] | read-only images, and images of other file systems |
//! | [`inputs`] | inputs of the tools |

pub mod checksum;
pub mod choices;
pub mod disk;
pub mod exercise;
pub mod fields;
pub mod foreign;
pub mod forge;
pub mod image;
pub mod inputs;
pub mod kind;
pub mod medium;
pub mod mutate;
pub mod operations;
pub mod packed;
pub mod seal;
pub mod structures;
pub mod volumes;

/// The oracle of the core's tests.
#[path = "../../steadyfs/tests/common/mod.rs"]
mod common;

/// Parsers of the command line, which is not a library.
#[allow(dead_code, missing_docs, reason = "modules of another crate, of which a part is fuzzed")]
#[path = "../../steadyfs-cli/src/image"]
mod cli {
    pub mod names;
    pub mod place;
    pub mod time;
}

use choices::Choices;
use structures::Structure;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target, and of its file in `fuzz/targets`.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
    /// Bytes of a random input that reach all of the target.
    pub input_bytes: usize,
}

const fn target(name: &'static str, run: fn(&[u8]), input_bytes: usize) -> Target {
    Target { name, run, input_bytes }
}

/// All targets.
pub const TARGETS: [Target; 27] = [
    target("mount_arbitrary", mount_arbitrary, 1000),
    target("mount_mutated", mount_mutated, 200),
    target("disk_arbitrary", disk_arbitrary, 1000),
    target("disk_mutated", disk_mutated, 200),
    target("mount_forged", forge::mount, 150),
    target("disk_forged", forge::disk, 150),
    target("operations", operations::operations, 900),
    target("parse_superblock", |input| Structure::Superblock.run(input), 60),
    target("parse_root", |input| Structure::Root.run(input), 60),
    target("parse_tag", |input| Structure::Tag.run(input), 60),
    target("parse_journal", |input| Structure::Journal.run(input), 60),
    target("parse_leaf", |input| Structure::Leaf.run(input), 60),
    target("parse_inode", |input| Structure::Inode.run(input), 60),
    target("parse_directory", |input| Structure::Directory.run(input), 60),
    target("parse_index", |input| Structure::Index.run(input), 60),
    target("parse_units", inputs::units, 12),
    target("parse_trace", inputs::trace, 60),
    target("parse_profile", inputs::profile, 60),
    target("parse_names", inputs::names, 12),
    target("parse_image", inputs::image, 40),
    target("packed_block", packed::block, 200),
    target("packed_file", packed::file, 120),
    target("foreign_squash", foreign::squash, 60),
    target("foreign_cramfs", foreign::cram, 60),
    target("foreign_tree", foreign::convert, 60),
    target("foreign_sealed", foreign::sealed, 60),
    target("foreign_lzo", foreign::lzo_block, 200),
];

/// Runs an input through a target.
///
/// # Panics
/// If the input finds something, or if there is no such target.
pub fn run(target: &str, input: &[u8]) {
    let found = TARGETS.iter().find(|known| known.name == target);
    (found.unwrap_or_else(|| panic!("no target {target}")).run)(input);
}

/// Exercises a medium whose pages come from the input.
pub fn mount_arbitrary(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut ram = image::read(&mut choices);
    exercise::exercise(&mut ram, choices);
}

/// Damages a sound volume, and exercises it.
pub fn mount_mutated(input: &[u8]) {
    let mut choices = Choices::new(input);
    let volume = choices.of(volumes::volumes());
    let mut ram = mutate::mutated(volume, &mut choices);
    exercise::exercise(&mut ram, choices);
}

/// Exercises a disk on a medium whose pages come from the input.
pub fn disk_arbitrary(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut ram = image::read(&mut choices);
    disk::exercise(&mut ram, choices);
}

/// Damages a sound disk, and exercises it.
pub fn disk_mutated(input: &[u8]) {
    let mut choices = Choices::new(input);
    let volume = choices.of(volumes::disks());
    let mut ram = mutate::mutated(volume, &mut choices);
    disk::exercise(&mut ram, choices);
}
