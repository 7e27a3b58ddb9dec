//! Tests directories with hundreds and thousands of names. The names are found, listed and
//! renamed while the directory grows. Also tests paths and refused calls.

use crate::common::oracle::{Model, Session, contents};
use crate::common::steps::{EXPLICIT, Op, name};
use crate::common::tree::join;
use crate::common::{Device, Rng, SHAPES, Shape, bounded, cost_since, for_seeds};
use steadyfs::{Access, Call, CommitOn, Config, Cursor, Error, OpenOptions, ROOT};

/// Returns the number of names for the directories of a shape: enough for several splits of every
/// bucket, but no more than the small chips have room for.
fn names_max(shape: &Shape) -> u16 {
    match (shape.page_bytes * shape.pages_per_block * shape.block_count) >> 18 {
        0..2 => 200,
        2..4 => 400,
        _ => 800,
    }
}

/// Returns an empty volume. Its file table has room for all names, with the long names counted
/// twice.
fn device(shape: &Shape, seed: u64) -> Device {
    let config = Config { files_max: 2 * u32::from(names_max(shape)), ..shape.config() };
    shape.device_with_config(config, seed)
}

/// Returns short and long names. The longest name is rare, because it takes an additional inode.
fn many(number: u16) -> String {
    if number.is_multiple_of(16) { name(number / 16 * 8 + 7) } else { format!("entry {number}") }
}

#[test]
fn every_name_of_a_large_directory_is_found_and_listed_once() {
    for_seeds(
        "directories",
        "every_name_of_a_large_directory_is_found_and_listed_once",
        SHAPES.len() as u64,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (mut device, mut model) = (device(shape, seed), Model::new(EXPLICIT));
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            session.create_dir("many").expect("create_dir");
            for number in 0..names_max(shape) {
                session.open(&join("many", &many(number)), true).expect("create").expect("room");
                session.close(0).expect("close");
            }
            session.check().expect("contents");
            for number in 0..names_max(shape) {
                session.stat(&join("many", &many(number))).expect("stat");
                session
                    .stat(&join("many", &format!("no entry {number}")))
                    .expect("stat of nothing");
            }
            session.remove_all().expect("remove");
        },
    );
}

#[test]
fn entries_that_stay_are_listed_once_while_others_come_and_go() {
    for_seeds(
        "directories",
        "entries_that_stay_are_listed_once_while_others_come_and_go",
        SHAPES.len() as u64,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (mut device, mut model, mut rng) =
                (device(shape, seed), Model::new(CommitOn::EVERY_WRITE), Rng(seed));
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            session.create_dir("many").expect("create_dir");
            let count = u64::from(names_max(shape)) / 2;
            let path = |number: u64| join("many", &many(number as u16));
            // A few names to begin with: the listing begins with one or two buckets and ends with
            // dozens.
            for number in 0..12 {
                session.open(&path(number), false).expect("create");
            }
            for round in 0..3 {
                session.start_listing("many");
                while session.listing.is_some() {
                    for _ in 0..rng.below(12) {
                        let (from, to) = (path(rng.below(count)), path(rng.below(count)));
                        match rng.below(if round == 2 { 4 } else { 10 }) {
                            0 => session.remove(&from).expect("remove"),
                            1 => session.rename(&from, &to).expect("rename"),
                            2 => session.step(&Op::Commit).expect("commit"),
                            _ => session.open(&from, false).map(drop).expect("create"),
                        }
                        session.note_listing();
                    }
                    session.list_one().expect("list");
                }
            }
            session.check().expect("contents");
        },
    );
}

#[test]
fn a_directory_of_a_thousand_names_survives_power_cuts_while_it_grows() {
    for_seeds(
        "directories",
        "a_directory_of_a_thousand_names_survives_power_cuts_while_it_grows",
        12,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (mut device, mut model, mut rng) =
                (device(shape, seed), Model::new(EXPLICIT), Rng(seed));
            let mut number = 0;
            while number < names_max(shape) / 2 {
                device.power_cycle();
                let mut session = Session::mount(&mut device, &mut model).expect("mount");
                session.fs.flash_mut().inner_mut().cut_at(1 + rng.below(80));
                // Until power fails.
                while number < names_max(shape) / 2 {
                    let created = session.open(&join("", &many(number)), rng.one_in(4));
                    match created.and_then(|_| {
                        if rng.one_in(9) { session.step(&Op::Commit) } else { Ok(()) }
                    }) {
                        Ok(()) => number += 1,
                        Err(error) => {
                            assert!(
                                matches!(error, Error::Device | Error::Unknown | Error::ReadOnly),
                                "{error}"
                            );
                            break;
                        }
                    }
                }
            }
            device.power_cycle();
            Session::mount(&mut device, &mut model).expect("mount");
        },
    );
}

#[test]
fn paths_go_up_down_and_nowhere() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let a = fs.create_dir("a").expect("create_dir");
    let b = fs.create_dir("/a/b/").expect("create_dir");
    let file = fs.open("a/b/file", OpenOptions::CREATE).expect("create");
    let inode = file.inode();
    fs.close(file).expect("close");
    for path in ["a/b/file", "/a//b/./file", "a/b/../b/file", "../a/b/file", "a/../a/b/file/"] {
        assert_eq!(fs.stat(path).map(|stat| stat.inode), Ok(inode), "{path}");
    }
    assert_eq!(fs.stat((b, "file")).map(|stat| stat.inode), Ok(inode));
    assert_eq!(fs.stat((b, "..")).map(|stat| stat.inode), Ok(a));
    assert_eq!(fs.stat((b, "../../a/b")).map(|stat| (stat.inode, stat.parent)), Ok((b, a)));
    assert_eq!(
        fs.stat("").map(|stat| (stat.inode, stat.parent, stat.subdirectories)),
        Ok((ROOT, ROOT, 1))
    );
    let refused = [
        (fs.stat("a/c/file").err(), Error::NotFound),
        (fs.stat("a/b/file/x").err(), Error::NotADirectory),
        (fs.stat((inode, "x")).err(), Error::NotADirectory),
        (fs.stat((9999, "x")).err(), Error::NotFound),
        (fs.list(inode, &mut Cursor::default()).err(), Error::NotADirectory),
        (fs.list(9999, &mut Cursor::default()).err(), Error::NotFound),
        (fs.open("a/b", OpenOptions::CREATE).err(), Error::IsADirectory),
        (fs.open("a/..", OpenOptions::READ).err(), Error::IsADirectory),
        (fs.create_dir("a").err(), Error::Exists),
        (fs.create_dir("a/b/file").err(), Error::Exists),
        (fs.create_dir("/").err(), Error::Exists),
        (fs.remove("a").err(), Error::IsADirectory),
        (fs.remove("/").err(), Error::InvalidName),
        (fs.remove_dir("a").err(), Error::NotEmpty),
        (fs.remove_dir("a/b/file").err(), Error::NotADirectory),
        (fs.remove_dir("a/b/..").err(), Error::InvalidName),
        (fs.rename("a", "a/b/c").err(), Error::IntoItself),
        (fs.rename("a", "a/c").err(), Error::IntoItself),
        (fs.rename("a/b/file", "a").err(), Error::IsADirectory),
        (fs.rename("a", "a/b/file/").err(), Error::IntoItself),
        (fs.rename("c", "a/c").err(), Error::NotFound),
        (fs.open("a\0b", OpenOptions::CREATE).err(), Error::InvalidName),
        (fs.open(&"n".repeat(256), OpenOptions::CREATE).err(), Error::NameTooLong),
        (fs.rename("a/b/file", &"n".repeat(256)).err(), Error::NameTooLong),
    ];
    for (index, (found, expected)) in refused.into_iter().enumerate() {
        assert_eq!(found, Some(expected), "refusal {index}");
    }
    assert_eq!(fs.rename("a", "a"), Ok(()));
    fs.rename("a/b", "b").expect("rename");
    assert_eq!(fs.stat((b, "..")).map(|stat| stat.inode), Ok(ROOT));
    assert_eq!(fs.stat("b/file").map(|stat| stat.inode), Ok(inode));
}

#[test]
fn names_may_be_as_long_as_the_settings_say_and_no_longer() {
    for most in [1, 63, 64, 65, 254, 255_u8] {
        let config = Config { name_bytes_max: most, ..SHAPES[0].config() };
        let mut device = SHAPES[0].device_with_config(config, 1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let (longest, longer) = ("n".repeat(most.into()), "n".repeat(usize::from(most) + 1));
        let file = fs.open(&longest, OpenOptions::DURABLE).expect("create");
        fs.close(file).expect("close");
        assert_eq!(fs.open(&longer, OpenOptions::CREATE).err(), Some(Error::NameTooLong));
        assert_eq!(fs.create_dir(&longer).err(), Some(Error::NameTooLong));
        assert_eq!(fs.rename(&longest, &longer), Err(Error::NameTooLong));
        assert_eq!(
            contents(&mut fs).expect("contents").files().map(|(path, _)| path).collect::<Vec<_>>(),
            [longest]
        );
    }
}

/// A removed directory was still found by its inode number. Files that were created there were in
/// no directory, or in the next directory with that number.
#[test]
fn a_removed_directory_takes_no_names() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    for with_entry in [false, true] {
        let directory = fs.create_dir("d").expect("create_dir");
        if with_entry {
            let file = fs.open("d/file", OpenOptions::CREATE).expect("create");
            fs.close(file).expect("close");
            fs.remove("d/file").expect("remove");
        }
        fs.remove_dir("d").expect("remove_dir");
        assert_eq!(fs.open((directory, "x"), OpenOptions::CREATE).err(), Some(Error::NotFound));
        assert_eq!(fs.create_dir((directory, "x")).err(), Some(Error::NotFound));
        assert_eq!(fs.list(directory, &mut Cursor::default()).err(), Some(Error::NotFound));
        assert_eq!(fs.stat(directory).err(), Some(Error::NotFound));
    }
}

#[test]
fn a_removed_directory_gives_its_room_back() {
    for shape in &SHAPES {
        let (mut device, mut model) = (device(shape, 1), Model::new(EXPLICIT));
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        session.open("first", true).expect("create");
        let used = session.fs.usage().used_bytes;
        session.create_dir("d").expect("create_dir");
        for number in 0..120 {
            session.open(&format!("d/{number}"), true).expect("create");
        }
        assert!(session.fs.usage().used_bytes > used, "{}", shape.name);
        while !session.handles.is_empty() {
            session.close(0).expect("close");
        }
        for number in 0..120 {
            session.remove(&format!("d/{number}")).expect("remove");
            session.step(&Op::Commit).expect("commit");
        }
        session.remove_dir("d").expect("remove_dir");
        for round in 0..60 {
            session.set_attribute("", 0, (round % 2 == 0).then_some(1)).expect("attribute");
            session.step(&Op::Commit).expect("commit");
        }
        assert_eq!(session.fs.usage().used_bytes, used, "{}", shape.name);
    }
}

#[test]
fn looking_a_name_up_costs_no_more_in_a_large_directory() {
    for shape in &SHAPES {
        let mut device = device(shape, 1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let (mut limits, mut worst) = (Vec::new(), Vec::new());
        for number in 0..names_max(shape) / 2 {
            let call = Call::Create { depth: 1 };
            let file = bounded(&mut fs, call, |fs| fs.open(&many(number), OpenOptions::CREATE))
                .expect("create");
            fs.close(file).expect("close");
            if number % 100 == 99 {
                fs.commit().expect("commit");
                limits.push(fs.bounds().of(Call::Open { depth: 1 }));
                let reads = (0..=number).map(|number| {
                    let before = fs.flash().counts();
                    fs.stat(&many(number)).expect("stat");
                    cost_since(fs.flash(), &before).reads
                });
                worst.push(reads.max().expect("names"));
            }
        }
        assert!(
            limits.iter().all(|limit| limit == &limits[0]),
            "{}: the bound depends on the number of names",
            shape.name
        );
        println!("{}: reads of the dearest look-up of 100, 200 … names: {worst:?}", shape.name);
    }
}
