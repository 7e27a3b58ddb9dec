"""The results of an evaluation and of a replayed trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Optional

import numpy as np

from steadyfs.lab import plots
from steadyfs.lab.table import frame_of
from steadyfs.lab.times import Times

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def _no_times() -> Times:
    return np.zeros(0, np.uint64)


@dataclass(frozen=True)
class EraseCount:
    """The spread of the erases of all good blocks."""

    min: int
    """Erases of the least worn block."""
    mean: float
    """Erases of a block on average."""
    max: int
    """Erases of the most worn block."""


@dataclass(frozen=True)
class BacklogRow:
    """The buffer that an input rate needs.

    Reserve ``peak_bytes``, or ``bytes`` if the write in progress has its own buffer. None stands
    for no finite buffer.
    """

    rate: int
    """Input rate in bytes per second."""
    bytes: Optional[int]
    """Most bytes left in the buffer after an access; None above 95 % of the mean rate."""
    peak_bytes: Optional[int]
    """Most bytes in the buffer within an access of this run; None above 95 % of the mean rate."""
    guaranteed_bytes: Optional[int]
    """Most bytes left after any access of any run; None if no finite number is promised."""
    grows: bool = False
    """True if the level still grew in the second half of the run: a longer run would need more."""


@dataclass(frozen=True)
class Floor:
    """Times of an ideal log with the same writes: the whole map is in RAM, and metadata is free."""

    mean_us: float
    """Mean access time, in microseconds."""
    max_us: float
    """Longest access time, in microseconds."""
    throughput_bytes_per_s: float
    """Mean throughput."""


@dataclass(frozen=True)
class WithoutIdle:
    """Accesses without idle time, on the same volume, just before the accesses with idle time.

    Times are microseconds.
    """

    mean_us: float
    """Mean access time."""
    p50_us: float
    """Half of the accesses take at most this time."""
    p99_us: float
    """99 % of the accesses take at most this time."""
    p999_us: float
    """99.9 % of the accesses take at most this time."""
    max_us: float
    """Longest access time."""
    accesses_with_moves: int
    """Number of accesses in which the volume moved pages."""
    accesses_with_erases: int
    """Number of accesses in which the volume erased a block."""


@dataclass(frozen=True)
class Idle:
    """Work of the volume in the idle time between bursts. Times are microseconds."""

    idle_us: float
    """Length of each idle time."""
    burst_bytes: int
    """Bytes written between two idle times."""
    bursts: int
    """Number of bursts."""
    prepared_bursts: int
    """Number of bursts for which the volume was prepared: nothing was left to prepare."""
    used_share: float
    """Share of the idle time that was used, from 0 to 1."""
    longest_us: float
    """Longest work in one idle time; never more than ``idle_us``."""
    reads: int
    """Page reads in idle time."""
    programs: int
    """Page programs in idle time."""
    erases: int
    """Block erases in idle time."""
    programs_per_data_page: float
    """Pages programmed for each page of data, idle work included."""
    throughput_bytes_per_s: float
    """Bytes per second when bursts and whole idle times alternate."""
    accesses_with_moves: int
    """Number of accesses in which the volume moved pages."""
    accesses_with_erases: int
    """Number of accesses in which the volume erased a block."""
    without: WithoutIdle
    """The same accesses without idle time."""


@dataclass(frozen=True)
class Beside:
    """Another file system beside the run. Times are microseconds."""

    label: str
    """Name of the other file system."""
    accesses: int
    """Number of accesses in its trace."""
    mean_us: float
    """Mean access time."""
    p50_us: float
    """Half of the accesses take at most this time."""
    p99_us: float
    """99 % of the accesses take at most this time."""
    p999_us: float
    """99.9 % of the accesses take at most this time."""
    max_us: float
    """Longest access time."""
    throughput_bytes_per_s: Optional[float]
    """Mean throughput; None if all accesses took no time."""
    refused: int = 0
    """Calls that the other file system refused. They have no access time."""


@dataclass(frozen=True)
class LogKind:
    """The accesses of one kind to a log. Times are microseconds."""

    accesses: int
    """Number of accesses."""
    mean_us: float
    """Mean access time."""
    max_us: float
    """Longest access time."""
    bound_us: float
    """Largest bound of an access."""


@dataclass(frozen=True)
class Log:
    """The accesses of a log by kind."""

    append: LogKind
    """Accesses that only append."""
    change: LogKind
    """Accesses that also remove the oldest file, create a new file, or both."""


@dataclass(frozen=True)
class Evaluation:
    """A file system on a simulated chip under a workload, measured call by call.

    Times are microseconds. They contain the time of the chip and, with ``call_us``, of its driver.
    """

    device: str
    """Name of the device profile."""
    timing: str
    """``typical`` or ``maximum``."""
    call_us: int
    """Time of the driver for each command."""
    fill: float
    """Share of the usable space that is used, from 0 to 1."""
    workload: str
    """Name of the workload."""
    write_bytes: int
    """Bytes of each write."""
    accesses: int
    """Number of measured accesses."""
    seed: int
    """Seed of the workload."""
    mean_us: float
    """Mean access time."""
    p50_us: float
    """Half of the accesses take at most this time."""
    p99_us: float
    """99 % of the accesses take at most this time."""
    p999_us: float
    """99.9 % of the accesses take at most this time."""
    max_us: float
    """Longest measured access time."""
    bound_us: float
    """Longest promised access time."""
    throughput_bytes_per_s: float
    """Mean throughput."""
    programs_per_data_page: float
    """Pages programmed for each page of data, metadata and moves included."""
    reads: int
    """Page reads during the measured accesses."""
    programs: int
    """Page programs during the measured accesses."""
    erases: int
    """Block erases during the measured accesses."""
    usable_bytes: int
    """Bytes that the volume offers."""
    ram_bytes: int
    """RAM of the file system."""
    mount_us: float
    """Time of a mount."""
    erase_count: EraseCount
    """The spread of erases at the end of the run."""
    backlog: tuple[BacklogRow, ...]
    """The buffer that each input rate needs."""
    floor: Floor
    """The floor for the same writes."""
    idle: Optional[Idle] = None
    """Idle time between bursts; None if the run has none."""
    log: Optional[Log] = None
    """The accesses of a log by kind; None if the run does not have both kinds."""
    beside: tuple[Beside, ...] = ()
    """Other file systems beside the run; empty if none was named."""
    access_ns: Times = field(default_factory=_no_times, repr=False, compare=False, metadata={"not_json": True})
    """Access times in nanoseconds, in order."""

    def frame(self) -> pd.DataFrame:
        """Return the buffer for each input rate as a table.

        Rates are bytes per second, levels bytes.
        """
        return frame_of(self.backlog)

    def plot(self) -> Figure:
        """Draw each access with the promised bound, and the buffer for each input rate."""
        return plots.evaluation(self)


@dataclass(frozen=True)
class RateRow:
    """The buffer that a trace needs at an input rate.

    Reserve ``peak_bytes``, or ``bytes`` if the write in progress has its own buffer. None stands
    for no finite buffer.
    """

    rate: int
    """Input rate in bytes per second."""
    bytes: Optional[int]
    """Most bytes left in the buffer after an access; None above 95 % of the mean rate."""
    peak_bytes: Optional[int]
    """Most bytes in the buffer within an access; None above 95 % of the mean rate."""
    grows: bool = False
    """True if the level still grew in the second half of the trace."""


@dataclass(frozen=True)
class HighestRate:
    """The highest rates for a buffer, in bytes per second."""

    buffer_bytes: int
    """Bytes of the buffer."""
    rate: Optional[int]
    """The rate if the data that is being written has its own RAM."""
    peak_rate: Optional[int]
    """The rate if the buffer also holds the data that is being written."""


@dataclass(frozen=True)
class EnvelopeRow:
    """Any n accesses in a row take at most ``burst_us + n · rate_us`` microseconds."""

    burst_us: float
    """Time beside the rate, once for the accesses in a row."""
    rate_us: float
    """Time for each access."""


@dataclass(frozen=True)
class Replay:
    """The needs of a trace of access times. Times are microseconds.

    The figures describe this trace, and promise nothing for another trace.
    """

    trace: str
    """Name of the trace."""
    write_bytes: int
    """Bytes of each write."""
    accesses: int
    """Number of accesses."""
    mean_us: float
    """Mean access time."""
    p50_us: float
    """Half of the accesses take at most this time."""
    p99_us: float
    """99 % of the accesses take at most this time."""
    p999_us: float
    """99.9 % of the accesses take at most this time."""
    max_us: float
    """Longest access time."""
    throughput_bytes_per_s: Optional[float]
    """Mean throughput; None if all accesses took no time."""
    backlog: tuple[RateRow, ...]
    """The buffer that each input rate needs."""
    highest_rate: Optional[HighestRate]
    """The highest rate for a buffer; None if no buffer was given."""
    envelope: tuple[EnvelopeRow, ...]
    """The tightest envelopes, from the mean to the longest access."""
    access_ns: Times = field(default_factory=_no_times, repr=False, compare=False, metadata={"not_json": True})
    """Access times in nanoseconds, in order."""

    def frame(self) -> pd.DataFrame:
        """Return the buffer for each input rate as a table.

        Rates are bytes per second, levels bytes.
        """
        return frame_of(self.backlog)

    def plot(self) -> Figure:
        """Draw each access, and the buffer for each input rate."""
        return plots.replay(self)
