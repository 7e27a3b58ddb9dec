//! The properties and the faults of a simulated card.

/// The kind of a card, which determines its addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdKind {
    /// SDSC that does not support CMD8: addressed by bytes.
    Version1,
    /// SDSC of version 2: addressed by bytes.
    Standard,
    /// SDHC or SDXC: addressed by sectors. The register distinguishes them by the capacity.
    High,
}

/// A simulated card. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SdProfile {
    /// The kind of the card.
    pub kind: SdKind,
    /// Number of sectors. On SDHC and SDXC it is a multiple of 1024. On SDSC it is a multiple of 4,
    /// up to 16,384. A sector takes memory only after it is written.
    pub sectors: u32,
    /// Number of bytes of an allocation unit: a power of two, 16 KiB to 4 MiB. It is 0 for a card
    /// that does not report this size.
    pub unit_bytes: u32,
    /// Number of sectors that can only be erased together. Only SDSC has more than one. It is 0 if
    /// the card cannot erase.
    pub erase_sectors: u32,
    /// Longest time of an erase as the card reports it: units, seconds, additional seconds.
    pub erase_time: (u16, u8, u8),
    /// True if the register forbids writes.
    pub is_write_protected: bool,
    /// Number of ACMD41 until the card is ready.
    pub starts: u32,
    /// Bytes between a command and its answer (N_CR): 1 to 8.
    pub answer_bytes: usize,
    /// Time until data comes.
    pub read_ns: u64,
    /// Busy time behind each sector.
    pub write_ns: u64,
    /// Busy time behind the end of a stream.
    pub stop_ns: u64,
    /// Busy time of an erase.
    pub erase_ns: u64,
    /// Number of sectors that the card may hold in RAM until its stream has ended. A power cut may
    /// lose any of these sectors. If it is 0, only the sector that is being programmed is at risk.
    pub buffer_sectors: usize,
    /// True if the card does not require the eight clocks behind an answer, before a token, and
    /// behind its release (7.5), as many cards do. Such a card is busy at once behind the end of a
    /// stream. Use it to test drivers that rely on this.
    pub is_lenient: bool,
}

impl SdProfile {
    /// Returns a small SDHC card: 4 MiB, smaller than any real SDHC card, in units of 64 KiB. The
    /// times have the order of real cards.
    pub const fn small() -> Self {
        Self {
            kind: SdKind::High,
            sectors: 8192,
            unit_bytes: 64 << 10,
            erase_sectors: 1,
            erase_time: (4, 1, 1),
            is_write_protected: false,
            starts: 5,
            answer_bytes: 1,
            read_ns: 300_000,
            write_ns: 20_000,
            stop_ns: 1_000_000,
            erase_ns: 2_000_000,
            buffer_sectors: 0,
            is_lenient: false,
        }
    }
}

/// Work of a card that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdWork {
    /// Searches a sector.
    Read(u32),
    /// Programs a sector.
    Write(u32),
    /// Ends a stream.
    Stop,
    /// Erases this many sectors.
    Erase(u32),
}

/// Faults of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdFault {
    /// A command reaches the card with a bad checksum.
    CommandCrc,
    /// A command has no answer, and does nothing.
    Silence,
    /// A block reaches the host with a wrong bit.
    ReadCrc,
    /// This error token comes in place of a block.
    ReadError(u8),
    /// No block comes.
    NoData,
    /// A block reaches the card with a bad checksum.
    WriteCrc,
    /// The card refuses a block with a write error.
    WriteError,
    /// The card accepts a block, and cannot program it. Its status reports this afterwards.
    ProgramError,
    /// The card is busy for this many nanoseconds after a block, the end of a stream or an erase.
    Busy(u64),
}

impl SdFault {
    /// Returns true if the fault strikes this kind of event.
    pub(super) fn strikes(self, event: Event) -> bool {
        event
            == match self {
                Self::CommandCrc | Self::Silence => Event::Command,
                Self::ReadCrc | Self::ReadError(_) | Self::NoData => Event::Read,
                Self::WriteCrc | Self::WriteError | Self::ProgramError => Event::Write,
                Self::Busy(_) => Event::Busy,
            }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Command,
    Read,
    Write,
    Busy,
}
