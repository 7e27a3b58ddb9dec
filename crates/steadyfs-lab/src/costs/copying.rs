//! Mount, copy of files, and unmount, in comparison with programming the same bytes raw.

use super::{Commits, CopyCost, CostsError, SkippedCopy};
use crate::evaluate::cost;
use crate::evaluate::device::OnChip;
use crate::evaluate::tracker::TagTracker;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Budget, Call, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Counters, Metered};

/// One variant of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Number of files to copy.
    files: u32,
    /// Bytes of all files together.
    bytes: u64,
    /// Bytes of a write.
    write_bytes: usize,
    /// Time of the commits.
    commits: Commits,
    /// True if idle work has erased the blocks before.
    prepared: bool,
    /// True if a transaction may write as many logical pages as the geometry allows, up to
    /// [`LARGE_TRANSACTION`].
    large: bool,
}

/// Numbers of files, and their bytes: many small files, and one large file.
const SETS: [(u32, u64); 2] = [(35, 5_400_000), (1, 10_000_000)];
/// Bytes of a write. A long write is a sequence of writes of a logical page, so its size hardly
/// matters.
const WRITE_BYTES: usize = 64 << 10;
/// Logical pages of a large transaction. It has fewer if the root of such a transaction does not
/// fit into a block.
const LARGE_TRANSACTION: u16 = 64;

/// Returns all variants to measure.
pub fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for (files, bytes) in SETS {
        let usual = Way {
            files,
            bytes,
            write_bytes: WRITE_BYTES,
            commits: Commits::EachFile,
            prepared: false,
            large: false,
        };
        ways.push(usual);
        ways.push(Way { prepared: true, ..usual });
        ways.push(Way { large: true, ..usual });
        ways.push(Way { large: true, commits: Commits::AtEnd, ..usual });
    }
    ways
}

impl OnChip for Way {
    type Output = Result<Result<CopyCost, SkippedCopy>, CostsError>;

    fn run<C: Flash + Metered>(self, chip: C) -> Self::Output {
        match self.measure(chip) {
            Ok(copy) => Ok(Ok(copy)),
            Err(CostsError::Volume {
                error: error @ (Error::NoSpace | Error::TooManyFiles),
                ..
            }) => Ok(Err(self.skipped(error))),
            Err(error) => Err(error),
        }
    }
}

impl Way {
    fn config(&self, geometry: &Geometry) -> Config {
        let usual = Config::for_geometry(geometry);
        let with = |pages: u16| Config {
            overlay_entries: usual.overlay_entries + pages - usual.transaction_pages,
            transaction_pages: pages,
            ..usual
        };
        let mut pages = if self.large { LARGE_TRANSACTION } else { usual.transaction_pages };
        while pages > usual.transaction_pages && with(pages).check(geometry).is_err() {
            pages /= 2;
        }
        with(pages.max(usual.transaction_pages))
    }

    /// Bytes of a file.
    fn file_bytes(&self, file: u32) -> u64 {
        file_bytes(self.files, self.bytes, file)
    }

    /// Returns the page programs of the bytes alone.
    fn raw_programs(&self, page_bytes: u32) -> u64 {
        (0..self.files).map(|file| self.file_bytes(file).div_ceil(page_bytes.into())).sum()
    }

    fn measure<C: Flash + Metered>(&self, chip: C) -> Result<CopyCost, CostsError> {
        let mut chip = TagTracker::new(chip);
        let (geometry, timing) = (chip.geometry(), chip.timing());
        let config = self.config(&geometry);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let ram_bytes = memory.len() as u64;
        FileSystem::format(&mut chip, &config, &mut memory)?;
        if self.prepared {
            let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
            fs.maintain(Budget::TimeNs(u64::MAX), u64::MAX)
                .map_err(|error| self.failed(Call::Sync, error))?;
            fs.unmount().map_err(|error| self.failed(Call::Sync, error))?;
        }

        let (start, kinds) = (chip.counts(), chip.kinds());
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
        let mount = fs.flash().counts().since(&start);
        let bound = fs.bounds().mount();
        if !cost(&mount).is_within(&bound) {
            return Err(CostsError::MountBroken { observed: cost(&mount), bound });
        }
        let before = fs.flash().counts();
        self.copy(&mut fs)
            .map_err(|error| self.failed(Call::Write(self.write_bytes as u32), error))?;
        let copy = fs.flash().counts().since(&before);
        fs.unmount().map_err(|error| self.failed(Call::Sync, error))?;
        let total = chip.counts().since(&start);
        let spent = chip.kinds();
        let again = self.mount_again(&mut chip, &mut memory)?;

        let raw_programs = self.raw_programs(geometry.page_bytes);
        let raw_erases = raw_programs.div_ceil(geometry.pages_per_block.into());
        let raw_ns = raw_programs * timing.program_ns;
        Ok(CopyCost {
            files: self.files,
            bytes: self.bytes,
            write_bytes: self.write_bytes as u64,
            commits: self.commits,
            prepared: self.prepared,
            transaction_pages: config.transaction_pages,
            ram_bytes,
            mount_us: mount.time_ns as f64 / 1e3,
            copy_us: copy.time_ns as f64 / 1e3,
            unmount_us: (total.time_ns - mount.time_ns - copy.time_ns) as f64 / 1e3,
            total_us: total.time_ns as f64 / 1e3,
            raw_us: raw_ns as f64 / 1e3,
            ratio: total.time_ns as f64 / raw_ns as f64,
            ratio_with_erases: total.time_ns as f64
                / (raw_ns + raw_erases * timing.erase_ns) as f64,
            reads: total.reads + total.tag_reads,
            programs: total.programs + total.copies,
            raw_programs,
            journal_programs: spent.journal - kinds.journal,
            leaf_programs: spent.leaves - kinds.leaves,
            root_programs: spent.roots - kinds.roots,
            erases: total.erases,
            raw_erases,
            mount_after_us: again.time_ns as f64 / 1e3,
        })
    }

    /// Returns the reason for which the copy is not measured.
    fn skipped(&self, error: Error) -> SkippedCopy {
        let Way { files, bytes, commits, prepared, large, .. } = *self;
        SkippedCopy { files, bytes, commits, prepared, large, reason: error.to_string() }
    }

    fn failed(&self, call: Call, error: Error) -> CostsError {
        CostsError::Volume { step: format!("copy {} B a write", self.write_bytes), call, error }
    }

    fn copy<F: Flash>(&self, fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
        let at_end = CommitOn::UNMOUNT.with(CommitOn::FULL);
        fs.set_commit_on(match self.commits {
            Commits::EachFile => at_end.with(CommitOn::CLOSE),
            Commits::AtEnd => at_end,
        });
        for number in 0..self.files {
            let mut file = fs.open(&name(number), OpenOptions::CREATE)?;
            let (mut at, end) = (0, self.file_bytes(number));
            while at < end {
                let bytes = (end - at).min(self.write_bytes as u64) as usize;
                fs.write(&mut file, at, &vec![number as u8; bytes])?;
                at += bytes as u64;
            }
            fs.close(file)?;
        }
        Ok(())
    }

    /// Mounts the copied files, and checks the first and last byte of each file. Returns the
    /// counters of the mount.
    fn mount_again<C: Flash + Metered>(
        &self,
        chip: &mut TagTracker<C>,
        memory: &mut [u8],
    ) -> Result<Counters, CostsError> {
        let before = chip.counts();
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory)?;
        let mount = fs.flash().counts().since(&before);
        for number in 0..self.files {
            let holds = self
                .is_copied(&mut fs, number)
                .map_err(|error| self.failed(Call::Open { depth: 1 }, error))?;
            if !holds {
                return Err(CostsError::Lost { step: format!("copy, {}", name(number)) });
            }
        }
        Ok(mount)
    }

    fn is_copied<F: Flash>(&self, fs: &mut FileSystem<'_, F>, number: u32) -> Result<bool, Error> {
        let mut file = fs.open(&name(number), OpenOptions::READ)?;
        let size = fs.size(&mut file)?;
        let mut ends = [0; 2];
        let (first, last) = ends.split_at_mut(1);
        fs.read(&mut file, 0, first)?;
        fs.read(&mut file, size.saturating_sub(1), last)?;
        fs.close(file)?;
        Ok(size == self.file_bytes(number) && ends == [number as u8; 2])
    }
}

/// Returns the bytes of one of `files` files of `bytes` bytes together. Sizes go from half of
/// the mean to one and a half of it.
pub fn file_bytes(files: u32, bytes: u64, file: u32) -> u64 {
    let mean = bytes / u64::from(files);
    if file + 1 == files {
        return bytes - (0..file).map(|file| file_bytes(files, bytes, file)).sum::<u64>();
    }
    mean / 2 + mean * u64::from(file) / u64::from(files.max(2) - 1)
}

fn name(number: u32) -> String {
    format!("copy-{number:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs_sim::{Nand, NandTiming};

    #[test]
    fn sizes_of_the_files_add_up() {
        for way in ways() {
            assert_eq!((0..way.files).map(|file| way.file_bytes(file)).sum::<u64>(), way.bytes);
            assert!((0..way.files).all(|file| way.file_bytes(file) > 0));
        }
    }

    #[test]
    fn every_way_copies_all_bytes_and_programs_little_more_whatever_the_size_of_a_write() {
        let geometry = Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 128,
            programs_bytes: false,
        };
        for way in ways() {
            let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
            let copy = way.measure(chip).unwrap_or_else(|error| panic!("{way:?}: {error}"));
            assert!(copy.programs > copy.raw_programs && copy.ratio < 1.5, "{copy:?}");
            let small = Way { write_bytes: 4096, ..way };
            let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
            assert_eq!(small.measure(chip).unwrap().programs, copy.programs, "{way:?}");
            assert!(
                (copy.total_us - copy.mount_us - copy.copy_us - copy.unmount_us).abs() < 0.01,
                "{copy:?}"
            );
        }
    }
}
