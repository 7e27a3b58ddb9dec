//! Damaged read-only images, damaged images of other file systems, and blocks of their
//! compressors.
//!
//! ```text
//! input:  which image (1)   changes (1), each how (1), where (2), what (1 …)   script …
//! ```

use crate::choices::Choices;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use steadyfs_convert::{Inode, Kind, Limit, Tree, cramfs, jffs2, squashfs, ubi, ubifs, verity};
use steadyfs_rom::squash::{Cursor, Needs, Node};
use steadyfs_rom::{Cramfs, Error, InRam, Source, Squash, Trusted, Verified, lzo};

/// Most changes to one image.
const CHANGES_MAX: usize = 6;
/// The limit of a tree that is read from a damaged image.
const LIMIT: Limit = Limit { bytes: 1 << 20, inodes: 400 };
/// Depth of nested directories that are listed.
const DEPTH_MAX: usize = 4;
/// Most entries of a directory that are read.
const ENTRIES_MAX: usize = 40;
/// Numbers at which something begins, ends, or overflows.
const NUMBERS: [u32; 9] =
    [0, 1, 0x7F, 0x7FFF, 0xFFFF, 0x100_0000, 0x7FFF_FFFF, 0xFFFF_FFFE, u32::MAX];

/// Small squashfs images: with LZ4 and plain metadata, with LZ4, and with deflate and larger
/// blocks.
static SQUASH: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
    let lz4 = squashfs::Compressor::Lz4 { high: true };
    let of = |compressor, block_bytes, plain_metadata| {
        let settings = squashfs::Settings {
            compressor,
            block_bytes,
            plain_metadata,
            pad_bytes: 1,
            ..squashfs::Settings::default()
        };
        squashfs::write(&tree(), &settings).expect("an image")
    };
    [
        of(lz4, 4096, true),
        of(lz4, 4096, false),
        of(squashfs::Compressor::Gzip { level: 9 }, 16_384, true),
    ]
});

/// A small cramfs image.
static CRAMFS: LazyLock<Vec<u8>> =
    LazyLock::new(|| cramfs::write(&tree(), &cramfs::Settings::default()).expect("an image").image);

/// Images that other tools made: JFFS2 and UBIFS.
static OTHERS: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let ubifs = zstd::bulk::decompress(include_bytes!("../images/small.ubifs.zst"), 1 << 20)
        .expect("an image");
    [include_bytes!("../images/small.jffs2").to_vec(), ubifs]
});

fn tree() -> Tree {
    let mut tree = Tree::new(Limit::default());
    let file = |content: Vec<u8>| Inode::new(Kind::File(content), 0o644);
    let etc =
        tree.insert(0, b"etc", Inode::new(Kind::Directory(BTreeMap::new()), 0o755)).expect("room");
    for index in 0..30 {
        tree.insert(
            etc,
            format!("setting-{index}").as_bytes(),
            file(format!("{index} is on").into_bytes()),
        )
        .expect("room");
    }
    tree.insert(0, b"large", file((0..20_000u32).map(|at| (at / 3) as u8).collect()))
        .expect("room");
    tree.insert(
        0,
        b"noise",
        file((0..9_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()),
    )
    .expect("room");
    let mut sparse = vec![0; 30_000];
    sparse[17_000] = 1;
    let sparse = tree.insert(0, b"sparse", file(sparse)).expect("room");
    tree.link(etc, b"zero", sparse).expect("room");
    tree.insert(0, b"link", Inode::new(Kind::Symlink(b"etc/setting-3".to_vec()), 0o777))
        .expect("room");
    tree.insert(
        0,
        b"console",
        Inode::new(Kind::Device { is_block: false, major: 5, minor: 1 }, 0o600),
    )
    .expect("room");
    tree
}

/// Returns a damaged copy of an image.
fn damaged(image: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut image = image.to_vec();
    for _ in 0..choices.below(CHANGES_MAX) {
        let how = choices.byte();
        // Superblocks and tables are small, and get as many changes as all other bytes.
        let at = match how & 3 {
            0 => choices.below(128),
            1 => image.len() - 1 - choices.word() as usize % image.len().min(2048),
            _ => choices.word() as usize % image.len(),
        };
        let at = at.min(image.len() - 1);
        let behind = &mut image[at..];
        match how >> 2 & 7 {
            0 => behind[0] = choices.byte(),
            1 => behind[0] ^= 1 << (choices.byte() & 7),
            2 | 3 => {
                let number = choices.of(&NUMBERS).to_le_bytes();
                let count = behind.len().min(if how & 0x80 == 0 { 4 } else { 2 });
                behind[..count].copy_from_slice(&number[..count]);
            }
            4 => image.truncate(at + 1),
            5 => {
                let count = behind.len().min(16);
                let from = choices.word() as usize % image.len();
                let from = from.min(image.len() - count);
                image.copy_within(from..from + count, at);
            }
            _ => {
                let bytes = choices.bytes(6);
                let count = bytes.len().min(behind.len());
                behind[..count].copy_from_slice(&bytes[..count]);
            }
        }
    }
    image
}

/// Damages a squashfs image, and lists and reads it as a device does.
///
/// # Panics
/// If a read returns more than it may.
pub fn squash(input: &[u8]) {
    let mut choices = Choices::new(input);
    let image = choices.of(&*SQUASH);
    let image = damaged(image, &mut choices);
    look(InRam::new(&image), choices.byte());
}

fn look<S: Source>(mut source: S, how: u8) {
    let Ok(needs) = Needs::of(&mut source) else { return };
    let mut memory = vec![0; if how & 1 == 0 { needs.least } else { needs.both }];
    let Ok(mut rom) = Squash::mount(source, &mut memory) else { return };
    let Ok(root) = rom.root() else { return };
    descend(&mut rom, &root, 0);
    for path in ["etc/setting-7", "sparse", "link", "large", "etc/none"] {
        if let Ok(node) = rom.find(path) {
            read(&mut rom, &node);
        }
    }
}

fn descend<S: Source>(rom: &mut Squash<'_, S>, node: &Node, depth: usize) {
    let mut cursor = Cursor::default();
    for _ in 0..ENTRIES_MAX {
        let Ok(Some(entry)) = rom.list(node, &mut cursor) else { break };
        assert!(entry.name().len() <= 256 && !entry.name().is_empty());
        let Ok(below) = rom.entry_node(&entry) else { continue };
        read(rom, &below);
        if depth < DEPTH_MAX {
            descend(rom, &below, depth + 1);
        }
    }
}

fn read<S: Source>(rom: &mut Squash<'_, S>, node: &Node) {
    let mut data = [0; 700];
    let _ = (rom.owner(node), rom.read_link(node, &mut data));
    let mut attributes = Default::default();
    while let Ok(Some(attribute)) = rom.attribute(node, &mut attributes) {
        let _ = rom.attribute_value(&attribute, &mut data);
    }
    let Ok(mut file) = rom.open_node(node) else { return };
    for offset in [0, 4000, file.size() / 2, file.size().saturating_sub(9)] {
        if let Ok(count) = rom.read(&mut file, offset, &mut data) {
            assert_eq!(count as u64, file.size().saturating_sub(offset).min(700));
        }
    }
}

/// Damages a cramfs image, and reads it as a device does.
pub fn cram(input: &[u8]) {
    let mut choices = Choices::new(input);
    let image = damaged(&CRAMFS, &mut choices);
    let mut memory = vec![0; Cramfs::<InRam<'_>>::MEMORY_BYTES];
    let Ok(mut rom) = Cramfs::mount(InRam::new(&image), &mut memory) else { return };
    let mut data = [0; 700];
    let mut waiting = vec![rom.root()];
    for _ in 0..200 {
        let Some(node) = waiting.pop() else { break };
        let _ = (
            rom.read(&node, 3, &mut data),
            rom.read(&node, 4090, &mut data),
            rom.read_link(&node, &mut data),
        );
        let mut cursor = steadyfs_rom::cramfs::Cursor::default();
        while let Ok(Some(entry)) = rom.list(&node, &mut cursor) {
            if waiting.len() >= ENTRIES_MAX {
                break;
            }
            waiting.push(entry.node);
        }
    }
}

/// Damages an image of any format, and reads it to a tree within a limit.
///
/// # Panics
/// If the tree holds more than it may.
pub fn convert(input: &[u8]) {
    let mut choices = Choices::new(input);
    let which = choices.below(4);
    let image = match which {
        0 | 1 => &OTHERS[which],
        2 => &CRAMFS,
        _ => &SQUASH[choices.below(SQUASH.len())],
    };
    let image = damaged(image, &mut choices);
    let tree = match which {
        0 => jffs2::read(&image, LIMIT).ok(),
        1 => ubifs::read(&image, LIMIT).ok(),
        2 => cramfs::read(&image, LIMIT).ok(),
        _ => squashfs::read(&image, LIMIT).ok(),
    };
    let _ = ubi::volumes(&image);
    if let Some(tree) = tree {
        assert!(tree.inodes().len() <= LIMIT.inodes);
        let bytes: usize = tree
            .inodes()
            .iter()
            .map(|inode| if let Kind::File(content) = &inode.kind { content.len() } else { 0 })
            .sum();
        assert!(bytes as u64 <= LIMIT.bytes);
        assert!(tree.walk().len() <= LIMIT.inodes);
    }
}

/// Damages a signed image. Any data that a read returns must be the signed data.
///
/// # Panics
/// If a read returns bytes that were not signed.
pub fn sealed(input: &[u8]) {
    static SEALED: LazyLock<(verity::Sealed, [u8; 32])> = LazyLock::new(|| {
        let settings = verity::Settings {
            block_bytes: 512,
            key: Some([9; 32]),
            ..verity::Settings::default()
        };
        (
            verity::append(SQUASH[0].clone(), &settings).expect("an image"),
            verity::public_key(&[9; 32]).expect("a key"),
        )
    });
    let mut choices = Choices::new(input);
    let image = damaged(&SEALED.0.bytes, &mut choices);
    let mut memory = [0; 512 * 4];
    let Ok(mut source) = Verified::open(InRam::new(&image), Trusted::Key(SEALED.1), &mut memory)
    else {
        return;
    };
    let mut data = [0; 900];
    for _ in 0..4 {
        let at = u64::from(choices.word()) % source.bytes();
        let count = data.len().min((source.bytes() - at) as usize);
        match source.read(at, &mut data[..count]) {
            Ok(()) => assert_eq!(data[..count], SEALED.0.bytes[at as usize..at as usize + count]),
            Err(Error::NotAuthentic(_) | Error::End(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    look(source, choices.byte());
}

/// Decodes a block of LZO, and checks that it makes no byte beyond the room.
pub fn lzo_block(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut room = vec![0; choices.below(5000)];
    if let Some(made) = lzo::decode(choices.bytes(4000), &mut room) {
        assert!(made <= room.len());
    }
}
