"""Real hook processes for tests: payloads as the hosts send them and answers as the hosts read them, both from the hosts' tables."""

from __future__ import annotations

import functools
import itertools
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import counting
import pytest
import warm

import onehook
from onehook.core import Options, Response
from onehook.hostkit.effects import compile_response
from onehook.hostkit.reverse import TOOL_EVENTS, sample
from onehook.hosts import HOSTS, load
from onehook.runner import answer

PACKAGE = Path(onehook.__file__).resolve().parent
LAUNCH = str(PACKAGE / "launch.py")
ISOLATIONS = ("process", "thread")
PATIENCE = 60  # seconds after which a process counts as hung
ANY = HOSTS[0]  # where it does not matter which
_COMMON = {"session_id": "s-1", "cwd": "/home/dev/p"}


def native(host, unified):
    """The host's name for an event; before and after a tool, the one sent for a shell command."""
    return next(name for name, row in load(host).EVENTS.items() if row.event == unified and row.tool in ("", "Bash"))


PRE, POST, STOP = ({host: native(host, unified) for host in HOSTS} for unified in ("PreToolUse", "PostToolUse", "Stop"))


@functools.cache
def _tool_event(host, unified, command):
    wire, name = load(host), native(host, unified)
    return wire.parse(load(host, "reverse").payload(sample(unified, "Bash", command=command, **_COMMON), name), name)


def tool_payload(host, command="ls", unified="PreToolUse", **tool_input):
    """The payload of a shell call for this host's hook."""
    event = _tool_event(host, unified, command)
    return load(host, "reverse").payload(event.rewritten(tool_input) if tool_input else event, native(host, unified))


def honours(host, unified, effect):
    """Whether the host's table says that this effect works on this event."""
    return support(host, unified, effect) == "honoured"


def support(host, unified, effect):
    """What the host's table says about this effect on this event: "honoured", "limited" (where the call allows it) ...

    "" if the host has no such event.
    """
    if all(row.event != unified for row in load(host).EVENTS.values()):
        return ""
    wire, name = load(host), native(host, unified)
    event = wire.parse(load(host, "reverse").payload(sample(unified, "Bash" if unified in TOOL_EVENTS else "", **_COMMON), name), name)
    return wire.caps(event)[effect].kind


def with_tool(host, payload, **changed):
    """The payload of a tool call with another `name` or `input`, whichever keys the host uses for them."""
    event = load(host).parse(payload, PRE[host])
    place = next((key for key, value in payload.items() if isinstance(value, dict) and event.native_tool in value.values()), "")
    call = payload[place] if place else payload  # some have a table for the call
    keys = {
        "name": [key for key, value in call.items() if value == event.native_tool],
        "input": [key for key, value in call.items() if isinstance(value, dict) and value.keys() & {"command", "commands"}],
    }
    call = {**call, **{key: value for part, value in changed.items() for key in keys[part]}}
    return {**payload, place: call} if place else call


def stop_payload(host, active=False, session="s-1", loop_count=0):
    event = sample("Stop", stop_hook_active=active, **{**_COMMON, "session_id": session})
    payload = load(host, "reverse").payload(event, STOP[host])
    return {**payload, "loop_count": loop_count} if "loop_count" in payload else payload


def encoded(payload):
    return payload if isinstance(payload, bytes) else json.dumps(payload).encode()


def spread(*cases, names="case, host"):
    """Parametrize: every combination of the cases on one host, and every host with some of them.

    Processes are what makes the tests slow. An error is found before it is worded for a host, and the wording does not depend on what went
    wrong, so all combinations are checked in one process (see `answered`), and a process is started for each row and column. A table of
    cases is a dict; its keys are the ids.
    """
    tables = [table if isinstance(table, dict) else {str(one): one for one in table} for table in cases]
    rows = list(itertools.product(*(table.items() for table in tables)))
    count = max(len(rows), len(HOSTS))
    return pytest.mark.parametrize(
        names,
        [
            pytest.param(*(value for _, value in row), host, id="-".join([*(name for name, _ in row), host]))
            for row, host in itertools.islice(zip(itertools.cycle(rows), itertools.cycle(HOSTS)), count)
        ],
    )


def answered(host, payload, hooks, event_name="", **given):
    """The answer to an event, computed in this process, as a hook's process would give it."""
    output = answer(encoded(payload), hooks, hosts=[host], event_name=event_name, given=given)
    return Result(output.exit_code, output.stdout.encode(), output.stderr.encode("utf-8", "backslashreplace"))


class Result:
    def __init__(self, exit_code, stdout, stderr):
        self.exit_code = exit_code
        self.stdout = stdout.decode()
        self.stderr = stderr.decode()

    @property
    def answer(self):
        """The one JSON document on stdout; anything else there is an error."""
        return json.loads(self.stdout)

    def __repr__(self):
        return f"exit {self.exit_code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def clean_environment(env=None):
    """The environment without variables that change an interpreter; CI sets PYTHONUNBUFFERED and the like."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}, **(env or {})}


def users_environment(env=None):
    """The environment of a user with onehook and pytest but none of the other plugins installed here, which take longest to load."""
    others = ("hypothesispytest", "timeout", "slipcover")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return clean_environment({"PATH": path, "PYTEST_ADDOPTS": " ".join(f"-p no:{name}" for name in others), **(env or {})})


def process(argv, payload=b"", env=None, cwd=None, cold=False):
    """Run a program. A launcher runs in a fork of an interpreter that is already running, unless `cold` (see warm.py)."""
    argv, env = [str(word) for word in argv], clean_environment(env)
    if not cold and warm.fits(argv, env):
        done = warm.run(argv, encoded(payload), cwd, env, PATIENCE)
    else:
        done = subprocess.run(argv, input=encoded(payload), capture_output=True, timeout=PATIENCE, cwd=cwd, env=env, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def cold_process(*asked, **named):
    """For tests that depend on how a process starts."""
    return process(*asked, cold=True, **named)


def launcher(*arguments, python=sys.executable, launch=LAUNCH):
    """The command that install writes into a host's config."""
    return [python, "-I", "-S", launch, *map(str, arguments)]


def traced_launcher(*arguments):
    """The same, counted for coverage: see traced_launch.py."""
    traced = Path(__file__).resolve().with_name("traced_launch.py")
    return [sys.executable, "-I", str(traced), counting.FOLDER or "-", LAUNCH, *map(str, arguments)]


def fire(policy, payload, *arguments, env=None, cwd=None, cold=False):
    """Send an event. `--isolation process`, the default, is dropped: the warm process leaves events that name an isolation to a new one."""
    words = list(map(str, arguments))
    if not cold and ("--isolation", "process") in itertools.pairwise(words):
        del words[(place := words.index("--isolation")) : place + 2]
    return process(launcher(policy, *words), payload, env, cwd, cold)


def cold_fire(*asked, **named):
    return fire(*asked, cold=True, **named)


def policy_text(handler="", event="PreToolUse", options="", top=""):
    """The source of a policy whose one handler has this body."""
    body = textwrap.indent(textwrap.dedent(handler).strip() or "return None", "    ")
    head = f"from onehook import Hooks, allow, ask, deny\n{textwrap.dedent(top)}\nhooks = Hooks({options})\n"
    return f'{head}\n@hooks.on("{event}")\ndef guard(event):\n{body}\n'


def reason_of(result, host):
    """The reason of this host's deny of a tool call, read by the rules of the real agent; fails if it is not a deny.

    The answer must be exactly the form that the host's table has for a deny: with nothing else on stderr, or alongside other output.
    """
    event = _tool_event(host, "PreToolUse", "ls")
    read = load(host, "reverse").answer(event, result.stdout, result.stderr, result.exit_code)
    assert read.decision == "deny", result
    answer, drops = compile_response(load(host), event, Response("deny", read.reason), Options())
    assert not drops, drops
    forms = [load(host).render(event, answer, chatter) for chatter in (False, True)]
    assert (result.stdout.strip(), result.exit_code) in [(form.stdout.strip(), form.exit_code) for form in forms], result
    return read.reason


def continues(result, host):
    """Whether the answer to a stop sends the agent back to work, by the rules of the real agent."""
    wire = load(host)
    event = wire.parse(stop_payload(host), STOP[host])
    return load(host, "reverse").answer(event, result.stdout, result.stderr, result.exit_code).decision == "deny"


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


def assert_error(result, *texts, host=None, exit_code=1, stdout=""):
    """Fail open: no decision, and the error on stderr."""
    exit_code = load(host).TRAITS.error_exit if host else exit_code
    assert (result.exit_code, result.stdout.strip()) == (exit_code, stdout), result
    assert "[onehook] error:" in result.stderr, result
    for text in texts:
        assert text in result.stderr, result


def assert_unreadable(result, host, *texts):
    """Fail open for a payload that cannot be read, with the answer that the host requires, if any."""
    stdout, exit_code = load(host).TRAITS.unreadable
    assert_error(result, *texts, exit_code=exit_code, stdout=stdout)
