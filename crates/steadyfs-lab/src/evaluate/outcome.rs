//! What an evaluation gives: its numbers, and the accesses behind them.

use super::work::Work;
use crate::envelope::Envelope;
use crate::evaluation::{Beside, Evaluation, Peer};

/// What an evaluation gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The numbers.
    pub evaluation: Evaluation,
    /// Access times in nanoseconds, in order.
    pub access_ns: Vec<u64>,
    /// What each access did on the chip.
    pub work: Vec<Work>,
    /// The promised envelopes of consecutive accesses.
    pub envelopes: Vec<Envelope>,
    /// Other file systems to stand beside the run, as [`Outcome::put_beside`] puts them.
    pub peers: Vec<Peer>,
}

impl Outcome {
    /// Puts another file system beside the run, in its numbers and its figures: access times of the same writes on the same chip.
    pub fn put_beside(&mut self, peer: Peer) {
        self.evaluation.beside.extend(Beside::of(&peer, self.evaluation.write_bytes));
        self.peers.push(peer);
    }
}
