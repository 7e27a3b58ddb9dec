//! A plain file becomes a compressed one. Power fails at each operation, and any step fails: the
//! content stays the same.

mod common;

use common::{Random, SMALL, chip, difference, format, format_with, spent};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_compress::{ATTRIBUTE, Error, Method, PackedFile, Shape};
use steadyfs_sim::{Nand, PowerCut};

const SHAPE: Shape = Shape::new(4096, Method::Lz4);

fn memory() -> Vec<u8> {
    vec![0; SHAPE.write_bytes()]
}

/// Returns the content of "f", and true if it is compressed.
fn held<F: Flash>(fs: &mut FileSystem<'_, F>) -> (Vec<u8>, bool) {
    let inode = fs.stat("f").expect("the file").inode;
    if Shape::of(fs, inode).expect("a look").is_some() {
        let mut file = PackedFile::open(fs, "f", false, memory()).expect("the file");
        let all = common::content(fs, &mut file);
        file.close(fs).expect("closed");
        return (all, true);
    }
    let mut file = fs.open("f", OpenOptions::READ).expect("the file");
    let mut all = vec![0; fs.size(&mut file).expect("a size") as usize];
    assert_eq!(fs.read(&mut file, 0, &mut all).expect("content"), all.len());
    fs.close(file).expect("closed");
    (all, false)
}

/// Makes a volume with a plain file of this content, committed.
fn with_plain<F: Flash>(flash: F, ram: &mut [u8], content: &[u8]) -> F {
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, ram).expect("a mount");
    let mut file = fs.open("f", OpenOptions::CREATE).expect("a file");
    fs.write(&mut file, 0, content).expect("written");
    fs.close(file).expect("closed");
    fs.commit().expect("committed");
    fs.unmount().expect("unmounted")
}

/// Makes a change that waits, the conversion, an append, and a commit. Returns an error if a step
/// fails.
fn convert<F: Flash>(fs: &mut FileSystem<'_, F>, more: &[u8]) -> Result<(), Error> {
    fs.open("other", OpenOptions::CREATE).and_then(|file| fs.close(file))?;
    let inode = fs.stat("f")?.inode;
    let mut packed = PackedFile::convert(fs, inode, SHAPE, memory())?;
    packed.append(fs, more)?;
    packed.close(fs)?;
    Ok(fs.commit()?)
}

#[test]
fn a_cut_at_any_operation_leaves_the_content() {
    let (mut converted, mut cuts) = (0, 0);
    for seed in 0..10 {
        let mut random = Random(seed);
        let length = random.below(4097);
        // The appended data fits into the transaction of the conversion, or needs more.
        let (pages, bytes) = if seed % 2 == 0 { (40, 700) } else { (10, 20_000) };
        let (before, more) = (random.content(length), random.content(bytes));
        let after = [&before[..], &more[..]].concat();
        let (flash, mut ram) = format_with(chip(), pages);
        let start = with_plain(PowerCut::new(flash, seed), &mut ram, &before);
        for cut in 1.. {
            let mut fs =
                FileSystem::mount(start.clone(), Access::ReadWrite, &mut ram).expect("a mount");
            fs.flash_mut().cut_at(cut);
            let result = convert(&mut fs, &more);
            let is_off = fs.flash().is_off();
            let mut flash = fs.flash().clone();
            drop(fs);
            flash.cancel();
            flash.power_on();
            let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
            let (now, is_packed) = held(&mut fs);
            let is_part = pages == 10 && now.len() > before.len() && after.starts_with(&now);
            let is_right = now == before || (is_packed && (now == after || is_part));
            assert!(is_right, "seed {seed}, cut {cut}: {} of {length} bytes", now.len());
            converted += u32::from(is_packed && now != after);
            cuts += 1;
            if !is_off {
                result.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                assert_eq!((now, is_packed), (after, true));
                break;
            }
        }
    }
    assert!(cuts > 50, "{cuts} cuts");
    // If the append found no room in the transaction of the conversion, that transaction ended
    // before the append did.
    assert!(converted > 0, "cuts between the conversion and the end of the append");
}

#[test]
fn a_step_that_fails_leaves_a_plain_file() {
    let mut refused = 0;
    for transaction_pages in 1..12 {
        let config =
            Config { pages_per_logical_page: 1, transaction_pages, ..Config::for_geometry(&SMALL) };
        let mut ram = vec![0; config.memory_bytes(&SMALL) + 96];
        let Ok(flash) = FileSystem::format(chip(), &config, &mut ram) else { continue };
        let before: Vec<u8> =
            (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let mut fs =
            FileSystem::mount(with_plain(flash, &mut ram, &before), Access::ReadWrite, &mut ram)
                .expect("a mount");
        let events = fs.commit_on();
        fs.create_dir("waits").expect("a directory");
        let inode = fs.stat("f").expect("the file").inode;
        match PackedFile::convert(&mut fs, inode, SHAPE, memory()) {
            Ok(packed) => packed.close(&mut fs).expect("closed"),
            Err(error) => {
                assert_eq!(
                    (error, held(&mut fs)),
                    (Error::Volume(steadyfs::Error::TransactionTooLarge), (before.clone(), false))
                );
                fs.commit().expect("committed");
                refused += 1;
            }
        }
        assert_eq!(fs.commit_on(), events);
        fs.stat("waits").expect("what waited before is there");
        assert_eq!(held(&mut fs).0, before);
    }
    assert!(refused > 0, "each transaction was large enough");
}

/// A chip of which one read fails once, or which fails every operation from there on.
#[derive(Clone)]
struct FailingRead {
    inner: Nand,
    /// The reads up to the failing read; 0 if none fails.
    left: u32,
    stays_silent: bool,
}

impl FailingRead {
    fn count(&mut self) -> Result<(), Failure> {
        self.left =
            if self.stays_silent && self.left == 1 { 1 } else { self.left.saturating_sub(1) };
        if self.left == 1 { Err(Failure::Device) } else { Ok(()) }
    }
}

impl Flash for FailingRead {
    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }
    fn timing(&self) -> Timing {
        self.inner.timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.count()?;
        self.inner.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count()?;
        self.inner.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        if self.stays_silent {
            self.count()?;
        }
        self.inner.program(page, data, tag)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        if self.stays_silent {
            self.count()?;
        }
        self.inner.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.inner.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.inner.mark_bad(block)
    }
}

#[test]
fn a_read_that_fails_leaves_the_content() {
    let mut failed = 0;
    for seed in 0..10 {
        let mut random = Random(seed);
        let length = 1 + random.below(4096);
        let before = random.content(length);
        let (flash, mut ram) = format(chip());
        let start = with_plain(
            FailingRead { inner: flash, left: 0, stays_silent: false },
            &mut ram,
            &before,
        );
        for left in 2.. {
            let mut fs =
                FileSystem::mount(start.clone(), Access::ReadWrite, &mut ram).expect("a mount");
            let inode = fs.stat("f").expect("the file").inode;
            fs.flash_mut().left = left;
            let result = PackedFile::convert(&mut fs, inode, SHAPE, memory());
            let is_over = fs.flash().left > 1;
            fs.flash_mut().left = 0;
            let is_packed = result.is_ok();
            if let Ok(packed) = result {
                packed.close(&mut fs).expect("closed");
            }
            failed += u32::from(!is_packed);
            assert_eq!(held(&mut fs), (before.clone(), is_packed), "seed {seed}, read {left}");
            fs.commit().expect("committed");
            let flash = fs.unmount().expect("unmounted");
            let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
            assert_eq!(held(&mut fs), (before.clone(), is_packed), "seed {seed}, read {left}");
            if is_over {
                break;
            }
        }
    }
    assert!(failed > 0, "no read failed");
}

#[test]
fn a_device_that_is_silent_for_a_while_costs_nothing_where_the_way_back_is_taken_then() {
    let mut not_undone = 0;
    for seed in 0..10 {
        let mut random = Random(seed);
        let length = 1 + random.below(4096);
        let before = random.content(length);
        let (flash, mut ram) = format(chip());
        let start = with_plain(
            FailingRead { inner: flash, left: 0, stays_silent: false },
            &mut ram,
            &before,
        );
        for left in 2..40 {
            let mut fs =
                FileSystem::mount(start.clone(), Access::ReadWrite, &mut ram).expect("a mount");
            let inode = fs.stat("f").expect("the file").inode;
            (fs.flash_mut().left, fs.flash_mut().stays_silent) = (left, true);
            let result = PackedFile::convert(&mut fs, inode, SHAPE, memory());
            (fs.flash_mut().left, fs.flash_mut().stays_silent) = (0, false);
            let is_packed = result.is_ok();
            match result {
                Ok(packed) => packed.close(&mut fs).expect("closed"),
                Err(Error::NotUndone) => {
                    not_undone += 1;
                    fs.rollback().expect("the device answers again");
                }
                Err(_) => {}
            }
            fs.commit().expect("committed");
            assert_eq!(held(&mut fs), (before.clone(), is_packed), "seed {seed}, read {left}");
        }
    }
    assert!(not_undone > 0, "the way back never failed");
}

#[test]
fn the_bound_holds_and_other_files_are_refused() {
    let (flash, mut ram) = format(chip());
    for seed in 0..20 {
        let mut random = Random(seed);
        let length = random.below(4097);
        let before = random.content(length);
        let flash = with_plain(flash.clone(), &mut ram, &before);
        let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
        let inode = fs.stat("f").expect("the file").inode;
        let (bound, start) = (PackedFile::<Vec<u8>>::convert_bound(&fs, &SHAPE), spent(&fs));
        let packed = PackedFile::convert(&mut fs, inode, SHAPE, memory()).expect("converted");
        let took = difference(&spent(&fs), &start);
        assert!(took.is_within(&bound), "seed {seed}: took {took:?}, at most {bound:?}");
        packed.close(&mut fs).expect("closed");
        assert_eq!(held(&mut fs), (before, true));
    }
    let flash = with_plain(flash, &mut ram, &[1; 4097]);
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
    let inode = fs.stat("f").expect("the file").inode;
    assert_eq!(
        PackedFile::convert(&mut fs, inode, SHAPE, memory()).map(drop),
        Err(Error::TooLarge)
    );
    assert_eq!(fs.attribute(inode, ATTRIBUTE, &mut []), Err(steadyfs::Error::NotFound));
}
