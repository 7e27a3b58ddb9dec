//! Measures the quality of `managed::fit`, which finds a device from a trace alone.
//!
//! The cases are ten cards with figures of their own, three bimodal sequences, and three sequences
//! that no card makes. The fit should find the cards and a bimodal sequence as they are, and
//! refuse the last three.
//!
//! `cargo run --release -p steadyfs-sim --example fits` takes some minutes. Numbers behind it
//! choose the cases.

use steadyfs_sim::managed::{
    CardProfile, Figures, Kind, ManagedProfile, Translation, fit, random_writes,
};

/// A card that is like a built-in one except for some figures, and the number of its accesses in
/// the trace.
struct Case {
    like: &'static str,
    change: fn(&mut CardProfile),
    accesses: usize,
}

const CASES: [Case; 10] = [
    Case {
        like: "sd-industrial",
        change: |card| (card.slot_program_us, card.clean_slice_us) = (1400, 30_000),
        accesses: 4000,
    },
    Case {
        like: "sd-industrial",
        change: |card| (card.log_kib, card.clean_high_blocks) = (65_536, 60),
        accesses: 6000,
    },
    Case {
        like: "sd-industrial",
        change: |card| (card.page_program_us, card.slot_program_us) = (1500, 600),
        accesses: 8000,
    },
    Case {
        like: "sd-industrial",
        change: |card| (card.log_kib, card.clean_slice_us) = (524_288, 8000),
        accesses: 12_000,
    },
    Case { like: "sd-industrial", change: |card| card.clean_high_blocks = 260, accesses: 20_000 },
    Case {
        like: "sd-consumer",
        change: |card| (card.clean_slice_us, card.clean_high_blocks) = (120_000, 20),
        accesses: 4000,
    },
    Case {
        like: "sd-consumer",
        change: |card| (card.log_kib, card.slot_program_us) = (131_072, 500),
        accesses: 10_000,
    },
    Case {
        like: "sd-consumer",
        change: |card| (card.page_program_us, card.slot_program_us) = (1200, 1000),
        accesses: 30_000,
    },
    Case {
        like: "sd-consumer",
        change: |card| (card.clean_slice_us, card.clean_high_blocks) = (60_000, 60),
        accesses: 60_000,
    },
    Case {
        like: "sd-consumer",
        change: |card| (card.slot_program_us, card.clean_slice_us) = (650, 21_500),
        accesses: 100_000,
    },
];

/// The name of a sequence, and a function that returns the time of each access in nanoseconds.
type Sequence = (&'static str, fn(u64) -> u64);

/// Sequences of access times, by name.
const SEQUENCES: [Sequence; 6] = [
    (
        "bimodal, at random",
        |at| if scatter(at).is_multiple_of(10) { 23_000_000 } else { 1_500_000 },
    ),
    ("bimodal, each tenth", |at| if at.is_multiple_of(10) { 23_000_000 } else { 1_500_000 }),
    ("bimodal, thirty in three hundred", |at| if at % 300 < 30 { 23_000_000 } else { 1_500_000 }),
    ("any length alike", |at| 1_000_000 + scatter(at) % 40_000_000),
    ("a sawtooth", |at| 1_000_000 + at % 500 * 100_000),
    ("slower and slower", |at| at * at / 8),
];

/// Returns a number without a visible order.
fn scatter(at: u64) -> u64 {
    let mixed = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}

/// Prints the errors of a fit in percent: of the median, of 99.9 %, and of the backlogs.
fn judge(name: &str, trace: &[u64], capacity_mib: u32) {
    let begin = std::time::Instant::now();
    let (profile, quality) = fit(trace, 4096, Kind::Sd, capacity_mib, &mut |_| ());
    let off = |fit: f64, trace: f64| 100.0 * (fit / trace.max(1.0) - 1.0);
    let time = |at: usize| {
        off(quality.fit.percentile_ns[at] as f64, quality.trace.percentile_ns[at] as f64)
    };
    let backlog = |at: usize| {
        off(
            quality.fit.backlog_bytes[at] as f64 + 4096.0,
            quality.trace.backlog_bytes[at] as f64 + 4096.0,
        )
    };
    let all = [time(2), time(6), backlog(0), backlog(1)];
    let worst = all.iter().fold(0.0, |worst: f64, off| worst.max(off.abs()));
    let doubt = quality.doubt().map_or("fits".to_string(), |doubt| format!("refused: {doubt}"));
    println!(
        "{name}, {} accesses: error {:.2}, off by {worst:.0} % {all:.0?}, like {}; {doubt} \
         ({:.0?})",
        trace.len(),
        quality.error,
        profile.name,
        begin.elapsed()
    );
    if std::env::var_os("VERBOSE").is_some() {
        println!("{quality}\n{}", profile.to_toml());
    }
}

fn main() {
    let wanted: Vec<usize> =
        std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let is_wanted = |number: usize| wanted.is_empty() || wanted.contains(&number);
    for (number, case) in CASES.iter().enumerate().filter(|(number, _)| is_wanted(*number)) {
        let mut profile = ManagedProfile::named(case.like).expect("a built-in profile");
        if let Figures::Card(card) = &mut profile.figures {
            (case.change)(card);
        }
        let mut card = Translation::new(&profile, 8);
        card.fill();
        random_writes(&mut card, 4096, 400_000, 11);
        let trace = random_writes(&mut card, 4096, case.accesses, 12);
        judge(
            &format!("{number}: like {}", case.like),
            &trace,
            profile.card().map_or(4096, |card| card.capacity_mib),
        );
    }
    for (number, (name, ns)) in
        (CASES.len()..).zip(SEQUENCES).filter(|(number, _)| is_wanted(*number))
    {
        let trace: Vec<u64> = (0..20_000).map(ns).collect();
        judge(&format!("{number}: {name}"), &trace, 4096);
    }
}
