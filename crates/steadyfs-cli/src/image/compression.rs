//! How files are compressed that a command writes, as arguments.

use clap::Args;
use steadyfs_host::plain::Packing;
use steadyfs_lab::units::parse_size;

/// Sizes of chunks that there are.
const CHUNK_BYTES: std::ops::RangeInclusive<u64> = 4096..=65536;

/// Arguments of commands that write files.
#[derive(Args, Debug)]
pub struct Compression {
    /// Compress files in chunks: lz4, deflate or zstd, the latter two with a level if you like, as zstd:19. Files that save no page stay as they are
    #[arg(long, value_name = "METHOD[:LEVEL]")]
    compress: Option<Packing>,
    /// Bytes of a chunk, a power of two from 4KiB to 64KiB: larger ones become smaller, and take more RAM to read [default: 16KiB]
    #[arg(long, value_name = "BYTES", value_parser = chunk_bytes, requires = "compress")]
    chunk: Option<usize>,
}

impl Compression {
    /// What was asked for; `None` where files stay as they are.
    pub fn packing(&self) -> Option<Packing> {
        self.compress.map(|packing| self.chunk.map_or(packing, |bytes| packing.with_chunks(bytes)))
    }
}

fn chunk_bytes(text: &str) -> Result<usize, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    if bytes.is_power_of_two() && CHUNK_BYTES.contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err("expected a power of two from 4KiB to 64KiB".to_string())
    }
}
