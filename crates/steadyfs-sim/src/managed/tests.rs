//! Compares the models with published figures, and with the known behaviour of such devices.

use super::*;

const MS: u64 = 1_000_000;
/// Sectors of an allocation unit of 4 MiB.
const UNIT: u32 = 8192;

fn filled(name: &str, seed: u64) -> Translation {
    let mut device = Translation::new(&ManagedProfile::named(name).unwrap(), seed);
    device.fill();
    device
}

/// Returns a long run of 4 KiB writes at random places, after a warm-up of 300,000 writes.
fn random_run(name: &str, seed: u64) -> Vec<u64> {
    let mut card = filled(name, seed);
    random_writes(&mut card, 4096, 300_000, seed);
    random_writes(&mut card, 4096, 100_000, seed + 100)
}

fn assert_near(what: &str, found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() <= 0.15, "{what}: {found:.0}, published {expected:.0}");
}

/// Returns the rate of several streams in megabytes per second. The streams write in turn, each in
/// its own aligned units, until each has written `units` units.
fn streams_mb_per_s(card: &mut Translation, streams: u32, sectors: u32, units: u32) -> f64 {
    let mut ns = 0;
    for at in (0..units * UNIT).step_by(sectors as usize) {
        for stream in 0..streams {
            ns += card.write((stream * 20 + 3) * UNIT + at, sectors);
        }
    }
    f64::from(streams * units * UNIT) * 512.0 * 1000.0 / ns as f64
}

#[test]
fn industrial_card_takes_4_kib_at_random_as_published() {
    for seed in 1..=3 {
        let all = Summary::of(&random_run("sd-industrial", seed), 4096, [100_000, 500_000]);
        assert_near("mean, µs", all.mean_ns / 1000.0, 2730.0);
        assert_near("B at 100 kB/s", all.backlog_bytes[0] as f64, 10_000.0);
        assert_near("B at 500 kB/s", all.backlog_bytes[1] as f64, 1_000_000.0);
        assert_near("longest, µs", all.percentile_ns[7] as f64 / 1000.0, 141_000.0);
    }
}

#[test]
fn consumer_card_needs_sixty_times_the_ram() {
    for seed in 1..=3 {
        let all = Summary::of(&random_run("sd-consumer", seed), 4096, [100_000, 100_000]);
        assert_near("B at 100 kB/s", all.backlog_bytes[0] as f64, 600_000.0);
        let rate = 4096.0 * 1e6 / all.mean_ns;
        assert!((196.0..461.0).contains(&rate), "{rate} kB/s");
    }
}

#[test]
fn no_access_of_a_card_is_busy_for_longer_than_the_specification_allows() {
    for name in ["sd-industrial", "sd-consumer"] {
        let trace = random_run(name, 4);
        let longest = trace.iter().max().unwrap();
        assert!((15 * MS..250 * MS + MS).contains(longest), "{name}: {longest}");
    }
}

#[test]
fn what_is_written_in_order_is_fast_and_copies_nothing() {
    for name in ["sd-industrial", "sd-consumer"] {
        let mut card = filled(name, 1);
        for sectors in [8, 128] {
            let rate = streams_mb_per_s(&mut card, 1, sectors, 4);
            assert!((15.0..22.0).contains(&rate), "{name}: {rate}");
        }
        let first = card.write(30 * UNIT, 8);
        let next: u64 = (1..1000).map(|at| card.write(30 * UNIT + at * 8, 8)).sum();
        assert!(next < 999 * MS / 3, "{name}: {next} after {first}");
        assert_eq!(card.counts().copied_bytes, 0, "{name}");
    }
}

#[test]
fn interleaved_streams_are_fine_as_long_as_their_units_can_be_open() {
    for (name, open) in [("sd-industrial", 8), ("sd-consumer", 4)] {
        let mut card = filled(name, 1);
        let few = streams_mb_per_s(&mut card, open, 128, 1);
        assert_eq!(card.counts().early_closes, 0);
        let many = streams_mb_per_s(&mut filled(name, 1), open + 1, 128, 1);
        assert!(
            few > 14.0 && many < few / 10.0,
            "{name}: {few} MB/s with {open} streams, {many} MB/s with one more"
        );
    }
}

/// Writes as a file system for cards does: data, moved data and a journal, each in its own
/// discarded units. Now and then it writes a few sectors at other positions.
#[test]
fn a_file_system_with_three_streams_runs_without_copies() {
    for name in ["sd-industrial", "sd-consumer"] {
        let mut card = filled(name, 1);
        for unit in [5, 105, 205] {
            card.discard(unit * UNIT + 1, UNIT - 1);
            card.write(unit * UNIT, 1);
        }
        let before = card.counts().copied_bytes;
        let (mut longest, mut ns) = (0, 0);
        for round in 0..800 {
            for (unit, sectors) in [(5, 9), (105, 9), (205, 2)] {
                let took = card.write(unit * UNIT + 1 + round * sectors, sectors);
                (longest, ns) = (longest.max(took), ns + took);
            }
            if round % 100 == 99 {
                ns += card.write(7 * UNIT + 40 + round, 2);
            }
        }
        assert_eq!(card.counts().copied_bytes - before, 0, "{name}");
        assert_eq!(card.counts().early_closes, 0, "{name}");
        assert!(longest < 8 * MS && ns < 2400 * 3 * MS, "{name}: longest {longest}, all {ns}");
    }
}

#[test]
fn a_discarded_unit_is_closed_without_copies() {
    for name in ["sd-industrial", "sd-consumer"] {
        let closing = |is_discarded: bool| {
            let mut card = filled(name, 1);
            for unit in 0..20 {
                if is_discarded {
                    card.discard(unit * UNIT, UNIT);
                }
                card.write(unit * UNIT, 64);
            }
            assert!(card.counts().early_closes > 0);
            card.counts().copied_bytes
        };
        assert_eq!(closing(true), 0, "{name}");
        assert!(closing(false) > 10 << 20, "{name}");
    }
}

#[test]
fn idle_time_takes_the_cleaning_off_the_accesses() {
    let mut card = filled("sd-industrial", 1);
    random_writes(&mut card, 4096, 100_000, 1);
    let mut longest = 0;
    for round in 0..200 {
        longest = longest.max(*random_writes(&mut card, 4096, 10, round).iter().max().unwrap());
        card.idle(1000 * MS);
    }
    let mut busy = filled("sd-industrial", 1);
    random_writes(&mut busy, 4096, 100_000, 1);
    let all = |card: &mut Translation| {
        (0..200).flat_map(|round| random_writes(card, 4096, 10, round)).sum::<u64>()
    };
    let (rested, unrested) = (all(&mut card), all(&mut busy));
    assert!(rested < unrested, "{rested} {unrested} {longest}");
}

#[test]
fn the_ssd_of_the_comparison_flushes_in_955_ms_and_in_nothing_when_clean() {
    let mut drive = filled("ssd-sata", 1);
    assert!(drive.flush() < MS);
    for kib in [4, 64, 1024, 2048] {
        random_writes(&mut drive, 4096, kib / 4, 7);
        assert_near("flush, µs", drive.flush() as f64 / 1000.0, 955_000.0);
        assert!(drive.flush() < MS);
    }
    for sectors in [512, 1024, 2048] {
        let ns = drive.write(0, sectors);
        assert!((MS..6 * MS).contains(&ns), "{sectors} sectors in {ns} ns");
    }
}

#[test]
fn flushes_of_a_drive_with_a_journal_are_short_but_for_rare_ones() {
    let mut drive = filled("ssd-desktop", 1);
    let mut flushes: Vec<u64> = (0..1000)
        .map(|round| {
            random_writes(&mut drive, 4096, 4, round);
            drive.flush()
        })
        .collect();
    flushes.sort_unstable();
    assert_near("median, µs", flushes[500] as f64 / 1000.0, 8_700.0);
    assert_eq!(flushes.iter().filter(|&&ns| ns > 500 * MS).count(), 5);
}

#[test]
fn a_full_emmc_flushes_in_milliseconds_and_sometimes_in_more_than_a_second() {
    let mut emmc = filled("emmc-64gb", 1);
    assert!(emmc.flush() < MS);
    random_writes(&mut emmc, 4096, 1_100_000, 3);
    let mut flushes: Vec<u64> = (0..20_000)
        .map(|round| {
            random_writes(&mut emmc, 4096, 8, round);
            emmc.flush()
        })
        .collect();
    flushes.sort_unstable();
    assert!((MS..10 * MS).contains(&flushes[10_000]), "{}", flushes[10_000]);
    assert!((1000 * MS..2000 * MS).contains(flushes.last().unwrap()), "{:?}", flushes.last());
}

#[test]
fn the_same_seed_gives_the_same_times_and_clones_go_their_own_way() {
    for profile in ManagedProfile::all() {
        let mut one = Translation::new(&profile, 5);
        one.fill();
        let mut other = one.clone();
        let trace = random_writes(&mut one, 4096, 5000, 9);
        assert_eq!(trace, random_writes(&mut other, 4096, 5000, 9), "{}", profile.name);
        assert_eq!(one.counts(), other.counts());
        other.discard(0, 8192);
        other.read(0, 64);
        assert_ne!(one.now_ns(), other.now_ns());
    }
}

/// After every mixture of calls the counters of the layers are consistent. In debug builds the
/// layers assert this.
#[test]
fn mixed_calls_on_small_devices_keep_the_books() {
    for profile in ManagedProfile::all() {
        let mut small = profile.clone();
        match &mut small.figures {
            Figures::Card(card) => (card.capacity_mib, card.log_kib) = (64, 8192),
            Figures::Drive(drive) => {
                (drive.capacity_mib, drive.superblock_kib, drive.spare_superblocks) =
                    (64, 1024, drive.clean_high + 6);
            }
        }
        let mut device = Translation::new(&small, 1);
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..60_000 {
            let count = [1, 3, 8, 64, 700][random.usize(0..5)];
            let first = random.u32(0..device.sector_count() - count);
            match random.u32(0..20) {
                0 => _ = device.discard(first, count),
                1 => _ = device.read(first, count),
                2 => _ = device.flush(),
                3 => device.idle(random.u64(0..100 * MS)),
                4 => _ = device.write(first / UNIT * UNIT, count),
                _ => _ = device.write(first, count),
            }
        }
        assert!(device.counts().write_amplification() >= 1.0 || device.counts().host_bytes == 0);
        device.check_books();
    }
}

#[test]
fn a_fit_finds_the_times_of_another_card() {
    let mut other = ManagedProfile::named("sd-industrial").unwrap();
    if let Figures::Card(card) = &mut other.figures {
        (card.capacity_mib, card.log_kib) = (2048, 65_536);
        (card.slot_program_us, card.clean_slice_us, card.clean_high_blocks) = (1400, 30_000, 90);
    }
    let mut card = Translation::new(&other, 8);
    card.fill();
    random_writes(&mut card, 4096, 60_000, 11);
    let trace = random_writes(&mut card, 4096, 12_000, 12);
    let (profile, quality) =
        fit(&trace, 4096, Kind::Sd, 2048, &mut |share| assert!((0.0..=1.0).contains(&share)));
    println!("{quality}");
    assert_eq!(quality.doubt(), None, "{quality}");
    assert_eq!(profile.card().unwrap().capacity_mib, 2048);
    assert_eq!(
        (&*profile.sources["capacity_mib"], &*profile.sources["slot_bytes"]),
        ("D: of the device", "U: as of sd-industrial")
    );
    assert!(
        profile.sources["log_kib"].starts_with("F: 12000 writes of 4096 bytes"),
        "{:?}",
        profile.sources
    );
    assert!((quality.fit.mean_ns / quality.trace.mean_ns - 1.0).abs() < 0.15, "{quality}");
    assert_eq!(ManagedProfile::from_toml(&profile.to_toml()).unwrap(), profile);
}

#[test]
fn a_fit_doubts_short_traces_and_what_no_card_does() {
    // Accesses that become slower and slower. No device that cleans behaves in this way.
    let slower: Vec<u64> = (0..8000).map(|access| access * access / 8).collect();
    let (_, quality) = fit(&slower, 4096, Kind::Sd, 4096, &mut |_| ());
    assert_eq!(quality.doubt(), Some(Doubt::Far(quality.error)));
    assert_eq!(
        Quality { accesses: 3999, error: 0.01, ..quality.clone() }.doubt(),
        Some(Doubt::Short(3999))
    );
    assert_eq!(Quality { accesses: 4000, error: 0.15, ..quality }.doubt(), None);
}

#[test]
#[should_panic(expected = "of a device with")]
fn sectors_beyond_the_device_are_refused() {
    filled("sd-industrial", 1).write(4096 * 2048 - 1, 2);
}
