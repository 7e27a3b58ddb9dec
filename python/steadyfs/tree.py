"""Directory trees of a volume: walk, remove, copy from the host and to the host."""

from __future__ import annotations

import errno
import os
import shutil
import stat as modes
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

from steadyfs.words import TIME_NS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadyfs._native import Stat
    from steadyfs.image import Image

DEPTH_MAX = 256
"""Most nested directories that are read: an image may be made to do harm."""
PIECE_BYTES = 1 << 16
"""Bytes that are copied in one piece."""
_TURNING = {0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
"""Characters that change the direction of text."""


def join(directory: str, name: str) -> str:
    """Join a path and a name."""
    return f"{directory.rstrip('/')}/{name}"


def walk(image: Image, top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk through a directory and everything below it."""
    pending = [(top, 0)]
    while pending:
        path, depth = pending.pop()
        if depth > DEPTH_MAX:
            raise OSError(errno.ELOOP, f"lies below {DEPTH_MAX} directories; expected fewer", f"{image.name}:{path}")
        entries = list(image.scandir(path))
        directories = [entry.name for entry in entries if entry.is_dir()]
        yield path, directories, [entry.name for entry in entries if not entry.is_dir()]
        # Directories that the caller has removed from the list are not entered.
        pending.extend((join(path, name), depth + 1) for name in reversed(directories))


def remove(image: Image, path: str) -> None:
    """Remove a file, or a directory and everything below it."""
    if not image.stat(path).is_dir():
        image.remove(path)
        return
    for directory, _, files in reversed(list(walk(image, path))):
        for name in files:
            image.remove(join(directory, name))
        if directory.strip("/"):
            image.rmdir(directory)


class _Source(NamedTuple):
    """An object of the host, and its path in the volume."""

    host: str
    path: str
    status: os.stat_result


def _sources(directory: str, path: str, depth: int = 0) -> Iterator[_Source]:
    """Yield everything below a directory of the host.

    A directory comes before its entries. Names come in the order of their bytes.
    """
    if depth == DEPTH_MAX:
        raise OSError(errno.ELOOP, f"lies below {DEPTH_MAX} directories; expected fewer", directory)
    for name in sorted(os.listdir(directory), key=os.fsencode):
        host = os.path.join(directory, name)
        try:
            name.encode()
        except UnicodeEncodeError:
            raise OSError(errno.EILSEQ, "has a name that is not UTF-8, as names in a volume are", host) from None
        status = os.lstat(host)
        if not (modes.S_ISREG(status.st_mode) or modes.S_ISDIR(status.st_mode) or modes.S_ISLNK(status.st_mode)):
            raise OSError(errno.EINVAL, "is neither a file nor a directory nor a symbolic link", host)
        yield _Source(host, join(path, name), status)
        if modes.S_ISDIR(status.st_mode):
            yield from _sources(host, join(path, name), depth + 1)


def _own(image: Image, path: str, status: os.stat_result, owner: Optional[tuple[int, int]]) -> None:
    uid, gid = owner or (status.st_uid, status.st_gid)
    image.chmod(path, modes.S_IMODE(status.st_mode), uid, gid)


def _demand_times(sources: list[_Source]) -> None:
    """Refuse a time that the volume cannot store, before anything is copied."""
    for source in sources:
        found = source.status.st_mtime_ns
        if not 0 <= found <= TIME_NS_MAX:
            words = f"time of change is {found} ns since 1970; expected 1970 to 2554, or keep_times=False"
            raise OSError(errno.EINVAL, words, source.host)


def pack(image: Image, directory: str, path: str, keep_times: bool, owner: Optional[tuple[int, int]]) -> None:
    """Copy everything in a directory of the host into a directory of the volume, and commit."""
    sources = list(_sources(directory, path))
    if keep_times:
        _demand_times(sources)
    if not path.strip("/"):
        _own(image, path, os.stat(directory), owner)
    else:
        image.makedirs(path, exist_ok=True)
    for source in sources:
        if modes.S_ISDIR(source.status.st_mode):
            image.makedirs(source.path, exist_ok=True)
        elif modes.S_ISLNK(source.status.st_mode):
            image.symlink(os.readlink(source.host), source.path)
        else:
            _copy_in(image, source)
        _own(image, source.path, source.status, owner)
        if keep_times and not modes.S_ISDIR(source.status.st_mode):
            image.utime(source.path, source.status.st_mtime_ns)
    if keep_times:
        # Entries change the time of their directory, so it is set last.
        for source in reversed([source for source in sources if modes.S_ISDIR(source.status.st_mode)]):
            image.utime(source.path, source.status.st_mtime_ns)
    image.commit()


def _copy_in(image: Image, source: _Source) -> None:
    with open(source.host, "rb") as host, image.open(source.path, "wb") as file:
        shutil.copyfileobj(host, file, PIECE_BYTES)


def _fault(name: str) -> Optional[str]:
    """Return the fault of a name for a file of the host, or None."""
    if name in ("", ".", ".."):
        return "names a directory of its own"
    if "/" in name or "\0" in name or os.sep in name:
        return "holds '/' or NUL"
    if any(not (0x20 <= ord(letter) < 0x7F or ord(letter) >= 0xA0) or ord(letter) in _TURNING for letter in name):
        return "holds control characters"
    if name.startswith(".steady-") and name.endswith(".part"):
        return "is kept for what is not complete"
    return None


def _items(image: Image, path: str, place: str) -> Iterator[tuple[Stat, str, str]]:
    """Yield everything below a directory of the volume, with its path on the host."""
    places = {path: place}
    for directory, _, _ in walk(image, path):
        for entry in image.scandir(directory):
            inside = join(directory, entry.name)
            fault = _fault(entry.name)
            if fault is not None:
                words = f"has a name that {fault}, which is not made on the host"
                raise OSError(errno.EINVAL, words, f"{image.name}:{inside}")
            places[inside] = os.path.join(places[directory], entry.name)
            yield entry, inside, places[inside]


def unpack(image: Image, path: str, directory: str) -> None:
    """Copy everything in a directory of the volume into a directory of the host, or nothing."""
    is_there = os.path.lexists(directory)
    if is_there and (not os.path.isdir(directory) or os.listdir(directory)):
        raise OSError(errno.ENOTEMPTY, "is not empty; expected a directory that is, or none", directory)
    # All names are checked before anything is made. Everything is made in `part`, a new directory.
    part = os.path.join(directory if is_there else os.path.dirname(directory), f".steady-{os.getpid()}.part")
    items = list(_items(image, path, part))
    os.mkdir(part)
    try:
        _copy_out(image, items)
        if is_there:
            for name in os.listdir(part):
                os.rename(os.path.join(part, name), os.path.join(directory, name))
            os.rmdir(part)
        else:
            os.rename(part, directory)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _copy_out(image: Image, items: list[tuple[Stat, str, str]]) -> None:
    for entry, inside, place in items:
        if entry.is_dir():
            os.mkdir(place)
        elif entry.is_file():
            # "x" creates the file. If a link is there, the call fails and follows nothing.
            with image.open(inside, "rb") as file, open(place, "xb") as host:
                shutil.copyfileobj(file, host, PIECE_BYTES)
            _finish(image, entry, inside, place)
    for entry, inside, place in items:
        if entry.is_symlink():
            os.symlink(image.readlink(inside), place)
    for entry, inside, place in reversed(items):
        if entry.is_dir():
            _finish(image, entry, inside, place)


def _finish(image: Image, entry: Stat, inside: str, place: Union[str, int]) -> None:
    """Set mode and time of an object of the host, without the bits of set-user and set-group.

    Ignores errors.
    """
    own = image.permissions(inside)
    with suppress(OSError):
        if own is not None:
            os.chmod(place, own[0] & 0o777)
        if entry.modified_ns:
            os.utime(place, ns=(entry.modified_ns, entry.modified_ns))
