//! Tests the exchange of two names: files, directories, a file and a directory, and names that do
//! not fit into the inode. Power may fail at every operation.

use crate::common::oracle::{Model, Session};
use crate::common::spy::Spy;
use crate::common::steps::{EXPLICIT, Op};
use crate::common::{Device, Rng, SHAPES, for_seeds};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

#[test]
fn names_that_are_exchanged_name_what_the_other_did() {
    let long = "n".repeat(120);
    for_seeds("exchange", "names_that_are_exchanged_name_what_the_other_did", 12, |seed| {
        for shape in &SHAPES {
            let mut device: Device = shape.device(seed);
            let mut model = Model::new(EXPLICIT);
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            let mut rng = Rng(seed);
            session.create_dir("d").expect("create_dir");
            session.create_dir("d/e").expect("create_dir");
            session.create_dir(&long).expect("create_dir");
            let names = ["a", "b", "d", "d/e", "d/c", "d/e/f", &long, "missing", "d/e/missing"];
            for name in ["a", "b", "d/c", "d/e/f"] {
                session.open(name, true).expect("create");
                session.close(0).expect("close");
            }
            for _ in 0..60 {
                let [one, other] = [(); 2].map(|()| names[rng.below(names.len() as u64) as usize]);
                // The model returns the same error.
                let _ = session.exchange(one, other);
                if rng.below(5) == 0 {
                    session
                        .step(&if rng.below(2) == 0 { Op::Commit } else { Op::Rollback })
                        .expect("step");
                }
            }
            session.check().expect("contents");
        }
    });
}

#[test]
fn what_holds_the_other_is_not_exchanged_with_it() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.create_dir("d").expect("create_dir");
    fs.create_dir("d/e").expect("create_dir");
    for (one, other) in [("d", "d/e"), ("d/e", "d")] {
        assert_eq!(fs.exchange(one, other), Err(Error::IntoItself));
    }
    assert_eq!(fs.exchange("d", "d"), Ok(()));
    assert_eq!(fs.exchange("d", "x"), Err(Error::NotFound));
    assert_eq!(fs.exchange("/", "d"), Err(Error::InvalidName));
    assert_eq!(fs.stat("/").expect("stat").subdirectories, 1);
}

/// Reads the version from a file in each of two trees: `old` or `new`.
fn told<F: Flash>(fs: &mut FileSystem<'_, F>) -> [String; 2] {
    ["system/version", "update/version"].map(|name| {
        let mut file = fs.open(name, OpenOptions::READ).expect(name);
        let mut bytes = [0; 3];
        assert_eq!(fs.read(&mut file, 0, &mut bytes), Ok(3), "{name}");
        fs.close(file).expect("close");
        String::from_utf8(bytes.to_vec()).expect("text")
    })
}

#[test]
fn an_update_takes_the_place_of_the_old_tree_as_a_whole_wherever_power_fails() {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
    let mut volume =
        FileSystem::format(Spy::new(chip, u32::MAX), &config, &mut memory).expect("format");
    {
        let mut fs = FileSystem::mount(&mut volume, Access::ReadWrite, &mut memory).expect("mount");
        for (directory, version) in [("system", b"old"), ("update", b"new")] {
            fs.create_dir(directory).expect("create_dir");
            let mut file =
                fs.open(&format!("{directory}/version"), OpenOptions::CREATE).expect("create");
            fs.write(&mut file, 0, version).expect("write");
            fs.close(file).expect("close");
        }
        fs.commit().expect("commit");
    }
    // The chip refuses one program or erase. The call still succeeds completely, or returns an
    // error and has changed nothing.
    for refused in 1..12 {
        let mut chip = volume.again(u32::MAX);
        chip.refused = refused;
        let Ok(mut fs) = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory) else {
            continue;
        };
        let is_done = fs.exchange("system", "update").and_then(|()| fs.commit()).is_ok();
        assert_eq!(
            told(&mut fs),
            if is_done { ["new", "old"] } else { ["old", "new"] },
            "operation {refused} was refused"
        );
    }
    let mut seen = [false; 2];
    for left in 0.. {
        let mut cut = volume.again(left);
        let is_done = match FileSystem::mount(&mut cut, Access::ReadWrite, &mut memory) {
            Ok(mut fs) => fs.exchange("system", "update").and_then(|()| fs.commit()).is_ok(),
            Err(_) => false,
        };
        let mut fs =
            FileSystem::mount(cut.again(u32::MAX), Access::ReadWrite, &mut memory).expect("mount");
        let is_new = match told(&mut fs) {
            told if told == ["old", "new"] => false,
            told if told == ["new", "old"] => true,
            told => panic!("power failed after {left} operations: {told:?}"),
        };
        let mut scratch = vec![0; config.check_bytes(&geometry)];
        fs.check(&mut scratch, false, &mut |finding| {
            panic!("after {left} operations: {finding:?}")
        })
        .expect("check");
        assert!(is_new || !is_done, "a commit that was answered is gone");
        seen[usize::from(is_new)] = true;
        if is_done {
            break;
        }
    }
    assert_eq!(seen, [true; 2]);
}
