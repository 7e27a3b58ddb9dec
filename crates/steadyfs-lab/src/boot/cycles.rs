//! What decoding takes a processor: cycles a byte of content.
//!
//! These figures are of other processors than the two that are meant here, and uncertain by half or more: flash time and bytes are measured, this is not. `--cycles`
//! sets others. Sources:
//!
//! - LZ4 and LZO: Linux, commit cffb78b0e0b3 (2013), a kernel of 14 MB on an ARMv7 at 1.5 GHz: 29.1 and 20.1 MB/s without unaligned access, which an
//!   ARM920T has not, 45.6 and 25.2 MB/s with it, as a Cortex-M7 has it.
//! - Deflate, XZ and Zstandard: by the shares of LZO's speed that a squashfs of the three had on an x86 (Linux, commit 87bf54bb43dd, 2017: gzip 128, LZO
//!   217, XZ 35, Zstandard 225 MB/s).
//! - SHA-256: `sha256-armv4.pl` of OpenSSL: 35 cycles on a single-issue XScale, 20 on a dual-issue Cortex-A8.
//! - CRC-32, which SteadyFS computes of each page: 10 instructions a byte with the table of 64 bytes, `docs/footprint.md`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What takes a processor time for each byte.
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
    /// All of them.
    pub const ALL: [Codec; 7] = [Codec::Lz4, Codec::Lzo, Codec::Deflate, Codec::Zstd, Codec::Xz, Codec::Sha256, Codec::Crc32];

    /// Its name, as in `--cycles`.
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

/// Cycles a byte that were said for one codec: `lz4=8`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// Of what.
    pub codec: Codec,
    /// Cycles for each byte that is made, or looked at.
    pub per_byte: f64,
}

impl FromStr for Cycles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}`: expected NAME=CYCLES, as lz4=8; names: {}", Codec::ALL.map(Codec::name).join(", "));
        let (name, cycles) = text.split_once('=').ok_or_else(wrong)?;
        let codec = Codec::ALL.into_iter().find(|codec| codec.name() == name).ok_or_else(wrong)?;
        let per_byte: f64 = cycles.parse().map_err(|_| wrong())?;
        if (0.0..=1e6).contains(&per_byte) { Ok(Self { codec, per_byte }) } else { Err(wrong()) }
    }
}

/// A processor, and what each codec takes there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Its name.
    pub name: String,
    /// Its clock.
    pub mhz: f64,
    /// Cycles a byte, for each of [`Codec::ALL`] in this order.
    pub cycles: [f64; Codec::ALL.len()],
}

impl Processor {
    /// An ARM920T at 400 MHz, as the fifth document's board has it.
    pub fn arm920t() -> Self {
        Self { name: "ARM920T".into(), mhz: 400.0, cycles: [51.0, 75.0, 127.0, 72.0, 463.0, 35.0, 10.0] }
    }

    /// A Cortex-M7 at 480 MHz, as microcontrollers with a QSPI bus have it.
    pub fn cortex_m7() -> Self {
        Self { name: "Cortex-M7".into(), mhz: 480.0, cycles: [33.0, 60.0, 101.0, 57.0, 369.0, 20.0, 10.0] }
    }

    /// The processor beside a chip: of pages of 512 bytes the one of the document's board.
    pub fn beside(page_bytes: u32) -> Self {
        if page_bytes <= 512 { Self::arm920t() } else { Self::cortex_m7() }
    }

    /// The same with other cycles.
    #[must_use]
    pub fn with(mut self, cycles: &[Cycles]) -> Self {
        for &Cycles { codec, per_byte } in cycles {
            self.cycles[codec as usize] = per_byte;
        }
        self
    }

    /// How long the work of a codec takes, in nanoseconds.
    pub fn time_ns(&self, work: &Work) -> f64 {
        let cycles: f64 = Codec::ALL.iter().map(|&codec| work.bytes(codec) as f64 * self.cycles[codec as usize]).sum();
        cycles / self.mhz * 1e3
    }
}

/// Bytes that were decoded, hashed and checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work([u64; Codec::ALL.len()]);

impl Work {
    /// Those of one codec.
    pub const fn bytes(&self, codec: Codec) -> u64 {
        self.0[codec as usize]
    }

    /// Counts bytes of one codec.
    pub fn add(&mut self, codec: Codec, bytes: u64) {
        self.0[codec as usize] += bytes;
    }

    /// Bytes that were decompressed, by whatever codec.
    pub fn decoded_bytes(&self) -> u64 {
        let decoders = Codec::ALL.iter().filter(|codec| !matches!(codec, Codec::Sha256 | Codec::Crc32));
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
