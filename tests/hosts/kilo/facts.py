"""Kilo is a fork of OpenCode, and what holds there holds here."""

from __future__ import annotations

from tests.hosts.opencode.facts import ANSWER_LOSSES, FIELD_LOSSES, INSTEAD, SAYS_ALLOW, rewrite, tool_as_told

__all__ = ["ANSWER_LOSSES", "FIELD_LOSSES", "INSTEAD", "SAYS_ALLOW", "rewrite", "tool_as_told"]
