//! Tests repair, and the use of a volume after it. In each of these stories a volume was
//! repaired, reported no fault, and lost something afterwards.
//!
//! `steadyfs-siege repair` searches for more of them.

use crate::common::{Rng, for_seeds};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{
    Access, CheckReport, CommitOn, Config, Cursor, Damage, Error, FileSystem, Finding, OpenOptions,
};
use steadyfs_lab::chosen_names::{LISTED_MIN, of_one_bucket, seed_of};
use steadyfs_sim::{Nand, NandTiming};

/// The pages are small. A directory of few names has several pages, an index has few entries in
/// each of its pages, and each page of the file table has two inodes.
const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };

/// A chip with some lost pages. A lost page can be read again after a program or an erase.
#[derive(Clone)]
struct Lossy {
    chip: Nand,
    lost: Vec<PageIndex>,
}

impl Lossy {
    fn check(&self, page: PageIndex) -> Result<(), Failure> {
        if self.lost.contains(&page) { Err(Failure::Uncorrectable) } else { Ok(()) }
    }
}

impl Flash for Lossy {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.check(page)?;
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.check(page)?;
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.lost.retain(|&lost| lost != page);
        self.chip.program(page, data, tag)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let pages = block * GEOMETRY.pages_per_block..(block + 1) * GEOMETRY.pages_per_block;
        self.lost.retain(|lost| !pages.contains(lost));
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

type Fs<'m> = FileSystem<'m, Lossy>;

fn config() -> Config {
    Config { pages_per_logical_page: 1, files_max: 240, ..Config::for_geometry(&GEOMETRY) }
}

fn memory() -> Vec<u8> {
    vec![0; config().memory_bytes(&GEOMETRY)]
}

/// Calls `run` with a new volume, and ends the use cleanly or with a cut.
fn volume(ends_well: bool, run: impl FnOnce(&mut Fs<'_>)) -> Lossy {
    let mut memory = memory();
    let chip =
        Lossy { chip: Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1), lost: Vec::new() };
    let chip = FileSystem::format(chip, &config(), &mut memory).expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    run(&mut fs);
    fs.commit().expect("commit");
    if ends_well { fs.unmount().expect("unmount") } else { fs.flash().clone() }
}

/// Returns all programmed pages.
fn programmed(volume: &Lossy) -> Vec<PageIndex> {
    let mut chip = volume.chip.clone();
    let mut tag = [0; TAG_BYTES];
    let mut holds =
        |page: &PageIndex| chip.read_tag(*page, &mut tag).is_ok() && tag != [0xFF; TAG_BYTES];
    (0..GEOMETRY.block_count * GEOMETRY.pages_per_block).filter(|page| holds(page)).collect()
}

/// Repairs like `steady check --repair`.
fn repair(fs: &mut Fs<'_>) -> (Result<CheckReport, Error>, Vec<Finding>) {
    let mut scratch = vec![0; config().check_bytes(&GEOMETRY)];
    let mut findings = Vec::new();
    let mut note = |finding| findings.push(finding);
    let result = if fs.damage().is_some() {
        fs.repair(&mut scratch, &mut note)
    } else {
        fs.check(&mut scratch, true, &mut note)
    };
    (result, findings)
}

/// Returns the findings of a check, except unreadable content.
fn faults(fs: &mut Fs<'_>) -> Vec<Finding> {
    let mut scratch = vec![0; config().check_bytes(&GEOMETRY)];
    let mut findings = Vec::new();
    fs.check(&mut scratch, false, &mut |finding| findings.push(finding)).expect("check");
    findings.retain(|finding| !matches!(finding, Finding::UnreadablePage { .. }));
    findings
}

/// Loses each page of a volume in turn, repairs it, and calls `live` with it. Returns the number
/// of repairs that mended something, and all findings.
fn lose_each(volume: &Lossy, live: impl Fn(&mut Fs<'_>, PageIndex)) -> (u32, Vec<Finding>) {
    let mut memory = memory();
    let (mut mended, mut all) = (0, Vec::new());
    for page in programmed(volume) {
        let damaged = Lossy { lost: vec![page], ..volume.clone() };
        let mut fs = FileSystem::mount(damaged, Access::ReadWrite, &mut memory).expect("mount");
        let damage = fs.damage();
        let (result, findings) = repair(&mut fs);
        let checked = match result {
            // The first leaf has no copy.
            Err(Error::Corrupt) if damage == Some(Damage::Leaf) => continue,
            result => {
                result.unwrap_or_else(|error| panic!("page {page} lost, {damage:?}: {error}"))
            }
        };
        assert_eq!(faults(&mut fs), [], "page {page} lost, {damage:?}, {checked:?}");
        let (again, _) = repair(&mut fs);
        assert_eq!(
            again.map(|again| again.mended.total()),
            Ok(0),
            "page {page} lost, {damage:?}, repaired twice"
        );
        mended += u32::from(checked.mended.total() > 0);
        all.extend(findings);
        live(&mut fs, page);
        assert_eq!(faults(&mut fs), [], "page {page} lost, {damage:?}, {checked:?}, and used");
        let volume = fs.unmount().expect("unmount");
        let mut fs = FileSystem::mount(volume, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(
            (fs.damage(), faults(&mut fs)),
            (None, vec![]),
            "page {page} lost, mounted again"
        );
    }
    (mended, all)
}

fn create(fs: &mut Fs<'_>, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let mut file = fs.open(name, OpenOptions::CREATE)?;
    let written = fs.write(&mut file, 0, bytes);
    fs.close(file)?;
    written
}

fn read(fs: &mut Fs<'_>, name: &str) -> Result<Vec<u8>, Error> {
    let mut file = fs.open(name, OpenOptions::READ)?;
    let mut data = vec![0; 40_000];
    let length = fs.read(&mut file, 0, &mut data);
    fs.close(file)?;
    data.truncate(length?);
    Ok(data)
}

/// Names that a repair had just given were lost again. The directory grew for them by a page that
/// the same pass freed, and the next write took this page.
#[test]
fn names_that_a_repair_has_given_stay() {
    let name = |number: u32| format!("file {number:02}");
    let volume = volume(true, |fs| {
        (0..70).for_each(|number| create(fs, &name(number), &[number as u8; 20]).expect("create"));
        fs.commit().expect("commit");
        // The pages of the directory are not in one run.
        (0..30).for_each(|number| fs.remove(name(number).as_str()).expect("remove"));
    });
    let (mended, findings) = lose_each(&volume, |fs, page| {
        let seen: Vec<u32> =
            (30..70).filter(|&number| fs.stat(name(number).as_str()).is_ok()).collect();
        for number in 0..12 {
            create(fs, &format!("new {number}"), &[7; 700]).expect("create");
        }
        fs.commit().expect("commit");
        for number in seen {
            assert_eq!(
                read(fs, &name(number)),
                Ok(vec![number as u8; 20]),
                "page {page} lost, file {number}"
            );
        }
    });
    let given = findings.iter().filter(|finding| matches!(finding, Finding::Lost { .. })).count();
    assert!(
        mended > 10 && given > 20,
        "{mended} repairs mended something, {given} names were given"
    );
}

/// After a repair, a check had no findings. Then a new file took the inode with the long name of
/// another file, and that file was `Corrupt`.
#[test]
fn new_file_does_not_take_the_inode_of_a_long_name() {
    let long = |number: u32| format!("{number:03}{}", "n".repeat(150));
    let volume = volume(false, |fs| {
        for number in 0..20 {
            create(fs, &long(number), &[number as u8; 30]).expect("create");
            let inode = fs.stat(long(number).as_str()).expect("stat").inode;
            fs.set_attribute(inode, "key", Some(&[number as u8; 40])).expect("attribute");
            fs.commit().expect("commit");
        }
    });
    let (_, findings) = lose_each(&volume, |fs, page| {
        let seen: Vec<u32> =
            (0..20).filter(|&number| fs.stat(long(number).as_str()).is_ok()).collect();
        for number in 20..28 {
            create(fs, &long(number), &[7; 30]).expect("create");
        }
        fs.commit().expect("commit");
        for number in seen {
            let stat = fs
                .stat(long(number).as_str())
                .unwrap_or_else(|error| panic!("page {page} lost, file {number}: {error}"));
            let attribute = fs.attribute(stat.inode, "key", &mut [0; 40]);
            assert!(
                matches!(attribute, Ok(40) | Err(Error::NotFound)),
                "page {page} lost, file {number}: {attribute:?}"
            );
            assert_eq!(
                read(fs, &long(number)),
                Ok(vec![number as u8; 30]),
                "page {page} lost, file {number}"
            );
        }
    });
    let has = |wanted: fn(&Finding) -> bool| findings.iter().any(wanted);
    assert!(
        has(|finding| matches!(finding, Finding::LostExtension { .. })),
        "no extension was lost"
    );
    assert!(
        has(|finding| matches!(finding, Finding::UnmarkedInode { .. })),
        "no inode in use was marked as free"
    );
}

/// A free page contained old data of an earlier transaction whose allocation was lost. A file
/// that took this page showed the old data instead of zeros. Old data behind the end of a file
/// came back when the file grew.
#[test]
fn what_is_taken_after_a_repair_is_empty() {
    let volume = volume(false, |fs| {
        let mut rng = Rng(5);
        for step in 0..120u32 {
            let name = format!("f{}", step % 6);
            let mut file = fs.open(name.as_str(), OpenOptions::CREATE).expect("open");
            let size = fs.size(&mut file).expect("size");
            match rng.below(3) {
                0 if size > 1000 => fs.truncate(&mut file, rng.below(size)).expect("truncate"),
                _ => fs.write(&mut file, size, &[0xEE; 900]).expect("write"),
            }
            fs.close(file).expect("close");
            if step % 9 == 8 {
                fs.remove(format!("f{}", step % 5).as_str()).ok();
            }
            fs.commit().expect("commit");
        }
    });
    let (_, findings) = lose_each(&volume, |fs, page| {
        for number in 0..6 {
            let name = format!("f{number}");
            let Ok(stat) = fs.stat(name.as_str()) else { continue };
            let mut file = fs.open(name.as_str(), OpenOptions::WRITE).expect("open");
            fs.truncate(&mut file, stat.size + 2_000).expect("truncate");
            fs.close(file).expect("close");
            // A page that cannot be read returns an error.
            let Ok(data) = read(fs, &name) else { continue };
            assert!(
                data[stat.size as usize..].iter().all(|&byte| byte == 0),
                "page {page} lost: {name} grows by what was there"
            );
        }
        let mut file = fs.open("sparse", OpenOptions::CREATE).expect("open");
        (0..12).for_each(|at| fs.write(&mut file, at * 512 + 100, &[1]).expect("write"));
        fs.close(file).expect("close");
        fs.commit().expect("commit");
        let data = read(fs, "sparse").expect("read");
        assert!(
            data.iter().enumerate().all(|(at, &byte)| byte == u8::from(at % 512 == 100)),
            "page {page} lost: a new page is not empty"
        );
    });
    assert!(
        findings.iter().any(|finding| matches!(finding, Finding::LeakedPage { .. })),
        "no page held what it had before"
    );
}

/// A file's index lost a page, and the file was removed. From then on, every call that changes
/// anything failed.
#[test]
fn removal_of_a_file_whose_index_is_lost_stops_nothing() {
    let volume = volume(true, |fs| {
        let mut file = fs.open("scattered", OpenOptions::CREATE).expect("open");
        for at in (0..40).rev() {
            fs.write(&mut file, at * 512, &[9; 512]).expect("write");
            fs.commit().expect("commit");
        }
        fs.close(file).expect("close");
        // The patches of the index leave the journal buffer.
        for number in 0..50u8 {
            create(fs, &format!("small {number}"), &[number; 60]).expect("create");
            fs.commit().expect("commit");
        }
    });
    let mut memory = memory();
    let (mut hit, mut given_up) = (0, 0);
    for page in programmed(&volume) {
        let damaged = Lossy { lost: vec![page], ..volume.clone() };
        let mut fs = FileSystem::mount(damaged, Access::ReadWrite, &mut memory).expect("mount");
        if fs.damage().is_some()
            || read(&mut fs, "scattered").is_ok()
            || fs.remove("scattered").is_err()
        {
            continue;
        }
        hit += 1;
        for number in 0..20 {
            create(&mut fs, &format!("new {number}"), &[7; 700])
                .unwrap_or_else(|error| panic!("page {page} lost: {error}"));
            fs.commit().unwrap_or_else(|error| panic!("page {page} lost: {error}"));
        }
        let (repaired, findings) = repair(&mut fs);
        repaired.expect("repair");
        given_up +=
            u32::from(findings.iter().any(|finding| matches!(finding, Finding::LeakedPage { .. })));
        assert_eq!(faults(&mut fs), [], "page {page} lost");
    }
    assert!(hit > 10 && given_up > 0, "{hit} pages hit the file, {given_up} its index");
}

/// Returns a small volume that ended cleanly, and the names of its files.
fn small_volume(files: u32) -> (Lossy, Vec<String>) {
    let names: Vec<String> = (0..files).map(|number| format!("file {number}")).collect();
    let volume = volume(true, |fs| {
        for name in &names {
            create(fs, name, &small_content(name)[..140]).expect("create");
            let mut file = fs.open(name.as_str(), OpenOptions::WRITE).expect("open");
            // The file leaves its inode, and all of it is small changes of a page.
            fs.append(&mut file, &small_content(name)[140..]).expect("append");
            fs.close(file).expect("close");
        }
    });
    (volume, names)
}

fn small_content(name: &str) -> Vec<u8> {
    (0..200)
        .map(|index| 1 + (index + name.bytes().map(usize::from).sum::<usize>()) as u8 % 250)
        .collect()
}

/// The journal page with all content of a file's page was lost, and the inode was not: after a
/// repair the file read as zeros without an error. No finding named this file, or files whose
/// names were lost.
#[test]
fn small_files_whose_changes_are_lost_are_errors_and_named() {
    let (mut unreadable, mut missing) = (0, 0);
    for files in [3, 8, 14, 20] {
        let (volume, names) = small_volume(files);
        let mut memory = memory();
        for page in programmed(&volume) {
            let damaged = Lossy { lost: vec![page], ..volume.clone() };
            let mut fs = FileSystem::mount(damaged, Access::ReadWrite, &mut memory).expect("mount");
            let damage = fs.damage();
            let (result, findings) = repair(&mut fs);
            if damage == Some(Damage::Leaf) && result == Err(Error::Corrupt) {
                continue;
            }
            result.unwrap_or_else(|error| {
                panic!("{files} files, page {page} lost, {damage:?}: {error}")
            });
            let fs = fs.unmount().expect("unmount");
            let mut fs = FileSystem::mount(fs, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(
                (fs.damage(), faults(&mut fs)),
                (None, vec![]),
                "{files} files, page {page} lost, {damage:?}, repaired"
            );
            for name in &names {
                let is_told = |finding: &Finding| match finding {
                    Finding::UnreadablePage { .. } => fs.stat(name.as_str()).is_ok(),
                    Finding::LostChanges { .. }
                    | Finding::LeakedInode { .. }
                    | Finding::BadEntry { .. } => true,
                    _ => false,
                };
                let is_told = findings.iter().any(is_told);
                match read(&mut fs, name) {
                    Ok(bytes) if bytes == small_content(name) => {}
                    Ok(bytes) if small_content(name).starts_with(&bytes) => {
                        let inode = fs.stat(name.as_str()).expect("stat").inode;
                        let is_named = findings.contains(&Finding::InDoubt { inode });
                        assert!(
                            is_named,
                            "{files} files, page {page} lost, {damage:?}: {name} is as before, \
                             {findings:?}"
                        );
                    }
                    Ok(bytes) => {
                        panic!("{files} files, page {page} lost, {damage:?}: {name} is {bytes:?}")
                    }
                    Err(error) => {
                        assert!(
                            is_told,
                            "{files} files, page {page} lost, {damage:?}: {name}: {error}, \
                             {findings:?}"
                        );
                        unreadable += u32::from(error == Error::Corrupt);
                        missing += u32::from(error == Error::NotFound);
                    }
                }
            }
        }
    }
    assert!(
        unreadable > 0 && missing > 0,
        "{unreadable} files cannot be read, {missing} are missing"
    );
}

/// The newest journal page contained all files of a volume, and was lost with its copy. The list
/// of the root directory was empty without an error, and the mount after a repair missed the same
/// page again.
#[test]
fn lost_journal_page_hides_no_file_before_a_repair_and_is_accepted_by_one() {
    let names = ["file 0", "file 1"];
    let volume = volume(true, |fs| {
        names.iter().for_each(|name| create(fs, name, &[7; 30]).expect("create"))
    });
    let mut memory = memory();
    let fs = FileSystem::mount(volume.clone(), Access::ReadOnly, &mut memory).expect("mount");
    let copy = fs.describe().journal_copy.expect("a copy of the newest journal page");
    let mut hit = 0;
    for page in programmed(&volume) {
        let damaged = Lossy { lost: vec![page, copy], ..volume.clone() };
        let mut fs = FileSystem::mount(damaged, Access::ReadWrite, &mut memory).expect("mount");
        if fs.damage() != Some(Damage::Journal) {
            continue;
        }
        hit += 1;
        assert_eq!(
            fs.list(steadyfs::ROOT, &mut steadyfs::Cursor::default()).map(drop),
            Err(Error::Corrupt)
        );
        assert_eq!(
            names.iter().map(|name| read(&mut fs, name)).collect::<Vec<_>>(),
            [Err(Error::Corrupt), Err(Error::Corrupt)]
        );
        let (result, findings) = repair(&mut fs);
        let checked = result.expect("repair");
        let inodes = config().files_max + 16 - 1;
        assert_eq!(findings.last(), Some(&Finding::LostChanges { inodes }), "{findings:?}");
        assert!(findings.contains(&Finding::InDoubt { inode: steadyfs::ROOT }), "{findings:?}");
        assert_eq!(checked.findings as usize, findings.len());
        assert_eq!(read(&mut fs, names[0]), Err(Error::NotFound));
        let volume = fs.unmount().expect("unmount");
        let mut fs = FileSystem::mount(volume, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(
            (fs.damage(), repair(&mut fs).1),
            (None, vec![]),
            "page {page} lost, and repaired"
        );
    }
    assert_eq!(hit, 1, "pages that take the journal");
}

/// The logical page of the allocation map, and the first page of the file table.
const TABLES: [Finding; 2] =
    [Finding::UnreadableTable { logical: 1 }, Finding::UnreadableTable { logical: 2 }];

/// The page of the file table with the root directory's inode was lost. No path led to a file any
/// more, and the mount reported no damage.
#[test]
fn loss_of_the_root_directory_is_damage() {
    let volume = volume(true, |fs| {
        for number in 0..40u8 {
            create(fs, &format!("file {number}"), &[number; 100]).expect("create");
        }
    });
    let mut memory = memory();
    let mut hit = 0;
    for page in programmed(&volume) {
        let damaged = Lossy { lost: vec![page], ..volume.clone() };
        let mut fs = FileSystem::mount(damaged, Access::ReadWrite, &mut memory).expect("mount");
        let damage = fs.damage();
        if repair(&mut fs).1.contains(&TABLES[1]) {
            assert_eq!(damage, Some(Damage::Tables), "page {page} lost");
            hit += 1;
        }
    }
    assert!(hit > 0, "no page with the root directory alone was lost");
}

/// A page of the allocation map was lost: the volume could be read, and nothing could repair it.
#[test]
fn lost_allocation_map_is_found_again() {
    let volume = volume(true, |fs| {
        for number in 0..20u8 {
            create(fs, &format!("file {number}"), &[number; 1_500]).expect("create");
        }
        fs.create_dir("directory").expect("directory");
        create(fs, "directory/file", &[99; 900]).expect("create");
    });
    let mut memory = memory();
    let mut hit = 0;
    for page in programmed(&volume) {
        let damaged = Lossy { lost: vec![page], ..volume.clone() };
        let mut fs = FileSystem::mount(damaged, Access::ReadWrite, &mut memory).expect("mount");
        let (damage, is_read_only) = (fs.damage(), fs.health().read_only);
        let (repaired, findings) = repair(&mut fs);
        if !findings.contains(&TABLES[0]) {
            continue;
        }
        hit += 1;
        assert_eq!((damage, is_read_only), (Some(Damage::Tables), true), "page {page} lost");
        let used = repaired.expect("repair").mended;
        assert_eq!(
            (fs.damage(), fs.health().read_only, faults(&mut fs)),
            (None, false, vec![]),
            "page {page} lost, {used:?}"
        );
        for number in 0..20u8 {
            assert_eq!(
                read(&mut fs, &format!("file {number}")),
                Ok(vec![number; 1_500]),
                "page {page} lost"
            );
        }
        assert_eq!(read(&mut fs, "directory/file"), Ok(vec![99; 900]), "page {page} lost");
        create(&mut fs, "more", &[5; 5_000]).expect("create");
        assert_eq!(
            read(&mut fs, "file 7"),
            Ok(vec![7; 1_500]),
            "page {page} lost: its pages are taken"
        );
    }
    assert!(hit > 0, "no page holds the map");
}

/// Returns the contents of a file.
fn content(fs: &mut FileSystem<'_, Nand>, name: &str) -> Vec<u8> {
    let mut data = vec![0; 9000];
    let Ok(mut file) = fs.open(name, OpenOptions::READ) else { return Vec::new() };
    let length = fs.read(&mut file, 0, &mut data).expect("read");
    fs.close(file).expect("close");
    data.truncate(length);
    data
}

/// Makes random calls without a commit of their own, in a transaction so small that many calls
/// are refused. After a refusal, pages without content that the call had programmed were
/// programmed again with zeros. Such a page was free but had a frame, and showed these zeros when
/// it was taken into use. A page that waits in a cache has content.
#[test]
fn pages_of_a_refused_call_hold_nothing_and_others_what_they_did() {
    let geometry =
        Geometry { page_bytes: 256, pages_per_block: 16, block_count: 43, programs_bytes: false };
    let config = Config {
        pages_per_logical_page: 2,
        overlay_entries: 72,
        transaction_pages: 8,
        checkpoint_programs: 40,
        files_max: 60,
        ..Config::for_geometry(&geometry)
    };
    for_seeds(
        "repair",
        "pages_of_a_refused_call_hold_nothing_and_others_what_they_did",
        40,
        |seed| {
            let mut memory = vec![0; config.memory_bytes(&geometry)];
            let mut cache = vec![0; config.cache_bytes(&geometry, [0, 1, 4][seed as usize % 3])];
            let chip = Nand::with_geometry(geometry, NandTiming::ROUND, seed);
            let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
            let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
            fs.lend_cache(&mut cache).expect("a cache");
            fs.set_commit_on(CommitOn::MANUAL);
            let (mut rng, mut scratch) = (Rng(seed), vec![0; config.check_bytes(&geometry)]);
            let mut known = [const { Vec::new() }; 3];
            for step in 0..200 {
                let (index, place) = (rng.below(3) as usize, rng.below(6000));
                let name = ["a", "b", "c"][index];
                let Ok(mut file) = fs.open(name, OpenOptions::CREATE) else {
                    fs.commit().expect("commit");
                    continue;
                };
                let bytes = vec![step as u8 | 1; rng.below(1500) as usize + 1];
                let now: &mut Vec<u8> = &mut known[index];
                let done = match rng.below(5) {
                    0 | 1 => fs.write(&mut file, place, &bytes).map(|()| {
                        now.resize(now.len().max(place as usize + bytes.len()), 0);
                        now[place as usize..place as usize + bytes.len()].copy_from_slice(&bytes);
                    }),
                    2 => fs.truncate(&mut file, place).map(|()| now.resize(place as usize, 0)),
                    3 => fs.reserve(&mut file, place, place + rng.below(3000)).map(drop),
                    _ => fs.remove(name).map(|()| now.clear()),
                };
                fs.close(file).ok();
                match done {
                    Ok(()) => {}
                    // The pieces before the refused piece are there.
                    Err(Error::NoSpace | Error::Stale | Error::TransactionTooLarge) => {
                        *now = content(&mut fs, name)
                    }
                    Err(error) => panic!("{error}"),
                }
                if done == Err(Error::TransactionTooLarge) && rng.below(2) == 0 {
                    fs.commit().expect("commit");
                }
                let mut findings = Vec::new();
                fs.check(&mut scratch, false, &mut |finding| findings.push(finding))
                    .expect("check");
                assert!(findings.is_empty(), "seed {seed}, step {step}: {findings:?}");
                for (name, now) in ["a", "b", "c"].iter().zip(&known) {
                    assert!(content(&mut fs, name) == *now, "seed {seed}, step {step}: {name}");
                }
            }
        },
    );
}

/// Returns the names of a directory, in its listing order.
fn listed(fs: &mut Fs<'_>, directory: u32) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), Cursor::default());
    while let Some(entry) = fs.list(directory, &mut cursor).expect("list") {
        names.push(entry.name().to_string());
    }
    names
}

/// A repair rebuilds the pages of a directory from the names in the inodes. It must also rebuild
/// overflow pages, and correct a depth that is too small.
#[test]
fn names_that_fill_a_bucket_are_mended_like_others() {
    let mut chosen = Vec::new();
    let volume = volume(true, |fs| {
        let directory = fs.create_dir("d").expect("create_dir");
        for number in 0..LISTED_MIN {
            create(fs, &format!("d/first {number}"), b"").expect("create");
        }
        let seed = seed_of(&listed(fs, directory)).expect("a seed");
        // A bucket has 128 records.
        chosen = of_one_bucket(seed, 12, 7).take(160).collect();
        for name in &chosen[..140] {
            create(fs, &format!("d/{name}"), b"").expect("create");
        }
    });
    let (mended, _) = lose_each(&volume, |fs, page| {
        let Ok(directory) = fs.stat("d") else { return };
        let names = listed(fs, directory.inode);
        for name in &names {
            assert!(
                fs.stat(&format!("d/{name}")).is_ok(),
                "page {page} lost: {name} is listed and not found"
            );
        }
        let mut more = 0;
        for name in &chosen[140..] {
            more += usize::from(create(fs, &format!("d/{name}"), b"").is_ok());
        }
        let mut after = listed(fs, directory.inode);
        after.sort();
        after.dedup();
        assert_eq!(
            (more, after.len()),
            (20, names.len() + 20),
            "page {page} lost, names after it was mended"
        );
    });
    assert!(mended >= 20, "{mended}");
}
