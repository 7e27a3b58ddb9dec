//! A figure with its typical and its maximum value, and the choice between them.

/// The figures that a simulated chip takes its times from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TimingChoice {
    /// Typical figures, to which measured latencies are close: for expectations.
    #[default]
    Typical,
    /// Datasheet maxima: for guarantees.
    Maximum,
}

/// A figure with its typical and its maximum value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Typical value.
    pub typical: u32,
    /// Maximum; not below the typical value.
    pub maximum: u32,
}

impl Spread {
    /// Returns one of the two values.
    pub fn pick(self, choice: TimingChoice) -> u32 {
        match choice {
            TimingChoice::Typical => self.typical,
            TimingChoice::Maximum => self.maximum,
        }
    }
}
