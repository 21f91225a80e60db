"""What the hosts' `imports` modules share: hooks that a person has configured for one host, said as hooks of a manifest.

Nothing is carried over by guessing: what a manifest cannot say is named in `refused` (the hook stays where it is) or in `losses` (the
hook is carried over, that part of it is not). Not on the hot path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from onehook.core import TOOLS, wildcard
from onehook.hosts.tools import Tool

_ANY = (None, "", "*", ".*")
_GROUP = re.compile(r"(\^?)\((?:\?:)?([^()]*)\)(\$?)")
_NAME = re.compile(r"[A-Za-z0-9_:*-]+")
_COMMAND = re.compile(r"[A-Za-z0-9_:*/=@,\" -]+")


@dataclass
class Borrowed:
    """One configured hook."""

    event: str  # the native event
    path: tuple[str | int, ...]  # where in the config
    shown: str  # the command, or what stands in its place
    run: str | list[str] = ""  # a text is for the shell
    timeout: float = 60
    closed: bool = False
    tools: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    refused: str = ""


def grouped_handlers(data: Any) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], tuple[str | int, ...]]]:
    """(event, group, handler, path) of hooks.<Event>[group].hooks[handler], whatever type the handler is."""
    hooks = data.get("hooks") if isinstance(data, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for g, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for h, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict):
                    yield event, group, handler, ("hooks", event, g, "hooks", h)


def shown_of(handler: Mapping[str, Any]) -> str:
    for key in ("command", "url", "tool", "prompt"):
        if isinstance(handler.get(key), str):
            words = [handler[key], *(word for word in handler.get("args", []) if isinstance(word, str))]
            return " ".join(words)
    return str(dict(handler))


def seconds(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else default


# ---- matchers ----


def unified_tools(names: list[str], tools: Mapping[str, Tool]) -> list[str]:
    """Native tool names as unified ones; a tool that means more here than its unified name keeps its own."""
    found: list[str] = []
    for name in names:
        found += _unified(name, tools)
    return list(dict.fromkeys(found))


def _unified(name: str, tools: Mapping[str, Tool]) -> list[str]:
    tool = tools.get(name)
    if tool is None:
        return [name]
    first = next(other for other in tools if tools[other].names[0] == tool.names[0])
    if name in tools[first].names and name not in TOOLS:
        return [tool.names[0]]  # an older word for the same tool
    if name != first and name not in TOOLS:
        return [name]
    names = [unified for unified in tool.names if unified in TOOLS]
    return [*names, "Delete"] if tool.patch else names  # a patch can delete, too


def own_tools(names: list[str]) -> list[str]:
    """Tools that no other host has."""
    return [name for name in names if name not in TOOLS and not name.startswith("mcp__")]


def patterns_of(regex: str, allowed: re.Pattern[str] = _NAME) -> list[str] | None:
    """A regular expression as patterns with *, or None if it says more than those can."""
    grouped = _GROUP.fullmatch(regex)
    texts = [f"{grouped[1]}{part}{grouped[3]}" for part in grouped[2].split("|")] if grouped else regex.split("|")
    patterns: list[str] = []
    for text in texts:
        begins, ends = text.startswith("^"), text.endswith("$")
        body = text.removeprefix("^").removesuffix("$").replace(".*", "*").replace(".+", "*")
        if not allowed.fullmatch(body):
            return None
        pattern = ("" if begins else "*") + body + ("" if ends else "*")
        while "**" in pattern:
            pattern = pattern.replace("**", "*")
        patterns.append(pattern)
    return patterns


def command_patterns(regex: str) -> list[str] | None:
    return patterns_of(regex, _COMMAND)


def tools_of_regex(regex: str, tools: Mapping[str, Tool], mcp_prefix: str) -> list[str] | None:
    """The unified tools that a regular expression on tool names covers, or None if that cannot be said."""
    patterns = patterns_of(regex)
    if patterns is None:
        return None
    found: list[str] = []
    for pattern in patterns:
        body = pattern.lstrip("*")
        if body.startswith(mcp_prefix):
            found.append(_mcp_pattern(body, mcp_prefix))
            continue
        natives = [name for name in tools if wildcard(pattern, name)]
        plain = pattern.strip("*")
        if not natives and (not plain or "*" in plain):
            return None
        found += unified_tools(natives or [plain], tools)
    return list(dict.fromkeys(found))


def _mcp_pattern(body: str, prefix: str) -> str:
    if body in (prefix, f"{prefix}*"):
        return "MCP"
    return body if prefix == "mcp__" else f"mcp__*__{body.removeprefix(prefix)}"


def listed(matcher: object, plain: re.Pattern[str]) -> list[str] | None:
    """The words of a matcher that is a list of names; None if it is something else."""
    if not isinstance(matcher, str) or not plain.fullmatch(matcher):
        return None
    return [word.strip() for word in re.split(r"[|,]", matcher) if word.strip()]


def takes_all(matcher: object) -> bool:
    return matcher in _ANY
