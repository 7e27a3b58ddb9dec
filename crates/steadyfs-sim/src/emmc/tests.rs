//! Tests of the device as a host sees it, and of the effect of its commands on the chip.

use super::*;
use crate::{Nand, NandTiming, PowerCut};
use std::collections::BTreeSet;
use steadyfs::media::{Geometry, TAG_BYTES};
use steadyfs::{Access, Config};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 32, block_count: 64, programs_bytes: false };
const STREAMS_BYTE: u8 = 133;
const FLUSH_BYTE: u8 = 32;
const CACHE_BYTE: u8 = 33;

fn config(streams: u8) -> Config {
    Config { streams, ..Config::for_disk(&GEOMETRY) }
}

fn chip(streams: u8) -> Nand {
    let mut memory = vec![0; config(streams).memory_bytes(&GEOMETRY)];
    Disk::format(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1), &config(streams), &mut memory)
        .unwrap()
}

/// Runs a test with a device on a chip. At its end power is cut, which loses the data that was not
/// flushed. Returns the chip.
fn powered<F: Flash + Clone>(chip: F, test: impl FnOnce(&mut Emmc<'_, F>)) -> F {
    let mut memory = vec![0; config(4).memory_bytes(&GEOMETRY)];
    let mut emmc = Emmc::new(Disk::mount(chip, Access::ReadWrite, &mut memory).unwrap());
    test(&mut emmc);
    emmc.disk().flash().clone()
}

#[track_caller]
fn good(status: Status) -> State {
    assert!(!status.is_error(), "{status:?}");
    status.state()
}

/// Sends a command that does its work after the answer, and requests the result of that work.
#[track_caller]
fn done<F: Flash>(emmc: &mut Emmc<'_, F>, index: u8, argument: u32) {
    good(emmc.command(index, argument));
    good(emmc.command(command::SEND_STATUS, 0));
}

/// Returns the answer of the command, and the answer after its work.
fn both<F: Flash>(emmc: &mut Emmc<'_, F>, index: u8, argument: u32) -> [Status; 2] {
    [emmc.command(index, argument), emmc.command(command::SEND_STATUS, 0)]
}

#[track_caller]
fn write<F: Flash>(emmc: &mut Emmc<'_, F>, sector: u32, byte: u8, count: BlockCount) -> Status {
    good(emmc.command(command::SET_BLOCK_COUNT, count.emit()));
    good(emmc.command(command::WRITE_MULTIPLE_BLOCK, sector));
    emmc.send(&vec![byte; usize::from(count.blocks) * BLOCK_BYTES])
}

#[track_caller]
fn read<F: Flash>(emmc: &mut Emmc<'_, F>, sector: u32) -> [u8; BLOCK_BYTES] {
    let mut data = [0xEE; BLOCK_BYTES];
    assert_eq!(good(emmc.command(command::READ_SINGLE_BLOCK, sector)), State::SendData);
    assert_eq!(good(emmc.receive(&mut data)), State::Transfer);
    data
}

fn register<F: Flash>(emmc: &mut Emmc<'_, F>) -> [u8; EXT_CSD_BYTES] {
    let mut bytes = [0xEE; EXT_CSD_BYTES];
    assert_eq!(good(emmc.command(command::SEND_EXT_CSD, 0)), State::SendData);
    assert_eq!(good(emmc.receive(&mut bytes)), State::Transfer);
    bytes
}

fn of(context: u8) -> BlockCount {
    BlockCount { blocks: 8, context, ..BlockCount::default() }
}

/// Returns the blocks of the chip that hold pages of this byte only.
fn blocks_of(chip: &mut Nand, byte: u8) -> BTreeSet<u32> {
    let (mut data, mut tag) = ([0; 512], [0; TAG_BYTES]);
    let pages = 0..GEOMETRY.pages_per_block * GEOMETRY.block_count;
    pages
        .filter(|&page| chip.read(page, &mut data, &mut tag).is_ok() && data == [byte; 512])
        .map(|page| page / 32)
        .collect()
}

/// Writes with each of `numbers` in turn. Returns the blocks that hold the data of each number.
fn blocks_of_numbers(
    streams: u8,
    numbers: &[u8],
    prepare: impl FnOnce(&mut Emmc<'_, Nand>),
) -> Vec<BTreeSet<u32>> {
    let mut chip = powered(chip(streams), |emmc| {
        prepare(emmc);
        for turn in 0..6 {
            for (at, &number) in (0..).zip(numbers) {
                good(write(emmc, (turn * 16 + at) * 8, 0x40 + number, of(number)));
            }
        }
    });
    numbers.iter().map(|number| blocks_of(&mut chip, 0x40 + number)).collect()
}

#[test]
fn data_of_different_streams_lies_in_different_blocks() {
    let blocks = blocks_of_numbers(4, &[0, 1, 2, 3], |_| ());
    for (at, one) in blocks.iter().enumerate() {
        assert!(!one.is_empty());
        assert!(blocks[at + 1..].iter().all(|other| one.is_disjoint(other)), "{blocks:?}");
    }
}

#[test]
fn a_number_that_the_disk_does_not_have_is_its_last_stream() {
    let blocks = blocks_of_numbers(3, &[1, 2, 3, 15], |_| ());
    assert!(blocks[0].is_disjoint(&blocks[1]));
    assert!(!blocks[1].is_disjoint(&blocks[2]) && !blocks[1].is_disjoint(&blocks[3]), "{blocks:?}");
}

#[test]
fn contexts_choose_no_stream_and_must_be_open() {
    let prepare = |emmc: &mut Emmc<'_, Nand>| {
        done(emmc, command::SWITCH, switch(STREAMS_BYTE, 0));
        assert_eq!(register(emmc)[usize::from(STREAMS_BYTE)], 0);
        good(emmc.command(command::SET_BLOCK_COUNT, of(1).emit()));
        assert!(
            emmc.command(command::WRITE_MULTIPLE_BLOCK, 0).has(Status::ERROR),
            "context 1 is closed"
        );
        (37..=39).for_each(|index| done(emmc, command::SWITCH, switch(index, 3)));
        done(emmc, command::SWITCH, switch(51, 2));
        good(emmc.command(command::SET_BLOCK_COUNT, of(15).emit()));
        assert!(
            emmc.command(command::WRITE_MULTIPLE_BLOCK, 0).has(Status::ERROR),
            "context 15 only reads"
        );
        good(emmc.command(command::SET_BLOCK_COUNT, of(15).emit()));
        good(emmc.command(command::READ_MULTIPLE_BLOCK, 0));
        good(emmc.command(command::STOP_TRANSMISSION, 0));
    };
    let blocks = blocks_of_numbers(4, &[1, 2, 3], prepare);
    assert!(blocks.windows(2).all(|two| !two[0].is_disjoint(&two[1])), "{blocks:?}");
}

#[test]
fn the_register_tells_size_and_streams() {
    for streams in [1, 4] {
        powered(chip(streams), |emmc| {
            let bytes = register(emmc);
            assert_eq!(bytes[212..216], emmc.disk().sectors().to_le_bytes());
            assert_eq!(bytes[usize::from(STREAMS_BYTE)], u8::from(streams > 1));
            assert_eq!((bytes[192], bytes[496] & 0xF, bytes[231]), (8, 15, 0x10));
            let answers = both(emmc, command::SWITCH, switch(STREAMS_BYTE, 1));
            assert_eq!(
                answers.map(|status| status.has(Status::SWITCH_ERROR)),
                [false, streams == 1]
            );
        });
    }
}

#[test]
fn a_reliable_write_survives_a_power_cut_and_what_waits_in_the_cache_does_not() {
    let left = powered(chip(4), |emmc| {
        done(emmc, command::SWITCH, switch(CACHE_BYTE, 1));
        good(write(emmc, 0, 1, BlockCount { reliable: true, ..of(3) }));
        good(write(emmc, 16, 2, BlockCount { forced: true, ..of(1) }));
        good(write(emmc, 32, 3, of(2)));
        assert_eq!(read(emmc, 32), [3; BLOCK_BYTES]);
    });
    let left = powered(left, |emmc| {
        assert_eq!([0, 16, 32].map(|sector| read(emmc, sector)[511]), [1, 2, 0]);
        // After the power cut the cache is off again.
        good(write(emmc, 32, 4, of(2)));
    });
    let left = powered(left, |emmc| {
        assert_eq!(read(emmc, 32), [4; BLOCK_BYTES]);
        done(emmc, command::SWITCH, switch(CACHE_BYTE, 1));
        good(write(emmc, 32, 5, of(2)));
        done(emmc, command::SWITCH, switch(FLUSH_BYTE, 1));
        good(write(emmc, 40, 6, of(2)));
        done(emmc, command::SWITCH, switch(CACHE_BYTE, 0));
    });
    powered(left, |emmc| assert_eq!([32, 40].map(|sector| read(emmc, sector)[0]), [5, 6]));
}

#[test]
fn a_reliable_write_is_old_or_new_wherever_power_fails() {
    let reliable = BlockCount { blocks: 1, reliable: true, ..of(2) };
    let begun = powered(PowerCut::new(chip(4), 7), |emmc| {
        assert_eq!(good(write(emmc, 5, 1, reliable)), State::Transfer)
    });
    for cut in 1.. {
        let mut acknowledged = false;
        let mut left = powered(begun.clone(), |emmc| {
            emmc.disk_mut().flash_mut().cut_at(cut);
            acknowledged = !write(emmc, 5, 2, reliable).is_error();
        });
        let was_cut = left.is_off();
        left.cancel();
        left.power_on();
        powered(left, |emmc| {
            let found = read(emmc, 5);
            assert!(
                found == [2; BLOCK_BYTES] || (!acknowledged && found == [1; BLOCK_BYTES]),
                "cut {cut}: {}",
                found[0]
            );
        });
        if !was_cut {
            assert!(cut > 1 && acknowledged);
            break;
        }
    }
}

#[test]
fn transfers_without_a_count_go_on_until_they_are_stopped() {
    powered(chip(4), |emmc| {
        assert_eq!(good(emmc.command(command::WRITE_MULTIPLE_BLOCK, 3)), State::ReceiveData);
        for byte in 1..=20 {
            assert_eq!(good(emmc.send(&[byte; BLOCK_BYTES])), State::ReceiveData);
        }
        assert_eq!(good(emmc.command(command::STOP_TRANSMISSION, 0)), State::Transfer);
        good(emmc.command(command::READ_MULTIPLE_BLOCK, 4));
        let mut data = [0; 19 * BLOCK_BYTES];
        assert_eq!(good(emmc.receive(&mut data)), State::SendData);
        assert!(
            data.chunks(BLOCK_BYTES).zip(2..).all(|(sector, byte)| sector == [byte; BLOCK_BYTES])
        );
        assert_eq!(good(emmc.command(command::STOP_TRANSMISSION, 0)), State::Transfer);
        // A block count of 0 sets no count, but still selects a stream.
        good(emmc.command(
            command::SET_BLOCK_COUNT,
            BlockCount { context: 2, ..BlockCount::default() }.emit(),
        ));
        good(emmc.command(command::WRITE_MULTIPLE_BLOCK, 40));
        assert_eq!(good(emmc.send(&[9; 8 * BLOCK_BYTES])), State::ReceiveData);
        good(emmc.command(command::STOP_TRANSMISSION, 0));
        assert!(matches!(emmc.disk().describe().streams, [None, Some(_), None]));
    });
}

#[test]
fn a_count_is_for_the_next_command_alone() {
    powered(chip(4), |emmc| {
        // A transfer of one sector needs no block count.
        good(emmc.command(command::SET_BLOCK_COUNT, of(1).emit()));
        good(emmc.command(command::WRITE_BLOCK, 0));
        assert_eq!(good(emmc.send(&[1; BLOCK_BYTES])), State::Transfer);
        assert_eq!(emmc.disk().describe().streams, [None; 3]);
        assert_eq!(good(emmc.command(command::READ_MULTIPLE_BLOCK, 0)), State::SendData);
        assert_eq!(
            good(emmc.receive(&mut [0; 9 * BLOCK_BYTES])),
            State::SendData,
            "the count of eight is forgotten"
        );
        good(emmc.command(command::STOP_TRANSMISSION, 0));
        // A request for the status between the two commands changes nothing. A transfer may be
        // stopped before its end.
        good(emmc.command(command::SET_BLOCK_COUNT, of(1).emit()));
        good(emmc.command(command::SEND_STATUS, 0));
        good(emmc.command(command::WRITE_MULTIPLE_BLOCK, 0));
        assert!(emmc.send(&[1; 9 * BLOCK_BYTES]).has(Status::BLOCK_LEN_ERROR));
        assert_eq!(good(emmc.send(&[2; 7 * BLOCK_BYTES])), State::ReceiveData);
        assert_eq!(good(emmc.command(command::STOP_TRANSMISSION, 0)), State::Transfer);
        assert_eq!(read(emmc, 6), [2; BLOCK_BYTES]);
    });
}

#[test]
fn sectors_that_there_are_not_are_refused() {
    powered(chip(4), |emmc| {
        let end = emmc.disk().sectors();
        for index in [17, 18, 24, 25, 35] {
            for sector in [end, u32::MAX] {
                let status = emmc.command(index, sector);
                assert!(
                    status.has(Status::ADDRESS_OUT_OF_RANGE) && status.bits() >> 31 == 1,
                    "CMD{index}: {status:?}"
                );
                assert_eq!(status.state(), State::Transfer);
            }
        }
        good(emmc.command(command::SET_BLOCK_COUNT, of(1).emit()));
        assert!(
            emmc.command(command::WRITE_MULTIPLE_BLOCK, end - 7).has(Status::ADDRESS_OUT_OF_RANGE)
        );
        good(emmc.command(command::ERASE_GROUP_START, end - 1));
        assert!(emmc.command(command::ERASE_GROUP_END, end).has(Status::ADDRESS_OUT_OF_RANGE));
        // A transfer without a block count reaches the end of the disk.
        good(emmc.command(command::WRITE_MULTIPLE_BLOCK, end - 1));
        good(emmc.send(&[1; BLOCK_BYTES]));
        let status = emmc.send(&[2; BLOCK_BYTES]);
        assert!(status.has(Status::ADDRESS_OUT_OF_RANGE) && status.state() == State::ReceiveData);
        good(emmc.command(command::STOP_TRANSMISSION, 0));
        assert_eq!(read(emmc, end - 1), [1; BLOCK_BYTES]);
    });
}

#[test]
fn illegal_sequences_are_refused_and_change_nothing() {
    powered(chip(4), |emmc| {
        for index in [command::STOP_TRANSMISSION, 0, 1, 46, 63, 255] {
            let status = emmc.command(index, 0);
            assert!(
                status.has(Status::ILLEGAL_COMMAND) && status.bits() >> 22 & 1 == 1,
                "CMD{index}"
            );
        }
        good(emmc.command(command::SEND_STATUS, 0));
        assert!(
            emmc.send(&[1; BLOCK_BYTES]).has(Status::ILLEGAL_COMMAND),
            "nobody has announced it"
        );
        assert!(emmc.receive(&mut [1; BLOCK_BYTES]).has(Status::ILLEGAL_COMMAND));

        good(emmc.command(command::WRITE_BLOCK, 7));
        for index in [6, 8, 16, 17, 18, 23, 24, 25, 35, 36, 38] {
            let status = emmc.command(index, 0);
            assert!(
                status.has(Status::ILLEGAL_COMMAND) && status.state() == State::ReceiveData,
                "CMD{index}"
            );
        }
        assert!(emmc.receive(&mut [1; BLOCK_BYTES]).has(Status::ILLEGAL_COMMAND));
        assert!(emmc.send(&[1; 100]).has(Status::BLOCK_LEN_ERROR));
        assert_eq!(good(emmc.send(&[1; BLOCK_BYTES])), State::Transfer);
        assert_eq!(read(emmc, 7), [1; BLOCK_BYTES]);

        assert!(emmc.command(command::SET_BLOCKLEN, 1024).has(Status::BLOCK_LEN_ERROR));
        good(emmc.command(command::SET_BLOCKLEN, 512));
        assert!(emmc.command(command::SET_BLOCK_COUNT, 1 << 30 | 8).has(Status::ERROR), "packed");
        good(emmc.command(command::SEND_EXT_CSD, 0));
        assert!(emmc.receive(&mut [0; 511]).has(Status::BLOCK_LEN_ERROR));
        good(emmc.command(command::STOP_TRANSMISSION, 0));
    });
}

#[test]
fn bytes_and_values_that_cannot_be_set_are_told_after_the_answer() {
    powered(chip(4), |emmc| {
        let settings = [
            switch(212, 1),
            switch(CACHE_BYTE, 2),
            switch(52, 1),
            switch(36, 1),
            switch(37, 4),
            switch(STREAMS_BYTE, 2),
        ];
        for argument in settings.into_iter().chain([0]) {
            let [answer, after] = both(emmc, command::SWITCH, argument);
            assert!(!answer.is_error() && after.has(Status::SWITCH_ERROR), "{argument:#x}");
            good(emmc.command(command::SEND_STATUS, 0));
        }
        // An error of an earlier command does not prevent the work of the next one.
        good(emmc.command(command::SWITCH, switch(0, 1)));
        assert!(emmc.command(command::SWITCH, switch(CACHE_BYTE, 1)).has(Status::SWITCH_ERROR));
        assert_eq!(register(emmc)[usize::from(CACHE_BYTE)], 1);
        // Bits may also be cleared and set.
        done(emmc, command::SWITCH, 2 << 24 | u32::from(CACHE_BYTE) << 16 | 0xFF << 8);
        done(emmc, command::SWITCH, 1 << 24 | 38 << 16 | 0x41 << 8);
        let bytes = register(emmc);
        assert_eq!((bytes[usize::from(CACHE_BYTE)], bytes[38]), (0, 0x41));
    });
}

/// Fills some pages and erases from one sector to another. Returns the sectors that still hold
/// data.
fn left_after(how: u32, first: u32, last: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let left = powered(chip(4), |emmc| {
        good(write(emmc, 0, 7, BlockCount { blocks: 48, ..of(1) }));
        good(emmc.command(command::ERASE_GROUP_START, first));
        good(emmc.command(command::ERASE_GROUP_END, last));
        done(emmc, command::ERASE, how);
    });
    powered(left, |emmc| {
        found = (0..48).filter(|&sector| read(emmc, sector) != [0; BLOCK_BYTES]).collect()
    });
    found
}

#[test]
fn erased_sectors_read_as_zeros() {
    let per_page = powered_page_sectors();
    assert!(per_page > 1 && 48 % per_page == 0);
    let but = |gone: std::ops::Range<u32>| {
        (0..48).filter(|sector| !gone.contains(sector)).collect::<Vec<_>>()
    };
    let (first, last) = (per_page - 1, 4 * per_page);
    assert_eq!(left_after(TRIM, first, last), but(first..last + 1));
    assert_eq!(left_after(TRIM, 1, 1), but(1..2));
    assert_eq!(left_after(DISCARD, first, last), but(per_page..4 * per_page));
    assert_eq!(left_after(DISCARD, 1, 1), but(0..0));
    assert_eq!(left_after(ERASE, first, last), but(0..5 * per_page));
    assert_eq!(left_after(ERASE, 0, 47), []);
}

fn powered_page_sectors() -> u32 {
    let mut sectors = 0;
    powered(chip(4), |emmc| sectors = emmc.disk().page_sectors());
    sectors
}

#[test]
fn an_erase_needs_its_three_commands_in_order() {
    powered(chip(4), |emmc| {
        good(write(emmc, 0, 7, of(1)));
        assert!(emmc.command(command::ERASE, TRIM).has(Status::ERASE_SEQ_ERROR));
        assert!(emmc.command(command::ERASE_GROUP_END, 7).has(Status::ERASE_SEQ_ERROR));
        good(emmc.command(command::ERASE_GROUP_START, 7));
        assert!(emmc.command(command::ERASE_GROUP_END, 6).has(Status::ERASE_PARAM));
        good(emmc.command(command::ERASE_GROUP_START, 0));
        assert!(emmc.command(command::ERASE, TRIM).has(Status::ERASE_SEQ_ERROR));
        // This device does not support secure erase.
        good(emmc.command(command::ERASE_GROUP_START, 0));
        good(emmc.command(command::ERASE_GROUP_END, 7));
        let [answer, after] = both(emmc, command::ERASE, 0x8000_0000);
        assert!(!answer.is_error() && after.has(Status::ERASE_PARAM));
        // Another command between them ends the sequence. A request for the status does not end it.
        good(emmc.command(command::ERASE_GROUP_START, 0));
        assert!(emmc.command(command::SET_BLOCKLEN, 512).has(Status::ERASE_RESET));
        assert!(emmc.command(command::ERASE_GROUP_END, 7).has(Status::ERASE_SEQ_ERROR));
        assert_eq!(read(emmc, 0), [7; BLOCK_BYTES]);
        good(emmc.command(command::ERASE_GROUP_START, 0));
        good(emmc.command(command::SEND_STATUS, 0));
        good(emmc.command(command::ERASE_GROUP_END, 0));
        done(emmc, command::ERASE, TRIM);
        assert_eq!([0, 1].map(|sector| read(emmc, sector)[0]), [0, 7]);
    });
}
