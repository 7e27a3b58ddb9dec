//! Images of cramfs and the tools of util-linux: images of the tools are read, and the tools unpack
//! our images.
//!
//! If a tool is missing, a test prints this and passes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use steadyfs_convert::cramfs::{self, Settings};
use steadyfs_convert::{Inode, Kind, Limit, Tree};

/// Each path with its inode. Directories have no entries, because their entries are paths too.
type Flat = BTreeMap<Vec<u8>, Inode>;

fn empty_directory() -> Kind {
    Kind::Directory(BTreeMap::new())
}

fn flat(tree: &Tree) -> Flat {
    let own = |index: usize| {
        let mut inode = tree.inode(index).clone();
        if inode.is_directory() {
            inode.kind = empty_directory();
        }
        inode
    };
    tree.walk()
        .into_iter()
        .chain([(b"/".to_vec(), 0)])
        .map(|(path, index)| (path, own(index)))
        .collect()
}

/// Runs a tool; returns `None` if it is not installed.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => {
            let text =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.success(), "{program} {arguments:?}: {text}");
            Some(text)
        }
        Err(_) => {
            println!("{program} is missing: not compared");
            None
        }
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Makes a random tree of all kinds. Only root may use devices and other owners.
fn random_tree(seed: u64, as_root: bool) -> Tree {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tree = Tree::new(Limit::default());
    let mut directories = vec![0];
    let mut contents: Vec<Vec<u8>> = vec![Vec::new()];
    for number in 0..random.usize(20..120) {
        let parent = directories[random.usize(..directories.len())];
        let kind = match random.u32(0..20) {
            0..5 => empty_directory(),
            5..8 => Kind::Symlink(
                format!("../{number}/{}", "t".repeat(random.usize(0..300))).into_bytes(),
            ),
            8 => Kind::Fifo,
            9 => Kind::Socket,
            10 if as_root => Kind::Device {
                is_block: random.bool(),
                major: random.u32(0..256),
                minor: random.u32(0..256),
            },
            11 => Kind::File(contents[random.usize(..contents.len())].clone()),
            _ => {
                contents.push(random_content(&mut random));
                Kind::File(contents[contents.len() - 1].clone())
            }
        };
        let is_directory = matches!(kind, Kind::Directory(_));
        let mode = match kind {
            Kind::Symlink(_) => 0o777,
            // Without 2000: such a directory passes its group on to files that are made in it.
            Kind::Directory(_) => [0o755, 0o1777, 0o700][random.usize(0..3)],
            _ => [0o644, 0o755, 0o600, 0o4755, 0o1777, 0o2750][random.usize(0..6)],
        };
        let mut inode = Inode::new(kind, mode);
        if as_root {
            (inode.uid, inode.gid) = (random.u32(0..65536), random.u32(0..256));
        }
        let index = tree.insert(parent, &random_name(&mut random, number), inode).expect("room");
        if is_directory {
            directories.push(index);
        }
    }
    tree
}

/// Makes names of all lengths, with spaces, beyond ASCII, and some that are not text. The number
/// makes each name unique.
fn random_name(random: &mut fastrand::Rng, number: usize) -> Vec<u8> {
    let mut name = match random.u32(0..5) {
        0 => "ärger ".as_bytes().to_vec(),
        1 => vec![0xFF, b' ', 0x80],
        2 => vec![b'n'; random.usize(1..60)],
        _ => Vec::new(),
    };
    name.extend(number.to_string().bytes());
    name
}

fn random_content(random: &mut fastrand::Rng) -> Vec<u8> {
    let bytes = match random.u32(0..4) {
        0 => random.usize(0..100),
        1 => 4096 * random.usize(1..4),
        2 => 4096 * random.usize(0..4) + random.usize(0..3),
        _ => random.usize(0..100_000),
    };
    let mut content = vec![0; bytes];
    for page in content.chunks_mut(4096) {
        match random.u32(0..4) {
            0 => {}
            1 => random.fill(page),
            _ => page.iter_mut().for_each(|byte| *byte = b"abcdefgh \n"[random.usize(0..10)]),
        }
    }
    content
}

/// Makes a tree on the disk.
fn put(tree: &Tree, root: &Path, as_root: bool) {
    for (path, index) in tree.walk() {
        let at = on_disk(root, &path);
        let inode = tree.inode(index);
        match &inode.kind {
            Kind::Directory(_) => fs::create_dir(&at).expect("a directory"),
            Kind::File(content) => fs::write(&at, content).expect("a file"),
            Kind::Symlink(target) => {
                symlink(std::ffi::OsStr::from_bytes(target), &at).expect("a link")
            }
            Kind::Socket => {
                drop(UnixListener::bind(&at).or_else(|_| bind_short(&at)).expect("a socket"))
            }
            Kind::Fifo => {
                assert!(Command::new("mkfifo").arg(&at).status().expect("mkfifo").success())
            }
            Kind::Device { is_block, major, minor } => {
                let numbers = [
                    if *is_block { "b" } else { "c" }.to_string(),
                    major.to_string(),
                    minor.to_string(),
                ];
                assert!(
                    Command::new("mknod").arg(&at).args(numbers).status().expect("mknod").success()
                );
            }
        }
        if as_root {
            lchown(&at, Some(inode.uid), Some(inode.gid)).expect("an owner");
        }
        if !matches!(inode.kind, Kind::Symlink(_)) {
            fs::set_permissions(&at, fs::Permissions::from_mode(inode.mode.into()))
                .expect("a mode");
        }
    }
}

/// Makes a socket with a path that is too long for an address: it is made elsewhere and moved.
fn bind_short(at: &Path) -> std::io::Result<UnixListener> {
    let directory = tempfile::tempdir()?;
    let listener = UnixListener::bind(directory.path().join("s"))?;
    fs::rename(directory.path().join("s"), at)?;
    Ok(listener)
}

fn on_disk(root: &Path, path: &[u8]) -> PathBuf {
    root.join(std::ffi::OsStr::from_bytes(&path[1..]))
}

/// Reads a tree from the disk.
fn get(root: &Path) -> Flat {
    let mut found = Flat::new();
    let mut waiting = vec![b"/".to_vec()];
    while let Some(path) = waiting.pop() {
        let at = on_disk(root, &path);
        let status = fs::symlink_metadata(&at).expect("status");
        let kind = status.file_type();
        let kind = if kind.is_dir() {
            let parent = if path == b"/" { Vec::new() } else { path.clone() };
            let names = fs::read_dir(&at)
                .expect("a directory")
                .map(|entry| entry.expect("an entry").file_name().into_vec());
            waiting.extend(names.map(|name| [&parent[..], b"/", &name].concat()));
            empty_directory()
        } else if kind.is_symlink() {
            Kind::Symlink(fs::read_link(&at).expect("a link").into_os_string().into_vec())
        } else if kind.is_fifo() {
            Kind::Fifo
        } else if kind.is_socket() {
            Kind::Socket
        } else if kind.is_block_device() || kind.is_char_device() {
            let numbers = status.rdev() as u32;
            Kind::Device {
                is_block: kind.is_block_device(),
                major: numbers >> 8 & 0xFFF,
                minor: (numbers & 0xFF) | (numbers >> 12 & 0xF00),
            }
        } else {
            Kind::File(fs::read(&at).expect("a file"))
        };
        let mut inode = Inode::new(kind, status.mode() as u16 & 0o7777);
        (inode.uid, inode.gid) = (status.uid() & 0xFFFF, status.gid() & 0xFF);
        found.insert(path, inode);
    }
    found
}

/// Compares trees, and names the paths that differ instead of printing all contents.
fn assert_same(found: &Flat, expected: &Flat, what: &str) {
    let differ = |path: &&Vec<u8>| found.get(*path) != expected.get(*path);
    let paths: Vec<_> = found
        .keys()
        .chain(expected.keys())
        .filter(differ)
        .map(|path| String::from_utf8_lossy(path))
        .collect();
    assert!(paths.is_empty(), "{what}: differs at {paths:?}");
}

/// Options with which the other tool makes an image.
const OPTIONS: [&[&str]; 7] = [
    &[],
    &["-z"],
    &["-N", "big"],
    &["-N", "big", "-z"],
    &["-N", "little", "-p"],
    &["-e", "7", "-n", "volume"],
    &["-N", "big", "-p"],
];

#[test]
fn images_of_mkfs_are_read() {
    let as_root = is_root();
    for seed in 1..=10 {
        let work = tempfile::tempdir().expect("a directory");
        let (root, image) = (work.path().join("root"), work.path().join("image"));
        fs::create_dir(&root).expect("a directory");
        put(&random_tree(seed, as_root), &root, as_root);
        for options in OPTIONS {
            let arguments =
                [options, &[root.to_str().expect("text"), image.to_str().expect("text")]].concat();
            if run("mkfs.cramfs", &arguments).is_none() {
                return;
            }
            let tree = cramfs::read(&fs::read(&image).expect("an image"), Limit::default())
                .expect("an image of mkfs.cramfs");
            assert_same(&flat(&tree), &get(&root), &format!("seed {seed}, {options:?}"));
        }
    }
}

#[test]
fn fsck_unpacks_our_images() {
    let as_root = is_root();
    for seed in 1..=10u64 {
        let work = tempfile::tempdir().expect("a directory");
        let tree = random_tree(seed, as_root);
        for bits in 0..4 {
            let settings = Settings {
                big_endian: bits & 1 != 0,
                boot_bytes: bits & 2 != 0,
                level: seed as u8,
                ..Settings::default()
            };
            let (image, out) = (work.path().join("image"), work.path().join(format!("out{bits}")));
            fs::write(&image, cramfs::write(&tree, &settings).expect("room").image)
                .expect("a file");
            let extract = format!("--extract={}", out.display());
            if run("fsck.cramfs", &[&extract, image.to_str().expect("text")]).is_none() {
                return;
            }
            let mut expected = flat(&tree);
            let mut found = get(&out);
            if !as_root {
                found
                    .values_mut()
                    .chain(expected.values_mut())
                    .for_each(|inode| (inode.uid, inode.gid) = (0, 0));
            }
            assert_same(&found, &expected, &format!("seed {seed}, {settings:?}"));
        }
    }
}

#[test]
fn images_are_no_larger_than_those_of_mkfs() {
    for seed in 1..=10 {
        let work = tempfile::tempdir().expect("a directory");
        let (root, image) = (work.path().join("root"), work.path().join("image"));
        fs::create_dir(&root).expect("a directory");
        put(&random_tree(seed, is_root()), &root, is_root());
        if run("mkfs.cramfs", &[root.to_str().expect("text"), image.to_str().expect("text")])
            .is_none()
        {
            return;
        }
        let theirs = fs::read(&image).expect("an image");
        let tree = cramfs::read(&theirs, Limit::default()).expect("an image of mkfs.cramfs");
        for level in [9, 10] {
            let ours = cramfs::write(&tree, &Settings { level, ..Settings::default() })
                .expect("room")
                .image;
            assert!(
                ours.len() * 100 <= theirs.len() * 101,
                "seed {seed}, level {level}: {} and {}",
                ours.len(),
                theirs.len()
            );
        }
    }
}
