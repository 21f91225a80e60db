"""Many rows in one test: for a check that costs less than the test around it, or than the setup that all rows share.

Every row is checked with its own state folder, and each row that fails is named.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

STATE = "ONEHOOK_STATE_DIR"


def check_each(check: Callable[..., object], rows: Mapping[str, Any] | Iterable[Any]) -> None:
    """Call `check` with each row, which is a tuple of arguments or a single one; rows without names are named by their text."""
    listed = list(rows.items()) if isinstance(rows, Mapping) else [(", ".join(map(str, _arguments(row))), row) for row in rows]
    assert listed
    failed: list[tuple[str, Exception]] = []
    with _own_states() as renew:
        for name, row in listed:
            renew()
            try:
                check(*_arguments(row))
            except Exception as error:
                failed.append((name, error))
    if failed:
        told = "\n".join(f"{name}: {type(error).__name__}: {error}" for name, error in failed)
        raise AssertionError(f"{len(failed)} of {len(listed)} rows fail:\n{told}") from failed[0][1]


@contextlib.contextmanager
def _own_states() -> Iterator[Callable[[], None]]:
    """Yields a function that sets the next state folder, next to that of the test; a test without a state folder gets none."""
    own, count = os.environ.get(STATE), itertools.count()

    def renew() -> None:
        if own is not None:
            os.environ[STATE] = f"{own}-{next(count)}"

    yield renew
    if own is not None:
        os.environ[STATE] = own


def _arguments(row: Any) -> tuple[Any, ...]:
    return row if isinstance(row, tuple) else (row,)
