//! Whole numbers on the command line.

use std::ops::RangeInclusive;

/// A type of whole numbers.
pub trait Whole: Copy + TryFrom<u64> + Into<u64> {
    /// The largest number.
    const MAX: Self;
}

macro_rules! whole {
    ($($of:ty),*) => { $(impl Whole for $of { const MAX: Self = <$of>::MAX; })* };
}

whole!(u8, u16, u32, u64);

/// Reads any whole number of a type.
pub fn any<N: Whole>(text: &str) -> Result<N, String> {
    read(text, 0..=N::MAX.into())
}

/// Reads a whole number that is at least `least`.
pub fn from<N: Whole>(least: u64) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| read(text, least..=N::MAX.into())
}

/// Reads a whole number of a range.
pub fn within<N: Whole>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| read(text, range.clone())
}

/// Reads a whole percentage of a range: `5%` or `5`.
pub fn percent_within(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| read(text.strip_suffix('%').unwrap_or(text).trim_end(), range.clone())
}

fn read<N: Whole>(text: &str, range: RangeInclusive<u64>) -> Result<N, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| range.contains(number))
        .and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        if *most == u64::MAX {
            format!("expected a whole number, {least} or more")
        } else {
            format!("expected a whole number from {least} to {most}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_or_none() {
        let read = percent_within(0..=90);
        assert_eq!((read("5"), read("5%"), read("5 %")), (Ok(5), Ok(5), Ok(5)));
        for text in ["91%", "%", "0.05", "5%%"] {
            assert_eq!(read(text), Err("expected a whole number from 0 to 90".to_string()));
        }
    }

    #[test]
    fn numbers_of_the_range_are_read_and_others_are_answered_with_it() {
        assert_eq!((any::<u8>("255"), any::<u8>("0")), (Ok(255), Ok(0)));
        assert_eq!((from::<u32>(1)("1"), within::<u16>(2..=4)("4")), (Ok(1), Ok(4)));
        for text in ["-1", "", "1.5", "0x10", "99999999999999999999", "1e3", "ten"] {
            assert_eq!(
                any::<u64>(text),
                Err("expected a whole number, 0 or more".to_string()),
                "{text}"
            );
        }
        assert_eq!(any::<u8>("256"), Err("expected a whole number from 0 to 255".to_string()));
        assert_eq!(from::<u64>(1)("0"), Err("expected a whole number, 1 or more".to_string()));
        assert_eq!(
            within::<u32>(16..=64)("65"),
            Err("expected a whole number from 16 to 64".to_string())
        );
    }
}
