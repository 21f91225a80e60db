"""What a proof gives to a host's live module, and what it gets back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

Step = dict[str, Any]


@dataclass(frozen=True)
class Sandbox:
    """A fresh HOME, a fresh project, a model to talk to, what to ask, and the agent's program."""

    home: Path
    project: Path
    model_url: str
    prompt: str
    binary: Path


@dataclass(frozen=True)
class Launch:
    """How to start the agent. `env` comes on top of HOME, PATH, TERM and LANG; no other is passed."""

    argv: list[str]
    env: dict[str, str]
    cwd: Path
    home: Path


class Live(Protocol):
    """How one host is started for a proof. A host's module `live` is the implementation.

    A step function gives one step of a script, or None where the host has no such tool. The steps between
    subagent() and subagent_end() are the subagent's own; give each a "when" with a word of its prompt.
    MCP servers are registered before prepare(), which may have to name them on the command line.
    """

    @property
    def MODES(self) -> tuple[str, ...]: ...

    def prepare(self, sandbox: Sandbox, mode: str = ...) -> Launch: ...

    def mcp_server(self, sandbox: Sandbox, name: str, argv: Sequence[str]) -> None: ...

    def shell(self, command: str, mode: str = ...) -> Step | None: ...

    def write(self, path: str, content: str, mode: str = ...) -> Step | None: ...

    def read(self, path: str, mode: str = ...) -> Step | None: ...

    def edit(self, path: str, old: str, new: str, mode: str = ...) -> Step | None: ...

    def mcp(self, server: str, tool: str, args: Mapping[str, Any], mode: str = ...) -> Step | None: ...

    def subagent(self, prompt: str, mode: str = ...) -> Step | None: ...

    def subagent_end(self, text: str, mode: str = ...) -> Step | None: ...

    def compaction(self, mode: str = ...) -> list[Step]:
        """Steps after which the host compacts the session, once."""
        ...


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object file of the sandbox, or an empty object where there is none."""
    if not path.exists():
        return {}
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def merge_json(path: Path, values: Mapping[str, Any]) -> None:
    """Set top-level keys of a JSON file of the sandbox and leave the others (hooks, say) as they are."""
    merged = {**read_json(path), **values}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(merged, indent=2) + "\n", encoding="utf-8")
