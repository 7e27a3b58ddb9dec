//! A generated tree of files like a small root file system, to compare images with.
//!
//! [`tree`] has 5,000 files and links of 23 MB:
//!
//! - programs and libraries (instructions, strings, tables of addresses)
//! - drivers
//! - tables of time zones and terminals
//! - settings and scripts
//! - some pictures that are already compressed
//!
//! The same seed makes the same tree, byte for byte. Images of this tree are comparable with each
//! other, and with nothing else.
//!
//! Inodes are in the order in which a device reads the files when it starts: [`load_order`].

use std::collections::BTreeMap;
use steadyfs_convert::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};

/// Kinds of files: directory, prefix of the names, number of files, bytes of the smallest and the
/// largest file, and content.
const KINDS: [(&str, &str, usize, usize, usize, Content); 9] = [
    ("bin", "busybox", 1, 1_200_000, 1_200_000, Content::Program),
    ("usr/lib", "lib", 90, 40_000, 490_000, Content::Program),
    ("usr/bin", "tool", 60, 8_000, 110_000, Content::Program),
    ("lib/modules", "driver", 240, 4_000, 16_000, Content::Program),
    ("usr/share/zoneinfo", "zone", 600, 120, 1_900, Content::Table),
    ("usr/share/terminfo", "term", 900, 400, 2_600, Content::Table),
    ("etc", "setting", 1_300, 40, 3_200, Content::Text),
    ("usr/share/scripts", "step", 800, 200, 6_000, Content::Text),
    ("srv/www", "picture", 9, 20_000, 60_000, Content::Noise),
];
/// Links to the first program.
const LINKS: usize = 1_000;

#[derive(Clone, Copy)]
enum Content {
    Program,
    Table,
    Text,
    Noise,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// Returns small numbers often and large numbers seldom.
    fn skewed(&mut self, n: usize) -> usize {
        let bound = 1 + self.below(n);
        self.below(bound)
    }
}

const WORDS: &str = "the set get open close read write error device file not found invalid \
    argument memory out of range usage option path timeout retry interface address port socket \
    user group mode default enable disable start stop status config init exit return if then else \
    fi done do for while in case esac echo printf export local test true false root network mount \
    umount kernel module version license table index size length offset buffer string format value \
    key name type list node tree parent child first last next count limit lock unlock wait signal \
    process thread";

/// Makes content of every kind, one piece after another.
struct Maker {
    random: Random,
    words: Vec<&'static str>,
    instructions: Vec<[u8; 4]>,
}

impl Maker {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let words = WORDS.split_whitespace().collect();
        let instructions = (0..1200)
            .map(|_| {
                [
                    random.below(256) as u8,
                    random.below(256) as u8,
                    random.below(160) as u8,
                    0xE0 | random.below(6) as u8,
                ]
            })
            .collect();
        Self { random, words, instructions }
    }

    /// Makes `bytes` bytes of content.
    fn make(&mut self, content: Content, bytes: usize) -> Vec<u8> {
        make(&mut self.random, content, bytes, &self.instructions, &self.words)
    }
}

fn make(
    random: &mut Random,
    content: Content,
    bytes: usize,
    instructions: &[[u8; 4]],
    words: &[&str],
) -> Vec<u8> {
    let mut all = Vec::with_capacity(bytes + 64);
    while all.len() < bytes {
        match content {
            Content::Noise => all.push(random.below(256) as u8),
            Content::Text => {
                let word = words[random.skewed(words.len())];
                all.extend_from_slice(word.as_bytes());
                all.extend_from_slice(match random.below(9) {
                    0 => b"\n    ",
                    1 => b" = ",
                    2 => b"\n",
                    _ => b" ",
                });
                if random.below(7) == 0 {
                    all.extend_from_slice(random.below(5000).to_string().as_bytes());
                }
            }
            Content::Table => {
                let start = random.below(1 << 20) as u32;
                for step in 0..1 + random.below(12) as u32 {
                    all.extend_from_slice(&(start + step * 3600).to_be_bytes());
                }
                all.extend_from_slice(&[0, 0, 0, random.below(6) as u8]);
            }
            Content::Program => program_piece(random, &mut all, instructions, words),
        }
    }
    all.truncate(bytes);
    all
}

/// Appends a function, some strings, a table of addresses, or padding.
fn program_piece(random: &mut Random, all: &mut Vec<u8>, instructions: &[[u8; 4]], words: &[&str]) {
    match random.below(20) {
        0..=13 => {
            for _ in 0..20 + random.below(60) {
                let most = 1 + random.skewed(instructions.len());
                let mut word = instructions[random.skewed(most)];
                if random.below(6) == 0 {
                    word[0] = random.below(256) as u8;
                    word[1] = (word[1] & 0xF0) | random.below(16) as u8;
                }
                all.extend_from_slice(&word);
            }
        }
        14..=16 => {
            for _ in 0..2 + random.below(9) {
                all.extend_from_slice(words[random.below(words.len())].as_bytes());
                all.push(if random.below(4) == 0 { 0 } else { b' ' });
            }
        }
        17 | 18 => {
            let start = 0x8000 + random.below(1 << 18) as u32;
            for step in 0..8 + random.below(40) as u32 {
                all.extend_from_slice(
                    &(start + step * 4 * (1 + random.below(12) as u32)).to_le_bytes(),
                );
            }
        }
        _ => all.resize(all.len() + 16 * (1 + random.below(10)), 0),
    }
}

/// Makes the tree of a seed.
pub fn tree(seed: u64) -> Tree {
    part(seed, 1)
}

/// Makes a smaller tree. It has one in `share` files of each kind, and no file is longer than 2 MB
/// divided by `share`. A share of one gives the whole [`tree`].
pub fn part(seed: u64, share: usize) -> Tree {
    make_tree(seed, share.max(1))
        .expect("names of the table are names, and all of it is within the limit")
}

fn make_tree(seed: u64, share: usize) -> Result<Tree, TreeError> {
    let mut maker = Maker::new(seed);
    let mut tree = Tree::new(Limit::default());
    for (place, prefix, count, least, most, content) in KINDS {
        for number in 0..count.div_ceil(share) {
            let hundred = (count > 300).then(|| (number / 100).to_string());
            let directory = directories(&mut tree, place.split('/').chain(hundred.as_deref()))?;
            let length = (least + maker.random.skewed(most - least + 1)).min(2_000_000 / share);
            let mode = if matches!(content, Content::Program) { 0o755 } else { 0o644 };
            let file = Inode::new(Kind::File(maker.make(content, length)), mode);
            tree.insert(directory, format!("{prefix}{number}").as_bytes(), file)?;
        }
    }
    for number in 0..LINKS.div_ceil(share) {
        let directory = directories(&mut tree, ["bin"].into_iter())?;
        let link = Inode::new(Kind::Symlink(b"busybox0".to_vec()), 0o777);
        tree.insert(directory, format!("applet{number}").as_bytes(), link)?;
    }
    Ok(tree)
}

/// Returns the directory at a path, and makes missing directories.
fn directories<'n>(
    tree: &mut Tree,
    mut names: impl Iterator<Item = &'n str>,
) -> Result<InodeIndex, TreeError> {
    names.try_fold(0, |at, name| {
        let known = match &tree.inode(at).kind {
            Kind::Directory(entries) => entries.get(name.as_bytes()).copied(),
            _ => None,
        };
        known.map_or_else(
            || {
                tree.insert(
                    at,
                    name.as_bytes(),
                    Inode::new(Kind::Directory(BTreeMap::new()), 0o755),
                )
            },
            Ok,
        )
    })
}

/// Returns the paths and inodes of everything below the root, in the order in which a device reads
/// them when it starts. The order is programs and libraries, drivers, tables, settings, scripts,
/// pictures, and the links last. Each directory comes before its contents.
pub fn load_order(tree: &Tree) -> Vec<(String, InodeIndex)> {
    let text = |path: Vec<u8>| {
        String::from_utf8_lossy(path.strip_prefix(b"/").unwrap_or(&path)).into_owned()
    };
    let mut all: Vec<_> =
        tree.walk().into_iter().map(|(path, inode)| (text(path), inode)).collect();
    all.sort_by_key(|&(_, inode)| inode);
    all
}

/// Makes text like the settings of the tree: words, numbers, lines.
pub fn text(seed: u64, bytes: usize) -> Vec<u8> {
    Maker::new(seed).make(Content::Text, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(tree: &Tree) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        for (path, inode) in tree.walk() {
            sum.update(&path);
            if let Kind::File(bytes) | Kind::Symlink(bytes) = &tree.inode(inode).kind {
                sum.update(bytes);
            }
        }
        sum.finalize()
    }

    #[test]
    fn a_seed_makes_the_same_tree_and_another_one_makes_another() {
        assert_eq!(part(1, 50), part(1, 50));
        assert_ne!(sum(&part(1, 50)), sum(&part(2, 50)));
    }

    /// Figures of compressed sizes were measured with this tree.
    #[test]
    fn the_whole_tree_is_what_it_was() {
        let tree = tree(1);
        let files = tree.inodes().iter().filter(|inode| !inode.is_directory()).count();
        let bytes: usize = tree
            .inodes()
            .iter()
            .map(|inode| if let Kind::File(bytes) = &inode.kind { bytes.len() } else { 0 })
            .sum();
        assert_eq!((files, bytes, sum(&tree)), (5000, 22_830_730, WHOLE));
    }

    /// The sum of paths and contents for seed 1.
    const WHOLE: u32 = 3_189_735_082;

    #[test]
    fn a_directory_is_loaded_before_what_it_holds() {
        let order = load_order(&part(1, 50));
        assert_eq!(order[0].0, "bin");
        for (at, (path, _)) in order.iter().enumerate() {
            if let Some((above, _)) = path.rsplit_once('/') {
                assert!(order[..at].iter().any(|(path, _)| path == above), "{path}");
            }
        }
    }
}
