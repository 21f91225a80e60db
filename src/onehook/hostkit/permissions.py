"""What the hosts' `permissions` modules share: entries of an agent's own permission lists, as entries of [permissions] in a rules file.

Nothing is carried over by guessing: an entry that a rules file cannot express is named in `refused`. Not on the hot path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehook.core import TOOLS, wildcard
from onehook.hostkit.tools import Tool

LEVELS = ("allow", "ask", "deny")  # from the weakest to the strictest
NO_TOOL = "it is about a tool that other agents do not have"


@dataclass
class Listed:
    """One entry of an agent's list."""

    level: str
    shown: str  # as the agent writes it
    file: Path
    entry: str = ""  # as [permissions] writes it
    refused: str = ""
    loss: str = ""  # the part that is not carried over


Translated = tuple[str, str]  # the entry, or why there is none


def strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def three_lists(held: object, file: Path, translate: Callable[[str], Translated]) -> Iterator[Listed]:
    """The entries of {"deny": [...], "ask": [...], "allow": [...]}."""
    for level in reversed(LEVELS):
        yield from one_list(level, table(held).get(level), file, translate)


def one_list(level: str, held: object, file: Path, translate: Callable[[str], Translated]) -> Iterator[Listed]:
    for text in strings(held):
        entry, refused = translate(text)
        yield Listed(level, text, file, entry, refused)


def split(text: str) -> tuple[str, str]:
    """`Tool(specifier)` in its two parts; the second is "" if there is none."""
    tool, paren, rest = text.strip().partition("(")
    return tool.strip(), rest.removesuffix(")").strip() if paren else ""


def unified(name: str, tools: Mapping[str, Tool]) -> str:
    """The unified name of an agent's tool; "" if it has none."""
    if name in TOOLS:
        return name
    first = tools[name].names[0] if name in tools else ""
    return first if first in TOOLS else ""


def command(prefix: str) -> Translated:
    """A command that begins with these words."""
    words = prefix.strip()
    if not words or any(char in words for char in "()*?\n"):
        return "", "its command has characters that mean something else here"
    return f"Bash({words}:*)", ""


def mcp(server: str, tool: str = "") -> Translated:
    if not server or "__" in server or any(char in server + tool for char in "() \n"):
        return "", "it does not name an MCP server"
    return f"mcp__{server}" + (f"__{tool}" if tool and tool != "*" else ""), ""


def domain(url: str) -> Translated:
    """The domain of an address, or of a pattern of addresses, if it covers a whole host."""
    rest = url.partition("://")[2] or url
    host, _, path = rest.partition("/")
    if path.strip("*/") or not host or ":" in host or any(char in host for char in "()? "):
        return "", "it is about a part of a site, and WebFetch here only matches domains"
    return ("WebFetch", "") if host == "*" else (f"WebFetch(domain:{host})", "")


def ranked(several: Sequence[Listed], covers: Callable[[Listed, Listed], bool]) -> Iterable[Listed]:
    """Entries whose last match wins, for a file in which the strictest wins: those that cannot be expressed are refused."""
    for at, one in enumerate(several):
        for later in several[at + 1 :]:
            weaker = LEVELS.index(later.level) < LEVELS.index(one.level)
            if one.refused or not weaker:
                continue
            if covers(later, one):
                one.refused = f"it has no effect, since {later.shown!r} comes after it"
            elif covers(one, later):
                one.refused = f"{later.shown!r} is an exception to it; here, {one.level} wins over {later.level}"
    return several


def covers_text(one: str, other: str) -> bool:
    """Whether a pattern with * covers everything that another one covers. "git *" covers "git" too."""
    return wildcard(one, other) or (one.endswith(" *") and wildcard(one[:-2], other))
