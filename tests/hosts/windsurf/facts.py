"""Facts about Windsurf, a guest, for the shared tests. See default_facts.py."""

from __future__ import annotations

FLAT_ENTRIES = True
GUEST_FILE = ".windsurf/hooks.json"
