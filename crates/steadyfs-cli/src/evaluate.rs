//! `steady evaluate`: runs SteadyFS on a simulated chip and measures every access.

mod arguments;

use crate::output::check_file;
use crate::progress::Progress;
use crate::{Failure, replay};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use steadyfs_lab::evaluate::{self, Outcome};
use steadyfs_lab::evaluation::Peer;
use steadyfs_lab::replay::write_trace;
use steadyfs_lab::report::Report;

pub use arguments::{Arguments, workloads};

use arguments::PeerTrace;

/// Maximum number of other file systems beside the run: a figure has room for no more.
const PEERS_MAX: usize = 3;

/// Runs `steady evaluate`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    arguments.trace.iter().try_for_each(|path| check_file(path))?;
    if arguments.beside.len() > PEERS_MAX {
        return Err(Failure::usage(format!(
            "--beside: {} file systems; expected {PEERS_MAX} at most",
            arguments.beside.len()
        )));
    }
    let write_bytes = arguments.options().write_bytes;
    let peers = arguments
        .beside
        .iter()
        .map(|beside| peer(beside, write_bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let mut bar = Progress::of(1, "");
    let outcome = evaluate::run(&arguments.options(), &mut |share, phase| bar.set(share, phase));
    drop(bar);
    let mut outcome: Outcome = outcome.map_err(Failure::measuring)?;
    peers.into_iter().for_each(|peer| outcome.put_beside(peer));
    if let Some(path) = &arguments.trace {
        save_trace(path, &outcome.access_ns, write_bytes)?;
    }
    arguments.outputs.write(&outcome.evaluation, || Report::of_evaluation(&outcome))
}

/// Reads the access times of another file system, for writes as long as the writes of the run.
fn peer(beside: &PeerTrace, write_bytes: u64) -> Result<Peer, Failure> {
    let trace = replay::read(&beside.path, None)?;
    Peer::of_trace(beside.label.clone(), trace, write_bytes).map_err(Failure::new)
}

/// Writes the access times as a trace that `steady replay` reads.
fn save_trace(path: &Path, access_ns: &[u64], write_bytes: u64) -> Result<(), Failure> {
    File::create(path)
        .and_then(|file| write_trace(BufWriter::new(file), access_ns, write_bytes))
        .map_err(|error| Failure::writing(path.display(), &error))
}
