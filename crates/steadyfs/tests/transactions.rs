//! Tests which calls commit, which changes are undone, and the state after a power cut in one
//! call.

use std::sync::Mutex;

use crate::common::oracle::{Model, Session};
use crate::common::steps::{EXPLICIT, Op};
use crate::common::{Device, Fs, SHAPES, Shape};
use steadyfs::{Access, Change, CommitLimits, CommitOn, Error, MountError, OpenOptions};

/// Returns a volume with two files and three directories.
fn stage(shape: &Shape) -> (Device, Model) {
    let (mut device, mut model) = (shape.device(1), Model::new(EXPLICIT));
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    for path in ["a", "b", "a/c"] {
        session.create_dir(path).expect("create_dir");
    }
    session.write("a/file", 0, 3000, true).expect("write");
    session.write("b/other", 0, 200, true).expect("write");
    (device, model)
}

/// Makes a change and commits it. Power fails in each operation of both in turn. After each cut,
/// the volume is as before or as after.
fn is_atomic(change: impl Fn(&mut Session<'_>) -> Result<(), Error>) {
    for shape in &SHAPES {
        let (device, model) = stage(shape);
        for operation in 1.. {
            let (mut device, mut model) = (device.clone(), model.clone());
            let done = {
                let mut session = Session::mount(&mut device, &mut model).expect("mount");
                session.fs.flash_mut().inner_mut().cut_at(operation);
                change(&mut session).and_then(|()| session.step(&Op::Commit))
            };
            let power_failed = device.cut().is_off();
            match done {
                // The cut came after the change, in its reclamation.
                Ok(()) => {}
                Err(error) => assert!(
                    power_failed && matches!(error, Error::Device | Error::Unknown),
                    "{error}"
                ),
            }
            device.power_cycle();
            // Compares the volume with the acknowledged state, and with the commit in flight.
            Session::mount(&mut device, &mut model)
                .expect("mount after the cut")
                .check()
                .expect("contents");
            if !power_failed {
                break;
            }
        }
    }
}

#[test]
fn rename_is_atomic_at_every_cut() {
    is_atomic(|session| session.rename("a/file", "b/new name"));
}

#[test]
fn rename_onto_a_file_is_atomic_at_every_cut() {
    is_atomic(|session| session.rename("a/file", "b/other"));
}

#[test]
fn rename_onto_an_open_file_is_atomic_at_every_cut() {
    is_atomic(|session| {
        session.open("b/other", false)?;
        session.rename("a/file", "b/other")
    });
}

#[test]
fn rename_of_a_directory_onto_an_empty_one_is_atomic_at_every_cut() {
    is_atomic(|session| session.rename("b", "a/c"));
}

#[test]
fn rename_to_a_long_name_is_atomic_at_every_cut() {
    is_atomic(|session| session.rename("a", &"n".repeat(255)));
}

#[test]
fn a_transaction_over_many_files_is_atomic_at_every_cut() {
    is_atomic(|session| {
        session.write("a/file", 1000, 700, false)?;
        session.write("a/c/new", 0, 100, false)?;
        session.create_dir("b/d")?;
        session.set_attribute("b/other", 0, Some(30))?;
        session.remove("b/other")?;
        session.truncate("a/file", 1500, false)
    });
}

#[test]
fn every_event_commits_where_it_is_chosen_and_nowhere_else() {
    type Act = fn(&mut Session<'_>) -> Result<(), Error>;
    let acts: [(CommitOn, Act); 9] = [
        (CommitOn::CREATE, |s| s.open("new", false).map(drop)),
        (CommitOn::REMOVE, |s| s.remove("b/other")),
        (CommitOn::MKDIR, |s| s.create_dir("d")),
        (CommitOn::RENAME, |s| s.rename("b", "d")),
        (CommitOn::WRITE, |s| s.write_handle(0, 0, 2000)),
        (CommitOn::WRITE, |s| s.set_attribute("a", 0, Some(3))),
        (CommitOn::TRUNCATE, |s| s.truncate_handle(0, 7)),
        (CommitOn::FSYNC, |s| s.write_handle(0, 0, 10).and_then(|()| s.step(&Op::Flush))),
        (CommitOn::SYNC, |s| s.write_handle(0, 0, 10).and_then(|()| s.step(&Op::Sync))),
    ];
    for (event, act) in acts {
        // `change` asserts that a commit leaves no change behind.
        for (events, commits) in
            [(event, true), (CommitOn::EVERY_WRITE.without(event).without(CommitOn::WRITE), false)]
        {
            let (mut device, mut model) = stage(&SHAPES[0]);
            model.events = CommitOn::MANUAL;
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            session.open("a/file", false).expect("open");
            session.write_handle(0, 100, 10).expect("write");
            session.step(&Op::Events { events }).expect("events");
            act(&mut session).expect("the event");
            assert_eq!(session.fs.has_changes(), !commits, "{event:?} with {events:?}");
        }
    }
}

#[test]
fn close_and_unmount_commit_where_they_are_chosen() {
    for (events, durable) in
        [(CommitOn::CLOSE, true), (CommitOn::UNMOUNT, true), (CommitOn::MANUAL, false)]
    {
        let mut device = SHAPES[0].device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        fs.set_commit_on(events);
        assert_eq!(fs.commit_on(), events);
        let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
        fs.write(&mut file, 0, b"data").expect("write");
        fs.close(file).expect("close");
        assert_eq!(fs.has_changes(), events != CommitOn::CLOSE);
        fs.unmount().expect("unmount");
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        assert_eq!(fs.stat("file").is_ok(), durable, "{events:?}");
    }
}

#[test]
fn the_timed_commit_is_made_when_it_is_due_and_not_before() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.set_commit_on(CommitOn::TIMED_AND_ON_SYNC);
    fs.set_commit_interval(500);
    assert_eq!(fs.poll(1000), Ok(None), "nothing waits");
    let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
    assert_eq!(fs.poll(1400), Ok(Some(1500)));
    fs.write(&mut file, 0, b"later").expect("write");
    assert_eq!(fs.poll(1499), Ok(Some(1500)), "the first change counts");
    assert!(fs.has_changes());
    assert_eq!(fs.poll(1500), Ok(None));
    assert!(!fs.has_changes());
    fs.write(&mut file, 0, b"again").expect("write");
    assert_eq!(fs.poll(1600), Ok(Some(2000)));
    fs.set_commit_on(CommitOn::ON_SYNC);
    assert_eq!(fs.poll(9000), Ok(None));
    assert!(fs.has_changes(), "not chosen any more");
}

/// Writes until no change waits, twice. Returns the number of writes that each took.
fn writes_until_a_commit(limits: CommitLimits, events: CommitOn, bytes: usize) -> Option<usize> {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
    fs.commit().expect("commit");
    fs.set_commit_on(events);
    fs.set_commit_limits(limits);
    let mut counts = (0..2).map(|_| {
        (1..=12).find(|_| {
            fs.write(&mut file, 0, &vec![7; bytes]).expect("write");
            !fs.has_changes()
        })
    });
    let (first, second) = (counts.next().flatten(), counts.next().flatten());
    assert_eq!(first, second, "each transaction is counted anew");
    first
}

#[test]
fn many_changes_or_bytes_commit_whichever_comes_first() {
    let limits = |changes, bytes| CommitLimits { changes, bytes };
    let many = |changes, bytes| writes_until_a_commit(limits(changes, bytes), CommitOn::MANY, 100);
    assert_eq!(many(5, 0), Some(5));
    assert_eq!(many(0, 300), Some(3));
    assert_eq!((many(5, 300), many(2, 300)), (Some(3), Some(2)));
    assert_eq!(many(1, 0), Some(1));
    assert_eq!(many(0, 0), None, "nothing is a limit");
    assert_eq!(writes_until_a_commit(limits(2, 0), CommitOn::ON_SYNC, 100), None, "not chosen");
    assert_eq!(writes_until_a_commit(limits(7, 0), CommitOn::IN_GROUPS, 100), Some(7));
}

#[test]
fn a_long_write_commits_within_where_as_many_of_its_pages_may_wait() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let page = fs.usage().logical_bytes as usize;
    fs.set_commit_on(CommitOn::MANY);
    fs.set_commit_limits(CommitLimits { changes: 0, bytes: 3 * page as u32 });
    let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
    fs.commit().expect("commit");
    fs.write(&mut file, 0, &vec![7; 5 * page]).expect("write");
    assert!(fs.has_changes(), "two pages wait");
    fs.rollback().expect("rollback");
    assert_eq!(fs.stat("file").expect("stat").size, 3 * page as u64);
}

#[test]
fn a_clock_stamps_files_and_directories() {
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.set_commit_on(CommitOn::EVERY_WRITE);
    let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
    fs.create_dir("d").expect("create_dir");
    let times =
        |fs: &mut Fs<'_>| ["", "d", "file"].map(|path| fs.stat(path).expect("stat").modified_ns);
    assert_eq!(times(&mut fs), [0; 3], "without a clock");
    fs.set_time(10);
    fs.write(&mut file, 0, b"data").expect("write");
    assert_eq!(times(&mut fs), [0, 0, 10]);
    fs.set_time(20);
    fs.write(&mut file, 0, b"DATA").expect("overwrite");
    assert_eq!(times(&mut fs), [0, 0, 20]);
    fs.set_time(30);
    fs.rename("file", "d/file").expect("rename");
    assert_eq!(
        ["", "d", "d/file"].map(|path| fs.stat(path).expect("stat").modified_ns),
        [30, 30, 20]
    );
    let inode = file.inode();
    fs.set_modified(inode, 7).expect("set_modified");
    assert_eq!(fs.stat(inode).map(|stat| stat.modified_ns), Ok(7));
    fs.set_time(40);
    fs.truncate(&mut file, 2).expect("truncate");
    assert_eq!(fs.stat(inode).map(|stat| stat.modified_ns), Ok(40));
}

#[test]
fn the_observer_is_told_of_every_change() {
    let seen = Mutex::new(Vec::new());
    let mut observer = |change| seen.lock().expect("a lock").push(change);
    let mut device = SHAPES[0].device(1);
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    fs.set_observer(&mut observer);
    let mut file = fs.open("file", OpenOptions::CREATE).expect("create");
    let inode = file.inode();
    let directory = fs.create_dir("d").expect("create_dir");
    fs.write(&mut file, 0, &[1; 3000]).expect("write");
    fs.truncate(&mut file, 5).expect("truncate");
    fs.set_attribute(directory, "k", Some(&[])).expect("attribute");
    fs.rename("file", "d/file").expect("rename");
    fs.remove("d/file").expect("remove");
    fs.stat("d").expect("stat");
    fs.close(file).expect("close");
    fs.rollback().expect("rollback");
    let expected = [
        Change::Created(inode),
        Change::Created(directory),
        Change::Updated(inode),
        Change::Updated(inode),
        Change::Updated(directory),
        Change::Renamed(inode),
        Change::Removed(inode),
        Change::RolledBack,
    ];
    assert_eq!(*seen.lock().expect("a lock"), expected);
}

#[test]
fn a_volume_mounted_for_reading_only_refuses_every_change() {
    let (mut device, _) = stage(&SHAPES[0]);
    let mut fs = device.mount(Access::ReadOnly).expect("mount");
    let mut file = fs.open("a/file", OpenOptions::WRITE).expect("open");
    let refused = [
        fs.write(&mut file, 0, b"x").err(),
        fs.truncate(&mut file, 1).err(),
        fs.reserve(&mut file, 0, 9000).err(),
        fs.set_attribute(file.inode(), "k", Some(&[])).err(),
        fs.open("new", OpenOptions::CREATE).err(),
        fs.create_dir("new").err(),
        fs.remove("b/other").err(),
        fs.remove_dir("a/c").err(),
        fs.rename("a", "c").err(),
    ];
    assert_eq!(refused, [Some(Error::ReadOnly); 9]);
    assert_eq!(fs.read(&mut file, 0, &mut [0; 4000]), Ok(3000));
    fs.close(file).expect("close");
    fs.sync(CommitOn::SYNC).expect("nothing to commit");
}

#[test]
fn a_mount_for_reading_only_shows_no_orphans_and_keeps_them() {
    let (mut device, mut model) = stage(&SHAPES[0]);
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    session.open("a/file", false).expect("open");
    session.remove("a/file").expect("remove");
    session.step(&Op::Commit).expect("commit");
    let files = session.fs.usage().files;
    drop(session);
    let mut fs = device
        .mount(Access::ReadOnly)
        .map_err(|error: MountError| error.to_string())
        .expect("mount");
    assert_eq!(fs.stat("a/file").err(), Some(Error::NotFound));
    assert_eq!(fs.usage().files, files);
    let mut session = Session::mount(&mut device, &mut model).expect("mount");
    session.remove_all().expect("remove");
}
