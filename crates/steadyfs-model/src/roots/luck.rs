//! What nobody decides: where the power fails, what that leaves, which read fails.

use crate::choices::Choices;

/// Something that may happen in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The power fails in a program or an erase.
    Cut,
    /// A program or an erase is reported as failed.
    Failure,
    /// The device answers a read with an error.
    DeviceError,
    /// One reading of a page is damaged.
    Misread,
    /// A page reads as damaged until the power goes off.
    Blind,
}

/// The source of answers.
pub trait Luck {
    /// One of `count`.
    fn choose(&mut self, count: u8) -> u8;

    /// Whether something happens now that may happen.
    fn happens(&mut self, event: Event) -> bool;
}

/// All answers, one after the other.
impl Luck for Choices {
    fn choose(&mut self, count: u8) -> u8 {
        Choices::choose(self, count)
    }

    fn happens(&mut self, _: Event) -> bool {
        Choices::choose(self, 2) == 1
    }
}

/// Answers at random, with a plan for what is to happen in the next call.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// Operations up to the one in which the power fails.
    pub cut_after: Option<u32>,
    /// Reads up to the one that fails, and how.
    pub read_fails_after: Option<(u32, Event)>,
    /// Of a thousand programs and erases, how many fail.
    pub failures_of_1000: u16,
}

impl Random {
    /// A source that gives the same answers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), cut_after: None, read_fails_after: None, failures_of_1000: 0 }
    }

    /// A number below `count`.
    pub fn below(&mut self, count: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((mixed >> 32) * u64::from(count) >> 32) as u32
    }

    /// An item.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }
}

impl Luck for Random {
    fn choose(&mut self, count: u8) -> u8 {
        self.below(count.into()) as u8
    }

    fn happens(&mut self, event: Event) -> bool {
        match event {
            Event::Cut => count_down(&mut self.cut_after),
            Event::Failure => self.below(1000) < self.failures_of_1000.into(),
            _ => match &mut self.read_fails_after {
                Some((left, kind)) if *kind == event => {
                    let now = *left == 0;
                    *left = left.wrapping_sub(1);
                    now
                }
                _ => false,
            },
        }
    }
}

fn count_down(left: &mut Option<u32>) -> bool {
    match left {
        Some(0) => {
            *left = None;
            true
        }
        Some(more) => {
            *more -= 1;
            false
        }
        None => false,
    }
}
