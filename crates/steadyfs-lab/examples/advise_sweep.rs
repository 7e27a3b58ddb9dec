//! Compares the choice of `steady advise` with an exhaustive sweep of the same settings: the
//! table of docs/results/advise.md.
//!
//! `cargo run --release -p steadyfs-lab --example advise_sweep`

use steadyfs_lab::advise::{Options, Workload, run, sweep};
use steadyfs_lab::units::{format_count, format_duration, format_percent, format_size};

/// Chips, the used bytes of each, and the share of these for data. A volume of few large blocks
/// keeps many blocks for itself.
const CHIPS: [(&str, u64, f64); 6] = [
    ("w25q128jv", 1 << 20, 0.5),
    ("m25p16", 2 << 20, 0.1),
    ("w25q16jv", 512 << 10, 0.3),
    ("w25n01gv", 8 << 20, 0.25),
    ("w25q128jv", 16 << 20, 0.5),
    ("mt29f1g01abafd", 128 << 20, 0.5),
];
const WORKLOADS: [Workload; 3] = [Workload::Log, Workload::Overwrite, Workload::Files];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| chip | size | data | workload | settings | chosen: RAM, time | the best: RAM, time | \
         RAM × time above the best |"
    );
    println!("|---|---:|---:|---|---:|---:|---:|---:|");
    for (device, size, fill) in CHIPS {
        for workload in WORKLOADS {
            let options =
                Options { size_bytes: Some(size), fill, ..Options::new(device, workload) };
            let (advice, all) = (run(&options, &|_, _| ())?, sweep(&options)?);
            let (chosen, best) = (advice.choice.figures, all[0].figures);
            let above = (chosen.cost() / best.cost() - 1.0) * 100.0;
            let show =
                |ram: u64, ns: f64| format!("{}, {}", format_count(ram), format_duration(ns));
            println!(
                "| {device} | {} | {} | {} | {} | {} | {} | {above:.1} % |",
                format_size(size),
                format_percent(fill),
                workload.name(),
                all.len(),
                show(chosen.ram_bytes, chosen.mean_ns),
                show(best.ram_bytes, best.mean_ns)
            );
        }
    }
    Ok(())
}
