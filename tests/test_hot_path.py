"""Every event is a new process: what it imports, and that it works on every interpreter on this machine."""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ANY, ISOLATIONS, PRE, assert_blocked, honours, launcher, policy_text, reason_of, spread, stop_payload, tool_payload
from harness import cold_fire as fire
from harness import cold_process as process

from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load

# Each of these costs a millisecond or more, or does work that a decision does not need.
BANNED = (
    "argparse", "ast", "asyncio", "click", "collections", "contextlib", "contextvars", "copy", "dataclasses",
    "datetime", "difflib", "enum", "fnmatch", "functools", "hashlib", "heapq", "importlib.metadata", "importlib.util", "inspect", "json",
    "json.decoder", "linecache", "locale", "logging", "operator", "pathlib", "platform", "random", "re", "rich", "selectors", "shutil",
    "signal", "site", "socket", "string", "struct", "subprocess", "tempfile", "textwrap", "threading", "tokenize", "tomlkit", "traceback",
    "types", "typing", "typing_extensions", "unittest", "urllib", "uuid", "warnings", "weakref", "zipfile",
)  # fmt: skip
SHOW = "import sys\nsys.stderr.write('MODULES ' + ' '.join(sorted(sys.modules)) + '\\n')\nreturn deny('no')"


def modules_of(result):
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("MODULES ")]
    return set(line.split()[1:])


def imported(words, payload):
    """The modules that a whole run imported, including the answer, as reported by the interpreter.

    Modules that the launcher takes from the cache without an import are not included: runner.py, and what it needs.
    """
    result = process([words[0], "-X", "importtime", *words[1:]], payload)
    account = [line for line in result.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in account} - {"imported package"}


@spread(ISOLATIONS, names="isolation, host")
def test_a_deny_imports_nothing_from_the_ban_list(policy, host, isolation):
    result = fire(policy(SHOW), tool_payload(host), "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "no"
    assert modules_of(result).isdisjoint(BANNED)


@pytest.fixture(scope="module")
def modules_of_a_deny(tmp_path_factory):
    """The modules that a host's deny has loaded. The first event may have to compile, so this is the second."""
    path = tmp_path_factory.mktemp("deny") / "policy.py"
    path.write_text(policy_text(SHOW), encoding="utf-8")
    return functools.cache(lambda host: [modules_of(fire(path, tool_payload(host), "--host", host)) for _ in range(2)][1])


def test_a_deny_does_without_os(modules_of_a_deny, host):
    """os and what it imports cost a millisecond."""
    modules = modules_of_a_deny(host)
    assert modules.isdisjoint({"os", "stat", "posixpath", "genericpath", "_collections_abc", "__future__"})


def test_nothing_from_the_ban_list_is_imported_to_write_the_answer_either(policy, host):
    modules = imported(launcher(policy("return deny('no')"), "--host", host), tool_payload(host))
    assert f"onehook.hosts.{host}.wire" in modules, "the account was not understood"
    assert modules.isdisjoint(BANNED)


@spread(["allow", "no opinion", "no handler", "rewrite", "file change"], names="what, host")
def test_the_other_ways_import_nothing_from_the_ban_list(policy, host, what):
    body = {"allow": "return allow()", "rewrite": "return allow(modified_input={'command': 'true'})", "file change": "event.changes"}
    event = "SessionEnd" if what == "no handler" else "PreToolUse"
    payload = tool_payload(host)
    if what == "file change":
        payload = load(host, "reverse").payload(sample("PreToolUse", "Write", file_path="/x", content="", cwd="/p"), PRE[host])
    modules = imported(launcher(policy(body.get(what, ""), event=event), "--host", host), payload)
    assert f"onehook.hosts.{host}.wire" in modules
    assert modules.isdisjoint(BANNED)


def test_only_the_modules_that_one_host_needs_are_loaded(modules_of_a_deny, host):
    own = {name for name in modules_of_a_deny(host) if name.startswith("onehook")}
    source = Path(load(host).__file__).read_text(encoding="utf-8")
    built_on = [other for other in HOSTS if f"from onehook.hosts.{other} " in source or f"from onehook.hosts.{other}." in source]
    assert own == {
        "onehook", "onehook.codec", "onehook.core", "onehook.hosts", "onehook.hostkit", "onehook.hostkit.effects", "onehook.hostkit.tools",
        "onehook.isolate", "onehook.cache", "onehook.logger", "onehook.policy", "onehook.runner", "onehook.system", "onehook.words",
        "onehook_policy",
        *(f"onehook.hosts.{name}{part}" for name in (host, *built_on) for part in ("", ".wire")),
    }  # fmt: skip


def test_a_stop_adds_only_the_guard_and_a_hash(policy, host):
    modules = modules_of(fire(policy(SHOW.replace("return deny('no')", ""), event="Stop"), stop_payload(host), "--host", host))
    assert modules.isdisjoint(BANNED)
    after = imported(launcher(policy("return deny('no')", event="Stop"), "--host", host), stop_payload(host))
    assert "onehook.stopguard" in after
    assert after.isdisjoint(set(BANNED) - {"hashlib"})


@pytest.mark.parametrize("options, held", [("", False), ('ask_via="agent"', False), ('ask_via="desk-always", ask_wait=0.1', True)])
def test_only_an_ask_that_is_held_loads_the_desk(policy, options, held):
    asks = launcher(policy("return ask('right?')", options=options), "--host", ANY)
    process(asks, tool_payload(ANY))  # what is compiled now is cached
    modules = imported(asks, tool_payload(ANY))
    assert {name for name in modules if name.startswith("onehook.desk")} == ({*_DESK} if held else set())
    assert held or modules.isdisjoint(BANNED)


# The event waits for a person anyway, so listening may cost a little; what is only for people is not loaded.
_DESK = {"onehook.desk", *(f"onehook.desk.{name}" for name in ("hold", "peer", "pin", "requests", "statements"))}


def interpreters():
    """Every CPython from 3.9 on found on this machine, one of each version, by running it; always includes the current one."""
    patterns = [os.path.expanduser("~/.pyenv/versions/*/bin/python3")]
    patterns += [found for minor in range(9, 16) if (found := shutil.which(f"python3.{minor}"))]
    versions = {}
    for path in [sys.executable, *(path for pattern in patterns for path in sorted(glob.glob(pattern)))]:
        ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"
        asked = subprocess.run([path, "-I", "-S", "-c", ask], capture_output=True, text=True, timeout=60, check=False)
        version, _, name = asked.stdout.strip().partition(" ")
        if asked.returncode == 0 and name == "cpython" and version.startswith("3.") and int(version[2:]) >= 9:
            versions.setdefault(version, path)
    return versions


INTERPRETERS = interpreters()


@pytest.fixture(params=INTERPRETERS.values(), ids=[f"python{version}" for version in INTERPRETERS])
def python(request):
    return request.param


@spread(ISOLATIONS, names="isolation, host")
def test_every_interpreter_denies(policy, host, python, isolation):
    words = launcher(policy("print('noise')\nreturn deny('no \u00e9')"), "--host", host, "--isolation", isolation, python=python)
    assert reason_of(process(words, tool_payload(host)), host) == "no \u00e9"


@spread(INTERPRETERS, names="python, host")
def test_every_interpreter_detects_the_host_and_rewrites(policy, python, host):
    path = policy("return allow(modified_input={'command': event.command + ' -n'})")
    result = process(launcher(path, python=python), tool_payload(host, "rm"))
    event = load(host).parse(tool_payload(host, "rm"), PRE[host])
    answer = load(host, "reverse").answer(event, result.stdout, result.stderr, result.exit_code)
    if honours(host, "PreToolUse", "modified_input"):
        assert event.rewritten(answer.modified_input).command == "rm -n"
    else:
        assert "modified_input" in result.stderr, result


FAILURES = {
    "raises": ("raise ValueError('bang')", "", "bang"),
    "exits": ("import os; os._exit(0)", "", "ended without an answer"),
    "hangs": ("import time; time.sleep(100)", ", timeout=0.3", "longer than 0.3 s"),
    "hangs in C": ("sum(range(10 ** 12))", ", timeout=0.3", "longer than 0.3 s"),
}


@pytest.mark.parametrize("body, more, text", FAILURES.values(), ids=FAILURES)
def test_every_interpreter_fails_closed(policy, python, body, more, text):
    words = launcher(policy(body, options="fail='closed'" + more), "--host", ANY, python=python)
    assert_blocked(process(words, tool_payload(ANY)), ANY, text)


UNREADABLE = (b"", b"{", b'{"a"', b'{"a": ' * 100_000, b'{"a": NaN}', b"{} {}", b"\xff")


@pytest.mark.parametrize("data", UNREADABLE, ids=lambda data: repr(data[:12]))
def test_every_interpreter_fails_closed_on_an_unreadable_payload(policy, python, data):
    words = launcher(policy(), "--host", ANY, "--event", PRE[ANY], "--fail", "closed", python=python)
    assert_blocked(process(words, data), ANY, "the payload")


def test_every_interpreter_fails_closed_for_a_policy_that_does_not_parse(tmp_path, python):
    path = tmp_path / "policy.py"
    path.write_text("hooks = Hooks(fail='closed')\ndef (:\n")
    assert_blocked(process(launcher(path, "--host", ANY, python=python), tool_payload(ANY)), ANY, "SyntaxError")


def test_every_interpreter_guards_against_endless_stops(policy, python):
    words = launcher(policy("return deny('go on')", event="Stop", options="stop_limit=1"), "--host", ANY, python=python)
    first, second = (process(words, stop_payload(ANY, active=active)) for active in (False, True))
    assert (first.exit_code, second.exit_code) == (2, 0)
    assert "letting it stop" in second.stderr


def test_every_interpreter_finds_packages_without_site(policy, python):
    words = launcher(policy(top="import no_such_package"), "--host", ANY, python=python)
    assert "No module named 'no_such_package'" in process(words, tool_payload(ANY)).stderr
