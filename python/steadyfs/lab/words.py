"""Numbers as people say them: `rate("500kB/s")`, `size("4KiB")`; and as reports print them."""

from __future__ import annotations

from typing import Union

from steadyfs import _native

Number = Union[int, float, str]
"""A number, or text as the command line takes it."""


def rate(value: Number) -> int:
    """Return bytes per second, of a number or of text such as ``500kB/s``.

    >>> rate("500kB/s"), rate(64_000)
    (500000, 64000)
    """
    return int(_native.parse("rate", value)) if isinstance(value, str) else int(value)


def size(value: Number) -> int:
    """Return bytes, of a number or of text such as ``4KiB``.

    >>> size("4KiB")
    4096
    """
    return int(_native.parse("size", value)) if isinstance(value, str) else int(value)


def share(value: Number) -> float:
    """Return a share from 0 to 1, of a number or of text such as ``80%``.

    >>> share("80%")
    0.8
    """
    return _native.parse("share", value) if isinstance(value, str) else float(value)


def nanoseconds(value: Number) -> int:
    """Return nanoseconds, of a number of them or of text such as ``20ms``.

    >>> nanoseconds("20ms")
    20000000
    """
    return int(_native.parse("duration", value)) if isinstance(value, str) else int(value)


def said_rate(rate_bytes: float) -> str:
    """Say a rate, as reports do: decimal.

    >>> said_rate(1_500_000), said_rate(100_000)
    ('1.5 MB/s', '100 kB/s')
    """
    for unit, factor in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if rate_bytes >= factor:
            return f"{rate_bytes / factor:.4g} {unit}"
    return f"{rate_bytes:.4g} B/s"


def said_size(count: float) -> str:
    """Say a size, as reports do: binary.

    >>> said_size(4096), said_size(100)
    ('4 KiB', '100 B')
    """
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:.4g} B"
