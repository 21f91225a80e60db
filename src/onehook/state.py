"""event.session and event.project: a small memory that outlives the process of one event.

One JSON file each. A read needs no lock, since a file is only ever replaced whole; a write takes a lock, reads, changes, writes a new
file and renames it. So hooks that run at the same time lose nothing, and a process that is killed leaves either the old or the new file.
docs/policies.md compares it with SQLite, which costs an event three times as much.

What cannot be saved is an error of the policy (StateError), so with fail=closed it blocks. A file that can no longer be read is moved
aside with a warning, and the memory starts empty: refusing would stop every event from then on.
"""

from __future__ import annotations

import os
import sys

from onehook.codec import dumps, loads
from onehook.core import OnehookError, PayloadError
from onehook.lock import Lock
from onehook.places import replace_file, state_folder
from onehook.sweep import hashed
from onehook.system import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
    from typing import Any

    from onehook.core import Event
    from onehook.core import Memory as _Mapping
else:
    from _collections_abc import MutableMapping as _Mapping  # loaded by the interpreter itself; collections.abc would bring collections

MAX_BYTES = 256 * 1024
_MISSING = object()


class StateError(OnehookError):
    """The memory cannot be read or kept; the message explains why."""


def session_of(event: Event) -> State:
    """The memory of this agent's session; subagents share it. If the host names no session, the project's folder is used instead."""
    return State("sessions", event.host, event.session_id or _root_of(event.cwd))


def project_of(event: Event) -> State:
    """The memory of this project, the same for every agent: the folder with .git, else the agent's own."""
    return State("projects", _root_of(event.cwd))


def _root_of(cwd: str) -> str:
    folder = os.path.abspath(cwd or os.getcwd())
    return repository(folder) or folder


class State(_Mapping):
    """A mapping of strings to JSON values that is kept. A read returns a copy: to keep a change, assign it again."""

    __slots__ = ("_path", "_what")

    def __init__(self, kind: str, *names: str) -> None:
        self._what = f"event.{kind[:-1]}"
        folder = state_folder()
        if folder.startswith("~"):  # a folder called ~ in the user's project helps nobody
            raise StateError(f"{self._what}: no home folder is known; set ONEHOOK_STATE_DIR to a writable folder")
        self._path = os.path.join(folder, kind, _file_name(names))

    # ---- reading ----

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StateError(f"{self._what} cannot be read: {error.strerror} ({self._path})") from None
        try:
            values = loads(data.decode("ascii")) if len(data) <= MAX_BYTES else None
        except (PayloadError, ValueError):
            values = None
        if not isinstance(values, dict):
            return self._put_aside()
        return values

    def _put_aside(self) -> dict[str, Any]:
        aside = f"{self._path}.corrupt"
        try:
            os.replace(self._path, aside)
        except FileNotFoundError:
            return {}  # another hook has already moved it
        except OSError as error:
            raise StateError(f"{self._what} is damaged and cannot be moved away: {error.strerror} ({self._path})") from None
        sys.stderr.write(f"[onehook] {self._what} was damaged, and starts again empty; the damaged file was moved to {aside}\n")
        return {}

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def keys(self) -> KeysView[str]:
        return self._read().keys()

    def items(self) -> ItemsView[str, Any]:
        return self._read().items()

    def values(self) -> ValuesView[Any]:
        return self._read().values()

    def __repr__(self) -> str:
        return f"<{self._what} {self._read()!r}>"

    # ---- writing: each of these is one step that no other hook can interrupt ----

    def __setitem__(self, key: str, value: Any) -> None:
        self.change(lambda values: values.__setitem__(key, value))

    def __delitem__(self, key: str) -> None:
        self.change(lambda values: values.__delitem__(key))

    def increment(self, key: str, by: float = 1) -> Any:
        """Add to a number (0 if there is none) and return the sum."""

        def add(values: dict[str, Any]) -> Any:
            before = values.get(key, 0)
            if isinstance(before, bool) or not isinstance(before, (int, float)):
                raise StateError(f"{self._what}[{key!r}] is not a number: {before!r}")
            values[key] = before + by
            return values[key]

        return self.change(add)

    def setdefault(self, key: str, default: Any = None) -> Any:
        return self.change(lambda values: values.setdefault(key, default))

    def update(self, *others: Any, **named: Any) -> None:
        given = dict(*others, **named)
        self.change(lambda values: values.update(given))

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        return self.change(lambda values: values.pop(key) if default is _MISSING else values.pop(key, default))

    def popitem(self) -> tuple[str, Any]:
        item: tuple[str, Any] = self.change(lambda values: values.popitem())
        return item

    def clear(self) -> None:
        self.change(lambda values: values.clear())

    def change(self, change: Callable[[dict[str, Any]], Any]) -> Any:
        try:
            with Lock(self._path + ".lock"):
                values = self._read()
                result = change(values)
                self._write(values)
                return result
        except OSError as error:
            raise StateError(f"{self._what} cannot be saved: {error.strerror or error} ({self._path})") from None

    def _write(self, values: dict[str, Any]) -> None:
        data = self._encoded(values)
        first = not os.path.exists(self._path)
        replace_file(self._path, data)
        if first:
            from onehook.sweep import sweep_sometimes

            sweep_sometimes(os.path.dirname(os.path.dirname(self._path)))

    def _encoded(self, values: dict[str, Any]) -> bytes:
        for key in values:
            if not isinstance(key, str):
                raise StateError(f"{self._what}: keys must be strings, not {key!r}")
        try:
            data = dumps(values).encode("ascii")
        except (TypeError, ValueError) as error:
            raise StateError(f"{self._what} can only store JSON values: {error}") from None
        if len(data) > MAX_BYTES:
            raise StateError(
                f"{self._what} would be {len(data) // 1024} KB; {MAX_BYTES // 1024} KB is the limit: store less, or delete keys"
            )
        return data


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def _file_name(names: tuple[str, ...]) -> str:
    """A readable name if possible, as for most agents' session ids; otherwise a hash, since two names must never share a file."""
    plain = "_".join(names)
    if len(names) > 1 and len(plain) <= 100 and _PLAIN.issuperset(plain) and all(names):
        return f"{plain}.json"
    return f"{hashed(names)}.json"
