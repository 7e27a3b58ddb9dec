//! The time of a managed device: the waits of the host, and the work of the NAND meanwhile.

/// The work of the NAND inside, and its reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NandCounts {
    /// Pages that were read, whole or in part.
    pub reads: u64,
    /// Programs, of whole pages and of parts.
    pub programs: u64,
    /// Erases of units, log blocks and superblocks.
    pub erases: u64,
    /// Bytes that programs held.
    pub programmed_bytes: u64,
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Bytes that were moved without a request of the host.
    pub copied_bytes: u64,
    /// Units that were closed before they were full.
    pub early_closes: u64,
    /// Times that cleaning began.
    pub bursts: u64,
    /// Time that accesses waited for cleaning, in nanoseconds.
    pub cleaning_ns: u64,
    /// Units or superblocks that cleaning rewrote.
    pub folds: u64,
    /// Number of times that the whole map was written.
    pub checkpoints: u64,
}

impl NandCounts {
    /// Returns the bytes programmed for each byte that the host wrote; 0 before the first.
    pub fn write_amplification(&self) -> f64 {
        if self.host_bytes == 0 {
            0.0
        } else {
            self.programmed_bytes as f64 / self.host_bytes as f64
        }
    }
}

/// Virtual time, with one NAND array that works in parallel with the bus.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) now_ns: u64,
    array_free_ns: u64,
    jitter_permille: u64,
    random: fastrand::Rng,
    pub(super) counts: NandCounts,
}

impl Clock {
    pub(super) fn new(jitter_permille: u32, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self {
            now_ns: 0,
            array_free_ns: 0,
            jitter_permille: jitter_permille.into(),
            random,
            counts: NandCounts::default(),
        }
    }

    /// Advances the time by a transfer on the bus.
    pub(super) fn pass(&mut self, ns: u64) {
        self.now_ns += ns;
    }

    /// Gives the array work, behind its present work. The host does not wait.
    pub(super) fn start(&mut self, ns: u64) {
        self.array_free_ns = self.array_free_ns.max(self.now_ns) + self.jittered(ns);
    }

    /// Waits until the array is idle.
    pub(super) fn wait(&mut self) {
        self.now_ns = self.now_ns.max(self.array_free_ns);
    }

    /// Gives the array work that takes exactly `ns`, and waits.
    pub(super) fn stall(&mut self, ns: u64) {
        self.now_ns = self.array_free_ns.max(self.now_ns) + ns;
        self.array_free_ns = self.now_ns;
    }

    /// Returns `ns`, up to `jitter_permille` thousandths more or less.
    pub(super) fn jittered(&mut self, ns: u64) -> u64 {
        if self.jitter_permille == 0 {
            return ns;
        }
        let permille = 1000 - self.jitter_permille + self.random.u64(0..=2 * self.jitter_permille);
        ns * permille / 1000
    }
}
