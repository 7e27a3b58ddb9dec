//! Sealed images: each bit counts, and the trees are equal to those of `veritysetup`.

use sha2::{Digest, Sha256};
use std::fs;
use std::process::Command;
use steadyfs_convert::verity::{self, Error, Sealed, Settings, Trusted};
use steadyfs_rom::verity::format::{FormatError, Superblock};

const SEED: [u8; 32] = [0x42; 32];

/// Returns `bytes` bytes without two equal blocks.
fn image(bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(bytes as u64);
    (0..bytes).map(|_| random.u8(..)).collect()
}

fn seal(bytes: usize, block_bytes: u32, salt: &[u8], key: Option<[u8; 32]>) -> Sealed {
    verity::append(image(bytes), &Settings { block_bytes, salt: salt.to_vec(), key })
        .expect("an image that can be sealed")
}

fn trusted(sealed: &Sealed) -> Trusted {
    sealed.public_key.map_or(Trusted::Root(sealed.root_hash), Trusted::Key)
}

/// Returns shapes with no level, one, two and three, with full and with almost empty blocks.
fn shapes() -> Vec<(usize, u32, Vec<u8>)> {
    let mut shapes = Vec::new();
    for block_bytes in [512u32, 1024, 2048, 4096] {
        let per_block = block_bytes as usize / 32;
        for blocks in [1, 2, per_block, per_block + 1, 2 * per_block + 3] {
            shapes.push((
                blocks * block_bytes as usize - 5,
                block_bytes,
                vec![blocks as u8; blocks % 257],
            ));
        }
    }
    shapes.push((512 * 257, 512, vec![1; 256]));
    shapes.push((512 * 16 * 16, 512, Vec::new()));
    shapes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the levels, leaves first, and the root hash, computed directly from the definition of
/// the format.
fn plain_tree(data: &[u8], block_bytes: usize, salt: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let digest = |block: &[u8]| Sha256::digest([salt, block].concat()).to_vec();
    let mut levels = vec![];
    let mut below = data.to_vec();
    while below.len() > block_bytes {
        let mut level: Vec<u8> = below.chunks(block_bytes).flat_map(digest).collect();
        level.resize(level.len().next_multiple_of(block_bytes), 0);
        levels.push(level.clone());
        below = level;
    }
    (levels, digest(&below))
}

#[test]
fn a_sealed_image_is_the_data_a_superblock_a_tree_and_a_record() {
    for (bytes, block_bytes, salt) in shapes() {
        let sealed = seal(bytes, block_bytes, &salt, None);
        let offset = bytes.next_multiple_of(block_bytes as usize);
        assert_eq!(sealed.hash_offset, offset as u64);
        assert_eq!(sealed.bytes[..bytes], image(bytes));
        let (levels, root_hash) = plain_tree(&sealed.bytes[..offset], block_bytes as usize, &salt);
        assert_eq!(hex(&sealed.root_hash), hex(&root_hash));
        let tree = levels.into_iter().rev().flatten().collect::<Vec<u8>>();
        let begin = offset + block_bytes as usize;
        assert!(
            sealed.bytes[begin..].starts_with(&tree),
            "{bytes} bytes in blocks of {block_bytes}"
        );
        assert_eq!(sealed.bytes.len(), begin + tree.len() + block_bytes as usize);
        assert_eq!(&sealed.bytes[begin + tree.len()..][..8], b"SteadySG");
        assert_eq!(verity::verify(&sealed.bytes, sealed.hash_offset, trusted(&sealed)), Ok(()));
    }
}

#[test]
fn a_known_image_has_a_known_root_hash() {
    let data: Vec<u8> = (0..200u8).flat_map(|block| [block; 4096]).collect();
    let settings = Settings { salt: vec![0x01, 0x02, 0xFE], ..Settings::default() };
    let sealed = verity::append(data, &settings).expect("an image");
    // As veritysetup 2.6.1 computes it.
    assert_eq!(
        hex(&sealed.root_hash),
        "480265c936dbb28f91115e23b30b07e05d7d06016791129196e473ed210f0e11"
    );
}

#[test]
fn the_same_image_is_sealed_to_the_same_bytes() {
    for key in [None, Some(SEED)] {
        assert_eq!(seal(10_000, 512, b"salt", key), seal(10_000, 512, b"salt", key));
    }
}

#[test]
fn each_bit_of_an_unsigned_image_is_checked_by_its_root_hash() {
    let sealed = seal(512 * 18 - 9, 512, b"salt", None);
    for bit in 0..sealed.bytes.len() * 8 {
        let mut bytes = sealed.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(verity::verify(&bytes, sealed.hash_offset, trusted(&sealed)).is_err(), "bit {bit}");
    }
}

#[test]
fn random_flips_in_a_signed_image_are_found_by_its_key() {
    let mut random = fastrand::Rng::with_seed(3);
    for (bytes, block_bytes) in [(512 * 18 - 9, 512), (4096 * 3, 4096), (700, 1024)] {
        let sealed = seal(bytes, block_bytes, b"salt", Some(SEED));
        let behind_data = sealed.bytes.len() - sealed.hash_offset as usize;
        for round in 0..10_000 {
            let mut bytes = sealed.bytes.clone();
            let at = match round % 3 {
                0 => random.usize(..bytes.len()),
                1 => sealed.hash_offset as usize + random.usize(..behind_data),
                _ => bytes.len() - block_bytes as usize + random.usize(..120),
            };
            bytes[at] ^= 1 << random.u32(0..8);
            assert!(
                verity::verify(&bytes, sealed.hash_offset, trusted(&sealed)).is_err(),
                "byte {at}"
            );
        }
    }
}

#[test]
fn the_first_block_that_does_not_match_is_named() {
    let sealed = seal(512 * 40, 512, b"", None);
    let damaged = |places: &[usize]| {
        let mut bytes = sealed.bytes.clone();
        places.iter().for_each(|&at| bytes[at] ^= 1);
        verity::verify(&bytes, sealed.hash_offset, trusted(&sealed))
    };
    // The blocks are 40 data blocks, the superblock, the top block, three leaves.
    assert_eq!(
        damaged(&[512 * 39 + 7, 512 * 17]),
        Err(Error::DataBlock { index: 17, offset: 512 * 17 })
    );
    assert_eq!(
        damaged(&[512 * 17, 512 * 43 + 1]),
        Err(Error::HashBlock { level: 0, index: 1, offset: 512 * 43 })
    );
    assert_eq!(
        damaged(&[512 * 43, 512 * 41 + 511]),
        Err(Error::HashBlock { level: 1, index: 0, offset: 512 * 41 })
    );
    assert_eq!(
        damaged(&[512 * 40 + 511]),
        Err(Error::Superblock { offset: 512 * 40, source: FormatError::NotZero { at: 511 } })
    );
    assert_eq!(
        damaged(&[512 * 45 + 511]),
        Err(Error::Record { offset: 512 * 45, source: FormatError::NotZero { at: 511 } })
    );
}

#[test]
fn only_what_is_trusted_is_accepted() {
    let (signed, unsigned) = (seal(9000, 4096, b"", Some(SEED)), seal(9000, 4096, b"", None));
    let verify =
        |sealed: &Sealed, trusted| verity::verify(&sealed.bytes, sealed.hash_offset, trusted);
    let key = verity::public_key(&SEED).expect("a key");
    let other_key = verity::public_key(&[1; 32]).expect("a key");
    assert_eq!(signed.public_key, Some(key));
    assert_eq!(verify(&signed, Trusted::Key(key)), Ok(()));
    assert_eq!(verify(&signed, Trusted::Root(unsigned.root_hash)), Ok(()));
    assert_eq!(verify(&signed, Trusted::Key(other_key)), Err(Error::Signature));
    assert_eq!(verify(&signed, Trusted::Key([0; 32])), Err(Error::Key));
    assert_eq!(verify(&unsigned, Trusted::Key(key)), Err(Error::NotSigned));
    let expected = [9; 32];
    assert_eq!(
        verify(&unsigned, Trusted::Root(expected)),
        Err(Error::RootHash { expected, found: unsigned.root_hash })
    );
}

#[test]
fn a_superblock_and_a_record_of_another_image_are_refused() {
    let (sealed, other) =
        (seal(4096 * 3, 4096, b"", Some(SEED)), seal(4096 * 3 - 1, 4096, b"", Some(SEED)));
    let offset = sealed.hash_offset as usize;
    let mut with_superblock = sealed.bytes.clone();
    with_superblock[offset..offset + 4096].copy_from_slice(&other.bytes[offset..offset + 4096]);
    assert_eq!(
        verity::verify(&with_superblock, sealed.hash_offset, trusted(&sealed)),
        Err(Error::Signature)
    );
    assert_eq!(
        verity::verify(&with_superblock, sealed.hash_offset, Trusted::Root(sealed.root_hash)),
        Err(Error::RecordOfAnother)
    );
    let mut with_all = other.bytes.clone();
    with_all[..offset].copy_from_slice(&sealed.bytes[..offset]);
    assert_eq!(
        verity::verify(&with_all, sealed.hash_offset, trusted(&sealed)),
        Err(Error::DataBlock { index: 0, offset: 0 })
    );
}

#[test]
fn hash_blocks_do_not_pass_for_data() {
    let sealed = seal(4096 * 3, 4096, b"", None);
    let top = sealed.bytes[4096 * 4..4096 * 5].to_vec();
    let forged = verity::append(top, &Settings::default()).expect("an image");
    assert_eq!(forged.root_hash, sealed.root_hash);
    assert!(
        verity::verify(&forged.bytes, sealed.hash_offset, Trusted::Root(sealed.root_hash)).is_err()
    );
}

#[test]
fn images_of_any_bytes_are_refused_without_panic() {
    let sealed = seal(512 * 3, 512, b"salt", None);
    let verify = |bytes: &[u8], offset| verity::verify(bytes, offset, trusted(&sealed));
    for bytes in 0..sealed.bytes.len() {
        assert!(verify(&sealed.bytes[..bytes], sealed.hash_offset).is_err());
        assert!(
            verify(&sealed.bytes, bytes as u64 + u64::from(bytes as u64 >= sealed.hash_offset))
                .is_err()
        );
    }
    let longer = [&sealed.bytes[..], &[0]].concat();
    assert_eq!(
        verify(&longer, sealed.hash_offset),
        Err(Error::Length { expected: 512 * 6, found: 512 * 6 + 1 })
    );
    for offset in [u64::MAX, u64::MAX - 511, 1 << 63] {
        assert!(verify(&sealed.bytes, offset).is_err());
    }
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..20_000 {
        let mut bytes = sealed.bytes.clone();
        for _ in 0..random.usize(1..6) {
            let at = sealed.hash_offset as usize + random.usize(8..96);
            bytes[at] = random.u8(..);
        }
        let _ = verify(&bytes, sealed.hash_offset);
    }
}

#[test]
fn settings_of_no_tree_are_refused() {
    let append = |bytes: &[u8], settings| verity::append(bytes.to_vec(), &settings);
    assert_eq!(append(b"", Settings::default()), Err(Error::Empty));
    for block_bytes in [0, 1, 256, 1000, 8192] {
        let error =
            Error::Settings(FormatError::BlockBytes { data: block_bytes, hash: block_bytes });
        assert_eq!(append(b"x", Settings { block_bytes, ..Settings::default() }), Err(error));
    }
    let long = Settings { salt: vec![0; 257], ..Settings::default() };
    assert_eq!(append(b"x", long), Err(Error::Settings(FormatError::SaltBytes { found: 257 })));
    assert_eq!(
        append(b"x", Settings { key: Some([0; 32]), ..Settings::default() }),
        Err(Error::Key)
    );
    assert!(
        !format!("{:?}", Settings { key: Some([77; 32]), ..Settings::default() }).contains("77")
    );
}

/// Runs `veritysetup`; returns `None` if it is not installed.
fn veritysetup(arguments: &[String]) -> Option<String> {
    let Ok(output) = Command::new("veritysetup").args(arguments).output() else {
        println!("veritysetup is missing: not compared");
        return None;
    };
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}");
    Some(text)
}

fn uuid(superblock: &Superblock) -> String {
    let digits = hex(&superblock.uuid);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[test]
fn trees_are_those_of_veritysetup_and_verified_by_it() {
    let work = tempfile::tempdir().expect("a directory");
    let path = |name: &str| work.path().join(name).display().to_string();
    for (bytes, block_bytes, salt) in shapes() {
        let sealed = seal(bytes, block_bytes, &salt, Some(SEED));
        let offset = sealed.hash_offset as usize;
        fs::write(path("sealed"), &sealed.bytes).expect("a file");
        fs::write(path("data"), &sealed.bytes[..offset]).expect("a file");
        let superblock =
            Superblock::parse(&sealed.bytes[offset..offset + 512]).expect("our superblock");
        let salt = if salt.is_empty() { "-".to_string() } else { hex(&salt) };
        let arguments = [
            "format".to_string(),
            path("data"),
            path("hash"),
            format!("--data-block-size={block_bytes}"),
            format!("--hash-block-size={block_bytes}"),
            format!("--salt={salt}"),
            format!("--uuid={}", uuid(&superblock)),
        ];
        let _ = fs::remove_file(path("hash"));
        let Some(text) = veritysetup(&arguments) else { return };
        assert!(
            text.contains(&hex(&sealed.root_hash)),
            "{bytes} bytes in blocks of {block_bytes}: {text}"
        );
        let theirs = fs::read(path("hash")).expect("a hash file");
        let ours = &sealed.bytes[offset..sealed.bytes.len() - block_bytes as usize];
        assert!(ours == theirs, "{bytes} bytes in blocks of {block_bytes}: another tree");
        let at = format!("--hash-offset={offset}");
        veritysetup(&[
            "verify".into(),
            path("sealed"),
            path("sealed"),
            hex(&sealed.root_hash),
            at.clone(),
        ]);
        let dump = veritysetup(&["dump".into(), path("sealed"), at]).unwrap_or_default();
        assert!(dump.contains(&uuid(&superblock)) && dump.contains("sha256"), "{dump}");
    }
}
