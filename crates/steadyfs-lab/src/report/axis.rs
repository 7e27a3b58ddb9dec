//! Axes of a figure: the coordinates of values, and the places of ticks.

/// Spread of the values along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Evenly.
    Linear,
    /// By their logarithm. The range starts above zero.
    Logarithmic,
}

/// An axis from a lowest to a highest value, drawn from one coordinate to another.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The lowest value.
    pub low: f64,
    /// The highest value.
    pub high: f64,
    /// Spread of the values.
    pub spread: Spread,
    /// Coordinates of `low` and `high` in pixels.
    pub pixels: (f64, f64),
}

impl Axis {
    /// Returns the coordinate of a value in pixels, rounded to a tenth.
    pub fn at(&self, value: f64) -> f64 {
        let place = |value: f64| {
            if self.spread == Spread::Linear { value } else { value.max(self.low).ln() }
        };
        let share = (place(value) - place(self.low))
            / (place(self.high) - place(self.low)).max(f64::MIN_POSITIVE);
        let pixel = self.pixels.0 + share * (self.pixels.1 - self.pixels.0);
        (pixel * 10.0).round() / 10.0
    }

    /// Returns values for ticks. On a logarithmic axis these are powers of ten, else about `count`
    /// multiples of 1, 2 or 5 times a power of ten.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        match self.spread {
            Spread::Linear => {
                multiples(self.low, self.high, decimal_step((self.high - self.low) / count as f64))
            }
            Spread::Logarithmic => {
                let exponents =
                    self.low.log10().ceil() as i32..=(self.high * 1.000_001).log10().floor() as i32;
                exponents.map(|exponent| 10_f64.powi(exponent)).collect()
            }
        }
    }

    /// Returns values for ticks of an axis of bytes: about `count` multiples of a power of two.
    pub fn byte_ticks(&self, count: usize) -> Vec<f64> {
        let step = ((self.high - self.low) / count as f64).max(1.0).log2().ceil().exp2();
        multiples(self.low, self.high, step)
    }
}

/// Returns the smallest of 1, 2, 5 times a power of ten that is not below `least`.
fn decimal_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= least * 0.999)
        .unwrap_or(least)
}

/// Returns the multiples of `step` within a range.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, spread: Spread) -> Axis {
        Axis { low, high, spread, pixels: (100.0, 0.0) }
    }

    #[test]
    fn values_stand_between_the_ends() {
        let linear = axis(0.0, 4.0, Spread::Linear);
        assert_eq!((linear.at(0.0), linear.at(1.0), linear.at(4.0)), (100.0, 75.0, 0.0));
        let logarithmic = axis(1.0, 100.0, Spread::Logarithmic);
        assert_eq!(
            (logarithmic.at(1.0), logarithmic.at(10.0), logarithmic.at(0.0)),
            (100.0, 50.0, 100.0)
        );
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(axis(0.0, 10.3, Spread::Linear).ticks(5), [0.0, 5.0, 10.0]);
        assert_eq!(
            axis(0.0, 20_000.0, Spread::Linear).ticks(4),
            [0.0, 5_000.0, 10_000.0, 15_000.0, 20_000.0]
        );
        assert_eq!(axis(0.7, 1_000.0, Spread::Logarithmic).ticks(5), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(axis(0.0, 5_000.0, Spread::Linear).byte_ticks(4), [0.0, 2_048.0, 4_096.0]);
    }
}
