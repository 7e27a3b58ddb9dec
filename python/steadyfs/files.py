"""Files of a volume as Python's own file objects."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, NoReturn, Optional, SupportsIndex, Union

from steadyfs._native import Volume
from steadyfs.words import whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

WRITE_BYTES = 1 << 20
"""Most bytes that one raw write takes. The caller writes the rest, and Ctrl-C works in between."""

OFFSET_MAX = (1 << 63) - 1
"""The largest offset in bytes that a call takes."""
BUFFER_BYTES = 1 << 16
"""Default bytes of a buffer: whole logical pages of every chip."""

OpenFile = Union["RawFile", io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper]
"""The file object of a mode, as Python's own ``open`` returns it."""


class RawFile(io.RawIOBase):
    """An open file without a buffer. `steadyfs.Image.open` makes it.

    Writes are committed by `steadyfs.Image.commit`, by the close of the image, or by `sync`. If
    room runs out in the middle, a write returns the number of bytes that it took, and the next
    write fails.

    Offsets and sizes are bytes. Calls raise `OSError` if the medium or the volume fails,
    `ValueError` after the file was closed, and `io.UnsupportedOperation` if the mode does not allow
    the call. A file cannot be copied or pickled (`TypeError`).
    """

    def __init__(self, volume: Volume, path: str, mode: str, durable: bool) -> None:
        """Open the file at ``path``. `steadyfs.Image.open` calls it.

        ``volume`` is the volume of an image. ``mode`` is one of ``r``, ``w``, ``a``, ``x``, perhaps
        with ``+``. ``durable`` commits each write. Raises `OSError`.
        """
        super().__init__()
        self.name = path
        self.mode = f"{mode}b"
        self._reads = "r" in mode or "+" in mode
        self._writes = mode != "r"
        self._appends = "a" in mode
        self._volume = volume
        self._offset = 0
        self._file: Optional[int] = None
        self._file = volume.open(path, mode, durable)
        if self._appends:
            self._offset = volume.file_size(self._file)

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn:
        """Refuse copies and pickles: a copy that is dropped closes the file of the original."""
        raise TypeError(
            f"{self._volume.name}:/{self.name.strip('/')} is open, and an open file cannot be copied or pickled; "
            "expected its path, with which image.open opens it again"
        )

    @property
    def _open(self) -> int:
        if self._file is None:
            raise ValueError("I/O operation on closed file")
        return self._file

    def readable(self) -> bool:
        """Return true if the mode allows reading."""
        return self._reads

    def writable(self) -> bool:
        """Return true if the mode allows writing."""
        return self._writes

    def seekable(self) -> bool:
        """Return true while the file is open: every position can be read and written."""
        return not self.closed

    def _demand(self, allowed: bool, what: str) -> int:
        file = self._open
        if not allowed:
            raise io.UnsupportedOperation(f"{self._volume.name}:/{self.name.strip('/')} was not opened for {what}")
        return file

    def read(self, size: Optional[int] = -1, /) -> bytes:
        """Read ``size`` bytes, or fewer at the end. Reads up to the end if ``size`` is negative or
        ``None``.
        """
        if size is None or size < 0:
            return self.readall()
        data = self._volume.file_read(self._demand(self._reads, "reading"), self._offset, size)
        self._offset += len(data)
        return data

    def readall(self) -> bytes:
        """Read up to the end, in one piece."""
        file = self._demand(self._reads, "reading")
        return self.read(max(0, self._volume.file_size(file) - self._offset))

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill ``buffer`` up to the end of the file. Returns the number of bytes."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def write(self, data: Buffer, /) -> int:
        """Write the bytes of ``data``, 1 MiB at most. Returns the number of written bytes."""
        file = self._demand(self._writes, "writing")
        view = memoryview(data).cast("B")[:WRITE_BYTES]
        if self._appends:
            self._offset = self._volume.file_size(file)
        count = self._volume.file_write(file, self._offset, bytes(view))
        self._offset += count
        return count

    def writelines(self, lines: Iterable[Buffer], /) -> None:
        """Write each of ``lines`` completely, in order."""
        for line in lines:
            view = memoryview(line).cast("B")
            while len(view) > 0:
                view = view[self.write(view) :]

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to ``offset`` in bytes: from the beginning, from the current offset or from the end,
        if ``whence`` is 0, 1 or 2.
        """
        file = self._open
        if whence not in (os.SEEK_SET, os.SEEK_CUR, os.SEEK_END):
            raise ValueError(f"whence is {whence}; expected 0, 1 or 2")
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset}.get(whence)
        place = offset + (self._volume.file_size(file) if origin is None else origin)
        if not 0 <= place <= OFFSET_MAX:
            raise ValueError(f"the offset would be {place}; expected 0 to {OFFSET_MAX:,}")
        self._offset = place
        return place

    def tell(self) -> int:
        """Return the offset in bytes from the beginning."""
        _ = self._open
        return self._offset

    def truncate(self, size: Optional[int] = None, /) -> int:
        """Cut the file to ``size`` bytes, or extend it with zeros. By default ``size`` is the
        current offset.
        """
        size = self._offset if size is None else whole(size, "size", OFFSET_MAX)
        self._volume.file_truncate(self._demand(self._writes, "writing"), size)
        return size

    def sync(self) -> None:
        """Commit all changes of the volume, including changes of other files."""
        self._volume.file_flush(self._open)

    def close(self) -> None:
        """Close the file, without a commit.

        A fork of the process that opened the file drops its copy.
        """
        if self._file is not None:
            try:
                super().close()
            finally:
                file, self._file = self._file, None
                if not self._volume.forked:
                    self._volume.file_close(file)


def open_file(
    raw: RawFile,
    buffering: int,
    text: bool,
    encoding: Optional[str],
    errors: Optional[str],
    newline: Optional[str],
) -> OpenFile:
    """Put Python's buffers in front of a raw file, as Python's own ``open`` does."""
    if buffering == 0:
        if text:
            raise ValueError("text has a buffer; expected buffering to be 1 or more")
        return raw
    size = BUFFER_BYTES if buffering in (-1, 1) else buffering
    buffered: Union[io.BufferedReader, io.BufferedWriter, io.BufferedRandom]
    if raw.readable() and raw.writable():
        buffered = io.BufferedRandom(raw, size)
    elif raw.writable():
        buffered = io.BufferedWriter(raw, size)
    else:
        buffered = io.BufferedReader(raw, size)
    if not text:
        return buffered
    return io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline, line_buffering=buffering == 1)
