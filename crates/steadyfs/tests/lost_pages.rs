//! Tests the loss of any one page of the medium. The volume must report lost data, keep
//! everything else, and never show old data without a report.

use crate::common::Rng;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{
    Access, BlockState, CheckReport, CleanReader, CommitOn, Config, Damage, Error, FileSystem,
    Finding, MountError, OpenOptions, Reader,
};
use steadyfs_sim::{Nand, NandTiming};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
/// The blocks are so large and the pages so small that a root takes two pages.
const SMALL_PAGES: Geometry =
    Geometry { page_bytes: 256, pages_per_block: 32, block_count: 48, programs_bytes: false };
const FILES: usize = 12;
/// Number of seeds of each test.
const SEEDS: u64 = 3;

/// A chip with some lost pages. A lost page can be read again after a program.
#[derive(Clone)]
struct Lossy {
    chip: Nand,
    lost: Vec<PageIndex>,
    /// Number of reads of lost pages that fail. After these, lost pages can be read again.
    failing: u32,
    /// Number of programs and erases until the chip stops answering.
    left: u32,
    /// Number of operations until one operation fails, once.
    hiccup: u32,
}

impl Lossy {
    fn check(&mut self, page: PageIndex) -> Result<(), Failure> {
        self.stumble()?;
        if !self.lost.contains(&page) || self.failing == 0 {
            return Ok(());
        }
        self.failing -= 1;
        Err(Failure::Uncorrectable)
    }

    fn stumble(&mut self) -> Result<(), Failure> {
        let before = self.hiccup;
        self.hiccup = before.saturating_sub(1);
        if before == 1 { Err(Failure::Device) } else { Ok(()) }
    }

    fn spend(&mut self) -> Result<(), Failure> {
        self.stumble()?;
        self.left = self.left.checked_sub(1).ok_or(Failure::Device)?;
        Ok(())
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
        self.spend()?;
        self.lost.retain(|&lost| lost != page);
        self.chip.program(page, data, tag)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.spend()?;
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

/// The contents of the files, by their numbers.
type Files = Vec<Vec<u8>>;

/// The way in which the use of a volume ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Unmounted,
    Cut,
    /// A cut, and a mount that settled the state after it.
    Settled,
}

fn memory(geometry: &Geometry) -> Vec<u8> {
    vec![0; Config::for_geometry(geometry).memory_bytes(geometry)]
}

fn mount<'m>(
    volume: &Lossy,
    lost: &[PageIndex],
    access: Access,
    memory: &'m mut [u8],
) -> FileSystem<'m, Lossy> {
    let volume = Lossy { lost: lost.to_vec(), ..volume.clone() };
    FileSystem::mount(volume, access, memory)
        .unwrap_or_else(|error| panic!("pages {lost:?} lost: {error}"))
}

/// Returns a new chip without a lost page.
fn lossless(geometry: Geometry) -> Lossy {
    Lossy {
        chip: Nand::with_geometry(geometry, NandTiming::ROUND, 1),
        lost: Vec::new(),
        failing: u32::MAX,
        left: u32::MAX,
        hiccup: 0,
    }
}

/// Returns a volume after some hundred changes. Also returns the contents of its files, now and
/// before the last commit.
fn used_volume(geometry: Geometry, seed: u64, changes: u64, end: End) -> (Lossy, [Files; 2]) {
    let mut memory = memory(&geometry);
    let mut chip =
        FileSystem::format(lossless(geometry), &Config::for_geometry(&geometry), &mut memory)
            .expect("format");
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let mut files = [vec![Vec::new(); FILES], vec![Vec::new(); FILES]];
    let mut rng = Rng(seed);
    for change in 0..changes {
        files[1] = files[0].clone();
        change_a_file(&mut fs, &mut rng, change, &mut files[0]);
    }
    match end {
        End::Unmounted => {
            fs.unmount().expect("unmount");
        }
        End::Cut => {}
        End::Settled => {
            FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        }
    }
    (chip, files)
}

fn change_a_file(
    fs: &mut FileSystem<'_, &mut Lossy>,
    rng: &mut Rng,
    change: u64,
    files: &mut Files,
) {
    let number = rng.below(FILES as u64) as usize;
    let content = &mut files[number];
    let mut file = fs.open(format!("file {number}").as_str(), OpenOptions::CREATE).expect("open");
    let at =
        if rng.one_in(2) { content.len() } else { rng.below(content.len() as u64 + 1) as usize };
    let at = at.min(15_000);
    let bytes: Vec<u8> =
        (0..1 + rng.below(900)).map(|index| (change * 13 + index * 7) as u8).collect();
    if content.len() < at + bytes.len() {
        content.resize(at + bytes.len(), 0);
    }
    content[at..at + bytes.len()].copy_from_slice(&bytes);
    fs.write(&mut file, at as u64, &bytes).expect("write");
    fs.close(file).expect("close");
    fs.commit().expect("commit");
}

fn read(fs: &mut FileSystem<'_, Lossy>, number: usize) -> Result<Vec<u8>, Error> {
    let mut file = fs.open(format!("file {number}").as_str(), OpenOptions::READ)?;
    let mut data = vec![0; 32_000];
    let length = fs.read(&mut file, 0, &mut data);
    fs.close(file)?;
    data.truncate(length?);
    Ok(data)
}

/// Counts the results on volumes with a lost page.
#[derive(Debug, Default)]
struct Tally {
    /// Volumes in which a file cannot be read.
    partly: usize,
    /// Lost pages whose loss takes the volume back to the state before the last commit.
    taken_back: Vec<PageIndex>,
    /// Volumes that reported damage.
    damaged: usize,
    /// Volumes that reported a lost leaf.
    leaves: usize,
    /// Files on damaged volumes, and files among them with the right content.
    files: usize,
    whole: usize,
}

impl Tally {
    /// Reads all files of a volume without reported damage. Each file has its last committed
    /// content, or returns an error. There is one exception: a lost record with nothing behind it
    /// looks like a record in which power failed.
    fn add_sound(&mut self, fs: &mut FileSystem<'_, Lossy>, states: &[Files; 2], page: PageIndex) {
        let found: Vec<_> = (0..FILES).map(|number| read(fs, number)).collect();
        let is_of = |state: &Files| {
            found
                .iter()
                .zip(state)
                .all(|(found, file)| found.as_ref().is_ok_and(|data| data == file))
        };
        if is_of(&states[1]) && !is_of(&states[0]) {
            self.taken_back.push(page);
            return;
        }
        for (number, (found, file)) in found.iter().zip(&states[0]).enumerate() {
            match found {
                Ok(data) => {
                    assert!(
                        data == file,
                        "page {page} lost: file {number} is not what was committed, and nothing is \
                         said"
                    )
                }
                Err(error) => assert_eq!(*error, Error::Corrupt, "page {page} lost: file {number}"),
            }
        }
        self.partly += usize::from(found.iter().any(Result::is_err));
    }

    /// Reads all files of a volume with reported damage.
    fn add_damaged(&mut self, fs: &mut FileSystem<'_, Lossy>, files: &Files) {
        assert!(fs.health().read_only);
        self.damaged += 1;
        self.leaves += usize::from(fs.damage() == Some(Damage::Leaf));
        self.files += FILES;
        self.whole += (0..FILES)
            .filter(|&number| read(fs, number).is_ok_and(|data| data == files[number]))
            .count();
    }
}

/// Repairs a volume, changes it, and mounts it again.
fn repair(mut fs: FileSystem<'_, Lossy>, lost: &[PageIndex], states: &[Files]) {
    let before: Vec<_> = (0..FILES).map(|number| read(&mut fs, number)).collect();
    let is_leaf = fs.damage() == Some(Damage::Leaf);
    match accept(&mut fs) {
        Err(Error::Corrupt) if is_leaf => {
            // The lost leaf is the first one, and has no copy: nothing has changed.
            assert_eq!((fs.damage(), fs.health().read_only), (Some(Damage::Leaf), true));
            assert!(
                before.iter().any(Result::is_err),
                "pages {lost:?} lost, and not repaired though all can be read"
            );
            return;
        }
        result => {
            result.unwrap_or_else(|error| panic!("pages {lost:?} lost, repair: {error}"));
        }
    }
    assert_eq!((fs.damage(), fs.health().read_only), (None, false), "pages {lost:?} lost");
    add_a_file(&mut fs).unwrap_or_else(|error| panic!("pages {lost:?} lost, repaired: {error}"));
    let volume = fs.unmount().expect("unmount");
    let mut memory = memory(&volume.geometry());
    let mut fs = mount(&volume, &volume.lost, Access::ReadWrite, &mut memory);
    assert_eq!(
        (fs.damage(), fs.health().read_only),
        (None, false),
        "pages {lost:?} lost, mounted again"
    );
    assert_eq!(fs.stat("more").map(|stat| stat.size), Ok(700));
    // Missing data stays missing, although its blocks are used again, and can be removed.
    for _ in 0..40 {
        add_a_file(&mut fs)
            .unwrap_or_else(|error| panic!("pages {lost:?} lost, repaired and mounted: {error}"));
    }
    for (number, before) in before.into_iter().enumerate() {
        let found = read(&mut fs, number);
        // A repair restores a lost name from the inode.
        let is_back = before.is_err()
            && found.as_ref().is_ok_and(|data| states.iter().any(|state| state[number] == *data));
        // A repair removes an entry whose inode cannot be read.
        let is_gone = before.is_err() && found == Err(Error::NotFound);
        assert!(
            found == before || is_back || is_gone,
            "pages {lost:?} lost and repaired: file {number} was {before:?}, and is {found:?}"
        );
        if before.is_err()
            && !is_back
            && !is_gone
            && fs.remove(format!("file {number}").as_str()).is_ok()
        {
            assert_eq!(read(&mut fs, number), Err(Error::NotFound));
        }
    }
}

/// Repairs the volume: accepts the loss.
fn accept(fs: &mut FileSystem<'_, Lossy>) -> Result<CheckReport, Error> {
    let mut scratch = vec![0; fs.config().check_bytes(&fs.flash().geometry())];
    fs.repair(&mut scratch, &mut |_| {})
}

fn add_a_file(fs: &mut FileSystem<'_, Lossy>) -> Result<(), Error> {
    let mut file = fs.open("more", OpenOptions::DURABLE)?;
    fs.write(&mut file, 0, &[7; 700])?;
    fs.close(file)
}

/// Loses each page in turn. Every mount must succeed and report the loss.
fn lose_each(volume: &Lossy, states: &[Files; 2]) -> Tally {
    let mut memory = memory(&GEOMETRY);
    let mut tally = Tally::default();
    for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let mut fs = mount(volume, &[page], access, &mut memory);
            if fs.damage().is_none() {
                tally.add_sound(&mut fs, states, page);
                continue;
            }
            tally.add_damaged(&mut fs, &states[0]);
            match access {
                Access::ReadOnly => assert_eq!(accept(&mut fs), Err(Error::ReadOnly)),
                Access::ReadWrite => repair(fs, &[page], states),
            }
        }
    }
    assert!(tally.partly > 10, "no page that is lost holds data");
    tally.taken_back.dedup();
    tally
}

/// Loses each page of volumes whose use ended in this way.
fn lose_each_after(end: End) -> Tally {
    let mut total = Tally::default();
    for seed in 0..SEEDS {
        let (volume, states) = used_volume(GEOMETRY, seed, 300 + seed * 97, end);
        let Tally { partly, taken_back, damaged, leaves, files, whole } =
            lose_each(&volume, &states);
        println!(
            "{end:?}, seed {seed}: {partly} partly, {taken_back:?} taken back, {damaged} damaged, \
             {whole}/{files} whole"
        );
        // A record has two pages at most.
        assert!(
            taken_back.len() <= if end == End::Cut { 2 } else { 0 },
            "pages {taken_back:?} are worth a commit (seed {seed})"
        );
        total.damaged += damaged;
        total.leaves += leaves;
        total.files += files;
        total.whole += whole;
    }
    total
}

#[test]
fn loss_of_a_page_of_a_volume_that_was_unmounted_is_told_and_repaired() {
    let Tally { damaged, leaves, .. } = lose_each_after(End::Unmounted);
    // Damage comes from the root page, and from the page with the inode of the root directory,
    // each mounted in two ways. The newest journal page and the first leaf are there twice.
    assert!(
        (1..=4 * SEEDS as usize).contains(&damaged) && leaves == 0,
        "{damaged} damaged, {leaves} leaves lost"
    );
}

#[test]
fn loss_of_a_page_of_a_volume_at_work_takes_back_one_commit_at_most_or_is_told_and_repaired() {
    let Tally { damaged, files, whole, .. } = lose_each_after(End::Cut);
    // A lost page of the directory costs all of its files.
    assert!(
        damaged > 0 && whole * 2 >= files,
        "{damaged} damaged, {whole} of {files} files are whole"
    );
}

#[test]
fn loss_of_a_page_after_a_mount_that_settled_is_told_and_repaired() {
    let Tally { damaged, files, whole, .. } = lose_each_after(End::Settled);
    // A lost page with the inode of the root directory costs all files.
    assert!(
        damaged > 0 && whole * 5 > files,
        "{damaged} damaged, {whole} of {files} files are whole"
    );
}

/// Reads all files through a reader: their bytes, or errors.
macro_rules! shown {
    ($reader:ident) => {
        (0..FILES)
            .map(|number| {
                let mut file = $reader.open(format!("file {number}").as_str())?;
                let mut data = vec![0; 32_000];
                let length = $reader.read(&mut file, 0, &mut data);
                $reader.close(file);
                data.truncate(length?);
                Ok(data)
            })
            .collect::<Vec<Result<Vec<u8>, Error>>>()
    };
}

/// A `Reader` showed an older state, or a mixture of states, on volumes on which a mount reports
/// damage. It only reported that it was not settled.
#[test]
fn readers_report_the_damage_that_a_mount_reports_or_refuse_the_volume() {
    let (mut damaged, mut refused) = (0, 0);
    for (end, seed) in [(End::Unmounted, 0), (End::Cut, 2)] {
        let (volume, states) = used_volume(GEOMETRY, seed, 300 + seed * 97, end);
        let mut memory = memory(&GEOMETRY);
        for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
            let mut fs = mount(&volume, &[page], Access::ReadOnly, &mut memory);
            let damage = fs.damage();
            let expected: Vec<_> = (0..FILES).map(|number| read(&mut fs, number)).collect();
            drop(fs);
            let lost = || Lossy { lost: vec![page], ..volume.clone() };
            let mut reader = Reader::mount(lost(), &mut memory)
                .unwrap_or_else(|error| panic!("page {page} lost: {error}"));
            assert_eq!(reader.damage(), damage, "page {page} lost");
            assert!(damage.is_none() || !reader.is_settled(), "page {page} lost");
            assert_eq!(shown!(reader), expected, "page {page} lost");
            drop(reader);
            match CleanReader::mount(lost(), &mut memory) {
                Ok(mut reader) => {
                    // A clean reader has read no leaf and no table.
                    assert!(
                        matches!(damage, None | Some(Damage::Leaf | Damage::Tables)),
                        "page {page} lost: {damage:?}"
                    );
                    for (number, found) in shown!(reader).into_iter().enumerate() {
                        let is_right = found.as_ref().map_or_else(
                            |error| *error == Error::Corrupt,
                            |data| *data == states[0][number],
                        );
                        assert!(
                            is_right,
                            "page {page} lost: file {number} is not what was committed, and \
                             nothing is said"
                        );
                    }
                }
                Err(error) => {
                    assert_eq!(error, MountError::NeedsRecovery, "page {page} lost");
                    refused += usize::from(end == End::Unmounted);
                }
            }
            damaged += usize::from(damage.is_some());
        }
    }
    assert!(damaged > 10 && refused > 3, "{damaged} damaged, {refused} refused");
}

/// A client repeats a failing write again and again. It writes into a page whose second half is
/// lost. Each attempt uses up a block.
#[test]
fn writes_that_fail_again_and_again_use_up_nothing_for_good() {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 32, block_count: 48, programs_bytes: false };
    let config = Config { pages_per_logical_page: 2, ..Config::for_geometry(&geometry) };
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let chip = FileSystem::format(lossless(geometry), &config, &mut memory).expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    let pages = fs.usage().usable_bytes / 1024 * 8 / 10;
    let mut rng = Rng(1);
    let mut file =
        fs.open("a", OpenOptions { append: false, ..OpenOptions::DURABLE }).expect("open");
    for step in 0..4 * pages {
        let page = if step < pages { step } else { rng.below(pages) };
        fs.write(&mut file, page * 1024, &[page as u8; 1024]).expect("write");
    }
    // The second page of the frame of page 7.
    let mut data = [0; 1024];
    let lost = (0..geometry.block_count * geometry.pages_per_block)
        .filter(|page| page % 2 == 1)
        .find(|&page| {
            fs.flash_mut().lost = vec![page];
            fs.read(&mut file, 7 * 1024, &mut data) == Err(Error::Corrupt)
        });
    assert!(lost.is_some(), "no page that is lost is that of the file");
    for round in 0..600 {
        assert_eq!(
            fs.write(&mut file, 7 * 1024 + 100, &[1; 300]),
            Err(Error::Corrupt),
            "round {round}"
        );
    }
    for step in 0..pages {
        let page = rng.below(pages);
        fs.write(&mut file, page * 1024, &[page as u8; 1024])
            .unwrap_or_else(|error| panic!("write {step} after that: {error}"));
    }
    for page in (0..pages).filter(|page| *page != 7) {
        fs.read(&mut file, page * 1024, &mut data).expect("read");
        assert!(data == [page as u8; 1024], "page {page}");
    }
}

/// A page fails one read while reclamation moves it: the next read succeeds.
#[test]
fn page_that_cannot_be_read_once_survives_its_move() {
    const PAGES: u64 = 300;
    let mut memory = memory(&GEOMETRY);
    let mut chip =
        FileSystem::format(lossless(GEOMETRY), &Config::for_geometry(&GEOMETRY), &mut memory)
            .expect("format");
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let page_bytes = u64::from(fs.usage().logical_bytes);
    let pages = PAGES.min(fs.usage().usable_bytes / page_bytes * 8 / 10);
    let bytes = |stamp: u64| vec![stamp as u8; page_bytes as usize];
    let mut file = fs.open("large", OpenOptions::DURABLE).expect("open");
    let mut stamps: Vec<u64> = (0..pages).collect();
    (0..pages)
        .for_each(|page| fs.write(&mut file, page * page_bytes, &bytes(page)).expect("write"));
    let mut rng = Rng(1);
    for stamp in pages..pages + 1500 {
        // The first read of any of these pages fails.
        let lost = (0..GEOMETRY.block_count * GEOMETRY.pages_per_block)
            .filter(|_| rng.below(8) == 0)
            .collect();
        (fs.flash_mut().lost, fs.flash_mut().failing) = (lost, 1);
        let page = rng.below(pages);
        match fs.write(&mut file, page * page_bytes, &bytes(stamp)) {
            Ok(()) => stamps[page as usize] = stamp,
            Err(error) => assert_eq!(error, Error::Corrupt, "write {stamp}"),
        }
    }
    fs.flash_mut().lost.clear();
    for (page, stamp) in (0..).zip(stamps) {
        let mut found = bytes(0);
        assert_eq!(
            fs.read(&mut file, page * page_bytes, &mut found),
            Ok(page_bytes as usize),
            "page {page}"
        );
        assert!(found == bytes(stamp), "page {page}");
    }
}

/// Any one operation of a call that frees pages of a removed file fails. The call succeeds or
/// changes nothing else, later calls free all pages, and no page of another file.
#[test]
fn pages_are_freed_although_any_one_operation_fails() {
    let mut memory = memory(&GEOMETRY);
    let mut chip =
        FileSystem::format(lossless(GEOMETRY), &Config::for_geometry(&GEOMETRY), &mut memory)
            .expect("format");
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let page = vec![5; fs.usage().logical_bytes as usize];
    let at = |number: u64| number * page.len() as u64;
    let mut kept = fs.open("kept", OpenOptions::DURABLE).expect("create");
    let mut file = fs.open("file", OpenOptions::DURABLE).expect("create");
    // The pages of both files lie among each other, and the file has holes.
    for number in (0..30).filter(|number| number % 5 != 3) {
        fs.write(&mut file, at(number), &page).expect("write");
        fs.write(&mut kept, at(number), &page).expect("write");
    }
    let used = fs.allocated(file.inode()).expect("allocated");
    fs.close(file).expect("close");
    fs.close(kept).expect("close");
    fs.unmount().expect("unmount");
    let (volume, mut failed) = (chip, 0);
    for hiccup in 1.. {
        let mut chip = volume.clone();
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let before = fs.usage().used_bytes;
        fs.remove("file").expect("remove");
        fs.commit().expect("commit");
        fs.flash_mut().hiccup = hiccup;
        for round in 0..60 {
            let result = fs.set_attribute(steadyfs::ROOT, "k", Some(&[round]));
            failed += u32::from(result.and_then(|()| fs.commit()).is_err());
            if fs.health().read_only {
                // The result of the failed program is unknown until the next mount.
                fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            }
        }
        let is_last = std::mem::take(&mut fs.flash_mut().hiccup) > 0;
        let freed = before - fs.usage().used_bytes;
        assert!(freed + 2 * page.len() as u64 >= used, "{hiccup}: {freed} of {used} bytes");
        let mut kept = fs.open("kept", OpenOptions::READ).expect("open");
        let mut found = page.clone();
        for number in (0..30).filter(|number| number % 5 != 3) {
            fs.read(&mut kept, at(number), &mut found).expect("read");
            assert!(found == page, "{hiccup}: page {number}");
        }
        if is_last {
            assert!(hiccup > 60, "{hiccup} operations");
            break;
        }
    }
    // Most failed reads are repeated within their call.
    assert!(failed > 0, "no call failed");
}

/// Between the acceptance of a loss and the end of the following check, nothing may change: the
/// allocation map may give away pages that are in use.
#[test]
fn repair_that_is_cut_is_begun_again() {
    let mut memory = memory(&GEOMETRY);
    let (volume, _) = used_volume(GEOMETRY, 1, 397, End::Cut);
    let (mut cuts, mut begun) = (0, 0);
    for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
        let mut fs = mount(&volume, &[page], Access::ReadOnly, &mut memory);
        // If a table is lost, the mount settles first, and would be cut itself.
        if matches!(fs.damage(), None | Some(Damage::Tables)) {
            continue;
        }
        let before: Vec<_> = (0..FILES).map(|number| read(&mut fs, number)).collect();
        for left in 0.. {
            let cut = Lossy { left, ..volume.clone() };
            let mut fs = mount(&cut, &[page], Access::ReadWrite, &mut memory);
            let result = accept(&mut fs);
            if !matches!(result, Err(Error::Device | Error::Unknown | Error::ReadOnly)) {
                break;
            }
            assert!(
                fs.health().read_only,
                "page {page} lost, {left} programs: {result:?} and writable"
            );
            let cut = Lossy { left: u32::MAX, ..fs.flash().clone() };
            let mut fs = mount(&cut, &[page], Access::ReadWrite, &mut memory);
            // Without damage, the last root of the repair was complete after all.
            assert_eq!(
                fs.damage().is_some(),
                fs.health().read_only,
                "page {page} lost, {left} programs: {:?}",
                fs.damage()
            );
            begun += u32::from(fs.damage() == Some(Damage::Repair));
            cuts += 1;
            accept(&mut fs)
                .unwrap_or_else(|error| panic!("page {page} lost, {left} programs: {error}"));
            for _ in 0..20 {
                add_a_file(&mut fs).expect("a file more");
            }
            let after: Vec<_> = (0..FILES).map(|number| read(&mut fs, number)).collect();
            assert!(after == before, "page {page} lost, {left} programs");
        }
    }
    assert!(cuts > 20 && begun > 10, "{cuts} cuts, {begun} of them after the loss was accepted");
}

/// A device fails one operation. The repair succeeds, or the volume reports that it did not. In
/// that case the volume shows nothing else, and the next repair succeeds.
#[test]
fn repair_in_which_one_operation_fails_can_be_repeated() {
    let mut memory = memory(&GEOMETRY);
    let (volume, [now, _]) = used_volume(GEOMETRY, 1, 397, End::Cut);
    // If a directory has lost a page, a repair finds its names again.
    let is_found_again =
        |number: usize, before: &Result<Vec<u8>, Error>, found: &Result<Vec<u8>, Error>| {
            before.is_err() && found.as_ref() == Ok(&now[number])
        };
    let mut failed = 0;
    for page in (0..GEOMETRY.block_count * GEOMETRY.pages_per_block).filter(|page| page % 3 == 0) {
        let mut fs = mount(&volume, &[page], Access::ReadOnly, &mut memory);
        let Some(damage) = fs.damage() else { continue };
        let before: Vec<_> = (0..FILES).map(|number| read(&mut fs, number)).collect();
        // Each of the first operations, and some of the many reads behind them.
        for hiccup in (1..150).chain((150..).step_by(37)) {
            let mut fs = mount(&volume, &[page], Access::ReadWrite, &mut memory);
            fs.flash_mut().hiccup = hiccup;
            let result = accept(&mut fs);
            if fs.flash().hiccup > 0 {
                break;
            }
            let when = format!("page {page} lost ({damage:?}), operation {hiccup}: {result:?}");
            if damage == Damage::Leaf && result == Err(Error::Corrupt) {
                continue;
            }
            if result.is_err() {
                failed += 1;
                assert!(
                    fs.damage().is_some() && fs.health().read_only,
                    "{when}, and {:?}",
                    fs.damage()
                );
                for (number, before) in before.iter().enumerate() {
                    let found = read(&mut fs, number);
                    assert!(
                        found.is_err()
                            || found == *before
                            || is_found_again(number, before, &found),
                        "{when}: file {number}"
                    );
                }
                match accept(&mut fs) {
                    Err(Error::Corrupt) if damage == Damage::Leaf => continue,
                    result => {
                        result.unwrap_or_else(|error| panic!("{when}, and again: {error}"));
                    }
                }
            }
            assert_eq!((fs.damage(), fs.health().read_only), (None, false), "{when}");
            let after: Vec<_> = (0..FILES).map(|number| read(&mut fs, number)).collect();
            for (number, (after, before)) in after.iter().zip(&before).enumerate() {
                assert!(
                    after == before || is_found_again(number, before, after),
                    "{when}: file {number}"
                );
            }
        }
    }
    assert!(failed > 50, "{failed} repairs failed");
}

/// A mount for reading showed a commit whose page was metastable. The next mount did not find
/// this commit, and nothing had reported that possibility.
#[test]
fn mount_for_reading_says_whether_a_later_mount_may_show_another_state() {
    let mut memory = memory(&GEOMETRY);
    let (volume, [now, before]) = used_volume(GEOMETRY, 1, 60, End::Cut);
    let mut fs = mount(&volume, &[], Access::ReadOnly, &mut memory);
    assert!(!fs.is_settled() && fs.damage().is_none());
    (0..FILES)
        .for_each(|number| assert_eq!(read(&mut fs, number).unwrap_or_default(), now[number]));
    let newest = fs.describe().journal.expect("a journal page");
    let mut fs = mount(&volume, &[newest], Access::ReadWrite, &mut memory);
    assert!(fs.is_settled() && fs.damage().is_none());
    (0..FILES)
        .for_each(|number| assert_eq!(read(&mut fs, number).unwrap_or_default(), before[number]));
    assert_ne!(now, before);

    // This commit may be there, or not.
    fs.set_commit_on(CommitOn::MANUAL);
    add_a_file(&mut fs).expect("a change");
    fs.commit().expect("commit");
    assert!(fs.is_settled());
    let mut file = fs.open("more", OpenOptions::WRITE).expect("open");
    fs.write(&mut file, 0, &[8]).expect("write");
    fs.flash_mut().left = 0;
    assert_eq!((fs.commit(), fs.is_settled()), (Err(Error::Unknown), false));

    // After a clean end, nothing is left open.
    let (volume, _) = used_volume(GEOMETRY, 1, 60, End::Unmounted);
    assert!(mount(&volume, &[], Access::ReadOnly, &mut memory).is_settled());
}

/// Every write-back of the leaf failed, and so did every call that needed room in the overlay.
/// Only the next mount reported the reason.
#[test]
fn leaf_that_is_lost_while_mounted_is_told_and_makes_the_volume_read_only() {
    const PAGES: u64 = 60;
    let mut memory = memory(&GEOMETRY);
    let (mut volume, _) = used_volume(GEOMETRY, 1, 100, End::Unmounted);
    // Power fails after the writes, because the end of the use would make a copy of the leaf.
    let mut fs = FileSystem::mount(&mut volume, Access::ReadWrite, &mut memory).expect("mount");
    let page_bytes = u64::from(fs.usage().logical_bytes);
    let bytes = |stamp: u64| vec![stamp as u8; page_bytes as usize];
    let mut file = fs.open("large", OpenOptions::DURABLE).expect("open");
    (0..PAGES)
        .for_each(|page| fs.write(&mut file, page * page_bytes, &bytes(page)).expect("write"));
    let is_leaf = |page: &PageIndex| {
        mount(&volume, &[*page], Access::ReadOnly, &mut memory).damage() == Some(Damage::Leaf)
    };
    let leaves: Vec<_> =
        (0..GEOMETRY.block_count * GEOMETRY.pages_per_block).filter(is_leaf).collect();
    for page in leaves.iter().copied() {
        // A leaf that fails a read now and then costs nothing.
        for failing in [u32::MAX, 2] {
            let mut memory = self::memory(&GEOMETRY);
            let mut fs = mount(&volume, &[], Access::ReadWrite, &mut memory);
            let mut file = fs.open("large", OpenOptions::DURABLE).expect("open");
            (fs.flash_mut().lost, fs.flash_mut().failing) = (vec![page], failing);
            let mut write =
                |stamp: u64| fs.write(&mut file, stamp * 7 % PAGES * page_bytes, &bytes(stamp));
            let failed = (PAGES..PAGES + 1000)
                .find_map(|stamp| write(stamp).err().map(|error| (stamp, error)));
            let Some((stamp, error)) = failed else {
                assert_eq!(
                    (failing, fs.damage(), fs.health().read_only),
                    (2, None, false),
                    "page {page} lost"
                );
                continue;
            };
            assert!(
                failing > 2 && matches!(error, Error::Corrupt | Error::ReadOnly),
                "page {page} lost: {error}"
            );
            assert_eq!(
                (fs.damage(), fs.health().read_only),
                (Some(Damage::Leaf), true),
                "page {page} lost: {error}"
            );
            assert_eq!(accept(&mut fs), Err(Error::ReadOnly));
            // Earlier writes are there and readable, because the overlay has their places.
            let mut found = bytes(0);
            let newest = stamp - 1;
            assert_eq!(
                fs.read(&mut file, newest * 7 % PAGES * page_bytes, &mut found),
                Ok(page_bytes as usize)
            );
            assert_eq!(found, bytes(newest));
            // The next mount reports the same damage. If the page can be read again, nothing is
            // lost.
            let Lossy { chip, .. } = fs.unmount().expect("unmount");
            let volume = Lossy { chip, ..volume.clone() };
            let fs = mount(&volume, &[page], Access::ReadWrite, &mut memory);
            assert_eq!(
                (fs.damage(), fs.health().read_only),
                (Some(Damage::Leaf), true),
                "page {page} lost, mounted again"
            );
            let mut fs = mount(&volume, &[], Access::ReadWrite, &mut memory);
            assert_eq!(
                (fs.damage(), fs.health().read_only),
                (None, false),
                "page {page} there again"
            );
            let mut file = fs.open("large", OpenOptions::DURABLE).expect("open");
            assert_eq!(
                fs.read(&mut file, newest * 7 % PAGES * page_bytes, &mut found),
                Ok(page_bytes as usize)
            );
            assert_eq!(found, bytes(newest));
        }
    }
    assert!(!leaves.is_empty());
}

#[test]
fn volume_that_was_unmounted_mounts_writable_without_any_page_of_its_ring() {
    let mut memory = memory(&GEOMETRY);
    for seed in 0..SEEDS {
        let (volume, [files, _]) = used_volume(GEOMETRY, seed, 200 + seed * 97, End::Unmounted);
        let fs = mount(&volume, &[], Access::ReadOnly, &mut memory);
        let is_own = |&block: &BlockIndex| {
            fs.block(block).is_some_and(|info| info.state == BlockState::Reserved)
        };
        let own: Vec<_> = (0..GEOMETRY.block_count).filter(is_own).collect();
        drop(fs);
        assert_eq!(own.len(), 9, "two superblocks and a ring of seven");
        for page in own.iter().flat_map(|block| {
            block * GEOMETRY.pages_per_block..(block + 1) * GEOMETRY.pages_per_block
        }) {
            let mut fs = mount(&volume, &[page], Access::ReadWrite, &mut memory);
            assert_eq!((fs.damage(), fs.health().read_only), (None, false), "page {page} lost");
            add_a_file(&mut fs).unwrap_or_else(|error| panic!("page {page} lost: {error}"));
            let volume = fs.unmount().expect("unmount");
            let mut fs = mount(&volume, &volume.lost, Access::ReadWrite, &mut memory);
            assert_eq!(fs.stat("more").map(|stat| stat.size), Ok(700));
            (0..FILES).for_each(|number| {
                assert!(read(&mut fs, number).as_ref() == Ok(&files[number]), "page {page} lost")
            });
        }
    }
}

/// Returns the pages of the newest root and of its copy that contain the root's page `index`.
fn pages_of_newest_root(volume: &mut Lossy, index: u8) -> Vec<PageIndex> {
    let mut found: Vec<(u64, PageIndex)> = Vec::new();
    for page in 0..SMALL_PAGES.block_count * SMALL_PAGES.pages_per_block {
        let mut tag = [0; TAG_BYTES];
        volume.read_tag(page, &mut tag).expect("read");
        // From `docs/format.md`: kind 2, and the position in the root.
        if tag[8] & 15 == 2 && tag[5..8] == [index, 0, 0] {
            let number = (0..5).rev().fold(0, |number, index| number << 8 | u64::from(tag[index]));
            found.push((number & 0xF_FFFF_FFFF, page));
        }
    }
    let newest = found.iter().map(|&(number, _)| number).max();
    found.into_iter().filter(|&(number, _)| Some(number) == newest).map(|(_, page)| page).collect()
}

#[test]
fn loss_of_the_newest_root_with_its_copy_is_told_and_repaired() {
    let mut memory = memory(&SMALL_PAGES);
    for end in [End::Unmounted, End::Cut] {
        for seed in 0..10 {
            let (mut volume, states) = used_volume(SMALL_PAGES, seed, 100 + seed * 7, end);
            let [lost, others] = [0, 1].map(|index| pages_of_newest_root(&mut volume, index));
            assert_eq!([lost.len(), others.len()], [2; 2], "a root and its copy");
            for one in lost.iter().chain(&others).copied() {
                let fs = mount(&volume, &[one], Access::ReadWrite, &mut memory);
                assert_eq!(
                    (fs.damage(), fs.health().read_only),
                    (None, false),
                    "page {one} is there twice"
                );
            }
            // The root's second page is there, and proves that the root was complete.
            let fs = mount(&volume, &lost, Access::ReadWrite, &mut memory);
            assert!(
                matches!(fs.damage(), Some(Damage::Root | Damage::Leaf | Damage::Record)),
                "{end:?}, seed {seed}: {:?}",
                fs.damage()
            );
            assert!(fs.health().read_only);
            repair(fs, &lost, &states);
            // Without its second page, the root looks like one in which power failed. The root
            // before it and the records behind that root give the same state.
            let mut fs = mount(&volume, &others, Access::ReadWrite, &mut memory);
            // A block that the newest root had freed may have been used again. Then a record is
            // missing.
            if end == End::Cut && fs.damage() == Some(Damage::Record) {
                assert!(fs.health().read_only, "{end:?}, seed {seed}");
                continue;
            }
            assert_eq!((fs.damage(), fs.health().read_only), (None, false), "{end:?}, seed {seed}");
            (0..FILES).for_each(|number| {
                assert!(
                    read(&mut fs, number).as_ref() == Ok(&states[0][number]),
                    "{end:?}, seed {seed}"
                )
            });
        }
    }
}

/// A lost page of a directory costs nothing: a repair rebuilds it from the names in the inodes.
#[test]
fn lost_page_of_a_directory_is_made_anew_by_a_repair() {
    for pages_per_logical_page in [1, 2] {
        let config = Config { pages_per_logical_page, ..Config::for_geometry(&GEOMETRY) };
        let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
        let chip = FileSystem::format(lossless(GEOMETRY), &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut names: Vec<String> =
            (0..90).map(|number| format!("{number}{}", "n".repeat(number % 80))).collect();
        fs.create_dir("directory").expect("a directory");
        names.extend((0..30).map(|number| format!("directory/{number}")));
        for name in &names {
            let mut file = fs.open(name.as_str(), OpenOptions::CREATE).expect("open");
            fs.write(&mut file, 0, name.as_bytes()).expect("write");
            fs.close(file).expect("close");
        }
        let volume = fs.unmount().expect("unmount");
        let mut made_anew = 0;
        for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
            let mut fs = mount(&volume, &[page], Access::ReadWrite, &mut memory);
            let mut scratch = vec![0; config.check_bytes(&GEOMETRY)];
            let mut of_a_directory = false;
            let directory = fs.stat("directory").map(|stat| stat.inode);
            let note = |finding: Finding| {
                let is_one = |inode| inode == steadyfs::ROOT || Ok(inode) == directory;
                of_a_directory |=
                    matches!(finding, Finding::UnreadablePage { inode, .. } if is_one(inode));
            };
            if fs.damage().is_some()
                || fs.check(&mut scratch, true, &mut { note }).is_err()
                || !of_a_directory
            {
                continue;
            }
            for name in &names {
                let mut file = fs
                    .open(name.as_str(), OpenOptions::READ)
                    .unwrap_or_else(|error| panic!("{page}: {name}: {error}"));
                let mut content = vec![0; name.len()];
                assert_eq!(
                    fs.read(&mut file, 0, &mut content),
                    Ok(name.len()),
                    "page {page} lost: {name}"
                );
                assert_eq!(content, name.as_bytes());
                fs.close(file).expect("close");
            }
            let findings = fs.check(&mut scratch, false, &mut |finding| {
                panic!("page {page} lost, repaired: {finding}")
            });
            assert_eq!(findings.expect("check").findings, 0);
            made_anew += 1;
        }
        assert!(made_anew > 1, "no page of a directory was lost");
    }
}
