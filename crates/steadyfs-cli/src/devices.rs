//! `steady devices`: the chips and managed devices that can be simulated.

use crate::Failure;
use crate::output::print;
use steadyfs_lab::table::{Align, facts, table};
use steadyfs_lab::units::format_size;
use steadyfs_sim::managed::ManagedProfile;
use steadyfs_sim::{Chip, Profile};

/// Runs `steady devices`.
pub fn run() -> Result<(), Failure> {
    print(&format!("{}\n{}", listing(&Profile::all()), managed(&ManagedProfile::all())))
}

/// The table of profiles, and what each of them is.
fn listing(profiles: &[Profile]) -> String {
    let head = ["Device", "Size", "Page", "Block", "Program", "Erase", "Copy"].map(String::from).to_vec();
    let rows: Vec<_> = std::iter::once(head).chain(profiles.iter().map(row)).collect();
    let mut align = vec![Align::Left];
    align.resize(7, Align::Right);
    let titles = facts(profiles.iter().map(|profile| (profile.name.as_str(), profile.title.clone())));
    format!("{}Times are typical and maximum; a copy moves a page inside the chip.\n\n{titles}", table(&rows, &align))
}

/// The managed devices: their times follow from what they were given before.
fn managed(profiles: &[ManagedProfile]) -> String {
    let titles = facts(profiles.iter().map(|profile| (profile.name.as_str(), profile.title.clone())));
    format!("Managed flash, for realtime, transactions and images of cards:\n{titles}")
}

/// One profile: sizes, and the typical and maximum times of a page program and a block erase.
fn row(profile: &Profile) -> Vec<String> {
    let (size, page, block, program_us, erase_us, copy) = match &profile.chip {
        Chip::Nand(nand) => {
            let block = nand.page_bytes * nand.pages_per_block;
            let size = u64::from(block) * u64::from(nand.block_count);
            (size, nand.page_bytes, block, nand.program_us, Some(nand.erase_us), nand.on_chip_copy)
        }
        Chip::Nor(nor) => {
            let erase_us = nor.erase_us(nor.default_erase_bytes);
            let size = u64::from(nor.size_bytes);
            (size, nor.program_page_bytes, nor.default_erase_bytes, nor.program_page_us, erase_us, false)
        }
    };
    let times = |typical: u32, maximum: u32| format!("{}, {}", time(typical), time(maximum));
    vec![
        profile.name.clone(),
        format_size(size),
        format_size(page.into()),
        format_size(block.into()),
        times(program_us.typical, program_us.maximum),
        erase_us.map_or_else(String::new, |us| times(us.typical, us.maximum)),
        if copy { "yes" } else { "no" }.to_string(),
    ]
}

/// A time of the datasheet: these have few digits, so trailing zeros say nothing.
fn time(us: u32) -> String {
    match us {
        1_000_000.. => format!("{} s", f64::from(us) / 1e6),
        1_000.. => format!("{} ms", f64::from(us) / 1e3),
        _ => format!("{us} µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_is_listed_with_its_title() {
        let text = listing(&Profile::all());
        for profile in Profile::all() {
            assert_eq!(text.lines().filter(|line| line.starts_with(&profile.name)).count(), 2, "{text}");
        }
        assert!(text.contains("220 µs, 600 µs") && text.contains("2 ms, 10 ms"), "{text}");
        assert!(text.lines().take_while(|line| !line.is_empty()).all(|line| line.chars().count() <= 80), "{text}");
    }
}
