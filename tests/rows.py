"""Many rows in one test, where what they share costs more than the check: a random example, the start of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def check_each(check: Callable[..., object], rows: Iterable[Any]) -> None:
    """Check every row (a tuple of arguments); then name all that failed, with the first error as the cause."""
    failed: dict[str, Exception] = {}
    for row in rows:
        arguments = row if isinstance(row, tuple) else (row,)
        try:
            check(*arguments)
        except Exception as error:
            failed[", ".join(map(str, arguments))] = error
    if failed:
        told = "\n".join(f"  {row}: {type(error).__name__}: {error}"[:400] for row, error in failed.items())
        raise AssertionError(f"{len(failed)} rows fail:\n{told}") from next(iter(failed.values()))
