//! The rate at which a device takes writes in order, in pieces of 64 KiB or 16 pages: as it is, and
//! with SteadyFS on it.

use super::RealtimeError;
use super::cards::Volume;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorPages};
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::Metered;
use steadyfs_sim::sectors::{Controller, Timed};

/// Bytes of one write, and the number of writes.
const PIECE_BYTES: usize = 64 << 10;
const PIECES: u32 = 1024;
/// Pages of one write with SteadyFS.
const PIECE_PAGES: usize = 16;

/// Returns the rate in bytes per second if all pieces together took `ns` nanoseconds.
fn rate(piece: &[u8], ns: u64) -> f64 {
    f64::from(PIECES) * piece.len() as f64 * 1e9 / ns.max(1) as f64
}

/// Measures writes of consecutive sectors, and a flush.
pub(super) fn raw<C: Controller>(device: &mut Timed<C>) -> Result<f64, RealtimeError> {
    let (piece, begin) = (vec![0; PIECE_BYTES], device.time_ns());
    let first = |index: u32| index * (PIECE_BYTES / SECTOR_BYTES) as u32;
    (0..PIECES)
        .try_for_each(|index| device.write(first(index), &[&piece]))
        .map_err(RealtimeError::Device)?;
    device.flush().map_err(RealtimeError::Device)?;
    Ok(rate(&piece, device.time_ns() - begin))
}

/// Measures a file on an empty volume of SteadyFS. It commits when a transaction is full, and at
/// the end.
pub(super) fn steadyfs<C: Controller>(
    device: Timed<C>,
    volume: &Volume,
) -> Result<f64, RealtimeError> {
    let layout = volume.layout(device.sector_count());
    let pages = SectorPages::new(device, layout).ok_or(RealtimeError::TooSmall)?;
    let config = Config::for_sectors(&layout);
    let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
    let pages = FileSystem::format(pages, &config, &mut memory)?;
    let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory)?;
    fs.set_commit_on(CommitOn::ON_SYNC);
    let mut file = fs.open("data", OpenOptions::CREATE)?;
    let piece = vec![0; PIECE_PAGES * layout.geometry().page_bytes as usize];
    let begin = fs.flash().device().time_ns();
    (0..PIECES).try_for_each(|_| fs.append(&mut file, &piece))?;
    fs.close(file)?;
    fs.commit()?;
    Ok(rate(&piece, fs.flash().device().time_ns() - begin))
}
