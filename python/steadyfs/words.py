"""Numbers as text: `rate("500kB/s")` and `size("4KiB")` read it, `said_rate` prints it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import TypeVar, Union

from steadyfs import _native

Number = Union[int, float, str]
"""A number, or text in the form of the command line."""

SIZE_MAX = 1 << 48
"""The largest size in bytes, for numbers and for text: 256 TiB."""
RATE_LEAST, RATE_MAX = _native.allowed("evaluate")["rates"]
"""The smallest and the largest rate in bytes per second, for numbers and for text."""
COUNT_MAX = (1 << 64) - 1
"""The largest number of the native half, such as a seed."""
TIME_NS_MAX = (1 << 64) - 1
"""The latest time that a volume stores, in nanoseconds since 1970: in the year 2554."""


def _parsed(kind: str, value: str, name: str) -> float:
    try:
        return _native.parse(kind, value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _index(value: object, name: str, expected: str) -> int:
    """Return an integer. A truth value is none."""
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise TypeError(f"{name} is {value!r}; expected {expected}")


def _number(value: Number, name: str, expected: str) -> Union[int, float]:
    """Return a number that is not text: an integer unchanged, a float if it is finite."""
    if not isinstance(value, float):
        return _index(value, name, expected)
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return value


def rate(value: Number, name: str = "rate") -> int:
    """Return the bytes per second of a number, or of text such as ``500kB/s``.

    ``name`` is the argument that errors name. Raises `ValueError` for a number below 1 or above
    `RATE_MAX`, and for text that is no rate; `TypeError` for anything else.

    >>> rate("500kB/s"), rate(64_000)
    (500000, 64000)
    """
    expected = f"{RATE_LEAST} to {RATE_MAX:,} bytes per second, or text such as '500kB/s'"
    number = _parsed("rate", value, name) if isinstance(value, str) else _number(value, name, expected)
    if not RATE_LEAST <= number <= RATE_MAX:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return int(number)


def rate_list(values: Iterable[Number]) -> list[int]:
    """Return the argument ``rates`` of a call in bytes per second. Raises as `rate` does, and
    `TypeError` if ``values`` is no list.

    >>> rate_list(["500kB/s", 64_000])
    [500000, 64000]
    """
    return [rate(one, "rates") for one in several(values, "rates", "bytes per second, or text such as '500kB/s'")]


def size(value: Number, name: str = "size", least: int = 0, most: int = SIZE_MAX) -> int:
    """Return the bytes of a number, or of text such as ``4KiB``.

    ``name`` is the argument that errors name. Raises `ValueError` for a number that is not whole,
    below ``least`` or above ``most``, and for text that is no size; `TypeError` for anything else.

    >>> size("4KiB"), size(512)
    (4096, 512)
    >>> size(-1, "size_bytes")
    Traceback (most recent call last):
    ValueError: size_bytes is -1; expected whole bytes from 0 to 256 TiB, or text such as '4KiB'
    """
    said_most = "256 TiB" if most == SIZE_MAX else f"{most:,}"
    expected = f"whole bytes from {least} to {said_most}, or text such as '4KiB'"
    number = _parsed("size", value, name) if isinstance(value, str) else _number(value, name, expected)
    if not least <= number <= most or number != int(number):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return int(number)


def whole(value: int, name: str, most: int, least: int = 0) -> int:
    """Return a count from ``least`` to ``most``.

    ``name`` is the argument that errors name. Raises `ValueError` outside of the range, and
    `TypeError` for a ``value`` that is no integer.

    >>> whole(-1, "files_max", 100)
    Traceback (most recent call last):
    ValueError: files_max is -1; expected a whole number from 0 to 100
    """
    expected = f"a whole number from {least:,} to {most:,}"
    number = _index(value, name, expected)
    if not least <= number <= most:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return number


def seed_number(value: int, name: str = "seed") -> int:
    """Return a seed. ``name`` is the argument that errors name. Raises as `whole` does.

    >>> seed_number("1")
    Traceback (most recent call last):
    TypeError: seed is '1'; expected a whole number from 0 to 18,446,744,073,709,551,615
    """
    return whole(value, name, COUNT_MAX)


def flag(value: bool, name: str) -> bool:
    """Return a truth value. Raises `TypeError` for anything else.

    >>> flag("no", "force")
    Traceback (most recent call last):
    TypeError: force is 'no'; expected True or False
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; expected True or False")
    return value


Item = TypeVar("Item")


def several(values: Iterable[Item], name: str, expected: str) -> list[Item]:
    """Return the values as a list. Raises `TypeError` for text, and for a single value.

    >>> several("sd-industrial", "cards", "names")
    Traceback (most recent call last):
    TypeError: cards is 'sd-industrial'; expected a list of names
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {values!r}; expected a list of {expected}")
    return list(values)


def since_1970(value: int, name: str) -> int:
    """Return a time in nanoseconds since 1970 that a volume can store.

    ``name`` is the argument that errors name. Raises `ValueError` for a time before 1970 or after
    the year 2554, and `TypeError` for a ``value`` that is no integer.

    >>> since_1970(-1, "time_ns")
    Traceback (most recent call last):
    ValueError: time_ns is -1; expected nanoseconds since 1970, from 0 to 2**64 - 1: a volume stores no earlier time
    """
    expected = "nanoseconds since 1970, from 0 to 2**64 - 1: a volume stores no earlier time"
    number = _index(value, name, expected)
    if not 0 <= number <= TIME_NS_MAX:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return number


def share(value: Number, name: str = "share") -> float:
    """Return the share from 0 to 1 of a number, or of text such as ``80%``.

    ``name`` is the argument that errors name. Raises `ValueError` for text that is no share and a
    number that is not from 0 to 1, and `TypeError` for anything else.

    >>> share("80%")
    0.8
    """
    if isinstance(value, str):
        return _parsed("share", value, name)
    expected = "a share from 0 to 1, or text such as '80%'"
    number = float(_number(value, name, expected))
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return number


def nanoseconds(value: Number, name: str = "duration") -> int:
    """Return the nanoseconds of a number, or of text such as ``20ms``.

    ``name`` is the argument that errors name. Raises `ValueError` for a number that is negative or
    not finite, and for text that is no duration; `TypeError` for anything else.

    >>> nanoseconds("20ms")
    20000000
    """
    expected = "nanoseconds, or text such as '20ms'"
    number = _parsed("duration", value, name) if isinstance(value, str) else _number(value, name, expected)
    if not 0 <= number <= TIME_NS_MAX:
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
