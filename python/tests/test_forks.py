"""Forks: a process that inherits an open image cannot use it, and changes nothing in it."""

import errno
import gc
import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Optional

import fsspec
import pytest

import steadyfs.fsspec  # noqa: F401
from steadyfs import Image
from steadyfs.session import session_of

NOR = "w25q128jv"
MIB = 1 << 20


def in_fork(act: Callable[[], None]) -> None:
    """Do something in a fork of this process; what is raised there fails the test."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    # A fork that waits for a lock for ever is killed, and fails the test.
    timer = threading.Timer(60, os.kill, (child, 9))
    timer.start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    timer.cancel()
    assert code == 0


def refused(act: Callable[[], object]) -> None:
    """Expect the error of a fork."""
    with pytest.raises(OSError, match="a fork of it; open the image again in this process") as error:
        act()
    assert error.value.errno == errno.EBADF


def names(path: Path) -> list[str]:
    with Image.open(path) as image:
        assert image.check().sound
        return image.listdir()


def write_files(image: Image, count: int) -> list[str]:
    for number in range(count):
        with image.open(f"f{number:02}", "w") as file:
            file.write("21.5 degrees")
        image.commit()
    return [f"f{number:02}" for number in range(count)]


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "card.img"
    Image.create(path, NOR, size_bytes=MIB).close()
    return path


@pytest.mark.parametrize("closes_last", [False, True])
def test_a_fork_that_closes_its_copy_takes_nothing_from_the_parent(card: Path, closes_last: bool) -> None:
    """A fork closed its copy of an image, which wrote an old root. All that the parent committed afterwards was gone, without an error."""
    read, write = os.pipe()
    image = Image.open(card)
    image.mkdir("before")

    def close() -> None:
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)
            try:
                image.close()
            except OSError as error:
                os._exit(0 if "a fork of it" in str(error) else 2)
            os._exit(1)
        if closes_last:
            expected.extend(write_files(image, 40))
        os.write(write, b"1")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    expected: list[str] = ["before"]
    close()
    if not closes_last:
        expected.extend(write_files(image, 40))
    image.close()
    assert names(card) == expected


@pytest.mark.parametrize("way", ["exits", "drops", "collects", "leaves the block"])
def test_a_fork_that_lets_go_of_its_copy_does_nothing(card: Path, way: str, capfd: pytest.CaptureFixture[str]) -> None:
    image: Optional[Image] = Image.open(card)
    assert image is not None
    raw = image.open("raw", "wb", buffering=0)
    reader = image.open("raw", "rb")
    image.commit()
    child = os.fork()
    if child == 0:
        if way == "drops":
            image = raw = reader = None  # type: ignore[assignment]
        elif way == "collects":
            cycle = [image, raw, reader]
            cycle.append(cycle)
            del cycle, image, raw, reader
            gc.collect()
        elif way == "leaves the block":
            try:
                with image:
                    pass
            except OSError:
                os._exit(0)
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    raw.write(b"1")
    expected = write_files(image, 10)
    image.close()
    assert names(card) == [*expected, "raw"]
    assert capfd.readouterr().err == ""


def test_an_interpreter_that_ends_in_a_fork_does_nothing(card: Path) -> None:
    def target() -> None:
        raise SystemExit(0)

    with Image.open(card) as image:
        image.mkdir("a")
        process = multiprocessing.get_context("fork").Process(target=target)
        process.start()
        process.join(60)
        assert process.exitcode == 0
        image.mkdir("b")
    assert names(card) == ["a", "b"]


def test_every_use_is_refused_in_a_fork(card: Path, tmp_path: Path) -> None:
    image = Image.open(card)
    image.mkdir("d")
    text, raw, buffered = image.open("t", "w"), image.open("r", "w+b", buffering=0), image.open("t", "rb")

    def act() -> None:
        calls: list[Callable[[], object]] = [
            image.commit,
            image.rollback,
            lambda: image.has_changes,
            lambda: image.transaction().__enter__(),
            lambda: image.open("x", "w"),
            lambda: image.open("t"),
            lambda: image.stat("d"),
            lambda: image.exists("d"),
            lambda: image.scandir(),
            lambda: list(image.walk()),
            lambda: image.mkdir("x"),
            lambda: image.makedirs("x/y"),
            lambda: image.remove("t"),
            lambda: image.rmdir("d"),
            lambda: image.rename("t", "x"),
            lambda: image.exchange("t", "r"),
            lambda: image.symlink("t", "x"),
            lambda: image.readlink("x"),
            lambda: image.getattr("t", "a"),
            lambda: image.setattr("t", "a", b""),
            lambda: image.removeattr("t", "a"),
            lambda: image.listattr("t"),
            lambda: image.utime("t", 1),
            lambda: image.permissions("t"),
            lambda: image.chmod("t", 0),
            lambda: image.pack(tmp_path),
            lambda: image.unpack(tmp_path / "out"),
            image.usage,
            image.health,
            image.counters,
            image.check,
            lambda: image.damage,
            lambda: raw.write(b"1"),
            lambda: raw.read(1),
            lambda: raw.seek(0, os.SEEK_END),
            lambda: raw.truncate(0),
            lambda: raw.sync(),
            lambda: buffered.read(1),
            text.flush,
            image.close,
        ]
        text.write("2")
        for call in calls:
            refused(call)
        # A file that is closed is dropped.
        raw.close()
        buffered.close()
        # These read nothing of the volume.
        assert image.name == str(card) and image.writable and not image.closed
        assert repr(image).startswith("<steadyfs.Image")

    in_fork(act)
    text.write("1")
    text.close()
    raw.write(b"1")
    image.close()
    assert names(card) == ["d", "r", "t"]


def test_a_volume_in_memory_is_that_of_its_process_too() -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        in_fork(lambda: refused(image.listdir))
        assert image.listdir() == []


def test_a_fork_made_during_a_call_of_another_thread_waits_for_nothing(card: Path) -> None:
    image = Image.open(card)
    ends = threading.Event()

    def work() -> None:
        while not ends.is_set():
            image.check()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            in_fork(lambda: refused(lambda: image.stat("/")))
    finally:
        ends.set()
        thread.join()
    image.close()
    in_fork(image.close)


def test_a_fork_opens_the_image_itself(card: Path) -> None:
    image = Image.open(card)
    image.mkdir("a")

    def while_open() -> None:
        with pytest.raises(OSError, match="in use elsewhere"):
            Image.open(card)

    in_fork(while_open)
    image.close()

    def after() -> None:
        with Image.open(card) as own:
            own.mkdir("b")

    in_fork(after)
    assert names(card) == ["a", "b"]


def test_an_image_is_free_when_it_is_closed_though_a_fork_has_inherited_it(card: Path) -> None:
    """The lock of an image stayed with the file that a fork had inherited: until its end nobody could open the image."""
    read, write = os.pipe()
    image = Image.open(card)
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    image.mkdir("a")
    image.close()
    assert names(card) == ["a"]
    os.write(write, b"1")
    os.waitpid(child, 0)


def test_files_of_fsspec_are_those_of_their_process(card: Path) -> None:
    url = f"steadyfs://{card}:/x"
    with fsspec.open(url, "wb") as file:
        file.write(b"1")
    system = fsspec.filesystem("steadyfs", image=str(card))
    file = system.open("/x", "rb")
    held = session_of(str(card), None, True)

    def act() -> None:
        refused(lambda: file.read(1))
        refused(lambda: held.mounted().__enter__())
        # The fork mounts the image for reading, as the other process does.
        assert system.cat("/x") == b"1"

    in_fork(act)
    assert file.read() == b"1"
    file.close()
    in_fork(lambda: system.pipe_file("/y", b"2"))
    assert names(card) == ["x", "y"]


def test_a_session_of_an_open_image_is_refused_in_a_fork(card: Path) -> None:
    with Image.open(card) as image:
        system = fsspec.filesystem("steadyfs", image=image, skip_instance_cache=True)
        system.pipe_file("/x", b"1")
        in_fork(lambda: refused(lambda: system.cat("/x")))
        assert system.cat("/x") == b"1"
