//! The mistakes that have names.

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

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MistakeKind {
    /// The shape is none that a volume can have: a page is no power of two from 256 bytes on, a block has not 4 to 4,096 pages, or there is no block.
    Geometry,
    /// An operation takes no time. Bounds are made of times.
    Times,
    /// The spare blocks are not on the chip, or fewer than one; or the buffer is no page.
    Arguments,
    /// The chip's own checksum is another one than CRC-32 (ISO-HDLC).
    Checksum,
    /// A call failed that should not.
    Failed(Call, Failure),
    /// A spare block is told to be bad.
    GoodBlockIsBad,
    /// A block that was marked bad is told to be good.
    MarkNotKept,
    /// Something is there behind an erase.
    NotErased,
    /// An erase has erased another block as well.
    ErasesAnother,
    /// What was programmed is not there: it reads as erased.
    NotProgrammed,
    /// Each group of two or four bytes is turned round.
    ByteOrder,
    /// The bits of each byte are turned round.
    BitOrder,
    /// All bytes are at a place one or two further, or before: the dummy clocks of a command are too few or too many.
    Shifted,
    /// The bytes are those of another page: an address wraps, has its bytes in another order, or a page is read from the buffer of before.
    AnotherPage,
    /// Beginning and end of the bytes have changed places: a program ran over the end of a page of the chip, and went on at its beginning.
    WrapsInPage,
    /// A bit that is not to be programmed was: what lies behind short data, or between.
    NotLeftAlone,
    /// Ones have changed what was there.
    OnesChange,
    /// Zeros did not clear what was there.
    ZerosDoNot,
    /// Other bytes than those that were programmed.
    DataDiffers,
    /// The tag of a page reads as erased.
    TagNotKept,
    /// Another tag than the one that was programmed.
    TagDiffers,
    /// A tag that is read alone is another one than with its page.
    TagAloneDiffers,
    /// A copy has other data than its source.
    CopyData,
    /// A copy has another tag than the one that it was given.
    CopyTag,
    /// More bits were corrected than can be corrected.
    Corrected,
    /// The read of a block's mark changed a page.
    Disturbed,
}

impl MistakeKind {
    const fn text(self) -> &'static str {
        match self {
            Self::Geometry => "the geometry is none that a volume can have",
            Self::Times => "an operation takes no time",
            Self::Arguments => "the spare blocks are not on the chip, or the buffer is no page",
            Self::Checksum => "the checksum is not CRC-32 (ISO-HDLC)",
            Self::Failed(..) => "a call failed that should not",
            Self::GoodBlockIsBad => "a good block is told to be bad",
            Self::MarkNotKept => "a block that was marked bad is told to be good",
            Self::NotErased => "an erase has left something",
            Self::ErasesAnother => "an erase has erased another block as well",
            Self::NotProgrammed => "what was programmed reads as erased",
            Self::ByteOrder => "bytes are in another order",
            Self::BitOrder => "bits are in another order",
            Self::Shifted => "all bytes are shifted: a command has too few or too many dummy clocks",
            Self::AnotherPage => "the bytes are those of another page: an address wraps, or a buffer of before is read",
            Self::WrapsInPage => "a program ran over the end of a page of the chip and went on at its beginning",
            Self::NotLeftAlone => "bytes that were not to be programmed were",
            Self::OnesChange => "ones have changed what was there",
            Self::ZerosDoNot => "zeros did not clear what was there",
            Self::DataDiffers => "other bytes than those that were programmed",
            Self::TagNotKept => "the tag of a page reads as erased",
            Self::TagDiffers => "another tag than the one that was programmed",
            Self::TagAloneDiffers => "a tag that is read alone differs from the one with its page",
            Self::CopyData => "a copy has other data than its source",
            Self::CopyTag => "a copy has another tag than it was given",
            Self::Corrected => "more bits were corrected than can be corrected",
            Self::Disturbed => "a look at a block's mark changed a page",
        }
    }
}

/// What is wrong with a driver, and where it showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What.
    pub kind: MistakeKind,
    /// In which block.
    pub block: BlockIndex,
    /// At which byte of the block's data, or of the tag where it is about a tag.
    pub offset: u32,
    /// What should be there: a byte, or a number that the kind is about.
    pub expected: u32,
    /// What is.
    pub found: u32,
}

impl Mistake {
    pub(super) const fn new(kind: MistakeKind, block: BlockIndex) -> Self {
        Self { kind, block, offset: 0, expected: 0, found: 0 }
    }

    /// The failure of a call.
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
