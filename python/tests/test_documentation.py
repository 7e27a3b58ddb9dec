"""Every public name has its documentation at hand: `help` shows text, arguments and signature."""

import ast
import importlib
import inspect
import pkgutil
import pydoc
import re
from collections.abc import Iterator

import pytest

import steadyfs
from steadyfs import Image

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(steadyfs.__path__, "steadyfs.") if not module.name.rpartition(".")[2].startswith("_")
)
UNNAMED = {"self", "cls", "protocol", "kwargs"}
"""Parameters that no documentation has to name."""


def members(kind: type) -> Iterator[tuple[str, object]]:
    """Public calls and properties that a class defines itself, not its plain values."""
    for name, member in vars(kind).items():
        is_value = not (inspect.isroutine(member) or inspect.isdatadescriptor(member) or hasattr(member, "__get__"))
        if not name.startswith("_") and not is_value:
            yield f"{kind.__module__}.{kind.__qualname__}.{name}", member


def public() -> Iterator[tuple[str, object]]:
    """All that the modules of the package define and no underscore hides."""
    for name in ["steadyfs", *MODULES]:
        module = importlib.import_module(name)
        yield name, module
        for own, value in vars(module).items():
            is_callable = inspect.isclass(value) or inspect.isroutine(value)
            # The public classes of the native half belong to the module `steadyfs`.
            if own.startswith("_") or not is_callable or not value.__module__.startswith("steadyfs") or value.__module__ == "steadyfs._native":
                continue
            yield f"{name}.{own}", value
            if inspect.isclass(value):
                yield from members(value)


def offered() -> Iterator[tuple[str, object]]:
    """The names that `steadyfs` offers, and the calls of its two classes with arguments."""
    for name in steadyfs.__all__:
        value = getattr(steadyfs, name)
        if inspect.isroutine(value):
            yield name, value
    for kind in (Image, steadyfs.RawFile):
        for name in vars(kind):
            if not name.startswith("_") and inspect.isroutine(getattr(kind, name)):
                yield f"{kind.__name__}.{name}", getattr(kind, name)
    yield "Image().open", Image._open_file


def test_every_public_name_has_documentation() -> None:
    """`Image.open.__doc__` was `None`, and `help(Image.open)` showed no text."""
    found = list(public())
    assert len(found) > 150
    assert [name for name, value in found if not (inspect.getdoc(value) or "").strip()] == []


def test_a_name_of_the_library_is_documented_beside_it() -> None:
    """A member without text of its own is not documented by the class that it inherits from."""
    own = [(name, value) for name, value in public() if inspect.isroutine(value)]
    assert [name for name, value in own if not getattr(value, "__doc__", None)] == []
    assert Image.open.__doc__ != Image._open_file.__doc__


@pytest.mark.parametrize(("name", "call"), list(offered()), ids=[name for name, _ in offered()])
def test_documentation_names_every_argument(name: str, call: object) -> None:
    assert callable(call)
    parameters = [one for one in inspect.signature(call).parameters if one not in UNNAMED]
    text = inspect.getdoc(call) or ""
    assert [one for one in parameters if not re.search(rf"``{one}``", text)] == [], name


def test_the_two_calls_of_open_have_their_own_signatures() -> None:
    with Image.blank("w25q128jv", size_bytes=1 << 20) as image:
        files = pydoc.plain(pydoc.render_doc(image.open))
    images = pydoc.plain(pydoc.render_doc(Image.open))
    assert "\nopen(path: 'StrPath', device: 'Optional[str]' = None, mode:" in images
    assert "\nopen(path: 'StrPath', mode: 'str' = 'r', buffering: 'int' = -1," in files
    assert "``EBUSY``" in images and "`FileExistsError`" in files
    assert " open(path: 'StrPath', device:" in pydoc.plain(pydoc.render_doc(Image))


@pytest.mark.parametrize("name", ["steadyfs.lab.evaluation", "steadyfs.lab.tables", "steadyfs.state"])
def test_every_field_of_a_result_has_its_documentation(name: str) -> None:
    kinds = [kind for kind in ast.parse(inspect.getsource(importlib.import_module(name))).body if isinstance(kind, ast.ClassDef)]
    fields = [(kind.name, one, following) for kind in kinds for one, following in zip(kind.body, [*kind.body[1:], ast.Pass()])]
    assert (
        kinds
        and [
            f"{kind}.{ast.unparse(one.target)}"
            for kind, one, after in fields
            if isinstance(one, ast.AnnAssign) and not isinstance(after, ast.Expr)
        ]
        == []
    )
