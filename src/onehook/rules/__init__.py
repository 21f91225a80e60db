"""Rules without code: command patterns, permissions, packs and the file that holds them (docs/rules.md)."""

from __future__ import annotations

import sys

from onehook.version import VERSION

# The format of compiled rules, which compile.py writes and load.py reads.
MAGIC = f"onehook rules 5 {VERSION} {sys.implementation.cache_tag}\n".encode()
SELF = "self_protect"  # the policy that every layer has unless it is switched off
BLOCK = 16  # rules are described in blocks of this many; an event loads the blocks that it matches
