"""The lab: access times of SteadyFS on simulated chips, and the buffer that a data rate needs.

Every function makes the runs of the command of the same name, with the same defaults and the same
numbers. A bar shows the progress of a run. Ctrl-C ends the run, and other threads go on meanwhile.

Rates, sizes and durations are numbers (bytes per second, bytes, nanoseconds), or text as on the
command line: ``"500kB/s"``, ``"4KiB"``, ``"20ms"``. Results are dataclasses. ``.frame()`` returns a
table of pandas, and ``.plot()`` a figure of matplotlib.

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
    Log,
    LogKind,
    RateRow,
    Replay,
    WithoutIdle,
)
from steadyfs.lab.tables import Advice, Bench, Costs, Medium, Realtime, Setting, Streams, Transactions
from steadyfs.lab.times import AnyTimes, Times, of_bytes, to_array, to_bytes
from steadyfs.words import Number, nanoseconds, rate, rate_list, seed_number, several, share, size, whole

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
    "Log",
    "LogKind",
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
"""The default input rates, in bytes per second."""
DEVICE = "mt29f1g01abafd"
"""The default chip."""

_ERASE_BLOCK_BYTES_MAX = (1 << 32) - 1
"""The largest erase block in bytes."""
_UNITS = ("ns", "us", "ms", "s")
"""Units of the times of a trace."""

StrPath = Union[str, "os.PathLike[str]"]


class Backlog(NamedTuple):
    """The level of an input buffer in bytes, rounded up."""

    left_bytes: int
    """Bytes left when an access ends, without the bytes that are being written."""
    peak_bytes: int
    """Bytes just before an access ends. They include its bytes."""


def _count(call: str, name: str, value: int, option: Optional[str] = None) -> int:
    """Return a count in the range that the lab allows for an option of a call.

    ``option`` is its name in the lab, if that is not the ``name`` of the argument.
    """
    least, most = _native.allowed(call)[option or name]
    return whole(value, name, most, least)


def _driver(call_us: int) -> int:
    """Return the time of the driver for a command, in microseconds."""
    return _count("evaluate", "call_us", call_us)


def _device(device: StrPath, name: str = "device") -> str:
    """Return the name of a device, or the path of a profile."""
    found = os.fspath(device) if isinstance(device, os.PathLike) else device
    if not isinstance(found, str):
        raise TypeError(f"{name} is {device!r}; expected a name of steadyfs.devices(), or the path of a profile in TOML")
    return found


def _chip(size_bytes: Optional[Number], erase_block_bytes: Optional[Number]) -> tuple[Optional[int], Optional[int]]:
    """Return the bytes of a part of a chip, and of its erase blocks."""
    return (
        None if size_bytes is None else size(size_bytes, "size_bytes"),
        None if erase_block_bytes is None else size(erase_block_bytes, "erase_block_bytes", most=_ERASE_BLOCK_BYTES_MAX),
    )


def _write_size(write_bytes: Number) -> int:
    """Return the bytes of a write: a write of no bytes sustains no rate."""
    return size(write_bytes, "write_bytes", *_native.allowed("evaluate")["write_bytes"])


def _beside(beside: Union[StrPath, tuple[str, StrPath], None]) -> Optional[tuple[Optional[str], str]]:
    """Return the label and the path of a trace."""
    if beside is None:
        return None
    if not isinstance(beside, tuple):
        return None, os.fspath(beside)
    if len(beside) != 2:
        raise ValueError(f"beside is {beside!r}; expected a path, or a label and a path")
    return beside[0], os.fspath(beside[1])


def evaluate(
    device: str = DEVICE,
    *,
    size_bytes: Optional[Number] = None,
    erase_block_bytes: Optional[Number] = None,
    fill: Number = 0.8,
    accesses: int = 20_000,
    write_bytes: Optional[Number] = None,
    rates: Sequence[Number] = DEFAULT_RATES,
    timing: str = "typical",
    call_us: int = 0,
    workload: str = "random",
    seed: int = 1,
    idle: Optional[Number] = None,
    burst_bytes: Number = 256 << 10,
    beside: Union[StrPath, tuple[str, StrPath], None] = None,
    progress: Progress = True,
) -> Evaluation:
    """Run SteadyFS on a simulated chip, and measure every access.

    - ``device``: a name of `steadyfs.devices`, or the path of a profile in TOML.
    - ``size_bytes``: bytes of the chip to use, from its beginning; by default all.
    - ``erase_block_bytes``: bytes of an erase block of NOR; by default from the profile.
    - ``fill``: the share of the usable space in use, from 0 to 1 or as ``"80%"``.
    - ``accesses``: the number of measured writes.
    - ``write_bytes``: bytes of each write; by default 4,096, or 64 in a log.
    - ``rates``: input rates in bytes per second. The result contains their buffers.
    - ``timing``: ``typical`` or ``maximum`` times of the datasheet.
    - ``call_us``: the time of the driver for each command to the chip, in microseconds. It is part
      of all times and bounds; 0 is the time of the flash alone.
    - ``workload``: ``random``, ``append``, ``log``, ``hot``, ``adversary`` or ``adversary-append``.
    - ``seed``: the same seed gives the same run.
    - ``idle``: the idle time before each burst, in nanoseconds or as ``"20ms"``; none by default.
    - ``burst_bytes``: bytes of a burst between two idle times.
    - ``beside``: the path of a trace of another file system for the same writes, or a label and
      the path.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, `OSError` for a trace that cannot be read, and
    `ValueError` or `TypeError` for an invalid trace or an argument that is out of range.
    """
    burst = size(burst_bytes, "burst_bytes", *_native.allowed("evaluate")["burst_bytes"])
    chip_bytes, block_bytes = _chip(size_bytes, erase_block_bytes)
    options: _native._EvaluateOptions = {
        "device": _device(device),
        "size_bytes": chip_bytes,
        "erase_block_bytes": block_bytes,
        "fill": share(fill, "fill"),
        "accesses": _count("evaluate", "accesses", accesses),
        "write_bytes": None if write_bytes is None else _write_size(write_bytes),
        "rates": rate_list(rates),
        "timing": timing,
        "call_us": _driver(call_us),
        "workload": workload,
        "seed": seed_number(seed),
        "idle": None if idle is None else (nanoseconds(idle, "idle"), burst),
    }
    peer = _beside(beside)
    with bar(progress) as tell:
        text, times = _native.evaluate_run(options, peer, tell)
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
    """Compute the buffers that measured access times of a board need.

    - ``trace``: a file in a format of `steady replay`, or an array of nanoseconds.
    - ``write_bytes``: bytes of each write; by default the size in a log of fio, else 4,096.
    - ``rates``: input rates in bytes per second. The result contains their buffers.
    - ``buffer_bytes``: a buffer. The result contains its highest rate. None by default.
    - ``unit``: the unit of the times if the header of the file names none: ``ns``, ``us``, ``ms``
      or ``s``.
    - ``name``: the name of the trace in figures; by default its path.

    A warning counts reads and trims of a log, which are left out. Raises `OSError` for a file that
    cannot be read, and `ValueError` or `TypeError` for an invalid trace or an argument that is out
    of range.

    >>> replay([1_000_000, 10_000_000, 1_000_000, 1_000_000], 4096, ["1MB/s"]).backlog[0].bytes
    5904
    """
    limit = None if buffer_bytes is None else size(buffer_bytes, "buffer_bytes")
    given, wanted = None if write_bytes is None else _write_size(write_bytes), rate_list(rates)
    if isinstance(trace, (str, os.PathLike)):
        if unit not in (None, *_UNITS):
            raise ValueError(f"unit is {unit!r}; expected one of {', '.join(_UNITS)}")
        path = os.fspath(trace)
        content, written, left_out = _native.read_trace(path, unit, given)
        times, label = of_bytes(content), path
        if left_out is not None:
            warnings.warn(f"{path}: {left_out}", stacklevel=2)
    else:
        if unit is not None:
            raise ValueError(f"unit is {unit!r}; expected none for an array, which has nanoseconds")
        times, label, written = to_array(trace), "access times", given or 4096
    text = _native.replay_run(name or label, to_bytes(times), written, wanted, limit)
    return replace(decode(Replay, text), access_ns=times)


def bench(
    device: str = DEVICE,
    *,
    size_bytes: Optional[Number] = None,
    erase_block_bytes: Optional[Number] = None,
    timing: str = "typical",
    call_us: int = 0,
    cases: Optional[Sequence[str]] = None,
    files: int = 500,
    cache_pages: int = 0,
    read_cache_pages: int = 0,
    erased: bool = False,
    seed: int = 1,
    progress: Progress = True,
) -> Bench:
    """Measure cases, each beside the limit of the chip itself. All thirty cases take minutes.

    - ``device``: a name of `steadyfs.devices`, or the path of a profile in TOML.
    - ``size_bytes``: bytes of NOR to use, from its beginning; by default all.
    - ``erase_block_bytes``: bytes of an erase block of NOR; by default from the profile.
    - ``timing``: ``typical`` or ``maximum`` times of the datasheet.
    - ``call_us``: the time of the driver for each command to the chip, in microseconds. It is part
      of all times and bounds; 0 is the time of the flash alone.
    - ``cases``: names as `steady bench --help` lists them; by default all.
    - ``files``: the number of files in the cases that open, create, stat and remove files.
    - ``cache_pages``, ``read_cache_pages``: pages of the write cache and of the read cache.
    - ``erased``: true lets the format erase the whole chip.
    - ``seed``: the same seed gives the same run.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, and `ValueError` or `TypeError` for an argument that is
    out of range.
    """
    arguments = (
        _device(device),
        *_chip(size_bytes, erase_block_bytes),
        timing,
        _driver(call_us),
        None if cases is None else several(cases, "cases", "names"),
        _count("bench", "files", files),
        _count("bench", "cache_pages", cache_pages),
        _count("bench", "read_cache_pages", read_cache_pages),
        erased,
        seed_number(seed),
    )
    with bar(progress) as tell:
        return decode(Bench, _native.bench_run(*arguments, tell))


def costs(
    device: str = DEVICE,
    *,
    size_bytes: Optional[Number] = None,
    erase_block_bytes: Optional[Number] = None,
    timing: str = "typical",
    call_us: int = 0,
    files: Optional[int] = None,
    seed: int = 1,
    progress: Progress = True,
) -> Costs:
    """Measure each call, and copies of files beside raw programs of the same bytes.

    - ``device``: a name of `steadyfs.devices`, or the path of a profile in TOML.
    - ``size_bytes``: bytes of the chip to use, from its beginning; by default all.
    - ``erase_block_bytes``: bytes of an erase block of NOR; by default from the profile.
    - ``timing``: ``typical`` or ``maximum`` times of the datasheet.
    - ``call_us``: the time of the driver for each command to the chip, in microseconds. It is part
      of all times and bounds; 0 is the time of the flash alone.
    - ``files``: the number of files; by default the most that fit the volume, up to 10,000.
    - ``seed``: the same seed gives the same run.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, and `ValueError` or `TypeError` for an argument that is
    out of range.
    """
    chip = (_device(device), *_chip(size_bytes, erase_block_bytes), timing, _driver(call_us))
    count = None if files is None else _count("costs", "files", files)
    with bar(progress) as tell:
        return decode(Costs, _native.costs_run(*chip, count, seed_number(seed), tell))


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
    """Measure how many programs and erases streams save.

    - ``device``: a name of `steadyfs.devices`, or the path of a profile in TOML; by default a
      device like an eMMC.
    - ``blocks``: the number of erase blocks to use, from the first one; by default all.
    - ``timing``: ``typical`` or ``maximum`` times of the datasheet.
    - ``writes``, ``ways``: names as `steady streams --help` lists them; by default all.
    - ``fills``: shares of the disk in use, from 0 to 1 or as ``"80%"``; by default 80 % and 90 %.
    - ``count``: the number of streams of a disk that has several, 2 to 4.
    - ``mixed``: true mixes all pages in one stream before the run.
    - ``seed``: the same seed gives the same run.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, and `ValueError` or `TypeError` for an argument that is
    out of range.
    """
    arguments = (
        None if device is None else _device(device),
        None if blocks is None else _count("streams", "blocks", blocks),
        timing,
        None if writes is None else several(writes, "writes", "names"),
        None if fills is None else [share(fill, "fills") for fill in several(fills, "fills", "shares")],
        None if ways is None else several(ways, "ways", "names"),
        _count("streams", "count", count, "streams"),
        mixed,
        seed_number(seed),
    )
    with bar(progress) as tell:
        return decode(Streams, _native.streams_run(*arguments, tell))


def realtime(
    cards: Optional[Sequence[str]] = None,
    nand: str = DEVICE,
    *,
    rate_bytes_per_s: Number = 500_000,
    ram_bytes: Number = 64 << 10,
    accesses: int = 100_000,
    fill: Number = 0.8,
    commit_every: int = 1,
    call_us: int = 0,
    seed: int = 1,
    progress: Progress = True,
) -> Realtime:
    """Compare media at an input rate: SD cards, SteadyFS on raw NAND, SteadyFS on the cards.

    - ``cards``: names of cards in `steadyfs.devices`; by default ``sd-industrial`` and
      ``sd-consumer``.
    - ``nand``: a name of `steadyfs.devices`, or the path of a profile in TOML.
    - ``rate_bytes_per_s``: the input rate, in bytes per second or as ``"500kB/s"``.
    - ``ram_bytes``: the RAM for buffer and file system.
    - ``accesses``: the number of measured writes, at least 1,000: a card seldom cleans.
    - ``fill``: the share of the usable space in use, from 0 to 1 or as ``"80%"``.
    - ``commit_every``: writes between two commits on the cards; raw NAND commits each write.
    - ``call_us``: the time of the driver for each command in microseconds. It is part of
      all times and bounds; 0 is the time of the flash alone.
    - ``seed``: the same seed gives the same run.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, and `ValueError` or `TypeError` for an argument that is
    out of range.
    """
    arguments = (
        None if cards is None else several(cards, "cards", "names"),
        _device(nand, "nand"),
        _count("realtime", "accesses", accesses),
        share(fill, "fill"),
        rate(rate_bytes_per_s, "rate_bytes_per_s"),
        size(ram_bytes, "ram_bytes"),
        _count("realtime", "commit_every", commit_every),
        _driver(call_us),
        seed_number(seed),
    )
    with bar(progress) as tell:
        return decode(Realtime, _native.realtime_run(*arguments, tell))


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
    """Measure the calls that pay for a commit. Count the finished copies that survive a power cut.

    - ``devices``: names of `steadyfs.devices`; by default a chip, a card and a disk.
    - ``timing``: ``typical`` or ``maximum`` times of the datasheet.
    - ``write_bytes``: bytes of each file.
    - ``files``: the number of files.
    - ``series``: the number of files that share one commit, ``files`` at most.
    - ``copies``: the number of copies before a power cut, on each managed device.
    - ``seed``: the same seed gives the same run.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, and `ValueError` or `TypeError` for an argument that is
    out of range.
    """
    count = _count("transactions", "files", files)
    arguments = (
        None if devices is None else several(devices, "devices", "names"),
        timing,
        size(write_bytes, "write_bytes", *_native.allowed("transactions")["write_bytes"]),
        count,
        min(_count("transactions", "series", series), count),
        _count("transactions", "copies", copies),
        seed_number(seed),
    )
    with bar(progress) as tell:
        text = _native.transactions_run(*arguments, tell)
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
    call_us: int = 0,
    effort: Number = 1.0,
    seed: int = 1,
    progress: Progress = True,
) -> Advice:
    """Recommend settings for a chip and a workload, from runs that this call makes.

    - ``device``: a name of `steadyfs.devices`, or the path of a profile in TOML.
    - ``workload``: ``log``, ``overwrite``, ``configuration`` or ``files``.
    - ``size_bytes``: bytes of NOR to use, from its beginning; by default all.
    - ``fill``: the share of the usable space in use, from 0 to 1 or as ``"80%"``.
    - ``timing``: ``typical`` or ``maximum`` times of the datasheet.
    - ``call_us``: the time of the driver for each command to the chip, in microseconds. It is part
      of all times and bounds; 0 is the time of the flash alone.
    - ``effort``: the share of the usual length of the runs. Shorter runs have fewer rare cases.
    - ``seed``: the same seed gives the same run.
    - ``progress``: true for a bar, or a function that takes the completed share and the phase.

    Raises `LabError` for an impossible run, and `ValueError` or `TypeError` for an argument that is
    out of range.
    """
    arguments = (
        _device(device),
        workload,
        _chip(size_bytes, None)[0],
        share(fill, "fill"),
        timing,
        _driver(call_us),
        share(effort, "effort"),
        seed_number(seed),
    )
    with bar(progress) as tell:
        text, words = _native.advise_run(*arguments, tell)
    return replace(decode(Advice, text), text=words)


def backlog(access_times: AnyTimes, rate: Number, write_bytes: Number) -> Optional[Backlog]:
    """Return the greatest backlog of a run that starts with an empty buffer.

    None if the rate is above 95 % of the mean rate: then the buffer depends on the length of the
    run.

    ``access_times`` are nanoseconds in order, or ``timedelta64``. Input arrives at ``rate``, in
    bytes per second. Each access removes ``write_bytes``. The arithmetic is exact. Raises
    `ValueError` or `TypeError` for an argument that is out of range.

    >>> import numpy as np
    >>> backlog(np.array([1, 10, 1, 1]) * 1_000_000, rate=1_000_000, write_bytes=4096)
    Backlog(left_bytes=5904, peak_bytes=10000)
    """
    found = _native.backlog_of(to_bytes(access_times), _rate(rate, "rate"), _write_size(write_bytes))
    return None if found is None else Backlog(*found)


def backlog_levels(access_times: AnyTimes, rate: Number, write_bytes: Number) -> Times:
    """Return the bytes left in the buffer after each access, in order.

    The rate may be higher than the medium can sustain. ``access_times``, ``rate`` and
    ``write_bytes``, and the errors, are as in `backlog`.

    >>> backlog_levels([1_000_000, 10_000_000, 1_000_000], 1_000_000, 4096)
    array([   0, 5904, 2808], dtype=uint64)
    """
    return of_bytes(_native.backlog_series(to_bytes(access_times), _rate(rate, "rate"), _write_size(write_bytes)))


def highest_rate(access_times: AnyTimes, write_bytes: Number, buffer_bytes: Number, *, peak: bool = False) -> Optional[int]:
    """Return the highest rate in bytes per second whose backlog fits a buffer.

    None if there is no limit. ``access_times`` and ``write_bytes``, and the errors, are as in
    `backlog`. The buffer has ``buffer_bytes``. With ``peak`` it also contains the bytes that are
    being written. Else these have RAM of their own.

    >>> highest_rate([250_000_000], 512, 0)
    2048
    """
    return _native.highest_rate(to_bytes(access_times), _write_size(write_bytes), size(buffer_bytes, "buffer_bytes"), peak)


_rate = rate
