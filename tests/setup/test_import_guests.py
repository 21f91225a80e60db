"""`onehook import` of Windsurf's hooks.json, which nothing can be installed in, and of Cline's hooks, which are files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli.import_ import command as import_command
from onehook.core import HandlerError
from onehook.hostkit.config import Machine
from onehook.hostkit.reverse import sample
from onehook.hosts import GUESTS, guest, load
from onehook.manifest.load import load_manifest
from onehook.setup.runtime import closure

CAPTURED = [json.loads(line) for line in (Path(__file__).parents[1] / "guests/captures/cline-3.0.65.jsonl").read_text().splitlines()]
FIELDS = {
    "run_commands": ("Bash", {"command": "touch a.txt"}),
    "editor": ("Write", {"file_path": "b.txt", "content": "hi\n"}),
    "read_files": ("Read", {"file_path": "b.txt"}),
}


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return Machine(tmp_path / "home", tmp_path / "repo", system_root=tmp_path / "root", platform="linux")


def found(name, machine, scope="project"):
    if name in GUESTS:
        return [hook for _, hook in guest(name).found(machine, scope)]
    imports = load(name, "imports")
    places = load(name, "config").TRAITS.read_from(machine, scope)
    return [hook for place in places for hook in imports.handlers(place.path.read_text(encoding="utf-8"), place)]


def windsurf(path, **events):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": {event: [entry] for event, entry in events.items()}}))


@pytest.mark.parametrize("captured", CAPTURED, ids=lambda one: one["event"])
def test_a_cline_program_gets_the_keys_that_cline_sends(captured):
    event, sent = captured["event"], captured["stdin"]
    call = sent.get("tool_call") or sent.get("tool_result") or {"name": ""}
    tool, fields = FIELDS.get(call["name"], ("", {}))
    unified = load("cline").EVENTS[event].event
    built = load("cline", "reverse").payload(sample(unified, tool, cwd="/home/dev/project", session_id="s", **fields), event)
    assert list(built) == list(sent)
    assert built["hookName"] == sent["hookName"]
    for part in ("preToolUse", "postToolUse", "tool_call", "tool_result", "turn"):
        assert list(built.get(part, {})) == list(sent.get(part, {}))
    if event == "PreToolUse" and tool == "Bash":  # paths are absolute here
        assert built["preToolUse"] == sent["preToolUse"] and built["tool_call"]["input"] == call["input"]


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        ("project", "repo/.windsurf/hooks.json"),
        ("user", "home/.codeium/windsurf/hooks.json"),
        ("user", "home/.codeium/hooks.json"),
        ("enterprise", "root/etc/windsurf/hooks.json"),
    ],
)
def test_windsurfs_files_are_found_in_every_scope(machine, tmp_path, scope, path):
    windsurf(tmp_path / path, pre_run_command={"command": "python3 guard.py"})
    assert [hook.run for hook in found("windsurf", machine, scope)] == ['cd "$ONEHOOK_PROJECT_DIR" || exit 1; python3 guard.py']
    assert sum(len(found("windsurf", machine, other)) for other in ("project", "user", "local", "enterprise")) == 1


@pytest.mark.parametrize(
    ("where", "run"),
    [
        ("tools", 'cd "$ONEHOOK_PROJECT_DIR"/tools || exit 1; ./guard'),
        ("/opt/my tools", "cd '/opt/my tools' || exit 1; ./guard"),
    ],
)
def test_a_windsurf_hook_starts_in_its_working_directory(machine, where, run):
    windsurf(machine.project / ".windsurf" / "hooks.json", pre_run_command={"command": "./guard", "working_directory": where})
    assert found("windsurf", machine)[0].run == run


def test_what_only_windsurf_has_is_refused_and_what_it_shows_is_a_loss(machine):
    windsurf(
        machine.project / ".windsurf" / "hooks.json",
        post_cascade_response_with_transcript={"command": "a"},
        post_setup_worktree={"command": "b"},
        pre_dream={"command": "c"},
        pre_user_prompt={"command": "d", "show_output": True},
        pre_run_command={"show_output": True},
    )
    hooks = {hook.event: hook for hook in found("windsurf", machine)}
    assert [event for event, hook in hooks.items() if not hook.refused] == ["pre_user_prompt"]
    assert hooks["pre_user_prompt"].losses == ["'show_output' is not carried over"]
    assert "transcript" in hooks["post_cascade_response_with_transcript"].refused and "no command" in hooks["pre_run_command"].refused


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
    (hook,) = found("cline", machine, "project" if path.startswith("repo") else "user")
    assert (hook.event, hook.run) == ("PreToolUse", run.format(tmp=tmp_path))


def test_a_task_that_is_resumed_is_a_session_that_is(machine):
    folder = machine.project / ".clinerules" / "hooks"
    folder.mkdir(parents=True)
    for name in ("TaskStart", "TaskResume"):
        (folder / name).write_text("true\n")
    assert {hook.event: hook.sources for hook in found("cline", machine)} == {"TaskStart": ["startup", "clear"], "TaskResume": ["resume"]}


def test_take_over_leaves_them_where_they_are(machine, monkeypatch):
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(machine.home / "state"))
    path = machine.project / ".windsurf" / "hooks.json"
    windsurf(path, pre_run_command={"command": "./guard"})
    before = path.read_bytes()
    result = CliRunner().invoke(import_command, ["--from", "windsurf,cline", "--take-over", "--project", str(machine.project)])
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == before
    manifest = (machine.project / "onehook.toml").read_text()
    assert 'events = ["pre_run_command"]' in manifest and 'speaks = "windsurf"' in manifest
    assert "Cline has no hooks and no permission lists in its project scope" in result.output


def test_a_portable_install_has_what_their_programs_need():
    packed = {path.parent.name for path in closure() if path.name == "reverse.py"}
    assert {"windsurf", "cline"} <= packed


# ---- answers


BASH = sample("PreToolUse", "Bash", command="rm x", cwd="/p")


@pytest.mark.parametrize(
    ("name", "event", "native", "stdout", "code", "means"),
    [
        ("windsurf", BASH, "pre_run_command", '{"decision": "deny"}', 0, {}),
        ("windsurf", BASH, "pre_run_command", "", 2, {"decision": "deny", "reason": "said"}),
        ("windsurf", sample("Stop"), "post_cascade_response", "", 2, {}),
        ("cline", BASH, "", '{"cancel": true, "errorMessage": "no"}', 1, {"decision": "deny", "reason": "no"}),
        ("cline", BASH, "", '{"cancel": true}', 0, {"decision": "deny", "reason": "cancelled by a hook"}),
        ("cline", BASH, "", 'log\nHOOK_CONTROL\t{"context": "a"}\nHOOK_CONTROL\t{"context": "b"}', 0, {"additional_context": "b"}),
        ("cline", BASH, "", '{"errorMessage": "careful"}', 0, {"additional_context": "careful"}),
        ("cline", BASH, "", '{"overrideInput": {"commands": ["ls", "pwd"]}}', 0, {"modified_input": {"command": "ls\npwd"}}),
        ("cline", BASH, "", "plain words", 0, {}),
        ("cline", sample("Stop"), "TaskComplete", '{"cancel": true}', 0, {}),
        ("cline", sample("PreToolUse", "Write", file_path="/p/a", content="x"), "", '{"overrideInput": {"new_text": "y"}}', 0,
         {"modified_input": {"content": "y"}}),
    ],
)  # fmt: skip
def test_an_answer_is_read_as_the_agent_reads_it(name, event, native, stdout, code, means):
    assert load(name, "reverse").answer(event, stdout, "said\n", code, native).to_dict() == means


@pytest.mark.parametrize(
    ("name", "native", "stdout", "code"), [("windsurf", "pre_run_command", "", 1), ("cline", "", "", 1), ("cline", "", '{"cancel": tr', 0)]
)
def test_an_error_is_a_failed_hook(name, native, stdout, code):
    with pytest.raises(HandlerError):
        load(name, "reverse").answer(BASH, stdout, "", code, native)


def test_a_program_that_answers_by_its_exit_code_may_print_what_it_likes(tmp_path):
    hook = '[[hook]]\nevents = ["pre_run_command"]\nrun = ["echo", "{\\"log\\": 1}"]\nspeaks = "windsurf"\nfail = "closed"\n'
    policy = load_manifest(str(tmp_path / "onehook.toml"), hook.encode())
    assert policy.dispatch(sample("PreToolUse", "Bash", command="ls", cwd="/p")).given() == []
