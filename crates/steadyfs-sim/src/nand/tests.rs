//! Tests of the rules of the chip, its time and its counters.

use super::*;

const TAG: [u8; TAG_BYTES] = [7; TAG_BYTES];

fn chip() -> Nand {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 32, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, 1)
}

fn read(chip: &mut Nand, page: PageIndex) -> (Vec<u8>, [u8; TAG_BYTES]) {
    let (mut data, mut tag) = (vec![0; chip.geometry.page_bytes as usize], [0; TAG_BYTES]);
    chip.read(page, &mut data, &mut tag).unwrap();
    (data, tag)
}

fn micron() -> Nand {
    Nand::new(&Profile::named("mt29f1g01abafd").unwrap(), TimingChoice::Typical, 1)
}

#[test]
fn a_page_reads_as_programmed_and_erased_where_nothing_was_given() {
    let mut chip = chip();
    chip.program(3, &[1; 100], &TAG).unwrap();
    let (data, tag) = read(&mut chip, 3);
    assert_eq!(tag, TAG);
    assert_eq!(&data[..100], [1; 100]);
    assert_eq!(&data[100..], [0xFF; 412]);
    assert_eq!(read(&mut chip, 2), (vec![0xFF; 512], [0xFF; TAG_BYTES]));
}

#[test]
fn erase_makes_a_block_programmable_again() {
    let mut chip = chip();
    chip.program(16, &[1; 512], &TAG).unwrap();
    chip.erase(1).unwrap();
    assert_eq!(read(&mut chip, 16).0, [0xFF; 512]);
    chip.program(16, &[2; 512], &TAG).unwrap();
    assert_eq!(read(&mut chip, 16).0, [2; 512]);
}

#[test]
fn pages_may_be_skipped() {
    let mut chip = chip();
    for page in [0, 5, 15, 16, 31] {
        chip.program(page, &[0; 512], &TAG).unwrap();
    }
}

#[test]
#[should_panic(
    expected = "program of page 2 of block 1 (page 18): page 5 of the block is programmed"
)]
fn programming_below_a_programmed_page_panics() {
    let mut chip = chip();
    chip.program(21, &[0; 512], &TAG).unwrap();
    let _ = chip.program(18, &[0; 512], &TAG);
}

#[test]
#[should_panic(
    expected = "program of page 20 (block 1): programmed 1 times since its erase, which is the \
                limit"
)]
fn programming_twice_panics() {
    let mut chip = chip();
    chip.program(20, &[0; 512], &TAG).unwrap();
    let _ = chip.program(20, &[0; 512], &TAG);
}

#[test]
fn more_programs_per_page_are_a_knob_and_clear_bits() {
    let mut chip = chip().with_programs_per_page(2);
    chip.program(0, &[0xF0; 512], &[0xFF; TAG_BYTES]).unwrap();
    chip.program(0, &[0x3F; 512], &TAG).unwrap();
    assert_eq!(read(&mut chip, 0), (vec![0x30; 512], TAG));
}

#[test]
#[should_panic(expected = "program of page 0 (block 0): 513 bytes of data, the page holds 512")]
fn too_much_data_panics() {
    let _ = chip().program(0, &[0; 513], &TAG);
}

#[test]
#[should_panic(expected = "read of page 0: a buffer of 511 bytes, the page holds 512")]
fn reading_into_a_buffer_of_another_size_panics() {
    let _ = chip().read(0, &mut [0; 511], &mut [0; TAG_BYTES]);
}

#[test]
#[should_panic(expected = "read of page 512 (block 32): the chip has 512 pages")]
fn reading_beyond_the_chip_panics() {
    let _ = chip().read(512, &mut [0; 512], &mut [0; TAG_BYTES]);
}

#[test]
#[should_panic(expected = "erase of block 32: the chip has 32 blocks")]
fn erasing_beyond_the_chip_panics() {
    let _ = chip().erase(32);
}

fn chip_and_its_bad_block() -> (Nand, BlockIndex) {
    let mut chip = chip().with_bad_blocks(1);
    let bad = (0..32).find(|&block| chip.is_bad(block).unwrap()).unwrap();
    (chip, bad)
}

#[test]
#[should_panic(expected = "is bad from the factory")]
fn reading_a_factory_bad_block_panics() {
    let (mut chip, bad) = chip_and_its_bad_block();
    let _ = chip.read_tag(bad * 16, &mut [0; TAG_BYTES]);
}

#[test]
#[should_panic(expected = "is bad from the factory")]
fn programming_a_factory_bad_block_panics() {
    let (mut chip, bad) = chip_and_its_bad_block();
    let _ = chip.program(bad * 16, &[], &TAG);
}

#[test]
#[should_panic(expected = "is bad from the factory")]
fn erasing_a_factory_bad_block_panics() {
    let (mut chip, bad) = chip_and_its_bad_block();
    let _ = chip.erase(bad);
}

#[test]
fn factory_bad_blocks_are_as_many_as_asked_and_never_block_0() {
    let bad_of = |seed| {
        let geometry = Geometry {
            page_bytes: 512,
            pages_per_block: 16,
            block_count: 32,
            programs_bytes: false,
        };
        let mut chip = Nand::with_geometry(geometry, NandTiming::ROUND, seed)
            .with_bad_blocks(31 - seed as u32 % 30);
        (0..32).filter(|&block| chip.is_bad(block).unwrap()).collect::<Vec<_>>()
    };
    for seed in 0..30 {
        let bad = bad_of(seed);
        assert_eq!(bad.len(), 31 - seed as usize);
        assert!(!bad.contains(&0));
        assert_eq!(bad, bad_of(seed), "the seed decides");
    }
    assert_ne!(bad_of(20), bad_of(50), "another seed, other blocks");
}

#[test]
fn factory_bad_blocks_lie_where_asked() {
    let mut chip = chip().with_bad_blocks_at(&[1, 31]);
    let bad: Vec<_> = (0..32).filter(|&block| chip.is_bad(block).unwrap()).collect();
    assert_eq!(bad, [1, 31]);
}

#[test]
#[should_panic(expected = "block 0 is never bad")]
fn block_0_cannot_be_bad_from_the_factory() {
    let _ = chip().with_bad_blocks_at(&[0]);
}

#[test]
fn a_block_marked_bad_says_so_and_is_empty() {
    let mut chip = chip();
    chip.program(32, &[1; 512], &TAG).unwrap();
    chip.mark_bad(2).unwrap();
    assert_eq!(chip.is_bad(2), Ok(true));
    assert_eq!(read(&mut chip, 32).0, [0xFF; 512], "a driver may erase a block before it marks it");
}

#[test]
fn a_copy_takes_the_data_of_the_source_and_a_new_tag() {
    let mut chip = chip();
    chip.program(0, &[9; 512], &TAG).unwrap();
    chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
    chip.program_loaded(40, &[3; TAG_BYTES]).unwrap();
    assert_eq!(read(&mut chip, 40), (vec![9; 512], [3; TAG_BYTES]));
}

#[test]
#[should_panic(expected = "program_loaded of page 40: only a read_tag directly before it")]
fn a_copy_after_another_operation_panics() {
    let mut chip = chip();
    chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
    chip.erase(3).unwrap();
    let _ = chip.program_loaded(40, &TAG);
}

#[test]
#[should_panic(expected = "program_loaded of page 41: only a read_tag directly before it")]
fn a_second_copy_of_one_load_panics() {
    let mut chip = chip();
    chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
    chip.program_loaded(40, &TAG).unwrap();
    let _ = chip.program_loaded(41, &TAG);
}

#[test]
fn a_chip_without_on_chip_copy_refuses_it() {
    let mut chip = chip().with_on_chip_copy(false);
    chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
    assert!(!chip.can_copy());
    assert_eq!(chip.program_loaded(40, &TAG), Err(Failure::Device));
}

#[test]
fn every_operation_takes_the_time_that_timing_tells() {
    let mut chip = micron();
    let timing = chip.timing();
    let mut took = |operation: &mut dyn FnMut(&mut Nand)| {
        let before = chip.time_ns();
        operation(&mut chip);
        chip.time_ns() - before
    };
    let mut tag = [0; TAG_BYTES];
    assert_eq!(took(&mut |chip| chip.program(0, &[0; 2048], &TAG).unwrap()), timing.program_ns);
    assert_eq!(took(&mut |chip| chip.read(0, &mut [0; 2048], &mut tag).unwrap()), timing.read_ns);
    assert_eq!(took(&mut |chip| chip.read_tag(0, &mut tag).unwrap()), timing.read_tag_ns);
    assert_eq!(
        took(&mut |chip| chip.program_loaded(64, &TAG).unwrap()),
        timing.copy_ns - timing.read_tag_ns
    );
    assert_eq!(took(&mut |chip| chip.erase(0).unwrap()), timing.erase_ns);
}

#[test]
fn operations_of_mt29f1g01abafd_take_the_microseconds_computed_by_hand() {
    let timing = micron().timing();
    assert_eq!(timing.read_ns / 1000, 77);
    assert_eq!(timing.read_tag_ns / 1000, 46);
    assert_eq!(timing.program_ns / 1000, 251);
    assert_eq!(timing.copy_ns / 1000, 267);
    assert_eq!(timing.erase_ns / 1000, 2000);
}

#[test]
fn a_short_program_saves_transfer_time_only() {
    let mut chip = chip();
    chip.program(0, &[0; 12], &TAG).unwrap();
    assert_eq!(chip.time_ns(), 250_000 + (12 + 16) * 10);
}

#[test]
fn counters_count_operations_and_bytes() {
    let mut chip = chip();
    chip.program(0, &[0; 100], &TAG).unwrap();
    read(&mut chip, 0);
    chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
    chip.program_loaded(1, &TAG).unwrap();
    chip.erase(0).unwrap();
    let expected = Counters {
        reads: 1,
        tag_reads: 1,
        programs: 1,
        copies: 1,
        erases: 1,
        flushes: 0,
        bytes_read: 528 + 16,
        bytes_programmed: 116 + 16,
        time_ns: (250_000 + 1_160)
            + (50_000 + 5_280)
            + (50_000 + 160)
            + (250_000 + 160)
            + 2_000_000,
    };
    assert_eq!(chip.counters(), expected);
}

#[test]
fn wear_is_that_of_good_blocks() {
    let (mut chip, bad) = chip_and_its_bad_block();
    assert_eq!(chip.wear(), (0, 0.0, 0));
    for block in (0..32).filter(|&block| block != bad) {
        chip.erase(block).unwrap();
    }
    (0..31).for_each(|_| chip.erase(0).unwrap());
    assert_eq!(chip.wear(), (1, 2.0, 32));
    assert_eq!(chip.erase_counts()[0], 32);
}

#[test]
#[should_panic(expected = "w25q128jv is not a NAND chip")]
fn a_nor_profile_is_refused() {
    Nand::new(&Profile::named("w25q128jv").unwrap(), TimingChoice::Typical, 1);
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut chip = chip();
    chip.program(0, &[1; 512], &TAG).unwrap();
    let mut snapshot = chip.clone();
    chip.erase(0).unwrap();
    assert_eq!(read(&mut snapshot, 0).0, [1; 512]);
    assert_eq!(snapshot.counters().erases, 0);
}

#[test]
fn a_part_of_a_page_costs_the_array_and_its_bytes() {
    let geometry =
        Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
    let mut nand = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
    let data: Vec<u8> = (0..=255).collect();
    nand.program(0, &data, &[0; TAG_BYTES]).unwrap();
    let before = nand.counters();
    let mut part = [0; 3];
    nand.read_part(0, 100, &mut part).unwrap();
    let spent = nand.counters().since(&before);
    assert_eq!(
        (part, spent.reads, spent.bytes_read, spent.time_ns),
        ([100, 101, 102], 1, 3, 50_030)
    );
}
