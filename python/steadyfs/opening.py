"""`Image.open`: on the class it opens an image, on an image it opens a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Optional, Protocol, Union, cast, overload

if TYPE_CHECKING:
    import io

    from steadyfs.files import OpenFile, RawFile
    from steadyfs.image import Image
    from steadyfs.paths import StrPath

ReadMode = Literal["rb", "br"]
WriteMode = Literal["wb", "bw", "ab", "ba", "xb", "bx"]
UpdateMode = Literal["r+b", "rb+", "w+b", "wb+", "a+b", "ab+", "x+b", "xb+"]
TextMode = Literal["r", "rt", "w", "wt", "a", "at", "x", "xt", "r+", "w+", "a+", "x+"]


class OpenImage(Protocol):
    """The signature of `Image.open`."""

    def __call__(
        self,
        path: StrPath,
        device: Optional[str] = None,
        mode: Literal["r", "r+"] = "r+",
        time_ns: Optional[int] = None,
    ) -> Image:
        """Open the image of a formatted chip or card: see `steadyfs.Image.open`."""


class OpenFiles(Protocol):
    """The signatures of ``image.open``, as of Python's own ``open``."""

    @overload
    def __call__(self, path: StrPath, mode: ReadMode, buffering: Literal[-1, 1] = -1) -> io.BufferedReader: ...
    @overload
    def __call__(self, path: StrPath, mode: WriteMode, buffering: Literal[-1, 1] = -1, *, durable: bool = False) -> io.BufferedWriter: ...
    @overload
    def __call__(self, path: StrPath, mode: UpdateMode, buffering: Literal[-1, 1] = -1, *, durable: bool = False) -> io.BufferedRandom: ...
    @overload
    def __call__(
        self,
        path: StrPath,
        mode: Union[ReadMode, WriteMode, UpdateMode],
        buffering: Literal[0],
        *,
        durable: bool = False,
    ) -> RawFile: ...
    @overload
    def __call__(
        self,
        path: StrPath,
        mode: TextMode = "r",
        buffering: int = -1,
        encoding: Optional[str] = None,
        errors: Optional[str] = None,
        newline: Optional[str] = None,
        *,
        durable: bool = False,
    ) -> io.TextIOWrapper: ...
    @overload
    def __call__(
        self,
        path: StrPath,
        mode: str,
        buffering: int = -1,
        encoding: Optional[str] = None,
        errors: Optional[str] = None,
        newline: Optional[str] = None,
        *,
        durable: bool = False,
    ) -> OpenFile: ...


class Open:
    """The two meanings of ``open``, on the class and on an image.

    ``Image.open(path, device=None, mode="r+", time_ns=None)`` opens the image of a formatted chip
    or card. ``image.open(path, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
    durable=False)`` opens a file as Python's own ``open`` does. Each has its own ``help``.

    >>> from steadyfs import Image
    >>> with Image.blank("w25q128jv", size_bytes=1 << 20) as image, image.open("boot", "xb", durable=True) as file:
    ...     file.write(b"1")
    1
    """

    @overload
    def __get__(self, image: None, owner: type[Image]) -> OpenImage: ...
    @overload
    def __get__(self, image: Image, owner: type[Image]) -> OpenFiles: ...
    def __get__(self, image: Optional[Image], owner: type[Image]) -> Union[OpenImage, OpenFiles]:
        """Return the call that opens an image, or the call that opens a file."""
        return owner._open_image if image is None else cast("OpenFiles", image._open_file)
