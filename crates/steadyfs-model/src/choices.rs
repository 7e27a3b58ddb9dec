//! Nondeterminism as a script: a call runs once for each sequence of answers to its choices.

/// The answers of a run, each with the number of its alternatives.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    script: Vec<(u8, u8)>,
    at: usize,
}

impl Choices {
    /// Draws a number below `count`. The first run draws 0.
    pub fn choose(&mut self, count: u8) -> u8 {
        if count < 2 {
            return 0;
        }
        if self.at == self.script.len() {
            self.script.push((0, count));
        }
        self.at += 1;
        self.script[self.at - 1].0
    }

    /// Draws an item.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[usize::from(self.choose(items.len() as u8))]
    }

    /// Goes on to the next script. Returns `false` after the last one.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((answer, count)) = self.script.pop() {
            if answer + 1 < count {
                self.script.push((answer + 1, count));
                return true;
            }
        }
        false
    }

    /// Returns the answers.
    pub fn answers(&self) -> Vec<u8> {
        self.script.iter().map(|&(answer, _)| answer).collect()
    }
}
