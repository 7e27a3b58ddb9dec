//! Sectors in transfer to devices of other crates, which expect each sector in one buffer.

use crate::parts;
use steadyfs::media::Failure;
use steadyfs::media::sectors::SECTOR_BYTES;

/// Largest number of sectors of one call to the device: a page of 4 KiB and its tag. The sectors
/// are copied, because a part of a transfer may end at any byte.
pub(super) const BATCH: usize = 9;

/// Divides a transfer of `bytes` bytes into calls to the device. Each item is the index of the
/// first sector of a call, counted within the transfer, and its number of sectors.
pub(super) fn batches(bytes: usize) -> Result<impl Iterator<Item = (usize, usize)>, Failure> {
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        return Err(Failure::Device);
    }
    let sectors = bytes / SECTOR_BYTES;
    Ok((0..sectors).step_by(BATCH).map(move |done| (done, BATCH.min(sectors - done))))
}

/// Stores an error, and returns [`Failure::Device`] for it.
pub(super) fn conclude<E>(
    result: Result<(), E>,
    last_error: &mut Option<E>,
) -> Result<(), Failure> {
    result.map_err(|error| {
        *last_error = Some(error);
        Failure::Device
    })
}

/// Copies a sector out of the parts.
pub(super) fn gather(parts: &[&[u8]], index: usize, sector: &mut [u8; SECTOR_BYTES]) {
    let mut at = 0;
    for piece in parts::sector(parts, index) {
        sector[at..at + piece.len()].copy_from_slice(piece);
        at += piece.len();
    }
}

/// Copies a sector into the parts.
pub(super) fn scatter(parts: &mut [&mut [u8]], index: usize, sector: &[u8; SECTOR_BYTES]) {
    let mut at = 0;
    for piece in parts::sector_mut(parts, index) {
        piece.copy_from_slice(&sector[at..at + piece.len()]);
        at += piece.len();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use core::cell::RefCell;
    use std::vec::Vec;
    use steadyfs::media::sectors::{SectorDevice, SectorTimes};

    pub(in super::super) const TIMES: SectorTimes = SectorTimes {
        read_ns: 1,
        read_sector_ns: 2,
        write_ns: 3,
        write_sector_ns: 4,
        discard_ns: 0,
        flush_ns: 0,
    };

    /// A device in RAM that records the number of sectors of each call. One of its sectors cannot
    /// be written.
    pub(in super::super) struct Ram {
        pub sectors: RefCell<Vec<[u8; SECTOR_BYTES]>>,
        pub calls: RefCell<Vec<usize>>,
    }

    impl Ram {
        pub fn new() -> Self {
            Self {
                sectors: RefCell::new(std::vec![[0; SECTOR_BYTES]; 64]),
                calls: RefCell::default(),
            }
        }
    }

    /// The sector that fails.
    pub(in super::super) const BROKEN: usize = 63;

    /// Tests writes and reads whose parts have odd lengths.
    pub(in super::super) fn exercise(device: &mut impl SectorDevice) {
        assert_eq!((device.sector_count(), device.times()), (64, TIMES));
        let data: Vec<u8> = (0..20 * SECTOR_BYTES).map(|byte| (byte % 253) as u8).collect();
        device.write(5, &[&data[..512], &data[512..700], &data[700..]]).unwrap();
        device.write(25, &[&[7; SECTOR_BYTES]]).unwrap();
        let mut found = std::vec![0; 21 * SECTOR_BYTES];
        let (begin, end) = found.split_at_mut(9001);
        device.read(5, &mut [begin, end]).unwrap();
        assert_eq!(
            (&found[..data.len()], &found[data.len()..]),
            (&data[..], &[7; SECTOR_BYTES][..])
        );
        assert_eq!(device.write(BROKEN as u32, &[&[1; SECTOR_BYTES]]), Err(Failure::Device));
        assert_eq!(device.write(0, &[&[1; 100]]), Err(Failure::Device));
        assert_eq!(device.read(0, &mut [&mut [1; 100]]), Err(Failure::Device));
        device.flush().unwrap();
    }
}
