"""self_protect: the agent's tool calls may not switch off the policy that it runs under."""

from __future__ import annotations

import os
import sys

from onehook.core import Hooks, deny
from onehook.policies.agent_files import ASKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from onehook.core import Event, Response

# MCP tools, and tools that are not in any agent's table, change none of the files that they are given if their names begin like this.
READING = (
    "read", "get", "list", "search", "find", "stat", "view", "fetch", "describe", "show", "tree", "head", "tail", "grep", "glob", "info",
    "query", "count", "check", "look", "open_file", "browse", "lint", "diagnos", "hover", "ask", "think", "todo", "task", "web",
    "directory",
)  # fmt: skip
RUNNING = ("shell", "bash", "exec", "command", "run", "terminal", "script", "process", "eval")  # in the names of those that run commands
MAX_ITEMS = 500
MAX_PATH = 4096


def self_protect(*, allow: Iterable[str] = (), policy: Iterable[str] = ()) -> Hooks:
    """Keep the agent from switching its policy off: with file tools, patches, MCP tools or shell commands.

    Covered are the policy and what it loads, onehook and its interpreter, its state, and the files of every agent that can switch hooks
    off. Reading them is fine, and so is a person's own edit: this is about the agent's tool calls.

    allow   patterns of files that may be changed after all: allow=("*/.hooks/notes.md",)
    policy  the files of the policy; by default those of the policy that calls this

    Shell commands are parsed, and also the text of the scripts that they run. docs/safety.md lists what this cannot see.
    """
    hooks = Hooks()
    own = Own(list(policy) or _calling(), list(allow))

    @hooks.on("PreToolUse")
    def self_protected(event: Event) -> Response | None:
        found = own.objection(event)
        return deny(f"{found}. Ask the user to do this; do not try another way") if found else None

    @hooks.on("ConfigChange", host=ASKS)
    def config_unchanged(event: Event) -> Response | None:
        found = own.switched_off(event)
        return deny(f"{found}; the change has no effect in this session") if found else None

    return hooks


def _calling() -> list[str]:
    """The policy that is being loaded, or that runs as a script."""
    for name in ("onehook_policy", "__main__"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            return [os.path.abspath(file)]
    return []


class Own:
    """What belongs to a policy. Everything is looked up only when an event needs it."""

    def __init__(self, policy: list[str], allow: list[str]) -> None:
        self.policy = [os.path.abspath(path) for path in policy]
        self.allow = [os.path.expanduser(pattern).lower() for pattern in allow]

    @property
    def names(self) -> list[str]:
        """What a command that touches the policy has to name."""
        from onehook.policies.own_files import own_name

        return list(dict.fromkeys(map(own_name, self.policy)))

    def objection(self, event: Event) -> str:
        """Why an event is denied, or ""."""
        if event.command:
            from onehook.policies.self_words import may_matter

            if not may_matter(event.command, event.cwd, self.names):
                return ""
            from onehook.policies.self_commands import objection

            return objection(event, self)
        written = [path for change in event.changes for path in (change.path, change.to) if path]
        if not written and event.tool not in ("MCP", event.native_tool):
            return ""
        texts = [] if written else _given(event)
        written += [text for text in texts if len(text) < MAX_PATH and "\n" not in text]
        if not written and not texts:
            return ""
        from onehook.policies.own_paths import Guarded

        guarded = Guarded(self, event.cwd)
        found = next((why for path in written if (why := guarded.objection(path))), "")
        if not found and any(word in event.native_tool.lower() for word in RUNNING):
            from onehook.policies.self_commands import objection_to

            found = next((why for text in texts if (why := objection_to(text, event.cwd, self))), "")
        return found or next((why for change in event.changes if (why := _of_profile(change.path, change.new or ""))), "")

    def switched_off(self, event: Event) -> str:
        """Why a change to the agent's config file is refused, or ""."""
        from onehook.policies.own_files import MAX_SOURCE
        from onehook.policies.own_paths import Guarded

        path = event.native.get("file_path")
        texts = _texts([path] if isinstance(path, str) else [], MAX_SOURCE)
        if any('"disableallhooks":true' in "".join(text.lower().split()) for text in texts):
            return f"{path} would switch all hooks off"
        guarded = Guarded(self, event.cwd)
        entries = _texts(guarded.configs(), MAX_SOURCE)
        names = [os.path.basename(file) for file in self.policy]
        if names and not any("onehook" in text and any(name in text for name in names) for text in entries):
            return f"no config file has the hooks of {self.policy[0]} anymore"
        return ""


def _texts(paths: Iterable[str], most: int) -> list[str]:
    out = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                out.append(file.read(most).decode("utf-8", "replace"))
        except (OSError, ValueError):
            pass
    return out


def _of_profile(path: str, text: str) -> str:
    from onehook.policies.self_commands import profile_objection

    return profile_objection(path, text)


def _given(event: Event) -> list[str]:
    """Every string in the input of a tool that may change files."""
    name = (event.mcp.tool if event.mcp else event.native_tool).lower()
    return [] if name.startswith(READING) else list(_strings(event.tool_input, [0]))


def _strings(value: Any, seen: list[int]) -> Iterator[str]:
    seen[0] += 1
    if seen[0] > MAX_ITEMS:
        return
    if isinstance(value, str):
        yield value.removeprefix("file://")
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item, seen)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item, seen)
