"""Forks: what a process has opened is its own, and not that of the processes that are copies of it."""

from __future__ import annotations

import errno
import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Process:
    """The process that opened something."""

    def __init__(self) -> None:
        """Take this one."""
        self._process = os.getpid()

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of it."""
        return self._process != os.getpid()

    def demand(self, name: str) -> None:
        """Refuse a call in a fork, in the words of the native half."""
        if self.forked:
            words = f"was opened in process {self._process}, and this is process {os.getpid()}, a fork of it; open the image again in this one"
            raise OSError(errno.EBADF, words, name)


class ForkLock:
    """A lock of a module that is free in a fork, whichever thread of the first process held it."""

    def __init__(self) -> None:
        """Make a lock that is free."""
        self._renew()
        if sys.platform != "win32":
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the lock for the ``with`` block."""
        with self._lock:
            yield
