"""The progress bar: tqdm, in a notebook as on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Optional, Union

Tell = Callable[[float, str], None]
"""A function that gets the completed share, from 0 to 1, and the name of the current step."""

Progress = Union[bool, Tell]
"""True to show a bar, False for none, or a function that gets the progress of a run."""

_FORMAT = "{desc:<22} |{bar}| {percentage:3.0f} %{postfix} [{elapsed} of about {remaining} more]"


@contextmanager
def bar(progress: Progress) -> Iterator[Optional[Tell]]:
    """Show a bar for the ``with`` block, if ``progress`` requests it.

    The block gets the function that takes the progress of a run, or None.
    """
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
