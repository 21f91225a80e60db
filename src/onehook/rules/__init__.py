"""Rules without code: command patterns, permissions, packs and the file that holds them (docs/rules.md)."""

from __future__ import annotations

import os
import sys

from onehook.version import VERSION

# The format of compiled rules, which compile.py writes and load.py reads.
MAGIC = f"onehook rules 1 {VERSION} {sys.implementation.cache_tag}\n".encode()
BLOCK = 16  # rules are described in blocks of this many; an event loads the blocks that it matches


def config_folder() -> str:
    """The folder of the user's own rules file and of what the user trusts; "" if there is no home."""
    base = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "onehook") if os.path.isabs(base) else ""
