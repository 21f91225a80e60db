"""The rules of Codex (0.166.0): prefix_rule(pattern, decision) in rules/*.rules, which is Starlark. The strictest decision wins."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed

_DECISIONS = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    if scope in ("project", "user"):
        folder = machine.project / ".codex" if scope == "project" else machine.folder("CODEX_HOME", ".codex")
        for file in sorted((folder / "rules").glob("*.rules")):
            yield from _of(file)


def _of(file: Path) -> Iterator[Listed]:
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body  # plain calls read the same in both languages
    except (SyntaxError, ValueError):
        yield Listed("deny", file.name, file, refused="it has more than plain rules in it")
        return
    for node in body:
        call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        name = ast.unparse(call.func) if call else ""
        if call is None or name != "prefix_rule":
            if name != "host_executable" and not isinstance(getattr(node, "value", None), ast.Constant):
                shown = ast.unparse(node)[:80]
                yield Listed(
                    "deny", shown, file, refused="it is about the network of the sandbox" if name == "network_rule" else "it is code"
                )
            continue
        yield from _rule(call, file)


def _rule(call: ast.Call, file: Path) -> Iterator[Listed]:
    try:
        given: dict[str, Any] = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        if call.args:
            given["pattern"] = ast.literal_eval(call.args[0])
    except ValueError:
        yield Listed("deny", ast.unparse(call)[:80], file, refused="it is computed")
        return
    level = _DECISIONS.get(str(given.get("decision", "allow")), "deny")
    places = [[word] if isinstance(word, str) else kit.strings(word) for word in given.get("pattern", [])]
    for words in itertools.product(*places):
        shown = " ".join(words)
        blank = any(not word or " " in word for word in words)
        entry, refused = ("", "a word of it has a blank") if blank else kit.command(shown)
        yield Listed(level, shown, file, entry, refused)
