"""Sweeps: the lab over chips, fills, workloads and seeds, on Dask, into Parquet.

A sweep is a directory:

- ``plan.json`` defines the sweep.
- ``parts`` contains the rows so far.
- ``table.parquet`` contains all rows in the order of the plan, when the sweep is complete.

Each file gets its name when it is complete, so a sweep may be killed at any time. The same call
then makes the missing runs, and the table is the same, bit for bit.

>>> import steadyfs, tempfile
>>> grid = {"device": ["m25p16", "w25q128jv"], "fill": [0.3, 0.6]}
>>> found = steadyfs.sweep(grid, seeds=[1], accesses=20, into=tempfile.mkdtemp(), workers=1, progress=False)
>>> found.frame()[["device", "fill"]].values.tolist()
[['m25p16', 0.3], ['m25p16', 0.6], ['w25q128jv', 0.3], ['w25q128jv', 0.6]]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from steadyfs.lab import DEFAULT_RATES, sweep_plots
from steadyfs.running import Results, Scheduler, StrPath, SweepError, SweepWarning, Values, make, points, warn
from steadyfs.runs import EVALUATE_AXES, Evaluate, evaluate_columns
from steadyfs.store import Plan
from steadyfs.words import Number, rate_list, several

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Sweep", "SweepError", "SweepWarning", "Values", "sweep"]


@dataclass(frozen=True)
class Sweep(Results):
    """The results of a sweep of evaluations. Its figures are microseconds and bytes."""

    rates: tuple[int, ...]
    """Input rates in bytes per second. Their buffers are columns of the table."""

    def plot_ram(self) -> Figure:
        """Draw the RAM that each chip needs for each rate.

        It is the RAM of buffer and file system: the largest of all runs of the chip.
        """
        return sweep_plots.ram(self)

    def plot_pareto(self) -> Figure:
        """Draw RAM, time and wear of each point of the grid, and the front.

        No point is better than a point of the front in all three.
        """
        return sweep_plots.pareto(self)

    def plot_effects(self, figure: str = "max_us") -> Figure:
        """Draw the change of the mean of a ``figure`` along each axis."""
        return sweep_plots.effects(self, figure)


def sweep(
    grid: Mapping[str, Values],
    seeds: Iterable[int] = (1,),
    *,
    into: StrPath,
    rates: Sequence[Number] = DEFAULT_RATES,
    accesses: int = 20_000,
    scheduler: Scheduler = None,
    workers: Optional[int] = None,
    progress: bool = True,
) -> Sweep:
    """Run `steadyfs.evaluate` at each point of a grid with each seed. Returns the sweep.

    - ``grid``: values by axis. The axes are ``device``, ``fill``, ``workload``, ``timing``,
      ``write_bytes``, ``accesses``, ``idle`` and ``burst_bytes``, with the units of
      `steadyfs.evaluate`.
    - ``seeds``: the seeds of the runs at each point.
    - ``into``: the directory of the sweep: new, empty or begun. A begun sweep cannot grow, so its
      grid, seeds and rates are the same.
    - ``rates``: input rates in bytes per second. Their buffers are columns.
    - ``accesses``: the number of measured writes of a run, unless the grid has the axis.
    - ``scheduler``: the address of a Dask scheduler (``tcp://…``), or a client; by default
      processes of this machine. A script that starts processes needs ``if __name__ ==
      "__main__"``.
    - ``workers``: the number of these processes; by default the number of processors.
    - ``progress``: true for a bar.

    Raises before the first run:

    - `ValueError` or `TypeError` for an unknown axis or value, two equal runs, or another sweep in
      the directory
    - `FileExistsError` if the directory has files and no sweep, `NotADirectoryError` for a file

    Raises `SweepError` if runs have no result. Warns of impossible runs with `SweepWarning`.
    """
    at, axes, drawn = points(grid, EVALUATE_AXES), tuple(grid), several(seeds, "seeds", "numbers")
    asked = tuple(rate_list(rates))
    runs = [Evaluate.of({"accesses": accesses, **point}, seed, asked) for point in at for seed in drawn]
    for run in runs[:: len(drawn) or 1]:
        run.check()
    make(into, Plan(runs, evaluate_columns(asked), {"axes": list(axes), "rates": list(asked)}), scheduler, workers, progress)
    found = Sweep(os.fspath(into), axes, asked)
    failed = found.failed()
    warn(f"{len(failed)} of {len(runs)} runs were not possible", failed)
    return found
