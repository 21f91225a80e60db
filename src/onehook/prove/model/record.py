"""What the scripted model records about each request, for assertions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onehook.prove.model.shape import Dialect, obj

SECRET_HEADER = re.compile(r"authorization|cookie|api-?key|token|secret|password|credential", re.IGNORECASE)
SECRET_QUERY = re.compile(r"([?&](?:key|api_key|access_token|token)=)[^&#]*", re.IGNORECASE)


@dataclass
class Request:
    """One request. `step` counts from 1, and is None if no step of the script answered it."""

    number: int
    method: str
    path: str
    headers: dict[str, str]
    kind: str = "unknown"
    body: Any = None
    tools: tuple[str, ...] = ()
    side: bool = False
    step: int | None = None
    overrun: bool = False
    status: int = 200
    error: str = ""
    dialect: Dialect | None = field(default=None, repr=False)

    @property
    def is_turn(self) -> bool:
        """A request that offered tools and was answered: the agent's own loop."""
        return not self.side and (self.step is not None or self.overrun)

    def told(self) -> list[str]:
        """Every string in this request: system, developer, user, tool results."""
        return self.dialect.told(obj(self.body)) if self.dialect else []

    def text(self) -> str:
        """All text in this request."""
        return "\n".join(self.told())

    def line(self) -> str:
        """The request in one line, for a log."""
        if self.error:
            outcome = self.error
        elif self.step is not None:
            outcome = f"step {self.step}"
        elif self.overrun:
            outcome = "overrun"
        else:
            outcome = "side" if self.side else "ok"
        asked = f"{self.number} {self.method} {self.path} {self.kind}"
        return f"{asked} {self.status} tools={len(self.tools)} {outcome}"


def safe_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by lower-case name, without those that may carry a secret."""
    return {name.lower(): value for name, value in headers.items() if not SECRET_HEADER.search(name)}


def safe_path(path: str) -> str:
    """The path without the value of a key in its query."""
    return SECRET_QUERY.sub(r"\1hidden", path)
