//! The effects of the commands.

use super::card::{Card, Mode, Reading, Writing};
use super::profile::{SdKind, SdWork};
use super::{command, words};

/// Bits of R1.
const IDLE: u8 = 0x01;
const ILLEGAL: u8 = 0x04;
const ERASE_SEQUENCE: u8 = 0x10;
const ADDRESS: u8 = 0x20;
const PARAMETER: u8 = 0x40;

impl Card {
    /// Executes a command, and answers.
    pub(super) fn execute(&mut self, index: u8, is_app: bool, argument: u32) {
        let r1 = u8::from(!self.is_ready);
        let before_ready = [
            command::GO_IDLE,
            command::SEND_IF_COND,
            command::APP,
            command::READ_OCR,
            command::CRC_ON_OFF,
        ];
        let is_start = is_app && index == command::APP_START;
        if index == command::GO_IDLE {
            return self.go_idle();
        }
        if !self.is_ready && !before_ready.contains(&index) && !is_start {
            return self.answer(index, &[IDLE | ILLEGAL]);
        }
        if is_app {
            return self.execute_app(index, argument);
        }
        match index {
            command::SEND_IF_COND if self.profile.kind == SdKind::Version1 => {
                self.answer(index, &[r1 | ILLEGAL])
            }
            command::SEND_IF_COND => {
                self.answer(index, &[r1, 0, 0, (argument >> 8) as u8 & 0xF, argument as u8])
            }
            command::APP => {
                self.is_app = true;
                self.answer(index, &[r1]);
            }
            command::READ_OCR => {
                let ready = if self.is_ready { 0x80 } else { 0 }
                    | if self.profile.kind == SdKind::High { 0x40 } else { 0 };
                self.answer(index, &[r1, ready, 0xFF, 0x80, 0]);
            }
            command::CRC_ON_OFF => {
                self.checks_crc = argument & 1 == 1;
                self.answer(index, &[r1]);
            }
            command::SEND_CSD => self.register(index, &[0], &words::csd(&self.profile)),
            command::SEND_CID => self.register(index, &[0], &words::cid()),
            command::SEND_STATUS => {
                let status = std::mem::take(&mut self.status);
                self.answer(index, &[0, status]);
            }
            command::SET_BLOCK_LENGTH => {
                self.answer(index, &[if argument == 512 { 0 } else { PARAMETER }])
            }
            command::STOP => self.stop(),
            command::READ_SINGLE | command::READ_MULTIPLE => self.begin_read(index, argument),
            command::WRITE_SINGLE | command::WRITE_MULTIPLE => self.begin_write(index, argument),
            command::ERASE_FIRST | command::ERASE_LAST | command::ERASE => {
                self.erase(index, argument)
            }
            _ => self.answer(index, &[ILLEGAL]),
        }
    }

    fn execute_app(&mut self, index: u8, argument: u32) {
        match index {
            command::APP_START => {
                let is_known = self.profile.kind != SdKind::High || argument & 1 << 30 != 0;
                self.starts_left = self.starts_left.saturating_sub(u32::from(is_known));
                self.is_ready |= is_known && self.starts_left == 0;
                self.answer(index, &[u8::from(!self.is_ready)]);
            }
            command::APP_STATUS => {
                let status = std::mem::take(&mut self.status);
                self.register(index, &[0, status], &words::status(&self.profile));
            }
            command::APP_WELL_WRITTEN => {
                self.register(index, &[0], &self.well_written.to_be_bytes())
            }
            command::APP_PRE_ERASE => {
                self.pre_erase = argument & 0x7F_FFFF;
                self.answer(index, &[0]);
            }
            _ => self.answer(index, &[ILLEGAL]),
        }
    }

    fn go_idle(&mut self) {
        (self.is_spi, self.is_ready, self.checks_crc, self.is_app) = (true, false, false, false);
        self.is_forgiving = false;
        (self.mode, self.writing, self.reading) = (Mode::Command, None, None);
        (self.status, self.starts_left, self.pre_erase) = (0, self.profile.starts.max(1), 0);
        self.answer(command::GO_IDLE, &[IDLE]);
    }

    fn register(&mut self, index: u8, answer: &[u8], data: &[u8]) {
        self.answer(index, answer);
        self.out.extend([0xFF; 3]);
        self.say_block(data);
    }

    fn stop(&mut self) {
        if self.reading.take().is_none() && self.writing.take().is_none() {
            return self.answer(command::STOP, &[ILLEGAL]);
        }
        let was_write = !matches!(self.mode, Mode::Command);
        self.mode = Mode::Command;
        self.answer(command::STOP, &[0]);
        if was_write {
            self.be_busy(SdWork::Stop);
        }
    }

    /// Returns the sector that the argument of a command names. If it names no sector, returns the
    /// error bit of the response.
    fn sector(&self, argument: u32) -> Result<u32, u8> {
        let sector = match self.profile.kind {
            SdKind::High => argument,
            _ if argument.is_multiple_of(512) => argument / 512,
            _ => return Err(ADDRESS),
        };
        if sector < self.profile.sectors { Ok(sector) } else { Err(PARAMETER) }
    }

    fn begin_read(&mut self, index: u8, argument: u32) {
        match self.sector(argument) {
            Ok(next) => {
                self.answer(index, &[0]);
                let ready_ns = self.now_ns + self.duration_ns(SdWork::Read(next));
                self.reading =
                    Some(Reading { next, is_single: index == command::READ_SINGLE, ready_ns });
            }
            Err(error) => self.answer(index, &[error]),
        }
    }

    fn begin_write(&mut self, index: u8, argument: u32) {
        let count = std::mem::take(&mut self.pre_erase);
        match self.sector(argument) {
            Ok(next) => {
                self.answer(index, &[0]);
                if !self.profile.is_write_protected && index == command::WRITE_MULTIPLE {
                    self.medium.pre_erase(next, count.min(self.profile.sectors - next));
                }
                self.well_written = 0;
                self.writing = Some(Writing { next, is_single: index == command::WRITE_SINGLE });
                self.mode = Mode::Token;
            }
            Err(error) => self.answer(index, &[error]),
        }
    }

    fn erase(&mut self, index: u8, argument: u32) {
        if self.profile.erase_sectors == 0 {
            return self.answer(index, &[ILLEGAL]);
        }
        if index == command::ERASE {
            let (Some(first), Some(last)) = (self.erase_from.take(), self.erase_to.take()) else {
                return self.answer(index, &[ERASE_SEQUENCE]);
            };
            assert!(first <= last, "SD: an erase whose last sector is before its first");
            self.answer(index, &[0]);
            // Sectors that cannot be erased alone are erased with their unit.
            let unit = self.profile.erase_sectors;
            let (first, last) = (first - first % unit, (last + 1).next_multiple_of(unit) - 1);
            self.be_busy(SdWork::Erase(last - first + 1));
            return self.medium.erase(first, last);
        }
        match self.sector(argument) {
            Ok(sector) if index == command::ERASE_FIRST => {
                (self.erase_from, self.erase_to) = (Some(sector), None)
            }
            Ok(sector) => self.erase_to = Some(sector),
            Err(error) => return self.answer(index, &[error]),
        }
        self.answer(index, &[0]);
    }
}
