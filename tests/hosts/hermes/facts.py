"""Facts about Hermes Agent for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Event

RESULT = "output"
TOKENS = 0
READ = "1|one\n2|two\n3|"
FIELD_LOSSES = {
    ("on_session_start", "source"): "Hermes does not say why a session starts",
    ("subagent_stop", "stop_hook_active"): "a subagent's end cannot be denied",
}
TRUST_FILES = ('{"approvals": []}\n', '{\n  "approvals": [\n    {"event": "pre_tool_call", "command": "DIR/x.sh"}\n  ]\n}\n')
FLAT_ENTRIES = True
UNTOLD = frozenset({"compacted"})


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    return {"command": line, **({"matcher": "terminal"} if matched else {}), "timeout": 5}
