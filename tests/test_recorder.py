"""ONEHOOK_RECORD and `onehook record`: what is recorded from a live session."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from harness import ANY, LAUNCH, fire, reason_of, tool_payload

from onehook.cli.record import command
from onehook.policies.secret_formats import FORMATS
from onehook.policies.secret_places import PLACES
from onehook.recorder import masked

TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"


def entries(folder):
    return {path.name: [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()] for path in folder.glob("*.jsonl")}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kept"


def test_an_event_is_kept_with_its_answer_and_the_answer_is_the_same(policy, host, folder):
    path = policy("return deny('no')")
    plain = fire(path, tool_payload(host), "--host", host)
    kept = fire(path, tool_payload(host), "--host", host, env={"ONEHOOK_RECORD": str(folder)})
    assert (kept.exit_code, kept.stdout, kept.stderr) == (plain.exit_code, plain.stdout, plain.stderr)
    assert reason_of(kept, host) == "no"
    ((name, [entry]),) = entries(folder).items()
    assert name.startswith(f"{host}-") and entry["host"] == host
    assert (entry["event"], entry["payload"]) == ("PreToolUse", tool_payload(host))
    assert entry["answer"]["response"]["decision"] == "deny"
    assert entry["answer"]["exit_code"] == plain.exit_code and entry["answer"]["stdout"] == plain.stdout.rstrip("\n")
    assert entry["time"].endswith("Z") and entry["time"][:2] == "20"


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_only_the_owner_can_read_it(policy, folder):
    fire(policy(), tool_payload(ANY), "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())] == [0o700, 0o600]


def test_credentials_are_masked_unless_it_is_switched_off(policy, folder, tmp_path):
    payload = tool_payload(ANY, f"curl -H 'token {TOKEN}' x", password="hT7k" + "Q2zL9w")
    path = policy("return deny('no: ' + event.command)")
    fire(path, payload, "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
    (text,) = [file.read_text() for file in folder.iterdir()]
    assert TOKEN not in text and "hT7k" not in text
    assert "[github-token]" in text and '"password": "[password]"' in text
    other = tmp_path / "other"
    fire(path, payload, "--host", ANY, env={"ONEHOOK_RECORD": str(other), "ONEHOOK_RECORD_MASK": "off"})
    assert TOKEN in next(other.iterdir()).read_text()


def test_masking_keeps_the_shape_and_everything_else():
    value = {"a": [1, None, True, "plain text here", {"api_key": "9f86d081884c7d659a2feaa0c55ad015"}], "b": "x" * 50}
    assert masked(value) == {"a": [1, None, True, "plain text here", {"api_key": "[password]"}], "b": "x" * 50}


@pytest.mark.parametrize("command", ["curl -H 'Authorization: Bearer hT7kQ2zL9w'", "curl -u me:hT7kQ2zL9w x", "DB_PASS=hT7kQ2zL9w ./run"])
def test_credentials_are_masked_where_people_have_them(policy, folder, command):
    fire(policy("return deny('no: ' + event.command)"), tool_payload(ANY, command), "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
    (text,) = [file.read_text() for file in folder.iterdir()]
    assert "hT7kQ2zL9w" not in text and command[:4] in text


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_is_not_followed(policy, folder, tmp_path, linked):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if linked == "folder":
        folder.symlink_to(elsewhere)
    else:
        fire(policy(), tool_payload(ANY), "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
        (kept,) = folder.iterdir()
        kept.unlink()
        kept.symlink_to(elsewhere / "stolen.jsonl")
    result = fire(policy(), tool_payload(ANY), "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
    assert list(elsewhere.iterdir()) == []
    assert "this event was not recorded" in result.stderr and result.exit_code == 0


def test_in_a_repository_it_is_ignored_by_git_and_an_own_gitignore_stays(policy, tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    for name, before in (("new", None), ("own", "*.log\n")):
        folder = tmp_path / "repo" / name
        folder.mkdir()
        if before is not None:
            (folder / ".gitignore").write_text(before)
        fire(policy(), tool_payload(ANY), "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
        assert list(folder.glob("*.jsonl"))
    assert (tmp_path / "repo" / "own" / ".gitignore").read_text() == "*.log\n"
    status = subprocess.run(
        ["git", "-C", str(tmp_path / "repo"), "status", "--porcelain", "new"], capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_sessions_have_files_of_their_own_and_a_name_cannot_lead_elsewhere(policy, folder, tmp_path):
    for session in ("s-1", "s-2", "../../out", "", "a" * 500):
        fire(policy(), {**tool_payload(ANY), "session_id": session}, "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
    assert sorted(path.name for path in folder.iterdir())[-1] == "claude-s-2.jsonl"
    assert len(list(folder.iterdir())) == 5
    assert not list(tmp_path.glob("*.jsonl"))


def test_hooks_that_run_at_once_do_not_mix_their_lines(policy, folder):
    path = policy()
    with ThreadPoolExecutor(8) as pool:
        payloads = [tool_payload(ANY, f"echo {number} " + "x" * 20_000) for number in range(24)]
        list(pool.map(lambda payload: fire(path, payload, "--host", ANY, env={"ONEHOOK_RECORD": str(folder)}), payloads))
    ((_, kept),) = entries(folder).items()
    assert {entry["payload"]["tool_input"]["command"].split()[1] for entry in kept} == {str(number) for number in range(24)}


def test_a_folder_that_cannot_be_made_is_reported_and_changes_no_answer(policy, host, tmp_path):
    (tmp_path / "file").write_text("")
    env = {"ONEHOOK_RECORD": str(tmp_path / "file" / "below")}
    result = fire(policy("return deny('no')"), tool_payload(host), "--host", host, env=env)
    assert reason_of(result, host) == "no"
    assert "this event was not recorded" in result.stderr or result.stderr == "no\n"  # the reason, and nothing else on stderr


def test_a_payload_that_cannot_be_read_is_noted_without_its_text(policy, folder):
    fire(policy(), b'{"secret": ', "--host", ANY, env={"ONEHOOK_RECORD": str(folder)})
    ((name, [entry]),) = entries(folder).items()
    assert name == "unreadable.jsonl" and entry["payload"] is None and "not JSON" in entry["answer"]["stderr"]


def test_nothing_of_it_is_imported_when_it_is_off(policy):
    from tests.test_hot_path import SHOW, modules_of

    assert not {name for name in modules_of(fire(policy(SHOW), tool_payload(ANY), "--host", ANY, cold=True)) if "record" in name}


def agent(policy_path, events):
    """A program that runs its hooks as an agent does."""
    payload = json.dumps(tool_payload(ANY, f"echo {TOKEN}"))
    return (
        f"import subprocess, sys\nfor _ in range({events}): "
        f"subprocess.run([sys.executable, '-I', '-S', {LAUNCH!r}, {str(policy_path)!r}, '--host', 'claude'], input={payload!r}.encode())\n"
        "sys.exit(3)"
    )


def test_the_command_starts_the_agent_records_and_says_what_it_kept(policy, folder):
    result = CliRunner().invoke(command, ["--output", str(folder), "--", sys.executable, "-c", agent(policy(), 2)])
    assert result.exit_code == 3, "the agent's exit code"
    assert f"2 events in {folder / 'claude-s-1.jsonl'}" in result.output
    assert TOKEN not in (folder / "claude-s-1.jsonl").read_text()
    again = CliRunner().invoke(command, ["--no-mask", "--output", str(folder), "--", sys.executable, "-c", agent(policy(), 1)])
    assert "1 event in" in again.output
    assert TOKEN in (folder / "claude-s-1.jsonl").read_text()


def test_the_command_says_when_nothing_was_recorded(folder):
    result = CliRunner().invoke(command, ["--output", str(folder), "--", sys.executable, "-c", ""])
    assert result.exit_code == 0 and "no event was recorded" in result.output


def test_an_agent_that_is_not_there_is_reported(folder):
    result = CliRunner().invoke(command, ["--output", str(folder), "--", "no-such-agent"])
    assert result.exit_code == 1 and "cannot start no-such-agent" in result.output
    assert CliRunner().invoke(command, []).exit_code == 2


def test_the_rules_are_listed():
    assert CliRunner().invoke(command, ["--rules"]).output.split() == list(dict.fromkeys([*FORMATS, *PLACES]))
