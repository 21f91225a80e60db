"""The `permission` of kilo.json: the same as in OpenCode, which Kilo is a fork of.

Tried with `kilo run` 7.7.9 (2026-11-16): kilo.json and kilo.jsonc of the project, .kilo/kilo.json, .kilocode/kilo.json,
~/.config/kilo/kilo.jsonc and the project's opencode.json are combined. Patterns work as in OpenCode 1.18.33: `p` is only `p`, `p *` also
covers `p`, the last match wins, `?` is one character, each part of a line counts, and a * in a path crosses slashes; `./x` covers
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed
from onehook.hosts.opencode import permissions as forked


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    yield from forked.listed(machine, scope, "kilo", (".kilo", ".kilocode"))
    if scope == "project":
        yield from forked.listed(machine, scope, folders=())
