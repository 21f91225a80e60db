"""Many rows in one test: for a check that costs less than the test around it, or than what all rows have in common.

Every row is checked, with a state folder of its own, and each that fails is named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

STATE = "ONEHOOK_STATE_DIR"


def check_each(check: Callable[..., object], rows: Mapping[str, Any] | Iterable[Any]) -> None:
    """Call `check` with each row, a tuple of arguments or the only one; rows without names are named by their texts."""
    named = rows if isinstance(rows, Mapping) else {", ".join(map(str, _arguments(row))): row for row in rows}
    assert named
    failed: dict[str, Exception] = {}
    own = os.environ[STATE]
    for number, (name, row) in enumerate(named.items()):
        os.environ[STATE] = f"{own}-{number}"
        try:
            check(*_arguments(row))
        except Exception as error:
            failed[name] = error
    os.environ[STATE] = own
    if failed:
        told = "\n".join(f"{name}: {type(error).__name__}: {error}" for name, error in failed.items())
        raise AssertionError(f"{len(failed)} of {len(named)} rows fail:\n{told}") from next(iter(failed.values()))


def _arguments(row: Any) -> tuple[Any, ...]:
    return row if isinstance(row, tuple) else (row,)
