"""Which agents a file names, in code and strings. Comments and docstrings in Python may name any agent; other files are read as a whole."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from onehook.hosts import GUESTS, having

AGENTS = [*having("config"), *GUESTS]  # without the contract, which is an ordinary word
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_OTHER = re.compile(r"(?<![\w-])-[a-z]+\b|PyPI")  # an option of a program, as in perl -pi; a site


def docstrings(tree: ast.Module) -> set[int]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, kinds)]
    return {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}


def joined(node: ast.AST) -> str:
    """A string that is built from pieces: "a" + "b"; an f-string, without the interpolated values."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return joined(node.left) + joined(node.right)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(joined, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def said(source: str) -> Iterator[str]:
    """Every string and every name in a module."""
    tree = ast.parse(source)
    silent = docstrings(tree)
    for node in ast.walk(tree):
        if id(node) not in silent:
            yield joined(node)
        for field in ("id", "attr", "name", "asname", "arg", "module"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


@functools.cache
def texts_in(path: Path) -> frozenset[str]:
    source = path.read_text(encoding="utf-8")
    return frozenset(filter(None, said(source) if path.suffix == ".py" else source.splitlines()))


def named_in(texts: Iterable[str]) -> set[str]:
    """The agents whose names occur as words, or as parts of words such as cursor_version and PiCall.

    An environment variable belongs to the agent that sets it, whatever its name: Gemini CLI sets CLAUDE_PROJECT_DIR.
    """
    words = {part.lower() for text in texts for part in _PART.findall(_OTHER.sub(" ", _VARIABLE.sub(" ", text)))}
    return {host for host in AGENTS if host in words}
