"""What a program reads on stdin: the bytes that its own agent would send, because published hooks search them with grep and sed."""

from __future__ import annotations

import json

import pytest

from onehook.codec import compact
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from onehook.policy import load_policy
from onehook.runner import answer
from tests.host_folders import captures, lines_of
from tests.manifest.kit import manifest_of, sh, shell_calls

CALLS = list(shell_calls())
GREP = """cat | grep -q '"command":"rm' && { echo no >&2; exit 2; }; exit 0"""


def call_of(host):
    return next(call for call in CALLS if call[0] == host)


def asked(path, data, host, name):
    return answer(data, lambda: load_policy(str(path)), hosts=[host], event_name=name)


@pytest.mark.parametrize(("host", "name", "payload"), CALLS, ids=[f"{host}-{name}" for host, name, _ in CALLS])
def test_a_guard_that_searches_its_input_with_grep_blocks_on_every_agent(tmp_path, host, name, payload):
    path = manifest_of(tmp_path, sh(GREP, "claude"))
    command = wire_of(host).parse(payload, name).command
    bad = json.loads(json.dumps(payload).replace(f'"{command}"', '"rm x"'))
    output = asked(path, compact(bad).encode(), host, name)
    assert output.answer is not None and output.answer.decision == "deny"


def kept(tmp_path, data, host, name, speaks):
    path = manifest_of(tmp_path, sh(f"cat > {tmp_path}/stdin", speaks, '["PreToolUse", "SessionStart"]'))
    asked(path, data, host, name)
    return (tmp_path / "stdin").read_bytes()


def test_a_program_that_speaks_the_running_agents_dialect_reads_the_very_bytes_that_arrived(tmp_path):
    host, name, payload = call_of("claude")
    data = json.dumps({**payload, "later": "\u00e9"}, indent=3, ensure_ascii=False).encode() + b"\n\n"
    assert kept(tmp_path, data, host, name, "claude") == data


def test_another_agents_dialect_is_compact_utf_8(tmp_path):
    host, name, payload = call_of("gemini")
    command = wire_of(host).parse(payload, name).command
    data = json.dumps(payload).replace(f'"{command}"', '"echo \u00e9 \U0001f600 \\ud800"').encode()
    sent = kept(tmp_path, data, host, name, "claude")
    assert '"command":"echo \u00e9 \U0001f600 \\ud800"'.encode() in sent
    assert b'", "' not in sent and b'": "' not in sent


CAPTURED = [(host, line) for host in HOSTS for path in captures(host) for line in lines_of(path)]


@pytest.mark.parametrize("host", dict.fromkeys(host for host, _ in CAPTURED))
def test_the_keys_of_a_payload_stand_in_the_order_of_the_agent(host):
    wire, reverse = wire_of(host), load(host, "reverse")
    for payload, name in ((line["stdin"], line.get("event") or line["argv"][0]) for owner, line in CAPTURED if owner == host):
        event = wire.parse(payload, name)
        event.host, event.native = "", {}  # as if another agent had sent it
        if wire.EVENTS[event.native_event].event != event.event:
            continue  # an event of a subagent, which has no such event of its own
        made = reverse.payload(event, event.native_event)
        assert [key for key in payload if key in made] == [key for key in made if key in payload], event.native_event


def test_json_inside_a_payload_is_compact_too():
    event = sample("PreToolUse", "MCP", server="db", tool="query", sql="select 1")
    assert load("cursor", "reverse").payload(event, "beforeMCPExecution")["tool_input"] == '{"sql":"select 1"}'
