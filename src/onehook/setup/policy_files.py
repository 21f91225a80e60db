"""The files that a policy is made of: what must be the same for the policy to be the same."""

from __future__ import annotations

import os
from typing import Any

from onehook.core import UsageError
from onehook.manifest.toml_reader import read
from onehook.packs import read_toml
from onehook.policies.own_files import modules_of, programs_of
from onehook.policy import is_manifest


def files_of(policy: str) -> list[str]:
    """A policy and all that it loads: the modules next to it that it imports; the rules files that it extends; the programs of its hooks.

    Packages are not among them, nor what a program reads. A file that cannot be read is listed, and ends the search there.
    """
    return list(named_by(policy))


def named_by(policy: str) -> dict[str, bool]:
    """The same, each with whether it is named by its full path, so that it is the same file for a copy of the policy."""
    first = os.path.abspath(policy)
    if not is_manifest(first):
        return dict.fromkeys(modules_of(first), False)
    found, waiting = {first: False}, [first]
    while waiting:
        here = waiting.pop()
        folder = os.path.dirname(here)
        data = _read(here)
        extended = data.get("extends", [])
        for name in [extended] if isinstance(extended, str) else extended:
            path = os.path.normpath(os.path.join(folder, name))
            if path not in found:
                waiting.append(path)
            found[path] = found.get(path, False) or os.path.isabs(name)
        for hook in data.get("hook", []):
            run = hook.get("run", ())
            in_full = [word for word in (run.split() if isinstance(run, str) else run) if os.path.isabs(word.strip("'\""))]
            outside = programs_of(in_full, folder)
            found.update((path, found.get(path, False) or path in outside) for path in programs_of(run, folder))
    return found


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            source = file.read()
        return read(source.decode("utf-8-sig")) or read_toml(path, source)
    except (OSError, UnicodeDecodeError, UsageError):
        return {}
