//! The physical limits: the time that a chip needs for the payload and one tag for each commit.
//!
//! Payload and tags are programmed densely in as few commands as possible. Every byte costs its
//! share of an erase, unless the blocks were erased ahead. All shares together are at most the
//! erases that occurred. A NAND page is programmed once, so a commit takes at least one page.
//! The tag of a page lies in its spare area. A read is one command for the bytes of a call, or
//! the call's share of a program page that is read once, if that is less.

use super::medium::Medium;
use std::ops::{Add, Mul};
use steadyfs::media::TAG_BYTES;

/// Bytes of a tag on NOR. The tag identifies a record and protects it.
const NOR_TAG_BYTES: usize = 12;

/// The minimum time of an operation, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Programs and reads.
    pub transfer_ns: f64,
    /// The share of erases for the programmed bytes.
    pub erase_ns: f64,
}

impl Limit {
    /// Returns the limit of reads, which erase nothing.
    pub fn reads(transfer_ns: f64) -> Limit {
        Limit { transfer_ns, erase_ns: 0.0 }
    }

    /// Returns the same limit on blocks that were erased before.
    #[must_use]
    pub fn erased(self) -> Limit {
        Limit { erase_ns: 0.0, ..self }
    }

    /// Returns the whole limit. Its erases take at most `erases_ns`, the time of the actual
    /// erases: on a chip that was not yet written through, some erases are still to come.
    pub fn ns(&self, erases_ns: f64) -> f64 {
        self.transfer_ns + self.erase_ns.min(erases_ns)
    }
}

impl Add for Limit {
    type Output = Limit;

    fn add(self, other: Limit) -> Limit {
        Limit {
            transfer_ns: self.transfer_ns + other.transfer_ns,
            erase_ns: self.erase_ns + other.erase_ns,
        }
    }
}

impl Mul<f64> for Limit {
    type Output = Limit;

    fn mul(self, times: f64) -> Limit {
        Limit { transfer_ns: self.transfer_ns * times, erase_ns: self.erase_ns * times }
    }
}

impl std::iter::Sum for Limit {
    fn sum<I: Iterator<Item = Limit>>(limits: I) -> Limit {
        limits.fold(Limit::default(), Add::add)
    }
}

impl Medium {
    /// Returns the limit of programming a commit of `bytes`, with the erases that it needs.
    pub fn write(&self, bytes: u64) -> Limit {
        let bytes = bytes as usize;
        match self {
            Medium::Nand { geometry, timing, .. } => {
                let page = geometry.page_bytes as usize;
                let (whole, rest) = (bytes / page, bytes % page);
                let mut programmed = whole as u64 * timing.program_ns(page + TAG_BYTES);
                if rest > 0 || whole == 0 {
                    programmed += timing.program_ns(rest + TAG_BYTES);
                }
                let pages = bytes.div_ceil(page).max(1) as f64;
                let erase_ns =
                    pages * timing.erase_ns() as f64 / f64::from(geometry.pages_per_block);
                Limit { transfer_ns: programmed as f64, erase_ns }
            }
            Medium::Nor { block_bytes, timing, .. } => {
                let bytes = bytes + NOR_TAG_BYTES;
                let erase_ns = timing.erase_ns() as f64 * bytes as f64 / f64::from(*block_bytes);
                Limit { transfer_ns: timing.program_ns(bytes) as f64, erase_ns }
            }
        }
    }

    /// Returns the limit of programming raw files, one after the other. Each begins with a new
    /// page, and the erases are as many as the filled blocks.
    pub fn copy(&self, files: impl Iterator<Item = u64>) -> Limit {
        match self {
            Medium::Nand { geometry, timing, .. } => {
                let page = geometry.page_bytes as usize;
                let pages: u64 = files.map(|bytes| bytes.div_ceil(page as u64)).sum();
                let blocks = pages.div_ceil(geometry.pages_per_block.into());
                let transfer_ns = (pages * timing.program_ns(page + TAG_BYTES)) as f64;
                Limit { transfer_ns, erase_ns: (blocks * timing.erase_ns()) as f64 }
            }
            Medium::Nor { .. } => files.map(|bytes| self.write(bytes)).sum(),
        }
    }

    /// Returns the nanoseconds of reading `bytes` in one call of several that read in sequence.
    pub fn read_ns(&self, bytes: u64) -> f64 {
        match self {
            Medium::Nand { geometry, timing, .. } => {
                let page = geometry.page_bytes as usize;
                timing.read_ns(page + TAG_BYTES) as f64 * bytes as f64 / page as f64
            }
            Medium::Nor { timing, .. } => {
                let page = timing.program_page_bytes as usize;
                let share = timing.read_ns(page) as f64 * bytes as f64 / page as f64;
                share.min(timing.read_ns(bytes as usize) as f64)
            }
        }
    }

    /// Returns the nanoseconds of finding a file by its name: two page reads, for the name and
    /// for the file, each with its tag.
    pub fn find_ns(&self) -> f64 {
        let page_ns = match self {
            Medium::Nand { geometry, timing, .. } => {
                timing.read_ns(geometry.page_bytes as usize + TAG_BYTES)
            }
            Medium::Nor { timing, .. } => {
                timing.read_ns(timing.program_page_bytes as usize) + timing.read_ns(NOR_TAG_BYTES)
            }
        };
        2.0 * page_ns as f64
    }

    /// Returns the nanoseconds of an erase.
    pub fn erase_ns(&self) -> f64 {
        match self {
            Medium::Nand { timing, .. } => timing.erase_ns() as f64,
            Medium::Nor { timing, .. } => timing.erase_ns() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::*;
    use steadyfs_sim::Profile;

    fn medium(device: &str, size_bytes: Option<u64>) -> Medium {
        Medium::of(&Profile::named(device).unwrap(), &Part { size_bytes, ..Part::default() })
            .unwrap()
    }

    /// Returns true if two numbers agree to half a percent.
    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.005
    }

    /// By hand: a byte of NOR costs 2.756 µs to program in whole pages, and 10.99 µs of an erase of
    /// 45 ms for 4 KiB.
    #[test]
    fn limits_of_a_mebibyte_of_w25q128jv_are_those_computed_by_hand() {
        let nor = medium("w25q128jv", Some(1 << 20));
        let rate = |bytes: u64, ns: f64| bytes as f64 * 1e6 / ns;
        let write_ns = |bytes| nor.write(bytes).ns(f64::INFINITY);
        assert!(near(rate(100_000, write_ns(100_000)), 72.8), "kB/s, with erases");
        assert!(
            near(rate(100_000, nor.write(100_000).erased().ns(f64::INFINITY)), 362.8),
            "kB/s, erased ahead"
        );
        assert!(
            near(rate(100_000, nor.write(100_000).ns(0.0)), 362.8),
            "kB/s, where nothing was erased"
        );
        assert!(near(write_ns(64), 1_094_100.0) && near(write_ns(16), 422_000.0));
        assert!(
            near(write_ns(200), 3.0e6)
                && near(write_ns(216), 3.22e6)
                && near(write_ns(116), 1.82e6)
        );
        assert!(near(write_ns(8), 0.31e6) && near(nor.find_ns(), 11_840.0));
        assert!(near(256e3 / nor.read_ns(256), 48.2) && near(4096e3 / nor.read_ns(4096), 51.7));
        assert!(nor.read_ns(1) < 25.0, "a program page that is read once serves 256 calls");
    }

    /// By hand: a page program takes 251.7 µs, its share of an erase 31.3 µs, a page read 77.7 µs.
    #[test]
    fn limits_of_mt29f1g01abafd_are_those_computed_by_hand() {
        let nand = medium("mt29f1g01abafd", None);
        let all = f64::INFINITY;
        assert!(near(nand.write(4096).ns(all), 2.0 * (251_701.0 + 31_258.0)));
        assert!(
            near(nand.write(64).ns(all), 221_866.0 + 31_258.0),
            "a commit takes a page, and sends what it has"
        );
        assert!(near(
            nand.copy([10_000_000].into_iter()).ns(all),
            4883.0 * 251_701.0 + 77.0 * 2_000_482.0
        ));
        assert!(near(nand.read_ns(4096), 155_402.0) && near(nand.read_ns(256), 9_713.0));
    }
}
