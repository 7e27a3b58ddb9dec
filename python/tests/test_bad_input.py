"""Bad input gives an exception that says what, where, and what was expected; nothing is lost."""

import copy
import errno
import gc
import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Optional, Union

import pytest

import steadyfs
from steadyfs import Image
from steadyfs.fsspec import SteadyFileSystem
from steadyfs.words import Number

NOR = "w25q128jv"
NAND = "mt29f1g01abafd"
MIB = 1 << 20


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "card.img"
    with Image.create(path, NOR, size_bytes=MIB) as image:
        image.mkdir("kept")
    return path


def test_an_unknown_device_is_named_with_those_that_are_known() -> None:
    with pytest.raises(OSError, match=r"mt29f1g01abafe.*expected.*mt29f1g01abafd|mt29f1g01abafe"):
        Image.blank("mt29f1g01abafe")


def test_a_device_of_another_kind_or_size_is_refused(card: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="describes a NAND chip; expected NOR, like the image") as error:
        Image.open(card, device=NAND)
    assert (error.value.errno, error.value.filename) == (errno.EINVAL, str(card))
    nand = tmp_path / "nand.img"
    Image.create(nand, NAND).close()
    with pytest.raises(OSError, match=r"1024 blocks of 64 pages of 2048 bytes .*; expected 2048 blocks .* of mt29f2g08abaea"):
        Image.open(nand, device="mt29f2g08abaea")
    with pytest.raises(OSError, match="is a card; this command takes raw flash"):
        Image.open(card, device="sd-industrial")


def test_a_chip_with_other_spare_areas_or_less_room_is_refused(tmp_path: Path) -> None:
    """An image of a chip with the same pages, and one that is larger than the chip, were opened in
    silence.
    """
    cases = {
        ("w25n01gv", NAND): "2048 bytes with 64 spare bytes; expected 1024 blocks .* with 128 spare bytes, the sizes of mt29f",
        (NOR, "m25p16"): "a chip of 16777216 bytes; expected 2097152 at most, the size of m25p16",
    }
    for (made_for, device), words in cases.items():
        path = tmp_path / f"{made_for}.img"
        Image.create(path, made_for).close()
        with pytest.raises(OSError, match=words) as error:
            Image.open(path, device=device)
        assert (error.value.errno, error.value.filename) == (errno.EINVAL, str(path))
        Image.open(path, device=made_for).close()


def test_an_image_that_is_divided_as_on_another_chip_is_opened_with_a_warning(tmp_path: Path) -> None:
    """The sectors of the chip make up the blocks, so that the volume works. A new one would be
    divided otherwise.
    """
    path = tmp_path / "card.img"
    Image.create(path, "m25p16").close()
    words = r"card\.img: has 32 blocks of 65536 bytes .*; expected 256 blocks of 8192 bytes .* w25q16jv"
    with pytest.warns(UserWarning, match=words) as warned:
        Image.open(path, device="w25q16jv").close()
    assert warned[0].filename == __file__


@pytest.mark.parametrize("size_bytes", [None, 1 << 20, "4MiB"])
def test_the_chip_that_an_image_was_made_for_opens_it_without_a_warning(tmp_path: Path, size_bytes: Union[int, str, None]) -> None:
    path = tmp_path / "card.img"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for device in (NOR, "w25q16jv") if size_bytes != "4MiB" else (NOR,):
            Image.create(path, device, size_bytes=size_bytes, force=True).close()
            Image.open(path, device=device).close()


def test_an_open_image_and_its_files_are_neither_copied_nor_pickled() -> None:
    """A copy shared the volume: when it was dropped, the original was closed."""
    with Image.blank(NOR, size_bytes=MIB) as image:
        raw = image.open("raw", "wb", buffering=0)
        buffered, text = image.open("buffered", "wb"), image.open("text", "w")
        kinds: list[tuple[object, str]] = [
            (image, "<w25q128jv> is open, .* cannot be copied or pickled; expected its path"),
            (raw, "<w25q128jv>:/raw is open, .* cannot be copied or pickled; expected its path"),
            # The classes of io refuse it themselves.
            (buffered, "cannot pickle"),
            (text, "cannot pickle"),
            (SteadyFileSystem(image, skip_instance_cache=True), "cannot be copied or pickled"),
        ]
        for value, words in kinds:
            for copies in (copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match=words):
                    copies(value)
            if not isinstance(value, SteadyFileSystem):
                with pytest.raises(TypeError, match=words):
                    copy.copy(value)
        gc.collect()
        assert (raw.write(b"1"), buffered.write(b"22"), text.write("333")) == (1, 2, 3)
        image.commit()
        assert [entry.size for entry in image.scandir()] == [2, 1, 3]


def test_sizes_are_numbers_or_text_in_every_call(tmp_path: Path) -> None:
    """`create` refused the text that `advise` takes, and each had other errors."""
    for size_bytes in (MIB, "1MiB", "1048576", float(MIB)):
        with Image.create(tmp_path / "card.img", NOR, size_bytes=size_bytes, force=True) as image:
            assert os.path.getsize(image.name) == MIB
        Image.blank(NOR, size_bytes=size_bytes).close()
    calls: list[Callable[[Number], object]] = [
        lambda size_bytes: Image.create(tmp_path / "no.img", NOR, size_bytes=size_bytes),
        lambda size_bytes: Image.create(tmp_path / "no.img", size_bytes=size_bytes),
        lambda size_bytes: Image.blank(NOR, size_bytes=size_bytes),
        lambda size_bytes: steadyfs.advise(NOR, "log", size_bytes=size_bytes, progress=False),
        lambda size_bytes: steadyfs.bench(NOR, size_bytes=size_bytes, progress=False),
    ]
    cases: list[tuple[Number, type[Exception], str]] = [
        ("1 furlong", ValueError, "size_bytes: .*furlong.* a size such as 4KiB"),
        ("", ValueError, "size_bytes: .*a size such as 4KiB"),
        (-1, ValueError, "size_bytes is -1; expected whole bytes from 0 to 256 TiB, or text such as '4KiB'"),
        (1.5, ValueError, "size_bytes is 1.5; expected whole bytes"),
        (float("nan"), ValueError, "size_bytes is nan; expected whole bytes"),
        (1 << 64, ValueError, "size_bytes is 18446744073709551616; expected whole bytes"),
        ([MIB], TypeError, r"size_bytes is \[1048576\]; expected whole bytes"),  # type: ignore[list-item]
    ]
    for call in calls:
        for value, kind, words in cases:
            with pytest.raises(kind, match=words):
                call(value)
    assert os.listdir(tmp_path) == ["card.img"]


def test_settings_of_a_volume_that_are_out_of_range_are_named() -> None:
    for name, value, most in (("files_max", -1, "4,294,967,295"), ("name_bytes_max", 256, "255")):
        with pytest.raises(ValueError, match=f"{name} is {value}; expected a whole number from 0 to {most}"):
            Image.blank(NOR, **{name: value})
    with pytest.raises(TypeError, match="files_max is '9'; expected a whole number"):
        Image.blank(NOR, files_max="9")  # type: ignore[arg-type]


def test_values_that_would_be_taken_for_others_are_named(card: Path) -> None:
    """A text was true, and `create` replaced the image. A mode lost its upper bits."""
    before = card.read_bytes()
    with pytest.raises(TypeError, match="force is 'no'; expected True or False"):
        Image.create(card, NOR, size_bytes=MIB, force="no")  # type: ignore[arg-type]
    assert card.read_bytes() == before
    with Image.open(card) as image, image.open("f", "wb", buffering=0) as raw:
        cases: list[tuple[Callable[[], object], type[Exception], str]] = [
            (lambda: image.chmod("f", 0o100000), ValueError, "mode is 32768; expected a whole number from 0 to 4,095"),
            (lambda: image.chmod("f", 0o644, uid=-1), ValueError, "uid is -1; expected a whole number"),
            (lambda: image.chmod("f", "rw"), TypeError, "mode is 'rw'; expected a whole number"),  # type: ignore[arg-type]
            (lambda: raw.truncate(-1), ValueError, "size is -1; expected a whole number from 0"),
            (lambda: raw.seek(1 << 64), ValueError, "the offset would be 18446744073709551616; expected 0 to"),
            (lambda: image.mkdir("\udc80"), ValueError, r"a path of a volume is '\\udc80'; expected text without surrogates"),
            (lambda: image.stat("\udc80"), ValueError, "expected text without surrogates"),
            (lambda: image.remove("kept", recursive="no"), TypeError, "recursive is 'no'; expected True"),  # type: ignore[arg-type]
            (lambda: Image.blank(NOR, files_max=True), TypeError, "files_max is True; expected a whole number"),
        ]
        for call, kind, words in cases:
            with pytest.raises(kind, match=words):
                call()
        assert image.listdir() == ["f", "kept"]


def test_an_error_of_two_paths_names_both_and_the_one_at_fault() -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        image.mkdir("d")
        image.mkdir("full")
        image.open("full/x", "w").close()
        cases: list[tuple[Callable[[], object], str, str, int]] = [
            (lambda: image.rename("none", "b"), "/none", "/b", 0),
            (lambda: image.rename("d", "none/b"), "/d", "/none/b", 1),
            (lambda: image.rename("d", "full"), "/d", "/full", 1),
            (lambda: image.exchange("d", "none"), "/d", "/none", 1),
            (lambda: image.exchange("none", "d"), "/none", "/d", 0),
        ]
        for call, one, other, at_fault in cases:
            with pytest.raises(OSError) as error:
                call()
            names = f"<{NOR}>:{one}", f"<{NOR}>:{other}"
            assert (error.value.filename, error.value.filename2) == names
            assert str(error.value.strerror).endswith(f": {names[at_fault]}")
            assert str(error.value).endswith(f"{names[0]!r} -> {names[1]!r}")


@pytest.mark.parametrize("device", [NOR, None])
def test_a_size_that_does_not_fit_is_answered_with_the_next_that_does(tmp_path: Path, device: Optional[str]) -> None:
    path = tmp_path / "new.img"
    with pytest.raises(OSError, match=r"size_bytes is 8192, too little for a volume; expected at least [0-9]+: ") as error:
        Image.create(path, device, size_bytes=8192)
    least = int(str(error.value.strerror).split()[-1])
    Image.create(path, device, size_bytes=least).close()
    path.unlink()
    step = 4096 if device else 64 << 10
    with pytest.raises(OSError, match=f"expected at least {least}"):
        Image.create(path, device, size_bytes=least - step)
    with pytest.raises(OSError, match=r"size_bytes is 9895604649984; expected .*(up|at most)"):
        Image.create(path, device, size_bytes="9TiB")
    assert os.listdir(tmp_path) == []


def test_times_before_1970_are_refused(tmp_path: Path) -> None:
    """A volume stores no earlier time: no call takes one, and `pack` refuses it before it copies
    anything.
    """
    words = r"-5; expected nanoseconds since 1970, from 0 to 2\*\*64 - 1"
    path, source = tmp_path / "card.img", tmp_path / "source"
    source.mkdir()
    for name, time_ns in (("a", 7), ("old", -5_000_000_000)):
        (source / name).touch()
        os.utime(source / name, ns=(time_ns, time_ns))
    with Image.create(path, NOR, size_bytes=MIB, time_ns=9) as image:
        with pytest.raises(OSError, match="time of change is -5000000000 ns since 1970; expected 1970 to 2554, or keep_times=False") as error:
            image.pack(source, keep_times=True)
        assert (error.value.errno, error.value.filename) == (errno.EINVAL, str(source / "old"))
        assert image.listdir() == [] and not image.has_changes
        image.pack(source)
        assert [entry.modified_ns for entry in image.scandir()] == [9, 9]
        with pytest.raises(ValueError, match=f"modified_ns is {words}"):
            image.utime("a", -5)
        assert image.stat("a").modified_ns == 9
    calls: list[Callable[[], object]] = [
        lambda: Image.open(path, time_ns=-5),
        lambda: Image.blank(NOR, time_ns=-5),
        lambda: Image.create(tmp_path / "no.img", NOR, time_ns=-5),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"time_ns is {words}"):
            call()


def test_files_that_are_no_image_are_refused(card: Path, tmp_path: Path) -> None:
    whole = card.read_bytes()
    cases = {
        b"": "is empty; expected the bytes of a whole chip",
        whole[: MIB // 2]: "truncated|length",
        whole + b"\xff" * 100: "length",
        b"%PDF-1.7" * 1000: "no SteadyFS superblock",
        bytes(5000): "no SteadyFS superblock",
    }
    for content, words in cases.items():
        path = tmp_path / "other.img"
        path.write_bytes(content)
        with pytest.raises(OSError, match=words) as error:
            Image.open(path)
        assert (error.value.errno, error.value.filename) == (errno.EINVAL, str(path))
        assert path.read_bytes() == content
    with pytest.raises(FileNotFoundError) as missing:
        Image.open(tmp_path / "none.img")
    assert missing.value.filename == str(tmp_path / "none.img")
    with pytest.raises(IsADirectoryError):
        Image.open(tmp_path)


def test_an_image_in_use_is_refused_and_unharmed(card: Path) -> None:
    with Image.open(card) as image:
        with pytest.raises(OSError, match="expected it to be free") as error:
            Image.open(card)
        assert error.value.errno == errno.EBUSY
        with pytest.raises(OSError, match="expected it to be free"):
            Image.open(card, mode="r")
        image.mkdir("more")
    with Image.open(card, mode="r") as one, Image.open(card, mode="r") as two:
        assert one.listdir() == two.listdir() == ["kept", "more"]


def test_an_image_opened_for_reading_is_not_changed(card: Path) -> None:
    before = card.read_bytes()
    with Image.open(card, mode="r") as image:
        with pytest.raises(OSError, match="is read-only: opened with mode='r'; expected mode='r\\+'") as error:
            image.mkdir("no")
        assert (error.value.errno, error.value.filename) == (errno.EROFS, f"{card}:/no")
        with pytest.raises(ValueError, match="expected 'r' to read"):
            Image._open_image(card, mode="w")  # type: ignore[arg-type]
    assert card.read_bytes() == before


def test_an_image_is_replaced_only_when_that_was_asked_for(card: Path, tmp_path: Path) -> None:
    before = card.read_bytes()
    with pytest.raises(FileExistsError, match="force=True replaces it") as error:
        Image.create(card, NOR, size_bytes=MIB)
    assert error.value.filename == str(card)
    with pytest.raises(OSError, match="size_bytes"):
        Image.create(card, NOR, size_bytes=MIB + 1, force=True)
    with pytest.raises(OSError, match="too little for a volume; expected at least"):
        Image.create(card, NOR, size_bytes=8192, force=True)
    with pytest.raises(OSError, match="device and size_bytes are missing"):
        Image.create(tmp_path / "new.img")
    with pytest.raises(OSError, match="NAND, which has its own size"):
        Image.create(tmp_path / "new.img", NAND, size_bytes=MIB)
    assert card.read_bytes() == before
    assert os.listdir(tmp_path) == ["card.img"]
    with Image.create(card, NOR, size_bytes=MIB, force=True) as image:
        assert image.listdir() == []


def test_a_full_volume_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "card.img"
    with Image.create(path, NOR, size_bytes=MIB) as image:
        with image.open("first", "wb") as first:
            first.write(b"1" * 100_000)
        raw = image.open("second", "wb", buffering=0)
        with pytest.raises(OSError, match="no room left on the volume") as error:
            while True:
                assert raw.write(b"2" * 50_000) > 0
        assert (error.value.errno, error.value.filename) == (errno.ENOSPC, f"{path}:/second")
        size = image.stat("second").size
        raw.close()
    with Image.open(path) as image:
        assert image.check().sound
        assert image.open("first", "rb").read() == b"1" * 100_000
        assert image.open("second", "rb").read() == b"2" * size
        image.remove("second")
        image.commit()
        with image.open("third", "wb") as third:
            third.write(b"3" * 100_000)


def test_a_transaction_that_is_too_large_is_undone_as_a_whole() -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        with pytest.raises(OSError, match="commit more often") as error, image.transaction(), image.open("x", "wb", buffering=0) as raw:
            for _ in range(100):
                raw.write(b"1" * 10_000)
        assert error.value.errno == errno.ENOSPC
        assert image.listdir() == []
        image.mkdir("goes on")


def test_errors_are_of_pythons_classes_and_name_the_place() -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        image.mkdir("d")
        image.open("f", "w").close()
        image.open("d/x", "w").close()
        image.symlink("f", "link")
        cases: list[tuple[Callable[[], object], type[BaseException], int]] = [
            (lambda: image.open("none"), FileNotFoundError, errno.ENOENT),
            (lambda: image.open("f/x"), NotADirectoryError, errno.ENOTDIR),
            (lambda: image.open("d"), IsADirectoryError, errno.EISDIR),
            (lambda: image.open("f", "x"), FileExistsError, errno.EEXIST),
            (lambda: image.open("link"), OSError, errno.ELOOP),
            (lambda: image.mkdir("d"), FileExistsError, errno.EEXIST),
            (lambda: image.rmdir("d"), OSError, errno.ENOTEMPTY),
            (lambda: image.rename("d", "d/inside"), OSError, errno.EINVAL),
            (lambda: image.exchange("f", "none"), FileNotFoundError, errno.ENOENT),
            (lambda: image.exchange("d", "d/x"), OSError, errno.EINVAL),
            (lambda: image.mkdir("n" * 300), OSError, errno.ENAMETOOLONG),
            (lambda: image.mkdir("a\0b"), OSError, errno.EINVAL),
            (lambda: image.readlink("f"), OSError, errno.EINVAL),
        ]
        for call, kind, number in cases:
            with pytest.raises(kind) as error:
                call()
            assert isinstance(error.value, OSError)
            assert error.value.errno == number
            assert str(error.value.filename).startswith("<w25q128jv>:/")
        with pytest.raises(TypeError, match="a path of a volume is text"):
            image.stat(b"d")  # type: ignore[arg-type]


def test_what_is_closed_says_so() -> None:
    image = Image.blank(NOR, size_bytes=MIB)
    file = image.open("f", "wb", buffering=0)
    image.close()
    image.close()
    assert file.closed
    with pytest.raises(ValueError, match="closed file"):
        file.write(b"1")
    with pytest.raises(OSError, match="the volume is closed") as error:
        image.listdir()
    assert error.value.errno == errno.EBADF


def test_a_check_waits_until_files_are_closed() -> None:
    with Image.blank(NOR, size_bytes=MIB) as image:
        with image.open("f", "w"), pytest.raises(OSError, match="1 files are open; expected none"):
            image.check()
        assert image.check().sound


def test_damage_is_found_told_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "card.img"
    with Image.create(path, NAND) as image, image.open("f", "wb") as file:
        file.write(b"needle in a stack " * 10_000)
    content = bytearray(path.read_bytes())
    place = content.index(b"needle in a stack ", len(content) // 1000)
    content[place] ^= 0xFF
    path.write_bytes(content)
    with Image.open(path, mode="r") as image:
        found = image.check()
        assert not found.sound
        assert any("cannot be read" in finding for finding in found.findings)
        with pytest.raises(OSError, match="is not the written data") as error:
            image.open("f", "rb").read()
        assert error.value.errno == errno.EIO


def test_an_image_of_which_something_is_lost_is_opened_with_a_warning(tmp_path: Path) -> None:
    """An image showed an older state, and only `health` and `check` said so."""
    path = tmp_path / "card.img"
    needle = b"needle in a stack"
    with Image.create(path, NAND) as image, image.open("f", "wb") as file:
        file.write(needle)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Image.open(path, mode="r") as image:
            assert image.damage is None
    content, place = bytearray(path.read_bytes()), -1
    while (place := content.find(needle, place + 1)) >= 0:
        content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.warns(steadyfs.DamageWarning, match=r"card\.img: .*; the volume is read-only until `check\(repair=True\)` accepts") as warned:
        image = Image.open(path, mode="r")
    assert warned[0].filename == __file__
    with image:
        assert image.damage is not None
        assert image.damage == image.health().damage == image.check().damage


def test_libraries_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("steadyfs.lab")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(steadyfs, "lab", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install './python\[lab\]' in a clone"):
        _ = steadyfs.evaluate
