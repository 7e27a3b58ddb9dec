//! The time of a managed device: the waits of the host, and the work of the NAND during these
//! waits.

/// The work of the NAND inside the device, and the reasons for this work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NandCounts {
    /// Number of pages that were read, whole or in part.
    pub reads: u64,
    /// Number of programs, of whole pages and of parts.
    pub programs: u64,
    /// Number of erases of units, log blocks and superblocks.
    pub erases: u64,
    /// Number of bytes that were programmed.
    pub programmed_bytes: u64,
    /// Number of bytes that the host wrote.
    pub host_bytes: u64,
    /// Number of bytes that were moved without a request of the host.
    pub copied_bytes: u64,
    /// Number of units that were closed before they were full.
    pub early_closes: u64,
    /// Number of times that cleaning began.
    pub bursts: u64,
    /// Time that accesses waited for cleaning, in nanoseconds.
    pub cleaning_ns: u64,
    /// Number of units or superblocks that cleaning rewrote.
    pub folds: u64,
    /// Number of times that the whole map was written.
    pub checkpoints: u64,
}

impl NandCounts {
    /// Returns the number of bytes programmed for each byte that the host wrote. Returns 0 if the
    /// host has written nothing.
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

    /// Adds work for the array behind its present work. The host does not wait.
    pub(super) fn start(&mut self, ns: u64) {
        self.array_free_ns = self.array_free_ns.max(self.now_ns) + self.jittered(ns);
    }

    /// Waits until the array is idle.
    pub(super) fn wait(&mut self) {
        self.now_ns = self.now_ns.max(self.array_free_ns);
    }

    /// Adds work for the array that takes exactly `ns`, and waits until it is done.
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
