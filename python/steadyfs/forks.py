"""Forks: an open image belongs to the process that opened it, not to forks of this process."""

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
    """The process that opened an object."""

    def __init__(self) -> None:
        """Store the id of this process."""
        self._process = os.getpid()

    @property
    def forked(self) -> bool:
        """True if this process is a fork of it."""
        return self._process != os.getpid()

    def demand(self, name: str) -> None:
        """Refuse a call in a fork, with the message of the native half."""
        if self.forked:
            words = f"was opened in process {self._process}, and process {os.getpid()} is a fork of it; open the image again in this process"
            raise OSError(errno.EBADF, words, name)


class ForkLock:
    """A lock of a module. In a fork it is free, even if a thread of the first process held it."""

    def __init__(self) -> None:
        """Make a free lock."""
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
