//! Commands, registers, the page buffer, time and power.

use super::profile::{EccStatus, NandSpiProfile, tag_places};
use crate::fault::{Tearable, Torn};
use crate::meter::Metered;
use crate::nand::Nand;
use crate::wire::{Clock, SpiChip, number};
use fastrand::Rng;
use std::collections::BTreeMap;
use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

const BUSY: u8 = 1;
const ENABLED: u8 = 2;
const ERASE_FAILED: u8 = 4;
const PROGRAM_FAILED: u8 = 8;

const ECC_ON: u8 = 0x10;
const OTP: u8 = 0x40;
const BUFFER_READS: u8 = 0x08;

/// The faults of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandFault {
    /// The next program or erase fails.
    Fails,
    /// The chip ignores the next write enable.
    Deaf,
    /// The next program, erase or page read never ends.
    Hangs,
}

/// A NAND chip that takes commands.
#[derive(Clone, Debug)]
pub struct NandSpi {
    profile: NandSpiProfile,
    nand: Nand,
    clock: Clock,
    busy_until_ns: u64,
    /// The page buffer: data and spare bytes. `plane` is the plane that it was filled for.
    buffer: Vec<u8>,
    plane: u32,
    /// Enabled, failed and ECC bits.
    status: u8,
    detail: u8,
    protection: u8,
    configuration: u8,
    flipped: BTreeMap<PageIndex, u8>,
    faults: Vec<NandFault>,
    operations: u64,
    cut: Option<(u64, Option<Torn>)>,
    is_off: bool,
    rng: Rng,
}

impl NandSpi {
    /// Makes an erased chip without bad blocks, on a bus of 50 MHz.
    pub fn new(profile: NandSpiProfile) -> Self {
        let nand = Nand::with_geometry(profile.geometry, profile.timing, 1);
        Self::with_nand(profile, nand)
    }

    /// Makes a chip with the content and the bad blocks of a [`Nand`].
    pub fn with_nand(profile: NandSpiProfile, nand: Nand) -> Self {
        Self {
            buffer: vec![0xFF; profile.geometry.page_bytes as usize + profile.spare_bytes],
            profile,
            nand,
            clock: Clock::new(50_000_000),
            busy_until_ns: 0,
            plane: 0,
            status: 0,
            detail: 0,
            protection: 0x7C,
            configuration: ECC_ON,
            flipped: BTreeMap::new(),
            faults: Vec::new(),
            operations: 0,
            cut: None,
            is_off: false,
            rng: Rng::with_seed(1),
        }
    }

    /// Returns the cells of the chip.
    pub fn nand(&mut self) -> &mut Nand {
        &mut self.nand
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
    pub fn inject(&mut self, fault: NandFault) {
        self.faults.push(fault);
    }

    /// Makes `bits` bits of a page wrong in each read, until its block is erased. `None` makes
    /// more bits wrong than can be corrected.
    pub fn flip(&mut self, page: PageIndex, bits: Option<u8>) {
        self.flipped.insert(page, bits.unwrap_or(u8::MAX));
    }

    /// Sets the protection register.
    pub fn protect(&mut self, bits: u8) {
        self.protection = bits;
    }

    /// Returns the configuration register.
    pub fn configuration(&self) -> u8 {
        self.configuration
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

    /// Restores power. The registers have their initial values.
    pub fn power_on(&mut self, seed: u64) {
        (self.is_off, self.cut, self.status, self.detail) = (false, None, 0, 0);
        (self.protection, self.configuration) = (0x7C, ECC_ON);
        self.busy_until_ns = self.clock.now_ns;
        self.rng = Rng::with_seed(seed);
        self.faults.clear();
        self.nand.power_on();
    }

    fn strikes(&mut self, fault: NandFault) -> bool {
        let found = self.faults.iter().position(|waiting| *waiting == fault);
        found.map(|index| self.faults.remove(index)).is_some()
    }

    fn is_busy(&self) -> bool {
        self.clock.now_ns < self.busy_until_ns
    }

    #[track_caller]
    fn demand_ready(&self, command: u8) {
        assert!(!self.is_busy(), "command {command:#04x} while the chip is busy");
    }

    fn page_bytes(&self) -> usize {
        self.profile.geometry.page_bytes as usize
    }

    fn block_of(&self, page: PageIndex) -> BlockIndex {
        page / self.profile.geometry.pages_per_block
    }

    /// Returns the column of a command, and its plane, which is the bit above the columns.
    fn column(&self, bytes: &[u8]) -> (usize, u32) {
        let (column, top) = (number(bytes), self.page_bytes() as u32 * 2);
        if self.profile.planes > 1 {
            ((column & (top - 1)) as usize, (column / top) & 1)
        } else {
            (column as usize, 0)
        }
    }

    fn work(&mut self, act: impl FnOnce(&mut Self)) {
        let before_ns = self.nand.time_ns();
        act(self);
        let took_ns = self.nand.time_ns() - before_ns;
        let hangs = self.strikes(NandFault::Hangs);
        self.busy_until_ns = if hangs { u64::MAX } else { self.clock.now_ns + took_ns };
    }

    /// 0x13: loads a page from the array into the buffer.
    fn load(&mut self, page: PageIndex) {
        if self.configuration & OTP != 0 {
            return self.load_parameters(page);
        }
        let bits = self.flipped.get(&page).copied().unwrap_or(0);
        let block = self.block_of(page);
        self.plane = block % self.profile.planes;
        let is_bad = self.nand.is_bad(block).expect("the chip has power");
        self.work(|chip| {
            let result = chip.fill(page, is_bad);
            let bits = if result.is_err() || bits == u8::MAX { None } else { Some(bits) };
            let (ecc, detail) = chip.profile.status(bits);
            (chip.status, chip.detail) = (chip.status & ENABLED | ecc, detail);
        });
    }

    fn load_parameters(&mut self, page: PageIndex) {
        self.buffer.fill(0xFF);
        if page == 1 && self.profile.has_parameters {
            let parameters = self.profile.parameters();
            self.buffer[..parameters.len()].copy_from_slice(&parameters);
        }
        (self.status, self.plane) = (self.status & ENABLED, 0);
        self.busy_until_ns = self.clock.now_ns + self.profile.timing.array_read_ns;
    }

    /// Fills the buffer. For a bad block the buffer becomes zeros, which are also the bad-block
    /// mark, and the read fails.
    fn fill(&mut self, page: PageIndex, is_bad: bool) -> Result<(), Failure> {
        let page_bytes = self.page_bytes();
        if is_bad {
            self.buffer.fill(0);
            return Err(Failure::Uncorrectable);
        }
        let mut tag = [0xFF; TAG_BYTES];
        self.buffer.fill(0xFF);
        let result = self.nand.read(page, &mut self.buffer[..page_bytes], &mut tag);
        for (place, byte) in tag_places(&self.profile).into_iter().zip(tag) {
            self.buffer[page_bytes + place] = byte;
        }
        result
    }

    /// Begins a program or an erase. Returns `None` if nothing is done, `Some(None)` if it is
    /// done, and the torn state if power fails in it.
    fn begin(&mut self, failed: u8) -> Option<Option<Torn>> {
        if self.status & ENABLED == 0 {
            return None;
        }
        self.status = 0;
        self.operations += 1;
        if self.protection & 0x78 != 0 || self.strikes(NandFault::Fails) {
            self.status = failed;
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

    /// 0x10: programs the buffer into the array.
    fn program(&mut self, page: PageIndex) {
        let block = self.block_of(page);
        assert!(
            self.plane == block % self.profile.planes,
            "the buffer was filled for another plane than that of block {block}"
        );
        assert!(self.configuration & ECC_ON != 0, "a program without ECC");
        let Some(torn) = self.begin(PROGRAM_FAILED) else { return };
        let page_bytes = self.page_bytes();
        let spare = &self.buffer[page_bytes..];
        let is_mark = spare[0] != 0xFF;
        let wrong =
            (1..spare.len()).find(|&byte| spare[byte] != 0xFF && !(self.profile.protected)(byte));
        assert!(is_mark || wrong.is_none(), "spare byte {wrong:?} is not for users, or has no ECC");
        let tag = tag_places(&self.profile).map(|place| spare[place]);
        let data = self.buffer[..page_bytes].to_vec();
        if is_mark && torn.is_none() {
            self.nand.mark_bad(block).expect("the chip has power");
            self.busy_until_ns = self.clock.now_ns + self.profile.timing.array_program_ns;
            return;
        }
        self.work(|chip| {
            let result = match torn {
                Some(torn) => {
                    chip.nand.program_torn(page, &data, &tag, torn);
                    Ok(())
                }
                None => chip.nand.program(page, &data, &tag),
            };
            chip.status = if result.is_err() { PROGRAM_FAILED } else { 0 };
        });
    }

    /// 0xD8: erases a block.
    fn erase(&mut self, page: PageIndex) {
        let per_block = self.profile.geometry.pages_per_block;
        assert!(page.is_multiple_of(per_block), "an erase takes the first page of a block");
        let Some(torn) = self.begin(ERASE_FAILED) else { return };
        let block = self.block_of(page);
        self.flipped.retain(|flipped, _| flipped / per_block != block);
        self.work(|chip| match torn {
            Some(torn) => chip.nand.erase_torn(block, torn),
            None => drop(chip.nand.erase(block)),
        });
    }

    /// 0x02 and 0x84: loads bytes from the bus into the buffer.
    fn fill_from_bus(&mut self, sent: &[u8]) {
        let (column, plane) = self.column(&sent[1..3]);
        let data = &sent[3..];
        assert!(
            column + data.len() <= self.buffer.len(),
            "columns {column} to {} are beyond the page",
            column + data.len()
        );
        if sent[0] == 0x02 {
            self.buffer.fill(0xFF);
        } else {
            assert!(plane == self.plane, "the buffer belongs to the other plane");
        }
        self.plane = plane;
        self.buffer[column..column + data.len()].copy_from_slice(data);
    }

    fn register(&self, address: u8) -> u8 {
        match (address, self.profile.ecc) {
            (0xA0, _) => self.protection,
            (0xB0, _) => self.configuration,
            (0xF0, EccStatus::Counted) | (0x30, EccStatus::Register) => self.detail,
            _ => panic!("the chip has no register {address:#04x}"),
        }
    }

    fn reset(&mut self) {
        // A reset takes up to 500 microseconds while an erase is in progress.
        self.busy_until_ns = self.clock.now_ns + if self.is_busy() { 500_000 } else { 5_000 };
        self.status = 0;
    }
}

impl SpiChip for NandSpi {
    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn answer(&mut self, sent: &[u8], bytes: &mut [u8]) {
        bytes.fill(0xFF);
        if self.is_off {
            return;
        }
        if sent == [0x0F, 0xC0] {
            let busy = if self.is_busy() { BUSY } else { 0 };
            return bytes.fill(self.status | busy);
        }
        self.demand_ready(sent[0]);
        match *sent {
            [0x9F, _] => bytes.iter_mut().zip(self.profile.id).for_each(|(byte, id)| *byte = id),
            [0x0F, address] => bytes.fill(self.register(address)),
            [0xA5, _] if self.profile.has_links => bytes.fill(0),
            [0x03, high, low, _] => {
                let chosen = !self.profile.reads_on || self.configuration & BUFFER_READS != 0;
                assert!(chosen, "a chip that reads continuously takes no column");
                let (column, plane) = self.column(&[high, low]);
                assert!(plane == self.plane, "the buffer belongs to the other plane");
                assert!(column + bytes.len() <= self.buffer.len(), "columns beyond the page");
                bytes.copy_from_slice(&self.buffer[column..column + bytes.len()]);
            }
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }

    fn execute(&mut self, sent: &[u8]) {
        if self.is_off {
            return;
        }
        if sent == [0xFF] {
            return self.reset();
        }
        self.demand_ready(sent[0]);
        match *sent {
            [0x06] if self.strikes(NandFault::Deaf) => {}
            [0x06] => self.status |= ENABLED,
            [0x1F, 0xA0, value] => self.protection = value,
            [0x1F, 0xB0, value] => self.configuration = value,
            [0x13, ref address @ ..] if address.len() == 3 => self.load(number(address)),
            [0x02 | 0x84, _, _, ..] => self.fill_from_bus(sent),
            [0x10, ref address @ ..] if address.len() == 3 => self.program(number(address)),
            [0xD8, ref address @ ..] if address.len() == 3 => self.erase(number(address)),
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }
}
