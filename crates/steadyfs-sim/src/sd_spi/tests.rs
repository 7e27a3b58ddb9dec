//! A host that sends bytes by hand, and breaks each rule.

use super::*;

/// A card, and a host that can start it.
struct Host {
    card: SdSim,
    bus: SdBus,
    select: SdSelect,
}

impl Host {
    fn new(profile: SdProfile) -> Self {
        let card = SdSim::new(profile);
        Self { bus: card.bus(), select: card.select(), card }
    }

    /// Makes a host whose card is ready, verifies checksums, and is selected. The clock is 20
    /// MHz.
    fn ready_with(profile: SdProfile) -> Self {
        let mut host = Self::new(profile);
        host.bus.write(&[0xFF; 10]).unwrap();
        host.select.set_low().unwrap();
        assert_eq!(host.command(0, 0), 1);
        if profile.kind != SdKind::Version1 {
            assert_eq!(host.command(8, 0x1AA), 1);
            assert_eq!(host.bytes(4), [0, 0, 1, 0xAA]);
        }
        assert_eq!(host.command(59, 1), 1);
        for left in (0..profile.starts).rev() {
            assert_eq!(host.command(55, 0), 1);
            assert_eq!(host.command(41, 1 << 30), u8::from(left > 0));
        }
        host.bus.set_hz(20_000_000);
        host
    }

    fn ready() -> Self {
        Self::ready_with(SdProfile { starts: 1, ..SdProfile::small() })
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0xFF; count];
        self.bus.transfer_in_place(&mut bytes).unwrap();
        bytes
    }

    /// Sends a command without a gap before it.
    fn frame(&mut self, index: u8, argument: u32) {
        let [a, b, c, d] = argument.to_be_bytes();
        let mut frame = [0x40 | index, a, b, c, d, 0];
        frame[5] = words::crc7(&frame[..5]) << 1 | 1;
        self.bus.write(&frame).unwrap();
    }

    /// Returns the next byte that is not 0xFF.
    fn next(&mut self) -> u8 {
        std::iter::repeat_with(|| self.bytes(1)[0])
            .take(20_000)
            .find(|byte| *byte != 0xFF)
            .expect("an answer")
    }

    fn command(&mut self, index: u8, argument: u32) -> u8 {
        self.bytes(1);
        self.frame(index, argument);
        self.next()
    }

    fn block(&mut self, token: u8, data: &[u8; 512]) -> u8 {
        self.bytes(1);
        self.bus.write(&[token]).unwrap();
        self.bus.write(data).unwrap();
        self.bus.write(&words::crc16(data).to_be_bytes()).unwrap();
        self.bytes(1)[0] & 0x1F
    }

    fn wait(&mut self) {
        while self.bytes(1) != [0xFF] {}
    }

    fn read(&mut self, sector: u32) -> Vec<u8> {
        assert_eq!(self.command(17, sector), 0);
        assert_eq!(self.next(), 0xFE);
        let block = self.bytes(514);
        assert_eq!(words::crc16(&block), 0); // of data with its own sum
        block[..512].to_vec()
    }
}

#[test]
fn sums_are_those_of_the_specification() {
    assert_eq!(
        [&[0x40, 0, 0, 0, 0], &[0x51, 0, 0, 0, 0]].map(|command| words::crc7(command)),
        [0x4A, 0x2A]
    );
    assert_eq!(words::crc16(&[0xFF; 512]), 0x7FA1);
}

#[test]
fn what_is_written_is_read() {
    let mut host = Host::ready();
    assert_eq!(host.command(24, 5), 0);
    assert_eq!(host.block(0xFE, &[7; 512]), 5);
    assert_eq!(host.bytes(1), [0]); // busy
    host.wait();
    assert_eq!(host.read(5), [7; 512]);
    assert_eq!(host.card.sector(5), Some([7; 512]));
}

#[test]
fn bytes_and_busy_times_take_their_time() {
    let mut host = Host::ready();
    let begin = host.card.now_ns();
    host.bytes(100);
    assert_eq!(host.card.now_ns() - begin, 100 * 400);
    host.card.set_durations(|work| if work == SdWork::Write(5) { 50_000 } else { 0 });
    host.command(24, 5);
    host.block(0xFE, &[7; 512]);
    let begin = host.card.now_ns();
    host.wait();
    assert!((50_000..51_000).contains(&(host.card.now_ns() - begin)));
}

#[test]
fn arguments_that_are_wrong_are_answered_and_change_nothing() {
    let mut host =
        Host::ready_with(SdProfile { kind: SdKind::Standard, starts: 1, ..SdProfile::small() });
    assert_eq!(host.command(17, 100), 0x20); // no whole sector
    assert_eq!(host.command(17, 8192 * 512), 0x40);
    assert_eq!(host.command(16, 1024), 0x40);
    assert_eq!(host.command(38, 0), 0x10); // out of order
    assert_eq!(host.command(12, 0), 0x01); // the byte without a meaning
    assert_eq!(host.next(), 0x04);
    assert_eq!(host.command(7, 0), 0x04);
}

#[test]
fn announced_sectors_hold_anything_until_they_are_written() {
    let mut host = Host::ready();
    host.command(55, 0);
    host.command(23, 4);
    host.command(25, 10);
    host.block(0xFC, &[1; 512]);
    host.wait();
    host.bus.write(&[0xFD, 0xFF]).unwrap();
    host.wait();
    assert_eq!(host.card.sector(10), Some([1; 512]));
    assert!((11..14).all(|sector| host.card.sector(sector) != Some([0; 512])));
    assert_eq!(host.card.sector(14), Some([0; 512]));
}

#[test]
fn a_cut_leaves_what_was_programmed_and_tears_the_rest() {
    let (mut held, mut torn) = (0, 0);
    for seed in 0..100 {
        let mut host =
            Host::ready_with(SdProfile { starts: 1, buffer_sectors: 3, ..SdProfile::small() });
        host.command(25, 0);
        for version in 1..=8 {
            assert_eq!(host.block(0xFC, &[version; 512]), 5);
            host.wait();
        }
        let copy = host.card.snapshot();
        host.card.cut_power_after(0);
        host.bytes(1);
        assert!(!host.card.is_powered() && copy.is_powered());
        host.card.power_on(seed);
        assert!((0..5).all(|sector| host.card.sector(sector) == Some([sector as u8 + 1; 512])));
        held += (5..8)
            .filter(|sector| host.card.sector(*sector) == Some([*sector as u8 + 1; 512]))
            .count();
        torn += (5..8).filter(|sector| host.card.sector(*sector).is_none()).count();
        // The card has lost its state.
        assert_eq!(host.bytes(20), [0xFF; 20]);
    }
    assert!((30..150).contains(&held) && (30..150).contains(&torn), "{held} {torn}");
}

#[test]
fn nobody_answers_from_an_empty_slot() {
    let mut host = Host::ready();
    host.card.remove();
    host.frame(13, 0);
    assert_eq!(host.bytes(100), [0xFF; 100]);
}

#[test]
#[should_panic(expected = "not 74 (6.4.1)")]
fn too_few_clocks_at_power_on_are_told() {
    let mut host = Host::new(SdProfile::small());
    host.bus.write(&[0xFF; 9]).unwrap();
    host.select.set_low().unwrap();
    host.command(0, 0);
}

#[test]
#[should_panic(expected = "where 400000 are allowed")]
fn a_fast_clock_before_the_start_is_told() {
    let mut host = Host::new(SdProfile::small());
    host.bus.set_hz(1_000_000);
    host.bus.write(&[0xFF; 10]).unwrap();
    host.select.set_low().unwrap();
    host.command(0, 0);
}

#[test]
#[should_panic(expected = "CMD13 with a bad checksum")]
fn a_bad_checksum_of_a_command_is_told() {
    let mut host = Host::ready();
    host.bytes(1);
    host.bus.write(&[0x4D, 0, 0, 0, 0, 1]).unwrap();
}

#[test]
#[should_panic(expected = "CMD13 without eight clocks since the last answer")]
fn no_room_behind_an_answer_is_told() {
    let mut host = Host::ready();
    assert_eq!(host.command(16, 512), 0);
    host.frame(13, 0);
}

#[test]
#[should_panic(expected = "CMD13 before the card has said all")]
fn an_answer_that_is_not_read_is_told() {
    let mut host = Host::ready();
    host.command(58, 0); // four more bytes follow
    host.frame(13, 0);
}

#[test]
#[should_panic(expected = "CMD13 to a busy card")]
fn a_command_to_a_busy_card_is_told() {
    let mut host = Host::ready();
    host.command(24, 5);
    host.block(0xFE, &[7; 512]);
    host.bytes(1);
    host.frame(13, 0);
}

#[test]
#[should_panic(expected = "the token 0xfc to a busy card")]
fn a_sector_for_a_busy_card_is_told() {
    let mut host = Host::ready();
    host.command(25, 5);
    host.block(0xFC, &[7; 512]);
    host.block(0xFC, &[7; 512]);
}

#[test]
#[should_panic(expected = "the byte 0x07 in place of a token")]
fn data_without_a_token_is_told() {
    let mut host = Host::ready();
    host.command(25, 5);
    host.bytes(1);
    host.bus.write(&[7]).unwrap();
}

#[test]
#[should_panic(expected = "the token 0xfe without eight clocks")]
fn no_room_before_a_token_is_told() {
    let mut host = Host::ready();
    host.command(24, 5);
    host.bus.write(&[0xFE]).unwrap();
}

#[test]
#[should_panic(expected = "let go in the middle of a sector")]
fn letting_go_in_a_sector_is_told() {
    let mut host = Host::ready();
    host.command(24, 5);
    host.bytes(1);
    host.bus.write(&[0xFE, 1, 2, 3]).unwrap();
    host.select.set_high().unwrap();
}

#[test]
#[should_panic(expected = "in a multi-block read that was not stopped")]
fn letting_go_in_a_read_is_told() {
    let mut host = Host::ready();
    host.command(18, 5);
    host.select.set_high().unwrap();
}

#[test]
#[should_panic(expected = "CMD13 in the middle of a read")]
fn another_command_in_a_read_is_told() {
    let mut host = Host::ready();
    host.command(18, 5);
    host.command(13, 0);
}

#[test]
#[should_panic(expected = "CMD13 in the middle of a write")]
fn another_command_in_a_write_is_told() {
    let mut host = Host::ready();
    host.command(25, 5);
    host.command(13, 0);
}

#[test]
#[should_panic(expected = "without eight clocks since the card was let go")]
fn no_clocks_behind_letting_go_are_told() {
    let mut host = Host::ready();
    host.select.set_high().unwrap();
    host.select.set_low().unwrap();
}

#[test]
#[should_panic(expected = "neither a command nor ones")]
fn zeros_while_the_card_speaks_are_told() {
    let mut host = Host::ready();
    host.bytes(1);
    host.frame(17, 0);
    host.bus.read(&mut [0; 8]).unwrap(); // this bus sends zeros meanwhile
}
