//! Nondeterminism as a script: a call runs once for every sequence of answers to the questions that it asks.

/// The answers of a run, and how many there were to each question.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    script: Vec<(u8, u8)>,
    at: usize,
}

impl Choices {
    /// Draws one of `count`; the first time 0.
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

    /// Goes on to the next script; `false` after the last one.
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

    /// The answers.
    pub fn answers(&self) -> Vec<u8> {
        self.script.iter().map(|&(answer, _)| answer).collect()
    }
}
