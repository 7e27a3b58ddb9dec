//! Tests volumes that were ended cleanly and then changed again. The reader either refuses the
//! volume, or shows nothing of the new changes.

use crate::common::spy::Spy;
use crate::common::{Rng, for_seeds};
use std::collections::BTreeMap;
use steadyfs::disk::Disk;
use steadyfs::media::nor::NorPages;
use steadyfs::media::sectors::{SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{Flash, Geometry, PageIndex, TAG_BYTES};
use steadyfs::{
    Access, CleanReader, Config, Cost, Cursor, Damage, Entry, Error, File, FileSystem, InodeNumber,
    Kind, MountError, OpenOptions, ROOT, Reader,
};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming, PowerCut, Sectors, Tearable, Trace};

/// The contents of a volume: files with their size and a checksum of their bytes, and directories
/// without.
type Tree = BTreeMap<String, Option<(usize, u32)>>;

/// The calls that both readers have.
trait Reads {
    fn open_at(&mut self, path: &str) -> Result<File, Error>;
    fn read_at(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error>;
    fn close_it(&mut self, file: File);
    fn next(&mut self, directory: InodeNumber, cursor: &mut Cursor)
    -> Result<Option<Entry>, Error>;
    fn size_at(&mut self, path: &str) -> Result<u64, Error>;
}

macro_rules! reads {
    ($reader:ident) => {
        impl<F: Flash> Reads for $reader<'_, F> {
            fn open_at(&mut self, path: &str) -> Result<File, Error> {
                self.open(path)
            }
            fn read_at(
                &mut self,
                file: &mut File,
                offset: u64,
                data: &mut [u8],
            ) -> Result<usize, Error> {
                self.read(file, offset, data)
            }
            fn close_it(&mut self, file: File) {
                self.close(file);
            }
            fn next(
                &mut self,
                directory: InodeNumber,
                cursor: &mut Cursor,
            ) -> Result<Option<Entry>, Error> {
                self.list(directory, cursor)
            }
            fn size_at(&mut self, path: &str) -> Result<u64, Error> {
                Ok(self.stat(path)?.size)
            }
        }
    };
}
reads!(Reader);
reads!(CleanReader);

/// Reads everything. The size of the pieces varies from file to file.
fn tree(reader: &mut impl Reads) -> Result<Tree, Error> {
    let mut tree = Tree::new();
    let mut waiting = vec![(String::new(), ROOT)];
    while let Some((directory, inode)) = waiting.pop() {
        let mut cursor = Cursor::default();
        while let Some(entry) = reader.next(inode, &mut cursor)? {
            let path = format!("{directory}{}", entry.name());
            assert_eq!(reader.size_at(&path)?, entry.stat.size, "{path}");
            if entry.stat.kind == Kind::Directory {
                waiting.push((format!("{path}/"), entry.stat.inode));
                tree.insert(path, None);
                continue;
            }
            let mut file = reader.open_at(&path)?;
            let mut data = vec![0; entry.stat.size as usize];
            let (mut at, mut piece) = (0, 100 + 700 * (tree.len() % 3));
            while at < data.len() {
                piece = piece.min(data.len() - at);
                assert_eq!(
                    reader.read_at(&mut file, at as u64, &mut data[at..at + piece])?,
                    piece,
                    "{path}"
                );
                at += piece;
            }
            reader.close_it(file);
            tree.insert(path, Some((data.len(), steadyfs_sim::checksum(&data, 0))));
        }
    }
    Ok(tree)
}

/// A test that runs on each medium.
trait EachMedium {
    fn run<F: Tearable + Metered + Clone>(&self, chip: F, name: &str);
}

fn nand(page_bytes: u32, pages_per_block: u32, block_count: u32) -> Nand {
    let geometry = Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, 1)
}

fn nor(block_bytes: u32, block_count: u32, page_bytes: u32) -> NorPages<Nor> {
    NorPages::new(Nor::with_geometry(block_bytes, block_count, NorTiming::ROUND, 1), page_bytes)
}

fn card() -> SectorPages<Sectors> {
    let layout = SectorLayout {
        first: 0,
        sectors: 40 * 65,
        block_sectors: 65,
        page_bytes: 1024,
        tags: TagPlace::Beside,
        volume: 7,
    };
    SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, 1), layout)
        .expect("a layout that is possible")
}

fn on_each_medium(test: &impl EachMedium) {
    // Roots of one, two and three pages. A gap follows the root of a mount on some of these
    // media.
    test.run(nand(512, 16, 64), "NAND");
    test.run(nand(256, 32, 48), "NAND, roots of two pages");
    test.run(nand(256, 24, 140), "NAND, roots of three pages");
    test.run(nor(4096, 64, 256), "NOR");
    test.run(nor(8192, 60, 512), "NOR, two pages of a logical page");
    test.run(card(), "a card");
}

/// A volume as the last unmount left it.
struct Volume<F> {
    chip: F,
    memory: Vec<u8>,
}

impl<F: Tearable + Metered + Clone> Volume<F> {
    fn format(chip: F) -> Self {
        let geometry = chip.geometry();
        let config = Config::for_geometry(&geometry);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        Self { chip, memory }
    }

    /// Changes the volume and unmounts it.
    fn session(&mut self, rng: &mut Rng, changes: u32) {
        let mut fs =
            FileSystem::mount(&mut self.chip, Access::ReadWrite, &mut self.memory).expect("mount");
        (0..changes).for_each(|_| change(&mut fs, rng).expect("a change"));
        // The append makes sure that the session changes something. A session without a change
        // would leave the volume as it is, clean or not.
        let mut file = fs.open("sessions", OpenOptions::CREATE).expect("open");
        fs.append(&mut file, b"one more").expect("append");
        fs.close(file).expect("close");
        fs.unmount().map_err(|error| error.to_string()).expect("unmount");
    }

    /// Changes the volume until power fails. Returns the number of successful commits that
    /// changed something.
    fn cut_session(&mut self, rng: &mut Rng, changes: u32, at: u64) -> u32 {
        let mut cut = PowerCut::new(self.chip.clone(), rng.next());
        cut.cut_at(at);
        let mut committed = 0;
        if let Ok(mut fs) = FileSystem::mount(&mut cut, Access::ReadWrite, &mut self.memory) {
            for _ in 0..changes {
                let before = fs.flash().operations();
                if change(&mut fs, rng).is_err() || fs.commit().is_err() {
                    break;
                }
                committed += u32::from(fs.flash().operations() > before);
            }
        }
        cut.power_on();
        self.chip = cut.into_inner();
        committed
    }

    fn seen(&mut self) -> Result<Tree, Error> {
        tree(&mut Reader::mount(&mut self.chip, &mut self.memory).expect("mount"))
    }

    fn seen_clean(&mut self) -> Result<Tree, MountError> {
        Ok(tree(&mut CleanReader::mount(&mut self.chip, &mut self.memory)?)?)
    }
}

/// Makes one change of any kind. The volume may have no room for it.
fn change<F: Flash>(fs: &mut FileSystem<'_, F>, rng: &mut Rng) -> Result<(), Error> {
    let long = "n".repeat(80);
    let names = ["a", "b", "c", "d/e", "d/f", "d/g", long.as_str()];
    let name = names[rng.below(7) as usize];
    let result = match rng.below(10) {
        0 => fs.create_dir("d").map(drop),
        1 => fs.remove(name),
        2 => fs.commit(),
        3 => fs.rename(name, names[rng.below(7) as usize]),
        _ => fs.open(name, OpenOptions { durable: rng.one_in(3), ..OpenOptions::CREATE }).and_then(
            |mut file| {
                let bytes = [10, 100, 700, 5000][rng.below(4) as usize];
                let result = fs.write(&mut file, rng.below(4000), &vec![rng.next() as u8; bytes]);
                fs.close(file).and(result)
            },
        ),
    };
    match result {
        Err(
            Error::NotFound
            | Error::Exists
            | Error::IsADirectory
            | Error::NotADirectory
            | Error::NoSpace
            | Error::IntoItself,
        ) => Ok(()),
        result => result,
    }
}

/// Sessions that end cleanly, some after a power cut. The journal has patches, and some changes
/// of the map are not in a leaf yet.
struct ShowsTheSame(u64);

impl EachMedium for ShowsTheSame {
    fn run<F: Tearable + Metered + Clone>(&self, chip: F, name: &str) {
        let mut rng = Rng(self.0);
        let mut volume = Volume::format(chip);
        assert_eq!(volume.seen_clean(), Ok(Tree::new()), "{name}: as it was made");
        for round in 0..12 {
            if rng.one_in(3) {
                let at = 1 + rng.below(60);
                volume.cut_session(&mut rng, 20, at);
            }
            let changes = 1 + rng.below(40) as u32;
            volume.session(&mut rng, changes);
            let seen = volume.seen().expect("read");
            assert_eq!(volume.seen_clean(), Ok(seen), "{name}, round {round}");
        }
    }
}

#[test]
fn volume_that_was_ended_cleanly_shows_the_same() {
    for_seeds("clean_reader", "volume_that_was_ended_cleanly_shows_the_same", 10, |seed| {
        on_each_medium(&ShowsTheSame(seed))
    });
}

/// Power fails in each of the first 39 programs and erases after a clean end.
struct NothingStale(u64);

impl EachMedium for NothingStale {
    fn run<F: Tearable + Metered + Clone>(&self, chip: F, name: &str) {
        let mut rng = Rng(self.0);
        let mut clean = Volume::format(chip);
        for _ in 0..1 + rng.below(3) {
            clean.session(&mut rng, 30);
        }
        let before = clean.seen().expect("read");
        let (mut refused, mut accepted) = (0, 0);
        for at in 1..40 {
            let mut volume = Volume { chip: clean.chip.clone(), memory: clean.memory.clone() };
            let mut committed = volume.cut_session(&mut Rng(self.0 ^ at), 6, at);
            // The next mounts may be cut as well.
            for _ in 0..rng.below(3) {
                let again = 1 + rng.below(12);
                committed += volume.cut_session(&mut rng, 3, again);
            }
            for look in 0..4 {
                let seen = volume.seen_clean();
                let what = format!("{name}, cut {at}, {committed} commits, look {look}");
                match seen {
                    Err(MountError::NeedsRecovery) => refused += 1,
                    Ok(seen) => {
                        assert_eq!(committed, 0, "{what}: what was committed is not there");
                        assert_eq!(seen, before, "{what}");
                        assert_eq!(volume.seen().as_ref(), Ok(&before), "{what}");
                        accepted += 1;
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
                volume.chip.power_on();
            }
            volume.session(&mut rng, 2);
            let seen = volume.seen().expect("read");
            assert_eq!(volume.seen_clean(), Ok(seen), "{name}, cut {at}: ended cleanly again");
        }
        assert!(refused > 100, "{name}: {refused} refused, {accepted} accepted");
    }
}

#[test]
fn power_cut_after_a_clean_end_is_told_or_has_changed_nothing() {
    let name = "power_cut_after_a_clean_end_is_told_or_has_changed_nothing";
    for_seeds("clean_reader", name, 10, |seed| on_each_medium(&NothingStale(seed)));
}

/// Makes pages unreadable or flips bits in them: pages of the superblocks, of the ring, of the
/// journal, and others. Does so after a clean end, and after a change since the clean end.
struct DamageIsTold(u64);

impl DamageIsTold {
    /// Returns true if the reader shows the volume. Content pages may be missing then; a read of
    /// them returns an error.
    fn check<F: Flash + Clone>(
        chip: &Spy<F>,
        memory: &mut [u8],
        before: &Tree,
        is_clean: bool,
        what: &str,
    ) -> bool {
        match CleanReader::mount(chip.clone(), memory) {
            Ok(mut reader) => {
                assert!(is_clean, "{what}: what was changed is not there");
                match tree(&mut reader) {
                    Err(Error::Corrupt) => {}
                    seen => assert_eq!(seen.as_ref(), Ok(before), "{what}"),
                }
                true
            }
            Err(MountError::NeedsRecovery) => false,
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

impl EachMedium for DamageIsTold {
    fn run<F: Tearable + Metered + Clone>(&self, chip: F, name: &str) {
        let mut rng = Rng(self.0);
        let mut volume = Volume::format(chip);
        volume.session(&mut rng, 30);
        volume.session(&mut rng, 30);
        let before = volume.seen().expect("read");
        let (clean, mut memory) = (volume.chip.clone(), volume.memory.clone());
        let mut fs =
            FileSystem::mount(volume.chip, Access::ReadWrite, &mut volume.memory).expect("mount");
        let described = fs.describe();
        let own = 2 + described.ring_blocks;
        fs.create_dir("something new").and_then(|_| fs.commit()).expect("a change");
        let changed = fs.flash().clone();
        let Geometry { pages_per_block, block_count, .. } = clean.geometry();
        let own_pages = 0..own * pages_per_block;
        let others = (own_pages.end..block_count * pages_per_block).filter(|_| rng.one_in(8));
        let pages: Vec<_> = own_pages.chain(described.journal).chain(others).collect();
        let (mut shown, mut refused) = (0, 0);
        for (chip, is_clean) in [(clean, true), (changed, false)] {
            let spy = Spy::new(chip, 0);
            assert_eq!(Self::check(&spy, &mut memory, &before, is_clean, name), is_clean);
            for &page in &pages {
                let hidden = Spy { hidden: vec![page], ..spy.clone() };
                let is_shown = Self::check(
                    &hidden,
                    &mut memory,
                    &before,
                    is_clean,
                    &format!("{name}: page {page} hidden"),
                );
                let flipped = Spy { flipped: vec![page], ..spy.clone() };
                Self::check(
                    &flipped,
                    &mut memory,
                    &before,
                    is_clean,
                    &format!("{name}: page {page} flipped"),
                );
                (shown, refused) =
                    (shown + u32::from(is_shown), refused + u32::from(is_clean && !is_shown));
            }
            for block in 2..own {
                let hidden = Spy { hidden: spy.pages_of(block), ..spy.clone() };
                Self::check(
                    &hidden,
                    &mut memory,
                    &before,
                    is_clean,
                    &format!("{name}: block {block} hidden"),
                );
            }
        }
        assert!(shown > 100 && refused > 2, "{name}: {shown} and {refused}");
    }
}

#[test]
fn page_that_is_damaged_never_shows_what_was() {
    let name = "page_that_is_damaged_never_shows_what_was";
    for_seeds("clean_reader", name, 3, |seed| on_each_medium(&DamageIsTold(seed)));
}

/// Mounts a readable volume. The mount must stay within its bound and read less than
/// `Reader::mount`.
struct Costs;

impl EachMedium for Costs {
    fn run<F: Tearable + Metered + Clone>(&self, chip: F, name: &str) {
        let mut rng = Rng(5);
        let mut volume = Volume::format(chip);
        for round in 0..10 {
            volume.session(&mut rng, 40);
            let fs = FileSystem::mount(&mut volume.chip, Access::ReadOnly, &mut volume.memory)
                .expect("mount");
            let described = fs.describe();
            let usual = fs.bounds().mount();
            let copies = root_programs(&mut volume.chip, described.ring.0);
            let mut traced = Trace::new(volume.chip.clone());
            let bound =
                CleanReader::mount(&mut traced, &mut volume.memory).expect("mount").mount_bound();
            let clean = cost_of(&traced);
            assert!(
                clean.is_within(&bound),
                "{name}, round {round}: {clean:?}, promised {bound:?}"
            );
            let log = described.geometry.pages_per_block.ilog2();
            if !described.geometry.programs_bytes {
                assert!(clean.reads <= 2 + described.ring_blocks + copies, "{name}: {clean:?}");
                assert!(bound.reads < usual.reads, "{name}: {bound:?} {usual:?}");
            }
            assert!(
                clean.tag_reads <= 3 * (log + 2) + (copies + 2) * described.ring_blocks,
                "{name}: {clean:?}"
            );
            let mut traced = Trace::new(volume.chip.clone());
            Reader::mount(&mut traced, &mut volume.memory).expect("mount").unmount();
            let general = cost_of(&traced);
            assert!(
                clean.reads < general.reads,
                "{name}, round {round}: {clean:?}, a reader {general:?}"
            );
        }
    }
}

/// Returns the number of programmed pages with the sequence number of the newest root in a ring
/// block. Its copies have the same number.
fn root_programs<F: Flash>(chip: &mut F, block: u32) -> u32 {
    let pages = chip.geometry().pages_per_block;
    let mut numbers = Vec::new();
    for page in block * pages..(block + 1) * pages {
        let mut tag = [0; TAG_BYTES];
        chip.read_tag(page, &mut tag).expect("read");
        if tag != [0xFF; TAG_BYTES] {
            numbers.push([tag[0], tag[1], tag[2], tag[3]]);
        }
    }
    numbers.iter().filter(|&number| Some(number) == numbers.last()).count() as u32
}

fn cost_of<F: Flash + Metered>(traced: &Trace<F>) -> Cost {
    let counts = traced.counts();
    Cost {
        reads: counts.reads as u32,
        tag_reads: counts.tag_reads as u32,
        programs: counts.programs as u32,
        copies: counts.copies as u32,
        erases: counts.erases as u32,
        instructions: 0,
    }
}

/// Power fails in the first change behind a clean end, or in the end. A mount and an unmount
/// without a change follow. The next mount found a root that the mount before could not read: it
/// programmed and erased, and cost more than its bound.
struct EndsWithoutChange(u64);

impl EachMedium for EndsWithoutChange {
    fn run<F: Tearable + Metered + Clone>(&self, chip: F, name: &str) {
        let mut rng = Rng(self.0);
        let mut clean = Volume::format(chip);
        clean.session(&mut rng, 30);
        for at in 1..30 {
            let mut volume = Volume { chip: clean.chip.clone(), memory: clean.memory.clone() };
            let mut cut = PowerCut::new(volume.chip.clone(), rng.next());
            let mut fs = FileSystem::mount(&mut cut, Access::ReadWrite, &mut volume.memory)
                .unwrap_or_else(|error| panic!("{name}, cut {at}: {error}"));
            fs.flash_mut().cut_at(at);
            let _ = change(&mut fs, &mut rng).and_then(|()| fs.commit());
            let _ = fs.unmount();
            cut.power_on();
            volume.chip = cut.into_inner();
            for look in 0..4 {
                let fs = FileSystem::mount(&mut volume.chip, Access::ReadWrite, &mut volume.memory)
                    .expect("mount");
                let bound = fs.bounds().clean_mount();
                fs.unmount().map_err(|error| error.to_string()).expect("unmount");
                volume.chip.power_on();
                let mut traced = Trace::new(&mut volume.chip);
                FileSystem::mount(&mut traced, Access::ReadWrite, &mut volume.memory)
                    .expect("mount");
                let cost = cost_of(&traced);
                assert!(
                    cost.is_within(&bound),
                    "{name}, cut {at}, look {look}: {cost:?} of {bound:?}"
                );
                volume.chip.power_on();
            }
        }
    }
}

#[test]
fn mount_behind_an_end_without_a_change_holds_its_bound() {
    let name = "mount_behind_an_end_without_a_change_holds_its_bound";
    for_seeds("clean_reader", name, 10, |seed| on_each_medium(&EndsWithoutChange(seed)));
}

#[test]
fn mount_reads_no_more_than_is_promised_and_programs_nothing() {
    on_each_medium(&Costs);
}

/// A medium without a volume of files gets the same error as from a reader. A mount for writing
/// that changes nothing does not open the volume.
#[test]
fn other_media_are_told_apart() {
    let chip = nand(512, 16, 64);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    assert_eq!(CleanReader::mount(chip.clone(), &mut memory).err(), Some(MountError::NotFormatted));
    let mut chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let refused = CleanReader::mount(&mut chip, &mut memory[..1000]).err();
    assert!(matches!(refused, Some(MountError::MemoryTooSmall { given: 1000, .. })), "{refused:?}");
    FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let mut reader = CleanReader::mount(&mut chip, &mut memory).expect("nothing was changed");
    assert_eq!(reader.open("a").err(), Some(Error::NotFound));
    assert_eq!(reader.open("/").err(), Some(Error::IsADirectory));

    let config = Config::for_disk(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let chip = Disk::format(chip, &config, &mut memory).expect("format");
    assert_eq!(CleanReader::mount(chip, &mut memory).err(), Some(MountError::IsDisk));
}

const LEAF_KIND: u8 = 9;

/// Returns the pages whose tag has the kind of a leaf.
fn leaf_pages(chip: &mut Nand) -> Vec<PageIndex> {
    let Geometry { pages_per_block, block_count, .. } = chip.geometry();
    let is_leaf = |&page: &PageIndex| {
        let mut tag = [0; TAG_BYTES];
        chip.read_tag(page, &mut tag).is_ok() && tag[8] & 15 == LEAF_KIND
    };
    (0..pages_per_block * block_count).filter(is_leaf).collect()
}

/// A leaf of the map is lost in a volume that was ended cleanly, and power fails during the
/// repair. The reader must not show a half-repaired volume as whole.
#[test]
fn repair_that_has_not_ended_is_told() {
    let mut rng = Rng(3);
    let mut volume = Volume::format(nand(256, 24, 140));
    (0..4).for_each(|_| volume.session(&mut rng, 60));
    let before = volume.seen().expect("read");
    let mut scratch =
        vec![0; Config::for_geometry(&volume.chip.geometry()).check_bytes(&volume.chip.geometry())];
    let mut repairs = 0;
    for page in leaf_pages(&mut volume.chip) {
        for left in (0..60).chain([u32::MAX]) {
            let mut chip = Spy { hidden: vec![page], ..Spy::new(volume.chip.clone(), left) };
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut volume.memory).expect("mount");
            if fs.damage() != Some(Damage::Leaf) {
                break;
            }
            let is_done = fs.repair(&mut scratch, &mut |_| {}).is_ok()
                && fs.unmount().is_ok()
                && left == u32::MAX;
            let mut later = Spy { hidden: chip.hidden.clone(), ..chip.again(u32::MAX) };
            let what = format!("leaf in page {page}, {left} changes");
            match CleanReader::mount(&mut later, &mut volume.memory)
                .map(|mut reader| tree(&mut reader))
            {
                Ok(seen) if is_done => {
                    let expected =
                        tree(&mut Reader::mount(&mut later, &mut volume.memory).expect("mount"));
                    assert_eq!(seen, expected, "{what}");
                    repairs += 1;
                }
                // The volume is as before: at most an erase in the ring was done.
                Ok(Err(Error::Corrupt)) => assert!(chip.changes.len() < 2, "{what}"),
                Ok(seen) => assert_eq!(
                    (seen.as_ref(), chip.changes.len() < 2),
                    (Ok(&before), true),
                    "{what}"
                ),
                Err(error) => {
                    assert_eq!((error, is_done), (MountError::NeedsRecovery, false), "{what}")
                }
            }
        }
    }
    assert!(repairs > 0, "a leaf that is needed");
}
