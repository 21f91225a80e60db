"""Facts about Kimi Code for the shared tests. See default_facts.py."""

from __future__ import annotations

from onehook.core import Change, Event, Output, Response
from onehook.hosts.kimi import wire

RESULT = ""
FAILURES = True
TOKENS = 0
SUCCESS = None
READ = "1\tone\n2\ttwo"
NOT_BUILT = frozenset({"session_title"})
FIELD_LOSSES = {
    ("Stop", "last_assistant_message"): "Kimi Code does not say it",
    ("SubagentStop", "stop_hook_active"): "Kimi Code does not say it",
    ("StopFailure", "last_assistant_message"): "Kimi Code does not say it",
}
ANSWER_LOSSES = [
    ({"prompt"}, lambda a: a.decision == "deny" and a.additional_context is not None, lambda a: {"additional_context": None},
     "of a blocked prompt nothing reaches the model"),
]  # fmt: skip
_RULES = [
    ("rules", 'decision = "allow"', 'pattern = "mcp__notes__note"'), ("rules", 'decision = "ask"', 'pattern = "Write(src/*.py)"'),
    ("rules", 'decision = "deny"', 'pattern = "Bash(rm -rf*)"'), ("rules", 'decision = "deny"', 'pattern = "TodoList"'),
    ("rules", 'decision = "allow"', 'pattern = "Bash(npm *)"'), ("rules", 'decision = "deny"', 'pattern = "Bash(!ls)"'),
    ("rules", 'decision = "never"', 'pattern = "Bash"'), ("deny", 'tool = "Read"', 'match = "/etc/**"'), ("ask", 'tool = "FetchURL"'),
    ("deny", 'tool = "Agent"', 'pattern = "coder"'),
]  # fmt: skip
PERMISSIONS = [
    ("user", ".kimi-code/config.toml", "\n".join("\n".join((f"[[permission.{key}]]", *lines, "")) for key, *lines in _RULES),
     [("allow", "mcp__notes__note"), ("ask", "Write(./src/*.py)"), ("deny", "Bash(rm -rf*)"), ("ask", "WebFetch"),
      ("deny", "Read(/etc/**)")],
     ["TodoList: it is about a tool that other agents do not have", "Bash(npm *): its * ends at a slash; here, it would allow more",
      "Bash(!ls): its pattern has characters that mean something else here",
      "Agent(coder): it is about the input of a tool that is not compared here"]),
]  # fmt: skip
PROCESS = ("kimi-code", "", "")  # it sets its own process title, which replaces its command line


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # no tool deletes


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    return [Change(c.path, "edit", "", "") if c.kind == "delete" else c for c in changes]


def as_received(event: Event, output: Output, answer: Response) -> Response:
    if output.exit_code == 2 and wire.EVENTS[event.native_event].shape != "nothing":
        assert output.stderr.endswith(answer.reason or "")
        answer.reason = output.stderr.strip()  # the reason is all of stderr, including the warnings
    return answer
