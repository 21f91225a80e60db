"""What goes wrong before the policy is asked or after it has answered: onehook itself cannot start, or nobody receives the answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import pytest
from harness import ANY, HOSTS, PACKAGE, PATIENCE, Result, answered, encoded, launcher, process, tool_payload

from onehook.core import STOPS
from onehook.hosts import load
from onehook.launch import RARELY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits and descriptors")

CLOSED = ("--host", ANY, "--event", "PreToolUse", "--fail", "closed")


@pytest.fixture(scope="module", params=["a module is missing", "a module is cut off", "the package is empty"])
def broken(request, tmp_path_factory):
    """An installation that is being replaced; returns its launcher."""
    package = tmp_path_factory.mktemp("lib") / "onehook"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if request.param == "a module is missing":
        (package / "core.py").unlink()
    elif request.param == "a module is cut off":
        source = (package / "words.py").read_bytes()
        (package / "words.py").write_bytes(source[: source.index(b"def ") + 6])
    else:
        for path in package.glob("*.py"):
            if path.name != "launch.py":
                path.unlink()
    return str(package / "launch.py")


def test_an_installation_that_cannot_be_imported_denies_under_fail_closed(broken, policy):
    result = process(launcher(policy(), *CLOSED, launch=broken), tool_payload(ANY))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "onehook cannot be started" in result.stderr and "(blocked: fail=closed)" in result.stderr


@pytest.mark.parametrize(
    "words", [("--event", "PreToolUse"), ("--event", "Stop", "--fail", "closed"), ("--event=PostToolUse", "--fail=closed")]
)
def test_it_is_an_error_elsewhere(broken, policy, words):
    result = process(launcher(policy(), "--host", ANY, *words, launch=broken), tool_payload(ANY))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "[onehook] error: onehook cannot be started" in result.stderr


def test_the_launcher_knows_the_events_that_can_be_stopped():
    gating = {row.event for host in HOSTS for row in load(host).EVENTS.values() if row.gates} - set(STOPS)
    made: dict[str, Any] = {}
    exec(RARELY, made)
    assert set(made["STOPPABLE"]) == gating | {""}


def limited(path, limit, value):
    """A hook under a limit; the command line is that of a shell that sets it."""
    words = launcher(path, *CLOSED)
    return process(["/bin/sh", "-c", f'ulimit -{limit} {value}; exec "$@"', "sh", *words], tool_payload(ANY))


@pytest.mark.parametrize("descriptors", range(4, 12))
def test_too_few_descriptors_are_never_an_allow(policy, descriptors):
    result = limited(policy("return deny('no')"), "n", descriptors)
    assert result.exit_code == 2, result


@pytest.mark.skipif(sys.platform != "linux", reason="how much memory an interpreter needs differs")
@pytest.mark.parametrize("kilobytes", range(14_000, 34_000, 2_000))
def test_too_little_memory_is_never_an_allow_once_the_interpreter_runs(policy, kilobytes):
    compiling = "import sys; compile(open(sys.argv[1]).read(), 'launch', 'exec')"  # until then, only the shell's guard can deny
    words = [sys.executable, "-I", "-S", "-c", compiling, str(PACKAGE / "launch.py")]
    bare = subprocess.run(["/bin/sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", *words], check=False, capture_output=True)
    result = limited(policy("return deny('no')"), "v", kilobytes)
    assert result.exit_code == 2 or bare.returncode, result


# --- nobody receives the answer --------------------------------------------------------------------------------------------------


def redirected(host, path, redirection, *words):
    line = f'exec "$@" {redirection}'
    argv = ["/bin/sh", "-c", line, "sh", *launcher(path, "--host", host, *words)]
    done = subprocess.run(argv, input=encoded(tool_payload(host)), capture_output=True, timeout=PATIENCE, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


LOST = [name for name in (">&-", ">/dev/full") if name == ">&-" or os.path.exists("/dev/full")]


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("host", HOSTS)
def test_a_deny_that_cannot_be_written_is_not_an_exit_0(policy, host, isolation, lost):
    result = redirected(host, policy("return deny('no')"), lost, "--isolation", isolation)
    assert result.exit_code == 2 and result.stderr.strip(), result


@pytest.mark.parametrize("host", HOSTS)
def test_nor_is_a_rewrite(policy, host):
    path = policy("return allow(modified_input={'command': 'true'})")
    spoken = answered(host, tool_payload(host), _rewriting)
    result = redirected(host, path, ">/dev/full")
    assert result.exit_code == (2 if '"true"' in spoken.stdout else 0), result  # not every agent takes a rewrite here


def _rewriting():
    from onehook import Hooks, allow

    hooks = Hooks()
    hooks.on("PreToolUse")(lambda event: allow(modified_input={"command": "true"}))
    return hooks


@pytest.mark.parametrize("lost", [f"2{name}" for name in LOST])
@pytest.mark.parametrize("host", HOSTS)
def test_a_deny_whose_reason_cannot_be_written_is_still_one(policy, host, isolation, lost):
    result = redirected(host, policy("return deny('no')"), lost, "--isolation", isolation)
    event = load(host).parse(tool_payload(host), "")
    assert load(host, "reverse").answer(event, result.stdout, "", result.exit_code).decision == "deny", result


def test_an_allow_that_cannot_be_written_is_none_of_these(policy):
    assert redirected(ANY, policy(), ">/dev/full").exit_code == 0
