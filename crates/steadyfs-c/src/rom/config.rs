//! The configuration of an image: the medium that contains it, memory, and the key.

use super::source::{Image, Kept, Layer, Trusted};
use crate::driver::{Nand, Nor};
use crate::error::{Code, length};
use crate::pointers;
use core::ffi::c_void;
use steadyfs_rom::squash::Needs;
use steadyfs_rom::{Cached, InRam};

/// Configuration for steadyfs_rom_mount: the medium that contains the image, and memory. A struct
/// of zeros needs only these two to be complete.
///
/// Image, driver and memory must remain valid until the unmount. This struct need not. A mounted
/// image uses only the driver's callbacks `read` and `is_bad`, but the driver must have all
/// required callbacks.
#[repr(C)]
pub struct RomConfig {
    /// An image that the processor reads as memory: linked into the firmware, or on mapped flash.
    /// Set exactly one of `image`, `nor` and `nand`. The others are null.
    pub image: *const c_void,
    /// Number of bytes of `image`. The image may be shorter.
    pub image_bytes: usize,
    /// The driver of the NOR chip with the plain bytes of the image. Set exactly one of `image`,
    /// `nor` and `nand`. The others are null.
    pub nor: *const Nor,
    /// Address of the image's first byte on NOR.
    pub nor_address: u32,
    /// Number of bytes from `nor_address` on. The image may be shorter. The default, 0, means all
    /// bytes up to the end of the chip.
    pub nor_bytes: u32,
    /// The driver of the NAND chip that contains the image behind its header.
    /// `steady pack --read-only --device` or steadyfs_rom_install_begin has written it. If the
    /// image lies in a part of a chip, block 0 of the driver is the first block of this part. Set
    /// exactly one of `image`, `nor` and `nand`. The others are null.
    pub nand: *const Nand,
    /// On NAND: maximum number of bad blocks among the blocks of the image. Each takes 4 bytes of
    /// memory. STEADYFS_NO_BAD_BLOCKS means none. The default, 0, means 1/50 of the blocks of the
    /// chip, but at least 2 and at most 200.
    pub bad_blocks_max: u16,
    /// If there is a public key: number of blocks of the hash tree that are cached, 1 to 8. More
    /// blocks give fewer reads and hashes. The default, 0, means one block for each level of the
    /// tree.
    pub hash_blocks: u8,
    /// Memory that the image uses in addition to steadyfs_rom_t. It may have any alignment. It
    /// belongs to one image until the unmount.
    pub memory: *mut c_void,
    /// Number of bytes of `memory`: at least steadyfs_rom_memory_bytes. More memory caches up to 16
    /// blocks of names and inodes.
    pub memory_bytes: usize,
    /// Memory that caches pieces of the image that are read often, or null. It helps if names and
    /// inodes are uncompressed (steady pack --plain-metadata), or if flash is slow. Default: null.
    /// Each read then accesses the medium.
    pub cache: *mut c_void,
    /// Number of bytes of `cache`: see steadyfs_rom_cache_bytes.
    pub cache_bytes: usize,
    /// Number of bytes of a piece of the cache. The default, 0, means a page of the NAND chip, or
    /// 512 bytes on other media.
    pub cache_piece_bytes: u32,
    /// The Ed25519 key of 32 bytes with which the image must be signed (steady keygen, steady pack
    /// --sign), or null. If there is a key, every block is verified each time it is read. A build
    /// without the feature rom-verify refuses a key with STEADYFS_ERR_UNSUPPORTED. Default: null.
    /// Nothing is then verified.
    pub public_key: *const u8,
}

/// Bytes of a piece of the cache on media without pages.
const PIECE_BYTES: usize = 512;
/// Largest number of pieces of a cache.
const PIECES_MAX: usize = 64;
/// Largest number of metadata blocks that are cached.
const METADATA_BLOCKS_MAX: usize = 16;

/// Returns the number of bytes of unaligned memory that are enough for a value.
const fn room_for<T>() -> usize {
    size_of::<T>() + align_of::<T>() - 1
}

/// Splits off the first bytes of a memory.
fn split(
    memory: &'static mut [u8],
    bytes: usize,
) -> Result<(&'static mut [u8], &'static mut [u8]), Code> {
    memory.split_at_mut_checked(bytes).ok_or(Code::ErrNomem)
}

impl RomConfig {
    /// Returns the lent memory, filled with zeros.
    ///
    /// # Safety
    /// No other code uses the memory until the unmount, or the end of the call.
    pub(super) unsafe fn lent(&self) -> Result<&'static mut [u8], Code> {
        // SAFETY: The caller meets the conditions of this function.
        let memory = unsafe {
            pointers::bytes_mut(
                self.memory,
                if self.memory.is_null() { 0 } else { self.memory_bytes },
            )
        }?;
        memory.fill(0);
        Ok(memory)
    }

    /// Opens the image on its medium. Returns the image, the number of bytes of memory that it
    /// takes, and the rest of the memory.
    ///
    /// This function and the functions for the layers over the image are not inlined. So the stack
    /// of one is free again when the next begins.
    ///
    /// # Safety
    /// Image and driver are null or do not change until the unmount. Callbacks fulfil the
    /// conditions of the header.
    #[inline(never)]
    unsafe fn image(
        &self,
        memory: &'static mut [u8],
    ) -> Result<(Image, usize, &'static mut [u8]), Code> {
        // SAFETY: The caller meets the conditions of this function.
        unsafe {
            match (self.image.is_null(), self.nor.is_null(), self.nand.is_null()) {
                (false, true, true) => Ok((
                    Image::Ram(InRam::new(pointers::bytes(self.image, self.image_bytes)?)),
                    0,
                    memory,
                )),
                #[cfg(feature = "nor")]
                (true, false, true) => Ok((Image::Nor(self.on_nor()?), 0, memory)),
                #[cfg(feature = "nand")]
                (true, true, false) => {
                    let (chip, bad_blocks_max) = self.chip()?;
                    let bytes = steadyfs_rom::OnNand::memory_bytes(&chip, bad_blocks_max);
                    let (own, rest) = split(memory, bytes)?;
                    Ok((Image::Nand(steadyfs_rom::OnNand::open(chip, own)?), bytes, rest))
                }
                #[allow(unreachable_patterns)]
                (true, false, true) | (true, true, false) => Err(Code::ErrUnsupported),
                _ => Err(Code::ErrDriver),
            }
        }
    }

    #[cfg(feature = "nor")]
    unsafe fn on_nor(&self) -> Result<steadyfs_rom::OnNor<crate::driver::NorChip>, Code> {
        use steadyfs::media::nor::NorFlash;
        // SAFETY: The caller meets the conditions of this function.
        let chip = crate::driver::NorChip::new(unsafe { pointers::reference(self.nor) }?)?;
        let chip_bytes = u64::from(chip.block_bytes()) * u64::from(chip.block_count());
        let bytes = match self.nor_bytes {
            0 => u32::try_from(chip_bytes.saturating_sub(self.nor_address.into()))
                .unwrap_or(u32::MAX),
            bytes => bytes,
        };
        // An invalid range is the only error of this call.
        steadyfs_rom::OnNor::new(chip, self.nor_address, bytes).map_err(|_| Code::ErrInval)
    }

    /// Returns the NAND chip, and the number of bad blocks for which there is memory.
    ///
    /// # Safety
    /// The conditions of [`image`](Self::image).
    #[cfg(feature = "nand")]
    pub(super) unsafe fn chip(&self) -> Result<(crate::driver::NandChip, u32), Code> {
        use crate::config::{Driver, STEADYFS_NO_BAD_BLOCKS};
        // SAFETY: The caller meets the conditions of this function.
        let driver = unsafe { pointers::reference(self.nand) }?;
        let chip = crate::driver::NandChip::new(driver)?;
        Driver::Nand(chip).check()?;
        let bad_blocks_max = match self.bad_blocks_max {
            0 => (driver.block_count / 50).clamp(2, 200),
            STEADYFS_NO_BAD_BLOCKS => 0,
            count => count.into(),
        };
        Ok((chip, bad_blocks_max))
    }

    /// Returns the number of bytes of a piece of the cache.
    unsafe fn piece_bytes(&self) -> Result<usize, Code> {
        match self.cache_piece_bytes {
            0 if self.nand.is_null() => Ok(PIECE_BYTES),
            // SAFETY: The caller meets the conditions in the C header.
            0 => Ok(unsafe { pointers::reference(self.nand) }?.page_bytes as usize),
            bytes => Ok(bytes as usize),
        }
    }

    /// Adds a cache to an image if the configuration lends memory for it.
    #[inline(never)]
    unsafe fn kept(&self, source: Trusted) -> Result<Kept, Code> {
        // SAFETY: The caller meets the conditions in the C header.
        let (memory, piece_bytes) =
            unsafe { (pointers::bytes_mut(self.cache, self.cache_bytes)?, self.piece_bytes()?) };
        if memory.is_empty() {
            return Ok(Layer::Without(source));
        }
        memory.fill(0);
        let (own, pieces) = split(memory, room_for::<Cached<Trusted>>())?;
        if pieces.len() < piece_bytes {
            return Err(Code::ErrNomem);
        }
        place(Cached::new(source, piece_bytes, pieces), own).map(Layer::With)
    }

    /// Returns the image with all layers over it, and the memory that is left for its blocks.
    ///
    /// # Safety
    /// The conditions of [`image`](Self::image) and [`lent`](Self::lent).
    pub(super) unsafe fn opened(&self) -> Result<(Kept, &'static mut [u8]), Code> {
        // SAFETY: The caller meets the conditions of this function.
        unsafe {
            let (image, _, memory) = self.image(self.lent()?)?;
            let (trusted, memory) = trust::over(self, image, memory)?;
            Ok((self.kept(trusted)?, memory))
        }
    }

    /// Returns the bytes of memory that a mount needs.
    ///
    /// # Safety
    /// The conditions of [`image`](Self::image) and [`lent`](Self::lent).
    unsafe fn memory_needed(&self, metadata_blocks: usize) -> Result<usize, Code> {
        if metadata_blocks > METADATA_BLOCKS_MAX {
            return Err(Code::ErrInval);
        }
        // SAFETY: The caller meets the conditions of this function. Only images on NAND are read
        // into this memory.
        let (mut image, own, _) = unsafe {
            let memory = if self.nand.is_null() { Default::default() } else { self.lent()? };
            self.image(memory)?
        };
        let needs = Needs::of(&mut image)?;
        let blocks = match metadata_blocks {
            0 => needs.least,
            count => needs.both + (count - 1) * needs.each,
        };
        Ok(own + trust::bytes(self, &mut image)? + blocks)
    }
}

/// Writes a value to the start of a memory, and returns a reference to the value.
fn place<T>(value: T, memory: &'static mut [u8]) -> Result<&'static mut T, Code> {
    pointers::place(value, memory).map(|(value, _)| value).ok_or(Code::ErrNomem)
}

/// Verification of images.
#[cfg(feature = "rom-verify")]
mod trust {
    use super::{Code, Image, Layer, RomConfig, Trusted, place, pointers, room_for, split};
    use steadyfs_rom::verity::format::{Layout, SUPERBLOCK_BYTES, Superblock};
    use steadyfs_rom::{Error, Source, Verified, verity};

    /// Largest number of blocks of the tree that are cached.
    const KEPT_MAX: usize = 8;

    /// Returns the offset of the tree's superblock, and the bytes of memory for the tree's
    /// blocks.
    fn tree(config: &RomConfig, image: &mut Image) -> Result<(u64, usize), Code> {
        let offset = verity::find(image)?;
        let mut superblock = [0; SUPERBLOCK_BYTES];
        image.read(offset, &mut superblock)?;
        let layout: Layout = Superblock::parse(&superblock)
            .and_then(|superblock| superblock.layout())
            .map_err(|_| Error::NotSigned)?;
        let kept = match usize::from(config.hash_blocks) {
            0 => layout.levels().clamp(1, KEPT_MAX),
            count if count <= KEPT_MAX => count,
            _ => return Err(Code::ErrInval),
        };
        Ok((offset, Verified::memory_bytes(layout.block_bytes() as usize, kept)))
    }

    /// Returns the number of bytes of memory that the verification takes.
    pub fn bytes(config: &RomConfig, image: &mut Image) -> Result<usize, Code> {
        if config.public_key.is_null() {
            return Ok(0);
        }
        Ok(room_for::<Verified<Image>>() + tree(config, image)?.1)
    }

    /// Returns the image and the rest of the memory. If there is a key, the image is verified.
    #[inline(never)]
    pub unsafe fn over(
        config: &RomConfig,
        mut image: Image,
        memory: &'static mut [u8],
    ) -> Result<(Trusted, &'static mut [u8]), Code> {
        if config.public_key.is_null() {
            return Ok((Layer::Without(image), memory));
        }
        // SAFETY: The caller meets the conditions in the C header.
        let key = unsafe { pointers::reference(config.public_key.cast::<[u8; 32]>()) }?;
        let (offset, bytes) = tree(config, &mut image)?;
        let (own, memory) = split(memory, room_for::<Verified<Image>>())?;
        let (blocks, memory) = split(memory, bytes)?;
        let verified = Verified::open_at(image, offset, steadyfs_rom::Trusted::Key(*key), blocks)?;
        Ok((Layer::With(place(verified, own)?), memory))
    }
}

/// Stubs for a build without the verification of images.
#[cfg(not(feature = "rom-verify"))]
mod trust {
    use super::{Code, Image, RomConfig, Trusted};

    pub fn bytes(config: &RomConfig, _: &mut Image) -> Result<usize, Code> {
        if config.public_key.is_null() { Ok(0) } else { Err(Code::ErrUnsupported) }
    }

    pub unsafe fn over(
        config: &RomConfig,
        mut image: Image,
        memory: &'static mut [u8],
    ) -> Result<(Trusted, &'static mut [u8]), Code> {
        bytes(config, &mut image).map(|_| (image, memory))
    }
}

/// Reads the image's superblock, and returns the number of bytes of memory that steadyfs_rom_mount
/// needs for the image. The number includes the memory for the key and for NAND.
///
/// `metadata_blocks` is the number of blocks of names and inodes that are cached, up to 16.
/// - 0: the minimum for a mount. The look-up of a path evicts the cached block of a file, and a
///   read of a file evicts the cached block of names.
/// - 1: names and files no longer evict each other.
/// - More: the look-up of a path with several names decodes fewer blocks.
///
/// An image whose names and inodes are uncompressed needs 0.
///
/// On NAND the call uses the `memory` of the configuration, so no mounted image may use this
/// memory. It needs a page, and 4 bytes for each of bad_blocks_max. On other media the call ignores
/// the fields for memory.
///
/// Cost: a few reads. Errors: as steadyfs_rom_mount, but the call does not check signatures.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_memory_bytes(
    config: *const RomConfig,
    metadata_blocks: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe {
        pointers::reference(config).and_then(|config| config.memory_needed(metadata_blocks))
    })
}

/// Returns the number of bytes that a cache of `pieces` pieces needs. `pieces` is 1 to 64. The call
/// does not use the driver's callbacks. Errors: STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_cache_bytes(
    config: *const RomConfig,
    pieces: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let piece_bytes =
        unsafe { pointers::reference(config).and_then(|config| config.piece_bytes()) };
    length(piece_bytes.and_then(|piece_bytes| {
        let bytes = piece_bytes
            .checked_mul(pieces)
            .and_then(|bytes| bytes.checked_add(room_for::<Cached<Trusted>>()));
        bytes
            .filter(|bytes| (1..=PIECES_MAX).contains(&pieces) && *bytes <= isize::MAX as usize)
            .ok_or(Code::ErrInval)
    }))
}
