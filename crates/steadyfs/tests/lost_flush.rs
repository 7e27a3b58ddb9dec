//! Tests devices that fail to flush and have lost all writes since the last flush. Linux reports
//! such a loss of a disk once, and not again.

use steadyfs::media::Failure;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages, SectorTimes, TagPlace};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::Sectors;

/// Bytes of a file, and of a write.
const PIECE: usize = 700;
const BYTES: usize = 12 * PIECE;
/// Number of writes. Every fourth is committed.
const WRITES: usize = 120;

/// A device on which one flush fails and loses all writes since the last flush.
#[derive(Clone)]
struct Caching {
    sectors: Sectors,
    /// The sectors at the last flush.
    flushed: Sectors,
    /// Number of flushes until one fails.
    fails_in: u32,
    has_failed: bool,
    reorders: bool,
}

impl Caching {
    fn new(reorders: bool) -> Self {
        let sectors = Sectors::new(65 * 40, Sectors::ROUND, 1);
        Self { flushed: sectors.clone(), sectors, fails_in: 0, has_failed: false, reorders }
    }

    /// Returns the device after a power cut that leaves nothing of the cache.
    fn cut(self) -> Self {
        Self { sectors: self.flushed.clone(), fails_in: 0, ..self }
    }
}

impl SectorDevice for Caching {
    fn sector_count(&self) -> u32 {
        self.sectors.sector_count()
    }

    fn times(&self) -> SectorTimes {
        self.sectors.times()
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        self.sectors.read(first, parts)
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        assert!(!self.has_failed, "sector {first} is written behind a flush that failed");
        self.sectors.write(first, parts)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.fails_in = self.fails_in.saturating_sub(1);
        if self.fails_in == 1 {
            (self.sectors, self.has_failed) = (self.flushed.clone(), true);
            return Err(Failure::Device);
        }
        self.flushed = self.sectors.clone();
        Ok(())
    }

    fn reorders(&self) -> bool {
        self.reorders
    }
}

fn layout(tags: TagPlace) -> SectorLayout {
    SectorLayout {
        first: 0,
        sectors: 65 * 40,
        block_sectors: 65,
        page_bytes: 1024,
        tags,
        volume: 7,
    }
}

fn content(fs: &mut FileSystem<'_, SectorPages<Caching>>) -> Vec<u8> {
    let mut file = fs.open("file", OpenOptions::READ).expect("open");
    let mut data = vec![0; BYTES];
    assert_eq!(fs.read(&mut file, 0, &mut data), Ok(BYTES));
    data
}

/// Writes and commits until a call fails. Returns the states that a mount may show, the newest
/// last, and true if the flush failed in a call that returned no error.
fn use_until_failure(fs: &mut FileSystem<'_, SectorPages<Caching>>) -> (Vec<Vec<u8>>, bool) {
    let mut data = content(fs);
    let (mut file, mut shown, mut was_silent) =
        (fs.open("file", OpenOptions::WRITE).expect("open"), vec![data.clone()], false);
    for round in 0..WRITES {
        let at = round * 5 % 12 * PIECE;
        data[at..at + PIECE].fill(round as u8);
        let mut result = fs.write(&mut file, at as u64, &data[at..at + PIECE]).map(drop);
        if result.is_ok() && round % 4 == 3 {
            shown.push(data.clone());
            result = fs.commit();
            if result.is_ok() {
                shown.drain(..shown.len() - 1);
            }
        }
        let has_failed = fs.flash().device().has_failed;
        match result {
            Ok(()) => was_silent |= has_failed,
            Err(error) => {
                assert!(
                    has_failed && matches!(error, Error::Unknown | Error::ReadOnly),
                    "write {round}: {error:?}"
                );
                assert!(fs.health().read_only && !fs.is_settled(), "write {round}");
                if error == Error::ReadOnly {
                    shown.truncate(1);
                }
                return (shown, was_silent);
            }
        }
    }
    (shown, was_silent)
}

/// The failed flush was repeated and succeeded, and the commit returned. The data that the first
/// flush had lost was gone, or a root referred to it.
#[test]
fn what_a_failed_flush_has_lost_is_never_built_upon() {
    let places = [
        (TagPlace::Beside, true),
        (TagPlace::Beside, false),
        (TagPlace::Table, true),
        (TagPlace::Within, true),
    ];
    for (tags, reorders) in places {
        let device = Caching::new(reorders);
        let pages = SectorPages::new(device, layout(tags)).expect("a layout that is possible");
        let geometry = layout(tags).geometry();
        let config = Config::for_sectors(&layout(tags));
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let pages = FileSystem::format(pages, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("file", OpenOptions::CREATE).expect("open");
        fs.write(&mut file, 0, &[0xEE; BYTES]).expect("write");
        let device = fs.unmount().expect("unmount").into_device();

        let (mut unknown, mut silent) = (0, 0);
        for fails_in in 2.. {
            let pages = SectorPages::new(Caching { fails_in, ..device.clone() }, layout(tags))
                .expect("possible");
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).expect("mount");
            fs.set_commit_on(CommitOn::MANUAL);
            let (shown, was_silent) = use_until_failure(&mut fs);
            silent += u32::from(was_silent);
            unknown += u32::from(shown.len() > 1);
            let device = fs.flash().device().clone().cut();
            if !device.has_failed {
                break;
            }
            let device = Caching { has_failed: false, ..device };
            let pages = SectorPages::new(device, layout(tags)).expect("possible");
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).expect("mount");
            let found = content(&mut fs);
            assert_eq!(fs.damage(), None, "{tags:?}, flush {fails_in}");
            assert!(
                shown.contains(&found),
                "{tags:?}, flush {fails_in}: what was committed is gone"
            );
        }
        assert!(
            unknown > 5 && silent > 0,
            "{tags:?}: {unknown} commits, {silent} flushes of roots behind them"
        );
    }
}
