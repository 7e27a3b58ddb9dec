use super::*;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};

fn sim() -> NandSim {
    let mut wire = NandSim::new(NandSpi::new(NandSpiProfile::mt29f1g01().with_blocks(16)));
    wire.write(&[0x1F, 0xA0, 0]).unwrap();
    wire
}

fn read<const N: usize>(wire: &mut NandSim, command: &[u8]) -> [u8; N] {
    let mut data = [0; N];
    wire.transaction(&mut [Operation::Write(command), Operation::Read(&mut data)]).unwrap();
    data
}

#[test]
fn a_page_is_programmed_from_the_buffer_and_loaded_into_it() {
    let mut wire = sim();
    wire.write(&[0x06]).unwrap();
    wire.write(&[0x02, 0, 5, 1, 2, 3]).unwrap();
    wire.write(&[0x10, 0, 0, 64]).unwrap();
    assert_eq!(read(&mut wire, &[0x0F, 0xC0]), [1]);
    wire.delay_us(220);
    assert_eq!(read(&mut wire, &[0x0F, 0xC0]), [0]);
    wire.write(&[0x13, 0, 0, 64]).unwrap();
    wire.delay_us(46);
    assert_eq!(read(&mut wire, &[0x03, 0, 4, 0]), [0xFF, 1, 2, 3, 0xFF]);
}

#[test]
fn wrong_bits_are_told_as_the_maker_does() {
    let status = |profile: NandSpiProfile, bits| profile.status(bits);
    let steps = [Some(0), Some(3), Some(6), Some(8), None]
        .map(|bits| status(NandSpiProfile::mt29f1g01(), bits).0 >> 4);
    assert_eq!(steps, [0, 1, 3, 5, 2]);
    assert_eq!(status(NandSpiProfile::gd5f1gq5(), Some(4)), (0x10, 0x30));
    assert_eq!(status(NandSpiProfile::w25n02kv(), Some(7)), (0x30, 0x70));
}

#[test]
#[should_panic(expected = "spare byte Some(8) is not for users, or has no ECC")]
fn a_program_of_a_spare_byte_without_ecc_panics() {
    let mut wire = sim();
    wire.write(&[0x06]).unwrap();
    wire.write(&[0x02, 0x08, 8, 0]).unwrap();
    wire.write(&[0x10, 0, 0, 0]).unwrap();
}

#[test]
#[should_panic(expected = "command 0x13 while the chip is busy")]
fn a_command_to_a_busy_chip_panics() {
    let mut wire = sim();
    wire.write(&[0x13, 0, 0, 0]).unwrap();
    wire.write(&[0x13, 0, 0, 1]).unwrap();
}

#[test]
fn a_locked_chip_fails_and_one_that_was_not_enabled_does_nothing() {
    let mut wire = sim();
    wire.write(&[0xD8, 0, 0, 0]).unwrap();
    assert_eq!(read(&mut wire, &[0x0F, 0xC0]), [0]);
    wire.chip().protect(0x7C);
    wire.write(&[0x06]).unwrap();
    wire.write(&[0xD8, 0, 0, 0]).unwrap();
    assert_eq!(read(&mut wire, &[0x0F, 0xC0]), [4]);
}
