//! Trees for the tests of writing.

use std::collections::BTreeMap;
use steadyfs_convert::{Inode, InodeIndex, Kind, Limit, Tree};

pub fn directory() -> Inode {
    Inode::new(Kind::Directory(BTreeMap::new()), 0o755)
}

pub fn file(bytes: &[u8]) -> Inode {
    Inode::new(Kind::File(bytes.to_vec()), 0o644)
}

pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

/// Makes words with a number now and then, which shrink to about a third.
pub fn prose(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = Vec::new();
    while text.len() < bytes {
        match random.u8(..8) {
            0 => text.extend(format!("{} ", random.u32(..)).bytes()),
            n => text.extend(
                [&b"flash "[..], b"block ", b"erase ", b"page ", b"inode ", b"reads the ", b"\n"]
                    [usize::from(n) - 1],
            ),
        }
    }
    text.truncate(bytes);
    text
}

/// Makes one of each thing that a file system may hold, around the edges of blocks.
pub fn everything(block_bytes: usize) -> Tree {
    let mut tree = Tree::new(Limit::default());
    for bytes in [
        0,
        1,
        100,
        block_bytes - 1,
        block_bytes,
        block_bytes + 1,
        2 * block_bytes,
        3 * block_bytes + 77,
    ] {
        tree.insert(0, format!("prose{bytes}").as_bytes(), file(&prose(1, bytes))).expect("a name");
        tree.insert(0, format!("noise{bytes}").as_bytes(), file(&noise(2, bytes))).expect("a name");
        tree.insert(0, format!("zeros{bytes}").as_bytes(), file(&vec![0; bytes])).expect("a name");
    }
    let holes = [
        prose(3, block_bytes),
        vec![0; 2 * block_bytes],
        noise(4, block_bytes),
        vec![0; block_bytes],
        vec![5; 10],
    ]
    .concat();
    let holes = tree.insert(0, b"holes", file(&holes)).expect("a name");
    tree.insert(0, b"again", file(&noise(2, block_bytes + 1))).expect("a name");
    tree.insert(0, b"empty", directory()).expect("a name");
    tree.insert(0, &[b'n'; 255], file(b"long")).expect("a name");
    tree.insert(0, b"\xFF\x01 odd", file(b"odd")).expect("a name");
    let links = tree.insert(0, b"links", directory()).expect("a name");
    tree.link(links, b"hard", holes).expect("a name");
    tree.link(links, b"harder", holes).expect("a name");
    tree.insert(links, b"soft", Inode::new(Kind::Symlink(b"../prose100".to_vec()), 0o777))
        .expect("a name");
    tree.insert(links, b"long", Inode::new(Kind::Symlink([b't'; 4095].to_vec()), 0o777))
        .expect("a name");
    add_special(&mut tree);
    add_attributes(&mut tree);
    tree.root_mut().mode = 0o1751;
    tree.root_mut().uid = 12;
    tree.root_mut().modified = 1_600_000_000;
    tree
}

fn add_special(tree: &mut Tree) {
    let dev = tree.insert(0, b"dev", directory()).expect("a name");
    for (name, is_block, major, minor) in
        [("sda1", true, 8, 1), ("null", false, 1, 3), ("far", false, 4095, 1_048_575)]
    {
        let mut device = Inode::new(Kind::Device { is_block, major, minor }, 0o620);
        (device.gid, device.modified) = (5, 86_400);
        let device = tree.insert(dev, name.as_bytes(), device).expect("a name");
        tree.link(0, name.as_bytes(), device).expect("a name");
    }
    tree.insert(dev, b"pipe", Inode::new(Kind::Fifo, 0o600)).expect("a name");
    tree.insert(dev, b"socket", Inode::new(Kind::Socket, 0o666)).expect("a name");
    let mut suid = file(b"#!/bin/sh\n");
    (suid.mode, suid.uid, suid.gid, suid.modified) = (0o4755, 1000, 100_000, i64::from(i32::MAX));
    tree.insert(dev, b"suid", suid).expect("a name");
}

fn add_attributes(tree: &mut Tree) {
    let attributes = |pairs: &[(&str, &[u8])]| {
        pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec())).collect()
    };
    let noted = tree.insert(0, b"noted", directory()).expect("a name");
    for n in 0..40 {
        let mut inode = if n % 4 == 0 { directory() } else { file(format!("{n}").as_bytes()) };
        let own = format!("own value of {n}");
        inode.attributes = match n % 5 {
            0 => attributes(&[("user.note", own.as_bytes()), ("security.label", &[7; 60])]),
            1 => attributes(&[("user.note", b""), ("user.other", b"short")]),
            2 => attributes(&[("trusted.big", &[b'v'; 2000]), ("user.same", &[7; 60])]),
            3 => attributes(&[("trusted.big", &[b'v'; 2000])]),
            _ => BTreeMap::new(),
        };
        tree.insert(noted, format!("{n}").as_bytes(), inode).expect("a name");
    }
    let mut link = Inode::new(Kind::Symlink(b"0".to_vec()), 0o777);
    link.attributes = attributes(&[("trusted.link", b"of a link")]);
    tree.insert(noted, b"link", link).expect("a name");
    let mut device = Inode::new(Kind::Device { is_block: false, major: 1, minor: 5 }, 0o600);
    device.attributes = attributes(&[("trusted.device", b"of a device")]);
    tree.insert(noted, b"zero", device).expect("a name");
}

/// Makes programs, texts and links, as on a small device.
pub fn small_root() -> Tree {
    let mut tree = Tree::new(Limit::default());
    let mut random = fastrand::Rng::with_seed(9);
    for (place, count, most) in
        [("bin", 30, 60_000), ("lib", 10, 300_000), ("etc", 200, 3000), ("www", 20, 9000)]
    {
        let at = tree.insert(0, place.as_bytes(), directory()).expect("a name");
        for n in 0..count {
            let bytes = random.usize(most / 20..most);
            let content = [prose(n, bytes), noise(n, bytes / 8)].concat();
            tree.insert(at, format!("{place}{n}").as_bytes(), file(&content)).expect("a name");
            tree.insert(
                at,
                format!("link{n}").as_bytes(),
                Inode::new(Kind::Symlink(b"../bin/bin0".to_vec()), 0o777),
            )
            .expect("a name");
        }
    }
    tree
}

/// Maker of random trees.
pub struct Maker {
    random: fastrand::Rng,
}

impl Maker {
    pub fn new(seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(seed) }
    }

    /// Makes a tree of about `names` names, in which each inode has a name.
    pub fn tree(&mut self, names: usize) -> Tree {
        let mut tree = Tree::new(Limit::default());
        let (mut directories, mut others) = (vec![0], Vec::new());
        for n in 0..names {
            let parent = directories[self.random.usize(..directories.len())];
            let name = format!("{}{n}", "x".repeat(self.random.usize(..30)));
            if !others.is_empty() && self.random.u8(..) < 30 {
                let other: InodeIndex = others[self.random.usize(..others.len())];
                tree.link(parent, name.as_bytes(), other).expect("a name");
                continue;
            }
            let inode = self.inode();
            let is_directory = inode.is_directory();
            let index = tree.insert(parent, name.as_bytes(), inode).expect("a name");
            if is_directory { directories.push(index) } else { others.push(index) }
        }
        tree
    }

    fn inode(&mut self) -> Inode {
        let kind = match self.random.u8(..20) {
            0..4 => Kind::Directory(BTreeMap::new()),
            4..6 => Kind::Symlink(vec![b's'; self.random.usize(1..200)]),
            6 => Kind::Device {
                is_block: self.random.bool(),
                major: self.random.u32(..4096),
                minor: self.random.u32(..1 << 20),
            },
            7 => Kind::Fifo,
            8 => Kind::Socket,
            _ => Kind::File(self.content()),
        };
        let mut inode = Inode::new(kind, self.random.u16(..0o10000));
        inode.uid = self.random.u32(..1000);
        inode.gid = self.random.u32(..10) * 100_000;
        inode.modified = self.random.u32(..1 << 31).into();
        if !matches!(inode.kind, Kind::Symlink(_) | Kind::Fifo | Kind::Socket) {
            for n in 0..self.random.usize(..8).saturating_sub(5) {
                let value = vec![b'a' + n as u8; self.random.usize(..100)];
                inode.attributes.insert(format!("trusted.a{n}").into_bytes(), value);
            }
        }
        inode
    }

    fn content(&mut self) -> Vec<u8> {
        let bytes = if self.random.u8(..10) == 0 {
            self.random.usize(..200_000)
        } else {
            self.random.usize(..9000)
        };
        let seed = self.random.u64(..20);
        match self.random.u8(..6) {
            0 => noise(seed, bytes),
            1 => vec![0; bytes],
            2 => [prose(seed, bytes / 2), vec![0; bytes], noise(seed, 100)].concat(),
            3 => prose(seed, 4096 * self.random.usize(..5)),
            _ => prose(seed, bytes),
        }
    }
}
