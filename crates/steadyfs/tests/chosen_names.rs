//! Tests names whose order or hashes are bad for a hash table: names in the listing order of
//! another directory, names of one bucket, and names of one hash.
//!
//! A directory grew only when it had many entries, and a bucket that was full before then refused
//! names: 256 of 1,500 arrived. Eight names of one hash cost more than the bound of a look-up,
//! and a ninth was refused.

use std::collections::BTreeSet;

use crate::common::oracle::{Model, Session};
use crate::common::steps::{EXPLICIT, Op};
use crate::common::tree::join;
use crate::common::{Device, Fs, Rng, SHAPES, Shape, bounded, for_seeds};
use steadyfs::{Access, Call, CommitOn, Config, Cursor, Error, InodeNumber, OpenOptions};
use steadyfs_lab::chosen_names::{LISTED_MIN, hash, of_one_bucket, of_one_hash, seed_of};

/// Returns the number of names for the directories of a shape. It is more than a bucket has room
/// for.
fn names_max(shape: &Shape) -> usize {
    match (shape.page_bytes * shape.pages_per_block * shape.block_count) >> 18 {
        0..2 => 150,
        2..4 => 200,
        _ => 320,
    }
}

fn device(shape: &Shape, seed: u64) -> Device {
    shape.device_with_config(
        Config { files_max: names_max(shape) as u32 + 40, ..shape.config() },
        seed,
    )
}

/// Returns the names of a directory in listing order.
fn listed(fs: &mut Fs<'_>, directory: InodeNumber) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), Cursor::default());
    while let Some(entry) = fs.list(directory, &mut cursor).expect("list") {
        names.push(entry.name().to_string());
    }
    names
}

fn create(fs: &mut Fs<'_>, path: &str) -> Result<(), Error> {
    let file = bounded(fs, Call::Create { depth: 2 }, |fs| {
        fs.open(path, OpenOptions { create_new: true, ..OpenOptions::CREATE })
    })?;
    fs.close(file)
}

/// Returns names that reveal the seed of a directory. They are short, so that the search for the
/// seed is short.
fn first_names() -> impl Iterator<Item = String> {
    ('a'..).map(String::from).take(LISTED_MIN)
}

/// Creates a directory with a few names, and returns its seed.
fn seeded(fs: &mut Fs<'_>, directory: &str) -> u32 {
    let inode = fs.create_dir(directory).expect("create_dir");
    for name in first_names() {
        create(fs, &join(directory, &name)).expect("create");
    }
    seed_of(&listed(fs, inode)).expect("a seed")
}

/// Asserts that a directory has exactly these names, that each look-up stays within its bound,
/// and that the check has no findings.
fn hold(fs: &mut Fs<'_>, directory: &str, names: &BTreeSet<String>) {
    let inode = fs.stat(directory).expect("stat").inode;
    let found = listed(fs, inode);
    assert_eq!(found.len(), names.len(), "names that are listed");
    assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), names, "names that are listed");
    for name in names {
        bounded(fs, Call::Open { depth: 2 }, |fs| fs.stat(&join(directory, name))).expect(name);
    }
    let none = bounded(fs, Call::Open { depth: 2 }, |fs| fs.stat(&join(directory, "none")));
    assert_eq!(none.err(), Some(Error::NotFound));
    let mut scratch =
        vec![0; fs.config().check_bytes(&steadyfs::media::Flash::geometry(fs.flash()))];
    let mut findings = Vec::new();
    let checked =
        fs.check(&mut scratch, false, &mut |finding| findings.push(finding)).expect("check");
    assert_eq!(findings.first(), None, "{} findings", checked.findings);
}

/// Creates names that are chosen for a directory's seed, removes some, creates these again, and
/// removes all.
fn live(fs: &mut Fs<'_>, what: &str, choose: impl Fn(u32) -> Vec<String>) {
    let (free, directory) = (fs.usage().used_bytes, "d");
    let names = choose(seeded(fs, directory));
    for name in &names {
        create(fs, &join(directory, name))
            .unwrap_or_else(|error| panic!("{what}: {error} for {name:?} of {}", names.len()));
    }
    fs.commit().expect("commit");
    hold(fs, directory, &first_names().chain(names.iter().cloned()).collect());
    for name in names.iter().step_by(3) {
        bounded(fs, Call::Remove { depth: 2 }, |fs| fs.remove(&join(directory, name)))
            .expect("remove");
    }
    let rest = first_names()
        .chain(names.iter().enumerate().filter(|(at, _)| at % 3 > 0).map(|(_, name)| name.clone()));
    hold(fs, directory, &rest.collect());
    for name in names.iter().step_by(3).rev() {
        create(fs, &join(directory, name))
            .unwrap_or_else(|error| panic!("{what}: {error} for {name:?} again"));
    }
    hold(fs, directory, &first_names().chain(names.iter().cloned()).collect());
    for name in first_names().chain(names.iter().cloned()) {
        bounded(fs, Call::Remove { depth: 2 }, |fs| fs.remove(&join(directory, &name)))
            .expect("remove");
        fs.commit().expect("commit");
    }
    bounded(fs, Call::Remove { depth: 1 }, |fs| fs.remove_dir(directory)).expect("remove_dir");
    fs.commit().expect("commit");
    while fs.pending_free_bytes().expect("leaving") > 0 {
        fs.create_dir("x").expect("create_dir");
        fs.remove_dir("x").expect("remove_dir");
        fs.commit().expect("commit");
    }
    assert!(
        fs.usage().used_bytes <= free + 3 * u64::from(fs.usage().logical_bytes),
        "{what}: {:?}",
        fs.usage()
    );
}

#[test]
fn names_in_the_listing_order_of_another_directory_all_arrive() {
    for shape in SHAPES.iter().step_by(2) {
        let (mut one, mut other) = (device(shape, 1), device(shape, 1));
        let mut memories = (
            one.mount(Access::ReadWrite).expect("mount"),
            other.mount(Access::ReadWrite).expect("mount"),
        );
        let (fs, copy) = (&mut memories.0, &mut memories.1);
        let many = fs.create_dir("many").expect("create_dir");
        let names: BTreeSet<_> =
            (0..names_max(shape)).map(|number| format!("{number:05}")).collect();
        for name in &names {
            create(fs, &join("many", name)).expect("create");
        }
        let order = listed(fs, many);
        // A volume with the same history, so that its directory has the same inode number.
        copy.create_dir("many").expect("create_dir");
        for name in &order {
            create(copy, &join("many", name))
                .unwrap_or_else(|error| panic!("{}: {error} for {name:?}", shape.name));
        }
        copy.commit().expect("commit");
        hold(copy, "many", &names);
        fs.create_dir("other").expect("create_dir");
        for name in &order {
            let moved = bounded(fs, Call::Rename { depth: 4 }, |fs| {
                fs.rename(&join("many", name), &join("other", name))
            });
            moved.unwrap_or_else(|error| panic!("{}: {error} for {name:?}", shape.name));
        }
        fs.commit().expect("commit");
        hold(fs, "other", &names);
        hold(fs, "many", &BTreeSet::new());
    }
}

/// A search met more names of one 16-bit hash than any insert had counted, and returned
/// [`Error::Corrupt`]. A bit that differed from the record's bit selected the program page, and a
/// page that became full joined the paths of two names.
#[test]
fn names_of_one_bucket_all_arrive_whatever_the_low_bits() {
    for (shape, few) in SHAPES.iter().zip(0..) {
        let bits = if few % 2 == 0 { 1 + few % 4 } else { 6 + few };
        let mut device = device(shape, 1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let count = names_max(shape);
        let last = (1 << bits) - 1;
        live(&mut fs, &format!("{}, one bucket, {bits} bits", shape.name), |seed| {
            of_one_bucket(seed, bits, last).take(count).collect()
        });
        live(&mut fs, &format!("{}, in the order of {bits} bits", shape.name), |seed| {
            let mut sorted = (0..count).map(|number| format!("{number:05}")).collect::<Vec<_>>();
            sorted.sort_by_key(|name| hash(seed, name) & last);
            sorted
        });
    }
}

#[test]
fn names_of_one_hash_all_arrive() {
    let long = "a name that is long enough to need an inode more than the others: ";
    for shape in SHAPES.iter().skip(1).step_by(2) {
        for (begins, count) in [(long, 12), ("", 80)] {
            let mut device = device(shape, 1);
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            live(&mut fs, &format!("{}, {count} of one hash", shape.name), |seed| {
                of_one_hash(seed, begins, count)
            });
        }
    }
}

#[test]
fn a_volume_without_chosen_names_keeps_its_bounds() {
    for shape in &SHAPES {
        let mut device = device(shape, 1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let before = fs.bounds().of(Call::Open { depth: 1 });
        let seed = seeded(&mut fs, "d");
        for number in 0..names_max(shape) / 2 {
            create(&mut fs, &join("d", &format!("{number}"))).expect("create");
        }
        assert_eq!(fs.bounds().of(Call::Open { depth: 1 }), before, "{}", shape.name);
        for name in of_one_hash(seed, "x", 30) {
            create(&mut fs, &join("d", &name)).expect("create");
        }
        let chosen = fs.bounds().of(Call::Open { depth: 1 });
        assert!(
            !before.holds(&chosen.most()),
            "{}: the bound counts names of equal hash",
            shape.name
        );
        fs.commit().expect("commit");
        device.power_cycle();
        let fs = device.mount(Access::ReadWrite).expect("mount");
        assert_eq!(
            fs.bounds().of(Call::Open { depth: 1 }),
            chosen,
            "{}: the bound after a mount",
            shape.name
        );
    }
}

/// A change in RAM was undone, but still counted as written.
#[test]
fn a_bound_that_was_undone_is_written_by_the_next_name() {
    let mut device = device(&SHAPES[0], 1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let seed = seeded(&mut fs, "d");
    fs.commit().expect("commit");
    let before = fs.bounds().of(Call::Open { depth: 1 });
    let names = of_one_hash(seed, "x", 8);
    for _ in 0..2 {
        for name in &names {
            create(&mut fs, &join("d", name)).expect("create");
        }
        assert_ne!(fs.bounds().of(Call::Open { depth: 1 }), before);
        fs.rollback().expect("rollback");
        assert_eq!(fs.bounds().of(Call::Open { depth: 1 }), before);
    }
    for name in &names {
        create(&mut fs, &join("d", name)).expect("create");
    }
    let chosen = fs.bounds().of(Call::Open { depth: 1 });
    fs.commit().expect("commit");
    device.power_cycle();
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    assert_eq!(fs.bounds().of(Call::Open { depth: 1 }), chosen);
    for name in &names {
        bounded(&mut fs, Call::Open { depth: 2 }, |fs| fs.stat(&join("d", name))).expect("stat");
    }
}

#[test]
fn chosen_names_survive_power_cuts_and_are_listed_once_while_they_come_and_go() {
    let test = "chosen_names_survive_power_cuts_and_are_listed_once_while_they_come_and_go";
    for_seeds("chosen_names", test, 4, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let (mut device, mut model, mut rng) =
            (device(shape, seed), Model::new(EXPLICIT), Rng(seed));
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        session.create_dir("d").expect("create_dir");
        for name in first_names() {
            session.open(&join("d", &name), true).expect("create").expect("room");
            session.close(0).expect("close");
        }
        let inode = session.fs.stat("d").expect("stat").inode;
        let drawn = seed_of(&listed(&mut session.fs, inode)).expect("a seed");
        drop(session);
        let mut names: Vec<_> = of_one_bucket(drawn, 9, 5).take(names_max(shape) * 3 / 4).collect();
        names.extend(of_one_hash(drawn, "y", 30));
        for _ in 0..6 {
            device.power_cycle();
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            session.fs.flash_mut().inner_mut().cut_at(1 + rng.below(400));
            session.start_listing("d");
            // Until power fails.
            loop {
                let pick =
                    |rng: &mut Rng| join("d", &names[rng.below(names.len() as u64) as usize]);
                let (one, other) = (pick(&mut rng), pick(&mut rng));
                let result = match rng.below(12) {
                    0 | 1 => session.remove(&one),
                    2 => session.rename(&one, &other),
                    3 => session.step(&Op::Commit),
                    4 if session.listing.is_some() => session.list_one(),
                    _ => session.open(&one, false).map(drop),
                };
                session.note_listing();
                if let Err(error) = result {
                    assert!(
                        matches!(error, Error::Device | Error::Unknown | Error::ReadOnly),
                        "{error}"
                    );
                    break;
                }
                while session.handles.len() > 4 {
                    if session.close(0).is_err() {
                        break;
                    }
                }
            }
        }
        device.power_cycle();
        Session::mount(&mut device, &mut model).expect("mount").check().expect("contents");
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        fs.set_commit_on(CommitOn::MANUAL);
        let inode = fs.stat("d").expect("stat").inode;
        let there = listed(&mut fs, inode).into_iter().collect();
        hold(&mut fs, "d", &there);
    });
}
