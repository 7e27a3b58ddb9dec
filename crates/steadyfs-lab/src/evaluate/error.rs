//! Why an evaluation gave nothing, with the access and both numbers where a promise was broken.

use crate::called::called;
use crate::envelope::Envelope;
use crate::floor::FloorError;
use crate::units::{format_duration, format_size};
use std::fmt;
use steadyfs::{Bound, Call, Cost, Error, MountError};
use steadyfs_sim::ProfileError;

/// What a run does at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Fills the volume.
    Fill,
    /// Brings it to its steady state.
    WarmUp,
    /// Measures without idle time, for comparison.
    WithoutIdle,
    /// Measures.
    Measure,
    /// Mounts, and reads back what was written last.
    ReadBack,
    /// Goes on with the workload.
    Resume,
    /// Writes until the volume cannot go on.
    WearOut,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Fill => "fill",
            Phase::WarmUp => "steady state",
            Phase::WithoutIdle => "without idle time",
            Phase::Measure => "measure",
            Phase::ReadBack => "read back",
            Phase::Resume => "resume",
            Phase::WearOut => "wear out",
        })
    }
}

/// Why an evaluation gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The device is neither a profile that is known nor one that can be read.
    Device {
        /// The device as given.
        device: String,
        /// What is wrong with it.
        reason: ProfileError,
    },
    /// The file of a device profile cannot be read.
    Unreadable {
        /// The path as given.
        path: String,
        /// What the operating system says.
        reason: String,
    },
    /// The device is of another kind than the run is for.
    OtherKind {
        /// The device as given.
        device: String,
        /// What it is.
        is: &'static str,
        /// What the run is for.
        takes: &'static str,
        /// The names of those, separated by commas.
        known: String,
    },
    /// So few bytes of the volume are to be used that the workload does not fit into them.
    TooSmall {
        /// Bytes to be used.
        used_bytes: u64,
        /// Bytes that the workload needs.
        needed_bytes: u64,
    },
    /// The volume could not be formatted or mounted.
    Mount(MountError),
    /// A call failed.
    Volume {
        /// When.
        phase: Phase,
        /// Number of the access in its phase, from 0.
        access: u64,
        /// The call.
        call: Call,
        /// How it failed.
        error: Error,
    },
    /// A call did more than was promised before it.
    BoundBroken {
        /// When.
        phase: Phase,
        /// Number of the access in its phase, from 0.
        access: u64,
        /// The call.
        call: Call,
        /// What it did.
        observed: Cost,
        /// What was promised.
        bound: Bound,
    },
    /// A call took longer than was promised before it.
    TimeBroken {
        /// When.
        phase: Phase,
        /// Number of the access in its phase, from 0.
        access: u64,
        /// The call.
        call: Call,
        /// Nanoseconds that it took.
        observed_ns: u64,
        /// Nanoseconds promised.
        bound_ns: u64,
    },
    /// Consecutive calls took longer together than an envelope allows.
    EnvelopeBroken {
        /// When.
        phase: Phase,
        /// The last of these calls, counted from 0 in its phase.
        last_call: u64,
        /// Number of these calls.
        calls: u64,
        /// Nanoseconds that they took.
        observed_ns: u64,
        /// The envelope promised.
        envelope: Envelope,
    },
    /// Idle work took longer than the idle time.
    IdleBroken {
        /// Number of accesses before it.
        access: u64,
        /// Nanoseconds that it took.
        observed_ns: u64,
        /// Nanoseconds that it was given.
        budget_ns: u64,
    },
    /// Idle work failed.
    Idle {
        /// Number of accesses before it.
        access: u64,
        /// How it failed.
        error: Error,
    },
    /// A mount did more, or took longer, than was promised.
    MountBroken {
        /// What it did.
        observed: Cost,
        /// What was promised.
        bound: Cost,
        /// Nanoseconds that it took.
        observed_ns: u64,
        /// Nanoseconds promised.
        bound_ns: u64,
    },
    /// Data that was durable is not there after the power came back.
    Lost {
        /// The file.
        file: String,
        /// First byte of what is wrong.
        offset: u64,
    },
    /// No access was asked for.
    NoAccess,
    /// The floor cannot be computed.
    Floor(FloorError),
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluateError::Device { device, reason } => write!(f, "{device}: {reason}"),
            EvaluateError::Unreadable { path, reason } => write!(f, "{path}: {reason}; expected the file of a profile"),
            EvaluateError::OtherKind { device, is, takes, known } => {
                write!(f, "{device}: is {is}; this command takes {takes}: {known}")
            }
            EvaluateError::TooSmall { used_bytes, needed_bytes } => {
                let (used, needed) = (format_size(*used_bytes), format_size(*needed_bytes));
                write!(f, "{used} of the volume are to be used, but the workload needs {needed}: raise the fill or write less")
            }
            EvaluateError::Mount(error) => error.fmt(f),
            EvaluateError::Volume { phase, access, call, error } => {
                write!(f, "{phase}, access {access}, {}: {error}", called(*call))
            }
            EvaluateError::BoundBroken { phase, access, call, observed, bound } => {
                write!(f, "{phase}, access {access}, {}: did {observed:?}, promised was {bound:?}", called(*call))
            }
            EvaluateError::TimeBroken { phase, access, call, observed_ns, bound_ns } => {
                let (observed, bound) = (format_duration(*observed_ns as f64), format_duration(*bound_ns as f64));
                write!(f, "{phase}, access {access}, {}: took {observed}, promised was {bound}", called(*call))
            }
            EvaluateError::EnvelopeBroken { phase, last_call, calls, observed_ns, envelope } => {
                let (observed, most) = (*observed_ns as f64, envelope.most_ns(*calls) as f64);
                let (observed, most) = (format_duration(observed), format_duration(most));
                write!(
                    f,
                    "{phase}, the {calls} calls up to call {last_call}: took {observed} together, the envelope {envelope:?} \
                     promised {most}"
                )
            }
            EvaluateError::IdleBroken { access, observed_ns, budget_ns } => {
                let (observed, budget) = (format_duration(*observed_ns as f64), format_duration(*budget_ns as f64));
                write!(f, "idle work before access {access}: took {observed}, was given {budget}")
            }
            EvaluateError::Idle { access, error } => write!(f, "idle work before access {access}: {error}"),
            EvaluateError::MountBroken { observed, bound, observed_ns, bound_ns } => {
                let (taken, most) = (format_duration(*observed_ns as f64), format_duration(*bound_ns as f64));
                write!(f, "mount: did {observed:?} in {taken}, promised was {bound:?} in {most}")
            }
            EvaluateError::Lost { file, offset } => {
                write!(f, "{file}: what was written at byte {offset} is not there after the power came back")
            }
            EvaluateError::NoAccess => f.write_str("there is nothing to measure: ask for at least one access"),
            EvaluateError::Floor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EvaluateError {}

impl From<MountError> for EvaluateError {
    fn from(error: MountError) -> EvaluateError {
        EvaluateError::Mount(error)
    }
}

impl From<FloorError> for EvaluateError {
    fn from(error: FloorError) -> EvaluateError {
        EvaluateError::Floor(error)
    }
}
