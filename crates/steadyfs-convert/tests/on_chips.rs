//! Images from this crate on simulated chips, read by `steadyfs-rom`.

use std::collections::BTreeMap;
use steadyfs::media::{Failure, Flash, Geometry, Timing};
use steadyfs_convert::squashfs::{self, Compressor};
use steadyfs_convert::verity::{self, Sealed};
use steadyfs_convert::{Inode, Kind, Limit, Tree};
use steadyfs_rom::squash::{Cursor, Needs};
use steadyfs_rom::{
    Bound, Cached, Error, InRam, Install, OnNand, Source, Squash, Trusted, Verified,
};
use steadyfs_sim::{FailOps, Metered, Nand, NandTiming, PowerCut};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 8, block_count: 96, programs_bytes: false };
const SEED: [u8; 32] = [7; 32];

/// Makes some files, of which a part does not shrink.
fn tree(rng: &mut fastrand::Rng, files: usize) -> Tree {
    let mut tree = Tree::new(Limit::default());
    let directory =
        tree.insert(0, b"data", Inode::new(Kind::Directory(BTreeMap::new()), 0o755)).expect("room");
    for index in 0..files {
        let bytes = rng.usize(0..9000);
        let noise = rng.bool();
        let content =
            (0..bytes).map(|at| if noise { rng.u8(..) } else { (at / 7) as u8 }).collect();
        tree.insert(
            directory,
            format!("file-{index}").as_bytes(),
            Inode::new(Kind::File(content), 0o644),
        )
        .expect("room");
    }
    tree
}

fn image(tree: &Tree) -> Vec<u8> {
    let settings = squashfs::Settings {
        compressor: Compressor::Lz4 { high: true },
        block_bytes: 4096,
        ..squashfs::Settings::default()
    };
    squashfs::write(tree, &settings).expect("an image")
}

fn sealed(tree: &Tree, block_bytes: u32) -> Sealed {
    let settings = verity::Settings { block_bytes, key: Some(SEED), ..verity::Settings::default() };
    verity::append(image(tree), &settings).expect("a sealed image")
}

fn chip(rng: &mut fastrand::Rng) -> Nand {
    let mut bad: Vec<_> = (1..GEOMETRY.block_count).collect();
    rng.shuffle(&mut bad);
    Nand::with_geometry(GEOMETRY, NandTiming::ROUND, rng.u64(..))
        .with_bad_blocks_at(&bad[..rng.usize(0..8)])
}

fn install<F: Flash>(flash: F, image: &[u8], rng: &mut fastrand::Rng) -> Result<F, Error> {
    let mut memory = vec![0; Install::memory_bytes(&flash, 40)];
    let mut install = Install::begin(flash, &mut memory)?;
    let mut rest = image;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rng.usize(1..=2000).min(rest.len()));
        install.push(piece)?;
        rest = behind;
    }
    install.finish()
}

/// Compares all files. The first error or difference ends it.
fn compare<S: Source>(source: S, tree: &Tree) -> Result<S, Error> {
    let mut source = source;
    let mut memory = vec![0; Needs::of(&mut source)?.both];
    let mut rom = Squash::mount(source, &mut memory)?;
    for (path, index) in tree.walk() {
        let node = rom.find(std::str::from_utf8(&path).expect("text"))?;
        if let Kind::File(content) = &tree.inode(index).kind {
            let mut file = rom.open_node(&node)?;
            let mut all = vec![0; content.len() + 1];
            if rom.read(&mut file, 0, &mut all)? != content.len()
                || all[..content.len()] != content[..]
            {
                return Err(Error::Damaged(index as u64));
            }
        }
    }
    Ok(rom.unmount())
}

fn key() -> Trusted {
    Trusted::Key(verity::public_key(&SEED).expect("a key"))
}

#[test]
fn an_image_is_read_around_bad_blocks() {
    for seed in 0..30 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tree = tree(&mut rng, 20);
        let flash = install(chip(&mut rng), &image(&tree), &mut rng).expect("room on the chip");
        let mut memory = vec![0; OnNand::memory_bytes(&flash, 10)];
        let source = OnNand::open(flash, &mut memory).expect("a header");
        compare(source, &tree).expect("an image");
    }
}

/// The image is made for no particular chip, and a programmer that skips bad blocks writes it.
#[test]
fn an_image_that_lists_no_blocks_goes_by_the_marks() {
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tree = tree(&mut rng, 20);
        let blank = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
        let mut memory = vec![0; Install::memory_bytes(&blank, 0)];
        let mut install = Install::begin(blank, &mut memory).expect("room");
        install.push(&image(&tree)).expect("room");
        let mut master = install.finish_by_marks().expect("room");
        let mut flash = chip(&mut rng);
        let good: Vec<_> = (0..GEOMETRY.block_count)
            .filter(|&block| !flash.is_bad(block).expect("a mark"))
            .collect();
        let mut page = vec![0; 512];
        let mut tag = [0; 16];
        for (from, to) in (0..).zip(good) {
            for index in 0..GEOMETRY.pages_per_block {
                master
                    .read(from * GEOMETRY.pages_per_block + index, &mut page, &mut tag)
                    .expect("a page");
                if page.iter().any(|&byte| byte != 0xFF) {
                    flash
                        .program(to * GEOMETRY.pages_per_block + index, &page, &tag)
                        .expect("a good block");
                }
            }
        }
        there(flash, &tree).expect("an image");
    }
}

/// A chip that refuses to mark blocks.
struct Unmarkable<F>(F);

impl<F: Flash> Flash for Unmarkable<F> {
    fn geometry(&self) -> Geometry {
        self.0.geometry()
    }
    fn timing(&self) -> Timing {
        self.0.timing()
    }
    fn read(&mut self, page: u32, data: &mut [u8], tag: &mut [u8; 16]) -> Result<(), Failure> {
        self.0.read(page, data, tag)
    }
    fn read_tag(&mut self, page: u32, tag: &mut [u8; 16]) -> Result<(), Failure> {
        self.0.read_tag(page, tag)
    }
    fn program(&mut self, page: u32, data: &[u8], tag: &[u8; 16]) -> Result<(), Failure> {
        self.0.program(page, data, tag)
    }
    fn erase(&mut self, block: u32) -> Result<(), Failure> {
        self.0.erase(block)
    }
    fn is_bad(&mut self, block: u32) -> Result<bool, Failure> {
        self.0.is_bad(block)
    }
    fn mark_bad(&mut self, _: u32) -> Result<(), Failure> {
        Err(Failure::BadBlock)
    }
}

/// The list names bad blocks without a mark. A block that may still hold a header ends the
/// installation.
#[test]
fn blocks_that_cannot_be_marked_are_listed() {
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tree = tree(&mut rng, 20);
        let image = image(&tree);
        let mut flash = FailOps::new(chip(&mut rng), seed);
        flash.fail_program(1 + rng.u64(0..(image.len() as u64 / 512)));
        let flash = Unmarkable(flash);
        let mut memory = vec![0; Install::memory_bytes(&flash, 40)];
        let mut install = Install::begin(flash, &mut memory).expect("room");
        install.push(&image).expect("room");
        there(install.finish_by_marks().expect("room"), &tree).expect("an image");
    }
    let mut flash = FailOps::new(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1), 1);
    flash.fail_erase(1);
    let error = Install::begin(Unmarkable(flash), &mut [0; 2000]).err();
    assert_eq!(error, Some(Error::Medium(Failure::BadBlock)));
}

#[test]
fn blocks_that_fail_while_an_image_is_written_are_left_out() {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tree = tree(&mut rng, 20);
        let image = image(&tree);
        let mut flash = FailOps::new(chip(&mut rng), seed);
        // The blocks of the headers are erased first and programmed last. A failure there requires
        // another beginning, so the other operations fail here.
        flash.fail_program(1 + rng.u64(0..(image.len() as u64 / 512)));
        if rng.bool() {
            flash.fail_erase(3 + rng.u64(0..10));
        }
        let flash = install(flash, &image, &mut rng).expect("room on the chip");
        let mut memory = vec![0; OnNand::memory_bytes(&flash, 12)];
        compare(OnNand::open(flash, &mut memory).expect("a header"), &tree).expect("an image");
    }
}

/// Compares the image on a chip with a tree.
fn there<F: Flash>(flash: F, tree: &Tree) -> Result<(), Error> {
    let mut memory = vec![0; OnNand::memory_bytes(&flash, 10)];
    compare(OnNand::open(flash, &mut memory)?, tree).map(drop)
}

/// After a cut there is no image, or the whole image. A new installation then succeeds.
#[test]
fn a_cut_leaves_no_image_or_the_whole_of_it() {
    // One seed cuts at every operation, nine more seeds cut at some of them.
    cuts(3, 1);
    (4..13).for_each(|seed| cuts(seed, 7));
}

fn cuts(seed: u64, step: usize) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (old, new) = (tree(&mut rng, 3), tree(&mut rng, 4));
    let (first, second) = (image(&old), image(&new));
    let mut flash = PowerCut::new(install(chip(&mut rng), &first, &mut rng).expect("room"), seed);
    let mut whole = 0;
    for cut in (1..2000).step_by(step) {
        flash.cut_at(cut);
        let done = install(&mut flash, &second, &mut rng).is_ok();
        flash.cancel();
        flash.power_on();
        match there(&mut flash, &new) {
            Ok(()) => whole += 1,
            Err(Error::NoImage) => assert!(!done),
            // If the first two erases are cut, only headers are erased.
            Err(error) => {
                assert!(cut <= 2 && there(&mut flash, &old).is_ok(), "cut {cut}: {error}")
            }
        }
        if done {
            break;
        }
    }
    assert!(whole > 0);
}

#[test]
fn a_bit_that_is_flipped_is_told_where_it_is_read() {
    let mut rng = fastrand::Rng::with_seed(8);
    let tree = tree(&mut rng, 6);
    for block_bytes in [512, 1024, 4096] {
        let sealed = sealed(&tree, block_bytes);
        let mut bytes = sealed.bytes.clone();
        for _ in 0..3400 {
            let bit = rng.usize(0..8 * sealed.hash_offset as usize);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut memory = vec![0; Verified::memory_bytes(block_bytes as usize, 2)];
            let mut image =
                Verified::open_at(InRam::new(&bytes), sealed.hash_offset, key(), &mut memory)
                    .expect("a signature");
            let error = image.read(bit as u64 / 8, &mut [0]).err();
            assert_eq!(error, Some(Error::NotAuthentic(bit as u64 / 8 / u64::from(block_bytes))));
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        // The flipped bits behind the image are in the tree, its superblock and the record.
        for _ in 0..2000 {
            let bit = rng.usize(8 * sealed.hash_offset as usize..8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut memory = vec![0; Verified::memory_bytes(block_bytes as usize, 1)];
            if let Ok(image) =
                Verified::open_at(InRam::new(&bytes), sealed.hash_offset, key(), &mut memory)
            {
                let mut image = image;
                let all = image.bytes();
                let mut content = vec![0; all as usize];
                // A read returns the signed bytes, or fails.
                if image.read(0, &mut content).is_ok() {
                    assert!(content[..] == sealed.bytes[..all as usize]);
                }
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn an_image_that_others_signed_or_nobody_is_refused() {
    let mut rng = fastrand::Rng::with_seed(4);
    let tree = tree(&mut rng, 4);
    let ours = sealed(&tree, 1024);
    let open = |bytes: &[u8], trusted| {
        Verified::open(InRam::new(bytes), trusted, &mut [0; 4096]).map(|image| *image.root_hash())
    };
    assert_eq!(open(&ours.bytes, key()), Ok(ours.root_hash));
    let root = Trusted::Root { hash: ours.root_hash, bytes: ours.hash_offset };
    assert_eq!(open(&ours.bytes, root), Ok(ours.root_hash));
    assert_eq!(
        open(&ours.bytes, Trusted::Root { hash: ours.root_hash, bytes: 1024 }),
        Err(Error::NotSigned)
    );
    let other = Trusted::Key(verity::public_key(&[8; 32]).expect("a key"));
    assert_eq!(open(&ours.bytes, other), Err(Error::NotSigned));
    let unsigned = verity::append(
        image(&tree),
        &verity::Settings { block_bytes: 1024, ..verity::Settings::default() },
    )
    .expect("a tree");
    assert_eq!(open(&unsigned.bytes, key()), Err(Error::NotSigned));
    assert_eq!(open(&image(&tree), key()), Err(Error::NotSigned));
    // A wrong root hash shows at the first block.
    let wrong = Trusted::Root { hash: [1; 32], bytes: ours.hash_offset };
    let mut memory = [0; 4096];
    let mut image = Verified::open(InRam::new(&ours.bytes), wrong, &mut memory).expect("a tree");
    assert!(matches!(image.read(0, &mut [0; 4]), Err(Error::NotAuthentic(_))));
}

/// Reads of a verified image on NAND stay within their bound, with any number of kept hash blocks.
#[test]
fn reads_of_verified_blocks_hold_their_bound() {
    let mut rng = fastrand::Rng::with_seed(9);
    let tree = tree(&mut rng, 12);
    let sealed = sealed(&tree, 512);
    for kept in [1, 2, 3, 8] {
        let flash = install(chip(&mut rng), &sealed.bytes, &mut rng).expect("room");
        let mut pages = vec![0; OnNand::memory_bytes(&flash, 10)];
        let mut blocks = vec![0; Verified::memory_bytes(512, kept)];
        let source = OnNand::open(flash, &mut pages).expect("a header");
        let image = Verified::open(source, key(), &mut blocks).expect("a signature");
        let mut source = compare(image, &tree).expect("an image");
        for _ in 0..500 {
            let mut data = vec![0; rng.usize(1..3000)];
            let at = rng.u64(0..source.bytes() - data.len() as u64);
            let Bound { flash_ns, hashed_bytes, .. } = source.bound(data.len() as u64, 1);
            let before = source.source_mut().flash_mut().time_ns();
            source.read(at, &mut data).expect("what was signed");
            let spent = source.source_mut().flash_mut().time_ns() - before;
            assert!(spent <= flash_ns && hashed_bytes > 0, "{spent} of {flash_ns}");
            assert!(data[..] == sealed.bytes[at as usize..at as usize + data.len()]);
        }
    }
}

#[test]
fn a_chip_without_room_or_image_says_so() {
    let mut rng = fastrand::Rng::with_seed(1);
    let flash = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    let most = (96 - 2) * 8 * 512;
    assert!(install(flash.clone(), &vec![5; most], &mut rng).is_ok());
    assert_eq!(
        install(flash.clone(), &vec![5; most + 1], &mut rng).err(),
        Some(Error::End(most as u64 + 1))
    );
    assert_eq!(OnNand::open(flash.clone(), &mut [0; 512]).err(), Some(Error::NoImage));
    assert_eq!(
        OnNand::open(flash, &mut [0; 511]).err(),
        Some(Error::MemoryTooSmall { needed: 512, lent: 511 })
    );
}

/// A source whose reads fail now and then. A repeated read may succeed.
struct Flaky<S> {
    source: S,
    rng: fastrand::Rng,
    failed: u32,
    is_sound: bool,
}

impl<S: Source> Source for Flaky<S> {
    fn bytes(&self) -> u64 {
        self.source.bytes()
    }
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        if !self.is_sound && self.rng.u8(0..5) == 0 {
            // A driver may leave any bytes in the buffer.
            data.fill(self.rng.u8(..));
            self.failed += 1;
            return Err(Error::Medium(Failure::Device));
        }
        self.source.read(offset, data)
    }
    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        self.source.bound(bytes, pieces)
    }
}

/// Repeats a call in which a read failed.
fn again<T>(mut call: impl FnMut() -> Result<T, Error>) -> T {
    for _ in 0..10_000 {
        match call() {
            Err(Error::Medium(Failure::Device)) => {}
            result => return result.expect("what is there"),
        }
    }
    panic!("no call in ten thousand succeeds")
}

/// Reads everything, and repeats each call until it succeeds. Names come in the order of the lists.
fn insist<S: Source>(rom: &mut Squash<'_, S>, tree: &Tree) {
    for (path, index) in tree.walk() {
        let path = std::str::from_utf8(&path).expect("text");
        let node = again(|| rom.find(path));
        match &tree.inode(index).kind {
            Kind::File(content) => {
                let mut file = again(|| rom.open_node(&node));
                let mut all = vec![0; content.len()];
                for (piece, out) in all.chunks_mut(3000).enumerate() {
                    again(|| rom.read(&mut file, piece as u64 * 3000, out));
                }
                assert!(all == *content, "{path}");
            }
            Kind::Directory(entries) => {
                let mut cursor = Cursor::default();
                let listed: Vec<_> =
                    std::iter::from_fn(|| again(|| rom.list(&node, &mut cursor))).collect();
                assert!(listed.iter().map(|entry| entry.name()).eq(entries.keys()), "{path}");
            }
            _ => {}
        }
    }
}

/// A failed read leaves nothing behind that a later read takes for content.
#[test]
fn reads_that_fail_now_and_then_may_be_repeated() {
    for seed in 0..10 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tree = tree(&mut rng, 15);
        let sealed = sealed(&tree, 512);
        for kept in 0..4 {
            let (mut blocks, mut pieces) =
                (vec![0; Verified::memory_bytes(512, 1 + kept)], vec![0; 256 * kept]);
            let mut memory = vec![0; 4144 + 8256 * (1 + kept)];
            // The source is sound during the mount. Its reads fail from then on.
            let mut flaky = Flaky {
                source: InRam::new(&sealed.bytes),
                rng: rng.fork(),
                failed: 0,
                is_sound: true,
            };
            let verified = Verified::open(&mut flaky, key(), &mut blocks).expect("a signature");
            let cached = Cached::new(verified, 256, &mut pieces);
            let mut rom = Squash::mount(cached, &mut memory).expect("an image");
            rom.source_mut().source_mut().source_mut().is_sound = false;
            insist(&mut rom, &tree);
            assert!(flaky.failed > 20, "{} reads failed", flaky.failed);
        }
    }
}
