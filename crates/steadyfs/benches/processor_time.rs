//! Processor time of the file system's own work, on a simulated MT29F1G01ABAFD at 80 % fill.
//!
//! The simulated chip's time is virtual. So the benchmark measures the file system, and the
//! copying of pages that the simulator does instead of a driver. Run it with
//! `cargo bench -p steadyfs`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use steadyfs::media::Flash;
use steadyfs::{Access, Config, File, FileSystem, OpenOptions};
use steadyfs_sim::{Metered, Nand, Profile, TimingChoice};

/// Bytes of a logical page of this chip.
const PAGE: usize = 4096;
/// Random overwrites that bring the volume to its steady state, in which the overlay no longer
/// grows.
const OVERWRITES: usize = 4_000;

/// Number of pages that [`lookup`] reads to find pages with their place in the overlay, and pages
/// without.
const SAMPLE: usize = 4_000;

/// A small generator of page numbers. Every run uses the same sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A mounted volume, a file that fills 80 % of it, and the number of the file's pages.
struct Volume<'m> {
    fs: FileSystem<'m, Nand>,
    file: File,
    pages: u64,
    random: Random,
}

impl<'m> Volume<'m> {
    fn mount(chip: Nand, memory: &'m mut [u8]) -> Self {
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory).unwrap();
        let mut file = fs.open("data", OpenOptions::DURABLE).unwrap();
        let pages = fs.size(&mut file).unwrap() / PAGE as u64;
        Self { fs, file, pages, random: Random(1) }
    }

    fn overwrite(&mut self, data: &[u8; PAGE]) {
        let page = self.random.below(self.pages);
        self.fs.write(&mut self.file, page * PAGE as u64, data).unwrap();
    }

    /// Reads a logical page of the file.
    fn read(&mut self, page: u64) {
        let mut data = [0; PAGE];
        black_box(self.fs.read(&mut self.file, page * PAGE as u64, &mut data).unwrap());
        black_box(data);
    }

    /// Returns the number of medium reads for one page of the file.
    fn reads_of(&mut self, page: u64) -> u64 {
        let before = self.fs.flash().counters().reads;
        self.read(page);
        self.fs.flash().counters().reads - before
    }
}

fn memory(chip: &Nand) -> Vec<u8> {
    let geometry = chip.geometry();
    vec![0; Config::for_geometry(&geometry).memory_bytes(&geometry)]
}

/// Returns a chip at 80 % fill after random overwrites. Its power was cut after the last write.
fn filled_chip() -> Nand {
    let profile = Profile::named("mt29f1g01abafd").unwrap();
    let chip = Nand::new(&profile, TimingChoice::Typical, 1);
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = memory(&chip);
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("data", OpenOptions::CREATE).unwrap();
    let target = fs.usage().usable_bytes / 5 * 4;
    while fs.usage().used_bytes < target {
        fs.append(&mut file, &[0x5A; PAGE]).unwrap();
    }
    let chip = fs.unmount().unwrap();
    let mut volume = Volume::mount(chip, &mut memory);
    for _ in 0..OVERWRITES {
        volume.overwrite(&[0xA5; PAGE]);
    }
    volume.fs.flash().clone()
}

/// Reads random logical pages. The overlay in RAM holds the place of some pages; for the others,
/// the map reads a leaf from the medium. The number of reads separates the two kinds.
fn lookup(criterion: &mut Criterion, chip: &Nand) {
    let mut memory = memory(chip);
    let mut volume = Volume::mount(chip.clone(), &mut memory);
    let reads_of_data = u64::from(PAGE as u32 / chip.geometry().page_bytes);
    let sample: Vec<u64> = (0..SAMPLE).map(|_| volume.random.below(volume.pages)).collect();
    let (warm, cold): (Vec<u64>, Vec<u64>) =
        sample.into_iter().partition(|&page| volume.reads_of(page) == reads_of_data);
    for (name, pages) in
        [("read/4KiB, place in overlay", &warm), ("read/4KiB, place in leaf", &cold)]
    {
        let mut turns = pages.iter().cycle();
        criterion.bench_function(name, |bencher| {
            bencher
                .iter(|| volume.read(*turns.next().expect("the sample has pages of both kinds")));
        });
    }
}

/// Overwrites 4 KiB at random, durably, reclamation included.
fn overwrite(criterion: &mut Criterion, chip: &Nand) {
    let mut memory = memory(chip);
    let mut volume = Volume::mount(chip.clone(), &mut memory);
    let data = [0xC3; PAGE];
    criterion.bench_function("overwrite/4KiB", |bencher| bencher.iter(|| volume.overwrite(&data)));
}

/// Mounts after a power cut.
fn mount(criterion: &mut Criterion, chip: &Nand) {
    let mut memory = memory(chip);
    criterion.bench_function("mount", |bencher| {
        bencher.iter_batched(
            || chip.clone(),
            |chip| {
                let fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
                black_box(fs.usage());
            },
            BatchSize::SmallInput,
        );
    });
}

fn processor_time(criterion: &mut Criterion) {
    let chip = filled_chip();
    lookup(criterion, &chip);
    overwrite(criterion, &chip);
    mount(criterion, &chip);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = processor_time
}
criterion_main!(benches);
