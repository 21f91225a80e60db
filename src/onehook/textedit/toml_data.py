"""Plain TOML data: change values by path, compare them, and write them as text."""

from __future__ import annotations

import re
from typing import Any

from onehook.textedit.text import Steps

MISSING = object()
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def _holder(data: Any, path: Steps) -> Any:
    for step in path:
        data = data.setdefault(step, {}) if isinstance(data, dict) else data[step]
    return data


def do_append(data: Any, path: Steps, item: Any) -> None:
    _holder(data, path[:-1]).setdefault(path[-1], []).append(item)


def do_assign(data: Any, path: Steps, value: Any) -> None:
    _holder(data, path[:-1])[path[-1]] = value


def do_delete(data: Any, path: Steps) -> None:
    del _holder(data, path[:-1])[path[-1]]


def same(one: Any, other: Any) -> bool:
    """Equal with types and without key order: 1, 1.0 and true are different values, NaN equals itself."""
    return repr(_ordered(one)) == repr(_ordered(other))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(inner) for inner in value] if isinstance(value, list) else value


def without_empty(value: Any) -> Any:
    """The data without empty tables: a table that exists only because of its last element disappears with it."""
    if isinstance(value, dict):
        held = {key: without_empty(inner) for key, inner in value.items()}
        return {key: inner for key, inner in held.items() if inner not in ({}, [])}
    return [without_empty(inner) for inner in value] if isinstance(value, list) else value


def key_text(path: Steps) -> str:
    names = [step for step in path if isinstance(step, str)]
    return ".".join(name if _BARE_KEY.fullmatch(name) else value_text(name) for name in names)


def value_text(value: Any) -> str:
    """A value on one line."""
    import tomlkit

    if isinstance(value, dict):
        members = ", ".join(f"{key_text((key,))} = {value_text(inner)}" for key, inner in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(value_text(inner) for inner in value) + "]"
    if value is None:
        raise ValueError("TOML has no null: leave the key out")
    return str(tomlkit.item(value).as_string())


def table_lines(path: Steps, table: dict[str, Any], *, array: bool) -> list[str]:
    """The lines of a table: its own keys first, then the tables inside it."""
    lines = [f"[[{key_text(path)}]]" if array else f"[{key_text(path)}]"]
    inner: list[str] = []
    for key, value in table.items():
        if isinstance(value, list) and value and all(isinstance(element, dict) for element in value):
            for element in value:
                inner += ["", *table_lines((*path, key), element, array=True)]
        elif isinstance(value, dict):
            inner += ["", *table_lines((*path, key), value, array=False)]
        else:
            lines.append(f"{key_text((key,))} = {value_text(value)}")
    return lines + inner
