"""stdout is only for the host, and no child keeps the host waiting."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from harness import ANY, ISOLATIONS, PATIENCE, fire, launcher, process, reason_of, spread, tool_payload

from onehook.isolate import Noise, _Reader

NOISY = {
    "print": "print('NOISE')",
    "print without a newline": "print('NOISE', end='')",
    "print to stderr": "import sys; print('NOISE', file=sys.stderr)",
    "os.write": "import os; os.write(1, b'NOISE')",
    "invalid UTF-8": "import os; os.write(1, b'NOISE\\xff\\xfe')",
    "the shell": "import os; os.system('echo NOISE')",
    "a child": "import subprocess; subprocess.run(['echo', 'NOISE'])",
    "a child that was told fd 1": "import subprocess; subprocess.run(['echo', 'NOISE'], stdout=1)",
    "the original stdout": "import sys; sys.__stdout__.write('NOISE')",
    "a thread": "import threading; t = threading.Thread(target=print, args=('NOISE',)); t.start(); t.join()",
    "print, then stdout closed": "import sys; print('NOISE'); sys.stdout.close()",
    "print, then stdout replaced": "import io, sys; print('NOISE', flush=True); sys.stdout = io.StringIO(); print('lost')",
    "print, then stdout deleted": "import sys; print('NOISE', flush=True); del sys.stdout",
    "a logger": "import logging; logging.warning('NOISE')",
    "a warning": "import warnings; warnings.warn('NOISE')",
}


@spread(NOISY, ISOLATIONS, names="body, isolation, host")
def test_what_a_handler_prints_goes_to_stderr_and_not_into_the_answer(policy, host, isolation, body):
    result = fire(policy(f"{body}\nreturn deny('no')"), tool_payload(host), "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "no"
    assert "NOISE" in result.stderr and "NOISE" not in result.stdout


@spread(NOISY, ISOLATIONS, names="body, isolation, host")
def test_what_a_policy_prints_while_it_is_loaded_goes_to_stderr(policy, host, isolation, body):
    result = fire(policy("return deny('no')", top=body), tool_payload(host), "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "no"
    assert "NOISE" in result.stderr and "NOISE" not in result.stdout


def test_only_the_end_of_very_much_output_is_shown(policy, isolation):
    body = "print('x' * 5_000_000)\nprint('END')\nreturn deny('no')"
    result = fire(policy(body), tool_payload(ANY), "--isolation", isolation)
    assert reason_of(result, ANY) == "no"
    assert "END" in result.stderr and len(result.stderr) < 16 * 1024


FLOOD = """
    import os, time
    block = b"x" * (1 << 20)
    written = 0
    while written < 400:
        written += 1
        os.write(1, block)
        if written % 4 == 0:
            time.sleep(0.06)
    os.write(1, b"END")
    size, held = os.fstat(1).st_size, os.fstat(1).st_blocks * 512
    return deny(f"{size >> 20} MB written, {held >> 20} MB held")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks how much memory a file takes")
def test_what_a_policy_prints_does_not_fill_the_memory(policy, isolation):
    """A policy that prints 400 MB, slowly enough that the output is checked now and then even on a busy machine."""
    result = fire(policy(FLOOD), tool_payload(ANY), "--isolation", isolation, "--timeout", "50")
    written, held = (int(word) for word in reason_of(result, ANY).split() if word.isdigit())
    assert written >= 400 and held < 200
    assert "END" in result.stderr and len(result.stderr) < 16 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is thrown away")
def test_what_is_printed_while_output_is_thrown_away_is_kept(monkeypatch):
    noise = Noise()
    os.write(noise.descriptor, b"x" * 5_000_000)
    end_of, late = Noise._end, [b"END"]

    def end_and_more(self):
        end = end_of(self)
        os.write(self.descriptor, late.pop() if late else b"")
        return end

    monkeypatch.setattr(Noise, "_end", end_and_more)
    noise.trim()
    assert noise.text().endswith("xEND") and os.fstat(noise.descriptor).st_blocks == 0
    os.close(noise.descriptor)


def test_an_answer_that_is_too_large_is_an_error(policy):
    result = fire(policy("return deny('x' * 20_000_000)", options="fail='closed'"), tool_payload(ANY))
    assert "the policy's answer is larger than 16 MB" in reason_of(result, ANY)


def test_an_answer_is_not_read_on_after_the_deadline():
    """If every read succeeds, only the clock can end it."""
    read_end, write_end = os.pipe()
    os.write(write_end, b'{"response": {}}\n')
    reader = _Reader(read_end)
    reader.late = True
    try:
        assert not reader.line() and not reader.message
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a_host_that_reads_stdout_to_its_end_first_is_not_kept_waiting(policy, isolation):
    words = launcher(policy("print('x' * 5_000_000)\nreturn deny('no')"), "--host", ANY, "--isolation", isolation)
    hook = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert hook.stdin is not None and hook.stdout is not None and hook.stderr is not None
    with hook.stdin, hook.stdout, hook.stderr:
        hook.stdin.write(json.dumps(tool_payload(ANY)).encode())
        hook.stdin.close()
        assert json.loads(hook.stdout.read())
        assert hook.wait(PATIENCE) == 2


def test_an_atexit_function_runs_and_cannot_print_into_the_answer(policy, tmp_path):
    marker = tmp_path / "ran"
    body = f"import atexit\natexit.register(lambda: (print('NOISE'), open({str(marker)!r}, 'w').close()))\nreturn deny('no')"
    result = fire(policy(body), tool_payload(ANY))
    assert reason_of(result, ANY) == "no"
    for _ in range(200):
        if marker.exists():
            break
        time.sleep(0.05)
    assert marker.exists()


LEFT_BEHIND = {
    "a child": "child = subprocess.Popen(['sleep', '30']).pid",
    "a child in a session of its own": "child = subprocess.Popen(['sleep', '30'], start_new_session=True).pid",
    "a child with all descriptors": "child = subprocess.Popen(['sleep', '30'], close_fds=False).pid",
    "a forked copy": """
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    """,
    "a daemon forked twice": """
        read_end, write_end = os.pipe()
        first = os.fork()
        if first == 0:
            os.setsid()
            second = os.fork()
            if second == 0:
                time.sleep(30)
                os._exit(0)
            os.write(write_end, str(second).encode())
            os._exit(0)
        os.waitpid(first, 0)
        child = int(os.read(read_end, 32))
    """,
}


def alive(pid):
    """Whether it is running; a zombie that nobody has waited for does not count."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def leave_behind(what, pid_file, then):
    return f"import os, subprocess, time\n{textwrap.dedent(what).strip()}\nopen({str(pid_file)!r}, 'w').write(str(child))\n{then}"


@pytest.mark.parametrize("what", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_a_child_left_behind_keeps_no_stream_of_the_host_open(policy, isolation, tmp_path, what):
    pid_file = tmp_path / "pid"
    path = policy(leave_behind(what, pid_file, "return deny('no')"))
    # Reads both pipes to the end; if one of them were held open, this would take 30 seconds.
    result = fire(path, tool_payload(ANY), "--isolation", isolation, "--timeout", "20")
    child = int(pid_file.read_text())
    try:
        assert reason_of(result, ANY) == "no"
        assert alive(child), "the child had ended before the streams did"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("what", [LEFT_BEHIND["a child"], LEFT_BEHIND["a forked copy"]], ids=["a child", "a forked copy"])
@pytest.mark.parametrize("end", ["time.sleep(100)", "os._exit(0)"], ids=["deadline", "exit"])
def test_the_children_of_a_handler_without_an_answer_are_ended_with_it(policy, tmp_path, what, end):
    pid_file = tmp_path / "pid"
    result = fire(policy(leave_behind(what, pid_file, end)), tool_payload(ANY), "--timeout", "1")
    assert result.exit_code == 1
    child = int(pid_file.read_text())
    for _ in range(200):
        if not alive(child):
            break
        time.sleep(0.05)
    assert not alive(child)


SCRIPT_END = "\nif __name__ == '__main__':\n    from onehook import run\n    run(hooks)\n"


@spread(NOISY, ISOLATIONS, names="body, isolation, host")
def test_a_policy_that_is_its_own_program_keeps_stdout_clean_too(policy, host, isolation, body):
    path = policy(f"{body}\nreturn deny('no')")
    path.write_text(path.read_text() + SCRIPT_END)
    result = process([sys.executable, path, "--host", host, "--isolation", isolation], tool_payload(host))
    assert reason_of(result, host) == "no"
    assert "NOISE" in result.stderr and "NOISE" not in result.stdout


@spread(ISOLATIONS, names="isolation, host")
def test_what_such_a_program_printed_before_run_does_not_follow_the_answer(policy, host, isolation):
    path = policy("return deny('no')", top="print('NOISE')")
    path.write_text(path.read_text() + SCRIPT_END)
    result = process([sys.executable, path, "--host", host, "--isolation", isolation], tool_payload(host))
    assert reason_of(result, host) == "no"
    assert "NOISE" in result.stderr and "NOISE" not in result.stdout
