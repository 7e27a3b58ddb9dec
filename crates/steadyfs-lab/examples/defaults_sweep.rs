//! Compares the usual settings with others on the same chip: the table of docs/results/bench.md.
//!
//! `cargo run --release -p steadyfs-lab --example defaults_sweep [SIZE_MIB]`

use std::error::Error;
use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_lab::bench::{
    BenchChip, Case, Medium, OnChips, Options, Part, Report, Steady, measure,
};
use steadyfs_lab::units::{format_count, format_size};
use steadyfs_sim::{PowerCut, Profile, Tearable};

/// A W25Q128JV with 0.4 ms a page, of any size that is needed, and with the erase of 32 KiB from
/// its datasheet.
const CHIP: &str = include_str!("../../steadyfs-sim/profiles/w25q128jv.toml");
const SIZES_KIB: [u64; 8] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];
const ERASES_KIB: [u32; 3] = [4, 32, 64];
/// The most common operations. All have the same weight.
const CASES: [&str; 12] = [
    "seq-512",
    "seq-4096",
    "append-64",
    "append-16",
    "small-formatted",
    "small-durable",
    "replace-truncate",
    "replace-rename",
    "replace-in-place",
    "create",
    "remove",
    "random-4096",
];
/// The cases that take long on large chips.
const LONG: [&str; 4] = ["random-4096", "replace-truncate", "replace-rename", "replace-in-place"];
const LARGE_KIB: u64 = 32 << 10;

/// A run of the cases with some settings.
struct With<'o>(&'o Medium, &'o Options, Config);

impl OnChips for With<'_> {
    type Output = Option<Report>;

    fn run<C>(self, make: impl Fn() -> C + Sync) -> Self::Output
    where
        C: BenchChip + Tearable + Clone + 'static,
        PowerCut<C>: BenchChip,
    {
        measure(self.0, self.1, || Steady::with_config(make(), self.2), &|_, _| ()).ok()
    }
}

/// Settings and their results on the chip.
struct Found {
    config: Config,
    ram_bytes: u64,
    usable: f64,
    /// Geometric mean of the means of the cases, in milliseconds.
    mean_ms: f64,
}

impl Found {
    fn show(&self, geometry: &Geometry) -> String {
        let logical_bytes =
            u64::from(self.config.pages_per_logical_page) * u64::from(geometry.page_bytes);
        let journal_bytes = u64::from(self.config.journal_pages) * u64::from(geometry.page_bytes);
        let Found { ram_bytes, usable, mean_ms, .. } = self;
        format!(
            "{} / {} / {} | {} | {:.0} % | {mean_ms:.2}",
            format_count(logical_bytes),
            format_count(journal_bytes),
            self.config.leaf_log_bytes,
            format_count(*ram_bytes),
            usable * 100.0
        )
    }
}

fn chip() -> Result<Profile, Box<dyn Error>> {
    let erase = "[[erase]]\n\
        bytes = 32768\n\
        us = { typical = 120000, maximum = 1600000 }\n\
        \n\
        [[erase]]\n\
        bytes = 65536";
    let text = CHIP
        .replace("size_bytes = 16777216", "size_bytes = 67108864")
        .replace("{ typical = 700,", "{ typical = 400,");
    Ok(Profile::from_toml(&text.replace("[[erase]]\nbytes = 65536", erase))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let only_kib = std::env::args()
        .nth(1)
        .map(|mib| mib.parse::<f64>())
        .transpose()?
        .map(|mib| (mib * 1024.0) as u64);
    let profile = chip()?;
    println!(
        "| size | erase sector | block | usual: page / journal / log | RAM | usable | ms | \
         fastest: page / journal / log | RAM | usable | ms |"
    );
    println!("|---|---|---|---|---:|---:|---:|---|---:|---:|---:|");
    for size_kib in SIZES_KIB.into_iter().filter(|&kib| only_kib.is_none_or(|only| only == kib)) {
        for erase_kib in ERASES_KIB {
            let is_short = |name: &&&str| size_kib < LARGE_KIB || !LONG.contains(name);
            let options = Options {
                part: Part {
                    size_bytes: Some(size_kib << 10),
                    erase_block_bytes: Some(erase_kib << 10),
                    ..Part::default()
                },
                cases: CASES.iter().filter(is_short).filter_map(|name| Case::named(name)).collect(),
                ..Options::default()
            };
            if let Medium::Nor { block_bytes, block_count, timing } =
                Medium::of(&profile, &options.part)?
            {
                let medium = Medium::Nor { block_bytes, block_count, timing };
                let row = sweep(&medium, &options, &Geometry::of_nor(block_bytes, block_count));
                let row = row.unwrap_or_else(|| "too few blocks | | | | | | | ".to_string());
                println!(
                    "| {} | {erase_kib} KiB | {} | {row} |",
                    format_size(size_kib << 10),
                    format_size(block_bytes.into())
                );
            }
        }
    }
    Ok(())
}

/// Compares the usual settings with the fastest on one chip. Returns `None` if the usual
/// settings do not fit.
fn sweep(medium: &Medium, options: &Options, geometry: &Geometry) -> Option<String> {
    let usual = Config::for_geometry(geometry);
    usual.check(geometry).ok()?;
    let usual_found = found(medium, options, usual)?;
    let mut fastest: Option<Found> = None;
    for config in all(geometry, &usual) {
        let next = found(medium, options, config);
        let is_faster =
            |next: &Found| fastest.as_ref().is_none_or(|best| next.mean_ms < best.mean_ms);
        fastest = next.filter(is_faster).or(fastest);
    }
    Some(format!("{} | {}", usual_found.show(geometry), fastest?.show(geometry)))
}

/// Returns all combinations of logical pages up to 4 KiB, journal buffers up to 4 KiB, and both
/// lengths of a leaf's log.
fn all(geometry: &Geometry, usual: &Config) -> Vec<Config> {
    let mut all = Vec::new();
    for pages_per_logical_page in (0..5)
        .map(|power| 1u16 << power)
        .filter(|&unit| u32::from(unit) * geometry.page_bytes <= 4096)
    {
        for journal_bytes in [512, 1024, 2048, 4096] {
            for leaf_log_bytes in [96, 192] {
                let journal_pages = (journal_bytes / geometry.page_bytes) as u8;
                all.push(Config {
                    pages_per_logical_page,
                    journal_pages,
                    leaf_log_bytes,
                    ..*usual
                });
            }
        }
    }
    all.retain(|config| config.check(geometry).is_ok());
    all
}

/// Measures settings on the chip.
fn found(medium: &Medium, options: &Options, config: Config) -> Option<Found> {
    let report = medium.with_chips(options.seed, With(medium, options, config))?;
    let means: Vec<f64> = report
        .rows
        .iter()
        .filter_map(|row| row.figures.map(|figures| figures.mean_us.ln()))
        .collect();
    let mean_ms = (means.iter().sum::<f64>() / means.len() as f64).exp() / 1000.0;
    let usable = report.usable_bytes as f64 / report.size_bytes as f64;
    Some(Found { config, ram_bytes: report.ram_bytes, usable, mean_ms })
}
