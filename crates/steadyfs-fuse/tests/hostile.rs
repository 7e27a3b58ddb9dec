//! A volume made to do harm, in the view of the kernel.

#![cfg(target_os = "linux")]

mod common;

use std::fs;

use steadyfs::media::Geometry;
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_fuse::{Failure, Options, spawn};
use steadyfs_hostile::medium::Ram;
use steadyfs_hostile::seal::forge;

/// Makes a volume with names that the kernel accepts, and others that it refuses.
fn hostile(config: &Config, geometry: &Geometry) -> Ram {
    let mut memory = vec![0; config.memory_bytes(geometry)];
    let ram = FileSystem::format(Ram::new(*geometry), config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).unwrap();
    for name in ["good", "slash", "nul's", "control"] {
        let mut file = fs.open(name, OpenOptions::CREATE).unwrap();
        fs.write(&mut file, 0, name.as_bytes()).unwrap();
        fs.close(file).unwrap();
    }
    fs.create_dir("QZ").unwrap();
    let mut ram = fs.unmount().unwrap();
    for (from, to) in
        [("slash", "../sh"), ("nul's", "nul\0s"), ("QZ", ".."), ("control", "co\x1b[2Jl")]
    {
        assert!(forge(&mut ram, from.as_bytes(), to.as_bytes()) > 0);
    }
    ram
}

#[test]
fn names_that_the_kernel_does_not_take_hide_no_others_from_programs() {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
    let config = Config::for_geometry(&geometry);
    let directory = tempfile::tempdir().unwrap();
    let memory = vec![0; config.memory_bytes(&geometry)];
    let ram = hostile(&config, &geometry);
    let mounted = match spawn(
        ram,
        Access::ReadOnly,
        memory,
        directory.path(),
        Options { read_only: true, ..Options::default() },
    ) {
        Err(Failure::Kernel(error)) if common::is_refused(&error) => {
            println!("skipped: this machine does not let us mount: {error}");
            return;
        }
        result => result.unwrap(),
    };
    let entries = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    assert_eq!(names, ["co\x1b[2Jl", "good"]);
    assert_eq!(fs::read(directory.path().join("good")).unwrap(), b"good");
    mounted.unmount().unwrap();
}
