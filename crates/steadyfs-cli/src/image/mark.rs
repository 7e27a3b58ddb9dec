//! The mark of a draft: its name, and the time stamp of the command that writes it.

/// The first of the names. Others have a number behind it.
pub const NAME: &str = "~steady-put";
/// Number of names.
pub const NAMES: u8 = 8;
/// Bytes of a mark: the number of the name, and the time.
pub const MARK_BYTES: usize = 9;

/// The mark of the drafts of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Number of the name.
    pub number: u8,
    /// Time stamp of the command.
    pub time_ns: u64,
}

impl Mark {
    /// Returns the bytes of a mark on a volume.
    pub fn emit(self) -> [u8; MARK_BYTES] {
        let mut bytes = [self.number; MARK_BYTES];
        bytes[1..].copy_from_slice(&self.time_ns.to_le_bytes());
        bytes
    }

    /// Reads a mark; `None` if it has no name.
    pub fn parse(bytes: [u8; MARK_BYTES]) -> Option<Self> {
        let [number, time_ns @ ..] = bytes;
        (number < NAMES).then_some(Self { number, time_ns: u64::from_le_bytes(time_ns) })
    }

    /// Returns the name, cut to the length that the volume takes.
    pub fn name(self, name_bytes_max: u8) -> String {
        let number = if self.number == 0 { String::new() } else { self.number.to_string() };
        let most = usize::from(name_bytes_max) - number.len();
        format!("{}{number}", &NAME[..NAME.len().min(most)])
    }
}
