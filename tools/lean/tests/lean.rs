//! Tests a build without features. It does everything that it can, and refuses the rest with a
//! matching error. Nothing is lost.
//!
//! With a feature, the tests expect exactly the calls that this feature enables.

#[allow(dead_code, reason = "shared with the tests of the format")]
#[path = "../../../crates/steadyfs/tests/image/mod.rs"]
mod image;

use std::collections::BTreeMap;
use steadyfs::media::Geometry;
use steadyfs::{
    Access, Config, ConfigError, Cursor, Error, FileSystem, MountError, OpenOptions, ROOT,
};
use steadyfs_sim::{Nand, NandTiming};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 48, programs_bytes: false };
/// One byte more than an inode has room for.
const LONG: &str = "a name of sixty-five bytes, which is one more than an inode holds";

fn allows(is_there: bool) -> Result<(), Error> {
    if is_there { Ok(()) } else { Err(Error::Unsupported) }
}

#[test]
fn what_the_build_lacks_is_refused_and_nothing_has_changed() {
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let chip = FileSystem::format(
        Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1),
        &config,
        &mut memory,
    )
    .expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");

    let named = fs.open(LONG, OpenOptions::DURABLE).map(|file| fs.close(file).expect("close"));
    assert_eq!(named, allows(cfg!(feature = "long-names")));

    let mut file = fs
        .open("a", OpenOptions { truncate: true, ..OpenOptions::DURABLE })
        .expect("an empty file needs no cut");
    fs.write(&mut file, 0, &[7; 3000]).expect("write");
    fs.close(file).expect("close");
    let cut = fs
        .open("a", OpenOptions { truncate: true, ..OpenOptions::DURABLE })
        .map(|file| fs.close(file).expect("close"));
    assert_eq!(cut, allows(cfg!(feature = "truncate")));
    let size = if cfg!(feature = "truncate") { 0 } else { 3000 };
    assert_eq!(fs.stat("a").expect("stat").size, size);
    fs.remove("a").expect("removed all the same");

    let mut left = Vec::new();
    let mut cursor = Cursor::default();
    while let Some(entry) = fs.list(ROOT, &mut cursor).expect("list") {
        left.push(entry.name().to_string());
    }
    assert_eq!(
        left,
        if cfg!(feature = "long-names") { vec![LONG.to_string()] } else { Vec::new() }
    );
}

#[test]
fn a_medium_that_programs_bytes_needs_its_feature() {
    let nor =
        Geometry { page_bytes: 256, pages_per_block: 15, block_count: 256, programs_bytes: true };
    let expected = if cfg!(feature = "nor") { Ok(()) } else { Err(ConfigError::ProgramsBytes) };
    assert_eq!(Config::for_geometry(&nor).check(&nor), expected);
}

#[test]
fn a_volume_that_keeps_permissions_needs_its_feature() {
    let config = Config { permissions: true, ..Config::for_geometry(&GEOMETRY) };
    let expected =
        if cfg!(feature = "permissions") { Ok(()) } else { Err(ConfigError::Permissions) };
    assert_eq!(config.check(&GEOMETRY), expected);
}

#[test]
fn a_volume_with_streams_needs_its_feature() {
    let geometry = Geometry { block_count: 128, ..GEOMETRY };
    let config = Config { streams: 2, ..Config::for_geometry(&geometry) };
    let expected = if cfg!(feature = "streams") { Ok(()) } else { Err(ConfigError::NoStreams) };
    assert_eq!(config.check(&geometry), expected);
}

#[test]
fn a_volume_of_a_full_build_is_read_and_changed() {
    let mut memory = vec![0; image::CONFIG.memory_bytes(&image::GEOMETRY)];
    let mut chip = image::chip();
    for round in 0..3u8 {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        for (path, node) in image::expected() {
            let long = path.rsplit('/').next().is_some_and(|name| name.len() > 64)
                && !cfg!(feature = "long-names");
            let Some(mut data) = node.data else { continue };
            let mut file = match fs.open(&path, OpenOptions::WRITE) {
                Err(Error::Unsupported) if long => continue,
                result => result.unwrap_or_else(|error| panic!("{path}: {error}")),
            };
            assert!(!long, "{path}");
            data.extend((0..round).flat_map(|round| [round; 300]));
            let mut found = vec![0; data.len() + 1];
            assert_eq!(fs.read(&mut file, 0, &mut found), Ok(data.len()), "{path}");
            assert_eq!(&found[..data.len()], data, "{path}");
            fs.append(&mut file, &[round; 300]).expect("append");
            fs.close(file).expect("close");
        }
        fs.unmount().expect("unmount");
    }
}

/// Creates, appends to and removes random files, with power cuts between, until a block was
/// erased more than 50 times.
#[test]
fn a_life_without_features_loses_nothing() {
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let mut chip = FileSystem::format(
        Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1),
        &config,
        &mut memory,
    )
    .expect("format");
    let (mut random, mut files) = (fastrand::Rng::with_seed(1), BTreeMap::<String, Vec<u8>>::new());
    for _ in 0..40 {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        for (name, data) in &files {
            let mut file = fs.open(name, OpenOptions::READ).expect("open");
            let mut found = vec![0; data.len() + 1];
            assert_eq!(fs.read(&mut file, 0, &mut found), Ok(data.len()), "{name}");
            assert_eq!(&found[..data.len()], data, "{name}");
            fs.close(file).expect("close");
        }
        for _ in 0..200 {
            let name = format!("file {}", random.u8(..16));
            if random.u8(..4) == 0 {
                assert_eq!(
                    fs.remove(&name),
                    if files.remove(&name).is_some() { Ok(()) } else { Err(Error::NotFound) }
                );
                fs.sync(steadyfs::CommitOn::SYNC).expect("sync");
                continue;
            }
            let more: Vec<u8> = (0..random.usize(1..1500)).map(|_| random.u8(..)).collect();
            let mut file = fs.open(&name, OpenOptions::DURABLE).expect("open");
            fs.append(&mut file, &more).expect("append");
            fs.close(file).expect("close");
            files.entry(name).or_default().extend(more);
        }
        // The volume is dropped, not unmounted: a power cut.
        drop(fs);
    }
    let fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    assert!(fs.health().erases_max > 50, "{:?}", fs.health());
}

#[test]
fn a_build_without_the_medium_says_so_at_a_mount() {
    if cfg!(feature = "nor") {
        return;
    }
    let nor = Geometry { programs_bytes: true, ..GEOMETRY };
    let mut memory = vec![0; 100_000];
    let chip = Nand::with_geometry(nor, NandTiming::ROUND, 1);
    let result = FileSystem::format(chip, &Config::for_geometry(&GEOMETRY), &mut memory);
    assert!(matches!(result, Err(MountError::Config(ConfigError::ProgramsBytes))));
}
