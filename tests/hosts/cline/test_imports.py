"""`onehook import` for Cline's hooks, which are files; what they are sent, and how Cline reads their answers."""

from __future__ import annotations

import pytest

from onehook.core import HandlerError
from onehook.hostkit.reverse import sample
from onehook.hosts.cline import config, imports, reverse, wire
from tests.host_folders import folder, lines_of

CAPTURED = lines_of(folder("cline") / "hook-files-3.0.65.jsonl")
FIELDS = {
    "run_commands": ("Bash", {"command": "touch a.txt"}),
    "editor": ("Write", {"file_path": "b.txt", "content": "hi\n"}),
    "read_files": ("Read", {"file_path": "b.txt"}),
}
BASH = sample("PreToolUse", "Bash", command="rm x", cwd="/p")


def found(machine, scope="project"):
    places = config.TRAITS.read_from(machine, scope)
    return [hook for place in places for hook in imports.handlers(place.path.read_text(encoding="utf-8"), place)]


@pytest.mark.parametrize("captured", CAPTURED, ids=lambda one: one["event"])
def test_a_cline_program_gets_the_keys_that_cline_sends(captured):
    event, sent = captured["event"], captured["stdin"]
    call = sent.get("tool_call") or sent.get("tool_result") or {"name": ""}
    tool, fields = FIELDS.get(call["name"], ("", {}))
    unified = wire.EVENTS[event].event
    built = reverse.payload(sample(unified, tool, cwd="/home/dev/project", session_id="s", **fields), event)
    assert list(built) == list(sent)
    assert built["hookName"] == sent["hookName"]
    for part in ("preToolUse", "postToolUse", "tool_call", "tool_result", "turn"):
        assert list(built.get(part, {})) == list(sent.get(part, {}))
    if event == "PreToolUse" and tool == "Bash":  # paths are absolute here
        assert built["preToolUse"] == sent["preToolUse"] and built["tool_call"]["input"] == call["input"]


@pytest.mark.parametrize(
    ("path", "first", "run"),
    [
        ("repo/.clinerules/hooks/PreToolUse", "#!/usr/bin/ruby", '/usr/bin/ruby "$ONEHOOK_PROJECT_DIR"/.clinerules/hooks/PreToolUse'),
        ("repo/.cline/hooks/pretooluse.py", "import sys", 'python3 "$ONEHOOK_PROJECT_DIR"/.cline/hooks/pretooluse.py'),
        ("repo/.clinerules/hooks/PreToolUse.mjs", "//", 'node "$ONEHOOK_PROJECT_DIR"/.clinerules/hooks/PreToolUse.mjs'),
        ("repo/.clinerules/hooks/PreToolUse", "true", 'bash "$ONEHOOK_PROJECT_DIR"/.clinerules/hooks/PreToolUse'),
        ("home/Documents/Cline/Hooks/PreToolUse", "true", "bash {tmp}/home/Documents/Cline/Hooks/PreToolUse"),
        ("home/.cline/hooks/PreToolUse", "true", "bash {tmp}/home/.cline/hooks/PreToolUse"),
    ],
)  # fmt: skip
def test_clines_files_are_started_as_cline_starts_them(machine, tmp_path, path, first, run):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"{first}\n")
    (tmp_path / path).with_name("README.md").write_text("not a hook")
    (hook,) = found(machine, "project" if path.startswith("repo") else "user")
    assert (hook.event, hook.run) == ("PreToolUse", run.format(tmp=tmp_path))


def test_a_task_that_is_resumed_is_a_session_that_is(machine):
    folder = machine.project / ".clinerules" / "hooks"
    folder.mkdir(parents=True)
    for name in ("TaskStart", "TaskResume"):
        (folder / name).write_text("true\n")
    assert {hook.event: hook.sources for hook in found(machine)} == {"TaskStart": ["startup", "clear"], "TaskResume": ["resume"]}


@pytest.mark.parametrize(
    ("event", "native", "stdout", "code", "means"),
    [
        (BASH, "", '{"cancel": true, "errorMessage": "no"}', 1, {"decision": "deny", "reason": "no"}),
        (BASH, "", '{"cancel": true}', 0, {"decision": "deny", "reason": "cancelled by a hook"}),
        (BASH, "", 'log\nHOOK_CONTROL\t{"context": "a"}\nHOOK_CONTROL\t{"context": "b"}', 0, {"additional_context": "b"}),
        (BASH, "", '{"errorMessage": "careful"}', 0, {"additional_context": "careful"}),
        (BASH, "", '{"overrideInput": {"commands": ["ls", "pwd"]}}', 0, {"modified_input": {"command": "ls\npwd"}}),
        (BASH, "", "plain words", 0, {}),
        (sample("Stop"), "TaskComplete", '{"cancel": true}', 0, {}),
        (sample("PreToolUse", "Write", file_path="/p/a", content="x"), "", '{"overrideInput": {"new_text": "y"}}', 0,
         {"modified_input": {"content": "y"}}),
    ],
)  # fmt: skip
def test_an_answer_is_read_as_cline_reads_it(event, native, stdout, code, means):
    assert reverse.answer(event, stdout, "said\n", code, native).to_dict() == means


@pytest.mark.parametrize(("stdout", "code"), [("", 1), ('{"cancel": tr', 0)])
def test_an_error_is_a_failed_hook(stdout, code):
    with pytest.raises(HandlerError):
        reverse.answer(BASH, stdout, "", code, "")
