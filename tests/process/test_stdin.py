"""Whatever comes on stdin: no traceback on stdout, no hang, and no allow under fail=closed."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from harness import (
    PATIENCE,
    PRE,
    STOP,
    assert_blocked,
    assert_blocked_blindly,
    assert_error,
    assert_unreadable,
    fire,
    launcher,
    reason_of,
    stop_payload,
    tool_payload,
)

from onehook.runner import MAX_PAYLOAD

DENY_RM = "return deny('no rm') if 'rm' in event.command else None"

UNREADABLE = {
    "empty": (b"", "the payload is empty"),
    "blank": (b" \r\n\t ", "the payload is empty"),
    "only a BOM": (b"\xef\xbb\xbf", "the payload is empty"),
    "text": (b"hello", "not JSON"),
    "cut off": (b'{"tool_name": "Bash"', "not JSON"),
    "a string cut off": (b'{"tool_na', "not JSON"),
    "a list": (b"[1, 2]", "not a JSON object"),
    "null": (b"null", "not a JSON object"),
    "two documents": (b"{} {}", "goes on after"),
    "NaN": (b'{"a": NaN}', "not JSON"),
    "Infinity": (b'{"a": -Infinity}', "not JSON"),
    "invalid UTF-8": (b'{"a": "\xff\xfe"}', "not UTF-8"),
    "UTF-16 without a BOM": ('{"a": 1}'.encode("utf-16-le"), "not JSON"),
    "half a UTF-16 character": (b"\xff\xfe{", "not UTF-8"),
    "a NUL": (b"\0", "not JSON"),
    "an integer of 50,000 digits": (b'{"a": ' + b"9" * 50_000 + b"}", "not JSON"),
    "nested 100,000 lists deep": (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
    "nested 100,000 objects deep": (b'{"a": ' * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("data, text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_payload_is_an_error_and_no_opinion(policy, host, data, text):
    assert_unreadable(fire(policy(DENY_RM), data, "--host", host), host, text)


@pytest.mark.parametrize("data, text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_payload_of_a_known_event_is_denied_in_the_hosts_words_when_closed(policy, host, data, text):
    result = fire(policy(DENY_RM), data, "--host", host, "--fail", "closed", "--event", PRE[host])
    assert_blocked(result, host, text)


@pytest.mark.parametrize("data, text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_payload_of_an_unknown_event_is_blocked_by_exit_2_when_closed(policy, host, data, text):
    assert_blocked_blindly(fire(policy(DENY_RM), data, "--host", host, "--fail=closed"), text)


@pytest.mark.parametrize("data, text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_payload_of_an_unknown_host_is_blocked_by_exit_2_when_closed(policy, data, text):
    assert_blocked_blindly(fire(policy(DENY_RM, options="fail='closed'"), data), text)
    assert_error(fire(policy(DENY_RM), data), text)


def test_an_unreadable_payload_of_a_stop_never_keeps_the_agent_working(policy, host):
    result = fire(policy(DENY_RM), b"{", "--host", host, "--fail", "closed", "--event", STOP[host])
    assert_unreadable(result, host, "not JSON")


def wrong(host, **changed):
    return {**tool_payload(host, "rm"), **changed}


WRONG_TYPES = {
    "tool_input a list": {"tool_input": ["rm"]},
    "tool_input null": {"tool_input": None},
    "tool_input a number": {"tool_input": 7},
    "command a number": {"tool_input": {"command": 7}},
    "command a list": {"tool_input": {"command": ["rm", "-rf", "/"]}},
    "tool_name null": {"tool_name": None},
    "tool_name empty": {"tool_name": ""},
    "tool_name an object": {"tool_name": {}},
}


@pytest.mark.parametrize("changed", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_types_inside_a_payload_are_an_error(policy, host, changed):
    if host == "contract" and changed == {"tool_name": ""}:
        changed = {"tool_name": 5}
    result = fire(policy(DENY_RM), wrong(host, **changed), "--host", host)
    assert_unreadable(result, host)


@pytest.mark.parametrize("changed", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_types_inside_a_payload_are_denied_when_closed(policy, host, changed):
    result = fire(policy(DENY_RM), wrong(host, **changed), "--host", host, "--fail", "closed", "--event", PRE[host])
    assert_blocked(result, host)


@pytest.mark.parametrize("name", ["claude", "codex", "cursor"])
def test_the_event_that_a_wrong_payload_names_decides_whether_it_is_denied(policy, name):
    tool_call = {**tool_payload(name), "tool_name": None}
    assert_blocked(fire(policy(DENY_RM), tool_call, "--host", name, "--fail", "closed"), name, "tool name")
    stop = {**stop_payload(name), "tool_name": None}
    assert_error(fire(policy(DENY_RM), stop, "--host", name, "--fail", "closed"), "tool name")


@pytest.mark.parametrize("event", [[], {}, 7, None, "NoSuchEvent"], ids=repr)
@pytest.mark.parametrize("arguments", [("--host", "claude"), ("--host", "cursor"), ()], ids=["claude", "cursor", "detected"])
def test_an_event_name_of_another_kind_is_an_error(policy, event, arguments):
    payload = {**tool_payload("claude"), "hook_event_name": event}
    assert_error(fire(policy(DENY_RM), payload, *arguments))
    assert_blocked_blindly(fire(policy(DENY_RM), payload, *arguments, "--fail", "closed"))


ENCODINGS = {
    "UTF-8": lambda text: text.encode(),
    "UTF-8 with a BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16 with a BOM": lambda text: text.encode("utf-16"),
    "UTF-16 big-endian with a BOM": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "blanks around": lambda text: f"\r\n\t {text} \n\n".encode(),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_every_encoding_of_a_payload_reaches_the_handler(policy, host, encode):
    text = json.dumps(tool_payload(host, "rm -rf caf\u00e9 \U0001f600"), ensure_ascii=False)
    result = fire(policy("return deny(event.command)"), encode(text), "--host", host)
    assert reason_of(result, host) == "rm -rf caf\u00e9 \U0001f600"


def test_a_payload_of_10_megabytes_works(policy, host, isolation):
    big = tool_payload(host, "rm", description="x" * 10_000_000)
    result = fire(policy("return deny(str(len(event.tool_input['description'])))"), big, "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "10000000"


def test_a_reason_of_3_megabytes_works(policy, host, isolation):
    result = fire(policy("return deny('x' * 3_000_000)"), tool_payload(host), "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "x" * 3_000_000


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_payload_over_the_cap_is_read_to_its_end_and_refused(policy, fail):
    hook = subprocess.Popen(
        launcher(policy(DENY_RM), "--host", "claude", "--event", "PreToolUse", "--fail", fail),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert hook.stdin is not None
    block = b" " * (1 << 20)
    for _ in range((MAX_PAYLOAD >> 20) + 2):
        hook.stdin.write(block)  # raises BrokenPipeError if the hook has gone
    hook.stdin.flush()
    stdout, stderr = hook.communicate(timeout=PATIENCE)
    assert b"larger than 64 MB" in stderr
    assert hook.returncode == (2 if fail == "closed" else 1)
    assert bool(stdout) == (fail == "closed")


def test_lone_surrogates_go_in_and_out(policy, host, isolation):
    data = json.dumps(tool_payload(host, "rm \ud800 x")).encode()  # as an escape, which is how hosts send it
    result = fire(policy("print(event.command)\nreturn deny(event.command)"), data, "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "rm \ud800 x"


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_printing_what_the_locale_cannot_spell_does_not_break_a_handler(policy, isolation, locale):
    payload = tool_payload("claude", "rm \u2192 \ud800")
    result = fire(policy("print(event.command)\nreturn deny('no')"), payload, "--isolation", isolation, env={"LC_ALL": locale})
    assert reason_of(result, "claude") == "no"
    assert "\\ud800" in result.stderr


def test_a_number_without_a_json_form_in_the_input_cannot_turn_a_rewrite_into_an_allow(policy, isolation):
    data = json.dumps(tool_payload("claude", "ls", x=7)).replace("7}", "1e999}").encode()
    rewrite = "return allow(modified_input={'command': 'true'})"
    assert_blocked(fire(policy(rewrite, options="fail='closed'"), data, "--isolation", isolation), "claude", "as JSON")
    assert_error(fire(policy(rewrite), data, "--isolation", isolation), "as JSON")


def start(arguments, closing, **streams):
    """A hook with some of its descriptors closed, as a careless host starts it."""
    shell = " ".join(f"{descriptor}{'<' if descriptor == 0 else '>'}&-" for descriptor in closing)
    words = launcher(*arguments)
    return subprocess.run(["sh", "-c", f'exec "$@" {shell}', "sh", *words], timeout=PATIENCE, check=False, **streams)


def test_a_closed_stdin_is_an_empty_payload(policy):
    done = start([policy(DENY_RM), "--host", "claude"], [0], capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"the payload is empty" in done.stderr
    done = start([policy(DENY_RM), "--host", "claude", "--fail", "closed"], [0], capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("closing", [[1], [2], [1, 2]], ids=["stdout", "stderr", "both"])
def test_closed_outputs_leave_the_exit_code_and_the_rest(policy, isolation, closing):
    path = policy("import os\nprint('noise', flush=True)\nos.system('echo more')\nreturn deny('no')")
    arguments = [path, "--host", "claude", "--isolation", isolation]
    done = start(arguments, closing, input=json.dumps(tool_payload("claude")).encode(), capture_output=True)
    assert done.returncode == 2
    if 1 not in closing:
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    else:
        assert done.stdout == b""
    assert (done.stderr == b"noise\nmore\nno\n") == (2 not in closing)


@pytest.mark.parametrize("broken", ["stdout", "stderr"])
def test_a_broken_pipe_leaves_the_exit_code(policy, isolation, broken):
    read_end, write_end = os.pipe()
    os.close(read_end)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, broken: write_end}
    words = launcher(policy("print('noise')\nreturn deny('no')"), "--host", "claude", "--isolation", isolation)
    done = subprocess.run(words, input=json.dumps(tool_payload("claude")).encode(), timeout=PATIENCE, check=False, **streams)
    os.close(write_end)
    assert done.returncode == 2
    assert (done.stdout or done.stderr) and b"Traceback" not in (done.stdout or b"") + (done.stderr or b"")


def test_non_blocking_pipes_are_read_and_written_whole(policy, isolation):
    stdin_read, stdin_write = os.pipe()
    stdout_read, stdout_write = os.pipe()
    for descriptor in (stdin_read, stdout_write):
        os.set_blocking(descriptor, False)
    words = launcher(policy("return deny('x' * 500_000)"), "--host", "claude", "--isolation", isolation)
    hook = subprocess.Popen(words, stdin=stdin_read, stdout=stdout_write, stderr=subprocess.DEVNULL)
    os.close(stdin_read)
    os.close(stdout_write)
    data = json.dumps(tool_payload("claude", "y" * 500_000)).encode()
    with open(stdin_write, "wb") as stdin:
        stdin.write(data)
    with open(stdout_read, "rb") as stdout:
        answer = json.load(stdout)
    assert hook.wait(PATIENCE) == 2
    assert len(answer["hookSpecificOutput"]["permissionDecisionReason"]) == 500_000


def test_a_stdin_that_is_never_closed_ends_at_the_deadline(policy, host):
    read_end, write_end = os.pipe()
    os.write(write_end, json.dumps(tool_payload(host)).encode())
    arguments = ("--host", host, "--event", PRE[host], "--timeout", "0.3", "--fail", "closed")
    done = subprocess.run(launcher(policy(DENY_RM), *arguments), stdin=read_end, capture_output=True, timeout=PATIENCE, check=False)
    os.close(read_end)
    os.close(write_end)
    assert b"stdin was not closed within 0.3 s" in done.stdout + done.stderr
    assert done.returncode == (0 if host == "cursor" else 2)
