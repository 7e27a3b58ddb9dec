"""One run of a sweep: small arguments, one row back."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Optional, Union

from steadyfs._native import LabError
from steadyfs.lab import Evaluation, evaluate
from steadyfs.lab.table import flat
from steadyfs.lab.words import nanoseconds, share, size

AXES = ("device", "fill", "workload", "timing", "write_bytes", "accesses", "idle", "burst_bytes")
"""What a grid may vary."""

Value = Union[str, int, float, None]
"""A value of a row."""


@dataclass(frozen=True)
class Run:
    """The arguments of a run, in plain numbers: the same run has the same."""

    device: str = "mt29f1g01abafd"
    fill: float = 0.8
    workload: str = "random"
    timing: str = "typical"
    write_bytes: Optional[int] = None
    accesses: int = 20_000
    idle_ns: Optional[int] = None
    burst_bytes: int = 256 << 10
    seed: int = 1

    @classmethod
    def of(cls, point: Mapping[str, Union[str, float, None]], seed: int) -> Run:
        """Make a run of a point of a grid."""
        own = cls()
        idle, write, burst = point.get("idle"), point.get("write_bytes"), point.get("burst_bytes")
        return cls(
            device=str(point.get("device", own.device)),
            fill=share(point.get("fill") or 0.0) if "fill" in point else own.fill,
            workload=str(point.get("workload", own.workload)),
            timing=str(point.get("timing", own.timing)),
            write_bytes=None if write is None else size(write),
            accesses=int(point.get("accesses") or own.accesses),
            idle_ns=None if idle is None else nanoseconds(idle),
            burst_bytes=own.burst_bytes if burst is None else size(burst),
            seed=int(seed),
        )

    def arguments(self) -> dict[str, Value]:
        """Give the arguments by name."""
        return asdict(self)


ARGUMENTS = tuple(field.name for field in fields(Run))
"""Names of the arguments, which are the first columns of a table."""

FIGURES: tuple[tuple[str, str], ...] = (
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
"""Figures of an evaluation that are columns, with their types."""

Row = dict[str, Value]


def run_row(run: Run, rates: tuple[int, ...]) -> Row:
    """Make a run, and give its row: figures, or why there are none."""
    row: Row = {**run.arguments(), "error": None, "replay": replay_command(run)}
    try:
        found = evaluate(
            run.device,
            fill=run.fill,
            accesses=run.accesses,
            write_bytes=run.write_bytes,
            rates=rates,
            timing=run.timing,
            workload=run.workload,
            seed=run.seed,
            idle=run.idle_ns,
            burst_bytes=run.burst_bytes,
            progress=False,
        )
    except (LabError, ValueError) as error:
        return {**row, "error": str(error)}
    return {**row, **_figures(found)}


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


def replay_command(run: Run) -> str:
    """Give the command that makes a run again."""
    words = ["steady", "evaluate", "--device", run.device, "--fill", repr(run.fill), "--accesses", str(run.accesses)]
    if run.write_bytes is not None:
        words += ["--write", str(run.write_bytes)]
    words += ["--timing", run.timing, "--workload", run.workload, "--seed", str(run.seed)]
    if run.idle_ns is not None:
        words += ["--idle", f"{run.idle_ns / 1000:.3f}us", "--burst", str(run.burst_bytes)]
    return shlex.join(words)
