//! Makes a tree of files as a small root file system has them, to compare images with: `cargo run -p steadyfs-lab --example made_tree DIR [SEED]`.
//!
//! 5,000 files and links, 24 MB: programs and libraries (instructions, strings, tables, relocations), scripts, settings, tables of time zones and
//! terminals, and some pictures that are compressed already. The same seed makes the same tree, byte for byte. It is made up: images of it compare with each other,
//! and with nothing else.

use std::error::Error;
use std::fs;
use std::path::Path;

/// What there is of each kind: directory, prefix of the names, files, bytes of the smallest and the largest, and what they hold.
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

    /// Small numbers often, large ones seldom.
    fn skewed(&mut self, n: usize) -> usize {
        let bound = 1 + self.below(n);
        self.below(bound)
    }
}

const WORDS: &str = "the set get open close read write error device file not found invalid argument memory out of range usage option path \
    timeout retry interface address port socket user group mode default enable disable start stop status config init exit return if then else fi done do \
    for while in case esac echo printf export local test true false root network mount umount kernel module version license table index size length offset \
    buffer string format value key name type list node tree parent child first last next count limit lock unlock wait signal process thread";

/// As many bytes as are asked for.
fn make(random: &mut Random, content: Content, bytes: usize, instructions: &[[u8; 4]], words: &[&str]) -> Vec<u8> {
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

/// A function, some strings, a table of addresses, or padding.
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
                all.extend_from_slice(&(start + step * 4 * (1 + random.below(12) as u32)).to_le_bytes());
            }
        }
        _ => all.resize(all.len() + 16 * (1 + random.below(10)), 0),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("expected a directory to make, and perhaps a seed")?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let root = Path::new(&directory);
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let instructions: Vec<[u8; 4]> = (0..1200)
        .map(|_| [random.below(256) as u8, random.below(256) as u8, random.below(160) as u8, 0xE0 | random.below(6) as u8])
        .collect();
    let (mut files, mut bytes) = (0, 0);
    for (place, prefix, count, least, most, content) in KINDS {
        for number in 0..count {
            let place = root.join(place).join(if count > 300 { format!("{}", number / 100) } else { String::new() });
            fs::create_dir_all(&place)?;
            let length = least + random.skewed(most - least + 1);
            let content = make(&mut random, content, length, &instructions, &words);
            fs::write(place.join(format!("{prefix}{number}")), &content)?;
            files += 1;
            bytes += length;
        }
    }
    for number in 0..LINKS {
        let place = root.join("bin").join(format!("applet{number}"));
        link("busybox0", &place)?;
        files += 1;
    }
    println!("{files} files and links, {bytes} bytes");
    Ok(())
}

#[cfg(unix)]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    fs::write(place, target)
}
