//! Finding a superblock.

use crate::config::SUPERBLOCK_BLOCKS;
use crate::error::MountError;
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, TAG_BYTES, Tag};
use crate::pages::{TRIES, was_read};

/// Finds a superblock; `memory` is used as a page buffer. The second copy lies in the first good block after block 0.
pub(crate) fn find_superblock<F: Flash>(flash: &mut F, memory: &mut [u8]) -> Result<Superblock, MountError> {
    let device = flash.geometry();
    let page_bytes = device.page_bytes as usize;
    if memory.len() < page_bytes {
        return Err(MountError::MemoryTooSmall { needed: page_bytes, given: memory.len() });
    }
    for block in 0..device.block_count.min(SUPERBLOCK_BLOCKS) {
        if block > 0 && flash.is_bad(block)? {
            continue;
        }
        if let Some(superblock) = read_superblock(flash, block, &mut memory[..page_bytes])? {
            return Ok(superblock);
        }
    }
    Err(MountError::NotFormatted)
}

/// Reads the superblock in a block, if there is one.
fn read_superblock<F: Flash>(flash: &mut F, block: BlockIndex, page: &mut [u8]) -> Result<Option<Superblock>, MountError> {
    let device = flash.geometry();
    let mut tag = [0; TAG_BYTES];
    for _ in 0..TRIES {
        let is_read = was_read(flash.read(block * device.pages_per_block, page, &mut tag))?;
        if !is_read || !Tag::is_sound(&tag, flash.checksum(page, 0)) {
            continue;
        }
        let superblock = match Superblock::parse(page) {
            Err(MountError::NotFormatted) => return Ok(None),
            result => result?,
        };
        if superblock.geometry != device {
            return Err(MountError::GeometryMismatch { on_flash: superblock.geometry, device });
        }
        return Ok(Some(superblock));
    }
    Ok(None)
}
