//! Volumes on simulated chips, mounted in temporary directories.

// Not every test uses all of it.
#![allow(dead_code)]

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use steadyfs::disk::Disk;
use steadyfs::media::{
    BlockIndex, Failure as ChipFailure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs::{Access, Config, FileSystem};
use steadyfs_fuse::{Background, Failure, Options, spawn, spawn_disk};
use steadyfs_sim::{Metered, Nand, NandTiming, PowerCut, Profile, TimingChoice};
use tempfile::TempDir;

/// Number of files that may be open at once, beside the eight that always have room.
const OPEN_FILES: usize = 1024;

/// A chip whose power the test can cut while a volume on it is mounted. Clones are the same chip.
#[derive(Clone)]
pub struct Chip(Arc<Mutex<PowerCut<Nand>>>);

impl Chip {
    /// Makes a chip of 16 MiB with pages of 2 KiB, with an empty volume on it.
    pub fn small(seed: u64) -> Self {
        Self::with_blocks(128, seed)
    }

    /// Makes a chip of blocks of 128 KiB, with an empty volume on it.
    pub fn with_blocks(block_count: u32, seed: u64) -> Self {
        Self::formatted(Self::nand(block_count, seed), false, seed)
    }

    /// Makes a chip of 16 MiB with an empty volume that keeps permissions.
    pub fn with_permissions(seed: u64) -> Self {
        Self::formatted(Self::nand(128, seed), true, seed)
    }

    fn nand(block_count: u32, seed: u64) -> Nand {
        let geometry =
            Geometry { page_bytes: 2048, pages_per_block: 64, block_count, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, seed)
    }

    /// Makes a Micron MT29F1G01 of 128 MiB, with an empty volume on it.
    pub fn large(seed: u64) -> Self {
        let profile = Profile::named("mt29f1g01abafd").unwrap();
        Self::formatted(Nand::new(&profile, TimingChoice::Typical, seed), false, seed)
    }

    /// Makes a chip of blocks of 128 KiB, with an empty disk on it.
    pub fn disk(block_count: u32, seed: u64) -> Self {
        let nand = Self::nand(block_count, seed);
        let config = Config::for_disk(&nand.geometry());
        let mut memory = vec![0; config.memory_bytes(&nand.geometry())];
        let flash = Disk::format(PowerCut::new(nand, seed), &config, &mut memory).unwrap();
        Self(Arc::new(Mutex::new(flash)))
    }

    fn formatted(nand: Nand, permissions: bool, seed: u64) -> Self {
        let config = Config { permissions, ..Config::for_geometry(&nand.geometry()) };
        let mut memory = vec![0; config.memory_bytes(&nand.geometry())];
        let flash = FileSystem::format(PowerCut::new(nand, seed), &config, &mut memory).unwrap();
        Self(Arc::new(Mutex::new(flash)))
    }

    pub fn lock(&self) -> MutexGuard<'_, PowerCut<Nand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the chip in its present state. Changes of one copy do not affect the
    /// other.
    pub fn snapshot(&self) -> Self {
        Self(Arc::new(Mutex::new(self.lock().clone())))
    }

    /// Returns the number of programs since the chip was made.
    pub fn programs(&self) -> u64 {
        self.lock().counters().programs
    }

    /// Verifies every page and every reference of the volume. It works on a copy of the chip, so
    /// the recovery after a power cut is undone.
    #[track_caller]
    pub fn check(&self) {
        let mut chip = self.lock().clone();
        let geometry = chip.geometry();
        let (mut memory, mut findings) = (self.memory(), Vec::new());
        let mut scratch = vec![0; Config::for_geometry(&geometry).check_bytes(&geometry)];
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap();
        fs.check(&mut scratch, false, &mut |finding| findings.push(finding)).unwrap();
        assert!(findings.is_empty(), "the volume is damaged: {findings:?}");
    }

    /// Allocates the memory for a volume on the chip.
    pub fn memory(&self) -> Vec<u8> {
        let geometry = self.geometry();
        vec![0; Config::for_geometry(&geometry).memory_bytes(&geometry) + 12 * OPEN_FILES]
    }
}

impl Flash for Chip {
    fn geometry(&self) -> Geometry {
        self.lock().geometry()
    }
    fn timing(&self) -> Timing {
        self.lock().timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), ChipFailure> {
        self.lock().read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), ChipFailure> {
        self.lock().read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), ChipFailure> {
        self.lock().program(page, data, tag)
    }
    fn can_copy(&self) -> bool {
        self.lock().can_copy()
    }
    fn program_loaded(
        &mut self,
        page: PageIndex,
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), ChipFailure> {
        self.lock().program_loaded(page, tag)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), ChipFailure> {
        self.lock().read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), ChipFailure> {
        self.lock().program_bytes(block, offset, data)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), ChipFailure> {
        self.lock().erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, ChipFailure> {
        self.lock().is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), ChipFailure> {
        self.lock().mark_bad(block)
    }
}

/// A mounted volume. It is taken away when the test ends, also when it fails.
pub struct Mounted {
    pub chip: Chip,
    options: Options,
    background: Option<Background<Chip>>,
    directory: TempDir,
}

impl Mounted {
    /// Mounts the volume of a chip. If mounting is not permitted, prints the reason and returns
    /// `None`.
    pub fn new(chip: Chip) -> Option<Self> {
        Self::with_options(chip, Options::default())
    }

    pub fn with_options(chip: Chip, options: Options) -> Option<Self> {
        let directory = tempfile::Builder::new().prefix("steadyfs-fuse-").tempdir().unwrap();
        let mut mounted = Self { chip, options, background: None, directory };
        match mounted.mount() {
            Ok(()) => Some(mounted),
            Err(Failure::Kernel(error)) if is_refused(&error) => {
                println!("skipped: this machine does not let us mount: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn mount(&mut self) -> Result<(), Failure> {
        let access = if self.options.read_only { Access::ReadOnly } else { Access::ReadWrite };
        let memory = self.chip.memory();
        self.background = Some(spawn(
            self.chip.clone(),
            access,
            memory,
            self.directory.path(),
            self.options.clone(),
        )?);
        Ok(())
    }

    /// Returns the path of a file of the volume.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn unmount(&mut self) -> Result<(), Failure> {
        self.background.take().unwrap().unmount().map(|_| ())
    }

    /// Unmounts, checks the volume, and mounts again.
    pub fn remount(&mut self) {
        self.unmount().unwrap();
        self.chip.check();
        self.mount().unwrap();
    }

    /// Cuts power now, and mounts the state that the chip has then.
    pub fn cut_and_remount(&mut self) {
        self.chip.lock().cut_now();
        self.recover();
    }

    /// Checks and mounts the state that a cut left on the chip.
    pub fn recover(&mut self) {
        // The last commit fails, if there was anything to commit.
        let _ = self.unmount();
        self.chip.lock().power_on();
        self.chip.check();
        self.mount().unwrap();
    }
}

/// A disk that is mounted as a file. It is taken away when the test ends, also when it fails.
pub struct MountedDisk {
    pub chip: Chip,
    background: Option<Background<Chip>>,
    directory: TempDir,
}

impl MountedDisk {
    /// Mounts the disk of a chip. If mounting is not permitted, prints the reason and returns
    /// `None`.
    pub fn new(chip: Chip, options: Options) -> Option<Self> {
        let directory = tempfile::Builder::new().prefix("steadyfs-disk-").tempdir().unwrap();
        match spawn_disk(chip.clone(), Access::ReadWrite, chip.memory(), directory.path(), options)
        {
            Ok(background) => Some(Self { chip, background: Some(background), directory }),
            Err(Failure::Kernel(error)) if is_refused(&error) => {
                println!("skipped: this machine does not let us mount: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the path of the disk.
    pub fn file(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    /// Returns the directory on which it is mounted.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn unmount(mut self) -> Result<(), Failure> {
        self.background.take().unwrap().unmount().map(drop)
    }
}

/// Returns true if an error means that this machine does not permit the mount. Other errors are
/// failures.
pub fn is_refused(error: &io::Error) -> bool {
    let no_device = OpenOptions::new().read(true).write(true).open("/dev/fuse").is_err();
    let not_root = !rustix::process::geteuid().is_root();
    no_device
        || not_root
        || matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound)
}

/// Returns the error number of a call that must fail.
#[track_caller]
pub fn errno<T>(result: Result<T, impl Into<io::Error>>) -> i32 {
    match result {
        Ok(_) => panic!("it succeeded"),
        Err(error) => error.into().raw_os_error().expect("an error number"),
    }
}
