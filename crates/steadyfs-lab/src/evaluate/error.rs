//! The reasons for which an evaluation gave no result. A broken bound comes with the access and
//! both numbers.

use crate::allowed::NotAllowed;
use crate::called::called;
use crate::envelope::Envelope;
use crate::floor::FloorError;
use crate::part::PartError;
use crate::units::{format_duration, format_size};
use std::fmt;
use steadyfs::{Bound, Call, Cost, Error, MountError};
use steadyfs_sim::ProfileError;

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Fills the volume.
    Fill,
    /// Brings the volume to its steady state.
    WarmUp,
    /// Measures accesses without idle time, for comparison.
    WithoutIdle,
    /// Measures accesses.
    Measure,
    /// Mounts, and reads back the newest data.
    ReadBack,
    /// Continues the workload.
    Resume,
    /// Writes until the volume fails.
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

/// The reason for which an evaluation gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluateError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The device is neither the name of a profile nor a profile that can be read.
    Device {
        /// The device as given.
        device: String,
        /// Error of the profile.
        reason: ProfileError,
    },
    /// The file of a device profile cannot be read.
    Unreadable {
        /// The path as given.
        path: String,
        /// Error of the operating system.
        reason: String,
    },
    /// The chip has no such part.
    Part(PartError),
    /// The device is of another kind than the run requires.
    OtherKind {
        /// The device as given.
        device: String,
        /// Kind of the device.
        is: &'static str,
        /// Kind that the run requires.
        takes: &'static str,
        /// Names of the devices of this kind, separated by commas.
        known: String,
    },
    /// The workload does not fit into the bytes of the volume to use.
    TooSmall {
        /// Bytes to use.
        used_bytes: u64,
        /// Bytes that the workload needs.
        needed_bytes: u64,
    },
    /// The volume could not be formatted or mounted.
    Mount(MountError),
    /// A call failed.
    Volume {
        /// Phase of the call.
        phase: Phase,
        /// Number of the access in its phase, from 0.
        access: u64,
        /// The call.
        call: Call,
        /// Error of the call.
        error: Error,
    },
    /// A call exceeded its bound in operations.
    BoundBroken {
        /// Phase of the call.
        phase: Phase,
        /// Number of the access in its phase, from 0.
        access: u64,
        /// The call.
        call: Call,
        /// Operations of the call.
        observed: Cost,
        /// Bound just before the call.
        bound: Bound,
    },
    /// A call exceeded its bound in time.
    TimeBroken {
        /// Phase of the call.
        phase: Phase,
        /// Number of the access in its phase, from 0.
        access: u64,
        /// The call.
        call: Call,
        /// Nanoseconds of the call.
        observed_ns: u64,
        /// Bound just before the call, in nanoseconds.
        bound_ns: u64,
    },
    /// Consecutive calls together exceeded an envelope.
    EnvelopeBroken {
        /// Phase of the calls.
        phase: Phase,
        /// Number of the last of these calls in its phase, from 0.
        last_call: u64,
        /// Number of these calls.
        calls: u64,
        /// Nanoseconds of these calls together.
        observed_ns: u64,
        /// The promised envelope.
        envelope: Envelope,
    },
    /// Idle work took longer than the idle time.
    IdleBroken {
        /// Number of accesses before the idle work.
        access: u64,
        /// Nanoseconds of the idle work.
        observed_ns: u64,
        /// Nanoseconds of the idle time.
        budget_ns: u64,
    },
    /// Idle work failed.
    Idle {
        /// Number of accesses before the idle work.
        access: u64,
        /// Error of the idle work.
        error: Error,
    },
    /// A mount exceeded its bound in operations or in time.
    MountBroken {
        /// Operations of the mount.
        observed: Cost,
        /// Bound of the mount.
        bound: Cost,
        /// Nanoseconds of the mount.
        observed_ns: u64,
        /// Bound of the mount, in nanoseconds.
        bound_ns: u64,
    },
    /// Durable data is missing or wrong after the power came back.
    Lost {
        /// Name of the file.
        file: String,
        /// Offset of the first wrong byte.
        offset: u64,
    },
    /// The options request no access.
    NoAccess,
    /// The floor cannot be computed.
    Floor(FloorError),
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluateError::Option(error) => error.fmt(f),
            EvaluateError::Device { device, reason } => write!(f, "{device}: {reason}"),
            EvaluateError::Unreadable { path, reason } => {
                write!(f, "{path}: {reason}; expected the file of a profile")
            }
            EvaluateError::Part(error) => error.fmt(f),
            EvaluateError::OtherKind { device, is, takes, known } => {
                write!(f, "{device}: is {is}; this command takes {takes}: {known}")
            }
            EvaluateError::TooSmall { used_bytes, needed_bytes } => {
                let (used, needed) = (format_size(*used_bytes), format_size(*needed_bytes));
                write!(
                    f,
                    "{used} of the volume are set as used, but the workload needs {needed}: raise \
                     the fill or write less"
                )
            }
            EvaluateError::Mount(error) => error.fmt(f),
            EvaluateError::Volume { phase, access, call, error } => {
                write!(f, "{phase}, access {access}, {}: {error}", called(*call))
            }
            EvaluateError::BoundBroken { phase, access, call, observed, bound } => {
                write!(
                    f,
                    "{phase}, access {access}, {}: did {observed:?}, but its bound was {bound:?}",
                    called(*call)
                )
            }
            EvaluateError::TimeBroken { phase, access, call, observed_ns, bound_ns } => {
                let (observed, bound) =
                    (format_duration(*observed_ns as f64), format_duration(*bound_ns as f64));
                write!(
                    f,
                    "{phase}, access {access}, {}: took {observed}, but its bound was {bound}",
                    called(*call)
                )
            }
            EvaluateError::EnvelopeBroken { phase, last_call, calls, observed_ns, envelope } => {
                let (observed, most) = (*observed_ns as f64, envelope.most_ns(*calls) as f64);
                let (observed, most) = (format_duration(observed), format_duration(most));
                write!(
                    f,
                    "{phase}, the {calls} calls up to call {last_call}: took {observed} together, \
                     but the envelope {envelope:?} promised {most}"
                )
            }
            EvaluateError::IdleBroken { access, observed_ns, budget_ns } => {
                let (observed, budget) =
                    (format_duration(*observed_ns as f64), format_duration(*budget_ns as f64));
                write!(
                    f,
                    "idle work before access {access}: took {observed}, but its budget was {budget}"
                )
            }
            EvaluateError::Idle { access, error } => {
                write!(f, "idle work before access {access}: {error}")
            }
            EvaluateError::MountBroken { observed, bound, observed_ns, bound_ns } => {
                let (taken, most) =
                    (format_duration(*observed_ns as f64), format_duration(*bound_ns as f64));
                write!(
                    f,
                    "mount: did {observed:?} in {taken}, but its bound was {bound:?} in {most}"
                )
            }
            EvaluateError::Lost { file, offset } => {
                write!(
                    f,
                    "{file}: the data written at byte {offset} is missing after the power cut"
                )
            }
            EvaluateError::NoAccess => {
                f.write_str("there is nothing to measure: expected at least one access")
            }
            EvaluateError::Floor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EvaluateError {}

impl From<NotAllowed> for EvaluateError {
    fn from(error: NotAllowed) -> Self {
        EvaluateError::Option(error)
    }
}

impl From<PartError> for EvaluateError {
    fn from(error: PartError) -> EvaluateError {
        EvaluateError::Part(error)
    }
}

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
