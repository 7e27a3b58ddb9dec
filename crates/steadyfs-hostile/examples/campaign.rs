//! A campaign of hostile images.
//!
//! ```text
//! cargo run -p steadyfs-hostile --example campaign -- MEDIUM SEED COUNT [FIRST]
//! cargo run -p steadyfs-hostile --example campaign -- replay TARGET FILE
//! ```
//!
//! MEDIUM is `nand`, `nor`, `card` or `disk`. Each image is a sound volume with a few forged
//! fields under right checksums. The campaign uses it hard. A panic is a finding, and so is a
//! call with more operations than its bound in `exercise`. The first input of each place goes to
//! `target/hostile/`. The exit code is 1 after a finding.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;
use steadyfs_hostile::{forge, volumes};

/// The place and the message of the last panic.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// A random number generator: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

/// Returns the name of the target for a medium, and the numbers of its volumes.
fn stage(medium: &str) -> (&'static str, Vec<u8>) {
    let numbers = |wanted: &dyn Fn(&volumes::Volume) -> bool| -> Vec<u8> {
        let all = volumes::volumes().iter().zip(0..);
        all.filter(|(volume, _)| wanted(volume)).map(|(_, number)| number).collect()
    };
    let is_nor = |volume: &volumes::Volume| volume.shape.geometry.programs_bytes;
    let is_card = |volume: &volumes::Volume| volume.shape.config.move_group > 1;
    match medium {
        "nand" => ("mount_forged", numbers(&|volume| !is_nor(volume) && !is_card(volume))),
        "nor" => ("mount_forged", numbers(&is_nor)),
        "card" => ("mount_forged", numbers(&is_card)),
        "disk" => ("disk_forged", (0..volumes::disks().len() as u8).collect()),
        _ => panic!("no medium {medium:?}: nand, nor, card or disk"),
    }
}

/// Runs an input through a target.
fn run(target: &str, input: &[u8]) {
    if target == "disk_forged" { forge::disk(input) } else { forge::mount(input) }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, target, path] = &arguments[..]
        && command == "replay"
    {
        let input = std::fs::read(path).expect(path);
        return if target == "disk_forged" {
            steadyfs_hostile::forge::disk(&input)
        } else {
            steadyfs_hostile::forge::mount(&input)
        };
    }
    let number = |index: usize, default: u64| {
        arguments.get(index).map_or(default, |text| text.parse().expect("a number"))
    };
    let medium = arguments.first().map_or("nand", String::as_str);
    let (target, numbers) = stage(medium);
    let (seed, count, first) = (number(1, 1), number(2, 10_000), number(3, 0));
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or(String::new(), |place| format!("{}:{}", place.file(), place.line()));
        *PLACE.lock().expect("one thread") =
            format!("{place}: {}", info.to_string().lines().last().unwrap_or_default());
    }));
    let (mut found, start) = (BTreeMap::<String, (u64, u64)>::new(), Instant::now());
    for case in first..first + count {
        let mut random = Random(seed << 40 ^ case.wrapping_mul(0xD134_2543_DE82_EF95));
        let length = 20 + random.next() as usize % 100;
        let mut input: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        // Few cases run the script, which takes most of the time.
        input[0] = if random.next().is_multiple_of(16) {
            0
        } else {
            2 | u8::from(!random.next().is_multiple_of(8))
        };
        // The last of several volumes is the golden image, which is large.
        let few =
            if medium == "nand" && !random.next().is_multiple_of(64) { 4 } else { numbers.len() };
        input[1] = numbers[random.next() as usize % few];
        if std::panic::catch_unwind(|| run(target, &input)).is_err() {
            let place = PLACE.lock().expect("one thread").clone();
            let is_new = !found.contains_key(&place);
            found.entry(place.clone()).or_insert((0, case)).0 += 1;
            if is_new {
                println!("case {case}: {place}");
                let directory = std::path::Path::new("target/hostile");
                std::fs::create_dir_all(directory).expect("a directory");
                std::fs::write(directory.join(format!("{target}-{medium}-{seed}-{case}")), &input)
                    .expect("a file");
            }
        }
    }
    for (place, (times, case)) in &found {
        println!("{times} times, first in case {case}: {place}");
    }
    println!(
        "{medium}, seed {seed}: {count} images, {} findings, {:.0} s",
        found.len(),
        start.elapsed().as_secs_f64()
    );
    std::process::exit(i32::from(!found.is_empty()));
}
