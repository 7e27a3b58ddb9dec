//! How good the usual settings are, beside others on the same chip: the table of docs/bench.md.
//!
//! `cargo run --release -p steadyfs-lab --example defaults_sweep [SIZE_MIB ERASE_KIB]`

use std::error::Error;
use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_lab::bench::{BenchChip, Case, Medium, OnChips, Options, Report, Steady, measure};
use steadyfs_lab::evaluate::find_profile;
use steadyfs_lab::units::format_size;
use steadyfs_sim::{PowerCut, Tearable};

const SIZES: [u64; 9] = [512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20];
const ERASES: [u32; 4] = [4 << 10, 32 << 10, 64 << 10, 128 << 10];
/// What people do most. Each counts as much as another.
const CASES: [&str; 13] = [
    "seq-512",
    "seq-4096",
    "random-4096",
    "append-64",
    "append-16",
    "small-formatted",
    "small-80",
    "small-durable",
    "replace-truncate",
    "replace-rename",
    "replace-in-place",
    "create",
    "remove",
];

/// Those that take long on large chips.
const LONG: [&str; 5] = ["random-4096", "small-80", "replace-truncate", "replace-rename", "replace-in-place"];

/// The cases with some settings.
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

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<f64>());
    let (size, erase) = (arguments.next().transpose()?, arguments.next().transpose()?);
    let profile = find_profile(&std::env::var("DEVICE").unwrap_or("w25q128jv".into()))?;
    for size in SIZES.into_iter().filter(|&bytes| size.is_none_or(|mib| (mib * 1048576.0) as u64 == bytes)) {
        for erase in ERASES.into_iter().filter(|&bytes| erase.is_none_or(|kib| (kib * 1024.0) as u32 == bytes)) {
            let options = Options {
                size_bytes: Some(size),
                erase_block_bytes: Some(erase),
                cases: CASES
                    .iter()
                    .filter(|name| size < 32 << 20 || !LONG.contains(name))
                    .filter_map(|name| Case::named(name))
                    .collect(),
                ..Options::default()
            };
            let Ok(medium) = Medium::of(&profile, &options) else { continue };
            let geometry = match medium {
                Medium::Nor { block_bytes, block_count, .. } => Geometry::of_nor(block_bytes, block_count),
                Medium::Nand { geometry, .. } => geometry,
            };
            sweep(&medium, &options, &geometry, erase);
        }
    }
    Ok(())
}

/// Everything on one chip, the best first.
fn sweep(medium: &Medium, options: &Options, geometry: &Geometry, erase: u32) {
    let usual = Config::for_geometry(geometry);
    let mut all = vec![];
    let overlays = if geometry.programs_bytes { vec![2] } else { vec![1, 2, 4, 8, 16] };
    for unit_pages in [1, 2, 4, 8, 16] {
        for journal_bytes in if geometry.programs_bytes { vec![512, 1024, 2048, 4096] } else { vec![512] } {
            for leaf_log_bytes in if geometry.programs_bytes { vec![96, 192] } else { vec![usual.leaf_log_bytes] } {
                for overlay in overlays.clone() {
                    let journal_pages = (journal_bytes / geometry.page_bytes).max(1) as u8;
                    let overlay_entries = usual.overlay_entries / 2 * overlay;
                    let config = Config { unit_pages, journal_pages, leaf_log_bytes, overlay_entries, ..usual };
                    if config.check(geometry).is_ok() && unit_pages as u32 * geometry.page_bytes <= 4096 {
                        all.push(config);
                    }
                }
            }
        }
    }
    if usual.check(geometry).is_err() {
        return;
    }
    if !all.contains(&usual) {
        all.push(usual);
    }
    let mut rows: Vec<_> = all
        .into_iter()
        .filter_map(|config| {
            let report = medium.with_chips(1, With(medium, options, config))?;
            let times: Vec<Option<(f64, f64)>> =
                report.rows.iter().map(|row| row.figures.map(|figures| (figures.mean_us, figures.max_us))).collect();
            let known: Vec<f64> = times.iter().flatten().map(|t| t.0.ln()).collect();
            let score = (known.iter().sum::<f64>() / known.len() as f64).exp();
            Some((score, config, report.usable_bytes, report.ram_bytes, times))
        })
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("== {} by {} geometry {geometry:?}", format_size(medium.size_bytes()), format_size(erase.into()));
    for (i, (score, config, usable, ram, times)) in rows.iter().enumerate() {
        if i > 11 && *config != usual {
            continue;
        }
        let times: Vec<_> =
            times.iter().map(|t| t.map_or("-".into(), |t| format!("{:.2}/{:.0}", t.0 / 1000.0, t.1 / 1000.0))).collect();
        println!(
            "{}{score:8.0} unit {:2} journal {:2} log {:3} overlay {:3} tx {:2} cp {:4} | {:4.1} % {ram:6} B | {}",
            if *config == usual { "*" } else { " " },
            config.unit_pages,
            config.journal_pages,
            config.leaf_log_bytes,
            config.overlay_entries,
            config.transaction_pages,
            config.checkpoint_programs,
            *usable as f64 * 100.0 / medium.size_bytes() as f64,
            times.join(" ")
        );
    }
}
