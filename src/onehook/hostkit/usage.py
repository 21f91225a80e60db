"""How many tokens a session has used, according to the file in which the agent keeps it."""

from __future__ import annotations

from onehook.codec import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Usage:
    """Where a transcript reports tokens: the key of an object, and the keys in it that are added up.

    `last`: the object holds the sum for the whole session, so the last one counts. `once`: objects with the same value of this key beside
    them are one object, written repeatedly.
    """

    __slots__ = ("key", "last", "once", "parts")

    def __init__(self, key: str, *parts: str, last: bool = False, once: str = "") -> None:
        self.key, self.parts, self.last, self.once = key, parts, last, once

    def count(self, path: str, known: dict[str, Any] | None = None) -> dict[str, Any]:
        """{"tokens", "offset", "seen"} after reading the lines that follow those in `known`, which has the same form."""
        total, offset, seen = (known or {}).get("tokens", 0), (known or {}).get("offset", 0), (known or {}).get("seen")
        with open(path, "rb") as file:
            file.seek(offset)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break  # it is being written
                offset += len(raw)
                if self.key.encode() not in raw:
                    continue
                found, mark = self._find(loads(raw.decode("utf-8", "replace")), None)
                if found is None or (self.once and mark == seen):
                    continue
                sum_of_it = sum(value for part in self.parts if isinstance(value := found.get(part), int))
                total, seen = sum_of_it if self.last else total + sum_of_it, mark
        return {"tokens": total, "offset": offset, "seen": seen}

    def _find(self, value: Any, mark: Any) -> tuple[dict[str, Any] | None, Any]:
        if not isinstance(value, dict):
            return None, None
        mark = value.get(self.once, mark) if self.once else None
        inner = value.get(self.key)
        if isinstance(inner, dict):
            return inner, mark
        for below in value.values():
            found, at = self._find(below, mark)
            if found is not None:
                return found, at
        return None, None
