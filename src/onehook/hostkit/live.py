"""What the hosts' live modules share: the sandbox that a proof gives them, and the command that they return."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from onehook.hostkit.versions import Fact, between

Step = dict[str, Any]


@dataclass(frozen=True)
class Sandbox:
    """A fresh HOME, a fresh project, a model to talk to, what to ask, and the agent's program."""

    home: Path
    project: Path
    model_url: str
    prompt: str
    binary: Path
    strict: bool = False  # no tool is allowed beforehand, so only the allow of a hook lets one run (Traits.can: "strict")
    steps: tuple[Step, ...] = ()  # the model's script, for an agent that no model on loopback can drive (Traits.report)


@dataclass(frozen=True)
class Launch:
    """How to start the agent. `env` is added to HOME, PATH, TERM and LANG; no other variables are passed."""

    argv: list[str]
    env: dict[str, str]
    cwd: Path
    home: Path
    leaves: bool = False  # it leaves processes behind outside its process group; this home identifies them


class Package(NamedTuple):
    """Where the agent is installed from for a proof, and the releases that the host's tables are proven on."""

    package: str
    version: str  # the newest of them, which every scenario is proven on: the pinned one
    oldest: str  # the oldest, which the core scenarios are proven on: about three months old
    binary: str  # below node_modules, or below the scripts of a virtual environment
    disk_mb: int
    registry: str = "npm"  # or pypi
    node: str = ""  # the release of Node.js that it needs, if that is newer than what onehook itself asks for; brought from npm
    python: str = ""  # the Python that it needs, such as 3.12, if onehook's own is not suitable

    @property
    def title(self) -> str:
        return f"{'PyPI' if self.registry == 'pypi' else self.registry} package `{self.package}`"

    def proven_on(self, version: str) -> bool:
        return between(version, self.oldest, self.version)


class Report(NamedTuple):
    """What an agent's own output reports about a session."""

    turns: int
    told: tuple[str, ...]  # what the model's side was given
    shown: str  # what a person saw


def always_asks(sandbox: Sandbox, launch: Launch) -> Launch:
    """`Traits.asks` of an agent that a proof already starts as a person would."""
    return launch


@dataclass(frozen=True)
class Traits:
    """What differs from most hosts: the optional members of a host's live module, with their defaults."""

    package: Package | None = None  # None: only an agent on PATH can be proven
    facts: tuple[Fact, ...] = ()  # what is known about some releases
    can: tuple[str, ...] = ()  # needs of scenarios that not every agent meets: strict, shows_user
    lacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # mode -> need -> why the agent does not honour it in that mode
    background: Callable[[str], Step | None] = lambda command: None  # a call of another tool, for commands in the background
    # The tool that a scenario makes fail: "edit" where a command that exits with an error does not count as failed, "mcp" (a server that
    # does not exist) where an edit that does not apply does not count either.
    failing: str = "shell"
    reported_version: str = ""  # what the agent reports to hooks, if that is not its own version
    compactable: Callable[[Launch], Launch] = lambda launch: launch  # for a compaction that needs more than one prompt
    disable: Callable[[Sandbox, Launch], Launch] | None = None  # switches the installed hooks off, as a user's setting can
    # For an agent that skips untrusted hooks in headless runs: makes it do so, whereas prepare() grants the trust that only --trust would.
    asks: Callable[[Sandbox, Launch], Launch] | None = None
    report: Callable[[str], Report] | None = None  # for an agent that no model on loopback can drive: reads its stdout


def call(tool: str, *keys: str, **fixed: Any) -> Callable[..., Step]:
    """A step function: a call of this tool, with the values given to the function under these keys, in this order, and the fixed ones.

    The function also takes the mode, which makes no difference to it, as the last argument.
    """

    def step(*values: Any) -> Step:
        return {"call": tool, "input": {**dict(zip(keys, values)), **fixed}}

    return step


def mcp_call(name: str, **more: Any) -> Callable[..., Step]:
    """`mcp` of a host that names a server's tools {server} and {tool}, joined."""

    def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
        return {"call": name.format(server=server, tool=tool), "input": dict(args), **more}

    return mcp


def mcp_servers_in(scope: Literal["home", "project"], file: str, **more: Any) -> Callable[[Sandbox, str, Sequence[str]], None]:
    """`mcp_server` of a host that reads them from the table mcpServers of this file; `more` is what an entry needs in addition to its
    command."""

    def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
        add_entry(getattr(sandbox, scope) / file, "mcpServers", name, {"command": argv[0], "args": list(argv[1:]), **more})

    return mcp_server


@dataclass(frozen=True)
class Setting:
    """`Traits.disable` or `Traits.asks` of an agent that has top-level keys for it in this file."""

    scope: Literal["home", "project"]
    file: str
    values: Mapping[str, Any]

    def __call__(self, sandbox: Sandbox, launch: Launch) -> Launch:
        merge_json(getattr(sandbox, self.scope) / self.file, dict(self.values))
        return launch


def with_setting(scope: Literal["home", "project"], file: str, **values: Any) -> Setting:
    return Setting(scope, file, values)


def says(text: str, mode: str = "") -> Step:
    """`subagent_end` of a host on which a message without a tool call ends a subagent."""
    return {"say": text}


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file of the sandbox; empty if there is no such file."""
    if not path.exists():
        return {}
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def add_entry(path: Path, table: str, name: str, entry: Any) -> None:
    """Add one entry, such as an MCP server, to a table of a JSON file of the sandbox."""
    merge_json(path, {table: {**read_json(path).get(table, {}), name: entry}})


def merge_json(path: Path, values: Mapping[str, Any]) -> None:
    """Set top-level keys of a JSON file of the sandbox and leave the others (such as hooks) as they are."""
    merged = {**read_json(path), **values}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(merged, indent=2) + "\n", encoding="utf-8")
