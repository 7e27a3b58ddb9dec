//! Runs campaigns: `steadyfs-siege CAMPAIGN --seed N --volumes N --threads N`.
//!
//! - `--only N --trace` runs one volume of the campaign.
//! - `--medium card` or `card-within`: the volumes lie on cards.
//! - `--streams`: each volume has several streams.
//! - `--long-logs`: leaves on NOR take more changes, and records of the journal are longer.
//! - `--full`: the volumes are 80 to 97 % full before the campaign begins.
//! - `--cache`: each mount is lent caches.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use steadyfs_siege::campaign::repair::{Costs, Held};
use steadyfs_siege::campaign::{ALL, Campaign};
use steadyfs_siege::log::{Finding, Log};
use steadyfs_siege::world::{MediumKind, World};

struct Options {
    campaigns: Vec<Campaign>,
    seed: u64,
    volumes: Option<u32>,
    threads: usize,
    only: Option<u32>,
    world: World,
    /// Number of printed findings of a class.
    shown: usize,
}

const USAGE: &str = "steadyfs-siege transient|lost|bits|chains|lives|newest|ends|groups|ranges|\
    repair|repair-cuts|repair-faults|repair-reads|all [--seed N] [--volumes N] [--threads N] \
    [--only N] [--trace] [--show N] [--medium chip|chip-groups|card|card-within] [--streams] \
    [--long-logs] [--full] [--cache]";

fn parse() -> Option<Options> {
    let mut options = Options {
        campaigns: vec![],
        seed: 1,
        volumes: None,
        threads: 2,
        only: None,
        world: World::default(),
        shown: 5,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--medium" {
            options.world.medium = MediumKind::named(&words.next()?)?;
            continue;
        }
        let mut number = || words.next()?.parse::<u32>().ok();
        match word.as_str() {
            "--seed" => options.seed = u64::from(number()?),
            "--volumes" => options.volumes = Some(number()?),
            "--threads" => options.threads = number()?.clamp(1, 2) as usize,
            "--only" => options.only = Some(number()?),
            "--show" => options.shown = number()? as usize,
            "--trace" => options.world.is_traced = true,
            "--streams" => options.world.has_streams = true,
            "--long-logs" => options.world.has_long_logs = true,
            "--full" => options.world.is_full = true,
            "--cache" => options.world.has_cache = true,
            "all" => options.campaigns = ALL.to_vec(),
            name => options.campaigns.push(Campaign::named(name)?),
        }
    }
    (!options.campaigns.is_empty()).then_some(options)
}

fn main() -> ExitCode {
    let Some(options) = parse() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    // Panics are findings, and are reported as such.
    std::panic::set_hook(Box::new(|_| ()));
    let failures: usize = options.campaigns.iter().map(|campaign| run(campaign, &options)).sum();
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a campaign and returns the number of volumes that failed.
fn run(campaign: &Campaign, options: &Options) -> usize {
    let volumes = options.volumes.unwrap_or(campaign.volumes);
    let indexes = options.only.map_or(0..volumes, |only| only..only + 1);
    let next = AtomicU32::new(indexes.start);
    let results: Mutex<BTreeMap<u32, Vec<Finding>>> = Mutex::default();
    let counts: Mutex<BTreeMap<&'static str, u64>> = Mutex::default();
    let costs: Mutex<BTreeMap<Held, Costs>> = Mutex::default();
    let begin = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= indexes.end {
                        return;
                    }
                    let Log { findings, counts: seen, costs: cost, .. } =
                        campaign.run(options.seed, index, options.world);
                    let mut counts = counts.lock().expect("no thread panics");
                    seen.into_iter()
                        .for_each(|(what, count)| *counts.entry(what).or_default() += count);
                    let mut costs = costs.lock().expect("no thread panics");
                    cost.iter().for_each(|(held, cost)| costs.entry(*held).or_default().add(cost));
                    if !findings.is_empty() {
                        results.lock().expect("no thread panics").insert(index, findings);
                    }
                }
            });
        }
    });
    let results = results.into_inner().expect("no thread panics");
    println!(
        "{}: {} volumes, {} failed, {:.1} s",
        campaign.name,
        indexes.len(),
        results.len(),
        begin.elapsed().as_secs_f64()
    );
    for (what, count) in counts.into_inner().expect("no thread panics") {
        println!("    {count:>9} {what}");
    }
    let costs = costs.into_inner().expect("no thread panics");
    if !costs.is_empty() {
        println!("  {}", Costs::HEAD);
    }
    costs.iter().for_each(|(held, cost)| println!("  {held:15}{cost}"));
    report(campaign, options, &results);
    results.len()
}

fn report(campaign: &Campaign, options: &Options, results: &BTreeMap<u32, Vec<Finding>>) {
    let mut classes: BTreeMap<&'static str, Vec<(u32, &str)>> = BTreeMap::new();
    let mut totals: BTreeMap<&'static str, u32> = BTreeMap::new();
    for (index, findings) in results {
        for finding in findings {
            *totals.entry(finding.class).or_default() += 1;
            let class = classes.entry(finding.class).or_default();
            if class.last().is_none_or(|(last, _)| last != index) {
                class.push((*index, &finding.detail));
            }
        }
    }
    for (class, volumes) in classes {
        println!("  {class}: {} volumes, {} findings", volumes.len(), totals[class]);
        for (index, detail) in volumes.iter().take(options.shown) {
            println!("    {detail}");
            println!("      {}", options.world.replay(campaign.name, options.seed, *index));
        }
    }
}
