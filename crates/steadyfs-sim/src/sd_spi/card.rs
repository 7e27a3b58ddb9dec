//! The card, byte by byte.
//!
//! ```text
//!            01cccccc              6 bytes                        CMD24, CMD25
//!  Command ───────────▶ Frame ───────────────▶ Command, answer ────────────────▶ Token
//!                                                                                  │ 0xFE, 0xFC: Data ── 514 bytes ──▶ Command, Token or Rejected
//!                                                                                  │ 0xFD: Command
//! ```

use super::command;
use super::medium::Medium;
use super::profile::{Event, SdFault, SdProfile, SdWork};
use super::words::{crc7, crc16};
use fastrand::Rng;
use std::collections::VecDeque;
use std::rc::Rc;

/// A command that the card has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdCommand {
    /// The command's number.
    pub index: u8,
    /// True if it followed CMD55.
    pub is_app: bool,
    /// The command's argument.
    pub argument: u32,
}

/// The card's interpretation of the next byte.
#[derive(Clone, Debug)]
pub(super) enum Mode {
    Command,
    Frame(Vec<u8>),
    /// The card waits for a sector, or for the end.
    Token,
    Data(Vec<u8>),
    /// A sector was refused; the host has to end the stream.
    Rejected,
}

/// A read in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub next: u32,
    pub is_single: bool,
    pub ready_ns: u64,
}

/// A write in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing {
    pub next: u32,
    pub is_single: bool,
}

pub(super) type Durations = Rc<dyn Fn(SdWork) -> u64>;

#[derive(Clone)]
pub(super) struct Card {
    pub profile: SdProfile,
    pub medium: Medium,
    pub now_ns: u64,
    pub hz: u32,
    pub durations: Option<Durations>,
    pub faults: Vec<(SdFault, u32)>,
    pub log: Vec<SdCommand>,
    pub crc_refused: u32,
    /// Bytes on the bus until the power fails.
    pub bytes_left: Option<u64>,
    pub is_powered: bool,
    pub is_selected: bool,
    /// Clocks since power-on, in bytes; and clocks since the card was deselected.
    pub wake_bytes: u32,
    pub free_bytes: u32,
    /// Bytes of ones since the last byte of the card.
    pub idle_bytes: u32,
    pub is_spi: bool,
    /// True after a reset of the host, until its CMD0: the host has lost the card's state, so the
    /// rules are suspended.
    pub is_forgiving: bool,
    pub is_ready: bool,
    pub checks_crc: bool,
    pub is_app: bool,
    pub starts_left: u32,
    pub mode: Mode,
    pub reading: Option<Reading>,
    pub writing: Option<Writing>,
    pub out: VecDeque<u8>,
    pub busy_until_ns: u64,
    pub status: u8,
    pub well_written: u32,
    pub pre_erase: u32,
    pub erase_from: Option<u32>,
    pub erase_to: Option<u32>,
}

impl Card {
    pub fn new(profile: SdProfile) -> Self {
        Self {
            profile,
            medium: Medium::default(),
            now_ns: 0,
            hz: 400_000,
            durations: None,
            faults: Vec::new(),
            log: Vec::new(),
            crc_refused: 0,
            bytes_left: None,
            is_powered: true,
            is_selected: false,
            wake_bytes: 0,
            free_bytes: 1,
            idle_bytes: 0,
            is_spi: false,
            is_forgiving: false,
            is_ready: false,
            checks_crc: false,
            is_app: false,
            starts_left: 0,
            mode: Mode::Command,
            reading: None,
            writing: None,
            out: VecDeque::new(),
            busy_until_ns: 0,
            status: 0,
            well_written: 0,
            pre_erase: 0,
            erase_from: None,
            erase_to: None,
        }
    }

    /// Restores power. The card has its initial state, except its content.
    pub fn power_on(&mut self, seed: u64) {
        if !self.is_powered {
            self.medium.cut(&mut Rng::with_seed(seed));
        }
        let old = std::mem::replace(self, Self::new(self.profile));
        (self.medium, self.now_ns, self.durations, self.log) =
            (old.medium, old.now_ns, old.durations, old.log);
        (self.crc_refused, self.hz) = (old.crc_refused, old.hz);
        self.is_selected = old.is_selected;
    }

    /// Returns the fault that strikes this event, if there is one.
    pub fn strike(&mut self, event: Event) -> Option<SdFault> {
        let mut struck = None;
        self.faults.retain_mut(|(fault, left)| {
            let is_now = fault.strikes(event) && *left == 0 && struck.is_none();
            if is_now {
                struck = Some(*fault);
            } else if fault.strikes(event) {
                *left = left.saturating_sub(1);
            }
            !is_now
        });
        struck
    }

    /// Returns the duration of some work.
    pub fn duration_ns(&mut self, work: SdWork) -> u64 {
        let is_busy = !matches!(work, SdWork::Read(_));
        if let Some(SdFault::Busy(ns)) = is_busy.then(|| self.strike(Event::Busy)).flatten() {
            return ns;
        }
        match (&self.durations, work) {
            (Some(durations), work) => durations(work),
            (None, SdWork::Read(_)) => self.profile.read_ns,
            (None, SdWork::Write(_)) => self.profile.write_ns,
            (None, SdWork::Stop) => self.profile.stop_ns,
            (None, SdWork::Erase(_)) => self.profile.erase_ns,
        }
    }

    /// Makes the card busy from the end of its present answer.
    pub fn be_busy(&mut self, work: SdWork) {
        let bytes = self.out.len() as u64 + 1;
        self.busy_until_ns = self.now_ns + bytes * self.byte_ns() + self.duration_ns(work);
    }

    fn byte_ns(&self) -> u64 {
        8_000_000_000 / u64::from(self.hz)
    }

    pub fn is_busy(&self) -> bool {
        self.now_ns < self.busy_until_ns
    }

    /// Sets the level of the select pin, for the host.
    pub fn select(&mut self, is_selected: bool) {
        if is_selected == self.is_selected {
            return;
        }
        self.is_selected = is_selected;
        if !self.is_powered {
            return;
        }
        if is_selected {
            assert!(
                self.free_bytes > 0 || self.profile.is_lenient,
                "SD: selected again without eight clocks since the card was let go (7.5)"
            );
            return;
        }
        self.free_bytes = 0;
        if !self.is_spi {
            self.mode = Mode::Command;
        }
        if self.is_forgiving {
            return;
        }
        assert!(!matches!(self.mode, Mode::Frame(_)), "SD: let go in the middle of a command");
        assert!(!matches!(self.mode, Mode::Data(_)), "SD: let go in the middle of a sector");
        assert!(self.out.is_empty(), "SD: let go before the card has said all");
        assert!(
            self.reading.is_none_or(|reading| reading.is_single),
            "SD: let go in a multi-block read that was not stopped"
        );
        self.reading = None;
    }

    /// Resets the processor, so that its pins float. All transfers stop there.
    pub fn host_reset(&mut self) {
        if let Mode::Frame(_) = self.mode {
            self.mode = if self.writing.is_some() { Mode::Token } else { Mode::Command };
        }
        self.out.clear();
        self.reading = None;
        (self.is_selected, self.free_bytes) = (false, 1);
        self.is_forgiving = true;
    }

    /// Exchanges one byte in each direction.
    pub fn exchange(&mut self, sent: u8) -> u8 {
        self.now_ns += self.byte_ns();
        if let Some(left) = &mut self.bytes_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                (self.bytes_left, self.is_powered) = (None, false);
            }
        }
        self.settle();
        if !self.is_powered {
            return 0xFF;
        }
        if !self.is_selected {
            self.wake_bytes += u32::from(sent == 0xFF);
            self.free_bytes += 1;
            self.idle_bytes += 1;
            return 0xFF;
        }
        if self.is_spi {
            self.check_clock();
        }
        let was_silent = self.out.is_empty();
        let answer = self.say();
        if was_silent && self.out.is_empty() && sent == 0xFF {
            self.idle_bytes += 1;
        }
        self.hear(sent);
        answer
    }

    fn check_clock(&self) {
        let limit = if self.is_ready { 25_000_000 } else { 400_000 };
        assert!(self.hz <= limit, "SD: a clock of {} Hz, where {limit} are allowed (4.4)", self.hz);
    }

    /// Marks the data that is programmed by now as safe.
    fn settle(&mut self) {
        let is_kept = self.writing.is_some() && self.profile.buffer_sectors > 0;
        if self.is_powered && !self.is_busy() && !is_kept {
            self.medium.settle();
        }
    }

    /// Returns the next byte of the card.
    fn say(&mut self) -> u8 {
        if self.out.is_empty() && !self.is_busy() {
            self.fetch();
        }
        match self.out.pop_front() {
            Some(byte) => {
                self.idle_bytes = 0;
                byte
            }
            None if self.is_busy() => 0,
            None => 0xFF,
        }
    }

    /// Loads the next block of a read, if its time has come.
    fn fetch(&mut self) {
        let Some(reading) = self.reading.filter(|reading| self.now_ns >= reading.ready_ns) else {
            return;
        };
        let fault = self.strike(Event::Read);
        let data = self.medium.read(reading.next).filter(|_| reading.next < self.profile.sectors);
        let next = Reading {
            next: reading.next + 1,
            ready_ns: self.now_ns + 514 * self.byte_ns(),
            ..reading
        };
        self.reading = (!reading.is_single).then_some(next);
        match (fault, data) {
            (Some(SdFault::NoData), _) => {
                self.reading = self.reading.map(|_| Reading { ready_ns: u64::MAX, ..reading })
            }
            (Some(SdFault::ReadError(token)), _) => self.fail_read(token),
            (_, None) => {
                self.fail_read(if reading.next < self.profile.sectors { 0x04 } else { 0x08 })
            }
            (fault, Some(data)) => {
                self.say_block(&data);
                if fault == Some(SdFault::ReadCrc) {
                    self.out[100] ^= 0x10;
                }
            }
        }
    }

    /// Ends a read by an error token. The host must still stop a read of several blocks.
    fn fail_read(&mut self, token: u8) {
        self.out.push_back(token);
        self.reading = self.reading.map(|reading| Reading { ready_ns: u64::MAX, ..reading });
    }

    pub fn say_block(&mut self, data: &[u8]) {
        self.out.push_back(0xFE);
        self.out.extend(data);
        self.out.extend(crc16(data).to_be_bytes());
    }

    /// Takes a byte of the host.
    fn hear(&mut self, sent: u8) {
        match &mut self.mode {
            Mode::Frame(bytes) => {
                bytes.push(sent);
                if bytes.len() == 6 {
                    self.end_frame();
                }
            }
            Mode::Data(bytes) => {
                bytes.push(sent);
                if bytes.len() == 514 {
                    self.end_block();
                }
            }
            _ if sent == 0xFF => {}
            // A card that was not reset has another state than the host assumes.
            _ if !self.is_spi && sent != 0x40 => {}
            _ if sent & 0xC0 == 0x40 => self.begin_frame(sent),
            Mode::Token => self.take_token(sent),
            // A stop token without a write is ignored: hosts send it to cards in an unknown
            // state.
            Mode::Command | Mode::Rejected => {
                assert!(
                    sent == 0xFD || self.is_forgiving,
                    "SD: the byte {sent:#04x} is neither a command nor ones"
                );
            }
        }
    }

    fn begin_frame(&mut self, first: u8) {
        if !self.is_forgiving {
            self.check_frame(first & 0x3F);
        }
        self.mode = Mode::Frame(vec![first]);
    }

    /// Checks the rules for the beginning of a command.
    fn check_frame(&self, index: u8) {
        if self.reading.is_some() {
            assert!(index == command::STOP, "SD: CMD{index} in the middle of a read");
        } else {
            assert!(self.out.is_empty(), "SD: CMD{index} before the card has said all");
            assert!(!self.is_busy(), "SD: CMD{index} to a busy card");
            assert!(
                self.idle_bytes > 0 || self.profile.is_lenient,
                "SD: CMD{index} without eight clocks since the last answer (7.5.1, N_RC)"
            );
        }
        let in_write = matches!(self.mode, Mode::Token | Mode::Rejected);
        assert!(
            !in_write || matches!(index, command::STOP | command::GO_IDLE),
            "SD: CMD{index} in the middle of a write"
        );
    }

    fn end_frame(&mut self) {
        let Mode::Frame(frame) = std::mem::replace(&mut self.mode, Mode::Command) else {
            unreachable!()
        };
        let (index, argument) =
            (frame[0] & 0x3F, u32::from_be_bytes([frame[1], frame[2], frame[3], frame[4]]));
        let is_sound = frame[5] == crc7(&frame[..5]) << 1 | 1;
        if self.writing.is_some() {
            self.mode = Mode::Token;
        }
        if self.is_forgiving && !is_sound {
            return;
        }
        if !self.is_spi {
            if !is_sound {
                return;
            }
            assert!(
                self.wake_bytes >= 10,
                "SD: CMD{index} after {} clocks, not 74 (6.4.1)",
                8 * self.wake_bytes
            );
            self.check_clock();
        }
        let must_check =
            self.checks_crc || matches!(index, command::GO_IDLE | command::SEND_IF_COND);
        assert!(!must_check || is_sound, "SD: CMD{index} with a bad checksum");
        assert!(frame[5] & 1 == 1, "SD: CMD{index} without its end bit");
        match self.strike(Event::Command) {
            Some(SdFault::CommandCrc) if must_check => {
                self.is_app = false;
                self.answer(index, &[0x08 | u8::from(!self.is_ready)]);
            }
            Some(SdFault::Silence) => self.is_app = false,
            // While checksums are off, a damaged command is not detected. Here the damage is in a
            // bit without a meaning.
            _ => {
                let is_app = std::mem::take(&mut self.is_app);
                self.log.push(SdCommand { index, is_app, argument });
                self.execute(index, is_app, argument);
            }
        }
    }

    /// Puts an answer behind the answer time. After a stop, a byte without a meaning comes first.
    pub fn answer(&mut self, index: u8, bytes: &[u8]) {
        self.out.clear();
        self.out.extend((index == command::STOP).then_some(0x01));
        self.out.extend(std::iter::repeat_n(0xFF, self.profile.answer_bytes));
        self.out.extend(bytes);
    }

    fn take_token(&mut self, token: u8) {
        let Some(writing) = self.writing else { unreachable!() };
        if self.is_forgiving
            && (self.is_busy()
                || !matches!((token, writing.is_single), (0xFE, true) | (0xFC | 0xFD, false)))
        {
            return;
        }
        assert!(
            self.out.is_empty() || self.is_forgiving,
            "SD: the token {token:#04x} before the card has said all"
        );
        assert!(!self.is_busy(), "SD: the token {token:#04x} to a busy card");
        assert!(
            self.idle_bytes > 0 || self.is_forgiving || self.profile.is_lenient,
            "SD: the token {token:#04x} without eight clocks since the last answer (7.5.3, N_WR)"
        );
        match (token, writing.is_single) {
            (0xFE, true) | (0xFC, false) => self.mode = Mode::Data(Vec::with_capacity(514)),
            (0xFD, false) => {
                (self.writing, self.mode) = (None, Mode::Command);
                // N_BR: the card becomes busy one byte later (7.5.3.2).
                self.out.extend((!self.profile.is_lenient).then_some(0xFF));
                self.be_busy(SdWork::Stop);
            }
            _ => panic!("SD: the byte {token:#04x} in place of a token"),
        }
    }

    fn end_block(&mut self) {
        let (Mode::Data(block), Some(writing)) =
            (std::mem::replace(&mut self.mode, Mode::Command), self.writing)
        else {
            unreachable!()
        };
        let (data, crc) = block.split_at(512);
        let fault = self.strike(Event::Write);
        let is_damaged =
            self.checks_crc && crc != crc16(data).to_be_bytes() || fault == Some(SdFault::WriteCrc);
        let refusal = match fault {
            _ if is_damaged => Some((0xEB, 0)),
            Some(SdFault::WriteError) => Some((0xED, 0x04)),
            _ if self.profile.is_write_protected => Some((0xED, 0x20)),
            _ if writing.next >= self.profile.sectors => Some((0xED, 0x80)),
            _ => None,
        };
        self.crc_refused += u32::from(is_damaged);
        if let Some((response, status)) = refusal {
            self.out.push_back(response);
            self.status |= status;
            if writing.is_single {
                self.writing = None;
            } else {
                self.mode = Mode::Rejected;
            }
            return;
        }
        self.out.push_back(0xE5);
        self.be_busy(SdWork::Write(writing.next));
        if fault == Some(SdFault::ProgramError) {
            self.status |= 0x04;
        } else {
            let data = data.try_into().expect("a sector");
            self.medium.write(writing.next, data, self.profile.buffer_sectors);
            self.well_written += u32::from(self.status == 0);
        }
        self.writing =
            (!writing.is_single).then_some(Writing { next: writing.next + 1, ..writing });
        if self.writing.is_some() {
            self.mode = Mode::Token;
        }
    }
}
