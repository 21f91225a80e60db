"""Real hook processes for tests: payloads as the hosts send them, and what each host's proven deny looks like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import onehook

PACKAGE = Path(onehook.__file__).resolve().parent
LAUNCH = str(PACKAGE / "launch.py")
HOSTS = ("claude", "codex", "cursor", "contract")
ISOLATIONS = ("process", "thread")
PATIENCE = 60  # seconds after which a process counts as hung

PRE = {"claude": "PreToolUse", "codex": "PreToolUse", "cursor": "preToolUse", "contract": "preToolUse"}
POST = {"claude": "PostToolUse", "codex": "PostToolUse", "cursor": "postToolUse", "contract": "postToolUse"}
STOP = {"claude": "Stop", "codex": "Stop", "cursor": "stop", "contract": "stop"}

_COMMON = {
    "claude": {"session_id": "s-1", "transcript_path": "/home/dev/.claude/projects/p/s-1.jsonl", "cwd": "/home/dev/p"},
    "codex": {"session_id": "s-1", "turn_id": "t-1", "transcript_path": "/home/dev/.codex/rollout-1.jsonl", "cwd": "/home/dev/p"},
    "cursor": {"conversation_id": "s-1", "generation_id": "g-1", "cursor_version": "3.9.0", "workspace_roots": ["/home/dev/p"]},
}


def tool_payload(host, command="ls", event=None, **tool_input):
    """A shell call on its way to this host's hook."""
    given = {"command": command, **tool_input}
    if host == "contract":
        return {"tool_name": "Shell", "tool_input": given}
    name = "Shell" if host == "cursor" else "Bash"
    return {**_COMMON[host], "hook_event_name": event or PRE[host], "tool_name": name, "tool_input": given}


def stop_payload(host, active=False, session="s-1", loop_count=0):
    if host == "contract":
        return {"tool_name": "Stop", "tool_input": {"session_id": session, "stop_hook_active": active}}
    payload = {**_COMMON[host], "hook_event_name": STOP[host]}
    if host == "cursor":
        return {**payload, "conversation_id": session, "loop_count": loop_count}
    return {**payload, "session_id": session, "stop_hook_active": active}


def encoded(payload):
    return payload if isinstance(payload, bytes) else json.dumps(payload).encode()


class Result:
    def __init__(self, exit_code, stdout, stderr):
        self.exit_code = exit_code
        self.stdout = stdout.decode()
        self.stderr = stderr.decode()

    @property
    def answer(self):
        """The one JSON document on stdout; anything beside it is an error."""
        return json.loads(self.stdout)

    def __repr__(self):
        return f"exit {self.exit_code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def clean_environment(env=None):
    """The environment without what would change an interpreter; CI sets PYTHONUNBUFFERED and the like."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}, **(env or {})}


def process(argv, payload=b"", env=None, cwd=None):
    done = subprocess.run(
        [str(word) for word in argv],
        input=encoded(payload),
        capture_output=True,
        timeout=PATIENCE,
        cwd=cwd,
        env=clean_environment(env),
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def launcher(*arguments, python=sys.executable, launch=LAUNCH):
    """What install writes into a host's config."""
    return [python, "-I", "-S", launch, *map(str, arguments)]


def fire(policy, payload, *arguments, env=None, cwd=None):
    return process(launcher(policy, *arguments), payload, env, cwd)


def policy_text(handler="", event="PreToolUse", options="", top=""):
    """The source of a policy whose one handler has this body."""
    body = textwrap.indent(textwrap.dedent(handler).strip() or "return None", "    ")
    head = f"from onehook import Hooks, allow, ask, deny\n{textwrap.dedent(top)}\nhooks = Hooks({options})\n"
    return f'{head}\n@hooks.on("{event}")\ndef guard(event):\n{body}\n'


def reason_of(result, host):
    """The reason of this host's deny of a tool call, in a form that was proven on the real host; fails if it is none."""
    if host == "codex" and result.exit_code == 2:
        return result.stderr.removesuffix("\n")  # stdout is ignored there, stderr is the reason, whole
    if host == "cursor":
        assert result.exit_code == 0, result
        assert result.answer["permission"] == "deny", result
        assert result.answer["agent_message"] == result.answer["user_message"]
        return result.answer["user_message"]
    assert result.exit_code == (0 if host == "codex" else 2), result
    if host == "contract":
        assert result.answer["decision"] == "deny", result
        return result.answer["reason"]
    specific = result.answer["hookSpecificOutput"]
    assert (specific["hookEventName"], specific["permissionDecision"]) == ("PreToolUse", "deny"), result
    return specific["permissionDecisionReason"]


def assert_blocked(result, host, *texts):
    """The host's deny, for an error under fail=closed."""
    reason = reason_of(result, host)
    assert "fail=closed" in reason, result
    for text in texts:
        assert text in reason, result
    assert "Traceback" not in result.stdout and "Traceback" not in reason


def assert_blocked_blindly(result, *texts):
    """The deny for an event that is not known: exit 2, the reason alone on stderr."""
    assert (result.exit_code, result.stdout) == (2, ""), result
    for text in (*texts, "fail=closed"):
        assert text in result.stderr, result
    assert "Traceback" not in result.stderr


def assert_error(result, *texts, exit_code=1, stdout=""):
    """Fail open: no opinion, and the error on stderr."""
    assert (result.exit_code, result.stdout.strip()) == (exit_code, stdout), result
    assert "[onehook] error:" in result.stderr, result
    for text in texts:
        assert text in result.stderr, result


def assert_unreadable(result, host, *texts):
    """Fail open for a payload that cannot be read; the contract wants an allow for it, in its own words."""
    if host == "contract":
        assert_error(result, *texts, exit_code=0, stdout='{"decision": "allow"}')
    else:
        assert_error(result, *texts)
