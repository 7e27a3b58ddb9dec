// A SPI NAND behind an SPI bus, for the examples of drivers: the command set of a W25N01GV, its
// spare area, its locks, and its ECC status.
//
// It panics if a driver breaks a rule of the chip.

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorKind, ErrorType, Operation, SpiDevice};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use steadyfs::media::{Corrected, Failure, Flash};

#[path = "exercise.rs"]
mod exercise;

const PAGE_BYTES: usize = 2048 + 64;
const PAGES_PER_BLOCK: u32 = 64;

/// The chip has replaced block 30 by block 1010, and returns this entry in its table of replaced
/// blocks.
const LINK: [u8; 4] = [0x80, 30, 0x03, 0xF2];

const BUSY: u8 = 1;
const WRITE_ENABLED: u8 = 2;
const ERASE_FAILED: u8 = 4;
const PROGRAM_FAILED: u8 = 8;

/// The state of the chip.
pub struct Chip {
    pages: BTreeMap<u32, Vec<u8>>,
    buffer: Vec<u8>,
    status: u8,
    /// Number of polls until the chip is ready.
    busy_polls: u32,
    /// True if the chip is stuck: it stays busy and takes no command, until a test clears this
    /// field.
    pub hangs: bool,
    /// True if the chip gets stuck in the next program or erase.
    pub hangs_next: bool,
    /// Number of the next write enables that do not reach the chip.
    pub deaf: u32,
    /// Number of the next programs and erases that fail.
    pub failures: u32,
    /// Number of wrong bits in a codeword of each page.
    pub flipped: BTreeMap<u32, u8>,
    pub protection: u8,
    configuration: u8,
    /// Total delay of the driver, in microseconds.
    pub waited_us: u64,
}

/// The bus of the chip; clones share it. As a delay, it adds up the waiting time.
#[derive(Clone)]
pub struct Bus(pub Rc<RefCell<Chip>>);

impl Bus {
    /// Returns a chip in its factory state, with bad blocks.
    pub fn new(bad_blocks: &[u32]) -> Self {
        let mut pages = BTreeMap::new();
        for block in bad_blocks {
            pages.insert(block * PAGES_PER_BLOCK, vec![0; PAGE_BYTES]);
        }
        Self(Rc::new(RefCell::new(Chip {
            pages,
            buffer: vec![0xFF; PAGE_BYTES],
            status: 0,
            busy_polls: 0,
            hangs: false,
            hangs_next: false,
            deaf: 0,
            failures: 0,
            flipped: BTreeMap::new(),
            protection: 0x7C,
            configuration: 0x10,
            waited_us: 0,
        })))
    }
}

impl ErrorType for Bus {
    type Error = ErrorKind;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
        let mut sent = Vec::new();
        let mut given = None;
        for operation in operations {
            match operation {
                Operation::Write(bytes) => {
                    assert!(given.is_none(), "a command with bytes behind its answer");
                    sent.extend_from_slice(bytes);
                }
                Operation::Read(bytes) => {
                    bytes.fill(0xFF);
                    let answer =
                        given.get_or_insert_with(|| self.0.borrow_mut().answer(&sent).into_iter());
                    bytes.iter_mut().zip(answer).for_each(|(byte, answer)| *byte = answer);
                }
                _ => panic!("an operation that the examples do without"),
            }
        }
        if given.is_none() {
            self.0.borrow_mut().execute(&sent);
        }
        Ok(())
    }
}

impl DelayNs for Bus {
    fn delay_ns(&mut self, ns: u32) {
        self.0.borrow_mut().waited_us += u64::from(ns.div_ceil(1000));
    }
}

/// Returns the page of the array for an address.
fn page(address: &[u8]) -> u32 {
    let page = number(address);
    if page / PAGES_PER_BLOCK == 30 { page + 980 * PAGES_PER_BLOCK } else { page }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

impl Chip {
    fn status(&mut self) -> u8 {
        self.busy_polls = self.busy_polls.saturating_sub(1);
        if self.hangs || self.busy_polls > 0 { self.status | BUSY } else { self.status }
    }

    fn demand_ready(&self, command: u8) {
        assert!(self.busy_polls == 0, "command {command:#04x} while the chip is busy");
    }

    fn answer(&mut self, sent: &[u8]) -> Vec<u8> {
        if sent == [0x0F, 0xC0] {
            return vec![self.status()];
        }
        self.demand_ready(sent[0]);
        if self.hangs {
            return vec![];
        }
        match *sent {
            [0x9F, _] => vec![0xEF, 0xAA, 0x21],
            [0x0F, 0xA0] => vec![self.protection],
            [0x0F, 0xB0] => vec![self.configuration],
            // One entry of the table of replaced blocks is in use.
            [0xA5, _] => [&LINK[..], &[0; 76]].concat(),
            [0x03, high, low, _] => {
                assert!(
                    self.configuration & 8 != 0,
                    "a chip that reads continuously takes no column"
                );
                self.buffer[number(&[high, low]) as usize..].to_vec()
            }
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }

    fn execute(&mut self, sent: &[u8]) {
        if sent != [0xFF] {
            self.demand_ready(sent[0]);
        }
        if self.hangs {
            return;
        }
        match *sent {
            [0xFF] => self.status = 0,
            [0x06] if self.deaf > 0 => self.deaf -= 1,
            [0x06] => self.status |= WRITE_ENABLED,
            [0x1F, 0xA0, value] => self.protection = value,
            [0x1F, 0xB0, value] => self.configuration = value,
            [0x13, ref address @ ..] => self.load(page(address)),
            [command @ (0x02 | 0x84), high, low, ref data @ ..] => {
                if self.status & WRITE_ENABLED == 0 {
                    return;
                }
                if command == 0x02 {
                    self.buffer.fill(0xFF);
                }
                self.buffer[number(&[high, low]) as usize..][..data.len()].copy_from_slice(data);
            }
            [0x10, ref address @ ..] => {
                self.change(PROGRAM_FAILED, 70, |chip| chip.program(page(address)))
            }
            [0xD8, ref address @ ..] => {
                self.change(ERASE_FAILED, 1000, |chip| chip.erase(page(address)))
            }
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }

    fn load(&mut self, page: u32) {
        let found = self.pages.get(&page).cloned();
        self.buffer = found.unwrap_or_else(|| vec![0xFF; PAGE_BYTES]);
        let ecc = match self.flipped.get(&page) {
            None | Some(0) => 0,
            Some(1) => 1,
            Some(_) => 2,
        };
        (self.status, self.busy_polls) = (ecc << 4, 6);
    }

    /// Starts a program or an erase. It fails if the chip is locked.
    fn change(&mut self, failed: u8, polls: u32, act: impl FnOnce(&mut Self)) {
        if self.status & WRITE_ENABLED == 0 {
            return;
        }
        (self.status, self.busy_polls) = (0, polls);
        self.hangs = self.hangs_next;
        if self.protection & 0x78 != 0 {
            self.status = failed;
        } else if self.failures > 0 {
            self.failures -= 1;
            self.status = failed;
        } else {
            act(self);
        }
    }

    fn program(&mut self, page: u32) {
        let is_mark = self.buffer[2048] != 0xFF;
        let later = page + 1..(page / PAGES_PER_BLOCK + 1) * PAGES_PER_BLOCK;
        assert!(
            is_mark || self.pages.range(later).next().is_none(),
            "page {page} is programmed after a later one of its block"
        );
        assert!(is_mark || !self.pages.contains_key(&page), "page {page} is programmed twice");
        for (index, byte) in self.buffer[2049..].iter().enumerate() {
            let is_protected = (3..7).contains(&(index % 16));
            assert!(
                is_protected || *byte == 0xFF,
                "spare byte {} is not for users, or has no ECC",
                index + 1
            );
        }
        if self.configuration & 0x10 != 0 && self.pages.contains_key(&page) {
            self.flipped.insert(page, 2); // the parities of the two programs overlap
        }
        let cells = self.pages.entry(page).or_insert_with(|| vec![0xFF; PAGE_BYTES]);
        cells.iter_mut().zip(&self.buffer).for_each(|(cell, new)| *cell &= new);
    }

    fn erase(&mut self, page: u32) {
        assert!(page % PAGES_PER_BLOCK == 0, "an erase takes the first page of a block");
        for page in page..page + PAGES_PER_BLOCK {
            self.pages.remove(&page);
            self.flipped.remove(&page);
        }
    }
}

/// Checks that a driver obeys the contract of `Flash`, in blocks that no volume uses any more.
pub fn examine(bus: &Bus, flash: &mut impl Flash) -> Result<(), Failure> {
    let (mut data, mut tag) = ([0; 2048], [0; 16]);
    let written: [u8; 16] = std::array::from_fn(|index| index as u8);
    let page = 900 * PAGES_PER_BLOCK;

    flash.erase(900)?;
    flash.read(page, &mut data, &mut tag)?;
    assert!(data == [0xFF; 2048] && tag == [0xFF; 16], "erased");
    flash.program(page + 1, b"data", &written)?;
    flash.read(page + 1, &mut data, &mut tag)?;
    assert!(data.starts_with(b"data\xFF") && tag == written && flash.corrected().bits == 0);

    bus.0.borrow_mut().flipped.insert(page + 1, 1);
    flash.read_tag(page + 1, &mut tag)?;
    assert!(tag == written && flash.corrected() == Corrected { bits: 1, strength: 1 });
    bus.0.borrow_mut().flipped.insert(page + 1, 2);
    assert_eq!(flash.read_tag(page + 1, &mut tag), Err(Failure::Uncorrectable));
    assert_eq!(flash.read(page + 1, &mut data, &mut tag), Err(Failure::Uncorrectable));

    flash.program(901 * PAGES_PER_BLOCK, b"data", &written)?;
    assert!(!flash.is_bad(901)?);
    flash.mark_bad(901)?;
    assert!(flash.is_bad(901)?);
    flash.erase(901)?;
    assert!(!flash.is_bad(901)?);
    flash.program(901 * PAGES_PER_BLOCK, b"data", &written)?;
    flash.read(901 * PAGES_PER_BLOCK, &mut data, &mut tag)?;

    bus.0.borrow_mut().failures = 1;
    assert_eq!(flash.erase(900), Err(Failure::BadBlock));
    bus.0.borrow_mut().failures = 1;
    assert_eq!(flash.program(page + 2, &[], &written), Err(Failure::BadBlock));
    bus.0.borrow_mut().failures = 1;
    flash.mark_bad(900)?; // although it cannot be erased
    bus.0.borrow_mut().flipped.insert(page, 2);
    assert!(
        flash.is_bad(900)?
            && flash.is_bad(7)?
            && flash.is_bad(30)?
            && !flash.is_bad(1010)?
            && !flash.is_bad(901)?
    );

    bus.0.borrow_mut().protection = 0x7C;
    assert_eq!(flash.erase(901), Err(Failure::WriteProtected));
    assert_eq!(flash.program(page + 3, &[], &written), Err(Failure::WriteProtected));
    bus.0.borrow_mut().protection = 0;

    // The driver reports a lost command, and nothing has changed.
    for _ in 0..2 {
        bus.0.borrow_mut().deaf = 1;
        assert_eq!(flash.program(page + 3, &[], &written), Err(Failure::Device));
        bus.0.borrow_mut().deaf = 1;
        assert_eq!(flash.erase(900), Err(Failure::Device));
    }
    flash.program(page + 3, &[], &written)?;

    // The driver reports a stuck chip in time, and returns no success while the chip is stuck.
    let began_us = bus.0.borrow().waited_us;
    bus.0.borrow_mut().hangs_next = true;
    assert_eq!(flash.erase(901), Err(Failure::Device));
    let waited_ns = (bus.0.borrow().waited_us - began_us) * 1000;
    assert!(
        (flash.timing().erase_ns..3 * flash.timing().erase_ns).contains(&waited_ns),
        "waited for {waited_ns} ns"
    );
    assert_eq!(flash.erase(901), Err(Failure::Device));
    assert_eq!(flash.program(page + 4, &[], &written), Err(Failure::Device));
    assert_eq!(flash.read(page + 1, &mut data, &mut tag), Err(Failure::Device));
    assert_eq!(flash.is_bad(901), Err(Failure::Device));
    bus.0.borrow_mut().hangs_next = false;
    bus.0.borrow_mut().hangs = false;
    flash.program(page + 4, &[], &written)
}

/// Writes with failures now and then, cuts the power between calls, mounts, and reads everything
/// back.
pub fn exercise(
    bus: &Bus,
    flash: impl Flash,
    memory: &mut [u8],
) -> Result<(), Box<dyn std::error::Error>> {
    exercise::records(flash, memory, 3000, 600, |_, number| {
        bus.0.borrow_mut().failures += u32::from(number % 200 == 199)
    })
}
