"""Programs that run only while something is active: a kind of agent, a skill, or until they have run once."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from onehook.cli.install import command as install
from onehook.codec import compact
from onehook.core import Event
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, optional, wire_of
from onehook.manifest.load import load_manifest
from onehook.manifest.needs import events_of, tools_of
from onehook.runner import answer

TELLS = [host for host in HOSTS if (config := optional(host, "config")) and "PreToolUse" in config.TRAITS.agent_types]
WITH_SKILLS = [host for host in HOSTS if wire_of(host).TRAITS.skills]


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def manifest(more, events='["PreToolUse"]', run="echo $ONEHOOK_HOST >> ran"):
    text = f'[[hook]]\nevents = {events}\nrun = "{run}"\nshell = true\nspeaks = "onehook"\n{more}\n'
    return load_manifest("onehook.toml", text.encode())


def send(hooks, host, event, tool="", session="s1", **fields):
    """Send an event as this agent sends it; returns how often the program has run so far."""
    given = sample(event, tool, session_id=session, cwd="/p", **fields)
    payload = load(host, "reverse").payload(given)
    output = answer(compact(payload).encode(), lambda: hooks, hosts=[host], event_name=wire_of(host).parse(payload, event).native_event)
    assert not output.error, output.error
    return ran()


def ran():
    try:
        with open("ran", encoding="utf-8") as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0


def start(hooks, host, name, session="s1"):
    """The call of the tool that starts a skill, with the fields that onehook looks at."""
    tool, key = next((tool, key) for tool, key in wire_of(host).TRAITS.skills.items() if tool not in wire_of(host).EVENTS)
    event = Event("PostToolUse", host, {})
    event.native_event = next(name for name, row in wire_of(host).EVENTS.items() if row.event == "PostToolUse")
    event.session_id, event.tool, event.native_tool, event.tool_input = session, tool, tool, {key: name}
    hooks.dispatch(event)


def test_the_agents_that_tell_are_known():
    assert {"claude", "codex", "copilot"} <= set(TELLS) and {"claude", "gemini", "opencode"} <= set(WITH_SKILLS)


@pytest.mark.parametrize("host", TELLS)
def test_a_program_for_a_kind_of_agent_runs_for_its_events_alone(host):
    hooks = manifest('agent_types = ["reviewer"]')
    assert send(hooks, host, "PreToolUse", "Bash", command="ls") == 0
    assert send(hooks, host, "PreToolUse", "Bash", command="ls", agent_id="a1", agent_type="explore") == 0
    assert send(hooks, host, "PreToolUse", "Bash", command="ls", agent_id="a1", agent_type="reviewer") == 1


def test_the_main_agent_has_a_kind_too():
    assert send(manifest('agent_types = ["reviewer"]', '["Stop"]'), "claude", "Stop", agent_type="reviewer") == 1


def test_an_event_that_stands_in_for_a_subagents_tells_its_kind():
    hooks = manifest('agent_types = ["reviewer"]', '["SubagentStop"]')
    assert send(hooks, "gemini", "PostToolUse", "Agent", prompt="p", subagent_type="explore") == 0
    assert send(hooks, "gemini", "PostToolUse", "Agent", prompt="p", subagent_type="reviewer") == 1


@pytest.mark.parametrize("host", WITH_SKILLS)
def test_a_program_of_a_skill_runs_once_the_skill_is_started_and_only_in_that_session(host):
    hooks = manifest('skills = ["guard"]')
    assert send(hooks, host, "PreToolUse", "Bash", command="ls") == 0
    start(hooks, host, "other")
    assert send(hooks, host, "PreToolUse", "Bash", command="ls") == 0
    start(hooks, host, "guard")
    assert send(hooks, host, "PreToolUse", "Bash", command="ls") == 1
    assert send(hooks, host, "PreToolUse", "Bash", session="s2", command="ls") == 1
    assert send(hooks, host, "PreToolUse", "Bash", command="ls") == 2


def test_the_call_that_starts_a_skill_is_the_first_event_of_it_and_a_typed_command_is_not():
    hooks = manifest('skills = ["guard"]', '["PostToolUse", "UserPromptExpansion"]')
    start(hooks, "claude", "guard")
    assert ran() == 1
    typed = {"session_id": "s2", "cwd": "/p", "hook_event_name": "UserPromptExpansion", "prompt_id": "p", "command_name": "guard"}
    for runs in (1, 2):
        answer(compact(typed).encode(), lambda: hooks, hosts=["claude"])
        assert ran() == runs


@pytest.mark.parametrize(("source", "stays"), [("compact", True), ("resume", False), ("startup", False)])
def test_a_session_that_is_taken_up_again_has_no_active_skill_and_a_compaction_keeps_it(source, stays):
    hooks = manifest('skills = ["guard"]', '["SessionStart", "PreToolUse"]')
    start(hooks, "claude", "guard")
    assert send(hooks, "claude", "SessionStart", source=source) == stays
    assert send(hooks, "claude", "PreToolUse", "Bash", command="ls") == 2 * stays


def test_a_subagent_works_without_the_skill_but_its_start_is_the_main_agents():
    hooks = manifest('skills = ["guard"]', '["PreToolUse", "SubagentStart"]')
    start(hooks, "claude", "guard")
    assert send(hooks, "claude", "PreToolUse", "Bash", command="ls", agent_id="a1", agent_type="explore") == 0
    assert send(hooks, "claude", "SubagentStart", agent_id="a1", agent_type="explore") == 1


@pytest.mark.parametrize(
    ("said", "started", "same"),
    [
        ("guard", "tools:guard", True),
        ("tools:guard", "guard", True),
        ("tools:guard", "mine:guard", False),
        ("guard", "guardian", False),
        ("guard", "/guard", True),
    ],
)
def test_a_plugins_name_before_the_skills_may_be_missing(said, started, same):
    hooks = manifest(f'skills = ["{said}"]')
    start(hooks, "claude", started)
    assert send(hooks, "claude", "PreToolUse", "Bash", command="ls") == same


def test_a_program_with_once_succeeds_once_in_a_session():
    hooks = manifest("once = true", run="echo x >> ran; [ $(wc -l < ran) -gt 1 ]")
    runs = [send(hooks, "claude", "PreToolUse", "Bash", command="ls") for _ in range(4)]
    assert runs == [1, 2, 2, 2]  # the first fails, the second succeeds
    assert send(hooks, "claude", "PreToolUse", "Bash", session="s2", command="ls") == 3


def test_what_starts_a_skill_is_installed_where_the_agent_tells_it():
    hooks = manifest('skills = ["guard"]')
    assert list(events_of(hooks, "claude")) == ["PreToolUse", "SessionStart", "PostToolUse", "UserPromptExpansion"]
    assert list(events_of(hooks, "gemini")) == ["PreToolUse", "SessionStart", "PostToolUse"]
    assert list(events_of(hooks, "codex")) == ["PreToolUse"]
    assert set(tools_of(hooks)["PostToolUse"].split("|")) >= {"Skill", "skill", "activate_skill"}


def test_install_says_on_which_agents_a_program_never_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, key in (("a", "skills"), ("b", "agent_types")):
        (tmp_path / f"{name}.toml").write_text(f'[[hook]]\nevents = ["PreToolUse"]\nrun = ["{name}"]\nspeaks = "onehook"\n{key} = ["x"]\n')
    said = {
        name: CliRunner().invoke(install, [f"{name}.toml", "--hosts", "claude,codex,gemini", "--dry-run", "--project", "."]).output
        for name in ("a", "b")
    }
    assert "'a' never runs on Codex CLI: no event there reports that a skill starts" in said["a"]
    assert "'b' never runs on Gemini CLI: PreToolUse does not report the kind of agent there" in said["b"]
    assert "Claude Code: " not in said["a"] + said["b"] and said["a"].count("never runs") == said["b"].count("never runs") == 1


@pytest.mark.parametrize("key", ["agent_types", "skills"])
def test_both_are_lists(key):
    with pytest.raises(Exception, match=f"{key} must be a list of strings"):
        manifest(f'{key} = "reviewer"')
