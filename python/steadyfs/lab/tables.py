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
    """Erases of the least worn block."""
    mean: float
    """Erases of a block on average."""
    max: int
    """Erases of the most worn block."""


@dataclass(frozen=True)
class BenchRow:
    """A case: figures, or the reason why there are none."""

    case: str
    """Name of the case."""
    calls: Optional[int] = None
    """Number of measured calls."""
    mean_us: Optional[float] = None
    """Mean time of a call."""
    p99_us: Optional[float] = None
    """99 % of the calls take at most this time."""
    max_us: Optional[float] = None
    """Longest time of a call."""
    bound_us: Optional[float] = None
    """Largest bound of a call, computed just before the call."""
    bytes_per_s: Optional[float] = None
    """Bytes of data per second."""
    reads: Optional[int] = None
    """Page reads."""
    read_bytes: Optional[int] = None
    """Bytes read from the chip."""
    programs: Optional[int] = None
    """Page programs."""
    programmed_bytes: Optional[int] = None
    """Bytes programmed into the chip."""
    erases: Optional[int] = None
    """Block erases."""
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
    """Name of the device profile."""
    system: str
    """Name of the measured file system."""
    size_bytes: int
    """Bytes of the used part of the chip."""
    erase_block_bytes: int
    """Bytes of an erase block."""
    timing: str
    """``typical`` or ``maximum``."""
    call_us: int
    """Time of the driver for each command."""
    seed: int
    """Seed of places and orders."""
    usable_bytes: int
    """Bytes that the volume offers."""
    ram_bytes: int
    """RAM of the file system."""
    rows: tuple[BenchRow, ...]
    """The cases, in order."""

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
    """Name of the step."""
    calls: int
    """Number of steps."""
    programs_mean: float
    """Page programs of a step on average."""
    programs_max: int
    """Most page programs of a step."""
    reads_mean: float
    """Page reads of a step on average."""
    reads_max: int
    """Most page reads of a step."""
    erases_mean: float
    """Block erases of a step on average."""
    erases_max: int
    """Most block erases of a step."""
    mean_us: float
    """Mean time of a step."""
    max_us: float
    """Longest time of a step."""
    bound_us: float
    """Largest bound of a step, computed before its calls."""


@dataclass(frozen=True)
class CopyCost:
    """Mount, copy and unmount."""

    files: int
    """Number of copied files."""
    bytes: int
    """Bytes of all files."""
    write_bytes: int
    """Bytes of each write."""
    commits: str
    """``each_file`` or ``at_end``."""
    prepared: bool
    """True if idle work had erased the blocks before."""
    transaction_pages: int
    """Most pages of a transaction."""
    ram_bytes: int
    """RAM of the file system."""
    mount_us: float
    """Time of the mount before the copy."""
    copy_us: float
    """Time of the copy."""
    unmount_us: float
    """Time of the unmount."""
    total_us: float
    """Time of mount, copy and unmount."""
    raw_us: float
    """Time to program the bytes and nothing else."""
    ratio: float
    """``total_us / raw_us``."""
    ratio_with_erases: float
    """``total_us`` divided by the time of the programs and of the erases for the bytes."""
    reads: int
    """Page reads."""
    programs: int
    """Page programs."""
    raw_programs: int
    """Page programs that the bytes alone need."""
    journal_programs: int
    """Page programs of the journal."""
    leaf_programs: int
    """Page programs of the map."""
    root_programs: int
    """Page programs of roots."""
    erases: int
    """Block erases."""
    raw_erases: int
    """Block erases that the bytes alone need."""
    mount_after_us: float
    """Time of a mount after the copy."""


@dataclass(frozen=True)
class SkippedCopy:
    """A copy that was not measured, because the volume has no room for it."""

    files: int
    """Number of files."""
    bytes: int
    """Bytes of all files."""
    commits: str
    """``each_file`` or ``at_end``."""
    prepared: bool
    """True if idle work would have erased the blocks before."""
    large: bool
    """True if large transactions were requested."""
    reason: str
    """Reason why it was not measured."""


@dataclass(frozen=True)
class Costs:
    """The cost of each call, and the cost of copies beside plain programs of their bytes."""

    device: str
    """Name of the device profile."""
    timing: str
    """``typical`` or ``maximum``."""
    call_us: int
    """Time of the driver for each command."""
    files: int
    """Number of files in the large directory."""
    seed: int
    """Seed of the order of files."""
    usable_bytes: int
    """Bytes that the volume offers."""
    used_bytes: int
    """Bytes in use when the data was measured."""
    calls: tuple[CallCost, ...]
    """The steps."""
    copies: tuple[CopyCost, ...]
    """The copies."""
    skipped: tuple[SkippedCopy, ...] = ()
    """Copies without room."""

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
    """Name of the writes."""
    fill: float
    """Share of the disk in use, from 0 to 1."""
    streams: str
    """Name of the way to use streams."""
    pages: int
    """Logical pages in use."""
    moved_per_page: float
    """Pages moved for each page written."""
    amplification: float
    """Write amplification: pages programmed for each page written, everything included."""
    mean_us: float
    """Mean time of a write."""
    max_us: float
    """Longest time of a write."""
    bound_us: float
    """Largest bound of a write."""
    bytes_per_s: float
    """Bytes written per second."""
    erases: int
    """Block erases."""
    life_bytes: int
    """Bytes that can be written at this pace until all erases are used."""
    ram_bytes: int
    """RAM of the disk."""
    over_time: tuple[float, ...]
    """Amplification in each of 60 equal parts of the run."""
    mean_us_over_time: tuple[float, ...]
    """Mean time of a write in each of these parts."""


@dataclass(frozen=True)
class Streams:
    """The savings by streams: data that dies together lies together."""

    device: str
    """Name of the device profile."""
    page_bytes: int
    """Bytes of a page."""
    pages_per_block: int
    """Pages of an erase block."""
    blocks: int
    """Number of erase blocks."""
    stream_count: int
    """Streams of a disk that has several."""
    mixed: bool
    """True if one stream mixed all pages before the run."""
    seed: int
    """Seed of the places."""
    rows: tuple[StreamsRow, ...]
    """The runs."""

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
    """Input rate."""
    buffer_bytes: Optional[int]
    """Bytes of the buffer; None above 95 % of the mean rate."""
    uncleaned_bytes: Optional[int] = None
    """Bytes of the buffer without the device's own cleaning; None on raw flash."""
    grows: bool = False
    """True if the level still grew in the second half of the run."""


@dataclass(frozen=True)
class RealtimeRow:
    """The measurements of one medium."""

    medium: Medium
    """The medium, and the file system on it."""
    commit_every: int
    """Writes between two commits."""
    access_bytes: int
    """Bytes of an access."""
    mean_us: float
    """Mean access time."""
    p999_us: float
    """99.9 % of the accesses take at most this time."""
    max_us: float
    """Longest access time."""
    max_root_us: Optional[float]
    """Longest access in which SteadyFS wrote a root on a card."""
    max_uncleaned_us: Optional[float]
    """Longest access without the device's own cleaning; None on raw flash."""
    cleanings: Optional[int]
    """Number of times that the device cleaned; None on raw flash."""
    bound_us: Optional[float]
    """Bound of an access; on a card it follows from the profile."""
    backlog: tuple[RealtimeBacklog, ...]
    """The buffer that each input rate needs."""
    ram_bytes: int
    """RAM of the file system."""
    usable_bytes: int
    """Bytes that the volume offers."""
    written_per_byte: float
    """Bytes written to the medium for each byte of the caller."""
    flushes_per_access: float
    """Flushes of the device for each access."""
    stream_bytes_per_s: Optional[float]
    """Rate of a stream in order; None on raw flash and with FAT."""
    worst_ns: tuple[int, ...]
    """The consecutive accesses that took longest together, in nanoseconds."""


@dataclass(frozen=True)
class RealtimeAdvice:
    """The result of one medium for a rate."""

    system: str
    """The medium, and the file system on it."""
    commit_every: int
    """Writes between two commits."""
    buffer_bytes: Optional[int]
    """Bytes of the buffer; None for no finite buffer."""
    uncleaned_bytes: Optional[int]
    """Bytes of the buffer without the device's own cleaning; None on raw flash."""
    file_system_bytes: int
    """RAM of the file system."""
    answer: str
    """``yes``, ``too_much_ram``, ``loses_too_much`` or ``run_too_short``."""
    guarantee: str
    """``computed``, ``by_profile`` or ``none``."""
    lost_bytes: Optional[int]
    """Bytes that a power cut may lose, in commit and buffer together."""
    lost_ms: Optional[float]
    """Milliseconds of input that a power cut may lose."""
    written_per_byte: float
    """Bytes written to the medium for each byte of the caller."""
    near_mean: bool = False
    """True if the rate is above 95 % of the mean rate, but not above the mean rate."""


@dataclass(frozen=True)
class Realtime:
    """The media that keep an input rate, and the RAM for it."""

    accesses: int
    """Number of measured accesses."""
    fill: float
    """Share of the usable space in use, from 0 to 1."""
    call_us: int
    """Time of the driver for each command."""
    rows: tuple[RealtimeRow, ...]
    """The measurements of each medium."""
    rate: int
    """Input rate of the advice, in bytes per second."""
    ram_bytes: int
    """RAM for buffer and file system."""
    advice: tuple[RealtimeAdvice, ...]
    """The result of each medium."""

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
    """The file system."""
    commit_on: str
    """Name of the event that commits."""
    us: tuple[float, ...]
    """Create, write, flush, close, and the commit after the calls."""
    flush_us: tuple[float, ...]
    """The part of each time in which the device emptied its cache."""
    file_us: float
    """Mean of the whole time for a file."""
    flushes_per_file: float
    """Flushes of the device for each file."""
    max_us: float
    """Longest of the four calls."""


@dataclass(frozen=True)
class Copies:
    """State of finished copies after a power cut."""

    system: str
    """The file system."""
    copies: int
    """Number of copies."""
    whole: int
    """Copies that are whole after the power cut."""
    short: int
    """Copies that are too short."""
    wrong: int
    """Copies with other bytes."""
    missing: int
    """Copies that are missing."""
    unmountable: int
    """Copies on a volume that cannot be mounted."""


@dataclass(frozen=True)
class TransactionsSkipped:
    """A row that was not measured."""

    system: str
    """The file system."""
    commit_on: str
    """Name of the event that commits."""
    reason: str
    """Reason why it was not measured."""


@dataclass(frozen=True)
class TransactionsDevice:
    """The rows of a device."""

    device: str
    """Name of the device."""
    cache_bytes: Optional[int]
    """Bytes of its volatile cache; None if it has no cache, and on raw flash."""
    rows: tuple[TransactionsRow, ...]
    """The times for each choice of events."""
    copies: tuple[Copies, ...]
    """The state of copies after a power cut."""
    skipped: tuple[TransactionsSkipped, ...] = ()
    """Rows that were not measured."""


@dataclass(frozen=True)
class Transactions:
    """The time that commits add to create, write, flush or close.

    Also the state of finished copies after a power cut.
    """

    write_bytes: int
    """Bytes of each file."""
    files: int
    """Number of files."""
    series: int
    """Number of files that share one commit."""
    devices: tuple[TransactionsDevice, ...]
    """The rows of each device."""

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
    """Bytes of an erase block."""
    pages_per_logical_page: int
    """Program pages of a logical page."""
    overlay_entries: int
    """Entries of the overlay."""
    cache_pages: int
    """Pages of the write cache."""
    ram_bytes: int
    """RAM of the file system."""
    mean_us: float
    """Mean time of a step."""
    max_us: float
    """Longest time of a step."""
    bound_us: float
    """Largest bound of a step."""
    life_bytes: Optional[float]
    """Bytes that can be written until all erases are used; None if the run had too few erases."""
    usable_bytes: int
    """Bytes that the volume offers."""


@dataclass(frozen=True)
class Advice:
    """Settings that suit a chip, a size and a workload."""

    device: str
    """Name of the device profile."""
    workload: str
    """Name of the workload."""
    fill: float
    """Share of the usable space in use, from 0 to 1."""
    tried: int
    """Number of tried combinations."""
    unfit: int
    """Number of combinations that do not fit the chip or its data."""
    settings: tuple[Setting, ...]
    """The best combination, then for each setting the best combination with another value of it."""
    fill_max: float
    """Largest share of the chip for data at which a mean step takes at most a quarter longer."""
    code_bytes: int
    """Bytes of code for these settings, on a Cortex-M3."""
    features: tuple[str, ...]
    """Cargo features of the build."""
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
