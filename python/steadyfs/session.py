"""Images that are mounted while they are used, and free for others in between."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Optional

from steadyfs.files import RawFile
from steadyfs.forks import ForkLock, Process
from steadyfs.image import Image

if TYPE_CHECKING:
    from collections.abc import Iterator


class Session:
    """The image of a path, mounted as long as a call or an open file needs it.

    It is mounted for reading, and for writing from the first change on. All users of an image in a
    process share one session, so that they do not lock each other out.
    """

    def __init__(self, path: str, device: Optional[str], writes: bool) -> None:
        """Name an image. If ``writes`` is false, the image is never changed."""
        self._path, self._device, self._writes = path, device, writes
        self._process = Process()
        self._lock = threading.RLock()
        self._image: Optional[Image] = None
        self._users = 0
        self._depth = 0
        self._files: weakref.WeakSet[SessionFile] = weakref.WeakSet()

    def _mount(self, writes: bool) -> Image:
        return Image.open(self._path, self._device, mode="r+" if writes else "r")

    def _remount(self, old: Image) -> Image:
        """Replace a mount for reading by a mount for writing. Open files keep their positions."""
        files = [file for file in self._files if not file.closed]
        old.close()
        try:
            image = self._mount(True)
        except OSError:
            self._reopen(self._mount(False), files)
            raise
        self._reopen(image, files)
        return image

    def _reopen(self, image: Image, files: list[SessionFile]) -> None:
        self._image = image
        for file in files:
            file.reopen(image)

    def acquire(self, writes: bool) -> Image:
        """Mount the image for one more user."""
        self._process.demand(self._path)
        with self._lock:
            if writes and not self._writes:
                raise OSError(30, "was named with writable=False; expected True to change it", self._path)
            if self._image is None or self._image.closed:
                self._image = self._mount(writes)
            elif writes and not self._image.writable:
                self._image = self._remount(self._image)
            self._users += 1
            return self._image

    def release(self) -> None:
        """Commit, and unmount after the last user. In a fork do nothing."""
        if self._process.forked:
            return
        with self._lock:
            self._users -= 1
            image = self._image
            if image is None:
                return
            if self._users == 0:
                self._image = None
                image.close()
            elif image.writable and self._depth == 0:
                image.commit()

    @contextmanager
    def mounted(self, writes: bool = False) -> Iterator[Image]:
        """Mount the image for the ``with`` block. Commit the changes of the block at its end."""
        self._process.demand(self._path)
        with self._lock:
            image = self.acquire(writes)
            self._depth += 1
            try:
                yield image
            finally:
                self._depth -= 1
                self.release()

    def open(self, path: str, mode: str) -> SessionFile:
        """Open a file, which keeps the image mounted."""
        self._process.demand(self._path)
        with self._lock:
            image = self.acquire(mode != "r")
            try:
                file = SessionFile(self, image, path, mode)
            except BaseException:
                self.release()
                raise
            self._files.add(file)
            return file


class OpenSession(Session):
    """The session of an image that the caller opened, and closes."""

    def __init__(self, image: Image) -> None:
        """Store an open image."""
        super().__init__(image.name, None, image.writable)
        self._open = image

    def _mount(self, writes: bool) -> Image:
        return self._open

    def release(self) -> None:
        """Commit. In a fork do nothing."""
        if self._process.forked:
            return
        with self._lock:
            self._users -= 1
            if self._open.writable and self._depth == 0 and not self._open.closed:
                self._open.commit()


class SessionFile(RawFile):
    """A file that keeps its image mounted until its close, and then commits."""

    def __init__(self, session: Session, image: Image, path: str, mode: str) -> None:
        """Open a file of a mounted image."""
        super().__init__(image._volume, path, mode, False)
        self._session: Optional[Session] = session

    def reopen(self, image: Image) -> None:
        """Continue with the same file of the same image after a new mount."""
        self._volume = image._volume
        self._file = self._volume.open(self.name, "r", False)

    def close(self) -> None:
        """Close the file, and commit its writes."""
        session = getattr(self, "_session", None)
        self._session = None
        try:
            super().close()
        finally:
            if session is not None:
                session.release()


_SESSIONS: dict[tuple[str, Optional[str], bool, int], Session] = {}
_SESSIONS_LOCK = ForkLock()


def session_of(path: str, device: Optional[str], writes: bool) -> Session:
    """Return the session of an image in this process, or begin a session."""
    with suppress(OSError):
        path = os.path.realpath(path)
    with _SESSIONS_LOCK.taken():
        key = (path, device, writes, os.getpid())
        return _SESSIONS.setdefault(key, Session(path, device, writes))
