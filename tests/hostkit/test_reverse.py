"""A host's wire in reverse: its payload for any event, and a native answer read by its own rules.

A row of tests/hosts/<id>/answers.json has the native event (its tool, version of the host), what a hook returned (stdout, stderr, exit
code) and what the agent makes of it: `means` (a Response, "failed" for a failed hook, "a denial for safety"), `lost` (the fields that the
agent acts on and a Response cannot carry, although the answer counts), or `kept` (an answer that only this agent can act on).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.core import EVENTS, EXTENDED_EVENTS, Change, Event, HandlerError, Mcp, Options, Response, UsageError
from onehook.hostkit.effects import compile_response
from onehook.hostkit.patch import changes_of_patch
from onehook.hostkit.results import output_text
from onehook.hostkit.reverse import TOOL_EVENTS, patch_of, sample, unified_events
from onehook.hosts import HOSTS, detect, load
from onehook.words import with_chatter, words_of
from tests.host_folders import captures, facts, folder, lines_of
from tests.hostkit.reversing import (
    COMMON,
    FAST,
    KINDS,
    SHARED,
    THOROUGH,
    Kind,
    changes,
    elsewhere,
    event_on,
    native_event_of,
    responses,
    reverse_of,
    samples,
    texts,
)
from tests.rows import check_each

FIELDS = (
    "event", "tool", "command", "paths", "changes", "url", "mcp", "prompt", "session_id", "cwd", "source", "stop_hook_active",
    "last_assistant_message", "error",
)  # fmt: skip


def wanted(host: str, name: str, event: Event, field: str) -> Any:
    """The field of an event as far as the host's payload can represent it."""
    if field == "changes":
        return facts(host).changes_as_told(name, event.changes)
    if field == "tool":
        return facts(host).tool_as_told(name, event)
    return facts(host).mcp_as_told(name, event.mcp) if field == "mcp" else getattr(event, field)


# ---- payloads ----


@pytest.mark.parametrize("kind", KINDS, ids=str)
@SHARED
@given(data=st.data())
def test_a_payload_is_recognised_and_gives_the_event_back(kind: Kind, data: st.DataObject) -> None:
    event = data.draw(samples(*kind))

    def check(host: str, name: str) -> None:
        body = json.loads(json.dumps(reverse_of(host).payload(event.copy(), name)))
        recognised = detect(body)
        assert host == recognised.ID
        parsed = load(host).parse(body, name)
        assert parsed.native_event == name
        for field in FIELDS:
            if (name, field) not in facts(host).FIELD_LOSSES:
                assert getattr(parsed, field) == wanted(host, name, event, field), field

    check_each(check, KINDS[kind])


CAPTURED = [host for host in HOSTS if captures(host)]


@pytest.mark.parametrize("host", CAPTURED)
def test_a_real_payload_comes_back_as_it_was_on_its_own_host(host: str) -> None:
    def check(captured: dict[str, Any]) -> None:
        assert reverse_of(host).payload(load(host).parse(captured, "")) == captured

    check_each(check, captured_of(host))


def captured_of(host: str) -> dict[str, dict[str, Any]]:
    return {f"{path.stem}-{number}": line["stdin"] for path in captures(host) for number, line in enumerate(lines_of(path), 1)}


@pytest.mark.parametrize("host", CAPTURED)
def test_a_built_payload_has_the_keys_of_a_real_one(host: str) -> None:
    def check(captured: dict[str, Any]) -> None:
        event = load(host).parse(captured, "")
        event.host = ""  # so that it is built, not repeated
        built = reverse_of(host).payload(event, event.native_event)
        assert set(captured) - set(built) <= facts(host).NOT_BUILT
        assert set(built) - set(captured) <= facts(host).NOT_ALWAYS_SENT
        assert load(host).parse(built, event.native_event).native_tool == event.native_tool

    known = EVENTS + EXTENDED_EVENTS  # the others are not events of policies
    check_each(check, {name: line for name, line in captured_of(host).items() if load(host).parse(line, "").event in known})


@pytest.mark.parametrize("host", CAPTURED)
def test_a_real_payload_is_told_to_every_host_that_has_the_event(host: str) -> None:
    check_each(lambda captured: check_told(host, captured), captured_of(host))


def check_told(host: str, captured: dict[str, Any]) -> None:
    event = load(host).parse(captured, "")
    for target in HOSTS:
        names = [name for name, row in load(target).EVENTS.items() if row.event == event.event]
        if target == host:
            assert reverse_of(target).payload(event) == captured
            continue
        if not names:
            with pytest.raises(UsageError):
                reverse_of(target).payload(event)
            continue
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


def lined(change: Change) -> Change:
    """A change as a patch, which consists of whole lines, represents it."""

    def ended(text: str | None) -> str:
        return text if text and text.endswith("\n") else f"{text}\n" if text else ""

    if change.kind not in ("write", "edit"):
        return change
    return Change(change.path, change.kind, None if change.kind == "write" else ended(change.old), ended(change.new))


@THOROUGH
@given(made=changes())
def test_a_patch_made_of_changes_reads_as_those_changes(made: list[Change]) -> None:
    read = changes_of_patch(patch_of(made, ""))
    assert read == [lined(change) for change in made]


def test_an_edit_whose_texts_are_unknown_is_not_swallowed_by_the_one_before() -> None:
    made = [Change("/p/a", "edit", "x\n", "y\n"), Change("/p/a", "edit", "", ""), Change("/p/a", "edit", "y\n", "z\n")]
    assert changes_of_patch(patch_of(made, "")) == made


@pytest.mark.parametrize("path", ["/p/a\n*** Delete File: /p/b", "/p/a ", "/p/a\r", ""])
def test_a_path_that_a_patch_would_misread_is_refused(path: str) -> None:
    with pytest.raises(HandlerError, match="cannot be written in a patch"):
        patch_of([Change(path, "delete")], "/p")


@pytest.mark.parametrize("source", HOSTS)
@pytest.mark.parametrize("unified", ["PreToolUse", "PostToolUse"])
@settings(max_examples=16)
@given(data=st.data())
def test_an_event_of_one_host_keeps_what_it_is_about_on_every_other(source: str, unified: str, data: st.DataObject) -> None:
    first = next(name for name, row in load(source).EVENTS.items() if row.event == unified)
    event = load(source).parse(reverse_of(source).payload(data.draw(samples(unified)), first), first)

    def check(target: str) -> None:
        second = next(name for name, row in load(target).EVENTS.items() if row.event == unified)
        (part,) = reverse_of(target).parts(event.copy())
        body = reverse_of(target).payload(part)
        recognised = detect(body)
        assert target == recognised.ID
        parsed = load(target).parse(body, second)
        for field in ("tool", "command", "paths", "changes", "url"):
            assert getattr(parsed, field) == wanted(target, second, event, field), field
        told = wanted(target, second, event, "mcp")
        assert (parsed.mcp and parsed.mcp.tool) == (told and told.tool)

    check_each(check, HOSTS)


UNIFIED = [(host, unified) for host in HOSTS for unified in EVENTS if unified not in unified_events(load(host).EVENTS)]


@pytest.mark.parametrize(("host", "unified"), UNIFIED)
def test_an_event_that_the_host_does_not_have_is_refused(host: str, unified: str) -> None:
    event = sample(unified, "Bash" if unified in TOOL_EVENTS else "")
    with pytest.raises(UsageError, match=f"has no event for {unified}"):
        reverse_of(host).payload(event)
    with pytest.raises(UsageError, match=f"has no event for {unified}"):
        reverse_of(host).answer(event, "", "", 0)


@pytest.mark.parametrize("host", HOSTS)
def test_a_native_event_that_does_not_fit_is_refused(host: str) -> None:
    def check(name: str) -> None:
        row = load(host).EVENTS.get(name)
        call = sample("PreToolUse", "Bash", command="ls")
        if row is not None and row.event == "PreToolUse" and row.tool in ("", "Bash"):
            assert load(host).parse(reverse_of(host).payload(call, name), name).native_event == name
            return
        text = f"has no event '{name}'" if row is None else f"is about {row.tool}" if row.event == "PreToolUse" else f"is a {row.event}"
        with pytest.raises(UsageError, match=text):
            reverse_of(host).payload(call, name)

    check_each(check, [*load(host).EVENTS, "noSuchEvent"])


@pytest.mark.parametrize("host", HOSTS)
def test_a_tool_event_without_a_tool_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="does not name one"):
        reverse_of(host).payload(Event("PreToolUse", ""))


@pytest.mark.parametrize("source", HOSTS)
def test_what_a_command_printed_reaches_another_host(source: str) -> None:
    def check(target: str) -> None:
        event = sample("PostToolUse", "Bash", command="ls", tool_response="out", **COMMON)
        if facts(source).RESULT is None:
            event.tool_response = None
        else:
            event = load(source).parse(reverse_of(source).payload(event), "")
        after = next(name for name, row in load(target).EVENTS.items() if row.event == "PostToolUse" and row.tool in ("", "Bash"))
        seen = load(target).parse(reverse_of(target).payload(event), after).tool_response
        key = facts(target).RESULT
        if key is not None:
            assert output_text(seen[key] if key else seen) == ("" if facts(source).RESULT is None else "out")

    check_each(check, [host for host in HOSTS if host != source])


# ---- answers: what is written is read back ----


def as_read(host: str, shape: str, answer: Response) -> Response:
    """The effective answer, as it can be read back."""
    says_allow = facts(host).SAYS_ALLOW
    if answer.decision == "allow" and says_allow is not None and shape not in says_allow:
        answer = Response(**{**answer.to_dict(), "decision": None})
    for shapes, when, instead, _why in facts(host).ANSWER_LOSSES:
        if shape in shapes and when(answer):
            return Response(**{**answer.to_dict(), **instead(answer)})
    return answer


@pytest.mark.parametrize("kind", KINDS, ids=str)
@SHARED
@given(data=st.data())
def test_an_answer_that_was_written_for_a_host_is_read_back(kind: Kind, data: st.DataObject) -> None:
    asked, said = data.draw(samples(*kind)), data.draw(responses)
    fallback = data.draw(st.sampled_from(["deny", "allow", "ask"]))
    noise = data.draw(st.sampled_from(["", "printed by the policy"]))

    def check(host: str, name: str, version: str) -> None:
        wire, reverse = load(host), reverse_of(host)
        told = asked.copy()
        told.host_version = version
        event = wire.parse(reverse.payload(told, name), name)
        effective, drops = compile_response(wire, event, said.copy(), Options({"ask_fallback": fallback}))
        output = with_chatter(wire.render(event, effective, bool(drops or noise)), drops, noise)
        read = reverse.answer(event, output.stdout, output.stderr, output.exit_code)
        assert read == as_read(host, wire.EVENTS[name].shape, facts(host).as_received(event, output, effective))

    check_each(check, [(host, name, version) for host, name in KINDS[kind] for version in facts(host).VERSIONS])


# ---- answers: what real agents made of them ----


def rows(kind: str) -> list[Any]:
    """For each host, the rows of its answers.json that state this about an answer."""
    found = []
    for host in HOSTS:
        listed = enumerate(json.loads((folder(host) / "answers.json").read_text(encoding="utf-8")))
        if of_kind := {f"{number}-{row['event']}": row for number, row in listed if kind in row}:
            found.append(pytest.param(host, of_kind, id=host))
    return found


def given_by(row: dict[str, Any]) -> tuple[str, str, int]:
    """What the hook returned: stdout, stderr, exit code."""
    stdout = row["stdout"]
    return stdout if isinstance(stdout, str) else json.dumps(stdout), row.get("stderr", ""), row.get("exit_code", 0)


def event_of(host: str, row: dict[str, Any]) -> Event:
    return native_event_of(host, row["event"], row.get("version", "1.0.0"), row.get("tool", ""))


Rows = dict[str, dict[str, Any]]


@pytest.mark.parametrize(("host", "listed"), rows("means"))
def test_an_answer_means_what_it_means_on_the_real_host(host: str, listed: Rows) -> None:
    def check(row: dict[str, Any]) -> None:
        event = event_of(host, row)
        if row["means"] == "failed":
            with pytest.raises(HandlerError, match="hook"):
                reverse_of(host).answer(elsewhere(event), *given_by(row), row["event"])
            return
        read = reverse_of(host).answer(event, *given_by(row))
        read.native = None
        if row["means"] == "a denial for safety":
            assert (read.decision, "for safety" in read.reason) == ("deny", True)
        else:
            assert read == Response(**row["means"])

    check_each(check, listed)


@pytest.mark.parametrize(("host", "listed"), rows("lost"))
def test_what_an_answer_loses_is_named(host: str, listed: Rows) -> None:
    def check(row: dict[str, Any]) -> None:
        event = event_of(host, row)
        stdout, _, code = given_by(row)
        assert reverse_of(host).answer(elsewhere(event), stdout, "E", code, row["event"]).native is None  # it counts: no error
        assert reverse_of(host).losses(event, stdout, code) == row["lost"]

    check_each(check, listed)


@pytest.mark.parametrize(("host", "listed"), rows("kept"))
def test_what_only_its_own_host_can_act_on_is_kept_there_and_carried_or_refused_elsewhere(host: str, listed: Rows) -> None:
    def check(row: dict[str, Any]) -> None:
        event, said = event_of(host, row), row["stdout"]
        read = reverse_of(host).answer(event, *given_by(row))
        assert read.native == {host: said}
        kept, without = (words_of(load(host), event, response, Options()).stdout for response in (read, read.copy(native=None)))
        assert json.loads(kept) == {**json.loads(without or "{}"), **said}
        if "elsewhere" in row:
            return
        with pytest.raises(HandlerError, match="which onehook cannot carry"):
            reverse_of(host).answer(elsewhere(event), *given_by(row), row["event"])

    check_each(check, listed)


@pytest.mark.parametrize(("host", "listed"), rows("elsewhere"))
def test_a_replaced_result_is_carried_elsewhere(host: str, listed: Rows) -> None:
    def check(row: dict[str, Any]) -> None:
        read = reverse_of(host).answer(elsewhere(event_of(host, row)), *given_by(row), row["event"])
        assert read == Response(**row["elsewhere"])

    check_each(check, listed)


def lost_in(host: str, event: Event, stdout: str, code: int) -> list[str]:
    lost: list[str] = reverse_of(host).losses(event, stdout, code)
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


# One value of each kind, plain and nested: at most one of them is what a field should be, and all others are wrong.
WRONG = [None, True, False, 0, 7, -1, 1.5, "", " ", "deny", "\ud800", [], [None], ["deny"], [[]], {}, {"behavior": "deny"}, {"x": [{}]}]
json_values = st.sampled_from(WRONG) | texts
ANSWER_KEYS = st.sampled_from(
    ["decision", "reason", "continue", "stopReason", "systemMessage", "permission", "user_message", "agent_message", "updated_input",
     "followup_message", "additional_context", "additionalContext", "message", "lint_command", "permissionDecision",
     "permissionDecisionReason", "modifiedArgs", "behavior", "args", "context", "type"]
)  # fmt: skip
SPECIFIC_KEYS = st.sampled_from(
    ["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "decision", "action", "tool_input",
     "updatedToolOutput", "sessionTitle", "clearContext", "artifacts"]
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
@SHARED
@given(body=st.dictionaries(ANSWER_KEYS, json_values), inner=st.dictionaries(SPECIFIC_KEYS, json_values), nested=st.booleans())
def test_fields_of_wrong_types_never_reach_a_response(host: str, body: dict[str, Any], inner: dict[str, Any], nested: bool) -> None:
    def check(name: str) -> None:
        given = {**body, "hookSpecificOutput": {"hookEventName": name, **inner}} if nested else body
        event = native_event_of(host, name)
        lost = lost_in(host, event, json.dumps(given), 0)
        assert set(lost) <= {*given, *inner, *(key for value in inner.values() if isinstance(value, dict) for key in value)}
        try:
            read = reverse_of(host).answer(event, json.dumps(given), "", 0)
        except HandlerError:
            return
        assert read.decision in (None, "allow", "deny", "ask")
        assert all(isinstance(getattr(read, field), dict if field in ("modified_input", "native") else str) for field in read.given())

    check_each(check, list(load(host).EVENTS))


# ---- answers of one host's script to an event of another ----

REWRITING = [host for host in HOSTS if facts(host).rewrite is not None]


def rewritten(event_host: str, script_host: str, tool: str, fields: dict[str, Any], change: tuple[str, str]) -> Event:
    """The event as its host's later handlers see it, after a script of another host has changed one string in its own view of the input."""
    event = event_on(event_host, tool, **fields)
    inputs = [value for value in reverse_of(script_host).payload(event).values() if isinstance(value, dict) and value]
    sent = inputs[0]
    assert all(value == sent for value in inputs)  # some agents send it under two names
    before, after = change
    answer = facts(script_host).rewrite(json.loads(json.dumps(sent).replace(before, after)))
    read = reverse_of(script_host).answer(event, json.dumps(answer), "", 0)
    assert read.decision == ("allow" if "allow" in json.dumps(answer) else None)
    return event.rewritten(read.modified_input or {})


@pytest.mark.parametrize("script_host", REWRITING)
def test_a_rewritten_command_reaches_the_events_own_host(script_host: str) -> None:
    def check(event_host: str) -> None:
        assert rewritten(event_host, script_host, "Bash", {"command": "rm x"}, ("rm x", "ls")).command == "ls"

    check_each(check, HOSTS)


@pytest.mark.parametrize("script_host", REWRITING)
def test_a_rewritten_text_reaches_the_events_own_host(script_host: str) -> None:
    def check(event_host: str) -> None:
        event = rewritten(event_host, script_host, "Write", {"file_path": "a", "content": "old\n"}, ("old", "new"))
        path = event_on(event_host, "Write", file_path="a", content="").changes[0].path
        assert event.changes == [Change(path, "write", None, "new\n")]

    check_each(check, HOSTS)


@pytest.mark.parametrize("script_host", REWRITING)
def test_a_rewritten_edit_reaches_the_events_own_host(script_host: str) -> None:
    def check(event_host: str) -> None:
        fields = {"file_path": "a", "old_string": "x\n", "new_string": "y\n"}
        (before,) = event_on(event_host, "Edit", **fields).changes
        event = rewritten(event_host, script_host, "Edit", fields, ("y", "z"))
        assert event.changes == [Change(before.path, before.kind, before.old, "z\n")]

    check_each(check, HOSTS)


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
    source = Path(load(HOSTS[0]).__file__).parents[3]
    program = f"import sys; sys.path.append({str(source)!r}); import {modules}; print(*[m for m in {banned.split()!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []
