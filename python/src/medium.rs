//! The medium of a volume: the image of a chip, the image of a card, or a simulated chip in
//! memory.

use crate::trouble::Trouble;
use std::fs::{File, TryLockError};
use std::path::Path;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorLayout, SectorPages};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs::{Access, Config, Superblocks};
use steadyfs_host::block::{self, BlockFile};
use steadyfs_host::image::{Image, Shape};
use steadyfs_host::superblocks;
use steadyfs_lab::evaluate::find_profile;
use steadyfs_sim::{Chip, Counters, Metered, Nand, Nor, NorProfile, Profile, TimingChoice};

/// The bytes of the largest card: its sectors have numbers of 32 bits.
const CARD_BYTES_MAX: u64 = u32::MAX as u64 * SECTOR_BYTES as u64;
/// The step in which the least size of a card is searched.
const CARD_STEP_BYTES: u64 = 64 << 10;

/// One type for every kind of medium.
pub struct Medium {
    kind: Kind,
    /// Erases that a block endures, if a device was named.
    endurance: Option<u32>,
    /// The copies of the superblock when the image was opened.
    superblocks: Option<Superblocks>,
    /// Operations of the reads of these copies. They are not counted.
    uncounted: Counters,
    /// The division of an image that a volume on the named device usually does not have.
    unusual: Option<String>,
    /// A lock that keeps other processes from the image.
    lock: Option<File>,
}

enum Kind {
    Image(Box<Image>),
    Card(Box<SectorPages<BlockFile>>),
    Nand(Box<Nand>),
    Nor(Box<NorPages<Nor>>),
}

/// Finds the profile of a raw chip.
pub fn profile(device: &str) -> Result<Profile, Trouble> {
    find_profile(device).map_err(|error| Trouble::invalid(error, device))
}

fn endurance(profile: &Profile) -> u32 {
    match &profile.chip {
        Chip::Nand(nand) => nand.endurance_erases,
        Chip::Nor(nor) => nor.endurance_erases,
    }
}

/// Locks an image like the commands do: shared for reading, exclusive for writing. On file
/// systems without locks, every process gets access.
fn lock(path: &Path, access: Access, name: &str) -> Result<Option<File>, Trouble> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let taken = if access == Access::ReadWrite { file.try_lock() } else { file.try_lock_shared() };
    match taken {
        Err(TryLockError::WouldBlock) => {
            let what = if access == Access::ReadWrite { "is in use" } else { "is being changed" };
            Err(Trouble::new(
                "EBUSY",
                format!(
                    "the image {what} elsewhere, in this process or another; expected it to be free"
                ),
                name,
            ))
        }
        Err(TryLockError::Error(_)) | Ok(()) => Ok(Some(file)),
    }
}

/// Returns the settings of a new file system, like `steady format`.
pub fn usual_config(geometry: &Geometry, layout: Option<&SectorLayout>) -> Config {
    let usual = layout.map_or_else(|| Config::for_geometry(geometry), Config::for_sectors);
    Config { permissions: true, ..usual }
}

/// Returns the shape of a profile's chip, or of `size` bytes of NOR. NOR has its usual erase
/// sectors. If these are too few, it has its smallest erase sectors.
fn shape(profile: &Profile, size: Option<u64>) -> Result<Shape, Trouble> {
    let nor = match (&profile.chip, size) {
        (Chip::Nand(_), None) => return Ok(Shape::of(profile)),
        (Chip::Nand(_), Some(_)) => {
            let words = "is NAND, which has its own size; size_bytes is for NOR, and for cards \
                         without a device";
            return Err(Trouble::invalid(words, &profile.name));
        }
        (Chip::Nor(nor), _) => nor,
    };
    let bytes = size.unwrap_or(nor.size_bytes.into());
    let smallest =
        nor.erases.iter().map(|erase| erase.bytes).min().unwrap_or(nor.default_erase_bytes);
    if bytes == 0 || !bytes.is_multiple_of(smallest.into()) || bytes > u64::from(nor.size_bytes) {
        let words = format!(
            "size_bytes is {bytes}; expected a multiple of {smallest} bytes, up to {}",
            nor.size_bytes
        );
        return Err(Trouble::invalid(words, &profile.name));
    }
    let fitting = |bytes: u64| {
        [nor.default_erase_bytes, smallest]
            .into_iter()
            .find_map(|sector_bytes| of_sectors(sector_bytes, bytes))
    };
    fitting(bytes).ok_or_else(|| {
        let most = nor.size_bytes.into();
        let least = least_bytes(smallest.into(), most, |bytes| fitting(bytes).is_some());
        Trouble::invalid(too_little(bytes, least), &profile.name)
    })
}

/// Finds a small size with which a volume fits, by halving. Below it, the next smaller size has no
/// room.
fn least_bytes(step: u64, most: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut without, mut fitting) = (0, most / step);
    while fitting - without > 1 {
        let middle = without + (fitting - without) / 2;
        if fits(middle * step) { fitting = middle } else { without = middle }
    }
    fitting * step
}

fn too_little(bytes: u64, least: u64) -> String {
    format!("size_bytes is {bytes}, too little for a volume; expected at least {least}")
}

/// Returns a shape for `bytes` bytes of NOR. Erase sectors are grouped until a block has enough
/// room. Returns `None` if no group has.
fn of_sectors(sector_bytes: u32, bytes: u64) -> Option<Shape> {
    let sectors = u32::try_from(bytes / u64::from(sector_bytes)).ok()?;
    let of = |count: u32| {
        let block_bytes = sector_bytes * count;
        Shape::Nor {
            page_bytes: page_bytes_for(block_bytes),
            block_bytes,
            block_count: sectors / count,
        }
    };
    let fits = |shape: &Shape| {
        shape
            .geometry()
            .is_ok_and(|geometry| usual_config(&geometry, None).check(&geometry).is_ok())
    };
    (0..8).map(|power| 1 << power).take_while(|count| sectors / count >= 16).map(of).find(fits)
}

impl Medium {
    fn of(kind: Kind, profile: Option<&Profile>, lock: Option<File>) -> Self {
        let endurance = profile.map(endurance);
        Self {
            kind,
            endurance,
            superblocks: None,
            uncounted: Counters::default(),
            unusual: None,
            lock,
        }
    }

    /// Opens the image of a formatted chip or card.
    pub fn open(
        path: &Path,
        device: Option<&str>,
        access: Access,
        name: &str,
    ) -> Result<Self, Trouble> {
        let profile = device.map(profile).transpose()?;
        if path.is_dir() {
            return Err(Trouble::new(
                "EISDIR",
                "is a directory; expected the image of a chip",
                name,
            ));
        }
        let lock = lock(path, access, name)?;
        Self::open_kind(path, profile.as_ref(), access, lock, name).map(Self::with_superblocks)
    }

    /// Opens the image of a card, or else of a raw chip. The image of a card without its first
    /// block looks like neither.
    fn open_kind(
        path: &Path,
        profile: Option<&Profile>,
        access: Access,
        lock: Option<File>,
        name: &str,
    ) -> Result<Self, Trouble> {
        let image = match Image::open(path, access) {
            _ if block::is_volume(path) => None,
            Ok(image) => Some(image),
            Err(_) if block::holds_volume(path) => None,
            Err(error) => return Err(Trouble::image(&error, name)),
        };
        if let Some(image) = image {
            return Self::of_image(image, profile, lock, name);
        }
        if let Some(profile) = profile {
            let words = format!(
                "is the image of a card or disk; expected no device, and {} is a raw chip",
                profile.name
            );
            return Err(Trouble::invalid(words, name));
        }
        let pages = block::open(path, access).map_err(|error| Trouble::block(&error, name))?;
        Ok(Self::of(Kind::Card(Box::new(pages)), None, lock))
    }

    /// Reads both copies of the superblock.
    fn with_superblocks(mut self) -> Self {
        let copies = match &mut self.kind {
            Kind::Image(image) => superblocks::look(&mut **image),
            Kind::Card(pages) => block::superblocks(pages),
            Kind::Nand(_) | Kind::Nor(_) => return self,
        };
        let uncounted = self.counters();
        Self { superblocks: copies.ok(), uncounted, ..self }
    }

    /// Returns the damage to a copy of the superblock, if there is any.
    pub fn damaged_superblock(&self) -> Option<String> {
        superblocks::describe(self.superblocks.as_ref()?)
    }

    /// The division of an image that a volume on the named device usually does not have.
    pub fn unusual_division(&self) -> Option<String> {
        self.unusual.clone()
    }

    /// Writes the damaged copy of the superblock anew.
    pub fn mend_superblock(&mut self) -> Result<(), steadyfs::Error> {
        let Some(copies) = self.superblocks else { return Ok(()) };
        superblocks::mend(self, copies)?;
        self.superblocks = Some(Superblocks { damaged: None, ..copies });
        Ok(())
    }

    /// Wraps an image, with the times of a profile. Refuses a profile that does not fit.
    fn of_image(
        image: Image,
        profile: Option<&Profile>,
        lock: Option<File>,
        name: &str,
    ) -> Result<Self, Trouble> {
        let Some(profile) = profile else {
            return Ok(Self::of(Kind::Image(Box::new(image)), None, lock));
        };
        let found = image.shape();
        let image = image
            .with_profile(profile, TimingChoice::Typical)
            .map_err(|error| Trouble::image(&error, name))?;
        let unusual = unusual_division(&found, profile, name)?;
        Ok(Self { unusual, ..Self::of(Kind::Image(Box::new(image)), Some(profile), lock) })
    }

    /// Creates the erased image of a chip in a new file. Returns it with suitable settings.
    pub fn create(
        path: &Path,
        device: Option<&str>,
        size: Option<u64>,
        name: &str,
    ) -> Result<(Self, Config), Trouble> {
        let Some(device) = device else { return Self::create_card(path, size, name) };
        let profile = profile(device)?;
        let shape = shape(&profile, size)?;
        let geometry = shape.geometry().map_err(|error| Trouble::image(&error, name))?;
        let config = usual_config(&geometry, None);
        let image = Image::create(path, &shape).map_err(|error| Trouble::image(&error, name))?;
        let lock = lock(path, Access::ReadWrite, name)?;
        Ok((Self::of_image(image, Some(&profile), lock, name)?, config))
    }

    fn create_card(path: &Path, size: Option<u64>, name: &str) -> Result<(Self, Config), Trouble> {
        let words = "device and size_bytes are missing; expected the chip that the image is for, \
                     or the bytes of a card or disk";
        let bytes = size.ok_or_else(|| Trouble::invalid(words, name))?;
        if bytes > CARD_BYTES_MAX {
            let words = format!("size_bytes is {bytes}; expected at most {CARD_BYTES_MAX}");
            return Err(Trouble::invalid(words, name));
        }
        let layout_of = |bytes: u64| SectorLayout::for_size((bytes / SECTOR_BYTES as u64) as u32);
        let config_of = |layout: &SectorLayout| usual_config(&layout.geometry(), Some(layout));
        let fits = |bytes: u64| {
            let layout = layout_of(bytes);
            config_of(&layout).check(&layout.geometry()).is_ok()
        };
        if !fits(bytes) {
            let least = least_bytes(CARD_STEP_BYTES, CARD_BYTES_MAX, fits);
            return Err(Trouble::invalid(too_little(bytes, least), name));
        }
        let layout = layout_of(bytes);
        let config = config_of(&layout);
        let file = block::create(path, bytes).map_err(|error| Trouble::block(&error, name))?;
        let layout = SectorLayout { sectors: file.sector_count().min(layout.sectors), ..layout };
        let lock = lock(path, Access::ReadWrite, name)?;
        let pages = SectorPages::new(file, layout)
            .ok_or_else(|| Trouble::invalid("has no room for a block", name))?;
        Ok((Self::of(Kind::Card(Box::new(pages)), None, lock), config))
    }

    /// Creates an erased simulated chip in memory.
    pub fn blank(device: &str, size: Option<u64>, seed: u64) -> Result<(Self, Config), Trouble> {
        let profile = profile(device)?;
        let choice = TimingChoice::Typical;
        let kind = match (&profile.chip, shape(&profile, size)?) {
            (Chip::Nor(nor), Shape::Nor { page_bytes, block_bytes, block_count }) => {
                let chip = simulated_nor(&profile, nor, block_bytes, block_count, seed)?;
                Kind::Nor(Box::new(NorPages::new(chip, page_bytes)))
            }
            _ => Kind::Nand(Box::new(Nand::new(&profile, choice, seed))),
        };
        let medium = Self::of(kind, Some(&profile), None);
        let config = usual_config(&medium.geometry(), None);
        Ok((medium, config))
    }

    /// Returns the number of erases that a block endures, if a device was named.
    pub fn endurance(&self) -> Option<u32> {
        self.endurance
    }

    /// Returns the medium's reason for refusing the last operation.
    pub fn reason(&self) -> Option<String> {
        match &self.kind {
            Kind::Image(image) => image.refusal().map(ToString::to_string),
            Kind::Card(pages) => pages.device().error().map(ToString::to_string),
            Kind::Nand(_) | Kind::Nor(_) => None,
        }
    }

    /// Unlocks an image. A fork inherits the lock: if this process only closed the file, the lock
    /// would stay.
    pub fn unlock(&self) {
        if let Some(lock) = &self.lock {
            // If the unlock fails, the lock ends with the processes.
            let _ = lock.unlock();
        }
    }

    /// Waits until an image is on the host's disk.
    pub fn sync_file(&self, name: &str) -> Result<(), Trouble> {
        match &self.kind {
            Kind::Image(image) => image.sync().map_err(|error| Trouble::image(&error, name)),
            // A card has done so at each commit. A chip in memory has no file.
            Kind::Card(_) | Kind::Nand(_) | Kind::Nor(_) => Ok(()),
        }
    }

    fn flash(&self) -> &dyn Flash {
        match &self.kind {
            Kind::Image(image) => &**image,
            Kind::Card(pages) => &**pages,
            Kind::Nand(chip) => &**chip,
            Kind::Nor(chip) => &**chip,
        }
    }

    fn flash_mut(&mut self) -> &mut dyn Flash {
        match &mut self.kind {
            Kind::Image(image) => &mut **image,
            Kind::Card(pages) => &mut **pages,
            Kind::Nand(chip) => &mut **chip,
            Kind::Nor(chip) => &mut **chip,
        }
    }
}

/// Compares the shape of an image with a profile of its kind. An image of a part of NOR fits.
///
/// An image stores no name of a chip, so chips of the same shape all fit. Returns the
/// difference if the image fits the chip, and a new volume of its size is divided otherwise.
///
/// # Errors
/// The chip does not have this shape.
fn unusual_division(
    found: &Shape,
    profile: &Profile,
    name: &str,
) -> Result<Option<String>, Trouble> {
    let chip = match &profile.chip {
        Chip::Nand(_) => Shape::of(profile),
        Chip::Nor(nor) if found.file_bytes() > u64::from(nor.size_bytes) => {
            let words = format!(
                "is the image of a chip of {} bytes; expected {} at most, the size of {}",
                found.file_bytes(),
                nor.size_bytes,
                profile.name
            );
            return Err(Trouble::invalid(words, name));
        }
        Chip::Nor(_) => match shape(profile, Some(found.file_bytes())) {
            Ok(shape) => shape,
            Err(_) => return Ok(None),
        },
    };
    if *found == chip {
        return Ok(None);
    }
    let (found, expected) = (sizes(found), sizes(&chip));
    match &profile.chip {
        Chip::Nand(_) => {
            let words = format!(
                "is the image of a chip of {found}; expected {expected}, the sizes of {}",
                profile.name
            );
            Err(Trouble::invalid(words, name))
        }
        Chip::Nor(_) => Ok(Some(format!(
            "has {found}; expected {expected}, as a volume on {} is usually divided: perhaps the \
             image is of another chip",
            profile.name
        ))),
    }
}

fn sizes(shape: &Shape) -> String {
    match shape {
        Shape::Nand {
            geometry: Geometry { page_bytes, pages_per_block, block_count, .. },
            spare_bytes,
        } => {
            format!(
                "{block_count} blocks of {pages_per_block} pages of {page_bytes} bytes with \
                 {spare_bytes} spare bytes"
            )
        }
        Shape::Nor { page_bytes, block_bytes, block_count } => {
            format!("{block_count} blocks of {block_bytes} bytes in pages of {page_bytes}")
        }
    }
}

fn simulated_nor(
    profile: &Profile,
    nor: &NorProfile,
    block_bytes: u32,
    block_count: u32,
    seed: u64,
) -> Result<Nor, Trouble> {
    let timing = steadyfs_sim::NorTiming::of_block(nor, block_bytes, TimingChoice::Typical);
    let timing = timing
        .ok_or_else(|| Trouble::invalid("has no erase size that fits a block", &profile.name))?;
    Ok(Nor::with_geometry(block_bytes, block_count, timing, seed))
}

impl Flash for Medium {
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
    ) -> Result<(), Failure> {
        self.flash_mut().read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.flash_mut().read_tag(page, tag)
    }

    fn corrected(&mut self) -> Corrected {
        self.flash_mut().corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.flash_mut().program(page, data, tag)
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        self.flash_mut().program_many(first, data, tags)
    }

    fn can_copy(&self) -> bool {
        self.flash().can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.flash_mut().program_loaded(page, tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.flash_mut().read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.flash_mut().program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.flash_mut().erase(block)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.flash_mut().sync()
    }

    fn reorders(&self) -> bool {
        self.flash().reorders()
    }

    fn hides_damage(&self) -> bool {
        self.flash().hides_damage()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.flash_mut().is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.flash_mut().mark_bad(block)
    }
}

impl Metered for Medium {
    fn counters(&self) -> Counters {
        let counters = match &self.kind {
            Kind::Image(image) => image.counters(),
            Kind::Card(pages) => pages.counters(),
            Kind::Nand(chip) => chip.counters(),
            Kind::Nor(chip) => chip.counters(),
        };
        counters.since(&self.uncounted)
    }
}
