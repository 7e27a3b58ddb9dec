"""Sweeps: the lab over chips, fills, workloads and seeds, on Dask, into Parquet.

A sweep is a directory. ``plan.json`` says what is in it, ``parts`` holds the rows so far, and ``table.parquet`` all of them once they are there, in
the order of the plan. Each file gets its name when it is complete, so that a sweep may be killed at any time: called again, it runs what is
missing, and the table is the same, bit for bit.

>>> import steadyfs, tempfile
>>> grid = {"device": ["m25p16", "w25q128jv"], "fill": [0.3, 0.6]}
>>> found = steadyfs.sweep(grid, seeds=[1], accesses=20, into=tempfile.mkdtemp(), workers=1, progress=False)
>>> found.frame()[["device", "fill"]].values.tolist()
[['m25p16', 0.3], ['m25p16', 0.6], ['w25q128jv', 0.3], ['w25q128jv', 0.6]]
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Optional, Protocol, Union

from steadyfs.lab import DEFAULT_RATES, sweep_plots
from steadyfs.lab.words import Number, rate
from steadyfs.runs import AXES, Run, replay_command, run_row
from steadyfs.store import Store

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client
    from matplotlib.figure import Figure

SAVE_EVERY_S = 5.0
"""Seconds after which rows are written: a kill loses no more than what ran since."""
SAVE_ROWS = 1000
"""Rows after which they are written, sooner or later."""
AHEAD = 16
"""Runs that wait at each worker: enough to keep it busy, and few enough to be forgotten soon."""

Values = Union[str, float, Sequence[Union[str, float]]]
"""The values of an axis, or a single one."""


class SweepError(RuntimeError):
    """Some runs have no result: their workers died, or the scheduler is gone. Those that have are kept; the same call runs the others."""


class SweepWarning(UserWarning):
    """Some runs were not possible. They are in the table, with the reason and without figures."""


class _Future(Protocol):
    """What is used of a future of Dask."""

    key: str
    status: str

    def result(self) -> object: ...
    def exception(self) -> Optional[BaseException]: ...
    def release(self) -> None: ...


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep: a directory with a table of a row for each run, in the order of the grid, seeds last."""

    path: str
    """The directory; the table is ``table.parquet`` in it."""
    axes: tuple[str, ...]
    """What was varied."""
    rates: tuple[int, ...]
    """Input rates in bytes per second, whose buffers are columns of the table."""

    @property
    def table(self) -> str:
        """The path of the table."""
        return os.path.join(self.path, "table.parquet")

    def frame(self) -> pd.DataFrame:
        """Give the table: axes, seed, figures (microseconds and bytes), and why a run was not possible where it was not."""
        import pandas as pd

        return pd.read_parquet(self.table)

    def failed(self) -> list[tuple[str, str]]:
        """Give the commands of runs that were not possible, each with the reason."""
        frame = self.frame()
        wrong = frame[frame["error"].notna()]
        return list(zip(wrong["replay"].tolist(), wrong["error"].tolist()))

    def plot_ram(self) -> Figure:
        """Draw the RAM that each chip needs for each rate: buffer and file system, the most of all its runs."""
        return sweep_plots.ram(self)

    def plot_pareto(self) -> Figure:
        """Draw RAM, time and wear of each point of the grid, and the front that nothing beats in all three."""
        return sweep_plots.pareto(self)

    def plot_effects(self, figure: str = "max_us") -> Figure:
        """Draw which axis matters: by how much the mean of a figure changes along each."""
        return sweep_plots.effects(self, figure)


def sweep(
    grid: Mapping[str, Values],
    seeds: Iterable[int] = (1,),
    *,
    into: Union[str, os.PathLike[str]],
    rates: Sequence[Number] = DEFAULT_RATES,
    accesses: int = 20_000,
    scheduler: Union[str, Client, None] = None,
    workers: Optional[int] = None,
    progress: bool = True,
) -> Sweep:
    """Run `steadyfs.evaluate` at each point of a grid with each seed, and give the table of all.

    The axes of a grid are ``device``, ``fill``, ``workload``, ``timing``, ``write_bytes``, ``accesses``, ``idle`` and ``burst_bytes``. ``into`` is
    the directory of the sweep, new or begun. Without a ``scheduler`` (``tcp://…``, or a client) as many processes as there are processors, or
    ``workers`` of them, are started here; a script that does so needs ``if __name__ == "__main__"``.
    """
    runs, axes = _runs(grid, list(seeds), accesses)
    asked = tuple(rate(one) for one in rates)
    with Store(os.fspath(into), runs, axes, asked) as store:
        if not store.is_complete:
            _run_missing(store, runs, asked, scheduler, workers, progress)
            store.finish()
    found = Sweep(os.fspath(into), axes, asked)
    failed = found.failed()
    if failed:
        lines = "\n".join(f"{command}\n  {reason}" for command, reason in failed[:10])
        more = f"\nand {len(failed) - 10} more: see failed()" if len(failed) > 10 else ""
        warnings.warn(f"{len(failed)} of {len(runs)} runs were not possible:\n{lines}{more}", SweepWarning, stacklevel=2)
    return found


def _runs(grid: Mapping[str, Values], seeds: Sequence[int], accesses: int) -> tuple[list[Run], tuple[str, ...]]:
    """All runs in order, and the axes of the grid."""
    unknown = sorted(set(grid) - set(AXES))
    if unknown:
        raise ValueError(f"found the axes {', '.join(unknown)}; expected some of {', '.join(AXES)}")
    axes = tuple(grid)
    columns = [[values] if isinstance(values, (str, int, float)) else list(values) for values in grid.values()]
    points = [dict(zip(axes, point)) for point in itertools.product(*columns)]
    runs = [Run.of({"accesses": accesses, **point}, seed) for point in points for seed in seeds]
    if not runs:
        raise ValueError("the sweep has no runs; expected one value of each axis at least, and one seed")
    return runs, axes


def _run_missing(
    store: Store, runs: Sequence[Run], rates: tuple[int, ...], scheduler: Union[str, Client, None], workers: Optional[int], progress: bool
) -> None:
    """Run what has no row yet."""
    missing = store.missing()
    lost: list[str] = []
    with ExitStack() as stack:
        client = stack.enter_context(_client(scheduler, workers))
        shown = stack.enter_context(_bar(len(runs), len(runs) - len(missing), progress))
        # Written also when it is interrupted.
        stack.callback(store.save)
        saved = monotonic()
        for index, future in _results(client, runs, rates, missing):
            if future.status == "finished":
                store.add(index, future.result())
            else:
                lost.append(f"{replay_command(runs[index])}\n  {future.exception() or future.status}")
            future.release()
            shown.update()
            if store.waiting >= SAVE_ROWS or monotonic() - saved > SAVE_EVERY_S:
                store.save()
                saved = monotonic()
    if lost:
        more = f"\nand {len(lost) - 10} more" if len(lost) > 10 else ""
        listed = "\n".join(lost[:10])
        raise SweepError(f"{len(lost)} of {len(missing)} runs have no result; the same call tries them again:\n{listed}{more}")


def _results(client: Client, runs: Sequence[Run], rates: tuple[int, ...], missing: Sequence[int]) -> Iterator[tuple[int, _Future]]:
    """Hand the runs out, some ahead of the workers, and give them as they end."""
    from distributed import as_completed

    indices = iter(missing)
    places: dict[str, int] = {}

    def submit(index: int) -> _Future:
        future: _Future = client.submit(run_row, runs[index], rates, pure=False)
        places[future.key] = index
        return future

    threads = max(1, sum(client.nthreads().values()))
    ending = as_completed([submit(index) for index in itertools.islice(indices, threads * AHEAD)], loop=client.loop)
    for future in ending:
        yield places.pop(future.key), future
        following = next(indices, None)
        if following is not None:
            ending.add(submit(following))


@contextmanager
def _client(scheduler: Union[str, Client, None], workers: Optional[int]) -> Iterator[Client]:
    """A client of the scheduler, or of one that is started here."""
    from distributed import Client, LocalCluster

    if scheduler is not None and not isinstance(scheduler, str):
        yield scheduler
        return
    if scheduler is not None:
        with Client(scheduler, set_as_default=False) as client:
            yield client
        return
    count = workers or os.cpu_count() or 1
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


class _Shown(Protocol):
    """A progress bar."""

    def update(self) -> object: ...


class _Nothing:
    """No bar."""

    def update(self) -> object:
        return None


@contextmanager
def _bar(total: int, done: int, progress: bool) -> Iterator[_Shown]:
    if not progress:
        yield _Nothing()
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, initial=done, unit="run", leave=False) as shown:
        yield shown
