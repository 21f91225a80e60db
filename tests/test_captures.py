"""What real agents sent (tests/data/captures): whose it is, told from the payload alone, and what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onehook.core import Change, Event, PayloadError
from onehook.hosts import HOSTS, detect, resolve, wire_of

CAPTURES = Path(__file__).parent / "data" / "captures"
HOST_OF_FILE = {
    "auggie": "auggie",
    "claude": "claude",
    "codex": "codex",
    "copilot-cli": "copilot",
    "cursor": "cursor",
    "droid": "droid",
    "gemini": "gemini",
    "qwen": "qwen",
}


def host_of(path: Path) -> str:
    return next(host for prefix, host in HOST_OF_FILE.items() if path.name.startswith(prefix))


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def named_event(line: dict[str, Any]) -> str:
    """The event that the agent's config named for this call, as --event says it."""
    name: str = line["event"] if "event" in line else line["argv"][0]
    return name


EVERY = [
    pytest.param(host_of(path), line, id=f"{path.stem}-{number}-{named_event(line)}")
    for path in sorted(CAPTURES.glob("*.jsonl"))
    for number, line in enumerate(lines_of(path), 1)
]
KNOWN = [param for param in EVERY if param.values[0] in HOSTS]


def test_there_is_a_capture_of_every_host_of_the_table() -> None:
    assert {host_of(path) for path in CAPTURES.glob("*.jsonl")} == set(HOST_OF_FILE.values())


@pytest.mark.parametrize(("host", "line"), EVERY)
def test_a_payload_is_told_apart_without_being_named(host: str, line: dict[str, Any]) -> None:
    if host in HOSTS:
        assert host == detect(line["stdin"]).ID
    else:
        with pytest.raises(PayloadError, match="no host that onehook knows"):
            detect(line["stdin"])


@pytest.mark.parametrize(("host", "line"), KNOWN)
def test_a_payload_gives_the_session_the_folder_and_the_native_event(host: str, line: dict[str, Any]) -> None:
    payload = line["stdin"]
    event = parse(payload, named_event(line))
    assert event.host == host
    assert event.native is payload
    assert event.session_id in (payload.get("session_id"), payload.get("sessionId"), payload.get("conversation_id"))
    assert event.session_id
    assert event.cwd == (payload.get("cwd") or payload.get("workspace_roots", [""])[0]) != ""
    assert event.transcript_path == (payload.get("transcript_path") or payload.get("transcriptPath") or "")


def parse(payload: dict[str, Any], event_name: str = "") -> Event:
    return detect(payload).parse(payload, event_name)


def facts(file: str, host: str) -> list[tuple[Any, ...]]:
    """(event, tool, command, paths, changes) of each line of a file."""
    found = []
    for line in lines_of(CAPTURES / file):
        event = parse(line["stdin"], named_event(line))
        assert event.host == host
        found.append((event.event, event.tool, event.command, event.paths, event.changes))
    return found


WRITE_B = [Change("/home/dev/project/b.txt", "write", None, "hi")]
B, A = ["/home/dev/project/b.txt"], ["/home/dev/project/a.txt"]


def test_what_claude_did() -> None:
    assert facts("claude-2.1.325.jsonl", "claude") == [
        ("SessionStart", "", "", [], []),
        ("UserPromptSubmit", "", "", [], []),
        ("PreToolUse", "Bash", "ls no-such-file", [], []),
        ("PostToolUseFailure", "Bash", "ls no-such-file", [], []),
        ("PreToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PostToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PreToolUse", "Write", "", B, WRITE_B),
        ("PostToolUse", "Write", "", B, WRITE_B),
        ("PreToolUse", "Read", "", A, []),
        ("PostToolUse", "Read", "", A, []),
        ("Stop", "", "", [], []),
        ("SessionEnd", "", "", [], []),
    ]


def test_what_cursor_did() -> None:
    assert facts("cursor-sdk-1.0.32.jsonl", "cursor") == [
        ("SessionStart", "", "", [], []),
        ("UserPromptSubmit", "", "", [], []),
        ("PreToolUse", "Bash", "ls no-such-file", [], []),
        ("PostToolUseFailure", "Bash", "ls no-such-file", [], []),
        ("PreToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PostToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PreToolUse", "Write", "", B, WRITE_B),
        ("PostToolUse", "Write", "", B, WRITE_B),
        ("PreToolUse", "Read", "", A, []),
        ("PostToolUse", "Read", "", A, []),
        ("Stop", "", "", [], []),
        ("SessionEnd", "", "", [], []),
    ]


def test_what_codex_did_with_its_direct_tools() -> None:
    assert facts("codex-0.166.0-tools.jsonl", "codex") == [
        ("SessionStart", "", "", [], []),
        ("UserPromptSubmit", "", "", [], []),
        ("PreToolUse", "Bash", "ls no-such-file", [], []),
        ("PostToolUse", "Bash", "ls no-such-file", [], []),
        ("PreToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PostToolUse", "Bash", "echo hi > made.txt", [], []),
        ("Stop", "", "", [], []),
        ("SessionEnd", "", "", [], []),
    ]


def test_what_codex_did_in_code_mode() -> None:
    patched = [Change(B[0], "write", None, "hi\n"), Change(A[0], "edit", "hello\n", "bye\n")]
    assert facts("codex-0.166.0-code-mode.jsonl", "codex") == [
        ("SessionStart", "", "", [], []),
        ("UserPromptSubmit", "", "", [], []),
        ("PreToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PostToolUse", "Bash", "echo hi > made.txt", [], []),
        ("PreToolUse", "Edit", "", B + A, patched),
        ("PostToolUse", "Edit", "", B + A, patched),
        ("Stop", "", "", [], []),
        ("SessionEnd", "", "", [], []),
    ]


def test_what_droid_did() -> None:
    edited, created = Change("/sandbox/proj/a.txt", "edit", "hello", "hello2"), Change("/sandbox/proj/n.txt", "write", None, "x")
    assert facts("droid-0.225.2-exec.jsonl", "droid") == [
        ("SessionStart", "", "", [], []),
        ("PreToolUse", "Bash", "echo hi", [], []),
        ("PostToolUse", "Bash", "echo hi", [], []),
        ("PreToolUse", "Read", "", ["/sandbox/proj/a.txt"], []),
        ("PostToolUse", "Read", "", ["/sandbox/proj/a.txt"], []),
        ("PreToolUse", "Edit", "", ["/sandbox/proj/a.txt"], [edited]),
        ("PostToolUse", "Edit", "", ["/sandbox/proj/a.txt"], [edited]),
        ("PreToolUse", "Write", "", ["/sandbox/proj/n.txt"], [created]),
        ("PostToolUse", "Write", "", ["/sandbox/proj/n.txt"], [created]),
        ("Stop", "", "", [], []),
        ("SessionEnd", "", "", [], []),
    ]


def test_the_results_and_texts_of_the_captures_are_carried() -> None:
    claude = [parse(line["stdin"]) for line in lines_of(CAPTURES / "claude-2.1.325.jsonl")]
    assert claude[0].source == "startup"
    assert claude[1].prompt == "do it"
    assert claude[3].error.startswith("Exit code 2")
    assert claude[5].tool_response["interrupted"] is False
    assert claude[10].last_assistant_message == "all done"
    assert claude[10].stop_hook_active is False
    cursor = [parse(line["stdin"]) for line in lines_of(CAPTURES / "cursor-sdk-1.0.32.jsonl")]
    assert cursor[0].host_version == "3.2.16"
    assert cursor[3].error == "ls: cannot access 'no-such-file': No such file or directory"
    assert cursor[5].tool_response == {"output": "", "exitCode": 0}
    assert cursor[10].loop_count == 0
    codex = [parse(line["stdin"]) for line in lines_of(CAPTURES / "codex-0.166.0-tools.jsonl")]
    assert codex[0].model == "mock"
    assert codex[3].tool_response == "ls: cannot access 'no-such-file': No such file or directory\n"


@pytest.mark.parametrize("line", lines_of(CAPTURES / "cursor-sdk-1.0.32.jsonl"), ids=named_event)
def test_cursor_running_claudes_config_is_still_cursor(line: dict[str, Any]) -> None:
    wire = resolve(["claude"], line["stdin"])
    assert wire.ID == "cursor"
    assert wire.parse(line["stdin"], "").host == "cursor"


def test_a_named_host_is_not_overruled_by_a_guess() -> None:
    codex = lines_of(CAPTURES / "codex-0.166.0-tools.jsonl")[2]["stdin"]
    assert resolve(["claude"], codex).ID == "claude"


CLAUDE_HOME = "/home/dev/.claude/projects/-home-dev-project/0dc8e589.jsonl"
CLAUDE_ELSEWHERE = "/srv/agents/config/projects/-home-dev-project/0dc8e589.jsonl"  # CLAUDE_CONFIG_DIR=/srv/agents/config
CODEX_ELSEWHERE = "/srv/agents/sessions/2026/11/15/rollout-2026-11-15T19-34-29-01a1e0b4.jsonl"  # CODEX_HOME=/srv/agents
DROID_HOME = "/home/dev/.factory/sessions/-home-dev-project/0dc8e589.jsonl"
CLAUDE_FACTORY = "/home/dev/.claude/projects/-home-dev--factory-project/0dc8e589.jsonl"  # a project in a folder called .factory
CODEX_FACTORY = "/home/dev/.factory/codex/sessions/rollout-2026-11-15T19-34-29-01a1e0b4.jsonl"  # CODEX_HOME=/home/dev/.factory/codex
BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "x"}
ROBUST: list[tuple[str, str, dict[str, Any]]] = [
    ("codex", "SessionStart", {"transcript_path": None, "model": "m", "permission_mode": "default", "source": "startup"}),
    ("codex", "SessionStart", {"transcript_path": CODEX_ELSEWHERE, "model": "m", "permission_mode": "default", "source": "resume"}),
    ("codex", "PreToolUse", {"transcript_path": None, "turn_id": "t", "model": "m", "permission_mode": "default", **BASH}),
    ("codex", "PreToolUse", {"transcript_path": CODEX_ELSEWHERE, "turn_id": "t", "model": "m", "permission_mode": "default", **BASH}),
    ("codex", "SessionEnd", {"transcript_path": None, "reason": "other"}),
    ("codex", "SessionEnd", {"transcript_path": CODEX_ELSEWHERE, "reason": "other"}),
    ("codex", "SessionEnd", {"transcript_path": "/home/dev/.claude/codex/sessions/rollout-2026-11-15T19-34-29-01a1.jsonl"}),
    ("codex", "PreCompact", {"transcript_path": None, "turn_id": "t", "model": "m", "trigger": "auto"}),
    ("codex", "SessionStart", {"transcript_path": "C:\\Users\\dev\\.codex\\sessions\\rollout-2026-01a1.jsonl", "source": "startup"}),
    ("claude", "SessionStart", {"transcript_path": CLAUDE_HOME, "source": "startup", "model": "claude-x"}),
    ("claude", "SessionStart", {"transcript_path": CLAUDE_ELSEWHERE, "source": "startup", "model": "claude-x"}),
    ("claude", "SessionStart", {"transcript_path": "C:\\Users\\dev\\.claude\\projects\\p\\0dc8.jsonl", "source": "startup"}),
    ("claude", "PreToolUse", {"transcript_path": CLAUDE_HOME, "model": "claude-x", "permission_mode": "plan", **BASH}),
    ("claude", "PreToolUse", {"transcript_path": CLAUDE_ELSEWHERE, "model": "claude-x", "permission_mode": "auto", **BASH}),
    ("claude", "PreToolUse", {"transcript_path": "", **BASH}),  # some remote modes
    ("claude", "PreToolUse", {**BASH}),
    ("claude", "SessionEnd", {"transcript_path": CLAUDE_ELSEWHERE, "reason": "other"}),
    ("claude", "MessageDisplay", {"transcript_path": CLAUDE_ELSEWHERE, "turn_id": "t", "message_id": "m", "delta": "x"}),
    ("droid", "SessionStart", {"transcript_path": DROID_HOME, "permission_mode": "off", "source": "startup"}),
    ("droid", "SessionStart", {"transcript_path": "", "permission_mode": "spec", "source": "startup"}),
    ("droid", "SessionStart", {"transcript_path": DROID_HOME, "permission_mode": "a-new-mode", "source": "startup"}),
    ("droid", "PreToolUse", {"transcript_path": DROID_HOME, "permission_mode": "auto-high", **BASH}),
    ("droid", "PreToolUse", {"transcript_path": "", "permission_mode": "auto-low", **BASH}),
    ("droid", "PreToolUse", {"permission_mode": "auto-medium", **BASH}),
    ("droid", "PreToolUse", {"transcript_path": "C:\\Users\\dev\\.factory\\sessions\\p\\1.jsonl", "permission_mode": "off", **BASH}),
    ("droid", "Stop", {"transcript_path": "/srv/x/.factory/sessions/p/1.jsonl", "permission_mode": "off", "stop_hook_active": False}),
    ("claude", "PreToolUse", {"transcript_path": CLAUDE_FACTORY, "permission_mode": "default", **BASH}),
    ("claude", "PreToolUse", {"transcript_path": "", "permission_mode": "auto", **BASH}),
    ("claude", "Stop", {"transcript_path": CLAUDE_ELSEWHERE, "permission_mode": "default", "stop_hook_active": False}),
    ("qwen", "PreToolUse", {"transcript_path": "/s/q1.jsonl", "permission_mode": "auto", "timestamp": "2026-11-15T19:34:37.571Z", **BASH}),
    ("codex", "PreToolUse", {"transcript_path": CODEX_FACTORY, "turn_id": "t", "model": "m", "permission_mode": "default", **BASH}),
    ("cursor", "preToolUse", {"cursor_version": "3.3.0", "conversation_id": "c", **BASH}),
    ("cursor", "preToolUse", {"conversation_id": "c", **BASH}),
    ("cursor", "workspaceOpen", {"cursor_version": "3.3.0", "workspace_roots": ["/p"]}),
]


@pytest.mark.parametrize(("host", "name", "fields"), ROBUST)
def test_detection_survives_relocated_homes_and_missing_transcripts(host: str, name: str, fields: dict[str, Any]) -> None:
    payload = {"session_id": "s", "cwd": "/p", "hook_event_name": name, **fields}
    assert host == detect(payload).ID


@pytest.mark.parametrize("name", [None, [], {}, 3, True])
def test_an_event_name_of_a_wrong_type_is_nobodys(name: object) -> None:
    with pytest.raises(PayloadError):
        detect({"session_id": "s", "cwd": "/p", "hook_event_name": name, "conversation_id": "c"})


def test_a_payload_that_fits_two_hosts_equally_well_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("claude", "codex"):
        monkeypatch.setattr(wire_of(host), "score", lambda payload: 5)
    with pytest.raises(PayloadError, match="could be of claude or codex; say which with --host ID"):
        detect({})


def test_the_open_contract_is_told_by_its_two_keys_alone() -> None:
    assert detect({"tool_name": "Shell", "tool_input": {"command": "ls"}}).ID == "contract"
    with pytest.raises(PayloadError):
        detect({"tool_name": "Shell", "tool_input": {"command": "ls"}, "more": 1})
