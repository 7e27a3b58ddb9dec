//! The worst case of each call: the sum of the bounds of the file system calls that it makes.

use crate::file::PackedFile;
use crate::format::{ENTRY_BYTES, Shape};
use steadyfs::media::Flash;
use steadyfs::{Call, Cost, FileSystem};

impl<B> PackedFile<B> {
    /// Returns the worst case of a read of at most `bytes` bytes, made now.
    ///
    /// The call reads the size. For each of the `n` chunks that it touches, it reads the entry and
    /// at most the bytes of a chunk. The sum is `Read(8) + n · (Read(8) + Read(chunk))`.
    pub fn read_bound<F: Flash>(&self, fs: &FileSystem<'_, F>, bytes: u32) -> Cost {
        let chunk_bytes = self.stored.shape.chunk_bytes() as u32;
        let small = read(fs, ENTRY_BYTES as u32);
        // Each read may also report to the file system that a page must move. The bound of the read
        // includes the cost of this report.
        let chunk = small.plus(&read(fs, chunk_bytes));
        small.plus(&chunk.times(bytes.div_ceil(chunk_bytes) + 1))
    }

    /// Returns the worst case of a write within one chunk, at the present fill, if the write begins
    /// at most at the end of the file.
    ///
    /// - The call reads the size, the entry, a chunk and the header.
    /// - The call writes at most a chunk, which lies in `p` logical pages. It also writes an entry
    ///   and the size.
    ///
    /// The sum is
    /// `2 · Read(8) + Read(8) + Read(chunk) + Read(header) + p · Write(page) + 2 · Write(8)`. It
    /// always includes a `Sync`, because some volumes commit on each write.
    pub fn write_bound<F: Flash>(&self, fs: &FileSystem<'_, F>) -> Cost {
        write_of(fs, &self.stored.shape)
    }

    /// Returns the worst case of [`convert`](Self::convert) if no step fails. It is the sum of
    /// `2 · Open`, `2 · Sync`, `Read(chunk)`, `Truncate`, `SetAttribute`, and a
    /// [write](Self::write_bound).
    pub fn convert_bound<F: Flash>(fs: &FileSystem<'_, F>, shape: &Shape) -> Cost {
        let call = |call| fs.bounds().at_fill(call, 0).most();
        let twice = call(Call::Open { depth: 1 }).plus(&call(Call::Sync)).times(2);
        let change = call(Call::Truncate).plus(&call(Call::SetAttribute));
        twice.plus(&change).plus(&read(fs, shape.chunk_bytes() as u32)).plus(&write_of(fs, shape))
    }

    /// Returns the worst case of a truncate, at the present fill. It is the sum of a
    /// [write](Self::write_bound), `Read(header)`, `2 · Write(header)`, and `Truncate`.
    pub fn truncate_bound<F: Flash>(&self, fs: &FileSystem<'_, F>) -> Cost {
        let header = self.stored.shape.header_bytes() as u32;
        let cut = fs.bounds().at_fill(Call::Truncate, 0).most();
        // A header lies in one logical page, or in two if logical pages have 256 bytes.
        self.write_bound(fs).plus(&read(fs, header)).plus(&write(fs, header).times(2)).plus(&cut)
    }
}

/// Returns the worst case of a write within one chunk.
fn write_of<F: Flash>(fs: &FileSystem<'_, F>, shape: &Shape) -> Cost {
    let logical_bytes = fs.usage().logical_bytes;
    let pages = (shape.chunk_bytes() as u32).div_ceil(logical_bytes) + 1;
    let looks = read(fs, ENTRY_BYTES as u32)
        .times(3)
        .plus(&read(fs, shape.chunk_bytes() as u32))
        .plus(&read(fs, shape.header_bytes() as u32));
    let page = write(fs, logical_bytes).most(&write(fs, logical_bytes - 1));
    let sync = fs.bounds().at_fill(Call::Sync, 0).most();
    looks.plus(&page.times(pages)).plus(&write(fs, ENTRY_BYTES as u32).times(2)).plus(&sync)
}

fn read<F: Flash>(fs: &FileSystem<'_, F>, bytes: u32) -> Cost {
    fs.bounds().at_fill(Call::Read(bytes), 0).most()
}

/// Returns the worst case of a write of at most `bytes` bytes within one logical page.
fn write<F: Flash>(fs: &FileSystem<'_, F>, bytes: u32) -> Cost {
    fs.bounds().at_fill(Call::Write(bytes.min(fs.usage().logical_bytes)), 0).most()
}
