"""The native half. Use what `steadyfs` has: units and meaning are told there."""

from collections.abc import Callable
from os import PathLike
from typing import Optional, TypedDict, Union

__version__: str

_Progress = Optional[Callable[[float, str], None]]

class _Usage(TypedDict):
    usable_bytes: int
    free_bytes: int
    available_bytes: int
    logical_bytes: int
    files_max: int
    files: int

class _Health(TypedDict):
    blocks: int
    data_blocks: int
    bad_blocks: int
    spare_blocks: int
    weak_blocks: int
    erases_min: int
    erases_max: int
    erases_total: int
    worn_out: int
    unsettled: int
    damage: Optional[str]
    endurance: Optional[int]

class _Counters(TypedDict):
    reads: int
    programs: int
    erases: int
    time_ns: int

class _Checked(TypedDict):
    files: int
    directories: int
    pages: int
    mended: int
    removed_bytes: int
    findings: list[str]

class LabError(RuntimeError): ...

class Stat:
    def __new__(cls, type: int, size: int, name: str, modified_ns: int, inode: int) -> Stat: ...
    @property
    def type(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def modified_ns(self) -> int: ...
    @property
    def inode(self) -> int: ...
    def is_file(self) -> bool: ...
    def is_dir(self) -> bool: ...
    def is_symlink(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class Volume:
    @staticmethod
    def open_image(path: Union[str, PathLike[str]], device: Optional[str], writable: bool, time_ns: Optional[int]) -> Volume: ...
    @staticmethod
    def create_image(
        path: Union[str, PathLike[str]],
        name: str,
        device: Optional[str],
        size_bytes: Optional[int],
        files_max: Optional[int],
        name_bytes_max: Optional[int],
        time_ns: Optional[int],
    ) -> Volume: ...
    @staticmethod
    def blank(
        device: str,
        size_bytes: Optional[int],
        files_max: Optional[int],
        name_bytes_max: Optional[int],
        time_ns: Optional[int],
    ) -> Volume: ...
    @property
    def name(self) -> str: ...
    @property
    def writable(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    @property
    def forked(self) -> bool: ...
    def close(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def set_automatic(self, automatic: bool) -> None: ...
    def has_changes(self) -> bool: ...
    def stat(self, path: str) -> Stat: ...
    def entries(self, path: str) -> list[Stat]: ...
    def mkdir(self, path: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def rmdir(self, path: str) -> None: ...
    def rename(self, from_: str, to: str) -> None: ...
    def exchange(self, one: str, other: str) -> None: ...
    def symlink(self, target: str, path: str) -> None: ...
    def readlink(self, path: str) -> str: ...
    def getattr(self, path: str, key: str) -> bytes: ...
    def setattr(self, path: str, key: str, value: Optional[bytes]) -> None: ...
    def attributes(self, path: str) -> list[str]: ...
    def set_modified(self, path: str, modified_ns: int) -> None: ...
    def permissions(self, path: str) -> Optional[tuple[int, int, int]]: ...
    def set_permissions(self, path: str, mode: int, uid: int, gid: int) -> None: ...
    def open(self, path: str, how: str, durable: bool) -> int: ...
    def file_close(self, file: int) -> None: ...
    def file_size(self, file: int) -> int: ...
    def file_truncate(self, file: int, size: int) -> None: ...
    def file_flush(self, file: int) -> None: ...
    def file_read(self, file: int, offset: int, count: int) -> bytes: ...
    def file_write(self, file: int, offset: int, data: bytes) -> int: ...
    def usage(self) -> _Usage: ...
    def damage(self) -> Optional[tuple[str, str]]: ...
    def health(self) -> _Health: ...
    def counters(self) -> _Counters: ...
    def check(self, repair: bool) -> _Checked: ...

class _EvaluateOptions(TypedDict):
    device: str
    size_bytes: Optional[int]
    erase_block_bytes: Optional[int]
    fill: float
    accesses: int
    write_bytes: Optional[int]
    rates: list[int]
    timing: str
    call_us: int
    workload: str
    seed: int
    idle: Optional[tuple[int, int]]

def allowed(call: str) -> dict[str, tuple[int, int]]: ...
def evaluate_check(options: _EvaluateOptions) -> None: ...
def evaluate_run(
    options: _EvaluateOptions,
    beside: Optional[tuple[Optional[str], str]],
    progress: _Progress,
) -> tuple[str, bytes]: ...
def replay_run(name: str, access_ns: bytes, write_bytes: int, rates: list[int], buffer_bytes: Optional[int]) -> str: ...
def read_trace(path: str, unit: Optional[str], write_bytes: Optional[int]) -> tuple[bytes, int, Optional[str]]: ...
def bench_run(
    device: str,
    size_bytes: Optional[int],
    erase_block_bytes: Optional[int],
    timing: str,
    call_us: int,
    cases: Optional[list[str]],
    files: int,
    cache_pages: int,
    read_cache_pages: int,
    erased: bool,
    seed: int,
    progress: _Progress,
) -> str: ...
def costs_run(
    device: str,
    size_bytes: Optional[int],
    erase_block_bytes: Optional[int],
    timing: str,
    call_us: int,
    files: Optional[int],
    seed: int,
    progress: _Progress,
) -> str: ...
def streams_run(
    device: Optional[str],
    blocks: Optional[int],
    timing: str,
    writes: Optional[list[str]],
    fills: Optional[list[float]],
    ways: Optional[list[str]],
    count: int,
    mixed: bool,
    seed: int,
    progress: _Progress,
) -> str: ...
def realtime_run(
    cards: Optional[list[str]],
    nand: str,
    accesses: int,
    fill: float,
    rate: int,
    ram_bytes: int,
    commit_every: int,
    call_us: int,
    seed: int,
    progress: _Progress,
) -> str: ...
def transactions_run(
    devices: Optional[list[str]],
    timing: str,
    write_bytes: int,
    files: int,
    series: int,
    copies: int,
    seed: int,
    progress: _Progress,
) -> str: ...
def advise_run(
    device: str,
    workload: str,
    size_bytes: Optional[int],
    fill: float,
    timing: str,
    call_us: int,
    effort: float,
    seed: int,
    progress: _Progress,
) -> tuple[str, str]: ...
def torture_usual() -> tuple[list[str], list[str], list[str]]: ...
def torture_check(geometry: str, workload: str, fault: str, mode: str, steps: Optional[int]) -> None: ...
def torture_run(
    geometry: str,
    workload: str,
    fault: str,
    mode: str,
    steps: Optional[int],
    seed: int,
    progress: _Progress,
) -> str: ...
def siege_campaigns() -> list[str]: ...
def siege_check(campaign: str, medium: str, streams: bool, long_logs: bool, full: bool, cache: bool, volumes: int) -> None: ...
def siege_run(
    campaign: str,
    medium: str,
    streams: bool,
    long_logs: bool,
    full: bool,
    cache: bool,
    volumes: int,
    seed: int,
    progress: _Progress,
) -> str: ...
def backlog_of(access_ns: bytes, rate: int, write_bytes: int) -> Optional[tuple[int, int]]: ...
def backlog_series(access_ns: bytes, rate: int, write_bytes: int) -> bytes: ...
def highest_rate(access_ns: bytes, write_bytes: int, buffer_bytes: int, peak: bool) -> Optional[int]: ...
def devices() -> tuple[list[str], list[str]]: ...
def parse(kind: str, text: str) -> float: ...
