"""The cache of compiled code is in onehook's own __pycache__, and is used only for the sources that it was made from."""

from __future__ import annotations

import marshal
import os
import shutil
import sys
from pathlib import Path

import pytest
from harness import PACKAGE, assert_error, launcher, process, reason_of, tool_payload
from test_hot_path import INTERPRETERS


@pytest.fixture
def package(tmp_path):
    """A copy of onehook that nothing was compiled of yet."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "lib" / "onehook", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def fire(package, policy):
    def fire(*parts, python=sys.executable, host="claude", **named):
        words = launcher(policy(*parts, **named), "--host", host, python=python, launch=str(package / "launch.py"))
        return process(words, tool_payload(host))

    return fire


def cached(package, name="modules-"):
    (path,) = (package / "__pycache__").glob(f"{name}*.pyc")
    return path


def rewritten(package, change, name="modules-"):
    """Change what is in a cached file."""
    path = cached(package, name)
    path.write_bytes(marshal.dumps(change(marshal.loads(path.read_bytes()))))


SAYS_HOW = "import onehook.core, sys\nreturn deny(type(onehook.core.__loader__).__name__ + ' ' + str('__future__' in sys.modules))"


def test_the_second_event_takes_its_modules_from_one_file(fire):
    assert reason_of(fire(SAYS_HOW), "claude") == "SourceFileLoader True"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"


def test_what_one_event_has_not_loaded_is_added_by_the_next(fire, package):
    fire()
    assert "onehook.hosts.codex.wire" not in marshal.loads(cached(package).read_bytes())[1]
    fire(host="codex")
    entries = marshal.loads(cached(package).read_bytes())[1]
    assert {"onehook.hosts.codex.wire", "onehook.hosts.claude.wire", "onehook.cache"} <= set(entries)


def test_a_module_that_was_changed_is_not_taken_from_the_cache(fire, package):
    fire("return deny('no')")
    source = package / "words.py"
    source.write_text(source.read_text().replace("output.answer = answer\n", "output.answer = answer\n    output.stderr = 'changed'\n"))
    assert "changed" in fire("return deny('no')").stderr
    assert "changed" in fire("return deny('no')").stderr, "the new cache"


def test_if_the_cache_module_itself_is_changed_nothing_is_taken_from_the_cache(fire, package):
    fire()
    with open(package / "cache.py", "a") as file:
        file.write("\nCHANGED = 'yes'\n")
    assert reason_of(fire("from onehook import cache\nreturn deny(cache.CHANGED)"), "claude") == "yes"
    assert reason_of(fire("from onehook import cache\nreturn deny(cache.CHANGED)"), "claude") == "yes"


def test_a_copy_of_the_package_does_not_run_the_code_of_the_original(fire, package, policy, tmp_path):
    fire()
    copy = shutil.copytree(package, tmp_path / "other" / "onehook")  # with its __pycache__, and the times of the files
    words = launcher(
        policy("import onehook.core\nreturn deny(onehook.core.Event.to_dict.__code__.co_filename)"), launch=f"{copy}/launch.py"
    )
    assert reason_of(process(words, tool_payload("claude")), "claude") == f"{copy}/core.py"


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 1000, marshal.dumps((b"magic", {})), marshal.dumps(({}, {})), marshal.dumps(3)])
def test_a_damaged_file_is_replaced(fire, package, data):
    fire()
    cached(package).write_bytes(data)
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"


def test_code_of_another_interpreter_is_not_run(fire, package):
    fire()
    rewritten(package, lambda content: (b"\0\0\0\0", content[1]))
    assert reason_of(fire(SAYS_HOW), "claude") == "SourceFileLoader True"


def test_each_interpreter_has_its_own(fire, package):
    for python in INTERPRETERS.values():
        fire(SAYS_HOW, python=python)
        assert reason_of(fire(SAYS_HOW, python=python), "claude") == "CachedModules False"
    assert len(list((package / "__pycache__").glob("modules-*"))) == len(INTERPRETERS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_where_nothing_can_be_written_nothing_is_cached(fire, package):
    (package / "__pycache__").mkdir(mode=0o555)
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert not list((package / "__pycache__").iterdir())


def test_where_there_is_no_folder_for_it_nothing_is_cached(fire, package):
    (package / "__pycache__").write_text("")
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert reason_of(fire("return deny('no')"), "claude") == "no"


# ---- policies ----


def test_a_policy_is_compiled_once(fire, package):
    fire("return deny('no')")
    before = cached(package, "policy-").stat().st_mtime_ns
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert cached(package, "policy-").stat().st_mtime_ns == before


def test_cached_code_counts_for_exactly_that_source(fire, package):
    """Neither the time nor the size of the policy tells it from the other."""
    fire("return deny('one')")
    assert reason_of(fire("return deny('two')"), "claude") == "two"
    rewritten(package, lambda content: ((*content[0][:3], content[0][3].replace(b"two", b"six")), content[1]), "policy-")
    assert reason_of(fire("return deny('two')"), "claude") == "two"


def test_cached_code_counts_for_exactly_that_path(fire, package):
    fire("return deny(__file__)")
    rewritten(package, lambda content: ((*content[0][:2], "/elsewhere/policy.py", content[0][3]), content[1]), "policy-")
    assert "/elsewhere" not in reason_of(fire("return deny(guard.__code__.co_filename)"), "claude")


def test_a_policy_that_does_not_parse_is_not_cached(fire, package):
    assert_error(fire("return deny("), "SyntaxError")
    assert not list((package / "__pycache__").glob("policy-*"))


def test_a_traceback_still_shows_the_line(fire):
    for _ in range(2):
        assert "raise ValueError('bang')" in fire("raise ValueError('bang')").stderr


def test_nothing_is_cached_in_the_folder_of_the_policy(fire, policy):
    path = policy()
    fire()
    assert [entry.name for entry in path.parent.iterdir()] == ["policy.py"]


def test_no_more_than_so_many_policies_are_cached(package, tmp_path, monkeypatch):
    import onehook.cache

    (package / "__pycache__").mkdir()
    monkeypatch.setattr(onehook.cache, "FOLDER", str(package / "__pycache__"))
    monkeypatch.setattr(onehook.cache, "_SLOTS", 4)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number in range(40):
        assert onehook.cache.compiled(b"x = %d" % number, f"/policy{number}.py").co_filename == f"/policy{number}.py"
    assert len(list((package / "__pycache__").iterdir())) == 4


def test_a_package_that_is_known_under_two_paths_is_cached_under_both(fire, package, policy, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(package.parent)
    words = launcher(policy(SAYS_HOW), "--host", "claude", launch=f"{link}/onehook/launch.py")
    for _ in range(2):
        fire(SAYS_HOW)
        result = process(words, tool_payload("claude"))
    assert reason_of(result, "claude") == "CachedModules False"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"
