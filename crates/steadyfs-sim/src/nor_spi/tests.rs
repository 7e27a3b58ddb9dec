use super::*;
use crate::fault::Torn;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};
use steadyfs::media::nor::NorFlash;

fn sim() -> NorSim {
    NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv().with_bytes(1 << 20)))
}

fn read<const N: usize>(wire: &mut NorSim, command: &[u8]) -> [u8; N] {
    let mut data = [0; N];
    wire.transaction(&mut [Operation::Write(command), Operation::Read(&mut data)]).unwrap();
    data
}

#[test]
fn a_program_needs_a_write_enable_and_takes_its_time() {
    let mut wire = sim();
    wire.write(&[0x02, 0, 0, 0, 0x55]).unwrap();
    assert_eq!(read(&mut wire, &[0x0B, 0, 0, 0, 0]), [0xFF], "nothing was enabled");
    wire.write(&[0x06]).unwrap();
    assert_eq!(read(&mut wire, &[0x05]), [2]);
    wire.write(&[0x02, 0, 0, 0, 0x55]).unwrap();
    assert_eq!(read(&mut wire, &[0x05]), [1], "busy, and not enabled any more");
    wire.delay_us(700);
    assert_eq!(read(&mut wire, &[0x05]), [0]);
    assert_eq!(read(&mut wire, &[0x0B, 0, 0, 0, 0]), [0x55, 0xFF]);
}

#[test]
#[should_panic(expected = "command 0x0b while the chip is busy")]
fn a_read_of_a_busy_chip_panics() {
    let mut wire = sim();
    wire.write(&[0x06]).unwrap();
    wire.write(&[0x20, 0, 0x10, 0]).unwrap();
    read::<1>(&mut wire, &[0x0B, 0, 0, 0, 0]);
}

#[test]
#[should_panic(expected = "runs over its page")]
fn a_program_over_the_end_of_a_page_panics() {
    let mut wire = sim();
    wire.write(&[0x06]).unwrap();
    wire.write(&[0x02, 0, 0, 0xFF, 1, 2]).unwrap();
}

#[test]
#[should_panic(expected = "the chip does not know [c7]")]
fn an_unknown_command_panics() {
    sim().write(&[0xC7]).unwrap();
}

#[test]
fn a_cut_leaves_the_chip_silent_and_the_operation_torn() {
    let mut wire = sim();
    wire.chip().cut_at(1, Some(Torn::New));
    wire.write(&[0x06]).unwrap();
    wire.write(&[0x02, 0, 0, 0, 0x55]).unwrap();
    assert!(wire.chip().is_off());
    assert_eq!(read(&mut wire, &[0x05]), [0xFF]);
    wire.chip().power_on(1);
    assert_eq!(read(&mut wire, &[0x0B, 0, 0, 0, 0]), [0x55]);
    assert_eq!(wire.chip().operations(), 1);
    assert_eq!(wire.chip().nor().block_count(), 256);
}

#[test]
fn a_snapshot_goes_its_own_way() {
    let wire = sim();
    let other = wire.snapshot();
    wire.chip().nor().program(0, &[0]).unwrap();
    let mut found = [0];
    other.chip().nor().read(0, &mut found).unwrap();
    assert_eq!(found, [0xFF]);
}
