"""``steady-sweep grid.toml``, or ``steady sweep``: a sweep or a campaign from a file.

It runs on this machine, or on a scheduler of Dask. A file has a table of axes, and perhaps other
arguments:

```toml
seeds = 100                  # 100 seeds from 0 on; or a list
accesses = 20000
rates = ["500kB/s", "2MB/s"]

[grid]
device = ["mt29f1g01abafd", "w25q128jv"]
fill = ["50%", "80%"]
workload = ["random", "log"]
```

A table ``[torture]`` or ``[siege]`` in place of ``[grid]`` makes it a campaign of power cuts. The
results are in a directory beside the file, with the name of the file: ``table.parquet``, and the
figures of a sweep as SVG. The same command continues a sweep that was killed.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional, TypedDict

from steadyfs.cuts import Campaign, siege, torture
from steadyfs.lab import DEFAULT_RATES
from steadyfs.running import Results, SweepError, SweepWarning, Values
from steadyfs.sweeping import sweep
from steadyfs.words import Number

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = ("grid", "torture", "siege")
"""Tables of axes. A file has one of them."""
KEYS = ("seeds", "accesses", "rates", *TABLES)
"""Keys of a file."""
FIGURES = ("ram", "pareto", "effects")
"""The figures of a sweep, by the names of their files."""


class Common(TypedDict):
    """Arguments of all sweeps."""

    into: str
    scheduler: Optional[str]
    workers: Optional[int]
    progress: bool


class GridError(ValueError):
    """A file that defines no sweep."""


def _scalar(value: object, flags: bool = False) -> bool:
    return isinstance(value, (str, int, float)) and (flags or not isinstance(value, bool))


@dataclass(frozen=True)
class Asked:
    """The arguments of a file, and the defaults of missing ones."""

    table: str
    grid: Mapping[str, Values]
    seeds: Sequence[int]
    accesses: int
    rates: Sequence[Number]


def read_grid(path: str) -> Asked:
    """Read a file. Refuses keys and values that it must not have."""
    with open(path, "rb") as file:
        try:
            found: dict[str, object] = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise GridError(f"{path}: is no TOML: {error}") from None
    unknown = sorted(set(found) - set(KEYS))
    if unknown:
        raise GridError(f"{path}: found {', '.join(unknown)}; expected some of {', '.join(KEYS)}")
    tables = [name for name in TABLES if name in found]
    if len(tables) != 1:
        has = f"has {' and '.join(tables)}" if tables else "has no axes"
        raise GridError(f"{path}: {has}; expected one table: [grid], [torture] or [siege]")
    table = tables[0]
    grid = found[table]
    if not isinstance(grid, dict) or (table == "grid" and not grid):
        raise GridError(f"{path}: {table} is {grid!r}; expected a table [{table}] with one axis at least")
    flags = table == "siege"
    for axis, values in grid.items():
        if not (_scalar(values, flags) or (isinstance(values, list) and values and all(_scalar(value, flags) for value in values))):
            raise GridError(f"{path}: {axis} is {values!r}; expected numbers or texts")
    seeds = found.get("seeds", 1)
    if type(seeds) is int and seeds > 0:
        seeds = list(range(seeds))
    if not isinstance(seeds, list) or not seeds or not all(type(seed) is int and seed >= 0 for seed in seeds):
        raise GridError(f"{path}: seeds is {seeds!r}; expected a count, or a list of numbers")
    for key in ("accesses", "rates"):
        if table != "grid" and key in found:
            raise GridError(f"{path}: found {key} beside [{table}]; expected it beside [grid] alone")
    accesses = found.get("accesses", 20_000)
    if type(accesses) is not int or accesses < 1:
        raise GridError(f"{path}: accesses is {accesses!r}; expected a number")
    rates = found.get("rates", list(DEFAULT_RATES))
    if not isinstance(rates, list) or not rates or not all(map(_scalar, rates)):
        raise GridError(f'{path}: rates is {rates!r}; expected a list, such as ["500kB/s"]')
    return Asked(table, grid, seeds, accesses, rates)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "steady-sweep",
        description="Run steady evaluate at each point of a grid with each seed, or cut power (steady torture, the siege); killed at any time, it goes on.",
    )
    parser.add_argument("grid", metavar="GRID.toml", help="what is varied: docs/guide/python.md")
    parser.add_argument("--into", metavar="DIR", help="directory of the results [default: beside the file, of its name]")
    parser.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="scheduler of Dask [default: processes of this machine]")
    parser.add_argument("--workers", metavar="COUNT", type=int, help="processes of this machine [default: as many as processors]")
    parser.add_argument("--quiet", action="store_true", help="no bar")
    return parser


def run(arguments: argparse.Namespace) -> Results:
    """Run the sweep or the campaign of a command line."""
    asked = read_grid(arguments.grid)
    into = arguments.into or os.path.splitext(arguments.grid)[0]
    common = Common(into=into, scheduler=arguments.scheduler, workers=arguments.workers, progress=not arguments.quiet)
    if asked.table != "grid":
        return {"torture": torture, "siege": siege}[asked.table](asked.grid, asked.seeds, **common)
    found = sweep(asked.grid, asked.seeds, rates=asked.rates, accesses=asked.accesses, **common)
    for name in FIGURES:
        figure = {"ram": found.plot_ram, "pareto": found.plot_pareto, "effects": found.plot_effects}[name]()
        figure.savefig(os.path.join(found.path, f"{name}.svg"))
    return found


def told(found: Results) -> str:
    """Return one line about the result."""
    frame = found.frame()
    if not isinstance(found, Campaign):
        return f"{found.table}: {len(frame):,} runs; {', '.join(f'{name}.svg' for name in FIGURES)} beside it"
    cuts = f", {int(frame['cuts'].sum()):,} power cuts" if "cuts" in frame.columns else ""
    return f"{found.table}: {len(frame):,} shards{cuts}, {len(found.failures()):,} failures"


def main(words: Optional[Sequence[str]] = None) -> int:
    """Run the command, and return its exit code.

    - 0: every run has figures, and nothing was lost.
    - 1: a run has none, or data was lost.
    - 2: the command line or the file is wrong.
    - 130: Ctrl-C stopped the command.
    """
    arguments = _arguments().parse_args(words)
    try:
        with warnings.catch_warnings():
            # Impossible runs and failures are printed below, all of them.
            warnings.simplefilter("ignore", SweepWarning)
            found = run(arguments)
    except (GridError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    print(told(found))
    wrong = found.failed() + (found.failures() if isinstance(found, Campaign) else [])
    for command, reason in wrong:
        print(f"{command}\n  {reason}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
