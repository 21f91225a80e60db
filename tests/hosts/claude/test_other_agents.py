"""Agents that are not hosts here also run the entries in Claude Code's files. A policy applies to their calls too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onehook.core import Event, Hooks, Response, deny
from onehook.hosts import resolve
from onehook.runner import answer
from tests.host_folders import folder, lines_of

# What such an agent sends: Claude Code's keys, along with its own keys, tools and inputs.
SENT = [line["stdin"] for line in lines_of(folder("claude") / "other_agent.jsonl")]
CALLS = {payload["tool_name"]: payload for payload in SENT if payload["hook_event_name"] == "PreToolUse"}
FACTS: dict[str, dict[str, Any]] = {
    "run_terminal_command": {"tool": "Bash", "command": "touch a.txt"},
    "write": {"tool": "Write", "paths": ["/home/dev/project/b.txt"]},
    "search_replace": {"tool": "Edit", "paths": ["/home/dev/project/b.txt"]},
    "read_file": {"tool": "Read", "paths": ["/home/dev/project/b.txt"]},
    "list_dir": {"tool": "List", "paths": ["/home/dev/project"]},
    "notes__note": {"tool": "MCP", "mcp": {"server": "notes", "tool": "note"}},
    "grep": {"tool": "grep"},
    "search_tool": {"tool": "search_tool"},
    "spawn_subagent": {"tool": "spawn_subagent"},
}


def test_the_payloads_are_not_taken_for_those_of_a_host_that_reads_the_same_files() -> None:
    assert len(SENT) == 17
    assert {resolve(["claude"], payload).ID for payload in SENT} == {"claude"}


def test_every_call_is_read_as_what_it_is() -> None:
    read = {name: resolve(["claude"], payload).parse(payload, "").to_dict() for name, payload in CALLS.items()}
    assert {name: {key: read[name][key] for key in facts} for name, facts in FACTS.items()} == FACTS
    assert set(read) == set(FACTS)


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_handler_for_a_unified_tool_denies_it(fail: str) -> None:
    hooks = Hooks(fail=fail)

    @hooks.on("PreToolUse", tool="Bash")
    def guard(event: Event) -> Response | None:
        return deny("no") if event.command.startswith("touch") else None

    output = answer(json.dumps(CALLS["run_terminal_command"]).encode(), lambda: hooks, hosts=["claude"])
    assert json.loads(output.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (output.exit_code, output.stderr) == (2, "no")
