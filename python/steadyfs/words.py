"""Numbers as text: `rate("500kB/s")` and `size("4KiB")` read it, `said_rate` prints it."""

from __future__ import annotations

import math
import operator
from typing import Union

from steadyfs import _native

Number = Union[int, float, str]
"""A number, or text in the form of the command line."""

SIZE_MAX = 1 << 48
"""The largest size in bytes, for numbers and for text: 256 TiB."""
TIME_NS_MAX = (1 << 64) - 1
"""The latest time that a volume stores, in nanoseconds since 1970: in the year 2554."""


def _parsed(kind: str, value: str, name: str) -> float:
    try:
        return _native.parse(kind, value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _number(value: Number, name: str, expected: str) -> Union[int, float]:
    """Return a number that is not text: an integer unchanged, a float if it is finite."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    if not isinstance(value, float):
        raise TypeError(f"{name} is {value!r}; expected {expected}")
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return value


def rate(value: Number, name: str = "rate") -> int:
    """Return the bytes per second of a number, or of text such as ``500kB/s``.

    ``name`` is the argument that errors name. Raises `ValueError` for a number that is negative or
    not finite, and for text that is no rate; `TypeError` for anything else.

    >>> rate("500kB/s"), rate(64_000)
    (500000, 64000)
    """
    expected = "bytes per second, or text such as '500kB/s'"
    number = _parsed("rate", value, name) if isinstance(value, str) else _number(value, name, expected)
    if number < 0:
        raise ValueError(f"{name} is {value!r}; expected {expected}, not negative")
    return int(number)


def size(value: Number, name: str = "size") -> int:
    """Return the bytes of a number, or of text such as ``4KiB``.

    ``name`` is the argument that errors name. Raises `ValueError` for a number that is not whole,
    negative or above `SIZE_MAX`, and for text that is no size; `TypeError` for anything else.

    >>> size("4KiB"), size(512)
    (4096, 512)
    >>> size(-1, "size_bytes")
    Traceback (most recent call last):
    ValueError: size_bytes is -1; expected whole bytes from 0 to 256 TiB, or text such as '4KiB'
    """
    expected = "whole bytes from 0 to 256 TiB, or text such as '4KiB'"
    number = _parsed("size", value, name) if isinstance(value, str) else _number(value, name, expected)
    if not 0 <= number <= SIZE_MAX or number != int(number):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return int(number)


def whole(value: int, name: str, most: int) -> int:
    """Return a count from 0 to ``most``.

    ``name`` is the argument that errors name. Raises `ValueError` outside of the range, and
    `TypeError` for a ``value`` that is no integer.

    >>> whole(-1, "files_max", 100)
    Traceback (most recent call last):
    ValueError: files_max is -1; expected a whole number from 0 to 100
    """
    expected = f"a whole number from 0 to {most:,}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected {expected}") from None
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return number


def since_1970(value: int, name: str) -> int:
    """Return a time in nanoseconds since 1970 that a volume can store.

    ``name`` is the argument that errors name. Raises `ValueError` for a time before 1970 or after
    the year 2554, and `TypeError` for a ``value`` that is no integer.

    >>> since_1970(-1, "time_ns")
    Traceback (most recent call last):
    ValueError: time_ns is -1; expected nanoseconds since 1970, from 0 to 2**64 - 1: a volume stores no earlier time
    """
    expected = "nanoseconds since 1970, from 0 to 2**64 - 1: a volume stores no earlier time"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected {expected}") from None
    if not 0 <= number <= TIME_NS_MAX:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return number


def share(value: Number, name: str = "share") -> float:
    """Return the share from 0 to 1 of a number, or of text such as ``80%``.

    ``name`` is the argument that errors name. Raises `ValueError` for text that is no share and a
    number that is not finite, and `TypeError` for anything else.

    >>> share("80%")
    0.8
    """
    if isinstance(value, str):
        return _parsed("share", value, name)
    return float(_number(value, name, "a share from 0 to 1, or text such as '80%'"))


def nanoseconds(value: Number, name: str = "duration") -> int:
    """Return the nanoseconds of a number, or of text such as ``20ms``.

    ``name`` is the argument that errors name. Raises `ValueError` for a number that is negative or
    not finite, and for text that is no duration; `TypeError` for anything else.

    >>> nanoseconds("20ms")
    20000000
    """
    expected = "nanoseconds, or text such as '20ms'"
    number = _parsed("duration", value, name) if isinstance(value, str) else _number(value, name, expected)
    if number < 0:
        raise ValueError(f"{name} is {value!r}; expected {expected}, not negative")
    return int(number)


def said_rate(rate_bytes: float) -> str:
    """Return a rate as text in decimal units, as reports print it.

    >>> said_rate(1_500_000), said_rate(100_000)
    ('1.5 MB/s', '100 kB/s')
    """
    for unit, factor in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if rate_bytes >= factor:
            return f"{rate_bytes / factor:.4g} {unit}"
    return f"{rate_bytes:.4g} B/s"


def said_size(count: float) -> str:
    """Return a size as text in binary units, as reports print it.

    >>> said_size(4096), said_size(100)
    ('4 KiB', '100 B')
    """
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:.4g} B"
