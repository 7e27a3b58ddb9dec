//! The number of corrected bits of a read. The driver's ECC corrects the data, and the guard
//! corrects the tag.

use rustix::fs::{fstat, major, makedev, minor};
use std::fs::{self, File};
use std::path::PathBuf;
use steadyfs::media::Corrected;

/// One corrected bit in a tag. The guard can correct one bit.
const FLIPPED_TAG: Corrected = Corrected { bits: 1, strength: 1 };

/// Returns the number of bits that the ECC of a device corrects in a codeword. Returns 0 if the
/// kernel does not report the number.
pub(super) fn strength(file: &File) -> u8 {
    let text = attributes(file)
        .and_then(|directory| fs::read_to_string(directory.join("ecc_strength")).ok());
    parse(&text.unwrap_or_default())
}

/// Returns the directory of a device in sysfs. The device node may have any name.
fn attributes(file: &File) -> Option<PathBuf> {
    let device = fstat(file).ok()?.st_rdev;
    // Each device also has an odd minor number, which is read-only and has no attributes in sysfs.
    let device = makedev(major(device), minor(device) & !1);
    Some(PathBuf::from(format!("/sys/dev/char/{}:{}", major(device), minor(device))))
}

/// Parses a strength as sysfs writes it. A strength above 255 becomes 255. Pages then count as weak
/// too early, which is safe.
fn parse(text: &str) -> u8 {
    text.trim().parse::<u32>().map_or(0, |strength| strength.min(u8::MAX.into()) as u8)
}

/// Returns the corrections in the worst codeword. The driver's ECC corrected `bits` of at most
/// `strength` bits, or the guard corrected one bit of the tag.
pub(super) fn worst(bits: u32, strength: u8, tag_flipped: bool) -> Corrected {
    match strength {
        _ if tag_flipped => FLIPPED_TAG,
        0 => Corrected::default(),
        _ => Corrected { bits: bits.min(u8::MAX.into()) as u8, strength },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_of_a_file_that_is_no_chip_is_unknown() {
        assert_eq!(strength(&File::open("/dev/null").expect("open")), 0);
        assert_eq!([parse("8\n"), parse("300\n"), parse(""), parse("-1\n")], [8, 255, 0, 0]);
    }

    #[test]
    fn worst_codeword_is_the_one_that_has_least_left() {
        assert_eq!(worst(3, 8, false), Corrected { bits: 3, strength: 8 });
        assert_eq!(worst(3, 8, true), FLIPPED_TAG);
        assert_eq!(worst(1000, 8, false), Corrected { bits: 255, strength: 8 });
        assert_eq!(worst(0, 8, false), Corrected { bits: 0, strength: 8 });
    }

    #[test]
    fn device_of_unknown_strength_tells_of_tags_alone() {
        assert_eq!(worst(3, 0, false), Corrected::default());
        assert_eq!(worst(3, 0, true), FLIPPED_TAG);
    }
}
