"""A host's wire the other way round: its payload for any event, and a native answer read by its own rules."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.core import STOPS, Change, Event, HandlerError, Mcp, Options, Response, UsageError
from onehook.hostkit import reverse
from onehook.hostkit.effects import compile_response
from onehook.hostkit.patch import changes_of_patch
from onehook.hostkit.reverse import TOOL_EVENTS, patch_of, sample
from onehook.hosts import HOSTS, detect, load
from onehook.runner import Job, _with_chatter, conclude
from tests.host_folders import captures, folder, lines_of

CWD = "/home/dev/project"
COMMON = {"session_id": "s-1", "cwd": CWD}
EVERY_EVENT = [(host, name) for host in HOSTS for name in load(host).EVENTS]
FAST = settings(deadline=None, max_examples=15)
THOROUGH = settings(deadline=None, max_examples=100)


def reverse_of(host: str) -> Any:
    return load(host, "reverse")


# ---- random events ----

words = st.text(st.sampled_from("abcdefgh-0123_."), min_size=1, max_size=8).filter(lambda word: word.strip("."))
names = st.text(st.sampled_from("abcdefgh0123-"), min_size=1, max_size=8)
# Carriage returns are left out: a patch is read line by line and "\r\n" is a line end to Codex.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=30)
said = texts.map(str.strip).filter(bool)
paths = st.lists(words, min_size=1, max_size=3).map("/".join) | st.lists(words, min_size=1, max_size=3).map(
    lambda parts: "/" + "/".join(parts)
)
TOOL_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "Bash": {"command": texts},
    "Read": {"file_path": paths},
    "Write": {"file_path": paths, "content": texts},
    "Edit": {"file_path": paths, "old_string": texts, "new_string": texts},
    "Delete": {"file_path": paths},
    "Grep": {"pattern": texts, "path": paths},
    "Glob": {"pattern": texts, "path": paths},
    "List": {"path": paths},
    "WebFetch": {"url": texts},
    "WebSearch": {"query": texts},
    "Agent": {"prompt": texts},
    "MCP": {"server": names, "tool": names, "argument": texts},
    "SomethingElse": {"url": texts, "more": st.integers()},
}
EVENT_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "SessionStart": {"source": st.sampled_from(["startup", "resume", "clear", "compact", "fork"])},
    "PreModelSwitch": {"source": st.sampled_from(["command", "picker", "sdk"])},
    "PostModelSwitch": {"source": st.sampled_from(["command", "auto", "resume"])},
    "ConfigChange": {"source": st.sampled_from(["user_settings", "skills"])},
    "DirectoryAdded": {"source": st.sampled_from(["slash_command", "register_repo_root"])},
    "UserPromptSubmit": {"prompt": texts},
    "UserPromptExpansion": {"prompt": texts},
    "Stop": {"stop_hook_active": st.booleans(), "last_assistant_message": texts},
    "SubagentStop": {"stop_hook_active": st.booleans(), "last_assistant_message": texts, "agent_id": words},
    "PostToolUse": {"tool_response": texts | st.none() | st.dictionaries(st.sampled_from(["stdout", "output", "x"]), texts)},
    "PostToolUseFailure": {"error": said},
    "StopFailure": {"error": said, "last_assistant_message": texts},
    "AgentResponse": {"last_assistant_message": texts},
    "AgentThought": {"last_assistant_message": texts},
}
IMPLIED = {"Bash": ["Bash"], "MCP": ["MCP"], "Read": ["Read"], "Edit": ["Write", "Edit"]}


@st.composite
def samples(draw: st.DrawFn, unified: str, tools: list[str] | None = None) -> Event:
    fields = draw(st.fixed_dictionaries(EVENT_FIELDS.get(unified, {})))
    tool = draw(st.sampled_from(tools or list(TOOL_FIELDS))) if unified in TOOL_EVENTS else ""
    if tool:
        fields |= draw(st.fixed_dictionaries(TOOL_FIELDS[tool]))
    return sample(unified, tool, **COMMON, **fields)


def samples_for(host: str, name: str) -> st.SearchStrategy[Event]:
    row = load(host).EVENTS[name]
    return samples(row.event, IMPLIED.get(row.tool))


@st.composite
def changes(draw: st.DrawFn) -> list[Change]:
    made: list[Change] = []
    for _ in range(draw(st.integers(1, 4))):
        path, to = draw(st.lists(words.map(lambda word: f"{CWD}/{word}"), min_size=2, max_size=2))
        kind = draw(st.sampled_from(["write", "edit", "delete", "move"]))
        if kind == "write":
            made.append(Change(path, kind, None, draw(texts)))
        elif kind == "edit":
            path = made[-1].to or made[-1].path if made and draw(st.booleans()) else path
            made.append(Change(path, kind, draw(texts), draw(texts)))
        else:
            made.append(Change(path, kind, to=to if kind == "move" else None))
    return made


# ---- what a host's payload cannot carry, all of it ----

# (host, native event or "*", field): why the field does not come back.
FIELD_LOSSES = {
    ("cursor", "sessionStart", "source"): "Cursor does not say how a session began",
    ("cursor", "stop", "last_assistant_message"): "Cursor says it in afterAgentResponse",
    ("cursor", "subagentStop", "last_assistant_message"): "Cursor says it in afterAgentResponse",
    ("cursor", "workspaceOpen", "session_id"): "fires outside any session",
    ("contract", "preToolUse", "session_id"): "a tool call of the contract is a name and an input",
    ("contract", "postToolUse", "session_id"): "a tool call of the contract is a name and an input",
    ("contract", "preToolUse", "cwd"): "a tool call of the contract is a name and an input",
    ("contract", "postToolUse", "cwd"): "a tool call of the contract is a name and an input",
    ("contract", "preToolUse", "prompt"): "the tool's own prompt is read as the event's",
    ("contract", "postToolUse", "prompt"): "the tool's own prompt is read as the event's",
    ("droid", "Stop", "last_assistant_message"): "Droid does not say it",
    ("copilot", "agentStop", "last_assistant_message"): "Copilot does not say it",
    ("copilot", "Stop", "last_assistant_message"): "Copilot does not say it",
    **{(fork, "session.idle.child", "stop_hook_active"): "a subagent's end cannot be denied" for fork in ("opencode", "kilo")},
    **{(fork, "session.created.child", "source"): "the plugin says how every session began" for fork in ("opencode", "kilo")},
}  # fmt: skip
FIELDS = (
    "event", "tool", "command", "paths", "changes", "url", "mcp", "prompt", "session_id", "cwd", "source", "stop_hook_active",
    "last_assistant_message", "error",
)  # fmt: skip


def ended(text: str | None) -> str:
    """A patch is made of whole lines."""
    return text if text and text.endswith("\n") else f"{text}\n" if text else ""


def changes_as_told(host: str, name: str, given: list[Change]) -> list[Change]:
    """The changes as the host's words can say them."""
    if host == "codex":
        return [
            Change(c.path, c.kind, None if c.kind == "write" else ended(c.old), ended(c.new)) if c.kind in ("write", "edit") else c
            for c in given
        ]
    if host == "cursor" and name in ("afterFileEdit", "afterTabFileEdit"):
        return [Change(c.path, "edit", c.old or "", c.new) for c in given]
    if (host, name) == ("copilot", "permissionRequest"):  # every change is an edit, and its diff is the new text
        return [Change(c.path, "edit", "", reverse_of(host)._diff(c)) for c in given]
    if host == "cursor":  # every edit is a Write
        return [Change(c.path, "write", None, c.new) if c.kind == "edit" else c for c in given]
    return given


def tool_as_told(host: str, name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    if host == "codex" or name in ("afterFileEdit", "afterTabFileEdit", "permissionRequest"):
        return "Edit"
    kind = event.changes[0].kind
    deleted = "Edit" if host in ("copilot", "opencode", "kilo", "droid") else "Delete"  # only a patch deletes there
    return {"write": "Write", "delete": deleted, "edit": "Write" if host == "cursor" else "Edit"}[kind]


def mcp_as_told(host: str, name: str, mcp: Mcp | None) -> Mcp | None:
    server_unsaid = host == "cursor" and "MCP" not in name
    if mcp is not None and host == "copilot" and name != "permissionRequest":  # one joined name, split only if there is one way to
        return Mcp.joined(mcp.tool if not mcp.server and "-" in mcp.tool else f"{mcp.server}-{mcp.tool}", "-")
    return Mcp("", mcp.tool) if mcp is not None and server_unsaid else mcp


def wanted(host: str, name: str, event: Event, field: str) -> Any:
    if field == "changes":
        return changes_as_told(host, name, event.changes)
    if field == "tool":
        return tool_as_told(host, name, event)
    if field == "mcp":
        return mcp_as_told(host, name, event.mcp)
    return getattr(event, field)


# ---- payloads ----


@pytest.mark.parametrize(("host", "name"), EVERY_EVENT)
@FAST
@given(data=st.data())
def test_a_payload_is_recognised_and_gives_the_event_back(host: str, name: str, data: st.DataObject) -> None:
    event = data.draw(samples_for(host, name))
    body = json.loads(json.dumps(reverse_of(host).payload(event, name)))
    recognised = detect(body)
    assert host == recognised.ID
    parsed = load(host).parse(body, name)
    assert parsed.native_event == name
    for field in FIELDS:
        if (host, name, field) not in FIELD_LOSSES:
            assert getattr(parsed, field) == wanted(host, name, event, field), field


CODEX_SCHEMAS = {
    schema["properties"]["hook_event_name"]["const"]: schema
    for path in (folder("codex") / "schemas-0.166.0").glob("*.input.schema.json")
    for schema in [json.loads(path.read_text(encoding="utf-8"))]
}


@pytest.mark.parametrize("name", sorted(CODEX_SCHEMAS))
@FAST
@given(data=st.data())
def test_a_codex_payload_keeps_to_the_schema(name: str, data: st.DataObject) -> None:
    event = data.draw(samples_for("codex", name))
    event.agent_id = data.draw(st.sampled_from(["", "a-1"]))
    event.transcript_path = data.draw(st.sampled_from(["", "/x/.claude/t.jsonl", "/x/rollout-1.jsonl"]))
    jsonschema.validate(reverse_of("codex").payload(event), CODEX_SCHEMAS[name])


def test_every_codex_event_but_the_two_undocumented_ones_has_a_schema() -> None:
    assert set(load("codex").EVENTS) - set(CODEX_SCHEMAS) == {"PreModelRequest", "PostModelRequest"}


CAPTURED = [(host, line["stdin"]) for host in HOSTS for path in captures(host) for line in lines_of(path)]


@pytest.mark.parametrize(("host", "captured"), CAPTURED)
def test_a_real_payload_comes_back_as_it_was_on_its_own_host(host: str, captured: dict[str, Any]) -> None:
    assert reverse_of(host).payload(load(host).parse(captured, "")) == captured


@pytest.mark.parametrize(("host", "captured"), CAPTURED)
def test_a_built_payload_has_the_keys_of_a_real_one(host: str, captured: dict[str, Any]) -> None:
    event = load(host).parse(captured, "")
    if event.event == "agentStop":
        pytest.skip("of a subagent's turn Copilot says two ends; the first is no event of policies")
    event.host = ""  # so that it is built, not repeated
    built = reverse_of(host).payload(event, event.native_event)
    assert set(captured) - set(built) <= {"effort", "prompt_id", "CLAUDE_ENV_FILE"}  # a file that only the agent itself reads back
    assert set(built) - set(captured) <= {"prompt_id"}
    for key in ("tool_name", "toolName"):
        assert built.get(key) == captured.get(key)


@pytest.mark.parametrize(("host", "captured"), CAPTURED)
@pytest.mark.parametrize("target", HOSTS)
def test_a_real_payload_is_told_to_every_host_that_has_the_event(host: str, captured: dict[str, Any], target: str) -> None:
    event = load(host).parse(captured, "")
    names = [name for name, row in load(target).EVENTS.items() if row.event == event.event]
    if target == host:
        assert reverse_of(target).payload(event) == captured
        return
    if not names:
        with pytest.raises(UsageError):
            reverse_of(target).payload(event)
        return
    for part in reverse_of(target).parts(event):
        body = reverse_of(target).payload(part)
        recognised = detect(body)
        assert target == recognised.ID
        parsed = recognised.parse(body, names[0])
        assert (parsed.event, parsed.command, parsed.paths) == (event.event, event.command, part.paths)


@pytest.mark.parametrize("host", HOSTS)
def test_a_rewritten_event_is_sent_rewritten_to_its_own_host(host: str) -> None:
    reverse, wire = reverse_of(host), load(host)
    for name in [name for name, row in wire.EVENTS.items() if row.event == "PreToolUse" and row.tool in ("", "Bash")]:
        event = wire.parse(reverse.payload(sample("PreToolUse", "Bash", command="rm x", **COMMON), name), name)
        again = wire.parse(reverse.payload(event.rewritten({"command": "ls"})), name)
        assert (event.command, again.command) == ("rm x", "ls")


def test_a_rewritten_cursor_mcp_call_stays_json_text() -> None:
    reverse, wire = reverse_of("cursor"), load("cursor")
    event = wire.parse(reverse.payload(sample("PreToolUse", "MCP", server="db", tool="q", sql="drop"), "beforeMCPExecution"), "")
    assert reverse.payload(event) == event.native
    assert reverse.payload(event.rewritten({"sql": "select"}))["tool_input"] == '{"sql": "select"}'


def test_a_codex_tool_whose_arguments_were_no_json_is_sent_as_that_text_again() -> None:
    body = {**reverse_of("codex").payload(sample("PreToolUse", "odd", x=1)), "tool_input": "not json"}
    event = load("codex").parse(body, "")
    assert reverse_of("codex").payload(event) == body


@THOROUGH
@given(made=changes())
def test_a_patch_made_of_changes_reads_as_those_changes(made: list[Change]) -> None:
    read = changes_of_patch(patch_of(made, ""))
    assert read == changes_as_told("codex", "", made)


def test_an_edit_whose_texts_are_unknown_is_not_swallowed_by_the_one_before() -> None:
    made = [Change("/p/a", "edit", "x\n", "y\n"), Change("/p/a", "edit", "", ""), Change("/p/a", "edit", "y\n", "z\n")]
    assert changes_of_patch(patch_of(made, "")) == made


@pytest.mark.parametrize("path", ["/p/a\n*** Delete File: /p/b", "/p/a ", "/p/a\r", ""])
def test_a_path_that_a_patch_would_misread_is_refused(path: str) -> None:
    with pytest.raises(HandlerError, match="cannot be written in a patch"):
        patch_of([Change(path, "delete")], "/p")


def test_a_patch_names_files_inside_the_folder_as_codex_does() -> None:
    event = sample("PreToolUse", "Edit", file_path="src/a.py", old_string="x = 1", new_string="x = 2\ny = 3", **COMMON)
    body = reverse_of("codex").payload(event)
    assert body["tool_name"] == "apply_patch"
    assert body["tool_input"] == {"command": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n+y = 3\n*** End Patch\n"}


@pytest.mark.parametrize("source", HOSTS)
@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("unified", ["PreToolUse", "PostToolUse"])
@FAST
@given(data=st.data())
def test_an_event_of_one_host_keeps_what_it_is_about_on_another(source: str, target: str, unified: str, data: st.DataObject) -> None:
    first = next(name for name, row in load(source).EVENTS.items() if row.event == unified)
    second = next(name for name, row in load(target).EVENTS.items() if row.event == unified)
    event = load(source).parse(reverse_of(source).payload(data.draw(samples(unified)), first), first)
    (part,) = reverse_of(target).parts(event)
    body = reverse_of(target).payload(part)
    recognised = detect(body)
    assert target == recognised.ID
    parsed = load(target).parse(body, second)
    for field in ("tool", "command", "paths", "changes", "url"):
        assert getattr(parsed, field) == wanted(target, second, event, field), field
    told = mcp_as_told(target, second, event.mcp)
    assert (parsed.mcp and parsed.mcp.tool) == (told and told.tool)


def steps(made: list[Change]) -> list[Change]:
    """Moves as other hosts are told of them."""
    told: list[Change] = []
    for change, after in zip(made, [*made[1:], None]):
        if change.kind != "move":
            told.append(change)
            continue
        told.append(Change(change.path, "delete"))
        if after is None or after.path != change.to:
            told.append(Change(str(change.to), "edit", "", ""))
    return told


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "codex"])
@THOROUGH
@given(made=changes())
def test_a_patch_of_several_files_is_shown_file_by_file(host: str, made: list[Change]) -> None:
    body = reverse_of("codex").payload(sample("PreToolUse", "Edit", file_path="x", **COMMON))
    event = load("codex").parse({**body, "tool_input": {"command": patch_of(made, CWD)}}, "")
    parsed = [load(host).parse(reverse_of(host).payload(part), "") for part in reverse_of(host).parts(event)]
    assert [change for one in parsed for change in one.changes] == changes_as_told(host, "", steps(event.changes))
    assert {path for one in parsed for path in one.paths} == set(event.paths)
    if len(parsed) > 1:
        with pytest.raises(HandlerError, match="several files"):
            reverse_of(host).payload(event)


NOT_THERE = [
    ("cursor", "PermissionRequest"), ("cursor", "Notification"), ("codex", "PostToolUseFailure"), ("codex", "AgentResponse"),
    ("claude", "AgentResponse"), ("contract", "SubagentStop"), ("contract", "PermissionRequest"), ("gemini", "PostToolUseFailure"),
    ("gemini", "SubagentStop"), ("qwen", "AgentResponse"), ("copilot", "AgentResponse"), ("opencode", "Notification"),
    ("kilo", "Notification"), ("droid", "PostToolUseFailure"), ("droid", "PermissionRequest"), ("droid", "SubagentStart"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "unified"), NOT_THERE)
def test_an_event_that_the_host_does_not_have_is_refused(host: str, unified: str) -> None:
    event = sample(unified, "Bash" if unified in TOOL_EVENTS else "")
    with pytest.raises(UsageError, match=f"has no event for {unified}"):
        reverse_of(host).payload(event)
    with pytest.raises(UsageError, match=f"has no event for {unified}"):
        reverse_of(host).answer(event, "", "", 0)


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("cursor", "beforeReadFile", "is about Read"),
        ("cursor", "beforeMCPExecution", "is about MCP"),
        ("cursor", "stop", "is a Stop"),
        ("claude", "preToolUse", "has no event 'preToolUse'"),
        ("codex", "PostToolUse", "is a PostToolUse"),
        ("contract", "stop", "is a Stop"),
        ("gemini", "PreToolUse", "has no event 'PreToolUse'"),
        ("qwen", "Stop", "is a Stop"),
        ("copilot", "agentStop", "is a Stop"),
        ("opencode", "chat.message", "is a UserPromptSubmit"),
        ("kilo", "permission.ask", "Kilo has no event"),
        ("droid", "PreCompact", "is a PreCompact"),
    ],
)
def test_a_native_event_that_does_not_fit_is_refused(host: str, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        reverse_of(host).payload(sample("PreToolUse", "Bash", command="ls"), name)


@pytest.mark.parametrize("host", HOSTS)
def test_a_tool_event_without_a_tool_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="does not name one"):
        reverse_of(host).payload(Event("PreToolUse", ""))


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in HOSTS for b in HOSTS if a != b])
def test_what_a_command_printed_reaches_another_host(source: str, target: str) -> None:
    event = sample("PostToolUse", "Bash", command="ls", tool_response="out", **COMMON)
    if source == "contract":
        event.tool_response = None  # the contract has no place for a result
    else:
        event = load(source).parse(reverse_of(source).payload(event), "")
    seen = load(target).parse(reverse_of(target).payload(event), "postToolUse").tool_response
    printed = "" if source == "contract" else "out"
    shapes: dict[str, Callable[[], Any]] = {
        "claude": lambda: seen["stdout"], "cursor": lambda: seen["output"], "codex": lambda: seen, "contract": lambda: printed,
        "gemini": lambda: seen["llmContent"], "qwen": lambda: seen["llmContent"], "copilot": lambda: seen["textResultForLlm"],
        "opencode": lambda: seen, "kilo": lambda: seen, "droid": lambda: seen,
    }  # fmt: skip
    assert shapes[target]() == printed


# ---- answers: what is written is read back ----

# What the written form cannot say, all of it: (host, shapes, when, what is read instead, why).
When = Callable[[Response], bool]
Instead = Callable[[Response], dict[str, Any]]
_SAYS_ALLOW = {
    "claude": {"permission", "request", "switch"},
    "codex": {"request"},
    "cursor": {"tool", "action", "read", "subagent", "response"},
    "gemini": set(),
    "qwen": {"request"},
    "copilot": {"permission", "request"},
    "opencode": {"tool", "request"},
    "kilo": {"tool", "request"},
    "droid": {"permission"},
}
DENY_BY_MESSAGE = "Cursor has one text there, and it is the reason"
ANSWER_LOSSES: list[tuple[str, set[str], When, Instead, str]] = [
    ("claude", {"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ("claude", {"context"}, lambda a: a.decision == "deny", lambda a: {"decision": None, "reason": None, "user_message": joined(a)},
     "cannot be stopped; the reason is shown to the user"),
    ("codex", {"permission"}, lambda a: a.decision == "allow" and a.modified_input is None, lambda a: {"decision": None},
     "a bare allow is said by silence"),
    ("codex", {"permission"}, lambda a: a.decision is None and a.modified_input is not None, lambda a: {"decision": "allow"},
     "a rewrite is taken only with allow"),
    ("codex", {"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing leaves it to Codex"),
    ("cursor", {"subagent", "prompt", "session", "response"}, lambda a: a.decision == "deny",
     lambda a: {"reason": a.user_message or "blocked by a hook", "user_message": None}, DENY_BY_MESSAGE),
    ("cursor", {"tool", "action", "read"}, lambda a: a.decision in ("deny", "ask") and a.user_message == a.reason,
     lambda a: {"user_message": None}, "the same text for both readers is one text"),
    ("cursor", {"stop"}, lambda a: a.reason is not None, lambda a: {"decision": "deny"}, "a follow-up is what a denied stop is"),
    ("gemini", {"result"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "of a denied result there is one text"),
    ("qwen", {"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ("qwen", {"feedback"}, lambda a: a.decision == "deny",
     lambda a: {"decision": None, "reason": None, "additional_context": "\n\n".join(filter(None, [a.reason, a.additional_context]))},
     "after the tool a block has no effect; the reason is told as context"),
    ("copilot", {"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ("copilot", {"feedback", "continue"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "with a block there is one text"),
    *[(fork, {"request"}, lambda a: a.decision == "deny", lambda a: {"reason": "denied by policy"},
       "an answer to a permission request carries no text") for fork in ("opencode", "kilo")],
    ("droid", {"prompt"}, lambda a: a.decision == "deny" and a.additional_context is not None, lambda a: {"additional_context": None},
     "of a blocked prompt nothing reaches the model"),
    ("contract", {"tool"}, lambda a: a.decision is None, lambda a: {"decision": "allow"}, "no opinion is written as allow"),
    ("contract", {"lifecycle"}, lambda a: a.decision == "allow", lambda a: {"decision": None}, "a decision is left out there"),
]  # fmt: skip


def joined(answer: Response) -> str | None:
    return f"{answer.user_message}\n\n{answer.reason}" if answer.user_message else answer.reason


def as_read(host: str, shape: str, answer: Response) -> Response:
    """The effective answer, as it can be read back."""
    if (
        answer.decision == "allow"
        and host in _SAYS_ALLOW
        and shape not in _SAYS_ALLOW[host] | ({"permission"} if host == "codex" else set())
    ):
        answer = Response(**{**answer.to_dict(), "decision": None})  # allow is said by silence
    for row_host, shapes, when, instead, _why in ANSWER_LOSSES:
        if row_host == host and shape in shapes and when(answer):
            return Response(**{**answer.to_dict(), **instead(answer)})
    return answer


@st.composite
def responses(draw: st.DrawFn) -> Response:
    optional = st.none() | said
    rewrite = st.none() | st.dictionaries(st.sampled_from(["command", "file_path", "content", "more"]), texts, min_size=1)
    return Response(
        draw(st.sampled_from([None, "allow", "deny", "ask"])),
        draw(optional), draw(optional), draw(rewrite), draw(optional), draw(optional), draw(optional),
    )  # fmt: skip


@pytest.mark.parametrize(("host", "name"), EVERY_EVENT)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_an_answer_that_was_written_for_a_host_is_read_back(host: str, name: str, data: st.DataObject) -> None:
    wire, reverse = load(host), reverse_of(host)
    body = reverse.payload(data.draw(samples_for(host, name)), name)
    if host == "cursor":
        body["cursor_version"] = data.draw(st.sampled_from(["0.46.0", "2.4.21", "3.2.16", "1.0.0", "3.3.0"]))
    event = wire.parse(body, name)
    options = Options({"ask_fallback": data.draw(st.sampled_from(["deny", "allow", "ask"]))})
    effective, drops = compile_response(wire, event, data.draw(responses()), options)
    noise = data.draw(st.sampled_from(["", "printed by the policy"]))
    output = _with_chatter(wire.render(event, effective, bool(drops or noise)), drops, noise)
    read = reverse.answer(event, output.stdout, output.stderr, output.exit_code)
    if host == "droid" and output.exit_code == 2 and wire.EVENTS[name].shape in ("prompt", "feedback", "compact"):
        assert output.stderr.endswith(effective.reason or "")
        effective.reason = output.stderr.strip()  # the reason is all of stderr there, with the warnings
    silent = host == "cursor" and wire.EVENTS[name].shape == "response" and wire.era(event) != "documented"
    assert read == (Response() if silent else as_read(host, wire.EVENTS[name].shape, effective))


# ---- answers: what real agents made of them (hosts' sheets) ----

DENY_JSON = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "J"}}'
ALLOW_JSON = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
CURSOR_DENY = '{"permission": "deny", "user_message": "U", "agent_message": "A"}'
FAILED = HandlerError
DENY_J, DENY_E = Response("deny", "J"), Response("deny", "E")


ALLOW_RULE = {"type": "addRules", "behavior": "allow", "destination": "session", "rules": [{"toolName": "Bash"}]}
DENY_RULE = {**ALLOW_RULE, "behavior": "deny"}


def specific(name: str, **fields: Any) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, **fields}})


def allowed_with(*rules: dict[str, Any]) -> str:
    return specific("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": list(rules)})


# host, native event, stdout, stderr, exit code, what it means there
READ: list[tuple[str, str, str, str, int, Any]] = [
    ("claude", "PreToolUse", DENY_JSON, "E", 0, DENY_J),
    ("claude", "PreToolUse", DENY_JSON, "E", 2, DENY_J),
    ("claude", "PreToolUse", DENY_JSON, "E", 1, DENY_J),
    ("claude", "PreToolUse", ALLOW_JSON, "E", 2, DENY_E),
    ("claude", "PreToolUse", "{}", "E", 2, DENY_E),
    ("claude", "PreToolUse", "", "E", 2, DENY_E),
    ("claude", "PreToolUse", "", "", 2, Response("deny", "No stderr output")),
    ("claude", "PreToolUse", "text", "E", 2, DENY_E),
    ("claude", "PreToolUse", "{bad}", "E", 2, DENY_E),
    ("claude", "PreToolUse", "{bad}", "E", 0, FAILED),
    ("claude", "PreToolUse", "{bad}", "E", 1, FAILED),
    ("claude", "PreToolUse", "{bad", "", 0, Response()),
    ("claude", "PreToolUse", "", "E", 1, FAILED),
    ("claude", "PreToolUse", "", "", 127, FAILED),
    ("claude", "PreToolUse", "text", "", 0, Response()),
    ("claude", "PreToolUse", '{"x": 1}\n{"y": 2}', "", 0, Response()),
    ("claude", "PreToolUse", '{"x": 1}\n{"decision": "block"}', "", 0, FAILED),
    ("claude", "PreToolUse", '{"async": true}', "E", 2, DENY_E),
    ("claude", "PreToolUse", '{"async": true}', "E", 0, Response()),
    ("claude", "PreToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("claude", "PreToolUse", '{"decision": "block"}', "", 0, Response("deny", "Blocked by hook")),
    ("claude", "PreToolUse", '{"decision": "approve", "reason": "R"}', "", 0, Response("allow", "R")),
    ("claude", "PreToolUse", '{"decision": "deny", "reason": "R"}', "", 0, FAILED),
    ("claude", "PreToolUse", '{"decision": "deny", "reason": "R"}', "E", 2, DENY_E),
    ("claude", "PreToolUse", specific("PreToolUse", permissionDecision="ask"), "", 0, Response("ask")),
    ("claude", "PreToolUse", specific("PreToolUse", permissionDecision="defer"), "", 0, Response("ask")),
    ("claude", "PreToolUse", specific("PreToolUse", permissionDecision="maybe"), "", 0, FAILED),
    ("claude", "PreToolUse", specific("PostToolUse", permissionDecision="deny"), "", 0, FAILED),
    ("claude", "PreToolUse", specific("PreToolUse", updatedInput={"command": "ls"}), "", 0, Response(modified_input={"command": "ls"})),
    ("claude", "PreToolUse", '{"unknown": 1, "systemMessage": "M"}', "", 0, Response(user_message="M")),
    ("claude", "PreToolUse", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("claude", "UserPromptSubmit", '{"continue": false}', "", 0, Response("deny", "Stopped by hook")),
    ("claude", "UserPromptSubmit", "plain", "", 0, Response(additional_context="plain")),
    ("claude", "UserPromptSubmit", "plain", "E", 2, DENY_E),
    ("claude", "SessionStart", "plain", "", 0, Response(additional_context="plain")),
    ("claude", "SessionStart", "", "E", 2, Response(user_message="E")),
    ("claude", "Stop", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("claude", "Stop", "", "E", 2, DENY_E),
    ("claude", "Stop", '{"decision": "block", "reason": "R", "continue": false, "stopReason": "S"}', "", 0, Response(user_message="S")),
    ("claude", "Stop", "", "sh: stop.sh: No such file or directory", 2, FAILED),
    ("claude", "PermissionRequest", "", "E", 2, Response()),
    ("claude", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "deny", "message": "M"}), "", 0,
     Response("deny", "M")),
    ("claude", "PermissionRequest", specific("PermissionRequest", decision={"message": "M"}), "", 0, FAILED),
    ("claude", "Elicitation", specific("Elicitation", action="decline"), "", 0, Response("deny", "the hook answered decline")),
    ("claude", "Elicitation", specific("Elicitation", action="accept", content={"a": 1}), "", 0, FAILED),
    ("claude", "ElicitationResult", specific("ElicitationResult", content={"a": 1}), "", 0, FAILED),
    ("claude", "PostToolUse", specific("PostToolUse", updatedToolOutput="***", additionalContext="C"), "", 0, FAILED),
    ("claude", "PostToolUse", specific("PostToolUse", updatedToolOutput=""), "", 1, FAILED),
    ("claude", "PostToolUse", specific("PostToolUse", updatedToolOutput="***"), "E", 2, DENY_E),
    ("claude", "PostToolUse", specific("PostToolUse", updatedToolOutput=None, updatedMCPToolOutput="no MCP tool"), "", 0, Response()),
    ("claude", "PostToolUse", '{"suppressOutput": true}', "", 0, Response()),
    ("claude", "UserPromptSubmit", specific("UserPromptSubmit", suppressOriginalPrompt=True, additionalContext="C"), "", 0, FAILED),
    ("claude", "UserPromptSubmit", specific("UserPromptSubmit", suppressOriginalPrompt=False, additionalContext="C"), "", 0,
     Response(additional_context="C")),
    ("claude", "PermissionRequest", allowed_with(DENY_RULE), "", 0, FAILED),
    ("claude", "PermissionRequest", allowed_with(ALLOW_RULE, DENY_RULE), "", 0, FAILED),
    ("claude", "PermissionRequest", allowed_with(ALLOW_RULE), "", 0, Response("allow")),
    ("claude", "WorktreeCreate", "/tmp/tree", "", 0, FAILED),
    ("claude", "WorktreeCreate", "", "", 0, Response()),
    ("claude", "SessionEnd", "anything", "E", 2, Response()),
    ("codex", "PreToolUse", DENY_JSON, "", 0, DENY_J),
    ("codex", "PreToolUse", DENY_JSON, "", 2, FAILED),
    ("codex", "PreToolUse", DENY_JSON, "E", 2, DENY_E),
    ("codex", "PreToolUse", DENY_JSON, "E", 1, FAILED),
    ("codex", "PreToolUse", ALLOW_JSON, "", 0, FAILED),
    ("codex", "PreToolUse", specific("PreToolUse", permissionDecision="ask"), "", 0, FAILED),
    ("codex", "PreToolUse", specific("PreToolUse", permissionDecision="deny"), "", 0, FAILED),
    ("codex", "PreToolUse", specific("PreToolUse", updatedInput={}), "", 0, FAILED),
    ("codex", "PreToolUse", specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"}), "", 0,
     Response("allow", modified_input={"command": "ls"})),
    ("codex", "PreToolUse", specific("PreToolUse", additionalContext="C"), "", 0, Response(additional_context="C")),
    ("codex", "PreToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("codex", "PreToolUse", '{"decision": "block", "reason": " "}', "", 0, FAILED),
    ("codex", "PreToolUse", '{"decision": "approve"}', "", 0, FAILED),
    ("codex", "PreToolUse", '{"reason": "R"}', "", 0, FAILED),
    ("codex", "PreToolUse", '{"continue": false}', "", 0, FAILED),
    ("codex", "PreToolUse", '{"continue": true, "stopReason": "S"}', "", 0, FAILED),
    ("codex", "PreToolUse", '{"suppressOutput": true}', "", 0, FAILED),
    ("codex", "PreToolUse", '{"decision": "block", "reason": "R", "terminalSequence": "x"}', "", 0, FAILED),
    ("codex", "PreToolUse", specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="R", more=1), "", 0, FAILED),
    ("codex", "PreToolUse", '{"systemMessage": null}', "", 0, Response()),
    ("codex", "PreToolUse", "[]", "", 0, FAILED),
    ("codex", "PreToolUse", "plain", "", 0, Response()),
    ("codex", "PreToolUse", "", "", 0, Response()),
    ("codex", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "deny", "message": "M"}), "", 0,
     Response("deny", "M")),
    ("codex", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "allow"}), "", 0, Response("allow")),
    ("codex", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {}}), "", 0, FAILED),
    ("codex", "PermissionRequest", '{"decision": "block", "reason": "R"}', "", 0, FAILED),
    ("codex", "UserPromptSubmit", "plain", "", 0, Response(additional_context="plain")),
    ("codex", "UserPromptSubmit", '{"reason": "R"}', "", 0, Response()),
    ("codex", "UserPromptSubmit", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("codex", "PostToolUse", '{"reason": "R"}', "", 0, FAILED),
    ("codex", "PostToolUse", specific("PostToolUse", updatedMCPToolOutput=1), "", 0, FAILED),
    ("codex", "PostToolUse", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("codex", "SessionStart", "plain", "", 0, Response(additional_context="plain")),
    ("codex", "SessionStart", "", "E", 2, FAILED),
    ("codex", "SessionStart", '{"decision": "block", "reason": "R"}', "", 0, FAILED),
    ("codex", "SubagentStart", '{"continue": false}', "", 0, Response()),
    ("codex", "PreCompact", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("codex", "PreCompact", "", "E", 2, FAILED),
    ("codex", "Stop", "plain", "", 0, FAILED),
    ("codex", "Stop", "", "E", 2, DENY_E),
    ("codex", "Stop", '{"decision": "block", "reason": "R", "continue": false}', "", 0, Response()),
    ("codex", "Stop", specific("Stop", additionalContext="C"), "", 0, FAILED),
    ("codex", "Interrupt", '{"systemMessage": "M"}', "", 0, Response(user_message="M")),
    ("codex", "Interrupt", '{"continue": true}', "", 0, FAILED),
    ("codex", "SessionEnd", '{"x": 1}', "", 0, Response()),
    ("cursor", "beforeShellExecution", CURSOR_DENY, "", 0, Response("deny", "A", "U")),
    ("cursor", "beforeShellExecution", '{"permission": "deny", "user_message": "U"}', "", 0, Response("deny", "U")),
    ("cursor", "beforeShellExecution", "", "no", 2, Response("deny", "no")),
    ("cursor", "beforeShellExecution", "", "", 2, Response("deny", "blocked by a hook")),
    ("cursor", "beforeShellExecution", CURSOR_DENY, "", 2, Response("deny", CURSOR_DENY)),
    ("cursor", "beforeShellExecution", '{"permission": "allow"}', "", 2, Response("deny", '{"permission": "allow"}')),
    ("cursor", "beforeShellExecution", CURSOR_DENY, "", 1, FAILED),
    ("cursor", "beforeShellExecution", '{"permission": "ask"}', "", 0, Response("ask")),
    ("cursor", "beforeShellExecution", '{"updated_input": {"command": "x"}}', "", 0, Response()),
    ("cursor", "preToolUse", "", "", 0, Response()),
    ("cursor", "preToolUse", "{}", "", 0, Response()),
    ("cursor", "preToolUse", "hello", "", 0, "deny"),
    ("cursor", "preToolUse", "[]", "", 0, "deny"),
    ("cursor", "preToolUse", f"log line\n{CURSOR_DENY}", "", 0, Response("deny", "A", "U")),
    ("cursor", "preToolUse", '{"permission": "allow"}\n{"permission": "deny", "user_message": "U"}', "", 0, Response("deny", "U")),
    ("cursor", "preToolUse", f"{CURSOR_DENY}\nlog line", "", 0, "deny"),
    ("cursor", "preToolUse", "\ufeff" + CURSOR_DENY, "", 0, Response("deny", "A", "U")),
    ("cursor", "preToolUse", '{"permission": "block"}', "", 0, "deny"),
    ("cursor", "preToolUse", '{"permission": "allow", "user_message": null}', "", 0, "deny"),
    ("cursor", "preToolUse", '{"decision": "deny"}', "", 0, Response()),
    ("cursor", "preToolUse", '{"permission": "deny", "userMessage": "U"}', "", 0, Response("deny", "blocked by a hook")),
    ("cursor", "preToolUse", '{"additionalContext": "C"}', "", 0, Response(additional_context="C")),
    ("cursor", "preToolUse", '{"additional_context": "C", "additionalContext": "D"}', "", 0, Response(additional_context="C")),
    ("cursor", "preToolUse", DENY_JSON, "", 0, Response()),
    ("cursor", "preToolUse", '{"permission": "ask", "updated_input": {"command": "x"}}', "", 0,
     Response("ask", modified_input={"command": "x"})),
    ("cursor", "preToolUse", '{"permission": "deny", "additional_context": "C"}', "", 0,
     Response("deny", "blocked by a hook", additional_context="C")),
    ("cursor", "beforeReadFile", '{"permission": "ask"}', "", 0, "deny"),
    ("cursor", "subagentStart", '{"permission": "ask"}', "", 0, Response("ask")),
    ("cursor", "beforeSubmitPrompt", '{"continue": false, "user_message": "U", "additional_context": "C"}', "", 0,
     Response("deny", "U", additional_context="C")),
    ("cursor", "beforeSubmitPrompt", '{"permission": "deny", "user_message": "U"}', "", 0, Response(user_message="U")),
    ("cursor", "beforeSubmitPrompt", "hello", "", 0, FAILED),
    ("cursor", "beforeSubmitPrompt", '{"continue": "no"}', "", 0, FAILED),
    ("cursor", "beforeSubmitPrompt", "", "E", 2, DENY_E),
    ("cursor", "sessionStart", '{"continue": false, "user_message": "U"}', "", 0, Response("deny", "U")),
    ("cursor", "sessionStart", "", "", 1, FAILED),
    ("cursor", "stop", '{"followup_message": " again "}', "", 0, Response("deny", "again")),
    ("cursor", "stop", '{"followup_message": " "}', "", 0, Response()),
    ("cursor", "stop", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("cursor", "stop", "", "E", 2, Response()),
    ("cursor", "stop", '{"permission": "deny"}', "", 0, Response()),
    ("cursor", "postToolUse", '{"additional_context": "C", "decision": "block"}', "", 0, Response(additional_context="C")),
    ("cursor", "postToolUse", CURSOR_DENY, "E", 2, Response()),
    ("cursor", "preCompact", '{"user_message": "U", "permission": "deny"}', "", 0, Response(user_message="U")),
    ("cursor", "afterAgentResponse", '{"permission": "deny"}', "", 2, Response()),
    ("cursor", "afterShellExecution", '{"additional_context": "C"}', "", 0, Response()),
    ("gemini", "BeforeTool", '{"decision": "deny", "reason": "R"}', "E", 0, Response("deny", "R")),
    ("gemini", "BeforeTool", '{"decision": "block", "reason": "R"}', "E", 2, Response("deny", "R")),
    ("gemini", "BeforeTool", '{"decision": "deny", "reason": "R"}', "E", 1, Response("deny", "R")),
    ("gemini", "BeforeTool", '{"decision": "deny", "reason": "R", "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("gemini", "BeforeTool", '{"decision": "deny"}', "", 0, Response("deny", "No reason provided")),
    ("gemini", "BeforeTool", json.dumps('{"decision": "deny", "reason": "R"}'), "", 0, Response("deny", "R")),
    ("gemini", "BeforeTool", "", '{"decision": "deny", "reason": "R"}', 0, Response("deny", "R")),
    ("gemini", "BeforeTool", "{}", "E", 2, Response()),
    ("gemini", "BeforeTool", "[]", "E", 2, Response()),
    ("gemini", "BeforeTool", "", "E", 2, DENY_E),
    ("gemini", "BeforeTool", "text", "E", 2, Response("deny", "text")),
    ("gemini", "BeforeTool", "", "not found", 127, Response("deny", "not found")),
    ("gemini", "BeforeTool", "", "E", 1, FAILED),
    ("gemini", "BeforeTool", "", "", 2, FAILED),
    ("gemini", "BeforeTool", "text", "", 0, Response(user_message="text")),
    ("gemini", "BeforeTool", "text", "", -9, Response(user_message="text")),
    ("gemini", "BeforeTool", "", "E", 0, Response(user_message="E")),
    ("gemini", "BeforeTool", '{"decision": "allow", "reason": "R"}', "", 0, Response()),
    ("gemini", "BeforeTool", '{"decision": "ask", "systemMessage": "M"}', "", 0, Response("ask", user_message="M")),
    ("gemini", "BeforeTool", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("gemini", "BeforeTool", specific("BeforeTool", tool_input={"command": "ls"}), "", 0, Response(modified_input={"command": "ls"})),
    ("gemini", "BeforeTool", specific("BeforeTool", additionalContext="C"), "", 0, Response()),
    ("gemini", "BeforeTool", DENY_JSON, "", 0, Response()),
    ("gemini", "AfterTool", '{"decision": "deny", "reason": "R", "hookSpecificOutput": {"additionalContext": "C"}}', "", 0,
     Response("deny", "R")),
    ("gemini", "AfterTool", specific("AfterTool", additionalContext="C"), "", 0, Response(additional_context="C")),
    ("gemini", "AfterTool", specific("AfterTool", tailToolCallRequest={"name": "x"}), "", 0, FAILED),
    ("gemini", "BeforeAgent", '{"continue": false}', "", 0, Response("deny", "No reason provided")),
    ("gemini", "AfterAgent", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("gemini", "AfterAgent", '{"decision": "block", "reason": "R", "continue": false, "stopReason": "S"}', "", 0,
     Response(user_message="S")),
    ("gemini", "BeforeModel", specific("BeforeModel", llm_request={"model": "x"}), "", 0, FAILED),
    ("gemini", "BeforeModel", '{"decision": "deny", "reason": "R", "hookSpecificOutput": {"llm_response": {"x": 1}}}', "", 0,
     Response("deny", "R")),
    ("gemini", "SessionStart", "", "E", 2, Response()),
    ("gemini", "SessionStart", specific("SessionStart", additionalContext="C"), "", 0, Response(additional_context="C")),
    ("gemini", "PreCompress", '{"decision": "deny", "systemMessage": "M"}', "", 0, Response(user_message="M")),
    ("gemini", "BeforeToolSelection", specific("BeforeToolSelection", toolConfig={"mode": "NONE"}), "", 0, FAILED),
    ("gemini", "SessionEnd", "text", "", 0, Response()),
    ("qwen", "PreToolUse", DENY_JSON, "", 0, DENY_J),
    ("qwen", "PreToolUse", DENY_JSON, "", 1, DENY_J),
    ("qwen", "PreToolUse", DENY_JSON, "", 2, FAILED),
    ("qwen", "PreToolUse", DENY_JSON, "E", 2, DENY_E),
    ("qwen", "PreToolUse", "", DENY_JSON, 2, DENY_J),
    ("qwen", "PreToolUse", "", "{}", 2, Response()),
    ("qwen", "PreToolUse", "", "[]", 2, Response("deny", "[]")),
    ("qwen", "PreToolUse", "", "{bad}", 2, Response("deny", "{bad}")),
    ("qwen", "PreToolUse", "{bad}", "", 0, FAILED),
    ("qwen", "PreToolUse", "", "E", 1, FAILED),
    ("qwen", "PreToolUse", "text", "", 0, Response()),
    ("qwen", "PreToolUse", ALLOW_JSON, "", 0, Response()),
    ("qwen", "PreToolUse", specific("PreToolUse", permissionDecision="ask"), "", 0, Response("ask")),
    ("qwen", "PreToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("qwen", "PreToolUse", '{"decision": "block", "hookSpecificOutput": {"permissionDecision": "allow"}}', "", 0, Response()),
    ("qwen", "PreToolUse", '{"continue": false, "hookSpecificOutput": {"permissionDecision": "allow"}}', "", 0,
     Response("deny", "No reason provided")),
    ("qwen", "PreToolUse", specific("PreToolUse", updatedInput={"command": "ls"}), "", 0, Response()),
    ("qwen", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {"command": "ls"}}), "", 0,
     Response("allow", modified_input={"command": "ls"})),
    ("qwen", "PermissionRequest", specific("PermissionRequest", decision={"message": "M"}), "", 0, Response("deny", "M")),
    ("qwen", "PermissionRequest", "", "E", 2, Response()),
    ("qwen", "UserPromptSubmit", "plain", "", 0, Response(additional_context="plain")),
    ("qwen", "UserPromptSubmit", "", "plain", 0, Response()),
    ("qwen", "UserPromptSubmit", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("qwen", "PostToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response()),
    ("qwen", "PostToolUse", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("qwen", "PostToolUseFailure", '{"continue": false, "stopReason": "S"}', "", 0, Response()),
    ("qwen", "PostToolUse", specific("PostToolUse", additionalContext="C"), "", 0, Response(additional_context="C")),
    ("qwen", "Stop", '{"continue": false, "stopReason": "S", "systemMessage": "M"}', "", 0, Response("deny", "S", "M")),
    ("qwen", "Stop", "plain", "", 0, Response(user_message="plain")),
    ("qwen", "Stop", "", "E", 2, DENY_E),
    ("qwen", "SessionStart", '{"decision": "block", "systemMessage": "M"}', "", 0, Response()),
    ("qwen", "TodoCreated", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("qwen", "SessionEnd", "", "E", 2, Response()),
    ("copilot", "preToolUse", '{"permissionDecision": "deny", "permissionDecisionReason": "R"}', "", 0, Response("deny", "R")),
    ("copilot", "preToolUse", '{"permissionDecision": "deny", "permissionDecisionReason": "R"}', "E", 2, Response("deny", "R")),
    ("copilot", "preToolUse", '{"permissionDecision": "allow"}', "E", 2, Response("deny", "hook exited with code 2", "E")),
    ("copilot", "preToolUse", "", "", 2, Response("deny", "hook exited with code 2")),
    ("copilot", "preToolUse", "", "crash", 1, Response("deny", "hook exited with code 1", "crash")),
    ("copilot", "preToolUse", DENY_JSON, "", 0, Response()),
    ("copilot", "PreToolUse", DENY_JSON, "", 0, DENY_J),
    ("copilot", "PreToolUse", specific("PreToolUse", updatedInput={"command": "ls"}), "", 0, Response(modified_input={"command": "ls"})),
    ("copilot", "preToolUse", '{"modifiedArgs": {"command": "ls"}}', "", 0, Response(modified_input={"command": "ls"})),
    ("copilot", "preToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response()),
    ("copilot", "preToolUse", '{"continue": false, "systemMessage": "M"}', "", 0, Response()),
    ("copilot", "preToolUse", "text", "", 0, Response()),
    ("copilot", "preToolUse", '{"permissionDecision": "ask"}', "", 0, Response("ask")),
    ("copilot", "preToolUse", '{"type": "progress", "message": "M"}\n{"permissionDecision": "allow"}', "", 0,
     Response("allow", user_message="M")),
    ("copilot", "preToolUse", '{"permissionDecision": "allow"}\n{"permissionDecision": "deny"}', "", 0, Response()),
    ("copilot", "preToolUse", '{"additionalContext": "C"}', "", 0, Response(additional_context="C")),
    ("copilot", "permissionRequest", '{"behavior": "deny", "message": "M"}', "", 0, Response("deny", "M")),
    ("copilot", "permissionRequest", specific("PermissionRequest", decision={"behavior": "deny"}), "", 0, Response()),
    ("copilot", "permissionRequest", "", "E", 2, Response("deny", "hook exited with code 2", "E")),
    ("copilot", "UserPromptSubmit", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("copilot", "UserPromptSubmit", specific("UserPromptSubmit", additionalContext="C"), "", 0, Response()),
    ("copilot", "userPromptSubmitted", "plain", "", 0, Response()),
    ("copilot", "userPromptSubmitted", '{"modifiedPrompt": "P"}', "", 0, FAILED),
    ("copilot", "userPromptSubmitted", "", "E", 2, Response(user_message="E")),
    ("copilot", "userPromptSubmitted", "", "E", 1, FAILED),
    ("copilot", "postToolUse", '{"modifiedResult": {"resultType": "success"}}', "", 0, FAILED),
    ("copilot", "postToolUse", '{"decision": "block", "reason": "R", "additionalContext": "C"}', "", 0, Response("deny", "R")),
    ("copilot", "postToolUseFailure", "tell it", "E", 2, Response(user_message="E", additional_context="tell it")),
    ("copilot", "agentStop", '{"decision": "block", "reason": "R"}', "", 0, Response("deny", "R")),
    ("copilot", "agentStop", '{"additionalContext": "C"}', "", 0, Response()),
    ("copilot", "Stop", "", "E", 2, Response(user_message="E")),
    ("copilot", "sessionStart", '{"additionalContext": "C", "decision": "block"}', "", 0, Response(additional_context="C")),
    ("copilot", "sessionEnd", '{"type": "progress", "message": "M"}', "", 0, Response(user_message="M")),
    ("opencode", "tool.execute.before", '{"decision": "deny", "reason": "R", "context": "C"}', "", 0,
     Response("deny", "R", additional_context="C")),
    ("opencode", "tool.execute.before", '{"args": {"command": "ls"}}', "", 0, Response(modified_input={"command": "ls"})),
    ("opencode", "tool.execute.before", "", "E", 2, DENY_E),
    ("opencode", "tool.execute.before", "", "", 2, Response("deny", "denied by policy")),
    ("opencode", "tool.execute.before", "", "E", 1, FAILED),
    ("opencode", "tool.execute.before", "text", "", 0, FAILED),
    ("opencode", "tool.execute.before", '{"decision": "ask"}', "", 0, Response()),
    ("opencode", "chat.message", '{"decision": "allow", "message": "M"}', "", 0, Response(user_message="M")),
    ("opencode", "session.idle", '{"context": "C"}', "", 0, Response()),
    ("opencode", "session.idle", '{"decision": "deny", "reason": "R"}', "", 0, Response("deny", "R")),
    ("opencode", "session.created", "", "E", 2, Response()),
    ("kilo", "permission.asked", '{"decision": "allow"}', "", 0, Response("allow")),
    ("kilo", "message.part.updated", '{"context": "C", "decision": "deny"}', "", 0, Response(additional_context="C")),
    ("contract", "preToolUse", '{"decision": "allow"}', "", 0, Response("allow")),
    ("contract", "preToolUse", '{"decision": "deny", "reason": "R"}', "", 0, Response("deny", "R")),
    ("contract", "preToolUse", '{"decision": "deny", "reason": "R"}', "E", 2, Response("deny", "R")),
    ("contract", "preToolUse", '{"decision": "allow"}', "E", 2, DENY_E),
    ("contract", "preToolUse", "", "E", 2, DENY_E),
    ("contract", "preToolUse", "text", "", 2, Response("deny", "text")),
    ("contract", "preToolUse", '{"decision": "deny"}', "", 0, Response("deny", "blocked by a hook")),
    ("contract", "preToolUse", '{"decision": "ask"}', "", 0, FAILED),
    ("contract", "preToolUse", "text", "", 0, FAILED),
    ("contract", "preToolUse", "", "", 0, Response()),
    ("contract", "preToolUse", '{"decision": "deny"}', "E", 1, FAILED),
    ("contract", "stop", '{"reason": "R"}', "", 0, Response(reason="R")),
    ("contract", "stop", "{}", "", 0, Response()),
    ("contract", "postToolUse", '{"decision": "allow", "message": "M", "lint_command": "ruff"}', "", 0,
     Response("allow", message="M", lint_command="ruff")),
    ("droid", "PreToolUse", DENY_JSON, "E", 0, DENY_J),
    ("droid", "PreToolUse", DENY_JSON, "E", 2, DENY_J),
    ("droid", "PreToolUse", DENY_JSON, "E", 1, DENY_J),
    ("droid", "PreToolUse", DENY_JSON, "E", 3, DENY_E),
    ("droid", "PreToolUse", ALLOW_JSON, "E", 2, DENY_E),
    ("droid", "PreToolUse", ALLOW_JSON, "", 0, Response("allow")),
    ("droid", "PreToolUse", "", "E", 2, DENY_E),
    ("droid", "PreToolUse", "", "", 2, Response("deny", "Tool execution blocked by hook")),
    ("droid", "PreToolUse", "", "E", 3, DENY_E),
    ("droid", "PreToolUse", "", "E", 1, FAILED),
    ("droid", "PreToolUse", "{bad", "E", 2, DENY_E),
    ("droid", "PreToolUse", "{bad", "E", 0, FAILED),
    ("droid", "PreToolUse", "text", "", 0, Response()),
    ("droid", "PreToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response()),
    ("droid", "PreToolUse", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("droid", "PreToolUse", '{"continue": false}', "", 0, Response("deny", "Hook requested to stop execution")),
    ("droid", "PreToolUse", specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="R"), "", 0, Response()),
    ("droid", "PreToolUse", specific("PreToolUse", permissionDecision="deny"), "", 0, Response("deny", "Tool execution denied by hook")),
    ("droid", "PreToolUse", specific("PreToolUse", updatedInput={"command": "ls"}), "", 0, Response(modified_input={"command": "ls"})),
    ("droid", "PreToolUse", specific("PreToolUse", additionalContext="C"), "", 0, Response()),
    ("droid", "PostToolUse", '{"decision": "block", "reason": "R"}', "", 0, Response()),
    ("droid", "PostToolUse", specific("PostToolUse", additionalContext="C"), "E", 2, Response("deny", "E", additional_context="C")),
    ("droid", "PostToolUse", "", "E", 3, DENY_E),
    ("droid", "PostToolUse", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("droid", "PostToolUse", '{"systemMessage": "M"}', "", 0, Response(user_message="M")),
    ("droid", "UserPromptSubmit", '{"decision": "block", "reason": "R"}', "", 0, Response()),
    ("droid", "UserPromptSubmit", "", "E", 2, DENY_E),
    ("droid", "UserPromptSubmit", "", "E", 3, DENY_E),
    ("droid", "UserPromptSubmit", '{"continue": false, "stopReason": "S"}', "E", 0, DENY_E),
    ("droid", "UserPromptSubmit", '{"continue": false, "stopReason": "S"}', "", 0, Response("deny", "S")),
    ("droid", "UserPromptSubmit", "plain", "", 0, Response(additional_context="plain")),
    ("droid", "UserPromptSubmit", "{}", "", 0, Response(additional_context="{}")),
    ("droid", "UserPromptSubmit", specific("UserPromptSubmit", additionalContext="C"), "", 0, Response(additional_context="C")),
    ("droid", "UserPromptSubmit", specific("UserPromptSubmit", additionalContext="C"), "", 1, Response()),
    ("droid", "UserPromptSubmit", specific("UserPromptSubmit", updatedInput={"prompt": "***"}), "", 0, FAILED),
    ("droid", "SessionStart", "plain", "", 0, Response(additional_context="plain")),
    ("droid", "SessionStart", "", "E", 2, Response()),
    ("droid", "Stop", '{"decision": "block", "reason": "R"}', "E", 0, Response("deny", "R")),
    ("droid", "Stop", '{"decision": "block", "reason": "R"}', "E", 2, Response("deny", "R")),
    ("droid", "Stop", '{"decision": "block"}', "E", 2, Response()),
    ("droid", "Stop", "", "E", 2, DENY_E),
    ("droid", "Stop", "", "E", 3, Response()),
    ("droid", "Stop", '{"decision": "block", "reason": "R", "continue": false}', "", 0, Response()),
    ("droid", "Stop", specific("Stop", additionalContext="C"), "", 0, Response()),
    ("droid", "PreCompact", "", "E", 2, DENY_E),
    ("droid", "PreCompact", '{"decision": "block", "reason": "R"}', "", 0, Response()),
    ("droid", "SubagentStop", '{"decision": "block", "reason": "R"}', "E", 2, Response()),
]  # fmt: skip


def native_event_of(host: str, name: str, version: str = "1.0.0") -> Event:
    row = load(host).EVENTS[name]
    fields = {"Read": {"file_path": "a"}, "MCP": {"server": "s", "tool": "t"}, "Edit": {"file_path": "a"}}.get(row.tool, {"command": "ls"})
    tool = (row.tool or "Bash") if row.event in TOOL_EVENTS else ""
    event = sample(row.event, tool, host_version=version, **COMMON, **(fields if tool else {}))
    parsed: Event = load(host).parse(reverse_of(host).payload(event, name), name)
    return parsed


def elsewhere(event: Event) -> Event:
    """The same event, come from another host."""
    copy = reverse._copied(event)
    copy.host = ""
    return copy


@pytest.mark.parametrize(("host", "name", "stdout", "stderr", "code", "meaning"), READ)
def test_an_answer_means_what_it_means_on_the_real_host(host: str, name: str, stdout: str, stderr: str, code: int, meaning: Any) -> None:
    event = native_event_of(host, name)
    if meaning is FAILED:
        with pytest.raises(HandlerError, match="hook"):
            reverse_of(host).answer(elsewhere(event), stdout, stderr, code, name)
        return
    read = reverse_of(host).answer(event, stdout, stderr, code)
    read.native = None
    if meaning == "deny":
        assert (read.decision, "for safety" in read.reason) == ("deny", True)
    else:
        assert read == meaning


# host, native event, stdout, exit code, the fields that its host acts on and a Response cannot carry, though the answer counts
LOST: list[tuple[str, str, str, int, list[str]]] = [
    ("claude", "SessionStart", specific("SessionStart", additionalContext="C", sessionTitle="T", watchPaths=["/a"]), 0,
     ["sessionTitle", "watchPaths"]),
    ("claude", "PreToolUse", '{"terminalSequence": "\\u0007", "suppressOutput": true, "systemMessage": "M"}', 0, ["terminalSequence"]),
    ("claude", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "deny", "interrupt": True}), 0, ["interrupt"]),
    ("claude", "PermissionRequest", allowed_with(ALLOW_RULE), 0, ["updatedPermissions"]),
    ("claude", "PostToolUse", specific("PostToolUse", updatedToolOutput="***"), 2, ["updatedToolOutput"]),
    ("claude", "PostToolUse", specific("PostToolUse", classifierContext="C"), 0, ["classifierContext"]),
    ("claude", "PermissionDenied", specific("PermissionDenied", retry=True), 0, ["retry"]),
    ("claude", "PermissionDenied", specific("PermissionDenied", retry=False), 0, []),
    ("claude", "MessageDisplay", specific("MessageDisplay", displayContent=""), 0, ["displayContent"]),
    ("claude", "SessionStart", specific("Stop", sessionTitle="T"), 2, []),
    ("claude", "SessionStart", "a text", 0, []),
    ("cursor", "sessionStart", '{"env": {"A": "1"}, "additional_context": "C"}', 0, ["env"]),
    ("cursor", "sessionStart", '{"env": {"A": "1"}}', 2, []),
    ("cursor", "workspaceOpen", '{"pluginPaths": ["/p"]}', 0, ["pluginPaths"]),
    ("cursor", "stop", '{"env": {"A": "1"}}', 0, []),
    ("qwen", "PostToolUse", specific("PostToolUse", artifacts=[{"path": "a"}]), 0, ["artifacts"]),
    ("qwen", "PostToolUse", specific("PostToolUse", artifacts=[{"path": "a"}]), 2, []),
    ("qwen", "PermissionRequest", specific("PermissionRequest", decision={"behavior": "deny", "interrupt": True}), 0, ["interrupt"]),
    ("qwen", "PreToolUse", specific("PreToolUse", updatedInput={"command": "ls"}), 0, []),
    ("gemini", "AfterAgent", '{"decision": "deny", "reason": "R", "hookSpecificOutput": {"clearContext": true}}', 0, ["clearContext"]),
    ("gemini", "AfterAgent", '{"continue": false, "hookSpecificOutput": {"clearContext": true}}', 0, ["clearContext"]),
    ("gemini", "AfterTool", '{"decision": "deny", "hookSpecificOutput": {"tailToolCallRequest": {"name": "x"}}}', 0,
     ["tailToolCallRequest"]),
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "stdout", "code", "fields"), LOST)
def test_what_an_answer_loses_is_named(host: str, name: str, stdout: str, code: int, fields: list[str]) -> None:
    event = native_event_of(host, name)
    assert reverse_of(host).answer(elsewhere(event), stdout, "E", code, name).native is None  # it counts: no error
    assert reverse_of(host).losses(event, stdout, code) == fields


# host, native event, stdout, what only that host can act on: there it is kept, elsewhere it is an error
KEPT: list[tuple[str, str, dict[str, Any]]] = [
    ("claude", "PostToolUse", {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": ""}}),
    ("claude", "UserPromptSubmit", {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}}),
    ("claude", "Elicitation", {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept", "content": {"a": 1}}}),
    ("gemini", "AfterTool", {"hookSpecificOutput": {"hookEventName": "AfterTool", "tailToolCallRequest": {"name": "x"}}}),
    ("gemini", "BeforeModel", {"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "x"}}}),
    ("gemini", "BeforeToolSelection", {"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "NONE"}}}),
    ("copilot", "userPromptSubmitted", {"modifiedPrompt": "P"}),
    ("copilot", "postToolUse", {"modifiedResult": {"resultType": "success"}}),
]


@pytest.mark.parametrize(("host", "name", "said"), KEPT, ids=lambda value: value if isinstance(value, str) else "")
def test_what_only_its_own_host_can_act_on_is_kept_there_and_refused_elsewhere(host: str, name: str, said: dict[str, Any]) -> None:
    event = native_event_of(host, name)
    read = reverse_of(host).answer(event, json.dumps(said), "", 0)
    assert read.native == {host: said}
    job = Job()
    job.wire, job.event = load(host), event
    assert json.loads(conclude(job, read).stdout) == {**json.loads(conclude(job, read.copy(native=None)).stdout or "{}"), **said}
    with pytest.raises(HandlerError, match="which onehook cannot carry"):
        reverse_of(host).answer(elsewhere(event), json.dumps(said), "", 0, name)


@pytest.mark.parametrize(
    ("host", "name", "stdout"),
    [
        ("claude", "PostToolUse", specific("PostToolUse", updatedMCPToolOutput="***")),
        ("cursor", "postToolUse", '{"updated_mcp_tool_output": ""}'),
        ("codex", "PostToolUse", specific("PostToolUse", updatedMCPToolOutput="***")),
    ],
)
def test_a_rewritten_result_of_an_mcp_tool_is_refused(host: str, name: str, stdout: str) -> None:
    event = sample("PostToolUse", "MCP", server="s", tool="t", tool_response="secret")
    with pytest.raises(HandlerError, match=r"tool_output|ToolOutput"):
        reverse_of(host).answer(event, stdout, "", 0, name)


def test_up_to_the_documented_cursor_json_counts_beside_exit_2() -> None:
    answer = reverse_of("cursor").answer
    assert answer(native_event_of("cursor", "preToolUse", "3.2.16"), CURSOR_DENY, "", 2) == Response("deny", "A", "U")
    assert answer(native_event_of("cursor", "preToolUse", "3.2.16"), '{"permission": "allow"}', "", 2).decision == "deny"
    response = native_event_of("cursor", "afterAgentResponse", "3.2.16")
    assert answer(response, '{"permission": "deny", "userMessage": "U"}', "", 2) == Response("deny", "U")


def lost_in(host: str, event: Event, stdout: str, code: int) -> list[str]:
    reverse = reverse_of(host)
    lost: list[str] = reverse.losses(event, stdout, code) if hasattr(reverse, "losses") else []
    return lost


@pytest.mark.parametrize("host", HOSTS)
@FAST
@given(data=st.data(), stdout=texts | st.sampled_from(["{}", "[]", "null", '{"a": {"b": 1}}', "{{{}"]), code=st.integers(-9, 200))
def test_no_answer_whatever_crashes_the_reading(host: str, data: st.DataObject, stdout: str, code: int) -> None:
    event = native_event_of(host, data.draw(st.sampled_from(sorted(load(host).EVENTS))))
    try:
        read = reverse_of(host).answer(event, stdout, data.draw(texts), code)
    except HandlerError:
        return
    assert read.decision != "deny" or read.reason
    assert lost_in(host, event, stdout, code) == []


json_values = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
ANSWER_KEYS = st.sampled_from(
    ["decision", "reason", "continue", "stopReason", "systemMessage", "permission", "user_message", "agent_message", "updated_input",
     "followup_message", "additional_context", "additionalContext", "message", "lint_command", "permissionDecision",
     "permissionDecisionReason", "modifiedArgs", "behavior", "args", "context", "type"]
)  # fmt: skip
SPECIFIC_KEYS = st.sampled_from(
    ["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "decision", "action", "tool_input",
     "updatedToolOutput", "sessionTitle", "clearContext", "artifacts"]
)  # fmt: skip


@pytest.mark.parametrize(("host", "name"), EVERY_EVENT)
@FAST
@given(body=st.dictionaries(ANSWER_KEYS, json_values), inner=st.dictionaries(SPECIFIC_KEYS, json_values), nested=st.booleans())
def test_fields_of_wrong_types_never_reach_a_response(
    host: str, name: str, body: dict[str, Any], inner: dict[str, Any], nested: bool
) -> None:
    if nested:
        body["hookSpecificOutput"] = {"hookEventName": name, **inner}
    event = native_event_of(host, name)
    lost = lost_in(host, event, json.dumps(body), 0)
    assert set(lost) <= {*body, *inner, *(key for value in inner.values() if isinstance(value, dict) for key in value)}
    try:
        read = reverse_of(host).answer(event, json.dumps(body), "", 0)
    except HandlerError:
        return
    assert read.decision in (None, "allow", "deny", "ask")
    assert all(isinstance(getattr(read, field), dict if field in ("modified_input", "native") else str) for field in read.given())


# ---- answers of one host's script to an event of another ----


def event_on(host: str, tool: str, **fields: Any) -> Event:
    event: Event = load(host).parse(reverse_of(host).payload(sample("PreToolUse", tool, **COMMON, **fields)), "")
    return event


def rewrite_by(script_host: str, updated: dict[str, Any]) -> str:
    if script_host == "cursor":
        return json.dumps({"permission": "allow", "updated_input": updated})
    if script_host == "gemini":
        return specific("BeforeTool", tool_input=updated)
    if script_host == "copilot":
        return json.dumps({"permissionDecision": "allow", "modifiedArgs": updated})
    if script_host in ("opencode", "kilo"):
        return json.dumps({"decision": "allow", "args": updated})
    return specific("PreToolUse", permissionDecision="allow", updatedInput=updated)


def rewritten(event_host: str, script_host: str, tool: str, fields: dict[str, Any], change: dict[str, Any]) -> Event:
    """The event as its host's later handlers see it, after a script of another host changed its own view of the input."""
    event = event_on(event_host, tool, **fields)
    body = reverse_of(script_host).payload(event)
    sent = body["toolArgs"] if script_host == "copilot" else body["tool_input"]
    read = reverse_of(script_host).answer(event, rewrite_by(script_host, {**sent, **change}), "", 0)
    assert read.decision == (None if script_host == "gemini" else "allow")
    return event.rewritten(read.modified_input or {})


REWRITING = ["claude", "cursor", "codex", "gemini", "copilot", "opencode", "kilo"]


@pytest.mark.parametrize("event_host", [*REWRITING, "qwen"])
@pytest.mark.parametrize("script_host", REWRITING)
def test_a_rewritten_command_reaches_the_events_own_host(event_host: str, script_host: str) -> None:
    assert rewritten(event_host, script_host, "Bash", {"command": "rm x"}, {"command": "ls"}).command == "ls"


@pytest.mark.parametrize("event_host", REWRITING)
@pytest.mark.parametrize("script_host", [host for host in REWRITING if host != "codex"])
def test_a_rewritten_text_reaches_the_events_own_host(event_host: str, script_host: str) -> None:
    key = "file_text" if script_host == "copilot" else "content"
    event = rewritten(event_host, script_host, "Write", {"file_path": "a", "content": "old\n"}, {key: "new\n"})
    assert event.changes == [Change(f"{CWD}/a", "write", None, "new\n")]


@pytest.mark.parametrize("event_host", [host for host in REWRITING if host != "cursor"])
@pytest.mark.parametrize(
    ("script_host", "key"),
    [("claude", "new_string"), ("cursor", "content"), ("gemini", "new_string"), ("copilot", "new_str"), ("opencode", "newString")],
)
def test_a_rewritten_edit_reaches_the_events_own_host(event_host: str, script_host: str, key: str) -> None:
    fields = {"file_path": "a", "old_string": "x\n", "new_string": "y\n"}
    assert rewritten(event_host, script_host, "Edit", fields, {key: "z\n"}).changes == [Change(f"{CWD}/a", "edit", "x\n", "z\n")]


@pytest.mark.parametrize("event_host", [host for host in REWRITING if host != "codex"])
def test_a_rewritten_patch_reaches_a_host_without_patches(event_host: str) -> None:
    patch = patch_of([Change("a", "write", None, "new")], "")
    event = rewritten(event_host, "codex", "Write", {"file_path": "a", "content": "old"}, {"command": patch})
    assert event.changes == [Change(f"{CWD}/a", "write", None, "new\n")]


def test_what_a_script_left_as_it_was_is_no_rewrite() -> None:
    event = event_on("cursor", "Bash", command="ls", timeout=5)
    sent = reverse_of("claude").payload(event)["tool_input"]
    assert reverse_of("claude").answer(event, rewrite_by("claude", sent), "", 0) == Response("allow")


@pytest.mark.parametrize(
    ("event", "script_host", "updated"),
    [
        (event_on("claude", "Bash", command="ls"), "cursor", {"command": "ls", "cwd": "/tmp"}),
        (event_on("claude", "Write", file_path="a", content="x"), "codex", {"command": patch_of([Change("a", "delete")], "")}),
        (event_on("claude", "Write", file_path="a", content="x"), "codex", {"command": "no patch"}),
    ],
)
def test_a_rewrite_that_cannot_be_carried_is_an_error_and_not_lost(event: Event, script_host: str, updated: dict[str, Any]) -> None:
    with pytest.raises(HandlerError, match="rewrites"):
        reverse_of(script_host).answer(event, rewrite_by(script_host, updated), "", 0)


def test_a_prompt_that_holds_the_url_is_rewritten_on_its_own_host_only() -> None:
    event = event_on("claude", "WebFetch", url="https://a.example", prompt="sum it up")
    sent = reverse_of("gemini").payload(event)["tool_input"]
    assert sent == {"prompt": "https://a.example sum it up"}
    assert reverse_of("gemini").answer(event, rewrite_by("gemini", sent), "", 0) == Response()
    with pytest.raises(HandlerError, match="holds the URL"):
        reverse_of("gemini").answer(event, rewrite_by("gemini", {"prompt": "https://b.example"}), "", 0)


def test_only_a_permission_request_rewrites_for_a_qwen_script() -> None:
    event = load("claude").parse(reverse_of("claude").payload(sample("PermissionRequest", "Read", file_path="/a")), "")
    dialog = specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {"file_path": "/b"}})
    assert reverse_of("qwen").answer(event, dialog, "", 0) == Response("allow", modified_input={"file_path": "/b"})


def test_a_todo_that_is_written_already_is_not_refused() -> None:
    event = native_event_of("qwen", "TodoCreated")
    event.native["phase"] = "postWrite"
    assert reverse_of("qwen").answer(event, '{"decision": "block", "reason": "R"}', "", 0) == Response()


def test_the_end_of_a_subagents_turn_takes_no_answer_from_a_copilot_script() -> None:
    body = {**native_event_of("copilot", "agentStop").native, "agentId": "a-1"}
    event = load("copilot").parse(body, "agentStop")
    assert reverse_of("copilot").payload(event) == body
    assert reverse_of("copilot").answer(event, '{"decision": "block", "reason": "R"}', "", 0) == Response()


@pytest.mark.parametrize("target", [host for host in HOSTS if host != "gemini"])
def test_a_call_that_reads_several_files_is_shown_file_by_file(target: str) -> None:
    body = reverse_of("gemini").payload(sample("PreToolUse", "Read", file_path="a", **COMMON))
    body.update(tool_name="read_many_files", tool_input={"include": ["a", "secrets/*"]})
    event = load("gemini").parse(body, "")
    shown = [load(target).parse(reverse_of(target).payload(part), "") for part in reverse_of(target).parts(event)]
    assert [one.paths for one in shown] == [[f"{CWD}/a"], [f"{CWD}/secrets/*"]]
    assert reverse_of("gemini").parts(event) == [event]


def test_a_gemini_failure_stays_in_the_result() -> None:
    event = sample("PostToolUse", "Bash", command="ls", error="no such file", **COMMON)
    assert load("gemini").parse(reverse_of("gemini").payload(event), "").error == "no such file"


def test_an_empty_transcript_does_not_make_a_gemini_session_a_copilot_one() -> None:
    body = reverse_of("gemini").payload(sample("SessionStart", **COMMON))
    assert body["transcript_path"] == ""
    assert detect(body).ID == "gemini"


def test_a_qwen_prompt_that_is_repeated_on_the_way_back_from_a_tool_stays_an_echo() -> None:
    event = sample("UserPromptSubmit", **COMMON)
    assert not load("qwen").parse(reverse_of("qwen").payload(event), "").echo
    event.echo = True
    assert load("qwen").parse(reverse_of("qwen").payload(event), "").echo


def test_one_file_of_a_patch_of_two_cannot_be_rewritten_alone() -> None:
    body = event_on("codex", "Write", file_path="a", content="x").native
    two = patch_of([Change("a", "write", None, "x\n"), Change("b", "write", None, "y\n")], "")
    part = reverse_of("claude").parts(load("codex").parse({**body, "tool_input": {"command": two}}, ""))[1]
    with pytest.raises(HandlerError, match="rewritten as a whole"):
        reverse_of("claude").answer(part, rewrite_by("claude", {"content": "z"}), "", 0)


def test_a_message_of_the_contract_is_for_the_user_on_other_hosts() -> None:
    event = event_on("claude", "Bash", command="ls")
    assert reverse_of("contract").answer(event, '{"decision": "allow", "message": "M"}', "", 0) == Response("allow", user_message="M")


def test_an_answer_is_read_for_the_native_event_that_the_script_was_shown() -> None:
    event = event_on("claude", "Read", file_path="a")
    ask = '{"permission": "ask"}'
    assert reverse_of("cursor").answer(event, ask, "", 0) == Response("ask")
    assert reverse_of("cursor").answer(event, ask, "", 0, "beforeReadFile").decision == "deny"


# ---- sample events ----


def test_a_sample_is_of_no_host_and_has_the_facts_of_its_tool() -> None:
    event = sample("PreToolUse", "Bash", command="rm -rf /", timeout=5)
    assert (event.host, event.tool, event.command, event.tool_input) == ("", "Bash", "rm -rf /", {"command": "rm -rf /", "timeout": 5})
    assert sample("PreToolUse", "WebFetch", url="https://x", prompt="p").url == "https://x"
    assert sample("PreToolUse", "Read", path="a", cwd="/p").paths == ["/p/a"]
    assert sample("PreToolUse", "Edit", file_path="/a", old_string="x", new_string="y").changes == [Change("/a", "edit", "x", "y")]
    called = sample("PreToolUse", "MCP", server="db", tool="query", sql="select 1")
    assert (called.mcp, called.tool, called.tool_input) == (Mcp("db", "query"), "MCP", {"sql": "select 1"})
    assert sample("PreToolUse", "mcp__db__query").mcp == Mcp("db", "query")
    assert sample("PreToolUse", "Task", prompt="p").tool == "Agent"
    stopped = sample("Stop", stop_hook_active="true", last_assistant_message="done")
    assert (stopped.stop_hook_active, stopped.last_assistant_message) == (True, "done")
    assert sample("UserPromptSubmit", prompt="hi").prompt == "hi"


@pytest.mark.parametrize(
    ("arguments", "fields", "text"),
    [
        (("PreTool", "Bash"), {}, "unknown event"),
        (("PreToolUse",), {}, "name one"),
        (("Stop", "Bash"), {}, "not about a tool"),
        (("Stop",), {"command": "ls"}, "has no 'command'"),
        (("PreToolUse", "Bash"), {"command": 3}, "not a string"),
        (("PreToolUse", "Bash"), {"cwd": 3}, "must be a string"),
    ],
)
def test_a_sample_that_makes_no_sense_is_refused(arguments: tuple[str, ...], fields: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        sample(*arguments, **fields)


# ---- start-up ----


def test_the_reverse_modules_import_nothing_that_costs_time() -> None:
    modules = ", ".join(f"onehook.hosts.{host}.reverse" for host in HOSTS)
    banned = "json re typing dataclasses enum pathlib subprocess argparse inspect collections functools"
    source = Path(load("claude").__file__).parents[3]
    program = f"import sys; sys.path.append({str(source)!r}); import {modules}; print(*[m for m in {banned.split()!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_the_stops_are_the_events_where_a_deny_means_go_on() -> None:
    for host in HOSTS:
        for name, row in load(host).EVENTS.items():
            if row.event in STOPS and host in ("claude", "codex"):
                event = elsewhere(native_event_of(host, name))
                read = reverse_of(host).answer(event, '{"continue": false, "stopReason": "S"}', "", 0, name)
                assert read == Response(user_message="S")
