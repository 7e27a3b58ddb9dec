//! The number of wrong bits of a page: an expected number that depends on wear, age and reads, and
//! a random number for each page.

use fastrand::Rng;
use steadyfs::media::PageIndex;

/// Number of hours in a year.
const YEAR_HOURS: f64 = 8766.0;

/// The rates of bit flips, in expected wrong bits of one ECC codeword.
///
/// ```text
/// expected = (fresh + worn · w² + retention · years · (w + 1/100)
///             + disturb · million reads · (w + 1/10)) · weak factor
/// w        = erases of the block / endurance
/// ```
///
/// Mielke et al. measured three kinds of errors ("Bit Error Rate in NAND Flash Memories", IRPS
/// 2008): errors of writing, of retention and of read disturb. All of them grow with wear. Read
/// disturb grows in proportion to the reads, and faster in worn blocks (Cai et al., "Read Disturb
/// Errors in MLC NAND Flash Memory", DSN 2015). The factors are estimates. They are set so that the
/// promises of an SLC datasheet just hold with an ECC of 8 bits: see [`SLC`](BitErrorModel::SLC).
///
/// The number of wrong bits in the worst codeword of a page is a quantile of the Poisson
/// distribution. The share of the quantile is a random number for each page and erase. So the
/// number of wrong bits only grows until the block is erased.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitErrorModel {
    /// Number of bits that the ECC can correct in a codeword.
    pub strength: u8,
    /// Number of codewords of a page.
    pub codewords: u8,
    /// Number of erases after which a block counts as worn.
    pub endurance: u32,
    /// Expected wrong bits of a codeword in a new block, directly after the program.
    pub fresh: f64,
    /// Additional wrong bits in a worn block, directly after the program.
    pub worn: f64,
    /// Additional wrong bits for each year since the program, in a worn block.
    pub retention: f64,
    /// Additional wrong bits for each million reads of the block since its erase, in a worn
    /// block.
    pub disturb: f64,
    /// Number of weak pages in 1,000 pages.
    pub weak_permille: u32,
    /// Factor by which the bits of weak pages flip more often.
    pub weak_factor: f64,
    /// Largest number of additional wrong bits that differ from read to read.
    pub noise_bits: u8,
}

impl BitErrorModel {
    /// The model of SLC with an ECC that corrects 8 bits in 512 bytes.
    ///
    /// - A worn block holds its data for a year, and a block with a tenth of the erases holds its
    ///   data for ten years. At the end of this time 1.8 wrong bits are expected in a codeword, and
    ///   one of 9,000 codewords has more than 8 wrong bits. Makers test retention after 10 % and
    ///   100 % of the erases (JESD22-A117; Silicon Power, "NAND Flash Products Data Retention",
    ///   2025). The years are an estimate.
    /// - A worn block endures a million reads. For NAND in general, the limit between erases is
    ///   hundreds of thousands of reads (Micron, TN-29-17).
    /// - One page of 200 is weak: its bits flip 2.5 times as often. This is an estimate. Measured
    ///   numbers of wrong bits are spread wider than a Poisson distribution (Taranalli et al.,
    ///   "Channel Models for Multi-Level Cell Flash Memories", 2016). Weak pages model that spread.
    pub const SLC: Self = Self {
        strength: 8,
        codewords: 4,
        endurance: 100_000,
        fresh: 0.001,
        worn: 0.3,
        retention: 1.5,
        disturb: 1.5,
        weak_permille: 5,
        weak_factor: 2.5,
        noise_bits: 0,
    };

    /// Returns the expected number of wrong bits in a codeword of a page that is not weak.
    pub fn expected(&self, erases: u32, age_hours: u32, reads: u32) -> f64 {
        let wear = f64::from(erases) / f64::from(self.endurance.max(1));
        let years = f64::from(age_hours) / YEAR_HOURS;
        let million_reads = f64::from(reads) / 1e6;
        self.fresh
            + self.worn * wear * wear
            + self.retention * years * (wear + 0.01)
            + self.disturb * million_reads * (wear + 0.1)
    }

    /// Returns the number of wrong bits in the worst codeword of a page, if `expected` wrong bits
    /// are expected in a codeword.
    pub(super) fn wrong_bits(&self, seed: u64, page: PageIndex, erases: u32, expected: f64) -> u32 {
        let weak = Rng::with_seed(seed ^ u64::from(page)).u32(0..1000) < self.weak_permille;
        let expected = expected * if weak { self.weak_factor } else { 1.0 };
        let place = u64::from(page) << 32 | u64::from(erases);
        let drawn = Rng::with_seed(!seed ^ place.rotate_left(16)).f64();
        poisson_quantile(drawn.powf(1.0 / f64::from(self.codewords.max(1))), expected)
    }
}

/// Returns the smallest number of bits at which the cumulative Poisson distribution reaches
/// `share`. The result is at most 64, more than any ECC of this crate corrects.
fn poisson_quantile(share: f64, mean: f64) -> u32 {
    let (mut probability, mut sum) = ((-mean).exp(), 0.0);
    for count in 0..64 {
        sum += probability;
        if share <= sum {
            return count;
        }
        probability *= mean / f64::from(count + 1);
    }
    64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: BitErrorModel = BitErrorModel::SLC;

    fn mean_bits(model: &BitErrorModel, expected: f64) -> f64 {
        let sum: u32 = (0..4000).map(|page| model.wrong_bits(1, page, 0, expected)).sum();
        f64::from(sum) / 4000.0
    }

    #[test]
    fn every_cause_adds_wrong_bits() {
        let fresh = MODEL.expected(0, 0, 0);
        assert!(MODEL.expected(100_000, 0, 0) > fresh + 0.2, "wear");
        assert!(MODEL.expected(100_000, 8766, 0) > MODEL.expected(100_000, 0, 0) + 1.0, "age");
        assert!(
            MODEL.expected(100_000, 0, 1_000_000) > MODEL.expected(100_000, 0, 0) + 1.0,
            "reads"
        );
        assert!(
            MODEL.expected(10_000, 8766, 0) < MODEL.expected(100_000, 8766, 0) / 5.0,
            "a worn block forgets sooner"
        );
    }

    #[test]
    fn wrong_bits_never_become_fewer_as_causes_grow() {
        for page in 0..200 {
            let bits: Vec<_> =
                (0..100).map(|step| MODEL.wrong_bits(7, page, 5, f64::from(step) * 0.1)).collect();
            assert!(bits.is_sorted(), "page {page}: {bits:?}");
        }
    }

    #[test]
    fn wrong_bits_are_distributed_about_what_is_expected() {
        let one = BitErrorModel { codewords: 1, weak_permille: 0, ..MODEL };
        assert!((mean_bits(&one, 2.0) - 2.0).abs() < 0.1, "{}", mean_bits(&one, 2.0));
        let worst_of_four = mean_bits(&BitErrorModel { codewords: 4, ..one }, 2.0);
        assert!((3.2..3.8).contains(&worst_of_four), "{worst_of_four}");
    }

    #[test]
    fn weak_pages_are_as_many_as_asked_and_have_a_multiple_of_the_flips() {
        let model = BitErrorModel { weak_permille: 100, weak_factor: 10.0, codewords: 1, ..MODEL };
        let none = BitErrorModel { weak_permille: 0, ..model };
        let weak = (0..4000)
            .filter(|&page| model.wrong_bits(3, page, 0, 2.0) > none.wrong_bits(3, page, 0, 2.0))
            .count();
        assert!((300..500).contains(&weak), "{weak} of 4000");
    }

    #[test]
    fn a_page_draws_anew_after_each_erase() {
        let bits: Vec<_> = (0..64).map(|erases| MODEL.wrong_bits(1, 9, erases, 3.0)).collect();
        assert!(bits.iter().any(|&other| other != bits[0]), "{bits:?}");
    }
}
