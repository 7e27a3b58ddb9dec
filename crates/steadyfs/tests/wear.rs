//! After writes of forty times the capacity, no block of a volume was erased much more often than
//! another.

use crate::common::oracle::{Model, fill};
use crate::common::steps::EXPLICIT;
use crate::common::{Device, Rng, SHAPES, Shape};
use steadyfs::media::Flash;
use steadyfs::media::nor::NorPages;
use steadyfs::{Access, BlockState, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nor, NorTiming};

/// The number of times that the workload writes the volume's capacity.
const TIMES: u64 = 40;

/// Logical pages that the workload may write.
struct Area {
    pages: u64,
    capacity: u64,
}

/// Returns the page that a workload writes next.
type Pick = fn(&mut Rng, &Area, u64) -> u64;

/// Nine writes in ten go to one page in ten.
fn hot_and_cold(rng: &mut Rng, area: &Area, _: u64) -> u64 {
    let hot = (area.pages / 10).max(1);
    if rng.one_in(10) { rng.below(area.pages) } else { rng.below(hot) }
}

fn uniform(rng: &mut Rng, area: &Area, _: u64) -> u64 {
    rng.below(area.pages)
}

fn sequential(_: &mut Rng, area: &Area, count: u64) -> u64 {
    count % area.pages
}

fn one_page(_: &mut Rng, _: &Area, _: u64) -> u64 {
    0
}

/// Returns the largest difference between the erase counts of some blocks.
fn spread(device: &mut Device, blocks: &[u32]) -> u32 {
    let counts = device.medium().erase_counts();
    let counts: Vec<u32> = blocks.iter().map(|&block| counts[block as usize]).collect();
    counts.iter().max().unwrap() - counts.iter().min().unwrap()
}

/// Writes forty times the capacity. Returns three numbers: the spread of the blocks that may
/// contain data, the spread of the ring, and the allowed spread.
fn wear_of(shape: &Shape, rest_percent: u64, busy_percent: u64, pick: Pick) -> [u32; 3] {
    let mut device = shape.device(1);
    fill(&mut device, &mut Model::new(EXPLICIT), rest_percent);
    let mut rng = Rng(1);
    let page = vec![0x5A; shape.logical_bytes() as usize];
    let mut fs = device.mount(Access::ReadWrite).expect("mount");
    let capacity = fs.usage().usable_bytes / shape.logical_bytes();
    let area = Area { pages: (capacity * busy_percent / 100).max(1), capacity };
    let mut file = fs.open("busy", OpenOptions::DURABLE).expect("open");
    for count in 0..TIMES * area.capacity + area.pages {
        let at = if count < area.pages { count } else { pick(&mut rng, &area, count) };
        fs.write(&mut file, at * shape.logical_bytes(), &page)
            .unwrap_or_else(|error| panic!("write {count}: {error}"));
    }
    let is_own =
        |&block: &u32| fs.block(block).is_some_and(|info| info.state == BlockState::Reserved);
    let (own, others): (Vec<_>, Vec<_>) = (0..fs.describe().geometry.block_count).partition(is_own);
    // The first two blocks contain the superblocks, which are never erased.
    let [others, ring] = [&others[..], &own[2..]].map(|blocks| spread(&mut device, blocks));
    [others, ring, device.config.wear_spread.into()]
}

/// Checks all shapes.
fn wears_evenly(rest_percent: u64, busy_percent: u64, pick: Pick) {
    for shape in &SHAPES {
        let [spread, ring, allowed] = wear_of(shape, rest_percent, busy_percent, pick);
        println!("{}: spread {spread}, allowed {allowed}; ring {ring}", shape.name);
        assert!(spread <= allowed, "{}: spread {spread}, allowed {allowed}", shape.name);
        // The ring's blocks are used in turn. A block that a mount must keep is left out once.
        assert!(ring <= 2, "{}: spread {ring} in the ring", shape.name);
    }
}

#[test]
fn half_at_rest_and_half_random_wear_evenly() {
    wears_evenly(50, 40, uniform);
}

#[test]
fn hot_pages_beside_data_at_rest_wear_evenly() {
    wears_evenly(50, 40, hot_and_cold);
}

#[test]
fn sequential_writes_beside_data_at_rest_wear_evenly() {
    wears_evenly(50, 40, sequential);
}

#[test]
fn rewriting_one_page_beside_data_at_rest_wears_evenly() {
    wears_evenly(50, 0, one_page);
}

#[test]
fn rewriting_one_page_of_a_nearly_full_volume_wears_evenly() {
    wears_evenly(94, 0, one_page);
}

#[test]
fn hot_pages_of_a_nearly_full_volume_wear_evenly() {
    wears_evenly(80, 14, hot_and_cold);
}

/// Uses end with a power cut before a root is written. Each of them erased a block, and only its
/// records contain this erase.
#[test]
fn starts_that_are_cut_wear_blocks_evenly() {
    let spread = |counts: Vec<u32>, holds_data: &dyn Fn(u32) -> bool| {
        let worn: Vec<u32> = (0u32..)
            .zip(counts)
            .filter(|&(block, _)| holds_data(block))
            .map(|(_, count)| count)
            .collect();
        worn.iter().max().unwrap() - worn.iter().min().unwrap()
    };
    for seed in 0..2 {
        let mut chip = NorPages::new(Nor::with_geometry(4096, 32, NorTiming::ROUND, seed), 256);
        let config = Config::for_geometry(&chip.geometry());
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        for start in 0..600u32 {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            let mut file = fs
                .open("starts", OpenOptions { append: false, ..OpenOptions::DURABLE })
                .expect("open");
            fs.write(&mut file, 0, &start.to_le_bytes()).expect("write");
        }
        let fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let states: Vec<_> = (0..32).map(|block| fs.block(block).map(|info| info.state)).collect();
        let spread = spread(chip.chip().erase_counts(), &|block| {
            states[block as usize] != Some(BlockState::Reserved)
        });
        assert!(
            spread <= u32::from(config.wear_spread),
            "{spread} erases between the least and the most worn block"
        );
    }
}
