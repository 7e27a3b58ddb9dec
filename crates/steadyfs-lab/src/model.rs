//! The model of a file system, a map in memory, and the harness that compares a volume with it:
//!
//! - chips of several shapes, with a wrapper for every fault
//! - mounts and calls, which are compared with their bounds
//! - the oracle, which lists the states that a power cut may leave
//!
//! Tests of the core and [`torture`](crate::torture) share it. A violation panics with the expected
//! and the found state. The oracle is in [`oracle`], [`calls`], [`tree`] and [`steps`]; the oracle
//! of a disk is in [`disk`].

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

/// A chip on which power can be cut and operations can fail; its operations are counted.
pub type Chip = Trace<PowerCut<FailOps<Medium>>>;
/// A volume on a chip that stays with the test when the volume is dropped.
pub type Fs<'a> = FileSystem<'a, &'a mut Chip>;

/// Number of files that may be open at once, beside the eight of every volume.
const OPEN_FILES_MORE: usize = 56;
/// Maximum number of failing operations in a call whose bound is checked.
const FAILURES_CHECKED: u32 = 6;

/// A small chip, so that every block is used many times within a second.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub name: &'static str,
    pub nor: bool,
    /// True if the chip copies pages by itself.
    pub copy: bool,
    pub pages_per_logical_page: u16,
    pub page_bytes: u32,
    /// On NOR: bytes of a block divided by `page_bytes`.
    pub pages_per_block: u32,
    pub block_count: u32,
}

/// NAND of single and double pages with and without on-chip copy, and NOR.
pub const SHAPES: [Shape; 6] = [
    Shape {
        name: "nand-16x512",
        nor: false,
        copy: true,
        pages_per_logical_page: 1,
        page_bytes: 512,
        pages_per_block: 16,
        block_count: 64,
    },
    Shape {
        name: "nand-32x512-double",
        nor: false,
        copy: false,
        pages_per_logical_page: 2,
        page_bytes: 512,
        pages_per_block: 32,
        block_count: 48,
    },
    Shape {
        name: "nand-64x256",
        nor: false,
        copy: false,
        pages_per_logical_page: 1,
        page_bytes: 256,
        pages_per_block: 64,
        block_count: 64,
    },
    Shape {
        name: "nand-32x512-copy",
        nor: false,
        copy: true,
        pages_per_logical_page: 2,
        page_bytes: 512,
        pages_per_block: 32,
        block_count: 64,
    },
    Shape {
        name: "nor-512",
        nor: true,
        copy: false,
        pages_per_logical_page: 1,
        page_bytes: 512,
        pages_per_block: 8,
        block_count: 64,
    },
    Shape {
        name: "nor-256",
        nor: true,
        copy: false,
        pages_per_logical_page: 1,
        page_bytes: 256,
        pages_per_block: 16,
        block_count: 64,
    },
];

impl Shape {
    /// Returns the settings of the volume: the recommended settings, with the shape's unit.
    pub fn config(&self) -> Config {
        let geometry = self.medium(0).geometry();
        // Only volumes with a unit of several pages keep permissions.
        let permissions = self.pages_per_logical_page > 1;
        let config = Config {
            pages_per_logical_page: self.pages_per_logical_page,
            permissions,
            ..Config::for_geometry(&geometry)
        };
        config.check(&geometry).unwrap_or_else(|rule| panic!("{}: {rule}: {config:?}", self.name));
        config
    }

    /// Returns the bytes of a logical page.
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.page_bytes) * u64::from(self.pages_per_logical_page)
    }

    /// Returns a new chip of this shape.
    pub fn medium(&self, seed: u64) -> Medium {
        if self.nor {
            Medium::nor(
                self.page_bytes * self.pages_per_block,
                self.block_count,
                self.page_bytes,
                1,
                seed,
            )
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

    /// Returns sizes for random steps on six files of up to `pages` logical pages.
    pub fn limits(&self, pages: u64) -> Limits {
        Limits { files: 6, span: pages * self.logical_bytes(), logical_bytes: self.logical_bytes() }
    }

    /// Returns an empty volume.
    pub fn device(&self, seed: u64) -> Device {
        Device::formatted(self.config(), self.medium(seed), seed)
    }

    /// Returns an empty volume on a chip with `count` bad blocks from the factory.
    pub fn device_with_bad_blocks(&self, count: u32, seed: u64) -> Device {
        Device::formatted(self.config(), self.medium(seed).with_bad_blocks(count, seed), seed)
    }

    /// Returns an empty volume with the settings `config`.
    pub fn device_with_config(&self, config: Config, seed: u64) -> Device {
        Device::formatted(config, self.medium(seed), seed)
    }
}

/// A formatted chip, and the memory for mounts of its volume. A clone is a snapshot.
#[derive(Clone)]
pub struct Device {
    pub chip: Chip,
    memory: Vec<u8>,
    /// Memory that is lent for write-back; empty without a cache.
    cache: Vec<u8>,
    read_cache: Vec<u8>,
    pub config: Config,
}

impl Device {
    /// Formats an empty volume; a disk if the settings have no files.
    pub fn formatted(config: Config, medium: Medium, seed: u64) -> Self {
        let chip = Trace::new(PowerCut::new(FailOps::new(medium, seed), seed));
        let memory = vec![0; config.memory_bytes(&chip.geometry()) + 16 * OPEN_FILES_MORE];
        let mut device = Self { chip, memory, cache: Vec::new(), read_cache: Vec::new(), config };
        let format = if config.files_max == 0 { Disk::format } else { FileSystem::format };
        format(&mut device.chip, &config, &mut device.memory).expect("format");
        device
    }

    /// Formats the device once more, with every block erased.
    #[must_use]
    pub fn formatted_erased(mut self) -> Self {
        let Self { chip, memory, config, .. } = &mut self;
        let format =
            if config.files_max == 0 { Disk::format_erased } else { FileSystem::format_erased };
        format(chip, config, memory, &mut |_, _| {}).expect("format");
        self
    }

    /// Adds memory for `pages` pages of write-back, and for as many program pages of the read
    /// cache.
    #[must_use]
    pub fn with_cache(mut self, pages: usize) -> Self {
        self.cache = vec![0; self.config.cache_bytes(&self.chip.geometry(), pages)];
        self.read_cache = vec![0; self.config.read_cache_bytes(&self.chip.geometry(), pages)];
        self
    }

    /// Mounts, and asserts that the mount stayed within its bound.
    pub fn mount(&mut self, access: Access) -> Result<Fs<'_>, MountError> {
        let before = self.before_mount();
        let mut fs = FileSystem::mount(&mut self.chip, access, &mut self.memory)?;
        let read_only = fs.health().read_only;
        // A mount for writing that has programmed nothing has found a clean end.
        let changes = cost_since(fs.flash(), &before);
        let is_clean = changes.programs + changes.copies == 0 && !read_only;
        let bound = match access {
            Access::ReadWrite if is_clean => fs.bounds().clean_mount(),
            _ => fs.bounds().mount(),
        };
        hold_mount(fs.flash(), &before, &bound, access, read_only);
        if !self.cache.is_empty() {
            self.cache.fill(0xA5);
            fs.lend_cache(&mut self.cache)?;
        }
        fs.lend_read_cache(&mut self.read_cache);
        Ok(fs)
    }

    /// Mounts a disk, and asserts that the mount stayed within its bound.
    pub fn mount_disk(&mut self, access: Access) -> Result<Disk<'_, &mut Chip>, MountError> {
        let before = self.before_mount();
        let disk = Disk::mount(&mut self.chip, access, &mut self.memory)?;
        hold_mount(disk.flash(), &before, &disk.mount_bound(), access, disk.health().read_only);
        Ok(disk)
    }

    /// Overwrites the memory, discards the chip's records, and returns the counters before a mount.
    fn before_mount(&mut self) -> Counters {
        // The contents that an earlier volume left in the memory must not matter.
        self.memory.fill(0xA5);
        self.chip.take_records();
        self.chip.counts()
    }

    /// Cuts power between two operations, and turns it on again. A planned cut is cancelled.
    pub fn power_cycle(&mut self) {
        self.cut().cancel();
        self.cut().power_on();
    }

    /// Returns the power supply.
    pub fn cut(&mut self) -> &mut PowerCut<FailOps<Medium>> {
        self.chip.inner_mut()
    }

    /// Returns the wrapper that makes operations fail.
    pub fn fail(&mut self) -> &mut FailOps<Medium> {
        self.chip.inner_mut().inner_mut()
    }

    /// Returns the chip itself.
    pub fn medium(&mut self) -> &mut Medium {
        self.fail().inner_mut()
    }
}

/// Asserts that a mount cost no more than its bound. A mount for reading must not change the chip.
fn hold_mount(chip: &Chip, before: &Counters, bound: &Cost, access: Access, read_only: bool) {
    let cost = cost_since(chip, before);
    // A mount for writing that ends read-only has read the volume twice.
    let times = if access == Access::ReadWrite && read_only { 2 } else { 1 };
    let limit = bound.times(times);
    if failures(chip) == 0 && bounds_count() {
        assert!(cost.is_within(&limit), "a mount took {cost:?}, its bound is {limit:?}");
    }
    if access == Access::ReadOnly {
        assert_eq!(
            (cost.programs, cost.copies, cost.erases),
            (0, 0, 0),
            "a mount for reading only changed the chip"
        );
    }
}

/// Returns the operations of the chip since `before`.
pub fn cost_since(chip: &Chip, before: &Counters) -> Cost {
    cost(&chip.counts().since(before))
}

/// Returns the operations of a chip in the form of a bound.
pub fn cost(counts: &Counters) -> Cost {
    Cost {
        reads: counts.reads as u32,
        tag_reads: counts.tag_reads as u32,
        programs: counts.programs as u32,
        copies: counts.copies as u32,
        erases: counts.erases as u32,
        instructions: 0,
    }
}

/// Returns the number of programs, copies and erases that failed since the records were last taken.
pub fn failures(chip: &Chip) -> u32 {
    let failed = |operation| !matches!(operation, Operation::Read | Operation::ReadTag);
    let records = chip.records().iter();
    records
        .filter(|r| {
            failed(r.operation) && matches!(r.failure, Some(Failure::BadBlock | Failure::Device))
        })
        .count() as u32
}

/// Makes a call of one piece and asserts that it costs no more than its bound.
pub fn bounded<T>(
    fs: &mut Fs<'_>,
    call: Call,
    act: impl FnOnce(&mut Fs<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    bounded_pieces(fs, call, 1, act)
}

/// Makes a call and asserts that it costs no more than `pieces` calls of its kind. The bound of the
/// first piece is for the volume as it is now. The bound of the others is for any volume at this
/// fill.
pub fn bounded_pieces<T>(
    fs: &mut Fs<'_>,
    call: Call,
    pieces: u32,
    act: impl FnOnce(&mut Fs<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    if !bounds_count() {
        return act(fs);
    }
    let limit =
        |failures| (fs.bounds().with_failures(call, failures), fs.bounds().at_fill(call, failures));
    let limits: Vec<(Bound, Bound)> = (0..=FAILURES_CHECKED).map(limit).collect();
    let timing = fs.flash().timing();
    for (failures, (now, _)) in limits.iter().enumerate() {
        let parts = fs.bounds().breakdown(call, failures as u32, &timing);
        let (together, whole) = (parts.total().time_ns(&timing), now.time_ns(&timing));
        assert_eq!(
            together, whole,
            "{call:?} with {failures} failures: {parts:?} together are not {now:?}"
        );
    }
    let before = fs.flash().counts();
    fs.flash_mut().take_records();
    let result = act(fs);
    let cost = cost_since(fs.flash(), &before);
    if let Some((first, further)) = limits.get(failures(fs.flash()) as usize) {
        let further_pieces = pieces.max(1) - 1;
        let holds = |erasing: u32, folding: u32| {
            let rest = further.erasing.times(erasing).plus(&further.folding.times(folding));
            first
                .plus(&rest.plus(&further.moving.times(further_pieces - erasing - folding)))
                .holds(&cost)
        };
        let any = (0..=further_pieces)
            .any(|erasing| (0..=further_pieces - erasing).any(|folding| holds(erasing, folding)));
        assert!(
            any,
            "{call:?} ({pieces} pieces) took {cost:?}, its bound is {first:?}, further pieces \
             {further:?}"
        );
    }
    result
}

/// Unmounts. If there is nothing to commit, asserts that the unmount stayed within its bound.
fn unmount_within_bound(mut fs: Fs<'_>) -> Result<(), Error> {
    let bound = (!fs.has_changes()).then(|| fs.bounds().unmount());
    let before = fs.flash().counts();
    fs.flash_mut().take_records();
    let chip = fs.unmount()?;
    let cost = cost_since(chip, &before);
    if let Some(bound) = bound.filter(|_| failures(chip) == 0 && bounds_count()) {
        assert!(cost.is_within(&bound), "an unmount took {cost:?}, its bound is {bound:?}");
    }
    Ok(())
}

/// Rolls back, and asserts that the rollback stayed within its bound.
fn rollback_within_bound(fs: &mut Fs<'_>) -> Result<(), Error> {
    let bound = fs.bounds().rollback();
    let before = fs.flash().counts();
    fs.rollback()?;
    let cost = cost_since(fs.flash(), &before);
    if bounds_count() {
        assert!(cost.is_within(&bound), "a rollback took {cost:?}, its bound is {bound:?}");
    }
    Ok(())
}

/// Asserts that idle work since `before` took no more than its budget, unless an operation failed.
fn hold_budget(chip: &Chip, before: &Counters, budget: u32) {
    let cost = cost_since(chip, before);
    let spent = cost.reads + cost.tag_reads + cost.programs + cost.copies + cost.erases;
    assert!(spent <= budget || failures(chip) > 0, "{spent} operations with a budget of {budget}");
}

/// Returns true if an exceeded bound is a failure. `STEADYFS_SKIP_BOUNDS=1` turns this off, to show
/// the other failures.
fn bounds_count() -> bool {
    static COUNT: OnceLock<bool> = OnceLock::new();
    *COUNT.get_or_init(|| std::env::var_os("STEADYFS_SKIP_BOUNDS").is_none())
}
