"""The directory of a sweep. Its files are complete, even after a kill.

Every file is written under another name, reaches the disk, and then gets its own name. One process
at a time has the directory.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

import pyarrow as pa
import pyarrow.parquet as pq

from steadyfs.runs import Columns, Run

if TYPE_CHECKING:
    from io import TextIOWrapper
    from types import TracebackType

VERSION = 1
"""Version of the layout of the directory, and of the columns."""
_ROW_GROUP = 65_536
_BEGUN = {"lock", "plan.json.part"}
"""Files of a directory whose sweep was killed before it had a plan."""
_PART = re.compile(r"\d+-\d+-\d+\.parquet")
"""The name of rows: the first and the last run, and their number."""


@dataclass(frozen=True)
class Plan:
    """The definition of a sweep: its runs, in order, and the columns of their rows."""

    runs: Sequence[Run]
    columns: Columns
    said: Mapping[str, object]
    """Content of ``plan.json`` beside the runs."""

    def schema(self) -> pa.Schema:
        """Return columns and types. They follow from the plan alone, never from the rows."""
        columns = (*self.columns, ("error", "string"), ("replay", "string"))
        return pa.schema([pa.field("run", pa.int64(), nullable=False), *((name, _type(kind)) for name, kind in columns)])

    def described(self) -> dict[str, object]:
        """Return the content of ``plan.json``."""
        arguments = json.dumps([run.arguments() for run in self.runs], sort_keys=True).encode()
        return {"version": VERSION, **self.said, "runs": len(self.runs), "sha256": hashlib.sha256(arguments).hexdigest()}


def _type(kind: str) -> pa.DataType:
    return pa.list_(pa.string()) if kind == "strings" else pa.type_for_alias(kind)


class Store:
    """A sweep on disk, as a context manager that keeps others out."""

    def __init__(self, path: str, plan: Plan) -> None:
        """Name a directory and its plan. A new directory gets the plan."""
        self._path, self._count, self._schema, self._plan = path, len(plan.runs), plan.schema(), plan.described()
        self._parts = os.path.join(path, "parts")
        self._table = os.path.join(path, "table.parquet")
        self._waiting: list[dict[str, object]] = []
        self._there: set[int] = set()
        self._lock: Optional[TextIOWrapper] = None

    def __enter__(self) -> Store:
        self._check_place()
        os.makedirs(self._path, exist_ok=True)
        self._take_lock()
        try:
            self._check_plan()
            if self.is_complete:
                self._remove_parts()
            else:
                os.makedirs(self._parts, exist_ok=True)
                self._clean()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._release()

    def _check_place(self) -> None:
        """Refuse a file, and a directory with files of somebody else."""
        expected = "expected a new or empty directory, or the directory of a sweep"
        if os.path.lexists(self._path) and not os.path.isdir(self._path):
            raise NotADirectoryError(errno.ENOTDIR, f"is no directory; {expected}", self._path)
        names = set(os.listdir(self._path)) if os.path.isdir(self._path) else set()
        if "plan.json" not in names and names - _BEGUN:
            raise FileExistsError(errno.EEXIST, f"is not empty and holds no sweep; {expected}", self._path)

    def _take_lock(self) -> None:
        import fcntl

        # "a" keeps the content of a file of somebody else.
        self._lock = open(os.path.join(self._path, "lock"), "a", encoding="utf-8")  # noqa: SIM115
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._release()
            raise BlockingIOError(error.errno, "another process runs this sweep; expected it to be free", self._path) from None

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_plan(self) -> None:
        place = os.path.join(self._path, "plan.json")
        if not os.path.exists(place):
            text = json.dumps(self._plan, indent=2) + "\n"
            self._put(place, lambda part: _write(part, text))
            return
        with open(place, encoding="utf-8") as file:
            try:
                found = json.load(file)
            except ValueError:
                found = None
        if not isinstance(found, dict):
            raise ValueError(f"{place}: is not the plan of a sweep; expected the plan of this sweep, or another directory")
        for name, expected in self._plan.items():
            if found.get(name) != expected:
                words = f"holds another sweep: its {name} is {found.get(name)}; expected {expected}, or another directory"
                raise ValueError(f"{self._path}: {words}")

    def _clean(self) -> None:
        """Remove incomplete files of the sweep, and read which rows are there."""
        for name in os.listdir(self._parts):
            if name.endswith(".part") and _PART.fullmatch(name.removesuffix(".part")):
                os.remove(os.path.join(self._parts, name))
        for place in self._rows():
            self._there.update(pq.read_table(place, columns=["run"])["run"].to_pylist())

    def _rows(self) -> list[str]:
        """Return the paths of the rows so far, sorted."""
        return [os.path.join(self._parts, name) for name in sorted(os.listdir(self._parts)) if _PART.fullmatch(name)]

    def _remove_parts(self) -> None:
        """Remove the rows so far, and their directory. Other files stay."""
        if os.path.isdir(self._parts):
            for place in self._rows():
                os.remove(place)
            with suppress(OSError):
                os.rmdir(self._parts)

    @property
    def is_complete(self) -> bool:
        """True if the table is there."""
        return os.path.exists(self._table)

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return len(self._waiting)

    def missing(self) -> list[int]:
        """Return the runs that have no row, in order."""
        return [index for index in range(self._count) if index not in self._there]

    def add(self, index: int, row: object) -> None:
        """Take the row of a run."""
        if not isinstance(row, dict) or index in self._there:
            raise AssertionError(f"run {index} gave {type(row).__name__}, or a second row")
        self._there.add(index)
        self._waiting.append({"run": index, **row})

    def save(self) -> None:
        """Write the waiting rows."""
        if not self._waiting:
            return
        rows = sorted(self._waiting, key=lambda row: int(str(row["run"])))
        table = pa.Table.from_pylist(rows, schema=self._schema)
        self._put(os.path.join(self._parts, f"{rows[0]['run']}-{rows[-1]['run']}-{len(rows)}.parquet"), lambda part: _write_table(part, table))
        self._waiting = []

    def finish(self) -> None:
        """Make the table of all parts, in the order of the plan, and remove them."""
        self.save()
        parts = [pq.read_table(place, schema=self._schema) for place in self._rows()]
        table = pa.concat_tables(parts).sort_by("run").combine_chunks()
        if table["run"].to_pylist() != list(range(self._count)):
            raise AssertionError(f"{self._path}: the parts have {table.num_rows} rows; expected each of {self._count} once")
        self._put(self._table, lambda part: _write_table(part, table))
        self._remove_parts()

    def _put(self, place: str, write: Callable[[str], None]) -> None:
        """Write a file. It gets its name when it is complete and on the disk."""
        part = f"{place}.part"
        write(part)
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, place)


def _write(part: str, text: str) -> None:
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)


def _write_table(part: str, table: pa.Table) -> None:
    pq.write_table(table, part, compression="zstd", row_group_size=_ROW_GROUP, write_statistics=True)
