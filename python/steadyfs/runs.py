"""One run of a sweep: small arguments, one row as the result."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from time import monotonic
from typing import Optional, Union

from steadyfs import _native
from steadyfs._native import LabError
from steadyfs.lab import Evaluation, evaluate
from steadyfs.lab.table import flat
from steadyfs.words import COUNT_MAX, nanoseconds, seed_number, share, size, whole

Value = Union[str, int, float, None, list[str]]
"""A value of a row."""
Row = dict[str, Value]
Columns = tuple[tuple[str, str], ...]
"""Names of columns, each with its type: a type of Arrow, or ``strings``."""
Scalar = Union[str, int, float, bool]
"""A value of an axis of a grid."""


_TYPES = {"str": "string", "int": "int64", "float": "double", "bool": "bool", "Optional[int]": "int64"}


def argument_columns(kind: type) -> Columns:
    """Return the columns of the arguments of a kind of runs: its fields that are single values."""
    return tuple((field.name, _TYPES[str(field.type)]) for field in fields(kind) if field.type in _TYPES)


class Run(ABC):
    """The arguments of a run, as plain numbers and text. Equal arguments give equal rows."""

    def arguments(self) -> Row:
        """Return the arguments by name: the first columns of a table."""
        return {name: getattr(self, name) for name, _ in argument_columns(type(self))}

    @abstractmethod
    def figures(self) -> Row:
        """Make the run, and return the other columns."""

    @abstractmethod
    def command(self) -> str:
        """Return the command that makes the run again."""


def run_row(run: Run) -> Row:
    """Make a run, and return its row: figures, or the reason why there are none."""
    row: Row = {**run.arguments(), "error": None, "replay": run.command()}
    try:
        return {**row, **run.figures()}
    except (LabError, ValueError) as error:
        return {**row, "error": str(error)}


def run_rows(runs: Sequence[Run]) -> tuple[float, list[Row]]:
    """Make runs one after the other. Returns their seconds and their rows."""
    begin = monotonic()
    rows = [run_row(run) for run in runs]
    return monotonic() - begin, rows


@dataclass(frozen=True)
class Evaluate(Run):
    """A run of `steady evaluate`."""

    device: str = "mt29f1g01abafd"
    fill: float = 0.8
    workload: str = "random"
    timing: str = "typical"
    write_bytes: Optional[int] = None
    accesses: int = 20_000
    idle_ns: Optional[int] = None
    burst_bytes: int = 256 << 10
    seed: int = 1
    rates: tuple[int, ...] = ()
    """Input rates whose buffers are columns."""

    @classmethod
    def of(cls, point: Mapping[str, Scalar], seed: int, rates: tuple[int, ...] = ()) -> Evaluate:
        """Return the run of a point of a grid."""
        own = cls()
        idle, write, burst = point.get("idle"), point.get("write_bytes"), point.get("burst_bytes")
        return cls(
            device=str(point.get("device", own.device)),
            fill=share(point.get("fill", own.fill), "fill"),
            workload=str(point.get("workload", own.workload)),
            timing=str(point.get("timing", own.timing)),
            write_bytes=None if write is None else size(write, "write_bytes"),
            accesses=whole(point.get("accesses", own.accesses), "accesses", COUNT_MAX),  # type: ignore[arg-type]
            idle_ns=None if idle is None else nanoseconds(idle, "idle"),
            burst_bytes=own.burst_bytes if burst is None else size(burst, "burst_bytes"),
            seed=seed_number(seed, "seeds"),
            rates=rates,
        )

    def check(self) -> None:
        """Check the arguments without a run. Raises `ValueError`, which names the axis."""
        _native.evaluate_check(
            {
                "device": self.device,
                "size_bytes": None,
                "erase_block_bytes": None,
                "fill": self.fill,
                "accesses": self.accesses,
                "write_bytes": self.write_bytes,
                "rates": list(self.rates),
                "timing": self.timing,
                "call_us": 0,
                "workload": self.workload,
                "seed": self.seed,
                "idle": None if self.idle_ns is None else (self.idle_ns, self.burst_bytes),
            }
        )

    def figures(self) -> Row:
        """Make the run."""
        found = evaluate(
            self.device,
            fill=self.fill,
            accesses=self.accesses,
            write_bytes=self.write_bytes,
            rates=self.rates,
            timing=self.timing,
            workload=self.workload,
            seed=self.seed,
            idle=self.idle_ns,
            burst_bytes=self.burst_bytes,
            progress=False,
        )
        return _figures(found)

    def command(self) -> str:
        """Return the command that makes the run again."""
        words = ["steady", "evaluate", "--device", self.device, "--fill", repr(self.fill), "--accesses", str(self.accesses)]
        if self.write_bytes is not None:
            words += ["--write", str(self.write_bytes)]
        words += ["--timing", self.timing, "--workload", self.workload, "--seed", str(self.seed)]
        if self.idle_ns is not None:
            words += ["--idle", f"{self.idle_ns / 1000:.3f}us", "--burst", str(self.burst_bytes)]
        return shlex.join(words)


EVALUATE_AXES = ("device", "fill", "workload", "timing", "write_bytes", "accesses", "idle", "burst_bytes")
"""Axes of a grid of evaluations."""

FIGURES: Columns = (
    ("mean_us", "double"),
    ("p50_us", "double"),
    ("p99_us", "double"),
    ("p999_us", "double"),
    ("max_us", "double"),
    ("bound_us", "double"),
    ("throughput_bytes_per_s", "double"),
    ("programs_per_data_page", "double"),
    ("reads", "int64"),
    ("programs", "int64"),
    ("erases", "int64"),
    ("usable_bytes", "int64"),
    ("ram_bytes", "int64"),
    ("mount_us", "double"),
    ("erase_count_min", "int64"),
    ("erase_count_mean", "double"),
    ("erase_count_max", "int64"),
    ("floor_mean_us", "double"),
    ("floor_max_us", "double"),
    ("floor_throughput_bytes_per_s", "double"),
)
"""Figures of an evaluation that are columns."""


def evaluate_columns(rates: tuple[int, ...]) -> Columns:
    """Return the columns of evaluations with these input rates."""
    buffers = tuple((f"{what}_bytes_at_{rate}", "int64") for rate in rates for what in ("buffer", "guaranteed"))
    return argument_columns(Evaluate) + FIGURES + buffers


def _figures(found: Evaluation) -> Row:
    numbers = flat(found)
    row: Row = {}
    for name, _ in FIGURES:
        value = numbers[name]
        if isinstance(value, (int, float)):
            row[name] = value
    row["write_bytes"] = found.write_bytes
    for level in found.backlog:
        row[f"buffer_bytes_at_{level.rate}"] = level.bytes
        row[f"guaranteed_bytes_at_{level.rate}"] = level.guaranteed_bytes
    return row
