"""Rows as tables of pandas."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionArray


def flat(row: object, prefix: str = "") -> dict[str, object]:
    """Return the fields of a row by name. Lists are left out.

    A field of a dataclass in the row has the name of that dataclass's field in front.
    """
    if not dataclasses.is_dataclass(row) or isinstance(row, type):
        raise TypeError(f"found {type(row).__name__}; expected a dataclass")
    found: dict[str, object] = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            found.update(flat(value, f"{prefix}{field.name}_"))
        elif not isinstance(value, tuple) and not field.metadata.get("not_json"):
            found[prefix + field.name] = value
    return found


def frame_of(rows: Sequence[object], before: Sequence[Mapping[str, object]] = ()) -> pd.DataFrame:
    """Make a table. The columns of ``before`` come first. Missing values are ``NA``."""
    import pandas as pd

    heads: Sequence[Mapping[str, object]] = before or [{}] * len(rows)
    records = [{**head, **flat(row)} for head, row in zip(heads, rows)]
    names = list(dict.fromkeys(name for record in records for name in record))
    return pd.DataFrame({name: _column([record.get(name) for record in records]) for name in names})


def _column(values: list[object]) -> Union[ExtensionArray, list[object]]:
    """Return the values of a column. Whole numbers stay whole if some are missing."""
    import pandas as pd

    there = [value for value in values if value is not None]
    if there and all(isinstance(value, int) and not isinstance(value, bool) for value in there):
        whole: ExtensionArray = pd.array([value if isinstance(value, int) else None for value in values], dtype="Int64")
        return whole
    if there and all(isinstance(value, float) for value in there):
        return [float("nan") if value is None else value for value in values]
    return values
