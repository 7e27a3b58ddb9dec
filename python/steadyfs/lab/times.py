"""Access times as arrays: whole nanoseconds, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.uint64]
"""Durations in nanoseconds, in order."""

AnyTimes = Union[
    npt.NDArray[np.int64],
    npt.NDArray[np.uint64],
    npt.NDArray[np.int32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.float64],
    npt.NDArray[np.timedelta64],
    Sequence[int],
    Sequence[float],
]
"""Durations in nanoseconds, as numbers, or of any unit as ``timedelta64``."""


def of_bytes(data: bytes) -> Times:
    """Make an array of the times that the native half returns."""
    return np.frombuffer(data, "<u8").astype(np.uint64, copy=False)


def to_array(times: AnyTimes) -> Times:
    """Check durations, and convert them to whole nanoseconds.

    >>> to_array(np.array([1500, 2], "timedelta64[us]"))
    array([1500000,    2000], dtype=uint64)
    """
    array = np.asarray(times)
    if array.ndim != 1:
        raise ValueError(f"access times are an array of {array.ndim} dimensions; expected one")
    if array.dtype.kind == "m":
        array = array.astype("timedelta64[ns]").astype(np.int64)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"access times are of the type {array.dtype}; expected numbers of nanoseconds, or timedelta64")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(f"access time {index} is {array[index]}; expected a number of nanoseconds that is not negative")
    return np.rint(array).astype(np.uint64) if array.dtype.kind == "f" else array.astype(np.uint64)


def to_bytes(times: AnyTimes) -> bytes:
    """Return times in the form that the native half takes."""
    return to_array(times).astype("<u8", copy=False).tobytes()
