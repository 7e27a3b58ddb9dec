//! The pages of a file: from pointers to content.

use super::error::PageError;
use super::format::{ByteOrder, Entry};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// The page is as it is in the file.
const UNCOMPRESSED: u32 = 1 << 31;
/// The pointer has the begin of the page, in words.
const DIRECT: u32 = 1 << 30;

/// Reads the pages of files.
pub(super) struct Pages<'a> {
    pub image: &'a [u8],
    pub order: ByteOrder,
    /// Bytes of a page.
    pub block_bytes: usize,
    /// Pointers have flags.
    pub extended: bool,
    inflate: Box<DecompressorOxide>,
}

/// Where a page is in the image, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: usize,
    to: usize,
    compressed: bool,
}

impl<'a> Pages<'a> {
    pub fn new(image: &'a [u8], order: ByteOrder, block_bytes: usize, extended: bool) -> Self {
        Self { image, order, block_bytes, extended, inflate: Box::default() }
    }

    /// Reads a content. The caller checked that there is room for `entry.size` bytes.
    ///
    /// # Errors
    /// The page, and what is wrong with it.
    pub fn content(&mut self, entry: &Entry) -> Result<Vec<u8>, (usize, PageError)> {
        let bytes = entry.size as usize;
        let count = bytes.div_ceil(self.block_bytes);
        if self.image.get(entry.offset..).is_none_or(|rest| rest.len() < 4 * count) {
            return Err((0, PageError::Outside));
        }
        let mut content = vec![0; bytes];
        for (page, out) in content.chunks_mut(self.block_bytes).enumerate() {
            self.page(entry.offset, count, page, out).map_err(|error| (page, error))?;
        }
        Ok(content)
    }

    /// Fills `out`, which is of zeros, with a page.
    fn page(&mut self, table: usize, count: usize, page: usize, out: &mut [u8]) -> Result<(), PageError> {
        let span = self.span(table, count, page, out.len())?;
        let limit = if span.compressed { 2 * self.block_bytes } else { self.block_bytes };
        if span.from > span.to || span.to - span.from > limit {
            return Err(PageError::Length { from: span.from as u64, to: span.to as u64, limit: limit as u64 });
        }
        let bytes = self.image.get(span.from..span.to).ok_or(PageError::Outside)?;
        match (bytes.is_empty(), span.compressed) {
            (true, _) => Ok(()),
            (false, true) => self.inflate(bytes, out),
            (false, false) if bytes.len() == out.len() => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            (false, false) => Err(PageError::Content { expected: out.len() }),
        }
    }

    /// Finds a page of `page_bytes` bytes by its pointer and the one before it.
    fn span(&self, table: usize, count: usize, page: usize, page_bytes: usize) -> Result<Span, PageError> {
        let pointer = self.pointer(table, page)?;
        if pointer & DIRECT != 0 && self.extended {
            return self.direct(pointer, page_bytes);
        }
        let from = match page {
            0 => table + 4 * count,
            _ => self.end(self.pointer(table, page - 1)?)?,
        };
        let (to, compressed) = match self.extended {
            true => (pointer & !UNCOMPRESSED, pointer & UNCOMPRESSED == 0),
            false => (pointer, true),
        };
        Ok(Span { from, to: to as usize, compressed })
    }

    /// Where the page of a pointer ends.
    fn end(&self, pointer: u32) -> Result<usize, PageError> {
        match (self.extended, pointer & DIRECT != 0) {
            (false, _) => Ok(pointer as usize),
            (true, false) => Ok((pointer & !UNCOMPRESSED) as usize),
            (true, true) => Ok(self.direct(pointer, self.block_bytes)?.to),
        }
    }

    /// The page that begins where a pointer says; if compressed, it begins with its length in two bytes.
    fn direct(&self, pointer: u32, page_bytes: usize) -> Result<Span, PageError> {
        let from = (pointer & !(UNCOMPRESSED | DIRECT)) as usize * 4;
        if pointer & UNCOMPRESSED != 0 {
            return Ok(Span { from, to: from + page_bytes, compressed: false });
        }
        let bytes = self.order.half(self.image, from).ok_or(PageError::Outside)?;
        Ok(Span { from: from + 2, to: from + 2 + usize::from(bytes), compressed: true })
    }

    fn pointer(&self, table: usize, page: usize) -> Result<u32, PageError> {
        self.order.word(self.image, table + 4 * page).ok_or(PageError::Outside)
    }

    fn inflate(&mut self, bytes: &[u8], out: &mut [u8]) -> Result<(), PageError> {
        self.inflate.init();
        let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        match decompress(&mut self.inflate, bytes, out, 0, flags) {
            (TINFLStatus::Done, _, written) if written == out.len() => Ok(()),
            (TINFLStatus::Done | TINFLStatus::HasMoreOutput, ..) => Err(PageError::Content { expected: out.len() }),
            _ => Err(PageError::Stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::compress_to_vec_zlib;

    /// An image of a file of these pointers at 0, and of bytes behind them.
    fn content(
        order: ByteOrder,
        extended: bool,
        size: u32,
        pointers: &[u32],
        rest: &[u8],
    ) -> Result<Vec<u8>, (usize, PageError)> {
        let mut image: Vec<u8> = pointers.iter().flat_map(|&pointer| order.bytes(pointer)).collect();
        image.extend_from_slice(rest);
        Pages::new(&image, order, 4096, extended).content(&Entry { size, ..Entry::default() })
    }

    #[test]
    fn pages_with_pointers_of_each_kind_are_read() {
        let pages: Vec<u8> = (0..4096 * 5 + 100u32).map(|i| (i / 7) as u8 ^ (i >> 8) as u8).collect();
        let stream = |page: usize| compress_to_vec_zlib(&pages[4096 * page..4096 * (page + 1)], 6);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            // Page 0 compressed, 1 as it is, 2 compressed and direct, 3 compressed behind it, 4 a hole, 5 as it is and direct.
            let mut rest = stream(0);
            let mut pointers = vec![24 + rest.len() as u32];
            rest.extend_from_slice(&pages[4096..8192]);
            pointers.push((24 + rest.len() as u32) | UNCOMPRESSED);
            rest.resize(rest.len().next_multiple_of(4), 0);
            pointers.push(((24 + rest.len() as u32) / 4) | DIRECT);
            let direct = stream(2);
            let bytes = (direct.len() as u16).to_le_bytes();
            rest.extend(if order == ByteOrder::Little { bytes } else { [bytes[1], bytes[0]] });
            rest.extend(direct);
            rest.extend(stream(3));
            pointers.push(24 + rest.len() as u32);
            pointers.push(24 + rest.len() as u32);
            rest.resize(rest.len().next_multiple_of(4), 0);
            pointers.push(((24 + rest.len() as u32) / 4) | DIRECT | UNCOMPRESSED);
            rest.extend_from_slice(&pages[4096 * 5..]);
            let mut expected = pages.clone();
            expected[4096 * 4..4096 * 5].fill(0);
            assert_eq!(content(order, true, pages.len() as u32, &pointers, &rest), Ok(expected));
            assert!(content(order, false, pages.len() as u32, &pointers, &rest).is_err());
        }
    }

    #[test]
    fn pages_that_are_not_whole_are_refused() {
        let stream = compress_to_vec_zlib(&[7; 4096], 6);
        let end = 4 + stream.len() as u32;
        let read = |size, pointer, rest: &[u8]| content(ByteOrder::Little, false, size, &[pointer], rest);
        assert_eq!(read(4096, end, &stream), Ok(vec![7; 4096]));
        assert_eq!(read(4095, end, &stream), Err((0, PageError::Content { expected: 4095 })));
        let short = compress_to_vec_zlib(&[7; 40], 6);
        assert_eq!(read(41, 4 + short.len() as u32, &short), Err((0, PageError::Content { expected: 41 })));
        assert_eq!(read(4096, end - 1, &stream), Err((0, PageError::Stream)));
        assert_eq!(read(4096, end, &stream[1..]), Err((0, PageError::Outside)));
        assert_eq!(read(4096, 3, &stream), Err((0, PageError::Length { from: 4, to: 3, limit: 8192 })));
        assert_eq!(read(4096, 9000, &stream), Err((0, PageError::Length { from: 4, to: 9000, limit: 8192 })));
        assert_eq!(read(1 << 23, end, &stream), Err((0, PageError::Outside)));
        assert_eq!(read(4096, 4, &stream), Ok(vec![0; 4096]));
    }
}
