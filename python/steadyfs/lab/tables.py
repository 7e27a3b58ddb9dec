"""The results of `bench`, `costs`, `streams`, `realtime`, `transactions` and `advise`.

Durations are microseconds, and contain the time of the chip alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Optional

from steadyfs.lab import plots
from steadyfs.lab.table import frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Wear:
    """Erases of blocks."""

    min: int
    mean: float
    max: int


@dataclass(frozen=True)
class BenchRow:
    """A case: figures, or the reason why there are none."""

    case: str
    calls: Optional[int] = None
    mean_us: Optional[float] = None
    p99_us: Optional[float] = None
    max_us: Optional[float] = None
    bound_us: Optional[float] = None
    """Largest bound of a call, computed just before the call."""
    bytes_per_s: Optional[float] = None
    reads: Optional[int] = None
    read_bytes: Optional[int] = None
    programs: Optional[int] = None
    programmed_bytes: Optional[int] = None
    erases: Optional[int] = None
    wear: Optional[Wear] = None
    """Erases of a block since the chip was new, over all blocks."""
    data_wear: Optional[Wear] = None
    """Erases of a block since the chip was new, over the blocks that hold data in turn."""
    limit_us: Optional[float] = None
    """Least mean time of a call on the chip itself."""
    skipped: Optional[str] = None
    """Reason why the case was not measured: there is no room for it."""
    failed: Optional[str] = None
    """Reason of the failure."""


@dataclass(frozen=True)
class Bench:
    """Case after case on a simulated chip, beside the limit of the chip."""

    device: str
    system: str
    size_bytes: int
    erase_block_bytes: int
    timing: str
    call_us: int
    seed: int
    usable_bytes: int
    ram_bytes: int
    rows: tuple[BenchRow, ...]

    def frame(self) -> pd.DataFrame:
        """Return the cases as a table."""
        return frame_of(self.rows)

    def plot(self) -> Figure:
        """Draw the mean of each case beside the limit of the chip."""
        return plots.bench(self)


@dataclass(frozen=True)
class CallCost:
    """Mean and maximum of many steps of one kind. Each step is a call with its commit."""

    call: str
    calls: int
    programs_mean: float
    programs_max: int
    reads_mean: float
    reads_max: int
    erases_mean: float
    erases_max: int
    mean_us: float
    max_us: float
    bound_us: float


@dataclass(frozen=True)
class CopyCost:
    """Mount, copy and unmount."""

    files: int
    bytes: int
    write_bytes: int
    commits: str
    """``each_file`` or ``at_end``."""
    prepared: bool
    """True if idle work had erased the blocks before."""
    transaction_pages: int
    ram_bytes: int
    mount_us: float
    copy_us: float
    unmount_us: float
    total_us: float
    raw_us: float
    """Time to program the bytes and nothing else."""
    ratio: float
    """``total_us / raw_us``."""
    ratio_with_erases: float
    reads: int
    programs: int
    raw_programs: int
    journal_programs: int
    leaf_programs: int
    root_programs: int
    erases: int
    raw_erases: int
    mount_after_us: float


@dataclass(frozen=True)
class SkippedCopy:
    """A copy that was not measured, because the volume has no room for it."""

    files: int
    bytes: int
    commits: str
    prepared: bool
    large: bool
    """True if large transactions were requested."""
    reason: str


@dataclass(frozen=True)
class Costs:
    """The cost of each call, and the cost of copies beside plain programs of their bytes."""

    device: str
    timing: str
    call_us: int
    files: int
    seed: int
    usable_bytes: int
    used_bytes: int
    calls: tuple[CallCost, ...]
    copies: tuple[CopyCost, ...]
    skipped: tuple[SkippedCopy, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return the calls as a table."""
        return frame_of(self.calls)

    def copies_frame(self) -> pd.DataFrame:
        """Return the copies as a table."""
        return frame_of(self.copies)

    def plot(self) -> Figure:
        """Draw mean, maximum and bound of each call."""
        return plots.costs(self)


@dataclass(frozen=True)
class StreamsRow:
    """A run: the writes, and the use of streams by the disk."""

    writes: str
    fill: float
    streams: str
    pages: int
    moved_per_page: float
    amplification: float
    """Write amplification: pages programmed for each page written, everything included."""
    mean_us: float
    max_us: float
    bound_us: float
    bytes_per_s: float
    erases: int
    life_bytes: int
    """Bytes that can be written at this pace until all erases are used."""
    ram_bytes: int
    over_time: tuple[float, ...]
    """Amplification in each of 60 equal parts of the run."""
    mean_us_over_time: tuple[float, ...]


@dataclass(frozen=True)
class Streams:
    """The savings by streams: data that dies together lies together."""

    device: str
    page_bytes: int
    pages_per_block: int
    blocks: int
    stream_count: int
    mixed: bool
    seed: int
    rows: tuple[StreamsRow, ...]

    def frame(self) -> pd.DataFrame:
        """Return the runs as a table."""
        return frame_of(self.rows)

    def plot(self) -> Figure:
        """Draw the amplification of each run."""
        return plots.streams(self)


@dataclass(frozen=True)
class Medium:
    """A medium and the file system on it. Only the field of that combination is set."""

    device: Optional[str] = None
    """A managed device as it is."""
    raw_flash: Optional[str] = None
    """SteadyFS on raw flash."""
    fat: Optional[str] = None
    """FAT, written through, on a managed device."""
    steady_fs: Optional[str] = None
    """SteadyFS on a managed device."""

    def __str__(self) -> str:
        if self.fat is not None:
            return f"FAT on {self.fat}"
        name = self.raw_flash or self.steady_fs
        return f"SteadyFS on {name}" if name is not None else str(self.device)


@dataclass(frozen=True)
class RealtimeBacklog:
    """Bytes in the buffer at an input rate, in bytes per second."""

    rate: int
    buffer_bytes: Optional[int]
    uncleaned_bytes: Optional[int] = None
    grows: bool = False
    """True if the level still grew in the second half of the run."""


@dataclass(frozen=True)
class RealtimeRow:
    """The measurements of one medium."""

    medium: Medium
    commit_every: int
    mean_us: float
    p999_us: float
    max_us: float
    max_root_us: Optional[float]
    max_uncleaned_us: Optional[float]
    cleanings: Optional[int]
    bound_us: Optional[float]
    backlog: tuple[RealtimeBacklog, ...]
    ram_bytes: int
    usable_bytes: int
    written_per_byte: float
    flushes_per_access: float
    worst_ns: tuple[int, ...]
    """The consecutive accesses that took longest together, in nanoseconds."""


@dataclass(frozen=True)
class RealtimeAdvice:
    """The result of one medium for a rate."""

    system: str
    commit_every: int
    buffer_bytes: Optional[int]
    uncleaned_bytes: Optional[int]
    file_system_bytes: int
    answer: str
    """``yes``, ``too_much_ram``, ``loses_too_much`` or ``run_too_short``."""
    guarantee: str
    """``computed``, ``by_profile`` or ``none``."""
    lost_bytes: Optional[int]
    """Bytes that a power cut may lose, in commit and buffer together."""
    lost_ms: Optional[float]
    written_per_byte: float
    near_mean: bool = False
    """True if the rate is above 95 % of the mean rate, but not above the mean rate."""


@dataclass(frozen=True)
class Realtime:
    """The media that keep an input rate, and the RAM for it."""

    accesses: int
    fill: float
    call_us: int
    rows: tuple[RealtimeRow, ...]
    rate: int
    ram_bytes: int
    advice: tuple[RealtimeAdvice, ...]

    def frame(self) -> pd.DataFrame:
        """Return the advice as a table."""
        return frame_of(self.advice)

    def plot(self) -> Figure:
        """Draw the buffer that each medium needs for each rate."""
        return plots.realtime(self)


@dataclass(frozen=True)
class TransactionsRow:
    """Median times of the calls under one choice of events."""

    system: str
    commit_on: str
    us: tuple[float, ...]
    """Create, write, flush, close, and the commit after the calls."""
    flush_us: tuple[float, ...]
    """The part of each time in which the device emptied its cache."""
    file_us: float
    """Mean of the whole time for a file."""
    flushes_per_file: float
    max_us: float


@dataclass(frozen=True)
class Copies:
    """State of finished copies after a power cut."""

    system: str
    copies: int
    whole: int
    short: int
    wrong: int
    missing: int
    unmountable: int


@dataclass(frozen=True)
class TransactionsSkipped:
    """A row that was not measured."""

    system: str
    commit_on: str
    reason: str


@dataclass(frozen=True)
class TransactionsDevice:
    """The rows of a device."""

    device: str
    cache_bytes: Optional[int]
    """Bytes of its volatile cache; None if it has no cache, and on raw flash."""
    rows: tuple[TransactionsRow, ...]
    copies: tuple[Copies, ...]
    skipped: tuple[TransactionsSkipped, ...] = ()


@dataclass(frozen=True)
class Transactions:
    """The time that commits add to create, write, flush or close.

    Also the state of finished copies after a power cut.
    """

    write_bytes: int
    files: int
    series: int
    devices: tuple[TransactionsDevice, ...]

    CALLS = ("create", "write", "flush", "close", "after")

    def frame(self) -> pd.DataFrame:
        """Return the rows of all devices as a table, with the calls as columns."""
        pairs = [(device, row) for device in self.devices for row in device.rows]
        heads = [{"device": device.device, **{f"{call}_us": us for call, us in zip(self.CALLS, row.us)}} for device, row in pairs]
        return frame_of([row for _, row in pairs], heads)

    def copies_frame(self) -> pd.DataFrame:
        """Return the state of copies as a table."""
        pairs = [(device, row) for device in self.devices for row in device.copies]
        return frame_of([row for _, row in pairs], [{"device": device.device} for device, _ in pairs])

    def plot(self) -> Figure:
        """Draw the time of each call, for each choice of events."""
        return plots.transactions(self)


@dataclass(frozen=True)
class Setting:
    """A combination of settings, with its RAM and times."""

    differs: Optional[str]
    """The setting in which it differs from the best; None for the best."""
    block_bytes: int
    pages_per_logical_page: int
    overlay_entries: int
    cache_pages: int
    ram_bytes: int
    mean_us: float
    max_us: float
    bound_us: float
    life_bytes: Optional[float]
    usable_bytes: int


@dataclass(frozen=True)
class Advice:
    """Settings that suit a chip, a size and a workload."""

    device: str
    workload: str
    fill: float
    tried: int
    unfit: int
    settings: tuple[Setting, ...]
    """The best combination, then for each setting the best combination with another value of it."""
    fill_max: float
    """Largest share of the chip for data at which a mean step takes at most a quarter longer."""
    code_bytes: int
    features: tuple[str, ...]
    rust: str
    """The settings in Rust."""
    c: str
    """The settings in C."""
    text: str = field(default="", repr=False, metadata={"not_json": True})
    """The recommended settings, their cost, and the reasons."""

    @property
    def best(self) -> Setting:
        """The recommended settings."""
        return self.settings[0]

    def frame(self) -> pd.DataFrame:
        """Return the settings as a table, the best first."""
        return frame_of(self.settings)

    def plot(self) -> Figure:
        """Draw RAM and time of the best, and of its neighbours."""
        return plots.advice(self)
