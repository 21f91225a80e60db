"""A launcher that is measured for coverage answers like any other.

Other tests start thousands of launchers without measuring them: each would take ten times as long. So the coverage threshold counts these,
one for each path through an event.
"""

from __future__ import annotations

import os

import pytest
from harness import ANY, clean_environment, cold_process, encoded, fire, launcher, stop_payload, tool_payload, traced_launcher

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

HANDLERS = {
    "a deny": ("return deny('no')", ""),
    "nothing": ("return None", ""),
    "a rewrite with context": ("return {'modified_input': {'command': 'true'}, 'additional_context': 'c'}", ""),
    "an ask": ("return ask('sure?')", ""),
    "prints": ("import os; print('x'); os.system('echo y'); return deny('no')", ""),
    "raises, closed": ("raise ValueError('bang')", "fail='closed'"),
    "raises, open": ("raise ValueError('bang')", "fail='open'"),
    "dies": ("import os; os.kill(os.getpid(), 9)", "fail='closed'"),
    "answers with nonsense": ("return 5", "fail='closed'"),
    "is too slow": ("import time; time.sleep(60)", "fail='closed', timeout=1"),
    "an answer without end": ("return deny('x' * 17_000_000)", "fail='closed'"),
    "observes": ("return deny('no')", "mode='observe'"),
    "remembers": ("event.session['n'] = event.session.get('n', 0) + 1; return deny(str(event.session['n'] > 0))", ""),
}
PAYLOADS = {"empty": b"", "not JSON": b"{", "a list": b"[]", "nested too deeply": b"[" * 100_000, "with a BOM": b"\xef\xbb\xbf{}"}
RULES = 'fail = "closed"\npacks = ["recommended"]\n[permissions]\ndeny = ["Bash(npm publish:*)"]\n'
PROGRAM = 'fail = "closed"\n[[hook]]\non = "PreToolUse"\nrun = ["sh", "-c", "echo no >&2; exit 2"]\n'


def both(policy, payload, *arguments):
    """What the launcher answers, traced and untraced."""
    options = ("--log", "off", *arguments)
    traced = cold_process(traced_launcher(policy, *options), encoded(payload))
    return without_columns(repr(traced)), without_columns(repr(fire(policy, payload, *options)))


def without_columns(text):
    """Instrumented code does not know its columns within a line, so a traceback has nothing to underline there."""
    return "\n".join(line for line in text.splitlines() if not line.strip() or line.strip(" ^~"))


@pytest.mark.parametrize("isolation", ["process", "thread"])
@pytest.mark.parametrize("case", HANDLERS)
def test_handlers(case, isolation, policy):
    body, options = HANDLERS[case]
    if isolation == "thread" and case == "dies":
        pytest.skip("a thread cannot outlive its process")
    traced, plain = both(policy(body, options=options), tool_payload(ANY), "--host", ANY, "--isolation", isolation)
    assert traced == plain


@pytest.mark.parametrize("case", PAYLOADS)
def test_payloads(case, policy):
    traced, plain = both(policy("return deny('no')"), PAYLOADS[case], "--host", ANY, "--fail", "closed")
    assert traced == plain


def test_a_stop_that_is_always_denied(policy):
    path = policy("return deny('more')", event="Stop", options="stop_limit=1")
    traced, plain = both(path, stop_payload(ANY, session="traced"), "--host", ANY)
    assert traced == plain


@pytest.mark.parametrize("command", ["npm publish", "rm -rf /", "ls", 'echo "'])
def test_rules(command, tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text(RULES, encoding="utf-8")
    traced, plain = both(path, tool_payload(ANY, command), "--host", ANY)
    assert traced == plain


def test_a_program(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text(PROGRAM, encoding="utf-8")
    traced, plain = both(path, tool_payload(ANY), "--host", ANY)
    assert traced == plain


def test_a_line_in_the_log_and_a_recording(policy, tmp_path):
    path = policy("return deny('no')")
    env = {"ONEHOOK_STATE_DIR": str(tmp_path / "state"), "ONEHOOK_RECORD": str(tmp_path / "record")}
    for way in (traced_launcher, launcher):
        cold_process(way(path, "--host", ANY, "--log", "required"), encoded(tool_payload(ANY)), env=clean_environment(env))
    lines = (tmp_path / "state" / "log").glob("*.jsonl")
    assert [line.count('"decision": "deny"') for file in lines for line in file.read_text(encoding="utf-8").splitlines()] == [1, 1]
