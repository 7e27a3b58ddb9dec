//! Any one page of the medium cannot be read any more: what is lost is said to be lost, everything else is there.

mod common;

use common::Rng;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, MountError, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

const GEOMETRY: Geometry = Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64 };
const FILES: usize = 12;

/// A chip of which one page is lost.
#[derive(Clone)]
struct Lossy {
    chip: Nand,
    lost: PageIndex,
}

impl Lossy {
    fn check(&self, page: PageIndex) -> Result<(), Failure> {
        if page == self.lost { Err(Failure::Uncorrectable) } else { Ok(()) }
    }
}

impl Flash for Lossy {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.check(page)?;
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.check(page)?;
        self.chip.read_tag(page, tag)
    }
    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if page == self.lost {
            self.lost = PageIndex::MAX;
        }
        self.chip.program(page, data, tag)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

/// A volume after some hundred changes; what its files hold, and what they held before the last commit.
fn used_volume(seed: u64, changes: u64) -> (Lossy, [Vec<Vec<u8>>; 2]) {
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let chip = Lossy { chip: Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1), lost: PageIndex::MAX };
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let mut rng = Rng(seed);
    let mut files = [vec![Vec::new(); FILES], vec![Vec::new(); FILES]];
    for change in 0..changes {
        files[1] = files[0].clone();
        let number = rng.below(FILES as u64) as usize;
        let content = &mut files[0][number];
        let mut file = fs.open(format!("file {number}").as_str(), OpenOptions::CREATE).expect("open");
        let at = if rng.one_in(2) { content.len() } else { rng.below(content.len() as u64 + 1) as usize };
        let at = at.min(15_000);
        let bytes: Vec<u8> = (0..1 + rng.below(900)).map(|index| (change * 13 + index * 7) as u8).collect();
        if content.len() < at + bytes.len() {
            content.resize(at + bytes.len(), 0);
        }
        content[at..at + bytes.len()].copy_from_slice(&bytes);
        fs.write(&mut file, at as u64, &bytes).expect("write");
        fs.close(file).expect("close");
        fs.commit().expect("commit");
    }
    (fs.unmount().expect("unmount"), files)
}

/// How many files cannot be read; panics when one has content that none of the states had.
fn lost_files(fs: &mut FileSystem<'_, Lossy>, states: &[Vec<Vec<u8>>], page: PageIndex) -> usize {
    let mut lost = 0;
    for number in 0..FILES {
        match read(fs, number) {
            Ok(data) if states.iter().any(|files| files[number] == data) => {}
            Ok(data) => panic!("page {page} lost: file {number} has {} bytes, not what was written", data.len()),
            Err(error) => {
                assert_eq!(error, Error::Corrupt, "page {page} lost: file {number}");
                lost += 1;
            }
        }
    }
    lost
}

fn read(fs: &mut FileSystem<'_, Lossy>, number: usize) -> Result<Vec<u8>, Error> {
    let mut file = fs.open(format!("file {number}").as_str(), OpenOptions::READ)?;
    let mut data = vec![0; 32_000];
    let length = fs.read(&mut file, 0, &mut data);
    fs.close(file)?;
    data.truncate(length?);
    Ok(data)
}

/// Loses each page in turn; returns those without which the volume cannot be mounted.
fn lose_each(volume: &Lossy, states: &[Vec<Vec<u8>>]) -> Vec<PageIndex> {
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let (mut unmountable, mut partly) = (Vec::new(), 0);
    for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
        for access in [Access::ReadOnly, Access::ReadWrite] {
            match FileSystem::mount(Lossy { lost: page, ..volume.clone() }, access, &mut memory) {
                Ok(mut fs) => partly += usize::from(lost_files(&mut fs, states, page) > 0),
                Err(MountError::Volume(Error::Corrupt)) => unmountable.push(page),
                Err(error) => panic!("page {page} lost: {error}"),
            }
        }
    }
    assert!(partly > 10, "no page that is lost holds data");
    unmountable.dedup();
    unmountable
}

#[test]
fn loss_of_a_page_after_a_mount_gives_an_error_or_nothing_but_never_other_data() {
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    for seed in 0..6 {
        let (volume, states) = used_volume(seed, 300 + seed * 97);
        let fs = FileSystem::mount(volume, Access::ReadWrite, &mut memory).expect("mount");
        let (anchor, _) = fs.describe().ring;
        let volume = fs.unmount().expect("unmount");
        let unmountable = lose_each(&volume, &states[..1]);
        let of_anchor = |&page: &PageIndex| page / GEOMETRY.pages_per_block == anchor;
        assert!(unmountable.len() <= 4 && unmountable.iter().all(of_anchor), "pages {unmountable:?} are worth the volume");
    }
}

#[test]
fn loss_of_a_page_of_a_volume_at_work_takes_back_one_commit_at_most_or_is_refused() {
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    for seed in 0..6 {
        let (volume, states) = used_volume(seed, 300 + seed * 97);
        let unmountable = lose_each(&volume, &states);
        // The changes since the last checkpoint: 32 programs and what a late one adds.
        assert!(unmountable.len() < 50, "pages {unmountable:?} are worth the volume (seed {seed})");
        let mut whole = 0;
        for &lost in &unmountable {
            let mut fs = FileSystem::mount(Lossy { lost, ..volume.clone() }, Access::Salvage, &mut memory).expect("salvage");
            whole += (0..FILES).filter(|&number| read(&mut fs, number).is_ok_and(|data| data == states[0][number])).count();
        }
        // A lost page of the directory takes all of them.
        assert!(
            whole * 10 >= unmountable.len() * FILES * 7,
            "{whole} of {} files are whole (seed {seed})",
            unmountable.len() * FILES
        );
    }
}
