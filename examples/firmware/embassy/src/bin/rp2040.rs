//! The logger on a Raspberry Pi Pico, in the flash that also holds the program.
//!
//! `cargo build --release --target thumbv6m-none-eabi --features rp2040 --bin rp2040`
//!
//! The HAL stops the processor while it writes or erases this flash, because the program runs from
//! it. So the ticker pauses in these times. It runs on while the HAL reads by DMA.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_logger::logger;
use embassy_rp::bind_interrupts;
use embassy_rp::dma;
use embassy_rp::flash::{Async, Flash};
use embassy_rp::peripherals::DMA_CH0;
use panic_halt as _;

/// The program has the first MiB: see `rp2040.x`.
const CHIP_BYTES: usize = 2 << 20;
const VOLUME: core::ops::Range<u32> = 1 << 20..2 << 20;

bind_interrupts!(struct Interrupts {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>;
});

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let board = embassy_rp::init(Default::default());
    let flash = Flash::<_, Async, CHIP_BYTES>::new(board.FLASH, board.DMA_CH0, Interrupts);
    match logger::run(flash, VOLUME, u32::MAX).await {
        Ok(samples) => defmt::info!("took {} samples", samples),
        Err(failure) => defmt::error!("{}", failure),
    }
}
