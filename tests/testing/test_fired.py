"""fire: the same event on every host, judged by what the host does with the answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import warm

from onehook.core import Hooks, UsageError
from onehook.hosts import HOSTS
from onehook.testing import Fire, Fired, running, simulate
from onehook.testing.shots import Shot

FOUR = ("claude", "cursor", "codex", "contract")  # for what differs from host to host

POLICY = """
from onehook import Hooks, allow, ask, deny

hooks = Hooks(fail="closed")


@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    print("noise of the policy")
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked", user_message="blocked for you")
    if "git push" in event.command:
        return ask("push?")
    if event.command == "ls":
        return allow(modified_input={"command": "ls -la"})
    if event.command == "crash":
        raise KeyError("crash")


@hooks.on("PreToolUse", tool="Write")
def move(event):
    return allow(modified_input={"file_path": "/elsewhere/x.txt"})


@hooks.on("PostToolUse", tool="Bash")
def after(event):
    return deny("that was wrong")


@hooks.on("SessionStart")
def brief(event):
    return {"additional_context": "be brief"}


@hooks.on("PreCompact")
def compact(event):
    return {"user_message": "compacting"}


@hooks.on("Stop")
def finish(event):
    if not event.stop_hook_active:
        return deny("tests first")
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(POLICY)
    return file


@pytest.fixture
def fire(path):
    return Fire(path)


def message(assertion, *arguments, **keywords):
    with pytest.raises(AssertionError) as caught:
        assertion(*arguments, **keywords)
    return str(caught.value)


def test_a_denial_is_seen_on_every_host(fire):
    fired = fire("Bash", command="rm -rf /").assert_denied("rm -rf")
    assert [shot.host for shot in fired] == list(HOSTS)
    assert set(fired.effects) == set(HOSTS)
    assert all(effect.startswith("blocked") for effect in fired.effects.values())


def test_a_failing_assertion_names_each_host_and_what_happens_there(fire):
    text = message(fire("Bash", command="true").assert_denied)
    assert text.startswith(f"not denied on {', '.join(HOSTS)}: fire('Bash', command='true')")
    assert all(f"  {host}" in text for host in HOSTS)
    assert "runs" in text


def test_a_wrong_reason_is_not_enough(fire):
    text = message(fire("Bash", command="rm -rf /").assert_denied, "some other reason")
    assert "which does not contain 'some other reason'" in text


def test_an_ask_that_becomes_a_deny_fails_by_name_and_is_accepted_on_request(fire):
    fired = fire("Bash", command="git push", hosts=FOUR)
    text = message(fired.assert_asked)
    assert text.startswith("not asked about on cursor, codex, contract:")
    assert "as expected on claude" in text
    assert "or_denied=True" in text
    fired.assert_asked("push?", or_denied=True)


def test_or_denied_does_not_accept_a_plain_denial(fire):
    assert "blocked" in message(fire("Bash", command="rm -rf /").assert_asked, or_denied=True)


def test_a_rewrite_is_compared_in_unified_keys(fire):
    fired = fire("Bash", command="ls", hosts=("claude", "cursor", "codex")).assert_rewritten(command="ls -la")
    assert "command is 'ls -la', not 'ls'" in message(fired.assert_rewritten, command="ls")
    assert "the input has no nothing" in message(fired.assert_rewritten, nothing="x")
    fire("Write", file_path="x.txt", content="c", hosts=["claude", "cursor"]).assert_rewritten(file_path="/elsewhere/x.txt", content="c")


def test_a_host_that_cannot_rewrite_is_named(fire):
    text = message(fire("Bash", command="ls", hosts=FOUR).assert_rewritten)
    assert text.startswith("not rewritten on contract:")
    assert "the contract cannot rewrite an input" in text


def test_what_runs_unchanged_is_told_from_what_runs_rewritten(fire):
    fire("Bash", command="true").assert_runs()
    assert "runs rewritten" in message(fire("Bash", command="ls", hosts=["claude"]).assert_runs)


def test_context_feedback_messages_and_stops(fire):
    agents = ("claude", "cursor", "codex")
    fire("SessionStart", hosts=agents).assert_context("brief").assert_nothing_dropped()
    assert "no context" in message(fire("SessionStart", hosts=["contract"]).assert_context, "brief")
    fire("Bash", command="x", event="PostToolUse", hosts=["claude", "codex"]).assert_feedback("wrong")
    fire("Bash", command="rm -rf /", hosts=FOUR).assert_user_told("blocked for you")
    fire("Stop").assert_continues("tests first")
    fire("Stop", stop_hook_active=True).assert_runs()
    assert "is not a stop" in message(fire("Bash", command="true").assert_continues)


def test_what_is_dropped_is_reported_by_host(fire):
    text = message(fire("SessionStart", hosts=FOUR).assert_nothing_dropped)
    assert text.startswith("not fully supported on contract:")
    assert "'additional_context' dropped" in text


def test_a_broken_policy_is_no_denial_although_it_blocks(fire):
    fired = fire("Bash", command="crash")
    assert all("fail=closed" in effect for effect in fired.effects.values())
    text = message(fired.assert_denied)
    assert "error in the policy" in text and "KeyError: 'crash'" in text
    fired.assert_error("KeyError")


def test_an_error_is_wanted_and_there_is_none(fire):
    assert "no error (runs)" in message(fire("Bash", command="true").assert_error)


def test_hosts_without_the_event_or_the_tool_are_left_out_and_named(fire):
    fired = fire("Read", file_path="x", hosts=FOUR)
    assert fired.absent == {"codex": "has no tool Read"}
    assert "not fired at codex (has no tool Read)" in message(fired.assert_denied)
    with pytest.raises(KeyError, match="has no tool Read"):
        fired["codex"]
    assert fired["claude"].effect == "runs"


def test_an_event_that_no_host_has_cannot_be_asserted_about(fire):
    fired = fire("SubagentStart", hosts=["contract"])
    assert "was not fired at any agent: contract has no event SubagentStart" in message(fired.assert_runs)
    assert "no agent has it" in repr(fired)


def test_the_snapshot_is_plain_data_of_the_wire(fire):
    snapshot = fire("Bash", command="rm -rf /").snapshot()
    assert snapshot["contract"] == {
        "stdout": {"decision": "deny", "reason": "rm -rf is blocked", "message": "blocked for you"},
        "stderr": "",
        "exit_code": 2,
    }
    assert snapshot["claude"]["stdout"]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert fire("Stop", stop_hook_active=True).snapshot()["codex"]["stdout"] == ""


def in_warm_process(argv, *, input, env, cwd, timeout, **_):
    assert warm.fits(argv, env)
    return warm.run(argv, input, cwd, env, timeout)


EVENTS = [
    (("Bash",), {"command": "rm -rf /"}),
    (("Bash",), {"command": "git push"}),
    (("Bash",), {"command": "ls"}),
    (("Bash",), {"command": "crash"}),
    (("Write",), {"file_path": "x.txt", "content": "c"}),
    (("Bash",), {"command": "x", "event": "PostToolUse"}),
    (("SessionStart",), {}),
    (("Stop",), {}),
]


@pytest.mark.parametrize("words, fields", EVENTS, ids=lambda value: str(value))
def test_processes_give_what_this_process_gives(path, words, fields, monkeypatch):
    if (words, fields) != EVENTS[0] and warm.POSSIBLE:  # real processes only for one event on each host
        monkeypatch.setattr(running, "subprocess", SimpleNamespace(run=in_warm_process))
    here, there = Fire(path)(*words, **fields), Fire(path, processes=True)(*words, **fields)
    assert here.effects == there.effects
    assert [shot.lost for shot in here] == [shot.lost for shot in there]
    assert [shot.error for shot in here] == [shot.error for shot in there]
    if fields.get("command") == "crash":
        return  # a process prints the traceback to stderr, so a host whose denial needs stderr for itself is told it in another form
    told = [{host: (answer["stdout"], answer["exit_code"]) for host, answer in fired.snapshot().items()} for fired in (here, there)]
    assert told[0] == told[1]


def test_one_session_remembers_from_one_event_to_the_next(tmp_path):
    (tmp_path / "policy.py").write_text(
        "from onehook import Hooks, deny\nhooks = Hooks(stop_limit=1)\nhooks.on('Stop')(lambda event: deny('again'))\n"
    )
    fire = Fire(tmp_path / "policy.py", hosts=["claude", "codex"])
    fire("Stop").assert_continues()
    assert all("sent back to work" in shot.lost[0].text for shot in fire("Stop", stop_hook_active=True).assert_runs())
    Fire(tmp_path / "policy.py", hosts=["claude"])("Stop", stop_hook_active=True).assert_continues()


def test_nothing_of_a_policy_stays_behind(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "onehook_policy", raising=False)  # another test in this process may have loaded one itself
    answers = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "policy_helper.py").write_text(f"NAME = {name!r}\n")
        (folder / "policy.py").write_text(
            "from onehook import Hooks, deny\nimport policy_helper\nhooks = Hooks()\n"
            "hooks.on('PreToolUse')(lambda event: deny(policy_helper.NAME))\n"
        )
        before, made = list(sys.path), len(Hooks.made)
        answers.append(Fire(folder / "policy.py", hosts=["claude"])("Bash", command="x")["claude"].heard.reason)
        assert sys.path == before
        assert len(Hooks.made) == made
    assert answers == ["one", "two"]
    assert "policy_helper" not in sys.modules and "onehook_policy" not in sys.modules


def test_the_state_folder_of_the_person_is_not_touched(fire, monkeypatch, tmp_path):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "theirs"))
    fire("Stop").assert_continues()
    assert os.environ["ONEHOOK_STATE_DIR"] == str(tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()


def test_a_policy_that_runs_itself_while_it_is_loaded_is_an_error_here(tmp_path):
    (tmp_path / "policy.py").write_text("from onehook import Hooks, run\nhooks = Hooks()\nrun(hooks)\n")
    fired = Fire(tmp_path / "policy.py", hosts=["claude"])("Bash", command="x").assert_error('if __name__ == "__main__"')
    assert fired["claude"].effect == "error, continues"


@pytest.mark.parametrize("closed", [True, False])
def test_a_policy_that_does_not_load_fails_as_its_source_says(tmp_path, closed):
    (tmp_path / "policy.py").write_text(f"hooks = Hooks(fail={'closed' if closed else 'open'!r})\n")
    effects = Fire(tmp_path / "policy.py", hosts=HOSTS)("Bash", command="x").assert_error("NameError").effects
    assert effects == dict.fromkeys(HOSTS, "blocked (fail=closed)" if closed else "error, continues")


def test_a_slip_in_the_name_of_a_tool_or_an_event_is_an_error(fire):
    with pytest.raises(UsageError, match=r"unknown tool or event 'Bahs'; did you mean Bash"):
        fire("Bahs", command="x")
    with pytest.raises(UsageError, match="did you mean Stop"):
        fire("Stopp")
    with pytest.raises(UsageError, match="PostToolUse is an event; write"):
        fire("PostToolUse", event="PreToolUse")
    with pytest.raises(UsageError, match="PreToolUse is about a tool"):
        fire("PreToolUse")
    with pytest.raises(UsageError, match=r"unknown agent 'claud'\. Did you mean claude"):
        fire("Stop", hosts=["claud"])


def test_tools_of_one_host_and_mcp_tools_can_be_fired(fire):
    fire("NotebookEdit", notebook_path="/x.ipynb", hosts=["claude"]).assert_runs()
    fire("MCP", server="db", tool="query", sql="select 1").assert_runs()
    fire("mcp__db__query", sql="select 1").assert_runs()


def test_a_rewrite_that_changes_nothing_is_no_rewrite(tmp_path):
    (tmp_path / "policy.py").write_text(
        "from onehook import Hooks, allow\nhooks = Hooks()\n"
        "hooks.on('PreToolUse')(lambda event: allow(modified_input={'command': event.command}))\n"
    )
    Fire(tmp_path / "policy.py", hosts=["claude", "cursor", "codex"])("Bash", command="same").assert_runs()


def test_a_denial_that_the_host_was_seen_to_ignore_is_not_called_one(tmp_path):
    source = "from onehook import Hooks, deny\nhooks = Hooks()\nhooks.on('UserPromptSubmit')(lambda event: deny('no'))\n"
    (tmp_path / "policy.py").write_text(source)
    fire = Fire(tmp_path / "policy.py", hosts=["cursor"])
    fire("UserPromptSubmit", prompt="x").assert_denied()
    sdk = fire("UserPromptSubmit", prompt="x", host_version="1.0.0")  # what the SDK reports, which discards this answer
    assert sdk.snapshot()["cursor"]["stdout"]["continue"] is False
    assert "continues" in message(sdk.assert_denied)
    assert "decision" in [loss.field for loss in sdk["cursor"].lost]


def test_a_fired_event_says_what_it_is():
    assert repr(Fired("fire('Stop')", [Shot("claude", "claude", ("stops",))])) == "<fire('Stop'): claude stops>"
    assert repr(Fire(Path("p.py"), hosts=["claude"], processes=True)) == "<fire p.py on claude in processes>"


def test_simulate_asks_the_handlers_alone():
    hooks = Hooks()
    hooks.on("PreToolUse", tool="Bash")(lambda event: {"decision": "deny", "reason": event.command})
    assert simulate(hooks, "PreToolUse", "Bash", command="x").reason == "x"
