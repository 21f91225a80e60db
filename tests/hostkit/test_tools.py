"""The main field of a tool call: where the tables say it is, or an error if the call can still be denied."""

from __future__ import annotations

from typing import Any

import pytest

from onehook.core import Event, PayloadError
from onehook.hostkit.tools import Tool, take_tool
from onehook.hosts import HOSTS, wire_of

ROWS = [pytest.param(name, tool, id=f"{host}-{name}") for host in HOSTS for name, tool in wire_of(host).TOOLS.items() if tool.main]


def taken(unified: str, name: str, tool: Tool, given: dict[str, Any]) -> Event:
    event = Event(unified, "")
    take_tool(event, {name: tool}, name, given)
    return event


@pytest.mark.parametrize(("name", "tool"), ROWS)
@pytest.mark.parametrize("given", [{"elsewhere": "x"}, {"elsewhere": "x", "MAIN": None}])
def test_a_call_without_its_main_field_is_an_error_while_it_can_be_denied(name: str, tool: Tool, given: dict[str, Any]) -> None:
    given = {tool.main if key == "MAIN" else key: value for key, value in given.items()}
    for unified in ("PreToolUse", "PermissionRequest"):
        with pytest.raises(PayloadError, match=f"{unified} {name}: the tool's input has no '{tool.main}'"):
            taken(unified, name, tool, given)
    for unified in ("PostToolUse", "PostToolUseFailure"):
        event = taken(unified, name, tool, given)
        assert (event.command, event.paths, event.url) == ("", [], "")


@pytest.mark.parametrize(("name", "tool"), [row for row in ROWS if row.values[1].unless])
def test_a_call_that_may_lack_its_main_field_is_not_an_error(name: str, tool: Tool) -> None:
    key, _, values = tool.unless.partition("=")
    for value in values.split("|"):
        event = taken("PreToolUse", name, tool, {key: value})
        assert (event.native_tool, event.command, event.changes) == (name, "", [])
    if values:
        with pytest.raises(PayloadError):
            taken("PreToolUse", name, tool, {key: "another"})


def test_an_empty_main_field_is_there() -> None:
    assert taken("PreToolUse", "sh", Tool("Bash"), {"command": ""}).tool == "Bash"


@pytest.mark.parametrize("spelled", [("oldText", "newText"), ("old_string", "new_string")])
def test_the_edits_of_a_list_are_spelled_as_one_edit_of_the_tool(spelled: tuple[str, str]) -> None:
    old, new = spelled
    event = Event("PreToolUse", "x")
    tool = Tool("Edit", file_path="path", old_string="oldText", new_string="newText")
    take_tool(event, {"edit": tool}, "edit", {"path": "/p/a", "edits": [{old: "a", new: "b"}, {old: "c", new: "d"}]})
    assert [(change.path, change.old, change.new) for change in event.changes] == [("/p/a", "a", "b"), ("/p/a", "c", "d")]
