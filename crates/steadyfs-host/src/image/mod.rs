//! Raw chip images: a file that contains exactly the bytes of a chip. `docs/guide/linux.md`
//! describes the layout.
//!
//! [`Image::create`] makes an image of a [`Shape`], and [`Image::open`] opens an image. Both return
//! a [`Flash`].
//!
//! Every program and erase is written to the file at once. The image enforces the rules of the
//! chip. It refuses any operation that a chip does not allow, and [`Image::refusal`] returns the
//! reason. The same calls always produce the same bytes.
//!
//! | file | idea |
//! |---|---|
//! | `shape` | sizes, and how they follow from a file |
//! | `superblock` | how a volume differs from other bytes |
//! | `content` | bytes at an offset of the file |
//! | `nand`, `nor` | the two kinds of chips |
//! | `error` | the errors |

mod content;
mod error;
mod nand;
mod nor;
mod shape;
mod superblock;

pub use error::{ImageError, Refusal};
pub use shape::{SPARE_BYTES_MIN, Shape, TAG_OFFSET};

use content::Content;
use nand::NandImage;
use nor::NorImage;
use std::fs::OpenOptions;
use std::path::Path;
use steadyfs::Access;
use steadyfs::media::nor::NorPages;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs_sim::{Chip, Counters, Metered, NandTiming, NorTiming, Profile, TimingChoice};

#[cfg(target_os = "linux")]
pub(crate) use content::Bytes;
#[cfg(target_os = "linux")]
pub(crate) use superblock::recognise;

/// A chip whose content is a file.
///
/// Simulated time is computed with round durations, until [`with_profile`](Image::with_profile)
/// selects the durations of a real chip.
#[derive(Debug)]
pub struct Image {
    shape: Shape,
    chip: Kind,
}

#[derive(Debug)]
enum Kind {
    Nand(NandImage),
    Nor(NorPages<NorImage>),
}

impl Image {
    /// Makes an erased image in a new file.
    ///
    /// # Errors
    /// [`ImageError::Shape`] if no chip has this shape. [`ImageError::Io`] if the host fails, or if
    /// a file of this name exists.
    pub fn create(path: impl AsRef<Path>, shape: &Shape) -> Result<Self, ImageError> {
        shape.check()?;
        let path = path.as_ref();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(ImageError::Io)?;
        let mut content = Content::new(file, Access::ReadWrite);
        if let Err(error) = content.fill(shape.file_bytes()) {
            // An incomplete file is useless, so it is removed.
            let _ = std::fs::remove_file(path);
            return Err(ImageError::Io(error));
        }
        Ok(Self::of(content, *shape))
    }

    /// Opens the image of a formatted chip. Kind and sizes are read from its superblock. One
    /// readable copy of the superblock is enough.
    ///
    /// With [`Access::ReadOnly`] the file is never written, and need not be writable.
    ///
    /// # Errors
    /// [`ImageError`] describes the fault of the file.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self, ImageError> {
        let mut content = Self::open_content(path.as_ref(), access)?;
        let shape = superblock::recognise(&mut content)?;
        Ok(Self::of(content, shape))
    }

    /// Opens an image with the given kind and sizes. The image need not be formatted.
    ///
    /// # Errors
    /// [`ImageError::Empty`], [`ImageError::Truncated`], [`ImageError::Length`] and
    /// [`ImageError::Io`]. [`ImageError::Shape`] if no chip has this shape.
    pub fn open_as(
        path: impl AsRef<Path>,
        access: Access,
        shape: &Shape,
    ) -> Result<Self, ImageError> {
        shape.check()?;
        let content = Self::open_content(path.as_ref(), access)?;
        shape.check_length(content.length().map_err(ImageError::Io)?)?;
        Ok(Self::of(content, *shape))
    }

    fn open_content(path: &Path, access: Access) -> Result<Content, ImageError> {
        let writable = access == Access::ReadWrite;
        let file =
            OpenOptions::new().read(true).write(writable).open(path).map_err(ImageError::Io)?;
        Ok(Content::new(file, access))
    }

    fn of(content: Content, shape: Shape) -> Self {
        let chip = match shape {
            Shape::Nand { geometry, spare_bytes } => {
                Kind::Nand(NandImage::new(content, geometry, spare_bytes, NandTiming::ROUND))
            }
            Shape::Nor { page_bytes, block_bytes, block_count } => Kind::Nor(NorPages::new(
                NorImage::new(content, block_bytes, block_count, NorTiming::ROUND),
                page_bytes,
            )),
        };
        Self { shape, chip }
    }

    /// Computes simulated time with the durations of a profile's chip. The sizes of the image do
    /// not change.
    ///
    /// # Errors
    /// [`ImageError::Profile`] if the profile describes the other kind of chip. Also if the blocks
    /// of the image are not made of erase units of the profile.
    pub fn with_profile(
        mut self,
        profile: &Profile,
        choice: TimingChoice,
    ) -> Result<Self, ImageError> {
        let refuse = |reason| ImageError::Profile { profile: profile.name.clone(), reason };
        match (&mut self.chip, &profile.chip) {
            (Kind::Nand(image), Chip::Nand(nand)) => {
                image.set_timing(NandTiming::of(nand, choice), nand.on_chip_copy)
            }
            (Kind::Nor(pages), Chip::Nor(nor)) => {
                let image = pages.chip_mut();
                let timing = NorTiming::of_block(
                    nor,
                    steadyfs::media::nor::NorFlash::block_bytes(image),
                    choice,
                );
                image.set_timing(
                    timing
                        .ok_or_else(|| refuse("has no erase size that fits the image's blocks"))?,
                );
            }
            (Kind::Nand(_), Chip::Nor(_)) => {
                return Err(refuse("describes a NOR chip; expected NAND, like the image"));
            }
            (Kind::Nor(_), Chip::Nand(_)) => {
                return Err(refuse("describes a NAND chip; expected NOR, like the image"));
            }
        }
        Ok(self)
    }

    /// Returns kind and sizes of the chip.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the reason why the last operation that returned [`Failure::Device`] or
    /// [`Failure::BadBlock`] was refused.
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.chip {
            Kind::Nand(image) => image.refusal(),
            Kind::Nor(pages) => pages.chip().refusal(),
        }
    }

    /// Waits until the file is on the host's disk. The host's kernel receives programs and erases
    /// at once. So this call matters only if the host itself may lose power.
    ///
    /// # Errors
    /// [`ImageError::Io`].
    pub fn sync(&self) -> Result<(), ImageError> {
        let content = match &self.chip {
            Kind::Nand(image) => image.content(),
            Kind::Nor(pages) => pages.chip().content(),
        };
        content.sync().map_err(ImageError::Io)
    }

    fn flash(&self) -> &dyn Flash {
        match &self.chip {
            Kind::Nand(image) => image,
            Kind::Nor(pages) => pages,
        }
    }

    fn flash_mut(&mut self) -> &mut dyn Flash {
        match &mut self.chip {
            Kind::Nand(image) => image,
            Kind::Nor(pages) => pages,
        }
    }
}

impl Flash for Image {
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

    fn reads_many(&self) -> bool {
        self.flash().reads_many()
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.flash_mut().read_many(first, data, tags)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.flash_mut().read_tag(page, tag)
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.flash_mut().program(page, data, tag)
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

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.flash_mut().is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.flash_mut().mark_bad(block)
    }
}

impl Metered for Image {
    fn counters(&self) -> Counters {
        match &self.chip {
            Kind::Nand(image) => image.counters(),
            Kind::Nor(pages) => pages.counters(),
        }
    }
}
