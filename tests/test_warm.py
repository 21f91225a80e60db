"""A launcher in a fork gives the same result as one that was started for the event."""

from __future__ import annotations

import _socket
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import warm
from harness import ANY, clean_environment, cold_fire, encoded, fire, launcher, tool_payload

from onehook.resident.asking import HEAD

pytestmark = pytest.mark.skipif(not warm.POSSIBLE, reason="no fork here")

# Everything that a process is given, except its parent, group and session.
SHOW = """
print(sys.argv, sys.flags, sys.path, os.getcwd(), os.umask(0), sorted(os.environ.items()), sys.stdout.encoding, gc.isenabled())
print([os.fstat(number).st_mode for number in range(3)], signal.pthread_sigmask(signal.SIG_BLOCK, ()))
os.system("env | sort")
return deny("no")
"""


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_it_is_given_what_a_new_process_is_given(policy, tmp_path, host):
    asked = (policy(SHOW, top="import gc, os, signal, sys"), tool_payload(host), "--host", host)
    forked, started = (way(*asked, env={"SOME": "é"}, cwd=tmp_path) for way in (fire, cold_fire))
    assert repr(forked) == repr(started)
    assert "('SOME', 'é')" in forked.stderr and "SOME=é" in forked.stderr and str(tmp_path) in forked.stderr


def test_the_interpreter_is_not_started_again(policy):
    path = policy("print('PARENT', os.popen(f'ps -o ppid= -p {os.getppid()}').read())", top="import os")
    parents = {fire(path, tool_payload(ANY)).stderr.split()[1] for _ in range(3)}
    assert len(parents - {str(os.getpid())}) == 1  # this process, if the server was outdated


@pytest.mark.parametrize("leaves", ["at once", "after the request", "after all was handed over"])
def test_what_a_server_has_not_read_is_run_again(policy, monkeypatch, leaves):
    ours, theirs = _socket.socketpair()

    def serve():
        theirs.send(b"R" + bytes([1, 0, 0, 0]))
        if leaves != "at once":
            size = int.from_bytes(theirs.recv(HEAD, _socket.MSG_WAITALL)[4:8], "little")
            theirs.recv(size, _socket.MSG_WAITALL)
        if leaves == "after all was handed over":
            theirs.recv(1)
        theirs.close()

    monkeypatch.setattr(warm, "connected", lambda: ours)
    server = threading.Thread(target=serve)
    server.start()
    result = fire(policy("return deny('no')"), tool_payload(ANY))
    server.join()
    assert result.exit_code == 2


def test_an_answer_and_a_payload_may_be_larger_than_a_pipe(policy):
    path = policy("return deny(event.command[::-1])")
    result = fire(path, tool_payload(ANY, "ab" * 1_000_000), "--host", ANY)
    assert "ba" * 1_000_000 in result.stdout


def test_a_signal_shows_in_the_exit_code(policy):
    assert fire(policy("os.kill(os.getppid(), 9)", top="import os"), tool_payload(ANY)).exit_code == -signal.SIGKILL


def test_what_takes_too_long_is_ended_and_the_next_is_not_disturbed(policy, tmp_path):
    path = policy("open('pid', 'w').write(str(os.getppid()))\ntime.sleep(60)", top="import os, time")
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run(launcher(path, "--host", ANY), encoded(tool_payload(ANY)), tmp_path, clean_environment(), 1)
    assert fire(policy("return deny('no')"), tool_payload(ANY)).exit_code == 2


def test_many_at_once_run_at_once(policy, tmp_path):
    """Each waits until all have started."""
    count = 4
    body = f"open(event.command, 'w')\nwhile len(os.listdir()) < {count}: time.sleep(0.01)\nreturn deny(event.command)"
    path = policy(body, top="import os, time")
    with ThreadPoolExecutor(count) as pool:
        results = list(pool.map(lambda name: fire(path, tool_payload(ANY, name), cwd=tmp_path), "abcd"))
    assert [one.exit_code for one in results] == [2] * count
