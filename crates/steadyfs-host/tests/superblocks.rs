//! Each copy of the superblock is enough: volumes on NAND, NOR and cards with one copy damaged in
//! every way.

use crate::common::{NOR, SHAPES, Scratch, format, memory, verify, volume};
use steadyfs::disk::Disk;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{Flash, Geometry, TAG_BYTES, Tag};
use steadyfs::{Access, CleanReader, Config, FileSystem, MountError, Reader, Superblocks};
use steadyfs_host::block;
use steadyfs_host::image::{Image, ImageError, Shape};
use steadyfs_host::superblocks;

/// Bytes that the fields of a superblock fill.
const FIELDS: usize = 55;

/// A version of the format that this library does not read.
const NEXT_VERSION: u16 = steadyfs::FORMAT_VERSION + 1;

/// The offset of a copy in the bytes of an image.
struct Copy {
    page: std::ops::Range<usize>,
    tag: usize,
}

/// Returns both copies, in the blocks 0 and 1.
fn copies(shape: &Shape) -> [Copy; 2] {
    [0, 1].map(|block: usize| match *shape {
        Shape::Nand { geometry, spare_bytes } => {
            let page = geometry.page_bytes as usize;
            let at = block * geometry.pages_per_block as usize * (page + spare_bytes as usize);
            Copy { page: at..at + page, tag: at + page + 2 }
        }
        Shape::Nor { page_bytes, block_bytes, .. } => {
            let geometry = shape.geometry().unwrap();
            let begin = block * block_bytes as usize;
            let at = begin + (block_bytes - geometry.pages_per_block * page_bytes) as usize;
            Copy { page: at..at + page_bytes as usize, tag: begin }
        }
    })
}

/// Computes the CRC-32 of the format, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

/// Changes a page, and gives its tag the checksum of the changed page.
fn forge(bytes: &mut [u8], copy: &Copy, change: impl FnOnce(&mut [u8])) {
    let before = crc(&bytes[copy.page.clone()]);
    change(&mut bytes[copy.page.clone()]);
    let difference = (before ^ crc(&bytes[copy.page.clone()])).to_le_bytes();
    bytes[copy.tag + 12..copy.tag + 16]
        .iter_mut()
        .zip(difference)
        .for_each(|(byte, change)| *byte ^= change);
}

/// Returns every damage of a copy: a name, and the damaged bytes of the image.
fn damages(whole: &[u8], copy: &Copy) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut [u8])| {
        let mut bytes = whole.to_vec();
        change(&mut bytes);
        assert!(bytes != whole, "{name} changes nothing");
        all.push((name, bytes));
    };
    let (page, tag) = (copy.page.clone(), copy.tag..copy.tag + TAG_BYTES);
    for fill in [0xFF, 0, 0x55] {
        let (page, tag) = (page.clone(), tag.clone());
        add(format!("page and tag {fill:#x}"), &move |bytes| {
            bytes[page.clone()].fill(fill);
            bytes[tag.clone()].fill(fill);
        });
    }
    add("page erased".into(), &|bytes| bytes[page.clone()].fill(0xFF));
    add("tag erased".into(), &|bytes| bytes[tag.clone()].fill(0xFF));
    for at in (0..FIELDS).chain([FIELDS, page.len() - 1]) {
        add(format!("a bit of byte {at}"), &|bytes| bytes[page.start + at] ^= 1 << (at % 8));
    }
    for at in 0..TAG_BYTES {
        add(format!("a bit of byte {at} of the tag"), &|bytes| {
            bytes[tag.start + at] ^= 1 << (at % 8)
        });
    }
    for kept in [0, 8, 10, 22, 40, 44] {
        add(format!("torn behind {kept} bytes"), &|bytes| {
            bytes[page.start + kept..page.end].fill(0xFF)
        });
    }
    for version in [0, 4, NEXT_VERSION, 20, u16::MAX] {
        let field = page.start + 8..page.start + 10;
        add(format!("version {version}"), &|bytes| {
            bytes[field.clone()].copy_from_slice(&version.to_le_bytes())
        });
        add(format!("version {version} with a right checksum"), &|bytes| {
            forge(bytes, copy, |page| page[8..10].copy_from_slice(&version.to_le_bytes()));
        });
    }
    add("1048640 pages in a block, with a right checksum".into(), &|bytes| {
        forge(bytes, copy, |page| page[14..18].copy_from_slice(&0x0010_0040u32.to_le_bytes()));
    });
    add("no magic, with a right checksum".into(), &|bytes| {
        forge(bytes, copy, |page| page[..8].fill(0x20))
    });
    all
}

/// Mounts for reading in every way, and checks the files.
fn mounts_in_every_way(open: impl Fn(Access) -> Image, what: &str) {
    let image = open(Access::ReadOnly);
    let mut ram = memory(&image);
    let image = CleanReader::mount(image, &mut ram)
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .unmount();
    drop(Reader::mount(image, &mut ram).unwrap_or_else(|error| panic!("{what}: {error}")));
    verify(open(Access::ReadOnly), Access::ReadOnly);
}

/// No tool opened an image with one bad superblock: "never formatted", "format version 20 … or
/// format it anew", "pages_per_block is 1048640". The other copy was whole.
#[test]
fn either_copy_of_a_raw_image_is_enough_and_a_mend_makes_both_whole() {
    for shape in SHAPES {
        let whole = volume(&shape).bytes();
        // For large images a part of the damages is enough.
        let step = if whole.len() < 1 << 20 { 1 } else { 7 };
        for (place, copy) in copies(&shape).iter().enumerate() {
            for (name, bytes) in damages(&whole, copy).into_iter().step_by(step) {
                let what = format!("{shape:?}, copy {place}: {name}");
                let scratch = Scratch::with(&bytes);
                let open = |access| {
                    Image::open(&scratch, access).unwrap_or_else(|error| panic!("{what}: {error}"))
                };
                assert_eq!(open(Access::ReadOnly).shape(), shape, "{what}");
                mounts_in_every_way(open, &what);
                let mut image = open(Access::ReadWrite);
                let found = superblocks::look(&mut image).expect("a whole copy");
                assert_eq!(found, Superblocks { second: 1, damaged: Some(place as u32) }, "{what}");
                let said = superblocks::describe(&found).expect("damage");
                assert!(
                    said.starts_with(&format!("the superblock in block {place} is damaged")),
                    "{said}"
                );
                superblocks::mend(&mut image, found)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(
                    superblocks::look(&mut image),
                    Ok(Superblocks { second: 1, damaged: None }),
                    "{what}"
                );
                drop(image);
                assert!(scratch.bytes() == whole, "{what}: the image is as it was");
                verify(Image::open(&scratch, Access::ReadWrite).expect("open"), Access::ReadWrite);
            }
        }
    }
}

#[test]
fn a_mend_that_a_power_cut_ends_leaves_the_other_copy() {
    let whole = volume(&NOR).bytes();
    for (place, block_bytes) in [(0usize, 4096usize), (1, 4096)] {
        // The block is erased, and a part of the page is programmed.
        for programmed in (0..256).step_by(16) {
            let mut bytes = whole.clone();
            let begin = place * block_bytes;
            let copy = &copies(&NOR)[place];
            bytes[begin..begin + block_bytes].fill(0xFF);
            let page = copy.page.start..copy.page.start + programmed;
            bytes[page.clone()].copy_from_slice(&whole[page]);
            let scratch = Scratch::with(&bytes);
            let mut image = Image::open(&scratch, Access::ReadWrite).expect("the other copy");
            let found = superblocks::look(&mut image).expect("the other copy");
            superblocks::mend(&mut image, found).expect("mend");
            drop(image);
            assert!(scratch.bytes() == whole);
        }
    }
}

#[test]
fn a_volume_without_a_whole_copy_is_refused_and_nothing_says_that_it_may_be_formatted() {
    for shape in SHAPES {
        let whole = volume(&shape).bytes();
        let [first, second] = copies(&shape);
        let step = if whole.len() < 1 << 20 { 1 } else { 7 };
        for (name, mut bytes) in damages(&whole, &first).into_iter().step_by(step) {
            bytes[second.page.start] ^= 1;
            let scratch = Scratch::with(&bytes);
            let error = Image::open(&scratch, Access::ReadOnly)
                .err()
                .unwrap_or_else(|| panic!("{shape:?}: {name}"));
            let is_version = matches!(error, ImageError::Version { .. });
            assert!(
                !error.to_string().contains("format the volume again")
                    || (is_version && name.ends_with("right checksum")),
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn blocks_that_are_marked_bad_are_passed_over_to_the_second_copy() {
    let shape = SHAPES[1];
    let Shape::Nand { geometry, spare_bytes } = shape else { panic!("NAND") };
    let scratch = Scratch::new();
    let mut image = Image::create(&scratch, &shape).expect("create");
    for block in [1, 2] {
        image.mark_bad(block).expect("mark");
    }
    drop(crate::common::fill(format(image)));
    let stride = (geometry.page_bytes + spare_bytes) as usize;
    for place in [0, 3] {
        let mut bytes = scratch.bytes();
        bytes[place * geometry.pages_per_block as usize * stride] ^= 1;
        let damaged = Scratch::with(&bytes);
        let mut image = Image::open(&damaged, Access::ReadWrite)
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        let found = superblocks::look(&mut image).expect("a whole copy");
        assert_eq!(found, Superblocks { second: 3, damaged: Some(place as u32) });
        superblocks::mend(&mut image, found).expect("mend");
        drop(image);
        assert!(damaged.bytes() == scratch.bytes());
    }
}

/// Makes a card of 32 MiB in a file.
fn card(layout: SectorLayout, makes_disk: bool) -> Scratch {
    let scratch = Scratch::new();
    let file =
        block::create(&scratch, u64::from(layout.sectors) * SECTOR_BYTES as u64).expect("create");
    let pages = SectorPages::new(file, layout).expect("room");
    if makes_disk {
        let config = Config { files_max: 0, ..Config::for_sectors(&layout) };
        let mut ram = vec![0; config.memory_bytes(&layout.geometry())];
        drop(Disk::format(pages, &config, &mut ram).expect("format"));
    } else {
        drop(crate::common::fill(format(pages)));
    }
    scratch
}

/// Returns three ranges of a block: its headers, its first tag and page, and all of these.
fn ranges(layout: &SectorLayout, block: u32) -> [std::ops::Range<usize>; 3] {
    let begin = (block * layout.block_sectors) as usize * SECTOR_BYTES;
    let headers = 2 * SECTOR_BYTES;
    let first_page = (layout.page_bytes as usize + SECTOR_BYTES) * 2 + headers;
    [begin..begin + headers, begin + headers..begin + first_page, begin..begin + first_page]
}

/// No tool opened a card whose first sectors were overwritten, as a partition table does.
#[test]
fn either_copy_of_a_card_is_enough_though_the_headers_of_its_block_are_lost() {
    for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
        let layout = SectorLayout { tags, ..SectorLayout::for_device(1 << 16, 256 << 10) };
        let whole = card(layout, false).bytes();
        for block in [0, 1] {
            for (part, range) in ranges(&layout, block).into_iter().enumerate() {
                // The next change of the second copy writes the headers of its block anew.
                for fill in [0xFF, 0, 0x55].into_iter().filter(|_| block == 0 || part > 0) {
                    let what = format!("{tags:?}, block {block}, part {part}, {fill:#x}");
                    let mut bytes = whole.clone();
                    bytes[range.clone()].fill(fill);
                    if bytes == whole {
                        continue;
                    }
                    let scratch = Scratch::with(&bytes);
                    assert!(block::holds_volume(&scratch), "{what}");
                    let open = |access| {
                        block::open(&scratch, access)
                            .unwrap_or_else(|error| panic!("{what}: {error}"))
                    };
                    assert_eq!(*open(Access::ReadOnly).layout(), layout, "{what}");
                    verify(open(Access::ReadOnly), Access::ReadOnly);
                    let mut pages = open(Access::ReadWrite);
                    let found = block::superblocks(&mut pages).expect("a whole copy");
                    assert_eq!(found, Superblocks { second: 1, damaged: Some(block) }, "{what}");
                    superblocks::mend(&mut pages, found)
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                    let healed = block::superblocks(&mut pages).expect("both");
                    assert_eq!(healed.damaged, None, "{what}");
                    assert_eq!(
                        SectorLayout::find(pages.device_mut(), 0),
                        Ok(Some(layout)),
                        "{what}"
                    );
                    verify(pages, Access::ReadWrite);
                }
            }
        }
    }
}

#[test]
fn a_lost_first_block_does_not_bring_an_earlier_volume_back() {
    let earlier = SectorLayout::for_device(1 << 16, 64 << 10);
    let scratch = card(earlier, false);
    let before = scratch.bytes();
    let renewed = SectorLayout { volume: 2, ..SectorLayout::for_device(1 << 16, 1 << 20) };
    // No sector of the earlier volume is discarded, as on a card that ignores discards.
    let after = card(renewed, true).bytes();
    let sectors = before.chunks_exact(SECTOR_BYTES).zip(after.chunks_exact(SECTOR_BYTES));
    let is_new = |sector: &[u8]| sector.iter().any(|&byte| byte != 0);
    let mut bytes: Vec<u8> =
        sectors.flat_map(|(old, new)| if is_new(new) { new } else { old }).copied().collect();
    bytes[..8 * SECTOR_BYTES].fill(0);
    std::fs::write(&scratch, &bytes).expect("write");
    assert_eq!(block::open(&scratch, Access::ReadOnly).expect("open").layout().volume, 2);
}

#[test]
fn files_without_a_volume_are_searched_and_refused() {
    let noise: Vec<u8> =
        (0..1u32 << 20).map(|at| (at.wrapping_mul(at ^ 0x9E37) >> 7) as u8).collect();
    for bytes in [noise, vec![0; 1 << 20], vec![0xFF; 1 << 20], b"SteadyBkSteadyFS".repeat(10_000)]
    {
        let scratch = Scratch::with(&bytes);
        assert!(!block::holds_volume(&scratch) && Image::open(&scratch, Access::ReadOnly).is_err());
    }
}

#[test]
fn a_copy_for_another_medium_or_of_another_version_is_named_where_there_is_no_other() {
    let whole = volume(&NOR).bytes();
    let [first, second] = copies(&NOR);
    let mut bytes = whole.clone();
    for copy in [&first, &second] {
        forge(&mut bytes, copy, |page| page[8..10].copy_from_slice(&NEXT_VERSION.to_le_bytes()));
    }
    let scratch = Scratch::with(&bytes);
    assert!(matches!(
        Image::open(&scratch, Access::ReadOnly),
        Err(ImageError::Version { found: NEXT_VERSION, .. })
    ));
    let mut image = Image::open_as(&scratch, Access::ReadOnly, &NOR).expect("open");
    assert_eq!(superblocks::look(&mut image), Err(MountError::Version { on_flash: NEXT_VERSION }));
    let mut ram = memory(&image);
    assert_eq!(
        FileSystem::mount(image, Access::ReadOnly, &mut ram).err(),
        Some(MountError::Version { on_flash: NEXT_VERSION })
    );
    let other = Geometry { block_count: 32, ..NOR.geometry().unwrap() };
    let mut bytes = whole;
    for copy in [&first, &second] {
        forge(&mut bytes, copy, |page| page[18..22].copy_from_slice(&32u32.to_le_bytes()));
    }
    let scratch = Scratch::with(&bytes);
    let mut image = Image::open_as(&scratch, Access::ReadOnly, &NOR).expect("open");
    let error = superblocks::look(&mut image).unwrap_err();
    assert_eq!(
        error,
        MountError::GeometryMismatch { on_flash: other, device: NOR.geometry().unwrap() }
    );
}

#[test]
fn a_tag_belongs_to_its_page_alone() {
    let bytes = volume(&NOR).bytes();
    let [first, _] = copies(&NOR);
    let tag: [u8; TAG_BYTES] = bytes[first.tag..first.tag + TAG_BYTES].try_into().unwrap();
    assert!(Tag::is_of(&tag, &bytes[first.page.clone()]));
    assert!(
        !Tag::is_of(&tag, &bytes[first.page.start..first.page.end - 1])
            && !Tag::is_of(&[0xFF; TAG_BYTES], &[0xFF; 256])
    );
}
