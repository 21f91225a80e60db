"""Handlers for MCP tools, on hosts that join the server and the tool into one name."""

from __future__ import annotations

import pytest

from onehook.core import Event, Mcp, tool_matches
from onehook.hosts.copilot import wire


def called(name: str) -> Event:
    payload = {"sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": name, "toolArgs": {}}
    return wire.parse(payload, "preToolUse")


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("mcp__github-mcp-server__list_issues", "github-mcp-server-list_issues", True),
        ("mcp__github-mcp-server__*", "github-mcp-server-list_issues", True),
        ("mcp__*__list_issues", "github-mcp-server-list_issues", True),
        ("mcp__context7__resolve-library-id", "context7-resolve-library-id", True),
        ("mcp__*", "proof-note", True),
        ("MCP", "proof-note", True),
        ("proof-note", "proof-note", True),
        ("mcp__proof__note", "proof-note", True),
        ("mcp__proof__other", "proof-note", False),
        ("mcp__other__*", "proof-note", False),
        ("Bash", "proof-note", False),
    ],
)
def test_a_handler_for_a_server_and_a_tool_sees_the_joined_name(pattern: str, name: str, matches: bool) -> None:
    assert tool_matches(pattern, called(name)) is matches


def test_a_joined_name_is_split_only_where_it_is_sure() -> None:
    assert Mcp.joined("proof-note", "-") == Mcp("proof", "note")
    assert Mcp.joined("a-b-c", "-") == Mcp("", "a-b-c")
