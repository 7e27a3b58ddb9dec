//! The names of the mistakes.

use core::fmt;
use steadyfs::media::{BlockIndex, Failure};

/// A call of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Call {
    Read,
    ReadTag,
    Program,
    ProgramLoaded,
    ReadBytes,
    ProgramBytes,
    Erase,
    IsBad,
    MarkBad,
    Sync,
}

/// Kind of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MistakeKind {
    /// No volume can have this shape. It breaks one of these rules:
    ///
    /// - A page is a power of two of at least 256 bytes.
    /// - A block has 4 to 4,096 pages. A block of NOR has at least 1,024 bytes.
    /// - There is at least one block.
    Geometry,
    /// The driver reports a time of zero for an operation. Bounds are computed from these times.
    Times,
    /// There is no spare block, a spare block is not on the chip, or the buffer is not a page.
    Arguments,
    /// The checksum of the driver is not CRC-32 (ISO-HDLC): for example, its bit order is wrong.
    Checksum,
    /// A call failed that should succeed.
    Failed(Call, Failure),
    /// The driver reports a good spare block as bad.
    GoodBlockIsBad,
    /// The driver reports a block with a mark as good.
    MarkNotKept,
    /// Some bytes are not erased after an erase. The erase had no write enable, or the command
    /// erases less than a block.
    NotErased,
    /// An erase also erased another block: the command erases more than a block.
    ErasesAnother,
    /// Programmed bytes read as erased: for example, the program had no write enable.
    NotProgrammed,
    /// The bytes of each group of two or four are reversed.
    ByteOrder,
    /// The bits of each byte are reversed.
    BitOrder,
    /// All bytes are shifted by one or two bytes: a command has too few or too many dummy clocks.
    Shifted,
    /// The bytes belong to another page. An address wraps, the bytes of an address are in the wrong
    /// order, or the driver reads an old page buffer.
    AnotherPage,
    /// Beginning and end of the bytes are exchanged. A program ran over the end of a page of the
    /// chip and continued at the beginning of that page.
    WrapsInPage,
    /// A bit was programmed outside the data: behind short data, or between pieces of data. The
    /// driver fills short data with zeros.
    NotLeftAlone,
    /// A program of ones changed data: the driver replaces bytes of NOR instead of clearing bits.
    OnesChange,
    /// A program of zeros did not clear data: the driver replaces bytes of NOR instead of clearing
    /// bits.
    ZerosDoNot,
    /// The bytes differ from the programmed bytes.
    DataDiffers,
    /// The tag of a page reads as erased: the driver does not store the tag.
    TagNotKept,
    /// The tag differs from the programmed tag: for example, the driver stores only a part.
    TagDiffers,
    /// A tag that is read alone differs from the tag that is read with its page: `read_tag` reads
    /// another page than `read`.
    TagAloneDiffers,
    /// A copy has other data than its source.
    CopyData,
    /// A copy has another tag than the given tag: for example, a copy command of the chip keeps the
    /// old tag.
    CopyTag,
    /// The driver reports more corrected bits than can be corrected.
    Corrected,
    /// The read of a block's mark changed a page.
    Disturbed,
}

impl MistakeKind {
    const fn text(self) -> &'static str {
        match self {
            Self::Geometry => "no volume can have this geometry",
            Self::Times => "an operation takes no time",
            Self::Arguments => "the spare blocks are not on the chip, or the buffer is not a page",
            Self::Checksum => "the checksum is not CRC-32 (ISO-HDLC)",
            Self::Failed(..) => "a call failed that should succeed",
            Self::GoodBlockIsBad => "a good block is reported as bad",
            Self::MarkNotKept => "a block that was marked bad is reported as good",
            Self::NotErased => "some bytes are not erased after an erase",
            Self::ErasesAnother => "an erase also erased another block",
            Self::NotProgrammed => "programmed bytes read as erased",
            Self::ByteOrder => "bytes are in another order",
            Self::BitOrder => "bits are in another order",
            Self::Shifted => {
                "all bytes are shifted: a command has too few or too many dummy clocks"
            }
            Self::AnotherPage => {
                "the bytes belong to another page: an address wraps, or an old page buffer is read"
            }
            Self::WrapsInPage => {
                "a program ran over the end of a page of the chip and went on at its beginning"
            }
            Self::NotLeftAlone => "a program changed bytes outside its data",
            Self::OnesChange => "a program of ones changed data",
            Self::ZerosDoNot => "a program of zeros did not clear data",
            Self::DataDiffers => "the bytes differ from the programmed bytes",
            Self::TagNotKept => "the tag of a page reads as erased",
            Self::TagDiffers => "the tag differs from the programmed tag",
            Self::TagAloneDiffers => {
                "a tag that is read alone differs from the tag read with its page"
            }
            Self::CopyData => "a copy has other data than its source",
            Self::CopyTag => "a copy has another tag than the given tag",
            Self::Corrected => "more bits are reported as corrected than can be corrected",
            Self::Disturbed => "the read of a block's mark changed a page",
        }
    }
}

/// A mistake of a driver, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Kind of the mistake.
    pub kind: MistakeKind,
    /// Block in which the mistake appeared.
    pub block: BlockIndex,
    /// Offset of the byte in the block's data, or in the tag if the mistake is about a tag.
    pub offset: u32,
    /// Expected byte, or expected number if the kind is about a number.
    pub expected: u32,
    /// Byte or number that was found.
    pub found: u32,
}

impl Mistake {
    pub(super) const fn new(kind: MistakeKind, block: BlockIndex) -> Self {
        Self { kind, block, offset: 0, expected: 0, found: 0 }
    }

    /// Returns a function from a call's failure to a mistake.
    pub(super) const fn of(call: Call, block: BlockIndex) -> impl Fn(Failure) -> Self {
        move |failure| Self::new(MistakeKind::Failed(call, failure), block)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {}, byte {}: {}", self.block, self.offset, self.kind.text())?;
        match self.kind {
            MistakeKind::Failed(call, failure) => write!(f, " ({call:?}: {failure})"),
            _ => write!(f, " (expected {:#04x}, found {:#04x})", self.expected, self.found),
        }
    }
}

impl core::error::Error for Mistake {}
