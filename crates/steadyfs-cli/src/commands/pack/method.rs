//! Compression methods of `pack`, as arguments: a volume and a read-only image have different
//! methods.

use crate::Failure;
use std::ops::RangeInclusive;
use std::str::FromStr;
use steadyfs_convert::squashfs::Compressor;
use steadyfs_host::plain::Packing;
use steadyfs_lab::units::parse_size;

/// Bytes of a chunk of a volume.
const VOLUME_CHUNK_BYTES: RangeInclusive<usize> = 4 << 10..=64 << 10;

/// A method, for volumes, for read-only images, or for both.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    packing: Option<Packing>,
    compressor: Option<Compressor>,
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (packing, compressor) = (text.parse::<Packing>(), text.parse::<Compressor>());
        match (&packing, &compressor) {
            (Err(error), Err(_))
                if ["lz4", "deflate", "zstd"].iter().any(|name| text.starts_with(name)) =>
            {
                Err(error.to_string())
            }
            (Err(error), Err(_)) => Err(format!(
                "{error}; with --read-only also lz4:fast, gzip, gzip:LEVEL, xz and lzo"
            )),
            _ => Ok(Self { packing: packing.ok(), compressor: compressor.ok() }),
        }
    }
}

impl Method {
    /// Returns the compression of files in a volume.
    pub fn packing(&self, chunk: Option<usize>) -> Result<Packing, Failure> {
        let expected = "--compress names a method of read-only images alone; expected lz4, deflate \
                        or zstd, or --read-only";
        let packing = self.packing.ok_or_else(|| Failure::usage(expected))?;
        match chunk {
            Some(bytes) if !VOLUME_CHUNK_BYTES.contains(&bytes) => Err(Failure::usage(
                "--chunk is too large for a volume; expected 4KiB to 64KiB, or --read-only",
            )),
            Some(bytes) => Ok(packing.with_chunks(bytes)),
            None => Ok(packing),
        }
    }

    /// Returns the compression of a read-only image.
    pub fn compressor(&self) -> Result<Compressor, Failure> {
        let expected = "--compress has a level that read-only images do not have; expected gzip:1 \
                        to 10 or zstd:1 to 22";
        self.compressor.ok_or_else(|| Failure::usage(expected))
    }
}

/// Reads the bytes of a chunk of a read-only image.
pub fn read_only_chunk(text: &str) -> Result<usize, String> {
    power_of_two(
        text,
        4 << 10..=1 << 20,
        "expected a power of two from 4KiB to 64KiB, of read-only images to 1MiB",
    )
}

/// Reads the bytes of a block of a hash tree.
pub fn hash_block(text: &str) -> Result<u32, String> {
    power_of_two(text, 512..=4096, "expected a power of two from 512 to 4096")
        .map(|bytes| bytes as u32)
}

fn power_of_two(text: &str, range: RangeInclusive<u64>, expected: &str) -> Result<usize, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    if bytes.is_power_of_two() && range.contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err(expected.to_string())
    }
}
