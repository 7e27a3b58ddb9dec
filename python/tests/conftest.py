"""What the tests have in common."""

import os
import shutil
import subprocess
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def steady() -> Callable[[list[str]], str]:
    """The command, where it was built: what it prints."""
    command = os.environ.get("STEADY") or shutil.which("steady")
    if command is None:
        pytest.skip("no `steady`: set STEADY to its path")

    def run(arguments: list[str]) -> str:
        return subprocess.run([str(command), *arguments], check=True, capture_output=True, text=True).stdout

    return run
