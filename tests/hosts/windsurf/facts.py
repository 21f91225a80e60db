"""Windsurf, a guest, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

FLAT_ENTRIES = True
GUEST_FILE = ".windsurf/hooks.json"
