//! Runs the drivers on chips that answer anything: stuck busy, wrong identifications, flipped
//! bits, no answer, buses that fail. Every call must return a result within its deadline, without
//! a panic.
//!
//! Time is the sum of the drivers' delays. A driver that polls a chip without end would not use
//! such time, so the test also limits the number of transactions. `STEADYFS_FUZZ_RUNS` sets the
//! number of runs. A failing run prints its seed.

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorKind, ErrorType, Operation, SpiDevice};
use std::cell::RefCell;
use std::rc::Rc;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{Flash, TAG_BYTES};
use steadyfs_drivers::{nand, nor};
use steadyfs_sim::nand_spi::{NandSim, NandSpi, NandSpiProfile};
use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};

/// The behaviour of the chip for some transactions.
#[derive(Clone, Copy, Debug)]
enum Mood {
    /// The chip answers correctly, but each byte is damaged with this probability, in 1/1,000.
    Well(u16),
    /// The chip stays busy.
    Busy,
    /// Nothing drives the line: every byte of an answer has this value.
    Silent(u8),
    /// The chip answers with random bytes.
    Anything,
    /// The bus reports an error in half of the transactions.
    BusFails,
}

/// A chip that accepts everything and answers according to its mood.
struct Liar {
    rng: fastrand::Rng,
    mood: Mood,
    /// Number of transactions until the mood changes.
    transactions_left: u32,
    id: [u8; 3],
    parameters: Vec<u8>,
    is_nand: bool,
    is_enabled: bool,
    is_otp: bool,
    polls_left: u32,
    delayed_ns: u64,
    looks: u64,
}

#[derive(Clone)]
struct Bus(Rc<RefCell<Liar>>);

impl Liar {
    fn change_mood(&mut self) {
        self.transactions_left = self.rng.u32(1..60);
        self.mood = match self.rng.u8(..12) {
            0..=4 => Mood::Well(0),
            5 => Mood::Well(self.rng.u16(1..400)),
            6 => Mood::Busy,
            7 => Mood::Silent(0xFF),
            8 => Mood::Silent(0),
            9 => Mood::BusFails,
            _ => Mood::Anything,
        };
    }

    fn status(&mut self) -> u8 {
        self.polls_left = self.polls_left.saturating_sub(1);
        let enabled = if self.is_enabled { 2 } else { 0 };
        let errors = if self.rng.u8(..16) == 0 { self.rng.u8(..) & 0xFC } else { 0 };
        enabled | errors | u8::from(self.polls_left > 0)
    }

    fn answer(&mut self, sent: &[u8], bytes: &mut [u8]) {
        match (sent[0], self.mood) {
            (_, Mood::Silent(byte)) => bytes.fill(byte),
            (_, Mood::Anything) => bytes.iter_mut().for_each(|byte| *byte = self.rng.u8(..)),
            (0x05 | 0x0F, Mood::Busy) => bytes.fill(0x03),
            (0x05, _) => bytes.fill(self.status()),
            (0x0F, _) if sent.get(1) == Some(&0xB0) => bytes.fill(0x10),
            (0x0F, _) => bytes.fill(self.status()),
            (0x9F, _) => bytes.iter_mut().zip(self.id).for_each(|(byte, id)| *byte = id),
            (0x5A, _) => self.give(usize::from(sent[3]), bytes),
            (0x03, _) if self.is_otp => {
                self.give(usize::from(sent[1]) << 8 | usize::from(sent[2]), bytes)
            }
            _ => bytes.fill(0xFF),
        }
        if let Mood::Well(damaged @ 1..) = self.mood {
            for byte in bytes {
                if self.rng.u16(..1000) < damaged {
                    *byte ^= 1 << self.rng.u8(..8);
                }
            }
        }
    }

    fn give(&self, from: usize, bytes: &mut [u8]) {
        let known = self.parameters.get(from..).unwrap_or(&[]);
        bytes.fill(0xFF);
        bytes.iter_mut().zip(known).for_each(|(byte, known)| *byte = *known);
    }

    fn execute(&mut self, sent: &[u8]) {
        match *sent {
            [0x06] => self.is_enabled = true,
            [0x1F, 0xB0, value] => self.is_otp = value & 0x40 != 0,
            [0x02 | 0x84, ..] if self.is_nand => {}
            [0x13, ..] => self.polls_left = self.rng.u32(..6),
            _ => (self.is_enabled, self.polls_left) = (false, self.rng.u32(..6)),
        }
    }
}

impl ErrorType for Bus {
    type Error = ErrorKind;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
        let mut liar = self.0.borrow_mut();
        liar.looks += 1;
        liar.transactions_left -= 1;
        if liar.transactions_left == 0 {
            liar.change_mood();
        }
        // A stuck chip stays stuck for at least one call.
        if matches!(liar.mood, Mood::Busy) {
            liar.transactions_left = liar.transactions_left.max(2);
            if liar.rng.u16(..4000) == 0 {
                liar.change_mood();
            }
        }
        if matches!(liar.mood, Mood::BusFails) && liar.rng.bool() {
            return Err(ErrorKind::Other);
        }
        let mut sent = Vec::new();
        for operation in operations.iter_mut() {
            match operation {
                Operation::Write(bytes) => sent.extend_from_slice(&bytes[..bytes.len().min(8)]),
                Operation::Read(bytes) => {
                    liar.answer(&sent, bytes);
                    return Ok(());
                }
                _ => unreachable!("the drivers do without"),
            }
        }
        liar.execute(&sent[..sent.len().min(4)]);
        Ok(())
    }
}

impl DelayNs for Bus {
    fn delay_ns(&mut self, ns: u32) {
        self.0.borrow_mut().delayed_ns += u64::from(ns);
    }
}

impl Bus {
    fn new(seed: u64, id: [u8; 3], parameters: &[u8], is_nand: bool) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        // Half of the chips begin with correct answers.
        let transactions_left = if rng.bool() { rng.u32(8..40) } else { 1 };
        let parameters = parameters.to_vec();
        let liar = Liar {
            rng,
            mood: Mood::Well(0),
            transactions_left,
            id,
            parameters,
            is_nand,
            is_enabled: false,
            is_otp: false,
            polls_left: 0,
            delayed_ns: 0,
            looks: 0,
        };
        Self(Rc::new(RefCell::new(liar)))
    }

    /// Runs the work, and checks that its delays stay within the limit and that it makes at most
    /// 1,000,000 transactions.
    fn within<T>(&self, limit_ns: u64, work: impl FnOnce() -> T) -> T {
        let before = (self.0.borrow().delayed_ns, self.0.borrow().looks);
        let result = work();
        let liar = self.0.borrow();
        let (delayed_ns, looks) = (liar.delayed_ns - before.0, liar.looks - before.1);
        assert!(delayed_ns <= limit_ns, "{delayed_ns} of {limit_ns} ns");
        assert!(looks <= 1_000_000, "{looks} looks");
        result
    }

    fn draw(&self, limit: u32) -> u32 {
        self.0.borrow_mut().rng.u32(..limit)
    }
}

fn runs(usual: u64) -> u64 {
    std::env::var("STEADYFS_FUZZ_RUNS")
        .map_or(usual, |runs| runs.parse().expect("a number of runs"))
}

/// Prints the number of the run if the test panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("run {} failed", self.0);
        }
    }
}

/// Returns the parameter table that a simulated chip sends.
fn nor_parameters() -> Vec<u8> {
    let mut sim = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv()));
    let mut parameters = vec![0; 112];
    sim.transaction(&mut [Operation::Write(&[0x5A, 0, 0, 0, 0]), Operation::Read(&mut parameters)])
        .unwrap();
    parameters
}

fn nand_parameters() -> Vec<u8> {
    let mut sim = NandSim::new(NandSpi::new(NandSpiProfile::mt29f1g01()));
    sim.write(&[0x1F, 0xB0, 0x50]).unwrap();
    sim.write(&[0x13, 0, 0, 1]).unwrap();
    sim.delay_us(100);
    let mut parameters = vec![0; 768];
    sim.transaction(&mut [Operation::Write(&[0x03, 0, 0, 0]), Operation::Read(&mut parameters)])
        .unwrap();
    parameters
}

#[test]
fn spi_nor_ends_every_call_in_time_whatever_the_chip_answers() {
    let parameters = nor_parameters();
    let (mut started, mut succeeded) = (0u64, 0u64);
    let runs = runs(20_000);
    for seed in 0..runs {
        let _seed = Seed(seed);
        let id = [[0xEF, 0x40, 0x18], [0xC2, 0x20, 0x18], [0x20, 0xBA, 0x18], [0x01, 0x20, 0x18]]
            [seed as usize % 4];
        let bus = Bus::new(seed, id, &parameters, false);
        let settings = nor::Settings {
            bus_hz: 1_000_000_000,
            unlock: seed % 3 == 0,
            ..nor::Settings::DEFAULT
        };
        let Ok(mut chip) =
            bus.within(10_000_000_000, || nor::NorChip::start(bus.clone(), bus.clone(), settings))
        else {
            continue;
        };
        started += 1;
        // Damaged parameters may describe an erase of minutes, an erase block of megabytes, and
        // pages of any size.
        let mut data = [0; 600];
        for _ in 0..6 {
            let address = bus.draw(chip.block_count() * chip.block_bytes());
            let bytes = 1 + bus.draw(600) as usize;
            let (read_ns, program_ns, erase_ns) = chip.times_ns(2048 + chip.info().page_bytes);
            let result = match bus.draw(3) {
                0 => bus.within(2 * read_ns, || chip.read(address, &mut data[..bytes])),
                1 => bus.within(2 * program_ns, || chip.program(address, &data[..bytes])),
                _ if chip.block_bytes() > 65536 => continue,
                _ => bus.within(2 * erase_ns, || chip.erase(address / chip.block_bytes())),
            };
            succeeded += u64::from(result.is_ok());
        }
    }
    assert!(
        started > runs / 4 && succeeded > runs / 4,
        "{started} started, {succeeded} calls succeeded in {runs}"
    );
}

#[test]
fn spi_nand_ends_every_call_in_time_whatever_the_chip_answers() {
    let parameters = nand_parameters();
    let (mut started, mut succeeded) = (0u64, 0u64);
    let runs = runs(20_000);
    for seed in 0..runs {
        let _seed = Seed(seed);
        let known = nand::NandInfo::CHIPS[seed as usize % nand::NandInfo::CHIPS.len()];
        let given = if seed % 2 == 0 { &parameters[..] } else { &[] };
        let bus = Bus::new(seed, known.id, given, true);
        let settings = nand::Settings { bus_hz: 1_000_000_000, ..nand::Settings::DEFAULT };
        let Ok(mut chip) =
            bus.within(50_000_000, || nand::NandChip::start(bus.clone(), bus.clone(), settings))
        else {
            continue;
        };
        started += 1;
        let (mut data, mut tag) = ([0; 2048], [0; TAG_BYTES]);
        for _ in 0..6 {
            let timing = chip.timing();
            let block = bus.draw(chip.geometry().block_count);
            let page = block * 64 + bus.draw(64);
            let result = match bus.draw(7) {
                0 => bus.within(2 * timing.read_ns, || chip.read(page, &mut data, &mut tag)),
                1 => bus.within(2 * timing.read_tag_ns, || chip.read_tag(page, &mut tag)),
                2 => bus.within(2 * timing.program_ns, || chip.program(page, &data, &tag)),
                3 => bus.within(2 * timing.copy_ns, || {
                    chip.read_tag(page, &mut tag).and_then(|()| chip.program_loaded(page + 1, &tag))
                }),
                4 => bus.within(2 * timing.erase_ns, || chip.erase(block)),
                5 => bus.within(2 * timing.read_tag_ns, || chip.is_bad(block).map(|_| ())),
                _ => bus.within(2 * (timing.erase_ns + timing.program_ns), || chip.mark_bad(block)),
            };
            let corrected = chip.corrected();
            assert!(corrected.bits <= corrected.strength);
            succeeded += u64::from(result.is_ok());
        }
    }
    assert!(
        started > runs / 4 && succeeded > runs / 4,
        "{started} started, {succeeded} calls succeeded in {runs}"
    );
}
