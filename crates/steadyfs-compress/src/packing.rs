//! The compression of files that will be written, and the attribute in which a directory prescribes
//! it.
//!
//! ```text
//! lz4 · deflate · zstd      perhaps `:` and a level      perhaps `/` and the size of chunks
//!
//! lz4 · zstd:19 · deflate:9/64KiB
//! ```

use crate::codec::{LEVEL_DEFAULT, encode};
use crate::format::Shape;
use crate::{Error, Method, Volume};
use core::fmt;
use core::str::FromStr;
use steadyfs::media::Flash;
use steadyfs::{FileSystem, InodeNumber};

/// Key of the attribute in which a directory prescribes the compression of files that are created
/// in it.
pub const RULE: &str = "steadyfs.compress";
/// Bytes of a chunk if the text names no size.
const CHUNK_BYTES: usize = 16 << 10;
/// Bytes of the longest value: `deflate:10/64KiB`.
const RULE_BYTES_MAX: usize = 16;

/// The way files that are written are compressed: method, level, and size of the chunks.
///
/// ```
/// use steadyfs_compress::{Method, Packing};
/// let packing: Packing = "zstd:19/64KiB".parse()?;
/// assert_eq!((packing.method(), packing.level), (Method::Zstd, 19));
/// assert_eq!(packing.shape(1 << 20).chunk_bytes(), 65_536);
/// # Ok::<(), steadyfs_compress::NoPacking>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    method: Method,
    /// Level of the method. 0 selects the default level.
    pub level: i32,
    chunk_bytes: usize,
}

/// The reason why a text is not a valid [`Packing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPacking {
    /// The method is unknown.
    Method,
    /// The text contains a level, but its method has no levels.
    NoLevels,
    /// The method does not support this level. The number is the highest level of the method.
    Level(Method, i32),
    /// Chunks cannot have this size.
    Chunk,
}

impl fmt::Display for NoPacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method => f.write_str(
                "expected lz4, deflate, zstd, deflate:LEVEL or zstd:LEVEL, and behind it a size \
                 such as /64KiB for other chunks",
            ),
            Self::NoLevels => f.write_str("lz4 has no levels"),
            Self::Level(method, most) => write!(f, "expected a level of {method} from 1 to {most}"),
            Self::Chunk => f.write_str(
                "expected 4KiB, 8KiB, 16KiB, 32KiB or 64KiB behind the `/`, or the number of bytes",
            ),
        }
    }
}

impl core::error::Error for NoPacking {}

/// Returns the highest level of a method that has levels. The lowest is 1.
const fn level_max(method: Method) -> Option<i32> {
    match method {
        Method::Lz4 => None,
        Method::Deflate => Some(10),
        Method::Zstd => Some(22),
    }
}

impl FromStr for Packing {
    type Err = NoPacking;

    fn from_str(text: &str) -> Result<Self, NoPacking> {
        let (text, chunk) =
            text.split_once('/').map_or((text, None), |(text, chunk)| (text, Some(chunk)));
        let (name, level) =
            text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let method = [Method::Lz4, Method::Deflate, Method::Zstd]
            .into_iter()
            .find(|method| method.name() == name);
        let method = method.ok_or(NoPacking::Method)?;
        let level = match level {
            None => LEVEL_DEFAULT,
            Some(level) => {
                let most = level_max(method).ok_or(NoPacking::NoLevels)?;
                level
                    .parse()
                    .ok()
                    .filter(|level| (1..=most).contains(level))
                    .ok_or(NoPacking::Level(method, most))?
            }
        };
        let chunk_bytes = match chunk {
            None => CHUNK_BYTES,
            Some(chunk) => chunk_of(chunk).ok_or(NoPacking::Chunk)?,
        };
        Ok(Self { method, level, chunk_bytes })
    }
}

/// Parses the bytes of a chunk: `4KiB` to `64KiB`, or `4096` to `65536`.
fn chunk_of(text: &str) -> Option<usize> {
    let bytes: usize = match text.strip_suffix("KiB") {
        Some(count) => count.parse::<usize>().ok()?.checked_mul(1024)?,
        None => text.parse().ok()?,
    };
    (bytes.is_power_of_two() && (4096..=65_536).contains(&bytes)).then_some(bytes)
}

/// Writes the text form that `from_str` parses.
impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.method.fmt(f)?;
        if self.level != LEVEL_DEFAULT {
            write!(f, ":{}", self.level)?;
        }
        if self.chunk_bytes == CHUNK_BYTES {
            Ok(())
        } else {
            write!(f, "/{}KiB", self.chunk_bytes >> 10)
        }
    }
}

impl Packing {
    /// Returns the method of the chunks.
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Returns the packing with chunks of another size: see [`Shape::new`].
    #[must_use]
    pub fn with_chunks(self, chunk_bytes: usize) -> Self {
        Self { chunk_bytes: Shape::new(chunk_bytes, self.method).chunk_bytes(), ..self }
    }

    /// Returns the shape of a file of `bytes` bytes.
    pub const fn shape(&self, bytes: u64) -> Shape {
        self.shape_of_any().for_size(bytes)
    }

    /// Returns the shape for a file whose future size is unknown.
    pub const fn shape_of_any(&self) -> Shape {
        Shape::new(self.chunk_bytes, self.method)
    }

    /// Returns true if a file of `bytes` bytes, which begins with `first`, takes fewer logical
    /// pages when it is compressed. Returns false for a small file, and for content that is already
    /// compressed.
    ///
    /// `memory` has at least [`Shape::write_bytes`] bytes. If it is smaller, the result is false.
    ///
    /// # Cost
    /// The compression of one chunk. No access to the medium.
    pub fn saves_pages(
        &self,
        shape: Shape,
        first: &[u8],
        bytes: u64,
        logical_bytes: u32,
        memory: &mut [u8],
    ) -> bool {
        let logical_bytes = u64::from(logical_bytes);
        let first = &first[..first.len().min(shape.chunk_bytes())];
        if bytes <= logical_bytes || first.is_empty() || memory.len() < shape.write_bytes() {
            return false;
        }
        let (out, table) = memory.split_at_mut(shape.chunk_bytes());
        let table_bytes = table.len().min(1 << 16);
        let most = first.len() - first.len() / 16 - 1;
        let Some((_, stored)) =
            encode(self.method, self.level, first, &mut out[..most], &mut table[..table_bytes])
        else {
            return false;
        };
        // Assumes that the other chunks compress as the first one does.
        let stored = shape.overhead(bytes) + (stored as u64 * bytes).div_ceil(first.len() as u64);
        stored.div_ceil(logical_bytes) < bytes.div_ceil(logical_bytes)
    }
}

impl Shape {
    /// Returns the largest number of bytes that the content of a file can have. `stored_max` is the
    /// largest size of a plain file ([`FileSystem::size_max`]). The result is about half of it,
    /// since slots are twice as large as the chunks that they hold.
    pub const fn content_max(&self, stored_max: u64) -> u64 {
        let groups = stored_max / self.slot_bytes() as u64;
        let most = groups * self.group_chunks() as u64 * self.chunk_bytes() as u64;
        if groups == 0 { self.chunk_bytes() as u64 } else { most }
    }

    /// Returns the shape with smaller headers if they raise the largest file size on this volume by
    /// more than an eighth. Smaller headers help on small volumes.
    #[must_use]
    pub const fn for_volume(self, stored_max: u64) -> Self {
        let (mut best, mut smaller) = (self, self.with_smaller_header());
        while let Some(shape) = smaller {
            if shape.content_max(stored_max) > best.content_max(stored_max) / 8 * 9 {
                best = shape;
            }
            smaller = shape.with_smaller_header();
        }
        best
    }
}

/// The compression that a directory prescribes for files that are created in it. Directories that
/// are created in it inherit the rule.
///
/// The file system does not apply the rule. Code that creates a file reads the rule with
/// [`of`](Self::of). Code that creates a directory [passes the rule on](Self::pass_on). Every tool
/// of this project and mounted volumes do both.
///
/// ```
/// use steadyfs_compress::{PackedFile, Packing, Rule};
/// # use steadyfs::{Access, Config, FileSystem, media::Geometry};
/// # let geometry = Geometry {
/// #     page_bytes: 2048, pages_per_block: 16, block_count: 64, programs_bytes: false,
/// # };
/// # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
/// # let config = Config::for_geometry(&geometry);
/// # let mut ram = vec![0; config.memory_bytes(&geometry)];
/// # let flash = FileSystem::format(flash, &config, &mut ram)?;
/// # let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram)?;
/// let logs = fs.create_dir("logs")?;
/// Rule::set(&mut fs, logs, Some(Rule::Packed("lz4/4KiB".parse()?)))?;
///
/// if let Some(Rule::Packed(packing)) = Rule::of(&mut fs, logs)? {
///     let shape = packing.shape_of_any();
///     let buffer = vec![0; shape.write_bytes()];
///     let mut log = PackedFile::create(&mut fs, (logs, "today"), shape, buffer)?;
///     log.append(&mut fs, b"21.5 degrees\n")?;
///     log.close(&mut fs)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The files are stored uncompressed, even if the default is to compress: `none`.
    Plain,
    /// The files are compressed if compression saves pages.
    Packed(Packing),
}

impl Rule {
    /// Returns the rule of a directory, or `None` if the directory has no rule.
    ///
    /// # Cost
    /// As [`FileSystem::attribute`].
    ///
    /// # Errors
    /// [`Error::Volume`]. [`Error::Rule`] if this release does not support the value.
    pub fn of(volume: &mut impl Volume, directory: InodeNumber) -> Result<Option<Self>, Error> {
        let mut value = [0; RULE_BYTES_MAX];
        let length = match volume.attribute(directory, RULE, &mut value) {
            Ok(length) => length,
            Err(steadyfs::Error::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let text = value
            .get(..length)
            .and_then(|text| core::str::from_utf8(text).ok())
            .ok_or(Error::Rule)?;
        text.parse().map(Some).map_err(|_| Error::Rule)
    }

    /// Sets or removes the rule of a directory. Existing files stay as they are.
    ///
    /// # Power loss, cost
    /// As [`FileSystem::set_attribute`].
    ///
    /// # Errors
    /// The errors of [`FileSystem::set_attribute`].
    pub fn set<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        directory: InodeNumber,
        rule: Option<Self>,
    ) -> Result<(), Error> {
        let mut text = Text::default();
        if let Some(rule) = rule {
            fmt::Write::write_fmt(&mut text, format_args!("{rule}")).map_err(|_| Error::Rule)?;
        }
        match fs.set_attribute(directory, RULE, rule.map(|_| text.bytes())) {
            Err(steadyfs::Error::NotFound) if rule.is_none() => {
                fs.stat(directory).map(drop).map_err(Error::Volume)
            }
            result => Ok(result?),
        }
    }

    /// Copies the rule of the parent directory to a directory that was just created. Costs two
    /// look-ups if the parent has no rule.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of) and [`set`](Self::set). If this release does not support the
    /// rule, the call does not pass it on and returns no error.
    pub fn pass_on<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        parent: InodeNumber,
        directory: InodeNumber,
    ) -> Result<(), Error> {
        match Self::of(fs, parent) {
            Ok(None) | Err(Error::Rule) => Ok(()),
            Ok(rule) => Self::set(fs, directory, rule),
            Err(error) => Err(error),
        }
    }

    /// Returns the packing, or `None` if files stay plain.
    pub const fn packing(self) -> Option<Packing> {
        match self {
            Self::Plain => None,
            Self::Packed(packing) => Some(packing),
        }
    }
}

impl FromStr for Rule {
    type Err = NoPacking;

    fn from_str(text: &str) -> Result<Self, NoPacking> {
        if text == "none" { Ok(Self::Plain) } else { text.parse().map(Self::Packed) }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("none"),
            Self::Packed(packing) => packing.fmt(f),
        }
    }
}

/// A value of the attribute.
#[derive(Default)]
struct Text {
    bytes: [u8; RULE_BYTES_MAX],
    count: usize,
}

impl Text {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let place = self.bytes.get_mut(self.count..self.count + text.len()).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.count += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn methods_levels_and_chunks_are_taken_or_named() {
        let packing = |text: &str| text.parse::<Packing>();
        assert_eq!(packing("lz4").map(|packing| packing.level), Ok(0));
        assert_eq!(packing("zstd:19").map(|packing| packing.level), Ok(19));
        assert!(packing("zstd:23").is_err_and(|error| error.to_string().contains("1 to 22")));
        assert!(packing("lz4:3").is_err_and(|error| error.to_string().contains("no levels")));
        assert!(packing("lzma").is_err_and(|error| error.to_string().contains("expected lz4")));
        assert_eq!(packing("lz4/4096"), packing("lz4/4KiB"));
        for chunk in ["lz4/5KiB", "lz4/", "lz4/16", "lz4/128KiB", "lz4/4KiB/4KiB"] {
            assert_eq!(packing(chunk), Err(NoPacking::Chunk), "{chunk}");
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_fits() {
        for text in ["none", "lz4", "lz4/4KiB", "deflate:10/64KiB", "zstd:19", "zstd/32KiB"] {
            let rule: Rule = text.parse().expect(text);
            assert_eq!(rule.to_string(), text);
            assert!(text.len() <= RULE_BYTES_MAX);
        }
    }

    #[test]
    fn headers_suit_the_volume() {
        let shape = Shape::new(65_536, Method::Lz4);
        assert_eq!(
            (shape.content_max(2 << 20), shape.for_volume(2 << 20).content_max(2 << 20)),
            (65_536, 15 * 65_536)
        );
        assert_eq!(shape.for_volume(1 << 30), shape);
        assert_eq!(shape.for_volume(0).content_max(0), 65_536);
    }

    #[test]
    fn files_that_save_no_page_stay_plain() {
        let packing: Packing = "lz4".parse().expect("a method");
        let saves = |content: &[u8], bytes: u64| {
            let shape = packing.shape(bytes);
            packing.saves_pages(shape, content, bytes, 2048, &mut vec![0; shape.write_bytes_max()])
        };
        let text = b"the same again ".repeat(400);
        assert!(saves(&text, text.len() as u64));
        assert!(!saves(&text, 2048));
        let noise: Vec<u8> = (0..6000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ (n.wrapping_mul(n) >> 7) as u8)
            .collect();
        assert!(!saves(&noise, 6000));
    }
}
