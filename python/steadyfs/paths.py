"""Paths of volumes."""

from __future__ import annotations

import os
from typing import Union

StrPath = Union[str, "os.PathLike[str]"]
"""A path as text, or an object that stands for one."""


def text(path: StrPath) -> str:
    """Return a path of a volume as text.

    A path has names joined by ``/``, with or without a ``/`` in front. ``.`` is skipped, and ``..``
    is the directory above. ``..`` of the root is the root: no path leads out of a volume.
    """
    found = os.fspath(path)
    if not isinstance(found, str):
        raise TypeError(f"a path of a volume is text; found {type(found).__name__}")
    if not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError:
            raise ValueError(f"a path of a volume is {found!r}; expected text without surrogates, which UTF-8 cannot encode") from None
    return found
