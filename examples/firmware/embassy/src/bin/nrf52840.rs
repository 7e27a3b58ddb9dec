//! The logger on a nRF52840 DK, on its QSPI chip (MX25R6435F).
//!
//! `cargo build --release --target thumbv7em-none-eabihf --features nrf52840 --bin nrf52840`
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_logger::logger;
use embassy_nrf::bind_interrupts;
use embassy_nrf::peripherals::QSPI;
use embassy_nrf::qspi::{self, Qspi};
use panic_halt as _;

bind_interrupts!(struct Interrupts {
    QSPI => qspi::InterruptHandler<QSPI>;
});

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let board = embassy_nrf::init(Default::default());
    let mut config = qspi::Config::default();
    config.capacity = 8 << 20;
    let flash = Qspi::new(
        board.QSPI,
        Interrupts,
        board.P0_19,
        board.P0_17,
        board.P0_20,
        board.P0_21,
        board.P0_22,
        board.P0_23,
        config,
    );
    match logger::run(flash, 0..logger::VOLUME_BYTES, u32::MAX).await {
        Ok(samples) => defmt::info!("took {} samples", samples),
        Err(failure) => defmt::error!("{}", failure),
    }
}
