"""SteadyFS for Python: a flash file system that keeps time.

- `Image`: volumes in images of chips and cards, and in memory.
- ``steadyfs://`` in every library that takes the paths of fsspec: see `steadyfs.fsspec`.
- `evaluate`, `replay`, `bench`, `costs`, `streams`, `realtime`, `transactions`, `advise`,
  `backlog`: the lab, in `steadyfs.lab`. It needs the libraries of ``steadyfs[lab]``.
- `sweep`: the lab over chips, fills, workloads and seeds, on Dask. See `steadyfs.sweeping`.
- `torture` and `siege`: campaigns of power cuts, also on Dask. See `steadyfs.cuts`.

Sweeps and campaigns need the libraries of ``steadyfs[sweep]``.

>>> import steadyfs
>>> with steadyfs.Image.blank() as image, image.open("hello", "w") as file:
...     file.write("to be read on the device")
24
"""

from importlib import import_module
from typing import TYPE_CHECKING

from steadyfs._native import LabError, Stat, __version__, devices
from steadyfs.files import RawFile
from steadyfs.image import DamageWarning, Image
from steadyfs.state import Check, Counters, Health, Usage

if TYPE_CHECKING:
    from steadyfs.cuts import siege, torture
    from steadyfs.lab import (
        advise,
        backlog,
        backlog_levels,
        bench,
        costs,
        evaluate,
        highest_rate,
        realtime,
        replay,
        streams,
        transactions,
    )
    from steadyfs.sweeping import sweep

_LAB = {
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
}

_SWEEPS = {"siege": "cuts", "sweep": "sweeping", "torture": "cuts"}

__all__ = [
    "Check",
    "Counters",
    "DamageWarning",
    "Health",
    "Image",
    "LabError",
    "RawFile",
    "Stat",
    "Usage",
    "__version__",
    "advise",
    "backlog",
    "backlog_levels",
    "bench",
    "costs",
    "devices",
    "evaluate",
    "highest_rate",
    "realtime",
    "replay",
    "siege",
    "streams",
    "sweep",
    "torture",
    "transactions",
]


def __getattr__(name: str) -> object:
    """Import the lab at its first use: images need none of its libraries."""
    if name not in _LAB and name not in _SWEEPS:
        raise AttributeError(f"module 'steadyfs' has no attribute {name!r}")
    extra = "sweep" if name in _SWEEPS else "lab"
    try:
        found = import_module(f"steadyfs.{_SWEEPS.get(name, 'lab')}")
    except ModuleNotFoundError as error:
        what = f"steadyfs.{name} needs {error.name}: pip install './python[{extra}]' in a clone of the repository"
        raise ModuleNotFoundError(what, name=error.name) from error
    return getattr(found, name)
