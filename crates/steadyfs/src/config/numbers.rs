//! Arithmetic for the computation of settings, at compile time as well.

pub(super) const fn clamp(value: u32, low: u32, high: u32) -> u32 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

pub(super) const fn max(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

/// Not inlined: there are many calls, and a call is shorter.
#[inline(never)]
pub(super) const fn ceil_div(a: u32, b: u32) -> u32 {
    a.div_ceil(b)
}
