//! Search for a volume whose first block is lost, by the headers of its later blocks.

use crate::superblocks;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorLayout, SectorPages};

/// The bytes with which every header begins.
const MAGIC: &[u8; 8] = b"SteadyBk";
/// Number of sectors that are searched. They contain two blocks of the largest allocation unit,
/// which has 64 MiB.
const SECTORS: u32 = 128 << 11;
/// Number of sectors that are read at once.
const CHUNK_SECTORS: u32 = 2048;
/// Number of sectors of the headers of a block.
const HEADERS: u32 = 2;
/// Number of blocks among which the second copy of the superblock lies.
const BLOCKS: u32 = 32;

/// Function that reads the layout of a volume from the headers at a sector. The volume may be
/// longer than the device.
type HeaderAt<D> = fn(&mut D, u32) -> Option<SectorLayout>;

/// Finds the newest volume with a whole superblock. A device may hold headers of earlier volumes,
/// which have smaller sequence numbers.
pub(super) fn find<D: SectorDevice>(mut file: D, header_at: HeaderAt<D>) -> Option<SectorPages<D>> {
    let mut layouts = layouts(&mut file, header_at);
    layouts.sort_unstable_by_key(|layout| std::cmp::Reverse(layout.volume));
    for layout in layouts {
        // The search returns only valid layouts.
        let mut pages = SectorPages::new(file, layout)?;
        if superblocks::look(&mut pages).is_ok() {
            return Some(pages);
        }
        file = pages.into_device();
    }
    None
}

/// Returns the layouts of volumes that begin in the first sector and have a whole header among the
/// searched sectors.
fn layouts<D: SectorDevice>(file: &mut D, header_at: HeaderAt<D>) -> Vec<SectorLayout> {
    let (end, mut found) = (file.sector_count().min(SECTORS), Vec::new());
    let mut chunk = vec![0; CHUNK_SECTORS as usize * SECTOR_BYTES];
    for from in (0..end).step_by(CHUNK_SECTORS as usize) {
        let count = CHUNK_SECTORS.min(end - from);
        let bytes = &mut chunk[..count as usize * SECTOR_BYTES];
        // An unreadable chunk is skipped, because every other block has headers too.
        if file.read(from, &mut [&mut *bytes]).is_err() {
            continue;
        }
        let headers = bytes
            .chunks_exact(SECTOR_BYTES)
            .zip(from..)
            .filter(|(sector, _)| sector.starts_with(MAGIC));
        for (_, at) in headers.collect::<Vec<_>>() {
            let layout = header_at(file, at).map(|header| SectorLayout { first: 0, ..header });
            found
                .extend(layout.filter(|layout| {
                    is_place(layout, at) && layout.sectors <= file.sector_count()
                }));
        }
    }
    found.sort_unstable_by_key(|layout| (layout.volume, layout.block_sectors, layout.page_bytes));
    found.dedup();
    found
}

/// Returns true if this sector holds a header of one of the volume's blocks.
fn is_place(layout: &SectorLayout, at: u32) -> bool {
    at % layout.block_sectors < HEADERS && at / layout.block_sectors < BLOCKS
}
