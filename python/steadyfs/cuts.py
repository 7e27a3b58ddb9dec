"""Campaigns of power cuts: `steady torture` and the siege on Dask, into Parquet.

A *shard* is one run with one seed. It cuts power in one workload, or in the lives of some volumes.
It gives one row: counts, and a string that replays each failure. A campaign has a directory like a
sweep (`steadyfs.sweeping`), and may be killed at any time.

>>> import steadyfs, tempfile
>>> grid = {"geometry": "small", "workload": ["log", "files"], "fault": "none", "steps": 3}
>>> found = steadyfs.torture(grid, seeds=range(2), into=tempfile.mkdtemp(), workers=1, progress=False)
>>> len(found.frame()), found.failures()
(4, [])
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Optional, Union

from steadyfs import _native
from steadyfs.lab.decode import decode
from steadyfs.running import Results, Scheduler, StrPath, Values, make, points, warn
from steadyfs.runs import Columns, Row, Run, Scalar, argument_columns
from steadyfs.store import Plan
from steadyfs.words import COUNT_MAX, seed_number, several, whole

TORTURE_AXES = ("geometry", "workload", "fault", "mode", "steps")
"""Axes of a torture."""
SIEGE_AXES = ("campaign", "medium", "streams", "long_logs", "full", "cache", "volumes")
"""Axes of a siege."""

COUNTS = ("cuts", "torn_cuts", "double_cuts", "states", "faults")
"""Counts of a torture."""
_FAILURES: Columns = (("failures", "strings"), ("reasons", "strings"))
TORTURE_USUAL = dict(zip(TORTURE_AXES, _native.torture_usual()))
"""Default geometries, workloads and faults of `steady torture`."""


@dataclass(frozen=True)
class _Tortured:
    """The output of `steady torture --json`."""

    mode: str
    seed: int
    cuts: int
    torn_cuts: int
    double_cuts: int
    states: int
    faults: int
    workloads: int
    failures: tuple[str, ...]
    reasons: tuple[str, ...]
    complete: Optional[bool]
    seconds: float


@dataclass(frozen=True)
class _Besieged:
    """The results of volumes."""

    failures: tuple[str, ...]
    reasons: tuple[str, ...]
    counts: str


@dataclass(frozen=True)
class Torture(Run):
    """A shard of a torture: one workload on one volume with one kind of fault.

    Power is cut in every operation.
    """

    geometry: str
    workload: str
    fault: str
    mode: str = "every"
    steps: Optional[int] = None
    seed: int = 1

    def figures(self) -> Row:
        """Cut power, and return the counts."""
        text = _native.torture_run(self.geometry, self.workload, self.fault, self.mode, self.steps, self.seed, None)
        found = decode(_Tortured, text)
        counts: Row = {name: getattr(found, name) for name in COUNTS}
        return {**counts, "failures": [f"steady torture --replay {replay}" for replay in found.failures], "reasons": list(found.reasons)}

    def command(self) -> str:
        """Return the command that makes the cuts again."""
        words = ["steady", "torture", "--geometry", self.geometry, "--workload", self.workload, "--fault", self.fault]
        words += ["--mode", self.mode, "--seed", str(self.seed)]
        return shlex.join(words if self.steps is None else [*words, "--steps", str(self.steps)])


@dataclass(frozen=True)
class Siege(Run):
    """A shard of a siege: the lives of some volumes."""

    campaign: str
    medium: str = "chip"
    streams: bool = False
    long_logs: bool = False
    full: bool = False
    cache: bool = False
    volumes: int = 20
    seed: int = 1

    def figures(self) -> Row:
        """Run the lives of the volumes."""
        text = _native.siege_run(self.campaign, self.medium, self.streams, self.long_logs, self.full, self.cache, self.volumes, self.seed, None)
        found = decode(_Besieged, text)
        return {"counts": found.counts, "failures": list(found.failures), "reasons": list(found.reasons)}

    def command(self) -> str:
        """Return the command that makes the campaign again."""
        words = ["cargo", "run", "--release", "-p", "steadyfs-siege", "--", self.campaign]
        words += ["--seed", str(self.seed), "--volumes", str(self.volumes), "--medium", self.medium]
        flags = {"--streams": self.streams, "--long-logs": self.long_logs, "--full": self.full, "--cache": self.cache}
        return shlex.join([*words, *(flag for flag, is_set in flags.items() if is_set)])


Shard = Union[Torture, Siege]
"""A shard of a campaign."""


@dataclass(frozen=True)
class Campaign(Results):
    """The results of a campaign: a row for each shard."""

    def failures(self) -> list[tuple[str, str]]:
        """Return the commands that replay failures, each with its finding."""
        frame = self.frame()
        possible = frame[frame["error"].isna()]
        found = [zip(commands, reasons) for commands, reasons in zip(possible["failures"], possible["reasons"])]
        return [(str(command), str(reason)) for pairs in found for command, reason in pairs]


def torture(
    grid: Mapping[str, Values],
    seeds: Iterable[int] = (1,),
    *,
    into: StrPath,
    scheduler: Scheduler = None,
    workers: Optional[int] = None,
    progress: bool = True,
) -> Campaign:
    """Cut power in every operation of workloads with each seed, as `steady torture` does.

    Returns the campaign with its table.

    - ``grid``: values by axis. The axes are ``geometry``, ``workload``, ``fault``, ``mode``
      (``every``, ``sampled``, ``exhaustive``) and ``steps``, with the names of the command. The
      first three have the defaults of the command.
    - ``seeds``, ``into``, ``scheduler``, ``workers``, ``progress``: as in `steadyfs.sweep`.

    Raises `steadyfs.sweeping.SweepError` if shards have no result, and `ValueError` for an unknown
    axis or value. Warns of failures with `steadyfs.sweeping.SweepWarning`.
    """
    shards = [
        Torture(
            str(point["geometry"]),
            str(point["workload"]),
            str(point["fault"]),
            str(point.get("mode", "every")),
            _whole(point, "steps") if "steps" in point else None,
        )
        for point in points({**TORTURE_USUAL, **grid}, TORTURE_AXES)
    ]
    for shard in shards:
        _native.torture_check(shard.geometry, shard.workload, shard.fault, shard.mode, shard.steps)
    columns = tuple((name, "int64") for name in COUNTS)
    return _campaign("torture", into, grid, shards, seeds, columns, scheduler, workers, progress)


def siege(
    grid: Mapping[str, Values],
    seeds: Iterable[int] = (1,),
    *,
    into: StrPath,
    scheduler: Scheduler = None,
    workers: Optional[int] = None,
    progress: bool = True,
) -> Campaign:
    """Run the lives of volumes in a siege with each seed.

    The siege has a model of its own, made from the documentation alone. Returns the campaign with
    its table.

    - ``grid``: values by axis. The axes are ``campaign`` (by default all), ``medium`` (``chip``,
      ``card``), ``streams``, ``long_logs``, ``full``, ``cache`` and ``volumes``, the number of
      lives of a shard.
    - ``seeds``, ``into``, ``scheduler``, ``workers``, ``progress``: as in `steadyfs.sweep`.

    Raises and warns as `torture` does.
    """
    usual: dict[str, Values] = {"campaign": _native.siege_campaigns()}
    shards = [
        Siege(
            str(point["campaign"]),
            str(point.get("medium", "chip")),
            _flag(point, "streams"),
            _flag(point, "long_logs"),
            _flag(point, "full"),
            _flag(point, "cache"),
            Siege.volumes if "volumes" not in point else _whole(point, "volumes"),
        )
        for point in points({**usual, **grid}, SIEGE_AXES)
    ]
    for shard in shards:
        _native.siege_check(shard.campaign, shard.medium, shard.streams, shard.long_logs, shard.full, shard.cache, shard.volumes)
    return _campaign("siege", into, grid, shards, seeds, (("counts", "string"),), scheduler, workers, progress)


def _campaign(
    command: str,
    into: StrPath,
    grid: Mapping[str, Values],
    shards: Sequence[Shard],
    seeds: Iterable[int],
    counts: Columns,
    scheduler: Scheduler,
    workers: Optional[int],
    progress: bool,
) -> Campaign:
    drawn = [seed_number(seed, "seeds") for seed in several(seeds, "seeds", "numbers")]
    runs = [replace(shard, seed=seed) for shard in shards for seed in drawn]
    axes = tuple(grid)
    columns = argument_columns(type(shards[0])) + counts + _FAILURES if shards else ()
    make(into, Plan(runs, columns, {"command": command, "axes": list(axes)}), scheduler, workers, progress)
    found = Campaign(os.fspath(into), axes)
    failed, failures = found.failed(), found.failures()
    warn(f"{len(failed)} of {len(runs)} shards were not possible", failed)
    warn(f"{len(failures)} failures were found", failures)
    return found


def _whole(point: Mapping[str, Scalar], axis: str) -> int:
    value = point[axis]
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{axis} is {value!r}; expected a whole number")
    return whole(value, axis, COUNT_MAX)


def _flag(point: Mapping[str, Scalar], axis: str) -> bool:
    value = point.get(axis, False)
    if not isinstance(value, bool):
        raise ValueError(f"{axis} is {value!r}; expected true or false")
    return value
