"""Common parts of sweeps: Dask makes the runs of a plan, and a store keeps their rows.

A completed run is never made again.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Optional, Protocol, Union

from steadyfs.runs import Row, Run, Scalar, run_rows
from steadyfs.store import Plan, Store
from steadyfs.words import several, whole

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client

SAVE_EVERY_S = 5.0
"""Seconds after which rows are written: a kill loses only the runs since then."""
SAVE_ROWS = 1000
"""Number of rows after which they are written, even before `SAVE_EVERY_S`."""
TASK_S = 0.5
"""Seconds of a task. Short runs share a task, since Dask takes some ten milliseconds for each."""
AHEAD = 4
"""Tasks that wait at each worker: enough to keep it busy, and few to discard."""
_WORKERS_MAX = 10_000
"""Most processes of this machine."""
SHOWN = 10
"""Commands that an error or a warning lists."""

Values = Union[Scalar, Sequence[Scalar]]
"""The values of an axis, or a single one."""
Scheduler = Union[str, "Client", None]
"""An address of Dask, a client, or None for processes of this machine."""
StrPath = Union[str, "os.PathLike[str]"]


class SweepError(RuntimeError):
    """Some runs have no result: their workers died, or the scheduler is gone.

    The other results are kept. The same call runs the missing runs.
    """


class SweepWarning(UserWarning):
    """Some runs were not possible, or lost data. They are in the table, with the reason."""


@dataclass(frozen=True)
class Results:
    """The results of a sweep: a directory with a table.

    The table has a row for each run, in the order of the grid, seeds last.
    """

    path: str
    """The directory. It contains the table, ``table.parquet``."""
    axes: tuple[str, ...]
    """The axes of the grid."""

    @property
    def table(self) -> str:
        """The path of the table."""
        return os.path.join(self.path, "table.parquet")

    def frame(self) -> pd.DataFrame:
        """Return the table: arguments, seed, figures, and for an impossible run the reason."""
        import pandas as pd

        return pd.read_parquet(self.table)

    def failed(self) -> list[tuple[str, str]]:
        """Return the commands of impossible runs, each with the reason."""
        frame = self.frame()
        wrong = frame[frame["error"].notna()]
        return list(zip(wrong["replay"].tolist(), wrong["error"].tolist()))


class _Future(Protocol):
    """The used members of a future of Dask."""

    key: str
    status: str

    def result(self) -> tuple[float, list[Row]]: ...
    def release(self) -> None: ...


def points(grid: Mapping[str, Values], axes: Sequence[str]) -> list[dict[str, Scalar]]:
    """Return the points of a grid over some of these axes. The last axis changes first."""
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid is {grid!r}; expected values by axis, such as {{'device': ['w25q128jv']}}")
    unknown = sorted(set(grid) - set(axes))
    if unknown:
        raise ValueError(f"found the axes {', '.join(unknown)}; expected some of {', '.join(axes)}")
    columns = [
        [values] if isinstance(values, (str, int, float)) else several(values, axis, "values, or one value") for axis, values in grid.items()
    ]
    return [dict(zip(grid, point)) for point in itertools.product(*columns)]


def make(into: StrPath, plan: Plan, scheduler: Scheduler, workers: Optional[int], progress: bool) -> None:
    """Make the runs of a plan that the directory does not have, and its table."""
    if not plan.runs:
        raise ValueError("the sweep has no runs; expected one value of each axis at least, and one seed")
    count = (os.cpu_count() or 1) if workers is None else whole(workers, "workers", _WORKERS_MAX, 1)
    for run, times in Counter(plan.runs).items():
        if times > 1:
            raise ValueError(f"the sweep has {times} equal runs: {run.command()}; expected each value of an axis once, and each seed once")
    with Store(os.fspath(into), plan) as store:
        if not store.is_complete:
            _run_missing(store, plan.runs, scheduler, count, progress)
            store.finish()


def warn(what: str, found: Sequence[tuple[str, str]]) -> None:
    """Warn of runs, each a command and a reason. The warning names the line of the caller's caller.

    Without runs there is no warning.
    """
    if found:
        warnings.warn(f"{what}:\n{_listed(found)}", SweepWarning, stacklevel=3)


def _listed(found: Sequence[tuple[str, str]]) -> str:
    more = f"\nand {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "\n".join(f"{command}\n  {reason}" for command, reason in found[:SHOWN]) + more


def _run_missing(store: Store, runs: Sequence[Run], scheduler: Scheduler, workers: int, progress: bool) -> None:
    """Make the runs that have no row yet."""
    missing = store.missing()
    lost: list[tuple[str, str]] = []
    with ExitStack() as stack:
        client = stack.enter_context(_client(scheduler, workers))
        shown = stack.enter_context(_bar(len(runs), len(runs) - len(missing), progress))
        # Rows are also written after an interruption.
        stack.callback(store.save)
        saved = monotonic()
        for index, row in _results(client, runs, missing):
            if isinstance(row, str):
                lost.append((runs[index].command(), row))
            else:
                store.add(index, row)
            shown.update()
            if store.waiting >= SAVE_ROWS or monotonic() - saved > SAVE_EVERY_S:
                store.save()
                saved = monotonic()
    if lost:
        raise SweepError(f"{len(lost)} of {len(missing)} runs have no result; the same call tries them again:\n{_listed(lost)}")


def _results(client: Client, runs: Sequence[Run], missing: Iterable[int]) -> Iterator[tuple[int, Union[Row, str]]]:
    """Give the runs to the workers, some ahead, and yield each run with its row.

    A run without a row comes with the reason.
    """
    from distributed import as_completed

    waiting = deque(missing)
    suspects: list[tuple[int, str]] = []
    handed_out: dict[str, list[int]] = {}
    threads = max(1, sum(client.nthreads().values()))
    # The time of a run is unknown at first.
    together = 1

    def submit(indices: list[int]) -> _Future:
        future: _Future = client.submit(run_rows, [runs[index] for index in indices], pure=False)
        handed_out[future.key] = indices
        return future

    def following() -> list[int]:
        # Fewer at the end, so that no worker waits for another one.
        count = min(together, -(-len(waiting) // (2 * threads)))
        return [waiting.popleft() for _ in range(count)]

    ending = as_completed([submit(following()) for _ in range(min(len(waiting), threads * AHEAD))], loop=client.loop)
    for future in ending:
        indices, outcome = handed_out.pop(future.key), _outcome(future)
        if not isinstance(outcome, str):
            seconds, rows = outcome
            together = max(1, min(SAVE_ROWS, int(TASK_S * len(indices) / max(seconds, 1e-6))))
            yield from zip(indices, rows)
        elif len(indices) > 1 and future.status not in _GONE:
            # One of these runs killed the worker.
            for index in indices:
                ending.add(submit([index]))
        else:
            suspects.extend((index, outcome) for index in indices)
        future.release()
        if waiting:
            ending.add(submit(following()))
    # A lost run may have waited at a worker that another run killed, or was completed there. If
    # each runs alone, only the guilty run dies.
    for index, reason in suspects:
        if client.status != "running":
            yield index, reason
            continue
        future = submit([index])
        again = _outcome(future)
        future.release()
        yield index, again if isinstance(again, str) else again[1][0]


_GONE = ("cancelled", "lost")
"""States of a future if the scheduler is gone, or the worker with the result."""


def _outcome(future: _Future) -> Union[tuple[float, list[Row]], str]:
    """Return seconds and rows of a task, or the reason why it has none."""
    if future.status in _GONE:
        return future.status
    try:
        # If a worker died with the result of a completed task, the task runs again, and may fail.
        return future.result()
    except Exception as error:
        return str(error)


@contextmanager
def _client(scheduler: Scheduler, workers: int) -> Iterator[Client]:
    """Yield a client of the scheduler, or of a scheduler that is started here."""
    from distributed import Client, LocalCluster

    if scheduler is not None and not isinstance(scheduler, str):
        yield scheduler
        return
    if scheduler is not None:
        with Client(scheduler, set_as_default=False) as client:
            yield client
        return
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
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
