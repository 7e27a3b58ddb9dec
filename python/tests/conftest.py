"""What the tests have in common."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Two workers, each a process."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as found:
        yield found


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the command, where it was built."""
    command = os.environ.get("STEADY") or shutil.which("steady")
    if command is None:
        pytest.skip("no `steady`: set STEADY to its path")
    return command


@pytest.fixture(scope="session")
def steady(program: str) -> Callable[[list[str]], str]:
    """The command: what it prints."""

    def run(arguments: list[str]) -> str:
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout

    return run


def kill_worker() -> None:
    """Ends the process that calls it, as if somebody had pulled its plug."""
    # Dask starts no worker again that dies while it is being started.
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)
