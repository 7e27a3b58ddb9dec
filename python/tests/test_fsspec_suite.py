"""The tests that fsspec has for every implementation."""

import posixpath
from collections.abc import Callable, Iterator

import fsspec
import pytest
from fsspec.tests import abstract

from steadyfs import Image
from steadyfs.fsspec import SteadyFileSystem


class Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture(scope="class")
    @classmethod
    def fs(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SteadyFileSystem]:
        image = tmp_path_factory.mktemp("suite") / "card.img"
        Image.create(image, "w25q128jv", size_bytes=4 << 20).close()
        yield fsspec.filesystem("steadyfs", image=str(image), auto_mkdir=True)
        with Image.open(image) as volume:
            assert volume.check().sound

    @pytest.fixture
    def fs_path(self, fs: SteadyFileSystem) -> str:
        return "/"

    @pytest.fixture
    def fs_join(self) -> Callable[[str, str], str]:
        return posixpath.join

    @pytest.fixture
    def fs_sanitize_path(self) -> Callable[[str], str]:
        return str


class TestCopy(abstract.AbstractCopyTests, Fixtures):  # type: ignore[misc]
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):  # type: ignore[misc]
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, Fixtures):  # type: ignore[misc]
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):  # type: ignore[misc]
    pass
