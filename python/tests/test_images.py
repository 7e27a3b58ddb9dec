"""Volumes in images: what Python does is what the library does."""

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Optional

import pytest

from steadyfs import Image, Stat

NOR = "w25q128jv"
MIB = 1 << 20


def small() -> Image:
    return Image.blank(NOR, size_bytes=MIB)


def test_what_is_written_is_read_after_the_image_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "card.img"
    content = os.urandom(100_000)
    with Image.create(path, NOR, size_bytes=MIB) as image:
        image.makedirs("/a/b")
        with image.open("/a/b/file", "wb") as file:
            file.write(content)
    with Image.open(path, mode="r") as image:
        assert image.open("/a/b/file", "rb").read() == content
        assert image.stat("/a/b/file").size == len(content)
        assert image.check().sound
        assert not image.health().unsettled


@pytest.mark.parametrize(("device", "size_bytes"), [(NOR, MIB), ("mt29f1g01abafd", None), (None, 64 * MIB)])
def test_a_copy_of_an_open_image_has_exactly_what_was_committed(tmp_path: Path, device: Optional[str], size_bytes: Optional[int]) -> None:
    with Image.create(tmp_path / "card.img", device, size_bytes=size_bytes) as image:
        image.mkdir("/committed")
        image.commit()
        image.mkdir("/lost")
        with image.open("/file", "wb") as file:
            file.write(b"lost")
        shutil.copy(tmp_path / "card.img", tmp_path / "cut.img")
    with Image.open(tmp_path / "cut.img") as image:
        assert image.listdir("/") == ["committed"]


@pytest.mark.parametrize("block", [0, 1])
def test_an_image_with_a_damaged_superblock_is_read_by_the_other_copy_and_mended(tmp_path: Path, block: int) -> None:
    path = tmp_path / "card.img"
    with Image.create(path, NOR, size_bytes=MIB) as image, image.open("file", "wb") as file:
        file.write(b"kept")
    whole = path.read_bytes()
    first = whole.index(b"SteadyFS")
    at = first if block == 0 else whole.index(b"SteadyFS", first + 1)
    path.write_bytes(whole[:at] + b"?" + whole[at + 1 :])
    with pytest.warns(UserWarning, match=f"the superblock in block {block} is damaged"), Image.open(path) as image:
        assert image.open("file", "rb").read() == b"kept"
        assert not image.check().sound
        assert image.check(repair=True).mended == 1
        assert image.check().sound
    assert path.read_bytes()[at : at + 55] == whole[at : at + 55]
    with Image.open(path, mode="r") as image:
        assert image.check().sound


def test_files_are_those_of_io() -> None:
    with small() as image:
        assert isinstance(image.open("t", "w"), io.TextIOWrapper)
        with image.open("t", "w", newline="") as text:
            text.write("grün\n")
        assert image.open("t", "rb").read() == "grün\n".encode()
        with image.open("t", "r+b") as both:
            both.seek(-1, os.SEEK_END)
            both.write(b"!!")
            assert both.tell() == 7
            both.seek(0)
            assert both.read() == "grün!!".encode()
        with image.open("t", "ab", buffering=0) as appends:
            appends.seek(0)
            appends.write(b"?")
        with image.open("t", "a+") as appends_text:
            appends_text.seek(0)
            assert appends_text.read() == "grün!!?"
        with image.open("t", "rb", buffering=0) as raw:
            buffer = bytearray(4)
            assert raw.readinto(buffer) == 4
            assert buffer == "grü".encode()
            assert raw.read(100) == b"n!!?"
            assert raw.read(1) == b""
        with image.open("t", "r+b") as cut:
            assert cut.truncate(2) == 2
            cut.seek(5)
            cut.write(b"x")
        assert image.open("t", "rb").read() == b"gr\0\0\0x"
        assert list(image.open("t", "rb")) == [b"gr\0\0\0x"]


@pytest.mark.parametrize("mode", ["", "rw", "rr", "rbt", "q", "b"])
def test_modes_that_are_none_are_refused(mode: str) -> None:
    with small() as image, pytest.raises(ValueError, match="invalid mode"):
        image.open("x", mode)


def test_what_a_mode_does_not_allow_is_refused() -> None:
    with small() as image:
        with image.open("x", "wb") as file, pytest.raises(io.UnsupportedOperation):
            file.read()
        with image.open("x", "rb", buffering=0) as raw, pytest.raises(io.UnsupportedOperation, match="not opened for writing"):
            raw.write(b"1")


def test_names_are_as_on_other_file_systems() -> None:
    with small() as image:
        image.makedirs("a/b/c")
        image.makedirs("a/b/c", exist_ok=True)
        with pytest.raises(FileExistsError):
            image.makedirs("a/b/c")
        image.open("a/x", "w").close()
        image.open("a/b/y", "w").close()
        image.symlink("../x", "a/b/link")
        assert image.readlink("a/b/link") == "../x"
        assert list(image.walk("/")) == [("/", ["a"], []), ("/a", ["b"], ["x"]), ("/a/b", ["c"], ["link", "y"]), ("/a/b/c", [], [])]
        image.rename("a/x", "a/b/y")
        assert image.listdir("a") == ["b"]
        image.mkdir("other")
        image.exchange("a", "other")
        assert (image.listdir("a"), image.listdir("other")) == ([], ["b"])
        image.exchange("other", "a")
        image.rmdir("other")
        kinds = [(entry.name, entry.is_file(), entry.is_dir(), entry.is_symlink()) for entry in image.scandir("a/b")]
        assert kinds == [("c", False, True, False), ("link", False, False, True), ("y", True, False, False)]
        with pytest.raises(IsADirectoryError):
            image.remove("a/b")
        image.remove("a", recursive=True)
        assert image.listdir() == []
        assert (image.stat("/").name, image.stat("/").type, image.exists("a")) == ("/", 2, False)


def test_no_path_leads_out_of_the_volume() -> None:
    with small() as image:
        image.open("../../etc", "w").close()
        assert image.listdir("/") == ["etc"]
        assert image.stat("/../../etc/") == image.stat("etc")


def test_attributes_times_and_permissions_are_kept() -> None:
    with Image.blank(NOR, size_bytes=MIB, time_ns=7) as image:
        image.open("x", "w").close()
        image.setattr("x", "mime", b"text/plain")
        assert (image.getattr("x", "mime"), image.listattr("x")) == (b"text/plain", ["mime"])
        image.removeattr("x", "mime")
        with pytest.raises(OSError, match='no attribute "mime"'):
            image.getattr("x", "mime")
        with pytest.raises(OSError, match="248 bytes"):
            image.setattr("x", "a", b"0" * 248)
        assert image.stat("x").modified_ns == 7
        image.utime("x", 123)
        image.chmod("x", 0o640, 5, 6)
        assert (image.stat("x").modified_ns, image.permissions("x")) == (123, (0o640, 5, 6))


def test_what_a_directory_says_compresses_its_files() -> None:
    line = b"21.5 degrees at the valve\n"
    with small() as image:
        image.mkdir("logs")
        image.setattr("logs", "steadyfs.compress", b"lz4/4KiB")
        image.mkdir("logs/below")
        assert image.getattr("logs/below", "steadyfs.compress") == b"lz4/4KiB"
        before = image.usage().used_bytes
        with image.open("logs/below/log", "wb", buffering=0) as log, image.open("logs/below/log", "rb", buffering=0) as reader:
            for count in range(2000):
                log.write(line)
                if count in (1, 100, 1999):
                    reader.seek(0)
                    assert reader.readall() == line * (count + 1)
        assert image.usage().used_bytes - before < len(line) * 1000
        assert image.stat("logs/below/log").size == len(line) * 2000
        assert image.listattr("logs/below/log") == []
        with image.open("logs/below/noise", "wb") as file:
            file.write(noise := os.urandom(50_000))
        assert image.open("logs/below/noise", "rb").read() == noise
        assert image.check().sound


def test_stats_are_equal_hashed_and_pickled() -> None:
    import pickle

    with small() as image:
        image.mkdir("d")
        found = image.stat("d")
    assert pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(Stat(found.type, found.size, found.name, found.modified_ns, found.inode))


def test_rollback_and_transactions_undo_what_was_not_committed() -> None:
    with small() as image:
        image.open("kept", "w").close()
        image.commit()
        image.open("lost", "w").close()
        assert image.has_changes
        image.rollback()
        assert image.listdir() == ["kept"]
        with pytest.raises(KeyError), image.transaction():
            image.remove("kept")
            raise KeyError("kept")
        with image.transaction(), image.open("new", "w") as file:
            file.write("x" * 1000)
        image.rollback()
        assert (image.listdir(), image.stat("new").size) == (["kept", "new"], 1000)


def test_a_commit_takes_what_files_have_in_their_buffers(tmp_path: Path) -> None:
    path = tmp_path / "card.img"
    with Image.create(path, NOR, size_bytes=MIB) as image:
        file = image.open("log", "w")
        file.write("21.5")
        image.commit()
        assert image.stat("log").size == 4
        file.write(" degrees")
    assert file.closed
    with Image.open(path) as image:
        assert image.open("log").read() == "21.5 degrees"


def test_threads_take_turns() -> None:
    with small() as image:

        def work(name: str) -> None:
            for index in range(50):
                with image.open(name, "ab") as file:
                    file.write(bytes([index]))

        threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [image.open(f"t{number}", "rb").read() for number in range(4)] == [bytes(range(50))] * 4


def test_ctrl_c_ends_a_long_read_and_the_image_stays_as_it_was(tmp_path: Path) -> None:
    script = """
import signal, sys
from steadyfs import Image
# A shell's background jobs ignore it, and so would this one.
signal.signal(signal.SIGINT, signal.default_int_handler)
with Image.open(sys.argv[1]) as image:
    file = image.open("large", "rb", buffering=0)
    print("reading", flush=True)
    try:
        while True:
            file.seek(0)
            file.read()
    except KeyboardInterrupt:
        print(image.check.__name__, file.tell() in (0, 20_000_000), flush=True)
    file.close()
    image.mkdir("after")
"""
    path = tmp_path / "card.img"
    with Image.create(path, "mt29f1g01abafd") as image, image.open("large", "wb") as file:
        file.write(bytes(20_000_000))
    child = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "reading\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "check True\n"
    assert child.wait(20) == 0
    child.stdout.close()
    with Image.open(path) as image:
        assert image.exists("after") and image.check().sound


def test_a_process_that_is_killed_leaves_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "card.img"
    Image.create(path, NOR, size_bytes=MIB).close()
    script = """
import os, signal, sys
from steadyfs import Image
image = Image.open(sys.argv[1])
image.mkdir("committed")
image.commit()
image.mkdir("not")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == -signal.SIGKILL
    with Image.open(path) as image:
        assert image.listdir() == ["committed"]
        assert image.check().sound


def test_an_image_that_nobody_closed_is_closed_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "card.img"
    image = Image.create(path, NOR, size_bytes=MIB)
    image.mkdir("a")
    with pytest.warns(ResourceWarning, match="unclosed"):
        del image
    with Image.open(path) as again:
        assert again.listdir() == ["a"]


def test_what_removed_files_hold_is_free(tmp_path: Path) -> None:
    """On a full volume `free_bytes` was 0 after a removal, though a write found room."""
    path = tmp_path / "card.img"
    with Image.create(path, NOR, size_bytes=MIB) as image:
        with image.open("keeps", "wb", buffering=0) as keeps, image.open("a", "wb", buffering=0) as file:
            keeps.write(b"1" * 100_000)
            with pytest.raises(OSError, match="no room left") as error:
                while file.write(b"2" * MIB):
                    pass
        assert error.value.errno == errno.ENOSPC
        full = image.usage()
        assert full.free_bytes < 4 * full.logical_bytes
        size = image.stat("a").size
        opened = image.open("keeps", "rb")
        image.remove("keeps")
        # What is removed and open is not free.
        assert image.usage().free_bytes < full.free_bytes + 2 * full.logical_bytes
        opened.close()
        image.remove("a")
        image.commit()
        room = image.usage()
        assert room.free_bytes >= size + 100_000 and room.used_bytes + room.free_bytes == room.usable_bytes
        assert size < room.available_bytes < room.free_bytes
        with image.open("b", "wb") as file:
            file.write(b"3" * room.available_bytes)
        assert image.stat("b").size == room.available_bytes


def test_cards_are_images_too(tmp_path: Path) -> None:
    path = tmp_path / "sd.img"
    with Image.create(path, size_bytes=64 * MIB) as image, image.open("a", "wb") as file:
        file.write(b"1" * 100_000)
    with Image.open(path) as image:
        assert image.stat("a").size == 100_000
        assert image.check().sound
    with pytest.raises(OSError, match="card or disk; expected no device"):
        Image.open(path, device=NOR)


def test_the_chip_counts_what_it_does_and_how_long_that_takes() -> None:
    with Image.blank("mt29f1g01abafd") as image:
        before = image.counters()
        with image.open("a", "wb") as file:
            file.write(bytes(64 << 10))
        image.commit()
        after = image.counters()
    assert after.programs - before.programs >= 32
    assert after.time_ns - before.time_ns > 32 * 200_000
    assert image.closed
