"""One guard, written in three dialects and in onehook's own, blocks on every host, through the real launcher."""

from __future__ import annotations

import json

import pytest
from harness import ANY, fire

from onehook.hosts import HOSTS, wire_of
from tests.manifest.kit import NATIVE, denied_with, guard, manifest_of, shell_calls

CALLS = list(shell_calls())


def test_every_host_has_a_payload_here():
    assert {host for host, _, _ in CALLS} == set(HOSTS)


def said(result):
    return (json.loads(result.stdout) if result.stdout.strip() else None), result.exit_code


@pytest.mark.parametrize("dialect", NATIVE)
@pytest.mark.parametrize(("host", "name", "payload"), CALLS, ids=[f"{host}-{name}" for host, name, _ in CALLS])
def test_a_guard_blocks_rm_rf_and_lets_the_rest_pass(tmp_path, dialect, host, name, payload):
    path = manifest_of(tmp_path, guard(dialect))
    event = wire_of(host).parse(payload, name)
    harmless = fire(path, payload, "--host", host, "--event", name)
    bad = json.loads(json.dumps(payload).replace(f'"{event.command}"', '"rm -rf /tmp/x"'))
    event = wire_of(host).parse(bad, name)
    assert event.command == "rm -rf /tmp/x"
    blocked = fire(path, bad, "--host", host, "--event", name)
    assert said(blocked) == denied_with(host, event, NATIVE[dialect][2]), blocked
    assert NATIVE[dialect][2] in blocked.stdout + blocked.stderr
    assert harmless.exit_code == 0 and "deny" not in harmless.stdout, harmless


@pytest.mark.parametrize("dialect", ["contract", "cursor"])
def test_an_allow_that_only_means_continue_never_skips_the_prompt_of_a_host_where_it_would(tmp_path, dialect):
    (payload,) = [payload for host, _, payload in CALLS if host == ANY][:1]
    result = fire(manifest_of(tmp_path, guard(dialect)), payload, "--host", ANY)
    assert said(result) == (None, 0), result


def test_an_allow_of_a_dialect_where_it_skips_the_prompt_is_passed_on(tmp_path):
    (payload,) = [payload for host, _, payload in CALLS if host == ANY][:1]
    script = """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'"""
    hook = f'events = ["PreToolUse"]\nshell = true\nspeaks = "claude"\nrun = {json.dumps(script)}'
    result = fire(manifest_of(tmp_path, hook), payload, "--host", ANY)
    assert result.answer["hookSpecificOutput"]["permissionDecision"] == "allow"
