//! The places of the writes of any workload, and the expected contents.

use super::appends::{self, Appends};
use super::checker::{Checker, Verdict, Volume};
use super::doubt::Doubt;
use super::overwrites::Overwrites;
use super::plan::Plan;
use super::ring::Ring;
use super::{EvaluateError, Workload};
use crate::envelope::Envelope;
use std::ops::Range;
use steadyfs::Usage;
use steadyfs::media::Flash;
use steadyfs_sim::Metered;

/// Number of calls for each file of a ring that are not appends. A file is made, the previous
/// one is closed, and one file is removed with a commit, or two when the file table grows.
const FILE_CALLS: u64 = 6;

/// The writer of a workload.
pub enum Writer {
    Overwrites(Overwrites),
    Ring(Ring),
    Appends(Appends),
}

impl Writer {
    /// Fills the volume, and passes the written ranges to `written`.
    pub fn fill<C: Flash + Metered>(
        plan: &Plan,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        mut written: impl FnMut(Range<u64>),
    ) -> Result<Writer, EvaluateError> {
        let Plan { workload, seed, fill_bytes, write_bytes } = *plan;
        if workload == Workload::AdversaryAppend {
            let files = Appends::fill(plan, fs, checker)?;
            written(0..files.large_bytes());
            return Ok(Writer::Appends(files));
        }
        if !matches!(workload, Workload::Append | Workload::Log) {
            let pages = fill_bytes / u64::from(fs.usage().logical_bytes);
            let file = Overwrites::fill(workload, seed, pages, fs, checker)?;
            written(0..file.file_bytes());
            return Ok(Writer::Overwrites(file));
        }
        let mut ring = Ring::new(fill_bytes, write_bytes, fs, checker)?;
        while !ring.is_full() {
            let offset = ring.access(fs, checker, write_bytes)?;
            written(offset..offset + write_bytes);
        }
        Ok(Writer::Ring(ring))
    }

    /// Writes `write_bytes`. Returns the offset in the file, or among all bytes that were ever
    /// appended.
    pub fn access<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
        write_bytes: u64,
    ) -> Result<u64, EvaluateError> {
        match self {
            Writer::Overwrites(file) => file.access(fs, checker, write_bytes),
            Writer::Ring(ring) => ring.access(fs, checker, write_bytes),
            Writer::Appends(files) => files.access(fs, checker, write_bytes),
        }
    }

    /// Checks the newest data after a mount.
    pub fn read_back<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        checker: &mut Checker<'_, '_>,
    ) -> Result<(), EvaluateError> {
        match self {
            Writer::Overwrites(file) => file.read_back(fs, checker),
            Writer::Ring(ring) => ring.read_back(fs, checker),
            Writer::Appends(files) => files.read_back(fs, checker),
        }
    }

    /// Returns the requested fill, or the reached fill if the last pages found no room.
    pub fn fill_reached(&self, fill: f64, usage: &Usage) -> f64 {
        let Writer::Overwrites(file) = self else { return fill };
        let share = |bytes: u64| bytes as f64 / usage.usable_bytes as f64;
        let reached = share(file.file_bytes());
        if reached + share(usage.logical_bytes.into()) > fill { fill } else { reached }
    }

    /// Computes the envelopes of accesses from the envelopes of calls: `burst + calls · rate`
    /// for the maximum number of calls in *n* accesses.
    pub fn envelopes(&self, verdict: &Verdict, write_bytes: u64, usage: &Usage) -> Vec<Envelope> {
        let logical_bytes = u64::from(usage.logical_bytes);
        let whole = write_bytes.is_multiple_of(logical_bytes);
        let calls = write_bytes.div_ceil(logical_bytes)
            + u64::from(!whole && !logical_bytes.is_multiple_of(write_bytes));
        let of_accesses = |call: Envelope| match self {
            Writer::Overwrites(_) => {
                Envelope { burst_ns: call.burst_ns, rate_ns: calls * call.rate_ns }
            }
            Writer::Ring(ring) => Envelope {
                burst_ns: call.burst_ns + FILE_CALLS * call.rate_ns,
                rate_ns: calls * call.rate_ns
                    + (FILE_CALLS * call.rate_ns)
                        .div_ceil((ring.file_bytes() / write_bytes).max(1)),
            },
            Writer::Appends(_) => Envelope {
                burst_ns: call.burst_ns,
                rate_ns: (calls + appends::CALLS) * call.rate_ns,
            },
        };
        verdict.envelopes.map(of_accesses).to_vec()
    }

    /// Returns the expected files, each with its size.
    pub fn files(&self) -> Vec<(String, u64)> {
        match self {
            Writer::Overwrites(file) => vec![file.file()],
            Writer::Ring(ring) => ring.files(),
            Writer::Appends(files) => files.files(),
        }
    }

    /// Fills `bytes` with the expected contents of a file, by its index in
    /// [`files`](Writer::files).
    pub fn expect(&self, file: usize, offset: u64, bytes: &mut [u8]) {
        match self {
            Writer::Overwrites(overwrites) => overwrites.expect(offset, bytes),
            Writer::Ring(ring) => ring.expect(file, offset, bytes),
            Writer::Appends(files) => files.expect(file, offset, bytes),
        }
    }

    /// Returns the bytes of a failed call, which may be present or absent.
    pub fn doubt(&self) -> Option<&Doubt> {
        match self {
            Writer::Overwrites(overwrites) => overwrites.doubt(),
            Writer::Ring(ring) => ring.doubt(),
            Writer::Appends(files) => files.doubt(),
        }
    }
}
