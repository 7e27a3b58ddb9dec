//! Tests the room of the open transaction. With [`CommitOn::FULL`], no call is refused that would
//! succeed after a commit.

use std::cell::Cell;

use crate::common::disk;
use crate::common::medium::Medium;
use crate::common::oracle::{Model, Session};
use crate::common::steps::{At, Limits, Op, random_steps};
use crate::common::{Device, Rng, for_seeds};
use steadyfs::media::sectors::{SectorLayout, TagPlace};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, Error, OpenOptions};

/// Events after which a volume commits, all with [`CommitOn::FULL`].
const EVENTS: [CommitOn; 5] = [
    CommitOn::ON_SYNC,
    CommitOn::FULL,
    CommitOn::FULL.with(CommitOn::RENAME),
    CommitOn::TIMED_AND_ON_SYNC,
    CommitOn::FULL.with(CommitOn::CLOSE).with(CommitOn::MKDIR),
];

fn one_of<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// Returns a chip or card with blocks so small that a few hundred calls use each of them.
fn medium(rng: &mut Rng, seed: u64) -> (Medium, Config) {
    let blocks = one_of(rng, &[48, 64, 96]);
    match rng.below(3) {
        0 => {
            let page_bytes = one_of(rng, &[256, 512]);
            let medium =
                Medium::nor(one_of(rng, &[4096, 8192, 16_384]), blocks, page_bytes, 1, seed);
            (medium.clone(), Config::for_geometry(&medium.geometry()))
        }
        1 => {
            let (page_bytes, pages_per_block) =
                (one_of(rng, &[256, 512, 2048]), one_of(rng, &[16, 32, 64]));
            let geometry = Geometry {
                page_bytes,
                pages_per_block,
                block_count: blocks,
                programs_bytes: false,
            };
            (Medium::nand(geometry, rng.one_in(2), seed), Config::for_geometry(&geometry))
        }
        _ => {
            let tags = one_of(rng, &[TagPlace::Beside, TagPlace::Table, TagPlace::Within]);
            let (page_bytes, block_sectors) =
                (one_of(rng, &[512, 1024, 4096]), one_of(rng, &[65, 130]));
            let layout = SectorLayout {
                first: 0,
                sectors: blocks * block_sectors,
                block_sectors,
                page_bytes,
                tags,
                volume: 3,
            };
            (Medium::sectors(layout, seed), Config::for_sectors(&layout))
        }
    }
}

/// Returns an empty volume or disk, on any medium, with any settings that pass the check.
fn device(rng: &mut Rng, is_disk: bool, seed: u64) -> Device {
    loop {
        let (medium, usual) = medium(rng, seed);
        let geometry = medium.geometry();
        let transaction_pages = one_of(rng, &[2, 3, 4, 6, 8, 12, 16, 16, 24, 32, 100]);
        let overlay = usual.overlay_entries.max(transaction_pages + 40);
        let config = Config {
            pages_per_logical_page: one_of(rng, &[1, 2, 4, usual.pages_per_logical_page]),
            transaction_pages,
            overlay_entries: one_of(
                rng,
                &[transaction_pages + 40, transaction_pages + 50, overlay, 2 * overlay],
            ),
            files_max: if is_disk { 0 } else { one_of(rng, &[60, 200, 1000, usual.files_max]) },
            journal_pages: one_of(rng, &[1, 2, 4, usual.journal_pages]),
            permissions: rng.one_in(2),
            streams: one_of(rng, &[1, 1, 2, 4]),
            moved_apart: rng.one_in(2),
            auto_streams: rng.one_in(2),
            move_group: one_of(rng, &[1, usual.move_group]),
            ..usual
        };
        if config.check(&geometry).is_ok() && config.usable_bytes(&geometry) < 4 << 20 {
            let device = Device::formatted(config, medium, seed);
            return device.with_cache(one_of(rng, &[0, 0, 1, 5]));
        }
    }
}

/// A call of a workload.
enum Act {
    Op(Op),
    Exchange(At, At),
}

impl Act {
    fn play(&self, session: &mut Session<'_>) {
        match self {
            Act::Op(op) => session.step(op),
            Act::Exchange(one, other) => {
                let [one, other] = [one, other].map(|at| session.path(at.directory, at.name));
                session.exchange(&one, &other)
            }
        }
        .expect("the medium has no faults");
    }
}

/// Returns the numbers below `count`: ascending, descending, or shuffled.
fn order(rng: &mut Rng, count: u16) -> Vec<u16> {
    let mut numbers: Vec<u16> = (0..count).collect();
    match rng.below(4) {
        0 => {}
        1 => numbers.reverse(),
        _ => (1..numbers.len())
            .for_each(|index| numbers.swap(index, rng.below(index as u64 + 1) as usize)),
    }
    numbers
}

/// Returns calls of one kind, one for each of `names` names. The room that they take in a
/// transaction adds up.
fn storm(rng: &mut Rng, names: u16, logical_bytes: u64) -> Vec<Act> {
    let kind = rng.below(16);
    let directory = one_of(rng, &[0, 0, 1, 2]);
    let size = one_of(
        rng,
        &[
            0,
            0,
            0,
            30,
            140,
            logical_bytes / 3,
            logical_bytes,
            5 * logical_bytes,
            12 * logical_bytes,
        ],
    );
    let (key, others) = (rng.below(4) as u8, order(rng, names));
    let call = |rng: &mut Rng, name: u16| {
        let (at, other) =
            (At { directory, name }, At { directory, name: others[usize::from(name)] });
        let offset = rng.below(2 * size + 1);
        let op = match kind {
            0..=2 if size == 0 => Op::Open { at, durable: false },
            0..=2 => Op::Append { at, bytes: size as usize, durable: false },
            3..=6 => Op::Remove { at },
            7 => Op::Rename { from: at, to: other },
            8 => Op::SetAttribute { at, key, bytes: Some(rng.below(90) as u8) },
            9 => Op::SetAttribute { at, key, bytes: None },
            10 => Op::Truncate { at, size: offset, durable: false },
            11 => Op::Symlink { at, bytes: rng.next() as u8 },
            12 if rng.one_in(2) => Op::CreateDir { at },
            12 => Op::RemoveDir { at },
            13 => Op::Write { at, offset, bytes: 1 + size as usize, durable: false },
            14 => Op::Reserve { at, size: offset, durable: false },
            _ => return Act::Exchange(at, other),
        };
        Act::Op(op)
    };
    let mut acts = Vec::new();
    for name in order(rng, names) {
        if rng.one_in(12) {
            acts.push(Act::Op(Op::Close { handle: rng.next() as u16 }));
        }
        acts.push(call(rng, name));
    }
    acts
}

/// Returns the calls of a seed: calls of one kind, all kinds in turn, and now and then an end of
/// the transaction.
fn acts(rng: &mut Rng, count: usize, logical_bytes: u64) -> Vec<Act> {
    let names = one_of(rng, &[8, 40, 150, 300]);
    let limits = Limits { files: names.min(250), span: 20 * logical_bytes, logical_bytes };
    let mut acts = Vec::new();
    while acts.len() < count {
        match rng.below(10) {
            0 => acts.extend(random_steps(rng.next(), 60, limits).map(Act::Op)),
            1 => acts.push(Act::Op(if rng.one_in(3) { Op::Rollback } else { Op::Commit })),
            2..=4 => {
                acts.extend((0..names).map(|name| {
                    Act::Op(Op::Open { at: At { directory: 0, name }, durable: false })
                }))
            }
            _ => acts.extend(storm(rng, names, logical_bytes)),
        }
    }
    acts.retain(|act| !matches!(act, Act::Op(Op::Remount | Op::Crash | Op::Events { .. })));
    acts.truncate(count);
    acts
}

/// Plays a workload. Returns each call that was refused and then succeeded after a commit, with
/// its error.
///
/// `commit_before` is the index of a call. A commit is made before this call, and the workload
/// ends after it. Returns the call's error, if it is refused.
fn play(
    device: &Device,
    events: CommitOn,
    acts: &[Act],
    commit_before: Option<usize>,
) -> Vec<(usize, Error)> {
    let (mut device, mut model) = (device.clone(), Model::new(events));
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    let mut refused = Vec::new();
    for (index, act) in acts.iter().enumerate() {
        if commit_before == Some(index) {
            session.step(&Op::Commit).expect("commit");
        }
        let waits = session.fs.has_changes();
        act.play(&mut session);
        let refusal = session.refusal.take();
        if commit_before == Some(index) {
            return refusal.map(|error| (index, error)).into_iter().collect();
        }
        if let Some(error) = refusal.filter(|_| waits) {
            session.step(&Op::Commit).expect("commit");
            act.play(&mut session);
            refused.extend(session.refusal.take().is_none().then_some((index, error)));
        }
    }
    session.check().expect("contents");
    refused
}

/// A transaction without room for another discard refused every removal until a commit, although
/// [`CommitOn::FULL`] was set. Only the number of pages that a call may write decided if the call
/// was admitted.
#[test]
fn no_call_is_refused_for_what_earlier_calls_left_of_the_transaction() {
    let calls = Cell::new(0);
    for_seeds(
        "room",
        "no_call_is_refused_for_what_earlier_calls_left_of_the_transaction",
        8,
        |seed| {
            let mut rng = Rng(seed << 8 ^ 0x0700_0700);
            let device = device(&mut rng, false, seed);
            let events = one_of(&mut rng, &EVENTS);
            let acts = acts(
                &mut rng,
                800,
                u64::from(device.config.pages_per_logical_page)
                    * u64::from(device.chip.geometry().page_bytes),
            );
            calls.set(calls.get() + acts.len());
            for (index, error) in play(&device, events, &acts, None) {
                // The repeated call may have found room that the first one freed. So the first call
                // must also be refused with a commit before it.
                let still = play(&device, events, &acts, Some(index));
                assert_eq!(
                    still,
                    [(index, error)],
                    "call {index} finds room after a commit; {events:?}, {:?}",
                    device.config
                );
            }
        },
    );
    eprintln!("{} calls, none refused for the open transaction", calls.get());
}

/// Creates empty files, and removes them in a shuffled order until a removal is refused. Returns
/// the number of removed files.
fn remove_many(events: CommitOn, count: u64) -> u64 {
    let medium = Medium::nor(65_536, 32, 256, 1, 1);
    let mut device = Device::formatted(Config::for_geometry(&medium.geometry()), medium, 1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.create_dir("many").expect("create_dir");
    let mut names: Vec<String> = (0..count).map(|number| format!("many/{number:05}")).collect();
    for name in &names {
        let file = fs.open(name.as_str(), OpenOptions::CREATE).expect("create");
        fs.close(file).expect("close");
    }
    fs.commit().expect("commit");
    fs.set_commit_on(events);
    let mut rng = Rng(1);
    (1..names.len()).for_each(|index| names.swap(index, rng.below(index as u64 + 1) as usize));
    for (removed, name) in (0..).zip(&names) {
        let Err(error) = fs.remove(name.as_str()) else { continue };
        assert_eq!(error, Error::TransactionTooLarge);
        assert_eq!(
            u64::from(fs.usage().files) + removed,
            count + 1,
            "a refused removal changes nothing"
        );
        fs.commit().expect("what was accepted is committed");
        fs.remove(name.as_str()).expect("a transaction of its own has room for it");
        return removed;
    }
    count
}

/// On a chip of 2 MiB, 484 of 500 empty files were removed, and the next removal was refused,
/// although [`CommitOn::FULL`] was set. Each discarded page has a record in the journal's buffer
/// until the commit.
#[test]
fn removals_in_any_order_commit_where_they_may_and_are_refused_where_not() {
    assert_eq!(remove_many(CommitOn::ON_SYNC, 500), 500);
    let removed = remove_many(CommitOn::MANUAL, 500);
    assert!((400..500).contains(&removed), "{removed} in one transaction");
}

/// A disk commits when its transaction is full, and has no other reason to refuse an existing
/// sector.
#[test]
fn a_disk_refuses_no_write_and_no_trim() {
    for_seeds("room", "a_disk_refuses_no_write_and_no_trim", 12, |seed| {
        let mut rng = Rng(seed << 8 ^ 0xD15C);
        let mut device = device(&mut rng, true, seed);
        let sectors = device.mount_disk(Access::ReadOnly).expect("mount").sectors();
        let mut model = disk::Model::new(sectors);
        let mut session =
            disk::Session::mount(Access::ReadWrite, &mut device, &mut model).expect("mount");
        for _ in 0..600 {
            let sector = rng.below(sectors.into()) as u32;
            let most = u64::from(sectors - sector).min(one_of(&mut rng, &[1, 8, 40, 400]));
            let count = 1 + rng.below(most) as u32;
            let step = match rng.below(16) {
                0 => disk::Step::Flush,
                1..=5 => disk::Step::Trim { sector, count },
                _ => disk::Step::Write {
                    sector,
                    count,
                    durable: rng.one_in(12),
                    stream: rng.next() as u8 % 4,
                },
            };
            session.step(&step).unwrap_or_else(|error| panic!("{step:?}: {error}"));
        }
        session.check().expect("contents");
    });
}

/// A write of as many bytes as [`FileSystem::transaction_room`] returns is not refused, for any
/// waiting changes.
#[test]
fn a_write_that_the_room_promises_is_not_refused() {
    let (writes, bytes) = (Cell::new(0_u32), Cell::new(0_u64));
    for_seeds("room", "a_write_that_the_room_promises_is_not_refused", 12, |seed| {
        let mut rng = Rng(seed << 8 ^ 0x0300_0300);
        let mut device = device(&mut rng, false, seed);
        let logical_bytes = u64::from(device.config.pages_per_logical_page)
            * u64::from(device.chip.geometry().page_bytes);
        let acts = acts(&mut rng, 400, logical_bytes);
        let mut model = Model::new(CommitOn::MANUAL);
        let mut session = Session::mount(&mut device, &mut model).expect("mount");
        for act in &acts {
            act.play(&mut session);
            if !rng.one_in(6) {
                continue;
            }
            let at = At { directory: 0, name: rng.below(8) as u16 };
            Act::Op(Op::Open { at, durable: false }).play(&mut session);
            let room = session.fs.transaction_room().bytes;
            session.refusal = None;
            if room == 0 {
                session.step(&Op::Commit).expect("commit");
                continue;
            }
            let offset = rng.below(3 * logical_bytes);
            Act::Op(Op::Write { at, offset, bytes: room as usize, durable: false })
                .play(&mut session);
            assert_ne!(
                session.refusal,
                Some(Error::TransactionTooLarge),
                "{room} bytes, {:?}",
                session.fs.config()
            );
            writes.set(writes.get() + 1);
            bytes.set(bytes.get() + u64::from(room));
            if rng.one_in(2) {
                session.step(&Op::Commit).expect("commit");
            }
        }
    });
    let (writes, bytes) = (writes.get(), bytes.get());
    assert!(writes > 40 && bytes > 1000 * u64::from(writes), "{writes} writes of {bytes} bytes");
}

/// The room promised 16 pages to a write that began and ended within a page. The index page of the
/// file left the journal buffer and took one of them, so the write was refused.
#[test]
fn a_write_into_a_file_with_an_index_has_the_promised_room() {
    for_seeds("room", "a_write_into_a_file_with_an_index_has_the_promised_room", 12, |seed| {
        let mut rng = Rng(seed << 8 ^ 0x0400_0400);
        let (medium, config) = if rng.one_in(2) {
            let medium = Medium::nor(65_536, 40, 512, 1, seed);
            let config = Config::for_geometry(&medium.geometry());
            (medium, Config { transaction_pages: 16, ..config })
        } else {
            let layout = SectorLayout {
                first: 0,
                sectors: 64 * 130,
                block_sectors: 130,
                page_bytes: 4096,
                tags: TagPlace::Within,
                volume: 3,
            };
            let config = Config::for_sectors(&layout);
            (Medium::sectors(layout, seed), Config { move_group: 1, ..config })
        };
        let mut device = Device::formatted(config, medium, seed);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let logical_bytes = u64::from(fs.usage().logical_bytes);
        let mut files = ["a", "b", "c"].map(|name| {
            let mut file = fs.open(name, OpenOptions::CREATE).expect("open");
            let bytes = rng.below(12) * logical_bytes + rng.below(logical_bytes);
            fs.write(&mut file, 0, &vec![1; bytes as usize]).expect("write");
            file
        });
        fs.commit().expect("commit");
        fs.set_commit_on(CommitOn::MANUAL);
        for _ in 0..120 {
            let file = &mut files[rng.below(3) as usize];
            match rng.below(5) {
                0 => drop(fs.truncate(file, rng.below(6 * logical_bytes))),
                1 => drop(fs.append(file, &[3; 40])),
                2 => fs.rollback().expect("rollback"),
                3 => fs.commit().expect("commit"),
                _ => {}
            }
            let room = fs.transaction_room();
            let file = &mut files[rng.below(3) as usize];
            let size = fs.size(file).expect("size");
            let offset = if rng.one_in(2) { size } else { rng.below(size + 3 * logical_bytes) };
            let written = fs.write(file, offset, &vec![4; room.bytes as usize]);
            assert_ne!(written, Err(Error::TransactionTooLarge), "{room:?}, at {offset} of {size}");
            if written == Err(Error::NoSpace) {
                fs.rollback().expect("rollback");
                for file in &mut files {
                    fs.truncate(file, 10).expect("truncate");
                }
                fs.commit().expect("commit");
            }
        }
    });
}

/// Returns a row of the guide's table: chip, pages of a transaction, bytes that certainly fit,
/// bytes that one write takes, and files of 50 bytes in a new directory.
fn row(name: &str, medium: Medium) -> String {
    let mut device = Device::formatted(Config::for_geometry(&medium.geometry()), medium, 1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let (room, mut bytes, mut files) = (fs.transaction_room(), 0, 0);
    while let Ok(mut file) = fs.open("file", OpenOptions::CREATE)
        && fs.write(&mut file, 0, &vec![7; bytes + 256]).is_ok()
    {
        bytes += 256;
        fs.rollback().expect("rollback");
        fs.close(file).expect("close");
    }
    fs.rollback().expect("rollback");
    assert!(
        room.bytes as usize <= bytes && 3 * room.bytes as usize >= 2 * bytes,
        "{name}: {room:?}, {bytes} fit"
    );
    fs.create_dir("new").expect("create_dir");
    while let Ok(mut file) = fs.open(&format!("new/{files}"), OpenOptions::CREATE)
        && fs.write(&mut file, 0, &[7; 50]).is_ok()
    {
        fs.close(file).expect("close");
        files += 1;
    }
    let count = |count: usize| {
        count
            .to_string()
            .as_bytes()
            .rchunks(3)
            .rev()
            .map(String::from_utf8_lossy)
            .collect::<Vec<_>>()
            .join(",")
    };
    format!(
        "| {name} | {} | {} | {} | {files} |",
        room.pages,
        count(room.bytes as usize),
        count(bytes)
    )
}

#[test]
fn the_guide_has_the_room_of_a_transaction() {
    let nand = Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 1024,
        programs_bytes: false,
    };
    let guide = include_str!("../src/guide.md");
    let rows = [
        ("1 MiB of NOR in sectors of 4 KiB", Medium::nor(4096, 256, 256, 1, 1)),
        ("16 MiB of NOR in sectors of 4 KiB", Medium::nor(16_384, 1024, 512, 1, 1)),
        ("16 MiB of NOR in blocks of 64 KiB", Medium::nor(65_536, 256, 512, 1, 1)),
        ("128 MiB of NAND", Medium::nand(nand, false, 1)),
    ]
    .map(|(name, medium)| row(name, medium));
    let missing: Vec<_> = rows.iter().filter(|row| !guide.contains(*row)).collect();
    assert!(missing.is_empty(), "the guide lacks {missing:#?}");
}
