//! Tests mounts that are cut one after the other. If a page proves that a root was complete, the
//! next mount takes this root up again. A root that an intermediate mount could not read does not
//! come back.

use crate::common::spy::{Change, Spy};
use steadyfs::media::nor::NorPages;
use steadyfs::media::{BlockIndex, Flash, Geometry, PageIndex};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming, Nor, NorTiming};

fn is_seal(change: &Change) -> bool {
    matches!(change, Change::Root(_, 1..))
}

/// Returns all changes of a mount that is not cut.
fn changes_of_mount(volume: &Spy<Nand>, memory: &mut [u8]) -> Vec<Change> {
    FileSystem::mount(volume.again(u32::MAX), Access::ReadWrite, memory)
        .expect("mount")
        .flash()
        .changes
        .clone()
}

/// Cuts a mount after the first page of the root's copies. Returns the medium, the block of the
/// root, and that page.
fn cut_behind_a_seal(volume: &Spy<Nand>, memory: &mut [u8]) -> (Spy<Nand>, BlockIndex, PageIndex) {
    let changes = changes_of_mount(volume, memory);
    let at = changes.iter().position(is_seal).expect("a copy");
    let Change::Root(seal, _) = changes[at] else { unreachable!("it is a root's") };
    let mut cut = volume.again(at as u32 + 1);
    assert!(FileSystem::mount(&mut cut, Access::ReadWrite, memory).is_err(), "power failed");
    assert_eq!(cut.changes, changes[..=at]);
    (cut, seal / volume.geometry().pages_per_block, seal)
}
/// Returns volumes whose roots take one, two and three pages. The frames begin directly behind
/// the root or after a gap.
fn volumes() -> Vec<(Spy<Nand>, Vec<u8>)> {
    let mut found = Vec::new();
    for (page_bytes, pages_per_block, block_count) in
        [(512, 16, 64), (256, 32, 48), (256, 24, 80), (256, 24, 140)]
    {
        for pages_per_logical_page in [1, 2, 4] {
            let geometry =
                Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false };
            let config = Config { pages_per_logical_page, ..Config::for_geometry(&geometry) };
            if config.check(&geometry).is_err() {
                continue;
            }
            let mut memory = vec![0; config.memory_bytes(&geometry)];
            let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
            let mut chip =
                FileSystem::format(Spy::new(chip, u32::MAX), &config, &mut memory).expect("format");
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            (0..40).for_each(|number| write(&mut fs, number));
            found.push((chip, memory));
        }
    }
    found
}

/// Writes or rewrites a file.
fn write<F: Flash>(fs: &mut FileSystem<'_, F>, number: u32) {
    fs.set_commit_on(CommitOn::MANUAL);
    let mut file =
        fs.open(format!("file {}", number % 7).as_str(), OpenOptions::CREATE).expect("open");
    fs.write(&mut file, 0, &number.to_le_bytes().repeat(50)).expect("write");
    fs.close(file).expect("close");
    fs.commit().expect("commit");
}

fn read<F: Flash>(fs: &mut FileSystem<'_, F>, number: u32) -> u32 {
    let mut data = [0; 4];
    let mut file =
        fs.open(format!("file {}", number % 7).as_str(), OpenOptions::READ).expect("open");
    fs.read(&mut file, 0, &mut data).expect("read");
    fs.close(file).expect("close");
    u32::from_le_bytes(data)
}

/// If the copied frames of a mount begin behind a gap, the search for the end of the block does
/// not end at the gap.
#[test]
fn root_with_one_page_of_its_copies_is_where_the_next_mount_begins() {
    let mut gaps = 0;
    for (volume, mut memory) in volumes() {
        let (cut, block, seal) = cut_behind_a_seal(&volume, &mut memory);
        let programmed = |change: &Change| match *change {
            Change::Erase(_) | Change::Bytes(_) => None,
            Change::Root(page, _) | Change::Program(page) => Some(page),
        };
        let first = block * cut.geometry().pages_per_block;
        gaps += u32::from(
            (first..seal)
                .any(|page| cut.changes.iter().filter_map(programmed).all(|other| other != page)),
        );
        let next = changes_of_mount(&cut, &mut memory);
        assert!(
            !next.contains(&Change::Erase(block)),
            "{:?}: block {block} has the newest root",
            cut.geometry()
        );
    }
    assert!(gaps > 0, "no volume has a gap");
}

/// Two mounts are cut after one page of their copies. The third mount can read neither root and
/// begins where the first mount began. Later, the second mount's root is readable again: it must
/// not become the newest root.
#[test]
fn root_that_no_mount_could_read_does_not_come_back() {
    for (volume, mut memory) in volumes() {
        let (one, first, _) = cut_behind_a_seal(&volume, &mut memory);
        let (two, second, _) = cut_behind_a_seal(&one, &mut memory);
        assert_ne!(first, second);
        let mut three = two.again(u32::MAX);
        three.hidden = [two.pages_of(first), two.pages_of(second)].concat();
        let mut fs = FileSystem::mount(&mut three, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(read(&mut fs, 39), 39, "what was committed before the cuts");
        write(&mut fs, 1039 - 1039 % 7 + 39 % 7);
        let newest = read(&mut fs, 39);
        assert!(newest > 1000);
        let mut four = three.again(u32::MAX);
        let mut fs = FileSystem::mount(&mut four, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(
            read(&mut fs, 39),
            newest,
            "{:?}: what was committed is there",
            volume.geometry()
        );
    }
}

/// One of these pages is the first page of a root with a gap behind it.
#[test]
fn root_of_a_mount_is_found_whichever_page_of_it_is_lost() {
    for (volume, mut memory) in volumes() {
        let mut used = volume.again(u32::MAX);
        let mut fs = FileSystem::mount(&mut used, Access::ReadWrite, &mut memory).expect("mount");
        // Enough writes that the volume uses blocks which no older root lists.
        (1000..1040).for_each(|number| write(&mut fs, number));
        let Some(&Change::Erase(block)) = used.changes.first() else {
            panic!("{:?}", used.changes.first())
        };
        for page in used.pages_of(block) {
            let mut later = used.again(u32::MAX);
            later.hidden.push(page);
            let mut fs =
                FileSystem::mount(&mut later, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(
                (fs.damage(), read(&mut fs, 1039)),
                (None, 1039),
                "{:?}: page {page} lost",
                volume.geometry()
            );
            assert!(
                !fs.flash().changes.contains(&Change::Erase(block)),
                "{:?}: page {page} lost",
                volume.geometry()
            );
        }
    }
}

/// Power fails when the closed root has one page of its copies. The next mount reads this root
/// and changes something. The mount after that cannot read the root: the changes must not depend
/// on it.
#[test]
fn change_after_a_closed_root_that_was_cut_is_there_without_that_root() {
    let chip = NorPages::new(Nor::with_geometry(8192, 60, NorTiming::ROUND, 1), 512);
    let geometry = chip.geometry();
    let config = Config {
        pages_per_logical_page: 2,
        checkpoint_programs: 240,
        ..Config::for_geometry(&geometry)
    };
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    // The large file stays for a long time. After its removal, its blocks are the least worn, so
    // that the closed root lists them.
    for (before, after) in
        (400..420).step_by(10).flat_map(|before| [(before, 1), (before, 60), (before, 110)])
    {
        let mut use_it = |left: u32| {
            let mut chip = Spy::new(chip.clone(), left);
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            let mut file = fs.open("large", OpenOptions::CREATE).expect("open");
            fs.write(&mut file, 0, &vec![7; 150_000]).expect("write");
            fs.close(file).expect("close");
            (0..before).for_each(|number| write(&mut fs, number));
            fs.remove("large").expect("remove");
            fs.commit().expect("commit");
            (0..5).for_each(|number| write(&mut fs, number));
            // If the last root fails, `unmount` returns an error, and nothing is lost.
            fs.unmount().expect("unmount");
            chip
        };
        let whole = use_it(u32::MAX);
        let copies = whole.changes.iter().rev().take_while(|change| is_seal(change)).count();
        assert!(copies > 1);
        let first = whole.changes.len() - copies;
        let cut = use_it(first as u32 + 1);
        assert_eq!(cut.changes, whole.changes[..=first]);
        let Change::Root(seal, _) = cut.changes[first] else { unreachable!("it is a root's") };

        let mut opened = cut.again(u32::MAX);
        let mut fs = FileSystem::mount(&mut opened, Access::ReadWrite, &mut memory).expect("mount");
        assert!(
            fs.is_settled() && opened_nothing(&fs),
            "the root counts, and ends the use of the volume"
        );
        (1000..1000 + after).for_each(|number| write(&mut fs, number));
        let mut later = opened.again(u32::MAX);
        later.hidden.push(seal);
        let mut fs = FileSystem::mount(&mut later, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(fs.damage(), None, "{before} and {after} changes");
        assert_eq!(read(&mut fs, 999 + after), 999 + after, "{before} and {after} changes");
    }
}

fn opened_nothing<F: Flash + Clone>(fs: &FileSystem<'_, &mut Spy<F>>) -> bool {
    fs.flash().changes.is_empty()
}

/// Returns a small volume whose root takes two pages. Its copy takes two pages too.
fn small_volume() -> (Spy<Nand>, Vec<u8>) {
    let geometry =
        Geometry { page_bytes: 256, pages_per_block: 32, block_count: 48, programs_bytes: false };
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let chip = Spy::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), u32::MAX);
    (FileSystem::format(chip, &config, &mut memory).expect("format"), memory)
}

/// Returns a volume in this state:
///
/// - After a clean end, the first change was cut. Then three mounts were cut, the third in the
///   erase of a ring block.
/// - The root of that change counted for those mounts. Today it does not count, so that the
///   closed root is the newest again.
/// - The cut mounts left pages in a block. Their sequence numbers are larger than the number of
///   the root that the next first change writes. Today these pages are unreadable.
fn outranked_volume() -> (Spy<Nand>, Vec<u8>) {
    let (chip, mut memory) = small_volume();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, 0);
    let clean = fs.unmount().map_err(|_| "power failed").expect("unmount").again(u32::MAX);

    // The first change is cut at the first page of its root's copy.
    let mut whole = clean.again(u32::MAX);
    write(&mut FileSystem::mount(&mut whole, Access::ReadWrite, &mut memory).expect("mount"), 7);
    let at = whole.changes.iter().position(is_seal).expect("a copy");
    let Change::Root(first_seal, _) = whole.changes[at] else { unreachable!("it is a root's") };
    let mut opened = clean.again(at as u32 + 1);
    {
        let mut fs = FileSystem::mount(&mut opened, Access::ReadWrite, &mut memory).expect("mount");
        assert!(fs.create_dir("a").is_err(), "power failed");
    }
    let (once, block, seal) = cut_behind_a_seal(&opened, &mut memory);
    // From now on the seal reads as damaged. The next mount takes the same block, and is cut
    // there.
    let once = Spy { hidden: vec![seal], ..once };
    let mut whole = Spy { hidden: once.hidden.clone(), ..once.again(u32::MAX) };
    FileSystem::mount(&mut whole, Access::ReadWrite, &mut memory).expect("mount");
    let at = whole.changes.iter().position(is_seal).expect("a copy");
    assert_eq!(whole.changes[at], Change::Root(seal, 1));
    let mut twice = Spy { hidden: once.hidden.clone(), ..once.again(at as u32 + 1) };
    assert!(FileSystem::mount(&mut twice, Access::ReadWrite, &mut memory).is_err(), "power failed");

    // The next mount is cut in the erase of that block: all of its pages may read as damaged, and
    // be readable later.
    let mut volume = twice.again(u32::MAX);
    volume.hidden = volume.pages_of(block);
    volume.hidden.push(first_seal);
    (volume, memory)
}

/// Acknowledged data is there, even if pages that were never erased become readable again.
fn expect_written(volume: &Spy<Nand>, number: u32, memory: &mut [u8]) {
    for hidden in [volume.hidden.clone(), Vec::new()] {
        let mut last = Spy { hidden, ..volume.again(u32::MAX) };
        let mut fs = FileSystem::mount(&mut last, Access::ReadWrite, memory).expect("mount");
        assert_eq!((fs.damage(), read(&mut fs, number)), (None, number));
    }
}

#[test]
fn first_change_after_a_clean_end_is_there_whatever_cut_mounts_have_left() {
    let (mut volume, mut memory) = outranked_volume();
    {
        let mut fs = FileSystem::mount(&mut volume, Access::ReadWrite, &mut memory).expect("mount");
        assert!(fs.flash().changes.is_empty(), "a clean end");
        let promised = fs.bounds().of(steadyfs::Call::Create { depth: 0 }).most();
        fs.create_dir("a").expect("create");
        let erases =
            fs.flash().changes.iter().filter(|change| matches!(change, Change::Erase(_))).count();
        assert!(erases >= 2 && erases as u32 <= promised.erases, "{erases} of {}", promised.erases);
        write(&mut fs, 14);
    }
    expect_written(&volume, 14, &mut memory);
}

/// The same test, but any one program or erase of that change is refused, or the power fails
/// there.
#[test]
fn first_change_may_fail_anywhere_and_be_made_again() {
    let (volume, mut memory) = outranked_volume();
    let mut cut = 0;
    for at in 1..14 {
        let mut chip = Spy { hidden: volume.hidden.clone(), refused: at, ..volume.again(u32::MAX) };
        {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            // The call itself survives one refusal if another block can take the place.
            if fs.create_dir("a").is_err() {
                fs.create_dir("a").unwrap_or_else(|error| panic!("{at}: {error}"));
            }
            fs.flash_mut().refused = 0;
            write(&mut fs, 14);
        }
        expect_written(&chip, 14, &mut memory);

        let mut chip = Spy { hidden: volume.hidden.clone(), ..volume.again(at) };
        {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            cut += u32::from(fs.create_dir("a").is_err());
        }
        let mut chip = Spy { hidden: chip.hidden.clone(), ..chip.again(u32::MAX) };
        write(
            &mut FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount"),
            14,
        );
        expect_written(&chip, 14, &mut memory);
    }
    assert!(cut >= 5, "it was cut in many places: {cut}");
}

/// A page that a mount copied into the ring is lost before it was moved. Only the content of this
/// page is lost.
#[test]
fn page_that_a_mount_copied_and_that_is_lost_costs_its_content_only() {
    let (mut chip, mut memory) = small_volume();
    let unit = 1024;
    {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        write(&mut fs, 5);
        let mut file = fs.open("large", OpenOptions::DURABLE).expect("open");
        // The last write is a transaction of its own: its tag commits it.
        (0..3u8).for_each(|part| {
            fs.write(&mut file, u64::from(part) * unit, &[part; 1024]).expect("write")
        });
        fs.write(&mut file, unit, &[9; 1024]).expect("write");
    }
    let mut settled = chip.again(u32::MAX);
    FileSystem::mount(&mut settled, Access::ReadWrite, &mut memory).expect("mount");
    let program =
        |change: &Change| if let Change::Program(page) = *change { Some(page) } else { None };
    let copied: Vec<PageIndex> = settled.changes.iter().filter_map(program).collect();
    assert!(!copied.is_empty(), "the last record was copied");

    let mut costs = 0;
    for lost in copied.iter().map(|&page| vec![page]).chain([copied.clone()]) {
        let mut chip = Spy { hidden: lost.clone(), ..settled.again(u32::MAX) };
        for access in [Access::ReadOnly, Access::ReadWrite, Access::ReadWrite] {
            let mut fs = FileSystem::mount(&mut chip, access, &mut memory).expect("mount");
            assert_eq!((fs.damage(), read(&mut fs, 5)), (None, 5), "{lost:?} {access:?}");
            let mut file = fs.open("large", OpenOptions::WRITE).expect("open");
            for (part, content) in [0, 9, 2].into_iter().enumerate() {
                for piece in 0..4 {
                    let mut data = [0; 256];
                    match fs.read(&mut file, part as u64 * unit + piece * 256, &mut data) {
                        Ok(_) => assert_eq!(data, [content; 256], "{lost:?} {access:?} {part}"),
                        Err(error) => {
                            assert_eq!((error, part), (Error::Corrupt, 1), "{lost:?} {access:?}")
                        }
                    }
                    costs += u32::from(data == [0; 256] && content != 0);
                }
            }
            fs.close(file).expect("close");
        }
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("large", OpenOptions::DURABLE).expect("open");
        fs.write(&mut file, unit, &[4; 1024]).expect("written anew");
        let mut data = [0; 1024];
        fs.read(&mut file, unit, &mut data).expect("read");
        assert_eq!(data, [4; 1024]);
    }
    assert!(costs > 0, "a page of the file was among them");
}
