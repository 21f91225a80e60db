"""A program gets what its own agent would send it, and its answer has the same effect as there, whichever agent runs."""

from __future__ import annotations

import json

import pytest
from harness import native as event_named

from onehook.core import Options
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from onehook.manifest.needs import events_of, tools_of
from onehook.policy import load_policy
from onehook.runner import answer
from tests.host_folders import facts
from tests.manifest.kit import manifest_of, sh

SESSION = {"session_id": "s-1"}


def native(host, event, name=""):
    return load(host, "reverse").payload(event, name)


def asked(path, payload, host, name=""):
    return answer(json.dumps(payload).encode(), lambda: load_policy(str(path)), hosts=[host], event_name=name)


def saved(tmp_path):
    path = tmp_path / "stdin"
    return json.loads(path.read_text()) if path.exists() else None


def saving(tmp_path, speaks, events, more=""):
    return manifest_of(tmp_path, sh(f"cat > {tmp_path}/stdin", speaks, json.dumps(events), more))


def test_a_cursor_hook_before_a_read_gets_the_text_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_text("key = \u00e9\n", encoding="utf-8")
    path = saving(tmp_path, "cursor", ["beforeReadFile"])
    asked(path, native("claude", sample("PreToolUse", "Read", file_path="a.txt", cwd=str(tmp_path), **SESSION)), "claude")
    assert saved(tmp_path)["content"] == "key = \u00e9\n"


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_a_file_that_cannot_be_read_is_sent_as_an_empty_one(tmp_path, name):
    (tmp_path / "folder").mkdir()
    path = saving(tmp_path, "cursor", ["beforeReadFile"])
    asked(path, native("claude", sample("PreToolUse", "Read", file_path=name, cwd=str(tmp_path), **SESSION)), "claude")
    assert saved(tmp_path)["content"] == ""


LINTER = "echo 'line 3: unused name' >&2; exit 2"


def test_what_a_linter_says_after_an_edit_reaches_the_model_on_cursor(tmp_path):
    path = manifest_of(tmp_path, sh(LINTER, "claude", '["PostToolUse"]', 'tools = ["Edit", "Write"]'))
    event = sample("PostToolUse", "Edit", file_path="a", old_string="a", new_string="b", cwd=str(tmp_path), **SESSION)
    output = asked(path, native("cursor", event), "cursor")
    assert json.loads(output.stdout)["additional_context"] == "line 3: unused name"


def test_a_reason_and_a_context_are_both_given_to_the_model_on_cursor(tmp_path):
    said = {"decision": "block", "reason": "why", "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "more"}}
    path = manifest_of(tmp_path, sh(f"echo '{json.dumps(said)}'", "claude", '["PostToolUse"]'))
    output = asked(path, native("cursor", sample("PostToolUse", "Bash", command="ls", **SESSION)), "cursor")
    assert json.loads(output.stdout)["additional_context"] == "why\n\nmore"


ASK = """echo '{"permission": "ask", "user_message": "sure?"}'"""


def test_an_ask_of_a_hook_before_a_shell_command_reaches_cursor_as_it_is(tmp_path):
    path = manifest_of(tmp_path, sh(ASK, "cursor", '["beforeShellExecution"]'))
    payload = native("cursor", sample("PreToolUse", "Bash", command="git push", cwd="/p", **SESSION), "beforeShellExecution")
    output = asked(path, payload, "cursor")
    assert json.loads(output.stdout)["permission"] == "ask" and not output.dropped
    sdk = asked(path, {**payload, "cursor_version": "1.0.0"}, "cursor")
    assert json.loads(sdk.stdout)["permission"] == "deny"  # the SDK would approve by itself what it should ask about


def test_cursors_own_events_are_installed_for_programs_that_are_written_for_them_on_cursor_alone(tmp_path):
    own = load_policy(str(manifest_of(tmp_path / "own", sh(ASK, "cursor", '["beforeShellExecution", "stop"]'))))
    assert list(events_of(own, "cursor")) == ["beforeShellExecution", "Stop"]
    assert list(events_of(own, "claude")) == ["PreToolUse", "Stop"]


def test_where_both_kinds_of_events_are_installed_each_program_runs_at_one_of_them(tmp_path):
    log = tmp_path / "log"
    hooks = [
        sh(f"echo own >> {log}", "cursor", '["beforeShellExecution"]'),
        sh(f"echo general >> {log}", "claude", '["PreToolUse"]', 'tools = ["Bash"]'),
    ]
    path = manifest_of(tmp_path, *hooks)
    assert list(events_of(load_policy(str(path)), "cursor")) == ["beforeShellExecution", "PreToolUse"]
    event = sample("PreToolUse", "Bash", command="ls", cwd="/p", **SESSION)
    for name in ("preToolUse", "beforeShellExecution"):
        asked(path, native("cursor", event, name), "cursor")
    assert log.read_text().split() == ["general", "own"]
    asked(manifest_of(tmp_path, hooks[0]), native("cursor", event, "preToolUse"), "cursor")
    assert log.read_text().split()[2:] == ["own"], "the general event alone was installed, by hand"


EDITED = [
    ("a\nb\nc\n", "a\nB\nc\n", "b\n", "B\n"),
    ("a\nc\n", "a\nb\nc\n", "a\n", "a\nb\n"),
    ("a\nb\n", "a\n", "b\n", ""),
    ("a", "b\na", "a", "b\na"),
]


@pytest.mark.parametrize(("before", "after", "old", "new"), EDITED)
def test_an_edit_on_cursor_is_told_with_its_old_text(tmp_path, before, after, old, new):
    (tmp_path / "f").write_text(before)
    path = saving(tmp_path, "claude", ["PreToolUse"], 'tools = ["Edit"]')
    payload = native("cursor", sample("PreToolUse", "Write", file_path=str(tmp_path / "f"), content=after, cwd=str(tmp_path), **SESSION))
    asked(path, payload, "cursor")
    given = saved(tmp_path)["tool_input"]
    assert (given["old_string"], given["new_string"]) == (old, new)
    assert before.replace(old, new, 1) == after


@pytest.mark.parametrize("tool", ["Edit", "Write"])
def test_a_new_file_is_a_write_and_a_changed_one_an_edit(tmp_path, tool):
    (tmp_path / "old").write_text("a\n")
    path = saving(tmp_path, "claude", ["PreToolUse"], f'tools = ["{tool}"]')
    for host in HOSTS:
        # A Write that changes a file may be either: programs for edits get an edit, programs for whole files get the whole file.
        whole = facts(host).EDITS_ARE_WRITES
        for name, kind in (("new", "Write"), ("old", tool if whole else "Edit")):
            (tmp_path / "stdin").unlink(missing_ok=True)
            given = {"content": "b\n"} if whole or name == "new" else {"old_string": "a\n", "new_string": "b\n"}
            said = "Write" if "content" in given else "Edit"
            event = sample("PreToolUse", said, file_path=str(tmp_path / name), cwd=str(tmp_path), **given, **SESSION)
            asked(path, native(host, event), host, event_named(host, "PreToolUse"))
            told = saved(tmp_path)
            assert (told["tool_name"] if told else None) == (tool if tool == kind else None), (host, name)


FOREIGN = {"claude": {"permission": "deny", "user_message": "no"}, "cursor": {"hookSpecificOutput": {"permissionDecision": "deny"}}}


@pytest.mark.parametrize("speaks", FOREIGN)
def test_an_answer_in_another_agents_words_is_an_error(tmp_path, speaks):
    script = f"echo '{json.dumps(FOREIGN[speaks])}'"
    payload = native("gemini", sample("PreToolUse", "Bash", command="ls", **SESSION))
    opened = asked(manifest_of(tmp_path, sh(script, speaks)), payload, "gemini")
    assert "deny" not in opened.stdout
    closed = asked(manifest_of(tmp_path, sh(script, speaks, more='fail = "closed"')), payload, "gemini")
    assert closed.answer.decision == "deny" and "no field that" in closed.answer.reason


def test_an_empty_answer_and_one_that_says_little_are_no_error(tmp_path):
    payload = native("gemini", sample("PreToolUse", "Bash", command="ls", **SESSION))
    for said in ({}, {"suppressOutput": True}, {"async": True}):
        output = asked(manifest_of(tmp_path, sh(f"echo '{json.dumps(said)}'", "claude", more='fail = "closed"')), payload, "gemini")
        assert output.answer.decision is None, said


def test_what_tells_that_another_agent_runs_is_not_passed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("CURSOR_VERSION", "3.4.0")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    payload = native("cursor", sample("PreToolUse", "Bash", command="ls", cwd=str(tmp_path), **SESSION))
    seen = tmp_path / "seen"
    for speaks, expected in (("claude", "--"), ("cursor", "-3.4.0-"), ("onehook", "-3.4.0-")):
        asked(
            manifest_of(tmp_path, sh(f'printf %s "-$CURSOR_VERSION-" > {seen}; test -n "$CLAUDE_PROJECT_DIR"', speaks)), payload, "cursor"
        )
        assert seen.read_text() == expected, speaks


def test_every_agent_says_which_variables_tell_that_it_runs():
    for host in HOSTS:
        event = sample("SessionStart", **SESSION)
        event.host = host
        shared = ("CLAUDE_PROJECT_DIR",)
        told = set(load(host, "reverse").variables(event, "/p")) - set(shared)
        assert told <= set(wire_of(host).TRAITS.variables), host


def test_a_manifest_is_installed_for_its_events_and_tools_and_no_other(tmp_path):
    one = load_policy(str(manifest_of(tmp_path / "1", sh("exit 0", "claude", '["PreToolUse"]', 'tools = ["Bash"]'))))
    assert events_of(one, "claude") == {"PreToolUse": "PreToolUse"}
    assert tools_of(one) == {"PreToolUse": "Bash"}
    more = 'tools = ["Write", "mcp__github__*"]'
    two = load_policy(
        str(manifest_of(tmp_path / "2", sh("exit 0", "claude", '["PreToolUse"]', more), sh("exit 0", events='["PostToolUse"]')))
    )
    assert tools_of(two) == {"PreToolUse": "Write|MCP"}
    subagents = sh("exit 0", "claude", '["SubagentStop"]')
    edits = sh("exit 0", "claude", '["PostToolUse"]', 'tools = ["Edit"]')
    assert tools_of(load_policy(str(manifest_of(tmp_path / "3", edits, subagents)))) == {"PostToolUse": "Edit|Agent"}
    elsewhere = load_policy(str(manifest_of(tmp_path / "4", sh("exit 0", more='hosts = ["gemini"]'))))
    assert events_of(elsewhere, "claude") == {} and Options(elsewhere.options).stop_limit == 5
