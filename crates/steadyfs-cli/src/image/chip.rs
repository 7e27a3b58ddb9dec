//! The medium of a volume: an image, a card, or a chip of this machine.

use super::card::Card;
use super::lock::Lock;
use super::names::for_terminal;
use super::recognise::{kind_of, likeness};
use crate::Failure;
use clap::Args;
use std::path::Path;
use std::time::{Duration, Instant};
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorLayout, SectorPages};
use steadyfs::media::{
    BlockIndex, Corrected, Failure as Fault, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs::{Access, Superblocks};
use steadyfs_host::block::{self, BlockError, BlockFile};
use steadyfs_host::image::{Image, Shape};
#[cfg(target_os = "linux")]
use steadyfs_host::mtd::Mtd;
use steadyfs_host::superblocks;
use steadyfs_lab::evaluate::{Found, find_device, find_profile};
use steadyfs_lab::units::{format_duration, format_size};
use steadyfs_sim::managed::ManagedProfile;
use steadyfs_sim::{Chip as ProfiledChip, Counters, Metered, Profile, TimingChoice};

/// The commands that read archives.
const READERS: &str = "`ls`, `tree`, `cat`, `get`, `unpack`, `stat`, `check` and `convert`";

/// Options for the use of an image.
#[derive(Args, Debug, Clone, Default)]
pub struct ChipOptions {
    /// Count time as on this chip or card: a name (see `steady devices`) or a file in TOML
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = crate::device::any)]
    pub device: Option<String>,
    /// Print the operations of the chip on standard error, and with --device their time
    #[arg(long)]
    pub stats: bool,
}

impl ChipOptions {
    /// Opens an image, a card or an MTD device. Warns on standard error if a copy of the superblock
    /// is damaged.
    pub fn open(&self, path: &Path, access: Access) -> Result<Chip, Failure> {
        let device = self.found()?;
        let device = device.as_ref();
        let mut chip = match () {
            () if is_mtd(path) => open_mtd(path, access, device),
            () if is_block_device(path) => {
                refuse_profile(path, device)?;
                open_block(path, access, None)
            }
            () if block::is_volume(path) => open_block(path, access, device),
            // A card whose first block is lost looks like no image at all.
            () => open_image(path, access, device).or_else(|error| {
                if path.is_file() && block::holds_volume(path) {
                    open_block(path, access, device)
                } else {
                    Err(error)
                }
            }),
        }?;
        chip.look_at_superblocks(path);
        Ok(chip)
    }

    /// Returns the erases that a block of the device takes, if a raw device is named.
    pub fn endurance(&self) -> Result<Option<u32>, Failure> {
        Ok(match self.found()? {
            Some(Found::Raw(profile)) => Some(match &profile.chip {
                ProfiledChip::Nand(nand) => nand.endurance_erases,
                ProfiledChip::Nor(nor) => nor.endurance_erases,
            }),
            _ => None,
        })
    }

    /// Returns the device that `--device` names.
    pub(super) fn found(&self) -> Result<Option<Found>, Failure> {
        let found = self.device.as_deref().map(find_device).transpose();
        found.map_err(Failure::measuring)
    }

    /// Prints the work of the chip, if `--stats` is set.
    pub fn report(&self, chip: &Chip) {
        if self.stats {
            eprintln!("{}", describe_work(&chip.counters(), chip.clock()));
        }
    }
}

/// Finds a profile by its name or in a file.
pub fn profile(device: &str) -> Result<Profile, Failure> {
    find_profile(device).map_err(Failure::measuring)
}

/// Returns true if a path is a character device, as MTD devices are.
pub fn is_mtd(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

/// Returns true if a path is a block device, as cards and disks are.
pub fn is_block_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Opens a card or disk, or an image of one. It takes the times of a device, if one is named.
fn open_block(path: &Path, access: Access, device: Option<&Found>) -> Result<Chip, Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::at(path.display(), error);
    let profile = match device {
        Some(Found::Raw(Profile { name, .. })) => {
            return Err(fail(&format!(
                "is managed flash or its image; --device {name} is for images of raw chips"
            )));
        }
        Some(Found::Managed(profile)) => Some(profile),
        None => None,
    };
    let lock = Lock::take(path, access)?;
    let pages = block::open(path, access).map_err(|error| fail(&error))?;
    let (layout, file) = (*pages.layout(), pages.into_device());
    let image_sectors = file.sector_count();
    let (card, clock) = match profile {
        None => (Some(Card::new(file)), Clock::Machine),
        Some(profile) => (Card::with_profile(file, profile), Clock::Device(profile.name.clone())),
    };
    let smaller = |profile: &ManagedProfile| {
        let sizes = [u64::from(image_sectors) * SECTOR_BYTES as u64, profile.capacity_bytes()]
            .map(format_size);
        fail(&format!(
            "--device {0} is too small: the image has {1}, and {0} has {2}",
            profile.name, sizes[0], sizes[1]
        ))
    };
    let card = card.ok_or_else(|| profile.map_or_else(|| fail(&"cannot be used"), smaller))?;
    let pages = SectorPages::new(card, layout).ok_or_else(|| fail(&BlockError::NoVolume))?;
    Ok(Chip::of_block(pages, clock, lock))
}

fn open_image(path: &Path, access: Access, device: Option<&Found>) -> Result<Chip, Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::at(path.display(), error);
    let profile = match device {
        Some(Found::Managed(profile)) => {
            return Err(fail(&format!(
                "is the image of a raw chip; --device {} is for images of cards and disks",
                profile.name
            )));
        }
        Some(Found::Raw(profile)) => Some(profile),
        None => None,
    };
    if path.is_dir() {
        return Err(fail(&"is a directory; expected the image of a chip"));
    }
    if let Some(kind) = kind_of(path, profile)? {
        return Err(fail(&format!(
            "is {kind}, which is only read: `steady pack` makes a volume of it, {READERS} read it"
        )));
    }
    let lock = Lock::take(path, access)?;
    let image = Image::open(path, access).map_err(|error| match likeness(path) {
        Some(kind) => fail(&format!("{error}; it looks like {kind}")),
        None => fail(&error),
    })?;
    Chip::of_image(image, profile, lock).map_err(|error| fail(&error))
}

#[cfg(target_os = "linux")]
fn open_mtd(path: &Path, access: Access, device: Option<&Found>) -> Result<Chip, Failure> {
    let chip = Mtd::open(path, access).map_err(|error| Failure::at(path.display(), error))?;
    refuse_profile(path, device)?;
    Ok(Chip::new(Medium::Mtd(chip), Clock::Machine, None))
}

#[cfg(not(target_os = "linux"))]
fn open_mtd(path: &Path, _access: Access, _device: Option<&Found>) -> Result<Chip, Failure> {
    Err(Failure::at(path.display(), "is a device; MTD devices work on Linux only"))
}

/// Refuses a profile: a chip of this machine has its own times and sizes.
pub fn refuse_profile(path: &Path, device: Option<&Found>) -> Result<(), Failure> {
    match device {
        Some(device) => {
            let name = device.name();
            Err(Failure::at(
                path.display(),
                format!("is a chip of this machine; --device {name} is for images alone"),
            ))
        }
        None => Ok(()),
    }
}

/// Time by which a chip may be late in real time and still catch up.
const CATCH_UP: Duration = Duration::from_millis(2);

/// The source of a chip's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clock {
    /// No device is named: operations take round figures, which are not printed.
    None,
    /// The typical times of a device.
    Device(String),
    /// The machine's clock.
    Machine,
}

/// A medium of any kind, as one type.
#[derive(Debug)]
pub struct Chip {
    medium: Medium,
    clock: Clock,
    /// The time at which the device would have ended the operations so far; `None` if operations
    /// do not take real time.
    busy_until: Option<Instant>,
    /// The copies of the superblock, if one can be read.
    superblocks: Option<Superblocks>,
    /// Operations of the look at these copies. They are not counted.
    uncounted: Counters,
    _lock: Option<Lock>,
}

#[derive(Debug)]
enum Medium {
    Image(Image),
    Block(Box<SectorPages<Card>>),
    #[cfg(target_os = "linux")]
    Mtd(Mtd),
}

impl Chip {
    fn new(medium: Medium, clock: Clock, lock: Option<Lock>) -> Self {
        let uncounted = Counters::default();
        Self { medium, clock, busy_until: None, superblocks: None, uncounted, _lock: lock }
    }

    fn of_image(
        image: Image,
        profile: Option<&Profile>,
        lock: Lock,
    ) -> Result<Self, steadyfs_host::image::ImageError> {
        let (image, clock) = match profile {
            Some(profile) => (
                image.with_profile(profile, TimingChoice::Typical)?,
                Clock::Device(profile.name.clone()),
            ),
            None => (image, Clock::None),
        };
        Ok(Self::new(Medium::Image(image), clock, Some(lock)))
    }

    /// Makes an erased image of a profile's chip.
    pub fn create(path: &Path, shape: &Shape, profile: &Profile) -> Result<Self, Failure> {
        let fail = |error: &dyn std::fmt::Display| Failure::at(path.display(), error);
        let image = Image::create(path, shape).map_err(|error| fail(&error))?;
        let lock = Lock::take(path, Access::ReadWrite)?;
        Self::of_image(image, Some(profile), lock).map_err(|error| fail(&error))
    }

    fn of_block(pages: SectorPages<Card>, clock: Clock, lock: Lock) -> Self {
        Self::new(Medium::Block(Box::new(pages)), clock, Some(lock))
    }

    /// Returns a card or disk for a format.
    pub fn blank_block(
        path: &Path,
        file: BlockFile,
        layout: SectorLayout,
    ) -> Result<Self, Failure> {
        let lock = Lock::take(path, Access::ReadWrite)?;
        let pages = SectorPages::new(Card::new(file), layout).ok_or_else(|| {
            Failure::at(
                path.display(),
                "has no room for a block; expected a larger device, or a smaller --unit",
            )
        })?;
        Ok(Self::of_block(pages, Clock::Machine, lock))
    }

    /// Returns the layout of a card or disk; `None` on raw flash.
    pub fn sector_layout(&self) -> Option<&SectorLayout> {
        match &self.medium {
            Medium::Block(pages) => Some(pages.layout()),
            _ => None,
        }
    }

    /// Opens an MTD device for a format; `divide` is passed to [`Mtd::open_blank`].
    #[cfg(target_os = "linux")]
    pub fn open_blank_mtd(
        path: &Path,
        divide: impl FnOnce(u32, u32) -> (u32, u32),
    ) -> Result<Self, Failure> {
        let device =
            Mtd::open_blank(path, divide).map_err(|error| Failure::at(path.display(), error))?;
        Ok(Self::new(Medium::Mtd(device), Clock::Machine, None))
    }

    /// Looks at both copies of the superblock, and warns on standard error if one is damaged. The
    /// mount reports a medium without a volume.
    fn look_at_superblocks(&mut self, path: &Path) {
        let copies = match &mut self.medium {
            Medium::Image(image) => superblocks::look(image),
            Medium::Block(pages) => block::superblocks(pages),
            #[cfg(target_os = "linux")]
            Medium::Mtd(device) => superblocks::look(device),
        };
        self.superblocks = copies.ok();
        self.uncounted = self.counters();
        if let Some(what) = self.superblocks.as_ref().and_then(superblocks::describe) {
            let text = format!("{}: {what}; {}", path.display(), superblocks::REMEDY);
            eprintln!("warning: {}", for_terminal(&text));
        }
    }

    /// Returns the copies of the superblock, if one can be read.
    pub fn superblocks(&self) -> Option<Superblocks> {
        self.superblocks
    }

    /// Makes every later operation take as long as on the device.
    pub fn take_real_time(&mut self) {
        self.busy_until = Some(Instant::now());
    }

    /// Makes an operation. In real time, waits until the device would have ended it.
    fn operate<T>(&mut self, operation: impl FnOnce(&mut dyn Flash) -> T) -> T {
        let before_ns = self.busy_until.map(|_| self.counters().time_ns);
        let result = operation(self.flash_mut());
        if let (Some(busy_until), Some(before_ns)) = (self.busy_until, before_ns) {
            let now = Instant::now();
            // A short delay comes from a sleep that was too long, and is caught up with. A longer
            // one is idle time, and is not.
            let begin =
                if now.saturating_duration_since(busy_until) > CATCH_UP { now } else { busy_until };
            let end = begin + Duration::from_nanos(self.counters().time_ns - before_ns);
            self.busy_until = Some(end);
            std::thread::sleep(end.saturating_duration_since(now));
        }
        result
    }

    /// Returns the source of time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the reason for the last refusal, in the words of the medium.
    pub fn reason(&self) -> Option<String> {
        match &self.medium {
            Medium::Image(image) => image.refusal().map(ToString::to_string),
            Medium::Block(pages) => pages.device().error().map(ToString::to_string),
            #[cfg(target_os = "linux")]
            Medium::Mtd(device) => device.error().map(ToString::to_string),
        }
    }

    /// Waits until an image is on the host's disk.
    pub fn sync_file(&self) -> Result<(), String> {
        match &self.medium {
            Medium::Image(image) => image.sync().map_err(|error| error.to_string()),
            #[cfg(target_os = "linux")]
            Medium::Mtd(_) => Ok(()),
            // Each commit waited already.
            Medium::Block(_) => Ok(()),
        }
    }

    fn flash(&self) -> &dyn Flash {
        match &self.medium {
            Medium::Image(image) => image,
            Medium::Block(pages) => &**pages,
            #[cfg(target_os = "linux")]
            Medium::Mtd(device) => device,
        }
    }

    fn flash_mut(&mut self) -> &mut dyn Flash {
        match &mut self.medium {
            Medium::Image(image) => image,
            Medium::Block(pages) => &mut **pages,
            #[cfg(target_os = "linux")]
            Medium::Mtd(device) => device,
        }
    }
}

impl Flash for Chip {
    fn geometry(&self) -> Geometry {
        self.flash().geometry()
    }

    fn timing(&self) -> Timing {
        self.flash().timing()
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Fault> {
        self.operate(|flash| flash.read(page, data, tag))
    }

    fn reads_many(&self) -> bool {
        self.flash().reads_many()
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Fault> {
        self.operate(|flash| flash.read_many(first, data, tags))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Fault> {
        self.operate(|flash| flash.read_tag(page, tag))
    }

    fn corrected(&mut self) -> Corrected {
        self.operate(|flash| flash.corrected())
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Fault> {
        self.operate(|flash| flash.program(page, data, tag))
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Fault> {
        self.operate(|flash| flash.program_many(first, data, tags))
    }

    fn can_copy(&self) -> bool {
        self.flash().can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Fault> {
        self.operate(|flash| flash.program_loaded(page, tag))
    }

    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Fault> {
        self.operate(|flash| flash.read_bytes(block, offset, data))
    }
    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Fault> {
        self.operate(|flash| flash.program_bytes(block, offset, data))
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Fault> {
        self.operate(|flash| flash.erase(block))
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.operate(|flash| flash.sync())
    }

    fn reorders(&self) -> bool {
        self.flash().reorders()
    }

    fn hides_damage(&self) -> bool {
        self.flash().hides_damage()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Fault> {
        self.operate(|flash| flash.is_bad(block))
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Fault> {
        self.operate(|flash| flash.mark_bad(block))
    }
}

impl Metered for Chip {
    fn counters(&self) -> Counters {
        let counters = match &self.medium {
            Medium::Image(image) => image.counters(),
            Medium::Block(pages) => pages.counters(),
            #[cfg(target_os = "linux")]
            Medium::Mtd(device) => device.counters(),
        };
        counters.since(&self.uncounted)
    }
}

/// Describes the work of a chip, in one line.
pub fn describe_work(counters: &Counters, clock: &Clock) -> String {
    let Counters { reads, tag_reads, programs, copies, erases, flushes, time_ns, .. } = *counters;
    let time = format_duration(time_ns as f64);
    let time = match clock {
        Clock::None => String::new(),
        Clock::Device(name) => format!("; {time} on {name}"),
        Clock::Machine => format!("; {time}"),
    };
    // Raw flash has no cache.
    let flushes = if flushes > 0 { format!(", {flushes} flushes") } else { String::new() };
    format!(
        "{reads} reads, {tag_reads} tag reads, {programs} programs, {copies} copies, \
         {erases} erases{flushes}{time}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_only_of_a_clock_that_means_something() {
        let counters = Counters { reads: 3, erases: 1, time_ns: 2_500_000, ..Counters::default() };
        let work = "3 reads, 0 tag reads, 0 programs, 0 copies, 1 erases";
        assert_eq!(describe_work(&counters, &Clock::None), work);
        assert_eq!(
            describe_work(&counters, &Clock::Device("w25q".into())),
            format!("{work}; 2.500 ms on w25q")
        );
    }
}
