//! Names that an adversary chooses for their hashes: many of one hash, or of one bucket.
//!
//! `docs/format.md` describes the hash. The seed of a directory is not secret: the order in
//! which the directory lists its names reveals it.

use std::collections::HashMap;

/// Number of bits of a seed.
const SEED_BITS: u32 = 24;
/// Characters at the ends of names.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Minimum number of names for [`seed_of`]. This many names are in order under a wrong seed once
/// in a million times.
pub const LISTED_MIN: usize = 16;

/// Returns the hash of a name before its finish, continued from `state`.
fn fold(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(state, |state, &byte| (state ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns the initial state of the hashes of a directory.
fn begin(seed: u32) -> u32 {
    0x811C_9DC5 ^ seed
}

/// Returns the hash of a name in a directory with this seed.
pub fn hash(seed: u32, name: &str) -> u32 {
    finish(fold(begin(seed), name.as_bytes()))
}

fn finish(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

/// Finds the seed of a directory from at least [`LISTED_MIN`] of its names, in the order in
/// which it lists them.
pub fn seed_of(listed: &[String]) -> Option<u32> {
    assert!(listed.len() >= LISTED_MIN, "{} names; expected at least {LISTED_MIN}", listed.len());
    let same = (0..).take_while(|&at| {
        listed.iter().all(|name| name.as_bytes().get(at) == listed[0].as_bytes().get(at))
    });
    let same = same.take_while(|&at| at < listed[0].len()).count();
    let begins = listed[0].as_bytes()[..same].to_vec();
    let ends = listed.iter().map(|name| name.as_bytes()[same..].to_vec()).collect::<Vec<_>>();
    // Records may have only the low half of a hash.
    let place = |state, end: &Vec<u8>| (finish(fold(state, end)) as u16).reverse_bits();
    (0..1 << SEED_BITS).find(|&seed| {
        let state = fold(begin(seed), &begins);
        ends.is_sorted_by_key(|end| place(state, end))
    })
}

/// Returns a number as five digits.
fn digits(mut number: u32) -> [u8; 5] {
    let mut digits = [0; 5];
    for digit in &mut digits {
        *digit = DIGITS[(number % 36) as usize];
        number /= 36;
    }
    digits
}

/// Returns names with a common beginning and one hash of 32 bits, in a directory with this seed.
/// Two ends that lead to the same state follow two other such ends, and so on.
pub fn of_one_hash(seed: u32, begins: &str, count: usize) -> Vec<String> {
    let (mut state, mut names) = (fold(begin(seed), begins.as_bytes()), vec![begins.to_string()]);
    while names.len() < count {
        let mut seen = HashMap::new();
        let found = (0..).find_map(|number| {
            let next = fold(state, &digits(number));
            seen.insert(next, number).map(|earlier| (next, [earlier, number]))
        });
        let Some((next, numbers)) = found else { break };
        let ends = numbers.map(|number| String::from_utf8_lossy(&digits(number)).into_owned());
        names = names
            .iter()
            .flat_map(|name| ends.iter().map(move |end| format!("{name}{end}")))
            .collect();
        state = next;
    }
    names.truncate(count);
    names
}

/// Returns short names whose hashes have the low bits `bucket`, in a directory with this seed.
pub fn of_one_bucket(seed: u32, bits: u32, bucket: u32) -> impl Iterator<Item = String> {
    let name = |number: u64| format!("{number:05}");
    (0..).map(name).filter(move |name| hash(seed, name) & ((1 << bits) - 1) == bucket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_list_shows_the_seed() {
        for seed in [0, 1, 0x12_3456, 0xFF_FFFF] {
            let mut names: Vec<_> = (0..24).map(|number| format!("name {number}")).collect();
            names.sort_by_key(|name| hash(seed, name).reverse_bits());
            assert_eq!(seed_of(&names), Some(seed));
        }
    }

    #[test]
    fn chosen_names_have_the_hash_or_the_bucket_and_differ() {
        for seed in [0, 77] {
            let names = of_one_hash(seed, "x", 300);
            let hashes =
                names.iter().map(|name| hash(seed, name)).collect::<std::collections::HashSet<_>>();
            let different = names.iter().collect::<std::collections::HashSet<_>>();
            assert_eq!((hashes.len(), different.len()), (1, 300));
            assert!(names.iter().all(|name| name.len() == 1 + 9 * 5));
            assert!(of_one_bucket(seed, 5, 9).take(50).all(|name| hash(seed, &name) % 32 == 9));
        }
    }
}
