"""fail=open and fail=closed, for everything that can go wrong in a policy."""

from __future__ import annotations

import os

import pytest
from harness import (
    ANY,
    HOSTS,
    ISOLATIONS,
    POST,
    STOP,
    answered,
    assert_blocked,
    assert_blocked_blindly,
    assert_error,
    fire,
    native,
    policy_text,
    reason_of,
    spread,
    stop_payload,
    tool_payload,
    with_tool,
)

from onehook.hostkit.reverse import sample
from onehook.hosts import load

BROKEN_FILES = {
    "missing": (None, "cannot be read: No such file"),
    "a folder": ("folder", "cannot be read: Is a directory"),
    "a link to itself": ("loop", "cannot be read: Too many levels"),
    "a syntax error": (b"def (:\n", "SyntaxError"),
    "a NUL in it": (b"x = 1\n\0\n", "null bytes"),
    "Latin-1": (b"x = 'caf\xe9'\n", "SyntaxError"),
    "UTF-16": ("from onehook import Hooks\nhooks = Hooks()".encode("utf-16"), "Error"),  # ValueError up to 3.11.3
    "an unknown encoding": (b"# coding: no-such\n", "SyntaxError"),
    "raises": (b"raise ValueError('bang')", "the policy raised ValueError: bang"),
    "sys.exit()": (b"import sys; sys.exit()", "the policy raised SystemExit"),
    "sys.exit(0)": (b"import sys; sys.exit(0)", "the policy raised SystemExit: 0"),
    "a missing module": (b"import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
    "an unknown event": (b"from onehook import Hooks\nHooks().on('PreTool')", "did you mean 'PreToolUse'"),
    "a bad option": (b"from onehook import Hooks\nHooks(fail='close')", "must be one of open, closed"),
    "KeyboardInterrupt": (b"raise KeyboardInterrupt", "KeyboardInterrupt"),
    "nested too deeply": (b"x = " + b"(" * 5000 + b")" * 5000, "the policy raised"),
    "an error whose text is an error": (b"class E(Exception):\n  def __str__(self): raise E\nraise E", "the policy raised E"),
}
# Only a separate process survives these, as the documentation of thread isolation states.
DEADLY = {
    "os._exit(0)": b"import os; os._exit(0)",
    "a signal": b"import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "SIGKILL": b"import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "stopped": b"import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "the answer's pipe closed": b"import os; os.closerange(3, 64)",
    "exit with a daemon left": b"import os\nif os.fork():\n  os._exit(0)\nimport time; time.sleep(30)",
}


def broken(tmp_path, content):
    path = tmp_path / "broken.py"
    if content == "folder":
        path.mkdir()
    elif content == "loop":
        path.symlink_to(path)
    elif content is not None:
        path.write_bytes(content)
    return path


@spread(BROKEN_FILES, ISOLATIONS, names="case, isolation, host")
def test_a_policy_that_cannot_be_loaded_blocks_when_closed(tmp_path, host, isolation, case):
    content, text = case
    path = broken(tmp_path, content)
    result = fire(path, tool_payload(host), "--host", host, "--fail", "closed", "--isolation", isolation)
    assert_blocked(result, host, text)


@spread(BROKEN_FILES, ISOLATIONS, names="case, isolation, host")
def test_a_policy_that_cannot_be_loaded_is_an_error_when_open(tmp_path, isolation, host, case):
    content, text = case
    path = broken(tmp_path, content)
    assert_error(fire(path, tool_payload(host), "--host", host, "--isolation", isolation), text, host=host)


@spread(DEADLY)
def test_a_policy_that_ends_its_process_while_loading_has_not_answered(tmp_path, host, case):
    path = broken(tmp_path, case)
    assert_blocked(fire(path, tool_payload(host), "--host", host, "--fail", "closed"), host)
    assert_error(fire(path, tool_payload(host), "--host", host), host=host)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_policy_that_may_not_be_read_blocks_when_closed(policy, host):
    path = policy()
    path.chmod(0)
    assert_blocked(fire(path, tool_payload(host), "--host", host, "--fail", "closed"), host, "Permission denied")


HANDLERS = {
    "raises": ("raise ValueError('bang')", "handler 'guard' raised ValueError: bang"),
    "sys.exit": ("import sys; sys.exit(0)", "raised SystemExit"),
    "returns True": ("return True", "returned bool"),
    "returns an unknown decision": ("return {'decision': 'block'}", "unknown decision 'block'"),
    "returns an unknown key": ("return {'decison': 'deny'}", "unknown key 'decison'"),
    "returns a reason that is no text": ("return {'decision': 'deny', 'reason': 7}", "reason must be a str"),
    "a rewrite that is not JSON": ("return allow(modified_input={'x': b'x'})", "cannot be written as JSON"),
    "a rewrite in a circle": ("x = {}\nx['x'] = x\nreturn allow(modified_input=x)", "cannot be written as JSON"),
    "a rewrite with NaN": ("return allow(modified_input={'x': float('nan')})", "cannot be written as JSON"),
    "MemoryError": ("raise MemoryError", "raised MemoryError"),
    "too much memory": ("x = bytes(1 << 62)", "raised MemoryError"),
    "recursion": ("return guard(event)", "raised RecursionError"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
    "GeneratorExit": ("raise GeneratorExit", "raised GeneratorExit"),
    "closes stdout and raises": ("import sys; sys.stdout.close(); sys.stderr.close(); raise ValueError('bang')", "bang"),
    "deletes stdout and raises": ("import sys; del sys.stdout, sys.stderr; raise ValueError('bang')", "bang"),
}
DEADLY_HANDLERS = {
    "os._exit(0)": "import os; os._exit(0)",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "abort": "import os; os.abort()",
    "the answer's pipe closed": "import os; os.closerange(3, 64); return deny('no')",
    "noise in the answer's pipe": """
        import os
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"x")
            except OSError:
                pass
        return deny("no")
    """,
}


@spread(HANDLERS, ISOLATIONS, names="case, isolation, host")
def test_a_handler_that_fails_blocks_when_closed(policy, host, isolation, case):
    body, text = case
    result = fire(policy(body, options="fail='closed'"), tool_payload(host), "--host", host, "--isolation", isolation)
    assert_blocked(result, host, text)


@spread(HANDLERS, ISOLATIONS, names="case, isolation, host")
def test_a_handler_that_fails_is_an_error_when_open(policy, isolation, host, case):
    body, text = case
    # The comment must not count: the policy was loaded, and did not say anything about failing closed.
    path = policy(body, top="# not fail='closed'\n")
    assert_error(fire(path, tool_payload(host), "--host", host, "--isolation", isolation), text, host=host)


@spread(DEADLY_HANDLERS)
def test_a_handler_that_ends_its_process_has_not_answered(policy, host, case):
    assert_blocked(fire(policy(case, options="fail='closed'"), tool_payload(host), "--host", host), host)
    assert_error(fire(policy(case), tool_payload(host), "--host", host), host=host)


@pytest.mark.parametrize(
    "message", ["bang", "two\nlines", "", "caf\u00e9", "x" * 100_000], ids=["a word", "lines", "empty", "letters", "long"]
)
def test_whatever_goes_wrong_is_a_denial_in_the_words_of_every_host_when_closed(message):
    def hooks():
        raise ValueError(message)

    for host in HOSTS:
        assert_blocked(answered(host, tool_payload(host), hooks, fail="closed"), host, f"ValueError: {message}".rstrip(": "))
        assert_error(answered(host, tool_payload(host), hooks), "ValueError", host=host)
        assert_error(answered(host, stop_payload(host), hooks, fail="closed"), "ValueError", host=host)


@spread(ISOLATIONS, names="isolation, host")
def test_the_traceback_of_a_handler_is_shown_and_is_not_the_reason(policy, host, isolation):
    path = policy("raise ValueError('bang')", options="fail='closed'")
    result = fire(path, tool_payload(host), "--host", host, "--isolation", isolation)
    assert "Traceback" in result.stderr and str(path) in result.stderr
    assert reason_of(result, host) == "onehook: handler 'guard' raised ValueError: bang (blocked: fail=closed)"


SLOW = {
    "time.sleep": "import time; time.sleep(100)",
    "a busy loop": "while True: pass",
    "a loop that prints": "while True: print('x' * 100, flush=True)",
    "an async handler": "import asyncio; asyncio.run(asyncio.sleep(100))",
    "a child": "import subprocess; subprocess.run(['sleep', '5'])",
    "a lock": "import threading; threading.Lock().acquire(); x = threading.Lock(); x.acquire(); x.acquire()",
    "signals ignored": """
        import signal, time
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(100)
    """,
}
# C code that holds the interpreter lock: a thread cannot end it.
SLOW_IN_C = {
    "a regular expression": "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
    "sum": "sum(range(10 ** 12))",
    "a power": "3 ** 10 ** 9",
}


@spread(SLOW, ISOLATIONS, names="body, isolation, host")
def test_a_deadline_that_passes_blocks_when_closed(policy, host, isolation, body):
    arguments = ("--host", host, "--isolation", isolation, "--timeout", "0.3", "--fail", "closed")
    assert_blocked(fire(policy(body), tool_payload(host), *arguments), host, "the policy took longer than 0.3 s")


@spread(SLOW, ISOLATIONS, names="body, isolation, host")
def test_a_deadline_that_passes_is_an_error_when_open(policy, host, isolation, body):
    result = fire(policy(body), tool_payload(host), "--host", host, "--timeout", "0.3", "--isolation", isolation)
    assert_error(result, "the policy took longer than 0.3 s", host=host)


@spread(SLOW_IN_C, names="body, host")
def test_a_deadline_ends_c_code_that_never_gives_the_interpreter_back(policy, host, body):
    path = policy(body, options="fail='closed', timeout=0.3")
    assert_blocked(fire(path, tool_payload(host), "--host", host), host, "the policy took longer than 0.3 s")


@spread({"sleep": "import time; time.sleep(100)", "loop": "while True: pass"}, ISOLATIONS, names="top, isolation, host")
def test_the_deadline_holds_while_the_policy_is_loaded(policy, host, isolation, top):
    arguments = ("--host", host, "--isolation", isolation, "--timeout", "0.3", "--fail", "closed")
    assert_blocked(fire(policy(top=top), tool_payload(host), *arguments), host, "the policy took longer than 0.3 s")


def test_a_fifo_for_a_policy_ends_at_the_deadline(tmp_path):
    path = tmp_path / "policy.py"
    os.mkfifo(path)
    assert_error(fire(path, tool_payload(ANY), "--timeout", "0.3"), "the policy took longer than 0.3 s")


SAYS_CLOSED = {
    "does not parse": "hooks = Hooks(fail='closed')\ndef (:\n",
    "spaces": 'hooks = Hooks( fail = "closed" )\ndef (:\n',
    "lines": "hooks = Hooks(\n    fail=\n    'closed',\n)\ndef (:\n",
    "a mapping": "hooks = Hooks(**{'fail': 'closed'})\ndef (:\n",
    "raises before Hooks": "raise ValueError\nhooks = Hooks(fail='closed')\n",
    "raises after Hooks": "from onehook import Hooks\nname = 'closed'\nhooks = Hooks(fail=name)\nraise ValueError\n",
    "another Hooks after it": "from onehook import Hooks\nname = 'closed'\nhooks = Hooks(fail=name)\nother = Hooks()\nraise ValueError\n",
    "ambiguous": "from onehook import Hooks\na = Hooks(fail='closed')\nb = Hooks()\n",
    "a NUL": "fail='closed'\0",
}


@spread(SAYS_CLOSED, ISOLATIONS, names="source, isolation, host")
def test_fail_closed_in_the_policy_alone_holds_for_a_policy_that_cannot_be_loaded(tmp_path, host, isolation, source):
    path = broken(tmp_path, source.encode())
    assert_blocked(fire(path, tool_payload(host), "--host", host, "--isolation", isolation), host)


def test_fail_closed_is_seen_in_a_policy_saved_as_utf_16(tmp_path):
    path = broken(tmp_path, "hooks = Hooks(fail='closed')".encode("utf-16"))
    assert_blocked(fire(path, tool_payload(ANY)), ANY)


def test_the_command_line_wins_over_the_policy(policy, isolation):
    path = policy("raise ValueError", options="fail='closed'")
    assert_error(fire(path, tool_payload(ANY), "--fail", "open", "--isolation", isolation))
    path = policy("raise ValueError", options="fail='open'")
    assert_blocked(fire(path, tool_payload(ANY), "--fail", "closed", "--isolation", isolation), ANY)


BAD_ANYWHERE = {
    "unparseable": "hooks = Hooks(fail='closed')\ndef (:\n",
    "raising handler": policy_text("raise ValueError", event="Stop", options="fail='closed'"),
    "endless handler": policy_text("while True: pass", event="Stop", options="fail='closed', timeout=0.3"),
}


@spread(BAD_ANYWHERE, ISOLATIONS, names="source, isolation, host")
def test_an_error_on_a_stop_never_sends_the_agent_back_to_work(tmp_path, host, isolation, source):
    path = broken(tmp_path, source.encode())
    arguments = ("--host", host, "--fail", "closed", "--isolation", isolation, "--event", STOP[host])
    assert_error(fire(path, stop_payload(host, active=True), *arguments), host=host)


@spread(ISOLATIONS, names="isolation, host")
def test_an_error_after_a_tool_ran_is_an_error_even_when_closed(policy, host, isolation):
    path = policy("raise ValueError('bang')", event="PostToolUse", options="fail='closed'")
    payload = tool_payload(host, unified="PostToolUse")
    assert_error(fire(path, payload, "--host", host, "--event", POST[host], "--isolation", isolation), "bang", host=host)


@pytest.mark.parametrize(
    "host", [h for h in HOSTS if any(row.event == "PermissionRequest" and row.gates for row in load(h).EVENTS.values())]
)
def test_a_permission_request_that_cannot_be_read_is_denied_in_a_form_that_the_agent_reads(policy, host):
    name = native(host, "PermissionRequest")
    event = load(host).parse(load(host, "reverse").payload(sample("PermissionRequest", "Bash", command="ls"), name), name)
    payload = {key: None if value == event.native_tool else value for key, value in event.native.items()}
    result = fire(policy(), payload, "--host", host, "--fail", "closed", "--event", name)
    assert load(host, "reverse").answer(event, result.stdout, result.stderr, result.exit_code).decision == "deny", result


# ---- one of the agent's own tools, with the keys of another agent


@pytest.mark.parametrize("host", HOSTS)
def test_a_known_tool_with_the_keys_of_another_agent_is_reported_and_under_fail_closed_denied(tmp_path, host):
    policy = tmp_path / "policy.py"
    policy.write_text(policy_text("return deny('no')"))
    payload = with_tool(host, tool_payload(host), input={"elsewhere": "rm -rf /"})
    text = "the tool's input has no 'command"  # or 'commands'
    named = ("--host", host, "--event", native(host, "PreToolUse"))
    opened, closed = fire(policy, payload, *named), fire(policy, payload, *named, "--fail", "closed")
    assert text in opened.stderr and opened.exit_code != 2 and "deny" not in opened.stdout, opened
    if closed.stdout:
        assert_blocked(closed, host, text)
    else:
        assert_blocked_blindly(closed, text)
