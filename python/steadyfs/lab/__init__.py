"""The lab: access times of SteadyFS on simulated chips, and the buffer that a data rate needs.

Every function makes the runs of the command of the same name, with the same defaults and the same numbers. A bar shows how far a run is,
Ctrl-C ends it, and other threads go on meanwhile. Rates, sizes and durations are numbers (bytes per second, bytes, nanoseconds), or text as the command
line takes it: ``"500kB/s"``, ``"4KiB"``, ``"20ms"``. What comes back are dataclasses: ``.frame()`` is a table of pandas, and ``.plot()`` a
figure of matplotlib.

>>> import steadyfs
>>> run = steadyfs.evaluate(device="m25p16", accesses=500, fill=0.5, rates=["10kB/s"])
>>> run.max_us <= run.bound_us
True
>>> steadyfs.backlog(run.access_ns, "10kB/s", run.write_bytes).left_bytes == run.backlog[0].bytes
True
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Optional, Union

from steadyfs import _native
from steadyfs.lab.bar import Progress, Tell, bar
from steadyfs.lab.decode import DoesNotFit, decode
from steadyfs.lab.evaluation import (
    BacklogRow,
    Beside,
    EnvelopeRow,
    EraseCount,
    Evaluation,
    Floor,
    HighestRate,
    Idle,
    RateRow,
    Replay,
    WithoutIdle,
)
from steadyfs.lab.tables import Advice, Bench, Costs, Medium, Realtime, Setting, Streams, Transactions
from steadyfs.lab.times import AnyTimes, Times, of_bytes, to_array, to_bytes
from steadyfs.lab.words import Number, nanoseconds, rate, share, size

__all__ = [
    "DEFAULT_RATES",
    "Advice",
    "AnyTimes",
    "Backlog",
    "BacklogRow",
    "Bench",
    "Beside",
    "Costs",
    "DoesNotFit",
    "EnvelopeRow",
    "EraseCount",
    "Evaluation",
    "Floor",
    "HighestRate",
    "Idle",
    "Medium",
    "Number",
    "Progress",
    "RateRow",
    "Realtime",
    "Replay",
    "Setting",
    "Streams",
    "Tell",
    "Times",
    "Transactions",
    "WithoutIdle",
    "advise",
    "backlog",
    "backlog_levels",
    "bench",
    "costs",
    "evaluate",
    "highest_rate",
    "realtime",
    "replay",
    "streams",
    "transactions",
]

DEFAULT_RATES: tuple[Number, ...] = (100_000, 500_000, 1_000_000, 2_000_000)
"""The input rates looked at where none is given, in bytes per second."""
DEVICE = "mt29f1g01abafd"
"""The chip where none is named."""

StrPath = Union[str, "os.PathLike[str]"]


class Backlog(NamedTuple):
    """The level of an input buffer in bytes, rounded up."""

    left_bytes: int
    """Bytes left when an access ends: beside those that are being written."""
    peak_bytes: int
    """Bytes just before an access ends and its bytes leave."""


def evaluate(
    device: str = DEVICE,
    *,
    fill: Number = 0.8,
    accesses: int = 20_000,
    write_bytes: Optional[Number] = None,
    rates: Sequence[Number] = DEFAULT_RATES,
    timing: str = "typical",
    workload: str = "random",
    seed: int = 1,
    idle: Optional[Number] = None,
    burst_bytes: Number = 256 << 10,
    beside: Union[StrPath, tuple[str, StrPath], None] = None,
    progress: Progress = True,
) -> Evaluation:
    """Run SteadyFS on a simulated chip, and measure every access.

    ``device`` is a name of `steadyfs.devices` or a profile in TOML. ``fill`` is the share of the usable space in use, ``write_bytes`` those of
    each write (4,096, or 64 in a log), ``timing`` ``typical`` or ``maximum``, ``workload`` ``random``, ``append``, ``log``, ``hot``,
    ``adversary`` or ``adversary-append``. ``idle`` is the idle time before each burst of ``burst_bytes``. ``beside`` is a trace of another
    file system for the same writes, perhaps with a name. The same seed gives the same run.
    """
    pauses = None if idle is None else (nanoseconds(idle), size(burst_bytes))
    label, path = beside if isinstance(beside, tuple) else (None, beside)
    peer = None if path is None else (label, os.fspath(path))
    with bar(progress) as tell:
        text, times = _native.evaluate_run(
            str(device),
            share(fill),
            accesses,
            None if write_bytes is None else size(write_bytes),
            [rate(one) for one in rates],
            timing,
            workload,
            seed,
            pauses,
            peer,
            tell,
        )
    return replace(decode(Evaluation, text), access_ns=of_bytes(times))


def replay(
    trace: Union[StrPath, AnyTimes],
    write_bytes: Optional[Number] = None,
    rates: Sequence[Number] = DEFAULT_RATES,
    *,
    buffer_bytes: Optional[Number] = None,
    unit: Optional[str] = None,
    name: Optional[str] = None,
) -> Replay:
    """Tell what access times that were measured on a board need.

    ``trace`` is a file as `steady replay` takes it, whose times are of ``unit`` (``ns``, ``us``, ``ms``, ``s``) where its header names none; or
    an array of nanoseconds. ``buffer_bytes`` asks for the highest rate with such a buffer. ``write_bytes`` is by default the size in a log of fio, else 4,096; a warning
    names reads and trims of a log, which are left out.

    >>> replay([1_000_000, 10_000_000, 1_000_000, 1_000_000], 4096, ["1MB/s"]).backlog[0].bytes
    5904
    """
    if isinstance(trace, (str, os.PathLike)):
        path = os.fspath(trace)
        content, written, left_out = _native.read_trace(path, unit, None if write_bytes is None else size(write_bytes))
        times, label = of_bytes(content), path
        if left_out is not None:
            warnings.warn(f"{path}: {left_out}", stacklevel=2)
    else:
        times, label, written = to_array(trace), "access times", 4096 if write_bytes is None else size(write_bytes)
    limit = None if buffer_bytes is None else size(buffer_bytes)
    text = _native.replay_run(name or label, to_bytes(times), written, [rate(one) for one in rates], limit)
    return replace(decode(Replay, text), access_ns=times)


def bench(
    device: str = DEVICE,
    *,
    size_bytes: Optional[Number] = None,
    erase_block_bytes: Optional[Number] = None,
    timing: str = "typical",
    cases: Optional[Sequence[str]] = None,
    files: int = 500,
    cache_pages: int = 0,
    read_cache_pages: int = 0,
    erased: bool = False,
    seed: int = 1,
    progress: Progress = True,
) -> Bench:
    """Measure case after case, beside what the chip itself could do. All thirty take minutes; `steady bench --help` names them."""
    of_chip = None if size_bytes is None else size(size_bytes)
    of_block = None if erase_block_bytes is None else size(erase_block_bytes)
    chosen = None if cases is None else list(cases)
    with bar(progress) as tell:
        caches = (cache_pages, read_cache_pages)
        return decode(Bench, _native.bench_run(device, of_chip, of_block, timing, chosen, files, *caches, erased, seed, tell))


def costs(device: str = DEVICE, *, timing: str = "typical", files: Optional[int] = None, seed: int = 1, progress: Progress = True) -> Costs:
    """Tell what each call costs, and copying files beside raw programming. ``files`` is as many as the volume holds, up to 10,000."""
    with bar(progress) as tell:
        return decode(Costs, _native.costs_run(device, timing, files, seed, tell))


def streams(
    device: Optional[str] = None,
    *,
    blocks: Optional[int] = None,
    timing: str = "typical",
    writes: Optional[Sequence[str]] = None,
    fills: Optional[Sequence[Number]] = None,
    ways: Optional[Sequence[str]] = None,
    count: int = 3,
    mixed: bool = False,
    seed: int = 1,
    progress: Progress = True,
) -> Streams:
    """Tell what streams save. ``writes`` and ``ways`` are names as `steady streams --help` has them; without any all are compared."""
    chosen = [None if names is None else list(names) for names in (writes, ways)]
    shares = None if fills is None else [share(fill) for fill in fills]
    with bar(progress) as tell:
        text = _native.streams_run(device, blocks, timing, chosen[0], shares, chosen[1], count, mixed, seed, tell)
    return decode(Streams, text)


def realtime(
    cards: Optional[Sequence[str]] = None,
    nand: str = DEVICE,
    *,
    rate_bytes_per_s: Number = 500_000,
    ram_bytes: Number = 64 << 10,
    accesses: int = 100_000,
    fill: Number = 0.8,
    commit_every: int = 1,
    seed: int = 1,
    progress: Progress = True,
) -> Realtime:
    """Tell which medium keeps an input rate, and with which RAM: SD cards, SteadyFS on raw NAND, SteadyFS on the cards."""
    names = None if cards is None else list(cards)
    wanted, room = rate(rate_bytes_per_s), size(ram_bytes)
    with bar(progress) as tell:
        text = _native.realtime_run(names, nand, accesses, share(fill), wanted, room, commit_every, seed, tell)
    return decode(Realtime, text)


def transactions(
    devices: Optional[Sequence[str]] = None,
    *,
    timing: str = "typical",
    write_bytes: Number = 4096,
    files: int = 100,
    series: int = 8,
    copies: int = 1000,
    seed: int = 1,
    progress: Progress = True,
) -> Transactions:
    """Tell who pays for a commit, create, write, flush or close, and what is left of a finished copy when power fails."""
    names = None if devices is None else list(devices)
    with bar(progress) as tell:
        text = _native.transactions_run(names, timing, size(write_bytes), files, min(series, files), copies, seed, tell)
    found = json.loads(text)
    for device in found["devices"]:
        cache = device.pop("cache")
        device["cache_bytes"] = cache["volatile"]["bytes"] if isinstance(cache, dict) else None
    return decode(Transactions, found)


def advise(
    device: str,
    workload: str,
    *,
    size_bytes: Optional[Number] = None,
    fill: Number = 0.5,
    timing: str = "typical",
    effort: Number = 1.0,
    seed: int = 1,
    progress: Progress = True,
) -> Advice:
    """Recommend settings for a chip and a workload (``log``, ``overwrite``, ``configuration``, ``files``), from runs made there and then.

    ``effort`` is the share of the usual length of the runs: less is sooner, and knows less of what is rare.
    """
    of_chip = None if size_bytes is None else size(size_bytes)
    with bar(progress) as tell:
        text, words = _native.advise_run(device, workload, of_chip, share(fill), timing, share(effort), seed, tell)
    return replace(decode(Advice, text), text=words)


def backlog(access_times: AnyTimes, rate: Number, write_bytes: Number) -> Optional[Backlog]:
    """Return the greatest backlog of a run that starts with an empty buffer.

    None if the rate is above 95 % of the mean rate: there the buffer depends on the length of the run.

    Access times are nanoseconds in order, or ``timedelta64``. ``rate`` comes in, in bytes per second, and each access takes ``write_bytes`` away.
    The arithmetic is exact.

    >>> import numpy as np
    >>> backlog(np.array([1, 10, 1, 1]) * 1_000_000, rate=1_000_000, write_bytes=4096)
    Backlog(left_bytes=5904, peak_bytes=10000)
    """
    found = _native.backlog_of(to_bytes(access_times), _rate(rate), size(write_bytes))
    return None if found is None else Backlog(*found)


def backlog_levels(access_times: AnyTimes, rate: Number, write_bytes: Number) -> Times:
    """Return the bytes left in the buffer after each access, in order, also for rates that are not sustained.

    >>> backlog_levels([1_000_000, 10_000_000, 1_000_000], 1_000_000, 4096)
    array([   0, 5904, 2808], dtype=uint64)
    """
    return of_bytes(_native.backlog_series(to_bytes(access_times), _rate(rate), size(write_bytes)))


def highest_rate(access_times: AnyTimes, write_bytes: Number, buffer_bytes: Number, *, peak: bool = False) -> Optional[int]:
    """Return the highest rate in bytes per second whose backlog fits into a buffer; nothing where there is no limit.

    With ``peak`` the buffer holds the bytes that are being written too; else these have RAM of their own.

    >>> highest_rate([250_000_000], 512, 0)
    2048
    """
    return _native.highest_rate(to_bytes(access_times), size(write_bytes), size(buffer_bytes), peak)


_rate = rate
