// A SPI NOR behind an SPI bus, for the examples of drivers: the command set of a W25Q128JV, with
// the first MiB of its array.
//
// It panics if a driver breaks a rule of the chip.

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorKind, ErrorType, Operation, SpiDevice};
use std::cell::RefCell;
use std::rc::Rc;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{Failure, Flash};
use steadyfs::{Access, FileSystem};

#[path = "exercise.rs"]
mod exercise;

const BUSY: u8 = 1;
const WRITE_ENABLED: u8 = 2;

/// The state of the chip.
pub struct Chip {
    pub cells: Vec<u8>,
    status: u8,
    /// Number of polls until the chip is ready.
    pub busy_polls: u32,
    /// Offset of a byte with one bit that no program clears.
    pub stuck_at: Option<usize>,
    pub fails_erases: bool,
    /// True if the chip is stuck: it stays busy and takes no command, until a test clears this
    /// field.
    pub hangs: bool,
    /// Number of the next write enables that do not reach the chip.
    pub deaf: u32,
    /// Block protection bits of the status register.
    pub protection: u8,
}

/// The bus of the chip; clones share it. As a delay it does nothing: the chip counts time in
/// polls.
#[derive(Clone)]
pub struct Bus(pub Rc<RefCell<Chip>>);

impl Bus {
    /// Returns a chip that was never written. It is still busy with an erase that began before
    /// the processor's reset.
    pub fn new() -> Self {
        let chip = Chip {
            cells: vec![0xFF; 1 << 20],
            status: 0,
            busy_polls: 100,
            stuck_at: None,
            fails_erases: false,
            hangs: false,
            deaf: 0,
            protection: 0,
        };
        Self(Rc::new(RefCell::new(chip)))
    }
}

impl ErrorType for Bus {
    type Error = ErrorKind;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
        let mut sent = Vec::new();
        let mut is_answered = false;
        for operation in operations {
            match operation {
                Operation::Write(bytes) => sent.extend_from_slice(bytes),
                Operation::Read(bytes) => {
                    assert!(!is_answered, "an operation that the examples do without");
                    is_answered = true;
                    self.0.borrow_mut().answer(&sent, bytes);
                }
                _ => panic!("an operation that the examples do without"),
            }
        }
        if !is_answered {
            self.0.borrow_mut().execute(&sent);
        }
        Ok(())
    }
}

impl DelayNs for Bus {
    fn delay_ns(&mut self, _ns: u32) {}
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

impl Chip {
    fn demand_ready(&self, command: u8) {
        assert!(self.busy_polls == 0, "command {command:#04x} while the chip is busy");
    }

    fn answer(&mut self, sent: &[u8], bytes: &mut [u8]) {
        if sent == [0x05] {
            self.busy_polls = self.busy_polls.saturating_sub(1);
            let busy = if self.hangs || self.busy_polls > 0 { BUSY } else { 0 };
            return bytes.fill(self.status | self.protection | busy);
        }
        self.demand_ready(sent[0]);
        if self.hangs {
            return bytes.fill(0xFF);
        }
        match *sent {
            [0x9F] => bytes.copy_from_slice(&[0xEF, 0x40, 0x18]),
            [0x0B, a, b, c, _] => {
                bytes.copy_from_slice(&self.cells[number(&[a, b, c])..][..bytes.len()])
            }
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }

    fn execute(&mut self, sent: &[u8]) {
        self.demand_ready(sent[0]);
        if self.hangs {
            return;
        }
        match *sent {
            [0x06] if self.deaf > 0 => self.deaf -= 1,
            [0x06] => self.status |= WRITE_ENABLED,
            [0x02, a, b, c, ref data @ ..] => {
                let start = number(&[a, b, c]);
                assert!(
                    !data.is_empty() && start % 256 + data.len() <= 256,
                    "{} bytes at {start:#x}: not in one program page",
                    data.len()
                );
                self.change(7, |chip| {
                    for (address, byte) in (start..).zip(data) {
                        let stuck = if chip.stuck_at == Some(address) { 1 } else { 0 };
                        chip.cells[address] &= byte | stuck;
                    }
                });
            }
            [0x20, a, b, c] => {
                let start = number(&[a, b, c]);
                assert!(start % 4096 == 0, "an erase takes the first byte of a sector");
                self.change(450, |chip| {
                    chip.cells[start..][..4096].fill(if chip.fails_erases { 0xFE } else { 0xFF })
                });
            }
            _ => panic!("the chip does not know {sent:02x?}"),
        }
    }

    /// Starts a program or an erase. It does nothing if the chip is locked.
    fn change(&mut self, polls: u32, act: impl FnOnce(&mut Self)) {
        if self.status & WRITE_ENABLED == 0 {
            return;
        }
        self.status = 0;
        if self.protection == 0 {
            self.busy_polls = polls;
            act(self);
        }
    }
}

/// Checks that a driver obeys the contract of `NorFlash`, in blocks that no volume uses any more.
pub fn examine(bus: &Bus, chip: &mut impl NorFlash) -> Result<(), Failure> {
    let address = 250 * 4096;
    chip.erase(250)?;
    chip.program(address + 250, b"two pages")?;
    let mut found = [0; 11];
    chip.read(address + 249, &mut found)?;
    assert_eq!(&found, b"\xFFtwo pages\xFF");
    chip.program(address + 250, &[0xFF, 0])?;
    chip.read(address + 249, &mut found)?;
    assert_eq!(&found, b"\xFFt\0o pages\xFF", "ones change nothing");

    bus.0.borrow_mut().stuck_at = Some(250 * 4096 + 1000);
    assert_eq!(chip.program(address + 512, &[0; 1000]), Err(Failure::BadBlock));
    bus.0.borrow_mut().stuck_at = None;
    bus.0.borrow_mut().fails_erases = true;
    assert_eq!(chip.erase(250), Err(Failure::BadBlock));
    bus.0.borrow_mut().fails_erases = false;

    bus.0.borrow_mut().protection = 0x1C;
    assert_eq!(chip.erase(250), Err(Failure::WriteProtected));
    assert_eq!(chip.program(address, &[0; 4]), Err(Failure::WriteProtected));
    bus.0.borrow_mut().protection = 0;

    bus.0.borrow_mut().deaf = 2;
    assert_eq!(chip.erase(251), Err(Failure::Device));
    assert_eq!(chip.program(address, &[0xFF; 4]), Err(Failure::Device));

    bus.0.borrow_mut().hangs = true;
    assert_eq!(chip.erase(251), Err(Failure::Device));
    assert_eq!(chip.read(address, &mut found), Err(Failure::Device));
    assert_eq!(chip.program(address, &[0; 4]), Err(Failure::Device));
    bus.0.borrow_mut().hangs = false;
    chip.erase(250)?;
    chip.program(address, &[0; 4])
}

/// Writes until blocks are reclaimed, cuts the power between calls, mounts, and reads everything
/// back.
pub fn exercise(
    bus: &Bus,
    mut flash: impl Flash,
    memory: &mut [u8],
) -> Result<(), Box<dyn std::error::Error>> {
    exercise::records(&mut flash, memory, 900, 800, |round, _| {
        // These cells fail while the volume is in use. Each failure costs a block.
        bus.0.borrow_mut().stuck_at = (round < 2).then_some(100_000 + usize::from(round) * 100_000);
    })?;
    bus.0.borrow_mut().stuck_at = None;
    let fs = FileSystem::mount(&mut flash, Access::ReadOnly, memory)?;
    assert!(fs.health().bad_blocks > 0, "a cell that failed was never used");
    Ok(())
}
