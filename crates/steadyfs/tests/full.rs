//! Tests full volumes: filled to the last byte, overwritten, emptied and filled again.

use crate::common::oracle::{Model, Session, contents, fill, work};
use crate::common::steps::{EXPLICIT, Op, name_changes, random_steps};
use crate::common::{Rng, SHAPES, Shape, bounded, for_seeds};
use steadyfs::{Access, Call, CommitOn, Config, Error, OpenOptions};

/// Writes pages to a file until there is no room. Returns the number of pages.
fn fill_up(session: &mut Session<'_>, name: &str, page_bytes: usize) -> u64 {
    let mut pages = 0;
    loop {
        let before = session.model.current.size(name);
        session.write(name, before as u64, page_bytes, true).expect("write");
        let after = session.model.current.size(name);
        if after == before {
            return pages;
        }
        pages += 1;
    }
}

#[test]
fn volume_fills_to_the_last_page_and_again_after_a_remove() {
    for_seeds(
        "full",
        "volume_fills_to_the_last_page_and_again_after_a_remove",
        SHAPES.len() as u64,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (mut device, mut model) = (shape.device(seed), Model::new(EXPLICIT));
            let page = shape.logical_bytes() as usize;
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            let mut first = None;
            for round in 0..4 {
                let pages = fill_up(&mut session, "a", page);
                let usage = session.fs.usage();
                assert!(
                    usage.used_bytes <= usage.usable_bytes
                        && usage.usable_bytes - usage.used_bytes <= 2 * page as u64,
                    "{usage:?}"
                );
                let first = *first.get_or_insert(pages);
                // Pages that do not follow each other need an index page for each 64 to 512 of
                // them.
                assert!(
                    pages + pages / 64 + 1 >= first,
                    "{}: {pages} pages in round {round}, {first} in the first",
                    shape.name
                );
                // An overwrite takes no room.
                for at in 0..pages {
                    session.write("a", at * page as u64, page, true).expect("overwrite");
                }
                session.check().expect("contents");
                session.remove_all().expect("remove");
            }
        },
    );
}

/// Fills a volume with one file and overwrites it at random. Each call must stay within its
/// bound.
fn overwrite_when_full(shape: &Shape, seed: u64) {
    let (mut device, mut model) = (shape.device(seed), Model::new(EXPLICIT));
    let page = shape.logical_bytes() as usize;
    let pages = {
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        fill_up(&mut session, "a", page)
    };
    let mut expected = model.current.get("a").expect("the file").data.clone();
    let mut rng = Rng(seed);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let mut file = fs.open("a", OpenOptions::DURABLE).expect("open");
    for _ in 0..5 * pages {
        let at = rng.below(pages) as usize * page;
        let data = vec![rng.next() as u8; page];
        expected[at..at + page].copy_from_slice(&data);
        bounded(&mut fs, Call::Overwrite, |fs| fs.write(&mut file, at as u64, &data))
            .expect("overwrite");
    }
    let found = contents(&mut fs).expect("contents");
    assert!(found.get("a").expect("the file").data == expected, "content differs");
}

#[test]
fn full_volume_takes_overwrites_for_ever_within_their_bound() {
    for_seeds(
        "full",
        "full_volume_takes_overwrites_for_ever_within_their_bound",
        SHAPES.len() as u64,
        |seed| {
            overwrite_when_full(&SHAPES[seed as usize % SHAPES.len()], seed);
        },
    );
}

#[test]
fn small_records_on_a_full_volume_stay_within_their_bound() {
    for_seeds(
        "full",
        "small_records_on_a_full_volume_stay_within_their_bound",
        SHAPES.len() as u64,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (mut device, mut model) = (shape.device(seed), Model::new(EXPLICIT));
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            session.write("log", 0, 10, true).expect("write");
            let pages = fill_up(&mut session, "a", shape.logical_bytes() as usize);
            let mut rng = Rng(seed);
            for _ in 0..3 * pages {
                let at = rng.below(pages * shape.logical_bytes() - 64);
                session.write("a", at, 1 + rng.below(60) as usize, true).expect("patch");
                session.write("log", rng.below(100), 40, true).expect("log");
            }
            session.check().expect("contents");
        },
    );
}

#[test]
fn random_steps_on_a_volume_with_hardly_any_room_agree_with_the_oracle() {
    for_seeds(
        "full",
        "random_steps_on_a_volume_with_hardly_any_room_agree_with_the_oracle",
        48,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let events = if seed % 2 == 0 { EXPLICIT } else { CommitOn::ON_SYNC };
            let (mut device, mut model) = (shape.device(seed), Model::new(events));
            // A few free pages are left, or none.
            fill(&mut device, &mut model, if seed % 3 == 0 { 97 } else { 100 });
            work(&mut device, &mut model, random_steps(seed, 300, shape.limits(12))).expect("work");
            work(&mut device, &mut model, name_changes(seed, 200, shape.limits(12))).expect("work");
            Session::mount(&mut device, &mut model).expect("mount").remove_all().expect("remove");
        },
    );
}

/// A commit puts all its changes of the map into the overlay at once. On a full volume, each page
/// that a write takes frees some pages of a removed file. A journal page of 2 KiB has room for
/// more of these changes than the overlay of a small volume.
#[test]
fn a_long_transaction_on_a_full_volume_finds_room_for_its_commit() {
    let shape = Shape {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 32,
        name: "nand-64x2048",
        ..SHAPES[0]
    };
    let (mut device, mut model) = (shape.device(1), Model::new(EXPLICIT));
    let page = shape.logical_bytes() as usize;
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    for _ in 0..60 {
        let end = session.model.current.size("b") as u64;
        session.write("b", end, 8 * page, true).expect("write");
    }
    fill_up(&mut session, "c", page);
    while !session.handles.is_empty() {
        session.close(0).expect("close");
    }
    session.remove("b").expect("remove");
    session.step(&Op::Commit).expect("commit");
    for number in 0..400 {
        // One byte in each page: no frame for these pages yet.
        session.write("log", (number * page) as u64, 1, false).expect("write");
    }
    session.step(&Op::Commit).expect("commit");
    session.check().expect("contents");
    drop(session);
    Session::mount(&mut device, &mut model).expect("mount again").check().expect("contents");
}

#[test]
fn removing_a_large_file_costs_no_more_than_a_small_one() {
    for shape in &SHAPES {
        let (mut device, mut model) = (shape.device(1), Model::new(EXPLICIT));
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        fill_up(&mut session, "large", shape.logical_bytes() as usize);
        // `Session::remove` checks the bound of the call.
        session.remove("large").expect("remove");
        session.write("next", 0, 100, true).expect("write");
    }
}

#[test]
fn files_come_and_go_without_end() {
    for_seeds("full", "files_come_and_go_without_end", SHAPES.len() as u64, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let (mut device, mut model) = (shape.device(seed), Model::new(EXPLICIT));
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        let mut rng = Rng(seed);
        for round in 0..3000_u32 {
            let name = format!("come and go {}", rng.below(40));
            if session.model.current.get(&name).is_some() {
                session.remove(&name).expect("remove");
            } else {
                session
                    .write(
                        &name,
                        0,
                        1 + rng.below(2 * shape.logical_bytes()) as usize,
                        round % 3 == 0,
                    )
                    .expect("write");
            }
            if round % 7 == 0 {
                session.step(&Op::Commit).expect("commit");
            }
        }
        session.check().expect("contents");
    });
}

#[test]
fn one_file_too_many_is_refused() {
    for shape in &SHAPES {
        // So few files that there is room for all of them. The root is one of them.
        let config = Config { files_max: 200, ..shape.config() };
        let mut device = shape.device_with_config(config, 1);
        let files_max = config.files_max - 1;
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        for file in 0..files_max {
            let result = bounded(&mut fs, Call::Create { depth: 1 }, |fs| {
                fs.open(&*format!("file {file}"), OpenOptions::DURABLE)
            })
            .and_then(|file| fs.close(file));
            assert!(result.is_ok(), "{}: file {file} of {files_max}: {result:?}", shape.name);
        }
        assert_eq!(fs.open("one more", OpenOptions::DURABLE).err(), Some(Error::TooManyFiles));
        fs.remove("file 3").expect("remove");
        let file = fs.open("one more", OpenOptions::DURABLE).expect("room again");
        fs.close(file).expect("close");
        assert_eq!(contents(&mut fs).expect("contents").files().count() as u32, files_max);
    }
}

/// Free pages lie apart, each in a byte of its own. The volume searches the whole allocation map
/// for them, one after the other.
#[test]
fn a_page_and_its_index_are_found_within_the_bound_where_free_pages_lie_apart() {
    let wide = Shape { block_count: 512, name: "nand-16x512-wide", ..SHAPES[0] };
    let double = Shape { block_count: 320, name: "nand-32x512-wide", ..SHAPES[1] };
    let large = Shape {
        page_bytes: 256,
        pages_per_block: 32,
        block_count: 256,
        name: "nand-32x256-wide",
        ..SHAPES[2]
    };
    for shape in [&wide, &double, &large] {
        let (mut device, mut model) = (shape.device(1), Model::new(CommitOn::ON_SYNC));
        let page = shape.logical_bytes() as usize;
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        let mut full = false;
        while !full {
            for name in ["a", "b"] {
                let before = session.model.current.size(name);
                session.write(name, before as u64, page, true).expect("write");
                full |= session.model.current.size(name) == before;
            }
        }
        while !session.handles.is_empty() {
            session.close(0).expect("close");
        }
        session.remove("b").expect("remove");
        for round in 0..4000 {
            session.write("a", round % 7, 1, true).expect("overwrite");
        }
        // The pages are far from each other, so that each is the first page of an index.
        for number in 0..120u64 {
            let name = format!("c{}", number % 6);
            session
                .write(&name, (number / 6 * 11 + 3) * page as u64, 200.min(page), true)
                .expect("write");
        }
        session.check().expect("contents");
    }
}

/// The pages of a removed file count as free. A call frees as many of them as it takes, even if
/// one step frees few.
#[test]
fn a_write_gets_the_room_that_was_told_of() {
    for shape in SHAPES.iter().filter(|shape| !shape.nor) {
        let tails = [(0, true), (1, true), (4, false), (5, true), (11, false)];
        for (leaves, (tail, removes)) in
            [false, true].into_iter().flat_map(|leaves| tails.map(|tail| (leaves, tail)))
        {
            let mut device = shape.device(1);
            let page = shape.logical_bytes();
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            let mut other = fs.open("other", OpenOptions::CREATE).expect("create");
            // Runs of one page, so that there is an index, and a page far behind them.
            let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
            let whole = vec![1; page as usize];
            for number in 0..41 {
                fs.write(&mut file, 2 * number * page, &whole).expect("write");
            }
            fs.write(&mut file, (82 + tail * 100) * page, &whole).expect("write");
            // Inline content takes a page when it leaves the inode.
            fs.write(&mut other, 0, &whole[..if leaves { 15 } else { page as usize }])
                .expect("write");
            fs.commit().expect("commit");
            let mut filler = fs.open("filler", OpenOptions::CREATE).expect("create");
            while fs.append(&mut filler, &whole).is_ok() {}
            fs.commit().expect("commit");
            if removes {
                fs.close(file).expect("close");
                fs.remove("file").expect("remove");
            } else {
                fs.truncate(&mut file, page).expect("truncate");
            }
            assert!(fs.available().expect("room") > 4 * page, "{}", shape.name);
            bounded(&mut fs, Call::Write(100), |fs| fs.write(&mut other, 90 * page, &whole[..100]))
                .unwrap_or_else(|error| {
                    panic!("{}, {leaves}, {tail}, {removes}: {error}", shape.name)
                });
        }
    }
}
