//! A file system as a map in memory, and a volume that is held to it: chips of several shapes with every fault wrapped around
//! them, mounts and calls that are held to their bounds, and the oracle, which knows what a power cut may leave.
//!
//! Tests of the core and [`torture`](crate::torture) share it. What does not hold is a panic that says what was expected and what
//! was found. The oracle is in [`oracle`], [`calls`], [`tree`] and [`steps`]; that of a disk in [`disk`].

pub mod calls;
pub mod disk;
pub mod medium;
pub mod oracle;
mod rng;
pub mod steps;
pub mod tree;

pub use rng::Rng;

use std::sync::OnceLock;

use medium::Medium;
use steadyfs::disk::Disk;
use steadyfs::media::{Failure, Flash, Geometry};
use steadyfs::{Access, Bound, Call, Config, Cost, Error, FileSystem, MountError};
use steadyfs_sim::fault::Operation;
use steadyfs_sim::{Counters, FailOps, PowerCut, Trace};
use steps::Limits;

/// A chip on which power can be cut and operations can fail, and whose operations are counted.
pub type Chip = Trace<PowerCut<FailOps<Medium>>>;
/// A volume on a chip that stays with the test when the volume is dropped.
pub type Fs<'a> = FileSystem<'a, &'a mut Chip>;

/// Files that may be open at once, beside the eight that every volume has room for.
const OPEN_FILES_MORE: usize = 56;
/// Failing operations of one call up to which its bound is checked.
const FAILURES_CHECKED: u32 = 6;

/// Small chips, so that every block is used many times within a second.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub name: &'static str,
    pub nor: bool,
    /// The chip copies pages by itself.
    pub copy: bool,
    pub unit_pages: u16,
    pub page_bytes: u32,
    /// On NOR: bytes of a block divided by `page_bytes`.
    pub pages_per_block: u32,
    pub block_count: u32,
}

/// NAND of single and double pages with and without on-chip copy, and NOR.
pub const SHAPES: [Shape; 6] = [
    Shape { name: "nand-16x512", nor: false, copy: true, unit_pages: 1, page_bytes: 512, pages_per_block: 16, block_count: 64 },
    Shape {
        name: "nand-32x512-double",
        nor: false,
        copy: false,
        unit_pages: 2,
        page_bytes: 512,
        pages_per_block: 32,
        block_count: 48,
    },
    Shape { name: "nand-64x256", nor: false, copy: false, unit_pages: 1, page_bytes: 256, pages_per_block: 64, block_count: 64 },
    Shape {
        name: "nand-32x512-copy",
        nor: false,
        copy: true,
        unit_pages: 2,
        page_bytes: 512,
        pages_per_block: 32,
        block_count: 64,
    },
    Shape { name: "nor-512", nor: true, copy: false, unit_pages: 1, page_bytes: 512, pages_per_block: 8, block_count: 64 },
    Shape { name: "nor-256", nor: true, copy: false, unit_pages: 1, page_bytes: 256, pages_per_block: 16, block_count: 64 },
];

impl Shape {
    /// The settings of the volume: the recommended ones, with the shape's unit.
    pub fn config(&self) -> Config {
        let geometry = self.medium(0).geometry();
        // Every other one keeps permissions.
        let permissions = self.unit_pages > 1;
        let config = Config { unit_pages: self.unit_pages, permissions, ..Config::for_geometry(&geometry) };
        config.check(&geometry).unwrap_or_else(|rule| panic!("{}: {rule}: {config:?}", self.name));
        config
    }

    /// Bytes of a logical page.
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.page_bytes) * u64::from(self.unit_pages)
    }

    /// Its chip.
    pub fn medium(&self, seed: u64) -> Medium {
        if self.nor {
            Medium::nor(self.page_bytes * self.pages_per_block, self.block_count, self.page_bytes, 1, seed)
        } else {
            let geometry = Geometry {
                page_bytes: self.page_bytes,
                pages_per_block: self.pages_per_block,
                block_count: self.block_count,
                programs_bytes: false,
            };
            Medium::nand(geometry, self.copy, seed)
        }
    }

    /// Sizes for random steps on six files of up to `pages` logical pages.
    pub fn limits(&self, pages: u64) -> Limits {
        Limits { files: 6, span: pages * self.logical_bytes(), logical_bytes: self.logical_bytes() }
    }

    /// An empty volume.
    pub fn device(&self, seed: u64) -> Device {
        Device::formatted(self.config(), self.medium(seed), seed)
    }

    /// An empty volume on a chip on which `count` blocks are bad from the factory.
    pub fn device_with_bad_blocks(&self, count: u32, seed: u64) -> Device {
        Device::formatted(self.config(), self.medium(seed).with_bad_blocks(count, seed), seed)
    }

    /// An empty volume with other settings.
    pub fn device_with_config(&self, config: Config, seed: u64) -> Device {
        Device::formatted(config, self.medium(seed), seed)
    }
}

/// A formatted chip, and the memory that its volume is mounted with. A clone is a snapshot.
#[derive(Clone)]
pub struct Device {
    pub chip: Chip,
    memory: Vec<u8>,
    /// Lent for write-back, if there is any.
    cache: Vec<u8>,
    read_cache: Vec<u8>,
    pub config: Config,
}

impl Device {
    /// An empty volume; a disk, where the settings have no files.
    pub fn formatted(config: Config, medium: Medium, seed: u64) -> Self {
        let chip = Trace::new(PowerCut::new(FailOps::new(medium, seed), seed));
        let memory = vec![0; config.memory_bytes(&chip.geometry()) + 16 * OPEN_FILES_MORE];
        let mut device = Self { chip, memory, cache: Vec::new(), read_cache: Vec::new(), config };
        let format = if config.files_max == 0 { Disk::format } else { FileSystem::format };
        format(&mut device.chip, &config, &mut device.memory).expect("format");
        device
    }

    /// The same, formatted once more, with every block erased.
    #[must_use]
    pub fn formatted_erased(mut self) -> Self {
        let Self { chip, memory, config, .. } = &mut self;
        let format = if config.files_max == 0 { Disk::format_erased } else { FileSystem::format_erased };
        format(chip, config, memory, &mut |_, _| {}).expect("format");
        self
    }

    /// The device with memory for so many pages of write-back, and for as many program pages that were read.
    #[must_use]
    pub fn with_cache(mut self, pages: usize) -> Self {
        self.cache = vec![0; self.config.cache_bytes(&self.chip.geometry(), pages)];
        self.read_cache = vec![0; self.config.read_cache_bytes(&self.chip.geometry(), pages)];
        self
    }

    /// Mounts, and holds the mount to its bound.
    pub fn mount(&mut self, access: Access) -> Result<Fs<'_>, MountError> {
        let before = self.before_mount();
        let mut fs = FileSystem::mount(&mut self.chip, access, &mut self.memory)?;
        hold_mount(fs.flash(), &before, &fs.mount_bound(), access, fs.health().read_only);
        if !self.cache.is_empty() {
            self.cache.fill(0xA5);
            fs.lend_cache(&mut self.cache)?;
        }
        fs.lend_read_cache(&mut self.read_cache);
        Ok(fs)
    }

    /// The same of a disk.
    pub fn mount_disk(&mut self, access: Access) -> Result<Disk<'_, &mut Chip>, MountError> {
        let before = self.before_mount();
        let disk = Disk::mount(&mut self.chip, access, &mut self.memory)?;
        hold_mount(disk.flash(), &before, &disk.mount_bound(), access, disk.health().read_only);
        Ok(disk)
    }

    /// What the chip has done before a mount.
    fn before_mount(&mut self) -> Counters {
        // What an earlier volume left in the memory must not matter.
        self.memory.fill(0xA5);
        self.chip.take_records();
        self.chip.counts()
    }

    /// Cuts power between two operations, and gives it back.
    pub fn power_cycle(&mut self) {
        self.cut().cancel();
        self.cut().power_on();
    }

    /// The power supply.
    pub fn cut(&mut self) -> &mut PowerCut<FailOps<Medium>> {
        self.chip.inner_mut()
    }

    /// What lets operations fail.
    pub fn fail(&mut self) -> &mut FailOps<Medium> {
        self.chip.inner_mut().inner_mut()
    }

    /// The chip itself.
    pub fn medium(&mut self) -> &mut Medium {
        self.fail().inner_mut()
    }
}

/// Asserts that a mount cost no more than its bound, and changed nothing where it was one for reading.
fn hold_mount(chip: &Chip, before: &Counters, bound: &Cost, access: Access, read_only: bool) {
    let cost = cost_since(chip, before);
    // A mount for writing that ends as one for reading has read the volume twice.
    let times = if access == Access::ReadWrite && read_only { 2 } else { 1 };
    let limit = bound.times(times);
    if failures(chip) == 0 && bounds_count() {
        assert!(cost.is_within(&limit), "a mount took {cost:?}, its bound is {limit:?}");
    }
    if access == Access::ReadOnly {
        assert_eq!((cost.programs, cost.copies, cost.erases), (0, 0, 0), "a mount for reading only changed the chip");
    }
}

/// Operations of the chip since `before`.
pub fn cost_since(chip: &Chip, before: &Counters) -> Cost {
    cost(&chip.counts().since(before))
}

/// What a chip has done, as a bound says it.
pub fn cost(counts: &Counters) -> Cost {
    Cost {
        reads: counts.reads as u32,
        tag_reads: counts.tag_reads as u32,
        programs: counts.programs as u32,
        copies: counts.copies as u32,
        erases: counts.erases as u32,
    }
}

/// Programs, copies and erases that failed since the records were taken last.
pub fn failures(chip: &Chip) -> u32 {
    let failed = |operation| !matches!(operation, Operation::Read | Operation::ReadTag);
    let records = chip.records().iter();
    records.filter(|r| failed(r.operation) && matches!(r.failure, Some(Failure::BadBlock | Failure::Device))).count() as u32
}

/// Makes a call of one piece and asserts that it costs no more than its bound.
pub fn bounded<T>(fs: &mut Fs<'_>, call: Call, act: impl FnOnce(&mut Fs<'_>) -> Result<T, Error>) -> Result<T, Error> {
    bounded_pieces(fs, call, 1, act)
}

/// Makes a call and asserts that it costs no more than `pieces` calls of its kind may: the first one as the volume is now, the
/// others as it may be at this fill.
pub fn bounded_pieces<T>(
    fs: &mut Fs<'_>,
    call: Call,
    pieces: u32,
    act: impl FnOnce(&mut Fs<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    if !bounds_count() {
        return act(fs);
    }
    let limit = |failures| (fs.bound_with_failures(call, failures), fs.bound_at_fill(call, failures));
    let limits: Vec<(Bound, Bound)> = (0..=FAILURES_CHECKED).map(limit).collect();
    let timing = fs.flash().timing();
    for (failures, (now, _)) in limits.iter().enumerate() {
        let parts = fs.bound_parts(call, failures as u32, &timing);
        let (together, whole) = (parts.total().time_ns(&timing), now.time_ns(&timing));
        assert_eq!(together, whole, "{call:?} with {failures} failures: {parts:?} together are not {now:?}");
    }
    let before = fs.flash().counts();
    fs.flash_mut().take_records();
    let result = act(fs);
    let cost = cost_since(fs.flash(), &before);
    if let Some((first, further)) = limits.get(failures(fs.flash()) as usize) {
        let further_pieces = pieces.max(1) - 1;
        let holds = |erasing: u32, folding: u32| {
            let rest = further.erasing.times(erasing).plus(&further.folding.times(folding));
            first.plus(&rest.plus(&further.moving.times(further_pieces - erasing - folding))).holds(&cost)
        };
        let any = (0..=further_pieces).any(|erasing| (0..=further_pieces - erasing).any(|folding| holds(erasing, folding)));
        assert!(any, "{call:?} ({pieces} pieces) took {cost:?}, its bound is {first:?}, further pieces {further:?}");
    }
    result
}

/// Asserts that idle work took no more than its budget since `before`, unless something failed.
fn hold_budget(chip: &Chip, before: &Counters, budget: u32) {
    let cost = cost_since(chip, before);
    let spent = cost.reads + cost.tag_reads + cost.programs + cost.copies + cost.erases;
    assert!(spent <= budget || failures(chip) > 0, "{spent} operations with a budget of {budget}");
}

/// Whether an exceeded bound is a failure. `STEADYFS_SKIP_BOUNDS=1` shows what else fails.
fn bounds_count() -> bool {
    static COUNT: OnceLock<bool> = OnceLock::new();
    *COUNT.get_or_init(|| std::env::var_os("STEADYFS_SKIP_BOUNDS").is_none())
}
