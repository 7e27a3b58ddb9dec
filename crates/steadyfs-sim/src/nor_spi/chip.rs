//! Commands, status, time and power.

use super::profile::{ErrorBits, FourByte, NorSpiProfile};
use crate::fault::Torn;
use crate::meter::Metered;
use crate::nor::Nor;
use crate::wire::{Clock, SpiChip, number};
use fastrand::Rng;
use steadyfs::media::nor::NorFlash;

const BUSY: u8 = 1;
const ENABLED: u8 = 2;

/// The faults of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NorFault {
    /// The next program or erase fails, and the chip reports this if it can.
    Fails,
    /// The chip ignores the next write enable.
    Deaf,
    /// The next program or erase never ends.
    Hangs,
}

/// A NOR chip that takes commands.
#[derive(Clone, Debug)]
pub struct NorSpi {
    profile: NorSpiProfile,
    sfdp: Vec<u8>,
    nor: Nor,
    clock: Clock,
    busy_until_ns: u64,
    is_enabled: bool,
    has_four_bytes: bool,
    /// Program and erase errors, as the chip stores them.
    errors: [bool; 2],
    protection: u8,
    faults: Vec<NorFault>,
    /// Programs and erases so far. `cut` contains the operation that a cut meets.
    operations: u64,
    cut: Option<(u64, Option<Torn>)>,
    is_off: bool,
    rng: Rng,
}

impl NorSpi {
    /// Makes an erased chip, on a bus of 50 MHz.
    pub fn new(profile: NorSpiProfile) -> Self {
        let sector = profile.erases[0].bytes;
        Self {
            sfdp: profile.sfdp(),
            nor: Nor::with_geometry(sector, profile.bytes / sector, profile.timing(), 1),
            profile,
            clock: Clock::new(50_000_000),
            busy_until_ns: 0,
            is_enabled: false,
            has_four_bytes: false,
            errors: [false; 2],
            protection: 0,
            faults: Vec::new(),
            operations: 0,
            cut: None,
            is_off: false,
            rng: Rng::with_seed(1),
        }
    }

    /// Returns the cells of the chip.
    pub fn nor(&mut self) -> &mut Nor {
        &mut self.nor
    }

    /// Returns the nanoseconds since the chip was made.
    pub fn clock_ns(&self) -> u64 {
        self.clock.now_ns
    }

    /// Returns the bytes that went over the bus, in both directions.
    pub fn bus_bytes(&self) -> u64 {
        self.clock.bytes
    }

    /// Adds a fault that strikes at the next occasion.
    pub fn inject(&mut self, fault: NorFault) {
        self.faults.push(fault);
    }

    /// Sets the block protection bits of the status register (bits 2 to 5).
    pub fn protect(&mut self, bits: u8) {
        self.protection = bits & 0x3C;
    }

    /// Makes the chip busy for a while, like an erase that began before the processor was reset.
    pub fn keep_busy(&mut self, us: u64) {
        self.busy_until_ns = self.clock.now_ns + us * 1000;
    }

    /// Returns the number of programs and erases so far, including an interrupted one.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Cuts power in the `n`-th program or erase from now; 1 is the next.
    pub fn cut_at(&mut self, n: u64, torn: Option<Torn>) {
        self.cut = Some((self.operations + n, torn));
    }

    /// Returns true if power is off.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    /// Restores power.
    pub fn power_on(&mut self, seed: u64) {
        (self.is_off, self.cut, self.is_enabled, self.has_four_bytes) = (false, None, false, false);
        (self.busy_until_ns, self.errors) = (self.clock.now_ns, [false; 2]);
        self.rng = Rng::with_seed(seed);
        self.faults.clear();
        self.nor.power_on();
    }

    fn strikes(&mut self, fault: NorFault) -> bool {
        let found = self.faults.iter().position(|waiting| *waiting == fault);
        found.map(|index| self.faults.remove(index)).is_some()
    }

    fn status(&self) -> u8 {
        let is_held = self.profile.error_bits == ErrorBits::Status && self.errors != [false; 2];
        let busy = if self.clock.now_ns < self.busy_until_ns || is_held { BUSY } else { 0 };
        let errors = match self.profile.error_bits {
            ErrorBits::Status => u8::from(self.errors[0]) << 6 | u8::from(self.errors[1]) << 5,
            _ => 0,
        };
        busy | if self.is_enabled { ENABLED } else { 0 } | self.protection | errors
    }

    #[track_caller]
    fn demand_ready(&self, command: u8) {
        assert!(
            self.clock.now_ns >= self.busy_until_ns,
            "command {command:#04x} while the chip is busy"
        );
    }

    /// Returns the address of a command, and the bytes behind it.
    #[track_caller]
    fn address<'s>(&self, sent: &'s [u8]) -> (u32, &'s [u8]) {
        let is_long = self.has_four_bytes || matches!(sent[0], 0x0C | 0x12 | 0x21 | 0x5C | 0xDC);
        let length = if is_long { 4 } else { 3 };
        assert!(sent.len() > length, "command {:#04x} without all of its address", sent[0]);
        (number(&sent[1..=length]), &sent[1 + length..])
    }

    /// Begins a program or an erase. Returns `None` if nothing is done, `Some(None)` if it is
    /// done, and the torn state if power fails in it.
    fn begin(&mut self, error: usize) -> Option<Option<Torn>> {
        if !std::mem::take(&mut self.is_enabled) {
            return None;
        }
        self.operations += 1;
        if self.profile.error_bits == ErrorBits::Security {
            // This chip clears its errors with the next operation. Other chips keep them until
            // they are cleared.
            self.errors = [false; 2];
        }
        if self.protection != 0 {
            self.errors[error] |= self.profile.error_bits != ErrorBits::None;
            return None;
        }
        match self.cut {
            Some((operation, torn)) if operation == self.operations => {
                (self.is_off, self.cut) = (true, None);
                Some(Some(torn.unwrap_or_else(|| Torn::ALL[self.rng.usize(..Torn::ALL.len())])))
            }
            _ => Some(None),
        }
    }

    /// Ends a program or an erase: the chip is busy for `ns`.
    fn end(&mut self, ns: u64) {
        let hangs = self.strikes(NorFault::Hangs);
        self.busy_until_ns = if hangs { u64::MAX } else { self.clock.now_ns + ns };
    }

    fn program(&mut self, sent: &[u8]) {
        let (address, data) = self.address(sent);
        let room = 256 - address as usize % 256;
        assert!(
            !data.is_empty() && data.len() <= room,
            "a program of {} bytes at {address:#x} runs over its page",
            data.len()
        );
        let data = self.beside_ones(address, data);
        let Some(torn) = self.begin(0) else { return };
        if self.strikes(NorFault::Fails) {
            self.errors[0] |= self.profile.error_bits != ErrorBits::None;
            return self.end(u64::from(self.profile.program_us) * 1000);
        }
        if let Some(torn) = torn {
            self.nor.tear_program(0, torn);
        }
        let before_ns = self.nor.time_ns();
        let _ = self.nor.program(address, &data);
        self.end(self.nor.time_ns() - before_ns);
    }

    /// Returns the bytes to program: bytes of ones keep the stored content.
    fn beside_ones(&mut self, address: u32, data: &[u8]) -> Vec<u8> {
        let mut found = vec![0xFF; data.len()];
        self.nor.read(address, &mut found).expect("the chip has power");
        data.iter()
            .zip(found)
            .map(|(&byte, found)| if byte == 0xFF { found } else { byte })
            .collect()
    }

    fn erase(&mut self, sent: &[u8], short: u8) {
        let found = self.profile.erases.iter().find(|erase| erase.opcode == short);
        let erase = *found.unwrap_or_else(|| panic!("the chip has no erase {:#04x}", sent[0]));
        let (address, rest) = self.address(sent);
        assert!(
            rest.is_empty() && address.is_multiple_of(erase.bytes),
            "an erase takes the first byte of a block, not {address:#x}"
        );
        let Some(torn) = self.begin(1) else { return };
        if self.strikes(NorFault::Fails) {
            self.errors[1] |= self.profile.error_bits != ErrorBits::None;
            return self.end(u64::from(erase.ms) * 1_000_000);
        }
        let sector = self.nor.block_bytes();
        for block in address / sector..(address + erase.bytes) / sector {
            match torn {
                Some(torn) => self.nor.erase_torn(block, torn),
                None => self.nor.erase(block).expect("the chip has power"),
            }
        }
        self.end(u64::from(erase.ms) * 1_000_000);
    }

    fn enable(&mut self) {
        if !self.strikes(NorFault::Deaf) {
            self.is_enabled = true;
        }
    }
}

impl SpiChip for NorSpi {
    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn answer(&mut self, sent: &[u8], bytes: &mut [u8]) {
        bytes.fill(0xFF);
        if self.is_off {
            return;
        }
        if sent == [0x05] {
            return bytes.fill(self.status());
        }
        self.demand_ready(sent[0]);
        match sent[0] {
            0x9F => bytes.iter_mut().zip(self.profile.id).for_each(|(byte, id)| *byte = id),
            0x2B if self.profile.error_bits == ErrorBits::Security => {
                bytes.fill(u8::from(self.errors[0]) << 5 | u8::from(self.errors[1]) << 6);
            }
            0x70 if self.profile.error_bits == ErrorBits::Flags => {
                bytes.fill(0x80 | u8::from(self.errors[0]) << 4 | u8::from(self.errors[1]) << 5);
            }
            0x5A if self.profile.has_sfdp => {
                assert!(
                    sent.len() == 5,
                    "parameters are read by three bytes of address and eight clocks"
                );
                let from = (number(&sent[1..4]) as usize).min(self.sfdp.len());
                bytes.iter_mut().zip(&self.sfdp[from..]).for_each(|(byte, known)| *byte = *known);
            }
            0x5A => {}
            0x0B | 0x0C => {
                let (address, dummy) = self.address(sent);
                assert!(dummy.len() == 1, "a fast read has eight clocks before its data");
                self.nor.read(address, bytes).expect("the chip has power");
            }
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }

    fn execute(&mut self, sent: &[u8]) {
        if self.is_off {
            return;
        }
        self.demand_ready(sent[0]);
        match sent[0] {
            0x06 => self.enable(),
            0x01 if std::mem::take(&mut self.is_enabled) => self.protect(sent[1]),
            0x01 => {}
            0x02 | 0x12 => self.program(sent),
            0x20 | 0x52 | 0xD8 => self.erase(sent, sent[0]),
            0x21 => self.erase(sent, 0x20),
            0x5C => self.erase(sent, 0x52),
            0xDC => self.erase(sent, 0xD8),
            0xB7 if self.profile.four_byte == FourByte::Mode => self.has_four_bytes = true,
            0xB7 if self.profile.four_byte == FourByte::EnabledMode => {
                self.has_four_bytes = self.is_enabled
            }
            0x50 if self.profile.error_bits == ErrorBits::Flags => self.errors = [false; 2],
            0x30 if self.profile.error_bits == ErrorBits::Status => self.errors = [false; 2],
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }
}
