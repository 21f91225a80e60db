"""`onehook import` for Windsurf's hooks.json, into which nothing can be installed; and how Windsurf reads an answer."""

from __future__ import annotations

import json

import pytest

from onehook.core import HandlerError
from onehook.hostkit.reverse import sample
from onehook.hosts import guest
from onehook.hosts.windsurf import reverse
from onehook.manifest.load import load_manifest

BASH = sample("PreToolUse", "Bash", command="rm x", cwd="/p")


def found(machine, scope="project"):
    return [hook for _, hook in guest("windsurf").found(machine, scope)]


def written(path, **events):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": {event: [entry] for event, entry in events.items()}}))


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
    written(tmp_path / path, pre_run_command={"command": "python3 guard.py"})
    assert [hook.run for hook in found(machine, scope)] == ['cd "$ONEHOOK_PROJECT_DIR" || exit 1; python3 guard.py']
    assert sum(len(found(machine, other)) for other in ("project", "user", "local", "enterprise")) == 1


@pytest.mark.parametrize(
    ("where", "run"),
    [
        ("tools", 'cd "$ONEHOOK_PROJECT_DIR"/tools || exit 1; ./guard'),
        ("/opt/my tools", "cd '/opt/my tools' || exit 1; ./guard"),
    ],
)
def test_a_windsurf_hook_starts_in_its_working_directory(machine, where, run):
    written(machine.project / ".windsurf" / "hooks.json", pre_run_command={"command": "./guard", "working_directory": where})
    assert found(machine)[0].run == run


def test_what_only_windsurf_has_is_refused_and_what_it_shows_is_a_loss(machine):
    written(
        machine.project / ".windsurf" / "hooks.json",
        post_cascade_response_with_transcript={"command": "a"},
        post_setup_worktree={"command": "b"},
        pre_dream={"command": "c"},
        pre_user_prompt={"command": "d", "show_output": True},
        pre_run_command={"show_output": True},
    )
    hooks = {hook.event: hook for hook in found(machine)}
    assert [event for event, hook in hooks.items() if not hook.refused] == ["pre_user_prompt"]
    assert hooks["pre_user_prompt"].losses == ["'show_output' is not carried over"]
    assert "transcript" in hooks["post_cascade_response_with_transcript"].refused and "no command" in hooks["pre_run_command"].refused


@pytest.mark.parametrize(
    ("event", "native", "stdout", "code", "means"),
    [
        (BASH, "pre_run_command", '{"decision": "deny"}', 0, {}),
        (BASH, "pre_run_command", "", 2, {"decision": "deny", "reason": "said"}),
        (sample("Stop"), "post_cascade_response", "", 2, {}),
    ],
)
def test_an_answer_is_read_as_windsurf_reads_it(event, native, stdout, code, means):
    assert reverse.answer(event, stdout, "said\n", code, native).to_dict() == means


def test_an_error_is_a_failed_hook():
    with pytest.raises(HandlerError):
        reverse.answer(BASH, "", "", 1, "pre_run_command")


def test_a_program_that_answers_by_its_exit_code_may_print_what_it_likes(tmp_path):
    hook = '[[hook]]\nevents = ["pre_run_command"]\nrun = ["echo", "{\\"log\\": 1}"]\nspeaks = "windsurf"\nfail = "closed"\n'
    policy = load_manifest(str(tmp_path / "onehook.toml"), hook.encode())
    assert policy.dispatch(sample("PreToolUse", "Bash", command="ls", cwd="/p")).given() == []
