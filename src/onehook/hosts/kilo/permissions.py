"""The `permission` of kilo.json: as OpenCode's, of which Kilo is a fork."""

from __future__ import annotations

from collections.abc import Iterator

from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed
from onehook.hosts.opencode import permissions as forked


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    return forked.listed(machine, scope, "kilo")
