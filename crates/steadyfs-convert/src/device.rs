//! Numbers of devices, as Linux writes them down.

/// Takes the numbers of a device apart, of the encoding with 12 bits for the driver and 20 for which of its devices.
///
/// Source: include/linux/kdev_t.h of Linux.
pub(crate) fn numbers(number: u32) -> (u32, u32) {
    (number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xf_ff00))
}
