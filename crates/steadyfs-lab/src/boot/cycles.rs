//! The cost of decoding on a processor: cycles for each byte of content.
//!
//! These figures come from processors other than the two processors below, and are uncertain by
//! half or more. Flash time and bytes are measured; these cycles are not. `--cycles` sets
//! others. Sources:
//!
//! - LZ4 and LZO: Linux, commit cffb78b0e0b3 (2013), a kernel of 14 MB on an ARMv7 at 1.5 GHz. The
//!   rates are 29.1 and 20.1 MB/s without unaligned access, and 45.6 and 25.2 MB/s with it. An
//!   ARM920T has no unaligned access, a Cortex-M7 has it.
//! - Deflate, XZ and Zstandard: LZO's speed, scaled by the speeds of a squashfs of these codecs
//!   on an x86 (Linux, commit 87bf54bb43dd, 2017: gzip 128, LZO 217, XZ 35, Zstandard 225 MB/s).
//! - SHA-256: `sha256-armv4.pl` of OpenSSL: 35 cycles on a single-issue XScale, 20 on a
//!   dual-issue Cortex-A8.
//! - CRC-32, which SteadyFS computes of each page: 10 instructions a byte with the table of 64
//!   bytes, `docs/results/footprint.md`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A kind of work that takes processor time for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Codec {
    /// LZ4.
    Lz4,
    /// LZO 1X.
    Lzo,
    /// Deflate: gzip, zlib.
    Deflate,
    /// Zstandard.
    Zstd,
    /// XZ.
    Xz,
    /// SHA-256 of a verified image.
    Sha256,
    /// CRC-32 of SteadyFS's pages.
    Crc32,
}

impl Codec {
    /// All codecs.
    pub const ALL: [Codec; 7] = [
        Codec::Lz4,
        Codec::Lzo,
        Codec::Deflate,
        Codec::Zstd,
        Codec::Xz,
        Codec::Sha256,
        Codec::Crc32,
    ];

    /// Returns the name of the codec, as in `--cycles`.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::Lz4 => "lz4",
            Codec::Lzo => "lzo",
            Codec::Deflate => "deflate",
            Codec::Zstd => "zstd",
            Codec::Xz => "xz",
            Codec::Sha256 => "sha256",
            Codec::Crc32 => "crc32",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A setting of the cycles of one codec: `lz4=8`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// The codec.
    pub codec: Codec,
    /// Cycles for each produced or checked byte.
    pub per_byte: f64,
}

impl FromStr for Cycles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}`: expected NAME=CYCLES, such as lz4=8; names: {}",
                Codec::ALL.map(Codec::name).join(", ")
            )
        };
        let (name, cycles) = text.split_once('=').ok_or_else(wrong)?;
        let codec = Codec::ALL.into_iter().find(|codec| codec.name() == name).ok_or_else(wrong)?;
        let per_byte: f64 = cycles.parse().map_err(|_| wrong())?;
        if (0.0..=1e6).contains(&per_byte) { Ok(Self { codec, per_byte }) } else { Err(wrong()) }
    }
}

/// A processor and the cycles of each codec on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Name of the processor.
    pub name: String,
    /// Clock in MHz.
    pub mhz: f64,
    /// Cycles a byte, for each of [`Codec::ALL`] in this order.
    pub cycles: [f64; Codec::ALL.len()],
}

impl Processor {
    /// Returns an ARM920T at 400 MHz, the processor of the board in Sharif's comparison.
    pub fn arm920t() -> Self {
        Self {
            name: "ARM920T".into(),
            mhz: 400.0,
            cycles: [51.0, 75.0, 127.0, 72.0, 463.0, 35.0, 10.0],
        }
    }

    /// Returns a Cortex-M7 at 480 MHz, as in microcontrollers with a QSPI bus.
    pub fn cortex_m7() -> Self {
        Self {
            name: "Cortex-M7".into(),
            mhz: 480.0,
            cycles: [33.0, 60.0, 101.0, 57.0, 369.0, 20.0, 10.0],
        }
    }

    /// Returns the processor beside a chip: for pages of at most 512 bytes, the processor of the
    /// document's board.
    pub fn beside(page_bytes: u32) -> Self {
        if page_bytes <= 512 { Self::arm920t() } else { Self::cortex_m7() }
    }

    /// Replaces the cycles of some codecs.
    #[must_use]
    pub fn with(mut self, cycles: &[Cycles]) -> Self {
        for &Cycles { codec, per_byte } in cycles {
            self.cycles[codec as usize] = per_byte;
        }
        self
    }

    /// Returns the time that all codecs take for the work, in nanoseconds.
    pub fn time_ns(&self, work: &Work) -> f64 {
        let cycles: f64 = Codec::ALL
            .iter()
            .map(|&codec| work.bytes(codec) as f64 * self.cycles[codec as usize])
            .sum();
        cycles / self.mhz * 1e3
    }
}

/// Decoded, hashed and checked bytes of each codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work([u64; Codec::ALL.len()]);

impl Work {
    /// Returns the bytes of one codec.
    pub const fn bytes(&self, codec: Codec) -> u64 {
        self.0[codec as usize]
    }

    /// Counts bytes of one codec.
    pub fn add(&mut self, codec: Codec, bytes: u64) {
        self.0[codec as usize] += bytes;
    }

    /// Returns the bytes that were decompressed, by any codec.
    pub fn decoded_bytes(&self) -> u64 {
        let decoders =
            Codec::ALL.iter().filter(|codec| !matches!(codec, Codec::Sha256 | Codec::Crc32));
        decoders.map(|&codec| self.bytes(codec)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_named_and_numbered() {
        assert_eq!("lz4=8".parse(), Ok(Cycles { codec: Codec::Lz4, per_byte: 8.0 }));
        for wrong in ["", "lz4", "lz4=", "lz4=-1", "lz4=nan", "lzma=3"] {
            assert!(wrong.parse::<Cycles>().is_err_and(|text| text.contains("lz4=8")), "{wrong}");
        }
    }

    #[test]
    fn time_is_bytes_by_cycles_by_clock() {
        let mut work = Work::default();
        work.add(Codec::Lz4, 1_000_000);
        work.add(Codec::Sha256, 2_000_000);
        let processor = Processor::arm920t().with(&[Cycles { codec: Codec::Lz4, per_byte: 8.0 }]);
        assert_eq!(processor.time_ns(&work), (8.0 + 70.0) * 1e6 / 0.4);
        assert_eq!(work.decoded_bytes(), 1_000_000);
    }
}
