//! Search for a superblock, and repair of a damaged copy.

use crate::config::SUPERBLOCK_BLOCKS;
use crate::error::{Error, MountError};
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, TAG_BYTES, Tag};
use crate::pages::{TRIES, was_read};

/// Finds a superblock. `memory` is used as a page buffer. The second copy lies in the first good
/// block after block 0.
pub(crate) fn find_superblock<F: Flash>(
    flash: &mut F,
    memory: &mut [u8],
) -> Result<Superblock, MountError> {
    let page = page_of(flash, memory)?;
    find(flash, page).map(|(superblock, _)| superblock)
}

/// Returns the first part of a buffer, with the size of one page.
fn page_of<'m, F: Flash>(flash: &F, memory: &'m mut [u8]) -> Result<&'m mut [u8], MountError> {
    let (needed, given) = (flash.geometry().page_bytes as usize, memory.len());
    memory.get_mut(..needed).ok_or(MountError::MemoryTooSmall { needed, given })
}

/// Finds a superblock, and the block in which it lies. Skips a copy with another version or another
/// geometry, because the other copy may be valid.
fn find<F: Flash>(flash: &mut F, page: &mut [u8]) -> Result<(Superblock, BlockIndex), MountError> {
    let mut refused = MountError::NotFormatted;
    for block in 0..flash.geometry().block_count.min(SUPERBLOCK_BLOCKS) {
        // The second copy lies in a good block, so marked blocks are passed over.
        if block > 0 && flash.is_bad(block)? {
            continue;
        }
        match read_superblock(flash, block, page) {
            // A copy of an earlier volume may lie in this block. So the copy must name this block
            // as the block of the second copy.
            Ok(Some(found)) if block == 0 || found.copy == block => return Ok((found, block)),
            Ok(_) => {}
            // The device does not answer, so the other copy cannot be read either.
            Err(error @ MountError::Volume(_)) => return Err(error),
            // The first copy that was refused gives the reason.
            Err(error) if refused == MountError::NotFormatted => refused = error,
            Err(_) => {}
        }
    }
    Err(refused)
}

/// Reads the superblock in a block, if there is one.
fn read_superblock<F: Flash>(
    flash: &mut F,
    block: BlockIndex,
    page: &mut [u8],
) -> Result<Option<Superblock>, MountError> {
    let device = flash.geometry();
    for _ in 0..TRIES {
        if read_sound(flash, block, page)?.is_none() {
            continue;
        }
        let superblock = match Superblock::parse(page) {
            Err(MountError::NotFormatted) => return Ok(None),
            result => result?,
        };
        // With another geometry, blocks and pages would lie at other positions.
        if superblock.geometry != device {
            return Err(MountError::GeometryMismatch { on_flash: superblock.geometry, device });
        }
        return Ok(Some(superblock));
    }
    Ok(None)
}

/// Reads the first page of a block. Returns its tag if the page matches the checksum in the tag.
fn read_sound<F: Flash>(
    flash: &mut F,
    block: BlockIndex,
    page: &mut [u8],
) -> Result<Option<[u8; TAG_BYTES]>, Error> {
    let mut tag = [0; TAG_BYTES];
    let is_read = was_read(flash.read(block * flash.geometry().pages_per_block, page, &mut tag))?;
    Ok((is_read && Tag::is_sound(&tag, flash.checksum(page, 0))).then_some(tag))
}

/// The two copies of the superblock. A mount needs only one of them.
///
/// ```
/// use steadyfs::{Config, FileSystem, Superblocks};
/// # use steadyfs::media::{Flash, Geometry};
/// # let geometry = Geometry {
/// #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
/// # };
/// # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
/// # let config = Config::for_geometry(&geometry);
/// # let mut memory = vec![0; config.memory_bytes(&geometry)];
/// let mut flash = FileSystem::format(flash, &config, &mut memory)?;
/// flash.erase(0)?; // what a fault of another program may do
///
/// let copies = Superblocks::look(&mut flash, &mut memory)?;
/// assert_eq!(copies.damaged, Some(0));
/// copies.mend(&mut flash, &mut memory)?;
/// assert_eq!(Superblocks::look(&mut flash, &mut memory)?.damaged, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Superblocks {
    /// Block of the second copy. The first copy is in block 0.
    pub second: BlockIndex,
    /// Block of the damaged copy, if a copy is damaged.
    pub damaged: Option<BlockIndex>,
}

impl Superblocks {
    /// Looks at both copies. `memory` has room for a page.
    ///
    /// # Cost
    /// Two reads. If a copy is damaged: up to two more reads, and one look at the bad block mark of
    /// each block before the second copy.
    ///
    /// # Errors
    /// The errors of [`FileSystem::mount`](crate::FileSystem::mount), if neither copy is valid.
    pub fn look<F: Flash>(flash: &mut F, memory: &mut [u8]) -> Result<Self, MountError> {
        let page = page_of(flash, memory)?;
        let (found, block) = find(flash, page)?;
        if block > 0 {
            return Ok(Self { second: block, damaged: Some(0) });
        }
        let other = match read_superblock(flash, found.copy, page) {
            Err(error @ MountError::Volume(_)) => return Err(error),
            other => other.ok().flatten(),
        };
        Ok(Self { second: found.copy, damaged: (other != Some(found)).then_some(found.copy) })
    }

    /// Returns the block of a valid copy.
    pub fn whole(&self) -> BlockIndex {
        if self.damaged == Some(0) { self.second } else { 0 }
    }

    /// Writes the damaged copy again, with the bytes of the valid copy. A mounted volume never
    /// changes these two blocks. `memory` has room for a page.
    ///
    /// # Power loss
    /// After a power cut the damaged copy is still damaged, or it is valid. The other copy is not
    /// touched.
    ///
    /// # Cost
    /// Two reads, an erase and a program. Nothing if no copy is damaged.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the valid copy cannot be read any more; nothing was changed.
    /// [`Error::MediaFailing`] if an erase or a program fails in the block of the damaged copy.
    /// [`Error::Device`] if the device does not answer.
    pub fn mend<F: Flash>(&self, flash: &mut F, memory: &mut [u8]) -> Result<(), Error> {
        let Some(damaged) = self.damaged else { return Ok(()) };
        // The valid copy is read into RAM before the damaged block is erased.
        let page = page_of(flash, memory).map_err(|_| Error::Corrupt)?;
        let mut tag = None;
        for _ in 0..TRIES {
            tag = tag.or(read_sound(flash, self.whole(), page)?);
        }
        let tag = tag.ok_or(Error::Corrupt)?;
        flash.erase(damaged)?;
        flash.program(damaged * flash.geometry().pages_per_block, page, &tag)?;
        // The copy must be on the medium before it is read back.
        flash.sync()?;
        if read_sound(flash, damaged, page)? == Some(tag) {
            Ok(())
        } else {
            Err(Error::MediaFailing)
        }
    }
}
