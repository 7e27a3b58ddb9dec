"""A sweep in a process of its own, for tests that kill it: directory, scheduler or `-`, seeds."""

import sys

import steadyfs
from steadyfs import running

GRID: dict[str, running.Values] = {"device": ["m25p16"], "fill": [0.1, 0.2], "workload": ["random", "append"]}

if __name__ == "__main__":
    # Many small parts: something is there when it is killed.
    running.SAVE_ROWS = 3
    path, scheduler, seeds = sys.argv[1:4]
    at = None if scheduler == "-" else scheduler
    steadyfs.sweep(GRID, seeds=range(int(seeds)), accesses=20, into=path, scheduler=at, workers=2, progress=False)
