//! Records of the journal buffer: patches, and records about a whole page.

/// Offset of a record that discards its logical page. On the medium, the record has offset 0 and no
/// bytes.
pub(super) const DISCARD: u32 = 0xFF_FFFF;
/// Offset of a record in a delta. The record voids the earlier patches of its logical page. On the
/// medium, the record has offset 1 and no bytes.
pub(super) const DROP: u32 = 0xFF_FFFE;
/// Bytes before the first record.
pub(super) const START: usize = 2;

/// The widths of the fields in a record's header. The lowest bits hold the logical page. The
/// highest three bits are flags of the record in RAM. On the medium, these flags are always 0.
/// Length and offset lie below the flags.
#[derive(Clone, Copy)]
pub(crate) struct RecordShape {
    logical: u8,
    offset: u8,
    length: u8,
    /// Bytes of the header.
    header: u8,
}

impl RecordShape {
    /// Returns true if offset and length fit into a word beside the three flags.
    pub const fn has_room(logical_bytes: u32, buffer_bytes: u32) -> bool {
        let shape = Self::new(2, logical_bytes, buffer_bytes);
        shape.offset + shape.length <= 29
    }

    /// Returns the narrowest shape for this number and size of logical pages, and this size of
    /// the buffer.
    pub const fn new(logical_count: u32, logical_bytes: u32, buffer_bytes: u32) -> Self {
        const fn bits(most: u32) -> u8 {
            (u32::BITS - most.leading_zeros()) as u8
        }
        let (logical, offset, length) =
            (bits(logical_count - 1), bits(logical_bytes - 1), bits(buffer_bytes - 1));
        let header = (logical + offset + length + 3).div_ceil(8);
        Self { logical, offset, length, header: if header < 4 { 4 } else { header } }
    }

    /// Returns the number of bytes of a record before its data.
    pub const fn header_bytes(self) -> usize {
        self.header as usize
    }
}

#[derive(Clone, Copy)]
pub(super) struct Record {
    pub at: usize,
    pub header: usize,
    pub logical: u32,
    pub offset: u32,
    pub length: u32,
    /// True if the call in progress supersedes the record.
    pub superseded: bool,
    /// True if the record is not on the medium yet.
    pub fresh: bool,
    /// True if the record is fresh and contains patches that are on the medium.
    pub mixed: bool,
}

/// The two words of a record's header that hold its fields. A loop over many records extracts a
/// field only if it needs the field.
#[derive(Clone, Copy)]
pub(super) struct Header {
    low: u32,
    high: u32,
}

impl Header {
    /// Reads the header at `at`.
    #[inline(always)]
    pub fn read(shape: RecordShape, bytes: &[u8], at: usize) -> Self {
        Self { low: word(bytes, at), high: word(bytes, at + shape.header_bytes() - 4) }
    }

    #[inline(always)]
    pub fn logical(self, shape: RecordShape) -> u32 {
        field(self.low, shape.logical)
    }

    /// Returns the number of bytes of the patch; 0 if the record is no patch.
    #[inline(always)]
    pub fn length(self, shape: RecordShape) -> u32 {
        field(self.high >> (29 - shape.length), shape.length)
    }

    /// Returns the offset of the patch. For a record without bytes, returns the kind: 0 for a
    /// discard, and 1 for a note of a dropped page.
    pub fn offset(self, shape: RecordShape) -> u32 {
        field(self.high >> (29 - shape.length - shape.offset), shape.offset)
    }

    /// Returns the number of bytes of the record, header included.
    #[inline(always)]
    pub fn bytes(self, shape: RecordShape) -> usize {
        shape.header_bytes() + self.length(shape) as usize
    }

    pub fn is_superseded(self) -> bool {
        self.high >> 29 & 1 != 0
    }

    /// Returns true if one of the flags is set.
    fn is_flagged(self) -> bool {
        self.high >> 29 != 0
    }

    /// Returns true if the medium holds at least a part of the record: it is not fresh, or mixed.
    pub fn is_known(self) -> bool {
        self.high >> 30 & 0b11 != 0b01
    }
}

/// Returns the lowest bits of a word.
#[inline(always)]
fn field(word: u32, bits: u8) -> u32 {
    word & ((1 << bits) - 1)
}

/// Returns a word of the buffer. Inlined, because a call would take more code.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

impl Record {
    /// Reads the header at `at`. Not inlined, because a call takes less code.
    #[inline(never)]
    pub fn parse(shape: RecordShape, bytes: &[u8], at: usize) -> Self {
        let header = shape.header_bytes();
        let (low, high) = (word(bytes, at), word(bytes, at + header - 4));
        let logical = field(low, shape.logical);
        let length = field(high >> (29 - shape.length), shape.length);
        let offset = match (length, field(high >> (29 - shape.length - shape.offset), shape.offset))
        {
            (0, 0) => DISCARD,
            (0, _) => DROP,
            (_, offset) => offset,
        };
        let bit = |bit: u32| high >> bit & 1 != 0;
        Self {
            at,
            header,
            logical,
            offset,
            length,
            superseded: bit(29),
            fresh: bit(30),
            mixed: bit(31),
        }
    }

    /// Returns the place of the next record of a logical page at or behind `at`. If `logical` is
    /// `None`, returns the place of the next record without bytes. Other records are skipped
    /// without parsing them.
    #[inline(never)]
    pub fn next_of(
        shape: RecordShape,
        bytes: &[u8],
        mut at: usize,
        logical: Option<u32>,
    ) -> Option<usize> {
        while at < bytes.len() {
            let header = Header::read(shape, bytes, at);
            let differs = |logical| header.logical(shape) ^ logical;
            if logical.map_or_else(|| header.length(shape), differs) == 0 {
                return Some(at);
            }
            at += header.bytes(shape);
        }
        None
    }

    /// Finds the first record with a flag from `at` on. Returns the place of the record before it,
    /// or `at` if the record at `at` has the flag. Returns the end of `bytes` if no record has a
    /// flag.
    #[inline(never)]
    pub fn before_flagged(shape: RecordShape, bytes: &[u8], mut at: usize) -> usize {
        let mut before = at;
        while at < bytes.len() {
            let header = Header::read(shape, bytes, at);
            if header.is_flagged() {
                return before;
            }
            before = at;
            at += header.bytes(shape);
        }
        bytes.len()
    }

    /// Returns the place of the first record of `logical` or of a later logical page, from `at` on.
    /// The records up to the end of `bytes` are sorted. Returns the end if there is no such record.
    #[inline(never)]
    pub fn first_from(shape: RecordShape, bytes: &[u8], mut at: usize, logical: u32) -> usize {
        while at < bytes.len() {
            let header = Header::read(shape, bytes, at);
            if header.logical(shape) >= logical {
                break;
            }
            at += header.bytes(shape);
        }
        at
    }

    /// Writes the record's header. Not inlined, because a call takes less code.
    #[inline(never)]
    pub fn emit(&self, shape: RecordShape, bytes: &mut [u8]) {
        let offset = match self.offset {
            DISCARD => 0,
            DROP => 1,
            offset => offset,
        };
        let bits =
            u32::from(self.superseded) | u32::from(self.fresh) << 1 | u32::from(self.mixed) << 2;
        let high = bits << 29
            | self.length << (29 - shape.length)
            | offset << (29 - shape.length - shape.offset);
        let header = &mut bytes[self.at..self.at + self.header];
        header.fill(0);
        header[self.header - 4..].copy_from_slice(&high.to_le_bytes());
        header.iter_mut().zip(self.logical.to_le_bytes()).for_each(|(byte, low)| *byte |= low);
    }

    pub fn is_patch(&self) -> bool {
        self.offset < DROP
    }

    /// Returns true if the medium holds at least a part of the patch. If the patch is removed from
    /// the buffer, a later record must then void that part.
    pub fn is_known(&self) -> bool {
        self.is_patch() && (!self.fresh || self.mixed)
    }

    pub fn is_discard(&self) -> bool {
        self.offset == DISCARD
    }

    pub fn data(&self) -> core::ops::Range<usize> {
        self.at + self.header..self.at + self.header + self.length as usize
    }

    pub fn end(&self) -> usize {
        self.data().end
    }

    pub fn bytes(&self) -> usize {
        self.end() - self.at
    }

    /// Returns the offset behind the patch.
    pub fn stop(&self) -> u32 {
        self.offset + self.length
    }

    /// Returns true if this patch covers all bytes of another patch.
    pub fn covers(&self, other: &Self) -> bool {
        self.is_beside(other) && self.offset <= other.offset && other.stop() <= self.stop()
    }

    /// Returns true if both records are patches of the same page.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.is_patch() && other.is_patch() && self.logical == other.logical
    }

    /// Returns true if a record of a delta has no flags, and if its page and its bytes exist.
    pub fn is_sound_in_delta(&self, logical_count: u32, logical_bytes: u32) -> bool {
        self.logical < logical_count
            && !(self.superseded || self.fresh || self.mixed)
            && (!self.is_patch() || self.stop() <= logical_bytes)
    }

    /// Returns true if the whole patch is on the medium.
    pub fn is_on_medium(&self) -> bool {
        self.is_patch() && !self.fresh
    }
}

/// Returns the records of a page that was read, which begins with the number of its used bytes. The
/// last item is `None` if a record goes beyond these bytes, or beyond the page.
pub(super) fn records_in(
    shape: RecordShape,
    page: &[u8],
) -> impl Iterator<Item = Option<Record>> + '_ {
    let used = usize::from(u16::from_le_bytes([page[0], page[1]]));
    let (end, mut at) = (used.min(page.len()), START);
    core::iter::from_fn(move || {
        if at >= used {
            return None;
        }
        let record = (at + shape.header_bytes() <= end)
            .then(|| Record::parse(shape, page, at))
            .filter(|record| record.end() <= end);
        at = record.map_or(used, |record| record.end());
        Some(record)
    })
}

/// Returns the number of used bytes of a journal page that was read, or `None` if the page is not
/// well formed.
pub(super) fn well_formed(
    shape: RecordShape,
    page: &[u8],
    logical_count: u32,
    logical_bytes: u32,
) -> Option<usize> {
    let used = usize::from(u16::from_le_bytes([page[0], page[1]]));
    if used > page.len() {
        return None;
    }
    let mut at = START;
    let mut floor = (0, 0);
    while at + shape.header_bytes() <= used {
        let record = Record::parse(shape, page, at);
        let discard = record.is_discard();
        // The records are laid over pages without further checks.
        let sound = record.logical < logical_count
            && !record.superseded
            && !record.fresh
            && !record.mixed
            && (discard || (record.length > 0 && record.stop() <= logical_bytes))
            && (record.logical, record.offset) >= floor
            && record.end() <= used;
        if !sound {
            return None;
        }
        floor = (record.logical, record.offset + if discard { 1 } else { record.length });
        at = record.end();
    }
    (at == used).then_some(used)
}
