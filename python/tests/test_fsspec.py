"""Paths of images in the libraries that take those of fsspec."""

import errno
import pickle
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from steadyfs import Image
from steadyfs.fsspec import SteadyFileSystem

NOR = "w25q128jv"
MIB = 1 << 20
FRAME = pd.DataFrame({"at_s": np.arange(2000.0), "degrees": np.linspace(20, 25, 2000)})


@pytest.fixture
def card(tmp_path: Path) -> str:
    path = tmp_path / "card.img"
    Image.create(path, NOR, size_bytes=MIB).close()
    return str(path)


def test_pandas_writes_and_reads_inside_an_image(card: str) -> None:
    url = f"steadyfs://{card}:/log.csv"
    FRAME.to_csv(url, index=False)
    pd.testing.assert_frame_equal(pd.read_csv(url), FRAME)
    with Image.open(card) as image:
        assert image.listdir() == ["log.csv"] and image.check().sound


def test_pyarrow_and_chained_urls_and_options_name_the_same_file(card: str) -> None:
    fs = fsspec.filesystem("steadyfs", image=card)
    fs.mkdir("/data")
    FRAME.to_parquet("data/log.parquet", filesystem=fs)
    found = [
        pq.read_table("/data/log.parquet", filesystem=fs).to_pandas(),
        pd.read_parquet(f"steadyfs://data/log.parquet::file://{card}"),
        pd.read_parquet("steadyfs://data/log.parquet", storage_options={"image": card}),
        pd.read_parquet(fs.unstrip_protocol("/data/log.parquet")),
    ]
    for frame in found:
        pd.testing.assert_frame_equal(frame, FRAME)


def test_dask_reads_with_several_processes_of_its_own(card: str) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    FRAME.to_csv(f"steadyfs://{card}:/log.csv", index=False)
    lazy = dataframe.read_csv(f"steadyfs://{card}:/*.csv", storage_options={"writable": False})
    assert lazy["degrees"].max().compute(scheduler="threads") == 25


def test_an_image_is_free_when_no_file_is_open(card: str) -> None:
    fs = SteadyFileSystem(card)
    with fs.open("/a", "wb") as file:
        file.write(b"1")
        with pytest.raises(OSError, match="expected it to be free"):
            Image.open(card)
    with Image.open(card) as image:
        image.mkdir("mine")
        with pytest.raises(OSError, match="expected it to be free") as error:
            fs.ls("/")
        assert error.value.errno == errno.EBUSY
    assert fs.ls("/", detail=False) == ["/a", "/mine"]


def test_files_that_are_read_go_on_while_others_are_written(card: str) -> None:
    fs = SteadyFileSystem(card)
    fs.pipe_file("/a", bytes(range(200)) * 1000)
    with fs.open("/a", "rb") as read:
        first = read.read(100_000)
        with fs.open("/b", "wb") as write:
            write.write(first)
            assert read.read() == (bytes(range(200)) * 1000)[100_000:]
    assert fs.cat_file("/b") == first


def test_a_file_is_committed_when_it_is_closed_though_another_is_open(card: str) -> None:
    fs = SteadyFileSystem(card)
    with fs.open("/open", "wb"):
        fs.pipe_file("/done", b"1")
        # As after a power cut: the bytes of the image as they are now.
        copy = f"{card}.cut"
        Path(copy).write_bytes(Path(card).read_bytes())
    with Image.open(copy) as image:
        assert image.open("done", "rb").read() == b"1"


def test_an_open_image_can_be_given(card: str) -> None:
    with Image.blank(NOR, size_bytes=MIB) as one, Image.blank(NOR, size_bytes=MIB) as two:
        for image in (one, two):
            FRAME.to_csv("steadyfs://log.csv", storage_options={"image": image})
        assert fsspec.filesystem("steadyfs", image=one) is not fsspec.filesystem("steadyfs", image=two)
        assert one.listdir() == two.listdir() == ["log.csv"]
        fs = SteadyFileSystem(one)
        with fs.open("/x", "wb") as file:
            file.write(b"1")
        assert not one.closed and not one.has_changes


def test_names_are_moved_at_once_and_directories_copied(card: str) -> None:
    fs = SteadyFileSystem(card)
    fs.makedirs("/d/e")
    fs.pipe_file("/d/e/x", b"1")
    fs.mv("/d", "/moved/here")
    assert fs.find("/") == ["/moved/here/e/x"]
    fs.cp("/moved", "/copy", recursive=True)
    assert fs.cat_file("/copy/here/e/x") == b"1"
    fs.rm("/", recursive=True)
    assert fs.ls("/") == []


def test_file_systems_are_pickled_by_what_they_name(card: str) -> None:
    fs = SteadyFileSystem(card, writable=False)
    again = pickle.loads(pickle.dumps(fs))
    assert again == fs and again.ls("/") == []
    with pytest.raises(OSError, match="was named with writable=False") as error:
        again.pipe_file("/x", b"1")
    assert error.value.errno == errno.EROFS


def test_what_is_missing_or_wrong_is_told(card: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="image is missing; expected image="):
        fsspec.filesystem("steadyfs")
    with pytest.raises(ValueError, match="expected a file of this machine"):
        fsspec.filesystem("steadyfs", fo="bucket/card.img", target_protocol="s3")
    with pytest.raises(FileNotFoundError):
        pd.read_csv(f"steadyfs://{tmp_path}/none.img:/log.csv")
    with pytest.raises(FileNotFoundError) as error:
        pd.read_csv(f"steadyfs://{card}:/log.csv")
    assert error.value.filename == f"{card}:/log.csv"


def test_an_unknown_option_is_refused(card: str) -> None:
    """A misspelt option was ignored, and the image was opened without a device."""
    words = "found the options devise; expected some of image, device, writable, auto_mkdir"
    with pytest.raises(TypeError, match=words):
        pd.read_csv(f"steadyfs://{card}:/log.csv", storage_options={"devise": NOR})
    SteadyFileSystem(card, skip_instance_cache=True, use_listings_cache=False)


def test_a_copy_out_of_the_image_has_the_targets_of_links(card: str, tmp_path: Path) -> None:
    """The copy of a tree ended at a link, and left a part of the tree."""
    with Image.open(card) as image:
        image.makedirs("tree/inner")
        with image.open("tree/file", "wb") as file:
            file.write(b"21.5")
        image.symlink("../file", "tree/inner/link")
        image.symlink("inner/link", "tree/other")
    fs = SteadyFileSystem(card, skip_instance_cache=True)
    fs.get("/tree", str(tmp_path / "copy"), recursive=True)
    copied = tmp_path / "copy"
    assert [(copied / name).read_bytes() for name in ("file", "inner/link", "other")] == [b"21.5"] * 3
    with Image.open(card) as image:
        image.symlink("circle", "circle")
    with pytest.raises(OSError, match="more than 40 symbolic links") as error:
        fs.get("/circle", str(tmp_path / "circle"))
    assert error.value.errno == errno.ELOOP
