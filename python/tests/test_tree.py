"""Directories from and to the host."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from steadyfs import Image

NOR = "w25q128jv"
MIB = 1 << 20


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "rootfs"
    (root / "etc" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "etc" / "settings.toml").write_bytes(b"rate = 500\n" * 3000)
    (root / "etc" / "deep" / "ä").write_bytes(b"")
    (root / "boot").write_bytes(os.urandom(70_001))
    (root / "boot").chmod(0o755)
    (root / "link").symlink_to("etc/settings.toml")
    return root


def content(root: Path) -> dict[str, tuple[int, bytes]]:
    found = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        what = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(root))] = (0 if path.is_symlink() else mode, what)
    return found


@pytest.mark.parametrize("device", [NOR, "mt29f1g01abafd"])
def test_what_is_packed_is_byte_for_byte_what_the_command_packs(
    tree: Path, tmp_path: Path, device: str, steady: Callable[[list[str]], str]
) -> None:
    ours, theirs = tmp_path / "ours.img", tmp_path / "theirs.img"
    with Image.create(ours, device, time_ns=0) as image:
        image.pack(tree)
    steady(["pack", str(tree), str(theirs), "--device", device, "--mtime", "0"])
    assert ours.read_bytes() == theirs.read_bytes()


def test_an_empty_image_is_that_of_the_command(tmp_path: Path, steady: Callable[[list[str]], str]) -> None:
    Image.create(tmp_path / "ours.img", "mx25r6435f").close()
    steady(["format", str(tmp_path / "theirs.img"), "--device", "mx25r6435f"])
    assert (tmp_path / "ours.img").read_bytes() == (tmp_path / "theirs.img").read_bytes()


def test_what_is_unpacked_is_what_was_packed(tree: Path, tmp_path: Path) -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        image.pack(tree, keep_times=True)
        image.unpack(tmp_path / "out")
        assert content(tmp_path / "out") == content(tree)
        assert (tmp_path / "out" / "boot").stat().st_mtime_ns == (tree / "boot").stat().st_mtime_ns
        image.pack(tree, "/again/inside")
        (tmp_path / "there").mkdir()
        image.unpack(tmp_path / "there", "/again/inside")
        assert content(tmp_path / "there") == content(tree)
        with pytest.raises(OSError, match="is not empty") as error:
            image.unpack(tmp_path / "there")
        assert error.value.errno == errno.ENOTEMPTY


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "a\u202eb", ".steady-7.part"])
def test_names_that_do_harm_are_refused_before_anything_is_made(tmp_path: Path, name: str) -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        image.mkdir("first")
        image.open(f"z{name}" if not name.startswith(".") else name, "w").close()
        with pytest.raises(OSError, match="which is not made on the host"):
            image.unpack(tmp_path / "out")
        assert os.listdir(tmp_path) == []


def test_links_of_an_image_lead_nowhere_while_it_is_unpacked(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with Image.blank(NOR, size_bytes=MIB) as image:
        image.symlink(str(outside), "a")
        image.makedirs("b/c")
        image.open("b/c/x", "w").close()
        image.unpack(tmp_path / "out")
    assert os.readlink(tmp_path / "out" / "a") == str(outside)
    assert os.listdir(outside) == []


def test_an_unpack_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Image.blank(NOR, size_bytes=MIB) as image:
        image.open("x", "w").close()
        image.mkdir("d")
        monkeypatch.setattr("shutil.copyfileobj", fail)
        with pytest.raises(OSError, match="No space left"):
            image.unpack(tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_what_a_volume_cannot_hold_is_refused_before_anything_is_packed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_text("x")
    os.mkfifo(root / "pipe")
    with Image.blank(NOR, size_bytes=MIB) as image:
        with pytest.raises(OSError, match="neither a file nor a directory") as error:
            image.pack(root)
        assert error.value.filename == str(root / "pipe")
        assert image.listdir() == []
