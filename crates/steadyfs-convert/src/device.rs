//! Numbers of devices in the encoding of Linux.

/// Splits the number of a device into 12 bits for the driver (major) and 20 bits for the device of
/// this driver (minor).
///
/// Source: include/linux/kdev_t.h of Linux.
pub fn numbers(number: u32) -> (u32, u32) {
    (number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xf_ff00))
}

/// Combines the numbers of a device. Returns `None` if they do not fit.
pub fn number(major: u32, minor: u32) -> Option<u32> {
    (major < 1 << 12 && minor < 1 << 20)
        .then_some(minor & 0xff | major << 8 | (minor & !0xff) << 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_apart_as_they_were_put_together() {
        assert_eq!((number(8, 1), number(0xABC, 0x1_2345)), (Some(0x801), Some(0x123A_BC45)));
        assert_eq!((number(4096, 0), number(0, 1 << 20)), (None, None));
        for both in [(0, 0), (5, 1), (0xFFF, 0xF_FFFF), (300, 70_000)] {
            assert_eq!(number(both.0, both.1).map(numbers), Some(both));
        }
    }
}
