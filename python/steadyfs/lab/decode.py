"""From the lab's JSON to dataclasses: every key has its field, and every field its key."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from typing import TypeVar, Union

Result = TypeVar("Result")


class DoesNotFit(TypeError):
    """The lab's JSON has other keys or types than the dataclass.

    The two halves of the package then have different versions.
    """


def decode(kind: type[Result], found: object) -> Result:
    """Make a dataclass from JSON, which is text or objects."""
    if isinstance(found, str):
        found = json.loads(found)
    made = _value(kind, found, kind.__name__)
    if not isinstance(made, kind):
        raise DoesNotFit(f"{kind.__name__}: found {type(made).__name__}")
    return made


def _value(hint: object, found: object, place: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Union or isinstance(hint, getattr(types, "UnionType", ())):
        inner = [argument for argument in arguments if argument is not type(None)]
        return None if found is None else _value(inner[0], found, place)
    if origin is tuple:
        if not isinstance(found, list):
            raise DoesNotFit(f"{place}: found {type(found).__name__}; expected a list")
        return tuple(_value(arguments[0], item, f"{place}[{index}]") for index, item in enumerate(found))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _record(hint, found, place)
    if hint is float and isinstance(found, int) and not isinstance(found, bool):
        return float(found)
    if isinstance(hint, type) and isinstance(found, hint) and isinstance(found, bool) == (hint is bool):
        return found
    raise DoesNotFit(f"{place}: found {found!r}; expected {hint}")


def _record(kind: type, found: object, place: str) -> object:
    if not isinstance(found, dict):
        raise DoesNotFit(f"{place}: found {type(found).__name__}; expected an object")
    hints = typing.get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if not field.metadata.get("not_json")]
    unknown = set(found) - {field.name for field in fields}
    if unknown:
        raise DoesNotFit(f"{place}: found the keys {sorted(unknown)}; expected {sorted(field.name for field in fields)}")
    # The lab leaves out a key without a value: its field has a default.
    names = [field.name for field in fields if field.name in found or field.default is dataclasses.MISSING]
    return kind(**{name: _value(hints[name], found.get(name), f"{place}.{name}") for name in names})
