//! Mounts that are cut one after the other: a root of which a page proves that it was complete is taken up again, and one that nobody could read
//! meanwhile does not come back.

use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

const ROOT_KIND: u8 = 2;

/// What a mount did.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Erase(BlockIndex),
    /// A page of a root, of copy 0 (the root itself) or a later one.
    Root(PageIndex, u8),
    /// Any other page.
    Program(PageIndex),
}

/// A chip that keeps a list of what changes it, loses power after some changes, and hides pages.
#[derive(Clone)]
struct Spy {
    chip: Nand,
    changes: Vec<Change>,
    left: u32,
    hidden: Vec<PageIndex>,
}

impl Spy {
    fn spend(&mut self, change: Change) -> Result<(), Failure> {
        self.left = self.left.checked_sub(1).ok_or(Failure::Device)?;
        self.changes.push(change);
        Ok(())
    }

    fn see(&self, page: PageIndex) -> Result<(), Failure> {
        if self.hidden.contains(&page) { Err(Failure::Uncorrectable) } else { Ok(()) }
    }

    /// The same medium, with power for so many changes.
    fn again(&self, left: u32) -> Self {
        Self { changes: Vec::new(), left, hidden: Vec::new(), ..self.clone() }
    }

    /// All changes of a mount that is not cut.
    fn changes_of_mount(&self, memory: &mut [u8]) -> Vec<Change> {
        FileSystem::mount(self.again(u32::MAX), Access::ReadWrite, memory).expect("mount").flash().changes.clone()
    }

    /// The medium after a mount that is cut when the first page of the copies is there; the block of its root, and that page.
    fn cut_behind_a_seal(&self, memory: &mut [u8]) -> (Self, BlockIndex, PageIndex) {
        let changes = self.changes_of_mount(memory);
        let is_seal = |change: &Change| matches!(change, Change::Root(_, 1..));
        let at = changes.iter().position(is_seal).expect("a copy");
        let Change::Root(seal, _) = changes[at] else { unreachable!("it is a root's") };
        let mut cut = self.again(at as u32 + 1);
        assert!(FileSystem::mount(&mut cut, Access::ReadWrite, memory).is_err(), "power failed");
        assert_eq!(cut.changes, changes[..=at]);
        (cut, seal / self.geometry().pages_per_block, seal)
    }

    fn pages_of(&self, block: BlockIndex) -> Vec<PageIndex> {
        let pages = self.geometry().pages_per_block;
        (block * pages..(block + 1) * pages).collect()
    }
}

impl Flash for Spy {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.see(page)?;
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.see(page)?;
        self.chip.read_tag(page, tag)
    }
    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        // As in `docs/format.md`: which copy of the root it is.
        let change = if tag[8] & 15 == ROOT_KIND { Change::Root(page, tag[10]) } else { Change::Program(page) };
        self.spend(change)?;
        self.chip.program(page, data, tag)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.spend(Change::Erase(block))?;
        self.hidden.retain(|page| page / self.chip.geometry().pages_per_block != block);
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

/// Settings with which a root takes one, two and three pages, and frames begin behind it or after a gap.
fn volumes() -> Vec<(Spy, Vec<u8>)> {
    let mut found = Vec::new();
    for (page_bytes, pages_per_block, block_count) in [(512, 16, 64), (256, 32, 48), (256, 24, 80), (256, 24, 140)] {
        for unit_pages in [1, 2, 4] {
            let geometry = Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false };
            let config = Config { unit_pages, ..Config::for_geometry(&geometry) };
            if config.check(&geometry).is_err() {
                continue;
            }
            let mut memory = vec![0; config.memory_bytes(&geometry)];
            let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
            let chip = Spy { chip, changes: Vec::new(), left: u32::MAX, hidden: Vec::new() };
            let mut chip = FileSystem::format(chip, &config, &mut memory).expect("format");
            let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            (0..40).for_each(|number| write(&mut fs, number));
            found.push((chip, memory));
        }
    }
    found
}

/// Writes a file, or writes it again.
fn write<F: Flash>(fs: &mut FileSystem<'_, F>, number: u32) {
    fs.set_commit_on(CommitOn::MANUAL);
    let mut file = fs.open(format!("file {}", number % 7).as_str(), OpenOptions::CREATE).expect("open");
    fs.write(&mut file, 0, &number.to_le_bytes().repeat(50)).expect("write");
    fs.close(file).expect("close");
    fs.commit().expect("commit");
}

fn read<F: Flash>(fs: &mut FileSystem<'_, F>, number: u32) -> u32 {
    let mut data = [0; 4];
    let mut file = fs.open(format!("file {}", number % 7).as_str(), OpenOptions::READ).expect("open");
    fs.read(&mut file, 0, &mut data).expect("read");
    fs.close(file).expect("close");
    u32::from_le_bytes(data)
}

/// Where frames that a mount copied begin behind a gap, the search for the end of the block does not end there.
#[test]
fn root_with_one_page_of_its_copies_is_where_the_next_mount_begins() {
    let mut gaps = 0;
    for (volume, mut memory) in volumes() {
        let (cut, block, seal) = volume.cut_behind_a_seal(&mut memory);
        let programmed = |change: &Change| match *change {
            Change::Erase(_) => None,
            Change::Root(page, _) | Change::Program(page) => Some(page),
        };
        let first = block * cut.geometry().pages_per_block;
        gaps += u32::from((first..seal).any(|page| cut.changes.iter().filter_map(programmed).all(|other| other != page)));
        let next = cut.changes_of_mount(&mut memory);
        assert!(!next.contains(&Change::Erase(block)), "{:?}: block {block} has the newest root", cut.geometry());
    }
    assert!(gaps > 0, "no volume has a gap");
}

/// Two mounts are cut when one page of their copies is there. The third one can read nothing of either and begins where the first did; what the
/// second has left must not be the newest root when it can be read again.
#[test]
fn root_that_no_mount_could_read_does_not_come_back() {
    for (volume, mut memory) in volumes() {
        let (one, first, _) = volume.cut_behind_a_seal(&mut memory);
        let (two, second, _) = one.cut_behind_a_seal(&mut memory);
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
        assert_eq!(read(&mut fs, 39), newest, "{:?}: what was committed is there", volume.geometry());
    }
}
