//! Tests with a medium that fails after calls of programs succeeded, and of the answers to the
//! kernel from a hostile volume.

use super::{Creator, Volume};
use crate::options::Options;
use fuser::{INodeNo, RenameFlags};
use rustix::fs::OFlags;
use steadyfs::media::Geometry;
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_host::plain::{Method, PlainFile, Shape};
use steadyfs_hostile::medium::Ram;
use steadyfs_hostile::seal::forge;
use steadyfs_sim::{FailOps, Metered, Nand, NandTiming};

fn volume<T>(test: impl FnOnce(&mut Volume<'_, '_, FailOps<Nand>>) -> T) -> T {
    volume_with_streams(1, test)
}

fn volume_with_streams<T>(
    streams: u8,
    test: impl FnOnce(&mut Volume<'_, '_, FailOps<Nand>>) -> T,
) -> T {
    let geometry =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 64, programs_bytes: false };
    let flash = FailOps::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), 1);
    let config = Config { streams, ..Config::for_geometry(&geometry) };
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    test(&mut Volume::new(&mut fs, &Options::default()))
}

const CREATOR: Creator = Creator { mode: 0o600, uid: 1, gid: 2 };
const READ_WRITE: i32 = OFlags::RDWR.bits().cast_signed();

/// Lets programs of pages fail, beginning with the program `first`. One program more fails than a
/// call tolerates.
fn fail_programs(volume: &mut Volume<'_, '_, FailOps<Nand>>, first: u64) {
    let count = 1 + u64::from(volume.changes.fs().config().failures);
    for program in first..first + count {
        volume.changes.fs().flash_mut().fail_program(program);
    }
}

#[test]
fn a_call_in_which_the_medium_fails_undoes_itself_alone() {
    volume(|volume| {
        let (_, first) = volume.create(INodeNo::ROOT, "first", READ_WRITE, CREATOR).unwrap();
        let (_, second) = volume.create(INodeNo::ROOT, "second", READ_WRITE, CREATOR).unwrap();
        volume.sync(first).unwrap();
        volume.write(first, 0, b"told to be written", false).unwrap();
        fail_programs(volume, 1);
        let error = volume.write(second, 0, &[7; 200_000], false).unwrap_err();
        assert_eq!(error.code(), fuser::Errno::EIO.code());
        assert_eq!(volume.read(second, 0, 100).unwrap(), b"");
        assert_eq!(volume.read(first, 0, 100).unwrap(), b"told to be written");
        // An error is reported only to the program whose call failed.
        volume.sync(first).unwrap();
        volume.sync(second).unwrap();
        assert!(!volume.changes.fs().has_changes());
    });
}

#[test]
fn a_write_says_how_far_it_came_unless_it_must_be_whole() {
    volume(|volume| {
        let (_, file) = volume.create(INodeNo::ROOT, "file", READ_WRITE, CREATOR).unwrap();
        volume.sync(file).unwrap();
        let page = volume.changes.fs().usage().logical_bytes;
        let data = vec![7; 3 * page as usize];
        let programs = u64::from(volume.changes.fs().config().pages_per_logical_page);
        fail_programs(volume, programs + 1);
        assert_eq!(volume.write(file, 0, &data, false).unwrap(), page);
        fail_programs(volume, programs + 1);
        assert_eq!(
            volume.write(file, 0, &data, true).unwrap_err().code(),
            fuser::Errno::EIO.code()
        );
        assert_eq!(volume.write(file, 0, &data, true).unwrap(), 3 * page);
    });
}

/// If each write commits, a request of many steps still commits only once. If a step fails, the
/// steps before it are durable.
#[test]
fn a_request_commits_once() {
    volume(|volume| {
        let (_, file) = volume.create(INodeNo::ROOT, "file", READ_WRITE, CREATOR).unwrap();
        volume.changes.fs().set_commit_on(CommitOn::EVERY_WRITE);
        let page = volume.changes.fs().usage().logical_bytes;
        let programs = |volume: &mut Volume<'_, '_, FailOps<Nand>>| {
            volume.changes.fs().flash().counters().programs
        };
        let before = programs(volume);
        assert_eq!(volume.write(file, 0, &vec![7; 16 * page as usize], false).unwrap(), 16 * page);
        let pages_per_logical_page = u64::from(volume.changes.fs().config().pages_per_logical_page);
        let made = programs(volume) - before;
        assert!(made <= 16 * pages_per_logical_page + 2, "{made} programs");
        assert!(!volume.changes.fs().has_changes());
        assert_eq!(volume.changes.fs().commit_on(), CommitOn::EVERY_WRITE);

        fail_programs(volume, pages_per_logical_page + 1);
        assert_eq!(volume.write(file, 0, &vec![8; 3 * page as usize], false).unwrap(), page);
        assert!(!volume.changes.fs().has_changes());
        assert_eq!(volume.changes.fs().commit_on(), CommitOn::EVERY_WRITE);
        volume.changes.fs().rollback().unwrap();
        assert_eq!(volume.read(file, u64::from(page) - 1, 2).unwrap(), [8, 7]);
    });
    // The steps before the failed step are also durable if the request returns an error to the
    // kernel.
    volume(|volume| {
        let (_, file) = volume.create(INodeNo::ROOT, "file", READ_WRITE, CREATOR).unwrap();
        volume.changes.fs().set_commit_on(CommitOn::EVERY_WRITE);
        volume.changes.fs().commit().unwrap();
        let (page, pages_per_logical_page) = (
            volume.changes.fs().usage().logical_bytes,
            volume.changes.fs().config().pages_per_logical_page,
        );
        fail_programs(volume, u64::from(pages_per_logical_page) + 1);
        assert!(volume.write(file, 0, &vec![9; 3 * page as usize], true).is_err());
        assert!(!volume.changes.fs().has_changes());
        assert_eq!(volume.read(file, 0, 1).unwrap(), [9]);
    });
}

#[test]
fn a_commit_that_nobody_knows_of_is_told_by_every_sync_and_locks_the_volume() {
    volume(|volume| {
        let (_, first) = volume.create(INodeNo::ROOT, "first", READ_WRITE, CREATOR).unwrap();
        let (_, second) = volume.create(INodeNo::ROOT, "second", READ_WRITE, CREATOR).unwrap();
        volume.sync(first).unwrap();
        volume.write(first, 0, b"told to be written", false).unwrap();
        // A commit is repeated once more than other calls.
        fail_programs(volume, 1);
        fail_programs(volume, 2);
        let codes = [first, second, first].map(|file| volume.sync(file).unwrap_err().code());
        assert_eq!(
            codes,
            [fuser::Errno::EIO, fuser::Errno::EROFS, fuser::Errno::EROFS].map(|error| error.code())
        );
        assert_eq!(
            volume.write(second, 0, b"more", false).unwrap_err().code(),
            fuser::Errno::EROFS.code()
        );
        assert_eq!(volume.read(first, 0, 100).unwrap(), b"told to be written");
    });
}

/// Returns the stream of the file under a name.
fn stream_of(volume: &mut Volume<'_, '_, FailOps<Nand>>, name: &str) -> u8 {
    let fs = volume.changes.fs();
    let file = fs.open(name, OpenOptions::READ).unwrap();
    let stream = file.stream();
    fs.close(file).unwrap();
    stream
}

#[test]
fn temporary_files_of_sqlite_have_streams_of_their_own() {
    let names = [
        "x.db",
        "x.db-wal",
        "x.db-shm",
        "x.db-journal",
        "x.db-mj0123AB9CD",
        "etilqs_0123",
        "notes",
    ];
    for (streams, expected) in [(4, [0, 2, 2, 3, 3, 3, 0]), (2, [0, 1, 1, 1, 1, 1, 0]), (1, [0; 7])]
    {
        volume_with_streams(streams, |volume| {
            for (at, name) in names.into_iter().enumerate() {
                // Half of the files are created by `open`, and half by `mknod`.
                if at % 2 == 0 {
                    let (_, handle) =
                        volume.create(INodeNo::ROOT, name, READ_WRITE, CREATOR).unwrap();
                    volume.release(handle).unwrap();
                } else {
                    volume.make_file(INodeNo::ROOT, name, CREATOR).unwrap();
                }
            }
            assert_eq!(names.map(|name| stream_of(volume, name)), expected, "{streams} streams");
        });
    }
}

#[test]
fn a_file_keeps_its_stream_when_it_is_renamed_or_opened_anew() {
    volume_with_streams(4, |volume| {
        let pages = |volume: &mut Volume<'_, '_, _>| {
            volume.changes.fs().describe().streams.map(|head| head.map(|(_, next)| next))
        };
        let page = vec![7; volume.changes.fs().usage().logical_bytes as usize];
        volume.make_file(INodeNo::ROOT, "x.db-wal", CREATOR).unwrap();
        volume
            .rename((INodeNo::ROOT, "x.db-wal"), (INodeNo::ROOT, "x.db"), RenameFlags::empty())
            .unwrap();
        assert_eq!(stream_of(volume, "x.db"), 2);
        let (_, handle) = volume.create(INodeNo::ROOT, "x.db", READ_WRITE, CREATOR).unwrap();
        volume.write(handle, 0, &page, false).unwrap();
        assert_eq!(
            pages(volume),
            [None, Some(1), None],
            "its page goes to the stream of its first name"
        );

        volume.make_file(INodeNo::ROOT, "plain", CREATOR).unwrap();
        volume
            .rename((INodeNo::ROOT, "plain"), (INodeNo::ROOT, "x.db-journal"), RenameFlags::empty())
            .unwrap();
        assert_eq!(stream_of(volume, "x.db-journal"), 0);
        let (_, handle) =
            volume.create(INodeNo::ROOT, "y.db-journal", READ_WRITE, CREATOR).unwrap();
        volume.write(handle, 0, &page, false).unwrap();
        assert_eq!(pages(volume), [None, Some(1), Some(1)]);
    });
}

#[test]
fn two_names_are_exchanged() {
    volume_with_streams(1, |volume| {
        let inode = |volume: &mut Volume<'_, '_, _>, name: &str| {
            volume.changes.fs().stat(name).unwrap().inode
        };
        volume.make_file(INodeNo::ROOT, "a", CREATOR).unwrap();
        volume.make_directory(INodeNo::ROOT, "b", CREATOR).unwrap();
        let before = ["a", "b"].map(|name| inode(volume, name));
        let exchange = |volume: &mut Volume<'_, '_, _>, to| {
            volume.rename((INodeNo::ROOT, "a"), (INodeNo::ROOT, to), RenameFlags::RENAME_EXCHANGE)
        };
        exchange(volume, "b").unwrap();
        assert_eq!(["b", "a"].map(|name| inode(volume, name)), before);
        assert_eq!(exchange(volume, "missing").unwrap_err().code(), fuser::Errno::ENOENT.code());
        let both = RenameFlags::RENAME_EXCHANGE | RenameFlags::RENAME_NOREPLACE;
        let refused = volume.rename((INodeNo::ROOT, "a"), (INodeNo::ROOT, "b"), both).unwrap_err();
        assert_eq!(refused.code(), fuser::Errno::EINVAL.code());
    });
}

const FILE_BYTES: usize = 54_321;

/// Makes a volume with a file, and with a directory that contains five directories. Then forges
/// some bytes of the volume.
fn forged<T>(changes: &[(&[u8], &[u8])], test: impl FnOnce(&mut Volume<'_, '_, Ram>) -> T) -> T {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let ram = FileSystem::format(Ram::new(geometry), &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).unwrap();
    fs.create_dir("directory").unwrap();
    for number in 0..5 {
        fs.create_dir(&format!("directory/{number}")).unwrap();
    }
    let mut file = fs.open("file", OpenOptions::CREATE).unwrap();
    fs.write(&mut file, 0, &[7; FILE_BYTES]).unwrap();
    let mut ram = fs.unmount().unwrap();
    for (from, to) in changes {
        assert!(forge(&mut ram, from, to) > 0, "nothing to forge: {from:?}");
    }
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).unwrap();
    test(&mut Volume::new(&mut fs, &Options::default()))
}

fn names(volume: &mut Volume<'_, '_, Ram>) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |entry: &super::Listed<'_>| {
        names.push(entry.name.to_string());
        false
    };
    volume.list(INodeNo::ROOT, 0, true, &mut add).unwrap();
    names.sort();
    names
}

#[test]
fn names_that_the_kernel_does_not_take_hide_no_others() {
    let plain = forged(&[], names);
    assert_eq!(plain, [".", "..", "directory", "file"]);
    for name in ["di/ectory", "/irectory", "di\0ectory"] {
        forged(&[(b"directory", name.as_bytes())], |volume| {
            assert_eq!(names(volume), [".", "..", "file"], "{name:?}");
            assert!(volume.lookup(INodeNo::ROOT, name).is_err(), "{name:?}");
        });
    }
    // The kernel never looks up `..`, so the look-up of a directory with that name must fail.
    forged(&[(b"file", b"..le")], |volume| {
        assert_eq!(names(volume), [".", "..", "..le", "directory"])
    });
}

#[test]
fn absurd_sizes_and_counts_are_told_without_overflow() {
    let (size, counts) = ((FILE_BYTES as u64).to_le_bytes(), (5_u64 << 32 | 5).to_le_bytes());
    forged(&[(&size, &[0xFF; 8]), (&counts, &[0xFF; 8])], |volume| {
        let mut seen = 0;
        let mut add = |entry: &super::Listed<'_>| {
            let attr = entry.node.unwrap().attr;
            seen += u32::from(attr.size == u64::MAX || attr.nlink == u32::MAX);
            false
        };
        volume.list(INodeNo::ROOT, 0, true, &mut add).unwrap();
        assert_eq!(seen, 2);
    });
}

#[test]
fn compressed_files_are_plain_bytes_of_their_plain_size_to_all_handles() {
    volume(|volume| {
        let shape = Shape::new(4096, Method::Lz4);
        let text = b"21.5 degrees\n".repeat(5000);
        let mut file = PlainFile::create(volume.changes.fs(), "log", Some(shape), 0).unwrap();
        file.write(volume.changes.fs(), 0, &text).unwrap();
        file.close(volume.changes.fs()).unwrap();
        let node = volume.lookup(INodeNo::ROOT, "log").unwrap();
        assert_eq!(node.attr.size, text.len() as u64);
        assert!(node.attr.blocks * 512 < text.len() as u64 / 2);
        let reader = volume.open(node.attr.ino, OFlags::RDONLY.bits().cast_signed()).unwrap();
        let writer = volume.open(node.attr.ino, READ_WRITE).unwrap();
        assert_eq!(volume.read(reader, 13 * 400, 26).unwrap(), &text[..26]);
        volume.write(writer, 13 * 400, b"99.9", false).unwrap();
        assert_eq!(volume.read(reader, 13 * 400, 26).unwrap(), b"99.9 degrees\n21.5 degrees\n");
        volume.write(writer, text.len() as u64, b"the end", false).unwrap();
        assert_eq!(volume.read(reader, text.len() as u64, 100).unwrap(), b"the end");
        // Programs can neither read nor set this attribute.
        assert_eq!(volume.attributes(node.attr.ino).unwrap(), b"");
        assert!(volume.set_attribute(node.attr.ino, "user.steadyfs.packed", b"", 0).is_err());
        volume.set_size(node.attr.ino, None, 5).unwrap();
        assert_eq!(volume.read(reader, 0, 100).unwrap(), b"21.5 ");
        assert_eq!(volume.stat(node.attr.ino).unwrap().attr.size, 5);
        volume.release(reader).unwrap();
        volume.release(writer).unwrap();
    });
}

/// Makes a directory whose files are compressed.
fn packing_directory(volume: &mut Volume<'_, '_, FailOps<Nand>>) -> INodeNo {
    let directory = volume.make_directory(INodeNo::ROOT, "packed", CREATOR).unwrap().attr.ino;
    volume.set_attribute(directory, "user.steadyfs.compress", b"lz4/4KiB", 0).unwrap();
    directory
}

/// Returns the bytes of the pages of a file, and the bytes of its content.
fn sizes(volume: &mut Volume<'_, '_, FailOps<Nand>>, number: INodeNo) -> (u64, u64) {
    let attr = volume.stat(number).unwrap().attr;
    (attr.blocks * 512, attr.size)
}

#[test]
fn files_of_a_directory_that_says_so_are_compressed_where_that_saves_pages() {
    volume(|volume| {
        let directory = packing_directory(volume);
        let below = volume.make_directory(directory, "below", CREATOR).unwrap().attr.ino;
        assert_eq!(volume.attribute(below, "user.steadyfs.compress").unwrap(), b"lz4/4KiB");
        let text = b"21.5 degrees at the valve\n".repeat(4000);
        let noise: Vec<u8> = std::iter::repeat_with({
            let mut state = 1u64;
            move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            }
        })
        .take(text.len())
        .collect();
        for (name, content, is_packed) in
            [("text", &text[..], true), ("noise", &noise, false), ("small", &text[..500], false)]
        {
            let (node, file) = volume.create(below, name, READ_WRITE, CREATOR).unwrap();
            assert_eq!(
                volume.write(file, 0, content, false).unwrap() as usize,
                content.len(),
                "{name}"
            );
            let (taken, size) = sizes(volume, node.attr.ino);
            assert_eq!((size as usize, taken < size / 2), (content.len(), is_packed), "{name}");
            assert_eq!(volume.read(file, 0, 200_000).unwrap(), content, "{name}");
            volume.release(file).unwrap();
        }
        // Files in other directories are not compressed. Files in a subdirectory that sets `none`
        // are not compressed either.
        volume.set_attribute(below, "user.steadyfs.compress", b"none", 0).unwrap();
        for (parent, name) in [(INodeNo::ROOT, "elsewhere"), (below, "not")] {
            let (node, file) = volume.create(parent, name, READ_WRITE, CREATOR).unwrap();
            volume.write(file, 0, &text, false).unwrap();
            let (taken, size) = sizes(volume, node.attr.ino);
            assert!(taken >= size, "{name}");
            // Space is reserved for uncompressed pages, so a file with reserved space stays
            // uncompressed.
            let (node, file) = volume.create(directory, name, READ_WRITE, CREATOR).unwrap();
            volume.allocate(file, 0, 100_000, 0).unwrap();
            volume.write(file, 0, &text[..60_000], false).unwrap();
            assert!(sizes(volume, node.attr.ino).0 >= 100_000);
        }
        let (file, _) = volume.create(directory, "file", READ_WRITE, CREATOR).unwrap();
        for (number, value) in [(file.attr.ino, "lz4"), (directory, "rar"), (directory, "lz4/5KiB")]
        {
            assert!(
                volume
                    .set_attribute(number, "user.steadyfs.compress", value.as_bytes(), 0)
                    .is_err(),
                "{value}"
            );
        }
    });
}

#[test]
fn a_file_that_grows_through_several_handles_is_what_was_written() {
    for seed in 0..10 {
        volume(|volume| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let directory = packing_directory(volume);
            let mut packed = 0;
            for round in 0..12 {
                let name = format!("f{round}");
                let (node, first) = volume.create(directory, &name, READ_WRITE, CREATOR).unwrap();
                let (mut handles, mut model) = (vec![first], Vec::new());
                for _ in 0..rng.usize(5..40) {
                    let at = rng.usize(..handles.len());
                    match rng.u8(..12) {
                        0 => handles.push(volume.open(node.attr.ino, READ_WRITE).unwrap()),
                        1 => handles.push(
                            volume
                                .open(node.attr.ino, OFlags::RDONLY.bits().cast_signed())
                                .unwrap(),
                        ),
                        2 if handles.len() > 1 => volume.release(handles.swap_remove(at)).unwrap(),
                        3 => volume.sync_all().unwrap(),
                        4 => {
                            let size = rng.usize(..9000);
                            volume.set_size(node.attr.ino, None, size as u64).unwrap();
                            model.resize(size, 0);
                        }
                        _ => {
                            let offset = if rng.u8(..4) == 0 {
                                rng.usize(..=model.len() + 10)
                            } else {
                                model.len()
                            };
                            let length =
                                if rng.bool() { rng.usize(1..200) } else { rng.usize(1..10_000) };
                            let data: Vec<u8> = if rng.u8(..5) == 0 {
                                std::iter::repeat_with(|| rng.u8(..)).take(length).collect()
                            } else {
                                b"21.5 degrees\n".iter().copied().cycle().take(length).collect()
                            };
                            if volume.write(handles[at], offset as u64, &data, false).is_ok() {
                                model.resize(model.len().max(offset + length), 0);
                                model[offset..offset + length].copy_from_slice(&data);
                            }
                        }
                    }
                    for handle in &handles {
                        assert!(
                            volume.read(*handle, 0, 500_000).unwrap() == model,
                            "seed {seed}, {name}"
                        );
                    }
                    assert_eq!(
                        volume.stat(node.attr.ino).unwrap().attr.size,
                        model.len() as u64,
                        "seed {seed}, {name}"
                    );
                }
                for handle in handles {
                    volume.release(handle).unwrap();
                }
                let (taken, size) = sizes(volume, node.attr.ino);
                packed += u32::from(taken < size);
                volume.remove_file(directory, &name).unwrap();
            }
            assert!(packed > 0, "seed {seed}: no file was compressed");
        });
    }
}

#[test]
fn a_write_that_finds_no_room_tells_how_much_of_it_is_there() {
    for seed in 0..10 {
        volume(|volume| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let directory = packing_directory(volume);
            let (_, filler) = volume.create(INodeNo::ROOT, "filler", READ_WRITE, CREATOR).unwrap();
            let mut full = 0_u64;
            while let Ok(count) = volume.write(filler, full, &vec![7; 65_536], false) {
                full += u64::from(count);
            }
            let number = volume.lookup(INodeNo::ROOT, "filler").unwrap().attr.ino;
            volume.set_size(number, None, full - rng.u64(40_000..80_000)).unwrap();
            let mut refused = 0;
            for round in 0..40 {
                let name = format!("f{round}");
                let (node, file) = volume.create(directory, &name, READ_WRITE, CREATOR).unwrap();
                let mut model = Vec::new();
                for _ in 0..8 {
                    let offset = rng.usize(..=model.len());
                    let length = rng.usize(1..30_000);
                    let data: Vec<u8> =
                        std::iter::repeat_with(|| rng.u8(..)).take(length).collect();
                    let count = volume
                        .write(file, offset as u64, &data, false)
                        .map_or(0, |count| count as usize);
                    refused += u32::from(count < data.len());
                    model.resize(model.len().max(offset + count), 0);
                    model[offset..offset + count].copy_from_slice(&data[..count]);
                    let now = volume.read(file, 0, 500_000).unwrap();
                    assert!(
                        now == model,
                        "seed {seed}, round {round}: {count} of {} at {offset}",
                        data.len()
                    );
                }
                volume.release(file).unwrap();
                assert_eq!(volume.stat(node.attr.ino).unwrap().attr.size, model.len() as u64);
                volume.remove_file(directory, &name).unwrap();
            }
            assert!(refused > 0, "seed {seed}: every write found room");
        });
    }
}

#[test]
fn a_file_is_cut_through_a_handle_that_only_reads() {
    volume(|volume| {
        let (node, file) = volume.create(INodeNo::ROOT, "file", READ_WRITE, CREATOR).unwrap();
        volume.write(file, 0, b"gone", false).unwrap();
        let cuts = (OFlags::RDONLY | OFlags::TRUNC).bits().cast_signed();
        let reader = volume.open(node.attr.ino, cuts).unwrap();
        assert_eq!(volume.read(reader, 0, 10).unwrap(), b"");
        assert!(volume.write(reader, 0, b"x", false).is_err());
    });
}
