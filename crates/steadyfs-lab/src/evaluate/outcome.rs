//! The result of an evaluation: its numbers, and the accesses behind them.

use super::work::Work;
use crate::envelope::Envelope;
use crate::evaluation::{Beside, Evaluation, Peer};

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The numbers.
    pub evaluation: Evaluation,
    /// Access times in nanoseconds, in order.
    pub access_ns: Vec<u64>,
    /// Operations of each access on the chip.
    pub work: Vec<Work>,
    /// The promised envelopes of consecutive accesses.
    pub envelopes: Vec<Envelope>,
    /// Other file systems for comparison, added by [`Outcome::put_beside`].
    pub peers: Vec<Peer>,
}

impl Outcome {
    /// Adds another file system for comparison, in the numbers and in the figures. Its access
    /// times are those of the same writes on the same chip.
    pub fn put_beside(&mut self, peer: Peer) {
        self.evaluation.beside.extend(Beside::of(&peer, self.evaluation.write_bytes));
        self.peers.push(peer);
    }
}
