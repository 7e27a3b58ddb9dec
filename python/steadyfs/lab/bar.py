"""The progress bar: tqdm, in a notebook as on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Optional, Union

Tell = Callable[[float, str], None]
"""A function that gets the share that is done, from 0 to 1, and what is being done."""

Progress = Union[bool, Tell]
"""Whether to show a bar, or a function that is told how far a run is."""

_FORMAT = "{desc:<22} |{bar}| {percentage:3.0f} %{postfix} [{elapsed} of about {remaining} more]"


@contextmanager
def bar(progress: Progress) -> Iterator[Optional[Tell]]:
    """Show a bar for the ``with`` block, where that was asked for; give what tells it how far a run is."""
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, leave=False, delay=1.0, bar_format=_FORMAT) as shown:

        def tell(share: float, phase: str) -> None:
            shown.set_description_str(phase, refresh=False)
            shown.update(min(1.0, share) - shown.n)

        yield tell
