"""Files in images for everything that takes the paths of fsspec: pandas, pyarrow, xarray, Dask.

- ``steadyfs://card.img:/logs/a.csv`` is ``/logs/a.csv`` in the image ``card.img``.
- ``steadyfs:///data/card.img:/a`` gives the absolute path of the image.
- ``steadyfs://a.csv::file://card.img`` is the chain of fsspec for a file in an image.
- With ``image=`` a path is only the path inside the image.

>>> import pandas, steadyfs, tempfile, os
>>> image = os.path.join(tempfile.mkdtemp(), "card.img")
>>> steadyfs.Image.create(image, "w25q128jv", size_bytes=1 << 20).close()
>>> pandas.DataFrame({"degrees": [21.5, 22.0]}).to_csv(f"steadyfs://{image}:/log.csv", index=False)
>>> pandas.read_csv(f"steadyfs://{image}:/log.csv")["degrees"].max()
np.float64(22.0)
"""

from __future__ import annotations

import errno
import io
import os
import posixpath
from contextlib import ExitStack
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Optional, TypedDict, Union

from fsspec.spec import AbstractFileSystem

from steadyfs.files import BUFFER_BYTES
from steadyfs.image import Image
from steadyfs.session import OpenSession, Session, SessionFile, session_of

if TYPE_CHECKING:
    from steadyfs._native import Stat

_SCHEME = "steadyfs://"
_OPTIONS = {"asynchronous", "batch_size", "listings_expiry_time", "loop", "max_paths", "skip_instance_cache", "use_listings_cache"}
"""Options of fsspec itself."""
_LINKS_MAX = 40
"""Most links that a copy out of the image follows: more are a circle."""
_KINDS = {1: "file", 2: "directory", 3: "link"}


class Info(TypedDict):
    """Properties of a file or directory, in the form of fsspec."""

    name: str
    size: int
    type: str
    mtime: float
    modified_ns: int
    inode: int


def _info(path: str, stat: Stat) -> Info:
    return {
        "name": path,
        "size": 0 if stat.is_dir() else stat.size,
        "type": _KINDS[stat.type],
        "mtime": stat.modified_ns / 1e9,
        "modified_ns": stat.modified_ns,
        "inode": stat.inode,
    }


def _split(url: str) -> tuple[Optional[str], str]:
    """Return image and path of a URL. A path alone names no image."""
    if not url.startswith(_SCHEME):
        return None, url
    rest = url[len(_SCHEME) :]
    image, colon, path = rest.partition(":/")
    return (image, path) if colon else (None, rest)


class SteadyFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """The files of an image.

    An image is mounted only while a call or an open file needs it. It is mounted for reading, and
    for writing from the first change on. The changes of a call are committed when the call returns.
    The writes of a file are committed when the file is closed. A copy of many files mounts once.
    """

    protocol = "steadyfs"
    root_marker = "/"

    def __init__(
        self,
        image: Union[str, os.PathLike[str], Image, None] = None,
        device: Optional[str] = None,
        writable: bool = True,
        auto_mkdir: bool = False,
        fo: Optional[str] = None,
        target_protocol: Optional[str] = None,
        target_options: Optional[dict[str, object]] = None,
        **storage_options: object,
    ) -> None:
        """Name an image by its path, or pass an open `Image`.

        ``device`` names its chip. An image that is not ``writable`` is never changed, and several
        processes may read it. With ``auto_mkdir``, a write of a file makes the directories that the
        file needs.
        """
        unknown = sorted(set(storage_options) - _OPTIONS)
        if unknown:
            known = ("image", "device", "writable", "auto_mkdir", *sorted(_OPTIONS))
            raise TypeError(f"found the options {', '.join(unknown)}; expected some of {', '.join(known)}")
        super().__init__(**storage_options)
        if target_protocol not in (None, "file", "local"):
            raise ValueError(f"the image is at {target_protocol}://; expected a file of this machine")
        found = image if image is not None else fo
        if found is None:
            raise ValueError("the image is missing; expected image=, or a URL such as steadyfs://card.img:/path")
        self.image = found if isinstance(found, Image) else os.fspath(found)
        self.device, self.writable, self.auto_mkdir = device, writable, auto_mkdir
        self._own = OpenSession(self.image) if isinstance(self.image, Image) else None

    @property
    def _session(self) -> Session:
        if self._own is not None:
            return self._own
        return session_of(str(self.image), self.device, self.writable)

    @classmethod
    def _strip_protocol(cls, path: Union[str, os.PathLike[str], list[str]]) -> Union[str, list[str]]:
        if isinstance(path, list):
            return [str(cls._strip_protocol(one)) for one in path]
        return "/" + _split(os.fspath(path))[1].strip("/")

    @staticmethod
    def _get_kwargs_from_urls(url: str) -> dict[str, str]:
        image = _split(url)[0]
        return {} if image is None else {"image": image}

    def unstrip_protocol(self, name: str) -> str:
        """Return the URL of a path."""
        image = self.image.name if isinstance(self.image, Image) else self.image
        return f"{_SCHEME}{image}:{self._strip_protocol(name)}"

    def info(self, path: str, **kwargs: object) -> Info:
        """Return the properties of the object at a path."""
        path = str(self._strip_protocol(path))
        with self._session.mounted() as image:
            return _info(path, image.stat(path))

    def ls(self, path: str, detail: bool = True, **kwargs: object) -> Union[list[Info], list[str]]:
        """List a directory. The list of a file contains the file alone."""
        path = str(self._strip_protocol(path))
        with self._session.mounted() as image:
            stat = image.stat(path)
            if stat.is_dir():
                found = [_info(f"{path.rstrip('/')}/{entry.name}", entry) for entry in image.scandir(path)]
            else:
                found = [_info(path, stat)]
        return found if detail else [info["name"] for info in found]

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: object) -> None:
        """Make a directory."""
        path = str(self._strip_protocol(path))
        with self._session.mounted(writes=True) as image:
            if create_parents:
                image.makedirs(path)
            else:
                image.mkdir(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory, and its parents."""
        with self._session.mounted(writes=True) as image:
            image.makedirs(str(self._strip_protocol(path)), exist_ok)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        with self._session.mounted(writes=True) as image:
            image.rmdir(str(self._strip_protocol(path)))

    def rm_file(self, path: str) -> None:
        """Remove a file."""
        with self._session.mounted(writes=True) as image:
            image.remove(str(self._strip_protocol(path)))

    _rm = rm_file

    def rm(self, path: Union[str, list[str]], recursive: bool = False, maxdepth: Optional[int] = None) -> None:
        """Remove files, and directories with everything below them."""
        with self._session.mounted(writes=True) as image:
            for one in reversed(self.expand_path(path, recursive=recursive, maxdepth=maxdepth)):
                if one == "/":
                    continue
                if image.stat(one).is_dir():
                    image.rmdir(one)
                else:
                    image.remove(one)

    def cp_file(self, path1: str, path2: str, **kwargs: object) -> None:
        """Copy a file. For a directory, make an empty directory."""
        source, target = str(self._strip_protocol(path1)), str(self._strip_protocol(path2))
        with self._session.mounted(writes=True) as image:
            if image.stat(source).is_dir():
                image.makedirs(target, exist_ok=True)
                return
            image.makedirs(target.rpartition("/")[0], exist_ok=True)
            with image.open(source, "rb") as read, image.open(target, "wb") as write:
                while piece := read.read(1 << 20):
                    write.write(piece)

    def mv(
        self,
        path1: Union[str, list[str]],
        path2: str,
        recursive: bool = False,
        maxdepth: Optional[int] = None,
        **kwargs: object,
    ) -> None:
        """Move files. A rename of one file or directory is atomic."""
        with self._session.mounted(writes=True) as image:
            is_one = isinstance(path1, str) and maxdepth is None and not any(letter in path1 for letter in "*?[")
            target = str(self._strip_protocol(path2))
            if is_one and not path2.endswith("/") and not image.exists(target):
                source = str(self._strip_protocol(path1))
                image.makedirs(target.rpartition("/")[0], exist_ok=True)
                image.rename(source, target)
            else:
                super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)

    def copy(self, path1: Union[str, list[str]], path2: Union[str, list[str]], **kwargs: object) -> None:
        """Copy within the image."""
        with self._session.mounted(writes=True):
            super().copy(path1, path2, **kwargs)

    def get(self, rpath: Union[str, list[str]], lpath: Union[str, list[str]], **kwargs: object) -> None:
        """Copy out of the image."""
        with self._session.mounted():
            super().get(rpath, lpath, **kwargs)

    def get_file(self, rpath: str, lpath: Union[str, os.PathLike[str], io.IOBase], **kwargs: object) -> None:
        """Copy a file out of the image. For a link, copy its target, as `put` does."""
        with self._session.mounted() as image:
            super().get_file(_target(image, str(self._strip_protocol(rpath))), lpath, **kwargs)

    def put(self, lpath: Union[str, list[str]], rpath: Union[str, list[str]], **kwargs: object) -> None:
        """Copy into the image."""
        with self._session.mounted(writes=True):
            super().put(lpath, rpath, **kwargs)

    def find(self, path: str, maxdepth: Optional[int] = None, withdirs: bool = False, **kwargs: object) -> Union[list[str], dict[str, Info]]:
        """List everything below a directory."""
        with self._session.mounted():
            found: Union[list[str], dict[str, Info]] = super().find(path, maxdepth, withdirs, **kwargs)
            return found

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: object) -> None:
        """Write a file at once."""
        with self.open(path, "xb" if mode == "create" else "wb") as file:
            file.write(value)

    def touch(self, path: str, truncate: bool = True, **kwargs: object) -> None:
        """Make an empty file. With ``truncate=False``, an existing file stays."""
        self.open(path, "wb" if truncate else "ab").close()

    def modified(self, path: str) -> datetime:
        """Return the time of the last change of a file."""
        return datetime.fromtimestamp(self.info(path)["mtime"], tz=timezone.utc)

    def _open(
        self, path: str, mode: str = "rb", block_size: Union[int, str, None] = None, **kwargs: object
    ) -> Union[io.BufferedReader, io.BufferedWriter, io.BufferedRandom]:
        kind = mode.replace("b", "")
        if kind.replace("+", "") not in ("r", "w", "a", "x"):
            raise ValueError(f"invalid mode: {mode!r}")
        if self.auto_mkdir and kind.strip("+") != "r":
            self.makedirs(path.rpartition("/")[0], exist_ok=True)
        with ExitStack() as undo:
            raw = self._session.open(path, kind)
            undo.callback(raw.close)
            size = block_size if isinstance(block_size, int) and block_size > 0 else BUFFER_BYTES
            file = _buffered(raw, size)
            undo.pop_all()
            return file


def _target(image: Image, path: str) -> str:
    """Return the path that the links at a path lead to."""
    found = path
    for _ in range(_LINKS_MAX):
        if not image.stat(found).is_symlink():
            return found
        found = posixpath.normpath(posixpath.join(posixpath.dirname(found), image.readlink(found)))
    raise OSError(errno.ELOOP, f"leads through more than {_LINKS_MAX} symbolic links; expected fewer", f"{image.name}:{path}")


def _buffered(raw: SessionFile, size: int) -> Union[io.BufferedReader, io.BufferedWriter, io.BufferedRandom]:
    if raw.readable() and raw.writable():
        return io.BufferedRandom(raw, size)
    return io.BufferedWriter(raw, size) if raw.writable() else io.BufferedReader(raw, size)
