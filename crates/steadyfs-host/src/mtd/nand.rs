//! NAND behind MTD.

use super::ecc;
use super::guard::{self, GUARDED_BYTES};
use super::{MtdError, abi};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::time::Instant;
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs_sim::{Counters, Metered};

/// Durations of typical SLC NAND with pages of 2 KiB.
const TIMING: Timing = Timing {
    read_ns: 100_000,
    read_tag_ns: 60_000,
    program_ns: 350_000,
    copy_ns: 450_000,
    erase_ns: 2_000_000,
    instruction_ps: 0,
};

/// A NAND device.
#[derive(Debug)]
pub(super) struct NandDevice {
    file: File,
    geometry: Geometry,
    erase_bytes: u32,
    /// Number of bytes of the tag in the spare area. It includes the guard if the spare area has
    /// enough free bytes.
    spare_bytes: usize,
    /// Number of bits that the driver's ECC corrects in a codeword. It is 0 if the kernel does not
    /// report the number.
    strength: u8,
    corrected: Corrected,
    timing: Timing,
    counters: Counters,
    error: Option<MtdError>,
}

/// The failure that the file system receives, and the error that caused it.
type Trouble = (Failure, MtdError);

impl NandDevice {
    /// # Errors
    /// [`MtdError::Sizes`], [`MtdError::SpareArea`], [`MtdError::OldKernel`],
    /// [`MtdError::Operation`].
    pub fn new(file: File, info: &abi::Info, size: u64) -> Result<Self, MtdError> {
        let geometry = geometry(info.write_bytes, info.erase_bytes, size)?;
        let free = abi::free_spare_bytes(&file);
        let free =
            free.map_err(|source| MtdError::Operation { verb: "ECCGETLAYOUT", offset: 0, source })?;
        let spare_bytes = match free as usize {
            GUARDED_BYTES.. => GUARDED_BYTES,
            TAG_BYTES.. => TAG_BYTES,
            _ => return Err(MtdError::SpareArea { found: free }),
        };
        let strength = ecc::strength(&file);
        let device = Self {
            file,
            geometry,
            erase_bytes: info.erase_bytes,
            spare_bytes,
            strength,
            corrected: Corrected::default(),
            timing: TIMING,
            counters: Counters::default(),
            error: None,
        };
        device.demand_memread()?;
        Ok(device)
    }

    /// Refuses kernels without `MEMREAD`. The content of the page does not matter.
    fn demand_memread(&self) -> Result<(), MtdError> {
        match abi::read(&self.file, 0, &mut [], &mut [0; TAG_BYTES]) {
            Err(error) if is_any(&error, &[Errno::NOTTY, Errno::OPNOTSUPP]) => {
                Err(MtdError::OldKernel)
            }
            _ => Ok(()),
        }
    }

    pub fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    pub fn error(&self) -> Option<&MtdError> {
        self.error.as_ref()
    }

    fn page_offset(&self, page: PageIndex) -> u64 {
        u64::from(page) * u64::from(self.geometry.page_bytes)
    }

    fn block_offset(&self, block: BlockIndex) -> u64 {
        u64::from(block) * u64::from(self.erase_bytes)
    }

    /// Reads a page. If `data` is empty, reads only its tag.
    fn fetch(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Trouble> {
        let offset = self.page_offset(page);
        let mut guarded = [0xFF; GUARDED_BYTES];
        let result = abi::read(&self.file, offset, data, &mut guarded[..self.spare_bytes]);
        let bits = result.map_err(|source| trouble("read", offset, source))?;
        let (found, flipped) =
            guard::tag(&guarded).map_err(|_| (Failure::Uncorrectable, MtdError::Tag { offset }))?;
        *tag = found;
        self.corrected = ecc::worst(bits, self.strength, flipped);
        self.counters.bytes_read += (data.len() + TAG_BYTES) as u64;
        Ok(())
    }

    fn store(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Trouble> {
        let offset = self.page_offset(page);
        let mut whole = vec![0xFF; self.geometry.page_bytes as usize];
        whole[..data.len()].copy_from_slice(data);
        let guarded = guard::guard(tag);
        let result = abi::write(&self.file, offset, &whole, &guarded[..self.spare_bytes]);
        result.map_err(|source| trouble("program", offset, source))?;
        self.counters.bytes_programmed += (data.len() + TAG_BYTES) as u64;
        Ok(())
    }

    /// Does one operation and measures its time. If the operation fails, stores the error.
    fn act<T>(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Failure> {
        let start = Instant::now();
        let result = operation(self);
        self.counters.time_ns += start.elapsed().as_nanos() as u64;
        result.map_err(|(failure, error)| {
            self.error = Some(error);
            failure
        })
    }
}

/// Returns the sizes and numbers of the pages and blocks of a device.
fn geometry(page_bytes: u32, erase_bytes: u32, size: u64) -> Result<Geometry, MtdError> {
    let refuse =
        |expected| MtdError::Sizes { size, erase_bytes, write_bytes: page_bytes, expected };
    if page_bytes == 0
        || erase_bytes == 0
        || !erase_bytes.is_multiple_of(page_bytes)
        || !size.is_multiple_of(erase_bytes.into())
    {
        return Err(refuse("whole pages in a block and whole blocks"));
    }
    let block_count =
        u32::try_from(size / u64::from(erase_bytes)).map_err(|_| refuse("fewer blocks"))?;
    Ok(Geometry {
        page_bytes,
        pages_per_block: erase_bytes / page_bytes,
        block_count,
        programs_bytes: false,
    })
}

fn is_any(error: &io::Error, errnos: &[Errno]) -> bool {
    errnos.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Converts an error of the kernel into the failure that the file system receives.
pub(super) fn trouble(verb: &'static str, offset: u64, source: io::Error) -> Trouble {
    let failure = match () {
        () if is_any(&source, &[Errno::BADMSG]) => Failure::Uncorrectable,
        () if is_any(&source, &[Errno::ROFS]) => Failure::WriteProtected,
        // `EIO` means a bad block, except in a read.
        () if verb != "read" && is_any(&source, &[Errno::IO]) => Failure::BadBlock,
        () => Failure::Device,
    };
    (failure, MtdError::Operation { verb, offset, source })
}

impl Flash for NandDevice {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        self.timing
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.counters.reads += 1;
        self.act(|device| device.fetch(page, data, tag))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.counters.tag_reads += 1;
        self.act(|device| device.fetch(page, &mut [], tag))
    }

    fn corrected(&mut self) -> Corrected {
        self.corrected
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.counters.programs += 1;
        self.act(|device| device.store(page, data, tag))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.counters.erases += 1;
        let (offset, bytes) = (self.block_offset(block), self.erase_bytes.into());
        self.act(|device| {
            abi::erase(&device.file, offset, bytes)
                .map_err(|source| trouble("erase", offset, source))
        })
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        let offset = self.block_offset(block);
        self.act(|device| {
            abi::is_bad(&device.file, offset).map_err(|source| trouble("read", offset, source))
        })
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let offset = self.block_offset(block);
        self.act(|device| {
            abi::mark_bad(&device.file, offset)
                .map_err(|source| trouble("mark bad", offset, source))
        })
    }
}

impl Metered for NandDevice {
    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_do_not_divide_each_other_are_refused() {
        let found = geometry(2048, 131_072, 1 << 27).unwrap();
        assert_eq!(
            found,
            Geometry {
                page_bytes: 2048,
                pages_per_block: 64,
                block_count: 1024,
                programs_bytes: false
            }
        );
        for (page_bytes, erase_bytes, size) in [
            (0, 131_072, 1 << 27),
            (2048, 0, 1 << 27),
            (2048, 3000, 1 << 27),
            (2048, 131_072, (1 << 27) + 2048),
            (1, 1, 1 << 32),
        ] {
            let error = geometry(page_bytes, erase_bytes, size).unwrap_err();
            assert!(matches!(error, MtdError::Sizes { .. }), "{error}");
        }
    }

    #[test]
    fn errors_of_the_kernel_are_told_as_what_they_mean_for_the_page() {
        let failure = |verb, errno: Errno| trouble(verb, 0, errno.into()).0;
        assert_eq!(failure("read", Errno::BADMSG), Failure::Uncorrectable);
        assert_eq!(failure("read", Errno::IO), Failure::Device);
        assert_eq!(failure("program", Errno::IO), Failure::BadBlock);
        assert_eq!(failure("erase", Errno::IO), Failure::BadBlock);
        assert_eq!(failure("erase", Errno::ROFS), Failure::WriteProtected);
        assert_eq!(failure("program", Errno::ROFS), Failure::WriteProtected);
        assert_eq!(failure("erase", Errno::PERM), Failure::Device);
    }
}
