//! Prints the behaviour of the models of managed devices under the accesses of published
//! measurements.
//!
//! `cargo run --release -p steadyfs-sim --example managed`. Paths of profiles behind it replace
//! the built-in profiles.

use steadyfs_sim::managed::{ManagedProfile, Summary, Translation, random_writes};

const MS: f64 = 1e6;

fn main() {
    let named: Vec<_> = std::env::args()
        .skip(1)
        .map(|path| std::fs::read_to_string(path).expect("a file"))
        .collect();
    let given =
        named.iter().map(|text| ManagedProfile::from_toml(text).expect("a profile")).collect();
    let profiles: Vec<_> = if named.is_empty() { ManagedProfile::all() } else { given };
    for profile in &profiles {
        println!("{}: {}", profile.name, profile.title);
        match profile.card() {
            Some(card) => {
                random(profile);
                streams(profile, card.unit_kib * 2);
            }
            None => flushes(profile),
        }
    }
}

fn filled(profile: &ManagedProfile) -> Translation {
    let mut device = Translation::new(profile, 1);
    device.fill();
    device
}

/// Writes 4 KiB at random over the whole card. A warm-up of 300,000 writes is not measured.
fn random(profile: &ManagedProfile) {
    let mut card = filled(profile);
    random_writes(&mut card, 4096, 300_000, 1);
    let before = card.counts();
    let trace = random_writes(&mut card, 4096, 100_000, 2);
    let after = card.counts();
    let all = Summary::of(&trace, 4096, [100_000, 500_000]);
    println!("  4 KiB at random:");
    println!("  mean {:.2} ms, {:.0} kB/s", all.mean_ns / MS, 4096.0 * 1e6 / all.mean_ns);
    for (percentile, ns) in Summary::PERCENTILES.iter().zip(all.percentile_ns) {
        println!("  {percentile:>6} {:8.2} ms", ns as f64 / MS);
    }
    println!(
        "  backlog {} B at 100 kB/s, {} B at 500 kB/s",
        all.backlog_bytes[0], all.backlog_bytes[1]
    );
    let [bursts, folds, closes] = [
        after.bursts - before.bursts,
        after.folds - before.folds,
        after.early_closes - before.early_closes,
    ];
    println!(
        "  {bursts} bursts, {folds} folds, {closes} early closes, write amplification {:.1}",
        after.write_amplification()
    );
}

/// Writes streams in turn, each in its own units, 4 KiB, 64 KiB and 512 KiB at a time.
fn streams(profile: &ManagedProfile, unit: u32) {
    for sectors in [8, 128, 1024] {
        for streams in [1, 2, 4, 5, 8, 9] {
            let mut card = filled(profile);
            let (mut ns, mut written) = (0, 0);
            for at in (0..unit).step_by(sectors as usize) {
                for stream in 0..streams {
                    ns += card.write((stream * 3 + 1) * unit + at, sectors);
                    written += u64::from(sectors) * 512;
                }
                if ns > 60_000_000_000 {
                    break;
                }
            }
            println!(
                "  {streams} streams of {:3} KiB: {:6.2} MB/s",
                sectors / 2,
                written as f64 * 1000.0 / ns as f64
            );
        }
    }
}

/// Measures flushes after different amounts of random data.
fn flushes(profile: &ManagedProfile) {
    let mut drive = filled(profile);
    println!("  a write of 512 KiB {:.2} ms", drive.write(0, 1024) as f64 / MS);
    drive.flush();
    println!("  clean: {:.3} ms", drive.flush() as f64 / MS);
    for kib in [4, 64, 1024, 8192] {
        random_writes(&mut drive, 4096, kib / 4, 7);
        println!("  {kib} KiB in the cache: {:.1} ms", drive.flush() as f64 / MS);
    }
    random_writes(&mut drive, 4096, 1_500_000, 3);
    drive.flush();
    let mut flushes: Vec<u64> = Vec::new();
    let mut writes = Vec::new();
    for round in 0..20_000 {
        writes.extend(random_writes(&mut drive, 4096, 8, round));
        flushes.push(drive.flush());
    }
    let [flushes, writes] =
        [flushes, writes].map(|trace| Summary::of(&trace, 4096, [100_000, 500_000]));
    let ms = |summary: &Summary| {
        summary.percentile_ns.map(|ns| (ns as f64 / MS * 100.0).round() / 100.0)
    };
    println!(
        "  32 KiB at random, flush: {:?} ms (50, 90, 99, 99.9 %, max); the writes {:?} ms",
        ms(&flushes),
        ms(&writes)
    );
    println!("  write amplification {:.1}", drive.counts().write_amplification());
}
