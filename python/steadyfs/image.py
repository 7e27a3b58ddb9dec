"""Volumes in images of chips and cards, and in memory."""

from __future__ import annotations

import io
import os
import warnings
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, NoReturn, Optional, SupportsIndex

from steadyfs import tree
from steadyfs._native import Stat, Volume
from steadyfs.files import OpenFile, RawFile, open_file
from steadyfs.forks import ForkLock
from steadyfs.opening import Open
from steadyfs.paths import StrPath, text
from steadyfs.state import Check, Counters, Health, Usage
from steadyfs.words import Number, flag, since_1970, size, whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_PARTS = ForkLock()
"""Held while an image is made: the name of its temporary file contains the process id."""
_FILES_MAX = (1 << 32) - 1
"""The largest number of files that a superblock stores; the chip allows fewer."""
_MODE_MAX = 0o7777
"""The largest mode: twelve bits."""
_OWNER_MAX = (1 << 32) - 1
"""The largest number of a user or a group."""
_NAME_BYTES_MAX = 255
"""The longest name in bytes that a superblock stores."""


class DamageWarning(UserWarning):
    """Committed metadata of an opened image is lost.

    The image shows an older state, or a mixture of states. Lost data of a file gives no warning:
    `Image.check` and a read of the file find it.
    """


class Image:
    """A volume, as a context manager.

    `Image.open` opens an image. `create` makes an image, and `blank` makes a volume in memory.

    A power cut keeps everything between two commits, or nothing of it. `commit` makes changes
    durable. So does the end of the ``with`` block, also after an exception. `transaction` undoes
    its changes after an exception. If room for more changes runs out, the volume commits the
    changes so far.

    Errors are `OSError` and its subclasses, with ``errno``, a message of the library, and image and
    path as file name. Every method that uses the volume raises them:

    - `FileNotFoundError` for a path that names nothing
    - ``EROFS`` for a change of an image that was opened for reading
    - ``ENOSPC`` if there is no room
    - ``EBADF`` after the image was closed
    - ``EIO`` if the medium fails

    Arguments of the wrong type raise `TypeError`, and numbers out of range `ValueError`. An open
    image cannot be copied or pickled (`TypeError`). An open image is locked: it has one writer or
    any number of readers. Threads may share an image: their calls take turns. Processes may not: a
    fork that uses an inherited image gets an `OSError`. It must open the image itself. An image
    with lost metadata is opened with a `DamageWarning`. Lost data of a file is found by `check`, and
    by a read (``EIO``).

    >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
    ...     image.mkdir("/logs")
    ...     with image.open("/logs/a.txt", "w") as log:
    ...         _ = log.write("21.5 degrees")
    ...     image.listdir("/logs"), image.stat("/logs/a.txt").size
    (['a.txt'], 12)
    """

    open = Open()

    def __init__(self, volume: Volume) -> None:
        """Store ``volume``, a mounted volume. Use `open`, `create` or `blank` instead."""
        self._volume = volume
        self._files: weakref.WeakSet[io.IOBase] = weakref.WeakSet()

    @classmethod
    def _open_image(cls, path: StrPath, device: Optional[str] = None, mode: Literal["r", "r+"] = "r+", time_ns: Optional[int] = None) -> Image:
        """Open the image of a formatted chip or card.

        - ``path``: the file of the image.
        - ``device``: the chip, a raw chip of `steadyfs.devices` or the path of a profile in TOML.
          Then `counters` reports the time, and `health` the life, of this chip. By default times
          are round figures. A card takes no device.
        - ``mode``: ``r`` to read, ``r+`` to read and write.
        - ``time_ns``: the time of all changes, in nanoseconds since 1970; by default the time of
          the host.

        Raises:

        - `FileNotFoundError`, `IsADirectoryError`
        - `OSError` with ``EBUSY`` if the image is in use
        - `OSError` with ``EINVAL`` if the file is no image, or has other sizes than the device
        - `ValueError` for another mode, or a time that a volume cannot store

        Warns with `DamageWarning` if metadata is lost. Warns with `UserWarning` if a superblock is
        damaged, or if a new volume on this device would be divided differently. An image stores no
        name of a chip, so an image of another chip of the same sizes is opened.
        """
        if mode not in ("r", "r+"):
            raise ValueError(f"mode is {mode!r}; expected 'r' to read, or 'r+' to read and write")
        time_ns = None if time_ns is None else since_1970(time_ns, "time_ns")
        image = cls(Volume.open_image(path, device, mode == "r+", time_ns))
        damage = image._volume.damage()
        if damage is not None:
            warnings.warn(f"{image.name}: {damage[1]}", DamageWarning, stacklevel=2)
        return image

    @classmethod
    def create(
        cls,
        path: StrPath,
        device: Optional[str] = None,
        *,
        size_bytes: Optional[Number] = None,
        force: bool = False,
        files_max: Optional[int] = None,
        name_bytes_max: Optional[int] = None,
        time_ns: Optional[int] = None,
    ) -> Image:
        """Make the image of an empty volume, and open it. It gets its name when it is formatted.

        - ``path``: the file of the image.
        - ``device``: the chip, a raw chip of `steadyfs.devices` or the path of a profile in TOML;
          none for a card or disk.
        - ``size_bytes``: bytes of a card or disk, or of a part of NOR; a number, or text such as
          ``"1MiB"``.
        - ``force``: true replaces an existing file.
        - ``files_max``, ``name_bytes_max``: the most files, and the longest name in bytes; by
          default they suit the chip. Other settings follow from the chip.
        - ``time_ns``: the time of all changes, in nanoseconds since 1970; by default the time of
          the host. With a fixed time the same calls give the same bytes.

        Raises `FileExistsError`, `OSError` with ``EINVAL`` for a size or settings that do not fit
        the chip, and `ValueError` or `TypeError` for an invalid number.
        """
        chosen, replaces = _settings(size_bytes, files_max, name_bytes_max, time_ns), flag(force, "force")
        place = os.fspath(path)
        if os.path.lexists(place):
            if not replaces:
                raise FileExistsError(17, "exists already; force=True replaces it, and all that it holds is lost", place)
            if not os.path.isfile(place):
                raise OSError(22, "is not a file; expected the place for an image", place)
            place = os.path.realpath(place)
        part = os.path.join(os.path.dirname(place), f".steady-{os.getpid()}.part")
        with _PARTS.taken():
            try:
                volume = Volume.create_image(part, place, device, *chosen)
                os.replace(part, place)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.remove(part)
                raise
        return cls(volume)

    @classmethod
    def blank(
        cls,
        device: str = "mt29f1g01abafd",
        *,
        size_bytes: Optional[Number] = None,
        files_max: Optional[int] = None,
        name_bytes_max: Optional[int] = None,
        time_ns: Optional[int] = None,
    ) -> Image:
        """Make an empty volume on a simulated chip in memory, for tests.

        ``device``, ``size_bytes``, ``files_max``, ``name_bytes_max``, ``time_ns``, and the errors,
        are as in `create`. A card has no simulated chip. The simulated chip takes no time, but
        counts it. It enforces the rules of the real chip. Only written data takes memory.
        """
        return cls(Volume.blank(device, *_settings(size_bytes, files_max, name_bytes_max, time_ns)))

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn:
        """Refuse copies and pickles: a copy that is dropped closes the volume of the original."""
        raise TypeError(
            f"{self.name} is open, and an open image cannot be copied or pickled; expected its path, with which Image.open opens it again "
            "after this one is closed, or this object itself: threads may share it"
        )

    def __enter__(self) -> Image:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        volume: Optional[Volume] = getattr(self, "_volume", None)
        # A fork drops its copy: the volume belongs to the process that opened it.
        if volume is not None and not volume.closed and not volume.forked:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, stacklevel=2, source=self)
            with suppress(OSError):
                self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open" if self.writable else "open for reading"
        return f"<steadyfs.Image {self.name!r}, {state}, at {id(self):#x}>"

    @property
    def name(self) -> str:
        """The path of the image, or the device of a volume in memory."""
        return self._volume.name

    @property
    def writable(self) -> bool:
        """True if the image was opened for writing."""
        return self._volume.writable

    @property
    def closed(self) -> bool:
        """True if the image was closed."""
        return self._volume.closed

    @property
    def damage(self) -> Optional[str]:
        """The loss that the mount found, in the word of `Health.damage`; ``None`` if nothing is
        lost.

        After a loss the image shows an older state, or a mixture of states.
        """
        damage = self._volume.damage()
        return None if damage is None else damage[0]

    def close(self) -> None:
        """Write the buffers of files, commit, unmount, and wait for the host's disk.

        After an error no committed data is lost, and the volume stays open: make room, and close it
        again. A fork of the process that opened the image cannot close it.
        """
        if self.closed:
            return
        self._flush()
        for file in list(self._files):
            file.close()
        self._volume.close()

    def _flush(self) -> None:
        for file in list(self._files):
            if not file.closed and file.writable():
                file.flush()

    def commit(self) -> None:
        """Make all changes durable, including the buffers of files."""
        self._flush()
        self._volume.commit()

    def rollback(self) -> None:
        """Undo all changes since the last commit. Files that were created since then are stale."""
        self._volume.rollback()

    @property
    def has_changes(self) -> bool:
        """True if a change waits for a commit."""
        return self._volume.has_changes()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the ``with`` block, or undo its changes if an exception ends it.

        Earlier changes are committed first. A transaction that outgrows the volume's
        ``transaction_pages`` is refused with ``ENOSPC``: there is no commit in its middle. Files
        that stay open keep their offsets and buffers.

        >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
        ...     try:
        ...         with image.transaction():
        ...             image.mkdir("a")
        ...             image.mkdir("a")
        ...     except FileExistsError:
        ...         image.listdir()
        []
        """
        self.commit()
        self._volume.set_automatic(False)
        try:
            yield
            self.commit()
        except BaseException:
            self._volume.rollback()
            raise
        finally:
            self._volume.set_automatic(True)

    def _open_file(
        self,
        path: StrPath,
        mode: str = "r",
        buffering: int = -1,
        encoding: Optional[str] = None,
        errors: Optional[str] = None,
        newline: Optional[str] = None,
        *,
        durable: bool = False,
    ) -> OpenFile:
        """Open a file of the volume as Python's own ``open`` does.

        - ``path``: the file, in the volume.
        - ``mode``: ``r``, ``w``, ``a`` or ``x``, with ``+`` and ``b`` or ``t`` as usual.
        - ``buffering``: bytes of the buffer; by default 64 KiB. 0 gives a `RawFile`, without a
          buffer.
        - ``encoding``, ``errors``, ``newline``: as in Python's own ``open``, for text; by default
          UTF-8.
        - ``durable``: true commits every write of the raw file when it returns.

        Raises `FileNotFoundError`, `FileExistsError`, `IsADirectoryError`, other errors of the
        volume as `OSError`, and `ValueError` for an invalid mode.
        """
        kind = "".join(letter for letter in mode if letter in "rwax")
        is_text = "b" not in mode
        if len(kind) != 1 or len(set(mode)) != len(mode) or set(mode) - set("rwaxbt+") or {"b", "t"} <= set(mode):
            raise ValueError(f"invalid mode: {mode!r}")
        if not is_text and (encoding or errors or newline):
            raise ValueError("bytes have no encoding, errors or newline; expected them in text mode alone")
        raw = RawFile(self._volume, text(path), kind + ("+" if "+" in mode else ""), durable)
        file = open_file(raw, buffering, is_text, encoding, errors, newline)
        self._files.add(file)
        return file

    def stat(self, path: StrPath) -> Stat:
        """Return type (1 file, 2 directory, 3 link), size in bytes, name and time of the object at
        ``path``. Links are not followed.
        """
        return self._volume.stat(text(path))

    def exists(self, path: StrPath) -> bool:
        """Return true if an object is at ``path``."""
        try:
            self._volume.stat(text(path))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def scandir(self, path: StrPath = "/") -> Iterator[Stat]:
        """Yield the entries of the directory at ``path``, in the order of the bytes of names."""
        return iter(self._volume.entries(text(path)))

    def listdir(self, path: StrPath = "/") -> list[str]:
        """List the names in the directory at ``path``, sorted."""
        return [entry.name for entry in self.scandir(path)]

    def walk(self, top: StrPath = "/") -> Iterator[tuple[str, list[str], list[str]]]:
        """Walk through the directory at ``top`` and everything below it, as `os.walk` does: path,
        directories, files and links.

        >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
        ...     image.makedirs("a/b")
        ...     [path for path, _, _ in image.walk("/")]
        ['/', '/a', '/a/b']
        """
        return tree.walk(self, text(top))

    def mkdir(self, path: StrPath) -> None:
        """Make a directory at ``path``. Raises `FileExistsError` if the name is taken."""
        self._volume.mkdir(text(path))

    def makedirs(self, path: StrPath, exist_ok: bool = False) -> None:
        """Make a directory at ``path``, and its missing parents. With ``exist_ok`` the directory
        may exist already.
        """
        names = [name for name in text(path).split("/") if name]
        for count in range(1, len(names) + 1):
            try:
                self._volume.mkdir("/".join(names[:count]))
            except FileExistsError:
                is_last = count == len(names)
                if (is_last and not exist_ok) or not self.stat("/".join(names[:count])).is_dir():
                    raise

    def remove(self, path: StrPath, recursive: bool = False) -> None:
        """Remove the file or link at ``path``; with ``recursive`` a directory and its content."""
        if flag(recursive, "recursive"):
            tree.remove(self, text(path))
        else:
            self._volume.remove(text(path))

    def unlink(self, path: StrPath) -> None:
        """Remove the file or link at ``path``."""
        self.remove(path)

    def rmdir(self, path: StrPath) -> None:
        """Remove the empty directory at ``path``."""
        self._volume.rmdir(text(path))

    def rename(self, src: StrPath, dst: StrPath) -> None:
        """Rename the file or directory at ``src`` to ``dst``, in one step.

        It replaces a file of this name. An error has both paths, as of `os.rename`.
        """
        self._volume.rename(text(src), text(dst))

    def exchange(self, one: StrPath, other: StrPath) -> None:
        """Exchange the files or directories at ``one`` and ``other``, in one step.

        >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
        ...     image.makedirs("running/etc")
        ...     image.mkdir("next")
        ...     image.exchange("running", "next")
        ...     image.listdir("next")
        ['etc']
        """
        self._volume.exchange(text(one), text(other))

    def symlink(self, target: str, path: StrPath) -> None:
        """Make a symbolic link to ``target`` at ``path``. The target need not exist."""
        self._volume.symlink(text(target), text(path))

    def readlink(self, path: StrPath) -> str:
        """Return the target of the symbolic link at ``path``."""
        return self._volume.readlink(text(path))

    def getattr(self, path: StrPath, key: str) -> bytes:
        """Return the attribute ``key`` of the file or directory at ``path``. Raises `OSError` with
        ``ENODATA`` if there is none.
        """
        return self._volume.getattr(text(path), key)

    def setattr(self, path: StrPath, key: str, value: bytes) -> None:
        """Set the attribute ``key`` of the file or directory at ``path`` to ``value``.

        All attributes of one file take 248 bytes at most, including keys and two bytes for each.
        More gives ``ENOSPC``.
        """
        self._volume.setattr(text(path), key, value)

    def removeattr(self, path: StrPath, key: str) -> None:
        """Remove the attribute ``key`` of the file or directory at ``path``. Raises `OSError` with
        ``ENODATA`` if there is none.
        """
        self._volume.setattr(text(path), key, None)

    def listattr(self, path: StrPath) -> list[str]:
        """List the keys of all attributes of the file or directory at ``path``, sorted."""
        return self._volume.attributes(text(path))

    def utime(self, path: StrPath, modified_ns: int) -> None:
        """Set the time of the last change of the file or directory at ``path``.

        ``modified_ns`` is nanoseconds since 1970. 0 stands for no time. Raises `ValueError` for a
        time before 1970: a volume cannot store it.
        """
        self._volume.set_modified(text(path), since_1970(modified_ns, "modified_ns"))

    def permissions(self, path: StrPath) -> Optional[tuple[int, int, int]]:
        """Return mode (the twelve bits of `chmod`), owner and group of the object at ``path``;
        ``None`` if they were never set.
        """
        return self._volume.permissions(text(path))

    def chmod(self, path: StrPath, mode: int, uid: int = 0, gid: int = 0) -> None:
        """Set ``mode`` (twelve bits), owner ``uid`` and group ``gid`` of the file or directory at
        ``path``. Raises `ValueError` for other bits of a mode, and for numbers above 32 bits.
        """
        owner = (whole(uid, "uid", _OWNER_MAX), whole(gid, "gid", _OWNER_MAX))
        self._volume.set_permissions(text(path), whole(mode, "mode", _MODE_MAX), *owner)

    def pack(
        self,
        directory: StrPath,
        path: StrPath = "/",
        *,
        keep_times: bool = False,
        owner: Optional[tuple[int, int]] = (0, 0),
    ) -> None:
        """Copy everything in a ``directory`` of the host into the directory ``path`` of the volume,
        and commit.

        Names come in the order of their bytes. So on a new image with a fixed ``time_ns`` the same
        input gives the same bytes, as `steady pack` does. Files are not compressed. ``keep_times``
        keeps the times of the host. ``owner`` is the user and the group of everything. ``None``
        keeps users and groups of the host.

        Raises `OSError` before anything is copied, with the name of the object that cannot be
        packed: a device, a name that is not UTF-8, or with ``keep_times`` a time before 1970.
        """
        tree.pack(self, os.fspath(directory), text(path), keep_times, owner)

    def unpack(self, directory: StrPath, path: StrPath = "/") -> None:
        """Copy everything in the directory ``path`` of the volume into a ``directory`` of the host,
        or nothing.

        The directory of the host must be empty or missing. Else `OSError` with ``ENOTEMPTY`` is
        raised. Nothing is written outside of it: a name with a meaning on the host, such as ``..``,
        is refused.
        """
        tree.unpack(self, text(path), os.fspath(directory))

    def usage(self) -> Usage:
        """Return the room of the volume, in bytes. This reads the list of removed files."""
        return Usage.of(self._volume)

    def health(self) -> Health:
        """Return the state of the chip: spare and bad blocks, wear, the used share of the life."""
        return Health.of(self._volume)

    def counters(self) -> Counters:
        """Return the operations of the chip since the image was opened.

        >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
        ...     image.mkdir("a")
        ...     image.commit()
        ...     image.counters().programs > 0
        True
        """
        return Counters.of(self._volume)

    def check(self, repair: bool = False) -> Check:
        """Verify every page and every reference. With ``repair``, mend faults, and accept the loss
        that the mount found.

        A file with lost data stays. Remove it, or write it anew. No file may be open (``EBUSY``).

        >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
        ...     image.check().sound
        True
        """
        self._flush()
        return Check.of(self._volume, repair)


def _settings(
    size_bytes: Optional[Number],
    files_max: Optional[int],
    name_bytes_max: Optional[int],
    time_ns: Optional[int],
) -> tuple[Optional[int], Optional[int], Optional[int], Optional[int]]:
    """Check the numbers of a new volume. Returns them in the form of the native half."""
    return (
        None if size_bytes is None else size(size_bytes, "size_bytes"),
        None if files_max is None else whole(files_max, "files_max", _FILES_MAX),
        None if name_bytes_max is None else whole(name_bytes_max, "name_bytes_max", _NAME_BYTES_MAX),
        None if time_ns is None else since_1970(time_ns, "time_ns"),
    )


# `Image.open` is a descriptor. It returns these two calls, and `help` shows their names.
for _opens in (Image.__dict__["_open_image"].__func__, Image.__dict__["_open_file"]):
    _opens.__name__, _opens.__qualname__ = "open", "Image.open"
