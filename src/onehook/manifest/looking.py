"""What a model that judges may read: files of the project, and the transcript. It cannot run or write anything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from onehook.core import wildcard
from onehook.manifest.models import Tool

MAX_FILE = 1 << 20
MAX_TEXT = 30_000
MAX_LINES = 2000
_SKIPPED = (".git", "node_modules", "__pycache__", ".venv")


def _tool(name: str, about: str, required: str, *optional: str) -> Tool:
    numbers = ("offset", "limit")
    kinds = {key: {"type": "integer" if key in numbers else "string"} for key in (required, *optional)}
    return Tool(name, about, {"type": "object", "properties": kinds, "required": [required]})


TOOLS = (
    _tool("Read", "The lines of a file of the project, with their numbers.", "file_path", "offset", "limit"),
    _tool("Grep", "The lines that match a regular expression: in a file, or in the files below a folder.", "pattern", "path", "glob"),
    _tool("Glob", "The files of the project whose path matches a pattern such as src/*.py; * also matches slashes.", "pattern", "path"),
)


def looked(name: str, given: dict[str, Any], folder: str, transcript: str) -> str:
    """What a tool shows. Every error is an answer to the model."""
    used = {"Read": _read, "Grep": _grep, "Glob": _glob}.get(name)
    if used is None:
        return f"there is no tool {name}"
    try:
        return used(given, folder, transcript)[:MAX_TEXT] or "(nothing)"
    except (OSError, ValueError, TypeError, KeyError, re.error) as error:
        return f"error: {type(error).__name__}: {error}"


def _placed(path: Any, folder: str, transcript: str) -> str:
    root = os.path.realpath(folder)
    place = os.path.realpath(os.path.join(root, str(path or "")))
    if place != root and not place.startswith(root.rstrip(os.sep) + os.sep) and place != os.path.realpath(transcript or root):
        raise ValueError(f"{path} is outside the project")
    return place


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_FILE).splitlines()


def _read(given: dict[str, Any], folder: str, transcript: str) -> str:
    first = max(1, int(given.get("offset") or 1))
    shown = _lines(_placed(given["file_path"], folder, transcript))[first - 1 :][: int(given.get("limit") or MAX_LINES)]
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, first))


def _grep(given: dict[str, Any], folder: str, transcript: str) -> str:
    pattern = re.compile(given["pattern"])
    place = _placed(given.get("path"), folder, transcript)
    files = [place] if os.path.isfile(place) else (path for path in _files(place) if _fits(given.get("glob"), path, place))
    found: list[str] = []
    for path in files:
        found += [f"{os.path.relpath(path, folder)}:{number}:{line}" for number, line in enumerate(_lines(path), 1) if pattern.search(line)]
        if len(found) >= MAX_LINES:
            break
    return "\n".join(found)


def _glob(given: dict[str, Any], folder: str, transcript: str) -> str:
    place = _placed(given.get("path"), folder, transcript)
    return "\n".join(sorted(os.path.relpath(path, folder) for path in _files(place) if _fits(given["pattern"], path, place)))


def _fits(pattern: Any, path: str, root: str) -> bool:
    wanted = str(pattern or "*").replace("**/", "").replace("**", "*")
    inside = os.path.relpath(path, root).replace(os.sep, "/")
    return wildcard(wanted, inside) or wildcard(wanted, inside.rpartition("/")[2])


def _files(root: str) -> Iterator[str]:
    """Files below a folder; links are not followed, since they may lead out of it."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (path for name in sorted(names) if not os.path.islink(path := os.path.join(folder, name)) and os.path.isfile(path))
