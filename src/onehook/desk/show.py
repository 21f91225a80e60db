"""A request for people to read, as lines of text. What it quotes is hostile: nothing of it may move a cursor or hide what follows."""

from __future__ import annotations

import difflib
import time
import unicodedata
from collections.abc import Iterator
from typing import Any

from onehook.desk.answers import Asked

_LONGEST = 4000  # characters of one value


def plain(text: str) -> str:
    """A string in which every character is visible: control characters, and those that hide or reorder text, are spelled out."""
    return "".join(char if char.isprintable() and unicodedata.category(char) != "Cf" else _spelled(char) for char in text)


def _spelled(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{{{ord(char):x}}}")


def width_of(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1 for char in text)


def cut(text: str, width: int) -> str:
    """The beginning of a string that fits into this many columns."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def subject(asked: Asked) -> str:
    """What is asked, in one line."""
    content = asked.content
    target = ", ".join(map(str, content.get("paths") or ())) or str(content.get("url") or content.get("prompt") or "")
    mcp = content.get("mcp") or {}
    tool = f"{mcp.get('server')}.{mcp.get('tool')}" if mcp else content["native_tool"]
    return plain(content["command"] or f"{tool} {target}".strip())


def waiting(asked: Asked) -> str:
    if asked.state != "waiting":
        return "next attempt"
    minutes, seconds = divmod(int(asked.left), 60)
    return f"{minutes}:{seconds:02d} left"


def details(asked: Asked) -> Iterator[str]:
    """Everything that is needed to judge it, as lines of any length."""
    content = asked.content
    who = f"{asked.title} {content.get('host_version') or ''}".strip()
    yield from _field("agent", f"{who}{', subagent ' + str(content['agent']) if content.get('agent') else ''}")
    yield from _field("project", content["project"])
    if content["cwd"] != content["project"]:
        yield from _field("folder", content["cwd"])
    for one in content["by"]:
        if one["said"] == "ask":
            place = f" ({one['file']}:{one.get('line')})" if one.get("file") else ""
            yield from _field("asked by", f"{one['kind']} {one['name']}{place}")
    yield from _field("because", content["reason"] or "no reason given")
    yield from _field("command" if content["command"] else "tool", content["command"] or content["native_tool"])
    if not content["command"]:
        yield from _about(content)
    yield from _field("request", f"{asked.id}, {time.strftime('%H:%M:%S', time.localtime(content['time']))}, {waiting(asked)}")


def _about(content: dict[str, Any]) -> Iterator[str]:
    changes = content.get("changes") or []
    for change in changes:
        yield from _diff(change)
    if not changes:
        for name, value in content["input"].items():
            yield from _field(str(name), value if isinstance(value, str) else repr(value))


def _diff(change: dict[str, Any]) -> Iterator[str]:
    old, new, path = change.get("old") or "", change.get("new") or "", change.get("path") or ""
    yield from _field(str(change.get("kind")), f"{path} -> {change['to']}" if change.get("to") else path)
    for line in list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]:
        yield f"            {plain(line)}"


def _field(name: str, value: str) -> Iterator[str]:
    text = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… ({len(value)} characters)"
    for number, line in enumerate(text.splitlines() or [""]):
        yield f"  {plain(name) if number == 0 else '':9} {plain(line)}"
