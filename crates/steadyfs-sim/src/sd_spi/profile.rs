//! What a simulated card is, and what goes wrong with it.

/// What kind of card it is, and how it is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdKind {
    /// SDSC that does not know CMD8: addressed by bytes.
    Version1,
    /// SDSC of version 2: addressed by bytes.
    Standard,
    /// SDHC or SDXC: addressed by sectors. The register says which, by the capacity.
    High,
}

/// A simulated card. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SdProfile {
    /// What kind of card it is.
    pub kind: SdKind,
    /// Sectors: a multiple of 1024 on SDHC and SDXC; on SDSC one of 4, up to 16,384. None is kept until it is written.
    pub sectors: u32,
    /// Bytes of an allocation unit: a power of two, 16 KiB to 4 MiB; 0 for a card that does not say.
    pub unit_bytes: u32,
    /// Sectors that can only be erased together; only SDSC has more than one. 0: the card cannot erase.
    pub erase_sectors: u32,
    /// Longest time of an erase as the card tells it: units, seconds, seconds on top.
    pub erase_time: (u16, u8, u8),
    /// Whether the register forbids writes.
    pub is_write_protected: bool,
    /// How many ACMD41 it takes to get ready.
    pub starts: u32,
    /// Bytes between a command and its answer (N_CR): 1 to 8.
    pub answer_bytes: usize,
    /// Until data comes.
    pub read_ns: u64,
    /// Busy behind each sector.
    pub write_ns: u64,
    /// Busy behind the end of a stream.
    pub stop_ns: u64,
    /// Busy in an erase.
    pub erase_ns: u64,
    /// Sectors that the card may hold in RAM until its stream has ended. A power cut may lose any of them. 0: only the one that is being programmed.
    pub buffer_sectors: usize,
    /// Whether the card does without the eight clocks behind an answer, before a token, and behind its release (7.5), as many do, and is busy at once behind the end of a stream: for
    /// drivers that count on that.
    pub is_lenient: bool,
}

impl SdProfile {
    /// A small SDHC card: 4 MiB, which no such card has, in units of 64 KiB. Times are of the order that cards have.
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

/// What a card does that takes its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdWork {
    /// Looks for a sector.
    Read(u32),
    /// Programs a sector.
    Write(u32),
    /// Ends a stream.
    Stop,
    /// Erases so many sectors.
    Erase(u32),
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdFault {
    /// A command reaches the card with a bad checksum.
    CommandCrc,
    /// A command has no answer, and does nothing.
    Silence,
    /// A block reaches the host with a wrong bit.
    ReadCrc,
    /// In place of a block comes this error token.
    ReadError(u8),
    /// No block comes.
    NoData,
    /// A block reaches the card with a bad checksum.
    WriteCrc,
    /// The card refuses a block with a write error.
    WriteError,
    /// The card takes a block, and cannot program it: its status tells afterwards.
    ProgramError,
    /// The card is busy for so many nanoseconds after a block, the end of a stream or an erase.
    Busy(u64),
}

impl SdFault {
    /// Which events it counts.
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
