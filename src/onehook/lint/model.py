"""What lint knows about a policy, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from onehook.core import Options, Registration, Response
from onehook.lint.codes import CODES


@dataclass(frozen=True)
class Shape:
    """The kind of answer that a handler gives: its decision, and which fields are set."""

    decision: str | None
    fields: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()  # of modified_input

    def response(self, some_key: str) -> Response:
        """An answer of this shape. some_key: the input key to rewrite if the shape does not name one."""
        texts: dict[str, Any] = {name: "text" for name in self.fields if name not in ("decision", "modified_input", "native")}
        rewrite = {key: "text" for key in self.keys or {some_key}} if "modified_input" in self.fields else None
        return Response(self.decision, modified_input=rewrite, **texts)


@dataclass
class Handler:
    """One registered handler."""

    index: int
    name: str
    event: str
    tools: tuple[str, ...]
    hosts: tuple[str, ...]
    file: str
    line: int
    stood_in_on: tuple[str, ...] = ()  # hosts without the event, where another event stands in for it
    shapes: set[Shape] = field(default_factory=set)
    always_denies: bool = False

    def registration(self) -> Registration:
        return Registration(self.event, lambda event: None, self.tools, self.hosts)

    def finding(self, code: str, text: str, hosts: Sequence[str] = (), level: str = "", fix: str = "") -> Finding:
        return Finding(code, self.line, text, tuple(hosts), self.file, level, fix)

    def __str__(self) -> str:
        return f"{self.name} ({self.event}{' ' + '|'.join(self.tools) if self.tools else ''})"


@dataclass
class Policy:
    """A policy, as described by the process that loaded it."""

    path: str
    options: dict[str, Any]
    handlers: list[Handler]
    joins: list[list[dict[str, Any]]] = field(default_factory=list)  # for each use(): the options before it, and those of the other policy
    unshared: str = ""  # what happens while it is loaded that forks of a process cannot share

    @property
    def settled(self) -> Options:
        return Options(self.options)


@dataclass(frozen=True)
class Finding:
    """One thing that lint reports."""

    code: str
    line: int
    text: str
    hosts: tuple[str, ...] = ()
    file: str = ""
    level: str = ""
    fix: str = ""

    def placed(self, file: str, line: int) -> Finding:
        """The finding at this place, with its code's level and fix unless it has its own."""
        row = CODES[self.code]
        return replace(self, file=file, line=line, level=self.level or row.level, fix=self.fix or row.fix)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
